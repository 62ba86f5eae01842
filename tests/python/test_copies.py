"""Tests of copies of files by all kinds of writers: all of a copy is compared with its original, by
netCDF4 and by h5py.

CUSZI in the environment names the tool.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import cuszi

os.environ["HDF5_PLUGIN_PATH"] = cuszi.h5_plugin_path()  # which libraries read once, when they load

import h5netcdf  # noqa: E402
import h5py  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402
from support import waves

SHAPE = (5, 20, 30)
BOUND = 1e-3  # absolute
OUTPUT = 6


def describe_attribute(value):
    """With its type: what reading makes of it may be equal where files differ."""
    a = np.asarray(value)
    return (str(a.dtype), a.shape, str(value))


def describe_group(group):
    """What netCDF sees of a group, but values: all names in their order."""
    def attributes(of):
        return [(name, describe_attribute(of.getncattr(name))) for name in of.ncattrs()]

    def settings(variable):
        return (variable.dimensions, variable.shape, str(variable.datatype), attributes(variable))

    return {
        "dimensions": [(name, len(dim), dim.isunlimited()) for name, dim in group.dimensions.items()],
        "attributes": attributes(group),
        "types": [list(types) for types in (group.cmptypes, group.enumtypes, group.vltypes)],
        "variables": [(name, settings(each)) for name, each in group.variables.items()],
        "groups": [(name, describe_group(each)) for name, each in group.groups.items()]}


def describe_object(file, path):
    """What HDF5 sees of an object, but values; references by the names of what they lead to."""
    def value_of(value):
        if isinstance(value, h5py.Reference):
            return file[value].name if value else None
        if isinstance(value, h5py.Empty):
            return ("empty", str(value.dtype))
        if isinstance(value, (np.ndarray, tuple, list, np.void)) and len(np.shape(value)) + (
                isinstance(value, np.void)):
            return [value_of(each) for each in (value.tolist() if isinstance(value, np.ndarray)
                                                else value)]
        return str(value)

    def attribute(name):
        stored = each.attrs.get_id(name)
        return (name, str(stored.dtype), stored.shape, value_of(each.attrs[name]))

    each = file[path]
    about = {"attributes": [attribute(name) for name in each.attrs]}
    if isinstance(each, h5py.Group):
        return {**about, "links": [(name, str(type(each.get(name, getlink=True))))
                                   for name in each]}
    if isinstance(each, h5py.Datatype):
        return {**about, "type": str(each.dtype)}
    plist = each.id.get_create_plist()
    return {**about, "type": str(each.dtype), "stored": each.id.get_type().get_class(),
            "shape": each.shape, "maxshape": each.maxshape, "fill": str(each.fillvalue),
            "fill_defined": plist.fill_value_defined(), "order": plist.get_attr_creation_order(),
            "is_scale": each.is_scale,
            "scales": [[scale.name for scale in dim.values()] for dim in each.dims]}


class Copies(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tool(self, *command, code=0):
        result = subprocess.run([str(part) for part in command], cwd=self.folder,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr

    def copy(self, name, code=0):
        return self.run_tool(os.environ["CUSZI"], "compress", name, "-e", BOUND, "-m", "abs",
                             "--preset", "fast", "-f", "-q", "--no-history", "-o", "copy.nc", code=code)

    def check_values(self, original, copy, path, filtered):
        if filtered:
            missing = np.abs(np.nan_to_num(original.astype("f8"), nan=1e20)) > 1e10
            np.testing.assert_array_equal(copy[missing], original[missing], path)
            self.assertLessEqual(np.abs(copy - original)[~missing].max(initial=0), BOUND, path)
        elif original.dtype == object:
            self.assertEqual(str(copy), str(original), path)
        else:
            self.assertEqual(copy.tobytes(), original.tobytes(), path)

    def check_netcdf(self, name):
        def check(a, b):
            for variable in a.variables:
                filters = b[variable].filters() or {}
                one, two = a[variable], b[variable]
                one.set_auto_maskandscale(False)
                two.set_auto_maskandscale(False)
                is_field = variable.isupper()
                self.check_values(np.asarray(one[...]), np.asarray(two[...]), variable, is_field)
                self.assertFalse(is_field and filters.get("zlib"))
            for group in a.groups:
                check(a[group], b[group])

        with (netCDF4.Dataset(self.folder / name) as original,
              netCDF4.Dataset(self.folder / "copy.nc") as copy):
            self.assertEqual(describe_group(copy), describe_group(original))
            check(original, copy)

    def check_hdf5(self, name):
        filtered = []
        with h5py.File(self.folder / name) as a, h5py.File(self.folder / "copy.nc") as b:
            paths = ["/"]
            a.visit(paths.append)
            others = ["/"]
            b.visit(others.append)
            self.assertEqual(others, paths)
            for path in paths:
                self.assertEqual(describe_object(b, path), describe_object(a, path), path)
                if not isinstance(a[path], h5py.Dataset) or a[path].shape is None:
                    continue
                if h5py.check_dtype(ref=a[path].dtype):
                    continue
                plist = b[path].id.get_create_plist()
                numbers = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
                filtered += [path] if 411 in numbers else []
                self.check_values(a[path][...], b[path][...], path, 411 in numbers)
        return filtered


class Netcdf(Copies):
    """Files of NetCDF by several writers. The names of fields are in capitals."""

    KINDS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC",
             "NETCDF4")

    def make(self, name, kind="NETCDF4"):
        with netCDF4.Dataset(self.folder / name, "w", format=kind) as file:
            self.fill(file)
            for i in range(20):  # enough for dense storage
                file.setncattr(f"note{i}", f"about {i}")
            if kind == "NETCDF4":
                self.add_types(file)
                file.createGroup("empty")
                file.createGroup("noted").title = "attributes alone"
                deep = file.createGroup("deep/er")
                self.fill(deep)
                many = file.createGroup("many")
                for i in range(30):
                    many.createVariable(f"V{i:02}", "f4", ("y", "x"))[:] = waves(SHAPE[1:], seed=i)

    def fill(self, group):
        for dimension, size in zip(("time", "y", "x"), (None,) + SHAPE[1:]):
            group.createDimension(dimension, size)
        group.createDimension("nv", 2)
        group.createDimension("unused", 7)
        crs = group.createVariable("crs", "i4", ())
        crs.setncatts({"grid_mapping_name": "rotated_pole", "north_pole": 39.25,
                       "corners": np.arange(4, dtype="f4")})
        group.createVariable("flag", "S1", ()).long_name = "no dimension"
        time = group.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "days since 2001-01-01", "bounds": "time_bnds"})
        time[:] = np.arange(SHAPE[0]) + 0.5
        group.createVariable("time_bnds", "f8", ("time", "nv"))[:] = np.arange(10).reshape(5, 2)
        group.createVariable("y", "f4", ("y",))[:] = np.linspace(-1, 1, SHAPE[1])
        values = waves(SHAPE)
        values[:, :3] = 1e20
        t = group.createVariable("T", "f4", ("time", "y", "x"), fill_value=np.float32(1e20))
        t.set_auto_mask(False)
        t[:] = values
        t.setncatts({"units": "K", "missing_value": np.float32(1e20), "grid_mapping": "crs"})
        for i in range(20):
            t.setncattr(f"note{i}", np.arange(i + 1, dtype="i4"))
        group.createVariable("U", "f8", ("y", "x"))[:] = waves(SHAPE[1:], "f8")
        count = group.createVariable("count", "i2", ("time", "x"))
        count[:] = np.arange(150).reshape(5, 30)
        if group.data_model == "NETCDF4":
            for i in range(20):
                count.setncattr_string(f"note{i}", f"about {i}")
        group.createVariable("name", "S1", ("y",))[:] = np.array(list("abcdefghijklmnopqrst"), "S1")

    def add_types(self, file):
        cloud = file.createEnumType("i1", "cloud", {"clear": 0, "dark": 1})
        file.createVariable("sky", cloud, ("y",), fill_value=1)[:] = np.arange(20) % 2
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
        file.createVariable("pairs", pair, ("y",))[:] = np.zeros(20, pair.dtype)
        file.createVariable("text", str, ("y",))[:] = np.array([f"t{i}" for i in range(20)], object)
        lists = file.createVLType("i4", "list")
        some = file.createVariable("lists", lists, ("y",))
        for i in range(20):
            some[i] = np.arange(i % 3 + 1, dtype="i4")
        file.createVariable("u8", "u8", ("x",))[:] = np.arange(30)
        file.variables["T"].texts = ["one", "three"]

    def test_netcdf4_python(self):
        for kind in self.KINDS:
            with self.subTest(kind=kind):
                self.make("t.nc", kind)
                self.copy("t.nc")
                self.check_netcdf("t.nc")
                if kind.startswith("NETCDF4"):
                    self.assertIn("T", self.check_hdf5("t.nc"))

    def test_tools(self):
        self.make("t.nc")
        self.make("classic.nc", "NETCDF3_CLASSIC")
        for command in (["nccopy", "-c", "y/7,x/11", "t.nc"], ["nccopy", "-k", "nc7", "classic.nc"],
                        ["nccopy", "-k", "nc4", "-u", "-d", "4", "classic.nc"],
                        ["ncks", "-O", "-h", "--no_alphabetize", "t.nc"],
                        ["ncks", "-O", "-h", "-7", "-L", "1", "classic.nc"],
                        ["ncks", "-O", "-h", "-4", "--fix_rec_dmn", "all", "classic.nc"]):
            if not shutil.which(command[0]):
                continue
            with self.subTest(command=command):
                self.run_tool(*command, "by_tool.nc")
                self.copy("by_tool.nc")
                self.check_netcdf("by_tool.nc")
                self.assertIn("T", self.check_hdf5("by_tool.nc"))

    def test_h5netcdf(self):
        with h5netcdf.File(self.folder / "t.nc", "w") as file:
            file.dimensions = {"time": None, "y": SHAPE[1], "x": SHAPE[2], "unused": 3}
            file.resize_dimension("time", SHAPE[0])
            file.create_variable("y", ("y",), "f8")[:] = np.arange(SHAPE[1])
            file.create_variable("crs", (), "i4").attrs["grid"] = "rotated"
            field = file.create_variable("T", ("time", "y", "x"), "f4", compression="gzip")
            field[:] = waves(SHAPE)
            for i in range(20):
                field.attrs[f"note{i}"] = f"about {i}"
            file.create_group("empty")
            kept = file.create_variable("count", ("x",), "i4")
            kept[:] = np.arange(SHAPE[2])
            for i in range(20):
                kept.attrs[f"note{i}"] = f"about {i}"
            group = file.create_group("many")
            for i in range(20):
                group.create_variable(f"V{i:02}", ("y", "x"), "f8")[:] = waves(SHAPE[1:], "f8", i)
        self.copy("t.nc")
        self.check_netcdf("t.nc")
        self.assertEqual(len(self.check_hdf5("t.nc")), 21)


class Killed(Copies):
    """A copy that is killed leaves nothing, unless a library has to know its name."""

    def test_killed(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            file["T"] = waves((200, 200, 200))
        for delay in (0.05, 0.1, 0.15, 0.2):
            process = subprocess.Popen([os.environ["CUSZI"], "compress", "t.h5", "-e", "1e-5", "-q", "-o", "copy.h5"],
                                       cwd=self.folder)
            time.sleep(delay)
            process.kill()
            self.assertEqual(process.wait(), -signal.SIGKILL)
            self.assertEqual(os.listdir(self.folder), ["t.h5"])


class Full(Copies):
    """Where there is no room for a copy, nothing is left of it."""

    def copy_within(self, name, limit):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        result = subprocess.run([os.environ["CUSZI"], "compress", name, "-e", "0", "-q", "-f", "-o",
                                 "copy.nc"], cwd=self.folder, preexec_fn=set_limit,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, OUTPUT, result.stderr)
        self.assertRegex(result.stderr, f"^cuszi: {name}: copy.nc: .*\n$")
        self.assertEqual(sorted(os.listdir(self.folder)), ["t.h5", "t.nc"])
        return result.stderr

    def test_no_room(self):
        random = np.random.default_rng(1)
        values = random.integers(0, 1 << 60, (20, 5000))
        with h5py.File(self.folder / "t.h5", "w") as file:
            for i, row in enumerate(values):
                file[f"g/i{i}"] = row
                file[f"T{i}"] = random.normal(size=5000)
            file["texts"] = ["text " * (i % 100) for i in range(1000)]
        with netCDF4.Dataset(self.folder / "t.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("x", 5000)
            for i in range(20):
                file.createVariable(f"i{i}", "i4", ("x",))[:] = random.integers(0, 1 << 30, 5000)
                file.createVariable(f"T{i}", "f8", ("x",))[:] = random.normal(size=5000)
        for limit in (0, 1, 100, 2048, 4096, 8192, 16384, 50_000, 100_000, 200_000, 400_000, 800_000):
            with self.subTest(limit=limit):
                self.assertIn("File too large", self.copy_within("t.h5", limit))
                self.assertIn("File too large", self.copy_within("t.nc", limit))


COMMENTED = ("many", "many/V3", "x")


class Hdf5(Copies):

    def fill(self, file, track_order):
        def group_of(where, name):
            return where.create_group(name, track_order=track_order)

        for i in (*range(9, 20), *range(9)):
            file.attrs[f"note{i}"] = np.arange(i, dtype="i8")
        many = group_of(file, "many")
        for i in (*range(15, 30), *range(15)):
            many.create_dataset(f"V{i}", data=waves(SHAPE[1:], seed=i), track_order=track_order)
            many[f"V{i}"].attrs["twin"] = file["many/V15"].ref
        for i in (*range(9, 30), *range(9)):
            many["V15"].attrs[f"note{i}"] = f"about {i}"
        file.create_dataset("counts", data=np.arange(10), track_order=track_order)
        file["kind"] = np.dtype([("a", "i4"), ("b", "f8")])
        for name in ("counts", "kind"):  # which are not compressed: attributes enough for dense storage
            for i in (*range(9, 20), *range(9)):
                file[name].attrs[f"note{i}"] = [f"about {i}", f"and {i}"] if i % 3 else f"about {i}"
            file[name].attrs["twin"] = many["V15"].ref
            file[name].attrs.create("lists", np.array([np.arange(3), np.arange(2)], object),
                                    dtype=h5py.vlen_dtype("i4"))
            file[name].attrs.create("typed", np.zeros(2, file["kind"].dtype), dtype=file["kind"])
        group_of(file, "empty")
        group_of(group_of(file, "deep"), "empty")
        file["twin"] = many
        file["nothing"] = h5py.Empty("f4")
        file.create_dataset("none", (0, 4), "f4", maxshape=(None, 4))
        file.create_dataset("text", data=["a", "bc"])
        file.create_dataset("x", data=np.arange(SHAPE[2]) / 3).make_scale("x")
        for name in ("V15", "V3"):
            many[name].dims[1].attach_scale(file["x"])
        for name in COMMENTED:
            h5py.h5o.set_comment(file[name].id, b"about it", obj_name=b".")

    def comments(self, name):
        """By a tool: h5py reads none."""
        text = subprocess.run(["h5ls", "-rv", name], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        return re.findall('Comment: *"(.*)"', text)

    def test_h5py(self):
        for libver in ("earliest", "v108", "v110"):
            for track_order in (False, True):
                with self.subTest(libver=libver, track_order=track_order):
                    with h5py.File(self.folder / "t.h5", "w", libver=libver,
                                   track_order=track_order) as file:
                        self.fill(file, track_order)
                    self.copy("t.h5")
                    self.assertEqual(len(self.check_hdf5("t.h5")), 30)
                    self.assertEqual(self.comments("copy.nc"), ["about it"] * len(COMMENTED))


if __name__ == "__main__":
    unittest.main()
