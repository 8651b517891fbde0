"""The one pool: scripts need no guard, and a Ray of ours is private and leaves nothing running."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from switchout.engines.ray import MARK, marked_processes

SCRIPT = """
import operator, time
from pathlib import Path
from switchout.engines import Call, Engine

print("the script runs")
with Engine(workers=2).open(Path(".")) as pool:
    pool.start("sum", Call(operator.add, (20, 22)))
    pool.start("exit", Call(exec, ("import os; os._exit(3)",)))
    answers = {}
    while len(answers) < 2:
        answers |= dict(pool.ended())
        time.sleep(0.01)
print(answers["sum"], answers["exit"].reason)
"""

LEFT_ALONE = """
import os, signal, time
from pathlib import Path
from switchout.engines import Call, Engine

with Engine(workers=1).open(Path(".")) as pool:
    code = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: None); "
    code += "signal.pause(); print('saved', file=sys.stderr, flush=True)"
    pool.start("run", Call(exec, (code,)))
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)
"""

DRIVER = """
import os, signal, sys, time
from pathlib import Path
from switchout.engines.ray import start_ray
from switchout.errors import SwitchOutError

# A shell's background job ignores SIGINT, and its children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
how = sys.argv[1]
try:
    with start_ray(workers=1) as ray:
        double = ray.remote(lambda x: 2 * x)
        assert ray.get(double.remote(21)) == 42
        raylet = ray._private.worker._global_node.all_processes["raylet"][0].process.pid
        values = Path(f"/proc/{raylet}/environ").read_text().split("\\0")
        [mark] = [v.partition("=")[2] for v in values if v.startswith("MARK=")]
        print(mark, ray.get_runtime_context().gcs_address, flush=True)
        if how == "error":
            raise SwitchOutError("as a user's mistake would")
        if how != "success":
            sys.stdin.read()  # until a signal comes
except (SwitchOutError, KeyboardInterrupt):
    pass
""".replace("MARK", MARK)

STRANGER = """
import os, sys
for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
    os.environ.pop(name, None)
os.environ |= {"RAY_AUTH_MODE": sys.argv[2], "RAY_AUTH_TOKEN": "0" * 64}
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from ray._raylet import GcsClient
client = GcsClient(address=sys.argv[1])
print(client.internal_kv_keys(b"", None))
"""


def test_a_script_without_a_guard_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the script runs\n42 its process ended (exit code 3)\n"


def test_a_worker_whose_driver_died_saves_and_ends_without_a_traceback(tmp_path):
    """Its answer has no reader any more."""
    script = tmp_path / "script.py"
    script.write_text(LEFT_ALONE)
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run([sys.executable, script], stderr=log, timeout=120)
        assert done.returncode == -signal.SIGKILL
        deadline = time.monotonic() + 30
        while "saved" not in (said := (tmp_path / "log").read_text()):
            assert time.monotonic() < deadline, said
            time.sleep(0.1)
        time.sleep(1)
    assert (tmp_path / "log").read_text() == "saved\n"


def listening(pids: list[int]) -> set[str]:
    """The addresses, in hexadecimal, on which these processes listen for TCP."""
    by_inode = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":  # listening
                by_inode[f"socket:[{fields[9]}]"] = fields[1].partition(":")[0]
    found = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                found |= {by_inode[x] for x in [str(descriptor.readlink())] if x in by_inode}
            except FileNotFoundError:
                continue
    return found


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, and mapped into IPv6


def start(how: str, folder: Path) -> tuple[subprocess.Popen[str], str, str]:
    pytest.importorskip("ray")
    (folder / "driver.py").write_text(DRIVER)
    command = [sys.executable, str(folder / "driver.py"), how]
    driver = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    )
    assert driver.stdout is not None
    mark, address = driver.stdout.readline().split()
    return driver, mark, address


def assert_nothing_is_left(mark: str) -> None:
    deadline = time.monotonic() + 20
    while marked_processes(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked_processes(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_our_ray_listens_to_this_machine_alone_wants_its_token_and_dies_with_its_driver(tmp_path):
    driver, mark, address = start("kill", tmp_path)
    try:
        ours = marked_processes(mark)
        assert len(ours) >= 3  # the node, its store of facts, its agents
        heard = listening([*ours, driver.pid])
        assert heard
        assert heard <= LOOPBACK
        for mode in ("disabled", "token"):  # no token, and a wrong one
            asked = subprocess.run(
                [sys.executable, "-c", STRANGER, address, mode], capture_output=True, timeout=120
            )
            assert asked.returncode != 0
            assert b"nauthenticated" in asked.stderr or b"token" in asked.stderr
    finally:
        driver.kill()
        driver.wait()
    assert_nothing_is_left(mark)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", ["success", "error", "interrupt"])
def test_nothing_of_our_ray_is_left_running(tmp_path, how):
    driver, mark, _ = start(how, tmp_path)
    if how == "interrupt":
        driver.send_signal(signal.SIGINT)
    assert driver.wait(60) == 0
    assert_nothing_is_left(mark)
