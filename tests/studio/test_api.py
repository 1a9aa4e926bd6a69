"""The studio's interface, on real stores with the real renderer, through its ASGI application."""

import json
import signal
from dataclasses import replace

import numpy as np
import pytest
import uvicorn
from fastapi.testclient import TestClient

from tests.helpers.renderers import Breakable
from tests.helpers.studio_server import Small, client_of
from tests.helpers.waiting import wait_until
from zorank import Ranking, Run, optimizers
from zorank.optimizers import PickStart
from zorank.renderers import REGISTRY, Landscape
from zorank.studio import create_app
from zorank.studio.presentation import shown_order, to_candidates
from zorank.studio.server import _Server

TOKEN = "t0ken"


class Pages(Breakable):
    media_type = "text/html"


@pytest.fixture
def app(store):
    return create_app(store, {"landscape": Small, "pages": Pages}, TOKEN, hosts=("testserver",))


@pytest.fixture
def client(app):
    return TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture
def run_id(client):
    body = {"renderer": "landscape", "seed": 1, "method": "rank-process"}
    return client.post("/api/runs", json=body).json()["id"]


def answer(client, run_id, order, **more):
    index = client.get(f"/api/runs/{run_id}/round").json()["index"]
    response = client.post(
        f"/api/runs/{run_id}/rounds/{index}/answer", json={"order": order, **more}
    )
    assert response.status_code == 200, response.text
    return response.json()


def older_run(store, raters=1):
    """A run as studios made them before they had a model of the judge."""
    options = {"m": 6, "space": "gaussian", "mu": 0.35, "step": 2.0, "gamma": 0.5}
    meta = {"renderer": "landscape", "renderer_options": {}, "title": "Old", "raters": raters}
    x0 = np.random.default_rng(1).standard_normal(Landscape().dim)
    return Run(PickStart(options=options), x0, 1, store, meta=meta).name


def test_the_flow_from_start_to_result(client, run_id):
    waiting = client.get(f"/api/runs/{run_id}/round").json()
    assert waiting["index"] == 0
    assert waiting["question"] == "start"
    assert waiting["best"] is None
    assert [e["position"] for e in waiting["exhibits"]] == list(range(6))
    picture = client.get(waiting["exhibits"][2]["url"])
    assert picture.status_code == 200
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content.startswith(b"\xff\xd8")

    answer(client, run_id, [])  # show me others
    assert client.get(f"/api/runs/{run_id}/round").json()["question"] == "start"
    chosen = client.get(f"/api/runs/{run_id}/round").json()["exhibits"][3]["url"]
    answer(client, run_id, [[3]])
    rank = client.get(f"/api/runs/{run_id}/round").json()
    assert rank["question"] == "rank"
    assert rank["best"]["since"] == 1
    assert client.get(rank["best"]["url"]).content == client.get(chosen).content

    answer(client, run_id, [[2], [0, 5]], worst=[1])
    again = client.get(f"/api/runs/{run_id}/round").json()
    assert again["question"] == "rank"
    assert not any(e["current"] for e in again["exhibits"])
    answer(client, run_id, [[4], [1]])

    history = client.get(f"/api/runs/{run_id}/history").json()
    assert [row["question"] for row in history["rows"]] == ["start", "start", "rank", "rank"]
    moved = [row["moved"] for row in history["rows"]]
    assert moved[:2] == [False, True]
    assert moved[2] == (
        again["best"]["since"] == 2
    )  # the picture ranked first may be the old best
    assert history["rows"][0]["best"] is None
    assert history["rows"][1]["distance"] == 0
    assert (history["rows"][3]["distance"] > 0) == any(moved[2:])
    assert history["raters"] == [{"name": "owner", "answers": 4, "agreement": None, "weight": 1.0}]
    (card,) = client.get("/api/runs").json()
    assert card["rounds"] == 4
    assert client.get(card["best"]).status_code == 200
    big = client.get(f"/api/runs/{run_id}/best?size=128").content
    assert len(big) > len(client.get(f"/api/runs/{run_id}/best").content)
    assert client.get(f"/api/runs/{run_id}/start").status_code == 200
    moving = client.get(f"/api/runs/{run_id}/journey").content
    assert moving[:4] == b"RIFF"
    assert (b"ANIM" in moving) == any(moved[2:])  # a single best picture stands still
    assert len(client.get(f"/api/runs/{run_id}/vector").json()) == Landscape().dim


