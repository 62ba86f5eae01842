"""A decoder of archives that follows docs/reference/format.md alone: nothing of the project is used, and nothing is fast.

It shows that the document is enough to read archives by. Names of modules and functions are those of the document, whose
sections they cite. Archives are believed: what a reader must refuse is not looked for. Sections packed by Bitcomp have no
public description.
"""

from .archive import decode
from .numbers import hash_of

__all__ = ["decode", "hash_of"]
