//! Two-level preconditioner: Gauss–Seidel on vertices, rigid aggregates as the coarse level.
//!
//! **Problem.** The Laplacian of the springs bounds the Hessian from above, and far above it where
//! limbs bend; a factor of the full Hessian is better but holds a thousand numbers per vertex.
//!
//! **Equation.** With the Hessian `H = A + D + Aᵀ` (`D` its diagonal blocks, `A` those below) and
//! the motions `P` of [`RigidModes`],
//!
//! ```text
//! M⁻¹ = (D + Aᵀ)⁻¹ D (D + A)⁻¹ + P (Pᵀ H P)⁻¹ Pᵀ
//! ```
//!
//! a symmetric Gauss–Seidel sweep over the vertices, and a small factored system over the
//! aggregates. Both parts are positive definite, so every direction is a descent direction.
//!
//! **Source.** Dryja and Widlund, "Towards a unified theory of domain decomposition algorithms for
//! elliptic problems", 1990 (the sum of levels); Vaněk, Mandel, Brezina 1996 (aggregates).
//!
//! **Departures.** The sweep uses only the diagonal of terms other than springs, and no negative
//! transverse terms; the coarse system leaves these out only on request or if needed. Line searches
//! follow arcs ([`crate::blend::solvers::modal_warping`]), and the vertices with the largest forces
//! are solved separately ([`crate::blend::solvers::nonlinear_elimination`]).

use std::collections::BTreeMap;

use pliant_linalg::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver, outer};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::Support;
use crate::blend::energy::Transverse;
use crate::blend::solvers::Equilibrium;
use crate::blend::solvers::Preconditioner;
use crate::blend::solvers::RigidModes;
use crate::blend::solvers::SpringLaplacian;
use crate::blend::solvers::modal_warping;
use crate::blend::solvers::nonlinear_elimination::eliminate_worst;

/// Unknowns of an aggregate: translation and rotation.
const MODES: usize = 6;
/// The share of a diagonal entry that is added in the coarse system: it fixes rotations without
/// stiffness.
const AGGREGATE_SHIFT: f64 = 1e-8;
/// The same for the blocks of vertices, whose springs may all lie in a plane.
const VERTEX_SHIFT: f64 = 1e-4;

type Block = [[f64; MODES]; MODES];

/// Both levels of the Hessian at the positions where it was built.
pub(crate) struct TwoLevel<'a> {
    laplacian: &'a mut SpringLaplacian,
    sweep: GaussSeidel,
    aggregates: AggregateSystem<'a>,
}

impl<'a> TwoLevel<'a> {
    /// Both levels at `state`. Where the coarse system is not positive definite with the exact
    /// transverse terms, negative ones are left out of it as well.
    pub(crate) fn factor(
        modes: &'a mut RigidModes,
        laplacian: &'a mut SpringLaplacian,
        state: &Equilibrium<'_>,
        transverse: Transverse,
    ) -> Result<Self, LinalgError> {
        let factor = factor_aggregates(modes, state, transverse)
            .or_else(|_| factor_aggregates(modes, state, Transverse::Projected))?;
        let aggregates = AggregateSystem::new(modes, factor);

        Ok(Self {
            aggregates,
            sweep: GaussSeidel::new(state),
            laplacian,
        })
    }
}

impl Preconditioner for TwoLevel<'_> {
    fn apply(&mut self, vectors: &mut [DVec3]) {
        let forces = vectors.to_vec();
        self.sweep.apply(&forces, vectors);
        self.aggregates.add_moves(&forces, vectors);
    }

    fn prepare(&mut self, state: &mut Equilibrium<'_>, tolerance: f64) {
        eliminate_worst(state, tolerance);
    }

    fn advance(
        &mut self,
        state: &mut Equilibrium<'_>,
        direction: Vec<DVec3>,
    ) -> Option<Vec<DVec3>> {
        modal_warping::advance(state, self.laplacian, &direction)
    }
}

/// The block of a spring, in single precision: a preconditioner needs no more, and memory bounds
/// the speed of a sweep.
#[derive(Clone, Copy)]
struct SymmetricBlock([f32; 6]);

impl SymmetricBlock {
    fn of(block: &DMat3) -> Self {
        let [x, y, z] = [block.x_axis, block.y_axis, block.z_axis];
        Self([x.x, x.y, x.z, y.y, y.z, z.z].map(|value| value as f32))
    }

