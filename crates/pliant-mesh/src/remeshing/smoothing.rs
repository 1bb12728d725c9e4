//! Laplacian and Taubin smoothing.
//!
//! **Problem.** Take small bumps out of a surface, vertex order and faces kept.
//!
//! **Equation.** With `A x` the weighted mean of each vertex's neighbours, one step is
//!
//! ```text
//! x ← x + λ (A x − x)
//! ```
//!
//! A bump of frequency `k` (an eigenvalue of `I − A`, between 0 and 2) shrinks by `1 − λk`. Taubin
//! follows each step by one with `μ < −λ < 0`, so that `(1 − λk)(1 − μk)` stays near one below
//! the pass band `k = 1/λ + 1/μ` and falls above it.
//!
//! **Source.** Taubin, "A Signal Processing Approach to Fair Surface Design", SIGGRAPH 1995; the
//! inverse-length weights are Fujiwara's, in the form that Desbrun, Meyer, Schröder and Barr,
//! "Implicit Fairing", SIGGRAPH 1999, give them.
//!
//! **Departures.** The weights are frozen in the pose the smoother was made from, so that smoothing
//! is linear and one smoother serves every pose. Edges with another number of triangles than two
//! count as boundary.

use glam::DVec3;
use pliant_linalg::{SparseMatrix, parallel};

use crate::{Mesh, MeshError, Topology};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// How much each neighbour counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmoothingWeights {
    /// All alike (the umbrella): also evens out the spacing of vertices.
    #[default]
    Uniform,
    /// By the inverse length of the edge: keeps uneven spacing better. Edges of no length count as
    /// a millionth of the mean edge length.
    InverseLength,
}

/// How boundary vertices are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmoothingBoundary {
    /// They stay.
    #[default]
    Fixed,
    /// They are smoothed as curves, by their neighbours along the boundary; ends and forks stay.
    AlongCurve,
    /// They are smoothed like all others, which pulls the boundary inwards.
    Free,
}

/// How to smooth.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothingOptions {
    iterations: usize,
    step: f64,
    pass_band: Option<f64>,
    weights: SmoothingWeights,
    boundary: SmoothingBoundary,
}

impl Default for SmoothingOptions {
    fn default() -> Self {
        Self {
            iterations: Self::DEFAULT_ITERATIONS,
            step: Self::DEFAULT_STEP,
            pass_band: None,
            weights: SmoothingWeights::default(),
            boundary: SmoothingBoundary::default(),
        }
    }
}

impl SmoothingOptions {
    /// Chosen: enough to see, little enough to keep features.
    pub const DEFAULT_ITERATIONS: usize = 10;
    /// Chosen: the middle of the stable range, where the highest frequency (2) vanishes.
    pub const DEFAULT_STEP: f64 = 0.5;
    /// Paper: the upper end of the recommended range, 0.01 to 0.1.
    pub const DEFAULT_PASS_BAND: f64 = 0.1;

    /// Steps, or pairs of steps with a pass band. Default:
    /// [`DEFAULT_ITERATIONS`](Self::DEFAULT_ITERATIONS).
    #[must_use]
    pub fn with_iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// `λ`, in (0, 1]: the step towards the neighbours' mean, relative to its distance. Default:
    /// [`DEFAULT_STEP`](Self::DEFAULT_STEP).
    #[must_use]
    pub fn with_step(self, step: f64) -> Self {
        Self { step, ..self }
    }

    /// Keeps frequencies below `pass_band`, in (0, 1/λ), at their size (Taubin); `μ = 1 /
    /// (pass_band − 1/λ)`. Steps at which the highest frequency would grow are declined; all up
    /// to a half are sound. Default: no pass band, the plain step.
    #[must_use]
    pub fn with_pass_band(self, pass_band: f64) -> Self {
        Self {
            pass_band: Some(pass_band),
            ..self
        }
    }

    /// How neighbours are weighted.
    #[must_use]
    pub fn with_weights(self, weights: SmoothingWeights) -> Self {
        Self { weights, ..self }
    }

