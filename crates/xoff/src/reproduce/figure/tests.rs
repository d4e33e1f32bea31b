use super::*;
use crate::reproduce::report_data::TableShown;
use crate::reproduce::results::{AxisValue, AxisValues, Cell, Group, Results, Run};
use std::path::Path;
use xoff_results::figures::chart::QuotedPlace;
use xoff_results::figures::{png, svg};
use xoff_scenario::Source;
use xoff_scenario::measure::{Curve, Measured};
use xoff_scenario::reader::Table;
use xoff_scenario::resolved::Recorder;
use xoff_scenario::tree;

const SCHEMES: [(&str, &str); 6] = [
    ("PFC", "none"),
    ("DCQCN", "dcqcn"),
    ("TIMELY", "timely"),
    ("HPCC", "hpcc"),
    ("Mercury+DCQCN", "mercury"),
    ("PCN", "pcn"),
];

fn spec(text: &str) -> FigureSpec {
    let source = Source::new("fig.toml", format!("[[figure]]\n{text}"));
    let mut root = Table::root(&source, tree::parse(&source).unwrap(), Path::new("."), Recorder::default());
    match read(&mut root.tables("figure").unwrap()[0]) {
        Ok(spec) => spec,
        Err(why) => panic!("{}", why.render(false)),
    }
}

/// A group over schemes and loads, with numbers and curves that differ by all of them.
fn results(schemes: usize, loads: &[f64], seeds: u64) -> Results {
    let value = |(name, scheme): &(&str, &str)| AxisValue {
        name: (*name).into(),
        number: None,
        scheme: Some((*scheme).into()),
    };
    let load = |load: &f64| AxisValue { name: load.to_string(), number: Some(*load), scheme: None };
    let axes = vec![
        AxisValues { name: "scheme".into(), values: SCHEMES[..schemes].iter().map(value).collect() },
        AxisValues { name: "load".into(), values: loads.iter().map(load).collect() },
    ];
    let mut cells = Vec::new();
    for scheme in 0..schemes {
        for (index, load) in loads.iter().enumerate() {
            let run = |seed: u64| {
                let noise = (seed as f64 * 7.3 + scheme as f64 * 3.1 + load * 11.0).sin();
                let size = (scheme as f64 + 2.0) * (1.0 + 3.0 * load * load);
                let never = if scheme == 3 && *load > 0.75 { f64::INFINITY } else { size * 2.0 };
                let mut measured = Measured::default();
                for (name, number) in [
                    ("fct.mean", size + noise * 0.8),
                    ("fct.p99", size * 4.0 + noise * 3.0),
                    ("settle", never),
                    ("h0", 3.0 + noise + scheme as f64),
                    ("h1", 5.0 - noise),
                    ("lost", f64::NAN),
                ] {
                    measured.numbers.insert(name.into(), number);
                }
                let x: Vec<f64> = (0..2000).map(|i| f64::from(i) * 0.005).collect();
                let wave = |x: &f64| {
                    let rate = 40.0 / (2.0 + scheme as f64);
                    rate * (1.0 + 0.1 * (x * 40.0).sin()) * if (3.0..5.0).contains(x) { 0.2 } else { 1.0 }
                };
                let curve = Curve { y: x.iter().map(wave).collect(), x: x.clone() };
                measured.curves.insert("f1".into(), Curve { y: curve.y.iter().map(|y| y * 0.4 + 2.0).collect(), x });
                measured.curves.insert("f0".into(), curve);
                Run { seed, measured, cpu_seconds: 1.0, packet_hops: 1, ..Run::default() }
            };
            cells.push(Cell { at: vec![scheme, index], seeds: (1..=seeds).map(run).collect() });
        }
    }
    Results { groups: vec![Group { name: "main".into(), axes, cells, announced: None }] }
}

