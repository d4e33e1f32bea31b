//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits or so, thousands separated; never an exponent.
pub fn brief(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    let text = match size {
        s if s >= 99.95 => {
            let sign = if value < 0.0 { "-" } else { "" };
            return format!("{sign}{}", thousands(size.round() as u64));
        }
        s if s >= 9.995 => format!("{value:.1}"),
        s if s >= 0.0995 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.4}"),
    };
    if text.chars().all(|c| matches!(c, '0' | '.' | '-')) { "0".to_owned() } else { text }
}

/// A count, or a mean of counts: `1,234`, `-3`, `0.40`.
pub fn count(value: f64) -> String {
    if value.fract() != 0.0 && value.abs() < 99.95 {
        return brief(value);
    }
    format!("{}{}", if value < 0.0 { "-" } else { "" }, thousands(value.abs().round() as u64))
}

/// `-` where there is nothing.
pub fn brief_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), brief)
}

/// `512 KB`: exact to the byte below a megabyte, four digits above.
pub fn bytes(value: u64) -> String {
    let (scaled, unit, decimals) = match value {
        v if v >= 1_000_000_000 => (v as f64 / 1e9, "GB", 3),
        v if v >= 1_000_000 => (v as f64 / 1e6, "MB", 3),
        v if v >= 1_000 => (v as f64 / 1e3, "KB", 3),
        v => (v as f64, "B", 0),
    };
    let text = format!("{scaled:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// `563 KB`: three digits.
pub fn brief_bytes(value: u64) -> String {
    match value {
        v if v >= 999_500_000 => format!("{} GB", brief(v as f64 / 1e9)),
        v if v >= 999_500 => format!("{} MB", brief(v as f64 / 1e6)),
        v if v >= 1_000 => format!("{} KB", brief(v as f64 / 1e3)),
        v => format!("{v} B"),
    }
}

/// The same for a mean or a difference.
pub fn brief_size(value: f64) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "" }, brief_bytes(value.abs().round() as u64))
}

/// `99.9%`, rounded down: 100% must mean all.
pub fn percent_down(part: f64) -> String {
    format!("{:.1}%", (part * 1000.0).floor() / 10.0)
}

/// `27.4%`.
pub fn percent(part: f64) -> String {
    format!("{:.1}%", part * 100.0)
}

/// `3.08 ms`, `12.5 us`: three digits, the unit chosen by size.
pub fn microseconds(us: f64) -> String {
    match us.abs() {
        s if s >= 999_500.0 => format!("{} s", brief(us / 1e6)),
        s if s >= 999.5 => format!("{} ms", brief(us / 1e3)),
        0.0 => "0 us".to_owned(),
        _ => format!("{} us", brief(us)),
    }
}

/// What units behind a number stand for.
const UNITS: [(&str, f64); 9] = [
    ("", 1.0),
    ("%", 0.01),
    (" us", 1.0),
    (" ms", 1e3),
    (" s", 1e6),
    (" B", 1.0),
    (" KB", 1e3),
    (" MB", 1e6),
    (" GB", 1e9),
];

/// `2.28 ± 0.51 MB`: a number as `show` writes it, and half its interval in the same digits and unit. Both have up to
/// two digits more where the half would be rounded to nothing; where it still is, it is left out.
pub fn plus_minus(value: f64, half: f64, show: fn(f64) -> String) -> String {
    let text = show(value);
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | ',' | '-')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let Some((_, scale)) =
        UNITS.iter().find(|(known, _)| *known == unit).filter(|_| value.is_finite() && half.is_finite())
    else {
        return text;
    };
    let decimals = digits.rsplit_once('.').map_or(0, |(_, behind)| behind.len());
    for more in 0..=2 {
        let written = fixed(half / scale, decimals + more);
        if written.contains(|c| matches!(c, '1'..='9')) {
            let own = if more == 0 { digits.to_owned() } else { fixed(value / scale, decimals + more) };
            return format!("{own} ± {written}{unit}");
        }
    }
    text
}

/// So many digits behind the point, thousands separated.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, behind) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), thousands);
    let point = if behind.is_empty() { "" } else { "." };
    format!("{}{whole}{point}{behind}", if value < 0.0 { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_digits_and_the_unit_of_their_number() {
        type Case = (f64, f64, fn(f64) -> String, &'static str);
        let cases: [Case; 14] = [
            (1.01, 0.0051, brief, "1.01 ± 0.01"),
            (0.9, 0.0461, brief, "0.90 ± 0.05"),
            (2.28e6, 511e3, brief_size, "2.28 ± 0.51 MB"),
            (1_640.0, 35.0, microseconds, "1.64 ± 0.04 ms"),
            (137.9, 0.4, brief, "137.9 ± 0.4"),
            (1.01, 0.0004, brief, "1.0100 ± 0.0004"),
            (25.6, 4.5e-14, brief, "25.6"),
            (12.3, 0.0, brief, "12.3"),
            (708.0, 1801.0, brief, "708 ± 1,801"),
            (12_345.6, 0.3, brief, "12,345.6 ± 0.3"),
            (-138.2, 4.97, brief, "-138 ± 5"),
            (0.0, 0.25, count, "0.0 ± 0.2"),
            (0.274, 0.011, percent, "27.4 ± 1.1%"),
            (f64::INFINITY, 1.0, brief, "-"),
        ];
        for (value, half, show, text) in cases {
            assert_eq!(plus_minus(value, half, show), text);
        }
        assert_eq!(plus_minus(3.0, f64::NAN, brief), "3.00");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        let cases =
            [(0.0, "0"), (1.0, "1.00"), (99.94, "99.9"), (99.96, "100"), (12_345.6, "12,346"), (0.01234, "0.0123")];
        for (value, text) in cases {
            assert_eq!(brief(value), text);
        }
        assert_eq!(brief(0.00001), "0");
        assert_eq!(brief(-1234.0), "-1,234");
        assert_eq!(brief(f64::NAN), "-");
        assert_eq!([0, 999, 1_000, 61_234, 12_000_000].map(bytes), ["0 B", "999 B", "1 KB", "61.234 KB", "12 MB"]);
        assert_eq!([7, 562_548, 8_374_000].map(brief_bytes), ["7 B", "563 KB", "8.37 MB"]);
        assert_eq!([3.0, -1234.0, 0.4, 1234.5].map(count), ["3", "-1,234", "0.40", "1,235"]);
        assert_eq!([-562_548.4, 7.0].map(brief_size), ["-563 KB", "7 B"]);
        assert_eq!([0.2744, 0.2749].map(percent), ["27.4%", "27.5%"]);
        assert_eq!([0.99999, 1.0].map(percent_down), ["99.9%", "100.0%"]);
        assert_eq!([0.0, 12.5, 3080.0, 2.5e6].map(microseconds), ["0 us", "12.5 us", "3.08 ms", "2.50 s"]);
    }
}
