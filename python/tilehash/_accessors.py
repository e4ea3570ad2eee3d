# SPDX-License-Identifier: Apache-2.0
"""What the accessors of tilehash.pandas and tilehash.polars share."""

from __future__ import annotations

from typing import Any

from ._analysis import factorize, isin, unique, value_counts
from ._frames import How, merge
from ._groups import Groups


class SeriesCalls:
    """The calls of one column: `s.th.factorize()`."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def factorize(self, *, sort: bool = False, use_na_sentinel: bool = True) -> tuple[Any, Any]:
        """Numbers the different values; see tilehash.factorize()."""
        return factorize(self._series, sort=sort, use_na_sentinel=use_na_sentinel)

    def unique(self, *, sort: bool = False) -> Any:
        """The different values; see tilehash.unique()."""
        return unique(self._series, sort=sort)

    def value_counts(self, *, sort: bool = False, dropna: bool = True) -> tuple[Any, Any]:
        """The different values and their counts; see tilehash.value_counts()."""
        return value_counts(self._series, sort=sort, dropna=dropna)

    def isin(self, values: Any) -> Any:
        """A flag for each row: whether its value is among `values`; see tilehash.isin()."""
        return isin(self._series, values)


class FrameGroups:
    """Groups of a frame's rows. Reductions name columns, and give a frame of the same kind."""

    def __init__(self, frame: Any, by: tuple[str, ...], dropna: bool) -> None:
        for name in by:
            if name not in frame.columns:
                raise KeyError(name)
        self._frame, self._by = frame, by
        self._groups = Groups(*(frame[name] for name in by), dropna=dropna)

    def __len__(self) -> int:
        return len(self._groups)

    def agg(self, **reductions: Any) -> Any:
        """`agg(total=("v", "sum"), n="count", q90=("v", "quantile", 0.9))`: the key columns, then these.

        The reductions are those of tilehash.Groups.agg(). Rows are in the order of first appearance.
        """
        given = {
            name: (self._frame[how[0]], *how[1:]) if isinstance(how, tuple) else how for name, how in reductions.items()
        }
        keys = dict(zip(self._by, self._groups.keys))
        return type(self._frame)({**keys, **self._groups.agg(**given)})


class FrameCalls:
    """The calls of a frame: `df.th.group_by("a").agg(total=("v", "sum"))`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def group_by(self, *by: str, dropna: bool = True) -> FrameGroups:
        """Groups the rows by columns; see tilehash.group_by(). Raises KeyError for a name that is no column's."""
        return FrameGroups(self._frame, by, dropna)

    def merge(self, right: Any, *, on: str | list[str], how: How = "inner", suffixes: tuple[str, str] = ("_x", "_y")) -> Any:
        """Joins with another frame of the same kind; see tilehash.merge()."""
        return merge(self._frame, right, on=on, how=how, suffixes=suffixes)


__all__ = ["FrameCalls", "FrameGroups", "SeriesCalls"]
