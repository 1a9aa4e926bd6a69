"""A judge in the studio: it orders pictures for people to correct, and keeps nobody waiting."""

import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.helpers.studio_server import Server, Small, client_of
from zorank import Ranking, Run
from zorank.errors import InvalidInput
from zorank.oracles import CLIP, JUDGES, PictureOracle, judge_kinds
from zorank.oracles.pictures import score_exhibits
from zorank.renderers import Dream
from zorank.studio import create_app
from zorank.studio.agreement import Agreement, agreement_with
from zorank.studio.catalog import select_judges
from zorank.studio.judging import JudgeSpec, Panel
from zorank.studio.presentation import shown_order, to_candidates, to_screen
from zorank.types import Exhibit

TOKEN = "t0ken"


class Texts:
    """A renderer of what no judge of pictures can look at."""

    dim = 4
    media_type = "text/plain"

    def render(self, candidates):
        return [Exhibit("text/plain", b"hello") for _ in candidates]


def blueness(shown):
    means = np.array([np.asarray(picture).mean(axis=(0, 1)) for picture in shown])
    return means[:, 2] - means[:, 0]


class Slow:
    """Looks only when it is let."""

    def __init__(self):
        self.may_look = threading.Event()

    def score(self, shown):
        assert self.may_look.wait(600)
        return blueness(shown)


def broken(shown):
    raise RuntimeError("no eyes")


def studio(store, judge=blueness, name="mine:blueness", **options):
    """A client of a studio whose runs this judge looks at."""
    panel = Panel(judge_kinds({name: judge}), JudgeSpec(name, options)) if judge else None
    renderers = {"landscape": Small, "texts": Texts}
    return client_of(store, renderers, panel=panel)


def new_run(client, **settings):
    body = {"renderer": "landscape", "seed": 1, "method": "rank-process", **settings}
    return client.post("/api/runs", json=body).raise_for_status().json()["id"]


def waiting(client, run_id):
    return client.get(f"/api/runs/{run_id}/round").raise_for_status().json()


def judged(client, run_id, part="order"):
    """The waiting round once the judge has looked."""
    for _ in range(12_000):
        found = waiting(client, run_id)
        if found["judge"][part]:
            return found
        time.sleep(0.05)
    raise AssertionError(f"the judge has no {part}")


def answer(client, run_id, order, **more):
    index = waiting(client, run_id)["index"]
    url = f"/api/runs/{run_id}/rounds/{index}/answer"
    return client.post(url, json={"order": order, **more}).raise_for_status().json()


def history(client, run_id):
    return client.get(f"/api/runs/{run_id}/history").raise_for_status().json()


def shares(client, run_id):
    return [row["judge_agreement"] for row in history(client, run_id)["rows"]]


def swapped(order, i, j):
    order = [list(group) for group in order]
    order[i], order[j] = order[j], order[i]
    return order


# What agreement means.


def test_agreement_counts_the_pairs_that_the_person_ordered():
    judge = Ranking.of([0, 1, 2, 3])
    assert agreement_with(judge, Ranking.of([0, 1, 2, 3]), 4) == Agreement(6, 6)
    assert agreement_with(judge, Ranking.of([3, 2, 1, 0]), 4) == Agreement(0, 6)
    assert agreement_with(judge, Ranking.of([1, 0, 2, 3]), 4) == Agreement(5, 6)
    # What the person left open is not counted.
    assert agreement_with(judge, Ranking.of([0]), 4) == Agreement(3, 3)
    assert agreement_with(judge, Ranking.of([[0, 1], 2]), 4) == Agreement(5, 5)
    assert agreement_with(judge, Ranking.no_difference(), 4).share is None
    assert agreement_with(judge, Ranking.best_worst(0, 3), 4) == Agreement(5, 5)
    # Where the judge sees no difference, it is half right.
    assert agreement_with(Ranking.of([[0, 1], 2, 3]), Ranking.of([0, 1, 2, 3]), 4).same == 5.5
    assert agreement_with(Ranking.of([[0, 1, 2, 3]]), Ranking.of([2, 1]), 4).share == 0.5


def test_a_ranking_goes_to_the_screen_and_back():
    shown, ranking = (3, 4, 5, 0, 1, 2), Ranking.of([5, [3, 2]], worst=[4])
    assert to_screen(ranking, shown) == Ranking.of([2, [0, 5]], worst=[1])
    assert to_candidates(to_screen(ranking, shown), shown) == ranking


