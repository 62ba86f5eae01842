"""What tests of the Python package share."""

import threading

import numpy as np


def waves(shape=(20, 30, 40), dtype="f4", seed=1, noise=1e-3):
    """A smooth field with a little noise."""
    smooth = np.sin(0.01 * np.arange(np.prod(shape))).reshape(shape)
    return (smooth + np.random.default_rng(seed).normal(0, noise, shape)).astype(dtype)


def run_in_threads(count, work):
    """Calls work(i) for all i below count, each in a thread of its own, and waits for them."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
