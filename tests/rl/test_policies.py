"""Policies: simulated as Gymnasium does, learned from order alone, kept and gone on with."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import requires

import gymnasium
import numpy as np
import pytest

from zorank import optimizers
from zorank.errors import InvalidInput, RenderError, ReplayError
from zorank.experiments.paper import FIGURES, FigureContext
from zorank.problems import load_policy
from zorank.renderers import REGISTRY
from zorank.renderers.threads import on_all_cores
from zorank.rl import PolicyProblem, PolicySearch, losses, mujoco_camera, rewards, step_together
from zorank.rl.batched import TASKS, BatchedEnvironment
from zorank.rl.clips import Shot, encode, film_clip, film_frames
from zorank.rl.environments import GymnasiumEnvironment
from zorank.rl.observation_statistics import ObservationStatistics
from zorank.rl.policy import Policy
from zorank.run import Run
from zorank.stores import MemoryStore, open_store
from zorank.types import Exhibit

pytestmark = pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")

QUICK = {"m": 4, "mu": 0.1, "step": 0.1, "line_search": 0}


def some_policies(world, many, size=0.3):
    policy = Policy(world.inputs, world.action_space.outputs, bias=True)
    layers = policy.layers(size * np.random.default_rng(1).standard_normal((many, policy.dim)))

    def act(observations, which):
        return policy.act([weights[which] for weights in layers], observations)

    return act


@pytest.mark.parametrize("env", sorted(TASKS))
def test_episodes_in_step_are_those_of_gymnasium_bit_for_bit(env):
    resets = [3, 3, 4, 2**31]
    for steps, clip in ((1, True), (2, False), (30, False), (30, True)):
        ours, theirs = BatchedEnvironment(env, steps, clip), GymnasiumEnvironment(env, steps, clip)
        found = ours.episodes(some_policies(ours, 4), resets)
        wanted = theirs.episodes(some_policies(theirs, 4), resets)
        assert found.returns.tolist() == wanted.returns.tolist()
        assert found.steps.tolist() == wanted.steps.tolist()
        assert found.statistics.count == wanted.statistics.count
        np.testing.assert_allclose(found.statistics.mean, wanted.statistics.mean, rtol=1e-12)


@pytest.mark.parametrize("world", [BatchedEnvironment, GymnasiumEnvironment])
def test_clipped_actions_cost_no_control(world):
    def act(observations, which):
        return np.full((len(which), 6), 3.0)

    clipped, raw = (world("HalfCheetah-v4", 20, clip).episodes(act, [1]) for clip in (True, False))
    assert (clipped.observations[0] == raw.observations[0]).all()
    assert clipped.returns[0] - raw.returns[0] == pytest.approx(20 * 0.1 * 6 * (9 - 1))


def test_an_episode_does_not_depend_on_its_neighbours_or_on_threads():
    act = some_policies(BatchedEnvironment("HalfCheetah-v4"), 5)
    together = BatchedEnvironment("HalfCheetah-v4", 60, threads=2).episodes(act, [1, 2, 3, 4, 5])
    world = BatchedEnvironment("HalfCheetah-v4", 60, threads=1)
    alone = world.episodes(lambda seen, which: act(seen, np.array([3])), [4])
    assert alone.returns[0] == together.returns[3]


def test_a_diverged_episode_is_last_and_changes_no_other():
    world = BatchedEnvironment("HalfCheetah-v4", 50)
    usual = some_policies(world, 3)

    def act(observations, which):
        actions = usual(observations, which)
        actions[1] = np.nan
        return actions

    found = world.episodes(act, [1, 1, 1])
    assert found.returns[1] == -np.inf
    assert (
        found.returns[[0, 2]].tolist() == world.episodes(usual, [1, 1, 1]).returns[[0, 2]].tolist()
    )
    assert np.isfinite(found.statistics.mean).all()
    assert np.argmax(losses(found.returns)) == 1
    assert losses(np.full(3, -np.inf)).tolist() == [0, 0, 0]  # nothing to choose


def test_a_simulation_that_starts_itself_again_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = BatchedEnvironment("HalfCheetah-v4", 5)
    usual, calls = some_policies(world, 3), []

    def act(observations, which):
        calls.append(1)
        if len(calls) == 3:
            world._batches[3].bind("qvel")[1] = 1e12
        return usual(observations, which)

    found = world.episodes(act, [1, 1, 1])
    assert len(calls) == 5
    assert np.isfinite(found.returns).tolist() == [True, False, True]
    assert os.listdir() == []  # MuJoCo would leave a file of warnings here


@pytest.mark.parametrize(
    ("env", "dim"), [("Reacher-v4", 24), ("Swimmer-v4", 18), ("HalfCheetah-v4", 108)]
)
def test_linear_policies_have_the_papers_dimensions(env, dim):
    assert PolicyProblem(env, bias=True).dim == dim


def test_moments_of_parts_are_those_of_the_whole():
    rows = np.random.default_rng(0).normal(3, 2, (100, 4))
    empty, of = ObservationStatistics.empty(4), ObservationStatistics.of
    parts = empty + of(rows[:30]) + of(rows[:0]) + of(rows[30:])
    assert parts.count == 100
    np.testing.assert_allclose(parts.mean, rows.mean(axis=0))
    np.testing.assert_allclose(parts.std, rows.std(axis=0, ddof=1))
    again = ObservationStatistics.from_json(json.loads(json.dumps(parts.to_json())))
    assert again.squares.tolist() == parts.squares.tolist()


def test_a_policy_with_hidden_layers_starts_without_an_opinion_and_has_all_its_numbers():
    policy = Policy(3, 2, hidden=(4, 5), bias=True)
    assert policy.dim == 4 * 4 + 5 * 5 + 2 * 6
    layers = policy.layers([policy.start(), np.ones(policy.dim)])
    acted = policy.act(layers, np.ones((2, 3)))
    assert acted[0].tolist() == [0, 0]
    assert acted[1].tolist() == pytest.approx([5 * np.tanh(4 * np.tanh(4) + 1) + 1] * 2)
    with pytest.raises(InvalidInput, match="53 parameters, found 3"):
        policy.layers([np.ones(3)])


class Strict(gymnasium.Env):
    """Takes only the actions that it says it takes; pays for the third of them."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, kind="choice", render_mode=None):
        self.render_mode = render_mode
        choice = gymnasium.spaces.Discrete(3, start=5)
        self.action_space = choice if kind == "choice" else gymnasium.spaces.Box(-9, 9, (2, 2))

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return self.np_random.uniform(-1, 1, 2), {}

    def step(self, action):
        assert np.shape(action) == (self.action_space.shape or ())
        paid = float(action == 7) if np.ndim(action) == 0 else float(action[1, 0])
        self.left -= 1
        return self.np_random.uniform(-1, 1, 2), paid, self.left == 0, False, {}

    def render(self):
        return np.full((32, 48, 3), 40 * self.left, dtype=np.uint8)