# The way of an order.


def test_the_order_on_screen_is_the_judges_and_the_answer_the_persons(store):
    client = studio(store)
    run_id = new_run(client)
    found = judged(client, run_id)
    assert found["judge"]["name"] == "blueness"
    assert found["judge"]["problem"] == ""
    pictures = [client.get(exhibit["url"]).content for exhibit in found["exhibits"]]
    scores = score_exhibits(blueness, [Exhibit("image/jpeg", data) for data in pictures])
    assert [p for (p,) in found["judge"]["order"]] == np.argsort(-scores).tolist()

    mine = swapped(found["judge"]["order"], 0, 1)
    answer(client, run_id, mine)
    line = store.rounds(run_id)[0]
    shown = client.get(f"/api/runs/{run_id}/rounds/0/candidates").json()["candidates"]
    slate = next(iter(Run.open(store, run_id).steps)).slate
    assert [slate[p].tolist() for (p,) in line.answer.best] == [shown[p] for (p,) in mine]
    assert line.note["judge"]["name"] == "mine:blueness"
    by_judge = Ranking.from_values(-np.array(line.note["judge"]["scores"]))
    assert by_judge.best == (line.answer.best[1], line.answer.best[0], *line.answer.best[2:])
    assert shares(client, run_id) == [pytest.approx(14 / 15)]
    standing = history(client, run_id)["judge"]
    assert standing == {"name": "blueness", "agreement": pytest.approx(14 / 15), "rounds": 1}
    assert client.get(f"/api/runs/{run_id}").json()["judge"] == "blueness"


def test_undo_branch_and_a_restart_keep_agreement_right(store):
    client = studio(store)
    run_id = new_run(client)
    for i, j in ((0, 0), (0, 1), (0, 5)):
        answer(client, run_id, swapped(judged(client, run_id)["judge"]["order"], i, j))
    expected = [1.0, pytest.approx(14 / 15), pytest.approx(6 / 15)]
    assert shares(client, run_id) == expected
    assert history(client, run_id)["judge"]["agreement"] == pytest.approx((15 + 14 + 6) / 45)
    branch = client.post(f"/api/runs/{run_id}/branch", json={"round": 2}).json()["id"]
    client.post(f"/api/runs/{run_id}/undo")
    assert shares(client, run_id) == expected[:2]
    again = judged(client, run_id)
    answer(client, run_id, again["judge"]["order"])
    assert shares(client, run_id) == [*expected[:2], 1.0]
    assert shares(client, branch) == expected[:2]
    # Another studio, without a judge, still knows what was said.
    other = studio(store, judge=None)
    assert shares(other, run_id) == [*expected[:2], 1.0]
    assert waiting(other, run_id)["judge"] is None
    assert history(other, run_id)["judge"]["rounds"] == 3


@pytest.mark.slow
def test_the_numbers_of_a_run_do_not_depend_on_its_judge(store):
    ends = []
    for judge in (blueness, None):
        client = studio(store, judge)
        run_id = new_run(client)
        for order in ([[2], [0, 5]], [[1]], [[4], [3]]):
            if judge:
                judged(client, run_id)
            # By candidate: where they stand on the screen depends on the run's name.
            run = Run.open(store, run_id)
            run.ask()
            shown = shown_order(run.record, len(run.history), 6)
            answer(client, run_id, [[shown.index(c) for c in group] for group in order])
        ends.append(np.asarray(Run.open(store, run_id).ask()))
    assert np.array_equal(*ends)


@pytest.mark.slow
def test_only_the_last_ten_rounds_are_spoken_of(store):
    client = studio(store)
    run_id = new_run(client)
    for index in range(12):
        order = judged(client, run_id)["judge"]["order"]
        answer(client, run_id, order[::-1] if index < 2 else order)
    assert history(client, run_id)["judge"] == {"name": "blueness", "agreement": 1.0, "rounds": 10}
    assert shares(client, run_id) == [0.0] * 2 + [1.0] * 10