    fn times(&self, v: DVec3) -> DVec3 {
        let [xx, xy, xz, yy, yz, zz] = self.0.map(f64::from);
        DVec3::new(
            xx * v.x + xy * v.y + xz * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            xz * v.x + yz * v.y + zz * v.z,
        )
    }
}

/// A symmetric sweep over the vertices, forwards and backwards.
struct GaussSeidel {
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Minus the off-diagonal blocks.
    blocks: Vec<SymmetricBlock>,
    inverse_diagonals: Vec<DMat3>,
}

impl GaussSeidel {
    fn new(state: &Equilibrium<'_>) -> Self {
        let mut sweep = Self {
            starts: vec![0],
            columns: Vec::new(),
            blocks: Vec::new(),
            inverse_diagonals: Vec::new(),
        };

        let stiff = stiff_diagonals(state);
        for &vertex in state.support.unknown_vertices() {
            let mut diagonal = stiff.get(&vertex).copied().unwrap_or(DMat3::ZERO);
            let v = vertex as usize;
            for (other, block) in state
                .energy
                .blocks(v, &state.positions, Transverse::Projected)
            {
                diagonal += block;
                // A held neighbour stiffens the vertex, but has no column.
                if let Some(column) = state.support.unknown_of(other) {
                    sweep.columns.push(column);
                    sweep.blocks.push(SymmetricBlock::of(&block));
                }
            }

            sweep.starts.push(sweep.columns.len());
            let projector = state.support.constraint(v).map(|c| c.projector());
            sweep
                .inverse_diagonals
                .push(inverse_diagonal(diagonal, projector));
        }

        sweep
    }

    fn apply(&self, forces: &[DVec3], moves: &mut [DVec3]) {
        for i in 0..forces.len() {
            let below = (self.starts[i]..self.starts[i + 1])
                .take_while(|&at| (self.columns[at] as usize) < i);
            let sum = below.fold(forces[i], |sum, at| {
                sum + self.blocks[at].times(moves[self.columns[at] as usize])
            });
            moves[i] = self.inverse_diagonals[i] * sum;
        }

        // The forward sweep has already added the blocks below the diagonal.
        for i in (0..forces.len()).rev() {
            let above = (self.starts[i]..self.starts[i + 1])
                .rev()
                .take_while(|&at| self.columns[at] as usize > i);
            let sum = above.fold(DVec3::ZERO, |sum, at| {
                sum + self.blocks[at].times(moves[self.columns[at] as usize])
            });
            moves[i] += self.inverse_diagonals[i] * sum;
        }
    }
}

/// The diagonal blocks of contacts and of terms other than springs, by vertex.
fn stiff_diagonals(state: &Equilibrium<'_>) -> BTreeMap<u32, DMat3> {
    let mut diagonals: BTreeMap<u32, DMat3> = BTreeMap::new();
    for constraint in state.energy.active_unilateral(&state.positions) {
        for (end, (vertex, _)) in constraint.ends.iter().enumerate() {
            *diagonals.entry(*vertex).or_insert(DMat3::ZERO) += constraint.block(end, end);
        }
    }

    for (curvature, corners) in state.energy.elements().stiff(&state.positions) {
        for (vertex, gradient) in corners {
            *diagonals.entry(vertex as u32).or_insert(DMat3::ZERO) +=
                outer(gradient, gradient * curvature);
        }
    }

    diagonals
}

/// The inverse of a shifted diagonal block. A vertex on a plane moves in that plane, and its
/// neighbours see only this motion.
fn inverse_diagonal(diagonal: DMat3, projector: Option<DMat3>) -> DMat3 {
    let trace = (diagonal.x_axis.x + diagonal.y_axis.y + diagonal.z_axis.z).max(f64::MIN_POSITIVE);
    let shift = DMat3::from_diagonal(DVec3::splat(VERTEX_SHIFT * trace));
    match projector {
        Some(free) => {
            let block = free * diagonal * free + (DMat3::IDENTITY - free) * trace;
            free * (block + shift).inverse() * free
        }
        None => (diagonal + shift).inverse(),
    }
}

/// The factored system of the motions of the aggregates.
struct AggregateSystem<'a> {
    modes: &'a RigidModes,
    levers: Vec<DVec3>,
    factor: Option<SpdSolver>,
    motions: Vec<f64>,
    workspace: SolveWorkspace,
}

