//! `[[figure]]` of an experiment: what is drawn of its measures, and how.

use super::paper::{self, Quote};
use super::series::{self, AxisSpec, Kind, Series, What};
use xoff_scenario::reader::{Result, Table};

/// One figure or table of an experiment.
#[derive(Clone, Debug)]
pub struct FigureSpec {
    /// Tells several of one experiment apart; empty if there is one.
    pub name: String,
    pub title: String,
    pub kind: Kind,
    pub x: AxisSpec,
    pub y: AxisSpec,
    /// The axis of the runs that has a panel for each of its values.
    pub panels: Option<String>,
    pub panel_columns: Option<usize>,
    pub note: String,
    pub marks: Vec<(f64, String)>,
    pub series: Vec<Series>,
    /// What the paper says of it.
    pub paper: Vec<Quote>,
}

impl FigureSpec {
    /// The measures it draws, with the group of runs where one is named.
    pub fn measures(&self) -> Vec<(&str, Option<&str>)> {
        let mut all = Vec::new();
        for series in &self.series {
            let group = series.runs.as_deref();
            match &series.what {
                What::Curve(name) | What::Cumulative(name) => all.push((name.as_str(), group)),
                What::Numbers { list, .. } => all.extend(list.iter().map(|(name, _)| (name.as_str(), group))),
            }
        }
        all
    }
}

const ANY: std::ops::RangeInclusive<f64> = f64::MIN..=f64::MAX;

/// Reads one `[[figure]]`; every key must make sense for its kind.
pub fn read(table: &mut Table) -> Result<FigureSpec> {
    let kinds = [
        ("lines", Kind::Lines),
        ("steps", Kind::Steps),
        ("bars", Kind::Bars),
        ("stacked", Kind::Stacked),
        ("table", Kind::Table),
    ];
    let kind = table.choice_or("kind", &kinds, "lines")?;
    let name = file_part(table)?;
    let title = table.text("title")?.value;
    let note = table.text_or("note", "")?.value;
    let curves = matches!(kind, Kind::Lines | Kind::Steps);
    let (mut x, mut y, mut panels, mut panel_columns, mut marks) = Default::default();
    if kind != Kind::Table {
        x = axis(table, "x", curves)?;
        y = axis(table, "y", true)?;
        panels = table.take_text("panels")?.map(|text| text.value);
        if panels.is_some() {
            panel_columns = table.take_count("panel_columns", 1..=6)?.map(|count| count as usize);
        }
    }
    if curves {
        marks = read_marks(table)?;
    }
    let rows = table.tables("series")?;
    if rows.is_empty() {
        return Err(table.place().error("the figure shows nothing").label("it needs at least one [[figure.series]]"));
    }
    let series = rows.into_iter().map(|row| series::read(row, kind)).collect::<Result<Vec<_>>>()?;
    let shown = paper::Figure { kind, x: &x, y: &y, panels: panels.as_deref(), series: &series };
    let paper = table.tables("paper")?.into_iter().map(|row| paper::read(row, &shown)).collect::<Result<Vec<_>>>()?;
    table.check_finished()?;
    Ok(FigureSpec { name, title, kind, x, y, panels, panel_columns, note, marks, series, paper })
}

/// The figure's own name becomes part of a file name.
pub fn file_part(table: &mut Table) -> Result<String> {
    let Some(text) = table.take_text("name")? else { return Ok(String::new()) };
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.value.is_empty() || !text.value.chars().all(fits) {
        let error = text.error(format!("a figure cannot be named \"{}\"", text.value));
        return Err(error.label("it becomes part of a file name: small letters, digits and hyphens"));
    }
    Ok(text.value)
}

