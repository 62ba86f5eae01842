"""Writes blocks in a GPU's memory through the operator plugin, with CuPy and the package adios2 of PyPI, as test_plugin.py.

That package has no GPU code, but leaves a pointer alone if it keeps no statistics: only the operator uses it.
"""

import unittest

from test_plugin import FileTest, adios2, field
import cupy
import numpy as np


class OnDevice:
    """An array of CuPy as one of NumPy with an address that only a GPU can read."""

    def __init__(self, array):
        self.owner = array
        self.__array_interface__ = {"version": 3, "shape": array.shape, "typestr": array.dtype.str,
                                    "data": (array.data.ptr, False)}


class DeviceTest(FileTest):

    def write_there(self, a, **parameters):
        there = cupy.asarray(a)
        cupy.cuda.Device().synchronize()
        io = self.adios.declare_io("writer")
        io.set_engine("BP5")
        io.set_parameter("StatsLevel", "0")
        variable = io.define_variable("T", a, list(a.shape), [0] * a.ndim, list(a.shape))
        variable.add_operation(self.operator(**parameters))
        with adios2.Stream(io, self.file, "w") as stream:
            for _ in stream.steps(2):
                stream.engine.put(variable, np.asarray(OnDevice(there)), adios2.bindings.Mode.Sync)

    def test_presets(self):
        a = field()
        for preset in ("ratio", "balanced", "fast"):
            for device in ("auto", "cuda"):
                with self.subTest(preset=preset, device=device):
                    self.begin()
                    self.write_there(a, abs="0.01", preset=preset, device=device)
                    self.check(a, 0.01)
                    from_there = self.stored()
                    self.begin()
                    self.write(a, steps=2, abs="0.01", preset=preset)
                    self.assertLess(abs(from_there - self.stored()), 1000)
                    self.assertLess(from_there * 5, 2 * a.nbytes)

    def test_integers(self):
        a = (1000 * field()).astype("i2")
        self.write_there(a, abs="5")
        self.check(a, 5)


if __name__ == "__main__":
    unittest.main()
