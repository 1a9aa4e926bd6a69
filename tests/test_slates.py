import numpy as np
import pytest

from zorank import InvalidInput, Ranking, Slate, Values
from zorank.slates import Box, Cloud, Mirror, Points, Ray, Shell


@pytest.fixture
def cloud():
    xi = np.random.default_rng(0).standard_normal((4, 3))
    return Cloud(np.array([1.0, 2.0, 3.0]), 0.5, xi)


def test_a_slate_is_a_sequence_of_candidates(cloud):
    slate = Slate(cloud)
    rows = cloud.centre + 0.5 * cloud.directions
    assert len(slate) == 4
    assert slate.dim == 3
    np.testing.assert_array_equal(np.asarray(slate), rows)
    np.testing.assert_array_equal(slate[-1], rows[3])
    np.testing.assert_array_equal(list(slate), rows)
    assert np.asarray(slate, dtype=np.float32).dtype == np.float32
    with pytest.raises(IndexError):
        slate[4]


def test_changing_a_candidate_changes_nothing_else(cloud):
    for design in (cloud, Ray(np.ones(3), np.ones(3), (0.5,), (np.zeros(3),)), Points(np.eye(3))):
        slate = Slate(design)
        before = np.asarray(slate)
        for x in slate:
            x[:] = np.nan
        np.testing.assert_array_equal(np.asarray(slate), before)


def test_a_ray_shows_the_centre_the_others_and_the_steps_downhill():
    ray = Ray(np.zeros(2), np.array([1.0, 0.0]), (0.5, 0.25), (np.array([9.0, 9.0]),))
    expected = [[0, 0], [9, 9], [-0.5, 0], [-0.25, 0]]
    np.testing.assert_array_equal(np.asarray(Slate(ray)), expected)


def test_the_shell_keeps_the_norm_and_the_law():
    d, n = 50, 4000
    rng = np.random.default_rng(1)
    x = Shell().place(rng.standard_normal(d))
    moved = np.array([Shell().place(x + 0.7 * rng.standard_normal(d)) for _ in range(n)])
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), np.sqrt(d))
    # From x uniform on the shell a move stays uniform: mean 0, second moment 1 per coordinate.
    starts = np.array([Shell().place(rng.standard_normal(d)) for _ in range(n)])
    ends = np.array([Shell().place(s + 0.7 * rng.standard_normal(d)) for s in starts])
    assert np.abs(ends.mean(axis=0)).max() < 5 / np.sqrt(n)
    assert np.abs((ends**2).mean(axis=0) - 1).max() < 5 * np.sqrt(2 / n)


def test_the_zero_vector_has_no_place_on_the_shell():
    with pytest.raises(InvalidInput, match=r"start from a draw of N\(0, I\)"):
        Shell().place(np.zeros(3))


def test_in_a_box_actual_displacements_are_used():
    box = Box(np.zeros(2), np.ones(2))
    cloud = Cloud(np.zeros(2), 0.1, np.array([[-5.0, 3.0], [2.0, -1.0]]), box)
    np.testing.assert_allclose(np.asarray(Slate(cloud)), [[0, 0.3], [0.2, 0]])
    np.testing.assert_allclose(cloud.combine(np.array([1.0, -1.0])), [-2.0, 3.0])


def test_an_empty_slate_is_refused():
    with pytest.raises(InvalidInput, match="at least one candidate"):
        Slate(Points(np.empty((0, 3))))
    with pytest.raises(InvalidInput, match=r"\(m, d\) array"):
        Points(np.ones(3))


def test_the_question_decides_what_values_become():
    points, values = Points(np.eye(3)), np.array([3.0, 1.0, 2.0])
    assert Slate(points, "values").answer_from(values) == Values((3.0, 1.0, 2.0))
    assert Slate(points, "best").answer_from(values) == Ranking.of([1])
    assert Slate(points).answer_from(values) == Ranking.of([1, 2, 0])
    assert Slate(points, k=2).answer_from(values) == Ranking.of([1, 2])
    assert Slate(points, k=2).answer_from(values, k=1) == Ranking.of([1])


def test_a_mirror_folds_what_is_outside_and_leaves_what_is_inside():
    none = np.finfo(float).max
    mirror = Mirror(np.array([0.0, 0.0, -none, 1.0]), np.array([1.0, 1.0, 2.0, none]))
    inside = np.array([0.1, 1.0, -1e9, 1e9])
    np.testing.assert_array_equal(mirror.place(inside.copy()), inside)
    folded = mirror.place(np.array([-0.25, 5.75, 3.0, -4.0]))
    np.testing.assert_allclose(folded, [0.25, 0.25, 1.0, 6.0])
