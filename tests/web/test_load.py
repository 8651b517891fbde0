"""How fast, and with how many at once. Loopback only; bounded in number and time."""

from __future__ import annotations

import asyncio
import statistics
import time

import httpx2 as httpx

N_CLIENTS, N_QUESTIONS = 200, 5
WORDS = "das ist ein Haus und wir gehen heute mit der Frau in die Stadt ."


def question(seed: int) -> dict[str, object]:
    line = " ".join((WORDS.split() * 2)[:30])
    return {"src": line, "tgt": line, "tau_x": 1.5, "tau_y": 1.2, "seed": seed}


def test_a_pair_of_30_words_is_answered_in_50_ms(address, capsys):
    medians = {}
    with httpx.Client(base_url=address, timeout=30) as client:
        for path in ("/", "/api/play"):
            times = []
            for seed in range(100):
                began = time.perf_counter()
                answer = client.get(path, params=question(seed), headers={"HX-Request": "true"})
                times.append(time.perf_counter() - began)
                assert answer.status_code == 200
            medians[path] = 1000 * statistics.median(times)
    with capsys.disabled():
        print(f"\nmedian of 100, 30-word pair: {medians} ms")
    assert max(medians.values()) < 50


def test_200_clients_at_once_are_all_answered(address, capsys):
    times, faults = asyncio.run(_load(address))
    times.sort()
    p50, p99 = (times[int(share * len(times))] for share in (0.5, 0.99))
    with capsys.disabled():
        print(
            f"\n{N_CLIENTS} clients, {len(times) + len(faults)} questions: p50 {p50:.2f} s, "
            f"p99 {p99:.2f} s, longest {times[-1]:.2f} s, {len(faults)} errors {faults[:3]}"
        )
    assert faults == []
    assert len(times) == N_CLIENTS * N_QUESTIONS
    assert p99 < 30


async def _load(address: str) -> tuple[list[float], list[str]]:
    times: list[float] = []
    faults: list[str] = []

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        for i in range(N_QUESTIONS):
            began = time.perf_counter()
            try:
                answer = await client.get("/api/play", params=question(number * N_QUESTIONS + i))
            except httpx.HTTPError as error:
                faults.append(repr(error))
                continue
            times.append(time.perf_counter() - began)
            if answer.status_code != 200:
                faults.append(str(answer.status_code))

    limits = httpx.Limits(max_connections=N_CLIENTS, max_keepalive_connections=N_CLIENTS)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        await asyncio.gather(*(ask(client, number) for number in range(N_CLIENTS)))
    return times, faults
