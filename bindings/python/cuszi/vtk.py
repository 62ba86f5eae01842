"""A reader of archives for VTK and programs based on it, like PyVista; needs VTK's Python modules.

    reader = cuszi.vtk.vtkCusziReader()
    reader.SetFileName("U.cuszi")                   # or AddFileName("run/U_*.cuszi") for a series
    reader.SetStride(4)                             # a preview; 1 is all
    reader.Update()
    image = reader.GetOutputDataObject(0)           # vtkImageData
"""

from __future__ import annotations

from typing import Any

from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkOutputWindow
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkImageData
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

from . import _series
from ._errors import Error

__all__ = ["vtkCusziReader"]


class vtkCusziReader(VTKPythonAlgorithmBase):  # type: ignore[misc, unused-ignore]
    """Reads a field of an archive, or a series of them, as ``vtkImageData``.

    Values are point data; x is the fastest axis of the archive, and missing values are NaN. Several files, and the
    indices of the slowest of four axes, are time steps 0, 1, 2, ... Only the requested extent of the requested time
    step is decoded. An error is printed in VTK's output window, leaves an empty output and its text in
    ``GetErrorText()``.
    """

    def __init__(self) -> None:
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkImageData")
        self._names: list[str] = []
        self._stride = _series.AUTOMATIC
        self._spacing = (1.0, 1.0, 1.0)
        self._origin = (0.0, 0.0, 0.0)
        self._array_name = "field"
        self._series: _series.Series | None = None
        self._error = ""

    def SetFileName(self, name: str) -> None:
        """Sets one archive, or those of a pattern like ``run/U_*.cuszi``."""
        self._change(_names=[str(name)])

    def AddFileName(self, name: str) -> None:
        """Adds an archive, or those of a pattern, after the others."""
        self._change(_names=[*self._names, str(name)])

    def RemoveAllFileNames(self) -> None:
        self._change(_names=[])

    def GetFileNames(self) -> list[str]:
        """File names as given."""
        return list(self._names)

    def SetStride(self, stride: int) -> None:
        """Reads every ``stride``-th point along spatial axes: a power of two, or 0 (the default) for the
        smallest with at most 256^3 points."""
        self._change(_stride=int(stride))

    def GetStride(self) -> int:
        return self._stride

    def SetSpacing(self, x: float, y: float, z: float) -> None:
        """Distance between points of the whole field; that of a preview is multiplied by the stride."""
        self._change(_spacing=(float(x), float(y), float(z)))

    def GetSpacing(self) -> tuple[float, float, float]:
        return self._spacing

    def SetOrigin(self, x: float, y: float, z: float) -> None:
        """Position of the first point of the field."""
        self._change(_origin=(float(x), float(y), float(z)))

    def GetOrigin(self) -> tuple[float, float, float]:
        return self._origin

    def SetArrayName(self, name: str) -> None:
        """Name of the values (default "field")."""
        self._change(_array_name=str(name))

    def GetArrayName(self) -> str:
        return self._array_name

    def GetTimestepValues(self) -> list[float] | None:
        """The time steps; empty for a single field."""
        steps = self._opened().steps if self._names else 1
        return [float(step) for step in range(steps)] if steps > 1 else None

    def GetErrorText(self) -> str:
        """Error message of the last update; empty after success."""
        return self._error

    def RequestInformation(self, request: Any, inputs: Any, outputs: Any) -> int:
        return self._told(self._inform, outputs.GetInformationObject(0))

    def RequestData(self, request: Any, inputs: Any, outputs: Any) -> int:
        return self._told(self._fill, outputs.GetInformationObject(0))

    def _change(self, **members: Any) -> None:
        if all(getattr(self, name) == value for name, value in members.items()):
            return
        self.__dict__.update(members)
        self._series = None
        self.Modified()

    def _opened(self) -> _series.Series:
        if self._series is None:
            self._series = _series.Series(self._names, self._stride)
        return self._series

    def _told(self, work: Any, information: Any) -> int:
        self._error = ""
        try:
            work(information)
        except (Error, OSError) as error:
            self._error = str(error)
            vtkOutputWindow.GetInstance().DisplayErrorText(f"vtkCusziReader: {error}\n")
            return 0
        return 1

    def _spacing_of_points(self) -> tuple[float, ...]:
        return tuple(space * factor for space, factor in zip(self._spacing, self._opened().factors[::-1]))

    def _inform(self, information: Any) -> None:
        series = self._opened()
        depth, height, width = series.shape
        information.Set(Pipeline.WHOLE_EXTENT(), (0, width - 1, 0, height - 1, 0, depth - 1), 6)
        information.Set(vtkAlgorithm.CAN_PRODUCE_SUB_EXTENT(), 1)
        information.Set(vtkDataObject.SPACING(), self._spacing_of_points(), 3)
        information.Set(vtkDataObject.ORIGIN(), self._origin, 3)
        vtkDataObject.SetPointDataActiveScalarInfo(information, get_vtk_array_type(series.dtype), 1)
        information.Remove(Pipeline.TIME_STEPS())
        information.Remove(Pipeline.TIME_RANGE())
        times = self.GetTimestepValues()
        if times is not None:
            information.Set(Pipeline.TIME_STEPS(), times, len(times))
            information.Set(Pipeline.TIME_RANGE(), (times[0], times[-1]), 2)

    def _step(self, information: Any) -> int:
        """The last that is not behind the time asked for."""
        if not information.Has(Pipeline.UPDATE_TIME_STEP()):
            return 0
        time = information.Get(Pipeline.UPDATE_TIME_STEP())
        return min(max(int(time), 0), self._opened().steps - 1)

    def _fill(self, information: Any) -> None:
        extent = information.Get(Pipeline.UPDATE_EXTENT())
        image = vtkImageData.GetData(information)
        image.SetExtent(extent)
        image.SetSpacing(self._spacing_of_points())
        image.SetOrigin(self._origin)
        if any(extent[i] > extent[i + 1] for i in (0, 2, 4)):
            return
        step = self._step(information)
        box = [(extent[i], extent[i + 1] + 1) for i in (4, 2, 0)]
        values = numpy_to_vtk(self._opened().read(step, box).ravel())
        values.SetName(self._array_name)
        image.GetPointData().SetScalars(values)
        if information.Has(Pipeline.TIME_STEPS()):
            image.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), float(step))
