//! A preconditioner of two levels: neighbours for what is stiff, rigid pieces for what is soft.
//!
//! **Problem.** The Laplacian of the springs bounds the Hessian from above, and far above it where
//! limbs bend; a factor of the full Hessian knows better but holds a thousand numbers per vertex.
//!
//! **Equation.** With the Hessian `H = A + D + Aᵀ` (`D` its diagonal blocks, `A` those below) and
//! the motions `P` of [`RigidModes`],
//!
//! ```text
//! M⁻¹ = (D + Aᵀ)⁻¹ D (D + A)⁻¹ + P (Pᵀ H P)⁻¹ Pᵀ
//! ```
//!
//! a symmetric sweep of Gauss and Seidel over the vertices, and a small system over the pieces that
//! is factored. Both parts are positive, so every direction leads down.
//!
//! **Source.** Dryja and Widlund, "Towards a unified theory of domain decomposition algorithms for
//! elliptic problems", 1990 (the sum of levels); Vaněk, Mandel, Brezina 1996 (pieces).
//!
//! **Ours.** Of terms beside springs the sweep knows the diagonal. In the sweep negative transverse
//! terms are left out; in the pieces' system only where asked or needed. Steps turn what
//! they turn ([`crate::warp`]) and vertices that lag behind are balanced by themselves
//! ([`crate::patch`]).

use std::collections::BTreeMap;

use pliant_linalg::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver, outer};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::energy::Transverse;
use crate::equilibrium::Equilibrium;
use crate::fast::SpringLaplacian;
use crate::patch::settle;
use crate::quasi_newton::Preconditioner;
use crate::rigid_modes::RigidModes;
use crate::support::Support;
use crate::warp;

/// Unknowns of a piece: its place and its turn.
const MODES: usize = 6;
/// The share of a diagonal entry of the pieces' system that is added: settles turns that nothing
/// holds.
const PIECE_SHIFT: f64 = 1e-8;
/// The same for the blocks of vertices, all of whose springs may lie in a plane.
const VERTEX_SHIFT: f64 = 1e-4;

type Block = [[f64; MODES]; MODES];

/// Both levels of the Hessian where it was made.
pub(crate) struct TwoLevel<'a> {
    laplacian: &'a mut SpringLaplacian,
    sweep: Sweep,
    pieces: Pieces<'a>,
}

impl<'a> TwoLevel<'a> {
    /// Both levels where `state` stands. Where the pieces' system is not positive with the exact
    /// transverse terms, negative ones are left out of it as well.
    pub(crate) fn factor(
        modes: &'a mut RigidModes,
        laplacian: &'a mut SpringLaplacian,
        state: &Equilibrium<'_>,
        transverse: Transverse,
    ) -> Result<Self, LinalgError> {
        let factor = factor_pieces(modes, state, transverse)
            .or_else(|_| factor_pieces(modes, state, Transverse::Projected))?;
        let pieces = Pieces::new(modes, factor);
        Ok(Self {
            pieces,
            sweep: Sweep::new(state),
            laplacian,
        })
    }
}

impl Preconditioner for TwoLevel<'_> {
    fn apply(&mut self, vectors: &mut [DVec3]) {
        let forces = vectors.to_vec();
        self.sweep.apply(&forces, vectors);
        self.pieces.add_moves(&forces, vectors);
    }

    fn prepare(&mut self, state: &mut Equilibrium<'_>, tolerance: f64) {
        settle(state, tolerance);
    }

    fn advance(
        &mut self,
        state: &mut Equilibrium<'_>,
        direction: Vec<DVec3>,
    ) -> Option<Vec<DVec3>> {
        warp::advance(state, self.laplacian, &direction)
    }
}

/// The block of a spring, in single precision: it only guides, and memory is what a sweep costs.
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

/// Vertex after vertex, forwards and backwards.
struct Sweep {
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Minus the blocks beside the diagonal.
    blocks: Vec<SymmetricBlock>,
    inverse_diagonals: Vec<DMat3>,
}