    /// How boundary vertices are treated.
    #[must_use]
    pub fn with_boundary(self, boundary: SmoothingBoundary) -> Self {
        Self { boundary, ..self }
    }

    /// The step sizes of one iteration.
    fn steps(&self) -> Result<Vec<f64>, MeshError> {
        let lambda = self.step;
        if !(lambda > 0.0 && lambda <= 1.0) {
            return Err(MeshError::BadNumber {
                what: "the smoothing step",
                value: lambda,
                needed: "above 0 and at most 1",
            });
        }

        // Taubin's second step μ follows from λ and the pass band.
        match self.pass_band {
            None => Ok(vec![lambda]),
            Some(band) if band > 0.0 && band < 1.0 / lambda => {
                let mu = 1.0 / (band - 1.0 / lambda);

                // Above the pass band the factor falls with the frequency. A factor below −1 would
                // make bumps grow with every pair.
                let at_highest = (1.0 - 2.0 * lambda) * (1.0 - 2.0 * mu);
                if at_highest < -1.0 {
                    let needed = "such that (1 - 2 step) (1 - 2 mu) is at least -1, as for all steps up to 0.5";
                    return Err(MeshError::BadNumber {
                        what: "the smoothing step with this pass band",
                        value: lambda,
                        needed,
                    });
                }

                Ok(vec![lambda, mu])
            }
            Some(value) => Err(MeshError::BadNumber {
                what: "the pass band",
                value,
                needed: "above 0 and below 1 / step",
            }),
        }
    }
}

/// A linear smoother for all poses of a mesh.
#[derive(Debug, Clone)]
pub struct Smoother {
    mean: SparseMatrix,
    steps: Vec<f64>,
    iterations: usize,
}

impl Smoother {
    /// Computes the weights of the neighbours of each vertex of `mesh`. Vertices without neighbours
    /// stay.
    pub fn of(mesh: &Mesh, options: &SmoothingOptions) -> Result<Self, MeshError> {
        let steps = options.steps()?;
        if options.weights == SmoothingWeights::InverseLength {
            mesh.require_finite()?;
        }
        Ok(Self {
            mean: neighbor_mean(mesh, options),
            steps,
            iterations: options.iterations,
        })
    }

    /// The smoothed positions of a pose.
    ///
    /// # Panics
    /// If `positions` has another length than the mesh has vertices.
    #[must_use]
    pub fn smooth(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut smoothed = positions.to_vec();
        let mut mean = vec![DVec3::ZERO; positions.len()];
        for _ in 0..self.iterations {
            for &step in &self.steps {
                self.mean.multiply_into(&smoothed, &mut mean);
                parallel::for_each_chunk_mut(&mut smoothed, VERTICES_PER_TASK, |start, chunk| {
                    for (x, mean) in chunk.iter_mut().zip(&mean[start..]) {
                        *x += (*mean - *x) * step;
                    }
                });
            }
        }

        smoothed
    }
}

impl Mesh {
    /// The mesh with its vertices smoothed; see [`Smoother`] for many poses.
    pub fn smoothed(&self, options: &SmoothingOptions) -> Result<Self, MeshError> {
        self.posed(Smoother::of(self, options)?.smooth(self.positions()))
    }
}

