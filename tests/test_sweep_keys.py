"""Keys of stored trials stay valid, and importing figures reads no model weights."""

import json
from pathlib import Path

import pytest

from tests.helpers.processes import python
from zorank.experiments import bbob
from zorank.experiments.judges import study as judges
from zorank.experiments.looks import BENCHMARK
from zorank.experiments.looks import study as looks
from zorank.experiments.paper import continuity, curves, latent_judges, policy_trials
from zorank.experiments.paper.curves import Setting
from zorank.experiments.simulated_raters import SimulatedRater as Rater
from zorank.experiments.sweep import Sweep, finished, key_of

RESULTS = Path(__file__).parents[1] / "docs" / "results"
RANK = Setting("zo-ranksgd", (("m", 5),))


def test_the_committed_trials_of_looks_are_found_by_their_keys():
    lines = [json.loads(line) for line in (RESULTS / "looks.cells.jsonl").read_text().splitlines()]
    assert len(lines) > 1000
    for line in lines:
        stored = line["cell"]
        condition = looks.Condition(**stored["condition"])
        trial = looks.Trial(condition, stored["seed"], stored["revision"])
        assert key_of(trial, looks.VERSION) == line["key"]


def test_a_sweep_resumes_the_committed_trials_of_looks(tmp_path):
    name = "looks.cells.jsonl"
    (tmp_path / name).write_text((RESULTS / name).read_text())
    study = looks.Study(
        parts=("landscape",),
        methods=("rank-process",),
        tastes=("warm",),
        noises=(0.1,),
        landscape_seeds=2,
    )
    rows = BENCHMARK.run(study, tmp_path)
    assert len(rows) == 2
    assert (tmp_path / name).read_text() == (RESULTS / name).read_text()
    assert next(iter(rows.values())) in finished(RESULTS / name).values()


@pytest.mark.parametrize(
    ("sweep", "trial", "version", "key"),
    [
        (
            judges.SWEEP,
            judges.Trial(judges.Condition("sine", 64, Rater(0.1, k=3), "rank-process"), 1000, 3),
            "judges 1",
            "a4665f8a3d01fea4dc4a8096",
        ),
        (bbob.SWEEP, bbob.Trial("auto", 1, 61, 10, 300, 2), "field 1", "892f684a781d93a1094e0d81"),
        (
            Sweep("mk", curves.follow, curves.VERSION),
            curves.Trial("quadratic", 100, RANK, 3000, 7, 0.1, 2),
            "curves 2",
            "137316d6d5f938f01f67c6bd",
        ),
        (
            continuity.SWEEP,
            continuity.Trial(None, "lake", 1),
            "1-weights",
            "24932945aa358fb2a07944b6",
        ),
        (
            latent_judges.SWEEP,
            latent_judges.Trial(None, "lake", "rank-process", "person", 20, 1),
            "people 1-weights",
            "a23d933f17383b70bf436e16",
        ),
        (
            policy_trials.SWEEP,
            policy_trials.Trial("Reacher-v4", True, None, RANK, 500, (0, 1), 100, 11, 2),
            "policies 3",
            "dc9898e72998f220b40361a1",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Sweep) else "",
)
def test_keys_do_not_depend_on_the_names_of_classes(sweep, trial, version, key):
    assert sweep.version == version or callable(sweep.version)
    assert key_of(trial, version, sweep.kind) == key


IMPORT_ALL = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import zorank.experiments.paper, zorank.experiments.looks, zorank.experiments.judges
import zorank.experiments.bbob
print([file for file in opened if file.endswith(".onnx")])
"""


def test_importing_all_experiments_reads_no_weights():
    assert python(IMPORT_ALL).strip() == "[]"