impl Sweep {
    fn new(state: &Equilibrium<'_>) -> Self {
        let mut sweep = Self {
            starts: vec![0],
            columns: Vec::new(),
            blocks: Vec::new(),
            inverse_diagonals: Vec::new(),
        };
        let mut pushed: BTreeMap<u32, DMat3> = BTreeMap::new();
        for push in state.energy.pushing(&state.positions) {
            for (end, (vertex, _)) in push.ends.iter().enumerate() {
                *pushed.entry(*vertex).or_insert(DMat3::ZERO) += push.block(end, end);
            }
        }
        for (curvature, corners) in state.energy.further().stiff(&state.positions) {
            for (vertex, gradient) in corners {
                *pushed.entry(vertex as u32).or_insert(DMat3::ZERO) +=
                    outer(gradient, gradient * curvature);
            }
        }
        for &vertex in state.support.unknown_vertices() {
            let mut diagonal = pushed.get(&vertex).copied().unwrap_or(DMat3::ZERO);
            for (other, block) in
                state
                    .energy
                    .blocks(vertex as usize, &state.positions, Transverse::Projected)
            {
                diagonal += block;
                if let Some(column) = state.support.unknown_of(other) {
                    sweep.columns.push(column);
                    sweep.blocks.push(SymmetricBlock::of(&block));
                }
            }
            sweep.starts.push(sweep.columns.len());
            let trace =
                (diagonal.x_axis.x + diagonal.y_axis.y + diagonal.z_axis.z).max(f64::MIN_POSITIVE);
            let inverse = |block: DMat3| {
                (block + DMat3::from_diagonal(DVec3::splat(VERTEX_SHIFT * trace))).inverse()
            };
            let bound = state
                .support
                .constraint(vertex as usize)
                .map(|constraint| constraint.projector());
            // A vertex that keeps to a plane moves in it, and its neighbours see it move there.
            sweep.inverse_diagonals.push(bound.map_or_else(
                || inverse(diagonal),
                |free| {
                    free * inverse(free * diagonal * free + (DMat3::IDENTITY - free) * trace) * free
                },
            ));
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
        // What lies below has its share in the move already.
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

/// The system of the pieces' motions, factored.
struct Pieces<'a> {
    modes: &'a RigidModes,
    levers: Vec<DVec3>,
    factor: Option<SpdSolver>,
    motions: Vec<f64>,
    workspace: SolveWorkspace,
}

impl<'a> Pieces<'a> {
    fn new(modes: &'a RigidModes, (levers, factor): (Vec<DVec3>, Option<SpdSolver>)) -> Self {
        Self {
            levers,
            factor,
            motions: vec![0.0; MODES * modes.pieces()],
            workspace: SolveWorkspace::default(),
            modes,
        }
    }

    /// Adds to `moves` those of the pieces under `forces`.
    fn add_moves(&mut self, forces: &[DVec3], moves: &mut [DVec3]) {
        let Some(factor) = &self.factor else { return };
        self.motions.fill(0.0);
        for (unknown, force) in forces.iter().enumerate() {
            for at in self.modes.range(unknown) {
                let (piece, share) = self.modes.shares()[at];
                let (pull, torque) = (*force * share, self.levers[at].cross(*force) * share);
                let motion = &mut self.motions[MODES * piece as usize..][..MODES];
                for axis in 0..3 {
                    motion[axis] += pull[axis];
                    motion[3 + axis] += torque[axis];
                }
            }
        }
        factor.solve_in_place(&mut self.motions, &mut self.workspace);
        for (unknown, move_) in moves.iter_mut().enumerate() {
            for at in self.modes.range(unknown) {
                let (piece, share) = self.modes.shares()[at];
                let motion = &self.motions[MODES * piece as usize..][..MODES];
                *move_ += (DVec3::from_slice(motion)
                    + DVec3::from_slice(&motion[3..]).cross(self.levers[at]))
                    * share;
            }
        }
    }
}

/// The levers of the pieces and the factor of their system, where there are pieces.
fn factor_pieces(
    modes: &mut RigidModes,
    state: &Equilibrium<'_>,
    transverse: Transverse,
) -> Result<(Vec<DVec3>, Option<SpdSolver>), LinalgError> {
    let places: Vec<DVec3> = state
        .support
        .unknown_vertices()
        .iter()
        .map(|&v| state.positions[v as usize])
        .collect();
    let levers = modes.levers(&places);
    if modes.pieces() == 0 {
        return Ok((levers, None));
    }
    let matrix = into_matrix(&coarse_blocks(modes, &levers, state, transverse));
    // Pushes join pieces that no spring does, so the pattern may change.
    let factor = SpdSolver::factor_keeping(&mut modes.symbolic, &matrix)?;
    Ok((levers, Some(factor)))
}

/// How far the ends of a spring part by the motions of a piece.
#[derive(Clone, Copy)]
struct Parting {
    piece: u32,
    /// Difference of the shares.
    share: f64,
    /// Difference of share times lever.
    lever: DVec3,
}

impl Parting {
    /// `block` times how far the ends part, by each of the motions.
    fn pulls(&self, block: &DMat3) -> [[f64; MODES]; 3] {
        [block.x_axis, block.y_axis, block.z_axis].map(|axis| {
            let (moved, turned) = (axis * self.share, self.lever.cross(axis));
            [moved.x, moved.y, moved.z, turned.x, turned.y, turned.z]
        })
    }

    /// Adds what `pulls` do along each of the motions.
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
    let mut rows: Vec<Vec<(u32, Block)>> = vec![Vec::new(); modes.pieces()];
    let mut partings = Vec::new();
    let is_bound = |vertex: usize| {
        !state.support.is_unconstrained() && state.support.constraint(vertex).is_some()
    };
    for &vertex in state.support.unknown_vertices() {
        let vertex = vertex as usize;
        for (other, block) in state.energy.blocks(vertex, &state.positions, transverse) {
            let far_end = state.support.unknown_of(other);
            if far_end.is_some() && other < vertex {
                continue; // Seen from its other end.
            }
            if is_bound(vertex) || is_bound(other) {
                add_bound_spring(
                    &mut rows,
                    |terms| respond(modes, levers, state.support, terms),
                    [vertex, other],
                    &block,
                );
                continue;
            }
            part_ends(
                modes,
                levers,
                [state.support.unknown_of(vertex), far_end],
                &mut partings,
            );
            for q in &partings {
                let pulls = q.pulls(&block);
                for p in partings.iter().filter(|p| p.piece <= q.piece) {
                    p.add_work(&pulls, block_of(&mut rows[p.piece as usize], q.piece));
                }
            }
        }
    }
    for push in state.energy.pushing(&state.positions) {
        let response = respond(
            modes,
            levers,
            state.support,
            &push
                .ends
                .map(|(vertex, gradient)| (vertex as usize, gradient)),
        );
        add_responses(&mut rows, push.stiffness, &response, &response);
    }
    for (curvature, corners) in state.energy.further().stiff(&state.positions) {
        let response = respond(modes, levers, state.support, &corners);
        add_responses(&mut rows, curvature, &response, &response);
    }
    rows
}

/// How far the motions of pieces move a sum of `gradient · δ` over some vertices, each by what it
/// may move.
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
        let gradient = support.projector(vertex) * gradient;
        for at in modes.range(unknown as usize) {
            let (piece, share) = modes.shares()[at];
            let (moved, turned) = (gradient * share, levers[at].cross(gradient) * share);
            let own = [moved.x, moved.y, moved.z, turned.x, turned.y, turned.z];
            match response.iter_mut().find(|known| known.0 == piece) {
                Some((_, known)) => known
                    .iter_mut()
                    .zip(own)
                    .for_each(|(sum, value)| *sum += value),
                None => response.push((piece, own)),
            }
        }
    }
    response
}

