//! Laying one surface onto another: non-rigid registration with annealed stiffness.
//!
//! **Problem.** Deform the source so that it covers the target, part on like part, guided by a few
//! markers and by the two shapes themselves. What few markers cannot say, the surfaces do.
//!
//! **Equation.** Of the source at rest `p`, laid over the target by a similarity, with the
//! normalised mean-value Laplacian `L`, the least over `x` of
//!
//! ```text
//! (ℓ/h)⁴/16 Σ |(L x)ᵢ − Tᵢ (L p)ᵢ|²  +  Σ mᵢ |xᵢ − qᵢ|²  +  β Σ nⱼ |x(j) − yⱼ|²  +  μ Σ |xₖ − cₖ|²
//! ```
//!
//! `qᵢ` is the closest point of the target that faces the same way, `x(j)` the closest point of the
//! moved source to the target vertex `yⱼ`, `cₖ` a marker's place, `m` and `n` areas in units of the
//! mean area of a source vertex and `h` its root. `Tᵢ` is the turn and scale of the edges around
//! `i`. The length `ℓ`, below which the source does not bend, falls from 30 % of the target's size
//! to 1.5 %.
//!
//! **Source.** Amberg, Romdhani, Vetter, "Optimal Step Nonrigid ICP Algorithms for Surface
//! Registration", CVPR 2007: the annealing and the alternation of closest points and one linear
//! solve. The rotated Laplacian coordinates are those of Lipman and others, "Differential
//! coordinates for interactive mesh editing", 2004.
//!
//! **Ours.** Laplacian coordinates instead of an affine map per vertex: a quarter of the unknowns
//! and one factor for all three coordinates, of a pattern that never changes. Stiffness as a length
//! makes the result independent of units and, nearly, of the meshing.

use std::sync::Arc;

use pliant_linalg::{
    SolveWorkspace, SparseMatrix, SpdSolver, Symbolic, nearest_rotation, parallel,
};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{
    Mesh, SurfaceIndex, TrianglePoint, mean_value_laplacian, triangle_area, triangle_normals,
    vertex_normals,
};

use crate::TransferError;
use crate::extent::size;
use crate::least_squares_mesh::normalized;
use crate::loose_parts::carry_loose_parts;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// How firmly a vertex stays where it is when nothing else holds it: negligible beside a pull of
/// one.
const STAY: f64 = 1e-6;

/// [`STAY`] as a part of the stiffness, which keeps the factor definite however fine the mesh is.
const STAY_OF_STIFFNESS: f64 = 1e-10;

/// A neighbourhood is not taken to have grown or shrunk by more than this.
const LARGEST_STRETCH: f64 = 4.0;

/// How a source is laid onto a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegistrationOptions {
    first_length: f64,
    last_length: f64,
    steps: usize,
    facing: f64,
    from_target: f64,
    sliding: f64,
    marker_shares: [f64; 2],
    marker_start: bool,
    gaps: bool,
}

impl Default for RegistrationOptions {
    fn default() -> Self {
        Self {
            first_length: Self::DEFAULT_LENGTHS[0],
            last_length: Self::DEFAULT_LENGTHS[1],
            steps: Self::DEFAULT_STEPS,
            facing: Self::DEFAULT_FACING,
            from_target: 0.0,
            sliding: 0.0,
            marker_shares: Self::DEFAULT_MARKER_SHARES,
            marker_start: true,
            gaps: false,
        }
    }
}

impl RegistrationOptions {
    /// Measured on `horse-camel`: between half and twice these the error against the published
    /// poses changes by a tenth.
    pub const DEFAULT_LENGTHS: [f64; 2] = [0.3, 0.015];
    /// Measured on `horse-camel`: with 3 to 8 steps the error differs by less than a tenth.
    pub const DEFAULT_STEPS: usize = 5;
    /// Ours: normals within 72°. A right angle lets a thin ear cling to its other side.
    pub const DEFAULT_FACING: f64 = 0.3;
    /// Measured on `horse-camel`: holding markers as firmly at the end as at the start costs a
    /// tenth with many markers.
    pub const DEFAULT_MARKER_SHARES: [f64; 2] = [0.012, 0.0012];

