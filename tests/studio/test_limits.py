"""Clients cannot occupy more than the limits allow: event streams, silent connections."""

import asyncio
import contextlib
import select
import socket
import sys

import pytest

from tests.helpers.studio_server import PLAIN_RENDERER, TOKEN, Plain, Server, client_of
from tests.helpers.waiting import PATIENCE, wait_until
from zorank.studio import security
from zorank.studio.connections import most_connections
from zorank.studio.limits import Limits

pytestmark = pytest.mark.server


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Start studios with other limits; what they write to stderr is in `errors`."""
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}")
    with contextlib.ExitStack() as stack:

        def start(*arguments, program=("-m", "zorank")):
            server = Server(tmp_path / "runs.db", "--renderer", "plain:Plain", *arguments)
            server.command[:2] = program
            errors = stack.enter_context(open(tmp_path / "errors", "w+"))
            server.start(stderr=errors)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture
def errors(tmp_path):
    return (tmp_path / "errors").read_text


def new_run(client):
    made = client.post("/api/runs", json={"renderer": "plain:Plain", "method": "rank-process"})
    return made.raise_for_status().json()["id"]


@contextlib.contextmanager
def silent(server, count):
    """Open connections that send nothing."""
    with contextlib.ExitStack() as stack:
        address = ("127.0.0.1", server.port)
        yield [
            stack.enter_context(socket.create_connection(address, PATIENCE)) for _ in range(count)
        ]


def is_closed(connection):
    """Wait until the server has closed a connection."""
    assert select.select([connection], [], [], PATIENCE)[0], "the connection is still open"
    with contextlib.suppress(ConnectionResetError):
        return connection.recv(1) == b""
    return True


def response(connection):
    """Read the response to a request for the icon; nothing if the server closes the connection."""
    received = b""
    while b"</svg>" not in received:
        part = connection.recv(65536)
        if not part:
            return b""
        received += part
    return received


@contextlib.contextmanager
def streams(client, run_id, count):
    """Open event streams; yield the status of each."""
    with contextlib.ExitStack() as stack:
        path = f"/api/runs/{run_id}/events"
        yield [stack.enter_context(client.stream("GET", path)) for _ in range(count)]


def test_a_client_has_a_limited_number_of_streams(serve):
    server = serve("--limit", "streams_per_client=3")
    with server.client() as owner:
        run_id = new_run(owner)
        link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
        with server.client(link.partition("token=")[2]) as rater:
            with streams(rater, run_id, 5) as opened:
                assert [r.status_code for r in opened] == [200, 200, 200, 429, 429]
                assert "close some of them" in opened[-1].read().decode()
                assert opened[-1].headers["Retry-After"] == "2"
                with streams(owner, run_id, 1) as others:
                    assert [r.status_code for r in others] == [200]
            wait_for_streams(owner, 0)
            with streams(rater, run_id, 3) as opened:
                assert [r.status_code for r in opened] == [200, 200, 200]


def test_all_clients_have_a_limited_number_of_streams(serve):
    server = serve("--limit", "streams=3")
    with server.client() as owner:
        run_id = new_run(owner)
        with streams(owner, run_id, 4) as opened:
            assert [r.status_code for r in opened] == [200, 200, 200, 503]
            assert "too many pages" in opened[-1].read().decode()
            assert opened[-1].headers["Retry-After"] == "10"


def wait_for_streams(owner, count):
    """Wait until the server has noticed that pages were closed."""

    def is_noticed():
        return f"\nzorank_open_pages {count}\n" in owner.get("/metrics").raise_for_status().text

    wait_until(is_noticed, f"the server has {count} open pages")


def test_silent_connections_do_not_keep_others_out(serve, errors):
    server = serve("--limit", "connections=50")
    with silent(server, 120) as opened, server.client() as owner:
        run_id = new_run(owner)
        with streams(owner, run_id, 5) as following:
            assert [r.status_code for r in following] == [200] * 5
        assert all(is_closed(connection) for connection in opened[:60])
    assert errors() == ""


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
from zorank.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_more_silent_connections_than_files(serve, errors):
    server = serve(program=["-c", FEW_FILES])
    with silent(server, 400), server.client() as owner:
        assert owner.get("/api/runs").status_code == 200
    assert errors() == ""


WITH_H11 = """
from uvicorn.protocols.http.h11_impl import H11Protocol
from zorank.studio import connections
connections.AutoHTTPProtocol = H11Protocol
from zorank.cli import main
main()
"""


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"GET /static/favicon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /",
    ],
    ids=["nothing", "half a head", "a request and a part of the next"],
)
@pytest.mark.parametrize("program", [("-m", "zorank"), ("-c", WITH_H11)], ids=["auto", "h11"])
def test_a_connection_without_a_complete_head_is_closed(serve, errors, sent, program):
    server = serve("--limit", "head_seconds=1", program=program)

    def is_closed_after_the_response():
        with silent(server, 1) as (connection,), contextlib.suppress(ConnectionError):
            connection.sendall(sent)
            if sent.endswith(b"GET /"):
                if not response(connection):
                    return False  # this machine was too slow to send a request within a second
                connection.sendall(b"static")
            return is_closed(connection)

    wait_until(is_closed_after_the_response, "the connection is closed")
    assert errors() == ""


def test_a_slow_client_is_served(serve):
    """A head in two parts, and a second request on the same connection, are fine."""
    server = serve()
    with silent(server, 1) as (connection,):
        for _ in range(2):
            connection.sendall(b"GET /static/favicon.svg HTTP/1.1\r\nHost: 12")
            connection.sendall(b"7.0.0.1\r\n\r\n")
            assert response(connection).startswith(b"HTTP/1.1 200 OK")


def test_an_endless_head_is_refused(serve):
    server = serve()
    with (
        silent(server, 1) as (connection,),
        contextlib.suppress(BrokenPipeError, ConnectionResetError),
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for _ in range(10**6):
            connection.sendall(b"X-Long: " + b"x" * 1000 + b"\r\n")
        pytest.fail("the server reads a head without an end")


def test_a_body_that_never_arrives_times_out(store):
    async def post():
        sent = []
        start = {"type": "http", "method": "POST", "path": "/api/runs", "query_string": b""}
        host = [(b"host", b"testserver"), (b"authorization", f"Bearer {TOKEN}".encode())]
        scope = {**start, "headers": host, "scheme": "http", "client": None, "server": None}

        async def send(message):
            sent.append(message)

        app = client_of(store, {"plain": Plain}).app
        await app(scope, asyncio.Event().wait, send)
        return sent

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(security, "BODY_SECONDS", 0.01)
        first, second = asyncio.run(post())
    assert first["status"] == 408
    assert b"did not arrive in time" in second["body"]


def test_the_number_of_connections_leaves_files_for_others():
    resource = pytest.importorskip("resource")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert most_connections(Limits(connections=10)) == 10
    if 200 < soft < sys.maxsize:
        assert most_connections(Limits(connections=10**9)) == soft - 128


def test_the_command_line_refuses_unknown_limits(refused, tmp_path):
    command = ("studio", "--no-browser", "--store", tmp_path / "runs.db", "--token", TOKEN)
    assert "no limit named 'walks'" in refused(*command, "--limit", "walks=3")
    assert "at least 1; found 0" in refused(*command, "--limit", "runs=0")