/// Draws it, as a picture too where `XOFF_FIGURES` names a folder for people to look at.
fn chart(name: &str, text: &str, results: &Results) -> Chart {
    let shown = draw(&spec(text), name, results).unwrap();
    let [Shown::Chart(chart)] = &shown[..] else { panic!("{} things", shown.len()) };
    let svg = svg(chart).unwrap();
    assert!(svg.len() < 60_000, "{name}: {} bytes", svg.len());
    if let Some(folder) = std::env::var_os("XOFF_FIGURES") {
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), png(chart).unwrap()).unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.svg")), svg).unwrap();
    }
    (**chart).clone()
}

const LOADS: [f64; 6] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
const TIME: &str =
    "x = { title = \"time\", unit = \"ms\", from = 2, until = 8 }\ny = { title = \"throughput\", unit = \"Gb/s\" }\n";
const OVER: &str = "x = { title = \"load\" }\ny = { title = \"completion time\", unit = \"ms\" }\n";

#[test]
fn curves_have_the_schemes_colours() {
    let text = format!(
        "title = \"Throughput of F0\"\n{TIME}marks = [{{ at = 3, text = \"burst starts\" }}, {{ at = 3.4, text = \"half of it\" }}, {{ at = 7.9, text = \"end\" }}]\n\
         [[figure.series]]\ncurve = \"f0\"\nby = \"scheme\"\nwhere = {{ load = 0.5 }}\nlabel = \"{{scheme}} F0\"\n"
    );
    let chart = chart("curves", &text, &results(6, &LOADS, 3));
    assert_eq!(chart.panels[0].lines.len(), 6);
    assert_eq!(chart.panels[0].lines[1].name, "DCQCN F0");
    assert_eq!(chart.panels[0].lines[1].colour, xoff_results::figures::colour::PALETTE[0]);
    assert!(chart.note.contains("first of 3 seeds"), "{}", chart.note);
}

