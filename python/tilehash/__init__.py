# SPDX-License-Identifier: Apache-2.0
"""Hash tables and analysis of arrays: factorize, unique, isin, value_counts, group_by, join.

Importing this module starts no threads and touches no GPU.
"""

from ._analysis import factorize, get_threads, isin, set_threads, unique, value_counts
from ._errors import TableFull
from ._frames import join, merge
from ._groups import Groups, group_by
from ._stored import Stored
from ._streamed import streamed
from ._tables import Index, Map, MultiMap, Set

__version__ = "0.1.0"
__all__ = [
    "Groups",
    "Index",
    "Map",
    "MultiMap",
    "Set",
    "Stored",
    "TableFull",
    "factorize",
    "get_threads",
    "group_by",
    "isin",
    "join",
    "merge",
    "set_threads",
    "streamed",
    "unique",
    "value_counts",
]
