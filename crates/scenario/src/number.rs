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

#[cfg(test)]
mod tests {
    use super::*;

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
