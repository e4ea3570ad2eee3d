# SPDX-License-Identifier: Apache-2.0
"""An import registers the accessor `th` of pandas: `df.th.group_by("a").agg(total=("v", "sum"))`, `s.th.factorize()`."""

import pandas as pd

from ._accessors import FrameCalls, SeriesCalls

pd.api.extensions.register_dataframe_accessor("th")(FrameCalls)
pd.api.extensions.register_series_accessor("th")(SeriesCalls)

__all__: list[str] = []
