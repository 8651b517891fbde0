"""Pages of the manual that are made from the program itself.

``python tools/docs_hooks.py`` writes the pages of the command line and the configuration. They are
kept with the others, for readers without mkdocs; tests/test_docs.py says when they are out of date.
The rest are hooks of mkdocs.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import re
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from switchout import cli
from switchout.cli.verb import commands_of
from switchout.ranges import Real, Whole
from switchout.runs.config import Config

ROOT = Path(__file__).parents[1]
NETWORK_SEARCH = "https://unpkg.com/iframe-worker/shim"  # what the plugin "offline" would load


def on_config(config: Any) -> None:
    """Refuse a menu with a page twice: mkdocs builds it without a word."""
    seen = set()
    for page in _pages(config["nav"]):
        if page in seen:
            raise PluginError(f"mkdocs.yml: {page} stands twice in nav")
        seen.add(page)


def _pages(entry: Any) -> list[str]:
    """Return the pages of a part of the menu, in order: a page, or a list, or titles with parts."""
    if isinstance(entry, str):
        return [entry]
    return [
        page
        for part in (entry.values() if isinstance(entry, dict) else entry)
        for page in _pages(part)
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the texts that stand beside docs/."""
    pages = {"results-format.md": (ROOT / "results" / "README.md").read_text(encoding="utf-8")}
    for path in sorted((ROOT / "studies").glob("*.md")):
        pages[f"studies/{path.name}"] = path.read_text(encoding="utf-8")
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Links to texts that stand beside docs/ lead to their pages here."""
    markdown = markdown.replace("](../results/README.md", "](results-format.md")
    return markdown.replace("](../studies/", "](studies/")


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """Load the search of pages that are opened as files from here, not from the network."""
    return _own_search(output, page.url.count("/"))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for the page that says that there is no such page."""
    return _own_search(output_content, 0)


def _own_search(html: str, depth: int) -> str:
    return html.replace(NETWORK_SEARCH, "../" * depth + "assets/search-frame.js")


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a manual that loads anything from the network."""
    for path in Path(config.site_dir).rglob("*.html"):
        found = re.search(
            r"<(?:script|link|img)[^>]*(?:src|href)=\"?https?://[^\" >]*", path.read_text()
        )
        if found and "canonical" not in found[0]:
            raise PluginError(f"{path}: {found[0]}: the manual must work without a network")


def reference() -> dict[str, str]:
    """Return the pages that describe the program, by their path in docs/."""
    return {
        "reference/command-line.md": command_line(),
        "reference/configuration.md": configuration(),
    }


def command_line() -> str:
    """Return the help of every verb, as the program prints it."""
    parts = ["# Command line\n\nThis is what `switchout VERB --help` prints.\n"]
    for verb in cli.VERBS:
        for command in commands_of(verb):
            parts.append(f"## {command}\n\n```text\n{_help(command.split())}\n```\n")
    return "\n".join(parts)


def _help(words: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        cli.run([*words, "--help"])
    return out.getvalue().strip()


def configuration() -> str:
    """Return a table for every section of a training configuration."""
    intro = (
        "# Configuration\n\nKeys of the TOML file that `switchout train` reads. An unknown key is "
        "an error. `switchout train --print-config`, with a preset, a file or `--corpus FOLDER`, "
        "prints a whole file.\n"
    )
    return intro + "".join(_section(Config, ""))


def _section(section: type[BaseModel], prefix: str) -> list[str]:
    comments = _comments(section)
    rows, nested = [], []
    for name, field in section.model_fields.items():
        kind = field.annotation
        if inspect.isclass(kind) and issubclass(kind, BaseModel):
            nested += _section(kind, f"{prefix}{name}.")
            continue
        default = "required" if field.default is PydanticUndefined else f"`{_toml(field.default)}`"
        sort = _kind(field.annotation, field.metadata)
        rows.append(f"| `{name}` | {sort} | {default} | {comments.get(name, '')} |")
    head = []
    if rows:
        title = f"[{prefix.rstrip('.')}]" if prefix else "At the top"
        text = inspect.getdoc(section) or ""
        head = [f"\n## {title}\n\n{text}\n\n| key | kind | default | |\n|---|---|---|---|\n"]
    return [*head, *(f"{row}\n" for row in rows), *nested]


def _comments(section: type[BaseModel]) -> dict[str, str]:
    """Return the comment that stands behind each field in the source."""
    found = re.findall(r"^    (\w+): .*?  # (.*)$", inspect.getsource(section), flags=re.MULTILINE)
    return {name: text.replace("|", "\\|").replace("<", "&lt;") for name, text in found}


def _kind(annotation: Any, metadata: list[Any]) -> str:
    """Return a type as a reader would say it: `int ≥ 1 or not set`, `word, file`."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0], [m for part in inner[1:] for m in getattr(part, "metadata", [part])])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(_kind(kind, metadata) for kind in inner)
    if annotation is type(None):
        return "not set"
    return f"{annotation.__name__}{_limits(metadata)}"


def _limits(metadata: list[Any]) -> str:
    for m in metadata:
        if isinstance(limits := getattr(getattr(m, "func", None), "__self__", None), Whole | Real):
            return f" {'' if isinstance(limits, Real) else 'from '}{limits}"
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    found = [
        (sign, getattr(m, name))
        for m in metadata
        for name, sign in signs.items()
        if hasattr(m, name)
    ]
    return "".join(f" {sign} {value}" for sign, value in found if value != math.inf)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "not set" if value is None else str(value)


if __name__ == "__main__":
    for name, text in reference().items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")
