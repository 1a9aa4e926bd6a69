"""Odd values for every setting: they work, or are refused in one sentence."""

import contextlib
import dataclasses
import itertools
from functools import partial

import numpy as np
import pytest

from zorank import ZorankError, noise_theory, optimizers, oracles, planning, renderers, theory
from zorank.errors import short, unknown_name


class Unprintable:
    """An object whose repr fails."""

    def __repr__(self):
        raise RuntimeError


def nested(levels):
    """A list in a list in a list."""
    found = [0]
    for _ in range(levels):
        found = [found]
    return found


ODD = [
    *(None, True, -1, 0, 1.5, 10**18, 10**400, 10**5000, float("nan"), float("inf"), 1j, "", "x"),
    *(b"x", [], {}, (1,), {1, 2}, nested(5000), object(), int, Unprintable(), np.ones((2, 2))),
    *(np.int64(3), np.float32(0.5), np.array("a"), np.empty(0), np.datetime64("2020-01-01")),
    np.ma.masked_array([1.0, 2.0], [False, True]),
]


def works_or_is_refused(call):
    """Call it; an error must be one sentence of zorank's own."""
    said = "it worked"
    try:
        call()
    except ZorankError as error:
        said = str(error)
    assert len(said.splitlines()) == 1
    assert len(said) < 400


@pytest.mark.parametrize("name", optimizers.REGISTRY)
def test_settings_of_optimizers(name):
    def use(settings):
        optimizer = optimizers.make(name, settings)
        len(optimizer.ask(optimizer.init(np.ones(3)), np.random.default_rng(0)))

    for field in dataclasses.fields(optimizers.REGISTRY[name]):
        for value in [*ODD, itertools.count(), (n for n in range(3))]:
            works_or_is_refused(partial(use, {field.name: value}))


@pytest.mark.parametrize("name", renderers.REGISTRY)
def test_options_of_renderers(name):
    kind = renderers.REGISTRY[name]
    for field in dataclasses.fields(kind):
        for value in ODD:
            works_or_is_refused(partial(kind, **{field.name: value}))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (planning.plan, {"m": 4, "k": 2, "d": 3}),
        (planning.plans, {"d": 3, "largest_m": 4, "ranked": None}),
        (planning.Costs, {"round": 1.0, "look": 1.0, "compare": 1.0}),
        (planning.recommend, {"ordered": planning.plans(3, 4), "slack": 0.05}),
        (planning.comparisons_to_rank, {"m": 4, "k": 2}),
        (theory.second_moment_bound, {"m": 4, "k": 2, "d": 3, "m1": None, "m2": None}),
        (theory.ranking_moment_bound, {"m": 4, "d": 3, "comparisons": [(0, 1)]}),
        (theory.top_k_comparisons, {"m": 4, "k": 2}),
        (theory.lemma_1_h, {"v": 1.0, "r": 1.0, "d": 3}),
        (noise_theory.gaussian_factor, {"sd": 0.1, "mu": 0.1, "slope": 1.0}),
        (noise_theory.plackett_luce_factor, {"temperature": 0.1, "mu": 0.1, "slope": 1.0}),
        (noise_theory.random_swaps_factor, {"probability": 0.1, "m": 4}),
        (oracles.GaussianNoise, {"f": np.sum, "sd": 0.1}),
        (oracles.PlackettLuce, {"f": np.sum, "temperature": 0.1}),
    ],
)
def test_numbers_of_theory_and_plans(function, arguments):
    def call(given):
        made = function(**given)
        if isinstance(made, planning.Costs):
            planning.plan(4, 2, 3, made)

    for name in arguments:
        for value in ODD:
            works_or_is_refused(partial(call, {**arguments, name: value}))


def test_an_endless_list_of_comparisons_is_refused():
    with pytest.raises(ZorankError, match="at most 100,000 items"):
        theory.ranking_moment_bound(4, 3, itertools.repeat((0, 1)))


def test_anything_is_described_in_one_short_line():
    for value in ODD:
        text = short(value)
        assert len(text) <= 80
        assert "\n" not in text
    assert short("word " * 100) == "'" + ("word " * 100)[:58] + "…"
    assert len(str(unknown_name("optimizer", "a" * 10**6, ["auto"]))) < 400
    with contextlib.suppress(ZorankError):
        raise unknown_name("optimizer", nested(5000), ["auto"])
