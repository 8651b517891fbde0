"""The JSON API: everything the pages show, as data; ``/openapi.json`` describes it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from switchout.errors import SwitchOutError
from switchout.explore.catalogue import RunSummary, read_curves
from switchout.explore.comparison import MOST_COMPARED, RunGroup, compare_runs
from switchout.explore.playground import SideAnswer
from switchout.explore.question import (
    MOST_CHARACTERS,
    MOST_WORDS,
    NoiseQuestion,
    PlayQuestion,
    in_words,
)
from switchout.explore.site import Site
from switchout.explore.translation import Translated
from switchout.explore.units import UnitAnswer
from switchout.text.preview import Preview

Names = Annotated[list[str], Query(max_length=MOST_COMPARED, description="Names of runs.")]

LineNumber = Annotated[int, Query(ge=1, le=10**9), in_words("the number of a line, from 1 on")]

NO_NAMES: list[str] = []


class Playground(BaseModel):
    """What a policy does to a sentence pair, and the same as something to paste.

    ``vocabularies`` says what was drawn from, by side: a name of /api/vocabularies, what it is.
    """

    vocabularies: dict[str, tuple[str, str]]
    source: SideAnswer
    target: SideAnswer
    units: dict[str, list[UnitAnswer]]
    snippets: dict[str, str]


class LinePair(BaseModel):
    """A line of the corpus."""

    source: str
    target: str
    n_lines: int


class Point(BaseModel):
    """A point of a learning curve."""

    step: float
    value: float


class Uploaded(BaseModel):
    """The name under which an uploaded vocabulary can be asked for."""

    name: str


class TranslationQuestion(BaseModel):
    """A sentence for a run."""

    model_config = ConfigDict(extra="forbid")

    run: Annotated[str, Field(max_length=300)]
    line: Annotated[str, Field(max_length=MOST_CHARACTERS)]
    beam: Annotated[int, Field(ge=1, le=16)] = 5


class Comparisons(BaseModel):
    """Systems against the first of them; ``problem`` says why there is no result."""

    groups: list[RunGroup]
    results: list[dict[str, Any]]
    buckets: list[dict[str, Any]]
    problem: str


class Problem(BaseModel):
    """What was wrong with a question, in one line."""

    detail: str


REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem}, 404: {"model": Problem}, 422: {"model": Problem},
}  # fmt: skip


def make_api(site: Site) -> APIRouter:
    """Return the routes below ``/api``."""
    router = APIRouter(prefix="/api", responses=REFUSED)

    @router.get("/play")
    def play(question: Annotated[PlayQuestion, Query()]) -> Playground:
        """Sample, say how probable each sample is, and give the laws behind it."""
        if not (question.src + question.tgt).strip():
            raise SwitchOutError("src, tgt: give a sentence")
        question = site.filled(question)
        answers = site.answer(question)
        units, pasted = site.units(question), site.snippets(question)
        labels = site.vocabularies.names()
        used = {
            side: (asked.vocabulary, labels.get(asked.vocabulary, ""))
            for side, asked in (("source", question.source), ("target", question.target))
        }
        return Playground(**answers, vocabularies=used, units=units, snippets=pasted)

    @router.get("/corpus")
    def corpus(question: Annotated[NoiseQuestion, Query()]) -> Preview:
        """Say what happens to the corpus: sentences, shares of words and lines by length."""
        return site.look(question)

    @router.get("/line")
    def line(n: LineNumber = 1) -> LinePair:
        """Return a line of the corpus, counted from 1 and around."""
        source, target = site.lines.pair(n)
        return LinePair(source=source, target=target, n_lines=len(site.lines))

    @router.get("/vocabularies")
    def vocabularies() -> dict[str, str]:
        """Return what each name of a vocabulary stands for."""
        return site.vocabularies.names()

    @router.post("/vocabularies", openapi_extra=_TEXT_BODY)
    async def upload(request: Request, response: Response) -> Uploaded:
        """Keep a vocabulary, one word a line, until the server ends."""
        try:
            text = (await request.body()).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SwitchOutError(f"byte {error.start} is not UTF-8") from None
        return Uploaded(name=site.vocabularies.upload(text))

    @router.get("/runs")
    def runs() -> list[RunSummary]:
        """Return every run of the folder."""
        return site.catalogue.runs()

    @router.get("/runs/{name:path}/curves")
    def curves(name: str) -> dict[str, list[Point]]:
        """Return (step, value) of everything that training wrote down so far."""
        found = read_curves(site.catalogue.folder(name))
        return {kind: [Point(step=x, value=y) for x, y in line] for kind, line in found.items()}

    @router.get("/runs/{name:path}")
    def run(name: str) -> RunSummary:
        """Return one run."""
        site.catalogue.folder(name)
        return site.catalogue.summary(name)

    @router.get("/compare")
    def compare(run: Names = NO_NAMES) -> Comparisons:
        """Compare runs on their test set; runs that differ in the seed alone are one system."""
        found = compare_runs(site.catalogue, run)
        return Comparisons(
            groups=found.groups,
            results=[result.to_dict() for result in found.results],
            buckets=[breakdown.to_dict() for breakdown in found.breakdowns],
            problem=found.problem,
        )

    @router.post("/translate")
    def translate(question: TranslationQuestion) -> Translated:
        """Translate a sentence with a run."""
        return site.translators.translate(question.run, one_line(question.line), beam=question.beam)

    return router


def one_line(text: str) -> str:
    """Return a sentence of at most `MOST_WORDS` words; line ends are blanks."""
    line = " ".join(text.splitlines())
    if len(line.split(" ")) > MOST_WORDS:
        raise SwitchOutError(f"{len(line.split(' '))} words; at most {MOST_WORDS} are taken")
    return line


_TEXT_BODY = {
    "requestBody": {
        "required": True,
        "content": {"text/plain": {"schema": {"type": "string", "example": "haus\nhund\n"}}},
    }
}
