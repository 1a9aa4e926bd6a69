"""Exhibits of a run's candidates as files, rendered once each.

The name of a file depends on the candidate and on the renderer with its options, so an export that
was interrupted continues, and one with other options makes other files.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zorank.data_export.tables import check_folder, not_writable, replacing
from zorank.errors import InvalidInput, RenderError, ZorankError, unknown_name
from zorank.preference_data import Judgement, candidate_id, with_candidates
from zorank.renderers.interface import RendererKind, ResolvedRenderer
from zorank.types import Exhibit, RunRecord, Vector

EXTENSIONS = {"image/jpeg": ".jpg", "image/webp": ".webp", "audio/wav": ".wav"}
"""The extensions of media types for which the system's table has none or an unusual one."""


@dataclass(frozen=True, eq=False)
class RunRenderer:
    """A renderer, and a digest of its name, its options and its weights.

    `changed` says that its weights are not those with which the run was made.
    """

    renderer: ResolvedRenderer
    digest: str
    changed: bool = False


def renderer_of(
    record: RunRecord,
    offered: Mapping[str, RendererKind],
    wanted: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> RunRenderer:
    """Return the renderer of a run, ready to render.

    Args:
        record: the run. The studio stores the renderer's name and options in it.
        offered: the renderers to choose from.
        wanted: the name of another renderer; None means the run's own.
        options: options that replace the stored ones.
    """
    own = record.meta.get("renderer")
    name = wanted or own
    if not isinstance(name, str):
        raise InvalidInput(
            f"run {record.name!r} was not made in the studio, so its renderer is not known; name "
            "it with --renderer NAME, or your own with --renderer module:object"
        )
    if wanted is not None and wanted not in offered:
        raise unknown_name("renderer", wanted, offered)
    if name not in offered:
        raise InvalidInput(
            f"run {record.name!r} is rendered by {name!r}, which is not a renderer of zorank; if "
            f"you trust that code, allow it with --renderer {name}"
        )
    stored = record.meta.get("renderer_options") if name == own else None
    chosen = {**(stored or offered[name].defaults), **(options or {})}
    renderer = offered[name].restore(chosen)
    renderer.check()
    if renderer.dim != record.x0.size:
        raise InvalidInput(
            f"the renderer {name} takes candidates of {renderer.dim} numbers, but those of run "
            f"{record.name!r} have {record.x0.size}"
        )
    identity = json.dumps([name, chosen, renderer.weights], sort_keys=True, default=str)
    before = record.meta.get("weights", "")
    changed = name == own and bool(before) and before != renderer.weights
    return RunRenderer(renderer, hashlib.sha256(identity.encode()).hexdigest()[:8], changed)


class Gallery:
    """A folder with the exhibits of candidates.

    Args:
        folder: made if it does not exist. Exhibits that it has already are not rendered again.
        source: renders the others.
    """

    def __init__(self, folder: Path, source: RunRenderer) -> None:
        self._folder, self._source = folder, source
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files = [file for file in folder.iterdir() if not file.name.startswith(".")]
        except OSError as error:
            raise not_writable(folder, error) from error
        check_folder(folder, folder)
        self._files = {file.stem: file for file in files}

    def fill(
        self,
        answers: Sequence[Judgement],
        wanted: Callable[[Judgement], Sequence[int]],
        progress: Callable[[int, int], None],
    ) -> None:
        """Render the wanted positions of each answer's slate, except those that are there.

        `progress` is called with the number of candidates that are done, and of all.
        """
        done, total = 0, sum(len(wanted(answer)) for answer in answers)
        for answer, candidates in with_candidates(answers):
            positions = wanted(answer)
            shown = {self._name(candidates[p]): candidates[p] for p in positions}
            missing = [name for name in shown if name not in self._files]
            size = max(1, self._source.renderer.together)
            for start in range(0, len(missing), size):
                group = missing[start : start + size]
                self._render({name: shown[name] for name in group}, answer.round)
                progress(done + start + len(group), total)
            done += len(positions)
            progress(done, total)

    def file(self, candidate: Vector) -> Path:
        """Return the file of a candidate that was rendered."""
        return self._files[self._name(candidate)]

    def _name(self, candidate: Vector) -> str:
        return f"{candidate_id(candidate)}-{self._source.digest}"

    def _render(self, candidates: Mapping[str, Vector], round: int) -> None:
        """Render these candidates at once, and write them."""
        renderer = self._source.renderer
        try:
            exhibits = renderer.render(candidates.values())
        except ZorankError:
            raise
        except Exception as error:  # a user's renderer may raise anything
            reason = f"{type(error).__name__}: {error}"
            raise RenderError(
                f"candidates of round {round} cannot be rendered by {renderer.name} ({reason})"
            ) from error
        for name, exhibit in zip(candidates, exhibits, strict=True):
            self._write(name, exhibit)

    def _write(self, name: str, exhibit: Exhibit) -> None:
        path = self._folder / (name + extension(exhibit.media_type))
        with replacing(path) as part:
            part.write_bytes(exhibit.data)
        self._files[name] = path


def extension(media_type: str) -> str:
    """Return the extension of files of this media type, such as .jpg."""
    kind = media_type.partition(";")[0].strip()
    return EXTENSIONS.get(kind) or mimetypes.guess_extension(kind) or ".bin"