def test_answers_do_not_wait_for_a_slow_judge_whose_scores_count_later(store):
    slow = Slow()
    client = studio(store, slow, "mine:slow")
    run_id = new_run(client)
    assert waiting(client, run_id)["judge"] == {"name": "slow", "order": None, "problem": ""}
    answer(client, run_id, [[3], [1]])
    assert shares(client, run_id) == [None]
    assert history(client, run_id)["judge"] == {"name": "slow", "agreement": None, "rounds": 0}
    slow.may_look.set()
    found = first_share(client, run_id)
    assert 0 <= found <= 1
    # After a restart it looks again, since the answer came first.
    assert store.rounds(run_id)[0].note == {"judge": {"name": "mine:slow", "scores": None}}
    assert first_share(studio(store, slow, "mine:slow"), run_id) == found


def first_share(client, run_id):
    """The agreement of the first round, once the judge has looked."""
    for _ in range(12_000):
        if (share := shares(client, run_id)[0]) is not None:
            return share
        time.sleep(0.05)
    raise AssertionError("the judge has not looked")


def test_several_raters_and_the_judge(store):
    client = studio(store)
    run_id = new_run(client, raters=2)
    order = judged(client, run_id)["judge"]["order"]
    answer(client, run_id, order, rater="ann")
    answer(client, run_id, order[::-1], rater="bob")
    assert waiting(client, run_id)["index"] == 1
    assert shares(client, run_id) == [0.5]
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    token = link.partition("token=")[2]
    rater = TestClient(client.app, headers={"Authorization": f"Bearer {token}"})
    order = judged(client, run_id)["judge"]["order"]
    assert rater.get(f"/api/runs/{run_id}/round?rater=eve").json()["judge"]["order"] == order
    assert shares(rater, run_id) == [None]
    assert history(rater, run_id)["judge"] is None


# Judges that fail.


@pytest.mark.parametrize(
    ("settings", "judge", "words"),
    [
        ({}, broken, "RuntimeError: no eyes"),
        ({}, lambda shown: [1.0], "6 numbers for 6 pictures"),
        ({"renderer": "texts"}, blueness, "cannot decode text/plain"),
    ],
)
def test_a_judge_that_fails_says_so_and_ranking_goes_on(store, settings, judge, words):
    client = studio(store, judge, "mine:judge")
    run_id = new_run(client, **settings)
    found = judged(client, run_id, "problem")
    assert words in found["judge"]["problem"]
    assert found["judge"]["order"] is None
    answer(client, run_id, [[2], [0]])
    assert waiting(client, run_id)["index"] == 1
    assert shares(client, run_id) == [None]
    assert store.rounds(run_id)[0].note == {}
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    headers = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    judged(client, run_id, "problem")
    rater = TestClient(client.app, headers=headers)
    assert rater.get(f"/api/runs/{run_id}/round?rater=eve").json()["judge"]["problem"] == ""


def test_a_missing_judge_says_so_and_ranking_goes_on(store):
    made = new_run(studio(store), judge={"name": "mine:blueness"})
    client = studio(store, None)
    assert "no judge named 'mine:blueness'" in judged(client, made, "problem")["judge"]["problem"]
    answer(client, made, [[2], [0]])


# A judge of a run's own.


def test_a_run_may_have_a_judge_of_its_own_or_none(store, tmp_path):
    client = studio(store)
    own = {"name": "mine:blueness", "options": {}}
    assert "judge" not in store.record(new_run(client)).meta
    assert store.record(new_run(client, judge=own)).meta["judge"] == own
    nobody = new_run(client, judge=None)
    assert store.record(nobody).meta["judge"] is None
    assert waiting(client, nobody)["judge"] is None
    assert history(client, nobody)["judge"] is None
    wrong = {"renderer": "landscape", "judge": {"name": "mine:blues"}}
    before = len(store.runs())
    refused = client.post("/api/runs", json=wrong)
    assert refused.status_code == 422
    assert "did you mean mine:blueness" in refused.json()["detail"]
    assert client.post("/api/runs", json={**wrong, "judge": "clip"}).status_code == 422
    assert len(store.runs()) == before


def test_clip_looks_at_a_run_with_the_prompt_of_its_renderer(store, tiny_clip):
    class Prompted(Small):
        prompt = "a snowy night"

    client = client_of(store, {"prompted": Prompted})
    judge = {"name": "clip", "options": {"model": str(tiny_clip)}}
    run_id = new_run(client, renderer="prompted", judge=judge)
    found = judged(client, run_id)
    assert sorted(p for (p,) in found["judge"]["order"]) == list(range(6))
    by_hand = PictureOracle(Small(), CLIP("a snowy night", tiny_clip).score)
    shown = client.get(f"/api/runs/{run_id}/rounds/0/candidates").json()["candidates"]
    scores = by_hand.scores([np.array(x) for x in shown])
    assert [p for (p,) in found["judge"]["order"]] == np.argsort(-scores).tolist()