impl<'a> AggregateSystem<'a> {
    fn new(modes: &'a RigidModes, (levers, factor): (Vec<DVec3>, Option<SpdSolver>)) -> Self {
        Self {
            levers,
            factor,
            motions: vec![0.0; MODES * modes.aggregates()],
            workspace: SolveWorkspace::default(),
            modes,
        }
    }

    /// Adds to `moves` the displacements of the aggregates under `forces`.
    fn add_moves(&mut self, forces: &[DVec3], moves: &mut [DVec3]) {
        let Some(factor) = &self.factor else { return };

        // Pᵀ f: force and torque on each aggregate.
        self.motions.fill(0.0);
        for (unknown, force) in forces.iter().enumerate() {
            for at in self.modes.range(unknown) {
                let (aggregate, share) = self.modes.shares()[at];
                let pull = *force * share;
                let torque = self.levers[at].cross(*force) * share;
                let motion = &mut self.motions[MODES * aggregate as usize..][..MODES];
                for axis in 0..3 {
                    motion[axis] += pull[axis];
                    motion[3 + axis] += torque[axis];
                }
            }
        }

        factor.solve_in_place(&mut self.motions, &mut self.workspace);

        // P m: the displacement of each vertex by its aggregates.
        for (unknown, displacement) in moves.iter_mut().enumerate() {
            for at in self.modes.range(unknown) {
                let (aggregate, share) = self.modes.shares()[at];
                let motion = &self.motions[MODES * aggregate as usize..][..MODES];
                let translation = DVec3::from_slice(motion);
                let rotation = DVec3::from_slice(&motion[3..]);
                *displacement += (translation + rotation.cross(self.levers[at])) * share;
            }
        }
    }
}

/// The levers of the aggregates and the factor of their system; no factor where there are no
/// aggregates.
fn factor_aggregates(
    modes: &mut RigidModes,
    state: &Equilibrium<'_>,
    transverse: Transverse,
) -> Result<(Vec<DVec3>, Option<SpdSolver>), LinalgError> {
    let mut positions = Vec::with_capacity(state.forces.len());
    for &v in state.support.unknown_vertices() {
        positions.push(state.positions[v as usize]);
    }
    let levers = modes.levers(&positions);
    if modes.aggregates() == 0 {
        return Ok((levers, None));
    }

    // Contacts couple aggregates that no spring joins, so the pattern may change.
    let matrix = into_matrix(&coarse_blocks(modes, &levers, state, transverse));
    let factor = SpdSolver::factor_keeping(&mut modes.symbolic, &matrix)?;

    Ok((levers, Some(factor)))
}

/// The relative displacement of the ends of a spring under the motions of an aggregate.
#[derive(Clone, Copy)]
struct RelativeMotion {
    aggregate: u32,
    /// Difference of the shares.
    share: f64,
    /// Difference of share times lever.
    lever: DVec3,
}

impl RelativeMotion {
    /// `block` times the relative displacement, for each of the motions.
    fn pulls(&self, block: &DMat3) -> [[f64; MODES]; 3] {
        [block.x_axis, block.y_axis, block.z_axis].map(|axis| {
            let moved = axis * self.share;
            let rotated = self.lever.cross(axis);
            [moved.x, moved.y, moved.z, rotated.x, rotated.y, rotated.z]
        })
    }

    /// Adds the work of `pulls` along each of the motions.
    fn add_work(&self, pulls: &[[f64; MODES]; 3], target: &mut Block) {
        let [x, y, z] = pulls;
        let DVec3 { x: a, y: b, z: c } = self.lever;
        for k in 0..MODES {
            target[0][k] += self.share * x[k];
            target[1][k] += self.share * y[k];
            target[2][k] += self.share * z[k];
            target[3][k] += b * z[k] - c * y[k];
            target[4][k] += c * x[k] - a * z[k];
            target[5][k] += a * y[k] - b * x[k];
        }
    }
}

