"""Serving the pages until the user stops it."""

from __future__ import annotations

import socket
from collections.abc import Callable

from switchout.errors import WEB, SwitchOutError, needs

with needs(*WEB):
    import uvicorn

from switchout.explore.app import make_app
from switchout.explore.site import Site


def serve(site: Site, *, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve on a port of this machine, 0 for any free one, and announce the address."""
    # With the protocol named, asyncio switches Nagle's delay of 40 ms off.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise SwitchOutError(
                f"port {port}: {error.strerror or error}; choose another port="
            ) from None
        listener.listen(1024)
        announce(f"http://{host}:{listener.getsockname()[1]}/")
        config = uvicorn.Config(make_app(site), log_level="warning", server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
