"""Whatever can be run is run, and says the same as the program."""

import json
import math
import os
import pathlib
import pickle
import signal
import threading
import time
import tomllib

import numpy
import pytest

import xoff

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
INCAST = REPOSITORY / "scenarios" / "incast.toml"
FEW = {"traffic.0.events": 3}


def same(one: xoff.Run, other: xoff.Run) -> bool:
    return one.flows.to_arrow().equals(other.flows.to_arrow())


def test_a_path_a_name_a_text_and_a_dict_are_one_scenario(incast: xoff.Run) -> None:
    text = INCAST.read_text()
    for scenario in [INCAST, str(INCAST), "incast", text, tomllib.loads(text)]:
        assert same(xoff.run(scenario, set=FEW), incast)


def test_a_resolved_scenario_runs_again(incast: xoff.Run) -> None:
    assert same(xoff.run(incast.scenario), incast)


def test_keys_seed_and_scheme_can_be_changed(incast: xoff.Run) -> None:
    other = xoff.run("incast", set={**FEW, "traffic.0.sizes": "50KB", "traffic.0.degree": numpy.int64(8)}, seed=7)
    assert (other.seed, len(other.flows)) == (7, 24)
    assert set(other.flows.column("size_bytes")) == {50_000}
    assert xoff.run("incast", set=FEW, scheme="hpcc").scheme == "hpcc"
    assert xoff.run("incast", set={**FEW, "probe": None}).series.column("value") == []
    assert len(incast.series) > 0


def test_threads_change_nothing(incast: xoff.Run) -> None:
    assert same(xoff.run("incast", set=FEW, threads=2), incast)
    assert same(xoff.run("incast", set=FEW, threads="auto"), incast)
    with pytest.raises(ValueError):
        xoff.run("incast", set=FEW, threads=0)


def test_the_summary_is_run_json(tmp_path: pathlib.Path) -> None:
    run = xoff.run("incast", set=FEW, out=tmp_path / "run")
    assert run.directory == tmp_path / "run"
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == run.summary
    assert run.summary["flows_completed"] == 48 and run.failure is None
    assert "incast" in str(run) and "48 flows, ok" in repr(run)


def test_a_directory_is_the_run_that_wrote_it(tmp_path: pathlib.Path) -> None:
    wanted = {"run.stop": "22ms", "output.pfc_frames": True, "output.figures": False}
    run = xoff.run("victim-flow", set=wanted, out=tmp_path / "run")
    back = xoff.read(tmp_path / "run")
    assert (back.summary, back.scenario) == (run.summary, run.scenario)
    for name in ["flows", "series", "pauses", "ports", "pfc", "port_activity", "flow_activity"]:
        one, other = getattr(run, name).to_arrow(), getattr(back, name).to_arrow()
        assert len(one) > 0 and one.equals(other), name
    assert run.jobs is None and back.jobs is None, "the scenario has no training job"
    with pytest.raises(xoff.ScenarioError, match="not a finished run"):
        xoff.read(tmp_path)


def test_measures_are_plain_values() -> None:
    measure = [
        {"name": "worst", "metric": "slowdown", "stat": "max"},
        {"name": "drops", "metric": "drops"},
    ]
    run = xoff.run("incast", set={**FEW, "measure": measure})
    assert run.measures["worst"] == pytest.approx(max(run.flows.column("slowdown")))
    assert run.measures["drops"] == 0 and not math.isnan(run.measures["drops"])


def test_a_failure_of_the_network_is_data() -> None:
    run = xoff.run("deadlock")
    assert run.failure is not None and "deadlock" in run.failure
    assert len(run.flows) > 0 and "failed" in repr(run)


def test_progress_is_told() -> None:
    heard: list[xoff.Progress] = []
    xoff.run("incast", set={"traffic.0.events": 600}, progress=heard.append)
    parts = [at.part for at in heard]
    assert parts == sorted(parts) and parts[-1] == 1.0 and len(parts) > 1
    assert heard[-1].packet_hops > heard[0].packet_hops > 0 and heard[0].now_us > 0
    xoff.run("incast", set=FEW, progress="tqdm")


