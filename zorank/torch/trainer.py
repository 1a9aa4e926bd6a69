"""RankTrainer: tune a torch module in place from rankings of its outputs.

`Run` keeps the log, and `WeightReplay` keeps the module's weights in step with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from zorank._directions import Law
from zorank._progress import check_callback, progress_bar, stops
from zorank.errors import InvalidInput, short
from zorank.optimizers.settings import check_count
from zorank.protocols import Store
from zorank.rng import check_seed
from zorank.run import Run
from zorank.stores import as_store, open_store
from zorank.torch.checkpoints import Checkpoints
from zorank.torch.descent import DescentState, ModuleDescent
from zorank.torch.replay import WeightReplay
from zorank.torch.selection import Only, select_parameters
from zorank.torch.weights import Weights
from zorank.types import Answer, Order, Ranking, Vector

Output = TypeVar("Output")
Loss = Callable[[Any], Any]
"""Maps the module to a number; smaller is better."""


class RankTrainer:
    """Tunes a module in place from rankings of its outputs.

    Args:
        model: the module; it always holds the current weights.
        only: the parameters to tune: a glob of names, several globs, or a function of name and
            parameter; None selects all with requires_grad.
        m: the number of candidates of a round.
        step: η, the step size of an answer.
        mu: μ, the distance of the candidates from the module.
        law: the distribution of the directions, "normal" or "rademacher" (±1, faster to draw).
        relative: whether step and mu are relative to each tensor's initial root mean square.
        step_decay: the factor of η after each answer.
        mu_decay: the factor of μ after each answer.
        widen: the factor of μ after an answer "no difference".
        seed: the seed of the directions.
        store: the store of the log, or its URL; None uses the folder if given, else memory.
        name: the run's name in the store; an existing run is resumed.
        folder: the folder for checkpoints, from which a run is resumed exactly.
        every: the number of rounds between two checkpoints.
    """

    def __init__(
        self,
        model: nn.Module,
        only: Only = None,
        *,
        m: int = ModuleDescent.m,
        step: float = ModuleDescent.step,
        mu: float = ModuleDescent.mu,
        law: Law = ModuleDescent.law,
        relative: bool = ModuleDescent.relative,
        step_decay: float = ModuleDescent.step_decay,
        mu_decay: float = ModuleDescent.mu_decay,
        widen: float = ModuleDescent.widen,
        seed: int = 0,
        store: Store | str | None = None,
        name: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        every: int = 50,
    ) -> None:
        self.model = model
        self.every = every
        check_count(self, "every", 1)
        self._optimizer = ModuleDescent(
            m=m,
            step=step,
            mu=mu,
            law=law,
            relative=relative,
            step_decay=step_decay,
            mu_decay=mu_decay,
            widen=widen,
        )
        selected = select_parameters(model, only)
        self._weights = Weights(selected, check_seed(seed), law, self._optimizer.m)
        self._showing = False
        opened, name = _open(store, name, folder)
        metadata = _stored_metadata(opened, name) or self._new_metadata()
        self.run = Run(self._optimizer, [0.0], seed, opened, name, meta={"torch": metadata})
        metadata = self.run.record.meta["torch"]
        self._weights.load_scales(metadata, self.run.name)
        checkpoints = None if folder is None else Checkpoints(Path(folder), metadata["id"])
        self._replay = WeightReplay(self.run, self._optimizer, self._weights, checkpoints)
        if checkpoints is not None and not self._replay.rounds:
            self.save()  # the start, for an undo of all rounds

    def __repr__(self) -> str:
        return (
            f"<RankTrainer {self.run.name!r}: {sum(self.parameters.values()):,} weights of a "
            f"{type(self.model).__name__}, {self.rounds} rounds answered>"
        )

    @property
    def rounds(self) -> int:
        """The number of answered rounds."""
        return len(self.run.history)

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row for each answered round."""
        return self.run.history

    @property
    def parameters(self) -> dict[str, int]:
        """The tuned parameters, with their sizes."""
        return {p.name: p.values.numel() for p in self._weights.parameters}

    @contextmanager
    def candidate(self, i: int) -> Iterator[nn.Module]:
        """Change the module to candidate i of the waiting round, and restore it on exit."""
        self._prepare()
        slate = self.run.ask()
        if not isinstance(i, (int, np.integer)) or not 0 <= i < len(slate):
            raise InvalidInput(
                f"candidate {short(i)} is not on a slate of {len(slate)}; "
                f"candidates count from 0 to {len(slate) - 1}"
            )
        try:
            radius = self._optimizer.radius(self.run.state)
            self._weights.perturb(self._replay.rounds, int(i), radius)
            self._showing = True
            with torch.no_grad(), _eval_mode(self.model):
                yield self.model
        finally:
            self._showing = False
            self._weights.restore()

    def ask(self, show: Callable[[Any], Output]) -> list[Output]:
        """Return `show(module)` for each candidate: the outputs to rank.

        Meanwhile the module is in evaluation mode, without gradients. Until the round is answered,
        the candidates stay the same.
        """
        if not callable(show):
            raise InvalidInput(f"expected a function of the module, found {short(show)}")
        outputs = []
        for i in range(self._optimizer.m):
            with self.candidate(i) as model:
                outputs.append(show(model))
        return outputs

    def tell(
        self,
        answer: Answer | Order,
        *,
        rater: str | None = None,
        note: Mapping[str, Any] | None = None,
    ) -> None:
        """Answer the waiting round and move the module.

        Args:
            answer: a Ranking, or a list such as [2, [0, 5]]: best first, an inner list is a tie.
                It may rank only some candidates; an empty list means "no difference".
            rater: the name of the rater.
            note: values for the log and the history.
        """
        self._prepare()
        before = self.run.state
        self.run.tell(answer, rater=rater, note=note)
        self._replay.apply(self.run.rounds()[-1], before, self.run.state)
        if self._replay.checkpoints is not None and self.rounds % self.every == 0:
            self.save()

    def step(self, loss: Loss) -> dict[str, Any]:
        """Answer one round by a loss, and return its row of the history.

        Only the order of the m losses is used. A non-finite loss ranks last.
        """
        values = np.array([_number(value) for value in self.ask(loss)])
        finite = values[np.isfinite(values)]
        note = {"best": float(finite.min()), "mean": float(finite.mean())} if finite.size else {}
        self.tell(_ranking(values), note=note)
        return self.run.history[-1]

    def minimize(
        self,
        loss: Loss,
        rounds: int,
        progress: bool = True,
        callback: Callable[[RankTrainer], object] | None = None,
    ) -> None:
        """Answer rounds by a loss until `rounds` rounds are answered.

        Args:
            loss: maps the module to a number. For exact resume it must depend only on the module
                and on `trainer.rounds`; choose a batch by the latter.
            rounds: the total number of rounds, earlier calls and processes included.
            progress: show a progress bar.
            callback: called with the trainer after each round; stops by returning True or raising
                StopIteration.
        """
        check_callback(callback)
        if isinstance(rounds, bool) or not isinstance(rounds, (int, np.integer)) or rounds < 0:
            raise InvalidInput(f"rounds must be a whole number from 0, found {short(rounds)}")
        shown = progress and sys.stderr.isatty()
        with progress_bar(shown, rounds, "rounds", "loss") as show:
            while self.rounds < rounds:
                row = self.step(loss)
                show(self.rounds, row.get("mean", float("nan")))
                if callback is not None and stops(callback, self):
                    return

    def undo(self, rounds: int = 1) -> None:
        """Undo the last answers; the module is restored, bit for bit."""
        self._prepare()
        self._replay.undo(rounds)

    def save(self) -> Path:
        """Write a checkpoint of the weights now, and return its file."""
        self._prepare()
        return self._replay.save()

    def _new_metadata(self) -> dict[str, Any]:
        radius = self._optimizer.radius(DescentState())
        described = self._weights.metadata(radius, self._optimizer.relative)
        return {"id": os.urandom(8).hex(), **described}

    def _prepare(self) -> None:
        """Raise if the module is set to a candidate; else move its weights to the log's end."""
        if self._showing:
            raise InvalidInput(
                "the module is one of the candidates now; first leave `with trainer.candidate(i)`,"
                " or return from the function that `ask` calls"
            )
        self._weights.restore()  # needed only if Ctrl-C came between `perturb` and `_showing`
        for p in self._weights.parameters:
            if self.model.get_parameter(p.name).data_ptr() != p.values.data_ptr():
                raise InvalidInput(
                    f"parameter {p.name!r} has moved in memory since the trainer was made: the "
                    "module was moved or converted (to, double, load_state_dict with assign). "
                    "Convert it first, then make a new RankTrainer; with the same folder, it "
                    "resumes"
                )
        self._replay.sync()


