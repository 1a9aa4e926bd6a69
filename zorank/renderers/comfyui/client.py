"""A client of ComfyUI's HTTP interface. Every failure is one sentence.

Requests go to one address only: redirects and proxies are not followed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from zorank.errors import InvalidInput, RenderError, short
from zorank.renderers.comfyui.workflow import Nodes, label

CONNECT_SECONDS = 30.0
"""How long ComfyUI may take to answer one request."""
OK, BAD_REQUEST = 200, 400
MAX_ANSWER = 256 * 2**20
"""Bytes of an answer."""

UNCHANGED = "the run is unchanged"


@dataclass(frozen=True)
class Client:
    """Sends requests to the ComfyUI at one URL.

    Attributes:
        url: such as http://127.0.0.1:8188; a path is kept.
        seconds: how long one request may take.
    """

    url: str
    seconds: float = CONNECT_SECONDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url(self.url))

    @property
    def socket_url(self) -> str:
        """The address of the websocket."""
        return "ws" + self.url.removeprefix("http") + "/ws"

    def object_info(self, kinds: Sequence[str]) -> dict[str, Any]:
        """Return ComfyUI's description of these kinds of nodes; unknown ones are missing."""
        found: dict[str, Any] = {}
        for kind in kinds:
            answer = self._json("GET", f"/object_info/{quote(kind, safe='')}")
            found |= answer if isinstance(answer, dict) else {}
        return found

    def submit(self, nodes: Nodes, client_id: str, prompt_id: str) -> str:
        """Queue a workflow and return its id, which older servers choose themselves."""
        body = {"prompt": nodes, "client_id": client_id, "prompt_id": prompt_id}
        status, data = self._request("POST", "/prompt", body)
        answer = _parsed(data)
        if status == OK and isinstance(answer, dict) and "prompt_id" in answer:
            return str(answer["prompt_id"])
        if status == BAD_REQUEST and isinstance(answer, dict):
            raise RenderError(refusal(nodes, answer))
        raise self._unexpected(status, "/prompt")

    def history(self, prompt_id: str) -> dict[str, Any] | None:
        """Return the result of a workflow; None while it is not finished."""
        found = self._json("GET", f"/history/{quote(prompt_id, safe='')}")
        entry = found.get(prompt_id) if isinstance(found, dict) else None
        return entry if isinstance(entry, dict) else None

    def queue(self) -> tuple[list[str], list[str]]:
        """Return the ids of the workflows that run, and of those that wait."""
        found = self._json("GET", "/queue")
        answer = found if isinstance(found, dict) else {}
        running, waiting = (
            [str(item[1]) for item in answer.get(name, []) if len(item) > 1]
            for name in ("queue_running", "queue_pending")
        )
        return running, waiting

    def view(self, picture: Mapping[str, Any]) -> bytes:
        """Return the file of a picture that a workflow has made."""
        place = {name: str(picture.get(name, "")) for name in ("filename", "subfolder", "type")}
        status, data = self._request("GET", "/view?" + urlencode(place))
        if status != OK:
            raise self._unexpected(status, f"/view of {short(place['filename'])}")
        return data

    def abandon(self, prompt_ids: Sequence[str]) -> None:
        """Take workflows out of the queue and stop those that run; ignore failures."""
        quick = Client(self.url, min(self.seconds, 5.0))
        with contextlib.suppress(RenderError):
            quick._request("POST", "/queue", {"delete": list(prompt_ids)})
            # Older servers stop any running workflow, so check that it is ours.
            for prompt_id in set(quick.queue()[0]) & set(prompt_ids):
                quick._request("POST", "/interrupt", {"prompt_id": prompt_id})

    def _json(self, method: str, path: str) -> Any:
        status, data = self._request(method, path)
        if status != OK:
            raise self._unexpected(status, path)
        answer = _parsed(data)
        if answer is None:
            raise RenderError(
                f"{self.url}{path} does not answer in JSON; is it ComfyUI? Check --url"
            )
        return answer

    def _request(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        import http.client  # imported here, because it takes a while

        address = urlsplit(self.url)
        https = address.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        connection = kind(address.hostname or "", address.port, timeout=self.seconds)
        data = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, address.path + path, data, headers)
            answer = connection.getresponse()
            found = answer.read(MAX_ANSWER + 1)
        except (OSError, http.client.HTTPException) as error:
            raise self.away(error) from error
        finally:
            connection.close()
        if len(found) > MAX_ANSWER:
            raise RenderError(f"{self.url}{path:.80} sent more than {MAX_ANSWER:,} bytes")
        return answer.status, found

    def away(self, error: Exception) -> RenderError:
        """Return the error for a server that does not answer."""
        reason = "no answer in time" if isinstance(error, TimeoutError) else _reason(error)
        return RenderError(
            f"ComfyUI does not answer at {self.url} ({reason}); start it, or correct --url, and "
            f"try again: {UNCHANGED}"
        )

    def _unexpected(self, status: int, path: str) -> RenderError:
        return RenderError(
            f"{self.url} answered {path:.120} with HTTP {status}; check that it is ComfyUI, and "
            f"try again: {UNCHANGED}"
        )


def checked_url(url: str) -> str:
    """Return the URL of a ComfyUI without a final slash, or raise."""
    wanted = "the URL of ComfyUI must be such as http://127.0.0.1:8188"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except (ValueError, AttributeError):
        raise InvalidInput(f"{wanted}, found {short(url)}") from None
    if not valid or parts.query or parts.fragment or any(c <= " " or c > "~" for c in url):
        raise InvalidInput(f"{wanted}, found {short(url)}")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(f"{wanted}, without a user and a password")
    return url.rstrip("/")


def refusal(nodes: Nodes, answer: Mapping[str, Any]) -> str:
    """Say in one sentence why ComfyUI refused a workflow."""
    by_node = answer.get("node_errors")
    for node_id, about in by_node.items() if isinstance(by_node, dict) else ():
        for error in about.get("errors", []):
            said = f"{error.get('message', '')}: {error.get('details', '')}"
            return f"ComfyUI refused {label(nodes, node_id)}: {_one_line(said)}"
    error = answer.get("error")
    about = error if isinstance(error, dict) else {"message": error}
    said = " ".join(str(about[name]) for name in ("message", "details") if about.get(name))
    return f"ComfyUI refused the workflow: {_one_line(said)}"


def failure(nodes: Nodes, about: Mapping[str, Any]) -> str:
    """Say in one sentence which node failed, and why."""
    kind = str(about.get("exception_type", "error")).rpartition(".")[2]
    said = _one_line(f"{kind}: {about.get('exception_message', '')}")
    who = label(nodes, str(about.get("node_id", "?")))
    return f"in ComfyUI, {who} failed ({said}); {UNCHANGED}: try again, or mend the workflow"


def _one_line(text: str) -> str:
    return f"{' '.join(text.split()):.300}".rstrip(" :")


def _reason(error: Exception) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{said:.120}".lower()


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
