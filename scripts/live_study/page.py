"""docs/live-results.md, from what runs left."""
from . import figure, judge, plan
from .numbers import brief, curve, distance, estimate, mean, measure, table
from .runs import kept_up, summary

FIGURES = "images"
# What Fig. 11 shows, in ms.
UNTIL_MS = 20
# The check by which a run says that the machine was too slow.
KEPT_UP = "machine kept up"
# Live and simulated are near within so many per cent.
NEAR_PERCENT = 10

INTRODUCTION = """# Live runs: results

*Written by `scripts/live` from the run directories; no number is typed. [live.md](live.md) says what a live run is.*

Frames went through the Linux kernel between software NICs and switches, and every decision was taken from received \
bytes. **k** divides rates and multiplies times, **frozen** is the part of the time in which the clock stood still \
because the machine was late. Above 2 % a run counts as too slow, and is marked (!). All times and rates are the \
scenario's own. *Simulated* is the same scenario by `xoff run`."""


def reality(runs):
    """k and frozen share of live runs; (!) where the machine was too slow, (?) where another check failed."""
    scales = sorted({run["live_timing"]["time_dilation_factor"] for run in runs})
    slip = max(run["live_timing"]["slip"]["share"] for run in runs)
    marks = "" if all(map(kept_up, runs)) else " (!)"
    marks += " (?)" if any(broken(run) for run in runs) else ""
    ends = dict.fromkeys((scales[0], scales[-1]))
    return [" to ".join(f"{k:g}" for k in ends), f"{slip * 100:.2f} %{marks}"]


def broken(run):
    """Checks that failed, apart from that of the machine."""
    return [check for check in run["checks"] if not check["held"] and check["name"] != KEPT_UP]


def filled(head, rows):
    return table(head, rows) if rows else "*Not run yet.*"


def said(bench, *names):
    """What the papers say, in the words of claims/."""
    known = judge.known_claims(bench.root)
    return "The paper: " + " ".join(known[name]["says"] for name in names)


def beside(live, simulated):
    return f"{brief(live)} / {brief(simulated)}"


def machine(bench, cases):
    """Where it ran, and how much of it."""
    names = {summary(path)["live_timing"]["machine"] for case in cases for path in bench.live(case)}
    version = bench.xoff("--version").stdout.strip()
    done = sum(1 for case in cases if bench.simulation(case) or bench.refusal(case))
    asked = [case for part in plan.PARTS if part not in plan.EXTRA for case in plan.PARTS[part](bench)]
    open_ = sum(1 for case in asked if not (bench.simulation(case) or bench.refusal(case)))
    missing = f" **Not complete: {done} of {len(cases)} cases have run.**" if open_ else ""
    return f"Machine: {'; '.join(sorted(names)) or 'none yet'}. Program: {version}.{missing}"


def verdicts(bench):
    rows = []
    for verdict in judge.all_verdicts(bench):
        claim = verdict.claim
        paper, unit = claim.get("paper", ""), claim.get("unit", "")
        paper = f"{paper} {unit}" if paper != "" else ""
        facts = reality(verdict.runs) if verdict.runs else ["", ""]
        rows.append([claim["id"], claim["says"], paper, verdict.simulated, verdict.live, verdict.word, verdict.accepted,
                     *facts])
    head = ["", "claim", "paper", "simulated", "live", "verdict", "accepted", "k", "frozen"]
    return ["## Claims about testbeds", table(head, rows)]


def fig11(bench):
    names = {"rate_falls": "rate at the link's, ms", "rate_settles": "rate settled, ms",
             "queue_falls": "queue at ten packets, ms after 0.5", "queue_settles": "queue settled, ms",
             "queue_peak": "highest queue, KB", "steady_rate": "steady rate, Gb/s", "steady_queue": "steady queue, KB"}
    rows, found = [], list(judge.pairs(bench, plan.fig11(bench)))
    for case, live, simulated in found:
        values = [beside(measure(live, name), measure(simulated, name)) for name in names]
        rows.append([case.label, *values, *reality([live])])
    paper = said(bench, "pcn-c049", "pcn-c053") + " QCN, DCQCN and TIMELY were only simulated there."
    images = [f"![{title}]({FIGURES}/{name}.svg)" for name, title, _ in FIG11_FIGURES] if found else []
    text = f"{paper} Live / simulated:"
    head = ["scheme", *names.values(), "k", "frozen"]
    return ["## PCN's testbed (Fig. 11a)", text, filled(head, rows), *images]


FIG11_FIGURES = [("live-fig11-rate", "Aggregate sending rate, Gb/s", "rate"),
                 ("live-fig11-queue", "Queue of the bottleneck, KB", "queue")]


def draw(bench, docs):
    """The two figures of Fig. 11a."""
    found = list(judge.pairs(bench, plan.fig11(bench)))
    for name, title, quantity in FIG11_FIGURES if found else []:
        panels = [(case.label, [curve(live, quantity), curve(simulated, quantity)]) for case, live, simulated in found]
        drawing = figure.draw(title, ["live", "simulated"], panels, UNTIL_MS, "time, ms")
        (docs / FIGURES / f"{name}.svg").write_text(drawing)


