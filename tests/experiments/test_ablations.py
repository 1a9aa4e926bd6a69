"""zorank reproduce ablations: parts of the methods left out."""

import pytest

from zorank.experiments.paper import FigureContext, ablations


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """Make the figure of two variants only."""
    pair = ablations.PAIRS[2]
    monkeypatch.setattr(ablations, "PAIRS", (pair,))
    variants = {label: ablations.VARIANTS[label] for label in pair[:2]}
    monkeypatch.setattr(ablations, "VARIANTS", variants)
    return ablations.reproduce(FigureContext(tmp_path, quick=True, workers=1)).summary


def test_each_variant_is_tuned_and_compared_on_both_functions(quick):
    chosen = {(line["problem"], line["label"]): line["options"] for line in quick["lines"]}
    assert len(chosen) == 4
    for (_, label), options in chosen.items():
        assert options.get("sparsity") == (10 if label == "SCOBO, s = 10" else None)
        assert {"step", "mu"} <= set(options)
    assert {(claim["name"], claim["where"]) for claim in quick["claims"]} == {
        ("SCOBO ahead of SCOBO, s = 10", "Quadratic"),
        ("SCOBO ahead of SCOBO, s = 10", "Rosenbrock"),
    }


def test_variants_of_one_method_differ_only_in_the_part_left_out():
    for (constrained,) in (ablations.VARIANTS[f"SCOBO, s = {s}"] for s in (50, 30, 10)):
        options = dict(constrained.options)
        assert options.pop("sparsity") in (50, 30, 10)
        assert options == dict(ablations.SCOBO.options)
    points = {dict(v.options)["m"] for v in ablations.VARIANTS["ZO-RankSGD, no line search"]}
    search = dict(ablations.SEARCH.options)
    assert points == {search["m"] + search["line_search"]}
