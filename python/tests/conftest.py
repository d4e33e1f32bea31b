"""Runs that several tests look at."""

import matplotlib
import pytest

import xoff

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def incast() -> xoff.Run:
    """A few milliseconds: three bursts of sixteen."""
    return xoff.run("incast", set={"traffic.0.events": 3})


@pytest.fixture(scope="session")
def victim() -> xoff.Run:
    """Endless flows, probes and PAUSE."""
    return xoff.run("victim-flow", set={"run.stop": "25ms"})
