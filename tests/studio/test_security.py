"""Who comes in, at which address, and what the guard refuses before a handler runs."""

import asyncio
import re

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.helpers.studio_server import TOKEN, Plain
from zorank.errors import InvalidInput, StoreError
from zorank.stores.sql import SUGGESTED
from zorank.studio import create_app
from zorank.studio.guesses import LIMIT
from zorank.studio.methods import MethodSpec
from zorank.studio.new_run import RunSettings
from zorank.studio.rounds import Sent
from zorank.studio.security import LARGEST_BODY, UPLOADS
from zorank.studio.seen import Seen
from zorank.types import Ranking, RunRecord

OWNER = {"Authorization": f"Bearer {TOKEN}"}
PUBLIC = "https://rank.example.org/rank"


def app_of(store, **settings):
    return create_app(store, {"plain": Plain}, TOKEN, hosts=("testserver",), **settings)


@pytest.fixture
def app(store):
    return app_of(store)


@pytest.fixture
def behind(store):
    """A studio with a public URL, as a proxy that passes the host on sees it."""
    return app_of(store, public_url=PUBLIC)


def browser(app, base="http://testserver"):
    """A client without a token that keeps cookies and shows redirects."""
    return TestClient(app, base_url=base, follow_redirects=False)


def owner(app, base="http://testserver"):
    return TestClient(app, base_url=base, headers=OWNER)


def new_run(client, prefix=""):
    made = client.post(f"{prefix}/api/runs", json={"renderer": "plain", "method": "rank-process"})
    return made.raise_for_status().json()["id"]


def invitation(client, run_id):
    return client.post(f"/api/runs/{run_id}/invite").json()["url"]


# Cookies.


def test_cookies_hold_no_token(app):
    client = owner(app)
    run_id = new_run(client)
    secret = invitation(client, run_id).partition("token=")[2]
    for path, token in (("/", TOKEN), (f"/runs/{run_id}", secret)):
        visitor = browser(app)
        entered = visitor.get(path, params={"token": token})
        assert entered.status_code == 303
        assert entered.headers["location"] == path
        cookie = entered.headers["set-cookie"]
        assert token not in cookie
        assert token.rpartition(".")[2] not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/;" in cookie
        assert "Secure" not in cookie
        assert visitor.get(f"/api/runs/{run_id}").status_code == 200


def test_a_cookie_survives_a_restart_with_the_same_token_only(store):
    visitor = browser(app_of(store))
    visitor.get("/", params={"token": TOKEN})
    again = browser(app_of(store))
    again.cookies = visitor.cookies
    assert again.get("/api/runs").status_code == 200
    other = create_app(store, {"plain": Plain}, f"{TOKEN}-2", hosts=("testserver",))
    changed = browser(other)
    changed.cookies = visitor.cookies
    assert changed.get("/api/runs").status_code == 401


def test_a_cookie_of_another_port_is_not_accepted(app):
    """Programs on other ports of a host receive its cookies; they are of no use elsewhere."""
    visitor = browser(app, "http://testserver:8321")
    visitor.get("/", params={"token": TOKEN})
    assert visitor.get("/api/runs").status_code == 200
    ((name, value),) = visitor.cookies.items()
    assert name == "zorank-owner-8321"
    elsewhere = browser(app, "http://testserver:8322")
    for guess in (name, "zorank-owner-8322"):
        given = elsewhere.get("/api/runs", headers={"Cookie": f"{guess}={value}"})
        assert given.status_code == 401


def test_revoking_an_invitation_ends_its_cookies(app):
    client = owner(app)
    run_id = new_run(client)
    visitor = browser(app)
    visitor.get(f"/runs/{run_id}", params={"token": invitation(client, run_id).split("=")[1]})
    assert visitor.get(f"/api/runs/{run_id}/round").status_code == 200
    invitation(client, run_id)  # a new one replaces it
    assert visitor.get(f"/api/runs/{run_id}/round").status_code == 401
    visitor.get(f"/runs/{run_id}", params={"token": invitation(client, run_id).split("=")[1]})
    assert visitor.get(f"/api/runs/{run_id}/round").status_code == 200
    client.delete(f"/api/runs/{run_id}/invite")
    assert visitor.get(f"/api/runs/{run_id}/round").status_code == 401


def test_a_cookie_with_a_token_of_earlier_versions_is_told_to_open_the_link(app):
    old = browser(app).get("/", headers={"Cookie": f"zorank-owner-80={TOKEN}"})
    assert old.status_code == 401
    assert "upgrade" in old.text


# Below the path of a public URL.


