//! What grows while a figure is made, and the runs that a series may show.

use super::paper::{self, Met};
use super::pick::{Choice, Picked};
use super::series::{Series, What};
use super::spec::FigureSpec;
use super::style::{Styles, of_scheme};
use crate::reproduce::results::{Cell, Estimate, Results, Run};
use xoff_results::figures::chart::{Line, Quoted, RGBColor, Style};

pub type Point = (f64, f64);

/// The colour of a line or bar, and the bar's group and slot.
pub type Spot = (Option<RGBColor>, Option<(usize, usize)>);

/// What grows while a figure is made.
pub struct Builder<'a> {
    pub spec: &'a FigureSpec,
    pub styles: Styles,
    pub groups: Vec<String>,
    slots: Vec<String>,
    notes: Vec<String>,
    never: bool,
    /// The values along x of lines over an axis of the runs.
    pub marks: Vec<(f64, String)>,
    /// Most seeds behind one number with an interval, and behind one curve.
    estimated: usize,
    drawn_of: usize,
    /// What the paper's numbers are about in the panel in hand, and which of them were shown in any.
    met: Vec<Met>,
    quoted: Vec<bool>,
}

/// A series within one panel: the runs it may show.
pub struct View<'a> {
    pub picked: Picked<'a>,
    /// The panel's own value.
    fixed: Choice,
    pub by: Vec<usize>,
    pub over: Option<usize>,
    /// What tells its labels from those of the other series, where they name none.
    tag: String,
}

pub fn first_measure(series: &Series) -> &str {
    match &series.what {
        What::Curve(name) | What::Cumulative(name) => name,
        What::Numbers { list, .. } => list.first().map_or("", |(measure, _)| measure),
    }
}

/// The measure where the series differ in it, the runs where their values have the same names.
fn tag(spec: &FigureSpec, series: &Series, results: &Results) -> Result<String, String> {
    let others = || spec.series.iter().filter(|other| !std::ptr::eq(*other, series));
    let mut parts = Vec::new();
    let named = matches!(series.what, What::Numbers { named: true, .. });
    if !named && others().any(|other| first_measure(other) != first_measure(series)) {
        parts.push(first_measure(series).to_owned());
    }
    let names = value_names(series, results)?;
    for other in others().filter(|other| first_measure(other) == first_measure(series) && other.label.is_none()) {
        if let Some(runs) = &series.runs
            && other.runs != series.runs
            && value_names(other, results)?.iter().any(|name| names.contains(name))
        {
            parts.push(format!("({runs})"));
            break;
        }
    }
    Ok(parts.join(" "))
}

