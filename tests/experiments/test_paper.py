"""zorank reproduce: curves, tuning, claims, and the command as a user types it."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from zorank import InvalidInput, Run, optimizers, rng
from zorank.experiments.claims import Claim, by_line, proportion_interval
from zorank.experiments.paper import FIGURES, FigureContext, figure_names
from zorank.experiments.paper.curve_figures import ratio_claims, spread_claim, value_ratio
from zorank.experiments.paper.curves import CALLS, Curves, Setting, checkpoints, follow, trials_of
from zorank.experiments.paper.tuning import Grid, choose, decades, grids, score, tune
from zorank.problems import sphere
from zorank.testing.optimizers import drive

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RANK = Setting("zo-ranksgd").with_options(m=10, step=5.0, mu=1e-3)


def curves(values, points=(10, 100, 1000), at_calls=(), setting=RANK):
    values = np.array(values, dtype=float)
    points = np.array(points, dtype=float)
    at_calls = np.array(at_calls, dtype=float)
    return Curves(setting, tuple(range(len(values))), points, points, values, at_calls)


# curves


@pytest.mark.parametrize("method", list(CALLS))
def test_a_curve_is_a_function_of_its_trial_and_counts_points_and_calls(method):
    (trial,) = trials_of("quadratic", 10, Setting(method).with_options(m=6), 300, [3])
    row = follow(trial)
    assert row == follow(trial)
    assert row["points"] == checkpoints(300)
    begun = sphere(rng.for_content(3, b"x0").standard_normal(10))
    assert row["values"][-1] < min(begun, row["values"][0])
    assert len(row["points"]) == len(row["calls"]) == len(row["values"])
    assert row["calls"] == sorted(row["calls"])


def test_calls_are_those_of_the_methods_own_oracle():
    spent = {}
    for method in CALLS:
        (trial,) = trials_of("quadratic", 10, Setting(method).with_options(m=15), 150, [0])
        spent[method] = follow(trial)["calls"][-1]
    # 150 points are 10 slates of 15, or 7 estimates of 15 with line searches of 5
    assert spent["cma-es"] == spent["gld-fast"] == 10
    assert spent["zo-ranksgd"] == 7 + 7
    assert spent["zo-sgd"] == 7 * 15 + 7 * 5
    assert spent["scobo"] == 7 * 14 + 7 * 4


def test_checkpoints_rise_and_end_at_the_last_point():
    marks = checkpoints(30_000)
    assert marks[0] == 10
    assert marks[-1] == 30_000
    assert marks == sorted(set(marks))
    assert checkpoints(5) == [5]


def test_a_value_is_read_at_a_recorded_mark_only():
    found = curves([[3, 2, 1], [6, 5, 4]], at_calls=[[9, 8], [7, 6]])
    assert found.at(100).tolist() == [2, 5]
    assert found.at(50, "calls").tolist() == [8, 6]
    with pytest.raises(ValueError, match="99"):
        found.at(99)


def test_every_reported_mark_is_a_checkpoint_with_the_value_after_so_many_points():
    assert {1_000, 3_000, 10_000, 30_000} <= set(checkpoints(30_000))
    assert {3_000, 10_000, 30_000, 60_000} <= set(checkpoints(60_000))
    (trial,) = trials_of("quadratic", 10, RANK, 300, [3])
    row = follow(trial)
    x0 = rng.for_content(3, b"x0").standard_normal(10)
    run = Run(optimizers.make("zo-ranksgd", dict(RANK.options)), x0, seed=3)
    drive(run, sphere, 20)
    assert row["at_calls"][0] == sphere(run.best())
    drive(run, sphere, 20)  # 40 calls are 20 times 10 + 5 points
    assert row["values"][-1] == sphere(run.best())


# claims


def test_a_factor_is_a_geometric_mean_with_students_interval():
    ours, theirs = np.array([1.0, 2.0, 4.0]), np.array([10.0, 10.0, 160.0])
    measured, (low, high) = value_ratio(ours, theirs)
    logs = np.log(theirs / ours)
    assert measured == pytest.approx(math.exp(logs.mean()))
    half = 4.302653 * logs.std(ddof=1) / math.sqrt(3)  # t(.975) of 2 degrees of freedom
    assert [low, high] == pytest.approx(np.exp([logs.mean() - half, logs.mean() + half]))
    assert value_ratio(np.array([0.0]), np.array([0.0])) == (1.0, (0.0, math.inf))


def test_a_lead_holds_only_with_confidence_and_par_allows_for_a_factor_of_two():
    ours, theirs = curves([[1.0], [1.1], [0.9]], [10]), curves([[2.0], [2.1], [2.0]], [10])
    told = ratio_claims("a ahead of b", "says", "Quadratic", ours, theirs, [10])
    assert [c.holds for c in told] == [True]
    assert told[0].at == "10 points"
    behind = ratio_claims("b ahead of a", "says", "Quadratic", theirs, ours, [10])
    assert not behind[0].holds
    almost = curves([[1.5], [1.6], [1.5]], [10])
    on_par = ratio_claims("on par", "says", "Quadratic", almost, ours, [10], par=True)
    assert on_par[0].holds
    assert not ratio_claims("on par", "says", "Quadratic", almost, ours, [10])[0].holds
    assert list(by_line(told + behind)) == [
        ("a ahead of b", "Quadratic"),
        ("b ahead of a", "Quadratic"),
    ]


# tuning


def test_decades():
    assert decades(-1, 0) == (0.1, 0.3162, 1.0)
    assert decades(-1, 1, 1) == (0.1, 1.0, 10.0)
    assert decades(-3, -3) == (0.001,)


def test_ties_choose_the_largest_radius_then_the_middle_step():
    def at(step, mu):
        return RANK.with_options(step=step, mu=mu)

    scores = {at(s, mu): 1.0 for s in (1.0, 2.0, 3.0) for mu in (0.1, 0.01)}
    assert choose(scores) == at(2.0, 0.1)
    scores[at(3.0, 0.01)] = 0.8
    assert choose(scores) == at(3.0, 0.01)


def test_the_score_is_of_the_last_decade_of_points():
    assert score(curves([[1.0, 1e-2, 1e-4]])) == pytest.approx(-3)


def test_grids_are_widened_until_the_winner_lies_inside(tmp_path):
    grid = Grid("quadratic", 10, 400, (0,), RANK.with_options(mu=1e-4), (("step", (0.1, 0.3162)),))
    assert grid.edges(RANK.with_options(step=0.1)) == ["step"]
    (found,) = tune(FigureContext(tmp_path, workers=1), "tuning", [grid])
    values = dict(found.grid.axes)["step"]
    assert len(values) > 3
    np.testing.assert_allclose(np.diff(np.log10(values)), 0.5, atol=1e-3)
    assert found.grid.edges(found.winner) == []
    assert found.winner.option("step") > 0.5


@pytest.mark.parametrize("dim", [100, 10_000])
def test_every_method_is_tuned_on_every_problem(dim):
    made = grids(False, dim)
    assert len({(g.problem, g.fixed.method) for g in made}) == 10
    assert all(set(g.seeds).isdisjoint(range(10)) for g in made)  # those of the figures


# the command


def test_a_figure_from_end_to_end_and_again(zorank, tmp_path):
    line = ("reproduce", "mk", "--quick", "--out", "results")
    code, out, err = zorank(*line)
    assert (code, err.count("Traceback")) == (0, 0), err
    for words in ("too few runs", "(10, 10) ahead of (100, 1)", "Rosenbrock", "mk.png"):
        assert words in out
    folder = tmp_path / "results"
    found = json.loads((folder / "mk.json").read_text())
    assert found["quick"] is True
    assert found["runs"] == 2
    assert {"name", "holds", "measured", "interval", "says"} <= found["claims"][0].keys()
    with (folder / "mk.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert {row["seed"] for row in rows} == {"0", "1"}
    assert {(row["problem"], row["label"]) for row in rows} >= {("quadratic", "(100, 1)")}
    assert len(rows) == 2 * 8 * 2 * len(checkpoints(1000))
    assert (folder / "mk.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "mk.svg").read_text()

    kept = (folder / "mk.cells.jsonl").read_text()
    (folder / "mk.cells.jsonl").write_text(kept[: len(kept) // 2])  # as if it had been killed
    assert zorank(*line, "--workers", 1)[0] == 0
    again = (folder / "mk.cells.jsonl").read_text()
    assert again.count("\n") >= kept.count("\n")
    assert json.loads((folder / "mk.json").read_text()) == found
    assert zorank(*line)[0] == 0
    assert (folder / "mk.cells.jsonl").read_text() == again  # nothing was computed again


def test_any_folder_and_any_terminal(zorank, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code, out, err = zorank("reproduce", "mk", "--quick", "--workers", 1, "--out", "[red]x[/y]")
    assert code == 0, err
    assert "[red]x[/y]/mk.csv" in out
    assert (tmp_path / "[red]x[/y]" / "mk.csv").exists()


def test_unknown_figures_are_named(zorank):
    code, _, err = zorank("reproduce", "simpel")
    assert code == 2
    assert "did you mean simple" in err
    with pytest.raises(InvalidInput, match="no figure named"):
        figure_names("figure 1")
    assert figure_names("all") == list(FIGURES)


# the committed results of a full run

FACTORS = {"simple", "mk", "highdim", "noise", "ablations"}
"""Figures whose claims are ratios of f."""


@pytest.mark.parametrize(
    "name",
    [
        "tuning",
        "simple",
        "mk",
        "highdim",
        "noise",
        "ablations",
        "estimates",
        "continuity",
        "latent-judges",
        "rl",
        "rl-scobo",
    ],
)
def test_committed_results_are_of_a_full_run(name):
    found = json.loads((RESULTS / f"{name}.json").read_text())
    assert found["name"] == name
    assert found["quick"] is False
    claims = [Claim(**claim) for claim in found["claims"]]
    assert claims
    if name.startswith("rl"):
        assert {len(line["rewards"]) for line in found["lines"]} == {10, 20}
    elif name in FACTORS:
        assert all(claim.measured > 0 for claim in claims)
        assert {len(line["seeds"]) for line in found["lines"]} == {10}


def test_no_winner_of_the_committed_grids_lies_on_an_edge():
    found = json.loads((RESULTS / "tuning.json").read_text())
    assert [row for row in found["winners"] if not row["inside"]] == []


# intervals


def test_a_proportion_has_an_exact_interval():
    """Against the equations that define it: tail probabilities of 2.5% at both ends."""
    low, high = proportion_interval(3, 10)
    tail = [math.comb(10, n) * high**n * (1 - high) ** (10 - n) for n in range(4)]
    assert sum(tail) == pytest.approx(0.025)
    tail = [math.comb(10, n) * low**n * (1 - low) ** (10 - n) for n in range(3, 11)]
    assert sum(tail) == pytest.approx(0.025)
    assert proportion_interval(0, 10)[0] == 0.0
    assert proportion_interval(10, 10)[1] == 1.0


def test_a_smaller_spread_is_claimed_only_if_it_is_certain():
    generator = np.random.default_rng(0)
    narrow, wide = 5 + 0.1 * generator.standard_normal(30), 50 + 10 * generator.standard_normal(30)
    claim = spread_claim("a", "", "", "", narrow, wide)
    assert claim.measured == pytest.approx(10, rel=0.3)
    assert claim.verdict == "✓"
    assert spread_claim("a", "", "", "", wide, narrow).verdict == "✗"
    assert spread_claim("a", "", "", "", narrow, 3 * narrow).verdict == "?"


def test_the_interval_of_a_spread_covers_the_truth():
    generator = np.random.default_rng(1)
    found = []
    for _ in range(400):
        ours, theirs = 100 + generator.standard_normal((2, 10))
        low, high = spread_claim("a", "", "", "", ours, theirs).interval
        found.append(low < 1 < high)
    assert np.mean(found) == pytest.approx(0.95, abs=0.03)
