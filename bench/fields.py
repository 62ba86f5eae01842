#!/usr/bin/env python3
"""Make fields with the character of the families of SDRBench, by small solvers, with fixed seeds.

Writes raw float32, little-endian, named FAMILY-FIELD_DIMS.f32 with dims slowest first, into FOLDER. Solvers add, multiply
and divide element by element, in a fixed order, so that the same size gives the same bytes on every machine.
"""

import argparse
import math
from pathlib import Path

import numpy as np

EXTENTS = {"small": 64, "medium": 128, "full": 512}  # points along a cube's axis
FILL = 1e20


# ---- numbers ---------------------------------------------------------------------------------

def uniform(seed, shape):
    """Random numbers in [-1, 1), from bits that NumPy promises to keep."""
    bits = np.random.PCG64(seed).random_raw(math.prod(shape)) >> np.uint64(40)
    return (bits.astype(np.float32) / float(1 << 23) - 1).reshape(shape)


def waves(count, extent, phase=0.0):
    """cos(2 pi (count x + phase)) along an axis; rounded, so that it is the same by any library of C."""
    exact = [math.cos(2 * math.pi * (count * i / extent + phase)) for i in range(extent)]
    return (np.round(np.array(exact) * (1 << 20)) / (1 << 20)).astype(np.float32)


def refined(values, extent, axis):
    """Periodic values on a finer grid along an axis, by quadratic B-splines."""
    cells = values.shape[axis]
    place = (np.arange(extent, dtype=np.float64) + 0.5) * cells / extent
    nearest = np.floor(place).astype(np.int64)
    t = (place - nearest - 0.5).astype(np.float32)
    shape = [-1 if i == axis else 1 for i in range(values.ndim)]
    t = t.reshape(shape)
    below, here, above = (np.take(values, (nearest + step) % cells, axis) for step in (-1, 0, 1))
    return 0.5 * (0.5 - t) * (0.5 - t) * below + (0.75 - t * t) * here + 0.5 * (0.5 + t) * (0.5 + t) * above


def noise(seed, shape, decay, coarsest=3, finest=0.5):
    """Periodic noise of octaves, each finer by 2 and weaker by `decay`, down to `finest` cells a point."""
    total, weight, cells = np.zeros(shape, np.float32), 1.0, coarsest
    while cells <= finest * max(shape):
        octave = uniform(seed + cells, [min(cells, extent) for extent in shape])
        for axis, extent in enumerate(shape):
            octave = refined(octave, extent, axis)
        total += weight * octave
        weight, cells = weight * decay, 2 * cells
    return total


# ---- operators on periodic grids of spacing 1 ------------------------------------------------

def shifted(values, step, axis):
    """values[i + step] at i."""
    return np.roll(values, -step, axis)


def slope(values, axis):
    return 0.5 * (shifted(values, 1, axis) - shifted(values, -1, axis))


def laplacian(values, axes=None):
    axes = range(values.ndim) if axes is None else axes
    return sum(shifted(values, 1, axis) + shifted(values, -1, axis) - 2.0 * values for axis in axes)


def curl(potential):
    """The velocity, without divergence, of a vector potential."""
    return [slope(potential[(i + 2) % 3], (i + 1) % 3) - slope(potential[(i + 1) % 3], (i + 2) % 3) for i in range(3)]


def transport(values, velocity, axes, dt):
    """What a flow changes in values in a time step: upwind differences with van Leer's limiter."""
    change = np.zeros_like(values)
    for v, axis in zip(velocity, axes):
        step = shifted(values, 1, axis) - values
        before = shifted(step, -1, axis)
        both = step * before
        limited = np.where(both > 0, both / (step + before + np.float32(1e-30)), np.float32(0))
        right = before + limited - shifted(limited, -1, axis)
        left = step - shifted(limited, 1, axis) + limited
        change -= dt * (np.maximum(v, 0) * right + np.minimum(v, 0) * left)
    return change


def scaled_to(values, largest):
    return values * (largest / float(np.abs(values).max()))


# ---- solvers ---------------------------------------------------------------------------------

