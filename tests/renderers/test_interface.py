"""A renderer's interface: two members suffice, a hook has one default, nothing is read early."""

import dataclasses
import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.helpers.processes import python
from zorank.dream import model
from zorank.errors import InvalidInput
from zorank.protocols import Renderer
from zorank.renderers import REGISTRY, Diffusers, Dream, Landscape, PolicyClips
from zorank.renderers.interface import (
    HOOKS,
    PARAMETERS,
    RendererKind,
    ResolvedRenderer,
    kinds_of,
    resolve,
)
from zorank.renderers.interface.reading import RENAMED, read, takes_parameter
from zorank.renderers.options import option
from zorank.stores import open_store
from zorank.studio import create_app
from zorank.studio.catalog import select_renderers
from zorank.types import Exhibit


class Plain:
    dim = 3

    def render(self, candidates):
        return [Exhibit("text/plain", np.asarray(x).tobytes()) for x in candidates]


POINTS = list(np.eye(3))
NOTHING = Exhibit("text/plain", b"")


# Two members suffice.


def test_a_renderer_of_two_members_has_a_default_for_everything_else():
    found = resolve(Plain())
    assert (found.dim, found.media_type, found.space) == (3, "image/jpeg", "gaussian")
    assert (found.title, found.description, found.prompt) == ("Plain", "", "")
    assert (found.size, found.together, found.weights) == (None, 1, "")
    assert (found.tells_progress, found.shows_previews) == (False, False)
    assert (found.export_name, found.export, found.look, found.small_picture) == (None,) * 4
    assert (found.check(), found.drift(POINTS[0])) == (None, None)
    assert found.resized(64) is found
    drawn = found.render(iter(POINTS), progress=print, preview=print)
    assert [exhibit.data for exhibit in drawn] == [x.tobytes() for x in POINTS]
    assert resolve(found) is found


def test_without_a_warm_up_one_candidate_is_rendered():
    class Counting(Plain):
        drawn = 0

        def render(self, candidates):
            self.drawn += len(candidates)
            return super().render(candidates)

    renderer = Counting()
    resolve(renderer).warm_up()
    assert renderer.drawn == 1


def test_a_resolved_renderer_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        resolve(Plain()).title = "another"


# Every hook.


class Rich:
    dim = np.int64(3)
    media_type = "image/png"
    space = "euclidean"
    title = "Rich"
    description = "All of it."
    prompt = "a lake"
    size = 32
    together = 4
    weights = "0a1b2c"
    export_name = "thing.json"
    note = "A file is missing."

    def __init__(self):
        self.called = []

    def render(self, candidates, progress=None, preview=None):
        self.called.append(("render", progress, preview))
        return [NOTHING for _ in candidates]

    def check(self):
        self.called.append("check")

    def warm_up(self):
        self.called.append("warm_up")

    def drift(self, candidate):
        return {"norm": float(np.linalg.norm(candidate))}

    def export(self, candidate):
        return candidate.tobytes()

    def look(self, candidates):
        return np.asarray(candidates)[:, :2]

    def small_picture(self, candidate):
        return np.zeros((2, 2, 3), np.float32)


@pytest.mark.parametrize("hook", [h for h in HOOKS if "(" not in HOOKS[h].signature])
def test_a_value_that_a_renderer_has_stands_for_the_default(hook):
    assert getattr(resolve(Rich()), hook) == getattr(Rich, hook) != HOOKS[hook].default


def test_methods_that_a_renderer_has_are_called():
    renderer = Rich()
    found = resolve(renderer)
    found.check()
    found.warm_up()
    assert renderer.called == ["check", "warm_up"]
    assert found.drift(POINTS[0]) == {"norm": 1}
    assert found.export(POINTS[1]) == POINTS[1].tobytes()
    assert found.look(np.eye(3)).shape == (3, 2)
    assert found.small_picture(POINTS[0]).shape == (2, 2, 3)
    assert (found.dim, type(found.dim)) == (3, int)


