//! How near a run must be, by whose simulator it is and what its folder is called.

use xoff_scenario::import::hpcc::dialect::Dialect;

/// What is promised of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promised {
    /// The bounds of `compare`.
    Near,
    /// Every flow takes the same time to the nanosecond, and every PFC frame arrives at the same one.
    Equal,
    /// Nothing but that all flows finish: their code reads memory that nothing has written.
    Nothing,
}

/// A run whose first acknowledgement of a PowerTCP flow was defined.
const DEFINED: &str = "_first";

impl Promised {
    /// `follows_draws`: all that is random comes from one sequence, which is repeated number by number.
    pub fn of(name: &str, dialect: Dialect, follows_draws: bool) -> Promised {
        match dialect {
            Dialect::Hpcc if follows_draws => Promised::Equal,
            Dialect::Hpcc => Promised::Near,
            Dialect::Inet(Some(_)) if !name.ends_with(DEFINED) => Promised::Nothing,
            Dialect::Inet(_) | Dialect::ConWeave => Promised::Equal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_scenario::import::hpcc::flags::Power;

    #[test]
    fn what_is_undefined_is_not_promised() {
        let power = Dialect::Inet(Some(Power::Telemetry));
        assert_eq!(Promised::of("dumbbell", Dialect::Hpcc, false), Promised::Near);
        assert_eq!(Promised::of("pint_dumbbell", Dialect::Hpcc, true), Promised::Equal);
        assert_eq!(Promised::of("inet_incast_dcqcn", Dialect::Inet(None), false), Promised::Equal);
        assert_eq!(Promised::of("inet_incast_powertcp_first", power, false), Promised::Equal);
        assert_eq!(Promised::of("inet_incast_powertcp", power, false), Promised::Nothing);
    }
}
