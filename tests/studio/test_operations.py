"""Health, metrics and the log of a server: what they say, and what they never say."""

import contextlib
import json
import re
import socket
import threading

import pytest

from tests.helpers.studio_server import PLAIN_RENDERER, TOKEN, Plain, Server, client_of
from tests.helpers.waiting import PATIENCE
from zorank.errors import StoreError
from zorank.studio import operations

METHOD = {"renderer": "plain", "method": "rank-process"}


def numbers(client):
    """The metrics by name and labels."""
    text = client.get("/metrics").raise_for_status().text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


class Hanging:
    """A store that can be read by and by, or not at all."""

    def __init__(self, store):
        self._store = store
        self.problem = None
        self.goes_on = threading.Event()
        self.goes_on.set()

    def __getattr__(self, name):
        return getattr(self._store, name)

    def snapshot(self, name):
        self.goes_on.wait(300)
        if self.problem:
            raise self.problem
        return self._store.snapshot(name)


def test_health_needs_no_token_and_no_host_name(store):
    client = client_of(store, {"plain": Plain})
    del client.headers["Authorization"]
    shown = client.get("/healthz", headers={"Host": "10.0.0.7:8321"})
    assert (shown.status_code, shown.json()) == (200, {"status": "ok"})
    assert client.get("/healthzz").status_code == 401
    assert client.get("/healthz/").status_code == 401


def test_health_below_the_path_of_a_public_url(store):
    client = client_of(store, {"plain": Plain}, public_url="https://rank.example.org/rank")
    assert client.get("/healthz").json() == client.get("/rank/healthz").json() == {"status": "ok"}


def test_health_fails_if_the_store_cannot_be_read(store):
    store = Hanging(store)
    client = client_of(store, {"plain": Plain})
    store.problem = StoreError("postgresql://secret-host: connection refused")
    shown = client.get("/healthz")
    assert shown.status_code == 503
    assert "the store does not answer" in shown.json()["detail"]
    assert "secret-host" not in shown.text
    store.problem = None
    assert client.get("/healthz").status_code == 200


def test_a_rater_does_not_learn_where_the_store_is(store, monkeypatch):
    client = client_of(store, {"plain": Plain})

    def fail(name):
        raise StoreError("postgresql://secret-host is down", public="the store is down")

    monkeypatch.setattr(store, "snapshot", fail)
    shown = client.get("/api/runs/any/round", headers={"Authorization": "Bearer any.secret"})
    assert (shown.status_code, shown.json()) == (503, {"detail": "the store is down"})


def test_health_does_not_wait_for_a_store_that_hangs(store, monkeypatch):
    monkeypatch.setattr(operations, "PATIENCE", 0.05)
    store = Hanging(store)
    with client_of(store, {"plain": Plain}) as client:
        store.goes_on.clear()
        before = threading.active_count()
        assert [client.get("/healthz").status_code for _ in range(5)] == [503] * 5
        assert threading.active_count() <= before + 1
        store.goes_on.set()
        monkeypatch.setattr(operations, "PATIENCE", 300)
        assert client.get("/healthz").status_code == 200


def test_metrics_are_the_owners(store):
    client = client_of(store, {"plain": Plain})
    run_id = client.post("/api/runs", json=METHOD).json()["id"]
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    rater = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    assert client.get("/metrics", headers=rater).status_code == 403
    del client.headers["Authorization"]
    assert client.get("/metrics").status_code == 401


def test_metrics_count_what_happened(store):
    client = client_of(store, {"plain": Plain})
    alone = client.post("/api/runs", json=METHOD).json()["id"]
    both = client.post("/api/runs", json={**METHOD, "raters": 2}).json()["id"]
    for run_id in (alone, both):
        body = {"order": [[0]], "rater": "ann"}
        client.post(f"/api/runs/{run_id}/rounds/0/answer", json=body).raise_for_status()
    shown = client.get(f"/api/runs/{both}/round").json()["exhibits"][0]
    size = len(client.get(shown["url"]).content)
    client.get("/nothing/like/this", headers={"Authorization": "Bearer wrong"})
    client.get("/nothing/like/that")
    found = numbers(client)
    assert found["zorank_answers_total"] == 2
    assert found["zorank_ballots_total"] == 1
    assert found["zorank_loaded_runs"] == found["zorank_waiting_rounds"] == 2
    assert found["zorank_open_pages"] == 0
    assert found["zorank_renders_total"] >= 1
    assert found["zorank_cache_bytes"] >= size
    assert found["zorank_failed_renders_total"] == 0
    times = "zorank_request_seconds"
    answers = 'route="/api/runs/{run_id}/rounds/{index}/answer",status="200"'
    assert found[f"{times}_count{{{answers}}}"] == 2
    assert found[f'{times}_bucket{{{answers},le="+Inf"}}'] == 2
    assert found[f"{times}_sum{{{answers}}}"] > 0
    assert found[f'{times}_count{{route="none",status="401"}}'] == 1
    assert found[f'{times}_count{{route="none",status="404"}}'] == 1
    assert not [name for name in found if alone in name]


