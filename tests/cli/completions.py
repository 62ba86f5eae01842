"""What shells offer when a user presses the tabulator after some words of cuszi."""

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

# Completion asks the tool that a user would run.
_ENVIRONMENT = {**os.environ, "PATH": f"{Path(os.environ['CUSZI']).parent}:{os.environ['PATH']}"}
FOLDER = Path(__file__).resolve().parents[2] / "scripts/completion"
READY = "#ready#"


def bash(line, folder):
    """What bash completes the last word of the line to, in this folder."""
    words = line.split(" ")
    program = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; };'
               '_cuszi; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", program, "bash", FOLDER / "cuszi.bash", *words], cwd=folder,
                          env=_ENVIRONMENT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def _read(terminal, until, seconds):
    text, end = "", time.monotonic() + seconds
    while not re.search(until, text) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
    return text


def zsh(line, folder, until):
    """What zsh prints, in this folder, when it completes the line, at least up to what matches
    `until`, for which it has some seconds."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"],
                   {**_ENVIRONMENT, "TERM": "dumb", "HOME": str(folder), "COLUMNS": "200"})
    try:
        os.write(terminal, (f"unsetopt zle_bracketed_paste; PS1=; fpath=({FOLDER} $fpath);"
                            "autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' menu no;"
                            f"LISTMAX=1000; echo '#rea''dy#'\n").encode())
        _read(terminal, READY, 20)
        os.write(terminal, (line + "\t").encode())
        return _read(terminal, until, 10) + _read(terminal, "$^", 0.5)
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
