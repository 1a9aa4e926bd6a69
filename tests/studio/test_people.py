"""People with names: invitations, roles, deadlines, and how a person is exported and forgotten."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from tests.helpers.studio_server import PLAIN_RENDERER, Plain, Server, Small
from zorank import Poll, Ranking
from zorank.looks import LookPlan
from zorank.stores import open_store
from zorank.studio import create_app, look_worker
from zorank.studio.deadlines import Deadlines

TOKEN = "t0ken"


def make_app(store, token=TOKEN):
    renderers = {"plain": Plain, "landscape": Small}
    return create_app(store, renderers, token, hosts=("testserver",))


@pytest.fixture
def app(store):
    app = make_app(store)
    yield app
    app.state.studio.deadlines.end()


def client_with(app, token):
    return TestClient(app, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def client(app):
    return client_with(app, TOKEN)


def new_run(client, **settings):
    body = {"renderer": "plain", "seed": 1, "method": "rank-process", **settings}
    return client.post("/api/runs", json=body).raise_for_status().json()["id"]


@pytest.fixture
def run_id(client):
    """A run that needs three answers a round."""
    return new_run(client, raters=3)


def invite(client, run_id, name, role="rater"):
    given = {"name": name, "role": role}
    return client.post(f"/api/runs/{run_id}/invitations", json=given)


def token_of(url):
    return url.partition("token=")[2]


@pytest.fixture
def join(app, client, run_id):
    """Invites a person, and gives the client that their link makes."""

    def joined(name, role="rater"):
        link = invite(client, run_id, name, role).raise_for_status().json()["url"]
        return client_with(app, token_of(link))

    return joined


def answer(client, run_id, index, order=((0,), (1,)), **more):
    body = {"order": order, **more}
    return client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=body)


def people(client, run_id):
    return {p["name"]: p for p in client.get(f"/api/runs/{run_id}/people").json()}


# Invitations.


def test_a_link_answers_for_its_own_person(client, join, run_id, store):
    ann = join("Ann")
    assert ann.get(f"/api/runs/{run_id}").json()["you"] == "Ann"
    other = answer(ann, run_id, 0, rater="Bob")
    assert other.status_code == 403
    assert "answers for Ann only" in other.json()["detail"]
    assert ann.get(f"/api/runs/{run_id}/round?rater=Bob").status_code == 403
    taken = answer(ann, run_id, 0).raise_for_status().json()
    assert taken["round"]["you_answered"] is True
    assert answer(ann, run_id, 0, rater="ANN").status_code == 409  # it is Ann, a second time
    assert [ballot.rater for ballot in store.ballots(run_id, 0)] == ["Ann"]


def test_inviting_again_cuts_nobody_off_and_links_are_shown_again(client, join, run_id, app):
    ann, bob = join("Ann"), join("Bob")
    shared = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    guest = client_with(app, token_of(shared))
    listed = client.get(f"/api/runs/{run_id}/invitations").json()
    assert [(p["name"], p["role"], p["answers"]) for p in listed] == [
        ("Ann", "rater", 0),
        ("Bob", "rater", 0),
    ]
    for one in (ann, bob, guest, *(client_with(app, token_of(p["url"])) for p in listed)):
        assert one.get(f"/api/runs/{run_id}/round").status_code == 200


def test_nothing_in_the_store_opens_a_link_and_another_token_of_the_owner_ends_all(
    client, join, run_id, store
):
    join("Ann")
    (listed,) = client.get(f"/api/runs/{run_id}/invitations").json()
    secret = token_of(listed["url"]).rpartition(".")[2]
    assert secret not in repr(store.record(run_id).meta)
    renewed = make_app(store, "another owner's token")
    assert client_with(renewed, token_of(listed["url"])).get(f"/api/runs/{run_id}").is_error


@pytest.mark.parametrize("forged", ["", "x", "{id}", "{id}.", "{id}.x", "nobody.{secret}"])
def test_a_forged_link_opens_nothing(client, join, run_id, app, forged):
    join("Ann")
    (listed,) = client.get(f"/api/runs/{run_id}/invitations").json()
    _, member, secret = token_of(listed["url"]).split(".")
    token = f"{run_id}.{forged.format(id=member, secret=secret)}"
    assert client_with(app, token).get(f"/api/runs/{run_id}").status_code == 401


def test_a_link_opens_no_other_run(client, join, app):
    ann, other = join("Ann"), new_run(client)
    assert ann.get(f"/api/runs/{other}").status_code == 403
    _, _, rest = ann.headers["Authorization"].removeprefix("Bearer ").partition(".")
    assert client_with(app, f"{other}.{rest}").get(f"/api/runs/{other}").status_code == 401


@pytest.mark.parametrize("by", ["id", "name", "case"])
def test_a_revoked_link_stays_dead_when_its_name_is_invited_again(client, join, run_id, by):
    ann, bob = join("Ann Ö"), join("Bob")
    (listed, _) = client.get(f"/api/runs/{run_id}/invitations").json()
    which = {"id": listed["id"], "name": "Ann Ö", "case": "ann ö"}[by]
    path = f"/api/runs/{run_id}/invitations/{quote(which)}"
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == 404
    assert ann.get(f"/api/runs/{run_id}/round").status_code == 401
    again = join("Ann Ö")
    assert again.get(f"/api/runs/{run_id}/round").status_code == 200
    assert ann.get(f"/api/runs/{run_id}/round").status_code == 401
    assert bob.get(f"/api/runs/{run_id}/round").status_code == 200


REFUSED_NAMES = (
    ("", "needs a name"),
    ("  ", "needs a name"),
    (" Ann", "begins or ends with a space"),
    ("Ann\u00a0", "begins or ends with a space"),
    ("An\u200bn", "invisible characters"),
    ("An\u0000n", "invisible characters"),
    ("An\u202en", "invisible characters"),
    ("An\u3164n", "invisible characters"),
    ("x" * 61, "at most 60 characters"),
    ("owner", "looks like the studio's 'owner'"),
    ("Owner", "looks like the studio's 'owner'"),
    ("\uff4fwner", "looks like the studio's 'owner'"),
    ("\u043ewner", "looks like the studio's 'owner'"),
    ("0wner", "looks like the studio's 'owner'"),
    ("o w n e r", "looks like the studio's 'owner'"),
    ("\u00d3wner.", "looks like the studio's 'owner'"),
    ("\u1d0f\u1d21\u0274\u1d07\u0280", "looks like the studio's 'owner'"),
    ("P\u0430ul", "several alphabets"),
    ("bob", "looks like 'Bob', which is taken"),
    ("\uff22ob", "looks like 'Bob', which is taken"),
    ("\u0421\u043e\u0441\u043e", "looks like 'Coco', which is taken"),
)


def test_a_name_that_may_pass_for_another_is_refused(client, run_id):
    for taken in ("Bob", "Coco"):
        invite(client, run_id, taken).raise_for_status()
    for name, said in REFUSED_NAMES:
        refused = invite(client, run_id, name)
        assert refused.status_code == 422, name
        assert said in refused.json()["detail"]


def test_names_of_people_are_accepted(client, run_id):
    for name in ("Zoë", "Анна Каренина", "山田 太郎", "O'Neil-Smith", "Ann 2"):
        assert invite(client, run_id, name).status_code == 201, name


def test_a_typed_name_cannot_be_an_invited_one(client, join, run_id, app):
    join("Ann")
    guest = client_with(app, token_of(client.post(f"/api/runs/{run_id}/invite").json()["url"]))
    assert guest.get(f"/api/runs/{run_id}").json()["you"] is None
    for name in ("Ann", "ann", "\u043ewner"):
        refused = answer(guest, run_id, 0, rater=name)
        assert refused.status_code == 422
        assert "looks like" in refused.json()["detail"]
    assert answer(guest, run_id, 0, rater="Cyd").status_code == 200
    assert people(client, run_id)["Cyd"]["role"] == "guest"


def test_people_who_are_invited_at_once_in_two_processes_are_all_there(tmp_path):
    stores = [open_store(str(tmp_path / "runs.db")) for _ in range(2)]
    apps = [make_app(store) for store in stores]
    run_id = new_run(client_with(apps[0], TOKEN))
    people = [app.state.studio.people for app in apps]
    with ThreadPoolExecutor(2) as pool:
        for i in range(10):
            list(pool.map(lambda k, i=i: people[k].invite(run_id, f"P{k} {i}", "rater"), (0, 1)))
    found = client_with(apps[1], TOKEN).get(f"/api/runs/{run_id}/invitations").json()
    assert {p["name"] for p in found} == {f"P{k} {i}" for k in (0, 1) for i in range(10)}
    for store in stores:
        store.close()


def test_one_name_that_is_invited_twice_at_once_gets_one_link_at_most(tmp_path):
    stores = [open_store(str(tmp_path / "runs.db")) for _ in range(2)]
    apps = [make_app(store) for store in stores]
    run_id = new_run(client_with(apps[0], TOKEN))
    barrier = threading.Barrier(2)

    def call(k):
        barrier.wait()
        return invite(client_with(apps[k], TOKEN), run_id, "Ann").status_code

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(call, (0, 1)))
    found = client_with(apps[1], TOKEN).get(f"/api/runs/{run_id}/invitations").json()
    assert statuses in ([201, 422], [422, 422])
    assert len(found) == statuses.count(201)
    for store in stores:
        store.close()


def test_a_branch_starts_without_links(client, join, run_id, app):
    ann = join("Ann")
    branch = client.post(f"/api/runs/{run_id}/branch").json()["id"]
    assert client.get(f"/api/runs/{branch}/invitations").json() == []
    assert ann.get(f"/api/runs/{branch}").status_code == 403


# Roles.


def test_a_viewer_sees_everything_and_answers_nothing(client, join, run_id):
    viewer = join("Vic", "viewer")
    shown = viewer.get(f"/api/runs/{run_id}").json()
    assert (shown["role"], shown["you"]) == ("viewer", "Vic")
    for path in ("round", "history"):
        assert viewer.get(f"/api/runs/{run_id}/{path}").status_code == 200
    exhibit = viewer.get(f"/api/runs/{run_id}/round").json()["exhibits"][0]["url"]
    assert viewer.get(exhibit).status_code == 200
    draft = viewer.post(f"/api/runs/{run_id}/rounds/0/draft", json={"order": [[0]]})
    for refused in (answer(viewer, run_id, 0), draft):
        assert refused.status_code == 403
        assert "for watching, not for answering" in refused.json()["detail"]
    assert 'data-role="viewer"' in viewer.get(f"/runs/{run_id}").text


def test_people_are_the_owners_business(client, join, run_id):
    ann = join("Ann")
    base = f"/api/runs/{run_id}"
    for method, path in [
        ("GET", "invitations"),
        ("POST", "invitations"),
        ("DELETE", "invitations/Ann"),
        ("GET", "people"),
        ("GET", "people/export?name=Ann"),
        ("POST", "people/forget"),
    ]:
        assert ann.request(method, f"{base}/{path}", json={"name": "Eve"}).status_code == 403


def test_the_owner_sees_who_has_answered_and_how_fast(client, join, run_id, app):
    ann, bob = join("Ann"), join("Bob")
    answer(ann, run_id, 0)
    assert {n: p["has_answered"] for n, p in people(client, run_id).items()} == {
        "Ann": True,
        "Bob": False,
    }
    answer(bob, run_id, 0)
    answer(client, run_id, 0)
    found = people(client, run_id)
    assert {n: (p["role"], p["answers"]) for n, p in found.items()} == {
        "Ann": ("rater", 1),
        "Bob": ("rater", 1),
        "owner": ("owner", 1),
    }
    assert not any(p["has_answered"] for p in found.values())
    assert all(p["agreement"] == 1 for p in found.values())
    assert all(0 <= p["seconds"] < 600 for p in found.values())
    assert found["Ann"]["created_at"] < found["Ann"]["last_answer_at"] <= time.time()
    assert found["Ann"]["last_answer_at"] < found["Bob"]["last_answer_at"]


@pytest.mark.server
@pytest.mark.parametrize("ends", ["revoke", "forget"])
def test_an_open_stream_ends_at_once_with_its_link_and_no_other(tmp_path, monkeypatch, ends):
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = Server(tmp_path / "runs.db", "--renderer", "plain:Plain").start()
    try:
        with server.client() as owner:
            run_id = new_run(owner, renderer="plain:Plain")
            base = f"/api/runs/{run_id}"
            ann, bob = (token_of(invite(owner, run_id, n).json()["url"]) for n in ("Ann", "Bob"))
            with (
                server.client(ann) as first,
                server.client(bob) as second,
                first.stream("GET", f"{base}/events") as ended,
                second.stream("GET", f"{base}/events") as kept,
            ):
                lines, others = ended.iter_lines(), kept.iter_lines()
                assert next(lines) == next(others) == "event: round"
                if ends == "revoke":
                    owner.delete(f"{base}/invitations/Ann").raise_for_status()
                else:
                    owner.post(f"{base}/people/forget", json={"name": "Ann"}).raise_for_status()
                assert len(list(itertools.islice(lines, 100))) < 100
                answer(owner, run_id, 0).raise_for_status()
                assert any('"index":1' in line for line in others)
    finally:
        server.stop()


# Deadlines.


def wait_for_round(client, run_id, index):
    end = time.monotonic() + 300
    while client.get(f"/api/runs/{run_id}/round").json()["index"] != index:
        assert time.monotonic() < end, f"round {index} does not come"
        time.sleep(0.01)


def test_a_round_closes_at_its_deadline_with_the_ballots_it_has(client, join, run_id, app, store):
    ann = join("Ann")
    assert client.patch(f"/api/runs/{run_id}", json={"deadline": 600}).status_code == 200
    assert client.get(f"/api/runs/{run_id}").json()["deadline"] == 600
    answer(ann, run_id, 0)
    assert client.get(f"/api/runs/{run_id}/round").json()["index"] == 0
    app.state.studio.clock = lambda: time.time() + 599
    client.patch(f"/api/runs/{run_id}", json={"deadline": 500})  # by the studio's one thread
    wait_for_round(client, run_id, 1)
    (closed, waiting) = store.rounds(run_id)
    assert [ballot.rater for ballot in closed.answer.ballots] == ["Ann"]
    assert waiting.answer is None


def test_a_late_round_without_a_ballot_closes_with_the_first(client, join, run_id, app):
    ann, bob = join("Ann"), join("Bob")
    client.patch(f"/api/runs/{run_id}", json={"deadline": 600})
    app.state.studio.clock = lambda: time.time() + 601
    assert client.get(f"/api/runs/{run_id}/round").json()["index"] == 0
    assert answer(ann, run_id, 0).json()["closed"] is True
    assert answer(bob, run_id, 0).status_code == 409


def test_a_deadline_can_be_taken_away(client, join, run_id, app):
    client.patch(f"/api/runs/{run_id}", json={"deadline": 600})
    client.patch(f"/api/runs/{run_id}", json={"title": "another"})
    assert client.get(f"/api/runs/{run_id}").json()["deadline"] == 600
    client.patch(f"/api/runs/{run_id}", json={"deadline": None})
    assert client.get(f"/api/runs/{run_id}").json()["deadline"] is None
    app.state.studio.clock = lambda: time.time() + 10_000
    assert answer(join("Ann"), run_id, 0).json()["closed"] is False
    for wrong in (0, -1, 10**9, "soon"):
        refused = client.patch(f"/api/runs/{run_id}", json={"deadline": wrong})
        assert refused.status_code == 422


def test_a_deadline_that_passed_while_no_studio_ran_is_kept_by_the_next(client, run_id, store):
    client.patch(f"/api/runs/{run_id}", json={"deadline": 600})
    answer(client, run_id, 0)
    later = make_app(store)
    later.state.studio.clock = lambda: time.time() + 601
    assert client_with(later, TOKEN).get(f"/api/runs/{run_id}/round").json()["index"] == 1
    assert client.get(f"/api/runs/{run_id}/round").json()["index"] == 1  # closed once


def test_a_round_that_cannot_be_closed_is_tried_again():
    ticks, tried, closed = itertools.count(), [], threading.Event()

    def close(run):
        tried.append(run)
        if len(tried) == 1:
            raise OSError("the disk is away")
        closed.set()

    deadlines = Deadlines(close, lambda: 10.0 * next(ticks))  # ten seconds go by at each look
    deadlines.set("later", 1e9)
    deadlines.set("now", 0.0)
    assert closed.wait(300)
    assert tried == ["now", "now"]
    deadlines.end()


# Forgetting and exporting.


def ranked_together(client, ann, run_id, rounds=3):
    for index in range(rounds):
        for one, order in ((ann, [[2], [1]]), (client, [[0], [1]])):
            answer(one, run_id, index, order).raise_for_status()


def test_a_forgotten_name_is_nowhere_and_nothing_else_changes(client, join, run_id, store, app):
    client.patch(f"/api/runs/{run_id}", json={"raters": 2})
    ann = join("Zebedee")
    ranked_together(client, ann, run_id)
    client.post(f"/api/runs/{run_id}/undo")
    answer(ann, run_id, 2).raise_for_status()
    before = client.get(f"/api/runs/{run_id}/export").json()
    done = client.post(f"/api/runs/{run_id}/people/forget", json={"name": "Zebedee"}).json()
    assert (done["pseudonym"], done["answers"], done["emptied"]) == ("rater 1", 4, [])
    after = client.get(f"/api/runs/{run_id}/export").json()
    assert "Zebedee" not in str(after)
    assert "Zebedee" not in repr(store.audit(run_id))
    assert after["best"] == before["best"]
    assert [b.rater for b in store.ballots(run_id, 2)] == ["rater 1"]
    assert ann.get(f"/api/runs/{run_id}").status_code == 401
    assert "rater 1" in people(client, run_id)
    again = client_with(make_app(store), TOKEN)
    assert again.get(f"/api/runs/{run_id}/export").json() == after


def test_a_forgotten_name_leaves_the_database_file(client, join, run_id, store, tmp_path):
    ann = join("Zebedee")
    answer(ann, run_id, 0).raise_for_status()
    store_files = lambda: b"".join(f.read_bytes() for f in tmp_path.glob("runs.db*"))  # noqa: E731
    assert b"Zebedee" in store_files()
    client.post(f"/api/runs/{run_id}/people/forget", json={"name": "Zebedee", "remove": True})
    assert b"Zebedee" not in store_files()


METHODS = ["rank-process", "rank-looks", "rank-looks late", "zo-ranksgd-memory"]
BY_ANN = (0, 1, 4)  # the start, a ranking before a "best" question, and one such


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("raters", [1, 2])
def test_a_run_replays_without_the_answers_of_a_person(
    client, store, app, method, raters, monkeypatch
):
    method, _, late = method.partition(" ")
    plan = LookPlan(pool=12, reference=12, begin=3 if late else 0)
    monkeypatch.setattr(look_worker, "plan_for", lambda renderer: plan)
    settings = {"mu": 0.35, "step": 2.0, "gamma": 0.5} if method == "zo-ranksgd-memory" else {}
    run_id = new_run(
        client,
        renderer="landscape" if method == "rank-looks" else "plain",
        method=method,
        method_settings=settings,
        raters=raters,
    )
    ann = client_with(app, token_of(invite(client, run_id, "Ann").json()["url"]))
    for index in range(6):
        by = [ann] if raters == 1 and index in BY_ANN else [client]
        for one in [ann, client] if raters == 2 and index != 3 else by:
            answer(one, run_id, index, [[index % 6], [(index + 2) % 6]]).raise_for_status()
        if raters == 2 and index == 3:
            answer(ann, run_id, index, [[5], [4]]).raise_for_status()
    with app.state.studio.session(run_id) as session:
        slates = [[x.tobytes() for x in step.slate] for step in session.steps]
        waiting = [x.tobytes() for x in session.run.ask()]
    body = {"name": "Ann", "remove": True}
    forgotten = client.post(f"/api/runs/{run_id}/people/forget", json=body)
    assert forgotten.status_code == 200, forgotten.text
    done = forgotten.json()
    assert (done["pseudonym"], done["emptied"]) == (None, list(BY_ANN) if raters == 1 else [])
    assert "Ann" not in repr(store.audit(run_id))
    for studio in (app.state.studio, make_app(store).state.studio):
        with studio.session(run_id) as session:
            assert [[x.tobytes() for x in step.slate] for step in session.steps] == slates
            assert [x.tobytes() for x in session.run.ask()] == waiting
            for step in session.steps:
                if raters == 2:
                    assert [b.rater for b in step.line.answer.ballots] == ["owner"]
                elif step.line.index in BY_ANN:
                    assert step.line.answer == Ranking.no_difference()
    assert answer(client, run_id, 6, [[0]]).status_code == 200


def test_a_poll_that_loses_its_last_ballot_becomes_no_difference(client, join, run_id, store):
    ann = join("Ann")
    answer(ann, run_id, 0)
    client.post(f"/api/runs/{run_id}/rounds/0/close").raise_for_status()
    assert isinstance(store.rounds(run_id)[0].answer, Poll)
    body = {"name": "Ann", "remove": True}
    done = client.post(f"/api/runs/{run_id}/people/forget", json=body).json()
    assert (done["answers"], done["emptied"]) == (1, [0])
    first = store.rounds(run_id)[0]
    assert (first.answer, first.rater) == (Ranking.no_difference(), None)
    assert client.get(f"/api/runs/{run_id}/history").json()["raters"] == []


def test_another_process_notices_that_a_person_was_forgotten(client, join, run_id, store):
    client.patch(f"/api/runs/{run_id}", json={"raters": 2})
    ann = join("Ann")
    ranked_together(client, ann, run_id)
    other = client_with(make_app(store), TOKEN)
    assert "Ann" in other.get(f"/api/runs/{run_id}/history").text
    client.post(f"/api/runs/{run_id}/people/forget", json={"name": "Ann"}).raise_for_status()
    assert "Ann" not in other.get(f"/api/runs/{run_id}/history").text
    best = [c.get(f"/api/runs/{run_id}/export").json()["best"] for c in (client, other)]
    assert best[0] == best[1]


def test_two_forgotten_people_stay_two_and_their_names_cannot_be_typed(client, join, run_id, app):
    for name in ("Ann", "Bob"):
        answer(join(name), run_id, 0)
    forget = f"/api/runs/{run_id}/people/forget"
    pseudonyms = [
        client.post(forget, json={"name": n}).json()["pseudonym"] for n in ("Ann", "Bob")
    ]
    assert pseudonyms == ["rater 1", "rater 2"]
    guest = client_with(app, token_of(client.post(f"/api/runs/{run_id}/invite").json()["url"]))
    assert answer(guest, run_id, 0, rater="Rater 1").status_code == 422
    unknown = client.post(forget, json={"name": "Ann"})
    assert unknown.status_code == 422
    assert "there is no rater named 'Ann'" in unknown.json()["detail"]


def test_an_export_has_everything_about_one_person(client, join, run_id):
    client.patch(f"/api/runs/{run_id}", json={"raters": 2})
    ann = join("Ann")
    ranked_together(client, ann, run_id, rounds=2)
    client.post(f"/api/runs/{run_id}/undo")
    answer(ann, run_id, 1, [[3]]).raise_for_status()
    data = client.get(f"/api/runs/{run_id}/people/export", params={"name": "Ann"}).json()
    assert (data["run"], data["rater"]) == (run_id, "Ann")
    assert [(i["name"], i["role"]) for i in data["invitations"]] == [("Ann", "rater")]
    assert [(a["index"], a["undone_at"] is None) for a in data["answers"]] == [
        (0, True),
        (1, False),
        (1, True),
    ]
    for one in data["answers"]:
        assert one["shown_at"] <= one["given_at"] <= time.time()
        assert one["answer"]["order"]
    assert "owner" not in str(data)
    unknown = client.get(f"/api/runs/{run_id}/people/export", params={"name": "Eve"})
    assert unknown.status_code == 422


def test_an_answer_that_waited_while_its_link_ended_is_refused(client, join, run_id, app, store):
    ann = join("Ann")
    studio, given = app.state.studio, []
    with studio.session(run_id):  # the guard lets Ann in, then her answer waits for the run
        sender = threading.Thread(target=lambda: given.append(answer(ann, run_id, 0)))
        checked, real = threading.Event(), studio.previews.supersede

        def supersede(run):
            checked.set()
            return real(run)

        studio.previews.supersede = supersede
        sender.start()
        assert checked.wait(60)
        studio.people.revoke(run_id, "Ann")
    sender.join()
    assert given[0].status_code == 401
    assert store.ballots(run_id, 0) == []


def test_a_deleted_run_names_no_other_run(client, join, run_id, app, store, monkeypatch):
    ann, other = join("Ann"), new_run(client)
    real = store.cast

    def cast(*asked):
        store.delete(run_id)
        return real(*asked)

    monkeypatch.setattr(store, "cast", cast)
    refused = answer(ann, run_id, 0)
    assert refused.status_code == 404
    assert other not in refused.text


def test_a_change_elsewhere_is_announced_also_if_a_request_saw_it_first(
    client, run_id, app, store
):
    studio, told = app.state.studio, []
    studio.on_change = lambda run, links: told.append((run, links))
    studio.changed_elsewhere(run_id, [run_id])
    assert told == [(run_id, True)]
    store.change_meta(run_id, {"title": "another"})
    client.get(f"/api/runs/{run_id}/round").raise_for_status()
    for _ in range(2):
        studio.changed_elsewhere(run_id, [run_id])
    assert told[1:] == [(run_id, True), (run_id, False)]


def test_a_run_that_is_deleted_elsewhere_leaves_memory(client, run_id, app, store):
    store.delete(run_id)
    app.state.studio.changed_elsewhere(None, [run_id])
    assert app.state.studio.loaded == []


@pytest.mark.parametrize("name", ["Ann\U000e0100", "An\u180bn", "0wner", "a\u200bn"])
def test_a_name_in_an_imported_answer_is_checked(client, join, run_id, name):
    join("Ann")
    assert answer(client, run_id, 0, rater=name).status_code == 422
    assert answer(client, run_id, 0, rater="ann").status_code == 422  # is not the spelling
    answer(client, run_id, 0, rater="Ann").raise_for_status()  # the owner imports her answer


def test_shared_link_raters_need_distinguishable_names(client, run_id, app):
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    guest = client_with(app, token_of(link))
    answer(guest, run_id, 0, rater="Kim").raise_for_status()
    assert answer(guest, run_id, 0, rater="kim").status_code == 422
    assert answer(guest, run_id, 0, rater="Kim").status_code == 409
    assert invite(client, run_id, "KIM").status_code == 422
    assert "looks like" in answer(guest, run_id, 0, rater="owner").json()["detail"]


@pytest.mark.parametrize(
    "damage",
    [
        {"deadline": "abc"},
        {"member:abc": 5},
        {"member:abc": {"id": "abc"}},
        {"forgotten": 5},
        {"edits": "x"},
    ],
)
def test_damaged_metadata_of_people_is_one_sentence(client, run_id, app, store, damage):
    store.change_meta(run_id, damage)
    for path in ("", "/round", "/people", "/invitations"):
        found = client.get(f"/api/runs/{run_id}{path}")
        assert (found.status_code, "is damaged" in found.text) == (503, True)
    assert client_with(app, f"{run_id}.abc.x").get(f"/api/runs/{run_id}").status_code == 401
    client.delete(f"/api/runs/{run_id}").raise_for_status()
