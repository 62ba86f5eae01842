"""The picture of README.md: ratio and speed of presets and of other compressors, as SVG."""

import math
from html import escape
from statistics import geometric_mean

WIDTH, HEIGHT, TOP, BOTTOM, GAP = 860, 412, 46, 68, 62
OURS, OTHERS = "#0b6e4f", "#8a8f98"
RATIOS = [10, 20, 50, 100, 200]
SPEEDS = [50, 100, 200, 500, 1000, 2000]


def _text(x, y, words, anchor="middle", size=12, colour="#222", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{extra}>'
            f"{escape(words)}</text>")


def _scale(value, low, high, first, last):
    return first + (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) * (last - first)


def _free_place(x, y, words, boxes):
    """Where a label stands beside its point so that it covers no other label or point."""
    width = 6.3 * len(words)
    for anchor, dx, dy in [("start", 9, 4), ("end", -9, 4), ("middle", 0, -10), ("middle", 0, 19), ("start", 8, -8),
                           ("end", -8, -8), ("start", 8, 16), ("end", -8, 16), ("middle", 0, 30), ("middle", 0, -22)]:
        left = x + dx - {"start": 0, "end": width, "middle": width / 2}[anchor]
        box = (left, y + dy - 11, left + width, y + dy + 3)
        if all(box[2] < other[0] or other[2] < box[0] or box[3] < other[1] or other[3] < box[1] for other in boxes):
            boxes.append(box)
            return anchor, x + dx, y + dy
    boxes.append((x, y - 8, x + width, y + 6))
    return "start", x + 9, y + 4


def _panel(left, right, title, points):
    """One panel: speed to the right, ratio upwards. `points` is {name: (ratio, speed, bound is kept)}."""
    def x_at(speed):
        return _scale(speed, 35, 3500, left, right)

    def y_at(ratio):
        return _scale(ratio, 8, 400, HEIGHT - BOTTOM, TOP)

    parts = [_text((left + right) / 2, 26, title, size=15)]
    for speed in SPEEDS:
        parts += [f'<path d="M{x_at(speed):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>',
                  _text(x_at(speed), HEIGHT - BOTTOM + 18, str(speed), colour="#555")]
    for ratio in RATIOS:
        parts += [f'<path d="M{left} {y_at(ratio):.1f}H{right}" stroke="#e4e4e4"/>',
                  _text(left - 7, y_at(ratio) + 4, str(ratio), "end", colour="#555")]
    parts += [f'<path d="M{left} {TOP}V{HEIGHT - BOTTOM}H{right}" fill="none" stroke="#555"/>',
              _text((left + right) / 2, HEIGHT - BOTTOM + 38, "GB/s of the field")]
    boxes = [(x_at(speed) - 6, y_at(ratio) - 6, x_at(speed) + 6, y_at(ratio) + 6) for ratio, speed, _ in points.values()]
    boxes.append((right, 0, 1e9, HEIGHT))
    boxes.append((-1e9, 0, left, HEIGHT))
    for name, (ratio, speed, kept) in sorted(points.items(), reverse=True):  # ours on top
        ours = name.startswith("**")
        colour = OURS if ours else OTHERS
        x, y = x_at(speed), y_at(ratio)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour if kept else "white"}" '
                     f'stroke="{colour}" stroke-width="2"/>')
        words = name.replace("**", "").replace("`", "") if ours else name.partition(",")[0]
        words = {"cuSZ-Hi, ratio mode": "cuSZ-Hi (ratio)", "cuSZ-Hi, throughput mode": "cuSZ-Hi (throughput)"}.get(name, words)
        anchor, label_x, label_y = _free_place(x, y, words, boxes)
        parts.append(_text(label_x, label_y, words, anchor, colour=OURS if ours else "#555",
                           extra=' font-weight="bold"' if ours else ""))
    return parts


def rate_speed(found, bound):
    """The text of the SVG file of {name: [(ratio, compress GB/s, decompress GB/s, values over the bound)]}."""

    def points(of):
        return {name: (geometric_mean([row[0] for row in rows]), geometric_mean([row[of] for row in rows]),
                       not any(row[3] for row in rows)) for name, rows in found.items()}

    middle = WIDTH / 2
    left = 58
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" role="img" aria-label="ratio over speed">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             _text(16, (TOP + HEIGHT - BOTTOM) / 2, "ratio (geometric mean)",
                   extra=f' transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2})"'),
             *_panel(left, middle - 12, "compress", points(1)),
             *_panel(middle + GAP - 12, WIDTH - 16, "decompress", points(2)),
             _text(left, HEIGHT - 4, f"Four fields of 512^3, NVIDIA H200, bound {bound} of the range. "
                   "Hollow: values over the bound on some field.", "start", 11, "#555")]
    return "\n".join([*parts, "</svg>", ""])
