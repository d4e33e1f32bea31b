//! What ports did, window by window, in memory: tiles of it at several resolutions, and curves of one port.

use crate::congestion::known_port;
use crate::congestion::network::Network;
use crate::contract;
use crate::read::RunDirectory;
use crate::tables;
use xoff_engine::Time;
use xoff_scenario::Diagnostic;

/// Windows in a tile, whatever its resolution.
pub const TILE: u32 = 64;
/// Windows of one resolution that become one of the next.
const STEP: u32 = 4;
/// Points of a curve over the whole run, at most.
const POINTS: u32 = 2_000;

/// One port in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub window: u32,
    pub port: u32,
    pub tx_bytes: u64,
    pub queue_bytes: u64,
    pub paused_us: f32,
    pub marks: u32,
}

/// A whole run, by window and port.
pub struct Windows {
    /// Of the finest resolution.
    pub every_us: f64,
    pub count: u32,
    /// By resolution, the finest first; the last one fits a tile.
    levels: Vec<Vec<Cell>>,
}

contract! {
    /// Curves of one port over the whole run.
    pub struct PortCurves as PortSeries {
        window_us: f64,
        time_us: Vec<f64>,
        tx_gbps: Vec<f64>,
        queue_bytes: Vec<u64>,
        paused_share: Vec<f64>,
        marks: Vec<u32>,
    }
}

contract! {
    /// Sums over the network, for the time line.
    pub struct Timeline as TimelineData {
        pub bin_us: f64,
        paused_ports: Vec<u32>,
        queued_bytes: Vec<u64>,
        tx_gbps: Vec<f64>,
        pub flows_started: Vec<u32>,
        /// Of training jobs; empty without one.
        pub exposed_ranks: Vec<f64>,
    }
}

/// Memory that a row takes: in a list that grows, and in the coarser ones, of which the first may be as long.
const ROW_BYTES: u64 = 3 * size_of::<Cell>() as u64;

impl Windows {
    pub fn read(run: &RunDirectory, network: &Network) -> Result<Windows, Diagnostic> {
        if !run.has(&tables::PORT_ACTIVITY) {
            let error = Diagnostic::new(format!("`{}` cannot be replayed", run.path().display()));
            let error = error.label("it has no port_activity.parquet: it was run with `[output] activity = false`");
            return Err(error.help(format!(
                "run it again: xoff run {}/scenario.toml --set output.activity=true",
                run.path().display()
            )));
        }
        let mut cells = Vec::new();
        let mut every_us = 0.0_f64;
        let columns = ["window", "time_us", "port", "tx_bytes", "queue_bytes", "paused_us", "marks"];
        for rows in run.rows_to_keep(&tables::PORT_ACTIVITY, &columns, ROW_BYTES)? {
            let rows = rows?;
            let (window, time, port) = (rows.integers("window")?, rows.reals("time_us")?, rows.texts("port")?);
            let (tx, queue) = (rows.integers("tx_bytes")?, rows.integers("queue_bytes")?);
            let (paused, marks) = (rows.reals("paused_us")?, rows.integers("marks")?);
            for row in 0..rows.len() {
                let last = cells.last().map_or(0, |cell: &Cell| cell.window);
                let number = follows(last, window.get(row).unwrap_or(0)).ok_or_else(|| {
                    Diagnostic::new(format!("`{}` cannot be replayed", run.path().display()))
                        .label("the windows of port_activity.parquet are not in order")
                        .help("the file is damaged, or another program wrote it: run the scenario again")
                })?;
                // The last window may be shorter, none is longer.
                every_us = every_us.max(time.get(row).unwrap_or(0.0) / f64::from(number + 1));
                cells.push(Cell {
                    window: number,
                    port: known_port(network, port.get(row).unwrap_or(""))?,
                    tx_bytes: tx.get(row).unwrap_or(0),
                    queue_bytes: queue.get(row).unwrap_or(0),
                    paused_us: paused.get(row).unwrap_or(0.0) as f32,
                    marks: marks.get(row).unwrap_or(0) as u32,
                });
            }
        }
        let every_us = if every_us > 0.0 { every_us } else { run.summary.sim_time_us.max(1.0) };
        let count = ((run.summary.sim_time_us / every_us).ceil() as u32).max(1);
        let count = count.max(cells.last().map_or(0, |cell: &Cell| cell.window + 1));
        Ok(Windows::new(every_us, count, cells))
    }

