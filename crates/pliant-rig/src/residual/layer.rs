//! The solve: from what pins still miss to a displacement of the disc around them.

use pliant_linalg::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Bounds, ExactGeodesics, Mesh, MeshError, SurfacePoint};

use super::Residual;
use super::hold::{Hold, Shares};
use super::patch::{Patch, grown, sorted};
use super::plate::Plate;
use crate::RigError;

/// How a residual layer is solved.
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
    /// *Ours*, by measure on a cheek, a lip and a bumpy sheet pulled by 0.15 and 0.4 radii in and
    /// across their planes: a tenth of the radius leaves tips of up to 45° and a fold on the
    /// lip, a half is hardly stiffer than the linear plate.
    pub const DEFAULT_BENDING_LENGTH: f64 = 0.25;

    /// *Ours*: three or four are enough for the default tolerance on every pull measured; the rest
    /// is for odd ones.
    pub const DEFAULT_ITERATIONS: usize = 20;

    /// *Ours*: rounds shrink the change to about a quarter, measured, so that a thousandth of the
    /// longest residual is left to do, which is below what a picture shows.
    pub const DEFAULT_TOLERANCE: f64 = 3e-3;

    /// The length below which the surface resists bending more than stretching, in parts of the
    /// radius. Small ones make cones with a sharp tip, large ones smooth bumps that stretch.
    /// Default: [`DEFAULT_BENDING_LENGTH`](Self::DEFAULT_BENDING_LENGTH).
    #[must_use]
    pub fn with_bending_length(self, bending_length: f64) -> Self {
        Self {
            bending_length,
            ..self
        }
    }

    /// The most rounds of turning and solving; 0 is the linear plate. Default:
    /// [`DEFAULT_ITERATIONS`](Self::DEFAULT_ITERATIONS).
    #[must_use]
    pub fn with_iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// The change of a round, in parts of the longest residual, at which rounds end.
    /// Default: [`DEFAULT_TOLERANCE`](Self::DEFAULT_TOLERANCE).
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    fn check(&self) -> Result<(), MeshError> {
        // Written so that NaN fails, too.
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

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ResidualReport {
    /// Rounds of turning and solving.
    pub iterations: usize,
    /// The change of the last round, in parts of the longest residual.
    pub change: f64,
    /// Whether the change came down to the tolerance.
    pub converged: bool,
    /// The longest vector by which a pin is missed, as a length. More than rounding only where
    /// pins in one place disagree, which then meet in the middle.
    pub largest_miss: f64,
}

/// The disc around a set of pins, factored: ready for any residuals.
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
    pins: Vec<Shares>,
    plate: Plate,
    hold: Hold,
    /// `Tᵀ`.
    gather: SparseMatrix,
    /// `Tᵀ K Q`.
    known: SparseMatrix,
    /// The factor of `Tᵀ K T`; none where pins hold every vertex that may move.
    solver: Option<SpdSolver>,
    options: ResidualOptions,
}

impl ResidualLayer {
    /// *Ours*: on a head with its neck (half a metre from corner to corner) 5 to 6 cm, the reach of
    /// one muscle's pull.
    pub const DEFAULT_RADIUS: f64 = 0.12;

    /// *Ours*: fewer edges than these between pin and rim cannot draw a bump with a flat top and a
    /// flat rim.
    pub const LEAST_EDGES: f64 = 4.0;

    /// *Ours*: the clamped plate `1 − ρ² + 2 ρ² ln ρ` is steepest at `ρ = 1/e`, with slope `4/e ≈
    /// 1.5` of height over radius. Pulled sideways by more than 0.68 radii it folds over; at
    /// half a radius it keeps a quarter of its lengths.
    pub const RADII_PER_RESIDUAL: f64 = 2.0;

    /// A radius that suits a pose and its residuals: the largest of
    /// [`DEFAULT_RADIUS`](Self::DEFAULT_RADIUS) diagonals, [`LEAST_EDGES`](Self::LEAST_EDGES)
    /// mean edges of the neutral and [`RADII_PER_RESIDUAL`](Self::RADII_PER_RESIDUAL) times the
    /// longest residual.
    #[must_use]
    pub fn suggested_radius(mesh: &Mesh, positions: &[DVec3], residuals: &[DVec3]) -> f64 {
        let diagonal = Bounds::of(positions).map_or(0.0, |bounds| bounds.diagonal());
        let longest = residuals.iter().map(|r| r.length()).fold(0.0, f64::max);
        let reach = (Self::DEFAULT_RADIUS * diagonal).max(Self::RADII_PER_RESIDUAL * longest);
        reach.max(Self::LEAST_EDGES * mesh.mean_edge_length())
    }