# What the page that starts a run offers.


def offered(app_or_client):
    return {judge["name"]: judge for judge in app_or_client.get("/api/judges").json()}


def test_judges_are_offered_for_the_renderers_whose_pictures_they_know(store):
    class Spirals(Small):
        media_type = "image/svg+xml"

    makers = {"landscape": Small, "dream": Dream, "mine:own": Small, "texts": Texts}
    app = create_app(store, {**makers, "spirals": Spirals}, TOKEN, hosts=("testserver",))
    found = offered(TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"}))
    assert found["dream"]["renderers"] == ["landscape", "dream"]
    assert found["clip"]["renderers"] == ["landscape", "dream", "mine:own"]
    assert [option["name"] for option in found["clip"]["options"]] == ["prompt", "model"]
    assert not any(judge["default"] for judge in found.values())


def test_a_judge_without_its_packages_is_not_offered(store, monkeypatch):
    monkeypatch.setattr(CLIP, "requires", ("a_module_that_nobody_has",))
    assert set(offered(studio(store, None))) == set(JUDGES) - {"clip"}


def test_the_studios_judge_is_offered_as_it_was_given(store):
    @dataclass(frozen=True)
    class Tinted:
        colour: str = "blue"
        device: object = None

        def score(self, shown):
            return blueness(shown)

    client = studio(store, Tinted, "mine:Tinted", colour="red", device="far away")
    (judge,) = offered(client).values()
    assert judge["default"]
    assert judge["title"] == "Tinted"
    assert [(o["name"], o["default"]) for o in judge["options"]] == [("colour", "red")]
    assert judge["kept"] == {"device": "far away"}
    assert judge["renderers"] == ["landscape"]
    link = client.post(f"/api/runs/{new_run(client)}/invite").json()["url"]
    headers = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    assert TestClient(client.app, headers=headers).get("/api/judges").status_code == 403


# What a studio is started with.


def test_a_judge_is_offered_by_name_or_of_ones_own():
    load = {"mine:blueness": blueness, "mine:number": 3}.__getitem__
    assert select_judges(None, {}, load).default is None
    panel = select_judges("mine:blueness", {}, load)
    assert panel.default == JudgeSpec("mine:blueness")
    assert set(panel.judges) == {*JUDGES, "mine:blueness"}
    assert select_judges("clip", {"prompt": "snow"}, load).default.options == {"prompt": "snow"}
    select_judges("clip", {}, load)  # a renderer may have the prompt
    for wanted, options, words in [
        ("clop", {}, "did you mean clip"),
        ("mine:number", {}, "is not a judge"),
        ("clip", {"prompt": ""}, "needs a prompt"),
        ("clip", {"prompt": "snow", "colour": 1}, "cannot be made"),
        (None, {"prompt": "snow"}, "needs --judge"),
    ]:
        with pytest.raises(InvalidInput, match=words):
            select_judges(wanted, options, load)


def test_wrong_judges_are_refused_in_one_sentence(refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_judges.py").write_text("number = 3\n")
    assert "did you mean clip" in refused("studio", "--judge", "clop")
    assert "is not a judge" in refused("studio", "--judge", "my_judges:number")
    assert "'nowhere' of 'nowhere:judge' is not found" in refused(
        "studio", "--judge", "nowhere:judge"
    )
    assert "name=value" in refused("studio", "--judge", "clip", "--judge-option", "prompt")
    assert "such as --judge clip" in refused("studio", "--judge-option", "prompt=snow")


@pytest.mark.server
def test_clip_from_the_command_line(tmp_path, tiny_clip):
    model, prompt = f"model={tiny_clip}", "prompt=a snowy night"
    options = ("--judge-option", model, "--judge-option", prompt)
    server = Server(tmp_path / "runs.db", "--judge", "clip", *options).start()
    try:
        with server.client() as client:
            run_id = new_run(client, options={"size": 64})
            order = judged(client, run_id)["judge"]["order"]
            answer(client, run_id, order)
            assert shares(client, run_id) == [1.0]
    finally:
        server.stop()
