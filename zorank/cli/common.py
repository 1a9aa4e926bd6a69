"""Shared by the commands: consoles, the store, objects named on the command line, files."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from zorank import stores
from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.types import Vector, as_vector

out = Console()
log = Console(stderr=True)

StoreOption = Annotated[str | None, typer.Option(help="The store (a URL or file).")]


def open_store(url: str | None) -> Store:
    """Open the store at this URL; None opens the default store."""
    return stores.open_store(url or stores.default_url())


def load_function(target: str) -> Callable[[Vector], Any]:
    """Import the function named by module:function."""
    function = load_object(target)
    if not callable(function) or isinstance(function, type):
        raise InvalidInput(
            f"{target!r} must be a function that takes a candidate, found a "
            f"{type(function).__name__}"
        )
    return function  # type: ignore[no-any-return]  # it was checked


def load_object(target: str) -> Any:
    """Import the object named by module:object; the current folder is searched first."""
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute or "/" in target or module_name.endswith(".py"):
        hint = f"{Path(module_name).stem or 'module'}:{attribute or 'function'}"
        raise InvalidInput(
            f"an object must be given as module:function or module:object, such as {hint}, "
            f"found {target!r}; "
            "the current folder is searched first"
        )
    sys.path.insert(0, "")  # as with python -m
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"the module {error.name!r} of {target!r} is not found; the current folder and the "
            "installed packages are searched"
        ) from error
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"the module {module_name!r} cannot be imported ({reason})") from error
    if not hasattr(module, attribute):
        raise InvalidInput(f"the module {module_name!r} has no {attribute!r}")
    return getattr(module, attribute)


def allow_environment(env: str | None) -> None:
    """Allow the module of an environment that the command line names as module:Name."""
    if env is not None and ":" in env:
        from zorank.rl import allow_environment as allow

        sys.path.insert(0, "")  # as with python -m
        allow(env)


def read_pairs(pairs: list[str], several: frozenset[str] = frozenset()) -> dict[str, str]:
    """Parse settings of the form name=value; values of `several` are joined if they repeat."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InvalidInput(f"a setting must be given as name=value, found {pair!r}")
        settings[key] = f"{settings[key]},{text}" if key in several and key in settings else text
    return settings


def read_values(pairs: list[str]) -> dict[str, Any]:
    """Parse settings of the form name=value; a value that is not JSON is a string."""
    values: dict[str, Any] = {}
    for key, text in read_pairs(pairs).items():
        try:
            values[key] = json.loads(text)
        except ValueError:
            values[key] = text  # such as space=gaussian
    return values


def write_text(path: Path, text: str) -> None:
    """Write a text file with a final newline; raise InvalidInput if that fails."""
    try:
        path.write_text(text + "\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error


def read_start(text: str) -> str | list[float]:
    """Read --start: a seed such as seed:1234, or the file of a vector or of a picture."""
    from zorank.renderers.picture_seeds import HEAD, seed_in
    from zorank.renderers.starts import Seed

    file = Path(text)
    if text.startswith("seed:") and not file.exists():
        return str(Seed.parse(text))
    if file.suffix.lower() == ".png":
        try:
            with file.open("rb") as opened:
                return str(seed_in(opened.read(HEAD)))
        except OSError as error:
            raise InvalidInput(f"the start cannot be read from {file}: {error}") from error
    numbers: list[float] = as_vector(read_vector(file), f"the start in {file}").tolist()
    return numbers


def read_vector(file: Path) -> Any:
    """Read numbers from a .npy, .json, .csv or text file; also from an exported run or result."""
    try:
        if file.suffix == ".npy":
            return np.load(file, allow_pickle=False)
        if file.suffix == ".json":
            found = json.loads(file.read_text())
            keys = [key for key in ("best", "x") if isinstance(found, dict) and key in found]
            return found[keys[0]] if keys else found
        return np.loadtxt(file, delimiter="," if file.suffix == ".csv" else None, ndmin=1)
    except (OSError, ValueError, EOFError, OverflowError, RecursionError, MemoryError) as error:
        raise InvalidInput(f"the start cannot be read from {file}: {error}") from error


def check_writable(path: Path) -> None:
    """Raise InvalidInput if the file cannot be written; leave its content as it is."""
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written: {path.parent} is not a folder")
    existed = path.exists()
    try:
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
