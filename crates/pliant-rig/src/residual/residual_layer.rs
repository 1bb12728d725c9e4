//! Solve of a residual layer: the displacement of the disc around pins from their residuals.

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Bounds, ExactGeodesics, Mesh, MeshError, SurfacePoint};

use super::Residual;
use super::patch::{Patch, grown, sorted};
use super::pin_constraints::{PinConstraints, PointWeights};
use super::plate::Plate;
use crate::RigError;

/// Options of the solve of a residual layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResidualOptions {
    bending_length: f64,
    iterations: usize,
    tolerance: f64,
}

impl Default for ResidualOptions {
    fn default() -> Self {
        Self {
            bending_length: Self::DEFAULT_BENDING_LENGTH,
            iterations: Self::DEFAULT_ITERATIONS,
            tolerance: Self::DEFAULT_TOLERANCE,
        }
    }
}

impl ResidualOptions {
    /// *Measured* on a cheek, a lip and a bumpy sheet pulled by 0.15 and 0.4 radii in and
    /// orthogonal to their planes: a tenth of the radius leaves tips of up to 45° and a fold on the
    /// lip, a half is hardly stiffer than the linear plate.
    pub const DEFAULT_BENDING_LENGTH: f64 = 0.25;

    /// *Measured*: three or four are enough for the default tolerance on all tested pulls; the rest
    /// is a reserve.
    pub const DEFAULT_ITERATIONS: usize = 20;

    /// *Measured*: an iteration reduces the change to about a quarter, so the remaining error is a
    /// thousandth of the longest residual, which is not visible.
    pub const DEFAULT_TOLERANCE: f64 = 3e-3;

    /// The length below which the surface resists bending more than stretching, relative to the
    /// radius. Small values give cones with a sharp tip, large ones smooth bumps that stretch.
    /// Default: [`DEFAULT_BENDING_LENGTH`](Self::DEFAULT_BENDING_LENGTH).
    #[must_use]
    pub fn with_bending_length(self, bending_length: f64) -> Self {
        Self {
            bending_length,
            ..self
        }
    }

    /// The largest number of alternations of rotations and solve; 0 is the linear plate. Default:
    /// [`DEFAULT_ITERATIONS`](Self::DEFAULT_ITERATIONS).
    #[must_use]
    pub fn with_iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// The change in an iteration, relative to the longest residual, at which iterations end.
    /// Default: [`DEFAULT_TOLERANCE`](Self::DEFAULT_TOLERANCE).
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    fn check(&self) -> Result<(), MeshError> {
        // NaN fails these comparisons.
        if !(self.bending_length > 0.0 && self.bending_length.is_finite()) {
            return Err(MeshError::BadNumber {
                what: "the bending length",
                value: self.bending_length,
                needed: "above zero",
            });
        }

        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(MeshError::BadNumber {
                what: "the tolerance",
                value: self.tolerance,
                needed: "zero or more",
            });
        }
        Ok(())
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ResidualReport {
    /// Alternations of rotations and solve.
    pub iterations: usize,
    /// The change in the last iteration, relative to the longest residual.
    pub change: f64,
    /// Whether the change is within the tolerance.
    pub converged: bool,
    /// The largest distance of a pin from its goal. It exceeds rounding only for coincident pins
    /// with different residuals, which move by their mean.
    pub largest_error: f64,
}

/// The disc around a set of pins, factorised for any residuals.
///
/// ```
/// use pliant_mesh::{SurfacePoint, glam::DVec3, shapes::flat_sheet};
/// use pliant_rig::{ResidualLayer, ResidualOptions};
///
/// let mesh = flat_sheet(20, 0.0);
/// let pins = [SurfacePoint::Vertex(220)];
/// let layer = ResidualLayer::factor(&mesh, mesh.positions(), &pins, 0.3, &ResidualOptions::default())?; // once per set of pins
/// let (residual, report) = layer.residual(&[DVec3::Z * 0.1])?; // for every drag
/// assert!(report.converged);
/// let mut pose = mesh.positions().to_vec();
/// residual.apply_to(&mut pose, 1.0)?;
/// assert_eq!(pose[220], mesh.positions()[220] + DVec3::Z * 0.1);
/// # Ok::<(), pliant_rig::RigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResidualLayer {
    posed: Mesh,
    vertices: Vec<u32>,
    pins: Vec<PointWeights>,
    plate: Plate,
    /// `T` and `Q`.
    constraints: PinConstraints,
    /// `Tᵀ`.
    to_others: SparseMatrix,
    /// `Tᵀ K Q`.
    known: SparseMatrix,
    /// The factorisation of `Tᵀ K T`; `None` if the pins determine all vertices.
    solver: Option<SpdSolver>,
    options: ResidualOptions,
}

