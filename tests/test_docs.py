"""The documentation does what it says: its code runs, its links lead somewhere, its names exist.

Fences: ``python`` and ``bash`` blocks run, page by page, in a folder with a toy corpus; ``py`` and
``sh`` blocks are only shown (they install, need a GPU or a cluster, or train for minutes).
"""

from __future__ import annotations

import doctest
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

from switchout.cli import VERBS
from switchout.corpora import open_corpus

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", flags=re.DOTALL | re.MULTILINE)


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Return (language, code) of the page's fences, in order."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [
        (language, re.sub(rf"^{indent}", "", code, flags=re.MULTILINE))
        for indent, language, code in found
        if language in languages
    ]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def toy_corpus(tmp_path, monkeypatch):
    """A folder with train.de and train.en, and the command on the path."""
    for side, lines in zip(("de", "en"), open_corpus("phrasebook").pairs("train"), strict=True):
        (tmp_path / f"train.{side}").write_text("\n".join(lines[:300]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def run_python(code: str, names: dict[str, object], page: Path) -> None:
    if not code.lstrip().startswith(">>>"):
        exec(compile(code, name(page), "exec"), names)
        return
    example = doctest.DocTestParser().get_doctest(code, names, name(page), None, None)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    names.update(example.globs)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python", "bash")], ids=name
)
def test_code_of_a_page_runs(page, toy_corpus):
    names: dict[str, object] = {"__name__": "docs"}
    for language, code in blocks(page, "python", "bash"):
        if language == "python":
            run_python(code, names, page)
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{code}\n{done.stderr}"


def test_a_wrong_example_is_noticed(tmp_path):
    with pytest.raises(AssertionError, match="Expected"):
        run_python(">>> 1 + 1\n3\n", {}, PAGES[0])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_is_plain_markdown(page):
    """It is read on code hosts too, which show the boxes and tabs of MkDocs as they are typed."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^ *(?:!!!|\?\?\?\+?|===) .*", text, flags=re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_verbs_exist(page):
    text = "\n".join(code for _, code in blocks(page, "bash", "sh"))
    named = set(re.findall(r"(?:^|\| *|-m )switchout ([a-z]+)", text, flags=re.MULTILINE))
    assert named <= {*VERBS, "help"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_make_targets_exist(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:^|`)make ([a-z-]+)", text, flags=re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_files_exist(page):
    """Paths begin at the top or in the package; a test may be named without its folder."""
    text = page.read_text(encoding="utf-8")
    text = "\n".join(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"(?<![\w/])test_\w+\.py", text)) - tests == set()
    named = set(re.findall(r"(?<![\w./*-])[a-z_]+/[a-z_0-9/]+\.(?:py|c|h)\b", text))
    roots = (ROOT, ROOT / "src" / "switchout")
    assert [file for file in named if not any((root / file).is_file() for root in roots)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_modules_exist(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for dotted in set(re.findall(r"`(switchout\.[\w.]+)`", text)) - {"switchout.h"}:
        assert pydoc.locate(dotted) is not None, dotted


def test_pictures_and_tables_are_those_of_the_program():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import layers_picture
        import readme_picture
        import tau_table
    finally:
        sys.path.pop(0)
    picture = (ROOT / "docs" / "images" / "epochs.svg").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "choosing-tau.md").read_text(encoding="utf-8")
    layers = (ROOT / "docs" / "images" / "layers.svg").read_text(encoding="utf-8")
    assert readme_picture.picture() == picture
    assert layers_picture.picture() == layers
    assert tau_table.with_table(page) == page


def test_pages_of_the_reference_are_those_of_the_program(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import docs_hooks

    made = docs_hooks.reference()
    kept = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in made}
    old = [name for name in made if made[name] != kept[name]]
    assert old == [], "out of date: run python tools/docs_hooks.py"


def test_files_of_the_four_walks_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_0-9/]+\.(?:py|c|h))`", page))
    named -= {name for name in named if name.startswith(("tests/", "tools/"))}
    assert len(named) > 25
    assert [name for name in named if not (ROOT / "src" / "switchout" / name).is_file()] == []


def test_a_page_that_stands_twice_in_the_menu_is_refused(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from mkdocs.exceptions import PluginError

    import docs_hooks

    once = [{"Start": ["index.md", {"Ten minutes": "quickstart.md"}]}, "faq.md"]
    docs_hooks.on_config({"nav": once})
    with pytest.raises(PluginError, match=r"mkdocs\.yml: quickstart\.md stands twice"):
        docs_hooks.on_config({"nav": [*once, {"More": [{"Again": ["quickstart.md"]}]}]})


def test_manual_builds_without_a_broken_link_or_a_network_address(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        capture_output=True, text=True, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "site" / "reference" / "command-line.html").is_file()