def test_an_older_run_goes_on_as_it_began(client, store):
    """Runs of earlier studios pick a start and then ask by turns for an order and for the best."""
    run_id = older_run(store)
    assert client.get(f"/api/runs/{run_id}/round").json()["question"] == "start"
    answer(client, run_id, [[3]])
    rank = client.get(f"/api/runs/{run_id}/round").json()
    assert rank["question"] == "rank"
    answer(client, run_id, [[2], [0, 5]], worst=[1])
    best = client.get(f"/api/runs/{run_id}/round").json()
    assert best["question"] == "best"
    (current,) = [e for e in best["exhibits"] if e["current"]]
    assert client.get(current["url"]).content == client.get(rank["best"]["url"]).content
    # While x* stays, what follows a search does not depend on the answer.
    answer(client, run_id, [[current["position"]]])
    after = client.get(f"/api/runs/{run_id}/round").json()
    assert [e["url"] for e in after["exhibits"]] == best["ahead"]
    answer(client, run_id, [[1]])
    best = client.get(f"/api/runs/{run_id}/round").json()
    other = next(e["position"] for e in best["exhibits"] if not e["current"])
    answer(client, run_id, [[other]])
    rows = client.get(f"/api/runs/{run_id}/history").json()["rows"]
    assert [row["question"] for row in rows] == ["start", "rank", "best", "rank", "best"]
    assert [row["moved"] for row in rows] == [True, False, False, False, True]
    assert {row["gain"] for row in rows} == {None}
    shown = client.get(f"/api/runs/{run_id}").json()
    assert (shown["m"], shown["words"], shown["could_stop"]) == (6, [], False)


def test_clicked_pictures_are_the_ranked_candidates(client, run_id, store):
    """Positions on screen are mapped back to candidates, in every kind of question."""
    shuffled = 0
    for order in ([[4]], [[2], [0, 5]], [[1]], [[5], [3], [1]]):
        index = client.get(f"/api/runs/{run_id}/round").json()["index"]
        shown = client.get(f"/api/runs/{run_id}/rounds/{index}/candidates").json()["candidates"]
        slate = np.asarray(Run.open(store, run_id).ask())
        answer(client, run_id, order)
        told = store.rounds(run_id)[index].answer
        for clicked, named in zip(order, told.best, strict=True):
            on_screen = {tuple(shown[p]) for p in clicked}
            assert on_screen == {tuple(slate[p]) for p in named}
        shuffled += shown != slate.tolist()
    assert shuffled >= 3


def test_the_order_on_screen_is_a_permutation_that_stays(client, run_id, store):
    record = store.record(run_id)
    orders = [shown_order(record, index, 6) for index in range(50)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(orders)) > 40
    assert orders[7] == shown_order(record, 7, 6)
    back = to_candidates(Ranking.of([2, [0, 5]], worst=[1]), (3, 4, 5, 0, 1, 2))
    assert back == Ranking.of([5, [3, 2]], worst=[4])


def test_undo_and_branch_are_exact(client, run_id):
    def pictures(run):
        exhibits = client.get(f"/api/runs/{run}/round").json()["exhibits"]
        return sorted(client.get(e["url"]).content for e in exhibits)

    for order in ([[0]], [[1], [2]], [[3]]):
        answer(client, run_id, order)
    before = pictures(run_id)
    answer(client, run_id, [[0], [1]])
    undone = client.post(f"/api/runs/{run_id}/undo").json()
    assert undone["index"] == 3
    assert undone["round"] == client.get(f"/api/runs/{run_id}/round").json()
    assert pictures(run_id) == before
    other = client.post(f"/api/runs/{run_id}/branch", json={"round": 3}).json()["id"]
    assert pictures(other) == before
    assert client.get(f"/api/runs/{other}").json()["title"].endswith("(branch)")
    assert client.post(f"/api/runs/{run_id}/undo", json={"rounds": 9}).status_code == 422


