"""xarray's engine "cuszi"."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, Sequence

import numpy as np
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ._open import Archive, open


class _Lazy(BackendArray):

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.shape = archive.shape
        self.dtype = archive.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC,
                                                  lambda index: np.asarray(self._archive[index]))


class Engine(BackendEntrypoint):
    """``xarray.open_dataset("T.cuszi", engine="cuszi", dims=("time", "y", "x"))``: one variable, read on demand.

    ``name`` is the variable's, by default the file's up to its first dot; ``dims`` are ``dim_0``, ``dim_1`` ... by
    default. Its attributes tell the bound. Dask chunks are frames.
    """

    description = "Archives of cuszi"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "dims", "name")

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None,
                     dims: Sequence[str] | None = None, name: str | None = None) -> Dataset:
        archive = open(filename_or_obj)
        dims = tuple(dims) if dims is not None else tuple(f"dim_{axis}" for axis in range(archive.ndim))
        if name is None:
            is_path = isinstance(filename_or_obj, (str, os.PathLike))
            name = Path(filename_or_obj).name.partition(".")[0] if is_path else "values"
        attributes = {"error_bound": archive.info.bound, "error_bound_mode": archive.info.mode,
                      "error_bound_asked": archive.info.bound_asked}
        if archive.info.fill:
            attributes["missing_value"] = np.array(archive.info.fill, archive.dtype)
        variable = Variable(dims, indexing.LazilyIndexedArray(_Lazy(archive)), attributes,
                            {"preferred_chunks": dict(zip(dims, archive.chunks))})
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        data = Dataset({} if name in dropped else {name: variable})
        data.set_close(archive.close)
        return data

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        return isinstance(filename_or_obj, (str, os.PathLike)) and os.fspath(filename_or_obj).endswith(".cuszi")