def test_what_goes_wrong_in_a_callback_ends_the_run(patience: float) -> None:
    def refuse(at: xoff.Progress) -> None:
        raise LookupError("enough")

    began = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        xoff.run("incast", set={"traffic.0.events": 1_000_000}, progress=refuse)
    assert time.monotonic() - began < 5 * patience


def test_ctrl_c_works_within_a_tenth_of_a_second(patience: float) -> None:
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    for threads in [1, 2]:
        timer = threading.Timer(0.4, press)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            xoff.run("incast", set={"traffic.0.events": 1_000_000}, threads=threads)
        assert time.monotonic() - pressed[-1] < 0.1 * patience
        timer.join()


def test_ctrl_c_ends_a_comparison(patience: float) -> None:
    timer = threading.Timer(0.6, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        xoff.compare("incast", ["dcqcn", "hpcc"], seeds=4, set={"traffic.0.events": 1_000_000})
    assert time.monotonic() - began < 3 * patience
    timer.join()


def test_python_goes_on_while_a_run_does(patience: float) -> None:
    turns, over = [0], threading.Event()

    def count() -> None:
        while not over.wait(0.001):
            turns[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    run = xoff.run("incast", set={"traffic.0.events": 600})
    over.set()
    thread.join()
    # A thread that waited for the interpreter would have had a turn or two.
    assert turns[0] > 100 * run.summary["wall_seconds"] / patience


def test_a_small_run_costs_little_more_than_its_simulation(patience: float) -> None:
    def extra() -> float:
        began = time.perf_counter()
        run = xoff.run(INCAST, set=FEW)
        assert len(run.flows.to_arrow()) == 48 and run.summary["flows_total"] == 48
        return time.perf_counter() - began - run.summary["wall_seconds"]

    assert min(extra() for _ in range(5)) < 0.05 * patience


def test_runs_tables_and_sweeps_travel(incast: xoff.Run, tmp_path: pathlib.Path) -> None:
    again = pickle.loads(pickle.dumps(incast))
    assert again.summary == incast.summary and same(again, incast)
    assert again.flows.describe() == incast.flows.describe() and str(again) == str(incast)
    written = xoff.run("incast", set={**FEW, "output.figures": False}, out=tmp_path / "run")
    assert same(pickle.loads(pickle.dumps(xoff.read(tmp_path / "run"))), written)
    study = xoff.sweep("incast", axes={"traffic.0.degree": [2, 3]}, set={"traffic.0.events": 1})
    found = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(study)).run()))
    assert found.table.column("flows_completed") == [2, 3]
    both = xoff.compare("incast", ["none", "hpcc"], set={"traffic.0.events": 1})
    assert pickle.loads(pickle.dumps(both)).table().to_arrow().equals(both.table().to_arrow())


def test_a_text_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="no Unicode text"):
        xoff.run("incast", set={"name": "\ud800"})


def test_a_directory_of_a_comparison_is_read(tmp_path: pathlib.Path) -> None:
    few = {"traffic.0.events": 1, "output.figures": False}
    named = [("none", 1), ("dcqcn:nic", 1), ("none", 2), ("dcqcn:nic", 2)]
    for scheme, seed in named:
        out = tmp_path / scheme.replace(":", "-") / f"seed-{seed}"
        xoff.run("incast", set=few, scheme=scheme, seed=seed, out=out)
    runs = [{"scheme": scheme, "seed": seed} for scheme, seed in named]
    skipped = [{"scheme": "mlcc", "reason": "one datacentre"}]
    (tmp_path / "comparison.json").write_text(json.dumps({"runs": runs, "skipped": skipped}))
    both = xoff.read(tmp_path)
    assert isinstance(both, xoff.Comparison) and both.schemes == ["none", "dcqcn:nic"] and both.seeds == [1, 2]
    assert both["dcqcn:nic", 2].seed == 2 and both.skipped == {"mlcc": "one datacentre"}
    assert same(both["none", 2], xoff.run("incast", set=few, scheme="none", seed=2)) and "Comparison" in str(both)