def test_a_stale_or_doubled_answer_gets_409_and_changes_nothing(client, run_id, store):
    given = {"order": [[2]]}
    assert client.post(f"/api/runs/{run_id}/rounds/0/answer", json=given).status_code == 200
    for index in (0, 5):
        again = client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=given)
        assert again.status_code == 409
        assert "round 1 is" in again.json()["detail"]
    assert len([r for r in store.rounds(run_id) if r.answer]) == 1


def test_an_answer_to_pictures_that_are_no_longer_shown_is_refused(client, run_id):
    answer(client, run_id, [[0]])
    seen = client.get(f"/api/runs/{run_id}/round").json()
    client.post(f"/api/runs/{run_id}/undo")
    answer(client, run_id, [[3]])
    stale = {"order": [[1]], "key": seen["key"]}
    url = f"/api/runs/{run_id}/rounds/1/answer"
    assert client.post(url, json=stale).status_code == 409
    now = client.get(f"/api/runs/{run_id}/round").json()["key"]
    assert client.post(url, json={"order": [[1]], "key": now}).status_code == 200


def test_a_run_that_cannot_be_opened_does_not_hide_the_others(client, run_id, store):
    older = replace(store.record(run_id), name="run-older", revision=99)
    store.create(older)
    cards = {card["id"]: card for card in client.get("/api/runs").json()}
    assert "use the code that has revision 99" in cards["run-older"]["problem"]
    assert "problem" not in cards[run_id]


def test_a_run_whose_slates_are_recorded_opens_after_an_upgrade(client, run_id, store):
    now = store.record(run_id)
    optimizer = optimizers.make(now.optimizer, now.options)
    recorded = Run(optimizer, now.x0, now.seed, record_slates=True)
    shown = recorded.ask()
    recorded.tell([1])
    older = replace(now, name="run-older", revision=99)
    store.create(older, recorded.rounds())
    cards = {card["id"]: card for card in client.get("/api/runs").json()}
    assert "problem" not in cards["run-older"]
    assert cards["run-older"]["rounds"] == 1
    assert client.get("/api/runs/run-older/round").json()["index"] == 1
    assert Run.open(store, "run-older").steps[0].slate[0].tobytes() == shown[0].tobytes()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"order": [[9]]}, "position 9 is not on a slate of 6"),
        ({"order": [[1], [1]]}, "position 1 is named more than once"),
        ({"order": [[-1]]}, "negative"),
        ({"order": "2"}, "order"),
        ({"ranking": [[0]]}, "ranking"),
        ({"order": [["a"]]}, "order"),
        ({"order": [[0]], "rater": "x" * 99}, "rater"),
        ({"order": [[0]], "rater": "a\u0000b"}, "rater"),
        ([], "valid dictionary"),
    ],
)
def test_nonsense_gets_422_with_a_sentence(client, run_id, store, body, words):
    response = client.post(f"/api/runs/{run_id}/rounds/0/answer", json=body)
    assert response.status_code == 422
    assert words in response.json()["detail"]
    assert store.rounds(run_id)[0].answer is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"renderer": "landscap"}, "did you mean landscape"),
        ({"renderer": "landscape", "m": 2}, "m: input should be greater"),
        ({"renderer": "landscape", "seed": -1}, "seed"),
        ({"renderer": "landscape", "options": {"colour": 1}}, "cannot take"),
        ({}, "renderer: field required"),
    ],
)
def test_a_run_that_cannot_be_made(client, body, words):
    response = client.post("/api/runs", json=body)
    assert response.status_code == 422
    assert words in response.json()["detail"]
    assert client.get("/api/runs").json() == []


def test_bodies_have_a_limit(client, run_id):
    huge = json.dumps({"order": [[0]], "rater": "x" * 300_000})
    url = f"/api/runs/{run_id}/rounds/0/answer"
    assert client.post(url, content=huge).status_code == 413


def test_what_is_not_there_is_404(client, run_id):
    for path in ("/api/runs/nothing", "/api/runs/nothing/round", f"/api/runs/{run_id}/bests/7"):
        assert client.get(path).status_code == 404
    assert client.get(f"/api/runs/{run_id}/rounds/9/exhibits/0").status_code == 404
    assert client.get(f"/api/runs/{run_id}/rounds/0/exhibits/6").status_code == 404
    assert client.get(f"/api/runs/{run_id}/start").status_code == 404
    assert client.get("/runs/nothing").status_code == 404


