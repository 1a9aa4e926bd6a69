"""A simulated person ranks landscapes through the studio's HTTP interface and nothing else."""

import json
import subprocess
import sys
import tempfile
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

from zorank.renderers import Landscape

WISHES = ("night", "snow", "moon", "lake")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
painter = Landscape()


def liked(x: list[float]) -> float:
    """How much of what they wish for is in a picture."""
    attributes = painter.attributes(np.array(x))
    return sum(float(attributes[wish]) for wish in WISHES)


with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--port", "0"]
    command += ["--store", f"{folder}/runs.db", "--renderer", "landscape"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        link = (studio.stdout or sys.stdin).readline().split()[-1]
        address, _, token = link.partition("/?token=")

        def call(path: str, body: Any = None) -> Any:
            """Send a request, with a body if there is one, and return the response."""
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            request = Request(address + path, body and json.dumps(body).encode(), headers)
            return json.load(urlopen(request))

        run = "/api/runs/" + call("/api/runs", {"renderer": "landscape", "seed": 0})["id"]
        for n in range(ROUNDS):
            shown = call(f"{run}/rounds/{n}/candidates")["candidates"]
            order = sorted(range(len(shown)), key=lambda i: -liked(shown[i]))
            call(f"{run}/rounds/{n}/answer", {"order": [[i] for i in order[:3]]})
            print(f"round {n}: the best picture has {liked(shown[order[0]]):.2f} of {len(WISHES)}")
        studio.terminate()
