"""Figures for papers: column width, PDF, colours that everybody can tell apart, a marker for every scheme.

Every function draws on ``ax``, or on a figure of its own, and returns the axes; ``ax.figure.savefig("figure.pdf")``
writes it. Needs matplotlib.

>>> import xoff, xoff.plot
>>> runs = xoff.compare("incast", ["dcqcn", "hpcc"], set={"traffic.0.events": 2})
>>> axes = xoff.plot.cdf(runs, "slowdown")
>>> [line.get_label() for line in axes.get_lines()]
['dcqcn', 'hpcc']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Union

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter

from xoff import _api, _xoff
from xoff._results import Run
from xoff._xoff import Table

#: Width in inches of a column and of a page of two columns.
COLUMN, PAGE = 3.5, 7.16
#: Colours of everything that is no curve, as in the program's figures.
INK, GREY, FAINT = "#222222", "#777777", "#E4E4E4"
_MARKERS = "os^Dv<>pPXh*d8H1234x+"
#: Strips of PAUSE below a time series.
_STRIPS = 3

#: What is drawn: a run, several, or runs by name.
Runs = Union[Run, Sequence[Run], Mapping[str, Run]]

_STYLE: Any = {
    "figure.figsize": (COLUMN, 2.2),
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "savefig.format": "pdf",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 7,
}


@contextmanager
def style() -> Iterator[None]:
    """matplotlib's settings of these figures, for what is drawn within."""
    with matplotlib.rc_context(_STYLE):
        yield


def figure(width: float = COLUMN, height: float = 2.2, **kwargs: Any) -> Any:
    """A figure and its axes in this style, as :func:`matplotlib.pyplot.subplots` makes them."""
    with style():
        return plt.subplots(figsize=(width, height), **kwargs)


def look(schemes: Sequence[str]) -> list[dict[str, Any]]:
    """Colour, dashes and marker of each scheme: the same in every figure, whatever stands beside it.

    >>> look(["hpcc", "dcqcn"])[1]["color"] == look(["dcqcn"])[0]["color"]
    True
    """
    plain = [re.split("[:+{]", scheme)[0] for scheme in schemes]
    known = list(_api.schemes())
    others = [name for name in plain if name not in known]
    found = []
    for name, (colour, dashes) in zip(plain, _xoff.styles(plain)):
        place = known.index(name) if name in known else len(known) + others.index(name)
        line = "-" if dashes is None else (0, (dashes[0] / 2, dashes[1] / 2))
        found.append({"color": colour, "linestyle": line, "marker": _MARKERS[place % len(_MARKERS)]})
    return found


@style()
def cdf(runs: Runs, column: str = "slowdown", *, label: str | None = None, ax: Any = None) -> Any:
    """How a column of the flows is distributed, a curve for each run; of flows with this ``label``, if one is given."""
    ax = ax if ax is not None else figure()[1]
    for (name, run), line in zip(*_looks(runs)):
        values = _reals(run.flows, column)[_chosen(run, label)]
        values = np.sort(values[~np.isnan(values)])
        if len(values) == 0:
            continue
        part = np.arange(1, len(values) + 1) / len(values)
        every = max(1, len(values) // 8)
        ax.step(values, part, where="post", label=name, markevery=every, **line)
    ax.set(xlabel=_title(column), ylabel="fraction of flows", ylim=(0, 1))
    low, high = ax.get_xlim()
    if low > 0 and high > 10 * low:
        ax.set_xscale("log")
    _legend(ax)
    return ax


@style()
def slowdown_by_size(
    runs: Runs, percentile: float = 99, *, groups: int = 10, label: str | None = None, ax: Any = None
) -> Any:
    """A percentile of the slowdown over flow size: groups of equally many flows, each at its median size."""
    ax = ax if ax is not None else figure()[1]
    for (name, run), line in zip(*_looks(runs)):
        chosen = _chosen(run, label)
        sizes, slowdowns = _reals(run.flows, "size_bytes")[chosen], _reals(run.flows, "slowdown")[chosen]
        finished = ~np.isnan(sizes) & ~np.isnan(slowdowns)
        sizes, slowdowns = sizes[finished], slowdowns[finished]
        if len(sizes) == 0:
            continue
        # Flows of one size are in one group.
        edges = np.unique(np.quantile(sizes, np.linspace(0, 1, groups + 1), method="nearest"))
        of = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, max(len(edges) - 2, 0))
        points = [
            (np.median(sizes[of == group]), np.percentile(slowdowns[of == group], percentile, method="inverted_cdf"))
            for group in np.unique(of)
        ]
        ax.plot(*zip(*points), label=name, **line)
    ax.set(xlabel="flow size", ylabel=f"p{percentile:g} slowdown", xscale="log")
    ax.xaxis.set_major_formatter(EngFormatter("B"))
    _legend(ax)
    return ax


