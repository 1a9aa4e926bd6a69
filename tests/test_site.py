"""The docs site builds without a warning, and has what it promises."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_EXAMPLE = 39


@pytest.mark.process
def test_the_site_builds_and_all_links_lead_somewhere(tmp_path):
    """`strict` in mkdocs.yml makes every broken link, anchor or name an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path / "site"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    assert "minimize" in (site / "reference" / "api" / "zorank.html").read_text()
    index = (site / "search" / "search_index.json").read_text()
    assert "run.undo()" in index
    for page in site.rglob("*.html"):
        asked = re.findall(r"<(?:script|img|iframe)[^>]*src=\"?https?:[^>]*>", page.read_text())
        asked += re.findall(r"<link[^>]*stylesheet[^>]*https?:[^>]*>", page.read_text())
        assert asked == [], f"{page} asks other servers, which fails in a folder"
    assert "IFrameWorker" in (site / "assets" / "javascripts" / "iframe-worker.js").read_text()


@pytest.mark.parametrize(
    "script", sorted((ROOT / "examples").rglob("*.py")), ids=lambda path: path.name
)
def test_examples_are_short_and_say_what_they_show(script):
    text = script.read_text()
    assert ast.get_docstring(ast.parse(text))
    assert sum(bool(line.strip()) for line in text.splitlines()) <= LONGEST_EXAMPLE
