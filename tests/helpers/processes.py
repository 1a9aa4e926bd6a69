"""Programs in a fresh Python, where nothing has been imported yet."""

import subprocess
import sys


def python(program, *, text=True):
    """Run a program to its end; return what it prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=text)
    assert done.returncode == 0, done.stderr
    return done.stdout
