"""A real studio in a process of its own, and a client that speaks to it over HTTP."""

import re
import signal
import subprocess
import sys

import httpx2 as httpx
from fastapi.testclient import TestClient

from zorank.studio import create_app
from zorank.types import Exhibit

TOKEN = "owner-token-of-the-tests"


PLAIN_RENDERER = """
from zorank.types import Exhibit

class Plain:
    dim = 5
    media_type = "text/plain"

    def render(self, candidates):
        return [Exhibit("text/plain", x.tobytes().hex().encode()) for x in candidates]
"""


class Server:
    """`zorank studio` as a user starts it; it can be killed and started again on its port."""

    def __init__(self, store, *arguments, port=None):
        self.command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--token", TOKEN]
        self.command += ["--store", str(store), *arguments]
        self.store = str(store)
        self.port = port or 0
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [*self.command, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self.process.stdout.readline()
        found = re.fullmatch(r"Studio at http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", line)
        assert found, f"the studio said {line!r}"
        self.port = int(found[1])
        return self

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self, token=TOKEN):
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30)


class Plain:
    """A renderer in this process, of nothing much."""

    dim = 5

    def render(self, candidates):
        return [Exhibit("text/plain", x.tobytes()) for x in candidates]


def started(store):
    """A client of the owner at a studio that has just been started on a store."""
    app = create_app(store, {"plain": Plain}, "t0ken", hosts=("testserver",))
    return TestClient(app, headers={"Authorization": "Bearer t0ken"})
