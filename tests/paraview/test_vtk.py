"""vtkCusziReader in plain VTK."""

import contextlib
import io
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
from archive_folder import ArchiveFolder
from reader_test import shells, values_of
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkFiltersCore import vtkContourFilter
from vtkmodules.vtkImagingCore import vtkExtractVOI

from cuszi import _codec
from cuszi.vtk import vtkCusziReader


class Reader(ArchiveFolder):
    def image(self, *names, **settings):
        reader = vtkCusziReader()
        for name in names:
            reader.AddFileName(name)
        for name, value in settings.items():
            getattr(reader, f"Set{name}")(*(value if isinstance(value, tuple) else (value,)))
        reader.Update()
        self.assertEqual(reader.GetErrorText(), "")
        return reader, reader.GetOutputDataObject(0)

    def test_a_field(self):
        b = self.archive("a.cuszi", shells())
        _, image = self.image("a.cuszi", Spacing=(0.5, 2, 3), Origin=(1, 2, 3))
        self.assertEqual(image.GetDimensions(), (80, 60, 40))
        self.assertEqual((image.GetSpacing(), image.GetOrigin()), ((0.5, 2, 3), (1, 2, 3)))
        self.assertEqual(image.GetPointData().GetScalars().GetName(), "field")
        np.testing.assert_array_equal(values_of(image), b)
        self.assertAlmostEqual(image.GetScalarComponentAsDouble(7, 5, 3, 0), b[3, 5, 7], places=6)
        b = self.archive("d.cuszi", shells((20, 30, 4), dtype="f8")[:, :, 1].copy())
        _, image = self.image("d.cuszi", ArrayName="T")
        self.assertEqual((image.GetDimensions(), image.GetScalarTypeAsString()), ((30, 20, 1), "double"))
        np.testing.assert_array_equal(values_of(image)[0], b)
        self.assertTrue(image.GetPointData().HasArray("T"))

    def test_a_preview_covers_the_same_space(self):
        for options, factors in [({"axes": "lattice"}, (4, 4, 4)), ({"axes": "layered", "axis": 0}, (1, 4, 4))]:
            b = self.archive("a.cuszi", shells(), predictor="multilevel", **options)
            _, image = self.image("a.cuszi", Stride=4, Spacing=(1, 2, 3))
            z, y, x = factors
            self.assertEqual(image.GetSpacing(), (x, 2 * y, 3 * z))
            np.testing.assert_array_equal(values_of(image), b[::z, ::y, ::x])

    def test_only_the_extent_that_is_asked_for_is_decoded(self):
        b = self.archive("a.cuszi", shells(), axes="lattice")
        reader, _ = self.image("a.cuszi", Stride=2)
        sizes = []
        decompress = _codec.decompress

        def spied(*arguments, **keywords):
            values = decompress(*arguments, **keywords)
            sizes.append(values.size)
            return values
        with mock.patch.object(_codec, "decompress", spied):
            reader.Modified()
            reader.UpdateExtent((3, 12, 0, 4, 7, 7))
            image = reader.GetOutputDataObject(0)
            self.assertEqual(image.GetExtent(), (3, 12, 0, 4, 7, 7))
            np.testing.assert_array_equal(values_of(image), b[14:15, 0:9:2, 6:25:2])
            reader.Modified()
            box = vtkExtractVOI()
            box.SetInputConnection(reader.GetOutputPort())
            box.SetVOI(0, 9, 10, 19, 2, 3)
            box.Update()
            np.testing.assert_array_equal(values_of(box.GetOutput()), b[4:7:2, 20:39:2, 0:19:2])
        self.assertEqual(sizes, [10 * 5, 10 * 10 * 2])

    def test_a_series(self):
        fields = [self.archive(f"s{step}.cuszi", shells(step=step)) for step in range(11)]
        reader, image = self.image("s*.cuszi")
        information = reader.GetOutputInformation(0)
        self.assertEqual(information.Get(Pipeline.TIME_STEPS()), tuple(range(11)))
        self.assertEqual(information.Get(Pipeline.TIME_RANGE()), (0, 10))
        for time, step in [(0, 0), (10, 10), (2, 2), (2.7, 2), (-1, 0), (99, 10)]:
            reader.UpdateTimeStep(time)
            np.testing.assert_array_equal(values_of(reader.GetOutputDataObject(0)), fields[step])
        self.archive("w.cuszi", np.stack([shells(step=step) for step in range(3)]), axes="layered", axis=0,
                     predictor="multilevel")
        reader, _ = self.image("w.cuszi")
        self.assertEqual(reader.GetTimestepValues(), [0, 1, 2])

    def test_changes_are_noticed(self):
        a = self.archive("a.cuszi", shells())
        b = self.archive("b.cuszi", shells((10, 20, 30)))
        reader, _ = self.image("a.cuszi")
        reader.SetFileName("b.cuszi")
        reader.Update()
        np.testing.assert_array_equal(values_of(reader.GetOutputDataObject(0)), b)
        reader.SetFileName("a.cuszi")
        reader.SetStride(8)
        reader.Update()
        self.assertLess(reader.GetOutputDataObject(0).GetNumberOfPoints(), a.size / 50)

    def test_failures_are_told(self):
        self.archive("a.cuszi", shells())
        archive = bytearray(Path("a.cuszi").read_bytes())
        archive[len(archive) // 2] ^= 1
        Path("bad.cuszi").write_bytes(archive)
        told = []
        with mock.patch("cuszi.vtk.vtkOutputWindow") as window:
            window.GetInstance.return_value.DisplayErrorText = told.append
            for name, said in [("bad.cuszi", "bad.cuszi: "), ("none.cuszi", "none.cuszi"), ("n*.cuszi", "no such file")]:
                reader = vtkCusziReader()
                reader.SetFileName(name)
                reader.Update()
                self.assertIn(said, reader.GetErrorText())
                self.assertEqual(told[-1], f"vtkCusziReader: {reader.GetErrorText()}\n")
        reader.SetFileName("a.cuszi")
        reader.Update()
        self.assertEqual(reader.GetErrorText(), "")
        self.assertEqual(reader.GetOutputDataObject(0).GetDimensions(), (80, 60, 40))

    def test_the_block_of_the_guide(self):
        page = Path(__file__).parents[2] / "docs/guide/paraview.md"
        for step in "01":
            self.archive(f"U_{step}.cuszi", shells((64, 96, 128)))
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(re.search(r"(?ms)^```python\n(.*?)^```", page.read_text())[1], names)
        self.assertRegex(said.getvalue(), r"^\d{4,} points\n$")
        self.assertEqual(names["reader"].GetErrorText(), "")

    def test_missing_points_have_no_contour(self):
        a = shells()
        a[:, :, 40:] = 1e20
        self.archive("a.cuszi", a, fill=1e20)
        reader, _ = self.image("a.cuszi")
        contour = vtkContourFilter()
        contour.SetInputConnection(reader.GetOutputPort())
        contour.SetValue(0, 0.6)
        contour.Update()
        self.assertGreater(contour.GetOutput().GetNumberOfPoints(), 500)
        self.assertLessEqual(contour.GetOutput().GetBounds()[1], 40)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
