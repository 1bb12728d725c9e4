//! The quad layout of the head.
//!
//! **Problem.** A face that can act needs closed edge loops around eyes, mouth, nostrils and ears.
//!
//! **Implementation.** A grid of 14 × 16 cells runs around the half head from the front to the back
//! midline and from the neck up; a cap of 4 × 6 cells closes the crown. Rectangles of cells are
//! left out for the eye, the mouth, the nostril and the ear, and concentric rings fill them. Each
//! cell becomes 4 × 4 quads.
//!
//! **Departures.** The corners of cells are placed on the sculpt by hand: columns 0 to 3 bound the
//! nose, 3 to 7 the eye, 0 to 4 the mouth, 9 to 11 the ear.

use pliant_mesh::glam::DVec3;

use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::{cos, sin, smoothstep_between};

/// Quads along the side of a cell.
const SPLIT: usize = 4;
const COLUMNS: usize = 14;
const ROWS: usize = 16;

/// A rectangle of cells that the grid leaves out: columns and rows, from and to.
#[derive(Debug, Clone, Copy)]
pub(in crate::head) struct Hole {
    columns: [usize; 2],
    rows: [usize; 2],
}

pub(in crate::head) const MOUTH: Hole = Hole {
    columns: [0, 4],
    rows: [5, 7],
};
pub(in crate::head) const NOSTRIL: Hole = Hole {
    columns: [1, 2],
    rows: [8, 9],
};
pub(in crate::head) const EYE: Hole = Hole {
    columns: [3, 7],
    rows: [11, 13],
};
pub(in crate::head) const EAR: Hole = Hole {
    columns: [9, 11],
    rows: [8, 12],
};

impl Hole {
    fn contains(self, column: usize, row: usize) -> bool {
        (self.columns[0] * SPLIT..self.columns[1] * SPLIT).contains(&column)
            && (self.rows[0] * SPLIT..self.rows[1] * SPLIT).contains(&row)
    }
}

/// The grid's vertices by column and row.
pub(in crate::head) struct Grid {
    ids: Vec<Option<u32>>,
}

impl Grid {
    fn at(&self, column: usize, row: usize) -> u32 {
        self.ids[row * (COLUMNS * SPLIT + 1) + column].expect("every corner of a quad has a vertex")
    }

    /// The loop around a hole, clockwise seen from outside, from the middle of its left side and
    /// back to it.
    pub(in crate::head) fn ring(&self, hole: Hole) -> Vec<u32> {
        let [left, right] = hole.columns.map(|c| c * SPLIT);
        let [bottom, top] = hole.rows.map(|r| r * SPLIT);

        // Around the hole, each corner once, and the first vertex again at the end.
        let middle = (bottom + top) / 2;
        let up = (middle..top).map(|r| (left, r));
        let across = (left..right).map(|c| (c, top));
        let down = (bottom + 1..=top).rev().map(|r| (right, r));
        let back = (left + 1..=right).rev().map(|c| (c, bottom));
        let rest = (bottom..=middle).map(|r| (left, r));

        up.chain(across)
            .chain(down)
            .chain(back)
            .chain(rest)
            .map(|(c, r)| self.at(c, r))
            .collect()
    }

    /// The open loop around a hole at the front midline: from its top over its right side to its
    /// bottom.
    pub(in crate::head) fn half_ring(&self, hole: Hole) -> Vec<u32> {
        let right = hole.columns[1] * SPLIT;
        let [bottom, top] = hole.rows.map(|r| r * SPLIT);
        let across = (0..right).map(|c| (c, top));
        let down = (bottom + 1..=top).rev().map(|r| (right, r));
        let back = (0..=right).rev().map(|c| (c, bottom));

        across
            .chain(down)
            .chain(back)
            .map(|(c, r)| self.at(c, r))
            .collect()
    }
}

/// Whether hair grows on a quad of the grid: above the forehead, before the ear and down the back
/// of the head.
fn is_hairy(column: usize, row: usize) -> bool {
    row >= 58 || (column >= 32 && row >= 42) || (column >= 44 && row >= 15)
}

