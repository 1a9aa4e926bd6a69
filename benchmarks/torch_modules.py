"""Compares tuning a module by ranks with inference, in memory and time; optionally in loss.

    python benchmarks/torch_modules.py             # memory and time, some minutes
    python benchmarks/torch_modules.py --learn 200 # and that many rounds of the language model

The module is the ten-million-parameter language model of benchmarks/language_model.py. Memory
is the peak resident size of a process: one makes m forward passes, the other trains for some
rounds on the same passages. The bound is a ratio of 1.3. Time is a round relative to m forward
passes in the same process; the excess over 1 is drawing each direction three times.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zorank._directions import Law

M = 8
BOUND = 1.3


def measure(work: str, law: Law, batch: int, rounds: int) -> dict[str, float]:
    """Do one kind of work in this process; return times and the peak resident size."""
    import torch

    from zorank.torch import RankTrainer

    torch.set_num_threads(1)
    import language_model as lm

    empty = peak_memory()
    learned, held_out, letters = lm.texts()
    model = lm.letters_model(letters, large=True)
    read = lm.passages(learned, batch, seed=0)
    found: dict[str, float] = {}

    def show() -> None:
        for _ in range(M):
            lm.surprise(model, read)

    with torch.no_grad():
        show()
        found["show"] = min(seconds(show) for _ in range(3))
        if work == "train":
            trainer = RankTrainer(model, m=M, law=law)
            trainer.step(lambda model: lm.surprise(model, read))
            found["round"] = min(
                seconds(lambda: trainer.step(lambda model: lm.surprise(model, read)))
                for _ in range(3)
            )
        if work == "learn":
            trainer = RankTrainer(model, m=M, law=law)
            found["before"] = float(lm.surprise(model, held_out))
            trainer.minimize(
                lambda model: lm.surprise(model, lm.passages(learned, batch, trainer.rounds)),
                rounds,
            )
            found["after"] = float(lm.surprise(model, held_out))
    found["numbers"] = sum(p.numel() for p in model.parameters())
    found["megabytes"], found["of its own"] = peak_memory(), peak_memory() - empty
    return found


def peak_memory() -> float:
    """Return the peak resident size of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds(action: Any) -> float:
    """Return the processor time of one call, which excludes other programs."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def measure_in_process(work: str, law: Law, batch: int, rounds: int) -> dict[str, float]:
    """Call `measure` in a fresh process."""
    arguments = ["--work", work, "--law", law, "--batch", str(batch), "--learn", str(rounds)]
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Print the table; with --work, measure in this process."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--work", choices=["show", "train", "learn"], help=argparse.SUPPRESS)
    options.add_argument("--law", default="normal", choices=["normal", "rademacher"])
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--learn", type=int, default=0, metavar="ROUNDS")
    given = options.parse_args()
    if given.work:
        print(json.dumps(measure(given.work, given.law, given.batch, given.learn)))
        return
    shown = measure_in_process("show", given.law, given.batch, 0)
    print(f"{shown['numbers']:,.0f} parameters, m = {M}, passages of {given.batch} × 32 letters")
    print(
        f"shown only: {shown['megabytes']:.0f} MB, {shown['of its own']:.0f} of them beyond "
        f"Python and torch; {shown['show']:.2f} s for {M} passes"
    )
    laws: tuple[Law, ...] = ("normal", "rademacher")
    for law in laws:
        trained = measure_in_process("train", law, given.batch, 0)
        memory = trained["megabytes"] / shown["megabytes"]
        own = trained["of its own"] / shown["of its own"]
        print(
            f"trained, {law}: {trained['megabytes']:.0f} MB, ratio {memory:.2f}, "
            f"{own:.2f} beyond Python and torch "
            f"({'within' if own <= BOUND else 'ABOVE'} {BOUND}); "
            f"a round {trained['round']:.2f} s, "
            f"{trained['round'] / trained['show']:.2f} × {M} passes"
        )
    if given.learn:
        learned = measure_in_process("learn", given.law, given.batch, given.learn)
        print(
            f"held-out loss before {learned['before']:.3f}, after {given.learn} rounds "
            f"{learned['after']:.3f}"
        )


if __name__ == "__main__":
    main()
