//! Colours that people with any colour vision can tell apart, dashes and markers for print.

use super::chart::{Dash, Marker, Style};
use plotters::style::RGBColor;
use xoff_scenario::Looks;

/// The Okabe-Ito palette without black and with a darkened yellow, best contrasts first.
pub const PALETTE: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0xA6, 0x9B, 0x00),
];
const GREY: RGBColor = RGBColor(0x55, 0x55, 0x55);
/// As many as have no factor in common with the palette: pairs repeat after 28.
pub const DASHES: [Dash; 4] = [Dash::Solid, Dash::Long, Dash::Short, Dash::Dotted];

/// The customary colour and dash of each scheme. Where two schemes of one figure have the same colour, the one that
/// stands first here keeps it and the other takes a free one. The marker is that of the place in this list.
const SCHEMES: [(&str, RGBColor, Dash); 23] = [
    ("dcqcn", PALETTE[0], Dash::Solid),
    ("pcn", PALETTE[1], Dash::Short),
    ("timely", PALETTE[2], Dash::Solid),
    ("hpcc", PALETTE[3], Dash::Solid),
    ("none", GREY, Dash::Long),
    ("qcn", PALETTE[4], Dash::Long),
    ("mercury", PALETTE[5], Dash::Short),
    ("rcm", PALETTE[6], Dash::Solid),
    ("mlcc", PALETTE[1], Dash::Solid),
    ("fqcn", PALETTE[1], Dash::Long),
    ("af-qcn", PALETTE[2], Dash::Dotted),
    ("tcd", PALETTE[6], Dash::Long),
    ("patched-timely", PALETTE[2], Dash::Long),
    ("powertcp", PALETTE[4], Dash::Solid),
    ("theta-powertcp", PALETTE[4], Dash::Dotted),
    ("pacc", PALETTE[4], Dash::Short),
    ("tcp-newreno", PALETTE[6], Dash::Short),
    ("dctcp", PALETTE[6], Dash::Dotted),
    ("swift", PALETTE[1], Dash::Dotted),
    ("rocc", PALETTE[5], Dash::Dotted),
    ("np-ecn", PALETTE[3], Dash::Dotted),
    ("nscc", PALETTE[5], Dash::Solid),
    ("hpcc-pint", PALETTE[3], Dash::Short),
];

/// Look of the `index`-th curve of a figure; colour and dash differ up to 28, colour and marker up to 112. Neighbours
/// differ in all three, so that one shows through the other where they coincide.
pub fn by_index(index: usize) -> Style {
    Style {
        colour: PALETTE[index % PALETTE.len()],
        dash: DASHES[index % DASHES.len()],
        marker: Some(Marker::nth(index)),
    }
}

/// Without preset, base and parameters: `dcqcn` of `dcqcn:paper`.
fn plain(name: &str) -> &str {
    name.split([':', '+', '{', ' ']).next().unwrap_or(name)
}

fn rank(name: &str) -> Option<usize> {
    SCHEMES.iter().position(|(known, ..)| *known == plain(name))
}

/// Looks of the schemes of one figure. No two have the same colour as long as there are colours for all, and no two the
/// same colour and marker. A scheme has its customary colour unless another of the figure that comes first in the list
/// has it too; colours that the user set come before all. It does not matter in which order schemes are named. A name
/// that stands twice is two settings of one scheme: they share its colour and differ in dash and marker.
pub fn of_schemes(names: &[String], looks: &Looks) -> Vec<Style> {
    let first = |at: usize| names.iter().position(|name| *name == names[at]).unwrap_or(at);
    let set = |at: usize| looks.colour(&names[at]).map(|[red, green, blue]| RGBColor(red, green, blue));
    let mut order: Vec<usize> = (0..names.len()).filter(|at| first(*at) == *at).collect();
    // One that is named by its mere name comes before its presets.
    order.sort_by_key(|at| {
        (rank(&names[*at]).unwrap_or(SCHEMES.len()), plain(&names[*at]) != names[*at], names[*at].clone())
    });
    let mut colours: Vec<Option<RGBColor>> = (0..names.len()).map(|at| set(at).filter(|_| first(at) == at)).collect();
    for &at in &order {
        let customary = rank(&names[at]).map(|rank| SCHEMES[rank].1);
        if colours[at].is_none() && customary.is_some() && !colours.contains(&customary) {
            colours[at] = customary;
        }
    }
    for &at in &order {
        if colours[at].is_none() {
            let uses = |colour: &RGBColor| colours.iter().filter(|used| **used == Some(*colour)).count();
            let fewest = PALETTE.into_iter().chain([GREY]).min_by_key(uses);
            colours[at] = fewest;
        }
    }
    let mut styles: Vec<Option<Style>> = vec![None; names.len()];
    let again = (0..names.len()).filter(|at| first(*at) != *at);
    for at in order.iter().copied().chain(again) {
        let colour = colours[first(at)].unwrap_or(GREY);
        let known = rank(&names[at]);
        let taken = |dash: &Dash, of: &[Option<Style>]| {
            of.iter().flatten().filter(|style| style.colour == colour && style.dash == *dash).count()
        };
        let wish = known.map_or(DASHES[at % DASHES.len()], |known| SCHEMES[known].2);
        let dashes = [wish].into_iter().chain(DASHES);
        let dash = dashes.min_by_key(|dash| taken(dash, &styles)).unwrap_or(wish);
        let marker = free_marker(known, colour, &styles);
        styles[at] = Some(Style { colour, dash, marker: Some(marker) });
    }
    styles.into_iter().flatten().collect()
}