for kind in ("choice", "numbers"):
    gymnasium.register(f"Strict-{kind}-v0", Strict, kwargs={"kind": kind}, max_episode_steps=9)


@pytest.mark.parametrize("kind", ["choice", "numbers"])
def test_actions_are_of_the_environments_own_kind_also_in_a_clip(tmp_path, kind):
    env = f"Strict-{kind}-v0"
    learning = PolicySearch(PolicyProblem(env, bias=True), optimizers.make("rank-ars", {"m": 8}))
    for _ in range(4):
        learning.step()
    learning.policy().save(tmp_path)
    act = load_policy(tmp_path)
    assert np.shape(act(np.zeros(2))) == (() if kind == "choice" else (2, 2))
    shown, rate = film_frames(Shot(env, 0, 10.0, 32, 48), act)
    assert (len(shown), rate) == (6, 10.0)
    assert encode(shown, rate)[4:8] == b"ftyp"


# Learning.


def test_only_the_order_of_episodes_decides(monkeypatch):
    problem = PolicyProblem("Reacher-v4", horizon=10)
    plain = PolicySearch(problem, optimizers.make("zo-ranksgd", QUICK))
    stretched = PolicySearch(problem, optimizers.make("zo-ranksgd", QUICK))
    for _ in range(3):
        plain.step()
    run = PolicyProblem.episodes

    def as_if_paid_otherwise(self, *arguments):
        found = run(self, *arguments)
        return type(found)(np.exp(found.returns) - 7, found.observations)

    monkeypatch.setattr(PolicyProblem, "episodes", as_if_paid_otherwise)
    for _ in range(3):
        stretched.step()
    assert plain.run.best().tolist() == stretched.run.best().tolist()
    assert plain.run.best().any()


