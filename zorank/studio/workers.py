"""Several server processes on one socket: `zorank studio --workers N`.

The first process opens the socket, starts the workers and replaces those that die. Each worker is
the same command with the socket as an inherited file descriptor, so nothing but text travels
between them. They share the database, which takes every answer exactly once and tells them of each
other's changes. A worker ends when the first process does, however that ends: its standard input
is closed then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from zorank.errors import InvalidInput
from zorank.studio.shared_place import SharedPlace, shared_folder

SOCKET = "ZORANK_WORKER_SOCKET"
"""The environment variable with a worker's file descriptor."""

TOKEN = "ZORANK_WORKER_TOKEN"
READY = "ready\n"
STOP_SECONDS = 15.0
"""How long workers may take to finish their requests."""

PAUSE = 0.5
"""Seconds between two looks at the workers, and before one that died is replaced."""


@dataclass(frozen=True)
class Inherited:
    """The socket, the token and the place that a worker inherits from the first process."""

    listener: socket.socket
    token: str
    place: SharedPlace

    @classmethod
    def find(cls) -> Inherited | None:
        """Return these in a worker, None in the first process."""
        if SOCKET not in os.environ:
            return None
        listener = socket.socket(fileno=int(os.environ.pop(SOCKET)))
        return cls(listener, os.environ.pop(TOKEN), SharedPlace.inherited())


def check_workers(count: int, store_url: str | None) -> None:
    """Raise InvalidInput if this system or this store cannot have this many workers."""
    if not 1 <= count <= 64:
        raise InvalidInput(f"--workers must be from 1 to 64, found {count}")
    if count > 1 and sys.platform == "win32":
        raise InvalidInput("--workers is not supported on Windows; leave it out")
    if count > 1 and store_url == "memory://":
        raise InvalidInput("workers cannot share a store in memory; use a file or PostgreSQL")


def supervise(
    listener: socket.socket, token: str, count: int, on_ready: Callable[[], None]
) -> None:
    """Run this command in `count` workers until interrupted; call `on_ready` once they serve."""
    stopping = threading.Event()

    def stop(signum: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    workers: list[subprocess.Popen[str]] = []
    with shared_folder() as folder:
        places = [SharedPlace(folder, number, count) for number in range(count)]
        try:
            workers += [_start(listener, token, place) for place in places]
            for worker in workers:
                if not _is_ready(worker):
                    raise SystemExit(1)  # the worker has printed why
            on_ready()
            while not stopping.wait(PAUSE):
                for i, worker in enumerate(workers):
                    if worker.poll() is not None:
                        _say(f"a worker ended with status {worker.returncode}; starting another")
                        workers[i] = _start(listener, token, places[i])
                        threading.Thread(target=_is_ready, args=(workers[i],), daemon=True).start()
        finally:
            _stop(workers)


def be_ready(place: SharedPlace) -> None:
    """Tell the first process that this worker serves, and end with that process."""
    sys.stdout.write(READY)
    sys.stdout.flush()

    def wait_for_the_end() -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdin.read()
        place.remove()  # a first process that was killed has not removed it
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_the_end, daemon=True).start()


def _start(listener: socket.socket, token: str, place: SharedPlace) -> subprocess.Popen[str]:
    descriptor = listener.fileno()
    return subprocess.Popen(
        [sys.executable, "-m", "zorank", *sys.argv[1:]],
        env={**os.environ, SOCKET: str(descriptor), TOKEN: token, **place.environment},
        pass_fds=[descriptor],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _is_ready(worker: subprocess.Popen[str]) -> bool:
    return worker.stdout is not None and worker.stdout.readline() == READY


def _stop(workers: list[subprocess.Popen[str]]) -> None:
    for worker in workers:
        with contextlib.suppress(OSError):
            worker.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for worker in workers:
        try:
            worker.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def _say(text: str) -> None:
    sys.stderr.write(f"zorank: {text}\n")
    sys.stderr.flush()
