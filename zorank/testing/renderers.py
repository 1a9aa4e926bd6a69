"""The contract of a renderer.

    class TestMyRenderer(RendererContract):
        @pytest.fixture(params=[MyRenderer(), MyRenderer(size=64)], ids=str)
        def renderer(self, request):
            return request.param

Optional members (`zorank.renderers.interface.HOOKS`) are tested where the renderer has them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from zorank.renderers.interface import HOOKS, ResolvedRenderer, resolve
from zorank.types import Exhibit


class RendererContract:
    """The tests that every renderer must pass. Define a fixture `renderer`.

    Class variables:
        count: how many candidates are rendered at once; 3 at least.
    """

    count: ClassVar[int] = 3

    @pytest.fixture
    def renderer(self) -> Any:
        """Return the renderer that is tested."""
        raise NotImplementedError("define a fixture `renderer` that returns your renderer")

    @pytest.fixture
    def resolved(self, renderer: Any) -> ResolvedRenderer:
        """Return the renderer with a default for every optional member."""
        return resolve(renderer)

    @pytest.fixture
    def candidates(self, resolved: ResolvedRenderer) -> NDArray[np.float64]:
        """Return draws of N(0, I), (count, dim)."""
        return np.random.default_rng(0).standard_normal((self.count, resolved.dim))

    def test_optional_members_have_their_declared_types(self, resolved: ResolvedRenderer) -> None:
        """A member of another type counts as missing; this test reports it."""
        for hook, declared in HOOKS.items():
            found = getattr(resolved.renderer, hook, None)
            if found is None:
                continue
            if "(" in declared.signature:
                assert callable(found), f"{hook} must be a method: {declared.signature}"
            elif declared.signature.endswith("int"):
                assert isinstance(found, int), f"{hook} must be a whole number, found {found!r}"
            else:
                assert isinstance(found, str), f"{hook} must be a text, found {found!r}"
        assert resolved.space in ("gaussian", "euclidean")
        assert resolved.together >= 1
        weights = getattr(resolved.renderer, "weights", None) or ""
        assert resolved.weights == weights, f"weights must be a short digest, found {weights!r}"

    def test_one_exhibit_of_the_declared_type_for_each(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """`render` takes any iterable of candidates."""
        exhibits = resolved.renderer.render(iter(candidates))
        assert len(exhibits) == len(candidates)
        for exhibit in exhibits:
            assert isinstance(exhibit, Exhibit)
            assert isinstance(exhibit.data, bytes)
            assert exhibit.data
            assert exhibit.media_type.partition(";")[0] == resolved.media_type.partition(";")[0]

    def test_the_same_candidate_gives_the_same_exhibit(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """Again, in another order or alone: bit for bit."""
        first = data_of(resolved, candidates)
        assert data_of(resolved, candidates) == first
        assert data_of(resolved, candidates[::-1]) == first[::-1]
        assert data_of(resolved, candidates[:1]) == first[:1]

    def test_different_candidates_give_different_exhibits(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """Random candidates give different exhibits."""
        assert len(set(data_of(resolved, candidates))) == len(candidates)

    def test_it_does_not_change_the_candidates(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """The log also uses the candidates, so `render` must not modify them."""
        before = candidates.tobytes()
        resolved.render(list(candidates))
        assert candidates.tobytes() == before

    def test_several_threads_may_render_at_once(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """The studio renders in several threads."""
        alone = [data_of(resolved, [x]) for x in candidates]
        with ThreadPoolExecutor(len(candidates)) as threads:
            assert list(threads.map(lambda x: data_of(resolved, [x]), candidates)) == alone

    def test_check_and_warm_up_succeed(self, resolved: ResolvedRenderer) -> None:
        """`check` and `warm_up` raise no error."""
        resolved.check()
        resolved.warm_up()

    def test_progress_rises_from_0_to_1(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """If `render` takes `progress`, it calls it with non-decreasing shares of the work."""
        if not resolved.tells_progress:
            pytest.skip("its render does not take progress")
        shares: list[float] = []
        resolved.render(list(candidates), progress=shares.append)
        assert shares
        assert shares == sorted(shares)
        assert all(0 <= share <= 1 for share in shares)

    def test_previews_are_exhibits_of_positions(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """If `render` takes `preview`, it calls it with exhibits; the result is the same."""
        if not resolved.shows_previews:
            pytest.skip("its render does not take preview")
        shown: list[tuple[int, Exhibit]] = []
        exhibits = resolved.render(
            list(candidates), preview=lambda position, exhibit: shown.append((position, exhibit))
        )
        assert [e.data for e in exhibits] == data_of(resolved, candidates)
        for position, exhibit in shown:
            assert position in range(len(candidates))
            assert isinstance(exhibit, Exhibit)

    def test_a_size_that_can_be_chosen_is_kept(self, resolved: ResolvedRenderer) -> None:
        """A dataclass with a field `size` can be made at another one."""
        if resolved.size is None:
            return
        other = resolved.resized(resolved.size * 2)
        assert other is resolved or other.size == resolved.size * 2
        assert other.dim == resolved.dim

    def test_drift_and_export_are_what_they_are_declared_to_be(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """`drift` returns a mapping or None, `export` the bytes of a file."""
        drift = resolved.drift(candidates[0])
        assert drift is None or isinstance(drift, dict)
        if resolved.export is not None:
            assert isinstance(resolved.export(candidates[0]), bytes)
            assert "/" not in str(resolved.export_name)

    def test_near_candidates_look_alike(
        self, resolved: ResolvedRenderer, candidates: NDArray[np.float64]
    ) -> None:
        """If it has `look`: finite rows, the same alone, and nearer for near candidates."""
        if resolved.look is None:
            return
        near = candidates[0] + 0.02 * candidates[1]
        rows = np.asarray(resolved.look(np.array([*candidates, near])))
        assert rows.ndim == 2
        assert len(rows) == len(candidates) + 1
        assert np.isfinite(rows).all()
        alone = np.asarray(resolved.look(near[None]))
        assert alone[0].tobytes() == rows[-1].tobytes()
        assert np.linalg.norm(rows[0] - rows[-1]) < np.linalg.norm(rows[0] - rows[1]) / 2


def data_of(renderer: ResolvedRenderer, candidates: Any) -> list[bytes]:
    """Return the bytes of every candidate's exhibit."""
    return [exhibit.data for exhibit in renderer.render(list(candidates))]
