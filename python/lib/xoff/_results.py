"""What comes back: one run, several runs, a report."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from xoff import _xoff
from xoff._xoff import Table


def columns() -> int:
    """The width of the terminal, within what is good to read."""
    return max(60, min(shutil.get_terminal_size().columns, 120))


class Run:
    """A finished run.

    >>> import xoff
    >>> run = xoff.run("incast", set={"traffic.0.events": 1})
    >>> run.flows.columns[:4]
    ['flow_id', 'source', 'number', 'label']
    >>> max(run.flows.column("slowdown")) > 1
    True
    """

    def __init__(self, data: _xoff.RunData) -> None:
        self._data = data

    def _table(self, name: str) -> Table:
        table = self._data.table(name)
        assert table is not None, f"every run has {name}"
        return table

    @property
    def flows(self) -> Table:
        """One row per flow, in the order in which flows ended (unfinished ones last)."""
        return self._table("flows")

    @property
    def series(self) -> Table:
        """One row per sample of a probe, in order of time."""
        return self._table("series")

    @property
    def pauses(self) -> Table:
        """One row per PAUSE and RESUME frame, when a port decides to send it."""
        return self._table("pauses")

    @property
    def ports(self) -> Table:
        """One row per port and priority, over the whole run."""
        return self._table("ports")

    @property
    def pfc(self) -> Table | None:
        """One row per priority told by a PFC frame that arrives, with ``[output] pfc_frames = true``."""
        return self._data.table("pfc")

    @property
    def port_activity(self) -> Table | None:
        """One row per window and port that was not idle, unless ``[output] activity = false``."""
        return self._data.table("port_activity")

    @property
    def flow_activity(self) -> Table | None:
        """One row per window and flow alive at its end, unless ``[output] activity = false``."""
        return self._data.table("flow_activity")

    @property
    def groups(self) -> Table | None:
        """One row per group of equal-cost links that sent something, unless ``[output] activity = false``."""
        return self._data.table("groups")

    @property
    def flow_links(self) -> Table | None:
        """One row per flow and port that sent data packets of it, with ``[output] flow_links = true``."""
        return self._data.table("flow_links")

    @property
    def jobs(self) -> Table | None:
        """One row per training job, where the scenario has one."""
        return self._data.table("jobs")

    @property
    def collectives(self) -> Table | None:
        """One row per collective, or message from rank to rank, of every iteration of every training job."""
        return self._data.table("collectives")

    @property
    def ranks(self) -> Table | None:
        """One row per iteration and rank of every training job: what it spent its time on."""
        return self._data.table("ranks")

    @property
    def activities(self) -> Table | None:
        """One row per activity of a rank of a training job."""
        return self._data.table("activities")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers of ``run.json``."""
        numbers: dict[str, Any] = json.loads(self._data.json)
        return numbers

    @cached_property
    def measures(self) -> dict[str, Any]:
        """What the scenario's ``[[measure]]`` tables gave, by name.

        A number is a float, ``inf`` if what it waits for never came and ``nan`` if it cannot be told; a curve is a
        dict of ``x`` and ``y``.
        """
        found: dict[str, Any] = {}
        for row in self.summary["measures"]:
            if row.get("curve") is not None:
                found[row["name"]] = row["curve"]
            elif row["never"]:
                found[row["name"]] = math.inf
            else:
                found[row["name"]] = math.nan if row["value"] is None else row["value"]
        return found

    @property
    def failure(self) -> str | None:
        """Why the simulated network failed (a drop in a lossless class, a deadlock, a stall), if it did."""
        return self._data.failure

    @property
    def name(self) -> str:
        """Of the scenario."""
        return str(self.summary["name"])

    @property
    def scheme(self) -> str:
        """The congestion control that it ran under."""
        return str(self.summary["scheme"])

    @property
    def seed(self) -> int:
        """Of all random numbers."""
        return int(self.summary["seed"])

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What to know before trusting the numbers."""
        return list(self.summary["warnings"])

    @property
    def scenario(self) -> str:
        """The scenario with every default filled in, as TOML; :func:`xoff.run` takes it."""
        return self._data.scenario

    @property
    def directory(self) -> Path | None:
        """Where it was written, if it was."""
        return self._data.directory

    def __str__(self) -> str:
        return self._data.text(columns())

    def __repr__(self) -> str:
        end = "failed" if self.failure else "ok"
        return f"<xoff.Run {self.name} under {self.scheme}, seed {self.seed}: {len(self.flows)} flows, {end}>"


def numbers(run: Run) -> dict[str, float | int | None]:
    """Every number of a run by its place in ``run.json``, and its measures by name."""
    found: dict[str, float | int | None] = {}
    for key, value in run.summary.items():
        group = value if isinstance(value, dict) else {"": value}
        for inner, number in group.items():
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                found[f"{key}.{inner}" if inner else key] = number
    for key, value in run.measures.items():
        if isinstance(value, float):
            found[key] = value
    return found


class Comparison(Sequence[Run]):
    """The same traffic under several schemes; printed, it is the page of ``xoff compare``.

    A sequence of runs, scheme by scheme. ``comparison["dcqcn"]`` is the run of a scheme under the first seed,
    ``comparison["dcqcn", 3]`` the one under seed 3.
    """

    def __init__(self, runs: Sequence[Run], skipped: Mapping[str, str]) -> None:
        self._runs = list(runs)
        #: Schemes that could not take part, and why.
        self.skipped: dict[str, str] = dict(skipped)

    @property
    def schemes(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(run.scheme for run in self._runs))

    @property
    def seeds(self) -> list[int]:
        """In the order of the runs."""
        return list(dict.fromkeys(run.seed for run in self._runs))

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    @overload
    def __getitem__(self, key: int | str | tuple[str, int]) -> Run: ...
    @overload
    def __getitem__(self, key: slice) -> list[Run]: ...
    def __getitem__(self, key: int | str | tuple[str, int] | slice) -> Run | list[Run]:
        if isinstance(key, (int, slice)):
            return self._runs[key]
        scheme, seed = (key, None) if isinstance(key, str) else key
        for run in self._runs:
            if run.scheme == scheme and seed in (None, run.seed):
                return run
        raise KeyError(key)

    def table(self) -> Table:
        """A row per run: scheme, seed, and every number of the summaries and measures."""
        rows = [numbers(run) for run in self._runs]
        keys = dict.fromkeys(key for row in rows for key in row if key != "seed")
        found: dict[str, list[Any]] = {
            "scheme": [run.scheme for run in self._runs],
            "seed": [run.seed for run in self._runs],
        }
        found.update({key: [row.get(key) for row in rows] for key in keys})
        return Table._of_columns("runs", found)

    def __str__(self) -> str:
        runs = [(scheme, [run._data for run in self._runs if run.scheme == scheme]) for scheme in self.schemes]
        try:
            return _xoff.comparison_text(runs, self.skipped, columns())
        except ValueError:
            # Runs that were read or pickled are without what the page also shows.
            return repr(self)

    def __repr__(self) -> str:
        return f"<xoff.Comparison of {', '.join(self.schemes)} under {len(self.seeds)} seeds>"


class Report(dict[str, Any]):
    """What a command found, as data; printed, it is the page for people."""

    def __init__(self, found: Mapping[str, Any], text: str) -> None:
        super().__init__(found)
        self.text = text

    def __str__(self) -> str:
        return self.text
