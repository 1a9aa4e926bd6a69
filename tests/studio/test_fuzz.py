"""Whatever is sent to the studio: no response is a 500, and a rater's link opens one run only."""

import io
import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import schemathesis
from fastapi.testclient import TestClient
from PIL import Image
from schemathesis.config import SchemathesisConfig

from tests.helpers.studio_server import Server
from zorank import Run
from zorank.optimizers import PickStart
from zorank.stores import MemoryStore, open_store
from zorank.studio import create_app
from zorank.studio.access import resolve
from zorank.studio.render_pool import fingerprint
from zorank.types import Ballot, Exhibit, Ranking

TOKEN = "owner-token-of-the-tests"
SECRET = "a-title-nobody-else-may-read"
MINE, THEIRS, FOREIGN = "run-mine", "run-theirs", "run-foreign"
OWNERS_RUN = "run-owners"

# What a rater's link opens, in its own run; every other operation is the owner's.
OPEN_TO_RATERS = {
    "GET /api/runs/{run_id}",
    "GET /api/runs/{run_id}/round",
    "POST /api/runs/{run_id}/rounds/{index}/answer",
    "POST /api/runs/{run_id}/rounds/{index}/draft",
    "GET /api/runs/{run_id}/rounds/{index}/exhibits/{position}",
    "GET /api/runs/{run_id}/history",
    "GET /api/runs/{run_id}/best",
    "GET /api/runs/{run_id}/start",
    "GET /api/runs/{run_id}/bests/{index}",
    "GET /api/runs/{run_id}/events",
}


@dataclass(frozen=True)
class Dot:
    """A renderer of very small pictures, and of none when it is told to fail."""

    fails: ClassVar = False
    size: int = 8
    word: str = ""
    dim: ClassVar = 4
    media_type: ClassVar = "image/png"

    def render(self, candidates):
        if Dot.fails:
            raise RuntimeError("out of paint")
        return [Exhibit("image/png", self._picture(x)) for x in candidates]

    def _picture(self, x):
        file = io.BytesIO()
        colour = tuple(int(v) for v in np.clip(128 + 40 * x[:3], 0, 255))
        Image.new("RGB", (8, 8), colour).save(file, "PNG")
        return file.getvalue()


def make_app(store, workers=2):
    return create_app(store, {"dot": Dot}, TOKEN, hosts=("testserver",), workers=workers)


def make_schema():
    description = make_app(MemoryStore(), workers=0).openapi()
    schema = schemathesis.openapi.from_dict(description, config=SchemathesisConfig(seed=7))
    schema.config.generation.update(
        max_examples=15, deterministic=True, database="none", no_shrink=True
    )
    # Cases depend on the seed alone, not on what other tests were answered before.
    schema.config.phases.fuzzing.extra_data_sources.responses = False
    schema.config.phases.fuzzing.error_feedback.is_enabled = False
    schema.config.max_stream_events = 3  # /events goes on for ever
    return schema


schema = make_schema()


def make_run(store, name, title="dots", raters=1, answers=()):
    """A run of the studio whose name does not change from test to test."""
    optimizer = PickStart(m=6, options={"m": 6, "mu": 0.35, "step": 2.0, "gamma": 0.5})
    meta = {"renderer": "dot", "renderer_options": {}, "title": title, "raters": raters}
    run = Run(optimizer, np.full(4, 0.5), 3, store, name, meta=meta)
    for order in answers:
        run.ask()
        run.tell(order, rater="owner")
    run.ask()
    return run


def tame(value, seen=None):
    """A generated order with positions that a slate of six has, each at most once."""
    seen = set() if seen is None else seen
    if isinstance(value, list):
        return [t for t in (tame(v, seen) for v in value) if t is not None]
    if isinstance(value, int) and not isinstance(value, bool):
        position = value % 6
        return None if position in seen else seen.add(position) or position
    return value


def send(case, app, token):
    return case.call(app=app, headers={"Authorization": f"Bearer {token}"})


class Apps:
    """An app for each operation: schemathesis shuts an app down after the tests of one."""

    def __init__(self, store):
        self._store, self._label, self._app = store, "", None

    def of(self, operation):
        if operation.label != self._label:
            self._label, self._app = operation.label, make_app(self._store)
        return self._app


def aimed(case, run_id, waiting=3):
    """The same request at an existing run, with a round that may exist and an order that may fit.

    What was generated to be nonsense mostly stays so.
    """
    path = {**case.path_parameters, "run_id": run_id}
    for name, size in (("index", waiting + 2), ("position", 8)):
        if type(path.get(name)) is int and path[name] >= 0:
            path[name] = path[name] % size if name == "position" or path[name] % 2 else waiting
    body, seen = case.body, set()
    if isinstance(body, dict):
        fits = {key: tame(body[key], seen) for key in ("order", "worst") if key in body}
        body = {**body, **fits}
        if isinstance(body.get("renderer"), str):
            body["renderer"] = "dot"
    return case.operation.Case(
        method=case.method,
        path_parameters=path,
        headers=case.headers,
        cookies=case.cookies,
        query=case.query,
        body=body,
        media_type=case.media_type,
    )


