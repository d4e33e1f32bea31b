//! How long a device takes to obey a PAUSE.

use xoff_engine::{BitRate, Span};

/// From the last bit of a PAUSE at a port until the port begins no new frame of that class. A RESUME takes as long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PfcResponse {
    /// This long at every speed.
    After(Span),
    /// What IEEE 802.3 allows at the port's speed: [`ieee_response`].
    Ieee,
}

impl Default for PfcResponse {
    fn default() -> Self {
        PfcResponse::After(Span::ZERO)
    }
}

impl PfcResponse {
    /// At a port that sends at `rate`.
    pub fn at(self, rate: BitRate) -> Span {
        match self {
            PfcResponse::After(span) => span,
            PfcResponse::Ieee => ieee_response(rate),
        }
    }
}

/// Length of one pause quantum (512 bit times) times `quanta`.
pub fn quanta(rate: BitRate, quanta: u16) -> Span {
    Span::from_ps((u128::from(quanta) * 512 * 1_000_000_000_000).div_ceil(u128::from(rate.bps())) as u64)
}

/// Speed in Gb/s and the longest response in quanta of 512 bit times. IEEE 802.3 clause 31B.3.7 as quoted by SONiC's
/// buffer calculation; 800 Gb/s is an assumption, as many nanoseconds as at 400 Gb/s, which public tables of 800 Gb/s
/// switches confirm.
const IEEE_QUANTA: [(u64, u16); 8] =
    [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905), (800, 1810)];

/// The longest response that IEEE 802.3 allows at a speed. Between two speeds of the table it is that of the higher,
/// above the highest that of the highest.
pub fn ieee_response(rate: BitRate) -> Span {
    let known = IEEE_QUANTA.iter().find(|(gbps, _)| rate <= BitRate::from_gbps(*gbps));
    let &(gbps, quanta) = known.unwrap_or(&IEEE_QUANTA[IEEE_QUANTA.len() - 1]);
    self::quanta(BitRate::from_gbps(gbps), quanta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ieee_allows() {
        let ns = |gbps: u64| ieee_response(BitRate::from_gbps(gbps)).ps() as f64 / 1e3;
        let table = [(10, 3430.4), (25, 1638.4), (40, 1510.4), (50, 1505.28), (100, 2017.28), (200, 1159.68)];
        for (gbps, expected) in table.into_iter().chain([(400, 1158.4), (800, 1158.4)]) {
            assert_eq!(ns(gbps), expected, "{gbps} Gb/s");
        }
        assert_eq!((ns(1), ns(56), ns(1600)), (3430.4, 2017.28, 1158.4));
        assert_eq!(PfcResponse::default().at(BitRate::from_gbps(100)), Span::ZERO);
    }

    #[test]
    fn quanta_of_pfc_2() {
        for (gbps, ps) in [(10, 51_200), (25, 20_480), (40, 12_800), (100, 5_120), (400, 1_280)] {
            assert_eq!(quanta(BitRate::from_gbps(gbps), 1).ps(), ps);
        }
        // Longest pause at 40G: 0.839 ms.
        assert_eq!(quanta(BitRate::from_gbps(40), 65_535).ps(), 838_848_000);
        assert_eq!(quanta(BitRate::from_gbps(40), 1000), Span::from_ps(12_800_000));
    }
}