    /// The length below which the source does not bend, in the first and in the last step, as parts
    /// of the target's size. Default: [`DEFAULT_LENGTHS`](Self::DEFAULT_LENGTHS).
    #[must_use]
    pub fn with_lengths(self, first: f64, last: f64) -> Self {
        Self {
            first_length: first,
            last_length: last,
            ..self
        }
    }

    /// Rounds of closest points and a solve; cost is linear in it. Default:
    /// [`DEFAULT_STEPS`](Self::DEFAULT_STEPS).
    #[must_use]
    pub fn with_steps(self, steps: usize) -> Self {
        Self { steps, ..self }
    }

    /// The least cosine between the normals of two points that may meet. Default:
    /// [`DEFAULT_FACING`](Self::DEFAULT_FACING).
    #[must_use]
    pub fn with_facing(self, facing: f64) -> Self {
        Self { facing, ..self }
    }

    /// `β`, how much the vertices of the target pull on the source. Default 0: on `horse-camel` a
    /// half doubles the cost and gains nothing; it helps where the target has parts that no
    /// closest point of the source lies on.
    #[must_use]
    pub fn with_pull_from_target(self, from_target: f64) -> Self {
        Self {
            from_target,
            ..self
        }
    }

    /// From 0, point to point, to 1, point to plane: how freely a point may slide along the plane
    /// it is drawn to. Default 0.
    #[must_use]
    pub fn with_sliding(self, sliding: f64) -> Self {
        Self { sliding, ..self }
    }

    /// `μ` in the first and in the last step, as a part of the source's surface: a marker of 0.01
    /// pulls as a hundredth of the surface.
    /// Default: [`DEFAULT_MARKER_SHARES`](Self::DEFAULT_MARKER_SHARES).
    #[must_use]
    pub fn with_marker_shares(self, first: f64, last: f64) -> Self {
        Self {
            marker_shares: [first, last],
            ..self
        }
    }

    /// Whether the markers alone shape the source before the surfaces have a say. Default true: it
    /// brings parts that are turned or longer to where they belong. A handful of markers is too
    /// few for it: on `horse-camel` ten or less stretch the body out of shape.
    #[must_use]
    pub fn with_marker_start(self, marker_start: bool) -> Self {
        Self {
            marker_start,
            ..self
        }
    }

    /// Whether the target may lack parts that the source has, as scans do: then a point on the
    /// target's rim draws only what lies on the source's rim, and the skin over a hole follows
    /// its neighbours. Default false.
    #[must_use]
    pub fn with_gaps(self, gaps: bool) -> Self {
        Self { gaps, ..self }
    }

    fn check(&self) -> Result<(), TransferError> {
        let positive = |what, value: f64| {
            let fine = value > 0.0 && value.is_finite();
            if fine {
                Ok(())
            } else {
                Err(TransferError::BadNumber {
                    what,
                    value,
                    needed: "positive and finite",
                })
            }
        };
        positive("the first stiffness length", self.first_length)?;
        positive("the last stiffness length", self.last_length)?;
        positive("the first marker share", self.marker_shares[0])?;
        positive("the last marker share", self.marker_shares[1])?;
        let within = |what, value: f64, low: f64, needed| {
            if (low..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(TransferError::BadNumber {
                    what,
                    value,
                    needed,
                })
            }
        };
        within(
            "the least cosine of facing normals",
            self.facing,
            -1.0,
            "between -1 and 1",
        )?;
        within(
            "the pull from the target",
            self.from_target,
            0.0,
            "between 0 and 1",
        )?;
        within(
            "the sliding of closest points",
            self.sliding,
            0.0,
            "between 0 and 1",
        )
    }
}

