"""The errors that all stores raise for answers, ballots and undos that come too late."""

from zorank.errors import StaleAnswer


def not_waiting(name: str, index: int, waiting: int | None) -> StaleAnswer:
    """Return the error for an answer to a round that is not the waiting one."""
    now = "no round waits; ask first" if waiting is None else f"round {waiting} waits"
    return StaleAnswer(f"round {index} of run {name!r} is not waiting for an answer: {now}")


def answered_elsewhere(name: str) -> StaleAnswer:
    """Return the error for an undo or an edit whose view of the log is outdated."""
    return StaleAnswer(
        f"run {name!r} was answered elsewhere since; load its current state before you change it"
    )


def edited_elsewhere(name: str) -> StaleAnswer:
    """Return the error for an edit whose view of the log is outdated."""
    return StaleAnswer(f"the log of run {name!r} was edited elsewhere since; load it again")


def ballot_missed(name: str, index: int) -> StaleAnswer:
    """Return the error for an answer that leaves out a ballot."""
    return StaleAnswer(
        f"another ballot was cast for round {index} of run {name!r} in the meantime; "
        "answer with all ballots"
    )


def second_ballot(name: str, index: int, rater: str) -> StaleAnswer:
    """Return the error for a second ballot by one rater."""
    return StaleAnswer(f"{rater} has already answered round {index} of run {name!r}")
