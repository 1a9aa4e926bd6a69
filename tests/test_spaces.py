import math
import pickle

import numpy as np
import pytest

from zorank import Choice, Float, Int, InvalidInput, Log, ReplayError, Run, minimize
from zorank.renderers.interface import resolve
from zorank.spaces import SearchSpace
from zorank.stores import MemoryStore, open_store
from zorank.types import Exhibit

SPACE = {
    "lr": Log(1e-5, 1e-1),
    "layers": Int(1, 8),
    "act": Choice(["relu", "gelu", None]),
    "x": Float(0, 1),
}


def loss(p):
    off = (math.log10(p["lr"]) + 3) ** 2 + (p["layers"] - 5) ** 2
    return off + (p["act"] != "gelu") + p["x"] ** 2


def test_coordinates_and_parameters_are_inverse():
    space = SearchSpace(SPACE)
    rng = np.random.default_rng(0)
    assert space.dim == 6
    assert space.levels == [0, 8, 0, 0, 0, 0]
    assert space.choices == [[2, 3]]
    for _ in range(100):
        params = space.decode(rng.uniform(size=6))
        again = space.decode(space.encode(params))
        assert (again["layers"], again["act"]) == (params["layers"], params["act"])
        assert again["lr"] == pytest.approx(params["lr"])
        assert again["x"] == pytest.approx(params["x"])


def test_ranges_are_reached_and_never_left():
    space = SearchSpace(SPACE)
    low, high = space.decode(np.full(6, -3.0)), space.decode(np.full(6, 3.0))
    assert (low["lr"], low["layers"], low["x"]) == (1e-5, 1, 0)
    assert (high["lr"], high["layers"], high["x"]) == (1e-1, 8, 1)
    counts = np.bincount([space.decode(np.full(6, u))["layers"] for u in np.linspace(0, 1, 801)])
    assert min(counts[1:]) == 100


def test_the_widest_range_does_not_overflow():
    space = SearchSpace({"x": Float(-1.7e308, 1.7e308)})
    assert space.decode(np.array([0.5])) == {"x": 0}
    np.testing.assert_allclose(space.encode({"x": 1.7e308}), [1])


