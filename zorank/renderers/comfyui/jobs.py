"""Runs workflows on a ComfyUI: queues them, follows them, and cancels abandoned ones.

A websocket brings progress, previews and the end of a workflow; whether it has ended, and how, is
read from `/history`. If the socket fails, only progress is lost: the history is then polled.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zorank.errors import RenderError, required_by
from zorank.renderers.comfyui.client import UNCHANGED, Client, failure
from zorank.renderers.comfyui.workflow import Nodes, weights_of_work

POLL_SECONDS = (0.05, 0.5)
"""Seconds between the first two looks at the history without a socket, and at most."""
QUIET_SECONDS = 3.0
"""Seconds after which the history is read although there is a socket."""
TICK_SECONDS = 0.25
"""Seconds between calls of `progress`, which raises if the studio ends."""
MAX_MESSAGE = 64 * 2**20
"""Bytes of a message: a preview."""

CLOSE_SECONDS = 1.0
"""How long ComfyUI may take to confirm that a socket is closed."""

_PREVIEW = 1
_PREVIEW_HEADER = 8
"""Bytes before a preview's picture: the kinds of the message and of the picture."""


@dataclass
class Job:
    """A workflow in the queue.

    Attributes:
        nodes: the workflow.
        prompt_id: its id in ComfyUI.
        done: the nodes that have run.
        share: of the work, from 0 to 1.
        outputs: what it has made, once it has ended.
    """

    nodes: Nodes
    prompt_id: str
    done: set[str] = field(default_factory=set)
    share: float = 0.0
    outputs: Mapping[str, Any] | None = None

    def advance(self, node: str | None, part: float = 0.0) -> None:
        """Note that this share of a node is done, and all of the nodes before it."""
        weights = weights_of_work(self.nodes)
        finished = sum(weights.get(each, 0.0) for each in self.done - {node})
        now = finished + min(max(part, 0.0), 1.0) * weights.get(node or "", 0.0)
        self.share = max(self.share, min(now / sum(weights.values()), 1.0))
        if node is not None:
            self.done.add(node)


