"""Mistakes are told as the command line tells them; questions are answered."""

import pathlib

import pytest

import xoff

TEXT = """
topology = { kind = "star", hosts = 3, rate = "100Gbps", delay = "1us" }
[scheme]
name = "hpcc"
[[traffic]]
kind = "flows"
[[traffic.flow]]
src = "h0"
dst = "h2"
sise = "1MB"
"""


def test_a_mistake_has_its_place_and_a_hint(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TEXT)
    with pytest.raises(xoff.ScenarioError) as caught:
        xoff.run(file)
    text = str(caught.value)
    assert f"{file}:10" in text and "sise" in text and "did you mean `size`?" in text
    (problem,) = [problem for problem in caught.value.problems if "sise" in problem["message"]]
    assert (problem["file"], problem["line"]) == (str(file), 10)
    assert problem["help"] == "did you mean `size`?"
    assert isinstance(caught.value, ValueError)


def test_so_has_one_in_a_text_a_dict_or_a_change() -> None:
    with pytest.raises(xoff.ScenarioError, match="<text>:10"):
        xoff.check(TEXT)
    good = {
        "topology": {"kind": "star", "hosts": 3, "rate": "100Gbps", "delay": "1us"},
        "scheme": {"name": "hpcc"},
        "traffic": [{"kind": "flows", "flow": [{"src": "h0", "dst": "h2", "size": "1MB", "weight": None}]}],
    }
    assert xoff.run(good).summary["flows_completed"] == 1
    with pytest.raises(xoff.ScenarioError, match="<dict>:"):
        xoff.check({**good, "scheme": {"name": "hpc"}})
    with pytest.raises(xoff.ScenarioError, match="--set"):
        xoff.check(good, set={"topology.hosts": "many"})
    with pytest.raises(TypeError, match="no place for"):
        xoff.check(good, set={"topology.hosts": object()})
    with pytest.raises(TypeError, match="a scenario is a path"):
        xoff.check(5)  # type: ignore[arg-type]
    with pytest.raises(xoff.ScenarioError, match="did you mean"):
        xoff.run("incats")


def test_what_is_probably_not_meant_is_a_warning() -> None:
    with pytest.warns(xoff.ScenarioWarning) as told:
        xoff.check("incast", set={"switch.pfc.headroom": "1KB"})
    assert told[0].filename == __file__


def test_check_says_what_would_be_built() -> None:
    report = xoff.check("fat-tree-websearch")
    assert report["name"] == "fat-tree-websearch" and "round trip" in str(report)


def test_schemes_and_words_are_described() -> None:
    schemes = xoff.schemes()
    assert {"dcqcn", "hpcc", "timely", "none"} <= set(schemes)
    assert any(param["name"] == "kmin" for param in schemes["dcqcn"]["parameters"])
    assert "slowdown" in xoff.describe("flows.slowdown")
    with pytest.raises(xoff.ScenarioError, match="slowdwn"):
        xoff.describe("slowdwn")


def test_validate_refuses_what_is_no_folder_of_results(tmp_path: pathlib.Path) -> None:
    with pytest.raises(xoff.ScenarioError, match="no folder of results"):
        xoff.validate(tmp_path)


def test_schemes_are_compared() -> None:
    found = xoff.compare("incast", ["none", "dcqcn:nic", "hpcc"], seeds=2, set={"traffic.0.events": 2})
    assert (found.schemes, found.seeds) == (["none", "dcqcn:nic", "hpcc"], [1, 2])
    assert len(found) == 6 and found[0] is found["none"] and found["hpcc", 2].seed == 2
    with pytest.raises(KeyError):
        found["timely"]
    frame = found.table().to_pandas()
    assert frame.shape[0] == 6 and frame["flows_completed"].tolist() == [32] * 6
    assert frame["slowdown.p99"].tolist() == [run.summary["slowdown"]["p99"] for run in found]
    assert "dcqcn:nic" in str(found) and "2 seeds" in str(found)
    alone = xoff.run("incast", scheme="hpcc", seed=2, set={"traffic.0.events": 2})
    assert alone.flows.to_arrow().equals(found["hpcc", 2].flows.to_arrow())


def test_of_all_schemes_those_that_cannot_run_are_left_out() -> None:
    heard = []
    found = xoff.compare("incast", set={"traffic.0.events": 1}, progress=heard.append)
    assert "dcqcn" in found.schemes and "mlcc" in found.skipped
    assert len(heard) == len(found) and heard[-1].part == 1.0
    with pytest.raises(xoff.ScenarioError, match="hpc"):
        xoff.compare("incast", ["hpc"])
