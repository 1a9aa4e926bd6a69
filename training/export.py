"""Exports the trained networks to ONNX with half-precision weights, and checks them.

    python training/export.py --run RUN --out zorank/dream/weights

The upscaler and the judge are exported if RUN has them; a run that goes on from the packaged
weights has only the denoiser.

Weights are stored as float16 and cast to float32 on loading, so that inference is in float32. The
check fails if an output differs from torch by more than MOST_DIFFERENCE.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from codec import Codec
from network import COMPONENTS, GRID, Denoiser, Judge, Upscaler
from onnx import helper, numpy_helper
from torch import Tensor, nn

from zorank.dream.vocabulary import WORDS

SMALL = 1000  # smaller tensors stay float32
MOST_DIFFERENCE = 1e-4


class Picture(nn.Module):
    """Maps a clean grid to a large and a small picture, RGB from 0 to 1."""

    def __init__(self, codec: Codec, upscaler: Upscaler) -> None:
        super().__init__()
        self.upscaler = upscaler
        self.register_buffer("mean", codec.mean)
        self.register_buffer("back", codec.back)

    def forward(self, grids: Tensor) -> tuple[Tensor, Tensor]:
        codec = Codec(self.mean, self.back.T, self.back, self.back[0])
        small = codec.decode(grids).clamp(-1, 1)
        return (self.upscaler(small).clamp(-1, 1) + 1) / 2, (small + 1) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    state = torch.load(args.run / "state.pt")
    denoiser = Denoiser(len(WORDS))
    denoiser.load_state_dict(state["mean"])
    write(denoiser, args.out / "denoiser.onnx", example_inputs(), ["clean"])
    grids, words = example_inputs()["noisy"], example_inputs()["words"]
    if (args.run / "upscaler.pt").exists():
        upscaler = Upscaler()
        upscaler.load_state_dict(torch.load(args.run / "upscaler.pt"))
        picture = Picture(Codec(**state["codec"]), upscaler)
        write(picture, args.out / "picture.onnx", {"grids": grids}, ["large", "small"])
    if (args.run / "judge.pt").exists():
        judge = Judge(len(WORDS))
        judge.load_state_dict(torch.load(args.run / "judge.pt"))
        pictures = torch.rand(2, 3, 64, 64) * 2 - 1
        write(judge, args.out / "judge.onnx", {"pictures": pictures, "words": words}, ["fit"])


def example_inputs() -> dict[str, Tensor]:
    """Return inputs of the denoiser."""
    words = torch.zeros(2, len(WORDS))
    words[0, 0] = 1
    return {
        "noisy": torch.randn(2, COMPONENTS, GRID, GRID),
        "cleanness": torch.tensor([0.3, 0.7]),
        "words": words,
    }


def write(network: nn.Module, file: Path, inputs: dict[str, Tensor], outputs: list[str]) -> None:
    """Export a network, store its weights as float16, and check its outputs."""
    network.eval()
    halve_weights(network)
    torch.onnx.export(
        network,
        tuple(inputs.values()),
        str(file),
        input_names=list(inputs),
        output_names=outputs,
        dynamic_axes={name: {0: "many"} for name in [*inputs, *outputs]},
        opset_version=17,
        dynamo=False,
    )
    onnx.save(with_halved_weights(onnx.load(file)), file)
    check(network, file, inputs)


def check(network: nn.Module, file: Path, inputs: dict[str, Tensor]) -> None:
    """Exit if torch and onnxruntime differ by more than the tolerance."""
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    found = session.run(None, {name: value.numpy() for name, value in inputs.items()})
    with torch.no_grad():
        wanted = network(*inputs.values())
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    difference = max(np.abs(a - b.numpy()).max() for a, b in zip(found, wanted, strict=True))
    print(
        f"{file.name}: {file.stat().st_size / 1e6:.2f} MB, difference from torch {difference:.1e}"
    )
    if difference > MOST_DIFFERENCE:
        raise SystemExit(f"{file} does not compute the same as torch")


def halve_weights(network: nn.Module) -> None:
    """Round large weights to half precision, so that torch and ONNX have the same weights."""
    with torch.no_grad():
        for weight in network.parameters():
            if weight.numel() >= SMALL:
                weight.copy_(weight.half().float())


def with_halved_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Store large weights as float16, with a cast to float32."""
    casts = []
    for weight in list(model.graph.initializer):
        numbers = numpy_helper.to_array(weight)
        if numbers.dtype != np.float32 or numbers.size < SMALL:
            continue
        name = weight.name
        weight.CopyFrom(numpy_helper.from_array(numbers.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(casts + nodes)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    main()
