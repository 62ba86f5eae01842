"""Archives that are read by ranges, on demand."""

from __future__ import annotations

import builtins
import ctypes
import math
import os
import threading
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library, _memory, _options
from ._arguments import names_keywords, whole
from ._codec import Info, along_axes, info_of, part_of
from ._errors import InputError, UsageError
from ._library import Options

if TYPE_CHECKING:
    from typing import BinaryIO

_SMALL = 4096  # headers, footers, tables: read in whole blocks, which are kept
_BLOCK = 1024


class _Ranges:
    """A file as the library reads it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._turn = threading.Lock()
        self._blocks: dict[int, bytes] = {}
        self.failure: BaseException | None = None
        self.nbytes = 0
        self.source = _library.Source(file.seek(0, os.SEEK_END), self._copy)

    def _copy(self, _user: int | None, offset: int, to: int, count: int) -> int:
        try:
            ctypes.memmove(to, self._read(offset, count), count)
        except BaseException as failure:  # the library reports that there was one
            self.failure = failure
            return 1
        return 0

    def _read(self, offset: int, count: int) -> bytes:
        with self._turn:
            known = self._known(offset, count)
            first, left = offset + len(known), count - len(known)
            if left > _SMALL:
                return known + self._fetch(first, left)
            if left > 0:
                start = first // _BLOCK * _BLOCK
                end = min(-(-(first + left) // _BLOCK) * _BLOCK, self.source.bytes)
                data = self._fetch(start, end - start)
                for at in range(0, len(data), _BLOCK):
                    self._blocks[(start + at) // _BLOCK] = data[at:at + _BLOCK]
                known += data[first - start:first - start + left]
        return known

    def _known(self, offset: int, count: int) -> bytes:
        """The known bytes from ``offset`` up to the first unknown block."""
        data = b""
        while len(data) < count and (block := self._blocks.get((offset + len(data)) // _BLOCK)) is not None:
            at = (offset + len(data)) % _BLOCK
            data += block[at:at + count - len(data)]
        return data

    def _fetch(self, offset: int, count: int) -> bytes:
        self._file.seek(offset)
        data = b""
        while len(data) < count:
            more = self._file.read(count - len(data))
            if not more:
                raise EOFError(f"the file ends at byte {offset + len(data)}")
            data += more
        self.nbytes += count
        return data

    def close(self) -> None:
        self._file.close()


class _Indices(NamedTuple):
    """Indices of an axis: every ``step``-th from ``first`` to before ``end``."""

    first: int
    end: int
    step: int
    is_reversed: bool
    is_single: bool

    @classmethod
    def of(cls, item: Any, extent: int) -> _Indices:
        if not isinstance(item, slice):
            index = whole("index", item, -extent, extent - 1) % extent
            return cls(index, index + 1, 1, False, True)
        chosen = range(*item.indices(extent))
        ascending = chosen if chosen.step > 0 else chosen[::-1]
        end = ascending[-1] + 1 if ascending else ascending.start
        return cls(ascending.start, end, ascending.step, chosen.step < 0, False)

    def __len__(self) -> int:
        return len(range(self.first, self.end, self.step))


def _preview_stride(indices: list[_Indices]) -> int:
    """The largest power of two of which all steps above 1, and their first indices, are multiples."""
    common = math.gcd(*(math.gcd(one.step, one.first) for one in indices if one.step > 1 and len(one) > 1))
    return common & -common or 1


class Archive:
    """An archive as an array that reads what is asked for.

        a = cuszi.open("run.cuszi")
        a[3, 10:20]         # a box: only frames that it intersects are read
        a[::4, ::4, ::4]    # a preview: only their first levels
        numpy.asarray(a)    # all

    Indices are integers and slices; the result is a NumPy array. Threads may share it.

    Attributes
    ----------
    shape, dtype, ndim, size, nbytes
        Those of the field.
    chunks : tuple of int
        Extents of a frame, for Dask: ``dask.array.from_array(a, chunks=a.chunks)``.
    info : Info
    bytes_read : int
        From the file until now.
    """

    def __init__(self, file: BinaryIO, options: Options, reopen: tuple[Any, ...] | None = None) -> None:
        self._ranges = _Ranges(file)
        self._options = options
        self._reopen = reopen
        self._system: Any = None
        self.info: Info = info_of(self._call(_library.read_info))
        self.shape = self.info.shape
        self.dtype = self.info.dtype

    def _call(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(ctypes.addressof(self._ranges.source), _library.SOURCE, *arguments)
        except InputError as error:
            raise error from self._ranges.failure

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[int, ...]:
        axis = self.info.frame_axis
        return (1,) * axis + (self.info.frame_height,) + self.shape[axis + 1:]

    @property
    def bytes_read(self) -> int:
        return self._ranges.nbytes

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self[...].astype(dtype or self.dtype, copy=False)

    def __getitem__(self, index: Any) -> npt.NDArray[Any]:
        indices = [_Indices.of(item, extent) for item, extent in zip(along_axes(index, self.ndim), self.shape)]
        shape = tuple(len(one) for one in indices if not one.is_single)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        part, field, steps = self._plan(indices)
        values = np.empty(field.shape, self.dtype)
        target = _memory.of_field_output(values, field.shape, values.dtype)
        self._call(lambda address, size: _library.decompress(self._options, address, size, part, target.address,
                                                            target.nbytes))
        values = values[tuple(slice(None, None, step) for step in steps)]
        values = values[tuple(slice(None, None, -1 if one.is_reversed else 1) for one in indices)]
        return values.reshape(shape)

    def _plan(self, indices: list[_Indices]) -> tuple[Any, Any, list[int]]:
        """The part around the indices, its field, and the steps in that; a preview if the archive has it."""
        box = tuple(slice(one.first, one.end) for one in indices)
        for stride in dict.fromkeys((_preview_stride(indices), 1)):
            part = part_of(box, stride)
            try:
                field = self._call(_library.part_field, part)
            except UsageError:
                if stride == 1:
                    raise
                continue  # an index lies between those of the preview
            thinned = [extent != one.end - one.first for extent, one in zip(field.shape, indices)]
            if all(one.step % stride == 0 and one.first % stride == 0
                   for one, is_thin in zip(indices, thinned) if is_thin):
                break
        return part, field, [one.step // stride if is_thin else one.step for one, is_thin in zip(indices, thinned)]

    def close(self) -> None:
        self._ranges.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reopen is None:
            raise TypeError("an archive opened from a file object cannot be pickled; open it by its path")
        return self._reopen

    def __repr__(self) -> str:
        return f"<cuszi.Archive {self.shape} {self.dtype}, bound {self.info.bound:g}>"


@names_keywords()
def open(file: str | os.PathLike[str] | BinaryIO, *, device: str = "auto", threads: int | None = None,
         memory_limit: int | None = None) -> Archive:
    """Open an archive as an array that reads only what is asked for.

    Parameters
    ----------
    file : path, URL of fsspec, or binary file object with ``seek`` and ``read``
    device, threads, memory_limit
        As for ``decompress``.

    Returns
    -------
    Archive

    Raises
    ------
    ArchiveError, OSError
    """
    options = Options()
    _options.set_device(options, device, threads, None, (), memory_limit)
    if not isinstance(file, (str, os.PathLike)):
        return Archive(file, options)
    return _open_path(os.fspath(file), options)


def _open_path(path: str, options: Options) -> Archive:
    system: Any = None
    if "://" in path:
        import fsspec
        system, inner = fsspec.core.url_to_fs(path)
        opened = system.open(inner, "rb", cache_type="none")  # others read ahead by megabytes
    else:
        opened = builtins.open(path, "rb", buffering=0)
    try:
        archive = Archive(opened, options, (open, (path,)))
    except BaseException:
        opened.close()
        raise
    archive._system = system  # closes its files when it is collected
    return archive
