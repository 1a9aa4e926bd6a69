"""Rendering in the background: several at once where a renderer likes that, and how far it is."""

import threading

import numpy as np
import pytest

from zorank.errors import InvalidInput, RenderError
from zorank.renderers import REGISTRY, Diffusers
from zorank.renderers.interface import resolve
from zorank.studio.catalog import select_renderers
from zorank.studio.render_pool import RenderPool, Urgency
from zorank.types import Exhibit

PATIENCE = 600
"""Seconds: the machine may be busy, and every wait is for a condition."""
POINTS = [np.full(2, float(number)) for number in range(6)]


class Slow:
    """Renders up to four at once, says how far it is, and waits until it is told to go on."""

    dim = 2

    def __init__(self, together=4):
        self.together = together
        self.groups = []
        self.halfway, self.go_on = threading.Event(), threading.Event()

    def render(self, candidates, progress=None):
        self.groups.append([int(x[0]) for x in candidates])
        progress(0.5)
        self.halfway.set()
        assert self.go_on.wait(PATIENCE)
        return [Exhibit("text/plain", x.tobytes()) for x in candidates]


def asked_while_busy(renderer, urgencies):
    """The gallery is busy with point 0 while the others are asked for; the groups that came."""
    gallery = RenderPool(workers=1)
    futures = [gallery.request("run", resolve(renderer), POINTS[0])]
    assert renderer.halfway.wait(PATIENCE)
    futures += [
        gallery.request("run", resolve(renderer), point, urgency)
        for point, urgency in zip(POINTS[1:], urgencies, strict=True)
    ]
    renderer.go_on.set()
    for future, point in zip(futures, POINTS, strict=True):
        assert future.result(PATIENCE).data == point.tobytes()
    return renderer.groups


def test_tasks_are_batched_unless_together_is_one():
    assert asked_while_busy(Slow(), [Urgency.SOON] * 5) == [[0], [1, 2, 3, 4], [5]]
    assert asked_while_busy(Slow(together=1), [Urgency.SOON] * 5) == [[0], [1], [2], [3], [4], [5]]


def test_what_is_needed_does_not_wait_for_what_is_guessed():
    urgencies = [
        Urgency.PREVIEWED,
        Urgency.SOON,
        Urgency.PREVIEWED,
        Urgency.SOON,
        Urgency.PREVIEWED,
    ]
    assert asked_while_busy(Slow(), urgencies) == [[0], [2, 4], [1, 3, 5]]


def test_progress_of_each_exhibit():
    renderer = Slow()
    gallery = RenderPool(workers=1)
    first = gallery.request("run", resolve(renderer), POINTS[0])
    assert renderer.halfway.wait(PATIENCE)
    assert gallery.shares("run", POINTS[:2], 0) == [0.5, None]
    renderer.go_on.set()
    first.result(PATIENCE)
    assert gallery.shares("run", POINTS[:2], 0) == [1.0, None]


def test_previews_of_each_exhibit():
    class Showing(Slow):
        def render(self, candidates, progress=None, preview=None):
            if preview is not None:
                preview(0, Exhibit("text/plain", b"a preview"))
            return super().render(candidates, progress)

    for urgency, seen in [(Urgency.SOON, b"a preview"), (Urgency.PREVIEWED, None)]:
        renderer, gallery = Showing(), RenderPool(workers=1)
        first = gallery.request("run", resolve(renderer), POINTS[0], urgency)
        assert renderer.halfway.wait(PATIENCE)
        shown, nothing = gallery.previews("run", POINTS[:2], 0)
        assert (shown and shown.data, nothing) == (seen, None)
        renderer.go_on.set()
        first.result(PATIENCE)
        assert gallery.previews("run", POINTS[:1], 0) == [None]


def test_a_failure_reaches_all_who_wait_and_can_be_tried_again():
    class Fragile(Slow):
        broken = True

        def render(self, candidates, progress=None):
            done = super().render(candidates, progress)
            return done[:-1] if self.broken and len(done) > 1 else done

    renderer = Fragile()
    with pytest.raises(ValueError, match="3 exhibits of 4 candidates"):
        asked_while_busy(renderer, [Urgency.SOON] * 5)
    renderer.broken = False
    gallery = RenderPool(workers=1)
    again = gallery.request("run", resolve(renderer), POINTS[1])
    assert again.result(PATIENCE).data == POINTS[1].tobytes()


class Telling(Slow):
    """Also says how far it is after it was told to go on."""

    def render(self, candidates, progress=None):
        exhibits = super().render(candidates, progress)
        progress(0.9)
        return exhibits


@pytest.mark.parametrize("kind", [Slow, Telling])
def test_a_closed_gallery_stops_what_it_renders_and_begins_nothing_more(kind):
    renderer = kind(together=1)
    gallery = RenderPool(workers=1)
    first, *queued = (gallery.request("run", resolve(renderer), point) for point in POINTS)
    assert renderer.halfway.wait(PATIENCE)
    gallery.close(patience=0)
    late = gallery.request("run", resolve(renderer), POINTS[5])
    for future in (*queued, late):
        assert isinstance(future.exception(PATIENCE), RenderError)
    renderer.go_on.set()
    stopped = first.exception(PATIENCE)
    assert (stopped is None) == (kind is Slow)
    assert stopped is None or "the studio is closing" in str(stopped)
    assert renderer.groups == [[0]]


# What the command line gave.


def test_a_prompt_is_filled_in_where_there_is_one():
    offered = select_renderers(None, None, {"prompt": "5"})
    assert "landscape" not in offered
    assert offered["diffusers"].given == {"prompt": "5"}
    assert offered["diffusers"].make().prompt == "5"
    assert offered["diffusers"].make(prompt="a house").prompt == "a house"


def test_options_are_of_the_kind_their_default_is():
    made = select_renderers("diffusers", None, {"steps": "12", "guidance": "3", "sampler": "ddim"})
    assert made["diffusers"].given == {"steps": 12, "guidance": 3, "sampler": "ddim"}
    assert made["diffusers"].make().renderer == Diffusers(steps=12, guidance=3, sampler="ddim")


def test_a_prompt_where_there_is_none_is_refused_with_who_takes_one():
    with pytest.raises(
        InvalidInput, match=r"landscape takes no 'prompt'; choose --renderer .*dif"
    ):
        select_renderers("landscape", None, {"prompt": "a house"})
    with pytest.raises(InvalidInput, match="no renderer takes 'colour'"):
        select_renderers(None, None, {"colour": "red"})
    assert [kind.maker for kind in select_renderers(None, None).values()] == list(
        REGISTRY.values()
    )
