"""Objectives that other processes can import."""

import os
import time
from pathlib import Path


def squares(x):
    return float(x @ x)


class DiesOnce:
    """Kills its worker, as the kernel does when memory runs out, but only the first time."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __call__(self, x):
        try:
            Path(self.marker).touch(exist_ok=False)
        except FileExistsError:
            return squares(x)
        os.kill(os.getpid(), 9)


def dies(x):
    os.kill(os.getpid(), 9)


def raises(x):
    raise KeyError("no such thing")


class Peculiar(Exception):
    """One that cannot be made again from its text."""

    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


def peculiar(x):
    raise Peculiar(1, 2)


def hangs(x):
    time.sleep(1000)


class HangsTwice:
    """Its third and its sixth call never return."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __call__(self, x):
        for call in range(1, 1000):
            try:
                Path(self.folder, str(call)).touch(exist_ok=False)
            except FileExistsError:
                continue
            return hangs(x) if call in (3, 6) else squares(x)
