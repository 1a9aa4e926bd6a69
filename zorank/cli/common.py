"""What the commands share: where they print, the stores they open, the objects they are told."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from zorank import stores
from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.types import Vector

out = Console()
log = Console(stderr=True)

StoreOption = Annotated[str | None, typer.Option(help="The store (a URL or file).")]


def open_store(url: str | None) -> Store:
    """The store at this URL, or the one that is used if nothing is said."""
    return stores.open_store(url or stores.default_url())


def load_function(target: str) -> Callable[[Vector], Any]:
    """The function that module:function names."""
    function = load_object(target)
    if not callable(function) or isinstance(function, type):
        raise InvalidInput(
            f"{target!r} is not a function but a {type(function).__name__}; a function takes a "
            "candidate and returns its value"
        )
    return function  # type: ignore[no-any-return]


def load_object(target: str) -> Any:
    """What module:object names; the current folder is looked at first."""
    module_name, _, function_name = target.partition(":")
    if not module_name or not function_name or "/" in target or module_name.endswith(".py"):
        hint = f"{Path(module_name).stem or 'module'}:{function_name or 'function'}"
        raise InvalidInput(
            f"a function is given as module:function, such as {hint}, found {target!r}; "
            "the module is looked for in the current folder first"
        )
    sys.path.insert(0, "")  # a module in the current folder, as with python -m
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidInput(f"the module {error.name!r} of {target!r} is not found") from error
    except Exception as error:  # whatever somebody's module raises while it is imported
        said = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"the module {module_name!r} cannot be imported ({said})") from error
    if not hasattr(module, function_name):
        raise InvalidInput(f"the module {module_name!r} has no {function_name!r}")
    return getattr(module, function_name)


def read_pairs(pairs: list[str]) -> dict[str, str]:
    """Settings that are given as name=value."""
    settings = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InvalidInput(f"a setting is given as name=value, found {pair!r}")
        settings[key] = text
    return settings


def write_text(path: Path, text: str) -> None:
    """Write a file, or say why it cannot be written."""
    try:
        path.write_text(text + "\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
