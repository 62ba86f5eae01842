"""Tests of an installed wheel: that it needs nothing but Python and NumPy."""

import importlib.util
import re
import tempfile
import unittest
from importlib import metadata
from pathlib import Path

import numpy as np

import cuszi

PACKAGE = Path(cuszi.__file__).parent
FIELD = np.add.outer(np.sin(np.arange(200) / 9), np.cos(np.arange(300) / 11)).astype("f4")


def has(package):
    return importlib.util.find_spec(package) is not None


class Wheel(unittest.TestCase):

    def test_three_lines(self):
        archive = cuszi.compress(FIELD, abs=1e-3)
        restored = cuszi.decompress(archive)
        self.assertLess(len(archive), FIELD.nbytes / 10)
        self.assertLessEqual(np.abs(restored.astype("f8") - FIELD).max(), 1e-3)

    def test_libraries_are_its_own(self):
        cuszi.compress(FIELD, abs=1e-3)
        mapped = set(re.findall(r"(/\S+\.so[.\d]*\S*)$", Path("/proc/self/maps").read_text(), re.MULTILINE))
        ours = {name for name in mapped if re.search(r"/lib(cuszi|fmt|xxhash|zstd)[-.]", name)}
        self.assertGreaterEqual(len(ours), 1)
        for name in ours:
            self.assertTrue(Path(name).is_relative_to(PACKAGE.parent), name)
        self.assertEqual([name for name in mapped if re.search(r"/libcudart|/libnv", name)], [])

    def test_what_it_says_of_itself(self):
        said = metadata.metadata("cuszi")
        self.assertIn("# cuszi", said.get_payload() or said["Description"])
        self.assertEqual(said["Description-Content-Type"], "text/markdown")
        self.assertGreaterEqual({url.split(",")[0] for url in said.get_all("Project-URL")},
                                {"Homepage", "Documentation", "Changelog", "Issues"})
        files = [str(file) for file in metadata.files("cuszi")]
        for name in ("LICENSE", "THIRD_PARTY_NOTICES.md"):
            self.assertTrue(any(file.endswith(name) for file in files), name)
        self.assertIn("cuszi", {point.name for group in ("zarr.codecs", "numcodecs.codecs")
                                for point in metadata.distribution("cuszi").entry_points if point.group == group})

    def test_the_filter_is_there(self):
        self.assertTrue((Path(cuszi.h5_plugin_path()) / "libh5cuszi.so").is_file())

    @unittest.skipUnless(has("h5py"), "no h5py")
    def test_hdf5(self):
        import h5py
        with tempfile.TemporaryDirectory() as folder, h5py.File(Path(folder) / "f.h5", "w") as file:
            file.create_dataset("x", data=FIELD, chunks=FIELD.shape, **cuszi.H5(abs=1e-3))
            file.flush()
            self.assertLessEqual(np.abs(file["x"][:].astype("f8") - FIELD).max(), 1e-3)
            self.assertLess(file["x"].id.get_storage_size(), FIELD.nbytes / 10)

    @unittest.skipUnless(has("zarr"), "no zarr")
    def test_zarr(self):
        import zarr
        store = zarr.storage.MemoryStore()
        zarr.create_array(store, name="x", shape=FIELD.shape, chunks=FIELD.shape, dtype="f4",
                          serializer=cuszi.Zarr(abs=1e-3), compressors=None)[:] = FIELD
        self.assertLessEqual(np.abs(zarr.open_array(store, path="x")[:].astype("f8") - FIELD).max(), 1e-3)


if __name__ == "__main__":
    unittest.main()
