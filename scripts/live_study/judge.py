"""The four claims about testbeds, judged on live runs.

What the papers say is read from claims/. What is accepted, and when a claim is undecided, is as for simulated claims
(docs/experiments.md).
"""
import tomllib
from dataclasses import dataclass

from . import plan
from .numbers import brief, estimate, half_width, mean, measure
from .runs import summary

HOLDS, DIRECTION, FAILS = "**holds**", "in direction", "**does not hold**"
UNDECIDED, MISSING = "undecided", "*not run*"
# Two convergence times are the same up to this factor.
ALIKE = 1.5
# Of a saving: half of the paper's number to twice it.
NEAR = (0.5, 2)
# The allowance of an upper bound.
BOUND = 1.1
# `queue_falls` counts from here on, in ms (pcn-testbed.toml).
QUEUE_FROM_MS = 0.5


@dataclass
class Verdict:
    claim: dict
    accepted: str
    simulated: str = ""
    live: str = ""
    word: str = MISSING
    # Summaries of the live runs that it is from.
    runs: tuple = ()


def known_claims(root):
    """Those of both papers, by id."""
    files = [tomllib.loads((root / f"claims/{paper}.toml").read_text()) for paper in ("pcn", "mlcc")]
    return {entry["id"]: entry for file in files for entry in file["claim"]}


def reduction(new, old):
    return (old - new) / old * 100


def sign(values):
    """Whether all of them are above 0; none if only some are."""
    above = sum(value > 0 for value in values)
    return {len(values): True, 0: False}.get(above)


def of_direction(signs, word):
    """The verdict where nothing but a direction is claimed, or is left: `word` if it is that of all seeds."""
    return FAILS if False in signs else UNDECIDED if None in signs else word


def of_saving(values, low, high):
    """The verdict on a number: by its interval, and where that lies outside what is accepted, by its direction."""
    middle, width = mean(values), half_width(values)
    if low <= middle - width and middle + width <= high:
        return HOLDS
    if middle + width < low or middle - width > high:
        return of_direction([sign(values)], DIRECTION)
    return UNDECIDED


def pairs(bench, cases):
    """(case, live summary, simulated summary) of those that have run."""
    for case in cases:
        live = bench.live(case)
        if live and bench.simulation(case):
            yield case, summary(live[0]), bench.simulation(case)


def same_behaviour(bench, claim):
    """pcn-c061: PCN's times on the testbed over those of the simulation."""
    accepted = f"both times within a factor of {ALIKE}"

    def times(run):
        return [measure(run, "rate_falls"), measure(run, "queue_falls") + QUEUE_FROM_MS]

    for _, live, simulated in pairs(bench, plan.fig11(bench)[:1]):
        ratios = [a / b for a, b in zip(times(live), times(simulated))]
        alike = all(1 / ALIKE <= ratio <= ALIKE for ratio in ratios)
        text = [", ".join(map(brief, times(run))) + " ms" for run in (simulated, live)]
        text[1] += " (" + ", ".join(map(brief, ratios)) + " x)"
        return Verdict(claim, accepted, *text, HOLDS if alike else FAILS, (live,))
    return Verdict(claim, accepted)


def short_queue(bench, claim):
    """pcn-c113: PCN's mean queue with up to 64 flows."""
    most = float(claim["paper"].removeprefix("at most "))
    accepted = f"at most {most * BOUND:g} KB with every number of flows"
    cases = [case for case in plan.fig17(bench) if case.label == "PCN"]
    found = list(pairs(bench, cases))
    if len(found) < len(cases):
        return Verdict(claim, accepted)
    live, simulated = ([measure(runs[side], "queue") for _, *runs in found] for side in (0, 1))
    text = [", ".join(map(brief, side)) + " KB" for side in (simulated, live)]
    word = HOLDS if max(live) <= most * BOUND else FAILS
    return Verdict(claim, accepted, *text, word, tuple(run for _, run, _ in found))


def testbed_runs(bench):
    """{(seed, label): (live, simulated)} of MLCC's testbed; none until all have run."""
    cases = plan.fig16(bench)
    found = {(case.seed, case.label): (live, simulated) for case, live, simulated in pairs(bench, cases)}
    return found if len(found) == len(cases) else None


def reductions(found, name):
    """By side (live, simulated), then seed: by how much MLCC's `name` is below DCQCN's, in per cent."""
    def at(seed, side):
        return reduction(*(measure(found[seed, label][side], name) for label in ("MLCC", "DCQCN")))
    return [[at(seed, side) for seed in plan.SEEDS] for side in (0, 1)]


def faster(bench, claim):
    """mlcc-c056: the mean over all flows."""
    low, high = (factor * claim["paper"] for factor in NEAR)
    accepted = f"{brief(low)} to {brief(high)} %; in direction if above 0 with every seed"
    found = testbed_runs(bench)
    if found is None:
        return Verdict(claim, accepted)
    live, simulated = reductions(found, "overall.mean")
    text = [estimate(side) + " %" for side in (simulated, live)]
    return Verdict(claim, accepted, *text, of_saving(live, low, high), tuple(run for run, _ in found.values()))


def both_faster(bench, claim):
    """mlcc-c057: the means within racks and between them."""
    accepted = "both above 0 with every seed"
    found = testbed_runs(bench)
    if found is None:
        return Verdict(claim, accepted)
    kinds = [reductions(found, f"{name}.mean") for name in ("intra", "cross")]
    text = [", ".join(estimate(kind[side]) for kind in kinds) + " %" for side in (1, 0)]
    word = of_direction([sign(live) for live, _ in kinds], HOLDS)
    return Verdict(claim, accepted, *text, word, tuple(run for run, _ in found.values()))


RULES = {"pcn-c061": same_behaviour, "pcn-c113": short_queue, "mlcc-c056": faster, "mlcc-c057": both_faster}


def all_verdicts(bench):
    known = known_claims(bench.root)
    return [rule(bench, known[name]) for name, rule in RULES.items()]
