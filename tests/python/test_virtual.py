"""HDF5 files with cuszi's filter as virtual Zarr: by kerchunk, VirtualiZarr and Icechunk, whatever is installed."""

import contextlib
import io
import os
import re
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import cuszi
import h5py
import numpy as np
from support import waves

import cuszi.virtual

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/zarr-dask.md"
FILTERS = {"abs": cuszi.H5(abs=1e-3), "fast": cuszi.H5(pw_rel=1e-2, preset="fast"),
           "two": cuszi.H5(abs_or_pw_rel=1e-3, pw=1e-2, fill=-5.0)}


class Virtual(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "a.h5"
        with h5py.File(self.path, "w") as file:
            for name, compression in FILTERS.items():
                dataset = file.create_dataset(name, data=waves((21, 30)), chunks=(8, 16), compression=compression,
                                              fillvalue=1e20 if name == "abs" else None)
                self.assertEqual(dataset.chunks, (8, 16))
            file.create_dataset("plain", data=waves((21, 30)))
        with h5py.File(self.path) as file:
            self.values = {name: file[name][...] for name in file}

    def test_parameters_as_a_codec(self):
        with h5py.File(self.path) as file:
            configurations = {name: cuszi.virtual.codec_of(file[name]._filters[str(cuszi.H5(abs=0).filter_id)]).get_config()
                              for name in FILTERS}
        self.assertEqual((configurations["abs"]["abs"], configurations["abs"]["fill"]), (1e-3, [np.float32(1e20)]))
        self.assertEqual((configurations["fast"]["pw_rel"], configurations["fast"]["preset"]), (1e-2, "fast"))
        self.assertEqual((configurations["two"]["abs_or_pw_rel"], configurations["two"]["pw"]), (1e-3, 1e-2))

    @unittest.skipUnless(find_spec("kerchunk"), "no kerchunk")
    def test_kerchunk(self):
        import zarr
        from kerchunk.hdf import SingleHdf5ToZarr
        cuszi.virtual.register()
        references = SingleHdf5ToZarr(str(self.path), inline_threshold=0).translate()
        store = zarr.storage.FsspecStore.from_url(
            "reference://", storage_options={"fo": references, "asynchronous": True,
                                             "remote_protocol": "file", "remote_options": {"asynchronous": True}})
        group = zarr.open_group(store, mode="r", zarr_format=2)
        for name, values in self.values.items():
            np.testing.assert_array_equal(group[name][...], values)

    @unittest.skipUnless(find_spec("virtualizarr"), "no virtualizarr")
    def test_virtualizarr(self):
        import obstore
        import xarray
        from obspec_utils.registry import ObjectStoreRegistry
        from virtualizarr import open_virtual_dataset
        from virtualizarr.parsers import HDFParser
        cuszi.virtual.register()
        registry = ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
        with open_virtual_dataset(f"file://{self.path}", registry, HDFParser()) as virtual:
            self.assertEqual(set(virtual), set(self.values))
            store = HDFParser()(f"file://{self.path}", registry)
            data = xarray.open_zarr(store, consolidated=False, zarr_format=3)
            for name, values in self.values.items():
                np.testing.assert_array_equal(data[name].values, values)
            if find_spec("icechunk"):
                self.check_icechunk(virtual)

    @unittest.skipUnless(find_spec("kerchunk") and find_spec("virtualizarr"), "no kerchunk or VirtualiZarr")
    def test_the_blocks_of_the_guide(self):
        a = waves((20, 30, 40))
        with h5py.File(self.folder / "t.nc", "w") as file:
            file.create_dataset("T", data=a, chunks=(8, 30, 40), compression=cuszi.H5(abs=1e-3))
        by_kerchunk, by_virtualizarr = re.findall(r"(?ms)^```python\n(import cuszi.virtual.*?)^```$", PAGE.read_text())
        names = {}
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(by_kerchunk, names)
            exec(by_virtualizarr, names)
        self.assertLessEqual(np.abs(names["T"] - a[8:16]).max(), 1e-3)
        self.assertIn("ManifestArr", said.getvalue())

    def check_icechunk(self, virtual):
        import icechunk
        import zarr
        config = icechunk.RepositoryConfig.default()
        prefix = f"file://{self.folder}/"
        config.set_virtual_chunk_container(
            icechunk.VirtualChunkContainer(prefix, icechunk.local_filesystem_store(str(self.folder))))
        repo = icechunk.Repository.create(icechunk.in_memory_storage(), config,
                                          authorize_virtual_chunk_access={prefix: None})
        session = repo.writable_session("main")
        virtual.vz.to_icechunk(session.store)
        session.commit("a")
        group = zarr.open_group(repo.readonly_session("main").store, mode="r")
        for name, values in self.values.items():
            np.testing.assert_array_equal(group[name][...], values)


if __name__ == "__main__":
    unittest.main()
