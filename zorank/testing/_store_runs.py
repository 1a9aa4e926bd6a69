"""The part of a store's contract that concerns runs: they continue bit for bit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zorank.errors import InvalidInput, StaleAnswer
from zorank.minimize import minimize
from zorank.problems import sphere
from zorank.protocols import Store
from zorank.run import Run
from zorank.testing.optimizers import drive


class RunsInStore:
    """The tests of runs in a store. The fixture `store` is that of `StoreContract`."""

    def test_a_recorded_run_continues_bit_for_bit(self, store: Store) -> None:
        """A run that is opened again has the same slates and the same best point."""
        whole = Run("rank-process", np.ones(5), seed=1, store=store, name="a", record_slates=True)
        drive(whole, sphere, 6)
        again = Run.open(store, "a")
        assert [line.slate for line in again.rounds()] == [line.slate for line in whole.rounds()]
        assert None not in [line.slate for line in again.rounds()]
        assert again.best().tobytes() == whole.best().tobytes()

    def test_a_run_that_is_opened_again_is_the_same_run(self, store: Store) -> None:
        """Two runs of the same seed are equal bit for bit, one of them in four parts."""
        whole = Run("zo-ranksgd", np.ones(5), seed=1, store=store, name="whole")
        drive(whole, sphere, 20)
        parts = Run("zo-ranksgd", np.ones(5), seed=1, store=store, name="parts")
        for _ in range(4):
            drive(parts, sphere, 5)
            parts.ask()
            parts = Run.open(store, "parts")
        assert parts.best().tobytes() == whole.best().tobytes()
        assert [r.answer for r in parts.rounds() if r.answer] == [r.answer for r in whole.rounds()]

    def test_an_undo_that_is_out_of_date_removes_nothing(self, store: Store) -> None:
        """Another process has answered since."""
        behind = Run("zo-ranksgd", [1.0, 2.0], store=store, name="a")
        drive(behind, sphere, 3)
        ahead = Run.open(store, "a")
        drive(ahead, sphere, 5)
        with pytest.raises(StaleAnswer, match="answered elsewhere"):
            behind.undo()
        assert len([r for r in store.rounds("a") if r.answer]) == 8

    def test_an_answer_counts_only_for_the_slate_that_was_seen(self, store: Store) -> None:
        """An undo elsewhere makes the slate out of date, although the index is the same."""
        seen = Run("zo-ranksgd", [1.0, 2.0], store=store, name="a")
        for i in range(2):
            seen.ask()
            seen.tell([i])
        seen.ask()
        other = Run.open(store, "a")
        other.undo()
        other.tell([2])
        other.ask()
        with pytest.raises(StaleAnswer):
            seen.tell([0], round=2)
        with pytest.raises(StaleAnswer, match="ask first"):
            seen.tell([0])
        seen.ask()
        seen.tell([0])
        assert seen.best().tobytes() == Run.open(store, "a").best().tobytes()
        store.delete("a")
        Run("zo-ranksgd-memory", [1.0, 2.0], store=store, name="a").ask()
        with pytest.raises((StaleAnswer, InvalidInput)):
            seen.ask()

    def test_half_open_bounds_are_kept(self, store: Store) -> None:
        """JSON has no infinity."""
        bounds = [(0, None), (None, 1)]
        result = minimize(sphere, [1.0, -1.0], points=60, bounds=bounds, store=store, name="a")
        json.dumps(result.run.export(), allow_nan=False)
        np.testing.assert_array_equal(Run.open(store, "a").best(), result.x)
