"""A real studio in a process of its own, and a client that speaks to it over HTTP."""

import contextlib
import re
import select
import signal
import subprocess

import httpx2 as httpx
from fastapi.testclient import TestClient

from tests.helpers import fork_server
from tests.helpers.waiting import PATIENCE
from zorank.renderers import Landscape
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
    """`zorank studio` in a process of its own; it can be killed and started again on its port."""

    def __init__(self, store, *arguments):
        self.command = ["-m", "zorank", "studio", "--no-browser", "--token", TOKEN]
        self.command += ["--store", str(store), *arguments]
        self.store = str(store)
        self.port = 0
        self.process = None

    def start(self, **options):
        self.process = fork_server.start([*self.command, "--port", self.port], **options)
        said = select.select([self.process.stdout], [], [], PATIENCE)[0]
        assert said, f"the studio has said nothing for {PATIENCE} s"
        line = self.process.stdout.readline()
        found = re.fullmatch(r"Studio at http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", line)
        assert found, f"the studio said {line!r}"
        self.port = int(found[1])
        return self

    def kill(self):
        self.process.close()

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            self.process.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self, token=TOKEN):
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=120)


class Small(Landscape):
    """The landscape renderer with small pictures, so that tests are quick."""

    def __init__(self, size=64):
        super().__init__(size=size)


class Plain:
    """A renderer in this process, of nothing much."""

    dim = 5

    def render(self, candidates):
        return [Exhibit("text/plain", x.tobytes()) for x in candidates]


def client_of(store, renderers, **settings):
    """A client of the owner at a studio that has just been started on a store."""
    app = create_app(store, renderers, TOKEN, hosts=("testserver",), **settings)
    return TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})


def started(store):
    return client_of(store, {"plain": Plain})
