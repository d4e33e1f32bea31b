use super::*;
use crate::reproduce::report_data::{
    Answer, Choice, Deviation, ExperimentPage, Paper, PaperPage, Point, ReadingPage, Report, Seeds, TableShown,
};
use crate::reproduce::results::Estimate;
use xoff_results::page::Figure;

fn claim(id: &str, verdict: Verdict) -> ClaimResult {
    ClaimResult {
        id: id.into(),
        experiment: "pcn-fig2".into(),
        says: "PCN sends <fewer> PAUSE | frames than DCQCN, by about a half, whatever the load, and for any size"
            .into(),
        paper: "47 %".into(),
        ours: "53.4 ± 2.1 %".into(),
        values: vec![
            Estimate { mean: 53.4, half_width: Some(2.1), count: 5 },
            Estimate { mean: f64::INFINITY, half_width: None, count: 1 },
            Estimate { mean: f64::NAN, half_width: None, count: 1 },
        ],
        unit: "%".into(),
        verdict,
        direction: Some(Answer::True),
        in_range: Some(if verdict == Verdict::Undecided {
            Answer::Open
        } else {
            Answer::of(verdict == Verdict::Holds)
        }),
        seeds_needed: (verdict == Verdict::Undecided).then_some(64),
        range: Some((23.0, 85.5)),
        seeds: Some(Seeds { count: 5, direction: Some(4), in_range: Some(3) }),
        tolerance: "half to one and a half".into(),
        diagnosis: "the paper's buffer is unknown, and with \"half\" of it the frames are *twice* as many".into(),
        cannot_fail: String::new(),
        contradicted: String::new(),
        arithmetic: Vec::new(),
    }
}

/// One of each verdict, one that is not falsifiable, and one that the paper itself excludes.
fn claims() -> Vec<ClaimResult> {
    let mut all: Vec<ClaimResult> =
        Verdict::ALL.iter().enumerate().map(|(i, verdict)| claim(&format!("pcn-c00{i}"), *verdict)).collect();
    all.push(ClaimResult { cannot_fail: "it is our <input>".into(), ..claim("pcn-c006", Verdict::Holds) });
    all.push(ClaimResult {
        contradicted: "Nine <flows> share.".into(),
        arithmetic: vec!["40 / 9 < 6".into()],
        ..claim("pcn-c007", Verdict::DoesNotHold)
    });
    all
}

/// An open point, the chosen reading, and one under which nothing holds.
fn readings() -> (Vec<Point>, Vec<ReadingPage>) {
    let choice = |name: &str, reading: &str| Choice {
        name: name.into(),
        what: format!("what {name} is"),
        evidence: vec!["Sec. 3 says <so>.".into()],
        against: vec!["Fig. 5 does not.".into()],
        readings: vec![reading.into()],
        changes: Vec::new(),
    };
    let point = Point {
        name: "xon".into(),
        title: "XON".into(),
        paper: "Gives XOFF only.".into(),
        choices: vec![choice("near", "cited"), choice("half", "literal")],
    };
    let reading = |name: &str, main: bool, claims: Vec<ClaimResult>| ReadingPage {
        name: name.into(),
        title: format!("As {name}"),
        why: "Because.".into(),
        main,
        claims,
    };
    let none = claims().into_iter().map(|of| ClaimResult { verdict: Verdict::DoesNotHold, ..of }).collect();
    (vec![point], vec![reading("cited", true, claims()), reading("literal", false, none)])
}