/// Where the vertices of `source` go, when `rest` is the source laid over the target and `markers`
/// are vertices with their places.
///
/// # Errors
/// If a mesh has no faces or a position is not finite, a marker's vertex is not there, or an option
/// is out of range.
pub fn register(
    source: &Mesh,
    target: &Mesh,
    rest: Vec<DVec3>,
    markers: &[(u32, DVec3)],
    options: &RegistrationOptions,
) -> Result<Vec<DVec3>, TransferError> {
    options.check()?;
    markers
        .iter()
        .try_for_each(|&(v, _)| source.require_vertex(v as usize))?;
    let rest = source.posed(rest)?;
    let mut fit = Fit::new(&rest)?;
    let ground = Ground::new(target, fit.area)?;
    let mut positions = rest.positions().to_vec();
    if options.marker_start && !markers.is_empty() {
        // Twice: the second solve knows how the first has turned the parts.
        for _ in 0..2 {
            let pulls = fit.marker_pulls(markers, options.marker_shares[0]);
            positions = fit.solve(&positions, options.first_length * ground.size, &pulls)?;
        }
        let held: Vec<u32> = markers.iter().map(|&(vertex, _)| vertex).collect();
        carry_loose_parts(&rest, &held, &mut positions)?;
    }
    for step in 0..options.steps {
        let along = if options.steps > 1 {
            step as f64 / (options.steps - 1) as f64
        } else {
            1.0
        };
        let between = |first: f64, last: f64| first * (last / first).powf(along);
        let mut pulls = fit.marker_pulls(
            markers,
            between(options.marker_shares[0], options.marker_shares[1]),
        );
        let moved = rest.posed(positions.clone())?;
        pulls.extend(ground.pulls_on_vertices(&moved, &fit.masses, options));
        if options.from_target > 0.0 {
            pulls.extend(ground.pulls_of_vertices(&moved, options)?);
        }
        positions = fit.solve(
            &positions,
            between(options.first_length, options.last_length) * ground.size,
            &pulls,
        )?;
    }
    Ok(positions)
}

/// A point of the source that is drawn to a place.
struct Pull {
    corners: [u32; 3],
    shares: [f64; 3],
    place: DVec3,
    weight: f64,
}

impl Pull {
    fn on_vertex(vertex: usize, place: DVec3, weight: f64) -> Self {
        Self {
            corners: [vertex as u32; 3],
            shares: [1.0, 0.0, 0.0],
            place,
            weight,
        }
    }
}

/// What is drawn to, and how far that is.
struct Ground<'a> {
    target: &'a Mesh,
    index: SurfaceIndex,
    normals: Vec<DVec3>,
    vertex_normals: Vec<DVec3>,
    vertex_masses: Vec<f64>,
    /// Whether each vertex is on an edge that ends the target.
    rim: Vec<bool>,
    size: f64,
}

impl<'a> Ground<'a> {
    fn new(target: &'a Mesh, area: f64) -> Result<Self, TransferError> {
        Ok(Self {
            target,
            index: SurfaceIndex::new(target)?,
            normals: triangle_normals(target),
            vertex_normals: vertex_normals(target),
            vertex_masses: vertex_areas(target).into_iter().map(|a| a / area).collect(),
            rim: rim_vertices(target),
            size: size(target),
        })
    }