@pytest.mark.parametrize("prefix", ["", "/rank"], ids=["removed", "left"])
@pytest.mark.parametrize(
    "base", ["https://rank.example.org", "http://rank.example.org", "http://testserver:8321"]
)
def test_a_proxy_may_remove_the_prefix_or_leave_it(behind, base, prefix):
    """And may pass the public host and the scheme on or not."""
    visitor = browser(behind, base)
    entered = visitor.get(f"{prefix}/", params={"token": TOKEN})
    assert entered.status_code == 303
    assert entered.headers["location"] == "/rank/"
    assert "Path=/rank;" in entered.headers["set-cookie"]
    assert "Secure" in entered.headers["set-cookie"]
    session = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
    assert visitor.get(f"{prefix}/new", headers=session).status_code == 200
    for path in ("/rank/static/api.js", f"{prefix}/static/api.js"):
        assert visitor.get(path).status_code == 200
    run_id = new_run(TestClient(behind, base_url=base, headers=session), prefix)
    shown = visitor.get(f"{prefix}/api/runs/{run_id}/round", headers=session).json()
    picture = shown["exhibits"][0]["url"]
    assert picture.startswith(f"/rank/api/runs/{run_id}/rounds/0/exhibits/0?v=")
    assert visitor.get(picture, headers=session).status_code == 200


def test_every_link_of_every_page_and_response_has_the_prefix(behind):
    client = owner(behind, "https://rank.example.org")
    run_id = new_run(client, "/rank")
    client.post(f"/rank/api/runs/{run_id}/rounds/0/answer", json={"order": [[1]]})
    for page in ("", "/", "/new", f"/runs/{run_id}", f"/runs/{run_id}/result", "/nothing"):
        text = client.get(f"/rank{page}").text
        assert 'data-root="/rank"' in text or page == "/nothing"
        for link in re.findall(r'(?:href|src)="(/[^"]*)"', text):
            assert link.startswith("/rank/")
    lists = ("renderers", "runs", f"runs/{run_id}", f"runs/{run_id}/round")
    paths = [client.get(f"/rank/api/{path}").text for path in (*lists, f"runs/{run_id}/history")]
    draft = client.post(f"/rank/api/runs/{run_id}/rounds/1/draft", json={"order": [[1], [2]]})
    found = re.findall(r'"(/[^"]*)"', "".join([*paths, draft.text]))
    assert len(found) > 15
    assert [path for path in found if not path.startswith("/rank/api/")] == []
    assert client.get("/rank/openapi.json").json()["servers"] == [{"url": "/rank"}]


def test_the_path_itself_is_the_home_page(behind):
    assert owner(behind, "https://rank.example.org").get("/rank").status_code == 200


@pytest.mark.parametrize("base", ["https://rank.example.org", "http://testserver:8321"])
def test_invitations_have_the_public_url(behind, base):
    client = owner(behind, base)
    run_id = new_run(client)
    assert invitation(client, run_id).startswith(f"{PUBLIC}/runs/{run_id}?token=")


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [
        ("https://rank.example.org", "rank.example.org", 201),
        ("https://rank.example.org", "rank.example.org:443", 201),
        ("https://rank.example.org", "RANK.example.org", 201),
        ("https://rank.example.org", "testserver", 201),  # the proxy does not pass it on
        ("http://testserver", "testserver", 201),  # the loopback link
        (None, "rank.example.org", 201),
        ("http://rank.example.org", "rank.example.org", 403),
        ("https://evil.example", "rank.example.org", 403),
        ("https://rank.example.org:8443", "rank.example.org", 403),
        ("null", "rank.example.org", 403),
        ("https://evil.example", "evil.example", 400),
        ("https://rank.example.org", "rank.example.org.evil.example", 400),
    ],
)
def test_host_and_origin_are_those_of_the_public_url(behind, origin, host, status):
    headers = {"Host": host, **OWNER} | ({"Origin": origin} if origin else {})
    body = {"renderer": "plain", "method": "rank-process"}
    made = TestClient(behind).post("/rank/api/runs", json=body, headers=headers)
    assert made.status_code == status, made.text


# What is refused.


def test_without_a_token_nobody_learns_whether_a_run_exists(app):
    run_id = new_run(owner(app))
    stranger = browser(app)
    for path in ("/runs/{}", "/runs/{}/result", "/api/runs/{}", "/api/runs/{}/best"):
        for headers in ({}, {"Authorization": "Bearer guess"}):
            answers = [
                stranger.get(path.format(name), headers=headers)
                for name in (run_id, "no-such-run", "not%20a%20name")
            ]
            assert {answer.status_code for answer in answers} == {401}
            assert len({answer.content for answer in answers}) == 1


