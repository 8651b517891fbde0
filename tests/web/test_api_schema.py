"""Everything that the schema allows, and much that it forbids: never a fault of the server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,negative_data_rejection"
)
NAMED = '[parameters]\nname = "sweep/noisy-1"\nrun = ["plain-1", "sweep/noisy-1"]\n'


@pytest.mark.parametrize("config", ["", NAMED], ids=["any name", "names of runs"])
def test_no_question_is_a_fault_of_the_server(address, tmp_path, config):
    (tmp_path / "schemathesis.toml").write_text(config)
    # By its command: its pytest plugin does not know pytest 9.
    command = [
        *(Path(sys.executable).with_name("schemathesis"), "--config-file", "schemathesis.toml"),
        *("run", address + "openapi.json", "--no-color", "--request-timeout", "60"),
        *("--checks", CHECKS, "--mode", "all", "--max-examples", "60", "--seed", "1"),
        *("--phases", "examples,coverage,fuzzing"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    tested = re.search(r"(\d+) generated", done.stdout)
    assert tested is not None, done.stdout[-2000:]
    assert int(tested[1]) > 400
