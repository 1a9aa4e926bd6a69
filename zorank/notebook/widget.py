"""The widget: sends slates to the page and acts on what the person does there.

The page sends each action both as a message and in the trait `action`; the second copy is ignored.
Both are needed: Jupyter delays traits while a cell waits for an answer, marimo has no messages.
Whatever fails becomes a sentence in `problem`; the run and the person's picks stay as they are.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from zorank.errors import InvalidInput, StaleAnswer, ZorankError, message_of, one_line, short
from zorank.notebook.questions import Questions, RunQuestions, Shown
from zorank.protocols import Renderer
from zorank.renderers.interface import resolve
from zorank.run import Run
from zorank.types import Exhibit, Ranking

STATIC = Path(__file__).parent / "static"
FIRST_KERNEL_THAT_WAITS = 7


def _synchronised(trait: Any) -> Any:
    return trait.tag(sync=True)


class RankWidget(anywidget.AnyWidget):
    """Cards to rank, made by `zorank.notebook.rank`.

    Attributes:
        run: the run that is answered; None for a single slate.
        slate: what is on screen: its number (which changes with every slate) and texts.
        exhibits: media type and data for each position on screen.
        order: the person's picks as positions on screen, best first; an inner list is a tie.
        action: what the person did last, with an id of its own; the page sets it.
        handled: the id of the last action that was handled.
        status: what happens at the moment, such as "drawing 2 of 6".
        problem: what went wrong, in one sentence; empty if nothing did.
    """

    _esm = STATIC / "rank.js"
    _css = STATIC / "rank.css"
    slate = _synchronised(traitlets.Dict())
    exhibits = _synchronised(traitlets.List())
    order = _synchronised(traitlets.List())
    action = _synchronised(traitlets.Dict())
    handled = _synchronised(traitlets.Unicode())
    status = _synchronised(traitlets.Unicode())
    problem = _synchronised(traitlets.Unicode())

    def __init__(self, questions: Questions, renderer: Renderer) -> None:
        self._questions = questions
        self._renderer = resolve(renderer)
        self._shown = questions.shown()
        _check_dim(self._renderer.dim, self._shown)
        self._number = 0
        self._futures: list[asyncio.Future[Ranking]] = []
        self._thread = threading.get_ident()
        self._loop = _running_loop()
        self._done = False
        self._seen: set[str] = set()
        super().__init__()
        self.on_msg(lambda _, action, buffers: self._on_action(action))
        self.observe(lambda change: self._on_action(change["new"]), "action")
        self._show()

    @property
    def run(self) -> Run | None:
        """The run that is answered; None for a single slate."""
        return self._questions.run if isinstance(self._questions, RunQuestions) else None

    async def answered(self) -> Ranking:
        """Wait until the person answers the slate on screen; return the ranking.

        Needs a kernel that handles widgets while a cell waits: ipykernel 7 or later.
        """
        self.check_can_wait()
        future: asyncio.Future[Ranking] = asyncio.get_running_loop().create_future()
        self._futures.append(future)
        try:
            return await future
        finally:
            if future in self._futures:
                self._futures.remove(future)

    @staticmethod
    def check_can_wait() -> None:
        """Raise InvalidInput where a cell that waits would wait forever."""
        import sys

        marimo, kernel = sys.modules.get("marimo"), sys.modules.get("ipykernel")
        if marimo is not None and marimo.running_in_notebook():
            raise InvalidInput(
                "marimo handles widgets only after a cell has ended, so a cell cannot wait for an "
                "answer; show zorank.notebook.rank(run, renderer) and read run in another cell"
            )
        if kernel is not None and kernel.version_info[0] < FIRST_KERNEL_THAT_WAITS:
            raise InvalidInput(
                f"ipykernel {kernel.__version__} handles widgets only after a cell has ended; "
                "install 'ipykernel>=7', or show zorank.notebook.rank(run, renderer) and read "
                "run in another cell"
            )

    def _on_action(self, action: Any) -> None:
        """Act in the thread of the cells, so that no cell uses the run at the same time.

        JupyterLab sends messages of widgets to a thread of their own.
        """
        loop, action = self._loop, action if isinstance(action, Mapping) else {}
        number = str(action.get("id", ""))
        if number in self._seen:
            return
        self._seen.add(number)
        if loop is None or threading.get_ident() == self._thread or loop.is_closed():
            self._act(action)
        else:
            loop.call_soon_threadsafe(self._act, action)

    def _act(self, action: Mapping[str, Any]) -> None:
        actions: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "answer": self._answer,
            "undo": self._undo,
            "retry": lambda _: self._show(self.order),
        }
        self.problem = ""
        try:
            kind = str(action.get("kind"))
            if kind not in actions:
                raise InvalidInput(
                    f"{short(kind)} is not an action; known: {', '.join(sorted(actions))}"
                )
            actions[kind](action)
        except Exception as error:
            self.problem = _sentence(error)
        finally:
            self.status = ""
            self.handled = str(action.get("id", ""))

    def _answer(self, action: Mapping[str, Any]) -> None:
        if self._done or action.get("slate") != self._number:
            raise StaleAnswer(
                "this answers a slate that is no longer on screen; rank the one that is"
            )
        shown = self._shown
        ranking = shown.ranking(action.get("order"))
        try:
            more = self._questions.answer(shown, ranking)
        except StaleAnswer as error:
            self._show()
            raise StaleAnswer(
                "this round was answered elsewhere; the one that waits now is shown"
            ) from error
        waiting, self._futures = self._futures, []  # before another thread waits again
        for future in waiting:
            future.get_loop().call_soon_threadsafe(_resolve, future, ranking)
        if more:
            self._show()
        else:
            self._done = True

    def _undo(self, _: Mapping[str, Any]) -> None:
        if not self._questions.can_undo:
            raise InvalidInput("there is no answer to undo")
        self._show(self._questions.undo())

    def _show(self, order: Any = ()) -> None:
        """Render the slate that waits and put it on screen, or say why that failed."""
        self._shown = self._questions.shown()
        self._number += 1
        problem, exhibits = "", []
        try:
            exhibits = self._render(self._shown)
        except Exception as error:
            problem = f"This could not be drawn ({_sentence(error)}). No answer is lost."
        known = {"number": self._number, "can_undo": self._questions.can_undo}
        with self.hold_sync():
            self.order = list(order)
            self.exhibits = [{"media_type": e.media_type, "data": e.data} for e in exhibits]
            self.slate = {**self._shown.words(), **known, "count": len(self._shown.order)}
            self.status = ""
            self.problem = problem

    def _render(self, shown: Shown) -> list[Exhibit]:
        several = max(self._renderer.together, 1)
        exhibits: list[Exhibit] = []
        for start in range(0, len(shown.order), several):
            part = shown.order[start : start + several]
            self.status = f"drawing {start + 1} of {len(shown.order)}"
            exhibits += self._renderer.render([shown.slate[candidate] for candidate in part])
        return exhibits


def _check_dim(dim: int, shown: Shown) -> None:
    if dim != shown.slate.dim:
        raise InvalidInput(
            f"the renderer draws candidates of {dim} coordinates, but those of the slate have "
            f"{shown.slate.dim}; make the run with x0 of length {dim}"
        )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _resolve(future: asyncio.Future[Ranking], ranking: Ranking) -> None:
    if not future.done():
        future.set_result(ranking)


def _sentence(error: Exception) -> str:
    return message_of(error) if isinstance(error, ZorankError) else one_line(error)
