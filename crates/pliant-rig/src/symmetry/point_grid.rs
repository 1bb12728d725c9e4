//! Points in cells, to find the nearest within a reach.

use std::collections::HashMap;

use pliant_mesh::glam::DVec3;

/// Points by the cube that they are in.
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
    /// The distance of the second nearest; infinite where none is in reach.
    pub(crate) second: f64,
}

impl<'a> PointGrid<'a> {
    /// For queries within `reach` or less.
    pub(crate) fn new(points: &'a [DVec3], reach: f64) -> Self {
        // A reach of zero, of points that all coincide, would divide by it.
        let cell = reach.max(f64::MIN_POSITIVE);
        let mut members: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        for (k, point) in points.iter().enumerate() {
            members
                .entry(cell_of(*point, cell))
                .or_default()
                .push(k as u32);
        }
        Self {
            points,
            cell,
            members,
        }
    }

    /// The nearest of the points that `wanted` lets pass, within `reach`; the lowest index of
    /// several equally near.
    pub(crate) fn nearest(
        &self,
        query: DVec3,
        reach: f64,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<Nearest> {
        let [x, y, z] = cell_of(query, self.cell);
        let mut found: Option<Nearest> = None;
        for cell in (0..27).map(|k: i64| {
            [
                x.saturating_add(k % 3 - 1),
                y.saturating_add(k / 3 % 3 - 1),
                z.saturating_add(k / 9 - 1),
            ]
        }) {
            for &index in self
                .members
                .get(&cell)
                .into_iter()
                .flatten()
                .filter(|&&k| wanted(k))
            {
                let distance = self.points[index as usize].distance(query);
                if distance > reach {
                    continue;
                }
                found = Some(match found {
                    None => Nearest {
                        index,
                        distance,
                        second: f64::INFINITY,
                    },
                    Some(known) if (distance, index) < (known.distance, known.index) => Nearest {
                        index,
                        distance,
                        second: known.distance,
                    },
                    Some(known) => Nearest {
                        second: known.second.min(distance),
                        ..known
                    },
                });
            }
        }
        found
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
    fn the_nearest_is_that_of_all() {
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
