"""Runs the studio's server: chooses token and port, prints the link, opens the browser."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import uvicorn
from platformdirs import user_data_path

from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.renderers.interface import Offered, RendererKind, kinds_of
from zorank.studio.access import new_token
from zorank.studio.app import create_app
from zorank.studio.judging import Panel
from zorank.studio.methods import MethodSpec

PORT = 8321
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    store: Store,
    renderers: Offered,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    browser: bool = True,
    panel: Panel | None = None,
    method: MethodSpec | None = None,
) -> None:
    """Serve until interrupted."""
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    token = token or _stored_token()
    names = ("127.0.0.1", "localhost", "[::1]") if host in LOOPBACK else ("*",)
    kinds = kinds_of(renderers)
    app = create_app(store, kinds, token, names, panel=panel, method=method)
    address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
    settings = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3)
    server = _Server(settings)
    announcer = threading.Thread(
        target=_announce, args=(server, f"{address}/?token={token}", browser), daemon=True
    )
    announcer.start()
    # The first picture may have to load a model: do that while the page opens.
    threading.Thread(target=_warm_up, args=(list(kinds.values())[:1],), daemon=True).start()
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Ends the event streams of open pages at shutdown; they would never end by themselves."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.config.app.state.closing = True  # type: ignore[union-attr]
        super().handle_exit(sig, frame)


def _announce(server: uvicorn.Server, link: str, browser: bool) -> None:
    while not server.started:
        time.sleep(0.02)
    sys.stdout.write(f"Studio at {link}\n")
    sys.stdout.flush()
    if browser:
        webbrowser.open(link)


def _warm_up(kinds: Iterable[RendererKind]) -> None:
    for kind in kinds:
        with contextlib.suppress(Exception):  # the first request for a picture reports it
            kind.make().warm_up()


def _listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket, on the default port or a free one if `port` is None."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for attempt in (port,) if port is not None else (PORT, 0):
        # asyncio disables Nagle's algorithm only if the protocol is given; else +40 ms a response.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, attempt))
        except (OSError, OverflowError, ValueError, TypeError) as error:
            listener.close()
            if _is_wrong_host(error):
                raise InvalidInput(
                    f"the studio cannot listen on {host!r}, which is not an address of this "
                    f"machine ({error}); choose another --host, such as 127.0.0.1 or 0.0.0.0"
                ) from error
            problem = error
        else:
            listener.listen(128)
            return listener
    raise InvalidInput(
        f"the studio cannot listen on {host}, port {port}: {problem}; choose another --port"
    )


def _is_wrong_host(error: Exception) -> bool:
    """Return whether a name is unknown or invalid, or an address is not this machine's."""
    if isinstance(error, (socket.gaierror, ValueError, TypeError)):
        return True
    return isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL


def _stored_token() -> str:
    """Return the owner's token, stored in a file that only this user can read."""
    file = Path(user_data_path("zorank")) / "studio-token"
    try:
        return file.read_text().strip() or _new_stored_token(file)
    except OSError:
        return _new_stored_token(file)


def _new_stored_token(file: Path) -> str:
    token = new_token()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as kept:
            kept.write(token)
    except OSError:
        pass  # a token that cannot be stored is valid until the server stops
    return token