    /// Factors the plate within `radius` of `pins`, measured along the surface of `mesh` at
    /// `positions`.
    ///
    /// Only vertices nearer than the radius move, and the corners of a pin's triangle in any case:
    /// with a radius below the edges around a pin nothing else does. A part of the mesh that
    /// lies wholly within the radius has no rim: a single pin takes it along as a whole. A pin
    /// on a vertex without faces moves alone.
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
        if !(radius >= 0.0 && radius.is_finite()) {
            return Err(MeshError::BadNumber {
                what: "the radius",
                value: radius,
                needed: "zero or more",
            }
            .into());
        }
        let posed = mesh.posed(positions.to_vec())?;
        posed.require_finite()?;
        pins.iter().try_for_each(|pin| pin.check(&posed))?;
        let shares: Vec<Vec<(u32, f64)>> = pins.iter().map(|pin| shares(&posed, pin)).collect();
        let vertices = free_vertices(&posed, pins, &shares, radius)?;
        let bent = grown(&posed, &vertices);
        let patch = Patch::around(&posed, positions, &bent)?;
        let plate = Plate::new(&patch, &vertices, &bent, options.bending_length * radius)?;
        let name = |v: u32| {
            vertices
                .binary_search(&v)
                .expect("a pin's vertices are free")
        };
        let pins: Vec<Shares> = shares
            .iter()
            .map(|list| list.iter().map(|&(v, share)| (name(v), share)).collect())
            .collect();
        let hold = Hold::new(vertices.len(), &pins);
        let gather = hold.spread.transpose();
        let reduced = gather.times(&plate.stiffness);
        let known = reduced.times(&hold.take);
        let inner = reduced.times(&hold.spread);
        let solver = if inner.rows() == 0 {
            None
        } else {
            Some(SpdSolver::factor(&inner).map_err(unsolvable)?)
        };
        Ok(Self {
            posed,
            vertices,
            pins,
            plate,
            hold,
            gather,
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
    /// [`MeshError::Count`] if there is not one residual per pin, [`RigError::NotFinite`] if one is
    /// NaN or infinite.
    ///
    /// # Panics
    /// If `displacement` does not have one entry per vertex that may move.
    pub fn solve(
        &self,
        residuals: &[DVec3],
        displacement: &mut [DVec3],
    ) -> Result<ResidualReport, RigError> {
        assert_eq!(
            displacement.len(),
            self.vertices.len(),
            "one displacement per vertex that may move"
        );
        if residuals.len() != self.pins.len() {
            return Err(MeshError::Count {
                what: "the list of residuals",
                found: residuals.len(),
                expected: self.pins.len(),
            }
            .into());
        }
        if let Some(k) = residuals.iter().position(|r| !r.is_finite()) {
            let vertex = self.vertices[self.pins[k][0].0] as usize;
            return Err(RigError::NotFinite {
                what: format!("the residual of pin {k}"),
                vertex,
            });
        }
        let longest = residuals.iter().map(|r| r.length()).fold(0.0, f64::max);
        if longest == 0.0 {
            displacement.fill(DVec3::ZERO);
            return Ok(ResidualReport {
                converged: true,
                ..ResidualReport::default()
            });
        }
        let mut report = self.alternate(residuals, longest, displacement);
        report.largest_miss = self.largest_miss(residuals, displacement);
        Ok(report)
    }

    /// The layer of `residuals`, bound to the pose it was made in.
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

    /// The linear plate, then rounds of turning and solving.
    fn alternate(
        &self,
        residuals: &[DVec3],
        longest: f64,
        displacement: &mut [DVec3],
    ) -> ResidualReport {
        let n = displacement.len();
        let mut round = Round {
            known: self.known.multiply(residuals),
            held: self.hold.take.multiply(residuals),
            ..Round::default()
        };
        (round.forces, round.scratch, round.turns, round.next) = (
            vec![DVec3::ZERO; n],
            vec![DVec3::ZERO; n],
            vec![DMat3::ZERO; n],
            vec![DVec3::ZERO; n],
        );
        self.place(&mut round);
        displacement.copy_from_slice(&round.next);
        let mut report = ResidualReport {
            change: 1.0,
            ..ResidualReport::default()
        };
        // Where every vertex is held, turning the surface changes nothing.
        let rounds = if self.solver.is_some() {
            self.options.iterations
        } else {
            0
        };
        for iteration in 1..=rounds {
            self.plate.turns(displacement, &mut round.turns);
            self.plate.forces(&round.turns, &mut round.forces);
            self.place(&mut round);
            let change = displacement
                .iter()
                .zip(&round.next)
                .map(|(a, b)| a.distance_squared(*b))
                .fold(0.0, f64::max)
                .sqrt();
            displacement.copy_from_slice(&round.next);
            report = ResidualReport {
                iterations: iteration,
                change: change / longest,
                ..report
            };
            if report.change <= self.options.tolerance {
                break;
            }
        }
        report.change = if rounds == 0 { 0.0 } else { report.change };
        ResidualReport {
            converged: report.change <= self.options.tolerance,
            ..report
        }
    }

    /// The displacement for the round's forces: `d = T y + Q r` with `Tᵀ K T y = Tᵀ f − Tᵀ K Q r`.
    fn place(&self, round: &mut Round) {
        round.next.copy_from_slice(&round.held);
        let Some(solver) = &self.solver else { return };
        round.rhs.resize(self.gather.rows(), DVec3::ZERO);
        self.gather.multiply_into(&round.forces, &mut round.rhs);
        round
            .rhs
            .iter_mut()
            .zip(&round.known)
            .for_each(|(rhs, known)| *rhs -= *known);
        solver.solve_points_in_place(&mut round.rhs, &mut round.workspace);
        self.hold
            .spread
            .multiply_into(&round.rhs, &mut round.scratch);
        round
            .next
            .iter_mut()
            .zip(&round.scratch)
            .for_each(|(next, spread)| *next += *spread);
    }

    fn largest_miss(&self, residuals: &[DVec3], displacement: &[DVec3]) -> f64 {
        let reached = |shares: &Shares| {
            shares
                .iter()
                .map(|&(v, share)| displacement[v] * share)
                .sum::<DVec3>()
        };
        self.pins
            .iter()
            .zip(residuals)
            .map(|(shares, r)| reached(shares).distance(*r))
            .fold(0.0, f64::max)
    }
}

/// What a solve needs from round to round.
#[derive(Default)]
struct Round {
    known: Vec<DVec3>,
    held: Vec<DVec3>,
    forces: Vec<DVec3>,
    scratch: Vec<DVec3>,
    turns: Vec<DMat3>,
    rhs: Vec<DVec3>,
    next: Vec<DVec3>,
    workspace: SolveWorkspace,
}

/// The vertices with a share in a place, and their shares with sum one.
fn shares(mesh: &Mesh, pin: &SurfacePoint) -> Vec<(u32, f64)> {
    match pin {
        SurfacePoint::Vertex(v) => vec![(*v, 1.0)],
        SurfacePoint::InTriangle(point) => {
            let sum: f64 = point.barycentric.iter().sum();
            let corners = mesh.triangles()[point.triangle as usize]
                .into_iter()
                .zip(point.barycentric);
            corners
                .filter(|corner| corner.1 != 0.0)
                .map(|(v, share)| (v, share / sum))
                .collect()
        }
    }
}

/// The vertices nearer than `radius`, and those of the pins themselves.
fn free_vertices(
    posed: &Mesh,
    pins: &[SurfacePoint],
    shares: &[Vec<(u32, f64)>],
    radius: f64,
) -> Result<Vec<u32>, MeshError> {
    let held = sorted(shares.iter().flatten().map(|share| share.0));
    let places: Vec<DVec3> = pins.iter().map(|pin| pin.position(posed)).collect();
    let near = Patch::within(posed, posed.positions(), &places, radius, &held)?;
    if near.triangles.is_empty() {
        return Ok(held);
    }
    let sources: Vec<SurfacePoint> = pins.iter().map(|pin| near.local_point(pin)).collect();
    let disc = ExactGeodesics::new(&near.mesh)?.disc(&sources, radius)?;
    let inside = disc
        .vertices
        .iter()
        .zip(&disc.distances)
        .filter(|&(_, &distance)| distance < radius);
    Ok(sorted(
        inside.map(|(&v, _)| near.vertices[v as usize]).chain(held),
    ))
}

fn unsolvable(error: LinalgError) -> RigError {
    MeshError::from(error).into()
}
