//! Aligned tables for the terminal, and the same for the report.

use serde::Serialize;

/// A table of texts: the first column is left-aligned, the others as [`Grid::left`] says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grid {
    pub head: Vec<String>,
    /// Cells, as many as there are titles.
    pub rows: Vec<Vec<String>>,
    /// Columns that hold words, to be aligned left.
    pub(crate) left: Vec<usize>,
    /// Titles above several columns: text and number of columns, from the first column on. Empty
    /// if there are none.
    pub groups: Vec<(String, usize)>,
    /// By column, how soon it goes where the terminal is too narrow: the highest rank first. Zero, and
    /// columns beyond the end of the list, stay.
    #[serde(skip)]
    pub(crate) ranks: Vec<u8>,
}

/// A table with what stands above it, which is empty above the first, and what explains it below.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    pub(crate) title: String,
    pub(crate) grid: Grid,
    pub(crate) notes: Vec<String>,
}

impl Section {
    pub fn new(title: impl Into<String>, grid: Grid) -> Section {
        Section { title: title.into(), grid, notes: Vec::new() }
    }
}

/// A table made to fit a terminal.
pub struct Fitted {
    /// Lines of at most that width.
    pub text: String,
    /// Titles of the columns that had to go.
    pub left_out: Vec<String>,
}

impl Grid {
    /// Without rows; only the first column is left-aligned.
    pub fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Grid {
        Grid { head: head.into_iter().map(Into::into).collect(), left: vec![0], ..Grid::default() }
    }

    /// Aligns these columns left too, counted from 0.
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

    /// The table in lines of at most `width` columns. Where it is too wide, columns that can be spared go
    /// first, those of the highest rank together; then it is broken into several below each other, each with
    /// the first column; at last words are cut short.
    pub fn fit(&self, width: usize) -> Fitted {
        let (mut kept, mut left_out): (Vec<usize>, Vec<String>) = ((0..self.head.len()).collect(), Vec::new());
        let rank = |column: usize| self.ranks.get(column).copied().unwrap_or(0);
        while self.of(&kept).width() > width {
            let highest = kept.iter().map(|column| rank(*column)).max().unwrap_or(0);
            if highest == 0 {
                break;
            }
            let gone = kept.iter().filter(|column| rank(**column) == highest);
            left_out.extend(gone.map(|column| self.title(*column)));
            kept.retain(|column| rank(*column) != highest);
        }
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for column in kept.iter().copied().skip(1) {
            match blocks.last_mut() {
                Some(block) if self.of(&[&block[..], &[column]].concat()).width() <= width => block.push(column),
                _ => blocks.push(vec![0, column]),
            }
        }
        if blocks.is_empty() {
            blocks.push(kept);
        }
        let texts: Vec<String> = blocks.iter().map(|block| self.of(block).cut(width).text()).collect();
        Fitted { text: texts.join("\n"), left_out }
    }

    /// `slowdown p99`: the title of a column with that of its group.
    fn title(&self, column: usize) -> String {
        let mut end = 0;
        let group = self.groups.iter().find(|(_, columns)| {
            end += columns;
            column < end
        });
        match group {
            Some((group, _)) if !group.is_empty() => format!("{group} {}", self.head[column]),
            _ => self.head[column].clone(),
        }
    }

    /// Some of the columns, in order.
    fn of(&self, columns: &[usize]) -> Grid {
        let pick = |cells: &Vec<String>| columns.iter().filter_map(|c| cells.get(*c).cloned()).collect();
        let mut groups = Vec::new();
        let mut first = 0;
        for (title, length) in &self.groups {
            let kept = columns.iter().filter(|c| (first..first + length).contains(*c)).count();
            if kept > 0 {
                groups.push((title.clone(), kept));
            }
            first += length;
        }
        Grid {
            head: pick(&self.head),
            rows: self.rows.iter().map(pick).collect(),
            left: (0..columns.len()).filter(|c| self.left.contains(&columns[*c])).collect(),
            groups,
            ranks: Vec::new(),
        }
    }

    /// Cells cut short, the widest column first, until the lines fit; a column keeps at least four letters.
    fn cut(mut self, width: usize) -> Grid {
        loop {
            let over = self.width().saturating_sub(width);
            let widths = self.widths();
            let Some((column, widest)) = widths.iter().copied().enumerate().max_by_key(|(_, width)| *width) else {
                return self;
            };
            if over == 0 || (widest <= 4 && self.groups.is_empty()) {
                return self;
            }
            if widest <= 4 {
                self.groups.clear();
                continue;
            }
            let most = widest.saturating_sub(over).max(4);
            for cells in std::iter::once(&mut self.head).chain(&mut self.rows) {
                if let Some(cell) = cells.get_mut(column) {
                    *cell = shorten(cell, most);
                }
            }
            let fits = (width / self.groups.len().max(1)).saturating_sub(2);
            self.groups.iter_mut().for_each(|(title, _)| *title = shorten(title, fits));
        }
    }

    /// Columns of the widest line.
    fn width(&self) -> usize {
        self.text().lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    fn widths(&self) -> Vec<usize> {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let letters =
            |column: usize| lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
        (0..self.head.len()).map(|column| letters(column).unwrap_or(0)).collect()
    }

    /// Lines indented by two, columns two apart, no trailing blanks.
    pub fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let mut widths = self.widths();
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

/// Which columns a narrow terminal cost, if any.
pub(crate) fn left_out_note(mut titles: Vec<String>, width: usize) -> Option<String> {
    titles.sort();
    titles.dedup();
    (!titles.is_empty()).then(|| format!("Left out at {width} columns, but in the report: {}.", titles.join("; ")))
}

/// At most so many letters, the last of them dots where something is missing.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}{}", kept.trim_end(), &"..."[..most.min(3)])
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

    /// Three groups of three columns that are ten wide, of which the second and then the third can go.
    fn wide() -> Grid {
        let names = |group: &str| ["p50", "p95", "p999"].map(|name| format!("{group}{name}-----"));
        let mut grid =
            Grid::new(std::iter::once("scheme".to_owned()).chain(["a", "b", "c"].into_iter().flat_map(names)));
        grid.row(std::iter::once("dcqcn".to_owned()).chain((0..9).map(|i| i.to_string())));
        grid.groups = vec![(String::new(), 1), ("A".into(), 3), ("B".into(), 3), ("C".into(), 3)];
        grid.ranks = vec![0, 0, 2, 1, 0, 2, 1, 0, 2, 1];
        grid
    }

    #[test]
    fn what_can_be_spared_goes_first() {
        let natural = wide().width();
        assert!(wide().fit(natural).left_out.is_empty());
        let fitted = wide().fit(natural - 1);
        assert_eq!(fitted.left_out, ["A ap95-----", "B bp95-----", "C cp95-----"]);
        assert_eq!(fitted.text.lines().count(), 3, "{}", fitted.text);
        assert_eq!(wide().fit(60).left_out.len(), 6);
    }

    #[test]
    fn then_it_is_broken_and_no_line_is_ever_longer() {
        for width in 12..130 {
            let fitted = wide().fit(width);
            for line in fitted.text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        let broken = wide().fit(24);
        assert_eq!(broken.text.matches("scheme").count(), 3, "{}", broken.text);
        for cell in ["0", "3", "6"] {
            assert!(broken.text.contains(cell));
        }
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
