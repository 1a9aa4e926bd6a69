"""Runs the studio's server: chooses token and port, prints the link, opens the browser."""

from __future__ import annotations

import contextlib
import errno
import getpass
import ipaddress
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

import uvicorn
from platformdirs import user_data_path

from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.renderers.interface import Offered, RendererKind, kinds_of
from zorank.studio.access import new_token
from zorank.studio.address import PublicURL
from zorank.studio.app import create_app
from zorank.studio.connections import most_connections, raise_file_limit, watched_protocol
from zorank.studio.hints import hints
from zorank.studio.judging import Panel
from zorank.studio.limits import Limits
from zorank.studio.logs import log_config
from zorank.studio.methods import MethodSpec
from zorank.studio.workers import Inherited, be_ready, supervise

PORT = 8321
ANYWHERE = ("0.0.0.0", "::")
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
SHORTEST_TOKEN = 16
HOST_ERRORS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL, errno.ENODEV)
"""System errors for an address that is not one of this machine."""
GRACE = 3
"""Seconds for which requests in progress are waited for at shutdown."""
PROXIES = "127.0.0.1,::1,::ffff:127.0.0.1"
"""The proxies that `trust_proxy` believes, unless FORWARDED_ALLOW_IPS names others."""


def serve(
    store: Store,
    renderers: Offered,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    browser: bool = True,
    panel: Panel | None = None,
    method: MethodSpec | None = None,
    public_url: str | None = None,
    trust_proxy: bool = False,
    workers: int = 1,
    limits: Limits | None = None,
    log_level: str = "warning",
    log_format: str = "text",
    start: str | Sequence[float] | None = None,
) -> None:
    """Serve until interrupted.

    `public_url` is the address at which people open the studio behind a proxy. `trust_proxy`
    takes client address and scheme from the X-Forwarded-For and -Proto headers of a proxy.
    `workers` is the number of server processes; each runs the command line of this one again.
    `start` is the start of runs that name none.
    """
    public = None if public_url is None else PublicURL.parse(public_url)
    logs = log_config(log_level, log_format)
    worker = Inherited.find()
    if worker is None:
        token = _stored_token() if token is None else checked_token(token)
        listener = listen(host, port)
    else:
        token, listener = worker.token, worker.listener
    links = {
        title: link_to(base, token)
        for title, base in addresses(host, listener.getsockname()[1], public).items()
    }
    taken = port is None and listener.getsockname()[1] != PORT
    announce = partial(
        _announce,
        links,
        browser,
        listener.getsockname()[1],
        wanted=PORT if taken else None,
        only_local=_is_loopback(host) and public is None,
    )
    if worker is None and workers > 1:
        supervise(listener, token, workers, announce)
        return
    kinds = kinds_of(renderers)
    names = allowed_names(host, public)
    limits = limits or Limits()
    app = create_app(
        *(store, kinds, token, names),
        panel=panel,
        method=method,
        public_url=public_url,
        server_limits=limits,
        place=None if worker is None else worker.place.existing(),
        start=start,
    )
    raise_file_limit()
    settings = uvicorn.Config(
        app,
        http=watched_protocol(limits),
        limit_concurrency=most_connections(limits) + 1,
        log_config=logs,
        access_log=False,  # uvicorn's has queries, and so tokens
        timeout_graceful_shutdown=GRACE,
        proxy_headers=trust_proxy,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", PROXIES),
    )
    server = _Server(settings)
    server.ends_process = True
    ready = announce if worker is None else partial(be_ready, worker.place)
    threading.Thread(target=_when_started, args=(server, ready), daemon=True).start()
    # The first picture may have to load a model: do that while the page opens.
    threading.Thread(target=_warm_up, args=(list(kinds.values())[:1],), daemon=True).start()
    server.run(sockets=[listener])


def checked_token(token: str) -> str:
    """Return a given token if it is long enough not to be guessed."""
    if len(token) < SHORTEST_TOKEN:
        raise InvalidInput(
            f"the token has {len(token)} characters, and at least {SHORTEST_TOKEN} are needed; "
            "choose a longer --token, or leave it out for a random one"
        )
    return token


def allowed_names(host: str, public: PublicURL | None) -> tuple[str, ...]:
    """Return the host names by which a server on this address may be called; "*" is any."""
    if public is not None or _is_loopback(host):
        own = () if host in ANYWHERE else (_in_url(host).lower(),)
        return tuple(dict.fromkeys((*LOCAL_NAMES, *own)))
    return ("*",)


