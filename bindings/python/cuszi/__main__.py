"""python -m cuszi show, or cuszi-show: pictures of slices of archives and fields."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Sequence

from ._errors import BoundError, DeviceError, Error, InputError, RoomError, UsageError
from ._library import _ERRORS
from ._options import fill_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLES = """examples:
  cuszi-show U_100x500x500.f32.cuszi -o U.png
  cuszi-show U_100x500x500.f32.cuszi -o U.pdf --slice z=10 --slice z=90
  cuszi-show U_100x500x500.f32.cuszi -o U.png --compare U_100x500x500.f32
  cuszi-show U_100x500x500.f32 --terminal
  cuszi-show file.nc:TEMPERATURE -o T.svg
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _slice(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"([wzyx])=(\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not an axis and an index, like z=10; axes are x (the fastest), y, z and w")
    return match[1], int(match[2])


def _dims(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"0*[1-9]\d*(x0*[1-9]\d*){0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 to 4 extents, slowest first, like 100x500x500")
    return tuple(map(int, text.split("x")))


def _stride(text: str) -> int:
    if not text.isdecimal() or int(text) not in (2**i for i in range(21)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a power of two from 1 to {2**20}")
    return int(text)


def _fill(text: str) -> Any:
    try:
        return text if text == "netcdf" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number or netcdf") from None


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 0")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="cuszi-show", description="Draw slices of a field or an archive. Dims are written slowest first.",
                     epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = parser.add_argument
    add("input", metavar="INPUT", help="archive, raw file, NumPy file (.npy), or FILE:DATASET of HDF5 or NetCDF-4")
    add("-o", "--output", metavar="FILE", help="output picture; its suffix selects the format: .png, .pdf, .svg")
    add("--terminal", action="store_true", help="show the picture in a terminal that supports the graphics of kitty or iTerm2")
    add("--slice", type=_slice, action="append", default=[], metavar="AXIS=I",
        help="show this slice instead of the middle ones, like z=10 (axes: x, the fastest, y, z, w); repeatable")
    add("--stride", type=_stride, metavar="S", help="show every S-th point, a power of two (default: by the size of the slices)")
    add("--compare", metavar="ORIGINAL", help="show this field, the restored field, and the error in units of the bound")
    add("--fill-value", type=_fill, action="append", default=[], metavar="V", help="value that marks missing points; repeatable")
    add("-d", "--dims", type=_dims, help="dimensions of a raw file (default: from the name, like U_64x96x128.f32)")
    add("-t", "--type", choices=["f16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"], help="type of a raw file (default: from the name)")
    add("--skip-bytes", type=_count, default=0, metavar="N", help="bytes to skip before the values of a raw file")
    add("--byte-order", choices=["little", "big"], default="little", help="byte order of a raw file (default: little)")
    add("-f", "--force", action="store_true", help="overwrite FILE")
    add("-q", "--quiet", action="store_true", help="print only errors")
    add("--device", default="auto", help="device for restoring archives: auto, cpu, cuda or cuda:N")
    add("--threads", type=_count, help="number of CPU threads (default: all)")
    add("--memory-limit", type=_count, metavar="BYTES",
        help="maximum memory for restoring frames; refuse archives that need more")
    return parser


def _refuse_output(options: argparse.Namespace, kinds: Sequence[str]) -> None:
    """Before anything is read."""
    path = Path(options.output)
    if path.suffix[1:].lower() not in kinds:
        raise UsageError(f"{path}: the suffix of a picture must be one of {', '.join('.' + kind for kind in sorted(kinds))}")
    for name in (options.input, options.compare):
        file = name and (name if os.path.exists(name) else name.rpartition(":")[0])
        if file and path.exists() and os.path.exists(file) and path.samefile(file):
            raise UsageError(f"{path}: is also an input")
    if path.exists() and not options.force:
        raise RoomError(f"{path}: exists; --force overwrites it")


def _write(path: Path, data: bytes) -> None:
    """The file appears whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RoomError(f"{path}: {error.strerror}") from error


def _show_in_terminal(figure: Figure) -> None:
    from kitcat import FigureCanvas, FigureManager
    width = 8 * os.get_terminal_size(sys.stdout.fileno()).columns  # dots of usual characters
    figure.set_dpi(min(figure.dpi, width / figure.get_size_inches()[0]))
    FigureManager(FigureCanvas(figure), 1).show()


def _show(options: argparse.Namespace) -> None:
    from matplotlib.backend_bases import FigureCanvasBase

    from ._show import TYPES, RawLayout, look_at, open_field

    if options.terminal:
        import kitcat  # noqa: F401  (before anything is read)
        if not sys.stdout.isatty():
            raise RoomError("--terminal: standard output is not a terminal; -o writes a file")
    if options.output:
        _refuse_output(options, list(FigureCanvasBase.get_supported_filetypes()))
    elif not options.terminal:
        raise UsageError("give -o FILE or --terminal")
    layout = RawLayout(options.dims, TYPES.get(options.type), options.skip_bytes, options.byte_order)
    restoring = {"device": options.device, "threads": options.threads, "memory_limit": options.memory_limit}
    field = open_field(options.input, layout, fill_values(options.fill_value), restoring)
    if layout != RawLayout() and not field.is_raw:
        raise UsageError(f"{options.input}: the file format gives dims, type and byte order; "
                         "leave out --dims, --type, --skip-bytes and --byte-order")
    original = None
    if options.compare:
        original = open_field(options.compare, replace(layout, dims=field.shape, dtype=field.dtype), (), restoring)
    sight = look_at(field, options.input, original, options.slice, options.stride)
    figure = sight.figure()
    if options.output:
        data = io.BytesIO()
        figure.savefig(data, format=Path(options.output).suffix[1:].lower(), dpi=figure.dpi)
        _write(Path(options.output), data.getvalue())
        if not options.quiet:
            print(f"{options.input} -> {options.output}", *(f"  {name:<7} {text}" for name, text in sight.lines()), sep="\n")
    if options.terminal:
        _show_in_terminal(figure)
    if sight.wrong_points:
        raise BoundError(f"{sight.wrong_points} points in the picture are over the bound or missing in only one field: "
                         f"{options.compare} is not the original, or the restored field is wrong")


def _run(arguments: Optional[Sequence[str]]) -> None:
    try:
        _show(_parser().parse_args(arguments))
    except ModuleNotFoundError as error:
        extra = {"matplotlib": "show", "kitcat": "terminal"}.get(str(error.name).partition(".")[0])
        if extra is None:
            raise
        raise DeviceError(f"needs {error.name}: pip install 'cuszi[{extra}]'") from error
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def show(arguments: Optional[Sequence[str]] = None) -> int:
    """The command: an exit code of the tool."""
    try:
        _run(arguments)
    except Error as error:
        print(f"cuszi-show: {error}", file=sys.stderr)
        return next((code for code, kind in _ERRORS.items() if isinstance(error, kind)), 8)
    return 0


def main() -> int:
    if sys.argv[1:2] == ["show"]:
        return show(sys.argv[2:])
    print("cuszi: the only command of this package is show: python -m cuszi show --help", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