@pytest.fixture(scope="module")
def owned(tmp_path_factory):
    store = open_store(str(tmp_path_factory.mktemp("owned") / "runs.db"))
    yield store, Apps(store)
    store.close()


def stocked(store):
    """Make the owner's run what it was, should a case have deleted, undone or changed it."""
    if all(record.name != OWNERS_RUN for record in store.runs()):
        make_run(store, OWNERS_RUN)
    run = Run.open(store, OWNERS_RUN)
    run.ask()
    while len(run.history) < 3:
        run.tell([2, 0], rater="owner")
        run.ask()
    store.change_meta(OWNERS_RUN, {**run.record.meta, "raters": 1})
    return len(run.history)


@schema.parametrize()
def test_no_request_of_the_owner_gets_a_500(case, owned):
    store, apps = owned
    app = apps.of(case.operation)
    response = send(case, app, TOKEN)
    assert response.status_code < 500, response.text
    waiting = stocked(store)
    response = send(aimed(case, OWNERS_RUN, waiting), app, TOKEN)
    assert response.status_code < 500, response.text
    assert response.status_code not in (401, 403)


@dataclass
class Hostile:
    """A studio with three runs, and a link that opens the first."""

    app: object
    store: object
    token: str
    before: list
    apps: Apps

    def others(self):
        """Everything that is kept of other runs and of the studio; exact, and comparable."""
        records = [r for r in self.store.runs() if r.name != MINE]
        return [
            (
                {**vars(record), "x0": record.x0.tobytes()},
                self.store.rounds(record.name),
                [self.store.ballots(record.name, index) for index in range(6)],
            )
            for record in records
        ]

    def mine(self):
        """What a rater must not change in the own run: its settings, and what was answered."""
        record = self.store.record(MINE)
        answered = [line for line in self.store.rounds(MINE) if line.answer is not None]
        return {**vars(record), "x0": record.x0.tobytes()}, answered


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    store = open_store(str(tmp_path_factory.mktemp("hostile") / "runs.db"))
    app = make_app(store)
    make_run(store, MINE, answers=([2], [0, 1, 2]))
    theirs = make_run(store, THEIRS, title=SECRET, raters=2, answers=([1], [3, 4], [2]))
    store.cast(THEIRS, theirs.rounds()[-1].index, Ballot("zoe", Ranking.of([1])))
    Run("zo-ranksgd", np.ones(3), store=store, name=FOREIGN, meta={"title": SECRET}).ask()
    with TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"}) as owner:
        links = {
            run: owner.post(f"/api/runs/{run}/invite").json()["url"] for run in (MINE, THEIRS)
        }
    hostile = Hostile(app, store, links[MINE].partition("token=")[2], [], Apps(store))
    hostile.before = hostile.others()
    yield hostile
    store.close()


@schema.parametrize()
def test_a_hostile_rater_gets_no_500_and_nothing_of_other_runs(case, hostile):
    settings, answered = hostile.mine()
    for request in (case, *(aimed(case, run, len(answered)) for run in (MINE, THEIRS, FOREIGN))):
        response = send(request, hostile.apps.of(case.operation), hostile.token)
        assert response.status_code < 500, response.text
        own = request.path_parameters.get("run_id") == MINE and "{run_id}" in case.operation.path
        if not own or case.operation.label not in OPEN_TO_RATERS:
            assert not 200 <= response.status_code < 300, response.text
        assert SECRET.encode() not in response.content
        assert hostile.token.encode() not in response.content
    assert hostile.others() == hostile.before
    now, log = hostile.mine()
    assert now == settings
    assert log[: len(answered)] == answered


def test_the_interface_that_is_fuzzed_is_the_one_that_is_served(hostile):
    served = TestClient(hostile.app).get("/openapi.json").json()
    assert served == schema.raw_schema
    labels = {result.ok().label for result in schema.get_all_operations()}
    assert labels >= OPEN_TO_RATERS
    assert len(labels) > 20


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://["},
        {"Origin": "null"},
        {"Origin": "\u00ff"},
        {"Host": "testserver:abc"},
        {"Host": "testserver:999999"},
        {"Host": ""},
        {"Host": "["},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer \u00ff.\u00ff"},
        {"Authorization": "Bearer ."},
        {"Authorization": f"Bearer {MINE}."},
        {"Cookie": "zorank-owner-80=\u00ff; zorank-rater-80=run-mine.x; ;;="},
        {"Content-Type": "application/json; charset=nonsense"},
        {"Content-Type": "multipart/form-data"},
        {"Content-Length": "1e3"},
        {"Content-Length": "9" * 19},
    ],
    ids=lambda headers: "{}: {:.30}".format(*next(iter(headers.items()))),
)
def test_odd_headers_get_no_500(hostile, headers):
    """They are sent in place of the usual ones, to a page, a question and a command."""
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    with TestClient(hostile.app, raise_server_exceptions=False) as client:
        for method, path in [
            ("GET", "/"),
            ("GET", "/api/runs"),
            ("POST", f"/api/runs/{MINE}/undo"),
        ]:
            response = client.request(method, path, headers=encoded, content=b'{"rounds": 1}')
            assert 400 <= response.status_code < 500, (method, path, response.text)
    assert hostile.others() == hostile.before


