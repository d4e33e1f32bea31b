"""What the study runs. The other schemes are read as in experiments/pcn/interpretations.toml and experiments/mlcc."""
from dataclasses import dataclass

SCENARIOS = ["pcn-testbed", "pcn-flows", "mlcc-testbed", "victim", "uncongested", "incast"]
FLOWS = [4, 8, 16, 32, 64]
SEEDS = [1, 2, 3]
REPEATS = 5


@dataclass(frozen=True)
class Case:
    """Some live runs of one scenario, scheme and seed, and their simulation."""

    name: str
    scenario: str
    # As the page calls it.
    label: str
    # NAME[:PRESET]; none: the scenario's own.
    scheme: str | None = None
    sets: tuple = ()
    seed: int = 1
    repeats: int = 1


QCN = {"sampling": "every", "qeq": "33KB"}
DCQCN = {"poll_from": "first-packet"}
TIMELY = {"d_min_from": "fixed", "d_min": "30us"}
# Label, scheme, parameters. PCN is that of the scenario.
TESTBED_SCHEMES = [
    ("PCN", None, {}),
    ("QCN", "qcn:open-sim", QCN),
    ("DCQCN", "dcqcn:paper-sim", DCQCN),
    ("TIMELY", "timely:snippet", TIMELY),
]


def scheme_sets(parameters):
    return tuple(f"scheme.{key}={value}" for key, value in parameters.items())


def fig11(_):
    """PCN's testbed, and with the paper's round trip to the letter."""
    cases = [Case(f"fig11-{label.lower()}", "pcn-testbed", label, scheme, scheme_sets(parameters))
             for label, scheme, parameters in TESTBED_SCHEMES]
    literal = ("topology.delay=125us", "scheme.w_min=0.025")
    return [*cases, Case("fig11-pcn-500us", "pcn-testbed", "PCN, 500 us of propagation", "pcn:testbed", literal)]


def fig17_case(flows, label, scheme, parameters):
    own = {"w_min": 0.1 / flows} if label == "PCN" else parameters
    split = (f"traffic.0.flows_per_pair={flows // 4}", f"traffic.1.flows_per_pair={flows // 2}")
    return Case(f"fig17-{label.lower()}-{flows}", "pcn-flows", label, scheme, split + scheme_sets(own))


def fig17(_):
    """What was on the paper's testbed."""
    return [fig17_case(flows, *TESTBED_SCHEMES[0]) for flows in FLOWS]


def fig17_others(_):
    """What was only simulated there."""
    return [fig17_case(flows, *scheme) for flows in FLOWS for scheme in TESTBED_SCHEMES[1:]]


def fig16(_):
    schemes = [("MLCC", None), ("DCQCN", "dcqcn:nic")]
    return [Case(f"fig16-{label.lower()}-{seed}", "mlcc-testbed", label, scheme, seed=seed)
            for seed in SEEDS for label, scheme in schemes]


def victim(bench):
    return [Case(f"victim-{name}", "victim", name, scheme) for name, scheme in bench.schemes()]


def near(_):
    return [Case(f"near-{name}", name, name, repeats=REPEATS) for name in ("uncongested", "incast", "victim")]


PARTS = {"fig11": fig11, "fig17": fig17, "fig17-others": fig17_others, "fig16": fig16, "victim": victim, "near": near}
# What the page is complete without.
EXTRA = ["fig17-others"]
