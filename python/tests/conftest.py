"""Runs that several tests look at."""

import os
import signal

import matplotlib
import pytest

import xoff

matplotlib.use("Agg")
# Who starts the tests in the background ignores Ctrl-C, and Python keeps that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def patience() -> float:
    """How many times longer things may take on this machine than on an idle one."""
    return max(1.0, 3.0 * os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.fixture(scope="session")
def incast() -> xoff.Run:
    """A few milliseconds: three bursts of sixteen."""
    return xoff.run("incast", set={"traffic.0.events": 3})


@pytest.fixture(scope="session")
def victim() -> xoff.Run:
    """Endless flows, probes and PAUSE."""
    return xoff.run("victim-flow", set={"run.stop": "25ms"})
