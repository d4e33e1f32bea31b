//! Colours that people with any colour vision can tell apart, and dashes for print.

use super::chart::Dash;
use plotters::style::RGBColor;

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
/// As many as have no factor in common with the palette: pairs repeat after 28.
pub const DASHES: [Dash; 4] = [Dash::Solid, Dash::Long, Dash::Short, Dash::Dotted];

/// Schemes with a colour of their own, so that a scheme looks the same in every figure. Those that
/// a paper compares have different colours, not just different dashes.
const SCHEMES: [(&str, RGBColor, Dash); 21] = [
    ("none", RGBColor(0x55, 0x55, 0x55), Dash::Long),
    ("dcqcn", PALETTE[0], Dash::Solid),
    ("pcn", PALETTE[1], Dash::Short),
    ("timely", PALETTE[2], Dash::Solid),
    ("hpcc", PALETTE[3], Dash::Solid),
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
];

/// Colour and dash of the `index`-th curve of a figure; all different up to 28. Neighbours differ
/// in both, so that one shows through the other where they coincide.
pub fn by_index(index: usize) -> (RGBColor, Dash) {
    (PALETTE[index % PALETTE.len()], DASHES[index % DASHES.len()])
}

/// Colours and dashes for schemes: fixed by name for those we know; the others take what is free.
pub fn of_schemes(names: &[String]) -> Vec<(RGBColor, Dash)> {
    let fixed =
        |name: &String| SCHEMES.iter().find(|(known, ..)| known == name).map(|&(_, colour, dash)| (colour, dash));
    let mut taken: Vec<(RGBColor, Dash)> = names.iter().filter_map(fixed).collect();
    let free = |taken: &mut Vec<(RGBColor, Dash)>| {
        let style = (0..28).map(by_index).find(|style| !taken.contains(style)).unwrap_or(by_index(0));
        taken.push(style);
        style
    };
    let mut used: Vec<&String> = Vec::new();
    names
        .iter()
        .map(|name| {
            // The same scheme twice (two settings of it) must still be told apart.
            let again = used.contains(&name);
            used.push(name);
            match fixed(name) {
                Some(style) if !again => style,
                // Settings of one scheme share its colour as long as dashes suffice.
                Some((colour, _)) if names.iter().filter(|other| *other == name).count() <= DASHES.len() => {
                    let style = DASHES.into_iter().map(|dash| (colour, dash)).find(|style| !taken.contains(style));
                    style.inspect(|style| taken.push(*style)).unwrap_or_else(|| free(&mut taken))
                }
                _ => free(&mut taken),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_keeps_its_colour_whatever_stands_beside_it() {
        let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let alone = of_schemes(&names(&["dcqcn"]))[0];
        assert_eq!(of_schemes(&names(&["mine", "none", "dcqcn"]))[2], alone);
    }

    #[test]
    fn two_settings_of_a_scheme_share_its_colour() {
        let styles = of_schemes(&["mlcc".to_owned(), "dcqcn".to_owned(), "mlcc".to_owned()]);
        assert!(styles[0].0 == styles[2].0 && styles[0].1 != styles[2].1);
    }

    #[test]
    fn what_a_paper_compares_differs_in_colour() {
        for paper in [
            &["timely", "dcqcn", "tcd", "pacc", "hpcc", "mercury"][..],
            &["dcqcn", "timely", "hpcc", "powertcp", "mlcc"],
            &["none", "qcn", "dcqcn", "timely", "pcn"],
            &["tcp-newreno", "qcn", "af-qcn", "fqcn"],
        ] {
            let names: Vec<String> = paper.iter().map(|name| (*name).to_owned()).collect();
            let colours: Vec<RGBColor> = of_schemes(&names).into_iter().map(|(colour, _)| colour).collect();
            for (i, colour) in colours.iter().enumerate() {
                assert!(!colours[..i].contains(colour), "{} looks like another", names[i]);
            }
        }
    }

    #[test]
    fn every_scheme_has_a_colour_of_its_own() {
        for spec in xoff_schemes::all() {
            assert!(SCHEMES.iter().any(|(name, ..)| *name == spec.name), "{} has no colour yet", spec.name);
        }
    }

    #[test]
    fn no_two_curves_look_alike() {
        let mut names: Vec<String> = SCHEMES.iter().map(|(name, ..)| (*name).to_owned()).collect();
        names.extend(["mine".to_owned(), "yours".to_owned(), "dcqcn".to_owned()]);
        let styles = of_schemes(&names);
        for (i, a) in styles.iter().enumerate() {
            assert!(!styles[..i].contains(a), "{} looks like another", names[i]);
        }
    }
}
