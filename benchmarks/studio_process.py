"""A `zorank studio` process, for the benchmarks of the studio."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

TOKEN = "owner-token-of-the-benchmark"


@contextmanager
def studio(
    store: str,
    renderer: str,
    modules: Path | None = None,
    options: Sequence[str] = (),
    errors: IO[str] | None = None,
) -> Iterator[tuple[str, int]]:
    """Start a studio in a process group of its own; yield its address and process id.

    Args:
        store: the URL of the store.
        renderer: the name of the renderer.
        modules: a folder to import from.
        options: further arguments of `zorank studio`.
        errors: where its stderr goes; by default, to that of this process.
    """
    command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--token", TOKEN]
    command += ["--store", store, "--renderer", renderer, "--port", "0", *options]
    environment = os.environ if modules is None else {**os.environ, "PYTHONPATH": str(modules)}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        found = re.fullmatch(r"Studio at (http://127\.0\.0\.1:\d+)/\?token=\S+\n", line)
        if found is None:
            raise SystemExit(f"the studio did not start; it printed {line!r}")
        yield found[1], process.pid
    finally:
        process.terminate()
        process.send_signal(signal.SIGCONT)  # a stopped process does not handle SIGTERM
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
