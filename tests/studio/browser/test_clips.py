"""Policies in the studio: a simulated person teaches a gait, a real browser plays clips."""

import gymnasium
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.helpers.browser import PATIENCE
from tests.helpers.studio_server import Server
from zorank.problems import load_policy
from zorank.renderers import REGISTRY

pytestmark = pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")

ENV, SECONDS = "HalfCheetah-v4", 2.0
PLAYING = """() =>
  [...document.querySelectorAll(".card video")].every((film) => film.currentTime > 0)"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory, drawing):
    store = tmp_path_factory.mktemp("studio") / "runs.db"
    options = ["--option", f"seconds={SECONDS}", "--option", "size=96"]
    server = Server(store, "--renderer", "policy", "--env", ENV, *options).start()
    yield server
    server.stop()


def smooth_and_forward(renderer, candidate):
    """What this person likes: to get ahead without jerks."""
    act, env = renderer.policy(np.array(candidate)), gymnasium.make(ENV)
    observation, _ = env.reset(seed=renderer.reset)
    before, liked = np.zeros(env.action_space.shape), 0.0
    for _ in range(round(SECONDS / env.unwrapped.dt)):
        action = np.clip(act(observation), -1, 1)
        observation, _, _, _, told = env.step(action)
        liked += told["x_velocity"] - 0.1 * float(np.square(action - before).sum())
        before = action
    return liked


def test_a_person_who_likes_smooth_motion_gets_more_of_it(studio, tmp_path):
    renderer = REGISTRY["policy"](env=ENV, seconds=SECONDS, size=96)
    with studio.client() as client:
        given = {"renderer": "policy", "m": 6, "seed": 1, "method": "rank-process"}
        run = client.post("/api/runs", json=given, timeout=120).json()["id"]
        first = None
        for index in range(14):
            waiting = client.get(f"/api/runs/{run}/round").json()
            assert {one["media_type"] for one in waiting["exhibits"]} <= {"video/mp4", None}
            shown = client.get(f"/api/runs/{run}/rounds/{index}/candidates").json()["candidates"]
            likes = [smooth_and_forward(renderer, candidate) for candidate in shown]
            first = first or likes
            order = [[int(position)] for position in np.argsort(likes)[::-1]]
            answer = {"order": order, "key": waiting["key"]}
            client.post(f"/api/runs/{run}/rounds/{index}/answer", json=answer).raise_for_status()
        clip = client.get(f"/api/runs/{run}/best", timeout=120)
        best = client.get(f"/api/runs/{run}/vector").json()
        kept = client.get(f"/api/runs/{run}/keepsake")
        invited = client.post(f"/api/runs/{run}/invite").json()["url"]
        as_guest = {"Authorization": f"Bearer {invited.partition('token=')[2]}"}
        told = {
            who: client.get(f"/api/runs/{run}", headers=headers).json()["keepsake"]
            for who, headers in (("owner", {}), ("guest", as_guest))
        }
    assert told == {"owner": "policy.json", "guest": None}
    assert clip.headers["content-type"] == "video/mp4"
    assert smooth_and_forward(renderer, best) > max(first) + np.std(first)
    (tmp_path / "policy.json").write_bytes(kept.content)
    seen = np.linspace(-1, 1, 17)
    assert (load_policy(tmp_path)(seen) == renderer.policy(np.array(best))(seen)).all()


def test_clips_are_ranked_in_a_browser(studio, person):
    somebody = person()
    somebody.context.set_default_timeout(4 * PATIENCE)  # real simulation
    tab = somebody.open(studio)
    tab.see("new-run").first.click()
    expect(tab.page.get_by_label("Env")).to_have_value(ENV)
    expect(tab.page.locator("#how-many")).to_have_text("Clips per round")
    tab.page.locator("input[name=m][value='4']").check()
    tab.see("start-run").click()
    films = tab.page.locator("[data-testid=card] video")
    expect(films).to_have_count(4)
    tab.page.wait_for_function(PLAYING)
    tab.press("2")
    tab.press("Enter")
    tab.page.wait_for_function(
        "() => document.querySelector('.card video')?.src.includes('/rounds/1/')"
    )
    expect(films).to_have_count(4)
    expect(tab.page.get_by_role("button", name="Enlarge: Clip 3")).to_have_count(1)
    tab.press("3")  # clips begin alike, so a small one stands at its middle
    tab.page.wait_for_function(
        "at => Math.abs(document.querySelector('.tray video')?.currentTime - at) < 0.1",
        arg=SECONDS / 2,
    )
    tab.page.goto(tab.page.url + "/result")
    expect(tab.see("keepsake")).to_have_text("policy.json")
    tab.page.goto(studio.url + "/new")  # where the best so far stands for its kind
    expect(tab.page.locator("[data-testid=renderer] video.emblem")).to_have_count(1)
