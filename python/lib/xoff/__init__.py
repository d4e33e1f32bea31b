"""Xoff: an exact packet-level simulator of congestion control in lossless datacentre Ethernet.

>>> import xoff
>>> run = xoff.run("incast", set={"traffic.0.events": 2}, seed=1)
>>> run.scheme, run.failure
('dcqcn', None)
>>> len(run.flows)
32
>>> run.summary["flows_completed"]
32

Tables are Arrow tables that pandas, polars and DuckDB read without a copy; see :class:`Table`.
"""

from xoff._api import check, compare, describe, read, run, schemes, validate
from xoff._results import Comparison, Report, Run
from xoff._sweep import Sweep, SweepResults, sweep
from xoff._xoff import Progress, ScenarioError, ScenarioWarning, Table, __version__

__all__ = [
    "Comparison",
    "Progress",
    "Report",
    "Run",
    "ScenarioError",
    "ScenarioWarning",
    "Sweep",
    "SweepResults",
    "Table",
    "__version__",
    "check",
    "compare",
    "describe",
    "read",
    "run",
    "schemes",
    "sweep",
    "validate",
]
