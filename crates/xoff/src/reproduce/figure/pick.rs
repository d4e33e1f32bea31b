//! Which runs a series of a figure is made of.

use super::series::Series;
use crate::reproduce::results::{AxisValue, Cell, Group, Results};

/// A choice of values: pairs of axis and value index.
pub type Choice = Vec<(usize, usize)>;

/// The group of runs of a series, with what it may show of it.
pub struct Picked<'a> {
    pub group: &'a Group,
    /// For each axis, which of its values are not filtered away.
    allowed: Vec<Vec<bool>>,
}

impl<'a> Picked<'a> {
    /// `None` if nothing of it was run; an error if it cannot be.
    pub fn of(series: &Series, measure: &str, results: &'a Results) -> Result<Option<Picked<'a>>, String> {
        let Some(group) = results.group_with(measure, series.runs.as_deref()) else {
            // A group may be left out at a scale, and failed runs may lack measures.
            let sound = results.groups.iter().flat_map(runs).any(|run| run.failure.is_none());
            return match &series.runs {
                None if sound => Err(format!("no run yields `{measure}`")),
                _ => Ok(None),
            };
        };
        if !group.measures(measure) && runs(group).any(|run| run.failure.is_none()) {
            return Err(format!("no run of `{}` yields `{measure}`", group.name));
        }
        let mut allowed: Vec<Vec<bool>> = group.axes.iter().map(|axis| vec![true; axis.values.len()]).collect();
        for (name, values) in &series.only {
            let (axis, of) = group.axis(name).ok_or_else(|| no_axis(group, name))?;
            allowed[axis] = of.values.iter().map(|value| values.iter().any(|wanted| is(value, wanted))).collect();
        }
        Ok(Some(Picked { group, allowed }))
    }

    pub fn axis(&self, name: &str) -> Result<usize, String> {
        self.group.axis(name).map(|(index, _)| index).ok_or_else(|| no_axis(self.group, name))
    }

    pub fn value(&self, (axis, value): (usize, usize)) -> &'a AxisValue {
        &self.group.axes[axis].values[value]
    }

    /// Every combination of the values of some axes, the last axis fastest.
    pub fn choices(&self, axes: &[usize]) -> Vec<Choice> {
        let mut all: Vec<Choice> = vec![Vec::new()];
        for &axis in axes {
            let values = || (0..self.allowed[axis].len()).filter(|value| self.allowed[axis][*value]);
            let longer = |choice: &Choice| values().map(|v| [&choice[..], &[(axis, v)]].concat()).collect::<Vec<_>>();
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// The cell like another but for some values of axes; `None` if it was not run, or is that other.
    pub fn like(&self, cell: &Cell, at: &[(String, Vec<String>)]) -> Result<Option<&'a Cell>, String> {
        let group: &'a Group = self.group;
        let mut wanted = cell.at.clone();
        for (name, values) in at {
            let axis = self.axis(name)?;
            let known = |value: &AxisValue| values.iter().any(|wanted| is(value, wanted));
            let Some(value) = group.axes[axis].values.iter().position(known) else { return Ok(None) };
            wanted[axis] = value;
        }
        Ok(group.cells.iter().find(|other| other.at == wanted && wanted != cell.at))
    }

    /// The one cell of a choice that was run; an error if the choice leaves several.
    pub fn cell(&self, choice: &Choice) -> Result<Option<&'a Cell>, String> {
        let group: &'a Group = self.group;
        let fits = |cell: &&Cell| {
            let chosen = choice.iter().all(|&(axis, value)| cell.at[axis] == value);
            chosen && !cell.seeds.is_empty() && cell.at.iter().zip(&self.allowed).all(|(at, allowed)| allowed[*at])
        };
        let cells: Vec<&'a Cell> = group.cells.iter().filter(fits).collect();
        if cells.len() < 2 {
            return Ok(cells.first().copied());
        }
        let differ = |axis: &usize| cells.iter().any(|cell| cell.at[*axis] != cells[0].at[*axis]);
        let axes: Vec<String> =
            (0..group.axes.len()).filter(differ).map(|axis| format!("`{}`", group.axes[axis].name)).collect();
        Err(format!(
            "{} runs of `{}` would be one point: {} must be in `by`, `over`, `panels` or `where`",
            cells.len(),
            group.name,
            axes.join(", ")
        ))
    }
}

fn runs(group: &Group) -> impl Iterator<Item = &crate::reproduce::results::Run> {
    group.cells.iter().flat_map(|cell| &cell.seeds)
}

fn no_axis(group: &Group, name: &str) -> String {
    let names: Vec<&str> = group.axes.iter().map(|axis| axis.name.as_str()).collect();
    format!("the runs `{}` have no axis `{name}`, only {}", group.name, names.join(", "))
}

/// Compares by name, or by number where both are one.
pub fn is(value: &AxisValue, wanted: &str) -> bool {
    value.name == wanted || (value.number.is_some() && wanted.parse().ok() == value.number)
}
