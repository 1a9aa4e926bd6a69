"""The loop between a module's outputs, whoever ranks them, and the module's weights.

`Run` keeps the log; the trainer keeps the module where the log says. Whatever happens to the log,
an answer, an undo, a resume, someone else's answer, `_follow` brings the weights after it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from zorank._directions import Law
from zorank._progress import progress_bar, stops
from zorank.errors import InvalidInput, ReplayError
from zorank.estimators import rank_coefficients
from zorank.optimizers.settings import check_count
from zorank.protocols import Store
from zorank.rng import check_seed
from zorank.run import Run
from zorank.stores import MemoryStore, open_store
from zorank.torch.checkpoints import Checkpoints
from zorank.torch.choice import Only, choose
from zorank.torch.descent import ModuleDescent, Moved
from zorank.torch.weights import Weights, digest
from zorank.types import Answer, Order, Ranking, Round, Vector

Output = TypeVar("Output")
Loss = Callable[[Any], Any]
"""The module → a number, smaller is better."""


@dataclass(frozen=True)
class Folded:
    """An answer that the weights have followed: its line in the log, and the move it made."""

    line: Round
    coefficients: Vector
    before: Moved
    reversible: bool = False


class RankTrainer:
    """Tunes a module in place from rankings of what it does.

    Args:
        model: the module; it always holds the present weights.
        only: which parameters: a glob of names, several, or a function of name and parameter;
            None is all that have requires_grad.
        m: how many candidates a question shows.
        step: η, how far an answer moves the weights.
        mu: μ, how far candidates are from the module.
        law: the law of the directions, "normal" or "rademacher" (±1, faster to draw).
        relative: whether step and mu are shares of each tensor's root mean square at the start.
        step_decay: what η is multiplied by after each answer.
        mu_decay: what μ is multiplied by after each answer.
        widen: what μ is multiplied by when the judge sees no difference.
        seed: draws the directions.
        store: where the log is kept, a store or its URL; None keeps it in the folder, if there is
            one, else in memory.
        name: the run's name in the store. One that exists is continued.
        folder: where weights are set aside every so often, for exact resume from there.
        every: how many rounds lie between two of these.
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
        self._weights = Weights(choose(model, only), check_seed(seed), law, self._optimizer.m)
        self._inside = False
        self._folded: list[Folded] = []
        kept, name = _open(store, name, folder)
        plan = _plan_of(kept, name)
        if plan is None:
            radius = self._optimizer.radius(Moved())
            plan = {"id": os.urandom(8).hex(), **self._weights.plan(radius, relative)}
        self.run = Run(self._optimizer, [0.0], seed, kept, name, meta={"torch": plan})
        self._plan: Mapping[str, Any] = self.run.record.meta["torch"]
        self._weights.adopt_scales(self._plan, self.run.name)
        self._checkpoints = None if folder is None else Checkpoints(Path(folder), self._plan["id"])
        self._restart(self._answered())
        self._follow()
        if self._checkpoints is not None and not self._folded:
            self.save()  # the start: what an undo of everything goes back to

    def __repr__(self) -> str:
        numbers = sum(part.values.numel() for part in self._weights.parts)
        return (
            f"<RankTrainer {self.run.name!r}: {numbers:,} numbers of a "
            f"{type(self.model).__name__}, {self.rounds} rounds answered>"
        )

    @property
    def rounds(self) -> int:
        """How many rounds are answered."""
        return len(self.run.history)

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row for each answered round."""
        return self.run.history

    @property
    def parameters(self) -> dict[str, int]:
        """The parameters that are tuned, and how many numbers each has."""
        return {part.name: part.values.numel() for part in self._weights.parts}

    @contextmanager
    def candidate(self, i: int) -> Iterator[nn.Module]:
        """The module as candidate i of the waiting round; afterwards as it was, bit for bit."""
        self._settle()
        slate = self.run.ask()
        if not isinstance(i, (int, np.integer)) or not 0 <= i < len(slate):
            raise InvalidInput(
                f"candidate {i!r} is not on a slate of {len(slate)}; "
                f"they count from 0 to {len(slate) - 1}"
            )
        try:
            radius = self._optimizer.radius(self.run.state)
            self._weights.show(len(self._folded), int(i), radius)
            self._inside = True
            with torch.no_grad(), _evaluating(self.model):
                yield self.model
        finally:
            self._inside = False
            self._weights.restore()

    def ask(self, show: Callable[[Any], Output]) -> list[Output]:
        """What `show` makes of each candidate: the outputs to rank.

        The module is in evaluation mode and keeps no gradients meanwhile. Until it is answered,
        the question stays the same.
        """
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
        """Answer the waiting question; the module moves.

        Args:
            answer: a Ranking, or a list such as [2, [0, 5]]: best first, an inner list is a tie.
                It may name only some; an empty one says that there is no difference.
            rater: who answers.
            note: kept in the log and shown in the history.
        """
        self._settle()
        before = self.run.state
        self.run.tell(answer, rater=rater, note=note)
        self._fold(self.run.rounds()[-1], before, self.run.state)
        if self._checkpoints is not None and self.rounds % self.every == 0:
            self.save()

    def step(self, loss: Loss) -> dict[str, Any]:
        """One round judged by a function of the module, smaller is better; gives its row.

        Only the order of the m numbers is used. One that is not finite is worse than all others.
        """
        values = np.array([_number(value) for value in self.ask(loss)])
        sane = values[np.isfinite(values)]
        note = {"best": float(sane.min()), "mean": float(sane.mean())} if sane.size else {}
        self.tell(_ranking(values), note=note)
        return self.run.history[-1]

    def minimize(
        self,
        loss: Loss,
        rounds: int,
        progress: bool = True,
        callback: Callable[[RankTrainer], object] | None = None,
    ) -> None:
        """Rounds judged by a function, until there are so many in all.

        Args:
            loss: the module → a number. For exact resume it depends on the module and on
                `trainer.rounds` alone, which is the place to choose a batch by.
            rounds: how many rounds in all, those of an earlier call or process included.
            progress: show a progress bar.
            callback: called with the trainer after each round; True, or StopIteration, stops.
        """
        shown = progress and sys.stderr.isatty()
        with progress_bar(shown, rounds, "rounds", "loss") as show:
            while self.rounds < rounds:
                row = self.step(loss)
                show(self.rounds, row.get("mean", float("nan")))
                if callback is not None and stops(callback, self):
                    return

    def undo(self, rounds: int = 1) -> None:
        """Take back the last answers; the module is as it was before them, bit for bit."""
        self._settle()
        taken = self._folded[-rounds:] if isinstance(rounds, int) and rounds > 0 else []
        if self._checkpoints is None and not all(folded.reversible for folded in taken):
            raise InvalidInput(
                f"the last {rounds} rounds cannot be taken back exactly: the weights have "
                "outgrown their grid since, or are of half precision, or were not moved by this "
                "process; give the trainer a folder for checkpoints to go back to"
            )
        self.run.undo(rounds)
        if self._checkpoints is not None:
            self._checkpoints.tidy(self.rounds)
        self._follow()

    def save(self) -> Path:
        """Set the weights aside in the folder now."""
        self._settle()
        if self._checkpoints is None:
            raise InvalidInput(
                "there is no folder to set weights aside in; give the trainer one: "
                "RankTrainer(model, folder='tuned')"
            )
        return self._checkpoints.write(self._weights, [folded.line for folded in self._folded])

    def _settle(self) -> None:
        """Make sure that the module is no candidate, and follows the log."""
        if self._inside:
            raise InvalidInput(
                "the module is one of the candidates now; leave `with trainer.candidate(i)`, or "
                "return from what `ask` calls, first"
            )
        self._weights.restore()  # only if Ctrl-C met the very moment between the two
        for part in self._weights.parts:
            if self.model.get_parameter(part.name).data_ptr() != part.values.data_ptr():
                raise InvalidInput(
                    f"parameter {part.name!r} lies elsewhere than when training began: the module "
                    "was moved or converted (to, double, load_state_dict with assign). Make it as "
                    "it is to be first, then a new RankTrainer, from the same folder to go on"
                )
        self._follow()

    def _answered(self) -> list[Round]:
        return [line for line in self.run.rounds() if line.answer is not None]

    def _follow(self) -> None:
        """Bring the weights to where the log is."""
        log = self._answered()
        while self._folded and not _has(log, self._folded):
            if not self._folded[-1].reversible:
                self._restart(log)
                break
            self._unfold()
        if len(self._folded) == len(log):
            return
        before = self._optimizer.init(self.run.record.x0)
        for line, _, after in self.run.replay():
            if line.index >= len(self._folded):
                self._fold(line, before, after)
            before = after

    def _fold(self, line: Round, before: Moved, after: Moved) -> None:
        answer: Any = line.answer
        coefficients = rank_coefficients(answer, self._optimizer.m)
        eta, radius = self._optimizer.eta(before), self._optimizer.radius(after)
        folded = Folded(line, coefficients, before)
        self._folded.append(folded)  # not reversible, until the move is done
        done = self._weights.move(line.index, coefficients, eta, radius)
        self._folded[-1] = replace(folded, reversible=done)

    def _unfold(self) -> None:
        folded = self._folded.pop()
        eta, radius = self._optimizer.eta(folded.before), self._optimizer.radius(folded.before)
        self._weights.move(folded.line.index, folded.coefficients, -eta, radius)

    def _restart(self, log: Sequence[Round]) -> None:
        """Go to the newest weights that were set aside on the way of this log, or to the start."""
        known = 0
        if self._checkpoints is not None:
            known = self._checkpoints.newest(self._weights, log) or 0
        if not known:
            self._check_start(log)
        self._folded = [Folded(line, np.zeros(0), Moved()) for line in log[:known]]

    def _check_start(self, log: Sequence[Round]) -> None:
        """Raise unless the module holds what the run began with, so that it can be replayed."""
        units = [row["unit"] for row in self._plan["parameters"].values()]
        if digest(self._weights.values(), units) != self._plan["start"]:
            raise ReplayError(
                f"the weights are not those that run {self.run.name!r} began with, and there is "
                "no checkpoint to go on from; make the model exactly as at its start (same seed, "
                "same file), or give the folder that has the run's checkpoints"
            )
        if log and self._weights.draws() != self._plan["draws"]:
            raise ReplayError(
                f"run {self.run.name!r} was begun on a device, or with a torch, that draws other "
                "random numbers, so its answers cannot be replayed here; save a checkpoint there "
                "after the last answer, and go on from it"
            )
        self._weights.adopt_units(units)


def _open(
    store: Store | str | None, name: str | None, folder: str | os.PathLike[str] | None
) -> tuple[Store, str | None]:
    """The store, and the run's name in it; a folder alone keeps everything."""
    if folder is not None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"{folder} cannot be a folder for checkpoints: {error}") from error
        if store is None:
            return open_store(Path(folder) / "run.db"), name or "training"
    if isinstance(store, str):
        return open_store(store), name
    return MemoryStore() if store is None else store, name


def _plan_of(store: Store, name: str | None) -> Mapping[str, Any] | None:
    """What a run of this name keeps of its weights, if it is there and tunes a module."""
    if name is None or name not in [record.name for record in store.runs()]:
        return None
    plan: Mapping[str, Any] | None = store.record(name).meta.get("torch")
    return plan


def _has(log: Sequence[Round], folded: Sequence[Folded]) -> bool:
    """Whether the log begins with these rounds; keys are given once, so the last one tells."""
    return len(folded) <= len(log) and log[len(folded) - 1].key == folded[-1].line.key


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode for a while: no dropout, and no statistics that candidates would change."""
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
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"a loss must be a number, found {value!r:.60}") from error


def _ranking(values: Vector) -> Ranking:
    """Smaller is better; what is not finite is worse than all others."""
    places = np.unique(np.where(np.isfinite(values), values, np.inf), return_inverse=True)[1]
    return Ranking.from_values(places) if places.any() else Ranking.no_difference()
