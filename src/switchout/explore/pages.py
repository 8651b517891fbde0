"""The pages: HTML from templates, around the report's components.

A page and the part of it that changes have one address: htmx asks for the part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from itertools import zip_longest
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from switchout.errors import SwitchOutError
from switchout.explore import figures
from switchout.explore.api import NO_NAMES, Names, one_line
from switchout.explore.catalogue import RunSummary, read_curves
from switchout.explore.comparison import compare_runs
from switchout.explore.corpus import in_epochs
from switchout.explore.question import MOST_CHARACTERS, NoiseQuestion, PlayQuestion
from switchout.explore.site import Site
from switchout.explore.snippets import train_command
from switchout.files import read_bytes
from switchout.report.elements import style

SORTS = ("name", "state", "policy", "seed", "step", "dev_perplexity", "dev_bleu", "test_bleu")
Sort = Literal["name", "state", "policy", "seed", "step", "dev_perplexity", "dev_bleu", "test_bleu"]
Short = Annotated[str, Query(max_length=200)]


def make_pages(site: Site) -> APIRouter:
    """Return the routes of all pages."""
    router = APIRouter()
    for add in (_add_playground, _add_corpus, _add_runs, _add_compare, _add_translate, _add_rest):
        add(router, site)
    return router


def problem_page(site: Site, request: Request, status: int, text: str) -> Response:
    """Return one line about a mistake, as the part that was asked for or as a page.

    A page with a form keeps it as it was filled in: there the mistake is mended.
    """
    # The part keeps the name of what it replaces, so that the next answer finds its place.
    target = request.headers.get("HX-Target", "").partition("#")[2]
    context: dict[str, Any] = {"text": text, "target": target or "problem"}
    if _is_part(request) or request.url.path not in ("/", "/corpus"):
        return _shown(request, "problem.html", context, status=status)
    given = request.query_params
    known: Any = {name: given[name] for name in PlayQuestion.model_fields if name in given}
    typed = PlayQuestion.model_construct(**known)  # as it was typed, nothing is checked
    if request.url.path == "/":
        context |= {"page": "playground.html", "target": "answer", **_play_form(site, typed)}
    else:
        context |= {"page": "corpus.html", "target": "corpus", **_corpus_form(site, typed)}
    return _shown(request, "mistake.html", context, status=status)


def _play_form(site: Site, question: PlayQuestion) -> dict[str, Any]:
    """What the form of the playground shows; without a sentence the first one of the corpus."""
    if not question.src and not question.tgt:
        src, tgt = site.lines.pair(1)
        question = question.model_copy(update={"src": src, "tgt": tgt})
    return {
        "ask": site.filled(question),
        "vocabularies": site.vocabularies.names(),
        "n_lines": len(site.lines),
    }


def _corpus_form(site: Site, question: NoiseQuestion) -> dict[str, Any]:
    names = zip("xy", ("Source", "Target"), site.files, strict=True)
    return {
        "ask": question,
        "title": site.lines.title,
        "is_own": site.corpus is not None,
        "sides": [(letter, name) for letter, name, path in names if path or not any(site.files)],
    }


def _add_playground(router: APIRouter, site: Site) -> None:
    @router.get("/")
    def playground(
        request: Request,
        question: Annotated[PlayQuestion, Query()],
    ) -> Response:
        form = _play_form(site, question)
        question = site.filled(question) if _is_part(request) else form["ask"]
        answers = site.answer(question)
        context = {
            **form,
            "answers": answers,
            "pairs": list(zip_longest(*(answer.samples for answer in answers.values()))),
            "laws": [figures.law_chart(side, a) for side, a in answers.items() if a.law],
            "untouched": figures.untouched_chart(answers),
            "tables": [figures.beside_table(side, a) for side, a in answers.items() if a.beside],
            "units": site.units(question),
            "snippets": site.snippets(question),
        }
        return _shown(request, "playground.html", context)


def _add_corpus(router: APIRouter, site: Site) -> None:
    @router.get("/corpus")
    def corpus(request: Request, question: Annotated[NoiseQuestion, Query()]) -> Response:
        seen = site.look(question)
        context = {
            **_corpus_form(site, question),
            "seen": seen,
            "samples": in_epochs(seen.samples),
            "charts": [figures.effect_chart(effect) for effect in seen.effects],
            "tables": [figures.effect_table(seen.effects)] if seen.effects else [],
        }
        return _shown(request, "corpus.html", context)


def _add_runs(router: APIRouter, site: Site) -> None:
    @router.get("/runs")
    def runs(
        request: Request,
        find: Short = "",
        state: Literal["", "done", "training", "stopped"] = "",
        sort: Sort = "name",
        down: bool = False,
    ) -> Response:
        everything = site.catalogue.runs()
        shown = [run for run in everything if _is_wanted(run, find, state)]
        context = {
            "root": str(site.catalogue.root),
            "runs": _ordered(shown, sort, down),
            "n_runs": len(everything),
            "n_training": sum(run.state == "training" for run in everything),
            "find": find, "state": state, "sort": sort, "down": down, "sorts": SORTS,
            "here": urlencode({"find": find, "state": state, "sort": sort, "down": down}),
            "reports": site.reports(), "train": train_command(site.catalogue.root),
        }  # fmt: skip
        return _shown(request, "runs.html", context)

    @router.get("/runs/{name:path}")
    def run(request: Request, name: str) -> Response:
        folder = site.catalogue.folder(name)
        context: dict[str, Any] = {
            "run": site.catalogue.summary(name),
            "charts": figures.curve_charts({name: read_curves(folder)}),
        }
        if not _is_part(request):
            context["config"] = read_bytes(folder / "config.toml").decode("utf-8", "replace")
            context["translations"] = site.translations(name)
        return _shown(request, "run.html", context)


def _add_compare(router: APIRouter, site: Site) -> None:
    @router.get("/compare")
    def compare(request: Request, run: Names = NO_NAMES) -> Response:
        curves = {name: read_curves(site.catalogue.folder(name)) for name in run}
        found = compare_runs(site.catalogue, run)
        context = {
            "found": found,
            "charts": figures.curve_charts(curves, figures.run_colours(found)),
            "forest": figures.forest(found) if found.results else None,
            "tables": figures.comparison_tables(found) if found.results else [],
            "buckets": figures.bucket_charts(found),
            "here": urlencode({"run": run}, doseq=True),
        }
        return _shown(request, "compare.html", context)

    @router.get("/compare/report")
    def report(run: Names = NO_NAMES) -> Response:
        """The page that ``switchout compare --html`` writes."""
        return HTMLResponse(figures.whole_report(compare_runs(site.catalogue, run)))


def _add_translate(router: APIRouter, site: Site) -> None:
    @router.get("/translate")
    def translate(
        request: Request,
        line: Annotated[str, Query(max_length=MOST_CHARACTERS)] = "",
        run: Annotated[list[str], Query(max_length=2)] = NO_NAMES,
    ) -> Response:
        everything = site.catalogue.runs()
        finished = [r.name for r in everything if r.state == "done"]
        line = one_line(line)
        wanted = list(dict.fromkeys(run)) if line else []
        context = {
            "runs": finished,
            "root": str(site.catalogue.root),
            "n_training": sum(r.state == "training" for r in everything),
            "train": train_command(site.catalogue.root),
            "chosen": [*run, *finished[: 2 - len(run)]],
            "line": line,
            "translated": [site.translators.translate(name, line) for name in wanted],
        }
        return _shown(request, "translate.html", context)


def _add_rest(router: APIRouter, site: Site) -> None:
    @router.get("/api")
    def api(request: Request) -> Response:
        schema = request.app.openapi()
        routes = [
            (method.upper(), path, about.get("description", ""))
            for path, methods in schema["paths"].items()
            for method, about in methods.items()
        ]
        return _shown(request, "api.html", {"routes": routes, "base": str(request.base_url)})

    @router.get("/reports/{name:path}")
    def report(name: str) -> Response:
        path = site.reports().get(name)
        if path is None:
            raise SwitchOutError(f"no report {name[:200]!r}")
        return HTMLResponse(read_bytes(path))

    @router.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)  # browsers ask for it; a report names none

    @router.get("/style.css")
    def sheet() -> Response:
        return Response(style(), media_type="text/css")


def _is_wanted(run: RunSummary, find: str, state: str) -> bool:
    text = f"{run.name} {run.policy} {run.corpus} seed {run.seed}".lower()
    return (not state or run.state == state) and all(w in text for w in find.lower().split())


def _ordered(runs: list[RunSummary], sort: str, down: bool) -> list[RunSummary]:
    """Sort by a column; runs without a value there come last, whichever way."""
    known = [run for run in runs if getattr(run, sort) is not None]
    unknown = [run for run in runs if getattr(run, sort) is None]
    return [*sorted(known, key=lambda run: getattr(run, sort), reverse=down), *unknown]


def _is_part(request: Request) -> bool:
    return request.headers.get("HX-Request") == "true"


def _shown(
    request: Request, template: str, context: dict[str, Any], *, status: int = 200
) -> Response:
    """Fill in a template; for htmx only its block ``part``."""
    found = _environment().get_template(template)
    values = {"version": version("switchout"), "path": request.url.path, **context}
    if _is_part(request):
        part = found.blocks["part"]
        text = "".join(part(found.new_context(values)))
    else:
        text = found.render(values)
    return HTMLResponse(text, status, headers={"Vary": "HX-Request"})


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("switchout.explore"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    filters: dict[str, Callable[..., str]] = {"probability": probability, "number": number}
    environment.filters.update(filters)
    return environment


def probability(log_p: float) -> str:
    """Return a probability in words of a few letters.

    Example:
        >>> probability(math.log(0.25)), probability(-30.0), probability(-math.inf)
        ('25%', '9.4·10⁻¹⁴', '0')
    """
    if log_p == -math.inf:
        return "0"
    if log_p > math.log(0.001):
        return f"{100 * math.exp(log_p):.3g}%"
    power = math.floor(log_p / math.log(10))
    front = math.exp(log_p - power * math.log(10))
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{front:.1f}·10{raised}"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"