def test_a_renderer_that_comes_along_shows_a_sample(store):
    renderers = {"landscape": Landscape, "own": type("Own", (Landscape,), {})}
    app = create_app(store, renderers, TOKEN, hosts=("testserver",))
    client = TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})
    known, own = client.get("/api/renderers").json()
    assert own["sample"] is None  # nobody knows what it does to draw
    shown = client.get(known["sample"])
    assert shown.headers["content-type"] == "image/jpeg"
    assert client.get("/api/renderers/nothing/sample").status_code == 404
    assert TestClient(app).get(known["sample"]).status_code == 401


def test_titles_and_raters_can_be_changed_and_runs_deleted(client, run_id, store):
    client.patch(f"/api/runs/{run_id}", json={"title": "Moonlit ridge", "raters": 2})
    shown = client.get(f"/api/runs/{run_id}").json()
    assert shown["title"] == "Moonlit ridge"
    assert shown["raters_needed"] == 2
    picture = client.get(f"/api/runs/{run_id}/round").json()["exhibits"][0]["url"]
    assert client.get(picture).status_code == 200
    assert client.delete(f"/api/runs/{run_id}").status_code == 204
    assert client.get(picture).status_code == 404
    assert store.runs() == []


def test_runs_of_other_programs_are_left_alone(client, store):
    Run("zo-ranksgd", [1.0], store=store, name="mine")
    assert client.get("/api/runs").json() == []
    assert client.get("/api/runs/mine").status_code == 404
    assert client.delete("/api/runs/mine").status_code == 404


def test_export_is_the_recipe_that_runs_export_gives(client, run_id, store):
    answer(client, run_id, [[1]])
    answer(client, run_id, [[1], [2]])
    exported = client.get(f"/api/runs/{run_id}/export").json()
    assert exported["best"] == Run.open(store, run_id).export()["best"]
    assert [r["answer"] is not None for r in exported["rounds"]] == [True, True, False]


# Renderers that fail.


def test_a_renderer_that_fails_leaves_the_round_answerable(client, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(Pages, "broken", True)
        run = client.post("/api/runs", json={"renderer": "pages"}).json()["id"]
        url = client.get(f"/api/runs/{run}/round").json()["exhibits"][0]["url"]
        broken = client.get(url)
        assert broken.status_code == 503
        assert "out of ink" in broken.json()["detail"]
    assert len(json.loads(client.get(url).text)) == Pages.dim
    answer(client, run, [[0]])


def test_a_text_of_ones_own_gets_no_scripts_and_no_origin(client):
    run = client.post("/api/runs", json={"renderer": "pages"}).json()["id"]
    url = client.get(f"/api/runs/{run}/round").json()["exhibits"][0]["url"]
    policy = client.get(url).headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script-src" not in policy


# Several raters.


@pytest.fixture
def invited(client, app, run_id):
    """A client of raters of a run that needs three answers a round."""
    return invite(client, app, run_id)


def invite(client, app, run_id):
    client.patch(f"/api/runs/{run_id}", json={"raters": 3})
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    token = link.partition("token=")[2]
    return TestClient(app, headers={"Authorization": f"Bearer {token}"})


def test_a_round_closes_when_all_have_answered(client, invited, run_id, store):
    url = f"/api/runs/{run_id}/rounds/0/answer"
    taken = client.post(url, json={"order": [[2]]}).json()
    assert (taken["closed"], taken["index"], taken["round"]["you_answered"]) == (False, 0, True)
    assert invited.post(url, json={"order": [[2]], "rater": "ann"}).json()["closed"] is False
    waiting = invited.get(f"/api/runs/{run_id}/round?rater=ann").json()
    assert waiting["answered_by"] == ["owner", "ann"]
    assert waiting["waiting_for"] == 1
    assert waiting["you_answered"] is True
    doubled = invited.post(url, json={"order": [[1]], "rater": "ann"})
    assert doubled.status_code == 409
    assert "ann has already answered" in doubled.json()["detail"]
    closed = invited.post(url, json={"order": [[3]], "rater": "bob"}).json()
    assert (closed["closed"], closed["index"], closed["round"]["index"]) == (True, 1, 1)
    poll = store.rounds(run_id)[0].answer
    assert [b.rater for b in poll.ballots] == ["owner", "ann", "bob"]
    history = client.get(f"/api/runs/{run_id}/history").json()
    shares = {r["name"]: r["agreement"] for r in history["raters"]}
    assert shares["ann"] > shares["bob"]
    assert 0 < history["rows"][0]["agreement"] < 1


@pytest.mark.parametrize("older", [True, False], ids=["older", "model"])
def test_raters_who_disagree_get_smaller_weights(client, app, run_id, store, older):
    """By their weight, or where a model of every rater's noise sees to it, all with weight 1."""
    run_id = older_run(store) if older else run_id
    invited = invite(client, app, run_id)
    for _ in range(5):
        index = client.get(f"/api/runs/{run_id}/round").json()["index"]
        url = f"/api/runs/{run_id}/rounds/{index}/answer"
        client.post(url, json={"order": [[0], [1], [2]]})
        invited.post(url, json={"order": [[0], [1], [2]], "rater": "ann"})
        invited.post(url, json={"order": [[5], [4], [3]], "rater": "contrary"})
    weights = {b.rater: b.weight for b in store.rounds(run_id)[4].answer.ballots}
    if older:
        assert weights["ann"] > 1 > 0.2 > weights["contrary"] > 0
    else:
        assert set(weights.values()) == {1.0}
    shown = client.get(f"/api/runs/{run_id}/history").json()["raters"]
    assert {rater["name"]: rater["weight"] < 1 for rater in shown}["contrary"] is older


def test_asking_for_fewer_answers_closes_a_round_that_has_them(client, invited, run_id, store):
    invited.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[2]], "rater": "ann"})
    client.patch(f"/api/runs/{run_id}", json={"raters": 1})
    assert client.get(f"/api/runs/{run_id}/round").json()["index"] == 1
    assert store.rounds(run_id)[0].rater == "ann"