    /// Each vertex of the source is drawn to the closest point that faces its way.
    fn pulls_on_vertices(
        &self,
        moved: &Mesh,
        masses: &[f64],
        options: &RegistrationOptions,
    ) -> Vec<Pull> {
        let facing = vertex_normals(moved);
        let rim = if options.gaps {
            rim_vertices(moved)
        } else {
            Vec::new()
        };
        let found = parallel::map(moved.vertex_count(), VERTICES_PER_TASK, |i| {
            let x = moved.positions()[i];
            if facing[i] == DVec3::ZERO {
                return None; // A vertex without a surface would search all of the target in vain.
            }
            let closest = self.index.closest_point_where(x, |t| {
                self.normals[t as usize].dot(facing[i]) >= options.facing
            })?;
            if options.gaps && self.is_on_rim(&closest.place) && !rim[i] {
                return None;
            }
            let normal = self.normals[closest.place.triangle as usize];
            let foot = x - normal * normal.dot(x - closest.point);
            Some(Pull::on_vertex(
                i,
                closest.point.lerp(foot, options.sliding),
                masses[i],
            ))
        });
        found.into_iter().flatten().collect()
    }

    /// Whether a place is on an edge that ends the target, or on a vertex of one.
    fn is_on_rim(&self, place: &TrianglePoint) -> bool {
        let corners = self.target.triangles()[place.triangle as usize];
        let touched: Vec<u32> = (0..3)
            .filter(|&k| place.barycentric[k] > 0.0)
            .map(|k| corners[k])
            .collect();
        match touched[..] {
            [v] => self.rim[v as usize],
            [a, b] => self
                .target
                .topology()
                .edge_between(a, b)
                .is_some_and(|edge| self.target.topology().is_boundary_edge(edge)),
            _ => false,
        }
    }

    /// Each vertex of the target draws the closest point of the source that faces its way.
    fn pulls_of_vertices(
        &self,
        moved: &Mesh,
        options: &RegistrationOptions,
    ) -> Result<Vec<Pull>, TransferError> {
        let index = SurfaceIndex::new(moved)?;
        let normals = triangle_normals(moved);
        let found = parallel::map(self.target.vertex_count(), VERTICES_PER_TASK, |j| {
            let y = self.target.positions()[j];
            if self.vertex_normals[j] == DVec3::ZERO {
                return None;
            }
            let closest = index.closest_point_where(y, |t| {
                normals[t as usize].dot(self.vertex_normals[j]) >= options.facing
            })?;
            let normal = normals[closest.place.triangle as usize];
            let foot = closest.point + normal * normal.dot(y - closest.point);
            let corners = moved.triangles()[closest.place.triangle as usize];
            let weight = options.from_target * self.vertex_masses[j];
            Some(Pull {
                corners,
                shares: closest.place.barycentric,
                place: y.lerp(foot, options.sliding),
                weight,
            })
        });
        Ok(found.into_iter().flatten().collect())
    }
}

/// The quadratic problem of one step: what stays the same from step to step.
struct Fit {
    rest: Vec<DVec3>,
    laplacian: SparseMatrix,
    transpose: SparseMatrix,
    /// `L p`.
    detail: Vec<DVec3>,
    /// `Lᵀ L`, with a place for every pair of corners of a triangle.
    smoothness: SparseMatrix,
    masses: Vec<f64>,
    /// The mean area of a vertex.
    area: f64,
    solver: Option<SpdSolver>,
    workspace: SolveWorkspace,
}

impl Fit {
    fn new(rest: &Mesh) -> Result<Self, TransferError> {
        rest.require_surface()?;
        let laplacian = normalized(mean_value_laplacian(rest)?);
        let transpose = laplacian.transpose();
        let smoothness = transpose.times(&laplacian).plus(1.0, &corner_pattern(rest));
        let areas = vertex_areas(rest);
        let mean = areas.iter().sum::<f64>() / areas.len() as f64;
        let area = if mean > 0.0 { mean } else { 1.0 };
        Ok(Self {
            rest: rest.positions().to_vec(),
            detail: laplacian.multiply(rest.positions()),
            masses: areas.into_iter().map(|a| a / area).collect(),
            laplacian,
            transpose,
            smoothness,
            area,
            solver: None,
            workspace: SolveWorkspace::new(),
        })
    }