fn axis(table: &mut Table, key: &str, needed: bool) -> Result<AxisSpec> {
    if !needed && !table.has(key) {
        table.take_table(key)?;
        return Ok(AxisSpec::default());
    }
    let Some(mut inner) = table.take_table(key)? else {
        let error = table.place().error(format!("the figure lacks `{key}`"));
        return Err(error.label(format!("such as {key} = {{ title = \"time\", unit = \"ms\" }}")));
    };
    let title = if needed { inner.text("title")?.value } else { inner.text_or("title", "")?.value };
    let unit = inner.text_or("unit", "")?.value;
    // Bars are at names, which have neither ends nor a scale.
    let (mut from, mut until, mut log) = (None, None, false);
    if needed {
        from = inner.take_number("from", ANY)?;
        until = inner.take_number("until", ANY)?;
        log = inner.flag_or("log", false)?;
    }
    if log && from.is_some_and(|from| from <= 0.0) {
        return Err(inner.error("from", "a logarithmic axis cannot start here").label("above zero"));
    }
    if log && until.is_some_and(|until| until <= 0.0) {
        return Err(inner.error("until", "a logarithmic axis cannot end here").label("above zero"));
    }
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        return Err(inner.error("until", "the axis ends before it starts").label(format!("above {from}")));
    }
    inner.check_finished()?;
    Ok(AxisSpec { title, unit, from, until, log })
}

