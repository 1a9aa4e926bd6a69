"""docs/integrations.md: its table of lines is counted, its trackers' recipes work."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import zorank
from tests.helpers import fork_server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text()
TASKS = {
    "minimise a function": "function",
    "tell six scores at a time": "scores",
    "a function that says which of two is better": "comparison",
}
LIBRARIES = ("zorank", "pycma", "optuna", "nevergrad")
EXAMPLES = ("scipy_user", "pycma_user", "optuna_user", "compare_two", "six_scores")
RECIPES = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)


def lines(file):
    return sum(bool(line.strip()) for line in file.read_text().splitlines())


@pytest.mark.parametrize("task", TASKS)
def test_the_table_of_lines_is_counted(task):
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {task} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    files = [ROOT / "docs" / "lines" / f"{TASKS[task]}_{library}.py" for library in LIBRARIES]
    assert cells == [str(lines(file)) if file.exists() else "–" for file in files]


@pytest.mark.parametrize("library", ["zorank", "pycma", "optuna"])  # nevergrad is no part of dev
@pytest.mark.parametrize("task", TASKS.values())
def test_the_counted_programs_run(task, library, tmp_path):
    file = ROOT / "docs" / "lines" / f"{task}_{library}.py"
    if (task, library) == ("comparison", "optuna"):
        assert not file.exists()
        return
    assert fork_server.run([file], cwd=tmp_path, check=True).stdout


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_for_newcomers_are_short(name):
    assert lines(ROOT / "examples" / f"{name}.py") < 15


class Recorder:
    """Stands for a tracker that is not installed: it records what its methods are called with."""

    def __init__(self, calls):
        self.calls = calls

    def __getattr__(self, name):
        return lambda *args, **named: self.calls.append((name, args, named))


@pytest.mark.parametrize("recipe", RECIPES, ids=["wandb", "mlflow", "tensorboard"])
def test_recipes_for_trackers_log_every_round(recipe, monkeypatch):
    assert lines(SimpleNamespace(read_text=lambda: recipe)) < 10
    calls = []
    for name in ("wandb", "mlflow", "torch", "torch.utils", "torch.utils.tensorboard"):
        module = ModuleType(name)
        recorder = Recorder(calls)
        module.init = lambda recorder=recorder, **named: recorder
        module.log_metrics = recorder.log_metrics
        module.SummaryWriter = lambda recorder=recorder: recorder
        monkeypatch.setitem(sys.modules, name, module)
    scope = {}
    exec(recipe, scope)
    result = zorank.minimize(zorank.problems.sphere, [1.0, 2.0], points=60, callback=scope["log"])
    assert len(calls) == result.rounds
    assert str(result.history[-1]["best"]) in str(calls[-1])
