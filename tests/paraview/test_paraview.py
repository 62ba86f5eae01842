"""The plugin in ParaView: contours of an archive and of its raw field, rendered and compared.

pvpython runs it; CUSZI_PLUGIN in the environment is the plugin's file.
"""

import os
import sys
import unittest

import numpy as np
from archive_folder import ArchiveFolder
from paraview import simple
from reader_test import shells, values_of
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

import cuszi

SIZE = (320, 240)
simple.LoadPlugin(os.environ["CUSZI_PLUGIN"])


def read_png(name):
    reader = vtkPNGReader()
    reader.SetFileName(name)
    reader.Update()
    image = reader.GetOutput()
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(*SIZE[::-1], -1)[..., :3].astype("i4")


def render(source, name, value=0.6, array="field"):
    """A picture of a contour, from a fixed place."""
    contour = simple.Contour(Input=source, ContourBy=["POINTS", array], Isosurfaces=[value])
    view = simple.CreateRenderView(ViewSize=list(SIZE), Background=[1, 1, 1], UseColorPaletteForBackground=0,
                                   OrientationAxesVisibility=0)
    view.CameraPosition, view.CameraFocalPoint = [120, 95, 85], [40, 30, 20]
    display = simple.Show(contour, view)
    simple.ColorBy(display, None)
    display.DiffuseColor = [0.2, 0.4, 0.8]
    simple.SaveScreenshot(name, view, ImageResolution=list(SIZE))
    simple.Delete(view)
    return read_png(name)


class Plugin(ArchiveFolder):
    def raw(self, name, a):
        """A reader of the same field in a raw file."""
        a.tofile(name)
        return simple.ImageReader(FileNames=[os.path.abspath(name)], DataScalarType="float",
                                  DataByteOrder="LittleEndian", FileDimensionality="3", ScalarArrayName="field",
                                  DataExtent=[0, a.shape[2] - 1, 0, a.shape[1] - 1, 0, a.shape[0] - 1])

    def reader(self, *names, **properties):
        return simple.CusziReader(FileNames=list(map(os.path.abspath, names)), **properties)

    def test_a_contour_looks_like_that_of_the_raw_field(self):
        a = shells()
        self.archive("a.cuszi", a)
        raw = render(self.raw("a.f32", a), "raw.png")
        ours = render(self.reader("a.cuszi"), "ours.png")
        other = render(self.reader("a.cuszi"), "other.png", value=0.7)
        painted = (raw != 255).any(axis=2).mean()
        self.assertGreater(painted, 0.1)
        self.assertLess(painted, 0.9)
        self.assertGreater(len(np.unique(raw)), 30)  # it is shaded
        self.assertLess(np.abs(ours - raw).mean(), 0.5)
        self.assertLess((np.abs(ours - raw).max(axis=2) > 16).mean(), 0.01)
        self.assertGreater(np.abs(other - raw).mean(), 3)

    def test_a_preview_looks_alike(self):
        a = shells((80, 120, 160))
        self.archive("a.cuszi", a, axes="lattice")
        properties = {"Spacing": [0.5, 0.5, 0.5]}
        all_points = render(self.reader("a.cuszi", Stride=1, **properties), "all.png")
        preview = self.reader("a.cuszi", Stride=4, **properties)
        coarse = render(preview, "coarse.png")
        self.assertEqual(preview.GetDataInformation().GetExtent(), (0, 39, 0, 29, 0, 19))
        self.assertLess(((coarse != 255).any(axis=2) != (all_points != 255).any(axis=2)).mean(), 0.02)

    def test_properties(self):
        b = self.archive("a.cuszi", shells())
        reader = self.reader("a.cuszi", Spacing=[1, 2, 3], Origin=[4, 5, 6], ArrayName="T")
        reader.UpdatePipeline()
        image = simple.servermanager.Fetch(reader)
        self.assertEqual((image.GetSpacing(), image.GetOrigin()), ((1, 2, 3), (4, 5, 6)))
        self.assertEqual(image.GetPointData().GetScalars().GetName(), "T")
        np.testing.assert_array_equal(values_of(image), b)
        self.assertEqual(list(simple.OpenDataFile(os.path.abspath("a.cuszi")).FileNames),
                         [os.path.abspath("a.cuszi")])

    def test_a_series(self):
        fields = [self.archive(f"s_{step}.cuszi", shells(step=step)) for step in range(3)]
        for names in [["s_0.cuszi", "s_1.cuszi", "s_2.cuszi"], ["s_*.cuszi"]]:
            reader = self.reader(*names)
            self.assertEqual(list(reader.TimestepValues), [0, 1, 2])
            for step in (2, 0, 1):
                reader.UpdatePipeline(time=float(step))
                np.testing.assert_array_equal(values_of(simple.servermanager.Fetch(reader)), fields[step])

    def test_a_box(self):
        b = self.archive("a.cuszi", shells())
        box = simple.ExtractSubset(Input=self.reader("a.cuszi"), VOI=[5, 14, 20, 29, 7, 8])
        box.UpdatePipeline()
        np.testing.assert_array_equal(values_of(simple.servermanager.Fetch(box)), b[7:9, 20:30, 5:15])


if __name__ == "__main__":
    print("cuszi", cuszi.__version__, "in ParaView", simple.GetParaViewVersion())
    unittest.main(argv=[sys.argv[0], "-q"])