fn report() -> Report {
    let experiment = ExperimentPage {
        id: "pcn-fig2".into(),
        title: "PFC with <existing> congestion control".into(),
        place: "Fig. 2, sec. 3.1".into(),
        setting: "testbed".into(),
        shows: "What it shows.".into(),
        scaled: "one seed, 40 ms".into(),
        figures: vec![Figure {
            file: "pcn-fig2-a".into(),
            title: "Throughput".into(),
            svg: "<svg width=\"900\"></svg>".into(),
            ..Figure::default()
        }],
        tables: vec![TableShown {
            title: "Pauses".into(),
            note: "The paper's own numbers: sec. 3.".into(),
            head: vec!["scheme".into(), "frames".into()],
            rows: vec![vec!["PCN".into(), "12 ± 3 (paper: 14)".into()]],
        }],
        claims: claims(),
        runs: 12,
        cpu_seconds: 321.0,
        packet_hops: 1_000_000,
        failures: vec!["DCQCN, seed 3: deadlock at 3 ms".into()],
        ..ExperimentPage::default()
    };
    let design = ExperimentPage {
        id: "pcn-fig7".into(),
        setting: "design".into(),
        checked_by: "schemes/tests/pcn.rs".into(),
        ..ExperimentPage::default()
    };
    let deviation = Deviation {
        id: "pcn-d01".into(),
        experiments: vec!["pcn-fig2".into()],
        kind: "assumption".into(),
        topic: "XON".into(),
        paper: "silent".into(),
        ours: "510 KB".into(),
        why: "2 KB below".into(),
        effect: "none measured: 3.11 ms both".into(),
    };
    let (points, readings) = readings();
    let paper = PaperPage {
        about: Paper {
            id: "pcn".into(),
            title: "Re-architecting".into(),
            authors: "A. Author".into(),
            venue: "NSDI".into(),
            year: 2020,
            what: "What it is.".into(),
        },
        reading: "cited".into(),
        points,
        readings,
        searched: true,
        experiments: vec![experiment, design],
        deviations: vec![deviation],
    };
    Report {
        version: "0.1.0".into(),
        command: "xoff reproduce pcn".into(),
        scale: "quick".into(),
        papers: vec![paper],
        ..Report::default()
    }
}

/// What a page says, without the style and the script that every page has.
fn without_assets(html: &str) -> String {
    let (head, rest) = html.split_once("<style>").unwrap();
    let (body, script) = rest.split_once("</style>").unwrap().1.split_once("\n<script>").unwrap();
    format!("{head}{body}{}", script.split_once("</script>").unwrap().1)
}

#[test]
fn pages_stand_alone_and_are_escaped() {
    let pages = pages(&report()).unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["report.html", "pcn.html"]);
    for (name, html) in &pages {
        let said = without_assets(html);
        for outside in ["src=", "@import", "<link", "<script>", "<existing>", "<fewer>", "http:", "https:", " style="] {
            assert!(!said.contains(outside), "{name} has {outside}");
        }
    }
    assert!(pages[0].1.contains("<svg width=\"900\">"), "the only figure is on the first page");
    let paper = &pages[1].1;
    for part in [
        "simulated; the paper used a testbed",
        "<svg width=\"900\">",
        "53.4\u{a0}±\u{a0}2.1 %",
        "23\u{a0}to\u{a0}85.5",
        "4 of 5, 3 in range",
        "holds in direction",
        "not run at this scale",
        "not judged",
        "Why: the paper&#x27;s buffer",
        "nothing could make it fail: it is our &lt;input&gt;",
        "about 64 seeds would decide",
        "contradict it: Nine &lt;flows&gt; share. <code>40 &#x2f; 9 &lt; 6</code>",
        "Gives XOFF only.",
        "Sec. 3 says &lt;so&gt;.",
        "As literal",
        "Claims on which the readings differ (5)",
        "one seed, 40 ms",
        "deadlock at 3 ms",
        "510 KB",
        "12 runs, 5 min CPU",
        "Checked by: schemes",
        "12 ± 3",
    ] {
        assert!(paper.contains(part), "{part} is missing from\n{paper}");
    }
    assert_eq!(paper.matches("Why: ").count(), 4, "what holds or was not run needs no reason");
    assert!(pages[0].1.contains("href=\"pcn.html#pcn-fig2\"") && pages[0].1.contains("25 %"));
}

#[test]
fn the_csv_has_a_row_per_claim() {
    let text = csv(&report());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|known| known == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 8);
    assert_eq!((&rows[3][column("in_range")], &rows[3][column("seeds_needed")]), ("undecided", "64"));
    assert_eq!((&rows[7][column("contradicted")], &rows[7][column("seeds_needed")]), ("Nine <flows> share.", ""));
    assert_eq!(&rows[0][column("mean")], "53.4;inf;");
    assert_eq!(&rows[0][column("half_width")], "2.1;;");
    assert_eq!(&rows[1][column("verdict")], "holds in direction");
    assert_eq!((&rows[1][column("range_low")], &rows[1][column("seeds_agree")]), ("23", "4"));
    assert_eq!((&rows[1][column("seeds")], &rows[1][column("seeds_in_range")]), ("5", "3"));
}

