"""Exceptions and warnings."""


class Error(RuntimeError):
    """A call failed. ``status`` is the library's status code."""

    status = 0


class UsageError(Error, ValueError):
    """An argument is invalid."""


class InputError(Error):
    """Values cannot be read."""


class ArchiveError(Error):
    """The archive is damaged, truncated or not an archive."""


class BoundError(Error):
    """A value exceeds the bound, or a target is not met."""


class DeviceError(Error):
    """A device, a driver or a library is not available."""


class RoomError(Error, ValueError):
    """``out`` is too small."""


class Warning(UserWarning):
    """The result may be useless; ``strict=True`` makes it an error."""


class FillWarning(Warning):
    """Values look like fill values, but are not named as such."""


class TargetWarning(Warning):
    """A target was not met; the archive is the nearest one found."""
