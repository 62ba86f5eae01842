"""Commands on the workers of a Dask cluster."""

import os
import subprocess

from dask.distributed import Client, KilledWorker

from measurements import Failure

RETRIES = 3  # of a command that a worker cannot run; after a worker's death it is repeated anyway


class Cluster:
    """Workers that reach the same files by the same paths, and need nothing but the tool."""

    def __init__(self, address):
        self._client = Client(address)

    def slots(self):
        """How many commands are run at a time."""
        return max(sum(self._client.nthreads().values()), 1)

    def run(self, command):
        """Runs measurements.run_tool() on a worker; for several threads at once."""
        running = self._client.submit(
            subprocess.run, [str(word) for word in command], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", cwd=os.getcwd(), pure=False,
            retries=RETRIES)
        try:
            return running.result()
        except KilledWorker as error:
            raise Failure(f"its workers died: {error}") from error

    def close(self):
        self._client.close()