#[test]
fn the_json_has_totals_of_every_reading() {
    let value = json(&report());
    assert_eq!(value["totals"]["holds"], 1);
    assert_eq!(value["totals"]["all"], 8);
    assert_eq!((&value["totals"]["undecided"], &value["totals"]["contradicted"]), (&1.into(), &1.into()));
    assert_eq!(value["totals"]["at_least_in_direction"], 3);
    assert_eq!(value["claims"][7]["arithmetic"][0], "40 / 9 < 6");
    assert_eq!(value["totals"]["cannot_fail"], 1);
    assert_eq!(value["claims"][0]["values"][1]["mean"], "inf");
    assert!(value["claims"][0]["values"][2]["mean"].is_null());
    assert_eq!(value["papers"][0]["points"][0]["choices"][1]["readings"][0], "literal");
    assert_eq!(value["papers"][0]["readings"][1]["totals"]["does_not_hold"], 6);
    assert_eq!(value["papers"][0]["readings"][1]["claims"]["pcn-c000"]["verdict"], "does not hold");
    assert_eq!(value["papers"][0]["totals"]["not_run_at_this_scale"], 1);
}

#[test]
fn the_text_fits_the_terminal() {
    let mut report = report();
    report.papers[0].experiments[0].claims[0].ours =
        "a very long list: 1.00 ± 0.10, 2.00 ± 0.20, 3.00 ± 0.30 Gb/s".into();
    let text = text(&report, 100);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
    // What is claimed can be read to its end, at any width.
    let said = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for claim in &report.papers[0].experiments[0].claims {
        for width in [80, 100] {
            let shown = said(&super::text::text(&report, width));
            assert!(shown.contains(&said(&claim.says)), "{} is cut:\n{shown}", claim.says);
        }
    }
    assert!(text.contains("apart: not judged, or cannot fail, or contradicted"), "{text}");
    for part in ["pcn-c001", "in direction", "does not hold", "not run", "a run failed", "25 %", "12 runs", "undecided"]
    {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
}

#[test]
fn documents_have_tables_that_hold_together() {
    let pages = markdown(&report(), &AMONG, Vec::new());
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["reproduction.md", "reproduction/pcn.md"]);
    let (index, paper) = (&pages[0].1, &pages[1].1);
    for part in [
        "**8 claims: 1 holds, 1 holds in direction, 1 does not hold, 1 is undecided, 1 is not run at this scale, 1 is not \
         judged, 1 cannot fail, 1 is contradicted by its own paper.**",
        "| [pcn](reproduction/pcn.md) | cited | 8 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 25 % | 75 % |",
        "| pcn | literal | As literal | 0 | 0 | 6 | 0 | 0 % | 0 % |",
        "`xoff reproduce pcn`",
        "(`xoff reproduce pcn-fig2 --scale quick`)",
        "| [pcn-fig2](reproduction/pcn.md#pcn-fig2) | Fig. 2, sec. 3.1 | PFC with &lt;existing> congestion control | 8 |",
        "(held by tests) | - | - |",
    ] {
        assert!(index.contains(part), "{part} is missing from\n{index}");
    }
    for part in [
        "[All papers](../reproduction.md)",
        "| [pcn-fig2](#pcn-fig2) |",
        "<a id=\"pcn-fig2\"></a>",
        "To repeat it: `xoff reproduce pcn-fig2 --scale quick`",
        "![Throughput](figures/pcn-fig2-a.svg)",
        "<details><summary>Pauses</summary>",
        "PAUSE \\| frames",
        "&lt;fewer>",
        "\\*twice\\*",
        "| <a id=\"pcn-d01\"></a>pcn-d01 |",
        "do otherwise: [pcn-d01](#pcn-d01).",
        "| 47 % | 53.4 ± 2.1 % | **does not hold** | 23 to 85.5 (half to one and a half) | 4 of 5, 3 in range |",
        "**pcn-c005** not judged: ",
        "4 of 5, 3 in range; about 64 seeds |",
        "Nine &lt;flows> share. `40 / 9 < 6`",
        "Nothing could make 1 claim fail",
        "- **XON.** Gives XOFF only.",
        "  - *near* (readings: cited): what near is For it: Sec. 3 says &lt;so>. Against it: Fig. 5 does not.",
        "| cited (chosen) | As cited. Because. | 1 | 1 | 1 | 1 | 1 | 1 | 25 % | 75 % |",
        "The readings differ on 5 claims",
        "[pcn-search.csv](pcn-search.csv)",
    ] {
        assert!(paper.contains(part), "{part} is missing from\n{paper}");
    }
    let mut columns = 0;
    for line in pages.iter().flat_map(|(_, text)| text.lines()) {
        let bars = line.replace("\\|", "").matches('|').count();
        if columns > 0 && line.starts_with('|') {
            assert_eq!(bars, columns, "{line}");
        }
        columns = if line.starts_with('|') { bars } else { 0 };
    }
}