def test_metrics_have_the_text_format(store):
    client = client_of(store, {"plain": Plain})
    shown = client.get("/metrics")
    assert shown.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    line = r"# (HELP|TYPE) zorank_\w+ .+|zorank_\w+(\{(\w+=\"[^\"\\]*\",?)+\})? [-+.e\d]+"
    assert [text for text in shown.text.splitlines() if not re.fullmatch(line, text)] == []
    assert shown.text.endswith("\n")


@pytest.fixture
def serve(tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}")
    with contextlib.ExitStack() as stack:

        def start(*arguments):
            server = Server(tmp_path / "runs.db", "--renderer", "plain:Plain", *arguments)
            errors = stack.enter_context(open(tmp_path / "errors", "w"))
            stack.callback(server.stop)
            return server.start(stderr=errors)

        yield start


def ask_in_every_way(server):
    """Send requests with tokens in all places, valid, wrong and malformed; return the secrets."""
    with server.client() as owner:
        body = {"renderer": "plain:Plain", "method": "rank-process"}
        run_id = owner.post("/api/runs", json=body).raise_for_status().json()["id"]
        link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
        token = link.partition("token=")[2]
        secrets = [TOKEN, token, token.partition(".")[2], "a-wrong-token"]
        for given in secrets:
            for path in ("/", f"/runs/{run_id}", f"/api/runs/{run_id}/round", "/nothing"):
                bearer = {"Authorization": f"Bearer {given}"}
                for headers in ({"Authorization": ""}, bearer):
                    shown = owner.get(f"{path}?token={given}", headers=headers)
                    secrets += shown.cookies.values()
            owner.get(f"/%3Ftoken={given}")
            owner.get(f"/runs/token={given}%0Ainjected")
            owner.get("/", headers={"Host": "elsewhere", "Cookie": f"zorank-owner={given}"})
            owner.post(f"/api/runs/{run_id}/rounds/0/answer?token={given}", content=b"{")
            malformed(server, f"GET /?token={given} HTTP/9.9\r\n\r\n")
            malformed(server, f"GET /?token={given}\x00 HTTP/1.1\r\nHost\r\n\r\n")
        owner.get(f"/{TOKEN}/{token}")
    return secrets


def malformed(server, text):
    with (
        contextlib.suppress(ConnectionError),
        socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection,
    ):
        connection.sendall(text.encode())
        while connection.recv(65536):
            pass


@pytest.mark.server
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_has_every_request_and_no_token(serve, tmp_path, form):
    server = serve("--log-level", "info", "--log-format", form)
    secrets = ask_in_every_way(server)
    server.stop()
    log = (tmp_path / "errors").read_text()
    assert [secret for secret in secrets if secret in log] == []
    assert "token=" not in log.replace("token=%E2%80%A6", "").replace("token=…", "")
    if form == "json":
        lines = [json.loads(line) for line in log.splitlines()]
        asked = [line for line in lines if line["logger"] == "zorank.requests"]
        assert {"/", "/api/runs", "/nothing"} <= {line["path"] for line in asked}
        assert {200, 201, 303, 401, 404, 400, 422} <= {line["status"] for line in asked}
        assert {line["role"] for line in asked} == {"owner", "rater", "none"}
        assert all(line["milliseconds"] >= 0 for line in asked)
    else:
        assert re.search(r" INFO zorank.requests: POST /api/runs 201 [\d.]+ ms owner\n", log)
        assert not any(line.startswith("injected") for line in log.splitlines())


@pytest.mark.server
def test_the_log_has_no_requests_unless_they_are_wanted(serve, tmp_path):
    server = serve()
    with server.client() as owner:
        owner.get("/api/runs").raise_for_status()
    server.stop()
    assert (tmp_path / "errors").read_text() == ""


def test_the_command_line_refuses_unknown_logs(refused, tmp_path):
    command = ("studio", "--no-browser", "--store", tmp_path / "runs.db", "--token", TOKEN)
    assert "no log level 'trace'" in refused(*command, "--port", 0, "--log-level", "trace")
    assert "no log format 'xml'" in refused(*command, "--port", 0, "--log-format", "xml")
