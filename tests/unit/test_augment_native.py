"""Kernels are called from object files, without numba."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from switchout.text import native
from switchout.text.native import Kernel

TEXT = np.frombuffer(b"a\nbc\n\n" + bytes(64), np.uint8)
CALL = """
import sys
import numpy as np
from switchout.text.native import Kernel
ends = np.zeros(9, np.int64)
text = np.frombuffer(b"a\\nbc\\n\\n" + bytes(64), np.uint8)
count = Kernel("passes", "find_lines", n_results=1)(text, 6, np.zeros_like(ends), ends)
print(count, ends[:3].tolist(), "numba" in sys.modules)
"""


def find_lines(kernel: Kernel) -> list[int]:
    ends = np.zeros(9, np.int64)
    (count,) = kernel(TEXT, 6, np.zeros_like(ends), ends)
    return ends[:count].tolist()


def new_kernel() -> Kernel:
    return Kernel("passes", "find_lines", n_results=1)


def test_a_second_process_does_not_load_numba():
    find_lines(new_kernel())
    done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "(3,) [1, 4, 5] False"


def test_machine_code_is_kept_and_used(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "_FOLDERS", [tmp_path / "cache"])
    assert find_lines(new_kernel()) == [1, 4, 5]
    assert len(list((tmp_path / "cache").glob("find_lines-*.o"))) == 1
    monkeypatch.setattr(Kernel, "_compile", None)
    assert find_lines(new_kernel()) == [1, 4, 5]


def test_changed_sources_are_compiled_again(tmp_path, monkeypatch):
    find_lines(new_kernel())
    changed = tmp_path / "scan.py"
    changed.write_text("# another source\n")
    monkeypatch.setattr(native, "_SOURCES", [*native._SOURCES, changed])
    monkeypatch.setattr(native, "_FOLDERS", [*native._FOLDERS, tmp_path])
    monkeypatch.setattr(Kernel, "_compile", lambda *_: pytest.fail("compiled"))
    native._fingerprint.cache_clear()
    with pytest.raises(pytest.fail.Exception, match="compiled"):
        find_lines(new_kernel())
    native._fingerprint.cache_clear()


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(native, "_FOLDERS", [tmp_path / "file" / "cache"])
    assert find_lines(new_kernel()) == [1, 4, 5]


def test_arrays_of_another_type_get_machine_code_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "_FOLDERS", [tmp_path])
    kernel, ends = new_kernel(), np.zeros(9, np.int32)
    assert find_lines(kernel) == [1, 4, 5]
    assert kernel(TEXT, 6, np.zeros_like(ends), ends) == (3,)
    assert ends[:4].tolist() == [1, 4, 5, 0]


def test_arrays_with_gaps_are_refused():
    with pytest.raises(ValueError, match="contiguous"):
        new_kernel()(TEXT[::2], 3, np.zeros(9, np.int64), np.zeros(9, np.int64))
