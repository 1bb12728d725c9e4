//! Elimination of pin constraints before a larger solve.
//!
//! **Problem.** A point inside a triangle has to move by a given vector, exactly, while its three
//! corners take part in a larger solve. Points may share corners, coincide, or ask for what no
//! linear triangle can do.
//!
//! **Equation.** `C d = r` with one row of barycentric weights per point. Gauss–Jordan elimination
//! gives a *master* vertex for each independent row, and all displacements from the other ones `y`:
//! `d = T y + Q r`. If rows are dependent, `r` is first replaced by the nearest one that is
//! possible, `B Bᵀ r` with an orthonormal basis `B` of the columns of `C`: two coincident points
//! move by their mean.
//!
//! **Implementation.** Points are eliminated in clusters that share corners, so that the dense
//! systems stay small.

use pliant_linalg::{DisjointSets, SparseMatrix};

/// *Chosen*: points nearer to each other than this part of a triangle coincide. Below it,
/// satisfying both would need displacements a million times longer than the residuals.
const SAME_POINT: f64 = 1e-6;

/// The vertices of a point (numbered among the free ones) and their weights, with sum one.
pub(super) type PointWeights = Vec<(usize, f64)>;

/// `d = T y + Q r`.
#[derive(Debug, Clone)]
pub(super) struct PinConstraints {
    /// `T`: a row per free vertex, a column per vertex that is not a master.
    pub(super) from_others: SparseMatrix,
    /// `Q`: a row per free vertex, a column per point.
    pub(super) from_residuals: SparseMatrix,
}

impl PinConstraints {
    /// Eliminates all points; each has at least one vertex.
    pub(super) fn eliminate(free: usize, points: &[PointWeights]) -> Self {
        let mut eliminations = Vec::new();
        for cluster in clusters(free, points) {
            let mut system = ClusterSystem::new(points, &cluster);
            system.project_values();
            eliminations.extend(system.eliminate());
        }

        // Number the vertices that are not masters; each depends on itself.
        let mut is_master = vec![false; free];
        for elimination in &eliminations {
            is_master[elimination.master] = true;
        }
        let mut others = Vec::new();
        let mut number_of = vec![0_u32; free];
        for v in (0..free).filter(|&v| !is_master[v]) {
            number_of[v] = others.len() as u32;
            others.push((v as u32, number_of[v], 1.0));
        }
        let other_count = others.len();

        let mut residuals = Vec::new();
        for elimination in eliminations {
            let master = elimination.master as u32;
            for (vertex, weight) in elimination.others {
                others.push((master, number_of[vertex], -weight));
            }
            for (point, weight) in elimination.points {
                residuals.push((master, point as u32, weight));
            }
        }

        Self {
            from_others: SparseMatrix::from_triplets(free, other_count, &others),
            from_residuals: SparseMatrix::from_triplets(free, points.len(), &residuals),
        }
    }
}

/// The points that share vertices, directly or through others, in ascending lists.
fn clusters(free: usize, points: &[PointWeights]) -> Vec<Vec<usize>> {
    let mut sets = DisjointSets::new(points.len());
    // Points join the first point at each of their vertices, so no pair of points is compared.
    let mut first_point = vec![usize::MAX; free];
    for (k, weights) in points.iter().enumerate() {
        for &(vertex, _) in weights {
            if first_point[vertex] == usize::MAX {
                first_point[vertex] = k;
            }
            sets.merge(k as u32, first_point[vertex] as u32);
        }
    }

    let mut lists = vec![Vec::new(); points.len()];
    for k in 0..points.len() {
        lists[sets.find(k as u32) as usize].push(k);
    }

    lists.retain(|list| !list.is_empty());
    lists
}

/// The dense rows of one cluster: `C d = V r`, with `V = I` at first.
struct ClusterSystem {
    vertices: Vec<usize>,
    points: Vec<usize>,
    /// `C`.
    weights: Vec<Vec<f64>>,
    /// `V`.
    values: Vec<Vec<f64>>,
}

/// A master vertex as a linear combination of other vertices and of the residuals of points.
struct Elimination {
    master: usize,
    others: Vec<(usize, f64)>,
    points: Vec<(usize, f64)>,
}

impl ClusterSystem {
    fn new(points: &[PointWeights], cluster: &[usize]) -> Self {
        let mut vertices: Vec<usize> = Vec::new();
        for &k in cluster {
            vertices.extend(points[k].iter().map(|entry| entry.0));
        }
        vertices.sort_unstable();
        vertices.dedup();

        // Dense rows over the vertices of the cluster.
        let n = cluster.len();
        let mut weights = vec![vec![0.0; vertices.len()]; n];
        let mut values = vec![vec![0.0; n]; n];
        for (row, &k) in cluster.iter().enumerate() {
            for &(vertex, weight) in &points[k] {
                weights[row][vertices.partition_point(|&v| v < vertex)] += weight;
            }
            values[row][row] = 1.0;
        }

        Self {
            vertices,
            points: cluster.to_vec(),
            weights,
            values,
        }
    }

