"""Paths of documents that name the folders to come: true where what they name lies one folder higher yet."""

from pages import ROOT

FOLDERS = {"core/lorenzo", "cpu_ref/lorenzo", "gpu/lorenzo", "codec/files"}


def moved(path):
    layer, *folders, name = path.split("/")
    if layer not in ("core", "cpu_ref", "gpu", "codec", "app"):
        return False
    return path in FOLDERS or bool(folders) and (ROOT / layer / name).exists()