def test_a_rater_does_not_learn_whether_another_run_exists(app):
    client = owner(app)
    run_id, other = new_run(client), new_run(client)
    secret = invitation(client, run_id).partition("token=")[2]
    rater = TestClient(app, headers={"Authorization": f"Bearer {secret}"})
    answers = [rater.get(f"/runs/{name}") for name in (other, "no-such-run", "not%20a%20name")]
    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.content for answer in answers}) == 1
    assert client.get("/runs/no-such-run").status_code == 404


def test_no_body_is_read_without_a_valid_token(app):
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/runs",
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-length", b"5")],
        "client": ("10.0.0.1", 5),
        "server": ("testserver", 80),
        "scheme": "http",
    }
    sent = []

    async def receive():
        raise AssertionError("the body was read")

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 401


@pytest.mark.parametrize(
    ("path", "size"),
    [
        ("/api/starts", LARGEST_BODY + 1),
        ("/api/starts", 4 * LARGEST_BODY),
        ("/api/runs", UPLOADS["/api/runs"] + 1),
    ],
)
@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_that_is_too_large_gets_413(app, path, size, chunked):
    text = b" " * size
    content = iter([text[i : i + 10_000] for i in range(0, size, 10_000)]) if chunked else text
    headers = {"Content-Type": "application/json"}
    refused = owner(app).post(path, content=content, headers=headers)
    assert refused.status_code == 413
    assert refused.json()["detail"].startswith("the request's body is too large")


def test_a_chunked_body_of_the_largest_size_is_read(app):
    body = b'{"renderer": "plain", "method": "rank-process"}'
    content = iter([body, b" " * (UPLOADS["/api/runs"] - len(body))])
    headers = {"Content-Type": "application/json"}
    made = owner(app).post("/api/runs", content=content, headers=headers)
    assert made.status_code == 201


def test_every_response_has_the_security_headers(app):
    client, stranger = owner(app), browser(app)
    wrong_host = {"Host": "evil.example"}
    for answer in (
        client.get("/"),
        client.get("/api/runs"),
        client.get("/nothing"),
        client.get("/static/api.js"),
        stranger.get("/"),
        stranger.get("/api/runs"),
        stranger.get("/", headers=wrong_host),
        client.post("/api/starts", content=b" " * (LARGEST_BODY + 1)),
    ):
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_events_are_not_to_be_buffered(app):
    client = owner(app)
    run_id = new_run(client)
    app.state.notifier.close()  # else the stream would not end
    events = client.get(f"/api/runs/{run_id}/events")
    assert events.headers["x-accel-buffering"] == "no"


# Guesses.


def test_too_many_wrong_tokens_are_told_to_wait_but_a_valid_one_is_not(app):
    client = owner(app)
    secret = invitation(client, run_id := new_run(client)).partition("token=")[2]
    stranger = browser(app)
    statuses = [
        stranger.get(
            "/api/runs", headers={"Authorization": f"Bearer {run_id}.guess{n}"}
        ).status_code
        for n in range(LIMIT + 3)
    ]
    assert statuses == [401] * LIMIT + [429] * 3
    refused = stranger.get("/", params={"token": "another-guess"})
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "60"
    assert "Too many attempts" in refused.text
    assert stranger.get("/").status_code == 401  # no token is no guess
    assert client.get("/api/runs").status_code == 200
    rater = {"Authorization": f"Bearer {secret}"}
    assert stranger.get(f"/api/runs/{run_id}", headers=rater).status_code == 200
    elsewhere = TestClient(app, client=("10.0.0.2", 1))
    wrong = elsewhere.get("/api/runs", headers={"Authorization": "Bearer guess"})
    assert wrong.status_code == 401


class Counting:
    """A store that counts the snapshots that are read, and can fail."""

    def __init__(self, store):
        self._store = store
        self.reads = 0
        self.fails = False

    def __getattr__(self, name):
        return getattr(self._store, name)

    def snapshot(self, name):
        self.reads += 1
        if self.fails:
            raise StoreError("/home/me/runs.db is locked", public="the store is locked; try again")
        return self._store.snapshot(name)


def test_access_is_resolved_once_and_for_the_owner_without_the_store(store):
    counting = Counting(store)
    app = app_of(counting)
    client = owner(app)
    run_id = new_run(client)
    secret = invitation(client, run_id).partition("token=")[2]
    rater = {"Authorization": f"Bearer {secret}"}
    counting.reads = 0
    client.get("/api/renderers")
    client.get("/")
    assert counting.reads == 0
    TestClient(app, headers=rater).get("/")  # the home page reads no run
    assert counting.reads == 1