/// Adds a spring one of whose ends is not free to follow its pieces.
fn add_bound_spring(
    rows: &mut [Vec<(u32, Block)>],
    respond: impl Fn(&[(usize, DVec3)]) -> Response,
    [vertex, other]: [usize; 2],
    block: &DMat3,
) {
    let along = DVec3::AXES.map(|axis| respond(&[(vertex, axis), (other, -axis)]));
    for (j, k) in (0..3).flat_map(|j| (0..3).map(move |k| (j, k))) {
        add_responses(rows, block.col(k)[j], &along[j], &along[k]);
    }
}

/// Adds `factor · r sᵀ`, on and above the diagonal.
fn add_responses(rows: &mut [Vec<(u32, Block)>], factor: f64, r: &Response, s: &Response) {
    for ((p, left), (q, right)) in r
        .iter()
        .flat_map(|p| s.iter().map(move |q| (p, q)))
        .filter(|(p, q)| p.0 <= q.0)
    {
        let target = block_of(&mut rows[*p as usize], *q);
        for (row, l) in target.iter_mut().zip(left) {
            row.iter_mut()
                .zip(right)
                .for_each(|(value, r)| *value += factor * l * r);
        }
    }
}

fn part_ends(
    modes: &RigidModes,
    levers: &[DVec3],
    ends: [Option<u32>; 2],
    partings: &mut Vec<Parting>,
) {
    partings.clear();
    for (end, sign) in ends.into_iter().zip([1.0, -1.0]) {
        let Some(unknown) = end else { continue };
        for at in modes.range(unknown as usize) {
            let (piece, share) = modes.shares()[at];
            let (share, lever) = (sign * share, levers[at] * (sign * share));
            match partings.iter_mut().find(|p| p.piece == piece) {
                Some(parting) => {
                    (parting.share, parting.lever) = (parting.share + share, parting.lever + lever)
                }
                None => partings.push(Parting {
                    piece,
                    share,
                    lever,
                }),
            }
        }
    }
}