@pytest.mark.parametrize(
    ("env", "normalise"), [("Hopper-v4", True), ("Hopper-v4", False), ("CartPole-v1", True)]
)
def test_learning_together_is_learning_alone(env, normalise):
    problem = PolicyProblem(env, horizon=30, normalise=normalise)
    methods = [
        optimizers.make("zo-ranksgd", QUICK),
        optimizers.make("rank-ars", {"m": 6, "mu": 0.3, "step": 0.3}),
    ]
    together, alone = (
        [PolicySearch(problem, method, seed) for method in methods for seed in (1, 2)]
        for _ in range(2)
    )
    for _ in range(3):
        step_together(together)
        for one in alone:
            one.step()
    for one, other in zip(together, alone, strict=True):
        assert one.run.best().tolist() == other.run.best().tolist()
        assert one.statistics.to_json() == other.statistics.to_json()
    assert rewards(together, 3) == [one.reward(3) for one in alone]


def test_only_different_learners_of_one_problem_learn_together():
    one, other = (PolicySearch(PolicyProblem("Reacher-v4", horizon=n), seed=1) for n in (2, 3))
    for learners in ([], [one, one], [one, other]):
        with pytest.raises(InvalidInput, match="different searches on one problem"):
            step_together(learners)


def test_statistics_are_part_of_the_run_in_undo_and_resume(tmp_path):
    store = f"sqlite:///{tmp_path / 'run.db'}"
    problem = PolicyProblem("Swimmer-v4", horizon=20)
    learning = PolicySearch(problem, optimizers.make("zo-ranksgd", QUICK), 1, store, "swim")
    for _ in range(3):
        learning.step()
    seen, best = learning.statistics, learning.run.best()
    assert seen.count == 3 * 4 * 20
    again = PolicySearch(problem, optimizers.make("zo-ranksgd", QUICK), 1, store, "swim")
    assert again.statistics.mean.tolist() == seen.mean.tolist()
    again.step()
    later = again.run.best()
    again.run.undo()
    assert again.statistics.squares.tolist() == seen.squares.tolist()
    assert again.run.best().tolist() == best.tolist()
    again.step()
    assert again.run.best().tolist() == later.tolist()
    with pytest.raises(ReplayError, match=r"another policy \(horizon was 20, is 21\)"):
        PolicySearch(
            PolicyProblem("Swimmer-v4", horizon=21),
            optimizers.make("zo-ranksgd", QUICK),
            1,
            store,
            "swim",
        )
    Run("zo-ranksgd", np.zeros(problem.dim), 1, open_store(store), "no gait")
    with pytest.raises(ReplayError, match="stored run 'no gait' is not a policy search"):
        PolicySearch(problem, optimizers.make("zo-ranksgd", QUICK), 1, store, "no gait")


def test_a_run_from_before_actions_were_clipped_goes_on_unclipped():
    before = PolicyProblem("Swimmer-v4", horizon=20, clip=False)
    note = {key: value for key, value in before.to_json().items() if key != "clip"}
    store = MemoryStore()
    Run("rank-ars", before.start(), 1, store, "swim", meta={"policy": note})
    PolicySearch(before, "rank-ars", 1, store, "swim").step()
    with pytest.raises(ReplayError, match=r"\(clip was False, is True\)"):
        PolicySearch(replace(before, clip=True), "rank-ars", 1, store, "swim")


def test_episodes_of_a_question_start_alike_unless_they_are_independent():
    shared, independent = (PolicyProblem("Reacher-v4", shared=s) for s in (True, False))
    assert len(set(shared.resets(0, 3, 5))) == 1
    assert len(set(independent.resets(0, 3, 5))) == 5
    assert shared.resets(0, 3, 5) != shared.resets(0, 4, 5)
    assert set(shared.held_out(5)).isdisjoint(independent.resets(0, 0, 1000))


