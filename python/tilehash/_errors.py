# SPDX-License-Identifier: Apache-2.0
"""The exception of a table that refuses items."""

from __future__ import annotations


class TableFull(RuntimeError):
    """A table refused some items of a call. It is valid, and the other items of the call are in it.

    The attributes are numbers of items. assign(), and update() on a GPU, count equal keys of a call once.

    Attributes
    ----------
    inserted: keys that were new.
    present: keys that were present, or came twice in the call.
    refused: keys that are not in the table.
    """

    def __init__(self, inserted: int, present: int, refused: int, grow: bool) -> None:
        self.inserted, self.present, self.refused, self._grow = inserted, present, refused, grow
        why = (
            "memory is short, or keys collide under every seed"
            if grow
            else "the table is full; give it a larger capacity, or grow=True"
        )
        super().__init__(f"tilehash: {refused} of {inserted + present + refused} items were refused: {why}")

    def __reduce__(self) -> tuple[type[TableFull], tuple[int, int, int, bool]]:
        return TableFull, (self.inserted, self.present, self.refused, self._grow)


def added(report: tuple[int, int, int], grow: bool) -> int:
    """The keys that a call added. Raises TableFull if it refused some."""
    if report[2]:
        raise TableFull(*report, grow)
    return int(report[0])


__all__ = ["TableFull", "added"]
