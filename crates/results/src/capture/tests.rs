//! What is read and what is refused. The bytes are held by `tests/capture.rs`, with tshark and scapy.

use std::path::Path;
use xoff_engine::Time;
use xoff_scenario::load::{Options, Scenario};

fn load(captures: &str) -> Result<Vec<super::Request>, String> {
    xoff_schemes::install_all();
    let text = format!(
        "[run]\nstop=\"1ms\"\n[topology]\nkind=\"star\"\nhosts=3\nrate=\"100Gbps\"\n{captures}\n\
         [[traffic]]\nkind=\"permutation\"\nsize=\"1KB\"\n"
    );
    match Scenario::from_text("t", text, Path::new(".")).load(&Options::default()) {
        Ok(loaded) => Ok(loaded.captures),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect()),
    }
}

#[test]
fn what_is_left_out_has_a_default() {
    let requests = load("[[capture]]\nports=\"sw->h0\"\n[[capture]]\nports=\"sw->h*\"\ndirections=\"both\"").unwrap();
    let [one, two] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((one.name.as_str(), two.name.as_str()), ("capture-0", "capture-1"));
    assert_eq!((one.capture.ports.len(), two.capture.ports.len()), (1, 6));
    assert_eq!((one.capture.from, one.capture.until), (Time::ZERO, Time::NEVER));
    assert_eq!((one.capture.frames, one.snap_bytes), (1_000_000, None));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (captures, why) in [
        ("[[capture]]", "ports"),
        ("[[capture]]\nports=\"sw->h9\"", "h9"),
        ("[[capture]]\nports=\"sw->h0\"\nname=\"../x\"", "cannot be a name"),
        ("[[capture]]\nports=\"sw->h0\"\nname=\".x\"", "start with a dot"),
        ("[[capture]]\nports=\"sw->h0\"\nname=\"a\"\n[[capture]]\nports=\"sw->h0\"\nname=\"A\"", "two captures"),
        ("[[capture]]\nports=\"sw->h0\"\nfrom=\"2us\"\nuntil=\"1us\"", "is not after `from`"),
        ("[[capture]]\nports=\"sw->h0\"\nframes=0", "frames"),
        ("[[capture]]\nports=\"sw->h0\"\nsnap=\"1B\"", "snap"),
        ("[[capture]]\nports=\"sw->h0\"\ndirections=\"in\"", "directions"),
        ("[[capture]]\nports=\"sw->h0\"\nevery=\"1us\"", "every"),
    ] {
        let error = load(captures).expect_err(captures);
        assert!(error.contains(why), "{captures}: {error}");
    }
}