/// The matrix that replaces each vertex by its neighbours' mean, or keeps it where it may not move.
fn neighbor_mean(mesh: &Mesh, options: &SmoothingOptions) -> SparseMatrix {
    let topology = mesh.topology();
    let shortest = 1e-6 * mesh.mean_edge_length();
    let mut triplets = Vec::with_capacity(2 * topology.edges().len() + mesh.vertex_count());
    let mut totals = vec![0.0; mesh.vertex_count()];
    let rim_degree = rim_degrees(topology);

    for (edge, &[a, b]) in topology.edges().iter().enumerate() {
        // Zero lengths get a floor, so that their weight stays finite.
        let weight = match options.weights {
            SmoothingWeights::Uniform => 1.0,
            SmoothingWeights::InverseLength => {
                let length = mesh.positions()[a as usize]
                    .distance(mesh.positions()[b as usize])
                    .max(shortest);
                if length > 0.0 { 1.0 / length } else { 1.0 }
            }
        };

        // On a boundary, which neighbours count depends on the option.
        let on_rim = topology.edge_triangles().row(edge).len() != 2;
        for (from, to) in [(a, b), (b, a)] {
            if follows(options.boundary, rim_degree[from as usize], on_rim) {
                triplets.push((from, to, weight));
                totals[from as usize] += weight;
            }
        }
    }

    // Rows are normalised; vertices without neighbours that count keep their positions.
    for (row, _, weight) in triplets.iter_mut() {
        *weight /= totals[*row as usize];
    }
    let resting = (0..mesh.vertex_count()).filter(|&v| totals[v] == 0.0);
    triplets.extend(resting.map(|v| (v as u32, v as u32, 1.0)));
    SparseMatrix::from_triplets(mesh.vertex_count(), mesh.vertex_count(), &triplets)
}

/// Whether a vertex with `rim_degree` boundary edges moves towards a neighbour over an edge.
fn follows(boundary: SmoothingBoundary, rim_degree: u32, on_rim: bool) -> bool {
    match (boundary, rim_degree) {
        (SmoothingBoundary::Free, _) | (_, 0) => true,
        (SmoothingBoundary::AlongCurve, 2) => on_rim,
        _ => false,
    }
}