def test_the_owner_may_close_a_round(client, invited, run_id, store):
    close = f"/api/runs/{run_id}/rounds/0/close"
    assert client.post(close).status_code == 422
    invited.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[2]], "rater": "ann"})
    assert invited.post(close).status_code == 403
    taken = client.post(close).json()
    assert (taken["closed"], taken["index"], taken["round"]["index"]) == (True, 1, 1)
    assert store.rounds(run_id)[0].rater == "ann"


def test_a_raters_link_opens_one_run_and_only_to_rank(client, app, invited, run_id):
    other = client.post("/api/runs", json={"renderer": "landscape"}).json()["id"]
    picture = client.get(f"/api/runs/{other}/round").json()["exhibits"][0]["url"]
    for path in (f"/api/runs/{other}", f"/api/runs/{other}/round", picture, "/api/runs"):
        assert invited.get(path).status_code == 403
    give = {"order": [[0]], "rater": "eve"}
    assert invited.post(f"/api/runs/{other}/rounds/0/answer", json=give).status_code == 403
    for method, path in [
        ("POST", "undo"),
        ("POST", "branch"),
        ("POST", "invite"),
        ("DELETE", "invite"),
        ("GET", "export"),
        ("GET", "vector"),
        ("GET", "rounds/0/candidates"),
        ("GET", "rounds/0/offline"),
    ]:
        assert invited.request(method, f"/api/runs/{run_id}/{path}").status_code == 403
    assert invited.delete(f"/api/runs/{run_id}").status_code == 403
    assert invited.patch(f"/api/runs/{run_id}", json={"title": "x"}).status_code == 403
    assert invited.post("/api/runs", json={"renderer": "landscape"}).status_code == 403
    for rater in (None, "owner", "Owner"):
        given = {"order": [[0]], "rater": rater}
        impostor = invited.post(f"/api/runs/{run_id}/rounds/0/answer", json=given)
        assert impostor.status_code == 422
        assert "needs a name" in impostor.json()["detail"]
    assert invited.get(f"/api/runs/{run_id}/history").json()["raters"] == []
    client.delete(f"/api/runs/{run_id}/invite")
    assert invited.get(f"/api/runs/{run_id}/round").status_code == 401