impl ResidualLayer {
    /// *Chosen*: on a head with its neck (a diagonal of half a metre) 5 to 6 cm, the reach of one
    /// muscle.
    pub const DEFAULT_RADIUS: f64 = 0.12;

    /// *Chosen*: fewer edges between pin and rim cannot represent a bump with a flat top and a flat
    /// rim.
    pub const LEAST_EDGES: f64 = 4.0;

    /// *Chosen*: the clamped plate `1 − ρ² + 2 ρ² ln ρ` is steepest at `ρ = 1/e`, with slope `4/e ≈
    /// 1.5` of height over radius. Pulled sideways by more than 0.68 radii it folds over; at half a
    /// radius it keeps a quarter of its lengths.
    pub const RADII_PER_RESIDUAL: f64 = 2.0;

    /// A suitable radius for a pose and its residuals: the largest of
    /// [`DEFAULT_RADIUS`](Self::DEFAULT_RADIUS) diagonals, [`LEAST_EDGES`](Self::LEAST_EDGES)
    /// mean edges of the neutral and [`RADII_PER_RESIDUAL`](Self::RADII_PER_RESIDUAL) times the
    /// longest residual.
    #[must_use]
    pub fn suggested_radius(mesh: &Mesh, positions: &[DVec3], residuals: &[DVec3]) -> f64 {
        let diagonal = Bounds::of(positions).map_or(0.0, |bounds| bounds.diagonal());
        let longest = residuals.iter().map(|r| r.length()).fold(0.0, f64::max);

        // The radius grows with the residual, so that the plate does not fold.
        let reach = (Self::DEFAULT_RADIUS * diagonal).max(Self::RADII_PER_RESIDUAL * longest);
        reach.max(Self::LEAST_EDGES * mesh.mean_edge_length())
    }

    /// Factorises the plate within the geodesic distance `radius` of `pins` on `mesh` at
    /// `positions`.
    ///
    /// Only vertices nearer than the radius move, and the corners of the triangle of a pin. A
    /// component that lies completely within the radius has no rim: a single pin translates it. A
    /// pin on a vertex without faces moves alone.
    ///
    /// # Errors
    /// [`RigError::Mesh`] if a pin is not on the mesh, a number is out of range, or the pose does
    /// not fit or is not finite.
    pub fn factor(
        mesh: &Mesh,
        positions: &[DVec3],
        pins: &[SurfacePoint],
        radius: f64,
        options: &ResidualOptions,
    ) -> Result<Self, RigError> {
        options.check()?;
        check_radius(radius)?;
        let posed = mesh.posed(positions.to_vec())?;
        posed.require_finite()?;
        for pin in pins {
            pin.check(&posed)?;
        }

        // The plate of the vertices within the radius.
        let weights: Vec<_> = pins.iter().map(|pin| point_weights(&posed, pin)).collect();
        let vertices = free_vertices(&posed, pins, &weights, radius)?;
        let bent = grown(&posed, &vertices);
        let patch = Patch::around(&posed, positions, &bent)?;
        let plate = Plate::new(&patch, &vertices, &bent, options.bending_length * radius)?;

        // With d = T y + Q r the matrix is TᵀKT, and TᵀKQ moves to the right-hand side.
        let pins = numbered(&weights, &vertices);
        let constraints = PinConstraints::eliminate(vertices.len(), &pins);
        let to_others = constraints.from_others.transpose();
        let reduced = to_others.times(&plate.stiffness);
        let known = reduced.times(&constraints.from_residuals);
        let matrix = reduced.times(&constraints.from_others);
        let solver = if matrix.rows() == 0 {
            None
        } else {
            Some(SpdSolver::factor(&matrix).map_err(MeshError::from)?)
        };

        Ok(Self {
            posed,
            vertices,
            pins,
            plate,
            constraints,
            to_others,
            known,
            solver,
            options: *options,
        })
    }

