"""Runs to export, their renderers, and the export itself."""

import csv
import io
from dataclasses import dataclass

import numpy as np

from zorank import Ballot, Poll, Ranking, Run
from zorank.data_export import Export, export_data, renderer_of
from zorank.renderers import REGISTRY
from zorank.renderers.interface import kinds_of
from zorank.types import Exhibit

DIM = 3


@dataclass(frozen=True)
class Words:
    """Texts of three numbers; counts what it renders."""

    fails_at: int = 10**9
    prompt: str = "Three numbers"
    dim = DIM
    media_type = "text/plain"

    def render(self, candidates):
        exhibits = []
        for x in candidates:
            RENDERED.append(x)
            if len(RENDERED) > self.fails_at:
                raise OSError("no ink")
            exhibits.append(Exhibit("text/plain", f"é {x[0]:.3f} {x[1]:.3f}".encode()))
        return exhibits


@dataclass(frozen=True)
class Dots(Words):
    """PNG pictures of one colour."""

    media_type = "image/png"

    def render(self, candidates):
        from PIL import Image

        found = []
        for x in candidates:
            RENDERED.append(x)
            colour = tuple(int(127 + 100 * np.tanh(v)) for v in x)
            file = io.BytesIO()
            Image.new("RGB", (8, 8), colour).save(file, "PNG")
            found.append(Exhibit("image/png", file.getvalue()))
        return found


RENDERED: list[np.ndarray] = []
OFFERED = kinds_of({"words": Words, "dots": Dots, **REGISTRY})


def new_run(renderer="words", **options):
    meta = {"title": "Evening", "renderer": renderer, "renderer_options": options}
    return Run("zo-ranksgd", np.ones(DIM), seed=1, name="evening", meta=meta)


def answered(run):
    for _ in range(2):  # a slate of ten, and a line search
        run.ask()
        ann, bob = Ballot("Ann", Ranking.of([1, [0, 2]])), Ballot("Bob", Ranking.pair(2, 1), 0.5)
        eve = Ballot("Eve", Ranking.pair(0, 1), 0.0)
        run.tell(Poll((ann, bob, eve)))
    return run


def export(run, format, out=None, wanted=None, options=None, progress=None, **more):
    def renderer():
        return renderer_of(run.record, OFFERED, wanted, options)

    shown = [] if progress is None else progress
    wish = Export(format, out, **more)
    return export_data(run, wish, renderer, lambda done, total: shown.append((done, total)))


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
