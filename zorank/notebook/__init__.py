"""Rank in a cell of a notebook: Jupyter, VS Code, marimo.

`rank` makes a widget that answers a run round by round. `ask` shows one slate and waits for its
ranking in the cell. `questions.py` has the questions and what answers do, `widget.py`
connects them to the page, and `static/` is the page's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zorank.errors import InvalidInput, required_by
from zorank.notebook.questions import RunQuestions, SlateQuestion
from zorank.protocols import Renderer
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Ranking

if TYPE_CHECKING:
    from zorank.notebook.widget import RankWidget

__all__ = ["ask", "rank"]


def rank(run: Run, renderer: Renderer, rater: str | None = None) -> RankWidget:
    """Return a widget in which a person ranks the slates of a run, one after another.

    The last line of a cell shows it. Every "Next" tells the run the answer and shows the next
    slate. `widget.run` is the run, and `await widget.answered()` waits for an answer.

    Args:
        run: the run to answer.
        renderer: makes exhibits of its candidates, such as `zorank.renderers.Landscape()`.
        rater: who answers, for the log.
    """
    found: Any = run
    if not isinstance(found, Run):
        raise InvalidInput(f"rank needs a Run, found {type(found).__name__}; see zorank.Run")
    return _widget_class()(RunQuestions(run, rater), renderer)


async def ask(shown: Slate | Run, renderer: Renderer) -> Ranking:
    """Show one slate in the cell, wait for a person's ranking, and return it.

    Nothing is told: `run.tell(await ask(run, renderer))` answers a round.

    Args:
        shown: the slate, or a run, whose waiting slate is then shown.
        renderer: makes exhibits of its candidates.
    """
    widget_class = _widget_class()
    with required_by("a widget that is waited for", "ipython", "notebook"):
        from IPython.display import display
    questions = SlateQuestion.of(shown)
    widget = widget_class(questions, renderer)
    widget.check_can_wait()
    place = display(widget, display_id=True)
    said = "not answered"
    try:
        answer: Ranking = await widget.answered()
        said = _order_text(answer)
        return answer
    finally:
        widget.close()
        if place is not None:
            place.update({"text/plain": said}, raw=True)


def _widget_class() -> type[RankWidget]:
    with required_by("ranking in a notebook", "anywidget", "notebook"):
        from zorank.notebook.widget import RankWidget
    return RankWidget


def _order_text(answer: Ranking) -> str:
    """Return an answer as it is typed in the terminal: "3 1=4"."""
    groups = ("=".join(map(str, group)) for group in answer.best)
    return f"ranked: {' '.join(groups) or 'no difference'}"
