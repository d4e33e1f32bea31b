//! One look per label within a figure, and one colour per scheme in all of them.

use super::pick::{Choice, Picked};
use xoff_results::figures::chart::RGBColor;
use xoff_results::figures::chart::{Dash, Hatch};
use xoff_results::figures::colour::{DASHES, PALETTE, by_index, of_schemes};

/// Labels of a figure with the looks they got, in order of appearance.
#[derive(Default)]
pub struct Styles(Vec<(String, RGBColor, Dash)>);

impl Styles {
    /// The look of a label: as before, else as wished, else what is free.
    pub fn of(&mut self, label: &str, wish: Option<(RGBColor, Dash)>, dash: Option<Dash>) -> (RGBColor, Dash) {
        if let Some(&(_, colour, dash)) = self.0.iter().find(|(known, ..)| known == label) {
            return (colour, dash);
        }
        let free = |style: &(RGBColor, Dash)| !self.0.iter().any(|&(_, colour, dash)| (colour, dash) == *style);
        let fallback = || (0..28).map(by_index).find(free).unwrap_or(by_index(0));
        let style = match (wish, dash) {
            (None, None) => fallback(),
            // Asked for in so many words, whatever else looks like it.
            (Some((colour, _)), Some(dash)) => (colour, dash),
            (None, Some(dash)) => {
                let colours = || PALETTE.into_iter().map(|colour| (colour, dash));
                let unused = |(of, _): &(RGBColor, Dash)| !self.0.iter().any(|(_, colour, _)| colour == of);
                colours().find(unused).or_else(|| colours().find(free)).unwrap_or((PALETTE[0], dash))
            }
            (Some(style), None) if free(&style) => style,
            (Some((colour, _)), None) => {
                DASHES.into_iter().map(|dash| (colour, dash)).find(free).unwrap_or_else(fallback)
            }
        };
        self.0.push((label.to_owned(), style.0, style.1));
        style
    }

    /// The filling of a label's bars; labels beyond the seventh share theirs.
    pub fn hatch(&self, label: &str) -> Hatch {
        let index = self.0.iter().position(|(known, ..)| known == label).unwrap_or(0);
        Hatch::ALL[index % Hatch::ALL.len()]
    }
}

/// The colour of the scheme that a choice of values names, if it names one.
pub fn of_scheme(picked: &Picked<'_>, choice: &Choice) -> Option<(RGBColor, Dash)> {
    let named = |&&(axis, _): &&(usize, usize)| {
        let values = &picked.group.axes[axis].values;
        values.iter().any(|value| value.scheme.is_some())
    };
    let &(axis, value) = choice.iter().find(named)?;
    let values = &picked.group.axes[axis].values;
    let names: Vec<String> = values.iter().map(|v| v.scheme.clone().unwrap_or_else(|| v.name.clone())).collect();
    let (colour, dash) = of_schemes(&names)[value];
    // A second axis is told by dashes.
    let other = choice.iter().find(|(other, _)| *other != axis && picked.group.axes[*other].values.len() > 1);
    Some((colour, other.map_or(dash, |(_, value)| DASHES[value % DASHES.len()])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_keeps_its_look_and_no_two_share_one() {
        let mut styles = Styles::default();
        let blue = by_index(0);
        let first = styles.of("a", Some(blue), None);
        assert_eq!(first, blue);
        let second = styles.of("b", Some(blue), None);
        assert!(second.0 == blue.0 && second.1 != blue.1, "the colour stays, the dash differs");
        let third = styles.of("c", None, None);
        assert!(third != first && third != second);
        assert_eq!(styles.of("a", None, None), first);
        let dotted = styles.of("d", None, Some(Dash::Dotted));
        assert!(dotted.1 == Dash::Dotted && ![first.0, third.0].contains(&dotted.0));
        assert_ne!(styles.hatch("a"), styles.hatch("b"));
    }
}
