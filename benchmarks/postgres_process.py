"""A PostgreSQL server in a temporary folder, for the benchmarks of the studio."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres(bin_folder: Path) -> Iterator[str]:
    """Start a PostgreSQL server in a temporary folder on a free port; yield its URL."""
    folder = Path(tempfile.mkdtemp(prefix="zorank-pg-"))
    user = "nobody" if os.getuid() == 0 else None  # the server refuses to run as root
    if user:
        shutil.chown(folder, "nobody", "nogroup")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        command = [str(bin_folder / program), *arguments]
        group = "nogroup" if user else None
        subprocess.run(
            command, check=True, capture_output=True, cwd=folder, user=user, group=group
        )

    run("initdb", "-D", "data", "-U", "zorank", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
    run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")
    try:
        yield f"postgresql://zorank@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def postgres_bin() -> Path | None:
    """Return the folder of PostgreSQL's programs, if it is installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