/// The scheme's own, else one that nobody has, else one that nobody of this colour has.
fn free_marker(known: Option<usize>, colour: RGBColor, styles: &[Option<Style>]) -> Marker {
    let used = |marker: &Marker, mine: bool| {
        let alike = |style: &&Style| style.marker == Some(*marker) && (!mine || style.colour == colour);
        styles.iter().flatten().filter(alike).count()
    };
    let all = known.into_iter().chain(0..Marker::COUNT).map(Marker::nth);
    // Of several minima the first is taken.
    all.min_by_key(|marker| (used(marker, true), used(marker, false))).unwrap_or(Marker::nth(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styles(list: &[&str]) -> Vec<Style> {
        of_schemes(&list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), &Looks::default())
    }

    fn differ<T: PartialEq>(of: &[T]) -> bool {
        of.iter().enumerate().all(|(at, one)| !of[..at].contains(one))
    }

    fn colours(list: &[&str]) -> Vec<RGBColor> {
        styles(list).into_iter().map(|style| style.colour).collect()
    }

    #[test]
    fn a_scheme_keeps_its_colour_where_it_can() {
        let alone = styles(&["dcqcn"])[0];
        assert_eq!(styles(&["mine", "none", "dcqcn"])[2], alone);
        assert_eq!((colours(&["pcn", "swift"])[0], colours(&["swift"])[0]), (PALETTE[1], PALETTE[1]));
    }

    #[test]
    fn few_schemes_never_share_a_colour() {
        let all: Vec<&str> = SCHEMES.iter().map(|(name, ..)| *name).collect();
        assert!(differ(&colours(&["dcqcn", "hpcc", "swift", "pcn"])));
        assert!(differ(&colours(&["dcqcn:nic", "dcqcn:paper", "dcqcn", "hpcc{eta=0.9}", "mercury+timely"])));
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate().skip(i) {
                for c in &all[j..] {
                    let mut list = vec![*a, *b, *c, "mine", "yours", "dcqcn:paper"];
                    list.sort_unstable();
                    list.dedup();
                    assert!(differ(&colours(&list)), "{list:?}");
                }
            }
        }
        // Eight fit the palette and its grey.
        assert!(differ(&colours(&all[..8])) && differ(&colours(&all[all.len() - 8..])));
    }

    #[test]
    fn the_order_of_schemes_changes_nothing() {
        let (one, two) =
            (styles(&["dcqcn", "hpcc", "swift", "pcn", "mlcc"]), styles(&["mlcc", "pcn", "swift", "hpcc", "dcqcn"]));
        assert_eq!(one, two.into_iter().rev().collect::<Vec<_>>());
    }

    #[test]
    fn two_settings_of_a_scheme_share_its_colour() {
        let styles = styles(&["mlcc", "dcqcn", "mlcc"]);
        assert!(styles[0].colour == styles[2].colour && styles[0].dash != styles[2].dash);
        assert_ne!(styles[0].marker, styles[2].marker);
    }

    #[test]
    fn what_the_user_sets_comes_first() {
        let looks = Looks { colours: [("swift".to_owned(), [0, 0x72, 0xB2])].into(), ..Looks::default() };
        let names = ["dcqcn", "swift"].map(str::to_owned);
        let styles = of_schemes(&names, &looks);
        assert_eq!(styles[1].colour, PALETTE[0]);
        assert_ne!(styles[0].colour, PALETTE[0]);
    }

    #[test]
    fn every_scheme_has_a_colour_of_its_own() {
        for spec in xoff_schemes::all() {
            assert!(SCHEMES.iter().any(|(name, ..)| *name == spec.name), "{} has no colour yet", spec.name);
        }
    }

    #[test]
    fn no_two_curves_are_alike_in_colour_and_marker() {
        let mut list: Vec<&str> = SCHEMES.iter().map(|(name, ..)| *name).collect();
        list.extend(["mine", "yours", "dcqcn", "dcqcn:paper"]);
        let pairs: Vec<_> = styles(&list).into_iter().map(|style| (style.colour, style.marker)).collect();
        assert!(differ(&pairs));
        // Up to sixteen have markers of their own.
        assert!(differ(&styles(&list[..Marker::COUNT]).into_iter().map(|style| style.marker).collect::<Vec<_>>()));
        let by_place: Vec<_> = (0..56).map(by_index).map(|style| (style.colour, style.marker)).collect();
        assert!(differ(&by_place));
    }
}