/// How many edges without exactly two triangles each vertex has.
fn rim_degrees(topology: &Topology) -> Vec<u32> {
    let mut degrees = vec![0; topology.vertex_neighbors().len()];
    for (edge, ends) in topology.edges().iter().enumerate() {
        if topology.edge_triangles().row(edge).len() != 2 {
            for &v in ends.iter() {
                degrees[v as usize] += 1;
            }
        }
    }
    degrees
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::test_shapes::{grid, irregular_torus, random_points};

    const ALL_BOUNDARIES: [SmoothingBoundary; 3] = [
        SmoothingBoundary::Fixed,
        SmoothingBoundary::AlongCurve,
        SmoothingBoundary::Free,
    ];

    #[test]
    fn constant_positions_stay_for_all_weights_and_boundaries() {
        for boundary in ALL_BOUNDARIES {
            for weights in [SmoothingWeights::Uniform, SmoothingWeights::InverseLength] {
                let options = SmoothingOptions::default()
                    .with_boundary(boundary)
                    .with_weights(weights)
                    .with_pass_band(0.1);
                let mesh = irregular_torus(9, 7);
                let smoother = Smoother::of(&mesh, &options).unwrap();
                let constant = vec![DVec3::new(1.0, -2.0, 3.0); mesh.vertex_count()];

                assert!(
                    smoother
                        .smooth(&constant)
                        .iter()
                        .all(|p| p.distance(constant[0]) < 1e-13)
                );
            }
        }
    }

    #[test]
    fn taubin_shrinks_a_sphere_less_than_the_plain_step() {
        let sphere = icosphere(3);
        let options = SmoothingOptions::default().with_iterations(30);
        let volume = sphere.signed_volume();
        let plain = sphere.smoothed(&options).unwrap().signed_volume() / volume;
        let kept = sphere
            .smoothed(&options.with_pass_band(SmoothingOptions::DEFAULT_PASS_BAND))
            .unwrap()
            .signed_volume()
            / volume;

        assert!(plain < 0.8, "{plain}");
        assert!((kept - 1.0).abs() < 0.1 * (1.0 - plain), "{kept}");
    }

    #[test]
    fn smoothing_reduces_noise_on_a_sphere() {
        let sphere = icosphere(3);
        let noisy: Vec<DVec3> = sphere
            .positions()
            .iter()
            .zip(random_points(4, sphere.vertex_count()))
            .map(|(p, noise)| *p * (1.0 + 0.05 * noise.x))
            .collect();

        let spread = |positions: &[DVec3]| {
            let mean = positions.iter().map(|p| p.length()).sum::<f64>() / positions.len() as f64;
            positions
                .iter()
                .map(|p| (p.length() - mean).powi(2))
                .sum::<f64>()
        };

        for options in [
            SmoothingOptions::default(),
            SmoothingOptions::default().with_pass_band(0.1),
        ] {
            let smooth = Smoother::of(&sphere, &options).unwrap().smooth(&noisy);
            assert!(spread(&smooth) < 0.2 * spread(&noisy));
        }
    }

    #[test]
    fn a_pair_of_steps_never_lets_a_zigzag_grow() {
        // An even closed curve has the highest frequency there is: two.
        let mesh = grid(6, 6);
        let rim = mesh.topology().boundary_loops().concat();
        let mut pose = vec![DVec3::ZERO; mesh.vertex_count()];
        for (k, &v) in rim.iter().enumerate() {
            pose[v as usize].z = if k % 2 == 0 { 1.0 } else { -1.0 };
        }

        let along = |step: f64| {
            let options = SmoothingOptions::default()
                .with_boundary(SmoothingBoundary::AlongCurve)
                .with_step(step)
                .with_iterations(40);
            Smoother::of(&mesh, &options.with_pass_band(0.1))
        };

        for step in [0.1, 0.3, 0.5, 0.65, 0.69] {
            let smooth = along(step).unwrap().smooth(&pose);
            assert!(
                rim.iter().all(|&v| smooth[v as usize].z.abs() <= 1.0),
                "{step}"
            );
        }

        assert!(
            [0.72, 0.8, 1.0]
                .into_iter()
                .all(|step| along(step).is_err())
        );
    }

    #[test]
    fn each_boundary_option_moves_the_boundary_as_documented() {
        let mesh = grid(6, 6);
        let bumpy: Vec<DVec3> = mesh
            .positions()
            .iter()
            .zip(random_points(8, mesh.vertex_count()))
            .map(|(p, noise)| *p + 0.2 * noise)
            .collect();

        let rim: Vec<usize> = mesh
            .topology()
            .boundary_loops()
            .concat()
            .iter()
            .map(|&v| v as usize)
            .collect();

        let smooth = |boundary, pose: &[DVec3]| {
            Smoother::of(&mesh, &SmoothingOptions::default().with_boundary(boundary))
                .unwrap()
                .smooth(pose)
        };
        let fixed = smooth(SmoothingBoundary::Fixed, &bumpy);

        assert!(rim.iter().all(|&v| fixed[v] == bumpy[v]));

        // Along the curve, inner vertices have no influence.
        let mut lifted = bumpy.clone();
        for v in (0..mesh.vertex_count()).filter(|v| !rim.contains(v)) {
            lifted[v] += DVec3::Z;
        }

        let one = smooth(SmoothingBoundary::AlongCurve, &bumpy);
        let other = smooth(SmoothingBoundary::AlongCurve, &lifted);

        assert!(
            rim.iter()
                .all(|&v| one[v] == other[v] && one[v] != bumpy[v])
        );

        let free = smooth(SmoothingBoundary::Free, &lifted);
        assert!(rim.iter().any(|&v| free[v].z > one[v].z + 0.1));
    }

    #[test]
    fn invalid_options_are_declined_and_degenerate_meshes_are_smoothed() {
        let mesh = Mesh::from_triangles(
            random_points(1, 7),
            &[[0, 1, 2], [1, 0, 3], [0, 1, 4], [5, 5, 0]],
        )
        .unwrap();

        for bad in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(
                mesh.smoothed(&SmoothingOptions::default().with_step(bad))
                    .is_err()
            );
        }

        for bad in [0.0, -0.1, 2.0, f64::NAN] {
            assert!(
                mesh.smoothed(&SmoothingOptions::default().with_pass_band(bad))
                    .is_err()
            );
        }

        for boundary in ALL_BOUNDARIES {
            let smooth = mesh
                .smoothed(&SmoothingOptions::default().with_boundary(boundary))
                .unwrap();
            assert!(smooth.positions().iter().all(|p| p.is_finite()));
            assert_eq!(smooth.positions()[6], mesh.positions()[6]);
        }
    }
}