def test_ranked_by_their_first_steps_judged_by_all():
    whole = PolicyProblem("HalfCheetah-v4", horizon=30)
    briefly = replace(whole, ranked_steps=6)
    learning = PolicySearch(briefly, "rank-ars")
    learning.step()
    assert learning.statistics.count == 16 * 6
    assert briefly.ranked_share == 0.2
    assert replace(whole, ranked_steps=2000).ranked_share == 1  # an episode has no more
    x, seen = np.full(whole.dim, 0.1), learning.statistics
    assert briefly.reward(x, seen, 2) == whole.reward(x, seen, 2)
    (short,) = briefly.episodes([x], [5], seen).returns
    (first,) = replace(whole, horizon=6).episodes([x], [5], seen).returns
    assert short == first != whole.episodes([x], [5], seen).returns[0]
    with pytest.raises(InvalidInput, match="ranked_steps must be 1 step or more, found 0"):
        PolicyProblem("HalfCheetah-v4", ranked_steps=0)


@pytest.mark.parametrize(
    ("given", "ranked"), [((), 250), (("--ranked-steps", 0), None), (("--paper",), None)]
)
def test_how_much_of_an_episode_is_ranked_from_the_command_line(zorank, tmp_path, given, ranked):
    quick = ("--steps", 9, "--rounds", 1, "--no-video", "--quiet", "--out", tmp_path / "gait")
    _, said, _ = zorank("rl", "HalfCheetah-v4", *quick, *given)
    assert load_policy(tmp_path / "gait").problem.ranked_steps == ranked
    assert "each by its first" not in said  # an episode of nine steps is ranked whole
    same = [one for one in given if one == "--paper"]  # who goes on says no more of it
    code, _, _ = zorank("rl", "HalfCheetah-v4", *quick[:3], 2, *quick[4:], *same)
    assert (code, load_policy(tmp_path / "gait").problem.ranked_steps) == (0, ranked)


def test_beginnings_are_as_many_as_have_the_steps_of_500_episodes(zorank, tmp_path):
    line = ("rl", "Reacher-v4", "--steps", 4, "--ranked-steps", 2, "--no-video", "--quiet")
    _, said, _ = zorank(*line, "--out", tmp_path / "reach")
    assert "after 1,000 ranked episodes, each by its first 2 steps" in " ".join(said.split())


def test_what_was_learned_is_kept_as_a_function(tmp_path):
    problem = PolicyProblem("Hopper-v5", hidden=(4,), bias=True)
    learning = PolicySearch(problem, optimizers.make("rank-ars", {"m": 4}))
    for _ in range(2):
        learning.step()
    learning.policy().save(tmp_path)
    act = load_policy(tmp_path)
    env = gymnasium.make("Hopper-v5")
    (reset,) = problem.held_out(1)
    observation, _ = env.reset(seed=reset)
    paid, over = 0.0, False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(act(observation))
        paid, over = paid + reward, terminated or truncated
    assert paid == pytest.approx(learning.reward(1), abs=1e-9)
    with pytest.raises(InvalidInput, match="observations of 11 numbers, found 3"):
        act(np.zeros(3))
    with pytest.raises(InvalidInput, match="no policy in"):
        load_policy(tmp_path / "elsewhere")


def test_swimmers_learn_to_swim():
    learning = PolicySearch(PolicyProblem("Swimmer-v4", horizon=300), seed=0)
    before = learning.reward(2)
    for _ in range(8):
        learning.step()
    assert learning.reward(2) > before + 5


# The command line.


def test_a_policy_of_choices_from_the_command_line(zorank, tmp_path):
    line = ("rl", "CartPole-v1", "--rounds", 6, "--m", 8, "--out", tmp_path / "pole", "--no-video")
    code, said, _ = zorank(*line, "--quiet")
    assert (code, "after 48 ranked episodes" in said) == (0, True)
    first = load_policy(tmp_path / "pole")
    assert first(np.zeros(4)) in (0, 1)
    for name in ("curve.csv", "curve.png", "policy.json", "run.db"):
        assert (tmp_path / "pole" / name).stat().st_size > 0
    _, further, _ = zorank(*line[:3], 8, *line[4:], "--quiet")  # goes on where it was
    assert "after 64 ranked episodes" in further
    _, again, _ = zorank("rl", "replay", tmp_path / "pole", "--no-video")
    assert "CartPole-v1: reward" in again