    fn marker_pulls(&self, markers: &[(u32, DVec3)], share: f64) -> Vec<Pull> {
        let weight = share * self.rest.len() as f64;
        markers
            .iter()
            .map(|&(vertex, place)| Pull::on_vertex(vertex as usize, place, weight))
            .collect()
    }

    /// The best positions for a stiffness length, turned parts taken from `positions`.
    fn solve(
        &mut self,
        positions: &[DVec3],
        length: f64,
        pulls: &[Pull],
    ) -> Result<Vec<DVec3>, TransferError> {
        let stiffness = (length * length / self.area).powi(2) / 16.0;
        let stay = STAY.max(STAY_OF_STIFFNESS * stiffness);
        let mut matrix = self.smoothness.clone();
        matrix
            .values_mut()
            .iter_mut()
            .for_each(|value| *value *= stiffness);
        let mut rhs = self
            .transpose
            .multiply(&self.turned_detail(positions, stiffness));
        for (vertex, &position) in positions.iter().enumerate() {
            rhs[vertex] += position * stay;
            add_to(&mut matrix, vertex, vertex, stay);
        }
        for pull in pulls {
            for (&i, &share) in pull
                .corners
                .iter()
                .zip(&pull.shares)
                .filter(|(_, share)| **share != 0.0)
            {
                rhs[i as usize] += pull.place * (pull.weight * share);
                for (&j, &other) in pull
                    .corners
                    .iter()
                    .zip(&pull.shares)
                    .filter(|(_, other)| **other != 0.0)
                {
                    add_to(
                        &mut matrix,
                        i as usize,
                        j as usize,
                        pull.weight * share * other,
                    );
                }
            }
        }
        match &mut self.solver {
            Some(solver) => solver.refactor(&matrix)?,
            none => {
                let symbolic = Arc::new(Symbolic::with_places(&matrix, &self.rest)?);
                *none = Some(SpdSolver::factor_with(symbolic, &matrix)?);
            }
        }
        let solver = self.solver.as_ref().expect("factored just now");
        solver.solve_points_in_place(&mut rhs, &mut self.workspace);
        Ok(rhs)
    }

    /// `Tᵢ (L p)ᵢ`, times the stiffness.
    fn turned_detail(&self, positions: &[DVec3], stiffness: f64) -> Vec<DVec3> {
        parallel::map(positions.len(), VERTICES_PER_TASK, |i| {
            let (columns, weights) = self.laplacian.row(i);
            let (mut covariance, mut before, mut after) = (DMat3::ZERO, 0.0, 0.0);
            for (&j, &weight) in columns
                .iter()
                .zip(weights)
                .filter(|(j, _)| **j as usize != i)
            {
                let (p, q) = (
                    self.rest[j as usize] - self.rest[i],
                    positions[j as usize] - positions[i],
                );
                covariance -=
                    DMat3::from_cols(q * (p.x * weight), q * (p.y * weight), q * (p.z * weight));
                before -= weight * p.length_squared();
                after -= weight * q.length_squared();
            }
            let stretch = if before > 0.0 {
                (after / before)
                    .sqrt()
                    .clamp(1.0 / LARGEST_STRETCH, LARGEST_STRETCH)
            } else {
                1.0
            };
            nearest_rotation(covariance) * self.detail[i] * (stretch * stiffness)
        })
    }
}

/// Zeros wherever two corners of a triangle meet, so that a pull on any point of it finds its
/// entries.
fn corner_pattern(mesh: &Mesh) -> SparseMatrix {
    let pairs = |&[a, b, c]: &[u32; 3]| [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)];
    let mut entries: Vec<(u32, u32, f64)> = mesh
        .triangles()
        .iter()
        .flat_map(pairs)
        .map(|(i, j)| (i, j, 0.0))
        .collect();
    entries.extend((0..mesh.vertex_count() as u32).map(|i| (i, i, 0.0)));
    SparseMatrix::from_triplets(mesh.vertex_count(), mesh.vertex_count(), &entries)
}