@pytest.mark.parametrize(
    "path", ["rounds/0/exhibits/0", "rounds/0/offline", "best", "start", "bests/2", "journey"]
)
def test_a_renderer_that_fails_gives_no_500(tmp_path, path):
    store = open_store(str(tmp_path / "runs.db"))
    run = make_run(store, OWNERS_RUN, answers=([2], [0, 1, 2], [1]))
    app = make_app(store)
    header = {"Authorization": f"Bearer {TOKEN}"}
    Dot.fails = True
    try:
        with TestClient(app, headers=header, raise_server_exceptions=False) as client:
            broken = client.get(f"/api/runs/{run.name}/{path}")
    finally:
        Dot.fails = False
        store.close()
    assert broken.status_code == 503
    assert "out of paint" in broken.json()["detail"]


@pytest.mark.parametrize("name", ["eve, owner", "owner, eve", "Owner", " owner "])
def test_a_rater_cannot_pass_for_the_owner(tmp_path, name):
    store = open_store(str(tmp_path / "runs.db"))
    run_id = make_run(store, MINE).name
    app = make_app(store)
    with TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"}) as owner:
        link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
        rater = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
        given = {"order": [[1]], "rater": name}
        owner.post(f"/api/runs/{run_id}/rounds/0/answer", json=given, headers=rater)
        history = owner.get(f"/api/runs/{run_id}/history").json()
    store.close()
    assert "owner" not in [rater["name"].casefold() for rater in history["raters"]]


@pytest.mark.parametrize("page", ["/", "/new", f"/runs/{THEIRS}", f"/runs/{THEIRS}/result"])
def test_a_raters_link_opens_no_other_page(hostile, page):
    with TestClient(hostile.app, follow_redirects=False) as client:
        header = {"Authorization": f"Bearer {hostile.token}"}
        refused = client.get(page, headers=header)
        assert refused.status_code == 403
        assert SECRET not in refused.text
        entered = client.get(page, params={"token": hostile.token})
        assert entered.headers["location"] == f"/runs/{MINE}"


def test_a_picture_of_another_run_is_not_to_be_had_by_its_address(hostile):
    """The address of a picture holds a digest of its vector; knowing it opens nothing."""
    slate = Run.open(hostile.store, THEIRS).ask()
    address = f"/api/runs/{THEIRS}/rounds/3/exhibits/0?v={fingerprint(slate[0])}"
    header = {"Authorization": f"Bearer {hostile.token}"}
    with TestClient(hostile.app, headers=header) as client:
        assert client.get(address).status_code == 403
        crossed = address.replace(THEIRS, f"{MINE}/../{THEIRS}")
        assert client.get(crossed).status_code in (403, 404)


def test_a_revoked_link_stays_revoked_whatever_else_is_changed_meanwhile(tmp_path):
    store = open_store(str(tmp_path / "runs.db"))
    make_run(store, MINE)
    studio = make_app(store, workers=0).state.studio
    for turn in range(30):
        token = studio.people.share(MINE)
        with ThreadPoolExecutor(2) as pool:
            revoked = pool.submit(studio.people.unshare, MINE)
            renamed = pool.submit(studio.update, MINE, title=f"title {turn}")
        assert (revoked.result(), renamed.result()) == (None, None)
        assert resolve(token, TOKEN, store) is None
        assert studio.meta(MINE)["title"] == f"title {turn}"
    store.close()


RENDERER = """
from zorank.types import Exhibit

class Plain:
    dim = 4

    def render(self, candidates):
        return [Exhibit("text/plain", b"x") for _ in candidates]
"""


@pytest.mark.server
def test_an_open_stream_of_events_ends_when_its_link_is_revoked(tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(RENDERER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = Server(tmp_path / "runs.db", "--renderer", "plain:Plain").start()
    try:
        with server.client() as owner:
            run_id = owner.post(
                "/api/runs", json={"renderer": "plain:Plain", "method": "rank-process"}
            ).json()["id"]
            link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
            with (
                server.client(link.partition("token=")[2]) as rater,
                rater.stream("GET", f"/api/runs/{run_id}/events") as stream,
            ):
                lines = stream.iter_lines()
                assert next(lines) == "event: round"
                owner.delete(f"/api/runs/{run_id}/invite")
                told = list(itertools.islice(lines, 100))  # it may be in the middle of a look
                assert len(told) < 100  # ended
                assert not any("owner" in line for line in told)
    finally:
        server.stop()