def fig17(bench):
    rows = []
    for case, live, simulated in judge.pairs(bench, plan.fig17(bench) + plan.fig17_others(bench)):
        flows = case.name.rpartition("-")[2]
        values = [beside(measure(live, name), measure(simulated, name))
                  for name in ("queue", "throughput", "pauses", "jain")]
        rows.append([flows, case.label, *values, *reality([live])])
    head = ["flows", "scheme", "mean queue, KB", "throughput, Gb/s", "PAUSE frames, 1/s", "Jain's index", "k", "frozen"]
    text = (said(bench, "pcn-c112", "pcn-c113") + " QCN, DCQCN and TIMELY were only simulated there; `scripts/live --only "
            "fig17-others` adds them. Live / simulated:")
    return ["## PCN's testbed with more flows (Fig. 17)", text, filled(head, rows)]


def fig16(bench):
    rows = []
    found = list(judge.pairs(bench, plan.fig16(bench)))
    for label in ("MLCC", "DCQCN"):
        runs = [(live, simulated) for case, live, simulated in found if case.label == label]
        for name, title in (("intra", "within racks"), ("cross", "between"), ("overall", "all")) if runs else []:
            sides = [[measure(run[side], f"{name}.mean") * 1000 for run in runs] for side in (0, 1)]
            rows.append([label, title, *map(estimate, sides), distance(*map(mean, sides)), len(runs),
                         *reality([live for live, _ in runs])])
    head = ["scheme", "flows", "live, us", "simulated, us", "distance", "seeds", "k", "frozen"]
    text = said(bench, "mlcc-c056", "mlcc-c057") + " Mean completion times:"
    return ["## MLCC's testbed (Fig. 16)", text, filled(head, rows)]


def victim_flow(run):
    """What the run says of F0; nothing, if no burst was seen."""
    flows = (run["episode"] or {}).get("flows", [])
    return next((flow for flow in flows if flow["name"] == "victim F0"), {})


def left_alone(flow):
    """The scheme allowed it at least what it had before."""
    return flow.get("min_allowed_gbps") is not None and flow["min_allowed_gbps"] >= flow["before_gbps"]


def victim_row(case, live, simulated):
    flows = [victim_flow(run) for run in (live, simulated)]
    rates = [beside(*(flow.get(f"{key}_gbps") for flow in flows)) for key in ("before", "during", "min_allowed", "after")]
    back = [flow.get("recovery_us") for flow in flows]
    pauses = beside(live["pause_frames"], simulated["pause_frames"])
    alone = " / ".join("yes" if left_alone(flow) else "no" for flow in flows)
    return [case.label, *rates, alone, beside(*(us and us / 1000 for us in back)), pauses, *reality([live])]


def victim(bench):
    refused = []
    for case in plan.victim(bench):
        if why := bench.refusal(case):
            refused.append(f"- `{case.label}` does not run live: {why.splitlines()[0].removeprefix('error: ')}.")
    rows = [victim_row(*found) for found in judge.pairs(bench, plan.victim(bench))]
    head = ["scheme", "before", "during", "lowest allowed", "after", "left alone", "back after, ms", "PAUSE frames", "k",
            "frozen"]
    words = ("What the victim F0 had, in Gb/s: before the burst, while it lasted, and after. *lowest allowed* is the "
             "lowest rate that the scheme itself allowed it during the burst, headers included. F0 crosses no congested "
             "port: a scheme *leaves it alone* if that is no less than what it had before. Live / simulated:")
    return ["## The victim under every scheme", words, filled(head, rows), "\n".join(refused)]


def near(bench):
    rows = []
    for case in plan.near(bench):
        runs, simulated = [summary(path) for path in bench.live(case)], bench.simulation(case)
        if not runs or not simulated:
            continue
        for title, number in (("goodput90, Gb/s", lambda run: run["goodput90_gbps"]),
                              ("completion time p50, us", lambda run: run["fct_us"]["p50"]),
                              ("completion time p95, us", lambda run: run["fct_us"]["p95"])):
            live, value = [number(run) for run in runs], number(simulated)
            within = abs(mean(live) - value) <= NEAR_PERCENT / 100 * value
            rows.append([case.label, title, estimate(live), brief(value), distance(mean(live), value),
                         "yes" if within else "**no**", len(runs), *reality(runs)])
    head = ["scenario", "number", "live", "simulated", "distance", f"within {NEAR_PERCENT} %", "runs", "k", "frozen"]
    return ["## How near to the simulation", "Several live runs of each, under DCQCN:", filled(head, rows)]


def failures(bench, cases):
    """Checks that failed in live runs."""
    lines = [f"- {case.name} at k = {run['live_timing']['time_dilation_factor']:g}: {check['name']}: {check['detail']}"
             for case in cases for run in map(summary, bench.live(case)) for check in broken(run)]
    return ["## Checks that failed (?)", "\n".join(lines)] if lines else []


def write(bench, docs):
    """The page and its figures; where the page is."""
    cases = [case for part in plan.PARTS.values() for case in part(bench)]
    parts = [INTRODUCTION, machine(bench, cases), *verdicts(bench), *fig11(bench), *fig17(bench), *fig16(bench),
             *victim(bench), *near(bench), *failures(bench, cases)]
    (docs / FIGURES).mkdir(parents=True, exist_ok=True)
    draw(bench, docs)
    path = docs / "live-results.md"
    path.write_text("\n\n".join(part for part in parts if part) + "\n")
    return path
