"""What calls raise and warn of."""


class Error(RuntimeError):
    """A call that failed. ``status`` is the library's number for why."""

    status = 0


class UsageError(Error, ValueError):
    """An argument that cannot be honoured."""


class InputError(Error):
    """Values that cannot be read."""


class ArchiveError(Error):
    """Damaged, truncated, or no archive."""


class BoundError(Error):
    """A value would be over the bound."""


class DeviceError(Error):
    """A device, a driver or a library is not there."""


class RoomError(Error, ValueError):
    """``out`` is too small."""


class Warning(UserWarning):
    """What makes a result useless, though it was made; ``strict=True`` makes it an error."""


class FillWarning(Warning):
    """Values look as if they meant "missing", but are no fill values."""


class TargetWarning(Warning):
    """A target was not met; the archive is the nearest to it that was found."""
