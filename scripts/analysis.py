"""What errors look like beside their size: their histogram, and the power spectra of fields.

Needs numpy and matplotlib, which batch.py installs into an environment of its own.
"""

import math

import numpy
from matplotlib.figure import Figure

BINS = 101
SPECTRUM_BINS = 64
MOST_VALUES = 1 << 24  # of a power spectrum; larger fields use their middle
NETCDF_FILL = 9.969209968386869e36


def read_field(path, dims, dtype, order="<"):
    values = numpy.fromfile(path, dtype=order + {"f32": "f4", "f64": "f8"}[dtype])
    return values.reshape(dims)


def known_points(values, fill_values):
    """Where values are neither missing nor infinite."""
    fills = [NETCDF_FILL if text == "netcdf" else float(text) for text in fill_values]
    return numpy.isfinite(values) & ~numpy.isin(values, numpy.array(fills).astype(values.dtype))


def error_histogram(original, restored, known, bound):
    """(edges, counts): how many errors, as shares of the bound, lie between the edges."""
    errors = (restored[known].astype("f8") - original[known].astype("f8")) / (bound or 1)
    most = 1.0 if bound else max(float(numpy.abs(errors).max(initial=0)), 1e-300)
    counts, edges = numpy.histogram(errors, bins=BINS, range=(-most, most))
    return edges, counts


def middle(values):
    """The middle box of a field, of at most MOST_VALUES."""
    while values.size > MOST_VALUES:
        axis = int(numpy.argmax(values.shape))
        quarter = values.shape[axis] // 4
        values = numpy.take(values, range(quarter, quarter + values.shape[axis] // 2), axis)
    return values


def power_spectrum(values, known):
    """(frequencies, powers): the mean power at each distance from frequency 0, in cycles a point.

    Missing points stand at the mean of the others.
    """
    values, known = middle(values), middle(known)
    values = numpy.where(known, values, 0).astype("f8")
    mean = values.sum() / max(known.sum(), 1)
    power = numpy.abs(numpy.fft.fftn(numpy.where(known, values - mean, 0))) ** 2 / values.size
    square = sum(numpy.square(f) for f in numpy.meshgrid(
        *(numpy.fft.fftfreq(n) for n in values.shape), indexing="ij", sparse=True))
    bin_of = numpy.minimum((numpy.sqrt(square) * 2 * SPECTRUM_BINS).astype(int), SPECTRUM_BINS)
    bin_of = numpy.broadcast_to(bin_of, values.shape).flatten()
    bin_of[0] = SPECTRUM_BINS  # the mean is only rounding
    counts = numpy.bincount(bin_of, minlength=SPECTRUM_BINS + 1)[:SPECTRUM_BINS]
    sums = numpy.bincount(bin_of, power.ravel(), SPECTRUM_BINS + 1)[:SPECTRUM_BINS]
    centres = (numpy.arange(SPECTRUM_BINS) + 0.5) / (2 * SPECTRUM_BINS)
    some = (counts > 0) & (sums > 0)
    return centres[some], sums[some] / counts[some]


def draw(path, title, original, restored, fill_values, bound):
    """A picture of both: the histogram of errors, and the spectra of both fields and the error."""
    known = known_points(original, fill_values)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    figure.suptitle(title)
    left, right = figure.subplots(1, 2)
    edges, counts = error_histogram(original, restored, known, bound)
    left.stairs(counts, edges, fill=True)
    left.set(title="errors", xlabel="error / bound" if bound else "error", ylabel="values")
    error = numpy.where(known, restored.astype("f8") - original.astype("f8"), 0)
    for name, field in (("original", original), ("restored", restored), ("error", error)):
        frequencies, powers = power_spectrum(field, known)
        if frequencies.size:
            right.plot(frequencies, powers, label=name,
                       linestyle="--" if name == "restored" else "-")
    right.set(title="power spectrum", xlabel="frequency, cycles a point", ylabel="mean power")
    if right.lines:
        right.set(xscale="log", yscale="log")
        right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    return math.fsum(counts)
