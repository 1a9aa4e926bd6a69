"""Test functions: minima, shapes, and what makes each of them hard."""

import numpy as np
import pytest

from zorank import InvalidInput
from zorank.problems import BentCigar, RotatedEllipsoid, ellipsoid, rastrigin, rosenbrock, sphere

D = 6
FUNCTIONS = [
    (sphere, 0.0),
    (rosenbrock, 1.0),
    (ellipsoid, 0.0),
    (rastrigin, 0.0),
    (RotatedEllipsoid(D, 3), 0.0),
    (BentCigar(D, 3), 0.0),
]


@pytest.mark.parametrize(
    ("f", "at"),
    FUNCTIONS,
    ids=["sphere", "rosenbrock", "ellipsoid", "rastrigin", "rotated", "cigar"],
)
def test_the_minimum_is_zero_and_many_candidates_give_as_many_values(f, at):
    assert f(np.full(D, at)) == pytest.approx(0.0, abs=1e-12)
    many = np.random.default_rng(0).standard_normal((40, D)) * 3
    assert f(many).shape == (40,)
    assert (f(many) > 0).all()
    np.testing.assert_allclose(f(many), [f(x) for x in many])


def test_the_rotation_turns_the_ellipsoid_and_nothing_else():
    f = RotatedEllipsoid(D, 1)
    np.testing.assert_allclose(f.rotation @ f.rotation.T, np.eye(D), atol=1e-12)
    x = np.random.default_rng(1).standard_normal(D)
    assert f(f.rotation @ x) == pytest.approx(ellipsoid(x))
    assert f(x) == RotatedEllipsoid(D, 1)(x) != RotatedEllipsoid(D, 2)(x)


def test_conditions():
    axes = np.eye(D)
    assert [ellipsoid(axes[0]), ellipsoid(axes[-1])] == [1.0, pytest.approx(1e6)]
    f = BentCigar(D, 0)
    along, *across = (f(1e-12 * a) for a in axes)  # so near to 0 nothing bends
    assert [value / along for value in across] == pytest.approx([1e6] * (D - 1), rel=1e-3)
    assert rastrigin(np.ones(D)) == pytest.approx(D)
    assert rastrigin(np.full(D, 0.5)) > rastrigin(np.ones(D))


def test_one_dimension():
    for f in (ellipsoid, RotatedEllipsoid(1), BentCigar(1)):
        assert f(np.array([2.0])) > 0
    with pytest.raises(InvalidInput, match="must be at least 1"):
        RotatedEllipsoid(0)
