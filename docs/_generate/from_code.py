"""Pages made from the code: the command line, the settings and the renderers."""

import dataclasses
import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer
from typer.main import get_command

from zorank import optimizers
from zorank.cli import app
from zorank.renderers.interface import HOOKS, PARAMETERS, Hook

FOLDER = Path(__file__).parent.parent


def cli_page() -> str:
    """List every command with its arguments and options."""
    lines = ["# The command line", "", "Made from the code by `make docs`.", ""]
    for path, command in _commands(get_command(app), "zorank"):
        lines += [f"## {path}", "", inspect.cleandoc(command.help or ""), ""]
        lines += ["| | default | |", "| --- | --- | --- |"]
        for parameter in command.params:
            if parameter.name == "help":
                continue
            names = ", ".join(f"`{name}`" for name in parameter.opts)
            if parameter.param_type_name == "argument":
                names = f"`{parameter.name.upper()}`"
            unset = parameter.default is False or parameter.default in (None, "")
            default = "" if unset else f"`{parameter.default}`"
            lines.append(f"| {names} | {default} | {getattr(parameter, 'help', '') or ''} |")
        lines.append("")
    return "\n".join(lines)


def _commands(command: object, path: str) -> list[tuple[str, typer.core.TyperCommand]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(path, command)]
    return [pair for name in inner for pair in _commands(inner[name], f"{path} {name}")]


def settings_page() -> str:
    """List every setting of every optimizer, from the dataclasses and their docstrings."""
    lines = ["# The settings of the optimizers", "", "Made from the code by `make docs`.", ""]
    lines += ["Give them as `options={...}` to `zorank.minimize`, as `--option name=value` on the"]
    lines += ["command line, or to the class: `zorank.optimizers.REGISTRY[name](...)`.", ""]
    for name, cls in optimizers.REGISTRY.items():
        meaning: dict[str, str] = {}
        for parent in reversed(cls.__mro__):
            meaning.update(_attributes(parent.__doc__ or ""))
        lines += [f"## {name}", "", (inspect.getmodule(cls).__doc__ or "").strip(), ""]
        lines += ["| setting | default | meaning |", "| --- | --- | --- |"]
        for field in dataclasses.fields(cls):
            if field.name not in meaning:
                raise SystemExit(
                    f"describe {field.name} under Attributes: in the docstring of {cls.__name__}"
                )
            made = field.default_factory is not dataclasses.MISSING
            default = field.default_factory() if made else field.default
            lines.append(f"| `{field.name}` | `{default!r}` | {meaning[field.name]} |")
        lines.append("")
    return "\n".join(lines)


def _attributes(docstring: str) -> dict[str, str]:
    _, _, block = inspect.cleandoc(docstring).partition("Attributes:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", block, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text).replace("|", r"\|") for name, text in entries}


def api_page(module: str, registry: Mapping[str, type], options: Sequence[str] = ()) -> str:
    """List the docstrings of a registry's classes, below the text of a template."""
    lines = (FOLDER / "templates" / "reference" / "api" / f"{module}.md").read_text().splitlines()
    for cls in registry.values():
        lines += ["", f"::: zorank.{module}.{cls.__name__}", *options]
    return "\n".join(lines) + "\n"


def renderers_page() -> str:
    """Fill the tables of hooks into the page about renderers."""
    page = (FOLDER / "templates" / "renderers.md").read_text()
    hooks, parameters = _hooks("member", HOOKS), _hooks("parameter", PARAMETERS)
    return page.replace("<!-- hooks -->", hooks).replace("<!-- parameters -->", parameters)


def _hooks(kind: str, declared: Mapping[str, Hook]) -> str:
    lines = [f"| {kind} | if it is missing | meaning |", "| --- | --- | --- |"]
    for hook in declared.values():
        signature = hook.signature.replace("|", r"\|")
        lines.append(f"| `{signature}` | {hook.default_text} | {hook.about} |")
    return "\n".join(lines)
