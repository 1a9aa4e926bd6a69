"""An environment module:Name: its module is imported if the user names it, not if a file does."""

import json
import sys

import gymnasium
import numpy as np
import pytest

from tests.helpers.studio_server import Server, client_of
from zorank import Run
from zorank.errors import InvalidInput
from zorank.problems import load_policy
from zorank.renderers import PolicyClips
from zorank.rl import PolicyProblem, allow_environment, environments, problem
from zorank.stores import MemoryStore

MODULE = """
from pathlib import Path

import gymnasium
import numpy as np

Path(__file__).with_name("imported").touch()


class Slider(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        self.x = 0.1
        return np.array([self.x, 1.0], np.float32), {}

    def step(self, action):
        self.x += 0.01 * float(action[0])
        return np.array([self.x, 1.0], np.float32), self.x, False, False, {}

    def render(self):
        return np.full((16, 16, 3), int(100 * abs(self.x)) % 256, np.uint8)


gymnasium.register("Slider-v0", entry_point=Slider, max_episode_steps=8)
"""
NAME = "own_sliders"
ENV = f"{NAME}:Slider-v0"
REFUSED = "which a file or a request must not import"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The folder of a module that leaves a file when it is imported."""
    monkeypatch.setattr(environments, "_allowed_modules", set())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / f"{NAME}.py").write_text(MODULE)
    yield tmp_path
    problem._environment.cache_clear()
    sys.modules.pop(NAME, None)
    gymnasium.registry.pop("Slider-v0", None)


def was_imported(folder):
    return NAME in sys.modules or (folder / "imported").exists()


def policy_file(folder):
    """A policy.json that names the module."""
    content = {
        "problem": {"env": ENV, "hidden": [], "bias": False, "clip": True},
        "action": {"shape": [1], "first": None, "limits": None},
        "parameters": [0.5, 0.25],
        "seen": {"count": 2, "mean": [0.0, 0.0], "squares": [1.0, 1.0]},
    }
    (folder / "policy.json").write_text(json.dumps(content))
    return folder / "policy.json"


def test_python_code_has_to_allow_it(module):
    with pytest.raises(InvalidInput, match=REFUSED):
        _ = PolicyProblem(ENV).dim
    assert not was_imported(module)
    allow_environment(ENV)
    assert PolicyProblem(ENV).dim == 2


def test_a_module_that_is_imported_already_is_not_imported_by_a_file():
    assert "json" in sys.modules
    with pytest.raises(InvalidInput, match="there is no environment"):
        _ = PolicyProblem("json:NoSuch").dim


def test_a_policy_file_does_not_import_it(module):
    policy = load_policy(policy_file(module))
    assert policy(np.zeros(2)).shape == (1,)
    with pytest.raises(InvalidInput, match=REFUSED):
        policy.problem.reward(policy.parameters, policy.statistics)
    assert not was_imported(module)


def test_a_policy_file_is_replayed_if_the_command_line_names_its_environment(module, zorank):
    file = policy_file(module)
    code, _, said = zorank("rl", "replay", file, "--no-video")
    assert (code, REFUSED in said, was_imported(module)) == (2, True, False)
    code, _, said = zorank("rl", "replay", file, "--no-video", "--env", "CartPole-v1")
    assert (code, f"the policy is for {ENV}, not for CartPole-v1" in said) == (2, True)
    code, said, _ = zorank("rl", "replay", file, "--no-video", "--env", ENV)
    assert (code, f"{ENV}: reward" in said, was_imported(module)) == (0, True, True)


def test_a_search_in_a_module_of_the_current_folder(module, zorank, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    line = ("rl", ENV, "--rounds", 1, "--no-video", "--quiet", "--out", module / "out")
    code, said, _ = zorank(*line)
    assert (code, "reward" in said) == (0, True)


def test_a_request_does_not_import_it(module):
    with client_of(MemoryStore(), {"policy": PolicyClips}) as client:
        made = client.post("/api/runs", json={"renderer": "policy", "options": {"env": ENV}})
        assert (made.status_code, client.get("/api/runs").json()) == (422, [])
    assert REFUSED in made.text
    assert f"--env {ENV} of zorank studio" in made.text
    assert not was_imported(module)


def test_a_stored_run_does_not_import_it(module):
    store = MemoryStore()
    meta = {"renderer": "policy", "renderer_options": {"env": ENV}, "title": "a", "raters": 1}
    Run("rank-process", np.ones(2), store=store, name="a", meta=meta, record_slates=True).ask()
    with client_of(store, {"policy": PolicyClips}) as client:
        shown = client.get("/api/runs/a/round")
        assert (shown.status_code, REFUSED in shown.text) == (422, True)
        client.get("/")
    assert not was_imported(module)


@pytest.mark.server
def test_a_studio_that_was_started_with_it_reopens_its_runs(module):
    options = ("--option", "seconds=0.2", "--option", "size=64")
    line = (module / "runs.db", "--renderer", "policy", *options)
    server = Server(*line, "--env", ENV).start()
    with server.client() as client:
        new = {"renderer": "policy", "m": 3, "method": "rank-process"}
        run_id = client.post("/api/runs", json=new).raise_for_status().json()["id"]
        url = f"/api/runs/{run_id}/rounds/0/answer"
        client.post(url, json={"order": [[0], [1]]}).raise_for_status()
    server.stop()
    server = Server(*line, "--env", ENV).start()
    with server.client() as client:
        assert client.get(f"/api/runs/{run_id}/round").raise_for_status().json()["index"] == 1
    server.stop()
    (module / "imported").unlink()
    server = Server(*line).start()
    with server.client() as client:
        shown = client.get(f"/api/runs/{run_id}/round")
        assert (shown.status_code, REFUSED in shown.text) == (422, True)
    server.stop()
    assert not (module / "imported").exists()