    fn new(every_us: f64, count: u32, cells: Vec<Cell>) -> Windows {
        let mut levels = vec![cells];
        let mut windows = count;
        while windows > TILE {
            let coarser = coarser(levels.last().map_or(&[][..], Vec::as_slice));
            levels.push(coarser);
            windows = windows.div_ceil(STEP);
        }
        Windows { every_us, count, levels }
    }

    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    fn windows_at(&self, level: usize) -> u32 {
        (0..level).fold(self.count, |windows, _| windows.div_ceil(STEP))
    }

    fn every_at(&self, level: usize) -> f64 {
        self.every_us * f64::from(STEP.pow(level as u32))
    }

    /// Tiles of a resolution.
    pub fn tiles(&self, level: usize) -> u32 {
        self.windows_at(level).div_ceil(TILE)
    }

    fn between(&self, level: usize, from: u32, until: u32) -> &[Cell] {
        let cells = &self.levels[level];
        let first = cells.partition_point(|cell| cell.window < from);
        let last = cells.partition_point(|cell| cell.window < until);
        &cells[first..last]
    }

    /// The columns of a tile, one after the other: see `docs/replay.md`.
    pub fn tile(&self, level: usize, index: u32) -> Option<Vec<u8>> {
        if level >= self.levels.len() || index >= self.tiles(level) {
            return None;
        }
        let cells = self.between(level, index * TILE, (index + 1) * TILE);
        let mut bytes = Vec::with_capacity(4 + 24 * cells.len());
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        bytes.extend((cells.len() as u32).to_le_bytes());
        let mut column = |of: &dyn Fn(&Cell) -> [u8; 4]| bytes.extend(cells.iter().flat_map(of));
        column(&|cell| cell.port.to_le_bytes());
        column(&|cell| cell.window.to_le_bytes());
        column(&|cell| narrow(cell.tx_bytes).to_le_bytes());
        column(&|cell| narrow(cell.queue_bytes).to_le_bytes());
        column(&|cell| cell.paused_us.to_le_bytes());
        column(&|cell| cell.marks.to_le_bytes());
        Some(bytes)
    }

    /// Bytes that waited at a port around an instant: at the end of its window.
    pub fn queue_at(&self, port: u32, at: Time) -> u64 {
        let window = (at.as_us() / self.every_us) as u32;
        let cells = self.between(0, window, window + 1);
        cells.binary_search_by_key(&port, |cell| cell.port).map_or(0, |found| cells[found].queue_bytes)
    }

    /// The same for all ports at which something waited.
    pub fn queues_at(&self, at: Time) -> Vec<(u32, u64)> {
        let window = (at.as_us() / self.every_us) as u32;
        let waiting = self.between(0, window, window + 1).iter().filter(|cell| cell.queue_bytes > 0);
        waiting.map(|cell| (cell.port, cell.queue_bytes)).collect()
    }

    /// The finest resolution that has at most so many windows as a curve may have points.
    fn level_for_curves(&self) -> usize {
        (0..self.levels.len()).find(|&level| self.windows_at(level) <= POINTS).unwrap_or(self.levels.len() - 1)
    }

    pub fn curves(&self, port: u32, end_us: f64) -> PortCurves {
        let level = self.level_for_curves();
        let (count, every) = (self.windows_at(level) as usize, self.every_at(level));
        let ends: Vec<f64> = (1..=count).map(|window| (window as f64 * every).min(end_us)).collect();
        let mut curves = PortCurves {
            window_us: every,
            tx_gbps: vec![0.0; count],
            queue_bytes: vec![0; count],
            paused_share: vec![0.0; count],
            marks: vec![0; count],
            time_us: ends,
        };
        for cell in self.levels[level].iter().filter(|cell| cell.port == port) {
            let at = cell.window as usize;
            let length = curves.time_us[at] - at as f64 * every;
            curves.tx_gbps[at] = gbps(cell.tx_bytes, length);
            curves.queue_bytes[at] = cell.queue_bytes;
            curves.paused_share[at] = (f64::from(cell.paused_us) / length.max(1e-9)).min(1.0);
            curves.marks[at] = cell.marks;
        }
        curves
    }

    pub fn timeline(&self) -> Timeline {
        let level = self.level_for_curves();
        let (count, every) = (self.windows_at(level) as usize, self.every_at(level));
        let mut line = Timeline {
            bin_us: every,
            paused_ports: vec![0; count],
            queued_bytes: vec![0; count],
            tx_gbps: vec![0.0; count],
            flows_started: vec![0; count],
            exposed_ranks: Vec::new(),
        };
        for cell in &self.levels[level] {
            let at = cell.window as usize;
            line.paused_ports[at] += u32::from(cell.paused_us > 0.0);
            line.queued_bytes[at] += cell.queue_bytes;
            line.tx_gbps[at] += gbps(cell.tx_bytes, every);
        }
        line
    }
}

