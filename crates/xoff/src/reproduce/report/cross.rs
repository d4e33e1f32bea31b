//! The page of all schemes on all papers' scenarios: sentences, who is best where, numbers.

use super::markdown::markup::{cell, inline, table};
use crate::reproduce::cross::{Better, Column, Cross, Place, Row};
use crate::reproduce::report_data::{ClaimResult, Report, Verdict};
use xoff_results::grid::Grid;
use xoff_scenario::number::brief;
use xoff_scenario::wrap;

/// What was run and judged.
pub struct CrossReport<'a> {
    pub cross: &'a Cross,
    pub columns: Vec<Column<'a>>,
    pub sentences: &'a [ClaimResult],
    /// Command, version, commit, scale, runs and what they cost.
    pub made: &'a Report,
}

/// In a terminal more than these are counted instead.
const MOST_NAMED: usize = 3;

/// How many times worse than the best a number is: 1 for the best, `None` if there is no such ratio.
fn times_worse(column: &Column<'_>, row: &Row) -> Option<f64> {
    let best = column.rows.iter().find(|row| row.place == Place::Best)?.value.as_ref()?.mean;
    let own = row.value.as_ref()?.mean;
    let (low, high) = if column.compared.better == Better::Lower { (best, own) } else { (own, best) };
    (low > 0.0).then(|| high / low)
}

/// `1.35`; the number itself where the best is zero.
fn ratio_text(column: &Column<'_>, row: &Row) -> String {
    match (row.place, times_worse(column, row), &row.value) {
        (Place::Unknown, ..) | (_, None, None) => "-".to_owned(),
        (Place::Partial, ..) => "\u{2020}".to_owned(),
        (_, Some(times), _) => format!("{times:.2}"),
        (_, None, Some(value)) => format!("({})", brief(value.mean)),
    }
}

fn value_text(row: &Row) -> String {
    let mark = if row.place == Place::Partial { " \u{2020}" } else { "" };
    row.value.as_ref().map_or_else(|| "-".to_owned(), |value| value.text(brief) + mark)
}

/// `: 88.1 %`, where a sentence has a number.
fn number_of(claim: &ClaimResult) -> String {
    if claim.ours.is_empty() { String::new() } else { format!(": {}", claim.ours) }
}

fn is_first(place: Place) -> bool {
    matches!(place, Place::Best | Place::Tie)
}

