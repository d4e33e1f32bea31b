//! An empirical distribution of flow sizes: a cumulative curve, linear in bytes between its rows.

use std::fmt;
use xoff_engine::rng::Rng;

/// The largest flow, 1 TB: its packets can still be counted in 32 bits.
pub const LARGEST_BYTES: u64 = 1_000_000_000_000;

/// A cumulative distribution over sizes. Two rows of equal size are an atom: a jump at that size.
#[derive(Clone, PartialEq, Debug)]
pub struct Cdf {
    rows: Vec<Row>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Row {
    size_bytes: f64,
    /// Probability of a size at most this.
    cumulative: f64,
}

/// What is wrong with a file, and on which of its lines (counted from 1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineError {
    pub line: usize,
    pub message: String,
}

impl LineError {
    pub fn new(line: usize, message: impl Into<String>) -> LineError {
        LineError { line, message: message.into() }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Cdf {
    /// Reads rows of a size in bytes and a cumulative probability, separated by a comma or by
    /// blanks. A first row of words is a header; `#` starts a comment. A curve that ends at 100
    /// instead of 1 is taken as percent.
    pub fn parse(text: &str) -> Result<Cdf, LineError> {
        let mut rows: Vec<Row> = Vec::new();
        let mut lines: Vec<usize> = Vec::new();
        let mut header_allowed = true;
        for (line, text) in text.lines().enumerate().map(|(index, text)| (index + 1, text)) {
            let text = text.split('#').next().unwrap_or_default().trim().trim_start_matches('\u{feff}');
            if text.is_empty() {
                continue;
            }
            let first = std::mem::take(&mut header_allowed);
            let fields: Vec<&str> = if text.contains(',') {
                text.split(',').map(str::trim).collect()
            } else {
                text.split_whitespace().collect()
            };
            if first && fields.iter().all(|field| field.parse::<f64>().is_err()) {
                continue;
            }
            let [size, cumulative] = fields[..] else {
                return Err(LineError::new(
                    line,
                    format!("expected two values, a size in bytes and a probability, found {}", fields.len()),
                ));
            };
            let row =
                Row { size_bytes: number(size, line, "size")?, cumulative: number(cumulative, line, "probability")? };
            if row.size_bytes > LARGEST_BYTES as f64 {
                return Err(LineError::new(line, format!("the size {size} is larger than 1 TB")));
            }
            if let Some(last) = rows.last() {
                if row.size_bytes < last.size_bytes {
                    return Err(LineError::new(
                        line,
                        format!("sizes must not decrease: {} comes after {}", row.size_bytes, last.size_bytes),
                    ));
                }
                if row.cumulative < last.cumulative {
                    return Err(LineError::new(
                        line,
                        format!("probabilities must not decrease: {} comes after {}", row.cumulative, last.cumulative),
                    ));
                }
            }
            rows.push(row);
            lines.push(line);
        }
        let (Some(first), Some(last)) = (rows.first().copied(), rows.last().copied()) else {
            return Err(LineError::new(1, "the distribution has no rows"));
        };
        if first.cumulative != 0.0 {
            let message = format!(
                "the first probability must be 0, not {}; put a row with the smallest size and probability 0 before it",
                first.cumulative
            );
            return Err(LineError::new(lines[0], message));
        }
        if last.cumulative == 100.0 {
            for row in &mut rows {
                row.cumulative /= 100.0;
            }
        } else if last.cumulative != 1.0 {
            let message = format!("the last probability must be 1 (or 100 for percent), not {}", last.cumulative);
            return Err(LineError::new(lines[lines.len() - 1], message));
        }
        if last.size_bytes < 1.0 {
            return Err(LineError::new(lines[lines.len() - 1], "the largest size is below one byte"));
        }
        Ok(Cdf { rows })
    }

    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    pub fn largest_bytes(&self) -> f64 {
        self.rows[self.rows.len() - 1].size_bytes
    }

    /// The size at which the curve reaches `u`, for `u` in [0, 1]; the smallest size there is for 0.
    pub fn invert(&self, u: f64) -> f64 {
        let u = u.max(f64::MIN_POSITIVE);
        let above = self.rows.partition_point(|row| row.cumulative < u).clamp(1, self.rows.len() - 1);
        let (a, b) = (self.rows[above - 1], self.rows[above]);
        a.size_bytes + (u - a.cumulative) / (b.cumulative - a.cumulative) * (b.size_bytes - a.size_bytes)
    }

    /// To the nearest byte, at least one.
    pub fn sample(&self, rng: &mut Rng) -> u64 {
        (self.invert(rng.unit_open()).round() as u64).max(1)
    }

    /// The integral of the curve's sizes.
    pub fn mean_bytes(&self) -> f64 {
        self.segments().map(|(a, b, mass)| mass * (a + b) / 2.0).sum()
    }

    /// Mean number of packets of at most `mtu_bytes` in a flow.
    pub fn mean_packets(&self, mtu_bytes: f64) -> f64 {
        self.segments()
            .map(|(a, b, mass)| {
                let packets = if b > a {
                    (packets_up_to(b, mtu_bytes) - packets_up_to(a, mtu_bytes)) / (b - a)
                } else {
                    (a / mtu_bytes).ceil().max(1.0)
                };
                mass * packets
            })
            .sum()
    }

    /// Probability of a size at most `bytes`.
    pub fn at(&self, bytes: f64) -> f64 {
        self.segments().map(|(a, b, mass)| mass * part_below(a, b, bytes)).sum::<f64>().min(1.0)
    }

    /// What flows of at most `bytes` contribute to [`mean_bytes`](Cdf::mean_bytes).
    pub fn bytes_up_to(&self, bytes: f64) -> f64 {
        self.segments()
            .map(|(a, b, mass)| {
                let part = part_below(a, b, bytes);
                mass * part * (a + a + part * (b - a)) / 2.0
            })
            .sum()
    }

    /// The rows: a size in bytes and the probability of at most that.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.rows.iter().map(|row| (row.size_bytes, row.cumulative))
    }

    /// Stretches of the curve: from one size to another, and the probability between them.
    fn segments(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.rows
            .windows(2)
            .map(|pair| (pair[0].size_bytes, pair[1].size_bytes, pair[1].cumulative - pair[0].cumulative))
    }
}

/// The part of a stretch that lies at or below `bytes`: an atom, all or nothing.
fn part_below(from: f64, to: f64, bytes: f64) -> f64 {
    if bytes >= to {
        1.0
    } else if bytes <= from {
        0.0
    } else {
        (bytes - from) / (to - from)
    }
}

/// The integral from 0 to `bytes` of the packets that a flow of that many bytes takes.
pub fn packets_up_to(bytes: f64, mtu_bytes: f64) -> f64 {
    let full = (bytes / mtu_bytes).floor();
    mtu_bytes * full * (full + 1.0) / 2.0 + (full + 1.0) * (bytes - full * mtu_bytes)
}

fn number(text: &str, line: usize, what: &str) -> Result<f64, LineError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        Ok(_) => Err(LineError::new(line, format!("the {what} `{text}` is not a finite number of at least 0"))),
        Err(_) => {
            let shown: String = text.chars().take(30).collect();
            Err(LineError::new(line, format!("the {what} `{shown}` is not a number")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xoff_engine::rng::stream;

    fn message(text: &str) -> String {
        Cdf::parse(text).expect_err("should be refused").to_string()
    }

    #[test]
    fn reads_headers_comments_blanks_and_percent() {
        let plain = Cdf::parse("size_bytes,cumulative_probability\n0,0\n100,0.5\n200,1\n").unwrap();
        assert_eq!(plain, Cdf::parse("0 0\n100 50\n\n200 100 # the end\n").unwrap());
        assert_eq!(plain, Cdf::parse("0\t0\r\n100\t0.5\r\n200\t1\r\n").unwrap());
        assert_eq!(plain.mean_bytes(), 100.0);
    }

    #[test]
    fn refusals_name_the_line() {
        assert!(message("").starts_with("line 1: the distribution has no rows"));
        assert!(message("0,0\n10,0.5\n5,1\n").starts_with("line 3: sizes must not decrease"));
        assert!(message("0,0\n10,0.5\n20,0.4\n30,1").starts_with("line 3: probabilities must not decrease"));
        assert!(message("h,p\n10,0.1\n20,1").starts_with("line 2: the first probability must be 0"));
        assert!(message("0,0\n20,0.9").starts_with("line 2: the last probability must be 1"));
        assert!(message("0,0\nNaN,0.5\n20,1").starts_with("line 2: the size `NaN` is not a finite"));
        assert!(message("0,0\n20,oops\n20,1").starts_with("line 2: the probability `oops` is not a number"));
        assert!(message("0,0\n20,-1\n20,1").starts_with("line 2: the probability `-1`"));
        assert!(message("0,0\n20,0.5,7\n20,1").starts_with("line 2: expected two values"));
        assert!(message("0,0\n0,1").starts_with("line 2: the largest size is below one byte"));
        assert!(message("0,0\n1e16,1").contains("larger than 1 TB"));
    }

    #[test]
    fn sizes_begin_where_there_are_some() {
        let cdf = Cdf::parse("0 0\n300 0\n53000 1\n").unwrap();
        assert_eq!([cdf.invert(0.0), cdf.invert(1.0)], [300.0, 53_000.0]);
    }

    #[test]
    fn an_atom_takes_its_whole_mass() {
        let cdf = Cdf::parse("10,0\n10,0.25\n30,1").unwrap();
        assert_eq!(cdf.invert(0.1), 10.0);
        assert_eq!(cdf.invert(0.25), 10.0);
        assert_eq!(cdf.invert(1.0), 30.0);
        let mut rng = stream(1, "atom", 0);
        let atoms = (0..100_000).filter(|_| cdf.sample(&mut rng) == 10).count();
        // The quarter at the atom, and the sizes that round to 10 from above: 0.75 / 20 / 2.
        assert!((atoms as f64 / 1e5 - 0.26875).abs() < 0.005, "{atoms}");
    }

    #[test]
    fn parts_of_flows_and_bytes() {
        // A quarter at 10 B, the others evenly from 10 to 30 B: 2.5 + 15 B on average.
        let cdf = Cdf::parse("10,0\n10,0.25\n30,1").unwrap();
        assert_eq!([9.0, 10.0, 20.0, 30.0, 99.0].map(|bytes| cdf.at(bytes)), [0.0, 0.25, 0.625, 1.0, 1.0]);
        assert_eq!([9.0, 10.0, 20.0].map(|bytes| cdf.bytes_up_to(bytes)), [0.0, 2.5, 2.5 + 0.375 * 15.0]);
        assert_eq!(cdf.bytes_up_to(30.0), cdf.mean_bytes());
        assert_eq!(cdf.points().count(), 3);
    }

    #[test]
    fn packets_of_a_uniform_stretch() {
        // Sizes 1..=2000 with a 1000-byte packet: half take one, half take two.
        let cdf = Cdf::parse("0,0\n2000,1").unwrap();
        assert_eq!(cdf.mean_packets(1000.0), 1.5);
        assert_eq!(Cdf::parse("1500,0\n1500,1").unwrap().mean_packets(1000.0), 2.0);
    }

    proptest! {
        #[test]
        fn inversion_never_decreases(steps in proptest::collection::vec((0u32..1000, 0u32..1000), 1..20), u in 0.0..1.0f64, v in 0.0..1.0f64) {
            let total: u32 = steps.iter().map(|step| step.1).sum::<u32>() + 1;
            let (mut size, mut mass, mut text) = (0, 0, String::from("0,0\n"));
            for (bytes, weight) in steps {
                size += bytes;
                mass += weight;
                text += &format!("{size},{}\n", f64::from(mass) / f64::from(total));
            }
            text += &format!("{},1\n", size + 1);
            let cdf = Cdf::parse(&text).unwrap();
            let (low, high) = (1.0 - u.max(v), 1.0 - u.min(v));
            prop_assert!(cdf.invert(low) <= cdf.invert(high) + 1e-9);
            prop_assert!(cdf.invert(low) >= 0.0 && cdf.invert(high) <= cdf.largest_bytes());
        }

        #[test]
        fn no_text_panics(text in "[0-9a-z., \n#%+-]{0,80}") {
            let _ = Cdf::parse(&text);
        }
    }
}
