"""Reads what cuszi show writes: PNG, sixel and kitty graphics, and blocks; all as rows of (red, green, blue)."""

import base64
import math
import os
import re
import subprocess

PAPER, INK, MISSING, WRONG = (255, 255, 255), (0, 0, 0), (128, 128, 128), (255, 0, 255)


def png(data):
    """By libpng's own reader."""
    result = subprocess.run([os.environ["READ_PNG"]], input=data, capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr.decode()
    head, pixels = result.stdout.split(b"\n", 1)
    width, height, colours = map(int, head.split())
    assert 0 < colours <= 256, "a picture has a palette"
    assert len(pixels) == 3 * width * height
    points = list(zip(pixels[0::3], pixels[1::3], pixels[2::3]))
    return [points[y * width:(y + 1) * width] for y in range(height)]


def sixel(data):
    """The colours come back in steps of a percent."""
    match = re.fullmatch(r'\x1bP0;1;0q"1;1;(\d+);(\d+)(.*)\x1b\\\n', data.decode(), re.DOTALL)
    width, height = int(match[1]), int(match[2])
    rows = [[None] * width for _ in range(height)]
    palette, colour, x, top = {}, None, 0, 0
    for token in re.finditer(r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|(?:!(\d+))?([?-~])|([$-])|(.)", match[3]):
        number, red, green, blue, used, count, dots, move, other = token.groups()
        assert other is None, other
        if number:
            palette[int(number)] = tuple(round(int(part) * 2.55) for part in (red, green, blue))
        elif used:
            colour = palette[int(used)]
        elif move:
            x, top = 0, top + (6 if move == "-" else 0)
        else:
            for _ in range(int(count or 1)):
                for bit in range(6):
                    if (ord(dots) - 63) >> bit & 1:
                        assert rows[top + bit][x] is None
                        rows[top + bit][x] = colour
                x += 1
    return rows


def kitty(data):
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", data.decode())
    assert "".join(f"\x1b_G{keys};{text}\x1b\\" for keys, text in parts) + "\n" == data.decode()
    assert parts[0][0].startswith("a=T,f=100,")
    assert [keys[-3:] for keys, _ in parts] == ["m=1"] * (len(parts) - 1) + ["m=0"] or len(parts) == 1
    assert all(len(text) <= 4096 for _, text in parts)
    return png(base64.b64decode("".join(text for _, text in parts)))


def _cells(line):
    """(upper, lower, character) of each cell; None is the terminal's own colour."""
    upper = lower = None
    for token in re.finditer(r"\x1b\[(\d+)(?:;2;(\d+);(\d+);(\d+))?m|(.)", line):
        code, *rgb, character = token.groups()
        if character:
            yield upper, lower, character
        elif code == "0":
            upper = lower = None
        elif code == "38":
            upper = tuple(map(int, rgb))
        else:
            assert code == "48"
            lower = tuple(map(int, rgb))


def blocks(data):
    """Text lines, and the coloured tiles: pieces of rows of dots between gaps of plain cells."""
    lines, tiles = [], []
    for line in data.decode().splitlines():
        cells = list(_cells(line))
        if not any(character == "\u2580" for *_, character in cells):
            lines.append(line)
            continue
        pieces, piece = [], []
        for upper, lower, character in [*cells, (None, None, " ")]:
            if character == "\u2580":
                piece.append((upper, lower))
            elif piece:
                pieces.append(piece)
                piece = []
        tiles.append(pieces)
    return lines, tiles


def lightness(rgb):
    """That of Oklab, 0 to 1."""
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
              for part in rgb]
    l = 0.4122214708 * linear[0] + 0.5363325363 * linear[1] + 0.0514459929 * linear[2]
    m = 0.2119034982 * linear[0] + 0.6806995451 * linear[1] + 0.1073969566 * linear[2]
    s = 0.0883024619 * linear[0] + 0.2817188376 * linear[1] + 0.6299787005 * linear[2]
    return 0.2104542553 * math.cbrt(l) + 0.7936177850 * math.cbrt(m) - 0.0040720468 * math.cbrt(s)


def share(rgb):
    """Where a colour of a value lies between the least, 0, and the greatest, 1."""
    return (lightness(rgb) - 0.28) / 0.62


def error(rgb):
    """What a colour of an error stands for, in units of the bound."""
    size = (0.97 - lightness(rgb)) / 0.47
    return size if rgb[0] > rgb[2] else -size
