"""For ParaView 5.11.0 with Python 3.11, as in Debian 12: its loader of plugins in Python asks for a function that
Python no longer has. Python runs this file at its start where PYTHONPATH leads to its folder."""

import inspect

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec
