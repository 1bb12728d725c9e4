//! Points held on a surface, solved for ahead of everything else.
//!
//! **Problem.** A point inside a triangle has to move by a given vector, exactly, while its three
//! corners take part in a larger solve; points may share corners, lie in one place, or ask for what
//! no linear triangle can do.
//!
//! **Equation.** `C d = r` with one row of barycentric shares per point. Gauss–Jordan elimination
//! names a *master* vertex for each independent row and gives all displacements from the others
//! `y`: `d = T y + Q r`. Where rows depend on each other, `r` is first replaced by the nearest one
//! that can be had, `B Bᵀ r` with an orthonormal basis `B` of the columns of `C`: two points in one
//! place move by their mean.
//!
//! **Ours.** Points are eliminated in clusters that share corners, so that many of them cost no
//! more than they must.

use pliant_linalg::SparseMatrix;

/// *Ours*: points nearer to each other than this part of a triangle are in one place. Below it,
/// satisfying both would take displacements a million times longer than what was asked.
const SAME_PLACE: f64 = 1e-6;

/// Vertices (numbered among the free ones) and their shares in a point, with sum one.
pub(super) type Shares = Vec<(usize, f64)>;

/// `d = T y + Q r`.
#[derive(Debug, Clone)]
pub(super) struct Hold {
    /// `T`: a row per free vertex, a column per vertex that is no master.
    pub(super) spread: SparseMatrix,
    /// `Q`: a row per free vertex, a column per point.
    pub(super) take: SparseMatrix,
}

impl Hold {
    /// Eliminates one point after the other; each has at least one share.
    pub(super) fn new(free: usize, points: &[Shares]) -> Self {
        let mut masters = vec![false; free];
        let (mut ties, mut takes) = (Vec::new(), Vec::new());
        for cluster in clusters(free, points) {
            let mut system = Dense::new(points, &cluster);
            system.project();
            for (master, others, from) in system.eliminate() {
                masters[master] = true;
                ties.extend(
                    others
                        .into_iter()
                        .map(|(vertex, share)| (master as u32, vertex, -share)),
                );
                takes.extend(
                    from.into_iter()
                        .map(|(point, share)| (master as u32, point as u32, share)),
                );
            }
        }
        let mut names = vec![0_u32; free];
        let others = (0..free).filter(|&v| !masters[v]);
        let count = others.clone().count();
        let mut spread = Vec::new();
        for (name, v) in others.enumerate() {
            names[v] = name as u32;
            spread.push((v as u32, name as u32, 1.0));
        }
        spread.extend(
            ties.into_iter()
                .map(|(master, vertex, share)| (master, names[vertex], share)),
        );
        let spread = SparseMatrix::from_triplets(free, count, &spread);
        Self {
            spread,
            take: SparseMatrix::from_triplets(free, points.len(), &takes),
        }
    }
}

/// The points that share vertices, directly or through others, in ascending lists.
fn clusters(free: usize, points: &[Shares]) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..points.len()).collect();
    let mut first = vec![usize::MAX; free];
    for (k, shares) in points.iter().enumerate() {
        for &(vertex, _) in shares {
            if first[vertex] == usize::MAX {
                first[vertex] = k;
            }
            let (a, b) = (root(&mut parents, k), root(&mut parents, first[vertex]));
            parents[a.max(b)] = a.min(b);
        }
    }
    let mut lists = vec![Vec::new(); points.len()];
    for k in 0..points.len() {
        lists[root(&mut parents, k)].push(k);
    }
    lists.retain(|list| !list.is_empty());
    lists
}

/// The first of the points that `k` is joined to so far.
fn root(parents: &mut [usize], mut k: usize) -> usize {
    while parents[k] != k {
        parents[k] = parents[parents[k]];
        k = parents[k];
    }
    k
}

/// The rows of one cluster, beside the part of each point's value in each row.
struct Dense {
    vertices: Vec<usize>,
    points: Vec<usize>,
    shares: Vec<Vec<f64>>,
    values: Vec<Vec<f64>>,
}

/// A master vertex, the other vertices it follows and the points it takes from, each with its
/// share.
type Elimination = (usize, Vec<(usize, f64)>, Vec<(usize, f64)>);

impl Dense {
    fn new(points: &[Shares], cluster: &[usize]) -> Self {
        let mut vertices: Vec<usize> = cluster
            .iter()
            .flat_map(|&k| points[k].iter().map(|share| share.0))
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        let row = |k: &usize| {
            let mut row = vec![0.0; vertices.len()];
            for &(vertex, share) in &points[*k] {
                row[vertices.partition_point(|&v| v < vertex)] += share;
            }
            row
        };
        let shares = cluster.iter().map(row).collect();
        let unit = |k: usize| (0..cluster.len()).map(|j| f64::from(j == k)).collect();
        Self {
            vertices,
            points: cluster.to_vec(),
            shares,
            values: (0..cluster.len()).map(unit).collect(),
        }
    }