def test_going_on_is_one_long_run_wherever_it_was_stopped(zorank, tmp_path):
    line = ("rl", "Reacher-v4", "--steps", 2, "--method", "zo-ranksgd", "--no-video", "--quiet")
    odd = tmp_path / "is it?1 %20"  # where a URL would go astray
    zorank(*line, "--out", odd, "--rounds", 3)
    for folder in (odd, tmp_path / "whole"):
        _, said, _ = zorank(*line, "--out", folder)
        assert "after 500 ranked episodes" in said or "after 505 ranked episodes" in said
        assert {file.name for file in folder.iterdir()} >= {"run.db", "policy.json", "curve.csv"}
    parted, whole = (
        json.loads((f / "policy.json").read_text()) for f in (odd, tmp_path / "whole")
    )
    assert parted == whole
    first = (odd / "curve.csv").read_text().splitlines()[1]
    assert first == (tmp_path / "whole" / "curve.csv").read_text().splitlines()[1]
    assert first.startswith("0,0,")


def test_what_is_in_a_folder_is_not_written_over(zorank, refused, tmp_path):
    line = ("rl", "Reacher-v4", "--rounds", 1, "--no-video", "--quiet")
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    zorank(*line, "--steps", 2, "--out", mine)
    refusal = refused(*line, "--steps", 3, "--out", mine)
    assert "horizon was 2, is 3" in refusal
    assert "Give --out another folder" in refusal
    _, _, again = zorank(*line, "--steps", 2, "--out", mine)
    assert "already has this many rounds" in again
    load_policy(mine).save(theirs)
    before = (theirs / "policy.json").read_bytes()
    assert "a policy without its run" in refused(*line, "--steps", 2, "--out", theirs)
    assert (theirs / "policy.json").read_bytes() == before


def altered(folder, **parts):
    """A policy's file with parts of it replaced; what is "absent" is left out."""
    file = folder / "policy.json"
    note = json.loads(file.read_text())
    for part, change in parts.items():
        note[part] = {**note[part], **change} if isinstance(change, dict) else change
        note[part] = {k: v for k, v in note[part].items() if v != "absent"}
    file.write_text(json.dumps(note))
    return folder


def test_a_policy_from_before_actions_were_clipped_acts_as_it_did(tmp_path):
    problem = PolicyProblem("HalfCheetah-v4", horizon=5, clip=False)
    learning = PolicySearch(problem, optimizers.make("rank-ars", {"m": 4, "step": 9.0, "mu": 9.0}))
    learning.step()
    learning.policy().save(tmp_path)
    before = load_policy(tmp_path)
    old = load_policy(altered(tmp_path, problem={"clip": "absent"}, action={"limits": "absent"}))
    assert old.problem == before.problem == problem
    seen = np.linspace(-1, 1, 17)
    assert np.abs(old(seen)).max() > 1
    assert old(seen).tolist() == before(seen).tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"low": [0.0]},
        {"low": [2.0] * 6},
        {"low": [float("nan")] * 6},
        {"dtype": "U5"},
        {"dtype": "no kind"},
    ],
    ids=str,
)
def test_limits_that_are_none_are_refused(tmp_path, change):
    problem = PolicyProblem("HalfCheetah-v4", horizon=5)
    file = PolicySearch(problem).policy().save(tmp_path)
    limits = json.loads(file.read_text())["action"]["limits"]
    with pytest.raises(InvalidInput, match="is not a policy that zorank wrote"):
        load_policy(altered(tmp_path, action={"limits": {**limits, **change}}))