    /// The vertices that may move, ascending.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The displacement of every vertex of [`vertices`](Self::vertices) that moves each pin by its
    /// residual.
    ///
    /// Residuals of zero give displacements of zero, to the bit.
    ///
    /// # Errors
    /// [`MeshError::Count`] if there is not one residual per pin, or not one displacement per vertex
    /// that may move; [`RigError::NotFinite`] if a residual is NaN or infinite.
    pub fn solve(
        &self,
        residuals: &[DVec3],
        displacement: &mut [DVec3],
    ) -> Result<ResidualReport, RigError> {
        self.check(residuals)?;
        MeshError::require_count(
            "the list of displacements",
            displacement.len(),
            self.vertices.len(),
        )?;

        let longest = residuals.iter().map(|r| r.length()).fold(0.0, f64::max);

        // Zero residuals give zero displacements, to the bit.
        if longest == 0.0 {
            displacement.fill(DVec3::ZERO);
            return Ok(ResidualReport {
                converged: true,
                ..ResidualReport::default()
            });
        }

        let mut report = self.alternate(residuals, longest, displacement);
        report.largest_error = self.largest_error(residuals, displacement);
        Ok(report)
    }

    fn check(&self, residuals: &[DVec3]) -> Result<(), RigError> {
        MeshError::require_count("the list of residuals", residuals.len(), self.pins.len())?;

        match residuals.iter().position(|r| !r.is_finite()) {
            Some(k) => Err(RigError::NotFinite {
                what: format!("the residual of pin {k}"),
                vertex: self.vertices[self.pins[k][0].0] as usize,
            }),
            None => Ok(()),
        }
    }

    /// The residual of `residuals`, bound to the pose of this layer.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn residual(&self, residuals: &[DVec3]) -> Result<(Residual, ResidualReport), RigError> {
        let mut displacement = vec![DVec3::ZERO; self.vertices.len()];
        let report = self.solve(residuals, &mut displacement)?;
        let residual = Residual::new(
            &self.posed,
            self.posed.positions(),
            self.vertices.clone(),
            displacement,
        )?;
        Ok((residual, report))
    }

    /// The linear plate, then alternations of rotations and solve.
    fn alternate(
        &self,
        residuals: &[DVec3],
        longest: f64,
        displacement: &mut [DVec3],
    ) -> ResidualReport {
        let mut iteration = self.first_iteration(residuals);
        self.solve_plate(&mut iteration);
        displacement.copy_from_slice(&iteration.next);

        // If the pins determine all vertices, rotations change nothing.
        let most_iterations = if self.solver.is_some() {
            self.options.iterations
        } else {
            0
        };

        let mut iterations = 0;
        let mut change = if most_iterations == 0 { 0.0 } else { 1.0 };
        for k in 1..=most_iterations {
            let rotations = &mut iteration.rotations;
            self.plate.update_rotations(displacement, rotations);
            self.plate.forces(rotations, &mut iteration.forces);
            self.solve_plate(&mut iteration);

            change = largest_distance(displacement, &iteration.next) / longest;
            displacement.copy_from_slice(&iteration.next);
            iterations = k;
            if change <= self.options.tolerance {
                break;
            }
        }

        ResidualReport {
            iterations,
            change,
            converged: change <= self.options.tolerance,
            largest_error: 0.0,
        }
    }

    fn first_iteration(&self, residuals: &[DVec3]) -> Iteration {
        let n = self.vertices.len();
        Iteration {
            known: self.known.multiply(residuals),
            held: self.constraints.from_residuals.multiply(residuals),
            forces: vec![DVec3::ZERO; n],
            rotations: vec![DMat3::ZERO; n],
            rhs: vec![DVec3::ZERO; self.to_others.rows()],
            scratch: vec![DVec3::ZERO; n],
            next: vec![DVec3::ZERO; n],
            workspace: SolveWorkspace::default(),
        }
    }

    /// The displacement for the current forces: `d = T y + Q r` with `Tᵀ K T y = Tᵀ f − Tᵀ K Q r`.
    fn solve_plate(&self, iteration: &mut Iteration) {
        let Iteration {
            known,
            held,
            forces,
            rhs,
            scratch,
            next,
            workspace,
            ..
        } = iteration;

        next.copy_from_slice(held);
        let Some(solver) = &self.solver else { return };

        // Right-hand side Tᵀf − TᵀKQr.
        self.to_others.multiply_into(forces, rhs);
        for (rhs, known) in rhs.iter_mut().zip(known) {
            *rhs -= *known;
        }

        solver.solve_points_in_place(rhs, workspace);
        self.constraints.from_others.multiply_into(rhs, scratch);
        for (next, from_others) in next.iter_mut().zip(scratch) {
            *next += *from_others;
        }
    }

    fn largest_error(&self, residuals: &[DVec3], displacement: &[DVec3]) -> f64 {
        let mut largest = 0.0_f64;
        for (weights, residual) in self.pins.iter().zip(residuals) {
            let terms = weights.iter().map(|&(v, weight)| displacement[v] * weight);
            let reached = terms.sum::<DVec3>();
            largest = largest.max(reached.distance(*residual));
        }

        largest
    }
}

