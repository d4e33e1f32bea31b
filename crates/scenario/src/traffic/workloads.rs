//! The flow-size distributions that ship with the program, by name.
//!
//! Their sources and statistics stand in `workloads/README.md`.

use super::cdf::Cdf;

/// One distribution that a scenario may name: `sizes = "websearch"`.
#[derive(Debug)]
pub struct Workload {
    /// What scenarios call it.
    pub name: &'static str,
    /// Whose traffic it is, in a few words.
    pub title: &'static str,
    text: &'static str,
}

macro_rules! workload {
    ($name:literal, $title:literal) => {
        Workload {
            name: $name,
            title: $title,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/", $name, ".csv")),
        }
    };
}

/// The usual ones first, then variants of the same traffic for sensitivity.
pub static WORKLOADS: &[Workload] = &[
    workload!("websearch", "web search (DCTCP), as HPCC uses it"),
    workload!("hadoop", "Facebook Hadoop, as HPCC uses it"),
    workload!("webserver", "Facebook web servers, all traffic"),
    workload!("cachefollower", "Facebook cache followers, all traffic"),
    workload!("alistorage", "Alibaba storage, 2019"),
    workload!("google-rpc", "Google remote procedure calls, before 2008"),
    workload!("enterprise", "enterprise traffic, as used with CONGA"),
    workload!("datamining", "data mining (VL2), in whole packets"),
    workload!("pcn-w1", "web servers, built from the size table of the PCN paper"),
    workload!("pcn-w2", "Hadoop, built from the size table of the PCN paper"),
    workload!("websearch-min2k", "web search without flows below 2 KB"),
    workload!("hadoop-homa", "Facebook Hadoop, a finer reading of the curve"),
    workload!("hadoop-all", "Facebook Hadoop with its tail to 96 MB"),
    workload!("hadoop-interrack", "Facebook Hadoop, flows between racks"),
    workload!("webserver-homa", "Facebook web servers, inside a cluster"),
    workload!("webserver-xpass", "Facebook web servers, coarse table of ExpressPass"),
    workload!("cachefollower-homa", "Facebook cache followers, inside a cluster"),
    workload!("cachefollower-xpass", "Facebook cache followers, coarse table of ExpressPass"),
    workload!("datamining-fine", "data mining (VL2), also below one packet"),
];

/// The workload of exactly this name.
pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// All names, the usual ones first.
pub fn names() -> impl Iterator<Item = &'static str> {
    WORKLOADS.iter().map(|workload| workload.name)
}

impl Workload {
    /// Parsed again at every call.
    pub fn cdf(&self) -> Cdf {
        Cdf::parse(self.text).expect("shipped distributions are checked by a test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::rng::stream;

    /// Name, rows, mean and largest size in bytes: the table of `workloads/README.md`.
    const FIGURES: [(&str, usize, u64, u64); 19] = [
        ("websearch", 12, 1_711_250, 30_000_000),
        ("hadoop", 20, 120_421, 10_000_000),
        ("webserver", 35, 91_343, 19_791_390),
        ("cachefollower", 40, 609_883, 28_388_498),
        ("alistorage", 9, 40_870, 2_000_000),
        ("google-rpc", 843, 2_892, 15_158_197),
        ("enterprise", 132, 157_357, 1_773_379_248),
        ("datamining", 9, 7_470_236, 973_333_820),
        ("pcn-w1", 33, 62_600, 2_000_000),
        ("pcn-w2", 49, 560_000, 100_000_000),
        ("websearch-min2k", 15, 1_711_223, 30_000_000),
        ("hadoop-homa", 47, 134_854, 10_000_000),
        ("hadoop-all", 34, 568_755, 96_047_070),
        ("hadoop-interrack", 17, 3_423_728, 223_092_956),
        ("webserver-homa", 45, 62_480, 1_000_000),
        ("webserver-xpass", 13, 66_121, 500_000),
        ("cachefollower-homa", 67, 687_657, 3_837_698),
        ("cachefollower-xpass", 23, 712_574, 3_000_000),
        ("datamining-fine", 17, 5_036_535, 1_000_000_000),
    ];

    #[test]
    fn statistics_are_those_of_the_table() {
        assert_eq!(WORKLOADS.len(), FIGURES.len());
        let readme = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/README.md"));
        for (name, rows, mean, largest) in FIGURES {
            let cdf = find(name).unwrap_or_else(|| panic!("{name} is missing")).cdf();
            assert_eq!((cdf.rows(), cdf.largest_bytes() as u64), (rows, largest), "{name}");
            assert_eq!(cdf.mean_bytes().round() as u64, mean, "{name}: mean {}", cdf.mean_bytes());
            let row =
                readme.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("a row of the table");
            let figures: Vec<String> = row.split('|').map(|cell| cell.trim().replace(',', "")).collect();
            assert_eq!(figures[2..5], [rows.to_string(), mean.to_string(), largest.to_string()], "{name}");
        }
    }

    #[test]
    fn samples_have_the_mean_of_the_curve() {
        for name in ["websearch", "hadoop", "alistorage", "pcn-w1"] {
            let cdf = find(name).unwrap().cdf();
            let mut rng = stream(9, "workload", 0);
            let n = 400_000;
            let mean = (0..n).map(|_| cdf.sample(&mut rng) as f64).sum::<f64>() / f64::from(n);
            assert!((mean / cdf.mean_bytes() - 1.0).abs() < 0.02, "{name}: {mean}");
        }
    }
}