#[test]
fn numbers_stand_over_an_axis_with_intervals_and_never() {
    let text = format!(
        "title = \"Settling\"\n{OVER}note = \"A note of the experiment that is rather long, so that it does not fit one line above the plot and has to be broken.\"\n\
         [[figure.series]]\nmeasure = \"settle\"\nover = \"load\"\nby = \"scheme\"\n"
    );
    let settle = chart("settle", &text, &results(6, &LOADS, 5));
    let hpcc = settle.panels[0].lines.iter().find(|line| line.name == "HPCC").unwrap();
    assert_eq!(hpcc.never, [0.8]);
    assert!(settle.note.contains("never"), "{}", settle.note);
    let fct = chart("fct", &text.replace("settle", "fct.mean"), &results(6, &LOADS, 5));
    assert_eq!(fct.panels[0].lines[0].intervals.len(), 6);
    let marks: Vec<&str> = fct.x.marks.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(marks, ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8"], "the axis names the values that were run");
    let alone = chart("fct-one-seed", &text.replace("settle", "fct.mean"), &results(2, &LOADS[..1], 1));
    assert!(alone.panels[0].lines[0].intervals.is_empty());
}

#[test]
fn panels_are_made_by_an_axis() {
    let text = format!(
        "title = \"Both flows under each scheme\"\n{TIME}panels = \"scheme\"\npanel_columns = 3\n\
         marks = [{{ at = 3, text = \"burst starts\" }}, {{ at = 5, text = \"ends\" }}]\n\
         [[figure.series]]\ncurve = \"f0\"\nwhere = {{ load = 0.5 }}\nlabel = \"F0\"\n\
         [[figure.series]]\ncurve = \"f1\"\nwhere = {{ load = 0.5 }}\nlabel = \"F1\"\n"
    );
    let chart = chart("panels", &text, &results(6, &LOADS, 1));
    assert_eq!(chart.panels.len(), 6);
    assert_eq!((chart.panels[5].title.as_str(), chart.panels[5].lines.len()), ("PCN", 2));
}

#[test]
fn bars_are_grouped_by_axis_or_by_measure() {
    let head = "kind = \"bars\"\ntitle = \"Completion time\"\n";
    let y = "y = { title = \"completion time\", unit = \"ms\" }\n";
    let over = format!(
        "{head}x = {{ title = \"load\" }}\n{y}[[figure.series]]\nmeasure = \"settle\"\nover = \"load\"\nby = \"scheme\"\n"
    );
    let grouped = chart("bars", &over, &results(6, &LOADS, 5));
    assert_eq!((grouped.groups.len(), grouped.panels[0].bars.len()), (6, 36));
    let measures = format!(
        "{head}{y}[[figure.series]]\nmeasures = [\"h0\", \"h1\"]\nnames = [\"H0, far from the receiver\", \"H1\"]\nby = \"scheme\"\nwhere = {{ load = 0.5 }}\n"
    );
    let named = chart("bars-measures", &measures, &results(3, &LOADS, 5));
    assert_eq!(named.groups, ["H0, far from the receiver", "H1"]);
    let single =
        format!("{head}{y}[[figure.series]]\nmeasure = \"fct.p99\"\nby = \"scheme\"\nwhere = {{ load = 0.5 }}\n");
    let single = chart("bars-single", &single, &results(6, &LOADS, 5));
    assert_eq!(single.groups[4], "Mercury+DCQCN");
    let cut = format!(
        "{head}x = {{ title = \"load\" }}\ny = {{ title = \"completion time\", unit = \"ms\", until = 10 }}\npanels = \"scheme\"\n[[figure.series]]\nmeasure = \"fct.p99\"\nover = \"load\"\n"
    );
    let cut = chart("bars-panels", &cut, &results(4, &LOADS, 5));
    assert_eq!(cut.panels.len(), 4);
}

#[test]
fn bars_may_be_stacked() {
    let text = "kind = \"stacked\"\ntitle = \"Who waits\"\nx = { title = \"load\" }\ny = { title = \"time\", unit = \"us\" }\n\
         [[figure.series]]\nmeasures = [\"h0\", \"h1\", \"lost\", \"fct.mean\"]\nnames = [\"first\", \"second\", \"lost\", \"rest\"]\nover = \"load\"\nby = \"scheme\"\n";
    let stacked = chart("stacked", text, &results(4, &LOADS, 5));
    assert_eq!(stacked.panels[0].bars.len(), 24);
    assert_eq!(stacked.panels[0].bars[0].parts.len(), 3, "unknown values are left out");
    let by = text.replace("over = \"load\"\nby = \"scheme\"", "by = \"scheme\"\nwhere = { load = 0.5 }");
    assert_eq!(chart("stacked-by", &by, &results(6, &LOADS, 5)).groups.len(), 6);
}

#[test]
fn distributions_count_runs() {
    let text = "title = \"Over seeds\"\nx = { title = \"settling time\", unit = \"ms\" }\ny = { title = \"runs\" }\nkind = \"steps\"\n\
         [[figure.series]]\nmeasure = \"fct.mean\"\ncumulative = true\nby = \"scheme\"\nwhere = { load = 0.8 }\n\
         [[figure.series]]\nmeasure = \"settle\"\ncumulative = true\nwhere = { load = 0.8, scheme = \"HPCC\" }\nlabel = \"HPCC settles\"\n";
    let chart = chart("cumulative", text, &results(4, &LOADS, 9));
    let line = &chart.panels[0].lines[0];
    assert_eq!(line.points.last().unwrap().1, 9.0);
    assert!(chart.note.contains("HPCC settles: never in 9 of 9 runs"), "{}", chart.note);
}

#[test]
fn logarithmic_axes_and_many_bars() {
    let text = "kind = \"bars\"\ntitle = \"Many groups\"\ny = { title = \"completion time\", unit = \"us\", log = true }\n\
         [[figure.series]]\nmeasure = \"fct.p99\"\nover = \"load\"\nby = \"scheme\"\n";
    let loads: Vec<f64> = (1..=40).map(|i| f64::from(i) * 1000.125).collect();
    assert_eq!(chart("bars-many", text, &results(2, &loads, 2)).groups.len(), 40);
}

#[test]
fn tables_have_intervals_and_never() {
    let text = "kind = \"table\"\ntitle = \"Settling\"\n\
         [[figure.series]]\nmeasures = [\"settle\", \"fct.mean\", \"lost\"]\nnames = [\"settles\", \"mean\", \"lost\"]\nby = \"scheme\"\nwhere = { load = 0.8 }\n";
    let shown = draw(&spec(text), "t", &results(4, &LOADS, 5)).unwrap();
    let [Shown::Table(TableShown { head, rows, .. })] = &shown[..] else { panic!("no table") };
    assert_eq!(head, &["scheme", "settles", "mean", "lost"]);
    assert_eq!(rows.len(), 4);
    assert_eq!((rows[3][0].as_str(), rows[3][1].as_str(), rows[3][3].as_str()), ("HPCC", "never", "-"));
    assert!(rows[0][2].contains('±'), "{:?}", rows[0]);
}

#[test]
fn columns_of_one_name_stay_apart_and_runs_of_one_name_too() {
    let mut both = results(2, &LOADS[..1], 1);
    let mut other = both.groups[0].clone();
    other.name = "other".into();
    both.groups.push(other);
    let series = |runs: &str| {
        format!(
            "[[figure.series]]\nruns = \"{runs}\"\nmeasures = [\"h0\", \"h1\"]\nnames = [\"M\", \"M\"]\nby = \"scheme\"\n"
        )
    };
    let text = format!("kind = \"table\"\ntitle = \"T\"\n{}{}", series("main"), series("other"));
    let shown = draw(&spec(&text), "t", &both).unwrap();
    let [Shown::Table(TableShown { head, rows, .. })] = &shown[..] else { panic!("no table") };
    assert_eq!(head, &["scheme", "M", "M"]);
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["PFC (main)", "DCQCN (main)", "PFC (other)", "DCQCN (other)"]);
    assert_ne!(rows[0][1], rows[0][2]);
    let head = "title = \"T\"\ny = { title = \"t\" }\n";
    let bars = format!("kind = \"bars\"\n{head}{}{}", series("main"), series("other")).replace("\"M\"]", "\"N\"]");
    let shown = draw(&spec(&bars), "t", &both).unwrap();
    let [Shown::Chart(chart)] = &shown[..] else { panic!("no chart") };
    let places: std::collections::BTreeSet<_> = chart.panels[0].bars.iter().map(|bar| (bar.group, bar.slot)).collect();
    assert_eq!((places.len(), chart.panels[0].bars.len()), (8, 8));
    // Where labels are given and equal, the bars or lines would look alike.
    let same = bars.replace("by = ", "label = \"{scheme}\"\nby = ");
    assert!(draw(&spec(&same), "t", &both).unwrap_err().contains("two bars \"PFC\""));
    let curve = |name: &str, runs: &str| {
        format!("[[figure.series]]\ncurve = \"{name}\"\nruns = \"{runs}\"\nby = \"scheme\"\nlabel = \"{{scheme}}\"\n")
    };
    let lines = format!("{head}x = {{ title = \"x\" }}\n{}{}", curve("f0", "main"), curve("f1", "other"));
    assert!(draw(&spec(&lines), "t", &both).unwrap_err().contains("two lines \"PFC\""));
}