#[test]
fn the_index_lists_papers_that_were_made_before() {
    let report = report();
    let paper = &report.papers[0];
    let mut other = PaperSummary::of(&report, paper);
    (other.id, other.made.command) = ("abc".to_owned(), "xoff reproduce abc".to_owned());
    // What is stored is read back; the paper that was made now replaces what was stored of it.
    let stored = serde_json::to_string(&other).unwrap();
    let others = vec![serde_json::from_str(&stored).unwrap(), PaperSummary::of(&report, paper)];
    let pages = markdown(&report, &AMONG, others);
    assert_eq!(pages.len(), 2, "the index, and the paper that was made now");
    let index = &pages[0].1;
    assert!(index.contains("**16 claims: 2 hold, 2 hold in direction,"), "{index}");
    let rows: Vec<&str> =
        index.lines().filter(|line| line.contains("](reproduction/") && line.contains("25 %")).collect();
    assert!(rows[0].starts_with("| [abc](reproduction/abc.md) |") && rows[1].starts_with("| [pcn]"), "{rows:?}");
    assert!(index.contains("| abc | `xoff reproduce abc` |") && index.contains("| **all** |  | 16 |"), "{index}");

    // A page that is out of date is listed, and counts in no total.
    other.out_of_date = "made before seeds were added".to_owned();
    let index = &markdown(&report, &AMONG, vec![other])[0].1;
    assert!(index.contains("**8 claims: 1 holds,") && index.contains("| **all** |  | 8 |"), "{index}");
    assert!(index.contains("| [abc](reproduction/abc.md) \\* |"), "{index}");
    assert!(index.contains("\n- [abc](reproduction/abc.md): made before seeds were added\n"), "{index}");
}

/// What differs between the two places is only how the pages find each other.
#[test]
fn documents_are_the_same_beside_the_results() {
    let (among, beside) = (markdown(&report(), &AMONG, Vec::new()), markdown(&report(), &BESIDE, Vec::new()));
    assert_eq!(beside[0].0, "report.md");
    assert_eq!(beside[1].0, "pcn.md");
    assert_eq!(beside[0].1, among[0].1.replace("(reproduction/", "("));
    assert_eq!(beside[1].1, among[1].1.replace("(../reproduction.md)", "(report.md)"));
}

#[test]
fn many_failures_are_counted() {
    let mut report = report();
    report.papers[0].experiments[0].failures = (0..50).map(|seed| format!("seed {seed}: deadlock")).collect();
    assert!(text(&report, 100).contains("47 more runs failed"));
    let markdown = &markdown(&report, &AMONG, Vec::new())[1].1;
    assert!(markdown.contains("**47 more runs failed.**") && !markdown.contains("seed 3:"));
    assert!(pages(&report).unwrap()[1].1.contains("seed 49: deadlock"));
}

#[test]
fn nothing_to_say_is_said_without_panic() {
    let empty = Report::default();
    assert_eq!(pages(&empty).unwrap().len(), 1);
    assert_eq!(csv(&empty).lines().count(), 1);
    assert_eq!(json(&empty)["totals"]["all"], 0);
    assert!(text(&empty, 80).contains("scale"));
    assert!(markdown(&empty, &AMONG, Vec::new())[0].1.contains("| **all** |  | 0 |"));
}
