"""The functions of the package."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Literal, Union

from xoff import _xoff
from xoff._results import Comparison, Report, Run, columns
from xoff._xoff import Progress

if TYPE_CHECKING:
    from xoff._sweep import SweepResults

#: A path, the text of a scenario (several lines of TOML), or the same as a dict.
Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]
#: Called with a :class:`Progress` every now and then; ``"tqdm"`` shows a bar.
Watch = Union[Callable[[Progress], object], Literal["tqdm"], None]


def run(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    scheme: str | None = None,
    threads: int | Literal["auto"] = 1,
    progress: Watch = None,
    out: str | os.PathLike[str] | None = None,
) -> Run:
    """Runs a scenario and returns its results.

    ``scenario`` is a path (or the name of a scenario that comes with the package, such as ``"incast"``), the text of
    one, or a dict. ``set`` changes any of its keys by dotted name; ``None`` takes one out. ``scheme`` is
    ``NAME[:PRESET][+BASE[:PRESET]]`` in place of the scenario's. ``threads`` share out a large network; results are the
    same for every number. ``out`` is a directory to write as ``xoff run`` does.

    A mistake in the scenario raises :class:`ScenarioError` with the diagnosis of the command line. What happens in the
    simulated network is data: :attr:`Run.failure`.

    >>> import xoff
    >>> text = '''
    ... topology = { kind = "star", hosts = 3, rate = "100Gbps", delay = "1us" }
    ... scheme = { name = "hpcc" }
    ... [[traffic]]
    ... kind = "flows"
    ... [[traffic.flow]]
    ... src = "h0"
    ... dst = "h2"
    ... size = "1MB"
    ... '''
    >>> run = xoff.run(text, set={"traffic.0.flow.0.size": "2MB"})
    >>> run.flows.column("size_bytes")
    [2000000]
    >>> xoff.run(text, scheme="dqcn")
    Traceback (most recent call last):
      ...
    xoff.ScenarioError: error: no scheme is called `dqcn`
     --> --schemes:1:1
      |
    1 | dqcn
      | ^^^^
      |
      = help: did you mean `qcn`?
    """
    with _watched(progress) as watch:
        return Run(
            _xoff.run(
                _plain(scenario),
                set=dict(set) if set else None,
                seed=seed,
                scheme=scheme,
                threads=None if threads == "auto" else threads,
                progress=watch,
                out=None if out is None else os.fspath(out),
            )
        )


def compare(
    scenario: Scenario,
    schemes: Iterable[str] = ("all",),
    *,
    seeds: int = 1,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    progress: Watch = None,
) -> Comparison:
    """The same traffic under several schemes, each under several seeds, side by side on ``jobs`` cores.

    Of ``"all"``, schemes that cannot run on the scenario are left out (:attr:`Comparison.skipped`). ``progress`` is
    told of runs that have ended: ``part`` of all of them.

    >>> import xoff
    >>> both = xoff.compare("incast", ["none", "hpcc"], set={"traffic.0.events": 1})
    >>> both.schemes
    ['none', 'hpcc']
    >>> both["none"].summary["flows_completed"]
    16
    >>> both.table().columns[:3]
    ['scheme', 'seed', 'sim_time_us']
    """
    if isinstance(schemes, str):
        schemes = [schemes]
    if seeds < 1:
        raise ValueError("seeds begin at 1")
    scenario, changed = _plain(scenario), dict(set) if set else None
    names, skipped, first = _xoff.compared(scenario, list(schemes), set=changed, seed=seed)
    stop = _xoff.Stop()

    def one(job: tuple[str, int]) -> Run:
        name, of_seed = job
        return Run(_xoff.run(scenario, set=changed, seed=of_seed, scheme=name, stop=stop))

    todo = [(name, first + k) for name in names for k in range(seeds)]
    with _watched(progress) as watch, ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        runs = [pool.submit(one, job) for job in todo]
        try:
            ended, left = 0, frozenset(runs)
            while left:
                # Not longer: Python receives Ctrl-C between two waits.
                done, running = wait(left, timeout=0.05, return_when=FIRST_COMPLETED)
                left = frozenset(running)
                for job in done:
                    result, ended = job.result(), ended + 1
                    if watch is not None:
                        watch(_Part(ended / len(todo), result))
        except BaseException:
            stop.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return Comparison([job.result() for job in runs], skipped)


def check(scenario: Scenario, *, set: Mapping[str, Any] | None = None, seed: int | None = None) -> Report:
    """What a scenario would build: nodes, oversubscription, round trips, headroom. Runs nothing.

    >>> import xoff
    >>> report = xoff.check("incast")
    >>> report["name"]
    'incast'
    """
    found, text = _xoff.check(_plain(scenario), set=dict(set) if set else None, seed=seed)
    return Report(json.loads(found), text)


def validate(
    directory: str | os.PathLike[str], *, only: Iterable[str] = (), set: Mapping[str, Any] | None = None
) -> Report:
    """Runs the HPCC authors' simulator's inputs in a folder and compares with its results, as ``xoff validate`` does.

    ``report["held"]`` says whether every run is within tolerance.
    """
    held, found, text = _xoff.validate(os.fspath(directory), only=list(only), set=dict(set) if set else None)
    return Report({"held": held, **json.loads(found)}, text)


def schemes() -> dict[str, dict[str, Any]]:
    """Every scheme by name: title, citation, parameters with units and sources, presets.

    >>> import xoff
    >>> {"paper", "nic"} <= {preset["name"] for preset in xoff.schemes()["dcqcn"]["presets"]}
    True
    """
    return {scheme["name"]: scheme for scheme in json.loads(_xoff.schemes())}


def describe(topic: str = "results") -> str:
    """What a word means: a column, a key of a scenario, a scheme, a parameter, a metric.

    >>> import xoff
    >>> print(xoff.describe("flows.slowdown"))
    column of flows.parquet (float, in 1)
      slowdown             fct_us divided by ideal_us; 1 is perfect. May be empty.
    <BLANKLINE>
    """
    return _xoff.describe(topic, width=columns())


def read(directory: str | os.PathLike[str]) -> Run | Comparison | SweepResults:
    """What ``xoff run``, ``compare`` or ``sweep``, or the functions of that name, wrote to a directory.

    Tables of runs are read when they are asked for.

    >>> import tempfile, xoff
    >>> out = tempfile.mkdtemp() + "/incast"
    >>> written = xoff.run("incast", set={"traffic.0.events": 1, "output.figures": False}, out=out)
    >>> xoff.read(out).flows.column("fct_us") == written.flows.column("fct_us")
    True
    """
    from xoff._sweep import SweepResults

    folder = Path(directory)
    if (folder / "run.json").is_file():
        return Run(_xoff.read(os.fspath(folder)))
    for marker in ("comparison.json", "seeds.json"):
        if (folder / marker).is_file():
            return _compared(folder, marker)
    if (folder / "sweep.toml").is_file() and (folder / "runs.parquet").is_file():
        return SweepResults(*_xoff.sweep_read(os.fspath(folder)))
    return Run(_xoff.read(os.fspath(folder)))


def _compared(folder: Path, marker: str) -> Comparison:
    """The runs of a comparison, or of one scheme under several seeds, each from its own folder."""
    found = json.loads((folder / marker).read_text(encoding="utf-8"))
    named = [(str(run["scheme"]), int(run["seed"])) for run in found["runs"]]
    several = len({seed for _, seed in named}) > 1
    runs = []
    for scheme, seed in named:
        place = folder if marker == "seeds.json" else folder / scheme.replace(":", "-").replace("+", "-")
        place = place / f"seed-{seed}" if several or marker == "seeds.json" else place
        run = Run(_xoff.read(os.fspath(place), scheme))
        if run.seed != seed:
            raise ValueError(f"{place} is of seed {run.seed}, and {marker} has seed {seed} there")
        runs.append(run)
    return Comparison(runs, {left["scheme"]: left["reason"] for left in found.get("skipped", [])})


def _plain(scenario: Scenario) -> Any:
    return dict(scenario) if isinstance(scenario, Mapping) else scenario


class _Part:
    """How far a comparison is, with the fields of :class:`Progress`."""

    def __init__(self, part: float, run: Run) -> None:
        self.part = part
        self.now_us = self.stop_us = float(run.summary["sim_time_us"])
        self.packet_hops = int(run.summary["packet_hops"])


@contextmanager
def _watched(progress: Watch) -> Iterator[Callable[[Any], object] | None]:
    if progress != "tqdm":
        yield progress
        return
    from tqdm.auto import tqdm

    with tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:

        def update(at: Any) -> None:
            bar.update(round(100 * at.part) - bar.n)

        yield update
