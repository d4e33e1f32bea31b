//! A made-up paper with one experiment of eight short runs.

use super::Bench;

pub const SCENARIO: &str = r#"name = "tiny"
[run]
stop = "400us"
[topology]
kind = "dumbbell"
left = 3
right = 3
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "poisson"
name = "mice"
sizes = "hadoop"
load = 0.4
[[probe]]
what = "queue"
ports = "s0->s1"
every = "10us"
[output]
figures = false
"#;

pub const EXPERIMENT: &str = r#"title = "Completion times of a made-up paper"
where = "Fig. 1"
setting = "simulation"
shows = "Completion times grow with the load."
cost = { quick = 1, standard = 2, full = 3 }
[scaled]
quick = "fewer loads"

[[runs]]
scenario = "scenarios/tiny.toml"
seeds = { quick = 2, standard = 3, full = 4 }

[[runs.axis]]
name = "scheme"
values = [{ name = "PFC", scheme = "none" }, { name = "DCQCN", scheme = "dcqcn:nic" }]

[[runs.axis]]
name = "load"
key = "traffic.0.load"
values = [0.2, 0.4, 0.6]
quick = [0.2, 0.6]

[[measure]]
name = "fct"
metric = "fct"
stat = ["mean", "p99"]
unit = "us"

[[measure]]
name = "queue"
metric = "curve"
series = "queue"
of = "s0->s1"
unit = "KB"

[[figure]]
name = "a"
title = "Mean completion time"
kind = "lines"
x = { title = "load" }
y = { title = "mean FCT", unit = "us" }
[[figure.series]]
measure = "fct.mean"
over = "load"
by = "scheme"
"#;

pub const CLAIMS: &str = r#"[[claim]]
id = "toy-c1"
experiment = "toy-fig1"
says = "a higher load takes longer"
value = "ratio(m('fct.mean', scheme='PFC', load=0.6), m('fct.mean', scheme='PFC', load=0.2))"
direction = "m('fct.mean', scheme='PFC', load=0.6) > m('fct.mean', scheme='PFC', load=0.2)"
paper = 1000
unit = "x"
range = [900, 1100]
tolerance = "a tenth either way"
diagnosis = "the paper is made up"

[[claim]]
id = "toy-c2"
experiment = "toy-fig1"
says = "it continues to grow"
direction = "non_decreasing(all('fct.mean', scheme='PFC', load=[0.2, 0.4, 0.6]), slack=0.2)"

[[claim]]
id = "toy-c3"
experiment = "toy-fig1"
says = "times are positive"
direction = "every(less(0, all('fct.p99')))"
"#;

pub fn toy() -> Bench {
    let bench = Bench::new();
    for folder in ["experiments/toy/scenarios", "claims", "deviations"] {
        std::fs::create_dir_all(bench.path.join(folder)).unwrap();
    }
    bench.write(
        "experiments/toy/paper.toml",
        "title = \"A toy\"\nauthors = \"A. Author\"\nvenue = \"Nowhere\"\nyear = 2020\nwhat = \"Says little.\"\n",
    );
    bench.write("experiments/toy/scenarios/tiny.toml", SCENARIO);
    bench.write("experiments/toy/fig1.toml", EXPERIMENT);
    bench.write("claims/toy.toml", CLAIMS);
    bench
}
