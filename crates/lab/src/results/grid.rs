//! Aligned tables for the terminal, and the same for the report.

use serde::Serialize;

/// A table of texts: the first column is left-aligned, the others as [`Grid::left`] says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grid {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Columns that hold words, to be aligned left.
    pub left: Vec<usize>,
}

impl Grid {
    pub fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Grid {
        Grid { head: head.into_iter().map(Into::into).collect(), rows: Vec::new(), left: vec![0] }
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
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut out = String::new();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(["name", "µs", "where"]).left(&[2]);
        grid.row(["a", "1.00", "x"]);
        grid.row(["longer", "12", "there"]);
        assert_eq!(grid.text(), "  name      µs  where\n  a       1.00  x\n  longer    12  there\n");
    }
}
