"""The part "faces" of the study of looks, with tiny models of random weights."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from zorank import InvalidInput
from zorank.experiments.looks import faces, findings
from zorank.experiments.looks import study as looks
from zorank.experiments.looks.cases import FACES
from zorank.experiments.studies import Sessions, Trial
from zorank.slates import Shell
from zorank.testing import RendererContract

CONVERT = Path(__file__).parents[2] / "benchmarks" / "faces" / "convert.py"
WIDTH = 4
"""Channels of the tiny generator."""


@pytest.fixture(scope="module")
def convert():
    spec = importlib.util.spec_from_file_location("convert", CONVERT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiny_weights():
    draws = np.random.default_rng(0)
    found = {"clip_by_value_1/Minimum/y": np.float32(1), "clip_by_value_1/y": np.float32(0)}
    for number in range(13):
        suffix = f"_{number}" if number else ""
        size = 4 if number == 0 else 1 if number == 12 else 3
        inputs, outputs = (512 if number == 0 else WIDTH), (3 if number == 12 else WIDTH)
        kernel = draws.standard_normal((size, size, inputs, outputs)) / np.sqrt(inputs) / size
        found[f"Conv2D{suffix}/merged_input"] = kernel
        found[f"add_{2 * number + 1}/y"] = np.float32(1e-8)
        if number < 12:
            found[f"module/g_model/res_{number // 2}/conv{number % 2}/bias"] = np.zeros(WIDTH)
            found[f"LeakyRelu{suffix}/alpha"] = np.float32(0.2)
    return {**found, "add_26": np.full(3, 0.5)}


def write_tfjs(folder, weights):
    """Write weights as the converter of TensorFlow.js does, in two files."""
    folder.mkdir()
    named = {f"module_apply_default/{name}": np.float32(array) for name, array in weights.items()}
    data = b"".join(array.tobytes() for array in named.values())
    (folder / "a.bin").write_bytes(data[:1001])
    (folder / "b.bin").write_bytes(data[1001:])
    listed = [
        {"name": name, "shape": list(array.shape), "dtype": "float32"}
        for name, array in named.items()
    ]
    group = {"paths": ["a.bin", "b.bin"], "weights": listed}
    (folder / "model.json").write_text(json.dumps({"weightsManifest": [group]}))


@pytest.fixture(scope="module")
def models(convert, tmp_path_factory):
    """The folder of the models."""
    folder = tmp_path_factory.mktemp("faces")
    write_tfjs(folder / "progan", tiny_weights())
    weights = convert.read_tfjs(folder / "progan")
    convert.write_faces(weights, folder / "faces.onnx")
    convert.write_look(weights, folder / "look.onnx")
    convert.write_axes(weights, folder / "axes.npy")
    graph = convert.Graph()
    x = graph.conv("x", np.random.default_rng(1).standard_normal((3, 3, 1, 7)))
    pooled = graph.add("GlobalAveragePool", graph.add("Relu", x))
    graph.save(folder / "expression.onnx", (1, 64, 64), logits=graph.add("Flatten", pooled))
    return folder


@pytest.fixture(autouse=True)
def few(models, monkeypatch):
    monkeypatch.setenv(faces.VARIABLE, str(models))
    monkeypatch.setattr(faces, "RANDOM_FACES", 12)
    cached = (faces.taste, faces._session, faces._judged, faces._axes)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


class TestFaces(RendererContract):
    @pytest.fixture(params=faces.DIMS.values())
    def renderer(self, request):
        return faces.Faces(request.param)


def test_a_doubled_picture_is_convolved_in_less_work(convert, tmp_path):
    import onnxruntime

    draws = np.random.default_rng(2)
    kernel, bias = draws.standard_normal((3, 3, 2, 5)), draws.standard_normal(5)
    x = draws.standard_normal((1, 2, 6, 7)).astype(np.float32)
    wide = convert.Graph()
    wide.save(tmp_path / "wide.onnx", (2, 12, 14), y=wide.conv("x", kernel, bias, pads=[1] * 4))
    quick = convert.Graph()
    quick.save(tmp_path / "quick.onnx", (2, 6, 7), y=convert.doubled(quick, "x", kernel, bias))
    run = [onnxruntime.InferenceSession(tmp_path / f"{n}.onnx").run for n in ("wide", "quick")]
    (expected,) = run[0](None, {"x": x.repeat(2, axis=2).repeat(2, axis=3)})
    (found,) = run[1](None, {"x": x})
    assert found == pytest.approx(expected, abs=1e-5)


def test_the_taste_is_on_the_scale_of_random_faces_and_is_of_the_picture():
    taste = faces.taste(faces.LATENTS)
    candidates = np.random.default_rng(3).standard_normal((5, faces.LATENTS))
    found = taste(candidates)
    assert found.shape == (5,)
    assert taste(candidates[2]) == pytest.approx(found[2])
    grey = np.full((128, 128, 3), 0.5, np.float32)
    outside = grey.copy()
    outside[:10] = 1  # hair and background are not judged
    assert faces.happiness(outside) == faces.happiness(grey)


def test_main_axes_are_those_that_change_the_first_layer_most():
    axes = faces._axes()
    assert axes @ axes.T == pytest.approx(np.eye(faces.AXES), abs=1e-9)
    kernel = tiny_weights()["Conv2D/merged_input"].transpose(2, 0, 1, 3).reshape(512, -1)
    strengths = np.linalg.norm(axes @ kernel, axis=1)
    assert (np.diff(strengths) <= 1e-9).all()
    assert strengths[0] == pytest.approx(np.linalg.norm(kernel, ord=2))


def test_main_coordinates_move_a_face_along_the_axes_and_keep_the_rest():
    one, other = Shell().place(np.ones(faces.AXES)), Shell().place(-np.arange(1.0, faces.AXES + 1))
    made = faces.latents(one)
    assert np.linalg.norm(made) == pytest.approx(np.sqrt(faces.LATENTS))
    assert made - faces.latents(other) == pytest.approx((one - other) @ faces._axes())
    assert (faces.picture(one) == faces.picture(made)).all()


def test_the_look_is_of_the_face_without_hair_and_background(convert, tmp_path):
    import onnxruntime

    graph, x = convert.progan(tiny_weights(), convert.LOOK_BLOCKS)
    graph.save(tmp_path / "all.onnx", (512,), all=x)
    candidate = np.random.default_rng(4).standard_normal((1, 512))
    session = onnxruntime.InferenceSession(tmp_path / "all.onnx")
    (found,) = session.run(None, {"x": candidate.astype(np.float32)})
    rows, columns = map(slice, convert.LOOK_START, convert.LOOK_END)
    inner = found[0, :, rows, columns].ravel()
    assert faces.Faces().look(candidate)[0] == pytest.approx(inner, abs=1e-5)


@pytest.mark.parametrize(("taste", "dim"), faces.DIMS.items())
def test_a_session_with_looks(taste, dim):
    study = looks.study_for(
        parts=(FACES,), methods=(looks.LOOKS,), tastes=(taste,), seeds=1, rounds=1
    )
    (condition,) = study.conditions()
    assert (condition.dim, condition.taste) == (dim, taste)
    row = looks.run_trial(Trial(condition, 3000, 1))
    assert len(row["gains"]) == 2
    assert np.isfinite(row["gains"]).all()


def test_each_taste_has_its_claim():
    study = looks.study_for(parts=(FACES,), methods=(looks.LOOKS, looks.RANDOM))
    ones = np.ones(3)
    gains = {looks.LOOKS: np.full((3, 21), 3.0), looks.RANDOM: np.full((3, 21), 2.5)}
    results = {c: Sessions(None, gains[c.method], ones, ones, ones) for c in study.conditions()}
    names = [claim.name for claim in findings.claims(study, results)]
    assert names == [
        f"faces, {t} (d = {d}): minus best of 126 random" for t, d in faces.DIMS.items()
    ]
    cases = findings.summary(study, results)["cases"]
    assert [case["meaning"] for case in cases] == list(faces.MEANINGS.values())


def test_the_part_is_not_usual_and_needs_its_models(monkeypatch):
    assert FACES not in looks.Study().parts
    monkeypatch.setenv(faces.VARIABLE, "nowhere")
    with pytest.raises(InvalidInput, match=r"benchmarks/faces/convert\.py makes.*found 'nowhere'"):
        looks.study_for(parts=(FACES,))
