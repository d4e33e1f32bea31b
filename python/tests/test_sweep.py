"""Sweeps here and on a Dask cluster of processes, one of which is lost: the same tables."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import xoff
from xoff import _xoff

GRID = dict(
    schemes=["dcqcn", "hpcc"],
    axes={"traffic.0.degree": [4, 8], "scheme.kmin": "5KB..400KB:log2"},
    set={"traffic.0.events": 2},
    seeds=2,
)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[xoff.SweepResults, bytes]:
    out = tmp_path_factory.mktemp("here") / "out"
    found = xoff.sweep("incast", **GRID).run(out=out)
    return found, (out / "runs.parquet").read_bytes()


def test_a_row_for_every_run(here: tuple[xoff.SweepResults, bytes]) -> None:
    found, _ = here
    runs = found.table.to_pandas()
    # Two values of kmin for dcqcn, none for hpcc.
    assert len(runs) == 2 * 2 * 2 + 2 * 2
    assert list(runs.columns[:5]) == ["degree", "kmin_bytes", "scheme", "seed", "status"]
    assert set(runs[runs.scheme == "dcqcn"].kmin_bytes) == {5000.0, 400000.0}
    assert runs[runs.scheme == "hpcc"].kmin_bytes.isna().all()
    alone = xoff.run("incast", set={**GRID["set"], "traffic.0.degree": 8}, scheme="hpcc", seed=2)
    row = runs[(runs.scheme == "hpcc") & (runs.degree == 8) & (runs.seed == 2)].iloc[0]
    assert row["by_source.incast.slowdown.p99"] == alone.summary["by_source"][0]["slowdown"]["p99"]
    assert found.finding.startswith("The lowest p99 slowdown, incast (2 seeds) is ")


def test_the_same_as_the_command_line(here: tuple[xoff.SweepResults, bytes], tmp_path: Path) -> None:
    import pandas

    found, _ = here
    found.write(tmp_path / "out")
    written = pandas.read_parquet(tmp_path / "out" / "runs.parquet")
    columns = ["degree", "seed", "by_source.incast.fct_us.mean", "pause_frames"]
    assert (written[columns].to_numpy(float) == found.table.to_pandas()[columns].to_numpy(float)).all()
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_sweep_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = xoff.sweep("incast", axes={"traffic.0.degree": [2, 3, 4]}, set={"traffic.0.events": 1})
    made: list[str] = []
    run_one = _xoff.sweep_run

    def counted(job: tuple[str, list[tuple[str, str]]], build: str) -> str:
        made.append(job[0])
        if len(made) == 2:
            raise RuntimeError("as if killed")
        return run_one(job, build)

    monkeypatch.setattr(_xoff, "sweep_run", counted)
    with pytest.raises(RuntimeError, match="as if killed"):
        study.run(jobs=1, out=tmp_path / "out")
    assert not (tmp_path / "out" / "runs.parquet").exists()
    before = len(made)
    found = study.run(jobs=1, out=tmp_path / "out")
    # The first was finished before, and perhaps the third.
    assert 1 <= len(made) - before <= 2 and found.table.column("degree") == [2.0, 3.0, 4.0]
    after = len(made)
    table = (tmp_path / "out" / "runs.parquet").read_bytes()
    again = study.run(jobs=1, out=tmp_path / "out")
    assert len(made) == after and (tmp_path / "out" / "runs.parquet").read_bytes() == table
    assert again.finding == found.finding
    # Records are joined by what they are of, whatever their order.
    turned = xoff.SweepResults(study._plan, found._records[::-1])
    assert turned.table.column("flows_completed") == [2, 3, 4]
    with pytest.raises(ValueError, match="no result among these"):
        xoff.SweepResults(study._plan, found._records[:2]).table


def test_keys_that_move_together() -> None:
    axes = {("traffic.0.degree", "seed"): [(4, 1), (8, 2)]}
    assert len(xoff.sweep("incast", axes=axes)) == 2
    with pytest.raises(xoff.ScenarioError, match="no scheme of this sweep has"):
        xoff.sweep("incast", schemes=["hpcc"], axes={"scheme.kmin": [1, 2]})
    for rows in [[(4, 1), (8,)], [(4, 1, 9), (8, 2, 9)]]:
        with pytest.raises(ValueError, match="2 values in each row"):
            xoff.sweep("incast", axes={("traffic.0.degree", "seed"): rows})
    with pytest.raises(RuntimeError, match="another build"):
        _xoff.sweep_run(("", []), "0.0.0 abc")


def start(*command: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-m", *command], stdout=quiet, stderr=quiet, start_new_session=True)


def test_a_cluster_that_loses_a_worker(here: tuple[xoff.SweepResults, bytes], tmp_path: Path) -> None:
    from dask.distributed import Client

    address = tmp_path / "scheduler.json"
    ends = ["--scheduler-file", str(address)]
    processes = [start("distributed.cli.dask_scheduler", *ends, "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    try:
        worker = ["--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        processes += [start("distributed.cli.dask_worker", *ends, *worker) for _ in range(2)]
        with Client(scheduler_file=str(address), timeout="60s") as client:
            client.wait_for_workers(2, timeout=60)
            lost = []

            def lose_one(at: object) -> None:
                if not lost:
                    lost.append(True)
                    os.killpg(processes[1].pid, signal.SIGKILL)

            out = tmp_path / "there"
            xoff.sweep("incast", **GRID).run(client, out=out, progress=lose_one)
            assert lost and len(client.scheduler_info()["workers"]) <= 2
        assert (out / "runs.parquet").read_bytes() == here[1]
    finally:
        for process in processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def test_the_lines_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "README.md").read_text()
    section = next(part for part in page.split("\n## ") if part.startswith("Python\n"))
    code = section.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "(18, " in capsys.readouterr().out
    assert (tmp_path / "results" / "degrees" / "runs.parquet").is_file()


def test_a_directory_is_the_sweep_that_wrote_it(tmp_path: Path) -> None:
    study = xoff.sweep("incast", axes={"traffic.0.degree": [2, 3]}, set={"traffic.0.events": 1})
    found = study.run(out=tmp_path / "out")
    again = xoff.read(tmp_path / "out")
    assert isinstance(again, xoff.SweepResults)
    assert again.table.to_arrow().equals(found.table.to_arrow()) and again.finding == found.finding