impl CrossReport<'_> {
    fn schemes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.columns.iter().flat_map(|column| &column.rows) {
            if !names.contains(&row.scheme.as_str()) {
                names.push(&row.scheme);
            }
        }
        names
    }

    fn row<'a>(column: &'a Column<'_>, scheme: &str) -> Option<&'a Row> {
        column.rows.iter().find(|row| row.scheme == scheme)
    }

    fn firsts(&self, scheme: &str) -> usize {
        self.columns.iter().filter(|of| Self::row(of, scheme).is_some_and(|row| is_first(row.place))).count()
    }

    /// Who is best in a column, and who ties with it.
    fn winners(column: &Column<'_>) -> (String, String) {
        let best = column.rows.iter().find(|row| row.place == Place::Best);
        let best = best.map_or_else(|| "-".to_owned(), |row| format!("{}: {}", row.scheme, value_text(row)));
        let ties: Vec<&str> =
            column.rows.iter().filter(|row| row.place == Place::Tie).map(|row| row.scheme.as_str()).collect();
        (best, if ties.is_empty() { "-".to_owned() } else { ties.join(", ") })
    }

    fn title(column: &Column<'_>) -> String {
        let unit = if column.compared.unit.is_empty() { String::new() } else { format!(", {}", column.compared.unit) };
        format!("{}{unit}", column.compared.title)
    }

    /// The page.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.made.papers.first().map_or("", |paper| &paper.about.title));
        out.push_str(
            "Each paper compares its scheme with baselines of its own choice. Here every scheme of the simulator, with \
             its default preset, runs on set-ups of all five papers: one simulator, one set of baselines, and one DCQCN \
             beneath the schemes that work with one. The program \
             writes this page; every number comes from the runs of the command below. *±* is a 95 % confidence interval \
             over seeds. Two schemes tie where the interval of their difference, seed by seed, reaches zero.\n\n",
        );
        out.push_str("## What the numbers say\n\n");
        out.push_str(
            "Each sentence has an expression over the runs and is judged as the papers' claims are \
             ([docs/experiments.md](experiments.md)); one that does not hold is listed with its verdict.\n\n",
        );
        for (index, claim) in self.sentences.iter().enumerate() {
            let number = number_of(claim);
            let verdict = match claim.verdict {
                Verdict::Holds => String::new(),
                other => format!(" **{}**.", other.words()),
            };
            out.push_str(&format!("{}. {}{}.{verdict}\n", index + 1, inline(&claim.says), inline(&number)));
        }
        out.push_str("\n## Who is best where\n\n");
        let mut rows = Vec::new();
        for column in &self.columns {
            let (best, ties) = Self::winners(column);
            rows.push(vec![cell(&column.case.title), cell(&Self::title(column)), cell(&best), cell(&ties)]);
        }
        out.push_str(&table(&["set-up", "number", "best", "ties with it"], rows));
        out.push_str("## How far each scheme is from the best\n\n");
        out.push_str(
            "Times worse than the best of the column (1.00 is the best; bold: the best and what ties with it; in \
             brackets: the number itself, where the best has none of it; †: some flows had not ended, so their times are \
             missing and the scheme is not compared). The last column counts the bold ones.\n\n",
        );
        let heads: Vec<String> = (1..=self.columns.len()).map(|number| number.to_string()).collect();
        let mut head = vec!["scheme"];
        head.extend(heads.iter().map(String::as_str));
        head.push("first");
        let row = |scheme: &str| {
            let mut cells = vec![cell(scheme)];
            cells.extend(self.columns.iter().map(|column| match Self::row(column, scheme) {
                Some(row) if is_first(row.place) => format!("**{}**", ratio_text(column, row)),
                Some(row) => ratio_text(column, row),
                None => "-".to_owned(),
            }));
            cells.push(self.firsts(scheme).to_string());
            cells
        };
        let mut schemes = self.schemes();
        schemes.sort_by_key(|scheme| std::cmp::Reverse(self.firsts(scheme)));
        out.push_str(&table(&head, schemes.iter().map(|scheme| row(scheme)).collect()));
        for (index, column) in self.columns.iter().enumerate() {
            out.push_str(&format!(
                "{}. {}: {}.\n",
                index + 1,
                inline(&column.case.title),
                inline(&Self::title(column))
            ));
        }
        out.push('\n');
        out.push_str("## Numbers\n\n");
        for case in &self.cross.cases {
            let own: Vec<&Column<'_>> = self.columns.iter().filter(|column| column.case.id == case.id).collect();
            let Some(first) = own.first() else { continue };
            out.push_str(&format!("### {}\n\nThe set-up of `{}`.", inline(&case.title), case.of));
            if let Some(page) = self.made.papers.iter().flat_map(|of| &of.experiments).find(|of| of.id == case.id)
                && !page.scaled.is_empty()
            {
                out.push_str(&format!(" Scaled: {}.", inline(&page.scaled)));
            }
            for (scheme, why) in &case.without {
                out.push_str(&format!(" Without {}: {}.", inline(scheme), inline(why)));
            }
            out.push_str("\n\n");
            let heads: Vec<String> = own.iter().map(|column| Self::title(column)).collect();
            let mut head = vec!["scheme"];
            head.extend(heads.iter().map(String::as_str));
            let rows = first.rows.iter().map(|row| {
                let mut cells = vec![cell(&row.scheme)];
                cells.extend(own.iter().map(|column| match Self::row(column, &row.scheme) {
                    Some(row) if is_first(row.place) => format!("**{}**", cell(&value_text(row))),
                    Some(row) => cell(&value_text(row)),
                    None => "-".to_owned(),
                }));
                cells
            });
            out.push_str(&table(&head, rows.collect()));
        }
        out.push_str("## How it was made\n\n");
        let made = self.made;
        out.push_str(&format!(
            "`{}`: version {}, {} runs, {} CPU in all.\n",
            made.command.replace('`', "'"),
            cell(&made.version),
            made.runs,
            super::duration(made.cpu_seconds)
        ));
        out
    }

    /// For the terminal.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        for (index, claim) in self.sentences.iter().enumerate() {
            let number = number_of(claim);
            let verdict =
                if claim.verdict == Verdict::Holds { String::new() } else { format!(" ({})", claim.verdict.words()) };
            wrap::paragraph(&mut out, &format!("{}. {}{number}{verdict}", index + 1, claim.says), 0, width);
        }
        for case in &self.cross.cases {
            let own: Vec<&Column<'_>> = self.columns.iter().filter(|column| column.case.id == case.id).collect();
            if own.is_empty() {
                continue;
            }
            out.push('\n');
            wrap::paragraph(&mut out, &case.title, 0, width);
            let mut grid = Grid::new(["number", "best", "ties with it"]).left(&[1, 2]);
            for column in own {
                let (best, ties) = Self::winners(column);
                let count = column.rows.iter().filter(|row| row.place == Place::Tie).count();
                let ties = if count > MOST_NAMED { format!("{count} others") } else { ties };
                grid.row([Self::title(column), best, ties]);
            }
            out.push_str(&grid.text_in(width));
        }
        out
    }

    /// One row per number.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory cannot fail.
        let mut write = |row: [&str; 10]| writer.write_record(row).expect("memory takes any row");
        write(["case", "experiment", "measure", "unit", "better", "scheme", "mean", "half_width", "seeds", "place"]);
        for column in &self.columns {
            let (case, compared) = (column.case, column.compared);
            let better = if compared.better == Better::Lower { "lower" } else { "higher" };
            for row in &column.rows {
                let mean = row.value.map(|value| value.mean.to_string()).unwrap_or_default();
                let half = row.value.and_then(|value| value.half_width).map(|half| half.to_string());
                let seeds = row.value.map_or(0, |value| value.count).to_string();
                let place = match row.place {
                    Place::Best => "best",
                    Place::Tie => "tie",
                    Place::Worse => "worse",
                    Place::Partial => "partial",
                    Place::Unknown => "unknown",
                };
                let half = half.unwrap_or_default();
                let of = [&case.id, &case.of, &compared.measure, &compared.unit].map(String::as_str);
                write([of[0], of[1], of[2], of[3], better, &row.scheme, &mean, &half, &seeds, place]);
            }
        }
        String::from_utf8(writer.into_inner().expect("memory takes any row")).expect("rows are text")
    }
}
