"""The application: routes, files, and one line for every mistake."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from switchout.errors import SwitchOutError
from switchout.explore.api import make_api
from switchout.explore.catalogue import UnknownRun
from switchout.explore.guard import MOST_BYTES, Guard, TooLarge
from switchout.explore.pages import make_pages, problem_page
from switchout.explore.site import Site

# FastAPI reports to whatever OpenTelemetry finds in the environment; older ones ignore this.
NO_TELEMETRY: Any = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)


def make_app(site: Site) -> FastAPI:
    """Return the application of a site, guarded.

    Example:
        >>> app = make_app(Site(Path("runs")))
        >>> app.title
        'switchout explore'
    """
    app = FastAPI(
        title="switchout explore",
        description="Policies, corpora and runs on this machine.",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        telemetry=NO_TELEMETRY,
    )
    app.state.site = site
    app.include_router(make_api(site))
    app.include_router(make_pages(site), include_in_schema=False)
    static = Path(str(files("switchout.explore").joinpath("static")))
    app.mount("/static", StaticFiles(directory=static), name="static")
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(SwitchOutError, _mistake)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(TooLarge, _too_large)
    app.add_middleware(Guard)
    return app


def _answer(request: Request, status: int, text: str) -> Response:
    """A line of text for programs, a page or a part of one for people."""
    shown = text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": shown}, status)
    return problem_page(request.app.state.site, request, status, shown)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _answer(request, 422, "; ".join(map(_in_words, error.errors())))


def _in_words(fault: dict[str, object]) -> str:
    place = fault.get("loc", ())
    names = [str(part) for part in place if part not in ("query", "body", "path")]  # type: ignore[attr-defined]
    message = str(fault.get("msg", "")).removeprefix("Value error, ")
    if fault.get("type") == "extra_forbidden":
        message = "there is no such setting"
    between = " " if message.startswith("must be ") else ": "
    return f"{'.'.join(names)}{between}{message}" if names else message


def _mistake(request: Request, error: Exception) -> Response:
    return _answer(request, 404 if isinstance(error, UnknownRun) else 422, str(error))


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, str(error.detail))


def _too_large(request: Request, error: Exception) -> Response:
    return _answer(request, 413, f"at most {MOST_BYTES >> 20} MB are taken")