@style()
def time_series(
    run: Run,
    metric: str | None = None,
    *,
    entities: Sequence[str] | None = None,
    pauses: bool = True,
    ax: Any = None,
) -> Any:
    """What a probe saw, a curve for each port or flow, above strips of the times in which ports held others silent.

    Without ``metric`` it is the first of the run; without ``entities`` the eight highest are drawn. Strips are those of
    the three ports that sent PAUSE for the longest time, switches before hosts.
    """
    ax = ax if ax is not None else figure()[1]
    table = run.series
    metrics, names = np.array(table.column("metric")), np.array(table.column("entity"))
    if len(metrics) == 0:
        raise ValueError("the run has no series: give its scenario a [[probe]]")
    metric = metric if metric is not None else str(metrics[0])
    time, value = _reals(table, "time_us") / 1e3, _reals(table, "value")
    unit = np.array(table.column("unit"))[metrics == metric]
    if len(unit) == 0:
        raise ValueError(f"the run has no series of `{metric}`, but of {', '.join(sorted(set(metrics)))}")
    if entities is None:
        peak = {name: value[(metrics == metric) & (names == name)].max() for name in dict.fromkeys(names[metrics == metric])}
        highest = sorted(peak, key=lambda name: -peak[name])[:8]
        entities = [name for name in peak if name in highest]
    for place, name in enumerate(entities):
        of = (metrics == metric) & (names == name)
        ax.plot(time[of], value[of], label=name, **_curve(place))
    ax.set(xlabel="time (ms)", ylabel=f"{metric.replace('_', ' ')} ({unit[0]})", ylim=(0, None))
    if unit[0] == "bytes":
        ax.set_ylabel(metric.replace("_", " "))
        ax.yaxis.set_major_formatter(EngFormatter("B"))
    strips = _longest(run, _STRIPS) if pauses else {}
    for row, (port, spans) in enumerate(strips.items()):
        low = -0.06 - 0.07 * row
        ax.broken_barh(spans, (low, 0.045), transform=ax.get_xaxis_transform(), color=GREY, clip_on=False)
        ax.text(1.01, low + 0.02, port, transform=ax.transAxes, fontsize=5, color=GREY, va="center")
    if strips:
        ax.tick_params(axis="x", length=0, pad=4 + 8 * len(strips))
    _legend(ax)
    return ax


@style()
def sweep(frame: Any, x: str, y: str, *, by: str = "scheme", ax: Any = None) -> Any:
    """Means over seeds with 95 % intervals (Student's t): a line for each scheme over the values of an axis.

    ``frame`` is a data frame, a :class:`Table` or a dict of columns, with a row for each run.

    >>> rows = {"load": [0.3, 0.3, 0.5, 0.5], "scheme": ["hpcc"] * 4, "seed": [1, 2] * 2, "p99": [2.0, 3.0, 4.0, 6.0]}
    >>> axes = sweep(rows, "load", "p99")
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('load', 'p99')
    """
    ax = ax if ax is not None else figure()[1]
    axis = np.array(_column(frame, x))
    names, values = np.array(_column(frame, by)), np.array(_column(frame, y), dtype=float)
    schemes = [str(name) for name in dict.fromkeys(names)]
    for name, line in zip(schemes, look(schemes)):
        points = []
        for at in np.unique(axis[names == name]):
            found = _xoff.estimate(list(values[(names == name) & (axis == at)]))
            if found is not None:
                points.append((at, found[0], found[1] or 0.0))
        at, mean, half = zip(*points)
        ax.errorbar(at, mean, yerr=half, label=name, capsize=2, elinewidth=0.8, **line)
    ax.set(xlabel=x, ylabel=y)
    _legend(ax)
    return ax


def _looks(runs: Runs) -> tuple[list[tuple[str, Run]], list[dict[str, Any]]]:
    if isinstance(runs, Run):
        runs = [runs]
    if isinstance(runs, Mapping):
        named = list(runs.items())
    else:
        several = len({run.seed for run in runs}) > 1
        named = [(f"{run.scheme} #{run.seed}" if several else run.scheme, run) for run in runs]
    return named, look([run.scheme for _, run in named])


def _curve(place: int) -> dict[str, Any]:
    """Of a curve that belongs to no scheme: names that are none take what is free."""
    colour, dashes = _xoff.styles([f"curve {k}" for k in range(place + 1)])[place]
    return {"color": colour, "linestyle": "-" if dashes is None else (0, (dashes[0] / 2, dashes[1] / 2))}


def _chosen(run: Run, label: str | None) -> Any:
    if label is None:
        return slice(None)
    return np.array(run.flows.column("label")) == label


def _pauses(run: Run) -> dict[str, list[tuple[float, float]]]:
    """By port when it held its neighbour silent: beginning and length in milliseconds."""
    table, end = run.pauses, float(run.summary["sim_time_us"]) / 1e3
    since: dict[tuple[str, int], float] = {}
    spans: dict[str, list[tuple[float, float]]] = {}
    rows = zip(_reals(table, "time_us") / 1e3, table.column("port"), table.column("priority"), table.column("event"))
    for at, port, priority, event in rows:
        if event == "pause":
            since.setdefault((port, priority), at)
        elif (port, priority) in since:
            begun = since.pop((port, priority))
            spans.setdefault(port, []).append((begun, at - begun))
    for (port, _), begun in since.items():
        spans.setdefault(port, []).append((begun, end - begun))
    return spans


def _longest(run: Run, most: int) -> dict[str, list[tuple[float, float]]]:
    """Of these the ports that paused longest; who stopped a switch comes before who stopped a host."""
    toward = dict(zip(run.pauses.column("port"), run.pauses.column("toward")))
    spans = _pauses(run)

    def rank(port: str) -> tuple[bool, float]:
        return toward[port] == "host", -sum(length for _, length in spans[port])

    return {port: spans[port] for port in sorted(spans, key=rank)[:most]}


def _reals(table: Table, column: str) -> Any:
    return np.frombuffer(table._reals(column), dtype=float)


def _column(frame: Any, name: str) -> list[Any]:
    return frame.column(name) if isinstance(frame, Table) else list(frame[name])


def _title(column: str) -> str:
    words = column.replace("fct_us", "completion time (us)").replace("_us", " (us)").replace("_gbps", " (Gb/s)")
    return words.replace("_", " ")


def _legend(ax: Any) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