#[test]
fn schemes_along_x_have_their_colours() {
    let text = "kind = \"bars\"\ntitle = \"Peak\"\ny = { title = \"queue\", unit = \"KB\" }\n\
         [[figure.series]]\nmeasure = \"h0\"\nover = \"scheme\"\nlabel = \"peak\"\nwhere = { load = 0.5 }\n";
    let chart = chart("bars-schemes", text, &results(6, &LOADS, 5));
    let colours: Vec<_> = chart.parts().map(|part| part.colour).collect();
    assert_eq!(colours[1], xoff_results::figures::colour::PALETTE[0]);
    assert_ne!(colours[1], colours[2]);
    assert!(chart.parts().all(|part| part.name.is_empty()));
}

#[test]
fn the_papers_numbers_stand_beside_ours() {
    let text = format!(
        "title = \"Completion\"\n{OVER}[[figure.series]]\nmeasure = \"fct.mean\"\nover = \"load\"\nby = \"scheme\"\n\
         [[figure.paper]]\nx = 0.5\ny = 9.5\nat = {{ scheme = \"PCN\" }}\nsource = \"sec. 3\"\n\
         [[figure.paper]]\nlevel = 22\nfrom = 0.4\nuntil = 0.6\nat = {{ scheme = [\"PFC\", \"TIMELY\"] }}\nsource = \"sec. 3\"\n\
         [[figure.paper]]\ninstant = 0.7\nbound = \"at most\"\nsource = \"sec. 4\"\n"
    );
    let all = chart("quoted", &text, &results(6, &LOADS, 5));
    let panel = &all.panels[0];
    assert_eq!(panel.quoted.len(), 3);
    let pcn = panel.lines.iter().find(|line| line.name == "PCN").unwrap();
    assert_eq!((panel.quoted[0].colour, panel.quoted[0].place), (Some(pcn.colour), QuotedPlace::Point(0.5, 9.5)));
    assert_eq!(panel.quoted[1].colour, None, "it is about two lines");
    assert!(all.note.contains("the paper's own numbers (sec. 3; sec. 4)"), "{}", all.note);
    assert!(svg(&all).unwrap().contains("\npaper\n"), "the legend names them");
    // What a scale does not run has no mark.
    assert_eq!(chart("quoted-few", &text, &results(2, &LOADS, 5)).panels[0].quoted.len(), 2);
}