/// The names by which a series tells its lines apart.
fn value_names(series: &Series, results: &Results) -> Result<Vec<Vec<String>>, String> {
    let Some(picked) = Picked::of(series, first_measure(series), results)? else { return Ok(Vec::new()) };
    let by = series.by.iter().map(|name| picked.axis(name)).collect::<Result<Vec<_>, _>>()?;
    let names = |choice: &Choice| choice.iter().map(|at| picked.value(*at).name.clone()).collect();
    Ok(picked.choices(&by).iter().map(names).collect())
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
        let tag = tag(spec, series, results)?;
        Ok(Some(View { picked, fixed, by, over, tag }))
    }

    /// Combinations of the values of these axes, each with the panel's value ahead.
    pub fn choices(&self, axes: &[usize]) -> Vec<Choice> {
        self.picked.choices(axes).into_iter().map(|choice| [&self.fixed[..], &choice[..]].concat()).collect()
    }

    /// A number of a cell over the seeds, or how it compares with that of the cell it is shown against.
    pub fn estimate(&self, series: &Series, cell: &Cell, measure: &str) -> Result<Option<Estimate>, String> {
        let Some(against) = &series.against else { return Ok(cell.estimate(measure)) };
        let Some(other) = self.picked.like(cell, &against.at)? else { return Ok(None) };
        let number = |run: &Run| run.measured.numbers.get(measure).copied();
        let compare = |run: &Run| {
            let other = other.seeds.iter().find(|other| other.seed == run.seed)?;
            Some(against.how.of(number(run)?, number(other)?)).filter(|value| value.is_finite())
        };
        // As claims do it: of the means, with the interval of the values seed by seed.
        let by_seed = Estimate::of(&cell.seeds.iter().filter_map(compare).collect::<Vec<_>>());
        let (Some(own), Some(base)) = (cell.estimate(measure), other.estimate(measure)) else { return Ok(None) };
        let mean = against.how.of(own.mean, base.mean);
        Ok(by_seed.filter(|_| mean.is_finite()).map(|by_seed| Estimate { mean, ..by_seed }))
    }

    /// Whether schemes are along x.
    pub fn over_schemes(&self) -> bool {
        self.over.is_some_and(|axis| self.picked.group.axes[axis].values.iter().any(|value| value.scheme.is_some()))
    }

    pub fn over_name(&self) -> &str {
        self.over.map_or("", |axis| &self.picked.group.axes[axis].name)
    }

    /// The label of a line, bar or row: as the series says, else by its values and what else
    /// tells it from other series; `otherwise` where there is nothing of that.
    pub fn label(&self, series: &Series, choice: &Choice, otherwise: &str) -> Result<String, String> {
        let Some(label) = &series.label else {
            let parts = [self.names(choice), self.tag.clone()];
            let label = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            return Ok(if label.is_empty() { otherwise.to_owned() } else { label });
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
            marks: Vec::new(),
            estimated: 0,
            drawn_of: 0,
            met: Vec::new(),
            quoted: vec![false; spec.paper.len()],
        }
    }

    /// Something was drawn: the paper's numbers about it belong beside it.
    pub fn meet(
        &mut self,
        series: &Series,
        (view, choice): (&View<'_>, &Choice),
        measure: Option<&str>,
        (colour, bar): Spot,
    ) {
        for (index, quote) in self.spec.paper.iter().enumerate() {
            if !quote.is_general() && quote.is_of(series, measure) && quote.fits(&view.picked, choice) {
                self.met.push(Met { quote: index, colour, bar });
            }
        }
    }

    /// The paper's numbers of the panel that was made.
    pub fn quotes(&mut self) -> Vec<Quoted> {
        let met = std::mem::take(&mut self.met);
        let mut out: Vec<Quoted> = Vec::new();
        for (index, quote) in self.spec.paper.iter().enumerate() {
            let own: Vec<&Met> = met.iter().filter(|met| met.quote == index).collect();
            let places: Vec<Spot> = match (quote.is_general(), &own[..]) {
                (true, _) => vec![(None, None)],
                (false, all) if matches!(quote.what, paper::Said::Value(_)) => {
                    all.iter().map(|met| (met.colour, met.bar)).collect()
                }
                (false, []) => Vec::new(),
                (false, [one]) => vec![(one.colour, None)],
                (false, [first, rest @ ..]) => {
                    let alike = rest.iter().all(|met| met.colour == first.colour);
                    vec![(first.colour.filter(|_| alike), None)]
                }
            };
            for (colour, bar) in places {
                let Some(place) = quote.place(bar) else { continue };
                let source = quote.source.clone();
                let quoted = Quoted { name: "paper".to_owned(), colour, place, shape: quote.shape, source };
                self.quoted[index] = true;
                out.push(quoted);
            }
        }
        out
    }

    /// An empty line with name and look.
    pub fn line(&mut self, series: &Series, view: &View<'_>, choice: &Choice, measure: &str) -> Result<Line, String> {
        let several = matches!(&series.what, What::Numbers { list, .. } if list.len() > 1);
        let name = match several {
            true => measure.to_owned(),
            false => view.label(series, choice, measure)?,
        };
        let style = self.wish(series, view, choice, &name, !several);
        Ok(Line::new(name, style, Vec::new()))
    }

    /// Settles the look of a label, by its scheme if it has one.
    pub fn wish(&mut self, series: &Series, view: &View<'_>, choice: &Choice, label: &str, by_scheme: bool) -> Style {
        let tells = |axis: usize| view.by.contains(&axis) || view.over == Some(axis);
        let mut named: Choice = choice.iter().copied().filter(|(axis, _)| tells(*axis)).collect();
        if named.is_empty() {
            // A filter that leaves one of several schemes names that scheme.
            for (axis, of) in view.picked.group.axes.iter().enumerate() {
                let in_panel = view.fixed.iter().any(|(fixed, _)| *fixed == axis);
                if let [one] = &view.picked.choices(&[axis])[..]
                    && of.values.len() > 1
                    && !in_panel
                {
                    named.extend(one);
                }
            }
        }
        let wish = of_scheme(&view.picked, &named).filter(|_| by_scheme);
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

    /// A value along x of lines over an axis of the runs.
    pub fn seen_value(&mut self, x: f64, name: &str) {
        if !self.marks.iter().any(|(known, _)| *known == x) {
            self.marks.push((x, name.to_owned()));
        }
    }

    pub fn seen_never(&mut self) {
        self.never = true;
    }

    /// A number was shown; one that is the same for all seeds has no interval.
    pub fn seen_estimate(&mut self, of: &Estimate) {
        if of.half_width.is_some_and(|half| half > 1e-6 * of.mean.abs()) {
            self.estimated = self.estimated.max(of.count);
        }
    }

    /// A curve was shown, the first of so many.
    pub fn seen_curve(&mut self, of: usize) {
        self.drawn_of = self.drawn_of.max(of);
    }

    /// The spec's note, and what the drawing itself needs explained.
    pub fn whole_note(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        if !self.spec.note.is_empty() {
            all.push(self.spec.note.clone());
        }
        if self.drawn_of > 1 {
            all.push(format!("Drawn: the first of {} seeds.", self.drawn_of));
        }
        if self.estimated > 1 {
            all.push(format!("Whiskers: 95 % confidence interval of the mean over {} seeds.", self.estimated));
        }
        if self.never {
            all.push("An arrow head at the top: never within the run.".to_owned());
        }
        all.extend(self.notes.iter().cloned());
        let shown = self.spec.paper.iter().zip(&self.quoted).filter(|(_, shown)| **shown);
        all.push(paper::note(&shown.map(|(quote, _)| quote).collect::<Vec<_>>(), true));
        all.retain(|text| !text.is_empty());
        all.join(" ")
    }
}

fn position(list: &mut Vec<String>, name: &str) -> usize {
    list.iter().position(|known| known == name).unwrap_or_else(|| {
        list.push(name.to_owned());
        list.len() - 1
    })
}