# Who may come in at all.


def test_nobody_without_a_token(app, run_id):
    stranger = TestClient(app)
    for path in ("/api/runs", f"/api/runs/{run_id}", f"/api/runs/{run_id}/best", "/", "/new"):
        assert stranger.get(path).status_code == 401
    wrong = TestClient(app, headers={"Authorization": "Bearer nonsense"})
    assert wrong.get("/api/runs").status_code == 401
    assert stranger.get(f"/api/runs?token={TOKEN}").status_code == 200


def test_a_link_becomes_a_cookie(app, client, run_id):
    browser = TestClient(app, follow_redirects=False)
    entered = browser.get(f"/?token={TOKEN}")
    assert entered.status_code == 303
    assert entered.headers["location"] == "/"
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert browser.get("/").status_code == 200
    assert browser.get(f"/runs/{run_id}").status_code == 200


def test_other_hosts_and_other_sites_are_refused(client, run_id):
    rebound = client.get("/api/runs", headers={"Host": "evil.example"})
    assert rebound.status_code == 400
    forged = client.post(f"/api/runs/{run_id}/undo", headers={"Origin": "http://evil.example"})
    assert forged.status_code == 403
    own = client.post(
        "/api/runs", json={"renderer": "pages"}, headers={"Origin": "http://testserver"}
    )
    assert own.status_code == 201


def test_every_response_has_the_content_security_policy(client, run_id):
    for path in ("/", "/new", f"/runs/{run_id}", f"/runs/{run_id}/result", "/api/runs", "/none"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_hold_no_inline_script_or_style(client, run_id):
    for path in ("/", "/new", f"/runs/{run_id}", f"/runs/{run_id}/result"):
        page = client.get(path).text
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick=" not in page


def test_the_offline_page_stands_alone(client, run_id):
    page = client.get(f"/api/runs/{run_id}/rounds/0/offline").text
    assert page.count("data:image/jpeg;base64,") == 6
    assert "<!--" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_next_round_is_rendered_ahead(client, app, run_id):
    studio = app.state.studio
    answer(client, run_id, [[0]])
    client.get(f"/api/runs/{run_id}/round")
    draft = client.post(f"/api/runs/{run_id}/rounds/1/draft", json={"order": [[3], [1]]})
    ahead = draft.json()["ahead"]
    assert len(ahead) == 6
    early = [client.get(url).content for url in ahead]
    wait_until(lambda: studio.render_pool.idle, "all exhibits are rendered")
    answer(client, run_id, [[3], [1]])
    with studio.session(run_id) as session:
        assert studio.render_pool.ready(run_id, session.fingerprints, 64) == 6
    waiting = client.get(f"/api/runs/{run_id}/round").json()
    assert [e["url"] for e in waiting["exhibits"]] == ahead
    assert [client.get(url).content for url in ahead] == early


def test_an_order_that_leaves_one_picture_out_is_that_of_all(client, app, run_id):
    answer(client, run_id, [[0]])
    draft = f"/api/runs/{run_id}/rounds/1/draft"
    five, six = [[3], [1], [0], [5], [2]], [[3], [1], [0], [5], [2], [4]]
    ahead = client.post(draft, json={"order": five}).json()["ahead"]
    assert client.post(draft, json={"order": six}).json()["ahead"] == ahead
    answer(client, run_id, five)
    waiting = client.get(f"/api/runs/{run_id}/round").json()
    assert [e["url"] for e in waiting["exhibits"]] == ahead
    with app.state.studio.session(run_id) as session:
        assert len(session.steps[1].line.answer.named) == 6


def test_open_pages_are_let_go_when_the_studio_stops(client, app, run_id):
    server = _Server(uvicorn.Config(app))
    server.handle_exit(signal.SIGTERM, None)
    events = client.get(f"/api/runs/{run_id}/events")  # else this would never end
    assert events.headers["content-type"].startswith("text/event-stream")
    assert server.should_exit


def test_all_renderers_of_the_registry_are_offered(store):
    offered = client_of(store, REGISTRY).get("/api/renderers").raise_for_status().json()
    assert [one["name"] for one in offered] == list(REGISTRY)
