//! PFC alone: flows send at line rate, whatever happens. The baseline of every comparison.

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use xoff_fabric::scheme::Uncontrolled;

impl Configured for Uncontrolled {
    const SPEC: SchemeSpec = SchemeSpec::new("none", "PFC alone, no end-to-end control", "IEEE 802.1Qbb", &[], &[]);

    fn configure(_: &ParamValues) -> Uncontrolled {
        Uncontrolled
    }
}
