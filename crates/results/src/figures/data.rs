//! A figure as JSON, for the half of a report that moves: what [`chart`](super::chart) holds, with the ranges of the
//! drawing, so that both show the same.

use super::canvas::{Failed, ready_font, text_width};
use super::chart::{
    Axis, AxisUnit, Bar, Chart, Dash, Hatch, Line, Marker, Panel, Quoted, QuotedPlace, RGBColor, Shape,
};
use super::layout::{Form, Layout, Range};
use super::path::thin;
use serde_json::{Map, Value, json};

/// Columns into which points are sorted before those that cannot be seen go; four for each pixel of a wide screen, so
/// that there is something to see when a part is enlarged.
const COLUMNS: f64 = 4000.0;

/// Text that can stand in a `<script>`: nothing in it ends that.
pub fn json_text(chart: &Chart) -> Result<String, Failed> {
    ready_font()?;
    let layout = Layout::of(chart, Form::Page, text_width);
    let value = json!({
        "file": chart.file,
        "title": chart.title,
        "note": chart.note,
        "x": axis(&chart.x, &layout.x),
        "y": axis(&chart.y, &layout.y),
        "groups": chart.groups,
        "columns": chart.columns,
        "marks": chart.marks.iter().map(|(at, name)| json!([number(*at), name])).collect::<Vec<_>>(),
        "panels": chart.panels.iter().map(|of| panel(of, chart, &layout)).collect::<Vec<_>>(),
    });
    Ok(escaped(&value.to_string()))
}

/// Within the text of JSON these stand in strings alone, where an escape means the same.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Six digits, which is more than anybody sees. What JSON has no number for is null, or `"inf"`.
fn number(value: f64) -> Value {
    if value.is_infinite() {
        return json!(if value > 0.0 { "inf" } else { "-inf" });
    }
    let text = format!("{value:.5e}");
    match text.parse::<f64>() {
        Ok(short) if short.fract() == 0.0 && short.abs() < 1e15 => json!(short as i64),
        Ok(short) if short.is_finite() => json!(short),
        _ => Value::Null,
    }
}

fn numbers(values: impl Iterator<Item = f64>) -> Value {
    values.map(number).collect()
}

fn colour(of: RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", of.0, of.1, of.2)
}

fn axis(of: &Axis, range: &Range) -> Value {
    let (unit, name) = match &of.unit {
        AxisUnit::Time => ("time", ""),
        AxisUnit::Bytes => ("bytes", ""),
        AxisUnit::Gbps => ("gbps", ""),
        AxisUnit::PerSecond => ("per-second", ""),
        AxisUnit::Fraction => ("fraction", ""),
        AxisUnit::Ratio => ("ratio", ""),
        AxisUnit::Plain(name) => ("plain", name.as_str()),
    };
    let marks: Vec<Value> = of.marks.iter().map(|(at, text)| json!([number(*at), text])).collect();
    json!({
        "title": of.title,
        "unit": unit,
        "name": name,
        "log": of.log,
        "low": number(range.low),
        "high": number(range.high),
        "marks": marks,
    })
}

fn panel(of: &Panel, chart: &Chart, layout: &Layout) -> Value {
    json!({
        "title": of.title,
        "silence": of.silence(&chart.y),
        "lines": of.lines.iter().map(|of| line(of, layout)).collect::<Vec<_>>(),
        "bars": of.bars.iter().map(bar).collect::<Vec<_>>(),
        "quoted": of.quoted.iter().map(quoted).collect::<Vec<_>>(),
    })
}

fn line(of: &Line, layout: &Layout) -> Value {
    // Points with dots are few, and each was measured.
    let points = if of.dots { of.points.clone() } else { seen(&of.points, &layout.x) };
    let triples =
        |of: &[(f64, f64, f64)]| -> Vec<Value> { of.iter().map(|i| numbers([i.0, i.1, i.2].into_iter())).collect() };
    let dash = match of.dash {
        Dash::Solid => "solid",
        Dash::Long => "long",
        Dash::Short => "short",
        Dash::Dotted => "dotted",
    };
    json!({
        "name": of.name,
        "colour": colour(of.colour),
        "dash": dash,
        "dots": of.dots,
        "marker": of.marker.map(Marker::number),
        "shift": number(layout.shift(of)),
        "x": numbers(points.iter().map(|point| point.0)),
        "y": numbers(points.iter().map(|point| point.1)),
        "intervals": triples(&of.intervals),
        "spans": triples(&of.spans),
        "never": numbers(of.never.iter().copied()),
    })
}