def _open(
    store: Store | str | None, name: str | None, folder: str | os.PathLike[str] | None
) -> tuple[Store, str | None]:
    """Open the store and name the run; without a store, the log is kept in the folder."""
    if folder is not None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except (OSError, TypeError, ValueError) as error:
            raise InvalidInput(f"the folder {short(folder)} cannot be made: {error}") from error
        if store is None:
            return open_store(Path(folder) / "run.db"), name or "training"
    return as_store(store), name


def _stored_metadata(store: Store, name: str | None) -> Mapping[str, Any] | None:
    """Return the weights' metadata of a stored run; None if there is no such run."""
    if name is None or name not in [record.name for record in store.runs()]:
        return None
    metadata: Mapping[str, Any] | None = store.record(name).meta.get("torch")
    return metadata


@contextmanager
def _eval_mode(model: nn.Module) -> Iterator[None]:
    """Switch to evaluation mode: no dropout, and candidates change no running statistics."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InvalidInput(f"a loss must be a number, found {short(value)}") from error


def _ranking(values: Vector) -> Ranking:
    """Rank values, smaller first; non-finite values are tied last."""
    places = np.unique(np.where(np.isfinite(values), values, np.inf), return_inverse=True)[1]
    return Ranking.from_values(places) if places.any() else Ranking.no_difference()