fn block_of(row: &mut Vec<(u32, Block)>, piece: u32) -> &mut Block {
    let at = row.partition_point(|entry| entry.0 < piece);
    if row.get(at).is_none_or(|entry| entry.0 != piece) {
        row.insert(at, (piece, [[0.0; MODES]; MODES]));
    }
    &mut row[at].1
}

/// The whole matrix, shifted.
fn into_matrix(rows: &[Vec<(u32, Block)>]) -> SparseMatrix {
    let mut below: Vec<Vec<(usize, &Block)>> = vec![Vec::new(); rows.len()];
    for (p, row) in rows.iter().enumerate() {
        row.iter()
            .filter(|(q, _)| *q as usize != p)
            .for_each(|(q, block)| below[*q as usize].push((p, block)));
    }
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (p, (row, below)) in rows.iter().zip(&below).enumerate() {
        for r in 0..MODES {
            for &(q, block) in below {
                indices.extend((0..MODES).map(|c| (MODES * q + c) as u32));
                values.extend(block.iter().map(|column| column[r]));
            }
            for (q, block) in row {
                let shift = |c: usize| {
                    if *q as usize == p && c == r {
                        PIECE_SHIFT * block[r][r] + f64::MIN_POSITIVE
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
    use crate::energy::SpringEnergy;
    use crate::equilibrium::dot;
    use crate::quasi_newton::relax;
    use crate::springs::Springs;
    use crate::support::Constraint;
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
    fn it_is_symmetric_and_positive() {
        let bar = bar(16, 3);
        let (energy, support, mut laplacian) = held_bar(&bar);
        let state = Equilibrium::start(&energy, &support, bent(&bar.points, 20.0));
        let mut modes = RigidModes::cut(&energy, &support);
        let mut levels =
            TwoLevel::factor(&mut modes, &mut laplacian, &state, Transverse::Exact).unwrap();
        let count = support.unknown_vertices().len();
        let field = |a: f64| {
            (0..count)
                .map(|i| DVec3::new((a * i as f64).sin(), (a + i as f64).cos(), (i as f64).sin()))
                .collect::<Vec<_>>()
        };
        let (u, v) = (field(0.7), field(1.9));
        let (mut mu, mut mv) = (u.clone(), v.clone());
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
    fn what_is_barred_is_neither_moved_nor_felt() {
        let bar = bar(16, 3);
        let (energy, mut support, mut laplacian) = held_bar(&bar);
        lying(&bar, &mut support);
        let state = Equilibrium::start(&energy, &support, bar.points.clone());
        let mut modes = RigidModes::cut(&energy, &support);
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
    fn a_long_bar_that_lies_on_a_plane_balances_in_fewer_steps_than_on_the_laplacian() {
        let bar = bar(60, 2);
        let (energy, mut support, mut laplacian) = held_bar(&bar);
        lying(&bar, &mut support);
        let mut plain = Equilibrium::start(&energy, &support, bar.points.clone());
        relax(&mut plain, &mut laplacian, 1e-6, 1000);
        let mut state = Equilibrium::start(&energy, &support, bar.points.clone());
        let mut modes = RigidModes::cut(&energy, &support);
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
    fn a_long_bar_that_was_bent_straightens_in_far_fewer_steps_than_on_the_laplacian() {
        let bar = bar(60, 2);
        let (energy, support, mut laplacian) = held_bar(&bar);
        let start = bent(&bar.points, 30.0);
        let mut plain = Equilibrium::start(&energy, &support, start.clone());
        relax(&mut plain, &mut laplacian, 1e-6, 1000);
        let mut state = Equilibrium::start(&energy, &support, start);
        let mut modes = RigidModes::cut(&energy, &support);
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
