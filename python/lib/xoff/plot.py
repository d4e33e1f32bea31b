"""Figures for papers: column width, PDF, colours for readers with colour blindness too, a marker for every scheme.

Every function draws on ``ax``, or on a figure of its own, and returns the axes; ``ax.figure.savefig("figure.pdf")``
writes it. Needs matplotlib.

>>> import xoff, xoff.plot
>>> runs = xoff.compare("incast", ["dcqcn", "hpcc"], set={"traffic.0.events": 2})
>>> axes = xoff.plot.cdf(runs, "slowdown")
>>> [line.get_label() for line in axes.get_lines()]
['dcqcn', 'hpcc']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Union

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter

from xoff import _xoff
from xoff._results import Run
from xoff._xoff import Table

#: Width in inches of a column and of a page of two columns.
COLUMN, PAGE = 3.5, 7.16
#: Colours of everything that is no curve, as in the program's figures.
INK, GREY, FAINT = "#222222", "#777777", "#E4E4E4"
#: Outlines of markers, as in the program's figures; from the ninth on they are open.
_MARKERS = "os^DPvXp"
#: Strips of PAUSE below a time series.
_STRIPS = 3

#: What is drawn: a run, several, or runs by name.
Runs = Union[Run, Sequence[Run], Mapping[str, Run]]
#: The same, where runs of one scheme under several seeds are one line.
Seeds = Union[Run, Sequence[Run], Mapping[str, Union[Run, Sequence[Run]]]]

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
    """Colour, dashes and marker of each scheme, as in the program's figures: no two are alike in colour and marker.

    >>> look(["hpcc", "dcqcn"])[1]["color"] == look(["dcqcn"])[0]["color"]
    True
    """
    found = []
    for colour, dashes, marker in _xoff.styles(list(schemes)):
        line = "-" if dashes is None else (0, (dashes[0] / 2, dashes[1] / 2))
        style = {"color": colour, "linestyle": line, "marker": _MARKERS[marker % len(_MARKERS)]}
        if marker >= len(_MARKERS):
            style["markerfacecolor"] = "white"
        found.append(style)
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
    runs: Seeds, percentile: float = 99, *, groups: int = 10, label: str | None = None, ax: Any = None
) -> Any:
    """A percentile of the slowdown over flow size: groups of equally many flows, each at its median size.

    Runs of one scheme under several seeds are one line: means over the seeds with 95 % intervals (Student's t). Groups
    are those of all flows together, so that they are the same for every scheme and seed.
    """
    ax = ax if ax is not None else figure()[1]
    lines = [(name, [_finished(run, label) for run in own]) for name, own in _by_scheme(runs)]
    everything = [sizes for _, own in lines for sizes, _ in own]
    pooled = np.concatenate(everything) if everything else np.array([])
    if len(pooled) > 0:
        # Flows of one size are in one group.
        edges = np.unique(np.quantile(pooled, np.linspace(0, 1, groups + 1), method="nearest"))

        def group_of(sizes: Any) -> Any:
            return np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, max(len(edges) - 2, 0))

        places = {group: np.median(pooled[group_of(pooled) == group]) for group in np.unique(group_of(pooled))}
        for (name, own), line in zip(lines, look([name for name, _ in lines])):
            points = []
            for group, place in places.items():
                inside = [slowdowns[group_of(sizes) == group] for sizes, slowdowns in own]
                found = [np.percentile(of, percentile, method="inverted_cdf") for of in inside if len(of) > 0]
                points += [(place, *_estimate(found))] if found else []
            _draw(ax, points, name, line, floor=1.0)
    ax.set(xlabel="Flow size", ylabel=f"p{percentile:g} slowdown", xscale="log", yscale="log")
    _from_one(ax)
    ax.xaxis.set_major_formatter(EngFormatter("B"))
    _legend(ax)
    return ax


@style()
def curve(runs: Seeds, measure: str, *, ax: Any = None) -> Any:
    """A ``[[measure]]`` that is a curve, with the scenario's own bins; over several seeds means with 95 % intervals."""
    ax = ax if ax is not None else figure()[1]
    named = _by_scheme(runs)
    axes: dict[str, Any] = {}
    for (name, own), line in zip(named, look([name for name, _ in named])):
        rows = [row for run in own for row in run.summary["measures"] if row["name"] == measure and row.get("curve")]
        if not rows:
            raise ValueError(f"`{measure}` is not a curve that the runs of {name} measured")
        axes = rows[0].get("axes") or {}
        curves = [row["curve"] for row in rows]
        if axes.get("along") == "values":
            for found in curves:
                ax.step(found["x"], found["y"], where="post", label=name if found is curves[0] else None, **line, markevery=0.2)
            continue
        places = sorted({x for found in curves for x in found["x"]})
        points = []
        for place in places:
            values = [found["y"][found["x"].index(place)] for found in curves if place in found["x"]]
            points.append((place, *_estimate(values)))
        _draw(ax, points, name, line, floor=0.0)
    unit = {key: f" ({axes[key]})" if axes.get(key) else "" for key in ("x_unit", "y_unit")}
    ax.set(xlabel=axes.get("x", "x") + unit["x_unit"], ylabel=axes.get("y", measure) + unit["y_unit"])
    if axes.get("along") == "sizes":
        ax.set_xscale("log")
        ax.set_xlabel(axes["x"])
        ax.xaxis.set_major_formatter(EngFormatter("B"))
    if "slowdown" in axes.get("y", ""):
        ax.set_yscale("log")
        _from_one(ax)
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
    ('Offered load', 'p99')

    What is never negative is drawn from 0, a slowdown from 1; an interval that extends below has an arrow there.
    """
    ax = ax if ax is not None else figure()[1]
    axis = np.array(_column(frame, x))
    names, values = np.array(_column(frame, by)), np.array(_column(frame, y), dtype=float)
    schemes = [str(name) for name in dict.fromkeys(names)]
    slowdown = "slowdown" in y
    floor = 1.0 if slowdown else 0.0 if (values[~np.isnan(values)] >= 0).all() else -np.inf
    numbers = np.issubdtype(axis.dtype, np.number)
    # Intervals at one place are side by side.
    step = 0.012 * (axis.max() - axis.min()) if numbers and len(axis) > 0 else 0.0
    for place, (name, line) in enumerate(zip(schemes, look(schemes))):
        points = []
        for at in np.unique(axis[names == name]):
            found = _xoff.estimate(list(values[(names == name) & (axis == at)]))
            if found is not None:
                aside = at + step * (place - (len(schemes) - 1) / 2) if numbers else at
                points.append((aside, found[0], found[1] or 0.0))
        _draw(ax, points, name, line, floor)
    if slowdown:
        ax.set_yscale("log")
        _from_one(ax)
    if numbers and len(np.unique(axis)) <= 12:
        ax.set_xticks(np.unique(axis))
    ax.set(xlabel=_xoff.title(x, True), ylabel=_label(y))
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


def _by_scheme(runs: Seeds) -> list[tuple[str, list[Run]]]:
    """Runs by name, all seeds of a scheme together."""
    if isinstance(runs, Run):
        return [(runs.scheme, [runs])]
    if isinstance(runs, Mapping):
        return [(name, [own] if isinstance(own, Run) else list(own)) for name, own in runs.items()]
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.scheme, []).append(run)
    return list(found.items())


def _finished(run: Run, label: str | None) -> tuple[Any, Any]:
    """Sizes and slowdowns of the flows that finished."""
    chosen = _chosen(run, label)
    sizes, slowdowns = _reals(run.flows, "size_bytes")[chosen], _reals(run.flows, "slowdown")[chosen]
    finished = ~np.isnan(sizes) & ~np.isnan(slowdowns)
    return sizes[finished], slowdowns[finished]


def _estimate(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the interval, which is 0 for one value."""
    found = _xoff.estimate([float(value) for value in values])
    return (found[0], found[1] or 0.0) if found is not None else (np.nan, 0.0)


def _draw(ax: Any, points: Sequence[tuple[Any, float, float]], name: str, line: dict[str, Any], floor: float) -> None:
    """A line with its intervals; one that would go below the floor ends there, with an arrow."""
    if not points:
        return
    at, mean, half = (np.array(of) for of in zip(*points))
    if not half.any():
        ax.plot(at, mean, label=name, **line)
        return
    below = np.minimum(half, np.maximum(mean - floor, 0))
    ax.errorbar(at, mean, yerr=(below, half), label=name, capsize=2, elinewidth=0.8, **line)
    cut = half > below
    if cut.any():
        foot = np.full(cut.sum(), floor)
        ax.plot(at[cut], foot, linestyle="", marker="v", markersize=3, color=line["color"], clip_on=False)


def _from_one(ax: Any) -> None:
    """The axis of a slowdown begins at 1, which is the idle network."""
    ax.set_ylim(bottom=1)
    ax.yaxis.set_major_formatter("{x:g}")


def _label(column: str) -> str:
    """What an axis calls a column, with the unit that its name ends in."""
    units = {"_us": " (us)", "_gbps": " (Gb/s)", "_bytes": " (bytes)"}
    parts = column.split(".")
    unit = next((text for end, text in units.items() if any(part.endswith(end) for part in parts)), "")
    return str(_xoff.title(column, False)) + unit


def _curve(place: int) -> dict[str, Any]:
    """Of a curve that belongs to no scheme: names that are none take what is free."""
    colour, dashes, _ = _xoff.styles([f"curve {k}" for k in range(place + 1)])[place]
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
