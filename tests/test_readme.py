"""The README's Python runs as it stands, its links lead somewhere, and its verbs exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_examples_run():
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
    names: dict[str, object] = {}
    exec(code, names)
    assert names["x_hat"].shape == names["x"].shape  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")
)])  # fmt: skip
def test_links_lead_to_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [link for link in links if "://" not in link]
    missing = [link for link in local if not ((ROOT / page).parent / link).exists()]
    assert missing == []


def test_named_verbs_exist():
    from switchout.cli import _available

    named = set(re.findall(r"(?:^|`)switchout ([a-z]+)", README, flags=re.MULTILINE))
    assert named <= set(_available())
    assert set(_available()) >= {"augment", "data", "train", "translate", "score", "compare"}


def test_make_targets_named_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make ([a-z-]+)", README)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
