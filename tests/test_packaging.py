"""What is installed: ranges in the package's metadata, one tested version of each in a file."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TESTED = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if "==" in line and not line.startswith("#")
)


def requirements():
    extras = PROJECT["optional-dependencies"].values()
    several = [*PROJECT["dependencies"], *(text for extra in extras for text in extra)]
    return [one for text in several if (one := Requirement(text)).name != "zorank"]


def test_the_metadata_have_ranges_and_the_tested_versions_lie_in_them():
    tested = {name.lower().replace("_", "-"): version for name, version in TESTED.items()}
    for one in requirements():
        assert "==" not in str(one.specifier), f"{one} excludes other versions"
        name = one.name.lower().replace("_", "-")
        assert one.specifier.contains(tested[name]), f"{one} excludes {tested[name]}"


@pytest.mark.parametrize("file", ["Makefile", "README.md", "docs", "training/README.md", ".ci"])
def test_every_command_that_installs_a_checkout_uses_the_tested_versions(file):
    place = ROOT / file
    files = [place] if place.is_file() else [one for one in place.rglob("*") if one.is_file()]
    for one in files:
        if one.suffix in (".md", "") or one.name == "Makefile":
            for command in re.findall(r"pip install[^`\n]*", one.read_text()):
                if re.search(r"['\s]\.(\[|['\s]|$)", command):
                    assert re.search(r"(-c|--constraint) constraints\.txt", command), command
