//! PFC alone: flows send at line rate, whatever happens. The baseline of every comparison.

use crate::Configured;
use crate::param::{FlowForm, ParamValues, SchemeSpec};
use xoff_fabric::scheme::Uncontrolled;

impl Configured for Uncontrolled {
    const SPEC: SchemeSpec = SchemeSpec::new("none", "PFC alone, no end-to-end control", "IEEE 802.1Qbb", &[], &[])
        .at_flow_level(FlowForm::Uncontrolled);

    fn configure(_: &ParamValues) -> Uncontrolled {
        Uncontrolled
    }
}
