//! A flow-size distribution as the papers describe theirs: shares of flows and of bytes by size.

use crate::{Kind, ModelSpec, Parameter, Values, Yield, curve, number};
use xoff_scenario::traffic::workloads;

pub const SPEC: ModelSpec = ModelSpec {
    name: "workload",
    title: "a built-in flow-size distribution, and what of it lies where",
    what: "The curve as shipped, linear in bytes between its rows; shares of flows and bytes integrate it exactly. \
           A size that is an edge counts to the lower side.",
    source: "workloads/README.md says where each curve comes from",
    parameters: &[
        Parameter::new("sizes", Kind::Name, "websearch", "name of a built-in distribution", "a choice"),
        Parameter::new("at", Kind::Sizes, "", "sizes at which to read the curve", "a choice"),
        Parameter::new("bins", Kind::Sizes, "", "edges between bins, in increasing order", "a choice"),
        Parameter::new("names", Kind::Names, "", "what the bins are called: one more than edges", "a choice"),
    ],
    outputs: &[
        curve("cdf", "1", "part of the flows up to a size in bytes"),
        curve("bytes_cdf", "1", "part of the bytes in flows up to a size in bytes"),
        number("mean_bytes", "B", "mean size"),
        number("largest_bytes", "B", "largest size"),
        number("cdf_at_SIZE", "%", "flows of at most this size, for each size of `at` as written"),
        number("over_SIZE", "%", "flows above this size"),
        number("flows_BIN", "%", "flows in a bin, by its name"),
        number("bytes_BIN", "%", "bytes in flows of a bin"),
    ],
    run,
};

fn run(values: &Values) -> Result<Yield, String> {
    let name = values.text("sizes");
    let Some(workload) = workloads::find(name) else {
        let known: Vec<&str> = workloads::names().collect();
        return Err(format!("`sizes`: there is no distribution `{name}`; known are {}", known.join(", ")));
    };
    let cdf = workload.cdf();
    let mean = cdf.mean_bytes();
    let mut found = Yield::default();
    found.curve("cdf", cdf.points());
    // Quadratic between the rows, so it needs points of its own: 40 for each decade.
    let decades = libm::log10(cdf.largest_bytes()) * 40.0;
    let sizes = (0..=decades.ceil() as u32).map(|i| libm::pow(10.0, f64::from(i) / 40.0).min(cdf.largest_bytes()));
    found.curve("bytes_cdf", sizes.map(|size| (size, cdf.bytes_up_to(size) / mean)));
    found.number("mean_bytes", mean);
    found.number("largest_bytes", cdf.largest_bytes());
    for (written, bytes) in values.sizes("at") {
        let part = 100.0 * cdf.at(*bytes as f64);
        found.number(format!("cdf_at_{written}"), part);
        found.number(format!("over_{written}"), 100.0 - part);
    }
    let (bins, names) = (values.sizes("bins"), values.names("names"));
    if !bins.is_sorted_by(|a, b| a.1 < b.1) {
        return Err("`bins` must increase".into());
    }
    if names.len() != bins.len() + usize::from(!bins.is_empty()) {
        return Err(format!("`names` must name {} bins, not {}", bins.len() + 1, names.len()));
    }
    let mut below = (0.0, 0.0);
    for (bin, name) in names.iter().enumerate() {
        let up_to = bins.get(bin).map_or(f64::INFINITY, |edge| edge.1 as f64);
        let here = (cdf.at(up_to), cdf.bytes_up_to(up_to) / mean);
        found.number(format!("flows_{name}"), 100.0 * (here.0 - below.0));
        found.number(format!("bytes_{name}"), 100.0 * (here.1 - below.1));
        below = here;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::tests::run_with;

    /// The table of `workloads/README.md`: shares of flows and of bytes in percent.
    #[test]
    fn shares_are_those_of_the_table() {
        for (sizes, flows, bytes) in [
            ("websearch", [15.00, 39.17, 15.83, 30.00], [0.04, 0.98, 4.02, 94.96]),
            ("hadoop", [70.26, 18.24, 9.00, 2.50], [0.48, 7.43, 23.58, 68.51]),
            ("webserver", [80.16, 11.95, 7.15, 0.73], [1.43, 4.68, 22.44, 71.45]),
            ("cachefollower", [45.86, 13.87, 18.50, 21.77], [0.09, 0.98, 8.74, 90.19]),
            ("alistorage", [72.06, 23.29, 3.23, 1.42], [8.54, 15.76, 23.72, 51.98]),
            ("google-rpc", [97.17, 2.42, 0.38, 0.03], [19.94, 22.09, 32.28, 25.69]),
            ("enterprise", [84.70, 10.96, 2.94, 1.40], [0.90, 2.17, 5.71, 91.22]),
            ("datamining", [79.62, 2.74, 8.77, 8.86], [0.03, 0.02, 0.36, 99.60]),
            ("pcn-w1", [80.15, 10.32, 9.12, 0.41], [3.09, 5.90, 83.96, 7.05]),
            ("pcn-w2", [70.79, 16.59, 3.52, 9.10], [0.22, 1.56, 1.53, 96.69]),
            ("hadoop-all", [70.51, 17.85, 8.52, 3.12], [0.10, 1.65, 3.82, 94.43]),
            ("webserver-homa", [65.19, 16.29, 18.52, 0.00], [2.23, 8.58, 89.19, 0.00]),
        ] {
            let text = format!("sizes = '{sizes}'\nbins = ['10KB', '100KB', '1MB']\nnames = ['S', 'M', 'L', 'XL']");
            let found = run_with("workload", &text).unwrap().numbers;
            for (i, bin) in ["S", "M", "L", "XL"].into_iter().enumerate() {
                let (flow, byte) = (found[&format!("flows_{bin}")], found[&format!("bytes_{bin}")]);
                assert!((flow - flows[i]).abs() < 0.0101, "{sizes} {bin}: {flow} % of flows, not {}", flows[i]);
                assert!((byte - bytes[i]).abs() < 0.0101, "{sizes} {bin}: {byte} % of bytes, not {}", bytes[i]);
            }
        }
    }

    #[test]
    fn sizes_are_read_off_the_curve() {
        let found = |sizes: &str| {
            run_with("workload", &format!("sizes = '{sizes}'\nat = ['1KB', '10KB', '100KB']")).unwrap().numbers
        };
        assert!((found("hadoop")["cdf_at_1KB"] - 60.0).abs() < 0.05);
        assert!((found("webserver")["cdf_at_10KB"] - 80.16).abs() < 0.01);
        for (sizes, over) in [("websearch", 45.8), ("cachefollower", 40.3), ("hadoop", 11.5), ("webserver", 7.9)] {
            assert!((found(sizes)["over_100KB"] - over).abs() < 0.05, "{sizes}: {}", found(sizes)["over_100KB"]);
        }
    }
}