fn read_marks(table: &mut Table) -> Result<Vec<(f64, String)>> {
    let mut marks = Vec::new();
    for mut mark in table.tables("marks")? {
        marks.push((mark.number("at", ANY)?, mark.text("text")?.value));
        mark.finish()?;
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use xoff_scenario::Source;
    use xoff_scenario::resolved::Recorder;
    use xoff_scenario::tree;

    pub fn parse(text: &str) -> Result<FigureSpec> {
        let source = Source::new("fig.toml", format!("[[figure]]\n{text}"));
        let mut root = Table::root(&source, tree::parse(&source)?, Path::new("."), Recorder::default());
        read(&mut root.tables("figure")?[0])
    }

    const AXES: &str = "title = \"T\"\nx = { title = \"time\", unit = \"ms\", until = 5 }\ny = { title = \"rate\" }\n";

    #[test]
    fn a_figure_is_read_with_all_its_keys() {
        let text = format!(
            "{AXES}name = \"a\"\npanels = \"scheme\"\npanel_columns = 2\nmarks = [{{ at = 3.07, text = \"ends\" }}]\n\
             [[figure.series]]\ncurve = \"f0\"\nwhere = {{ scheme = [\"PCN\"], load = 0.5 }}\nby = \"scheme\"\n\
             label = \"{{scheme}} F0\"\ndash = \"long\"\n\
             [[figure.series]]\nmeasure = \"fct\"\ncumulative = true\n"
        );
        let spec = parse(&text).unwrap();
        assert_eq!((spec.kind, spec.panels.as_deref(), spec.panel_columns), (Kind::Lines, Some("scheme"), Some(2)));
        assert_eq!(spec.marks, [(3.07, "ends".to_owned())]);
        assert_eq!(spec.series[0].only[1], ("load".to_owned(), vec!["0.5".to_owned()]));
        assert!(matches!(spec.series[1].what, What::Cumulative(_)));
        assert_eq!(spec.measures(), [("f0", None), ("fct", None)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_where_it_stands() {
        let series = "[[figure.series]]\ncurve = \"a\"\n";
        let cases = [
            (format!("{AXES}kid = 3\n{series}"), "unknown key `kid`"),
            (format!("{AXES}kind = \"pie\"\n{series}"), "`kind` cannot be \"pie\""),
            (AXES.to_owned(), "shows nothing"),
            (format!("title = \"T\"\n{series}"), "lacks `x`"),
            (format!("{AXES}name = \"A b\"\n{series}"), "cannot be named"),
            (format!("{AXES}[[figure.series]]\nby = \"scheme\"\n"), "says not what it shows"),
            (format!("{AXES}[[figure.series]]\nmeasure = \"fct\"\n"), "nothing is along x"),
            (format!("title = \"T\"\ny = {{ title = \"y\" }}\nkind = \"bars\"\n{series}"), "says not what"),
            (format!("{AXES}kind = \"bars\"\n{series}"), "unknown key `until`"),
            (format!("{AXES}{series}label = \"{{scheme\"\n"), "not closed"),
            (format!("{AXES}{series}over = \"load\"\n"), "unknown key `over`"),
            (format!("{AXES}[[figure.series]]\nmeasures = [\"a\", \"b\"]\nnames = [\"A\"]\n"), "1 names for 2"),
            (
                format!("{AXES}[[figure.series]]\nmeasures = [\"a\", \"b\"]\nnames = [\"A\", \"A\"]\nover = \"x\"\n"),
                "the same name",
            ),
            (
                format!(
                    "title = \"T\"\nx = {{ title = \"x\", log = true, from = 0 }}\ny = {{ title = \"y\" }}\n{series}"
                ),
                "cannot start here",
            ),
            (
                format!(
                    "title = \"T\"\nx = {{ title = \"x\", from = 3, until = 2 }}\ny = {{ title = \"y\" }}\n{series}"
                ),
                "ends before it starts",
            ),
        ];
        for (text, wanted) in cases {
            let shown = parse(&text).unwrap_err().render(false);
            assert!(shown.contains(wanted) && shown.contains("fig.toml:"), "{text}: `{wanted}` not in\n{shown}");
        }
    }

    #[test]
    fn a_number_of_the_paper_needs_a_place_in_the_figure() {
        let lines = |paper: &str| {
            format!(
                "{AXES}panels = \"scheme\"\n[[figure.series]]\ncurve = \"f0\"\nruns = \"main\"\nwhere = {{ load = [0.5] }}\n\
                 [[figure.paper]]\nsource = \"s\"\n{paper}\n"
            )
        };
        let bars = |kind: &str, paper: &str| {
            format!(
                "kind = \"{kind}\"\ntitle = \"T\"\ny = {{ title = \"t\", log = true }}\n[[figure.series]]\n\
                 measures = [\"a\", \"b\"]\nby = \"scheme\"\n[[figure.paper]]\nsource = \"s\"\n{paper}\n"
            )
        };
        for good in
            ["x = 3\ny = 4\nat = { scheme = \"PCN\", load = 0.5 }", "level = 4\nmeasure = \"f0\"", "instant = 5"]
        {
            assert_eq!(parse(&lines(good)).unwrap().paper.len(), 1);
        }
        let cases = [
            (lines(""), "the paper's number is missing"),
            (lines("x = 3"), "`y`"),
            (lines("value = 3"), "is missing"),
            (lines("x = 6\ny = 1"), "its axis ends at 5"),
            (lines("level = 3\nfrom = 4\nuntil = 2"), "ends before it starts"),
            (lines("level = 3\nmeasure = \"f1\""), "the figure does not show `f1`"),
            (lines("level = 3\nruns = \"mian\""), "names no runs `mian`"),
            (lines("level = 3\nat = { sceme = \"PCN\" }"), "does not tell `sceme` apart"),
            (lines("level = 3\nat = { load = 0.7 }"), "leaves out load `0.7`"),
            (lines("level = 3\nbound = \"about\""), "`bound` cannot be"),
            (lines("level = 3\nsauce = \"s\""), "unknown key `sauce`"),
            (lines("level = 3").replace("source = \"s\"\n", ""), "`source`"),
            (bars("bars", "value = 3\nat = { scheme = \"PCN\" }"), "name its `measure`"),
            (bars("bars", "value = 3\nmeasure = \"a\""), "say at which `scheme`"),
            (bars("bars", "value = 0\nmeasure = \"a\"\nat = { scheme = \"PCN\" }"), "has no zero"),
            (bars("stacked", "value = 3\nmeasure = \"a\"\nat = { scheme = \"PCN\" }"), "the whole of it"),
        ];
        for (text, wanted) in cases {
            let shown = parse(&text).unwrap_err().render(false);
            assert!(shown.contains(wanted) && shown.contains("fig.toml:"), "{text}: `{wanted}` not in\n{shown}");
        }
    }

    #[test]
    fn runs_are_compared_with_one_other() {
        let text = |keys: &str| {
            format!("{AXES}[[figure.series]]\nmeasure = \"a\"\nover = \"load\"\nby = \"scheme\"\n{keys}\n")
        };
        let against = parse(&text("against = { scheme = \"PCN\" }\nas = \"reduction\"")).unwrap();
        assert_eq!(against.series[0].against.as_ref().unwrap().how, series::How::Reduction);
        for (keys, wanted) in [
            ("against = { scheme = [\"PCN\", \"PFC\"] }\nas = \"ratio\"", "not one run"),
            ("against = { scheme = \"PCN\" }", "`as`"),
            ("against = { scheme = \"PCN\" }\nas = \"twice\"", "`as` cannot be"),
            ("as = \"ratio\"", "unknown key `as`"),
        ] {
            let shown = parse(&text(keys)).unwrap_err().render(false);
            assert!(shown.contains(wanted), "{keys}: `{wanted}` not in\n{shown}");
        }
    }
}
