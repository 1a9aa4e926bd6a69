"""What zorank raises on purpose. One sentence each: what was found, what is needed, where."""

from collections.abc import Iterable


class ZorankError(Exception):
    """The parent of all errors that zorank raises on purpose."""


class InvalidInput(ZorankError, ValueError):
    """A value that cannot be used: a wrong dimension, a NaN, a repeated position."""


class StaleAnswer(ZorankError):
    """An answer to a round that is not the one that waits."""


class StoreError(ZorankError):
    """A store that cannot be read or written: locked, corrupted, not writable."""


class ReplayError(ZorankError):
    """A log that cannot be continued by this optimizer, configuration or version."""


class RenderError(ZorankError, RuntimeError):
    """An exhibit that could not be made: too little memory, a model that fails."""


class LookError(ZorankError, RuntimeError):
    """What candidates look like cannot be said: a renderer's look fails or contradicts itself."""


class EvaluationError(ZorankError, RuntimeError):
    """Candidates that could not be evaluated: workers were lost, or a cluster does not answer."""


class MissingExtra(ZorankError, ImportError):
    """A library that an optional part of zorank needs and that is not installed.

    `extra` is the one of zorank that brings it along, if any does.
    """

    def __init__(self, what: str, library: str, extra: str | None = None) -> None:
        wanted = library if extra is None else f"'zorank[{extra}]'"
        super().__init__(
            f"{what} needs {library}, which is not installed; "
            f"install it with: pip install {wanted}"
        )


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InvalidInput:
    """The error for a name that is not in a registry, with the closest names that are."""
    from difflib import get_close_matches  # only an error needs it: imports stay fast

    names = sorted(known)
    close = get_close_matches(str(name), names, n=3, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names) or 'none'}"
    )
    return InvalidInput(f"there is no {kind} named {name!r}; {hint}")