    /// Replaces the values by the nearest ones that displacements of vertices can give.
    fn project(&mut self) {
        let n = self.points.len();
        let mut columns: Vec<Vec<f64>> = (0..self.vertices.len())
            .map(|j| self.shares.iter().map(|row| row[j]).collect())
            .collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        while basis.len() < n {
            let square = |j: usize| dot(&columns[j], &columns[j]);
            let longest = (0..columns.len())
                .fold(0, |best, j| if square(j) > square(best) { j } else { best });
            let length = square(longest).sqrt();
            if length < SAME_PLACE {
                break;
            }
            let direction: Vec<f64> = columns[longest].iter().map(|c| c / length).collect();
            for column in &mut columns {
                let along = dot(column, &direction);
                subtract(column, along, &direction);
            }
            basis.push(direction);
        }
        if basis.len() == n {
            return;
        }
        for (i, row) in self.values.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = basis
                    .iter()
                    .map(|direction| direction[i] * direction[j])
                    .sum();
            }
        }
    }

    /// Gauss–Jordan elimination with the largest share left as pivot.
    fn eliminate(mut self) -> Vec<Elimination> {
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        while let Some((row, column)) = self.pivot(&pivots) {
            let scale = 1.0 / self.shares[row][column];
            self.shares[row]
                .iter_mut()
                .chain(&mut self.values[row])
                .for_each(|entry| *entry *= scale);
            let (shares, values) = (self.shares[row].clone(), self.values[row].clone());
            for other in (0..self.shares.len()).filter(|&other| other != row) {
                let factor = self.shares[other][column];
                if factor != 0.0 {
                    subtract(&mut self.shares[other], factor, &shares);
                    subtract(&mut self.values[other], factor, &values);
                    self.shares[other][column] = 0.0;
                }
            }
            pivots.push((row, column));
        }
        let named = |list: &[f64], names: &[usize], leave: Option<usize>| {
            let kept = list
                .iter()
                .enumerate()
                .filter(|&(k, &share)| share != 0.0 && Some(k) != leave);
            kept.map(|(k, &share)| (names[k], share))
                .collect::<Vec<_>>()
        };
        let elimination = |&(row, column): &(usize, usize)| {
            let others = named(&self.shares[row], &self.vertices, Some(column));
            (
                self.vertices[column],
                others,
                named(&self.values[row], &self.points, None),
            )
        };
        pivots.iter().map(elimination).collect()
    }

    /// The largest share in the rows without a pivot.
    fn pivot(&self, pivots: &[(usize, usize)]) -> Option<(usize, usize)> {
        let mut best = (SAME_PLACE, None);
        for row in (0..self.shares.len()).filter(|row| pivots.iter().all(|pivot| pivot.0 != *row)) {
            for (column, share) in self.shares[row].iter().enumerate() {
                if share.abs() > best.0 {
                    best = (share.abs(), Some((row, column)));
                }
            }
        }
        best.1
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], factor: f64, what: &[f64]) {
    from.iter_mut()
        .zip(what)
        .for_each(|(from, what)| *from -= factor * what);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `C (T y + Q r)` for a `y` of no pattern.
    fn reached(free: usize, points: &[Shares], r: &[f64]) -> Vec<f64> {
        let hold = Hold::new(free, points);
        let y: Vec<f64> = (0..hold.spread.columns())
            .map(|k| (k as f64 * 1.7).sin())
            .collect();
        let d: Vec<f64> = hold
            .spread
            .multiply(&y)
            .iter()
            .zip(hold.take.multiply(r))
            .map(|(a, b)| a + b)
            .collect();
        points
            .iter()
            .map(|shares| shares.iter().map(|&(v, share)| d[v] * share).sum())
            .collect()
    }

    #[test]
    fn independent_points_take_their_values_whatever_the_other_vertices_do() {
        let points = [
            vec![(0, 0.2), (1, 0.5), (2, 0.3)],
            vec![(1, 0.1), (2, 0.1), (3, 0.8)],
            vec![(5, 1.0)],
            vec![(2, 0.5), (0, 0.5)],
        ];
        let r = [1.0, -2.0, 0.3, 0.7];
        assert!(
            reached(6, &points, &r)
                .iter()
                .zip(r)
                .all(|(a, b)| (a - b).abs() < 1e-14)
        );
    }

    #[test]
    fn points_in_one_place_take_their_mean() {
        let points = [vec![(1, 1.0)], vec![(1, 1.0)], vec![(0, 1.0)]];
        let found = reached(3, &points, &[1.0, 2.0, 5.0]);
        assert!(
            found
                .iter()
                .zip([1.5, 1.5, 5.0])
                .all(|(a, b)| (a - b).abs() < 1e-15)
        );
    }

    #[test]
    fn four_points_of_one_triangle_miss_by_the_least_squares_distance() {
        // The corners and their centre: the misfit is along (1, 1, 1, −3), the only vector across
        // the columns.
        let centre = vec![(0, 1.0 / 3.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0)];
        let points = [vec![(0, 1.0)], vec![(1, 1.0)], vec![(2, 1.0)], centre];
        let r = [0.0, 0.0, 0.0, 1.0];
        let across = [1.0, 1.0, 1.0, -3.0].map(|a: f64| a / 12.0_f64.sqrt());
        let along: f64 = across.iter().zip(r).map(|(a, b)| a * b).sum();
        let found = reached(3, &points, &r);
        assert!(
            (0..4).all(|k| (found[k] - (r[k] - along * across[k])).abs() < 1e-14),
            "{found:?}"
        );
    }
}
