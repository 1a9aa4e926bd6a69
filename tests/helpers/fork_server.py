"""Start Python programs by forking a process that has already imported what they need.

Importing the studio takes 2.5 s of processor time, a fork takes milliseconds. The children are
ordinary processes: they have an environment, a folder and streams of their own, and can be killed.

A request is one message on a socket pair: JSON, and the descriptors of the three streams and of a
pipe. A small process between server and child writes the child's id and exit code to that pipe.
"""

import array
import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDIO = (
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "PIL.WebPImagePlugin",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "scipy.special",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "zorank.cli",
    "zorank.experiments.paper",
    "zorank.renderers.landscape",
    "zorank.studio.catalog",
    "zorank.studio.server",
)
MOST_BYTES = 150_000
# Enough for a busy machine: a program that takes longer will never end.
PATIENCE = 600


class Child:
    """A started program, with those members of `subprocess.Popen` that tests use."""

    def __init__(self, stdout, report):
        self.stdout = stdout
        self.returncode = None
        self._report = report
        pid = report.readline()
        assert pid, "the fork server has ended: see its error output"
        self.pid = int(pid)

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout=PATIENCE):
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            self.returncode = int(self._report.readline())
            self._report.close()
        return self.returncode

    def close(self):
        """Kill the program if it still runs, and close its output."""
        self.kill()
        self.wait()
        self.stdout.close()


def start(arguments, *, preload=STUDIO, stdout=None, stderr=None, stdin=None, **options):
    """Start `python arguments` and return the child; its output is a pipe unless a file is given.

    `options` are `env`, `cwd` and `warnings`, an action for all warnings as in `python -W`.
    """
    read_report, write_report = os.pipe()
    read_output, write_output = os.pipe()
    with open(os.devnull, "r+b") as null:
        fds = [
            (stdin or null).fileno(),
            stdout.fileno() if stdout else write_output,
            (stderr or null).fileno(),
            write_report,
        ]
        request = {"arguments": list(map(str, arguments)), **options}
        request.setdefault("env", dict(os.environ))
        request["cwd"] = str(options.get("cwd") or os.getcwd())
        message = json.dumps(request).encode()
        assert len(message) < MOST_BYTES
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
        _server(preload).sendmsg([message], [rights])
    os.close(write_report)
    os.close(write_output)
    return Child(open(read_output), open(read_report, buffering=1))


def run(arguments, *, input="", check=False, **options):
    """Run `python arguments` to its end; return what `subprocess.run` does, output as text."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with tempfile.TemporaryFile("w+") as given:
            given.write(input)
            given.seek(0)
            child = start(arguments, stdout=out, stderr=err, stdin=given, **options)
        child.wait()
        child.close()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    done = subprocess.CompletedProcess(arguments, child.returncode, *texts)
    if check and done.returncode:
        raise AssertionError(f"{arguments} ended with {done.returncode}:\n{done.stderr}")
    return done


@functools.cache
def _server(preload):
    """Start a fork server with these modules and return the socket for its requests."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.helpers.fork_server", *preload]
    # What a test has put into the path is for its own programs.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with there:
        process = subprocess.Popen(command, stdin=there, cwd=ROOT, env=env)

    def stop():
        here.close()  # the server ends when nobody can ask it any more
        process.wait()

    atexit.register(stop)
    return here


# The server's side.


def _serve(requests):
    """Answer requests until there are no more; return each request in its child."""
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        message, fds, *_ = socket.recv_fds(requests, MOST_BYTES, 4)
        if not message:
            return None
        if os.fork() == 0:
            requests.close()
            if _is_child(*fds):
                return json.loads(message)
        for descriptor in fds:
            os.close(descriptor)


def _reap(number, frame):
    """Wait for what has ended, so that its processor time is counted as the server's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _is_child(stdin, stdout, stderr, report):
    """Fork the program, and report on it in the process that is not the program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    child = os.fork()
    for number, descriptor in enumerate((stdin, stdout, stderr)):
        os.dup2(descriptor if child == 0 else os.open(os.devnull, os.O_RDWR), number)
        os.close(descriptor)
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(report, f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(BrokenPipeError):
            os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    os.close(report)
    return True


def _become(request):
    """Be `python arguments`."""
    os.environ.clear()
    os.environ.update(request["env"])
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = os.fdopen(0, "r", -1, encoding)
    sys.stdout = os.fdopen(1, "w", -1, encoding)
    sys.stderr = os.fdopen(2, "w", 1, encoding, "backslashreplace")
    os.chdir(request["cwd"])
    paths = filter(None, request["env"].get("PYTHONPATH", "").split(os.pathsep))
    first, *rest = request["arguments"]
    sys.path[:0] = ["", *paths]
    # These read the environment, so they are imported anew.
    for name in [name for name in sys.modules if name.split(".")[:2] == ["zorank", "cli"]]:
        del sys.modules[name]
    if request.get("warnings"):
        warnings.simplefilter(request["warnings"])
    if first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), sys.modules["__main__"].__dict__)
    else:
        sys.argv = [first, *rest]
        sys.path[0] = str(Path(first).resolve().parent)
        runpy.run_path(first, run_name="__main__")


def main():
    requests = socket.socket(fileno=os.dup(0))
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.freeze()  # collections in children would copy the memory that they share
    request = _serve(requests)
    if request:
        _become(request)


if __name__ == "__main__":
    main()