@pytest.mark.parametrize("content", ['{"action": []}', "[" * 100_000, '{"problem": 1}', "7"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "policy.json").write_text(content)
    with pytest.raises(InvalidInput, match="is not a policy that zorank wrote"):
        load_policy(tmp_path)


def test_a_wish_beyond_the_box_is_clipped_everywhere_unless_told_otherwise():
    for clip, most in ((True, 1.0), (False, 300.0)):
        world = PolicyProblem("MountainCarContinuous-v0", clip=clip).environment
        assert world.action_space.action(np.array([300.0])).tolist() == [most]
    with pytest.raises(InvalidInput, match="clip must be true or false"):
        PolicyProblem("Swimmer-v4", clip="yes")


def test_the_extra_brings_what_gymnasiums_bodies_need():
    def needed(package, extra):
        wanted = [
            line for line in requires(package) if f"extra == '{extra}'" in line.replace('"', "'")
        ]
        return {re.match(r"[\w.-]+", line)[0].lower() for line in wanted}

    everywhere = {"packaging"}  # of gymnasium's own, and of matplotlib's
    assert needed("gymnasium", "mujoco") <= needed("zorank", "rl") | everywhere


def test_a_recipe_fits_the_slates_one_wishes_for(zorank, tmp_path):
    for more in (["--m", 4], ["--paper", "--m", 4]):
        line = ("rl", "Reacher-v4", "--steps", 2, "--rounds", 1, "--no-video", "--quiet")
        code, said, _ = zorank(*line, *more, "--out", tmp_path / str(len(more)))
        assert (code, "after 4 ranked episodes" in said) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["Reacher"], "use Reacher-v5"),
        (["HalfCheetah-v3"], "needs a package that is not installed"),
        (["NoSuch-v1"], "there is no environment 'NoSuch-v1'"),
        (["Blackjack-v1"], "needs a Box observation space"),
        (["Swimmer-v4", "--steps", "2000"], "from 1 to 1000 steps"),
        (["Swimmer-v4", "--method", "rank-arts"], "did you mean rank-ars"),
        (["replay", "nowhere"], "no policy in 'nowhere'"),
        (["replay"], "replay needs a folder"),
    ],
)
def test_refusals_in_one_sentence(refused, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused("rl", *arguments)
    assert os.listdir() == []


# Clips.


def test_a_clip_follows_from_its_candidate_alone(drawing):
    renderer = REGISTRY["policy"](env="Reacher-v4", seconds=0.5, size=64)
    points = np.random.default_rng(0).standard_normal((2, renderer.dim))
    first, second = renderer.render(points)
    assert first.media_type == "video/mp4"
    assert first.data[4:8] == b"ftyp"
    assert first.data != second.data
    assert renderer.render(points[:1])[0].data == first.data


def test_a_camera_is_kept_for_the_next_clip_unless_something_went_wrong(drawing, monkeypatch):
    mujoco_camera.close_cameras()
    made, camera = [], mujoco_camera._Camera
    monkeypatch.setattr(mujoco_camera, "_Camera", lambda *what: made.append(what) or camera(*what))

    def nothing(observation):
        return np.zeros(2)

    def worse(observation):
        raise ValueError("no idea")

    first = film_clip(Shot("Reacher-v4", 0, 0.3, 48, 64), nothing)
    in_another_thread = on_all_cores(
        lambda _: Exhibit("video/mp4", film_clip(Shot("Reacher-v4", 0, 0.3, 48, 64), nothing)),
        np.zeros((3, 1)),
    )
    assert {clip.data for clip in in_another_thread} == {first}
    assert 1 <= len(made) <= os.cpu_count()
    film_frames(Shot("Swimmer-v4", 0, 0.3, 48, 64), nothing)
    assert made[-1] == ("Swimmer-v4", 48, 64)
    made.clear()
    with pytest.raises(RenderError, match=r"Swimmer-v4 cannot be filmed \(ValueError: no idea\)"):
        film_clip(Shot("Swimmer-v4", 0, 0.3, 48, 64), worse)
    assert made == []
    film_clip(Shot("Swimmer-v4", 0, 0.3, 48, 64), nothing)
    assert len(made) == 1
    mujoco_camera.close_cameras()


def test_without_a_way_to_draw_it_says_what_to_install():
    script = (
        "from zorank.rl import mujoco_camera\n"
        "try: mujoco_camera.choose_backend()\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "MUJOCO_GL": "nothing"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.startswith("RenderError")
    assert "libosmesa6" in said
    assert "MUJOCO_GL=egl" in said


# The paper's figures.


@pytest.mark.parametrize(("figure", "claims"), [("rl", 3), ("rl-scobo", 2)])
def test_the_papers_figures_are_made_and_remembered(tmp_path, figure, claims, without_workers):
    context = FigureContext(tmp_path, quick=True)
    report = FIGURES[figure](context)
    report.save(tmp_path)
    told = json.loads((tmp_path / f"{figure}.json").read_text())
    assert len(told["claims"]) == claims
    assert all(np.isfinite(line["rewards"]).all() for line in told["lines"])
    assert (tmp_path / f"{figure}.png").stat().st_size > 10_000
    before = (tmp_path / "policies.cells.jsonl").read_text()
    FIGURES[figure](context)
    assert (tmp_path / "policies.cells.jsonl").read_text() == before
