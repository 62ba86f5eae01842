"""A folder of archives to read from, for tests of what programs that draw read."""

import os
import tempfile
import unittest
from pathlib import Path

import cuszi


class ArchiveFolder(unittest.TestCase):
    """Tests run in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def archive(self, name, a, **options):
        """Writes an archive; returns what it restores to."""
        archive = cuszi.compress(a, **{"rel": 1e-3, **options})
        Path(name).write_bytes(archive)
        return cuszi.decompress(archive)