/// The state of a solve between iterations.
struct Iteration {
    /// `Tᵀ K Q r`.
    known: Vec<DVec3>,
    /// `Q r`.
    held: Vec<DVec3>,
    forces: Vec<DVec3>,
    /// Less the identity.
    rotations: Vec<DMat3>,
    rhs: Vec<DVec3>,
    scratch: Vec<DVec3>,
    next: Vec<DVec3>,
    workspace: SolveWorkspace,
}

fn check_radius(radius: f64) -> Result<(), MeshError> {
    if radius >= 0.0 && radius.is_finite() {
        return Ok(());
    }

    Err(MeshError::BadNumber {
        what: "the radius",
        value: radius,
        needed: "zero or more",
    })
}

fn largest_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b));
    squares.fold(0.0, f64::max).sqrt()
}

/// The vertices of a surface point and their weights, with sum one.
fn point_weights(mesh: &Mesh, pin: &SurfacePoint) -> Vec<(u32, f64)> {
    match pin {
        SurfacePoint::Vertex(v) => vec![(*v, 1.0)],
        SurfacePoint::InTriangle(point) => {
            let sum: f64 = point.barycentric.iter().sum();
            let corners = mesh.triangles()[point.triangle as usize]
                .into_iter()
                .zip(point.barycentric);
            corners
                .filter(|corner| corner.1 != 0.0)
                .map(|(v, weight)| (v, weight / sum))
                .collect()
        }
    }
}

/// The weights of points with vertices by their index in `vertices`.
fn numbered(weights: &[Vec<(u32, f64)>], vertices: &[u32]) -> Vec<PointWeights> {
    let number = |v: u32| {
        let found = vertices.binary_search(&v);
        found.expect("the vertices of a pin are free")
    };
    weights
        .iter()
        .map(|list| list.iter().map(|&(v, w)| (number(v), w)).collect())
        .collect()
}

/// The vertices nearer than `radius` to a pin, and those of the pins themselves.
fn free_vertices(
    posed: &Mesh,
    pins: &[SurfacePoint],
    weights: &[Vec<(u32, f64)>],
    radius: f64,
) -> Result<Vec<u32>, MeshError> {
    let held = sorted(weights.iter().flatten().map(|entry| entry.0));
    let positions: Vec<DVec3> = pins.iter().map(|pin| pin.position(posed)).collect();

    // Distances are computed on the part of the mesh that the disc can reach.
    let near = Patch::within(posed, posed.positions(), &positions, radius, &held)?;
    if near.triangles.is_empty() {
        return Ok(held);
    }

    let sources: Vec<SurfacePoint> = pins.iter().map(|pin| near.local_point(pin)).collect();
    let disc = ExactGeodesics::new(&near.mesh)?.disc(&sources, radius)?;
    let mut free = held;
    for (&v, &distance) in disc.vertices.iter().zip(&disc.distances) {
        if distance < radius {
            free.push(near.vertices[v as usize]);
        }
    }

    Ok(sorted(free.into_iter()))
}
