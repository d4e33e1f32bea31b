"""Many runs of one scenario, here or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import cached_property
from typing import Any, Literal, Union

from xoff import _xoff
from xoff._api import Scenario, Watch, _plain, _watched
from xoff._xoff import Table

#: A list of values, or a range such as ``"5KB..400KB:log8"``.
Values = Union[str, Sequence[Any]]
Job = tuple[str, list[tuple[str, str]]]
#: Told of a run's fingerprint and record when it has ended.
Ended = Callable[[str, str], None]


def sweep(
    scenario: Scenario,
    *,
    schemes: Iterable[str] = (),
    axes: Mapping[str | tuple[str, ...], Values] | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int = 1,
    seed: int | None = None,
    sample: int | None = None,
    sampler: Literal["sobol", "random"] = "sobol",
    measures: Iterable[str] = (),
) -> Sweep:
    """One scenario over axes, schemes and seeds; nothing runs before :meth:`Sweep.run`.

    ``axes`` has a key of the scenario with its values, a list or a range (``"0.1..0.9:lin5"``, ``"5KB..400KB:log8"``),
    or a tuple of keys that move together with a list of tuples. Every point is loaded at once: a mistake raises
    :class:`ScenarioError`.

    >>> import xoff
    >>> study = xoff.sweep("incast", schemes=["dcqcn", "hpcc"], axes={"traffic.0.degree": [4, 8]},
    ...                    set={"traffic.0.events": 1}, seeds=2)
    >>> len(study)
    8
    >>> found = study.run()
    >>> found.table.columns[:4]
    ['degree', 'scheme', 'seed', 'status']
    """
    if isinstance(schemes, str):
        schemes = [schemes]
    typed = [_axis(key, values) for key, values in (axes or {}).items()]
    plan = _xoff.sweep_plan(
        _plain(scenario),
        schemes=list(schemes),
        axes=typed,
        set=dict(set) if set else None,
        seeds=seeds,
        seed=seed,
        sample=sample,
        sampler=sampler,
        measures=list(measures),
    )
    return Sweep(plan)


def _axis(key: str | tuple[str, ...], values: Values) -> str:
    """As the command line has it."""
    if isinstance(values, str):
        return f"{key}={values}"
    if isinstance(key, str):
        return f"{key}={','.join(_typed(value) for value in values)}"
    rows = [tuple(row) for row in values]
    if any(len(row) != len(key) for row in rows):
        raise ValueError(f"an axis of {len(key)} keys has {len(key)} values in each row: {', '.join(key)}")
    columns = list(zip(*rows))
    return "+".join(f"{one}={','.join(map(_typed, column))}" for one, column in zip(key, columns))


def _typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value)


def _run_one(job: Job, build: str) -> str:
    """One run, on whatever machine this is."""
    return _xoff.sweep_run(job, build)


class Sweep:
    """What is varied, checked and not yet run."""

    def __init__(self, plan: _xoff.SweepPlan) -> None:
        self._plan = plan

    def __getstate__(self) -> dict[str, Any]:
        # What is made of the plan is made again.
        return {"_plan": self._plan}

    @cached_property
    def _jobs(self) -> list[tuple[str, Job]]:
        return self._plan.jobs()

    def __len__(self) -> int:
        """Runs."""
        return len(self._jobs)

    def __repr__(self) -> str:
        return f"<xoff.Sweep of {self._plan.name}: {len(self)} runs>"

    def text(self) -> str:
        """As a file that ``xoff sweep`` reads, with every value spelled out."""
        return self._plan.text()

    def run(
        self,
        client: Any = None,
        *,
        jobs: int | None = None,
        out: str | os.PathLike[str] | None = None,
        progress: Watch = None,
        retries: int = 3,
    ) -> SweepResults:
        """Makes every run: on ``jobs`` cores of this machine, or by a Dask ``client`` on its cluster.

        On a cluster each run is a task of its own under the fingerprint of what it is made from; one whose worker is
        lost is made again elsewhere, and the dashboard shows how far it is. The tables are the same either way.
        ``out`` is a directory to write as ``xoff sweep`` does. Runs that are finished are kept in it: what is there
        is not made again, whatever ended the call before.
        """
        build = _xoff.build_id()
        store = None if out is None else self._plan.store(os.fspath(out), build)
        found: dict[str, str] = {}

        def ended(inputs: str, record: str) -> None:
            found[inputs] = record
            if store is not None:
                store.keep(record)

        try:
            for inputs, _ in self._jobs:
                record = None if store is None else store.find(inputs)
                if record is not None:
                    found[inputs] = record
            todo = {inputs: job for inputs, job in self._jobs if inputs not in found}
            with _watched(progress) as watch:
                if watch is not None and not todo:
                    watch(_Part(1.0))
                if client is None:
                    self._run_here(todo, build, jobs or os.cpu_count() or 1, ended, watch)
                else:
                    self._run_there(todo, client, build, retries, ended, watch)
            records = [found[inputs] for inputs, _ in self._jobs]
            if store is not None:
                store.write(self._plan, records)
            return SweepResults(self._plan, records)
        finally:
            # Releases the directory, even if the frames of an exception are still held.
            store = None

    def _run_here(
        self, todo: dict[str, Job], build: str, jobs: int, ended: Ended, watch: Callable[[Any], object] | None
    ) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            runs = {pool.submit(_run_one, job, build): inputs for inputs, job in todo.items()}
            try:
                left = frozenset(runs)
                while left:
                    # Not longer: Python receives Ctrl-C between two waits.
                    done, running = wait(left, timeout=0.05, return_when=FIRST_COMPLETED)
                    left = frozenset(running)
                    # What is finished is kept before a failure ends the rest.
                    for run in sorted(done, key=lambda run: run.exception() is not None):
                        ended(runs[run], run.result())
                    if watch is not None:
                        watch(_Part(1 - len(left) / len(runs)))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _run_there(
        self,
        todo: dict[str, Job],
        client: Any,
        build: str,
        retries: int,
        ended: Ended,
        watch: Callable[[Any], object] | None,
    ) -> None:
        from dask import distributed

        completed: Any = distributed.as_completed
        runs = {
            client.submit(_run_one, job, build, key=f"xoff-{inputs}", pure=True, retries=retries): inputs
            for inputs, job in todo.items()
        }
        for count, run in enumerate(completed(list(runs)), start=1):
            ended(runs[run], run.result())
            if watch is not None:
                watch(_Part(count / len(runs)))


class _Part:
    """How far a sweep is, with the fields of :class:`Progress`."""

    def __init__(self, part: float) -> None:
        self.part = part
        self.now_us = self.stop_us = 0.0
        self.packet_hops = 0


class SweepResults:
    """The runs of a sweep.

    >>> import xoff
    >>> found = xoff.sweep("incast", axes={"traffic.0.degree": [4, 8]}, set={"traffic.0.events": 1}).run()
    >>> found.table.column("degree")
    [4.0, 8.0]
    >>> found.table.column("flows_completed")
    [4, 8]
    """

    def __init__(self, plan: _xoff.SweepPlan, records: list[str]) -> None:
        self._plan = plan
        self._records = records

    @cached_property
    def table(self) -> Table:
        """One row per run: what was varied, scheme, seed, status, and every number of its summary."""
        return Table._of_columns("runs", self._plan.columns(self._records))

    @cached_property
    def curves(self) -> list[dict[str, Any]]:
        """Every measure that is a curve, of every run: scheme, seed, the axes' values, ``measure``, ``x`` and ``y``."""
        keys = self.table.columns[: self.table.columns.index("status")]
        columns = {key: self.table.column(key) for key in keys}
        found = []
        for row, record in enumerate(self._records):
            for curve in json.loads(record).get("curves", []):
                own = {key: column[row] for key, column in columns.items()}
                found.append({**own, "measure": curve["name"], "x": curve["x"], "y": curve["y"], "axes": curve["axes"]})
        return found

    @cached_property
    def finding(self) -> str:
        """The sentence that says what was found."""
        return self._plan.finding(self._records)

    def write(self, out: str | os.PathLike[str]) -> None:
        """The directory that ``xoff sweep`` would write: ``runs.parquet``, ``report.html``, figures."""
        self._plan.write(self._records, os.fspath(out))

    def __repr__(self) -> str:
        return f"<xoff.SweepResults of {self._plan.name}: {len(self._records)} runs. {self.finding}>"
