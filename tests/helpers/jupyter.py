"""A real JupyterLab in a process of its own, with folders of its own, and its notebooks."""

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import expect

from tests.helpers.browser import ALL_IMAGES_LOADED, PATIENCE, Tab

KERNEL = "zorank-tests"
APPEARANCE = "@jupyterlab/apputils-extension"
STARTS_WITHIN = 300
"""Seconds; a server that takes longer will never start."""


class JupyterLab:
    """`jupyter lab` on loopback. Its kernel is this Python, its settings are those given."""

    def __init__(self, folder):
        self.folder = folder
        self.token = secrets.token_hex(16)
        self.url = ""
        self._process = None
        spec = {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": KERNEL,
            "language": "python",
        }
        _write_json(folder / "data" / "kernels" / KERNEL / "kernel.json", spec)
        self.set("notification", fetchNews="false", checkForUpdates=False)
        (folder / "notebooks").mkdir()

    def set(self, plugin, **values):
        """Set values of a plugin, such as themes, for pages that are opened later."""
        file = f"{plugin}.jupyterlab-settings"
        _write_json(self.folder / "settings" / APPEARANCE / file, values)

    def start(self):
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": 0,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.root_dir": self.folder / "notebooks",
            "IdentityProvider.token": self.token,
            "LabApp.extension_manager": "readonly",
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        with (self.folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *arguments],
                env=os.environ | self._places(),
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        self.url = self._printed_url()
        return self

    def _places(self):
        """Where Jupyter looks: in the folder, and where the package of JupyterLab is installed."""
        import jupyterlab

        prefix = Path(jupyterlab.__file__).parents[4]
        own = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
        return {
            **{f"JUPYTER_{name}": str(self.folder / place) for name, place in own.items()},
            "JUPYTER_PATH": str(prefix / "share" / "jupyter"),
            "JUPYTER_CONFIG_PATH": str(prefix / "etc" / "jupyter"),
            "JUPYTERLAB_DIR": str(prefix / "share" / "jupyter" / "lab"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.folder / "workspaces"),
            "IPYTHONDIR": str(self.folder / "ipython"),
            "PYTHONPATH": os.pathsep.join(sys.path),  # cells may import helpers of tests
        }

    def _printed_url(self):
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline:
            log = (self.folder / "log").read_text()
            found = re.search(r"(http://127\.0\.0\.1:\d+)/", log)
            if found and "is running at" in log:
                return found[1]
            assert self._process.poll() is None, log
            time.sleep(0.05)
        raise AssertionError(f"JupyterLab has not started: {log}")

    def stop(self):
        """Stop the server, which stops its kernels."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()

    def notebook(self, page, *cells):
        """Write a notebook of these cells and open it; its kernel is ready when this returns."""
        name = f"{secrets.token_hex(4)}.ipynb"
        kernel = {"name": KERNEL, "display_name": KERNEL, "language": "python"}
        content = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell-{i}",
                    "metadata": {},
                    "execution_count": None,
                    "outputs": [],
                    "source": source,
                }
                for i, source in enumerate(cells)
            ],
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        _write_json(self.folder / "notebooks" / name, content)
        page.goto(f"{self.url}/doc/tree/{name}?token={self.token}", timeout=PATIENCE)
        opened = Notebook(page, self)
        # The indicator alone may be idle before there is a kernel, which would run nothing.
        expect(page.get_by_role("button", name=f"{KERNEL} | Idle")).to_be_visible()
        opened.expect_status("idle")
        return opened


class Notebook(Tab):
    """An open notebook, its cells and the cards of the widget in it."""

    def cell(self, index):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index):
        return self.cell(index).locator(".jp-OutputArea-output")

    def run(self, index):
        """Run a cell by keyboard, as people do."""
        self.cell(index).locator(".cm-content").click()
        self.press("Shift+Enter")

    def expect_status(self, status):
        """Wait until the kernel is "idle" or "busy"."""
        indicator = self.page.locator(".jp-Notebook-ExecutionIndicator")
        expect(indicator.first).to_have_attribute("data-status", status)

    def expect_slate(self, round_name, cards):
        """Wait until a round is on screen and can be answered."""
        expect(self.see("round")).to_have_text(round_name)
        expect(self.see("card")).to_have_count(cards)
        expect(self.page.locator(".zorank")).not_to_have_class(re.compile("busy"))
        self.page.wait_for_function(ALL_IMAGES_LOADED)


def _write_json(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))