def test_render_is_given_what_it_takes_if_there_is_something_to_give():
    class Telling(Plain):
        def render(self, candidates, progress=None):
            progress(0.5)
            return super().render(candidates)

    shares = []
    found = resolve(Telling())
    assert (found.tells_progress, found.shows_previews) == (True, False)
    found.render(POINTS, progress=shares.append, preview=print)
    assert shares == [0.5]
    renderer = Rich()
    resolve(renderer).render(POINTS, print, print)
    resolve(renderer).render(POINTS)
    assert renderer.called == [("render", print, print), ("render", None, None)]


def test_a_render_that_does_not_say_what_it_takes_is_given_candidates_alone():
    class Silent(Plain):
        render = property(lambda self: Unsaid())

    class Unsaid:
        __signature__ = "none"

        def __call__(self, candidates):
            return [NOTHING for _ in candidates]

    assert resolve(Silent()).render(POINTS, print, print) == [NOTHING] * 3


def test_a_wrong_number_of_exhibits_is_refused():
    class Short(Plain):
        def render(self, candidates):
            return []

    with pytest.raises(ValueError, match="0 exhibits of 3 candidates"):
        resolve(Short()).render(POINTS)


def test_what_is_no_exhibit_is_refused():
    class Raw(Plain):
        def render(self, candidates):
            return [b"a picture" for _ in candidates]

    with pytest.raises(TypeError, match="must return an Exhibit for each, found b'a picture'"):
        resolve(Raw()).render(POINTS)


@pytest.mark.parametrize(
    ("member", "value", "found"),
    [
        ("title", None, "Odd"),
        ("prompt", None, ""),
        ("size", "large", None),
        ("size", True, None),
        ("export_name", "file.json", None),  # without export
        ("weights", "/home/somebody/model.pt", ""),
        ("weights", np.zeros(3), ""),
        ("weights", "a&b", ""),
        ("look", 3, None),
    ],
)
def test_what_is_not_of_the_declared_type_counts_as_missing(member, value, found):
    odd = type("Odd", (Plain,), {member: value})()
    assert getattr(resolve(odd), member) == found


def test_dream_says_which_weights_draw():
    assert resolve(Dream()).weights == model.fingerprint()
    assert resolve(Landscape()).weights == ""


# Sizes.


def test_a_dataclass_with_a_size_can_be_asked_for_another():
    found = resolve(Landscape(64), "landscape")
    larger = found.resized(96)
    assert (found.size, larger.size, larger.renderer) == (64, 96, Landscape(96))
    assert larger.name == "landscape"
    assert found.resized(None) is found
    rich = resolve(Rich())  # no dataclass: there is nothing to replace
    assert rich.resized(96) is rich


# The declaration is all there is.


def members_read(renderer_class, use):
    """The names of members that are read of a renderer while it is used."""
    names = set()

    class Watched(renderer_class):
        def __getattribute__(self, name):
            names.add(name)
            return super().__getattribute__(name)

    use(Watched())
    return {name for name in names if not name.startswith("__")}


def use_everything(renderer):
    found = resolve(renderer)
    for field in dataclasses.fields(ResolvedRenderer):
        getattr(found, field.name)
    assert found.dim == 3
    assert (found.together, found.weights, found.note) == (1, "", "")
    found.resized(64)


def test_resolve_reads_what_is_declared_and_nothing_else():
    assert members_read(Plain, use_everything) == {*HOOKS, *RENAMED.values(), "dim", "render"}


def test_a_member_or_parameter_that_is_not_declared_cannot_be_read():
    with pytest.raises(KeyError):
        read(Plain(), "colour")
    with pytest.raises(KeyError):
        takes_parameter(Plain(), "colour")


def test_every_hook_and_parameter_is_a_member_of_what_is_resolved():
    known = {name for name, _ in inspect.getmembers(ResolvedRenderer)}
    known |= {field.name for field in dataclasses.fields(ResolvedRenderer)}
    assert [hook for hook in HOOKS if hook not in known] == []
    assert set(PARAMETERS) < set(inspect.signature(ResolvedRenderer.render).parameters)
    assert all(hook.signature and hook.about.endswith(".") for hook in HOOKS.values())


def test_members_that_may_load_a_model_are_not_read_to_resolve_or_describe():
    read_early = members_read(Plain, resolve)
    assert {"dim", "together", "weights"}.isdisjoint(read_early)

    class Heavy(Plain):
        @property
        def dim(self):
            raise AssertionError("loads a model")

        together = weights = dim

    resolve(Heavy())
    RendererKind.of("heavy", Heavy)
    assert RendererKind.of("heavy", Heavy()).make().media_type == "image/jpeg"


