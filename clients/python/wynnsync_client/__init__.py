"""A client of the read API of wynnsync: the kept history of the Wynncraft web API.

>>> from wynnsync_client import connect
>>> history = connect("http://127.0.0.1:8080")
>>> for hold in history.territory_hold(territory="Ragged Coast", limit=1000):
...     print(hold["guild_name"], hold["held_from"])

It needs Python 3.9 and nothing else; ``Rows.frame`` needs pandas.
"""

from .client import ReadApiError, connect
from .rows import Rows

__all__ = ["ReadApiError", "Rows", "connect"]