/// Adds grid and crown to `half`.
pub(in crate::head) fn lay(half: &mut Half, sculpt: Sculpt) -> Grid {
    let corners = place_corners(sculpt);

    // A quad exists where no hole covers it; a vertex, where one of its quads does.
    let holes = [MOUTH, NOSTRIL, EYE, EAR];
    let (columns, rows) = (COLUMNS * SPLIT, ROWS * SPLIT);
    let covered =
        |c: usize, r: usize| c < columns && r < rows && !holes.iter().any(|h| h.contains(c, r));

    let mut ids = vec![None; (columns + 1) * (rows + 1)];
    for r in 0..=rows {
        for c in 0..=columns {
            let used = [
                (c, r),
                (c.wrapping_sub(1), r),
                (c, r.wrapping_sub(1)),
                (c.wrapping_sub(1), r.wrapping_sub(1)),
            ];
            if used.iter().any(|&(c, r)| covered(c, r)) {
                let p = between(&corners, c, r);
                // The edge of the neck stays where it is, so it must be round from the start.
                let p = if r == 0 {
                    sculpt.project(p, 6).with_y(p.y)
                } else {
                    p
                };

                ids[r * (columns + 1) + c] =
                    Some(half.point(p, Part::Skin, r == 0, c == 0 || c == columns));
            }
        }
    }

    let grid = Grid { ids };
    for r in 0..rows {
        for c in (0..columns).filter(|&c| covered(c, r)) {
            let material = if is_hairy(c, r) { "hair" } else { "skin" };
            half.quad(
                [
                    grid.at(c, r),
                    grid.at(c + 1, r),
                    grid.at(c + 1, r + 1),
                    grid.at(c, r + 1),
                ],
                material,
            );
        }
    }

    // The crown closes the grid at the top.
    let crown: Vec<u32> = (0..=columns).map(|c| grid.at(c, rows)).collect();
    half.half_cap(&crown, 4 * SPLIT, Part::Skin, false, "hair");
    grid
}

/// Bilinear between the corners of the cell.
fn between(corners: &[Vec<DVec3>], column: usize, row: usize) -> DVec3 {
    let c = (column / SPLIT).min(COLUMNS - 1);
    let r = (row / SPLIT).min(ROWS - 1);

    let u = (column - c * SPLIT) as f64 / SPLIT as f64;
    let v = (row - r * SPLIT) as f64 / SPLIT as f64;

    corners[r][c]
        .lerp(corners[r][c + 1], u)
        .lerp(corners[r + 1][c].lerp(corners[r + 1][c + 1], u), v)
}

/// Angle of each column about the vertical axis, from the side towards the front, in degrees.
const COLUMN_ANGLE: [f64; COLUMNS + 1] = [
    90., 83., 76., 69., 61., 53., 45., 37., 26., 14., 1., -14., -38., -64., -90.,
];

/// Height of each row at the side and at the back.
const ROW_SIDE: [f64; ROWS + 1] = [
    -17., -13.6, -11., -9.2, -7.8, -6.6, -5.6, -4.7, -3.8, -2.2, -0.6, 0.9, 2.4, 4., 5.7, 7.4, 9.0,
];
const ROW_BACK: [f64; ROWS + 1] = [
    -17., -13.2, -10.6, -8.6, -7., -5.6, -4.5, -3.4, -2.4, -1.4, -0.4, 0.8, 2.2, 3.8, 5.6, 7.2, 8.8,
];
/// Height of the neck's rows at the front.
const NECK_FRONT: [f64; 3] = [-17., -14.3, -11.9];

