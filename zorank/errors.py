"""The exceptions of zorank.

A message says what was wrong, what is expected and what to do, in one sentence.
"""

import json
import shlex
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

LONGEST_NAME = 200
"""Characters of an unknown name that are compared with the known ones and printed."""


class ZorankError(Exception):
    """The base class of all exceptions of zorank."""


class InvalidInput(ZorankError, ValueError):
    """An argument is invalid: a wrong dimension, a NaN, a repeated position."""


class StaleAnswer(ZorankError):
    """An answer is for another round than the waiting one, or based on an outdated log."""


class StoreError(ZorankError):
    """A store cannot be read or written: it is locked, damaged or read-only.

    Args:
        message: a sentence for the store's owner, which may say where the store is.
        public: the same for others, without paths, hosts and users; by default the message.
    """

    def __init__(self, message: str = "", public: str | None = None) -> None:
        super().__init__(message)
        self.public = message if public is None else public


class ReplayError(ZorankError):
    """A log cannot be continued with this optimizer, configuration or version."""


class RenderError(ZorankError, RuntimeError):
    """An exhibit could not be rendered: out of memory, or a model fails."""


class TooManyRequests(ZorankError):
    """Too many requests wait already; try again later."""


class LookError(ZorankError, RuntimeError):
    """A look function fails, takes too long, or is not deterministic."""


class EvaluationError(ZorankError, RuntimeError):
    """Candidates could not be evaluated: workers were lost, or a cluster does not respond."""


class MissingExtra(ZorankError, ImportError):
    """An optional library is not installed.

    Args:
        what: the feature that needs the library.
        library: the library's name.
        extra: the extra of zorank that installs it, if there is one.
    """

    def __init__(self, what: str, library: str, extra: str | None = None) -> None:
        command = f"pip install {library}" if extra is None else install_command(extra)
        super().__init__(
            f"{what} needs {library}, which is not installed; install it with: {command}"
        )


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation of zorank.

    One from a checkout is extended from there, with the versions of its constraints.txt.
    """
    folder = _checkout()
    if folder is None:
        return f"pip install 'zorank[{extra}]'"
    constraints = Path(folder) / "constraints.txt"
    pinned = f"--constraint {shlex.quote(str(constraints))} " if constraints.exists() else ""
    return f"pip install {pinned}--editable {shlex.quote(f'{folder}[{extra}]')}"


def _checkout() -> str | None:
    """Return the folder that zorank was installed from; None if it came from an index."""
    from importlib import metadata  # imported here to keep imports fast

    try:
        text = metadata.distribution("zorank").read_text("direct_url.json") or "{}"
        origin = json.loads(text)
        folder = unquote(urlsplit(origin["url"]).path) if "dir_info" in origin else ""
        if folder and (Path(folder) / "pyproject.toml").exists():
            return folder
    except (metadata.PackageNotFoundError, ValueError, KeyError, AttributeError):
        pass
    return None


@contextmanager
def required_by(what: str, library: str, extra: str | None = None) -> Iterator[None]:
    """Raise MissingExtra, with these arguments, if an import in the block finds no module."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(what, library, extra) from error


def message_of(error: BaseException) -> str:
    """Return what an error says in one line, even if it cannot be printed."""
    try:
        return f"{' '.join(str(error).split()):.300}".removesuffix(".")
    except Exception:
        return ""


def one_line(error: BaseException) -> str:
    """Return the kind and the message of an error in one line."""
    return f"{type(error).__name__}: {message_of(error)}"


@contextmanager
def unreadable(what: str, advice: str) -> Iterator[None]:
    """Raise InvalidInput, "WHAT (REASON); ADVICE", if reading a file fails in the block.

    Exceptions of zorank pass unchanged.
    """
    try:
        yield
    except ZorankError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise InvalidInput(f"{what} ({one_line(error)}); {advice}") from error


class UnknownName(InvalidInput):
    """A name is not in a registry; the closest names are searched when the message is read.

    Attributes:
        kind: what was named, such as "run".
    """

    def __init__(self, kind: str, name: str, shown: str, known: tuple[str, ...]) -> None:
        super().__init__(kind, name, shown, known)
        self.kind = kind

    def __str__(self) -> str:
        from difflib import get_close_matches  # imported here to keep imports fast

        kind, name, shown, known = self.args
        close = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(close)}?"
            if close
            else f"known: {', '.join(known) or 'none'}"
        )
        return f"there is no {kind} named {shown}; {hint}"


def short(x: object, limit: int = 60) -> str:
    """Return the repr of x for an error message, in one line of at most `limit` characters.

    An object without a repr (nested too deeply, or an integer of too many digits) is described by
    its type.
    """
    try:
        text = " ".join(line.strip() for line in repr(x).splitlines())
    except Exception:
        return f"a value of type {type(x).__name__} that cannot be printed"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_names(kind: str, names: Iterable[object], known: Collection[str]) -> None:
    """Raise the error of `unknown_name` for the first name that is not in a registry."""
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InvalidInput:
    """Return the error for a name that is not in a registry, with the closest known names."""
    wanted = (name if isinstance(name, str) else short(name))[:LONGEST_NAME]
    return UnknownName(kind, wanted, short(name, LONGEST_NAME), tuple(sorted(known)))
