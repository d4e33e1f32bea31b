//! One look per label within a figure, and one colour per scheme in all of them.

use super::pick::{Choice, Picked};
use xoff_results::figures::chart::{Dash, Hatch, Marker, Style};
use xoff_results::figures::colour::{DASHES, PALETTE, by_index, of_schemes};
use xoff_scenario::Looks;

/// Labels of a figure with the looks they got, in order of appearance.
#[derive(Default)]
pub struct Styles(Vec<(String, Style)>);

impl Styles {
    /// The look of a label: as before, else as wished, else what is free. Markers differ in order of appearance.
    pub fn of(&mut self, label: &str, wish: Option<Style>, dash: Option<Dash>) -> Style {
        if let Some(&(_, style)) = self.0.iter().find(|(known, _)| known == label) {
            return style;
        }
        let taken = |style: &Style| self.0.iter().any(|(_, of)| of.colour == style.colour && of.dash == style.dash);
        let free = |style: &Style| !taken(style);
        let fallback = || (0..28).map(by_index).find(free).unwrap_or(by_index(0));
        let style = match (wish, dash) {
            (None, None) => fallback(),
            // Asked for in so many words, whatever else looks like it.
            (Some(style), Some(dash)) => Style { dash, ..style },
            (None, Some(dash)) => {
                let colours = || PALETTE.into_iter().map(|colour| Style::from((colour, dash)));
                let unused = |of: &Style| !self.0.iter().any(|(_, style)| style.colour == of.colour);
                colours().find(unused).or_else(|| colours().find(free)).unwrap_or((PALETTE[0], dash).into())
            }
            (Some(style), None) if free(&style) => style,
            (Some(style), None) => {
                DASHES.into_iter().map(|dash| Style { dash, ..style }).find(free).unwrap_or_else(fallback)
            }
        };
        let style = Style { marker: Some(Marker::nth(self.0.len())), ..style };
        self.0.push((label.to_owned(), style));
        style
    }

    /// The filling of a label's bars; labels beyond the seventh share theirs.
    pub fn hatch(&self, label: &str) -> Hatch {
        let index = self.0.iter().position(|(known, ..)| known == label).unwrap_or(0);
        Hatch::ALL[index % Hatch::ALL.len()]
    }
}

/// The colour of the scheme that a choice of values names, if it names one.
pub fn of_scheme(picked: &Picked<'_>, choice: &Choice) -> Option<Style> {
    let named = |&&(axis, _): &&(usize, usize)| {
        let values = &picked.group.axes[axis].values;
        values.iter().any(|value| value.scheme.is_some())
    };
    let &(axis, value) = choice.iter().find(named)?;
    let values = &picked.group.axes[axis].values;
    let names: Vec<String> = values.iter().map(|v| v.scheme.clone().unwrap_or_else(|| v.name.clone())).collect();
    let style = of_schemes(&names, &Looks::default())[value];
    // A second axis is distinguished by dashes.
    let other = choice.iter().find(|(other, _)| *other != axis && picked.group.axes[*other].values.len() > 1);
    Some(Style { dash: other.map_or(style.dash, |(_, value)| DASHES[value % DASHES.len()]), ..style })
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
        assert!(second.colour == blue.colour && second.dash != blue.dash, "the colour stays, the dash differs");
        assert_ne!(first.marker, second.marker);
        let third = styles.of("c", None, None);
        assert!(third != first && third != second);
        assert_eq!(styles.of("a", None, None), first);
        let dotted = styles.of("d", None, Some(Dash::Dotted));
        assert!(dotted.dash == Dash::Dotted && ![first.colour, third.colour].contains(&dotted.colour));
        assert_ne!(styles.hatch("a"), styles.hatch("b"));
    }
}