def link_of(client, run_id, role):
    """The headers of the owner, or of a person who is invited in another role."""
    if role == "owner":
        return OWNER
    if role == "guest":
        secret = invitation(client, run_id).partition("token=")[2]
    else:
        new = {"name": f"Ann the {role}", "role": role}
        invited = client.post(f"/api/runs/{run_id}/invitations", json=new).json()
        secret = invited["url"].partition("token=")[2]
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize("role", ["owner", "rater", "viewer", "guest"])
def test_every_request_reads_one_snapshot(store, role):
    counting = Counting(store)
    app = app_of(counting)
    client = owner(app)
    run_id = new_run(client)
    person = TestClient(app, headers=link_of(client, run_id, role))
    address = f"/api/runs/{run_id}"
    for path in ("", "/round", "/history", "/rounds/0/exhibits/0"):
        counting.reads = 0
        person.get(address + path).raise_for_status()
        assert counting.reads == 1, path
    if role != "viewer":
        # The transaction that stores an answer reads the run itself.
        reads = 0 if role == "owner" else 1
        for index in range(2):  # the second one follows what this process has stored itself
            counting.reads = 0
            given = {"order": [[0]], "rater": "Ann the rater" if role == "rater" else "Eve"}
            person.post(f"{address}/rounds/{index}/answer", json=given).raise_for_status()
            assert counting.reads == reads, index


@pytest.mark.parametrize("role", ["owner", "rater"])
def test_a_request_sees_what_another_process_stored_before_it_began(store, role):
    app, elsewhere = app_of(store), app_of(store)
    client = owner(app)
    run_id = new_run(client)
    person = TestClient(app, headers=link_of(client, run_id, role))
    for index in range(3):
        assert person.get(f"/api/runs/{run_id}/round").json()["index"] == index
        given = owner(elsewhere).post(
            f"/api/runs/{run_id}/rounds/{index}/answer", json={"order": [[0]]}
        )
        given.raise_for_status()


def test_a_request_that_waited_uses_what_was_read_meanwhile(store):
    counting = Counting(store)
    studio = app_of(counting).state.studio
    run_id = studio.create(RunSettings("plain", method=MethodSpec("rank-process")))
    began = Seen()
    with studio.session(run_id):
        pass
    counting.reads = 0
    with studio.session(run_id, began):
        assert counting.reads == 0
    with studio.session(run_id, Seen()):
        assert counting.reads == 1


def test_an_old_snapshot_does_not_hide_what_this_process_stored_since(store):
    studio = app_of(store).state.studio
    run_id = studio.create(RunSettings("plain", raters=3, method=MethodSpec("rank-process")))
    with studio.session(run_id):
        seen = Seen(snapshot=store.snapshot(run_id))
        studio.rounds.store_answer(studio.loaded[0], Sent(0, Ranking.of([0]), "Ann"))
    with studio.session(run_id, seen) as session:
        assert [ballot.rater for ballot in session.ballots] == ["Ann"]


def test_a_request_that_failed_makes_the_next_one_read_the_store(store):
    counting = Counting(store)
    studio = app_of(counting).state.studio
    run_id = studio.create(RunSettings("plain", method=MethodSpec("rank-process")))
    began = Seen()
    with pytest.raises(InvalidInput), studio.session(run_id) as session:
        session.slate(7)
    counting.reads = 0
    with studio.session(run_id, began):
        assert counting.reads == 1


def test_a_store_that_cannot_be_read_is_a_sentence(store):
    counting = Counting(store)
    app = app_of(counting)
    counting.fails = True
    headers = {"Authorization": "Bearer some-run.some-secret"}
    for path in ("/api/runs/some-run", "/runs/some-run"):
        answer = TestClient(app).get(path, headers=headers)
        assert answer.status_code == 503
        assert "he store is locked; try again" in answer.text
        assert "/home/me" not in answer.text
    assert TestClient(app, headers=OWNER).get("/api/renderers").status_code == 200


def test_a_guess_at_a_run_is_not_compared_with_all_runs(store):
    for number in range(SUGGESTED + 20):
        store.create(RunRecord(f"run-{number}", "auto", {}, 1, np.zeros(2), 0, "0", 0.0, {}))
    with pytest.raises(InvalidInput) as unknown:
        store.record("xyz")
    assert str(unknown.value).count("run-") == SUGGESTED


def test_no_redirect_repeats_what_the_client_named(store):
    client = owner(app_of(store))
    found = client.get("/api/runs/", headers={"Host": "testserver:1"}, follow_redirects=False)
    assert found.status_code == 404
    assert "location" not in found.headers