/// Without points that nobody can tell from their neighbours: of a crowd in one column the extremes remain, of a
/// level stretch its ends. A point without a number, which interrupts the line, stays.
fn seen(points: &[(f64, f64)], x: &Range) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for piece in points.split_inclusive(|point| !point.0.is_finite() || !point.1.is_finite()) {
        let (piece, gap) = match piece.split_last() {
            Some((last, rest)) if !last.0.is_finite() || !last.1.is_finite() => (rest, Some(*last)),
            _ => (piece, None),
        };
        let placed: Vec<(f64, f64)> = piece.iter().map(|point| (x.part(point.0) * COLUMNS, point.1)).collect();
        let kept = thin(&placed, 1.0);
        // Thinned by place, and taken from the original: the way back through a logarithm is not exact.
        let mut originals = piece.iter().zip(&placed);
        let originals =
            kept.iter().filter_map(|kept| originals.find(|(_, placed)| *placed == kept).map(|(own, _)| *own));
        out.extend(level_ends(originals.collect()));
        out.extend(gap.map(|(at, _)| (at, f64::NAN)));
    }
    out
}

fn level_ends(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let inner = |at: usize| {
        at > 0 && at + 1 < points.len() && points[at - 1].1 == points[at].1 && points[at].1 == points[at + 1].1
    };
    (0..points.len()).filter(|at| !inner(*at)).map(|at| points[at]).collect()
}

fn bar(of: &Bar) -> Value {
    let part = |part: &super::chart::Part| {
        let hatch = match part.hatch {
            Hatch::Full => "full",
            Hatch::Rising => "rising",
            Hatch::Empty => "empty",
            Hatch::Level => "level",
            Hatch::Falling => "falling",
            Hatch::Pale => "pale",
            Hatch::Crossed => "crossed",
        };
        let (value, interval) = (number(part.value), part.interval.map(number));
        json!({ "name": part.name, "colour": colour(part.colour), "hatch": hatch, "value": value, "interval": interval })
    };
    let parts: Vec<Value> = of.parts.iter().map(part).collect();
    json!({ "group": of.group, "slot": of.slot, "name": of.name, "parts": parts })
}

fn quoted(of: &Quoted) -> Value {
    let shape = match of.shape {
        Shape::Number => "number",
        Shape::AtMost => "at most",
        Shape::AtLeast => "at least",
    };
    let mut value = Map::new();
    value.insert("name".into(), json!(of.name));
    value.insert("colour".into(), json!(of.colour.map(colour)));
    value.insert("shape".into(), json!(shape));
    value.insert("source".into(), json!(of.source));
    let mut put = |name: &str, number_of: f64| value.insert(name.into(), number(number_of));
    match of.place {
        QuotedPlace::Point(x, y) => {
            put("x", x);
            put("y", y);
        }
        QuotedPlace::Level { y, from, until } => {
            put("y", y);
            from.map(|from| put("from", from));
            until.map(|until| put("until", until));
        }
        QuotedPlace::Instant(x) => {
            put("x", x);
        }
        QuotedPlace::Bar { group, slot, value } => {
            put("group", group as f64);
            put("slot", slot as f64);
            put("y", value);
        }
    }
    Value::Object(value)
}

#[cfg(test)]
mod tests {
    use super::super::colour::by_index;
    use super::*;

    fn chart(name: &str, points: Vec<(f64, f64)>) -> Chart {
        let (x, y) = (Axis::new("time", AxisUnit::Time, false, true), Axis::new("queue", AxisUnit::Bytes, false, true));
        Chart::of_lines("test".into(), name.into(), x, y, vec![Line::new(name.into(), by_index(0), points)])
    }

    #[test]
    fn no_name_ends_the_script_it_stands_in() {
        let hostile = "</script><!--<script>\u{202e}&\u{0}\"";
        let text = json_text(&chart(hostile, vec![(0.0, 1.0)])).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{0}']), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["title"], hostile);
    }

    #[test]
    fn points_are_those_that_can_be_seen() {
        let points = vec![(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, f64::NAN), (4.0, 2.123_456_789), (5.0, 7e9)];
        let value: Value = serde_json::from_str(&json_text(&chart("x", points)).unwrap()).unwrap();
        let line = &value["panels"][0]["lines"][0];
        assert_eq!(line["x"], json!([0, 2, 3, 4, 5]));
        assert_eq!(line["y"], json!([1, 1, null, 2.12346, 7_000_000_000i64]));
    }

    #[test]
    fn numbers_are_short_and_never_lost() {
        assert_eq!(number(f64::INFINITY), json!("inf"));
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!((number(-0.0), number(1e-12), number(1e300)), (json!(0), json!(1e-12), json!(1e300)));
    }
}