def addresses(host: str, port: int, public: PublicURL | None = None) -> dict[str, str]:
    """Return the addresses to print: what each is for → the address without a path."""
    local = "127.0.0.1" if host in ANYWHERE else _in_url(host)
    found = {"Studio at": f"http://{local}:{port}"}
    if public is not None:
        found["Public address:"] = str(public)
    elif host in ANYWHERE and (network := _network_address(host)) is not None:
        found["In this network:"] = f"http://{_in_url(network)}:{port}"
    return found


def link_to(base: str, token: str) -> str:
    """Return the owner's link at an address."""
    return f"{base}/?token={quote(token, safe='')}"


def _network_address(host: str) -> str | None:
    """Return this machine's address in its network, or None if it has no network.

    Connecting a datagram socket sends nothing; it only chooses the address to send from.
    """
    for family, elsewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        if family == socket.AF_INET6 and host != "::":
            continue
        with (
            contextlib.suppress(OSError),
            socket.socket(family, socket.SOCK_DGRAM) as probe,
        ):
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _in_url(host: str) -> str:
    """Return a host as URLs write it: IPv6 addresses have brackets."""
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """Ends in a few seconds.

    At shutdown it ends the event streams of open pages, which would never end by themselves, and
    waits for other requests for a while. Threads cannot be interrupted: if one still works then,
    for example because the database is locked or a renderer does not return, the process ends
    without it. Its client sees a closed connection, and what it stored stays stored.

    Attributes:
        ends_process: whether the process is this server's own, so that it may end it.
    """

    ends_process = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.ends_process and not self.should_exit:
            threading.Thread(target=self._end, args=(sig,), daemon=True).start()
        self.config.app.state.notifier.close()  # type: ignore[union-attr]  # FastAPI
        super().handle_exit(sig, frame)

    def _end(self, sig: int) -> None:
        time.sleep(GRACE + 2)
        os._exit(128 + sig)  # also in the middle of a rendering: Python's memory stays as it is


def _when_started(server: uvicorn.Server, then: Callable[[], None]) -> None:
    while not server.started:
        time.sleep(0.02)
    then()


def _announce(
    links: Mapping[str, str], browser: bool, port: int, wanted: int | None, only_local: bool
) -> None:
    """Print the links, open the browser, and say what to do if that does not work."""
    sys.stdout.write("".join(f"{title} {link}\n" for title, link in links.items()))
    sys.stdout.flush()
    far = bool(os.environ.get("SSH_CONNECTION")) and not os.environ.get("DISPLAY")
    opened = None
    if browser and not far:  # a text browser would take the terminal
        opened = webbrowser.open(links.get("Public address:", links["Studio at"]))
    for sentence in hints(os.environ, _user(), port, wanted, opened, only_local):
        sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a name for its user
        return "USER"


def _warm_up(kinds: Iterable[RendererKind]) -> None:
    for kind in kinds:
        with contextlib.suppress(Exception):  # the first request for a picture reports it
            kind.make().warm_up()


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket, on the default port or a free one if `port` is None."""
    family, place = _resolved(host)
    for attempt in (port,) if port is not None else (PORT, 0):
        try:
            return _bound(family, (place[0], attempt, *place[2:]))
        except (OSError, OverflowError) as error:
            problem = error
            if isinstance(error, OSError) and error.errno in HOST_ERRORS:
                raise _wrong_host(host, error) from error
    raise InvalidInput(
        f"the studio cannot listen on {host}, port {port}: {problem}; choose another --port"
    )


def _bound(family: socket.AddressFamily, place: tuple[Any, ...]) -> socket.socket:
    # asyncio disables Nagle's algorithm only if the protocol is given; else +40 ms a response.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if place[0] == "::":  # IPv4 as well
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(place)
        listener.listen(128)
    except BaseException:
        listener.close()
        raise
    return listener


def _resolved(host: str) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    """Return a host's address family and address, IPv4 if it has both."""
    try:
        if not host:
            raise OSError("it is empty")
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _wrong_host(host, error) from error
    return min((family, place) for family, _, _, _, place in found)


def _wrong_host(host: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"the studio cannot listen on the host {host!r}: {error}; choose another --host, such as "
        "127.0.0.1 for this machine alone or 0.0.0.0 for its network"
    )


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
