"""What the tests of the reader share: fields, and what an image holds."""

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy


def shells(shape=(40, 60, 80), step=0, dtype="f4"):
    """A field whose contours are shells that grow with the step."""
    z, y, x = (np.linspace(-1, 1, extent) for extent in shape)
    radius = np.sqrt(z[:, None, None]**2 + y[:, None]**2 + x**2)
    return (radius * (1 - 0.05 * step) + 0.05 * np.sin(9 * x)).astype(dtype)


def values_of(image):
    """The points of an image along z, y and x."""
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])
