"""What is published: metadata, the README on an index, and the container's recipe."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ADDRESS = "https://example.org/zorank"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.fixture(scope="module")
def build_metadata():
    spec = importlib.util.spec_from_file_location("build_metadata", ROOT / "build_metadata.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def completed(build_metadata, monkeypatch, address):
    monkeypatch.setenv("ZORANK_URL", address)
    metadata = {}
    build_metadata.CustomMetadataHook(str(ROOT), {}).update(metadata)
    return metadata


def test_a_release_has_absolute_links_to_files_that_exist(build_metadata, monkeypatch):
    made = completed(build_metadata, monkeypatch, ADDRESS + "/")
    text = made["readme"]["text"]
    assert f"]({ADDRESS}/raw/main/docs/images/studio.webp)" in text
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all(link.startswith("https://") for link in links)
    ours = [link.partition("/main/")[2] for link in links if link.startswith(ADDRESS)]
    assert [path for path in ours if not (ROOT / path).exists()] == []
    assert made["urls"]["Repository"] == ADDRESS


def test_a_build_without_an_address_keeps_the_readme(build_metadata, monkeypatch):
    made = completed(build_metadata, monkeypatch, "")
    assert made["readme"]["text"] == (ROOT / "README.md").read_text()
    assert made["urls"] == {}


def test_the_container_copies_and_installs_what_exists():
    recipe = (ROOT / "Dockerfile").read_text()
    (files,) = re.findall(r"^COPY (.+) \./$", recipe, re.MULTILINE)
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    for name in [*files.split(), "zorank"]:
        assert (ROOT / name).exists()
        assert f"!{name}" in allowed
    (extras,) = re.findall(r"'\.\[(.+)\]'", recipe)
    assert set(extras.split(",")) <= set(EXTRAS)


def test_extras_that_the_docs_name_exist():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for extras in re.findall(r"(?:zorank|\.)\[([a-z,]+)\]", page.read_text()):
            assert set(extras.split(",")) <= set(EXTRAS), page.name


def test_every_dependency_is_pinned_for_the_tests():
    pinned = {
        re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    for requirement in [*PROJECT["dependencies"], *EXTRAS["dev"]]:
        name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")
        assert name == "zorank" or name in pinned, f"constraints.txt has no version of {name}"