#[test]
fn the_papers_bars_and_cells_are_found_by_their_names() {
    let y = "y = { title = \"completion time\", unit = \"ms\" }\n";
    let paper = "[[figure.paper]]\nvalue = 12\nmeasure = \"h1\"\nat = { scheme = \"DCQCN\" }\nsource = \"table 2\"\n";
    let series = "[[figure.series]]\nmeasures = [\"h0\", \"h1\"]\nnames = [\"H0\", \"H1\"]\nby = \"scheme\"\nwhere = { load = 0.5 }\n";
    let bars = format!("kind = \"bars\"\ntitle = \"T\"\n{y}{series}{paper}");
    let bars = chart("quoted-bars", &bars, &results(3, &LOADS, 5));
    let [quoted] = &bars.panels[0].quoted[..] else { panic!("{:?}", bars.panels[0].quoted) };
    assert_eq!(quoted.place, QuotedPlace::Bar { group: 1, slot: 1, value: 12.0 });
    assert_eq!(quoted.colour, Some(xoff_results::figures::colour::PALETTE[0]));
    let stacked = "kind = \"stacked\"\ntitle = \"T\"\npanels = \"scheme\"\ny = { title = \"t\" }\n\
         [[figure.series]]\nmeasures = [\"h0\", \"h1\"]\nover = \"load\"\n\
         [[figure.paper]]\nvalue = 9\nat = { scheme = \"DCQCN\", load = [0.5, 0.6] }\nbound = \"at least\"\nsource = \"sec. 5\"\n";
    let stacked = chart("quoted-stacked", stacked, &results(3, &LOADS, 5));
    let counts: Vec<usize> = stacked.panels.iter().map(|panel| panel.quoted.len()).collect();
    assert_eq!(counts, [0, 2, 0]);
    let exact = paper.replace("12", "80.1425").replace("DCQCN", "PFC");
    let table = format!("kind = \"table\"\ntitle = \"T\"\nnote = \"Ours.\"\n{series}{paper}{exact}");
    let shown = draw(&spec(&table), "t", &results(3, &LOADS, 5)).unwrap();
    let [Shown::Table(TableShown { rows, note, .. })] = &shown[..] else { panic!("no table") };
    assert!(rows[1][2].ends_with(" (paper: 12)") && !rows[1][1].contains("paper"), "{rows:?}");
    assert!(rows[0][2].ends_with(" (paper: 80.1425)"), "{rows:?}");
    assert_eq!(note, "Ours. The paper's own numbers: table 2.");
}