@dataclass
class Work:
    """Some workflows that are followed together, over one socket.

    Attributes:
        client: where they run.
        patience: seconds without progress after which they are given up.
        progress: called often with the shares of all jobs; if it raises, they are given up.
        preview: called with the position of a job and an intermediate picture.
    """

    client: Client
    patience: float
    progress: Callable[[list[float]], None]
    preview: Callable[[int, bytes], None]
    jobs: list[Job] = field(default_factory=list)
    running: Job | None = None
    news: float = 0.0
    polled: float = 0.0
    queue: Any = None
    pause: float = POLL_SECONDS[0]

    def run(self, workflows: Sequence[Nodes]) -> list[Mapping[str, Any]]:
        """Return the outputs of each workflow, by node."""
        client_id = uuid.uuid4().hex
        with _socket(self.client, client_id) as socket:
            try:
                for nodes in workflows:
                    self._submit(nodes, client_id)
                self._follow(socket)
            finally:
                self._abandon()
        return [job.outputs or {} for job in self.jobs]

    def _submit(self, nodes: Nodes, client_id: str) -> None:
        job = Job(nodes, str(uuid.uuid4()))
        self.jobs.append(job)
        _unfinished()[job.prompt_id] = self.client  # cancelled even if the response never arrives
        found = self.client.submit(nodes, client_id, job.prompt_id)
        if found != job.prompt_id:
            del _unfinished()[job.prompt_id]
            job.prompt_id = found
            _unfinished()[found] = self.client

    def _waiting(self) -> list[Job]:
        return [job for job in self.jobs if job.outputs is None]

    def _follow(self, socket: Any) -> None:
        self.news = self.polled = time.monotonic()
        while self._waiting():
            try:
                ended = self._listen(socket)
            except _SocketFailed:
                socket, ended = None, True
            if ended:
                self._poll()
            self.progress([job.share for job in self.jobs])
            if time.monotonic() - self.news > self.patience:
                raise RenderError(
                    f"ComfyUI at {self.client.url} has made no progress for {self.patience:g} s; "
                    f"look at its queue, or allow more with --option timeout=…: {UNCHANGED}"
                )

    def _listen(self, socket: Any) -> bool:
        """Take one message, and return whether the history has to be read."""
        if socket is None:
            time.sleep(min(self.pause, self.patience))
            self.pause = min(1.5 * self.pause, POLL_SECONDS[1])
            return True
        try:
            message = socket.recv(timeout=min(TICK_SECONDS, self.patience))
        except TimeoutError:
            return time.monotonic() - self.polled > min(QUIET_SECONDS, self.patience)
        except Exception as error:  # websockets raises errors of many types
            raise _SocketFailed from error
        if isinstance(message, bytes):
            self._show(message)
            return False
        return self._hear(message)

    def _show(self, message: bytes) -> None:
        kind = int.from_bytes(message[:4], "big")
        if kind == _PREVIEW and self.running is not None and len(message) > _PREVIEW_HEADER:
            self.preview(self.jobs.index(self.running), message[_PREVIEW_HEADER:])

    def _hear(self, message: str) -> bool:
        try:
            said = json.loads(message)
            kind, about = said["type"], said["data"]
            job = next((j for j in self.jobs if j.prompt_id == about.get("prompt_id")), None)
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        if job is None:
            return False
        self.news, self.running = time.monotonic(), job
        if kind == "execution_cached":
            job.done |= {str(node) for node in about.get("nodes", [])}
        elif kind == "executing" and about.get("node") is not None:
            job.advance(str(about["node"]))
        elif kind == "progress" and about.get("node") is not None:
            job.advance(str(about["node"]), float(about["value"]) / max(float(about["max"]), 1.0))
        else:
            return kind in ("executing", "execution_error", "execution_interrupted")
        return False

    def _poll(self) -> None:
        """Read what has ended; raise if a workflow failed or was lost."""
        self.polled = time.monotonic()
        queue = self.client.queue()
        if queue != self.queue:  # a moving queue counts as progress
            self.news, self.queue = time.monotonic(), queue
        for job in self._waiting():
            entry = self.client.history(job.prompt_id)
            if entry is not None:
                job.outputs = _outputs(job, entry)
                job.share = 1.0
                _unfinished().pop(job.prompt_id, None)
            elif not any(job.prompt_id in ids for ids in queue):
                self._check_lost(job)

    def _check_lost(self, job: Job) -> None:
        """Raise unless the workflow ended between the two requests."""
        known = [prompt_id for ids in self.client.queue() for prompt_id in ids]
        if job.prompt_id not in known and self.client.history(job.prompt_id) is None:
            raise RenderError(
                f"ComfyUI at {self.client.url} has lost the picture: it was restarted, or its "
                f"queue was cleared; try again: {UNCHANGED}"
            )

    def _abandon(self) -> None:
        left = [job.prompt_id for job in self.jobs if job.prompt_id in _unfinished()]
        if left:
            self.client.abandon(left)
        for prompt_id in left:
            _unfinished().pop(prompt_id, None)


class _SocketFailed(Exception):
    """The websocket is closed; the history can still be polled."""


def _outputs(job: Job, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    status = entry.get("status") or {}
    for said in status.get("messages", []):
        if said[0] == "execution_error":
            raise RenderError(failure(job.nodes, said[1]))
        if said[0] == "execution_interrupted":
            raise RenderError(f"the picture was interrupted in ComfyUI; try again: {UNCHANGED}")
    if status.get("status_str") == "error":
        raise RenderError(f"the workflow failed in ComfyUI; see its log: {UNCHANGED}")
    outputs = entry.get("outputs")
    return outputs if isinstance(outputs, dict) else {}


@contextlib.contextmanager
def _socket(client: Client, client_id: str) -> Iterator[Any]:
    """Open the websocket; None if that fails."""
    with required_by("the renderer comfyui", "websockets", "comfyui"):
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect
    with contextlib.ExitStack() as stack:
        try:
            opened: Any = stack.enter_context(
                connect(
                    f"{client.socket_url}?clientId={client_id}",
                    proxy=None,
                    open_timeout=client.seconds,
                    close_timeout=CLOSE_SECONDS,
                    max_size=MAX_MESSAGE,
                    max_queue=None,  # a full queue would delay closing
                )
            )
        except ConnectionRefusedError as error:
            raise client.away(error) from error
        except (OSError, WebSocketException):
            opened = None
        yield opened


@functools.cache
def _unfinished() -> dict[str, Client]:
    """Return the workflows in queues; those that are left when Python exits are abandoned."""
    left: dict[str, Client] = {}

    def abandon_all() -> None:
        items = list(left.items())
        for client in {client for _, client in items}:
            client.abandon([prompt_id for prompt_id, its in items if its == client])

    atexit.register(abandon_all)
    return left
