"""A virtual environment with packages from PyPI, for what the standard library cannot do."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
BUILD = SCRIPTS.parent / "build"


def has(python, modules):
    """Whether this Python can import these modules."""
    command = [python, "-c", "import " + ", ".join(modules)]
    return python.exists() and subprocess.run(command, capture_output=True,
                                              check=False).returncode == 0


def python_with(name, packages, requirements):
    """The Python of the environment build/NAME, made of a file of pinned versions and hashes if it
    has not the packages; None if it cannot be made."""
    folder = BUILD / name
    python = folder / "bin/python"
    if has(python, packages):
        return python
    print(f"installing {', '.join(packages)} into {folder}", file=sys.stderr)
    for command in ([sys.executable, "-m", "venv", "--clear", folder],
                    [python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r",
                     requirements]):
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
            return None
    return python if has(python, packages) else None


def go_on_drawing(script, arguments):
    """Goes on with a script in a Python that has matplotlib; returns if there is none."""
    python = python_with("plots-venv", ["numpy", "matplotlib"], SCRIPTS / "requirements/plots.txt")
    if python:
        os.execv(python, [python, script, *arguments])