/// The blocks of `Pᵀ H P` on and above the diagonal, by row, columns ascending.
fn coarse_blocks(
    modes: &RigidModes,
    levers: &[DVec3],
    state: &Equilibrium<'_>,
    transverse: Transverse,
) -> Vec<Vec<(u32, Block)>> {
    let mut rows: Vec<Vec<(u32, Block)>> = vec![Vec::new(); modes.aggregates()];
    let mut motions = Vec::new();
    let is_constrained = |vertex: usize| {
        !state.support.is_unconstrained() && state.support.constraint(vertex).is_some()
    };

    for &vertex in state.support.unknown_vertices() {
        let vertex = vertex as usize;
        for (other, block) in state.energy.blocks(vertex, &state.positions, transverse) {
            let far_end = state.support.unknown_of(other);
            if far_end.is_some() && other < vertex {
                continue; // Added at its other end.
            }

            // A constraint holds one end alone, so each end responds by itself.
            if is_constrained(vertex) || is_constrained(other) {
                let respond =
                    |terms: &[(usize, DVec3)]| respond(modes, levers, state.support, terms);
                add_constrained_spring(&mut rows, respond, [vertex, other], &block);
                continue;
            }

            let ends = [state.support.unknown_of(vertex), far_end];
            relative_motions(modes, levers, ends, &mut motions);
            for q in &motions {
                let pulls = q.pulls(&block);
                for p in motions.iter().filter(|p| p.aggregate <= q.aggregate) {
                    p.add_work(
                        &pulls,
                        block_of(&mut rows[p.aggregate as usize], q.aggregate),
                    );
                }
            }
        }
    }

    add_stiff_terms(&mut rows, modes, levers, state);
    rows
}

/// Adds contacts and terms other than springs.
fn add_stiff_terms(
    rows: &mut [Vec<(u32, Block)>],
    modes: &RigidModes,
    levers: &[DVec3],
    state: &Equilibrium<'_>,
) {
    for constraint in state.energy.active_unilateral(&state.positions) {
        let ends = constraint
            .ends
            .map(|(vertex, gradient)| (vertex as usize, gradient));
        let response = respond(modes, levers, state.support, &ends);
        add_responses(rows, constraint.stiffness, &response, &response);
    }

    for (curvature, corners) in state.energy.elements().stiff(&state.positions) {
        let response = respond(modes, levers, state.support, &corners);
        add_responses(rows, curvature, &response, &response);
    }
}

/// The derivative of a sum of `gradient · δ` over some vertices by the motions of the aggregates,
/// within the constraints of the vertices.
type Response = Vec<(u32, [f64; MODES])>;

fn respond(
    modes: &RigidModes,
    levers: &[DVec3],
    support: &Support,
    terms: &[(usize, DVec3)],
) -> Response {
    let mut response: Response = Vec::new();
    for &(vertex, gradient) in terms {
        let Some(unknown) = support.unknown_of(vertex) else {
            continue;
        };

        // A vertex does not move in its constrained directions.
        let gradient = support.projector(vertex) * gradient;
        for at in modes.range(unknown as usize) {
            let (aggregate, share) = modes.shares()[at];
            let moved = gradient * share;
            let rotated = levers[at].cross(gradient) * share;
            let own = [moved.x, moved.y, moved.z, rotated.x, rotated.y, rotated.z];

            match response.iter_mut().find(|known| known.0 == aggregate) {
                Some((_, known)) => {
                    for (sum, value) in known.iter_mut().zip(own) {
                        *sum += value;
                    }
                }
                None => response.push((aggregate, own)),
            }
        }
    }

    response
}

/// Adds a spring with a constrained end.
fn add_constrained_spring(
    rows: &mut [Vec<(u32, Block)>],
    respond: impl Fn(&[(usize, DVec3)]) -> Response,
    [vertex, other]: [usize; 2],
    block: &DMat3,
) {
    let along = DVec3::AXES.map(|axis| respond(&[(vertex, axis), (other, -axis)]));
    for j in 0..3 {
        for k in 0..3 {
            add_responses(rows, block.col(k)[j], &along[j], &along[k]);
        }
    }
}

/// Adds `factor · r sᵀ`, on and above the diagonal.
fn add_responses(rows: &mut [Vec<(u32, Block)>], factor: f64, r: &Response, s: &Response) {
    for (p, left) in r {
        for (q, right) in s {
            if p > q {
                continue;
            }
            let target = block_of(&mut rows[*p as usize], *q);
            for (row, l) in target.iter_mut().zip(left) {
                for (value, r) in row.iter_mut().zip(right) {
                    *value += factor * l * r;
                }
            }
        }
    }
}