def flow_step(velocity, pressure, force, viscosity, dt, sound):
    """A step of a weakly compressible flow: Navier-Stokes, with a pressure that follows the divergence."""
    axes = range(3)
    moved = [v + transport(v, velocity, axes, dt) + dt * viscosity * laplacian(v) - dt * slope(pressure, axis)
             for axis, v in enumerate(velocity)]
    moved = [v if f is None else v + dt * f for v, f in zip(moved, force)]
    divergence = sum(slope(v, axis) for axis, v in enumerate(moved))
    return moved, pressure - dt * sound * sound * divergence + 0.05 * laplacian(pressure)


def stirred_flow(n):
    """Decaying turbulence in a box with periodic sides: velocity and pressure."""
    velocity = curl([noise(100 * axis, (n, n, n), 0.42) for axis in range(3)])
    largest = max(float(np.abs(v).max()) for v in velocity)
    velocity = [v / largest for v in velocity]
    pressure = np.zeros((n, n, n), np.float32)
    for _ in range(n // 2):
        velocity, pressure = flow_step(velocity, pressure, (None,) * 3, 0.01, 0.25, 1.5)
    return velocity, pressure


def turbulence(n):
    """A box of turbulence, as of the JHU database."""
    velocity, pressure = stirred_flow(n)
    yield "velocity_x", velocity[2]
    yield "pressure", pressure


def combustion(n):
    """A premixed flame that turbulence wrinkles, as of S3D: heat and fuel, kinetics above an ignition temperature."""
    velocity, _ = stirred_flow(n)
    z = (np.arange(n, dtype=np.float32) / n).reshape(n, 1, 1) + 0.03 * noise(7, (1, n, n), 0.5)
    heat = np.clip(40 * np.minimum(z - 0.3, 0.75 - z) + 0.5, 0, 1)
    fuel = 1 - heat
    velocity = [0.8 * v for v in velocity]

    def burning():
        above = np.maximum(heat - 0.3, 0)
        return 0.6 * fuel * above * above
    for _ in range(n // 2):
        rate = burning()
        heat, fuel = (np.clip(q + transport(q, velocity, range(3), 0.4) + 0.04 * laplacian(q) + 0.4 * sign * rate, 0, 1)
                      for q, sign in ((heat, 1), (fuel, -1)))
    yield "temperature", 300 + 1900 * heat
    yield "fuel", 0.055 * fuel
    yield "reaction_rate", burning()


def mixing(n):
    """A heavy fluid over a light one, as of Miranda: fronts that roll up and mix."""
    shape = (n, 3 * n // 4, 3 * n // 4)
    z = (np.arange(n, dtype=np.float32) / n).reshape(n, 1, 1) + 0.04 * noise(11, (1, *shape[1:]), 0.7)
    density = np.clip(n / 6 * np.minimum(z - 0.5, 0.97 - z) + 0.5, 0, 1)
    velocity = [np.zeros(shape, np.float32) for _ in range(3)]
    pressure = np.zeros(shape, np.float32)
    for _ in range(3 * n // 2):
        lift = -0.6 * (density - 0.5) * (16 / n)
        velocity, pressure = flow_step(velocity, pressure, (lift, None, None), 0.01, 0.3, 1.2)
        density = density + transport(density, velocity, range(3), 0.3)
    yield "density", 1 + 2 * density
    yield "velocity_z", velocity[0]


def poisson(source, guess):
    """The potential whose Laplacian is the source (of mean 0), by a cycle of multigrid with Jacobi's steps."""
    def smooth(values, right, count):
        for _ in range(count):
            values = values + 0.13 * (laplacian(values) - right)
        return values
    guess = smooth(guess, source, 3)
    if source.shape[0] % 2 == 0 and source.shape[0] > 4:
        rest = source - laplacian(guess)
        for axis in range(3):
            even, odd = (np.take(rest, range(start, rest.shape[axis], 2), axis) for start in (0, 1))
            rest = 0.5 * (even + odd)
        coarse = poisson(4.0 * rest, np.zeros_like(rest))
        for axis in range(3):
            coarse = refined(coarse, 2 * coarse.shape[axis], axis)
        guess = guess + coarse
    return smooth(guess, source, 3)


def deposit(places, n, weights=None):
    """Particles on a grid, each over the 8 points around it."""
    cells = [np.floor(place).astype(np.int64) for place in places]
    parts = [place - cell for place, cell in zip(places, cells)]
    total = np.zeros(n * n * n)
    for corner in np.ndindex(2, 2, 2):
        share = 1.0 if weights is None else weights
        for part, far in zip(parts, corner):
            share = share * (part if far else 1 - part)
        index = 0
        for cell, far in zip(cells, corner):
            index = index * n + (cell + far) % n
        total += np.bincount(index.ravel(), share.ravel(), n * n * n)
    return total.astype(np.float32).reshape(n, n, n)


def n_body(n, steps=12):
    """Particles that fall together from a grid that is a little displaced: places, velocities and their density."""
    potential = noise(23, (n, n, n), 0.3, coarsest=4)
    push = [scaled_to(slope(potential, axis), n / 40) for axis in range(3)]
    grid = np.meshgrid(*3 * [np.arange(n, dtype=np.float32)], indexing="ij")
    places, velocities = [(g + p) % n for g, p in zip(grid, push)], [0.08 * p for p in push]
    pull = np.zeros((n, n, n), np.float32)
    for _ in range(steps):
        pull = poisson(0.05 * (deposit(places, n) - 1), pull)
        index = tuple(np.floor(place + 0.5).astype(np.int64) % n for place in places)
        velocities = [v - slope(pull, axis)[index] for axis, v in enumerate(velocities)]
        places = [(place + v) % n for place, v in zip(places, velocities)]
    return places, velocities, deposit(places, n)


def softened(values):
    for _ in range(4):
        values = values + 0.1 * laplacian(values)
    return values


def cosmology(n):
    """Gas on a grid, as of Nyx: voids, filaments and halos over decades."""
    places, velocities, dark = n_body(n)
    gas = np.maximum(softened(dark), 1e-3)
    yield "dark_matter_density", dark
    yield "baryon_density", gas
    yield "temperature", 1e4 * np.sqrt(gas) * (1 + gas / (gas + 30))
    yield "velocity_x", 1e5 * softened(deposit(places, n, velocities[2])) / gas


def particles(n):
    """Particles in the order of their grid, as of HACC: one dimension."""
    places, velocities, _ = n_body(n)
    yield "x", places[2].ravel()
    yield "vx", 100 * velocities[2].ravel()


def seismic(n):
    """Waves from a source in layers with a fault, as of reverse-time migration: differences of fourth order."""
    shape = (n, n, n // 2)
    z, y, x = np.meshgrid(*(np.arange(extent, dtype=np.float32) / n for extent in shape), indexing="ij")
    depth = z + 0.1 * noise(31, (1, *shape[1:]), 0.4) + 0.05 * (x > 0.22) + 0.1 * y
    speed = 0.22 + 0.03 * np.floor(9 * np.clip(depth, 0, 1))
    damping = np.float32(1)
    for place, extent in ((z, 1), (y, 1), (x, 0.5)):
        edge = np.clip(1 - 16 * np.minimum(place, extent - 1 / n - place), 0, 1)
        damping = damping * (1 - 0.04 * edge * edge)
    before, now = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    steps = 7 * n // 2
    for step in range(steps):
        force = sum((4 / 3) * (shifted(now, 1, a) + shifted(now, -1, a)) - (1 / 12) * (shifted(now, 2, a) + shifted(now, -2, a))
                    - 2.5 * now for a in range(3))
        after = 2.0 * now - before + speed * speed * force
        t = (step - 16) / 8
        after[n // 8, n // 2, n // 6] += (1 - 2 * t * t) / (1 + t * t * t * t) if step < 40 else 0
        before, now = now * damping, after * damping
        if step == steps // 3:
            yield "pressure_early", now
    yield "pressure_late", now


def climate(n):
    """Air over a globe, as of CESM: heat and vapour in winds, on levels; the sea with 1e20 on land."""
    levels, lat, lon = 8 if n < 512 else 26, 2 * n, 4 * n
    height = (np.arange(levels, dtype=np.float32) / levels).reshape(levels, 1, 1)
    north = waves(1, 2 * lat)[:lat].reshape(1, lat, 1)  # 1 at a pole, -1 at the other
    warmth = 30 * (1 - north * north) - 60 * height
    stream = noise(41, (1, lat, lon), 0.55, 6) + (0.4 + height) * noise(43, (levels, lat, lon), 0.55, 5)
    winds = [-slope(stream, 2), slope(stream, 1) + 0.1 * (0.5 + height) * (1 - north * north)]
    largest = max(float(np.abs(w).max()) for w in winds)
    winds = [w / largest for w in winds]
    land = noise(47, (lat, lon), 0.6, 4) > 0.15
    rough = noise(53, (lat, lon), 0.75, 4)
    heat, vapour = warmth + 0 * stream, 0.5 + 0 * stream
    rain, months = np.zeros((lat, lon), np.float32), []
    steps = n
    for step in range(steps):
        heat = heat + transport(heat, winds, (1, 2), 0.6) + 0.01 * (warmth + 6 * (1 - height) * rough - heat)
        vapour = vapour + transport(vapour, winds, (1, 2), 0.6)
        vapour = vapour + 0.02 * ((1 - height) * np.where(land, np.float32(0.2), np.float32(1)) - vapour)
        excess = np.maximum(vapour - 0.6 - 0.006 * heat, 0)
        vapour = vapour - 0.3 * excess
        rain = 0.95 * rain + excess.sum(axis=0)
        if step % (steps // 8) == steps // 8 - 1:
            months.append(np.where(land, np.float32(FILL), 275 + 0.8 * np.maximum(heat[0], -4)))
    yield "T", 255 + heat
    yield "TS", 258 + heat[0] + 3 * np.where(land, rough, np.float32(0))
    yield "CLDLOW", np.clip(4 * (vapour[1] - 0.35 - 0.004 * heat[1]) + 0.3 * rough, 0, 1)
    yield "PRECT", 1e-7 * rain
    yield "SST_fill1e20", np.stack(months)


def orbitals(n):
    """Orbitals of electrons among atoms, as of QMCPACK: plane waves that a potential has drawn together."""
    shape, states = (n, 5 * n // 8, 5 * n // 8), max(4, n // 16)
    grid = np.meshgrid(*(np.arange(extent, dtype=np.float32) for extent in shape), indexing="ij")
    potential = np.zeros(shape, np.float32)
    for atom in uniform(61, (10, 3)):
        gaps = [np.abs(g - float(np.float32(0.5 + 0.5 * a)) * extent) for g, a, extent in zip(grid, atom, shape)]
        gaps = [np.minimum(gap, extent - gap) for gap, extent in zip(gaps, shape)]
        potential -= 1 / np.sqrt(sum(gap * gap for gap in gaps) + 1)
    found = []
    for state in range(states):
        counts = np.abs(np.floor(3.5 * uniform(67 + state, (3,)))).astype(int) + state // 8
        psi = 1
        for axis, (count, extent) in enumerate(zip(counts, shape)):
            psi = psi * waves(int(count), extent, 0.1 * state + 0.3 * axis).reshape([-1 if i == axis else 1 for i in range(3)])
        for _ in range(12):  # imaginary time
            psi = psi + 0.12 * (laplacian(psi) - 2.0 * potential * psi)
            psi = psi / float(np.abs(psi).max())
        found.append(psi)
    yield "einspline", np.concatenate(found)


FAMILIES = {family.__name__: family for family in
            (turbulence, combustion, mixing, cosmology, particles, seismic, climate, orbitals)}


def fields(size, families=tuple(FAMILIES)):
    """Pairs of a field's name, FAMILY-FIELD, and its values as float32, by one of EXTENTS."""
    for family in families:
        for name, values in FAMILIES[family](EXTENTS[size]):
            yield f"{family}-{name}", np.ascontiguousarray(values, "<f4")


def file_name(name, values):
    return f"{name}_{'x'.join(map(str, values.shape))}.f32"


def main():
    def families(text):
        unknown = set(text.split(",")) - set(FAMILIES)
        if unknown:
            raise argparse.ArgumentTypeError(f"no family {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}")
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--size", choices=EXTENTS, default="small",
                        help="cubes of 64, 128 or 512 points along an axis: seconds, minutes or hours (small)")
    parser.add_argument("--only", type=families, default=list(FAMILIES), metavar="FAMILIES",
                        help="separated by commas (all: %(default)s)")
    parsed = parser.parse_args()
    parsed.folder.mkdir(parents=True, exist_ok=True)
    for name, values in fields(parsed.size, parsed.only):
        path = parsed.folder / file_name(name, values)
        values.tofile(path)
        print(path, flush=True)


if __name__ == "__main__":
    main()
