"""Reads the packaged denoiser of `dream` back into torch, so that training can go on from it.

    python training/packaged.py --weights ../zorank/dream/weights --data DATA --out RUN

Checkpoints are not in the repository, the exported networks are. This writes RUN/state.pt, which
`train.py` resumes and `export.py` exports. It fails if torch and onnxruntime differ by more than
the tolerance of the export. The averages of the optimizer begin anew.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from codec import Codec
from export import check, example_inputs
from landscapes import load_pictures
from network import Denoiser
from onnx import numpy_helper
from torch import Tensor, nn
from train import Training, usual_scores

NORMS = 33
"""Normalisations of the denoiser; the exporter gives their weights names of its own."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("--weights", "--data", "--out"):
        parser.add_argument(name, type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    named, (spread, *norms) = exported_weights(args.weights / "denoiser.onnx")
    full = usual_scores(load_pictures(args.data)[1])
    training = Training(packaged_codec(args.weights / "picture.onnx", spread.flatten()), full)
    restore(training.network, named, norms)
    training.mean.load_state_dict(training.network.state_dict())
    check(training.network, args.weights / "denoiser.onnx", example_inputs())
    training.save(args.out / "state.pt")


def exported_weights(file: Path) -> tuple[dict[str, Tensor], list[Tensor]]:
    """Return the weights by name, and those without a name of ours in the order of their use."""
    graph = onnx.load(file).graph
    found = {
        weight.name.removesuffix(".half"): torch.from_numpy(
            numpy_helper.to_array(weight).astype(np.float32)
        )
        for weight in graph.initializer
    }
    used = dict.fromkeys(name for node in graph.node for name in node.input if name in found)
    named = {name: value for name, value in found.items() if not name.startswith("onnx::")}
    return named, [found[name] for name in used if name not in named]


def packaged_codec(file: Path, spread: Tensor) -> Codec:
    """Return the codec of the packaged decoder; its axes are orthogonal."""
    named, (back,) = exported_weights(file)
    into = back / (back**2).sum(1, keepdim=True)
    return Codec(named["mean"], into.contiguous(), back.T.contiguous(), spread)


def restore(network: Denoiser, named: dict[str, Tensor], norms: list[Tensor]) -> None:
    """Load exported weights into the network; the spread of the codec it already has."""
    if len(norms) != 2 * NORMS:
        raise SystemExit(f"expected {NORMS} norms with a weight and a bias, found {len(norms)}")
    left = iter(norms)
    for norm in norms_in_order(network):
        named |= {f"{norm}.weight": next(left).flatten(), f"{norm}.bias": next(left).flatten()}
    network.load_state_dict({**named, "spread": network.spread})


def norms_in_order(network: nn.Module) -> list[str]:
    """Return the names of the normalisations in the order in which a prediction uses them."""
    order: list[str] = []
    hooks = [
        module.register_forward_hook(lambda *_, name=name: order.append(name))
        for name, module in network.named_modules()
        if isinstance(module, nn.GroupNorm)
    ]
    with torch.no_grad():
        network(*example_inputs().values())
    for hook in hooks:
        hook.remove()
    return order


if __name__ == "__main__":
    main()
