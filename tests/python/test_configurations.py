"""Configurations of codecs as files have them: those of earlier versions are read, and today's are
what the schemas of packaging/registrations describe.

tests/compat/configurations.json is frozen: it gets new lines, and none of its lines changes.
"""

import json
import os
import tempfile
import unittest
from pathlib import Path

import cuszi

import cuszi.h5

import h5py
import jsonschema
import numcodecs
import numpy as np
import zarr
from support import waves

SOURCE = Path(os.environ["CUSZI_SOURCE"])
REGISTRATIONS = SOURCE / "packaging/registrations"
FROZEN = json.loads((SOURCE / "tests/compat/configurations.json").read_text())


def validator(path):
    schema = json.loads((REGISTRATIONS / path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


ZARR, NUMCODECS, HDF5 = map(validator, ("zarr/codecs/cuszi/schema.json", "schemas/numcodecs.json", "schemas/hdf5.json"))


def allowed(keywords, a):
    """The largest error of each value."""
    given = {name: value for name, value in keywords.items() if value is not None}
    values = np.abs(a.astype("f8")) * (1 + 1e-12)
    if "pw" in given:
        least = "abs_and_pw_rel" in given
        bound, share = given["abs_and_pw_rel" if least else "abs_or_pw_rel"], given["pw"] * values
        return np.minimum(bound, share) if least else np.maximum(bound, share)
    return given["abs"] if "abs" in given else given["pw_rel"] * values


class Frozen(unittest.TestCase):

    def check(self, b, a, keywords):
        self.assertTrue(np.all(np.abs(b.astype("f8") - a) <= allowed(keywords, a)))

    def test_zarr_3(self):
        a = waves((12, 16))
        for configuration in FROZEN["zarr"]:
            with self.subTest(configuration=configuration):
                for name in ("cuszi", "numcodecs.cuszi"):
                    codec = cuszi.Zarr.from_dict({"name": name, "configuration": configuration})
                    self.assertEqual(codec.to_dict(), {"name": "cuszi", "configuration": configuration})
                ZARR.validate(codec.to_dict())
                stored = zarr.create_array({}, data=a, chunks=(6, 8), compressors=None, serializer=codec)
                self.check(stored[...], a, configuration)

    def test_numcodecs(self):
        a = waves((12, 16))
        for configuration in FROZEN["numcodecs"]:
            with self.subTest(configuration=configuration):
                codec = numcodecs.get_codec(dict(configuration))
                self.assertEqual(codec.get_config(), configuration)
                NUMCODECS.validate(codec.get_config())
                self.check(codec.decode(codec.encode(a)), a, configuration)

    def test_hdf5(self):
        with tempfile.TemporaryDirectory() as folder, h5py.File(Path(folder) / "t.h5", "w") as file:
            for i, frozen in enumerate(FROZEN["hdf5"]):
                with self.subTest(i=i):
                    parameters, shape, keywords = frozen["parameters"], tuple(frozen["chunk"]), frozen["keywords"]
                    HDF5.validate(parameters)
                    self.assertEqual(cuszi.h5.method_of(tuple(parameters)), keywords)
                    a = (1000 * (1 + waves(shape))).astype(frozen["dtype"])
                    dataset = file.create_dataset(f"T{i}", data=a, chunks=shape, compression=411,
                                                  compression_opts=tuple(parameters))
                    file.flush()
                    self.check(cuszi.h5.read(dataset), a, keywords)
                    self.assertEqual(dataset.id.get_create_plist().get_filter(0)[2], tuple(parameters))


class Schemas(unittest.TestCase):

    def test_what_is_written_is_described(self):
        for codec in (cuszi.Zarr(abs=0), cuszi.Zarr(abs_or_pw_rel=1, pw=0.5, fill=[1e20, np.inf], strict=True)):
            ZARR.validate(codec.to_dict())
        for codec in (cuszi.Numcodec(pw_rel=0), cuszi.Numcodec(abs_and_pw_rel=1, pw=0.5, fill=np.nan)):
            NUMCODECS.validate(json.loads(json.dumps(codec.get_config())))
        with tempfile.TemporaryDirectory() as folder, h5py.File(Path(folder) / "t.h5", "w") as file:
            for fillvalue, options in ((None, {"abs": 0.5}), (1e20, {"abs_or_pw_rel": 1, "pw": 0.5, "fill": -999.0})):
                dataset = file.create_dataset(None, (4, 5), "f8", chunks=True, fillvalue=fillvalue,
                                              compression=cuszi.H5(**options))
                HDF5.validate(list(dataset.id.get_create_plist().get_filter(0)[2]))
            for dtype in ("f2", ">f4", "i1", ">u2", "i4", "u8"):
                dataset = file.create_dataset(None, (4, 5), dtype, chunks=True, compression=cuszi.H5(abs=1))
                HDF5.validate(list(dataset.id.get_create_plist().get_filter(0)[2]))

    def test_others_are_refused(self):
        for bad in ({"pw": 0.1}, {"abs": 1, "pw_rel": 0.1}, {"abs": -1}, {"abs_or_pw_rel": 1}, {"abs": 1, "pw": 0.1},
                    {"abs": 1, "preset": "best"}, {"abs": 1, "level": 3}, {"abs": 1, "fill": [0] * 17}):
            with self.subTest(bad=bad):
                self.assertFalse(ZARR.is_valid({"name": "cuszi", "configuration": bad}))
                self.assertFalse(NUMCODECS.is_valid({"id": "cuszi", **bad}))
        good = FROZEN["hdf5"][0]["parameters"]
        for at, word in ((0, 2), (3, 6), (3, 512 + 1024), (4, 4), (4, 9), (4, 48), (5, 5), (16, 1 << 32), (16, -1)):
            self.assertFalse(HDF5.is_valid([*good[:at], word, *good[at + 1:]]))
        self.assertFalse(HDF5.is_valid(good[:16]))


if __name__ == "__main__":
    unittest.main()