def test_a_space_is_json_and_can_be_pickled():
    space = SearchSpace(SPACE)
    assert SearchSpace.from_json(space.to_json()) == space
    assert pickle.loads(pickle.dumps(space)) == space
    assert SearchSpace.from_json({"x": {"float": [0, 1]}}) == SearchSpace({"x": Float(0, 1)})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Float(1, 1), "the range of Float is empty"),
        (lambda: Float(0, math.inf), "Float must have finite numbers"),
        (lambda: Float("0", 1), "Float must have finite numbers"),
        (lambda: Int(3, 1), "the range of Int is empty"),
        (lambda: Int(0.5, 3), "Int must have whole numbers"),
        (lambda: Int(0, 2**60), r"at most 2\*\*53 values"),
        (lambda: Log(0, 1), "Log must begin above 0"),
        (lambda: Choice(["a"]), "from 2 to 10000 options, found 1"),
        (lambda: Choice("ab"), "a list of options"),
        (lambda: Choice(["a", "a"]), "must differ"),
        (lambda: Choice([print, len]), "must be a text, a finite number"),
        (lambda: Choice([1.0, math.nan]), "must be a text, a finite number"),
        (lambda: SearchSpace({}), "space must map names"),
        (lambda: SearchSpace([1]), "space must map names"),
        (lambda: SearchSpace({"x": (0, 1)}), "'x' must be Float, Log, Int or Choice"),
        (lambda: SearchSpace({1: Float(0, 1)}), "name must be a text"),
        (lambda: SearchSpace.from_json({"x": {"floot": [0, 1]}}), "did you mean float"),
        (lambda: SearchSpace.from_json({"x": {"float": [0]}}), r"a range \[low, high\]"),
        (lambda: SearchSpace.from_json({"x": 3}), "one kind and its values"),
        (lambda: SearchSpace(SPACE).encode({"x": 0}), "params lack lr, layers, act"),
        (lambda: SearchSpace(SPACE).encode({"y": 0}), "no parameter of this space named 'y'"),
        (lambda: SearchSpace({"x": Float(0, 1)}).encode({"x": 2}), "'x': the value must be from"),
        (lambda: SearchSpace({"x": Choice([1, 2])}).encode({"x": True}), "not an option"),
        (lambda: SearchSpace(SPACE).decode(np.ones(3)), "has 6 coordinates"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x0": [0.5]}, "space and x0 exclude each other"),
        ({"bounds": [(0, 1)]}, "space and bounds exclude each other"),
        ({"space": {"x": 3}}, "must be Float"),
        ({"method": "zo-rank"}, "did you mean zo-ranksgd"),
        ({"options": {"levels": [1] * 6}}, "levels must be 0 or from 2"),
        ({"options": {"sigma0": [0.3] * 6}}, "sigma0 must be one number"),
    ],
)
def test_minimize_refuses_what_does_not_fit_a_space(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        minimize(loss, **{"space": SPACE, **arguments})


def test_a_vectorized_objective_gets_a_list_of_dicts():
    sizes = []

    def f(several, offset):
        sizes.append(len(several))
        return [loss(params) + offset for params in several]

    found = minimize(f, space=SPACE, points=300, vectorized=True, args=(1,))
    one_by_one = minimize(loss, space=SPACE, points=300)
    assert sum(sizes) == found.points
    assert len(sizes) == found.rounds
    assert found.params == one_by_one.params
    assert found.fun == one_by_one.fun + 1


def test_minimize_gives_dicts_and_returns_one():
    seen = []

    def f(params):
        seen.append(params)
        return loss(params)

    result = minimize(f, space=SPACE, points=300)
    assert all(list(params) == list(SPACE) for params in seen)
    assert {type(params["layers"]) for params in seen} == {int}
    assert {params["act"] for params in seen} == {"relu", "gelu", None}
    assert result.params["layers"] == 5
    assert result.params["act"] == "gelu"
    assert result.fun == loss(result.params) == min(map(loss, seen)) < 1e-4
    assert result.to_json()["params"] == result.params
    assert "act='gelu'" in str(result)
    assert pickle.loads(pickle.dumps(result)).params == result.params


@pytest.mark.parametrize("method", ["rank-process", "zo-ranksgd", "cma-es"])
def test_other_methods_search_a_space_too(method):
    result = minimize(loss, space=SPACE, points=60, method=method)
    assert list(result.params) == list(SPACE)


def test_a_stored_run_keeps_its_space_and_goes_on(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    minimize(loss, space=SPACE, points=120, store=store, name="a")
    rest = minimize(loss, space=SPACE, points=250, store=store, name="a")
    whole = minimize(loss, space=SPACE, points=250)
    np.testing.assert_array_equal(rest.x, whole.x)
    run = Run.open(store, "a")
    assert run.space == SearchSpace(SPACE)
    assert run.params() == rest.params
    other = {**SPACE, "x": Float(0, 2)}
    with pytest.raises(ReplayError, match="another space"):
        minimize(loss, space=other, points=300, store=store, name="a")
    with pytest.raises(ReplayError, match="another space"):
        Run("auto", space=other, store=store, name="a")


def test_a_run_asks_and_tells_in_a_space():
    run = Run("auto", space=SPACE, options={"k": 3}, seed=1)
    slate = run.ask()
    assert set(run.params(slate[0])) == set(SPACE)
    run.tell([1, 2, 3])
    before = np.asarray(run.ask())
    run.tell([0])
    run.undo()
    np.testing.assert_array_equal(np.asarray(run.ask()), before)
    assert run.branch().space == run.space


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x0": [1.0], "space": SPACE}, "space and x0 exclude each other"),
        ({}, "a run needs a start"),
        ({"space": SPACE, "options": [1]}, "options must map"),
    ],
)
def test_a_run_refuses_what_does_not_fit(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        Run("auto", **arguments)


def test_a_run_without_a_space_has_no_params():
    store = MemoryStore()
    run = Run("auto", [1.0, 2.0], store=store, name="a")
    with pytest.raises(InvalidInput, match="has no space"):
        run.params()
    with pytest.raises(InvalidInput, match="has no params"):
        _ = minimize(lambda x: float(x @ x), [1.0], points=20).params
    with pytest.raises(InvalidInput, match="cannot be set on an optimizer object"):
        Run(run.optimizer, [1.0], options={"m": 3})


class Swatch:
    space = SearchSpace({"hue": Float(0, 1), "shape": Choice(["disc", "square"])})
    media_type = "text/plain"

    def render(self, candidates):
        return [Exhibit("text/plain", repr(params).encode()) for params in candidates]


def test_a_renderer_with_named_parameters_gets_dicts():
    renderer = resolve(Swatch())
    assert (renderer.dim, renderer.space) == (3, "gaussian")
    first, second = renderer.render([np.zeros(3), np.array([9.0, 0.0, 1.0])])
    assert first.data == b"{'hue': 0.5, 'shape': 'disc'}"
    assert second.data == b"{'hue': 1.0, 'shape': 'square'}"
    renderer.warm_up()
