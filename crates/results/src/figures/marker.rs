//! Markers: what tells curves apart where colours do not, on the screen as in print.

/// One of sixteen: eight outlines, first filled, then open. The script of the reports has the same
/// (`web/src/report/pen.ts`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marker(u8);

const OUTLINES: u8 = 8;

impl Marker {
    pub const COUNT: usize = 2 * OUTLINES as usize;

    /// The `index`-th; they repeat after [`Marker::COUNT`].
    pub const fn nth(index: usize) -> Marker {
        Marker((index % Marker::COUNT) as u8)
    }

    /// Its place among all of them.
    pub fn number(self) -> u8 {
        self.0
    }

    /// White inside.
    pub(super) fn is_open(self) -> bool {
        self.0 >= OUTLINES
    }

    /// Corners around the middle, in units of its reach; `None` for a disc.
    pub(super) fn corners(self) -> Option<Vec<(f64, f64)>> {
        const W: f64 = 0.38;
        let plus = [
            (-W, -1.2),
            (W, -1.2),
            (W, -W),
            (1.2, -W),
            (1.2, W),
            (W, W),
            (W, 1.2),
            (-W, 1.2),
            (-W, W),
            (-1.2, W),
            (-1.2, -W),
            (-W, -W),
        ];
        Some(match self.0 % OUTLINES {
            0 => return None,
            1 => vec![(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => vec![(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            3 => vec![(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
            4 => plus.to_vec(),
            5 => vec![(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
            6 => {
                let turn = std::f64::consts::FRAC_1_SQRT_2;
                plus.iter().map(|(x, y)| ((x - y) * turn, (x + y) * turn)).collect()
            }
            _ => vec![(-1.4, -0.6), (1.4, -0.6), (1.4, 0.6), (-1.4, 0.6)],
        })
    }
}
