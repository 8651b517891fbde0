"""Who may ask: this machine's own pages, and programs on it. Everybody else gets one line.

* Host: a name that an attacker's DNS points at 127.0.0.1 is not ours (DNS rebinding).
* Origin and Sec-Fetch-Site: another site's page may not ask, not even for an image.
* Size: a body is counted as it arrives, whatever its header says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 16 << 20
OUR_NAMES = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Wraps an application; see the module."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        answer = refusal(headers)
        if answer is not None:
            status, reason = answer
            return await PlainTextResponse(reason + "\n", status)(scope, receive, _marked(send))
        return await self._app(scope, _counted(receive), _marked(send))


def refusal(headers: Mapping[str, str]) -> tuple[int, str] | None:
    """Return status and reason why a request with these headers is refused; None: it is not.

    Example:
        >>> refusal({"host": "evil.example:8000"})[0]
        421
        >>> refusal({"host": "127.0.0.1:8000"}) is None
        True
    """
    host = headers.get("host", "")
    if _name(host) not in OUR_NAMES:
        return 421, "this server answers to 127.0.0.1 and localhost only"
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return 403, "another site's page may not ask this server"
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return 403, "another site's page may not ask this server: type the address yourself"
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        return 413, f"at most {MOST_BYTES >> 20} MB are taken"
    return None


class TooLarge(Exception):
    """More bytes arrived than are taken."""


def _name(host: str) -> str:
    """Return a Host header without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _counted(receive: Receive) -> Receive:
    n_bytes = 0

    async def counted() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MOST_BYTES:
            raise TooLarge
        return message

    return counted


def _marked(send: Send) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours: list[Any] = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *ours]
        await send(message)

    return marked
