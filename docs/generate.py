"""Writes the pages that are made from the code: docs/cli.md and docs/settings.md.

python docs/generate.py; a test fails when a page is older than the code.
"""

import dataclasses
import inspect
import re
from pathlib import Path

import typer
from typer.main import get_command

from zorank import optimizers
from zorank.cli import app

FOLDER = Path(__file__).parent


def cli_page() -> str:
    """Every command with its arguments and options."""
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
            unset = parameter.default is None or parameter.default is False
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
    """Every setting of every optimizer, from the dataclasses and their docstrings."""
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
                    f"say what {field.name} means under Attributes: of {cls.__name__}"
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


PAGES = {"cli.md": cli_page, "settings.md": settings_page}

if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page())
