"""No output is ever an input or another output, whatever it is called; all are tried beforehand."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from switchout.errors import SwitchOutError
from switchout.files import check_output_folder, check_outputs

not_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in.txt"
    path.write_text("precious\n")
    return path


def spellings(text):
    (text.parent / "sub").mkdir()
    text.with_name("soft").symlink_to("in.txt")
    text.with_name("soft2").symlink_to("soft")
    text.with_name("hard").hardlink_to(text)
    text.with_name("linked").symlink_to(text.parent, target_is_directory=True)
    return [
        *("in.txt", "./in.txt", "sub/../in.txt", str(text), "soft", "soft2", "hard"),
        *("linked/in.txt", f"/proc/self/cwd/{text.name}", f"{text.parent}//in.txt"),
    ]


def test_an_output_is_no_input_by_any_spelling(text):
    names = spellings(text)
    for out in names:
        for into in names:
            with pytest.raises(SwitchOutError, match=r"--out .*: is also the input --src"):
                check_outputs({"--out": out}, {"--src": into})
    assert text.read_text() == "precious\n"


def test_an_open_descriptor_of_an_input_is_seen(text):
    with text.open("rb+") as handle:
        for name in (f"/dev/fd/{handle.fileno()}", f"/proc/{os.getpid()}/fd/{handle.fileno()}"):
            with pytest.raises(SwitchOutError, match="is also the input"):
                check_outputs({"--out": name}, {"--src": "in.txt"})


def test_standard_output_that_appends_to_an_input_is_seen(text):
    code = "from switchout.files import check_outputs; check_outputs({'-o': '-'}, {'-i': 'in.txt'})"
    with text.open("ab") as out:
        done = subprocess.run([sys.executable, "-c", code], stdout=out, stderr=subprocess.PIPE)
    assert b"-o -: is also the input -i" in done.stderr
    assert text.read_text() == "precious\n"


def test_one_of_several_inputs_is_seen(text):
    with pytest.raises(SwitchOutError, match="is also the input --system"):
        check_outputs({"--out": "in.txt"}, {"--ref": "a", "--system": ["b", "in.txt"], "-x": None})


@pytest.mark.parametrize("other", ["new", "./new", "sub/../new", "dangling", "linked/new"])
def test_two_outputs_are_two_files_also_before_they_exist(text, other):
    (text.parent / "sub").mkdir()
    (text.parent / "dangling").symlink_to("new")
    (text.parent / "linked").symlink_to(text.parent, target_is_directory=True)
    with pytest.raises(SwitchOutError, match="--csv and --html are one file"):
        check_outputs({"--csv": "new", "--html": other})
    assert not (text.parent / "new").exists()


def test_an_earlier_result_is_replaced_and_any_other_file_is_not(text):
    (text.parent / "old.csv").write_text("Metric,system\nBLEU,a\n")
    (text.parent / "empty").touch()
    for free in ("old.csv", "empty", "new.csv", "/dev/null", None):
        check_outputs({"--csv": free}, begins={"--csv": b"metric,"})
    with pytest.raises(SwitchOutError, match=r"--csv in\.txt: a file that does not begin with"):
        check_outputs({"--csv": "in.txt"}, begins={"--csv": b"metric,"})


def test_what_may_be_shared_is_allowed(text):
    check_outputs({"-a": "/dev/null", "-b": "/dev/null"}, {"-i": "/dev/null"})
    check_outputs({"-a": "-", "-b": "other", "-c": None}, {"-i": "-", "-j": "in.txt"})
    with pytest.raises(SwitchOutError, match="one file"):
        check_outputs({"-a": "-", "-b": "/dev/stdout"})


def test_outputs_are_tried_before_the_work(text):
    with pytest.raises(SwitchOutError, match=r"--csv .*the folder .*absent does not exist"):
        check_outputs({"--csv": "absent/a.csv"})
    with pytest.raises(SwitchOutError, match="is a folder"):
        check_outputs({"--csv": str(text.parent)})
    with pytest.raises(SwitchOutError, match=r"--csv in\.txt/a"):
        check_outputs({"--csv": "in.txt/a"})
    with pytest.raises(SwitchOutError, match="cannot be written"):
        check_outputs({"--csv": "/proc/a.csv"})
    with pytest.raises(SwitchOutError, match="cannot be written"):
        check_outputs({"--csv": "n" * 300})
    assert sorted(p.name for p in text.parent.iterdir()) == ["in.txt"]


@not_root
def test_without_permission_nothing_begins(text):
    text.chmod(0o444)
    with pytest.raises(SwitchOutError, match="read-only"):
        check_outputs({"--csv": text})


def test_a_folder_to_make_holds_no_input(text):
    with pytest.raises(SwitchOutError, match="holds the input FOLDER"):
        check_output_folder("--out", ".", {"FOLDER": text.parent})
    with pytest.raises(SwitchOutError, match="holds the input"):
        check_output_folder("--out", "../" + text.parent.name, {"--vocab": ["in.txt"]})
    with pytest.raises(SwitchOutError, match=r"in\.txt is a file"):
        check_output_folder("--out", "in.txt/new", {})
    with pytest.raises(SwitchOutError, match=r"has no facts\.json"):
        check_output_folder("--out", text.parent, marker="facts.json")
    check_output_folder("--out", "new/deeper", {"FOLDER": text.parent}, marker="facts.json")
    assert sorted(p.name for p in text.parent.iterdir()) == ["in.txt"]