def test_the_page_of_runs_opens_no_model(tmp_path):
    class Heavy(Plain):
        loaded = 0

        @property
        def dim(self):
            type(self).loaded += 1
            return 3

    store = open_store(str(tmp_path / "runs.db"))
    headers = {"Authorization": "Bearer t0ken"}
    app = create_app(store, {"heavy": Heavy}, "t0ken", hosts=("testserver",))
    TestClient(app, headers=headers).post("/api/runs", json={"renderer": "heavy"})
    before = Heavy.loaded
    app = create_app(store, {"heavy": Heavy}, "t0ken", hosts=("testserver",))
    client = TestClient(app, headers=headers)
    (card,) = client.get("/api/runs").json()
    assert "problem" not in card
    assert client.get("/api/renderers").status_code == 200
    assert Heavy.loaded == before
    store.close()


def test_a_together_that_fails_counts_as_one():
    class Broken(Plain):
        @property
        def together(self):
            raise RuntimeError("no model there")

    assert resolve(Broken()).together == 1
    assert resolve(type("Odd", (Plain,), {"together": "many"})()).together == 1


# Objects that are not renderers.


@pytest.mark.parametrize("thing", [3, object(), type("Undrawn", (), {"dim": 3})()])
def test_a_thing_without_render_is_refused(thing):
    with pytest.raises(InvalidInput, match="is not a renderer: it needs a whole number `dim`"):
        resolve(thing)


@pytest.mark.parametrize("dim", [0, -1, 2.5, "3", True, None])
def test_a_dim_that_is_no_number_of_coordinates_is_refused(dim):
    odd = type("Odd", (Plain,), {"dim": dim})
    with pytest.raises(InvalidInput, match="Odd is not a renderer"):
        _ = resolve(odd()).dim
    with pytest.raises(InvalidInput, match="mine:odd is not a renderer"):
        select_renderers("mine:odd", {"mine:odd": odd}.__getitem__)


def test_things_that_are_no_renderer_are_refused_by_name_where_they_enter():
    for thing in (3, object, lambda: 5):
        with pytest.raises(InvalidInput, match=r"mine:it is not a renderer"):
            select_renderers("mine:it", {"mine:it": thing}.__getitem__)
    with pytest.raises(InvalidInput, match="wrong is not a renderer"):
        kinds_of({"wrong": 3})


# Kinds.


@dataclass(frozen=True)
class Dots:
    dots: int = option(260, "How many.")
    paper: str = option("white", "Its colour.", choices=("white", "black"))
    size: int = 64
    model: object = None

    dim = 3
    title = "Dots"
    media_type = "image/svg+xml"

    def render(self, candidates):
        return [NOTHING for _ in candidates]


def test_a_dataclass_says_its_options_and_a_form_has_fields_for_some():
    kind = RendererKind.of("dots", Dots)
    assert dict(kind.options) == {"dots": 260, "paper": "white", "size": 64, "model": None}
    assert kind.defaults == {"dots": 260, "paper": "white", "size": 64}
    assert [field["name"] for field in kind.form] == ["dots", "paper"]
    choice = {"type": "choice", "choices": ["white", "black"], "default": "white"}
    assert kind.form[1] == {"name": "paper", **choice, "help": "Its colour.", "more": True}
    assert (kind.title, kind.media_type, kind.tells_progress) == ("Dots", "image/svg+xml", False)
    assert kind.takes(["dots", "size"])
    assert not kind.takes(["dots", "colour"])
    assert RendererKind.of("diffusers", Diffusers).tells_progress


def test_options_are_filled_in_for_new_runs_alone():
    plain = RendererKind.of("dots", Dots)
    kind = plain.filled({"dots": 5}).filled({"paper": "black"})
    assert kind.make().renderer == Dots(5, "black")
    assert kind.make(dots=7).renderer == Dots(7, "black")
    assert kind.restore({"paper": "white"}).renderer == Dots()
    assert kind.defaults == {"dots": 5, "paper": "black", "size": 64}
    assert [field["default"] for field in kind.form] == [5, "black"]
    assert plain.make().renderer == Dots()


