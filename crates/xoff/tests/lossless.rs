//! Lossless means lossless: set-ups in which something else once took the room of a lossless class.

use std::path::Path;
use xoff_run::drive::build;
use xoff_scenario::{Options, Scenario};

/// Runs to the end; a drop in a lossless class would be a failure.
fn must_hold(text: &str) {
    xoff_schemes::install_all();
    let scenario = Scenario::from_text("test.toml", text, Path::new("."));
    let loaded = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut world = build(&loaded);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    assert!(world.counters.pause_frames > 0, "the set-up must need PFC");
}

#[test]
fn lossy_traffic_takes_nothing_that_was_promised() {
    // Lossless hogs fill the shared pool while lossy bulk comes in; late ingresses still have their
    // reserve and their headroom.
    for (alpha, priority) in [(4.0, 1), (0.125, 1), (1.0, 3)] {
        must_hold(&format!(
            "[run]\nstop = \"5ms\"\n[topology]\nkind = \"star\"\nhosts = 8\nrate = \"40Gbps\"\ndelay = \"100ns\"\n\
             [[class]]\nname = \"data\"\npriority = 2\n[[class]]\nname = \"bulk\"\npriority = {priority}\nlossless = false\n\
             [[class]]\nname = \"control\"\npriority = 6\nlossless = false\ncontrol = true\n\
             [switch]\nbuffer = \"1MB\"\n[switch.pfc]\nalpha = {alpha:?}\n[scheme]\nname = \"none\"\n\
             [[traffic]]\nkind = \"burst\"\nname = \"hog\"\nclass = \"data\"\nsources = \"h[1..3]\"\ndestinations = \"h0\"\nsize = \"1MB\"\n\
             [[traffic]]\nkind = \"burst\"\nname = \"bulk\"\nclass = \"bulk\"\nsources = \"h[4..6]\"\ndestinations = \"h0\"\nsize = \"2MB\"\n\
             [[traffic]]\nkind = \"burst\"\nname = \"late\"\nclass = \"data\"\nsources = \"h[4..7]\"\ndestinations = \"h0\"\n\
             size = \"500KB\"\nstart = \"100us\"\n"
        ));
    }
}

#[test]
fn a_timed_pause_is_told_again_when_the_queue_rises_again() {
    // Not refreshed between XON and XOFF, a pause may run out; the next rise must not wait for a tick.
    must_hold(
        "[run]\nstop = \"3ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n\
         host_rate = \"100Gbps\"\nhost_delay = \"100ns\"\nfabric_rate = \"10Gbps\"\n\
         [switch]\nbuffer = \"4MB\"\n[switch.pfc]\nthreshold = \"dynamic\"\nalpha = 0.01\nsignalling = \"timed\"\n\
         refresh_on_arrival = false\n[host]\nmtu = \"1KB\"\n[scheme]\nname = \"none\"\n\
         [[traffic]]\nkind = \"burst\"\nsources = \"h[1..11]\"\ndestinations = \"h0\"\nsize = \"300KB\"\n",
    );
}

#[test]
fn headroom_stands_a_pause_that_leaves_by_a_slowed_wire() {
    must_hold(
        "[run]\nstop = \"3ms\"\n[topology]\nkind = \"fat-tree\"\nk = 4\nhost_rate = \"40Gbps\"\nhost_delay = \"0s\"\n\
         [switch]\nbuffer = \"2MB\"\n[switch.pfc]\nthreshold = \"dynamic\"\nalpha = 0.01\n[host]\nmtu = \"1KB\"\n\
         [scheme]\nname = \"none\"\n\
         [[traffic]]\nkind = \"burst\"\nsources = \"h[1..15]\"\ndestinations = \"h0\"\nsize = \"200KB\"\n\
         [[traffic]]\nkind = \"burst\"\nsources = \"h[0..1]\"\ndestinations = \"h[8..9]\"\nsize = \"200KB\"\n\
         [[fault]]\nkind = \"rate\"\nlink = \"edge0->agg0\"\nrate = \"1Gbps\"\nat = \"20us\"\nuntil = \"600us\"\n",
    );
}
