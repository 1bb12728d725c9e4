//! Uniform grid of points for nearest-neighbour queries within a radius.

use std::collections::HashMap;

use pliant_mesh::glam::DVec3;

/// Points by their cubic cell.
pub(crate) struct PointGrid<'a> {
    points: &'a [DVec3],
    cell: f64,
    members: HashMap<[i64; 3], Vec<u32>>,
}

/// The nearest point of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) index: u32,
    pub(crate) distance: f64,
    /// The distance of the second nearest; infinite if none is in reach.
    pub(crate) second: f64,
}

impl<'a> PointGrid<'a> {
    /// For queries within `reach` or less.
    pub(crate) fn new(points: &'a [DVec3], reach: f64) -> Self {
        // The reach is zero if all points coincide; avoid a division by it.
        let cell = reach.max(f64::MIN_POSITIVE);
        let mut members: HashMap<[i64; 3], Vec<u32>> = HashMap::new();

        for (k, point) in points.iter().enumerate() {
            let own = members.entry(cell_of(*point, cell)).or_default();
            own.push(k as u32);
        }

        Self {
            points,
            cell,
            members,
        }
    }

    /// The nearest of the points that pass `filter`, within `reach`; the lowest index of several
    /// equally near.
    pub(crate) fn nearest(
        &self,
        query: DVec3,
        reach: f64,
        filter: impl Fn(u32) -> bool,
    ) -> Option<Nearest> {
        let [x, y, z] = cell_of(query, self.cell);
        let mut nearest: Option<Nearest> = None;

        // The cell of the query and its 26 neighbours.
        for k in 0..27_i64 {
            let cell = [
                x.saturating_add(k % 3 - 1),
                y.saturating_add(k / 3 % 3 - 1),
                z.saturating_add(k / 9 - 1),
            ];
            for &index in self.members.get(&cell).into_iter().flatten() {
                if !filter(index) {
                    continue;
                }
                let distance = self.points[index as usize].distance(query);
                if distance <= reach {
                    nearest = Some(updated(nearest, index, distance));
                }
            }
        }

        nearest
    }
}

/// The nearest of the points so far and one more.
fn updated(nearest: Option<Nearest>, index: u32, distance: f64) -> Nearest {
    match nearest {
        None => Nearest {
            index,
            distance,
            second: f64::INFINITY,
        },
        // Of equally near points the first one, whatever the order of the cells.
        Some(known) if (distance, index) < (known.distance, known.index) => Nearest {
            index,
            distance,
            second: known.distance,
        },
        Some(known) => Nearest {
            second: known.second.min(distance),
            ..known
        },
    }
}

fn cell_of(point: DVec3, cell: f64) -> [i64; 3] {
    (point / cell).floor().to_array().map(|x| x as i64)
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::bumpy_sheet;

    use super::*;

    #[test]
    fn the_nearest_point_agrees_with_an_exhaustive_search() {
        let sheet = bumpy_sheet(12, 0.3);
        let points = sheet.positions();
        let reach = 0.11;
        let grid = PointGrid::new(points, reach);

        for k in 0..200 {
            let query = DVec3::new(
                (k as f64 * 0.7).sin().abs(),
                (k as f64 * 1.3).cos().abs(),
                0.02,
            );

            // All distances within reach, sorted.
            let mut all: Vec<f64> = points
                .iter()
                .map(|p| p.distance(query))
                .filter(|d| *d <= reach)
                .collect();

            all.sort_by(f64::total_cmp);
            let found = grid.nearest(query, reach, |_| true);
            assert_eq!(found.map(|n| n.distance), all.first().copied());
            assert_eq!(
                found.map(|n| n.second),
                all.first()
                    .map(|_| all.get(1).copied().unwrap_or(f64::INFINITY))
            );
        }
    }
}
