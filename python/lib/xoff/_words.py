"""What the native half asks of Python: warnings, and data frames of packages that may not be there."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from xoff._xoff import ScenarioWarning, Table

_OWN = os.path.dirname(os.path.abspath(__file__))


def warn(text: str) -> None:
    """Warns about the line outside of this package that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _OWN:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, ScenarioWarning, stacklevel=level)


def to_arrow(table: Table) -> Any:
    """A pyarrow table over the same memory."""
    import pyarrow

    return pyarrow.table(table)


def to_pandas(table: Table, numpy: bool) -> Any:
    """A pandas data frame: Arrow-backed numbers and categories of words, or plain NumPy arrays."""
    import pandas
    import pyarrow

    def kind(of: Any) -> Any:
        # Words stay a dictionary, which pandas calls categories.
        return None if pyarrow.types.is_dictionary(of) else pandas.ArrowDtype(of)

    arrow = to_arrow(table).replace_schema_metadata(None)
    return arrow.to_pandas() if numpy else arrow.to_pandas(types_mapper=kind)


def to_polars(table: Table) -> Any:
    """A polars data frame over the same memory."""
    import polars

    return polars.DataFrame(table)
