# SPDX-License-Identifier: Apache-2.0
"""An import registers the namespace `th` of polars: `df.th.group_by("a").agg(total=("v", "sum"))`, `s.th.factorize()`."""

import polars as pl

from ._accessors import FrameCalls, SeriesCalls

pl.api.register_dataframe_namespace("th")(FrameCalls)
pl.api.register_series_namespace("th")(SeriesCalls)

__all__: list[str] = []
