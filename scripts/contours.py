"""Contours of a value in a field before and after compression, in numbers and as a picture.

Needs numpy and matplotlib, as analysis.py does.
"""

import numpy
from matplotlib.figure import Figure

WINDOW = 96  # points per side of a picture, so that cells are visible


def sides(values, known, isovalue):
    """-1, 0 or 1 where known values are below, equal to or above the isovalue, exactly."""
    return numpy.sign(numpy.where(known, values, isovalue).astype("f8") - isovalue).astype("i1")


def crossings(side, known):
    """Along how many axes each point's next neighbour is on another side; both have to be known."""
    found = numpy.zeros(side.shape, "i1")
    for axis in range(side.ndim):
        here = (slice(None),) * axis + (slice(None, -1),)
        next_one = (slice(None),) * axis + (slice(1, None),)
        found[here] += (side[here] != side[next_one]) & known[here] & known[next_one]
    return found


def densest(counts):
    """The window of a line that has most of these counts."""
    extent = min(WINDOW, len(counts))
    before = numpy.concatenate([[0], numpy.cumsum(counts)])
    first = int(numpy.argmax(before[extent:] - before[:-extent]))
    return slice(first, first + extent)


def window_of(found):
    """Where to look: an index of the crossings of a field that leaves its two fastest axes, of more than one point."""
    long = [axis for axis, extent in enumerate(found.shape) if extent > 1][-2:]
    slow = tuple(axis for axis in range(found.ndim) if axis not in long)
    index = [0] * found.ndim
    per_plane = found.sum(axis=tuple(long))
    for axis, at in zip(slow, numpy.unravel_index(numpy.argmax(per_plane), per_plane.shape)):
        index[axis] = int(at)
    for axis in long:
        index[axis] = slice(None)
    plane = found[tuple(index)]
    index[long[0]] = densest(plane.sum(axis=1))
    index[long[1]] = densest(plane[index[long[0]]].sum(axis=0))
    return tuple(index)


def name_of(index):
    return "[" + ", ".join(f"{at.start}:{at.stop}" if isinstance(at, slice) else str(at) for at in index) + "]"


def compare(original, others, known, isovalue):
    """[(crossings, points on another side than the original's)] of the original and of each other field."""
    first = sides(original, known, isovalue)
    return [(int(crossings(side, known).sum(dtype="i8")), int((side != first).sum()))
            for side in (sides(field, known, isovalue) for field in (original, *others))]


def draw(path, title, fields, known, isovalue):
    """A picture of the contours of fields, {name: values}, the original first, where it has most of them."""
    original = next(iter(fields.values()))
    index = window_of(crossings(sides(original, known, isovalue), known))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(5 * len(fields), 5.4), layout="constrained")
    figure.suptitle(f"{title}, contour of {isovalue:g} in {name_of(index)}")
    shown = [numpy.ma.masked_array(values[index].astype("f8"), ~known[index]) for values in fields.values()]
    for axes, name, values in zip(figure.subplots(1, len(fields), squeeze=False)[0], fields, shown):
        axes.imshow(values, cmap="Greys", alpha=0.5, vmin=shown[0].min(), vmax=shown[0].max())
        axes.contour(shown[0], levels=[isovalue], colors="tab:blue", linewidths=2.5, alpha=0.5)
        axes.contour(values, levels=[isovalue], colors="tab:red", linewidths=1)
        axes.set(title=name, xticks=[], yticks=[], facecolor="grey")
    figure.savefig(path, dpi=110)
