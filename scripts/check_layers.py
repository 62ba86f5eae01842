#!/usr/bin/env python3
"""Checks the order of rooms and of their folders from what files include.

The tables below are the architecture: a room includes itself and the rooms that it names, a folder
itself and the folders in front of it. Prints every include that breaks the order, and every file
that lies in no folder of its room, and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

# What a top folder may include: rooms, or folders of one.
ROOMS = {
    "core": [],
    "cpu_ref": ["core"],
    "gpu": ["cpu_ref/base", "core"],  # for the number of the host's threads
    "codec": ["include", "core", "cpu_ref", "gpu/include"],
    "app": ["bench", "include", "codec", "cpu_ref", "core"],
    "bindings": ["include", "codec", "cpu_ref/base", "cpu_ref/session", "core"],  # session: of browsers
    "bench": ["bindings", "include", "codec", "gpu/include", "gpu", "cpu_ref", "core"],
}

# Folders, lowest first.
FOLDERS = {
    "core": "base field transform lorenzo interp tiles zfp multilevel coders signs tuning cells lossless archive backend "
            "choices pipeline",
    "cpu_ref": "base field transform lorenzo interp tiles zfp multilevel coders tuning cells session",
    "gpu": "runtime field transform lorenzo interp tiles zfp multilevel coders signs tuning cells lossless session",
    "codec": "io field settings frames archive quality files",
    "app": "cli report output commands",
}
FOLDERS = {room: names.split() for room, names in FOLDERS.items()}

INCLUDE = re.compile(r'^#include "([a-z_0-9]+)/(?:([a-z_0-9]+)/)?([a-z_0-9/]+\.(?:h|hpp|cuh))"', re.MULTILINE)
SOURCES = {".c", ".cpp", ".cu", ".cuh", ".h", ".hpp"}
OUTSIDE = {"main.cpp"}  # programs, above all folders


def room_of(include, own_room):
    """The room that an include leads to: installed headers are named without theirs."""
    room, _, name = include
    if room != "cuszi":
        return room
    installed = "gpu/include" if name == "gpu.hpp" else "include"
    return own_room if installed.startswith(own_room) else installed


def faults_of(path, root):
    """What breaks the order in one file: lines to print."""
    parts = path.relative_to(root).parts
    room = parts[0]
    folder = parts[1] if len(parts) > 2 else None
    order = FOLDERS.get(room)
    if order is not None and folder not in order and folder not in ("include", "tests"):
        if path.name not in OUTSIDE:
            yield f"lies in no folder of {room}"
        return
    for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
        target = room_of(include, room)
        if target == room:
            other = include[1]
            if order is None or folder not in order or other not in order:
                continue
            if order.index(other) > order.index(folder):
                yield f"includes {room}/{other}, which is above {room}/{folder}"
        elif not {target, "/".join(include[:2])} & set(ROOMS[room]) and target.split("/")[0] in ROOMS:
            yield f"includes {target}, which {room} is not to know"


def check(root):
    """Prints what breaks the order under `root`; returns how many faults there are."""
    count = 0
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in SOURCES or "tests" in path.relative_to(root).parts:
                continue
            for fault in faults_of(path, root):
                print(f"{path.relative_to(root)} {fault}")
                count += 1
    return count


if __name__ == "__main__":
    sys.exit(1 if check(Path(__file__).resolve().parent.parent) else 0)