/// Corners of cells on the face as `(x, y)`, rows 3 to 16, columns 0 to 7.
#[rustfmt::skip]
const FACE: [[(f64, f64); 8]; 14] = [
    [(0., -11.), (0.9, -11.), (1.8, -10.9), (2.6, -10.6), (3.3, -10.2), (4.1, -9.8), (4.8, -9.4), (5.4, -9.1)],
    [(0., -9.5), (0.9, -9.45), (1.8, -9.3), (2.6, -9.), (3.3, -8.7), (4.2, -8.5), (5., -8.1), (5.6, -7.8)],
    [(0., -7.8), (0.9, -7.8), (1.8, -7.7), (2.6, -7.5), (3.2, -7.2), (4.3, -7.3), (5.2, -7.2), (5.9, -6.9)],
    [(0., -6.0), (0.9, -6.0), (1.8, -6.), (2.7, -6.), (3.6, -6.), (4.6, -6.3), (5.5, -6.4), (6.2, -6.1)],
    [(0., -4.75), (0.7, -4.75), (1.5, -4.75), (2.4, -4.8), (3.2, -5.), (4.3, -5.5), (5.4, -5.7), (6.3, -5.3)],
    [(0., -4.25), (0.4, -4.2), (1.05, -4.05), (1.8, -4.15), (3., -4.5), (4.1, -4.9), (5.2, -5.), (6.4, -4.6)],
    [(0., -3.6), (0.42, -3.65), (1.15, -3.65), (1.8, -3.55), (2.8, -4.1), (4., -4.4), (5.2, -4.4), (6.4, -3.8)],
    [(0., -2.5), (0.6, -2.5), (1.15, -2.6), (1.65, -2.9), (2.6, -3.6), (3.7, -3.8), (5., -3.7), (6.4, -3.)],
    [(0., -1.6), (0.5, -1.65), (0.95, -1.8), (1.4, -2.2), (2.3, -2.95), (3.5, -3.2), (4.8, -2.95), (6., -2.2)],
    [(0., -0.3), (0.35, -0.3), (0.7, -0.3), (1., -0.4), (2.4, -0.4), (3.6, -0.4), (4.8, -0.4), (6.5, -0.3)],
    [(0., 1.9), (0.5, 1.9), (1., 1.85), (1.4, 1.75), (2.3, 2.25), (3.6, 2.5), (5., 2.25), (6.1, 1.6)],
    [(0., 3.9), (0.8, 3.9), (1.5, 3.9), (2.2, 3.9), (3.1, 4.), (4.2, 4.), (5.3, 3.8), (6.3, 3.5)],
    [(0., 6.2), (0.85, 6.2), (1.7, 6.2), (2.5, 6.2), (3.4, 6.2), (4.4, 6.1), (5.3, 6.), (6.2, 5.8)],
    [(0., 8.8), (0.8, 8.8), (1.6, 8.8), (2.4, 8.8), (3.3, 8.8), (4.1, 8.7), (4.9, 8.6), (5.6, 8.5)],
];

fn place_corners(sculpt: Sculpt) -> Vec<Vec<DVec3>> {
    (0..=ROWS)
        .map(|r| (0..=COLUMNS).map(|c| place_corner(sculpt, c, r)).collect())
        .collect()
}

fn place_corner(sculpt: Sculpt, column: usize, row: usize) -> DVec3 {
    // The face has a table of its own; its lowest row lies under the chin, which a view from the
    // front does not reach.
    if row >= 4 && column <= 7 {
        let (x, y) = FACE[row - 3][column];
        return sculpt.front(x, y);
    }
    if row == 3 && column <= 7 {
        let (x, y) = FACE[0][column];
        return sculpt.project(DVec3::new(x, y, 6.3 - 0.13 * x * x), 8);
    }

    let angle = COLUMN_ANGLE[column].to_radians();
    let front = if row < 3 {
        NECK_FRONT[row]
    } else {
        FACE[row - 3][7].1
    };

    // Rows of the neck bend from front to side to back; those of the face start where its table
    // ends.
    let start = if row < 3 { 0 } else { 7 };
    let y = match column {
        c if c <= 10 => front + (ROW_SIDE[row] - front) * (c - start) as f64 / (10 - start) as f64,
        c => ROW_SIDE[row] + (ROW_BACK[row] - ROW_SIDE[row]) * (c - 10) as f64 / 4.0,
    };

    let inside = DVec3::new(0.0, y, -1.0 - 2.5 * smoothstep_between(-6.0, -12.0, y));
    outward(sculpt, inside, DVec3::new(cos(angle), 0.0, sin(angle)))
}

/// Where the horizontal ray from `inside` leaves the head.
fn outward(sculpt: Sculpt, inside: DVec3, direction: DVec3) -> DVec3 {
    // A damped walk along the ray: distances are estimates, so that no step may overshoot far.
    let mut along = 0.0;
    for _ in 0..60 {
        along -= 0.8 * sculpt.distance(inside + direction * along).clamp(-2.0, 2.0);
    }
    inside + direction * along
}