fn add_to(matrix: &mut SparseMatrix, row: usize, column: usize, value: f64) {
    let place = matrix
        .row(row)
        .0
        .binary_search(&(column as u32))
        .expect("corners of a triangle have a place in the pattern");
    let start = matrix.starts()[row];
    matrix.values_mut()[start + place] += value;
}

/// Whether each vertex is on a boundary edge.
fn rim_vertices(mesh: &Mesh) -> Vec<bool> {
    let topology = mesh.topology();
    let mut on_rim = vec![false; mesh.vertex_count()];
    for edge in (0..topology.edges().len()).filter(|&edge| topology.is_boundary_edge(edge)) {
        topology.edges()[edge]
            .iter()
            .for_each(|&v| on_rim[v as usize] = true);
    }
    on_rim
}

/// A third of the area around each vertex.
fn vertex_areas(mesh: &Mesh) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for (t, triangle) in mesh.triangles().iter().enumerate() {
        let third = triangle_area(mesh.triangle_points(t)) / 3.0;
        triangle.iter().for_each(|&v| areas[v as usize] += third);
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::icosphere;

    /// Some vertices with the places of the same vertices in another pose.
    fn goals(to: &Mesh, vertices: &[u32]) -> Vec<(u32, DVec3)> {
        vertices
            .iter()
            .map(|&v| (v, to.positions()[v as usize]))
            .collect()
    }

    fn farthest(points: &[DVec3], from: &Mesh) -> f64 {
        let index = SurfaceIndex::new(from).unwrap();
        points
            .iter()
            .map(|&p| index.closest_point(p).unwrap().distance)
            .fold(0.0, f64::max)
    }

    #[test]
    fn a_surface_that_lies_on_itself_stays() {
        let mesh = lump(3, 0.0);
        for options in [
            RegistrationOptions::default(),
            RegistrationOptions::default()
                .with_pull_from_target(0.5)
                .with_sliding(0.5),
        ] {
            let moved = register(
                &mesh,
                &mesh,
                mesh.positions().to_vec(),
                &goals(&mesh, &[0, 1, 2, 3]),
                &options,
            )
            .unwrap();
            let off = moved
                .iter()
                .zip(mesh.positions())
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f64::max);
            assert!(off < 1e-9, "{off}");
        }
    }

    #[test]
    fn one_lump_comes_to_cover_another_both_ways() {
        let (source, target) = (lump(3, 0.0), lump(4, 0.5));
        let before = farthest(source.positions(), &target);
        let marks = goals(&target, &[0, 1, 2, 3, 5, 8]);
        let fit = |options: RegistrationOptions| {
            register(
                &source,
                &target,
                source.positions().to_vec(),
                &marks,
                &options,
            )
            .unwrap()
        };
        let moved = fit(RegistrationOptions::default());
        assert!(farthest(&moved, &target) < 0.05 * before);
        // Only where the target pulls, too, is the end of its nose reached.
        let pulled = fit(RegistrationOptions::default().with_pull_from_target(0.5));
        let missing =
            |moved: Vec<DVec3>| farthest(target.positions(), &source.posed(moved).unwrap());
        assert!(farthest(&pulled, &target) < 0.2 * before);
        let (plain, pulled) = (missing(moved), missing(pulled));
        assert!(pulled < 0.25 * plain, "{pulled} {plain}");
    }

    #[test]
    fn a_bent_arm_is_followed_although_its_parts_turn() {
        // A long ellipsoid bent by a right angle over its length.
        let arm = icosphere(3);
        let long = arm
            .posed(
                arm.positions()
                    .iter()
                    .map(|&p| p * DVec3::new(6.0, 1.0, 1.0))
                    .collect(),
            )
            .unwrap();
        let bend = |p: DVec3| {
            let turn = DQuat::from_rotation_z(p.x / 6.0 * std::f64::consts::FRAC_PI_4);
            DVec3::new(p.x, -0.05 * p.x * p.x, 0.0) + turn.inverse() * DVec3::new(0.0, p.y, p.z)
        };
        let bent = long
            .posed(long.positions().iter().map(|&p| bend(p)).collect())
            .unwrap();
        let marks: Vec<u32> = (0..12).collect();
        let moved = register(
            &long,
            &bent,
            long.positions().to_vec(),
            &goals(&bent, &marks),
            &RegistrationOptions::default(),
        )
        .unwrap();
        let off = |points: &[DVec3]| {
            points
                .iter()
                .zip(bent.positions())
                .map(|(a, b)| a.distance_squared(*b))
                .sum::<f64>()
                .sqrt()
        };
        let (before, after) = (off(long.positions()), off(&moved));
        assert!(after < 0.3 * before, "{after} {before}");
    }

    #[test]
    fn over_a_gap_of_the_target_the_source_is_not_drawn_to_the_rim() {
        let (source, whole) = (lump(3, 0.0), lump(4, 0.3));
        let over = |v: u32| whole.positions()[v as usize].normalize().z > 0.9;
        let kept: Vec<[u32; 3]> = whole
            .triangles()
            .iter()
            .copied()
            .filter(|t| !t.iter().any(|&v| over(v)))
            .collect();
        let open = Mesh::from_triangles(whole.positions().to_vec(), &kept).unwrap();
        let marks = goals(&whole, &[0, 1, 2, 3, 5, 8]);
        let fit = |target: &Mesh, gaps: bool| {
            let options = RegistrationOptions::default().with_gaps(gaps);
            register(
                &source,
                target,
                source.positions().to_vec(),
                &marks,
                &options,
            )
            .unwrap()
        };
        let complete = fit(&whole, true);
        assert_eq!(complete, fit(&whole, false), "a closed target has no gap");
        let off = |found: Vec<DVec3>| {
            found
                .iter()
                .zip(&complete)
                .map(|(a, b)| a.distance_squared(*b))
                .sum::<f64>()
                .sqrt()
        };
        let (with, without) = (off(fit(&open, true)), off(fit(&open, false)));
        assert!(with < 0.5 * without, "{with} {without}");
    }

    #[test]
    fn a_power_of_two_scales_every_bit() {
        let (source, target) = (lump(2, 0.0), lump(3, 0.4));
        let options = RegistrationOptions::default().with_pull_from_target(0.5);
        let marks = goals(&target, &[0, 1, 2, 3, 5]);
        let plain = register(
            &source,
            &target,
            source.positions().to_vec(),
            &marks,
            &options,
        )
        .unwrap();
        for scale in [1024.0, 1.0 / 1024.0] {
            let grow = |points: &[DVec3]| points.iter().map(|&p| p * scale).collect::<Vec<_>>();
            let large = target.posed(grow(target.positions())).unwrap();
            let marks: Vec<(u32, DVec3)> = marks.iter().map(|&(v, p)| (v, p * scale)).collect();
            let found =
                register(&source, &large, grow(source.positions()), &marks, &options).unwrap();
            assert_eq!(found, grow(&plain));
        }
    }

    #[test]
    fn options_out_of_range_are_named() {
        let mesh = lump(1, 0.0);
        let run = |options: RegistrationOptions| {
            register(&mesh, &mesh, mesh.positions().to_vec(), &[], &options)
        };
        let default = RegistrationOptions::default();
        for wrong in [
            default.with_lengths(0.0, 0.1),
            default.with_lengths(0.1, f64::NAN),
            default.with_facing(1.5),
            default.with_pull_from_target(-0.1),
            default.with_sliding(2.0),
            default.with_marker_shares(0.0, 1.0),
        ] {
            assert!(
                matches!(run(wrong), Err(TransferError::BadNumber { .. })),
                "{wrong:?}"
            );
        }
        assert!(run(default).is_ok());
    }
}
