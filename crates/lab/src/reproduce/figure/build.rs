//! From the spec of a figure and the runs' results to what is drawn.

use super::pick::{Choice, Picked};
use super::spec::{AxisSpec, FigureSpec, Kind, Series, What};
use super::style::{Styles, of_scheme};
use super::{Shown, bars, lines, table};
use crate::reproduce::results::Results;
use crate::results::figures::chart::{Axis, AxisUnit, Chart, Line, Panel};

pub type Point = (f64, f64);

/// Points of a whole figure; more make a large document and no better picture.
const MOST_POINTS: usize = 4500;

/// What grows while a figure is made.
pub struct Builder<'a> {
    pub spec: &'a FigureSpec,
    pub styles: Styles,
    groups: Vec<String>,
    slots: Vec<String>,
    notes: Vec<String>,
    never: bool,
    /// Most seeds behind one number, and whether intervals are drawn.
    seeds: usize,
    intervals: bool,
}

/// A series within one panel: the runs it may show.
pub struct View<'a> {
    pub picked: Picked<'a>,
    /// The panel's own value.
    fixed: Choice,
    pub by: Vec<usize>,
    pub over: Option<usize>,
}

/// Draws a figure. Nothing comes of one whose runs were not made; wrong names are an error.
pub fn draw(spec: &FigureSpec, experiment: &str, results: &Results) -> Result<Vec<Shown>, String> {
    let named = |why: String| match spec.name.as_str() {
        "" => format!("figure of {experiment}: {why}"),
        name => format!("figure {name} of {experiment}: {why}"),
    };
    if spec.kind == Kind::Table {
        return table::draw(spec, results).map_err(named);
    }
    let file = if spec.name.is_empty() { experiment.to_owned() } else { format!("{experiment}-{}", spec.name) };
    Ok(chart(spec, file, results).map_err(named)?.map(|chart| Shown::Chart(Box::new(chart))).into_iter().collect())
}

