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
    fn columns_line_up() {
        let mut grid = Grid::new(["name", "µs", "where"]).left(&[2]);
        grid.row(["a", "1.00", "x"]);
        grid.row(["longer", "12", "there"]);
        assert_eq!(grid.text(), "  name      µs  where\n  a       1.00  x\n  longer    12  there\n");
    }
}
