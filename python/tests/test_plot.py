"""Figures show what the tables say, in the program's colours."""

import pathlib

import matplotlib.pyplot as plt
import numpy
import pandas
import pytest

import xoff
import xoff.plot


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def runs() -> xoff.Comparison:
    sizes = {"traffic.0.events": 4, "traffic.0.degree": 24}
    return xoff.compare("incast", ["none", "dcqcn", "hpcc"], set=sizes)


def test_every_scheme_has_a_marker_and_a_look_of_its_own() -> None:
    names = list(xoff.schemes())
    looks = xoff.plot.look(names)
    assert len({(look["color"], look["marker"], look.get("markerfacecolor")) for look in looks}) == len(names)
    four = xoff.plot.look(["dcqcn", "hpcc", "swift", "pcn"])
    assert len({look["color"] for look in four}) == len({look["marker"] for look in four}) == 4
    assert xoff.plot.look(["mine", "dcqcn"])[1] == xoff.plot.look(["dcqcn"])[0]
    assert xoff.plot.look(["dcqcn"])[0]["color"] == "#0072B2"


def test_cdf(runs: xoff.Comparison, tmp_path: pathlib.Path) -> None:
    ax = xoff.plot.cdf(runs, "fct_us", label="incast")
    assert [line.get_label() for line in ax.get_lines()] == runs.schemes
    assert ax.get_lines()[1].get_xdata()[-1] == max(runs["dcqcn"].flows.column("fct_us"))
    assert ax.get_xlabel() == "completion time (us)"
    ax.figure.savefig(tmp_path / "cdf.pdf")
    assert (tmp_path / "cdf.pdf").read_bytes().startswith(b"%PDF")
    assert ax.figure.get_size_inches()[0] == 3.5


def test_slowdown_by_size(runs: xoff.Comparison) -> None:
    ax = xoff.plot.slowdown_by_size(runs, 50)
    # All flows have one size.
    assert [len(line.get_xdata()) for line in ax.get_lines()] == [1, 1, 1]
    assert ax.get_lines()[0].get_xdata()[0] == 100_000
    mixed = xoff.run("leaf-spine-mixed", set={"run.stop": "1ms"})
    (line,) = xoff.plot.slowdown_by_size(mixed).get_lines()
    assert 5 <= len(line.get_xdata()) <= 10 and (numpy.diff(line.get_xdata()) > 0).all()
    assert (numpy.array(line.get_ydata()) >= 1).all()


def test_seeds_of_a_scheme_are_one_line_with_intervals() -> None:
    mixed = xoff.compare("leaf-spine-mixed", ["dcqcn:nic", "hpcc"], set={"run.stop": "300us"}, seeds=2)
    ax = xoff.plot.slowdown_by_size(mixed, groups=3)
    assert [container.get_label() for container in ax.containers] == ["dcqcn:nic", "hpcc"]
    lists = {"ours": [mixed["hpcc", seed] for seed in mixed.seeds]}
    (container,) = xoff.plot.slowdown_by_size(lists, groups=3).containers
    assert list(container[0].get_ydata()) == pytest.approx(list(ax.containers[1][0].get_ydata()), rel=0.5)


def test_time_series_with_pauses(victim: xoff.Run) -> None:
    ax = xoff.plot.time_series(victim, "queue", entities=["S1->R1"])
    assert [line.get_label() for line in ax.get_lines()] == ["S1->R1"]
    assert ax.collections, "strips of PAUSE"
    spans = xoff.plot._pauses(victim)
    assert "S1->S0" in spans and all(length > 0 for _, length in spans["S1->S0"])
    with pytest.raises(ValueError, match="no series of `weather`"):
        xoff.plot.time_series(victim, "weather")


def test_sweep_draws_means_and_intervals() -> None:
    frame = pandas.DataFrame(
        [(load, scheme, seed, load * seed) for load in [0.3, 0.5] for scheme in ["hpcc", "dcqcn"] for seed in [1, 2, 3]],
        columns=["load", "scheme", "seed", "value"],
    )
    ax = xoff.plot.sweep(frame, "load", "value")
    mean, (low, high), (bars,) = ax.containers[0]
    assert list(mean.get_ydata()) == pytest.approx([0.6, 1.0])
    # t(2) = 4.303: 4.303 * 0.3 / sqrt(3) is more than 0.6, and nothing here is negative.
    assert low.get_ydata()[0] == 0 and high.get_ydata()[0] == pytest.approx(0.6 + 4.303 * 0.3 / 3**0.5, abs=1e-3)
    assert any(line.get_marker() == "v" and line.get_linestyle() == "None" for line in ax.get_lines())
    assert ax.get_xlabel() == "Offered load"
    assert [container.get_label() for container in ax.containers] == ["hpcc", "dcqcn"]