def test_options_that_it_does_not_take_are_refused_by_name():
    with pytest.raises(InvalidInput, match=r"the renderer dots cannot take \{'colour': 1\}"):
        RendererKind.of("dots", Dots).make(colour=1)


def test_a_factory_is_called_once_for_each_renderer_and_nothing_before():
    made = []

    def factory(dots=3):
        made.append(dots)
        return Dots(dots)

    kind = RendererKind.of("factory", factory)
    assert (made, kind.title, kind.form) == ([], "factory", [])
    assert dict(kind.options) == {"dots": 3}
    assert kind.make(dots=4).renderer == Dots(4)
    assert made == [4]
    tried = RendererKind.tried("mine:factory", factory)
    assert tried.make().renderer is tried.make().renderer
    assert (made, tried.title) == ([4, 3], "Dots")


def test_a_ready_made_object_is_always_the_same():
    ready = Rich()
    kind = RendererKind.of("mine:rich", ready)
    assert kind.make().renderer is ready
    assert kind.restore({}).renderer is ready
    assert (kind.title, kind.media_type, dict(kind.options)) == ("Rich", "image/png", {})
    assert kind.tells_progress
    with pytest.raises(InvalidInput, match="mine:rich cannot take"):
        kind.make(colour=1)
    assert RendererKind.of("mine:rich", kind) is kind


def test_a_class_does_not_take_its_properties_for_their_values():
    class Late(Plain):
        @property
        def title(self):
            return "Late"

        media_type = description = title

    kind = RendererKind.of("mine:late", Late)
    assert (kind.title, kind.media_type, kind.description) == ("late", "image/jpeg", "")
    assert kind.make().title == "Late"


def test_one_default_wherever_a_renderer_comes_from(tmp_path):
    """Of a class, a factory or an object, given by any door, a missing member is the same."""
    kinds = [RendererKind.of("mine:Plain", found) for found in (Plain, lambda: Plain(), Plain())]
    kinds += [RendererKind.tried("mine:Plain", found) for found in (Plain, Plain, Plain())]
    told = {(k.title, k.description, k.media_type, k.tells_progress) for k in kinds}
    assert told == {("Plain", "", "image/jpeg", False)}
    made = {(r.title, r.media_type, r.space, r.size) for r in (kind.make() for kind in kinds)}
    assert made == {("Plain", "image/jpeg", "gaussian", None)}


def test_a_studio_takes_classes_factories_objects_and_kinds(tmp_path):
    store = open_store(str(tmp_path / "runs.db"))
    found = {"class": Plain, "factory": lambda: Plain(), "object": Plain()}
    found["kind"] = RendererKind.of("kind", Plain)
    app = create_app(store, found, "t0ken", hosts=("testserver",))
    client = TestClient(app, headers={"Authorization": "Bearer t0ken"})
    assert [shown["name"] for shown in client.get("/api/renderers").json()] == list(found)
    for name in found:
        assert client.post("/api/runs", json={"renderer": name}).status_code == 201
    store.close()


# Those that come along.


@pytest.mark.parametrize("name", REGISTRY)
def test_built_in_renderers_are_resolved_without_loading_models(name):
    found = RendererKind.of(name, REGISTRY[name]).make()
    assert found.description
    assert found.title != name
    assert isinstance(found.renderer, REGISTRY[name])


def test_clips_have_a_file_of_their_own():
    found = resolve(PolicyClips())
    assert (found.export_name, found.media_type) == ("policy.json", "video/mp4")
    assert found.export is not None


def test_the_interface_loads_nothing_heavy():
    program = (
        "import sys; from zorank.renderers.interface import kinds_of;"
        "from zorank.renderers import REGISTRY;"
        "[kind.make() for kind in kinds_of(REGISTRY).values()];"
        "print(*{'torch', 'diffusers', 'onnxruntime', 'PIL', 'mujoco'} & {*sys.modules})"
    )
    loaded = python(program).strip()
    assert not loaded, f"registering renderers imported {loaded}: import it in `render`"


def test_what_is_resolved_is_a_renderer_itself():
    def dim_of(renderer: Renderer) -> int:
        return renderer.dim

    assert dim_of(resolve(Rich())) == 3
