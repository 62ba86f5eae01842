"""Runs examples/dask_zarr.py and scripts/batch.py on a Dask cluster of four processes.

CUSZI_SOURCE in the environment is the project's folder; CUSZI names the tool.
"""

import csv
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import dask
import numpy as np
import zarr
from dask.distributed import Client, LocalCluster

import cuszi
from support import waves

SOURCE = Path(os.environ["CUSZI_SOURCE"])
WORKERS = 4


def setUpModule():
    global cluster, client
    # Workers that are forked need not load all modules again.
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
    unittest.addModuleCleanup(cluster.close)
    client = Client(cluster)
    unittest.addModuleCleanup(client.close)


class DaskTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        client.wait_for_workers(WORKERS)

    def start(self, script, *arguments):
        command = [sys.executable, SOURCE / script, *arguments]
        return subprocess.Popen([str(part) for part in command], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def finish(self, process):
        """What the process has printed."""
        text, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, text)
        return text


class Zarr(DaskTest):

    def example_of_guide(self):
        guide = (SOURCE / "docs/guide/zarr-dask.md").read_text()
        line, = re.findall(r"(?m)^(examples/dask_zarr.py .* --scheduler .*)", guide)
        return line.replace("tcp://head:8786", cluster.scheduler_address).split()

    def test_survives_the_killing_of_a_worker(self):
        a = waves((128, 64, 320))
        a[:, :8] = 1e20
        chunks = (32, 64, 80)
        stored = zarr.create_array(self.folder / "in.zarr/T", data=a, chunks=chunks, fill_value=1e20,
                                   attributes={"units": "K"}, dimension_names=("z", "y", "x"))
        written = self.folder / "out.zarr/T/c"
        processes = client.run(os.getpid)
        process = self.start(*self.example_of_guide())
        while not list(written.glob("*/*/*")) and process.poll() is None:
            time.sleep(0.001)
        victim = next(worker for worker, tasks in client.processing().items() if tasks)
        os.kill(processes[victim], signal.SIGKILL)
        self.assertLess(len(list(written.glob("*/*/*"))), stored.nchunks, "killed too late")
        self.assertIn("100%", self.finish(process))
        self.assertNotIn(victim, client.scheduler_info(n_workers=-1)["workers"].keys())

        known = a[:, 8:]
        b = zarr.open_array(self.folder / "out.zarr/T", mode="r")
        self.assertEqual(b.nchunks_initialized, stored.nchunks)
        self.assertEqual((b.attrs.asdict(), b.metadata.dimension_names, b.chunks),
                         ({"units": "K"}, ("z", "y", "x"), chunks))
        bound = b.serializer.abs
        self.assertAlmostEqual(bound, 1e-3 * (float(known.max()) - float(known.min())), places=12)
        self.assertLessEqual(np.abs(b[:, 8:] - known).max(), bound)
        np.testing.assert_array_equal(b[:, :8], a[:, :8])
        self.assertEqual((written / "1/0/1").read_bytes(),
                         cuszi.compress(a[32:64, :, 80:160], abs=bound, fill=float(np.float32(1e20))))


class Batch(DaskTest):

    def test_fields_are_compressed_by_the_workers(self):
        fields = self.folder / "fields"
        fields.mkdir()
        for name in ("a_20x30x40.f32", "b_20x30x40.f32"):
            waves((20, 30, 40)).tofile(fields / name)
        tool = self.folder / "cuszi"
        tool.write_text(f'#!/bin/sh\ncase "$1 $2" in "compress "*_20x30x40.f32) '
                        f'echo $PPID >>{self.folder}/parents ;; esac\n'
                        f'exec {os.environ["CUSZI"]} "$@"\n')
        tool.chmod(0o755)
        self.finish(self.start("scripts/batch.py", "fields", "--out", "report", "--plain",
                               "--error-bounds", "1e-2,1e-3", "--cuszi", "./cuszi",
                               "--scheduler", cluster.scheduler_address))
        parents = set(map(int, (self.folder / "parents").read_text().split()))
        self.assertLessEqual(parents, set(client.run(os.getpid).values()))
        rows = list(csv.DictReader((self.folder / "report/results.csv").read_text().splitlines()))
        self.assertEqual([(row["failure"], row["within_bound"]) for row in rows],
                         [("", "true")] * 4)
        self.assertIn("## Pictures", (self.folder / "report/report.md").read_text())


if __name__ == "__main__":
    unittest.main()