fn relative_motions(
    modes: &RigidModes,
    levers: &[DVec3],
    ends: [Option<u32>; 2],
    motions: &mut Vec<RelativeMotion>,
) {
    motions.clear();
    for (end, sign) in ends.into_iter().zip([1.0, -1.0]) {
        let Some(unknown) = end else { continue };
        for at in modes.range(unknown as usize) {
            let (aggregate, share) = modes.shares()[at];
            let (share, lever) = (sign * share, levers[at] * (sign * share));
            match motions.iter_mut().find(|p| p.aggregate == aggregate) {
                Some(motion) => {
                    motion.share += share;
                    motion.lever += lever;
                }
                None => motions.push(RelativeMotion {
                    aggregate,
                    share,
                    lever,
                }),
            }
        }
    }
}

fn block_of(row: &mut Vec<(u32, Block)>, aggregate: u32) -> &mut Block {
    let at = row.partition_point(|entry| entry.0 < aggregate);
    if row.get(at).is_none_or(|entry| entry.0 != aggregate) {
        row.insert(at, (aggregate, [[0.0; MODES]; MODES]));
    }
    &mut row[at].1
}

/// The full matrix, with its shift on the diagonal.
fn into_matrix(rows: &[Vec<(u32, Block)>]) -> SparseMatrix {
    let mut below: Vec<Vec<(usize, &Block)>> = vec![Vec::new(); rows.len()];
    for (p, row) in rows.iter().enumerate() {
        for (q, block) in row {
            if *q as usize != p {
                below[*q as usize].push((p, block));
            }
        }
    }

    // The lower blocks are the transposes of the upper ones.
    let mut starts = vec![0];
    let mut indices = Vec::new();
    let mut values = Vec::new();
    for (p, (row, below)) in rows.iter().zip(&below).enumerate() {
        for r in 0..MODES {
            for &(q, block) in below {
                indices.extend((0..MODES).map(|c| (MODES * q + c) as u32));
                values.extend(block.iter().map(|column| column[r]));
            }

            for (q, block) in row {
                let shift = |c: usize| {
                    if *q as usize == p && c == r {
                        AGGREGATE_SHIFT * block[r][r] + f64::MIN_POSITIVE
                    } else {
                        0.0
                    }
                };

                indices.extend((0..MODES).map(|c| MODES as u32 * q + c as u32));
                values.extend((0..MODES).map(|c| block[r][c] + shift(c)));
            }

            starts.push(indices.len());
        }
    }

    SparseMatrix::from_rows(MODES * rows.len(), starts, indices, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Constraint;
    use crate::blend::energy::SpringEnergy;
    use crate::blend::energy::Springs;
    use crate::blend::solvers::equilibrium::dot;
    use crate::blend::solvers::quasi_newton::relax;
    use crate::test_shapes::{Bar, bar, bent};

    fn held_bar(bar: &Bar) -> (SpringEnergy, Support, SpringLaplacian) {
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );

        let blended = springs.blended(&[1.0]);
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &blended);
        let support = Support::holding(&bar.points.iter().map(|p| p.x == 0.0).collect::<Vec<_>>());
        let laplacian = SpringLaplacian::factor(&energy, &blended, &support).unwrap();

        (energy, support, laplacian)
    }

    #[test]
    fn the_preconditioner_is_symmetric_and_positive_definite() {
        let bar = bar(16, 3);
        let (energy, support, mut laplacian) = held_bar(&bar);
        let state = Equilibrium::start(&energy, &support, bent(&bar.points, 20.0));
        let mut modes = RigidModes::aggregate(&energy, &support);
        let mut levels =
            TwoLevel::factor(&mut modes, &mut laplacian, &state, Transverse::Exact).unwrap();
        let count = support.unknown_vertices().len();

        let field = |a: f64| {
            (0..count)
                .map(|i| DVec3::new((a * i as f64).sin(), (a + i as f64).cos(), (i as f64).sin()))
                .collect::<Vec<_>>()
        };
        let u = field(0.7);
        let v = field(1.9);
        let mut mu = u.clone();
        let mut mv = v.clone();

        levels.apply(&mut mu);
        levels.apply(&mut mv);
        assert!(
            (dot(&mu, &v) - dot(&u, &mv)).abs() < 1e-9 * dot(&mu, &u).abs(),
            "{} {}",
            dot(&mu, &v),
            dot(&u, &mv)
        );

        assert!(dot(&mu, &u) > 0.0 && dot(&mv, &v) > 0.0);
    }

    /// The bar with the under side of its last third on a plane.
    fn lying(bar: &Bar, support: &mut Support) {
        let lies = |p: &DVec3| p.z == -0.5 && p.x > 2.6;
        let plane = Constraint::Plane {
            normal: DVec3::new(0.1, 0.2, 1.0).normalize(),
            offset: 0.1,
        };

        support.constrain(
            (0..bar.points.len())
                .filter(|&v| lies(&bar.points[v]))
                .map(|v| (v, plane)),
        );
    }

    #[test]
    fn constrained_directions_neither_move_nor_respond() {
        let bar = bar(16, 3);
        let (energy, mut support, mut laplacian) = held_bar(&bar);
        lying(&bar, &mut support);

        let state = Equilibrium::start(&energy, &support, bar.points.clone());
        let mut modes = RigidModes::aggregate(&energy, &support);
        let mut levels =
            TwoLevel::factor(&mut modes, &mut laplacian, &state, Transverse::Exact).unwrap();
        let moved = |levels: &mut TwoLevel<'_>, a: f64| {
            let mut field: Vec<DVec3> = (0..state.forces.len())
                .map(|i| DVec3::new((a * i as f64).sin(), (a + i as f64).cos(), a))
                .collect();
            support.project(&mut field);
            let mut moves = field.clone();
            levels.apply(&mut moves);
            support.project(&mut moves);
            (field, moves)
        };

        let ((u, mu), (v, mv)) = (moved(&mut levels, 0.7), moved(&mut levels, 1.9));
        assert!(
            (dot(&mu, &v) - dot(&u, &mv)).abs() < 1e-9 * dot(&mu, &u).abs(),
            "{} {}",
            dot(&mu, &v),
            dot(&u, &mv)
        );

        assert!(dot(&mu, &u) > 0.0 && dot(&mv, &v) > 0.0);
    }

    #[test]
    fn a_long_bar_on_a_plane_converges_in_fewer_steps_than_with_the_laplacian() {
        let bar = bar(60, 2);
        let (energy, mut support, mut laplacian) = held_bar(&bar);
        lying(&bar, &mut support);

        // The same solve with the Laplacian alone.
        let mut plain = Equilibrium::start(&energy, &support, bar.points.clone());
        relax(&mut plain, &mut laplacian, 1e-6, 1000);
        let mut state = Equilibrium::start(&energy, &support, bar.points.clone());

        let mut modes = RigidModes::aggregate(&energy, &support);
        for _ in 0..3 {
            let mut levels =
                TwoLevel::factor(&mut modes, &mut laplacian, &state, Transverse::Exact).unwrap();
            relax(&mut state, &mut levels, 1e-6, 40);
        }

        assert!(state.residual() <= 1e-6, "{}", state.residual());
        assert!(
            plain.residual() > 1e-6 || 3 * state.iterations < 2 * plain.iterations,
            "{} {}",
            state.iterations,
            plain.iterations
        );
    }

    #[test]
    fn a_bent_long_bar_straightens_in_far_fewer_steps_than_with_the_laplacian() {
        let bar = bar(60, 2);
        let (energy, support, mut laplacian) = held_bar(&bar);
        let start = bent(&bar.points, 30.0);
        let mut plain = Equilibrium::start(&energy, &support, start.clone());

        relax(&mut plain, &mut laplacian, 1e-6, 1000);
        let mut state = Equilibrium::start(&energy, &support, start);
        let mut modes = RigidModes::aggregate(&energy, &support);

        for _ in 0..3 {
            let mut levels =
                TwoLevel::factor(&mut modes, &mut laplacian, &state, Transverse::Exact).unwrap();
            relax(&mut state, &mut levels, 1e-6, 40);
        }

        assert!(state.residual() <= 1e-6, "{}", state.residual());
        assert!(
            plain.residual() > 1e-6 || 3 * state.iterations < 2 * plain.iterations,
            "{} {}",
            state.iterations,
            plain.iterations
        );

        assert!(
            state
                .positions
                .iter()
                .zip(&bar.points)
                .all(|(p, q)| p.distance(*q) < 1e-3)
        );
    }
}