#[test]
fn numbers_are_shown_against_those_of_other_runs() {
    let results = results(4, &LOADS, 5);
    let text = |how: &str| {
        format!(
            "kind = \"bars\"\ntitle = \"T\"\ny = {{ title = \"t\" }}\n[[figure.series]]\nmeasure = \"fct.mean\"\n\
             over = \"load\"\nby = \"scheme\"\nagainst = {{ scheme = \"PFC\" }}\nas = \"{how}\"\n"
        )
    };
    let mean = |scheme: usize| results.groups[0].cells[scheme * LOADS.len()].estimate("fct.mean").unwrap().mean;
    let ratio = mean(1) / mean(0);
    for (how, wanted) in [
        ("ratio", ratio),
        ("inverse", 1.0 / ratio),
        ("reduction", 100.0 * (1.0 - 1.0 / ratio)),
        ("increase", 100.0 * (1.0 / ratio - 1.0)),
    ] {
        let chart = chart(how, &text(how), &results);
        // The runs that all are shown against have no bars of their own.
        assert_eq!(chart.panels[0].bars.len(), 3 * LOADS.len());
        let part = &chart.panels[0].bars[0].parts[0];
        assert!((part.value - wanted).abs() < 1e-9 && part.interval.is_some(), "{how}: {part:?}");
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let results = results(3, &LOADS, 1);
    let series = |keys: &str| format!("title = \"T\"\n{OVER}[[figure.series]]\n{keys}\n");
    let cases = [
        ("measure = \"fct.mean\"\nover = \"load\"", "`scheme` must be in"),
        ("measure = \"fct.max\"\nover = \"load\"\nby = \"scheme\"", "no run yields `fct.max`"),
        ("measure = \"fct.mean\"\nover = \"lode\"\nby = \"scheme\"", "no axis `lode`, only scheme, load"),
        ("measure = \"fct.mean\"\nover = \"scheme\"\nby = \"load\"", "`scheme` is not numeric"),
        ("curve = \"f0\"\nby = \"scheme\"\nwhere = { load = 0.5 }\nlabel = \"{seed}\"", "no axis `seed`"),
        ("curve = \"f0\"\nby = \"scheme\"\nlabel = \"{load}\"", "must be in"),
    ];
    for (keys, wanted) in cases {
        let why = draw(&spec(&series(keys)), "pcn-fig1", &results).unwrap_err();
        assert!(why.contains(wanted) && why.contains("pcn-fig1"), "`{wanted}` not in: {why}");
    }
}

#[test]
fn nothing_run_is_nothing_drawn() {
    let text = format!("title = \"T\"\n{OVER}[[figure.series]]\nmeasure = \"a\"\nover = \"load\"\nby = \"scheme\"\n");
    assert!(draw(&spec(&text), "x", &Results::default()).unwrap().is_empty());
    let mut skipped = results(2, &LOADS, 0);
    assert!(draw(&spec(&text), "x", &skipped).unwrap().is_empty());
    for cell in &mut skipped.groups[0].cells {
        cell.seeds.push(Run { seed: 1, failure: Some("deadlock".into()), ..Run::default() });
    }
    assert!(draw(&spec(&text), "x", &skipped).unwrap().is_empty());
}
