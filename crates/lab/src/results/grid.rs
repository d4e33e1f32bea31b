//! Aligned tables for the terminal, and the same for the report.

use serde::Serialize;

/// A table of texts: the first column is left-aligned, the others as [`Grid::left`] says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grid {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Columns that hold words, to be aligned left.
    pub left: Vec<usize>,
    /// Titles above several columns: text and number of columns, from the first column on. Empty
    /// if there are none.
    pub groups: Vec<(String, usize)>,
}

impl Grid {
    pub fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Grid {
        Grid { head: head.into_iter().map(Into::into).collect(), rows: Vec::new(), left: vec![0], groups: Vec::new() }
    }

    pub fn left(mut self, columns: &[usize]) -> Grid {
        self.left.extend(columns);
        self
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// As [`Grid::text`], in at most `width` columns if words can be folded: the widest column of words
    /// gets what the others leave, and its cells as many lines as they need.
    pub fn text_in(&self, width: usize) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let widest = |column: usize| {
            lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let all: usize = (0..self.head.len()).map(|column| widest(column) + 2).sum();
        let words = self.left.iter().copied().filter(|column| *column < self.head.len());
        let Some(folded) = words.max_by_key(|column| widest(*column)).filter(|_| all > width) else {
            return self.text();
        };
        let room = (widest(folded) + width).saturating_sub(all).max(LEAST_ROOM);
        let mut grid = Grid { rows: Vec::new(), ..self.clone() };
        for row in &self.rows {
            for (index, part) in fold(row.get(folded).map_or("", String::as_str), room).into_iter().enumerate() {
                let mut cells = if index == 0 { row.clone() } else { vec![String::new(); row.len()] };
                cells[folded] = part;
                grid.rows.push(cells);
            }
        }
        grid.text()
    }

    /// Lines indented by two, columns two apart, no trailing blanks.
    pub fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let mut widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut out = String::new();
        if !self.groups.is_empty() {
            let (mut title, mut column) = (String::new(), 0);
            for (text, columns) in &self.groups {
                let end = (column + columns).min(widths.len());
                let width = widths[column..end].iter().map(|width| width + 2).sum::<usize>();
                let length = text.chars().count() + 2;
                // A title wider than its columns widens the first of them.
                if let Some(first) = widths.get_mut(column) {
                    *first += length.saturating_sub(width);
                }
                title.push_str(&format!("  {text:width$}", width = width.max(length) - 2));
                column = end;
            }
            out.push_str(title.trim_end());
            out.push('\n');
        }
        for line in lines() {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width - cell.chars().count());
                text.push_str("  ");
                if self.left.contains(&column) {
                    text.push_str(cell);
                    text.push_str(&padding);
                } else {
                    text.push_str(&padding);
                    text.push_str(cell);
                }
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A folded column is not narrower.
const LEAST_ROOM: usize = 12;

/// A text in lines of at most `width`, a longer word alone on its own; at least one.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// At most so many letters, the last of them dots where something is missing.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_stand_above_their_columns() {
        let mut grid = Grid::new(["name", "a", "b", "c"]);
        grid.row(["x", "1", "2", "3"]);
        grid.groups = vec![(String::new(), 1), ("long title".into(), 2), ("d".into(), 1)];
        assert_eq!(grid.text(), "        long title  d\n  name        a  b  c\n  x           1  2  3\n");
    }

    #[test]
    fn words_are_folded_where_the_terminal_is_narrow() {
        let mut grid = Grid::new(["name", "n", "what it is"]).left(&[2]);
        grid.row(["a", "1", "one two three four five"]);
        grid.row(["b", "2", "six"]);
        assert_eq!(grid.text_in(80), grid.text());
        let text = "  name  n  what it is\n  a     1  one two three\n           four five\n  b     2  six\n";
        assert_eq!(grid.text_in(26), text);
    }

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(["name", "µs", "where"]).left(&[2]);
        grid.row(["a", "1.00", "x"]);
        grid.row(["longer", "12", "there"]);
        assert_eq!(grid.text(), "  name      µs  where\n  a       1.00  x\n  longer    12  there\n");
    }
}
