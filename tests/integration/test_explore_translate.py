"""The page that translates says what the run says."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from tiny_run import make_run, sentences

from switchout.explore.app import make_app
from switchout.explore.site import Site
from switchout.nmt.translate import translate_lines
from switchout.runs.trained import load_ensemble


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("explore") / "runs"
    for seed in (1, 2):
        folder = make_run(root / f"run-{seed}", seed=seed, steps=40)
        (folder / "config.toml").write_text('[data]\ncorpus = "phrasebook"\n')
        (folder / "signature.json").write_text("{}")
    (root / "young").mkdir()
    (root / "young" / "config.toml").write_text('[data]\ncorpus = "phrasebook"\n')
    (root / "young" / "signature.json").write_text("{}")
    return root


@pytest.fixture(scope="module")
def web(runs):
    base = "http://127.0.0.1:8765"
    return TestClient(make_app(Site(runs)), base_url=base, raise_server_exceptions=False)


def test_translations_are_those_of_the_run(runs, web):
    lines = sentences(4, seed=9)[0]
    for name in ("run-1", "run-2"):
        models, codecs = load_ensemble([runs / name])
        expected = translate_lines(models, lines, codecs)
        found = [web.post("/api/translate", json={"run": name, "line": x}).json() for x in lines]
        assert [answer["text"] for answer in found] == expected
        assert {answer["run"] for answer in found} == {name}


def test_two_runs_stand_side_by_side(web):
    page = web.get("/translate?line=s1+s2+s3&run=run-1&run=run-2").text
    assert page.count('class="translation"') == 2


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"run": "young", "line": "s1"}, 422, "not finished"),
        ({"run": "../runs/run-1", "line": "s1"}, 404, "no run"),
        ({"run": "run-1", "line": "s1 " * 201}, 422, "200"),
        ({"run": "run-1", "line": "x" * 4001}, 422, "line"),
        ({"run": "run-1", "line": "s1", "beam": 99}, 422, "beam"),
    ],
)
def test_a_wrong_question_is_refused(web, body, status, word):
    answer = web.post("/api/translate", json=body)
    assert answer.status_code == status
    assert word in answer.json()["detail"]


def test_an_empty_line_stays_empty(web):
    assert web.post("/api/translate", json={"run": "run-1", "line": " "}).json()["text"] == ""