/// More windows than any run has.
const WINDOWS_MOST: u32 = 1 << 30;

/// The number of a window that comes after another, or is the same; `None` if it is neither.
fn follows(last: u32, number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| (last..WINDOWS_MOST).contains(number))
}

fn gbps(bytes: u64, us: f64) -> f64 {
    if us > 0.0 { bytes as f64 * 8e-3 / us } else { 0.0 }
}

/// The next resolution: sums, and of queues the longest.
fn coarser(cells: &[Cell]) -> Vec<Cell> {
    let mut coarse: Vec<Cell> = Vec::with_capacity(cells.len() / 2);
    // By port, where its last cell is.
    let mut last: Vec<usize> = vec![usize::MAX; cells.iter().map(|cell| cell.port as usize + 1).max().unwrap_or(0)];
    for window in cells.chunk_by(|a, b| a.window / STEP == b.window / STEP) {
        let first = coarse.len();
        for cell in window {
            let at = &mut last[cell.port as usize];
            match coarse[first..].get_mut(at.wrapping_sub(first)) {
                Some(kept) => {
                    kept.tx_bytes += cell.tx_bytes;
                    kept.queue_bytes = kept.queue_bytes.max(cell.queue_bytes);
                    kept.paused_us += cell.paused_us;
                    kept.marks += cell.marks;
                }
                None => {
                    *at = coarse.len();
                    coarse.push(Cell { window: cell.window / STEP, ..*cell });
                }
            }
        }
        coarse[first..].sort_unstable_by_key(|cell| cell.port);
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(window: u32, port: u32, tx_bytes: u64, queue_bytes: u64) -> Cell {
        Cell { window, port, tx_bytes, queue_bytes, paused_us: 0.5, marks: 1 }
    }

    fn windows() -> Windows {
        let cells = (0..300).flat_map(|window| [cell(window, 1, 100, u64::from(window)), cell(window, 2, 50, 7)]);
        Windows::new(2.0, 300, cells.collect())
    }

    #[test]
    fn windows_that_are_not_in_order_are_refused() {
        assert_eq!([follows(0, 0), follows(3, 3), follows(3, 9)], [Some(0), Some(3), Some(9)]);
        assert_eq!([follows(3, 2), follows(0, 1 << 30), follows(0, u64::MAX)], [None; 3]);
    }

    #[test]
    fn coarser_windows_add_up() {
        let windows = windows();
        // 300, 75 and 19 windows: the last ones fit a tile.
        assert_eq!(windows.levels(), 3);
        assert_eq!([0, 1, 2].map(|level| windows.tiles(level)), [5, 2, 1]);
        let first = windows.levels[1][0];
        assert_eq!((first.window, first.port, first.tx_bytes, first.queue_bytes, first.marks), (0, 1, 400, 3, 4));
        for level in 0..3 {
            assert_eq!(windows.levels[level].iter().map(|cell| cell.tx_bytes).sum::<u64>(), 300 * 150);
        }
    }

    #[test]
    fn a_tile_has_the_columns_that_the_page_reads() {
        let tile = windows().tile(0, 4).unwrap();
        let word = |at: usize| u32::from_le_bytes(tile[4 * at..4 * at + 4].try_into().unwrap());
        // Windows 256 to 299, two ports in each.
        let rows = word(0) as usize;
        assert_eq!((rows, tile.len()), (88, 4 + 6 * 4 * 88));
        assert_eq!((word(1), word(2)), (1, 2), "ports");
        assert_eq!((word(1 + rows), word(rows + rows)), (256, 299), "windows");
        assert_eq!((word(1 + 2 * rows), word(1 + 3 * rows)), (100, 256), "bytes sent and waiting");
        assert_eq!(f32::from_bits(word(1 + 4 * rows)), 0.5);
        assert!(windows().tile(0, 5).is_none() && windows().tile(3, 0).is_none());
    }

    #[test]
    fn curves_and_time_line_cover_the_run() {
        let windows = windows();
        let curves = windows.curves(1, 599.0);
        assert_eq!((curves.time_us.len(), curves.time_us[299]), (300, 599.0));
        assert_eq!((curves.tx_gbps[0], curves.queue_bytes[299], curves.paused_share[0]), (0.4, 299, 0.25));
        let line = windows.timeline();
        assert_eq!((line.paused_ports[5], line.queued_bytes[5]), (2, 12));
        assert_eq!(windows.queue_at(1, Time::from_us(11)), 5);
        assert_eq!(windows.queue_at(9, Time::from_us(11)), 0);
        assert_eq!(windows.queues_at(Time::from_us(11)), [(1, 5), (2, 7)]);
    }
}