fn chart(spec: &FigureSpec, file: String, results: &Results) -> Result<Option<Chart>, String> {
    let mut builder = Builder::new(spec);
    let mut panels = Vec::new();
    for panel in panel_names(spec, results)? {
        let mut made = Panel::default();
        for series in &spec.series {
            let Some(view) = View::of(spec, series, panel.as_ref().map(|(name, _)| name.as_str()), results)? else {
                continue;
            };
            match spec.kind {
                Kind::Lines | Kind::Steps => made.lines.extend(lines::of_series(&mut builder, series, &view)?),
                _ => bars::of_series(&mut builder, series, &view, &mut made.bars)?,
            }
        }
        made.title = panel.map(|(_, title)| title).unwrap_or_default();
        if !made.lines.is_empty() || !made.bars.is_empty() {
            panels.push(made);
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    lines::thin(panels.iter_mut().flat_map(|panel| &mut panel.lines).collect(), &spec.x, MOST_POINTS);
    let columns = spec.panel_columns.unwrap_or(match panels.len() {
        0 | 1 => 1,
        2..=4 => 2,
        _ => 3,
    });
    let bars = !builder.groups.is_empty();
    let note = builder.whole_note();
    Ok(Some(Chart {
        file,
        title: spec.title.clone(),
        note,
        x: axis(&spec.x, false),
        y: axis(&spec.y, true),
        groups: if bars { builder.groups } else { Vec::new() },
        panels,
        columns,
        marks: spec.marks.clone(),
    }))
}

fn axis(spec: &AxisSpec, from_zero: bool) -> Axis {
    // On a logarithmic axis sizes read better with a prefix each.
    let unit = if spec.log && spec.unit == "B" { AxisUnit::Bytes } else { AxisUnit::Plain(spec.unit.clone()) };
    Axis {
        title: spec.title.clone(),
        unit,
        log: spec.log,
        from_zero: from_zero && !spec.log && spec.from.is_none(),
        from: spec.from,
        until: spec.until,
    }
}

/// Names of the panels' values with their titles; one nameless panel where there are none.
fn panel_names(spec: &FigureSpec, results: &Results) -> Result<Vec<Option<(String, String)>>, String> {
    let Some(name) = &spec.panels else { return Ok(vec![None]) };
    let mut found: Vec<Option<(String, String)>> = Vec::new();
    let mut known = false;
    for series in &spec.series {
        let Some(picked) = Picked::of(series, first_measure(series), results)? else { continue };
        let Ok(axis) = picked.axis(name) else { continue };
        known = true;
        for choice in picked.choices(&[axis]) {
            let value = picked.value(choice[0]);
            let title = if value.number.is_some() { format!("{name} {}", value.name) } else { value.name.clone() };
            let panel = Some((value.name.clone(), title));
            if !found.contains(&panel) {
                found.push(panel);
            }
        }
    }
    let any = results.groups.iter().any(|group| !group.cells.is_empty());
    if !known && any {
        return Err(format!("no runs have the axis `{name}` of its panels"));
    }
    Ok(found)
}

pub fn first_measure(series: &Series) -> &str {
    match &series.what {
        What::Curve(name) | What::Cumulative(name) => name,
        What::Numbers(list) => list.first().map_or("", |(measure, _)| measure),
    }
}

impl<'a> View<'a> {
    /// `None` where the panel has nothing of the series.
    pub fn of(
        spec: &FigureSpec,
        series: &Series,
        panel: Option<&str>,
        results: &'a Results,
    ) -> Result<Option<View<'a>>, String> {
        let Some(picked) = Picked::of(series, first_measure(series), results)? else { return Ok(None) };
        let mut fixed = Vec::new();
        let panel_axis = spec.panels.as_ref().and_then(|name| picked.axis(name).ok());
        if let (Some(axis), Some(panel)) = (panel_axis, panel) {
            let mut choices = picked.choices(&[axis]).into_iter();
            let Some(choice) = choices.find(|choice| picked.value(choice[0]).name == panel) else { return Ok(None) };
            fixed = choice;
        }
        let by = series.by.iter().map(|name| picked.axis(name)).collect::<Result<Vec<_>, _>>()?;
        let by = by.into_iter().filter(|axis| Some(*axis) != panel_axis).collect();
        let over = series.over.as_ref().map(|name| picked.axis(name)).transpose()?;
        Ok(Some(View { picked, fixed, by, over }))
    }

    /// Combinations of the values of these axes, each with the panel's value ahead.
    pub fn choices(&self, axes: &[usize]) -> Vec<Choice> {
        self.picked.choices(axes).into_iter().map(|choice| [&self.fixed[..], &choice[..]].concat()).collect()
    }

    pub fn over_name(&self) -> &str {
        self.over.map_or("", |axis| &self.picked.group.axes[axis].name)
    }

    /// The label of a line, bar or row: as the series says, else by its values and, unless it is
    /// the only series, its measure.
    pub fn label(&self, series: &Series, choice: &Choice, measure: &str, alone: bool) -> Result<String, String> {
        let Some(label) = &series.label else {
            let names = self.names(choice);
            return Ok(match (names.as_str(), alone) {
                ("", _) => measure.to_owned(),
                (_, true) => names,
                (_, false) => format!("{names} {measure}").trim_end().to_owned(),
            });
        };
        let mut out = String::new();
        let mut rest = label.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("a brace of the label is not closed")?;
            out.push_str(before);
            out.push_str(&self.value_name(name, choice)?);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The names of the values that tell lines apart.
    pub fn names(&self, choice: &Choice) -> String {
        let name = |at: &(usize, usize)| {
            let value = self.picked.value(*at);
            match value.number {
                Some(_) => format!("{} {}", self.picked.group.axes[at.0].name, value.name),
                None => value.name.clone(),
            }
        };
        let names: Vec<String> = choice.iter().filter(|(axis, _)| self.by.contains(axis)).map(name).collect();
        names.join(", ")
    }

    /// The name of an axis's value, which the choice or the filter must leave alone.
    fn value_name(&self, name: &str, choice: &Choice) -> Result<String, String> {
        let axis = self.picked.axis(name)?;
        if let Some(at) = choice.iter().find(|(of, _)| *of == axis) {
            return Ok(self.picked.value(*at).name.clone());
        }
        match &self.picked.choices(&[axis])[..] {
            [one] => Ok(self.picked.value(one[0]).name.clone()),
            _ => Err(format!("the label names {{{name}}}, which has several values here")),
        }
    }
}

impl<'a> Builder<'a> {
    pub fn new(spec: &'a FigureSpec) -> Builder<'a> {
        Builder {
            spec,
            styles: Styles::default(),
            groups: Vec::new(),
            slots: Vec::new(),
            notes: Vec::new(),
            never: false,
            seeds: 0,
            intervals: false,
        }
    }

    /// An empty line with name and look.
    pub fn line(&mut self, series: &Series, view: &View<'_>, choice: &Choice, measure: &str) -> Result<Line, String> {
        let several = matches!(&series.what, What::Numbers(list) if list.len() > 1);
        let name = match several {
            true => measure.to_owned(),
            false => view.label(series, choice, measure, self.spec.series.len() == 1)?,
        };
        let style = self.wish(series, view, choice, &name, !several);
        Ok(Line::new(name, style, Vec::new()))
    }

    /// Settles the look of a label, by the scheme that it stands for if it does.
    pub fn wish(
        &mut self,
        series: &Series,
        view: &View<'_>,
        choice: &Choice,
        label: &str,
        by_scheme: bool,
    ) -> (plotters::style::RGBColor, crate::results::figures::chart::Dash) {
        let mut told: Choice = choice.iter().copied().filter(|(axis, _)| view.by.contains(axis)).collect();
        if view.by.is_empty() {
            // A filter that leaves one of several schemes names that scheme.
            for (axis, of) in view.picked.group.axes.iter().enumerate() {
                let in_panel = view.fixed.iter().any(|(fixed, _)| *fixed == axis);
                if let [one] = &view.picked.choices(&[axis])[..]
                    && of.values.len() > 1
                    && !in_panel
                {
                    told.extend(one);
                }
            }
        }
        let wish = of_scheme(&view.picked, &told).filter(|_| by_scheme);
        self.styles.of(label, wish, series.dash)
    }

    /// The index of a group of bars.
    pub fn group(&mut self, name: &str) -> usize {
        position(&mut self.groups, name)
    }

    /// The place of a label's bars within groups.
    pub fn slot(&mut self, label: &str) -> usize {
        position(&mut self.slots, label)
    }

    pub fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub fn seen_never(&mut self) {
        self.never = true;
    }

    pub fn seen_seeds(&mut self, count: usize, interval: bool) {
        self.intervals |= interval;
        self.seeds = self.seeds.max(count);
    }

    /// The spec's note, and what the drawing itself needs explained.
    fn whole_note(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        if !self.spec.note.is_empty() {
            all.push(self.spec.note.clone());
        }
        if self.intervals {
            all.push(format!("Whiskers: 95 % confidence interval of the mean over {} seeds.", self.seeds));
        } else if self.seeds > 1 {
            all.push(format!("Drawn: the first of {} seeds.", self.seeds));
        }
        if self.never {
            all.push("An arrow head at the top: never within the run.".to_owned());
        }
        all.extend(self.notes.iter().cloned());
        all.join(" ")
    }
}

fn position(list: &mut Vec<String>, name: &str) -> usize {
    list.iter().position(|known| known == name).unwrap_or_else(|| {
        list.push(name.to_owned());
        list.len() - 1
    })
}