    /// Replaces the values by the nearest ones that displacements of vertices can give.
    fn project_values(&mut self) {
        let basis = self.column_basis();
        if basis.len() == self.points.len() {
            return; // Independent rows can have any values.
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

    /// An orthonormal basis of the columns of `C`, by Gram–Schmidt with the longest column first.
    fn column_basis(&self) -> Vec<Vec<f64>> {
        let mut columns: Vec<Vec<f64>> = (0..self.vertices.len())
            .map(|j| self.weights.iter().map(|row| row[j]).collect())
            .collect();

        let mut basis: Vec<Vec<f64>> = Vec::new();
        while basis.len() < self.points.len() {
            let mut longest = 0;
            for j in 0..columns.len() {
                if dot(&columns[j], &columns[j]) > dot(&columns[longest], &columns[longest]) {
                    longest = j;
                }
            }

            // Shorter columns belong to coincident points.
            let length = dot(&columns[longest], &columns[longest]).sqrt();
            if length < SAME_POINT {
                break;
            }

            let direction: Vec<f64> = columns[longest].iter().map(|c| c / length).collect();
            for column in &mut columns {
                let along = dot(column, &direction);
                subtract(column, along, &direction);
            }
            basis.push(direction);
        }

        basis
    }

    /// Gauss–Jordan elimination with the largest remaining weight as pivot.
    fn eliminate(mut self) -> Vec<Elimination> {
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        while let Some((row, column)) = self.next_pivot(&pivots) {
            self.eliminate_column(row, column);
            pivots.push((row, column));
        }

        // Rows without a pivot have no weight left: other points imply them.
        let mut eliminations = Vec::with_capacity(pivots.len());
        for (row, column) in pivots {
            let mut others = nonzero(&self.weights[row], &self.vertices);
            let master = self.vertices[column];
            others.retain(|(vertex, _)| *vertex != master);
            eliminations.push(Elimination {
                master,
                others,
                points: nonzero(&self.values[row], &self.points),
            });
        }

        eliminations
    }

    /// Scales a row to 1 in a column and subtracts it from all others.
    fn eliminate_column(&mut self, row: usize, column: usize) {
        let scale = 1.0 / self.weights[row][column];
        for entry in self.weights[row].iter_mut().chain(&mut self.values[row]) {
            *entry *= scale;
        }

        let weights = self.weights[row].clone();
        let values = self.values[row].clone();
        for other in (0..self.weights.len()).filter(|&other| other != row) {
            let factor = self.weights[other][column];
            if factor != 0.0 {
                subtract(&mut self.weights[other], factor, &weights);
                subtract(&mut self.values[other], factor, &values);
                self.weights[other][column] = 0.0;
            }
        }
    }

    /// The largest weight in the rows without a pivot.
    fn next_pivot(&self, pivots: &[(usize, usize)]) -> Option<(usize, usize)> {
        let mut best = None;
        let mut largest = SAME_POINT;
        for (row, weights) in self.weights.iter().enumerate() {
            if pivots.iter().any(|pivot| pivot.0 == row) {
                continue;
            }
            for (column, weight) in weights.iter().enumerate() {
                if weight.abs() > largest {
                    largest = weight.abs();
                    best = Some((row, column));
                }
            }
        }

        best
    }
}

/// The entries that are not zero, with their names.
fn nonzero(entries: &[f64], names: &[usize]) -> Vec<(usize, f64)> {
    let named = names.iter().copied().zip(entries.iter().copied());
    named.filter(|(_, entry)| *entry != 0.0).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], factor: f64, values: &[f64]) {
    for (from, value) in from.iter_mut().zip(values) {
        *from -= factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `C (T y + Q r)` for an arbitrary `y`.
    fn reached(free: usize, points: &[PointWeights], r: &[f64]) -> Vec<f64> {
        let constraints = PinConstraints::eliminate(free, points);
        let y: Vec<f64> = (0..constraints.from_others.columns())
            .map(|k| (k as f64 * 1.7).sin())
            .collect();
        let d: Vec<f64> = constraints
            .from_others
            .multiply(&y)
            .iter()
            .zip(constraints.from_residuals.multiply(r))
            .map(|(a, b)| a + b)
            .collect();

        points
            .iter()
            .map(|weights| weights.iter().map(|&(v, weight)| d[v] * weight).sum())
            .collect()
    }

    #[test]
    fn independent_points_reach_their_values_for_any_other_vertices() {
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
    fn coincident_points_take_their_mean() {
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
    fn four_points_of_one_triangle_have_the_least_squares_residual() {
        // The corners and their centre: the misfit is along (1, 1, 1, −3), the only vector
        // orthogonal to the columns.
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
