//! What no run may exceed.

use std::path::Path;
use xoff_scenario::{Options, Scenario};

const TWO_TO_ONE: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
[scheme]
name = "none"
[[traffic]]
kind = "long-lived"
sources = "h[0..1]"
destinations = "h2"
"#;

#[test]
fn no_flow_beats_its_ideal_and_no_link_its_rate() {
    // The link grows tenfold before the flow starts; the run ends amid a packet.
    let sets = [
        "topology.rate=10Gbps",
        "fault=[{ kind = \"rate\", at = \"1us\", link = \"*->*\", rate = \"100Gbps\" }]",
        "traffic=[{ kind = \"burst\", sources = \"h0\", destinations = \"h2\", size = \"1MB\", start = \"2us\" }]",
    ];
    xoff_schemes::install_all();
    let run = |sets: &[&str]| {
        let options = Options { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Options::default() };
        let loaded = Scenario::from_text("test.toml", TWO_TO_ONE, Path::new(".")).load(&options).unwrap();
        xoff_results::execute::execute(&loaded, None, |_| ()).unwrap().summary
    };
    let slowdown = run(&sets).flows.slowdown.p50.unwrap();
    assert!((1.0..1.5).contains(&slowdown), "{slowdown}");
    for ns in 1_000_000..1_000_020 {
        let busiest = &run(&[&format!("run.stop={ns}ns"), "topology.delay=0ps", "topology.rate=1Gbps"]).busiest_links;
        assert!(busiest.iter().all(|link| link.utilisation <= 1.0), "{ns} ns: {}", busiest[0].utilisation);
        assert!(busiest[0].utilisation > 0.99, "{}", busiest[0].utilisation);
    }
}
