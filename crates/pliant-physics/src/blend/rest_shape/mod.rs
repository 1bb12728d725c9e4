//! The rest shape between shapes: the even path from one to the other.
//!
//! - [`rotation_field`]: the rotations of all vertices, continuous over the mesh.
//! - [`rigid_region`]: the region that moves rigidly, and its motion.
//! - [`bridges`](mod@bridges): pairs that join the connected components.
//! - [`untangling`]: elements that do not turn inside out.
//!
//! **Problem.** Springs with blended rest lengths have many equilibria; between neighbouring weights a
//! shape snaps from one to another. A rest *shape* that depends continuously on the weights leaves
//! no choice: its springs are at rest there.
//!
//! **Equation.** With the rotations `Rᵢˢ` of the vertices ([`rotation_field`]), their blend `R̄ᵢ` and the
//! spring vectors `dˢ = vᵢˢ − vⱼˢ`,
//!
//! ```text
//! d̄ = ½ Σₛ wₛ (R̄ᵢ Rᵢˢᵀ + R̄ⱼ Rⱼˢᵀ) dˢ        min Σ k |xᵢ − xⱼ − ℓ d̄ / |d̄||²
//! ```
//!
//! is one solve with the Laplacian of the springs. The length `ℓ` is the blended one `Σₛ wₛ |dˢ|` on
//! edges, and the mean of it and `|d̄|` on all other springs. A fixed number of steps of the local and the global kind
//! follows, in which `d̄` becomes `xᵢ − xⱼ` of the last step, except on bridges, whose parts may pass each other:
//!
//! ```text
//! L yₙ = Σ k ℓ (xᵢ − xⱼ) / |xᵢ − xⱼ|        xₙ₊₁ = ω (yₙ − xₙ₋₁) + xₙ₋₁
//! ```
//!
//! A composition of continuous maps is continuous in the weights; at the weights of one shape all
//! steps return that shape. Elements that the path inverts are turned back ([`untangling`]), and the
//! result is placed by the [`rigid_region`].
//!
//! **Source.** Gao, Lai, Liang, Chen, Xia 2016, section 3 (rotations and stretch blended separately,
//! one linear solve), and Gao et al. 2019 for several shapes; rest shapes by example: Martin,
//! Thomaszewski, Grinspun, Gross, "Example-based elastic materials", 2011; the steps: Liu, Bargteil,
//! O'Brien, Kavan 2013, section 4, with the weights `ω` of Wang, "A Chebyshev semi-iterative approach for
//! accelerating projective and position-based dynamics", 2015.
//!
//! **Departures.** The vectors are those of springs, so that the interior takes part; Gao et al. use the
//! edges of the surface. Stretch is blended with the vectors: `R̄ Rˢᵀ dˢ` is the stretched vector of
//! shape `s` in the blended frame. The steps correct lengths where blended rotations disagree; more
//! of them would approach an equilibrium of springs, with its snaps.

pub(crate) mod bridges;
pub(crate) mod rigid_region;
pub(crate) mod rotation_field;
mod untangling;

use std::cmp::Ordering;

use pliant_linalg::{LinalgError, parallel};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::{Spring, SpringEnergy, Support};
use crate::blend::interior::by_coordinates;
use crate::blend::solvers::{Preconditioner, SpringLaplacian};
use rigid_region::RigidRegion;
use rotation_field::RotationField;
use untangling::Untangling;

/// Springs or vertices in one parallel task.
const GRAIN: usize = 512;
/// The stiffness of bridges relative to springs of the same length. Chosen: they place a component
/// and do not bend its host.
const BRIDGE_SHARE: f64 = 0.01;
/// The share of the blended length in the length of springs other than edges; the rest is that of
/// the blended vector. Measured on six pose pairs: with 0 edges strain by 10 to 20 % more, with 1
/// the volume grows by up to 1.7 %.
const INNER_SHARE: f64 = 0.5;
/// Steps after the first solve. Measured on the same pairs: two leave a tenth more strain, eight
/// invert twice as many interior elements.
const STEPS: usize = 4;
/// The spectral radius that the weights of the steps assume. Chosen: below that of all meshes
/// tried, since an estimate that is too large oscillates.
const RADIUS: f64 = 0.9;
/// Sizes that agree to this share count as equal.
const SIZE_SHARE: f64 = 1e-6;

/// The springs over which a rest shape is found.
pub(crate) struct RestNetwork<'a> {
    /// Edges first, bridges last.
    pub(crate) ends: &'a [[u32; 2]],
    /// At the mean of all shapes.
    pub(crate) springs: &'a [Spring],
    pub(crate) edges: usize,
    pub(crate) bridges: usize,
    /// The first of the coincident vertices that each surface vertex belongs to.
    pub(crate) twins: &'a [u32],
    /// The elements of the interior.
    pub(crate) tetrahedra: &'a [[u32; 4]],
}

/// Shapes with their rotations and a factored Laplacian.
#[derive(Debug)]
pub(crate) struct RestShape {
    /// The given shape at each place of the canonical order.
    order: Vec<usize>,
    /// In the canonical order and the frame of the rigid region.
    shapes: Vec<Vec<DVec3>>,
    ends: Vec<[u32; 2]>,
    /// Springs that have the blended length; the others have a mean of it and of the length of
    /// their blended vector.
    edges: usize,
    /// Springs from here on are bridges, which have their blended vector.
    first_bridge: usize,
    network: SpringEnergy,
    rotations: RotationField,
    region: RigidRegion,
    laplacian: SpringLaplacian,
    support: Support,
    twins: Vec<(u32, u32)>,
    untangling: Untangling,
    /// The last weights and their shape.
    last: Option<(Vec<f64>, Vec<DVec3>)>,
}

impl RestShape {
    /// Fits rotations and factors the Laplacian. `seeds` place the rigid region; without any it is
    /// the largest one.
    pub(crate) fn new(
        mesh: &Mesh,
        shapes: &[Vec<DVec3>],
        network: &RestNetwork<'_>,
        seeds: &[usize],
    ) -> Result<Self, LinalgError> {
        // In a canonical order the given order cannot matter.
        let order = canonical_order(shapes, network.ends);
        let ordered: Vec<Vec<DVec3>> = order.iter().map(|&s| shapes[s].clone()).collect();

        let mut springs = network.springs.to_vec();
        let first_bridge = springs.len() - network.bridges;
        for (spring, [i, j]) in springs.iter_mut().zip(network.ends).skip(first_bridge) {
            let are_twins = network.twins.get(*j as usize) == Some(i);
            spring.stiffness *= if are_twins { 1.0 } else { BRIDGE_SHARE };
        }

        let energy = SpringEnergy::new(shapes[0].len(), network.ends, &springs);
        let areas = vertex_areas(mesh, &ordered);
        let region = RigidRegion::find(&energy, &ordered, &areas, seeds)?;
        let local = region.to_local(&ordered);

        // One held vertex removes the translation of the network; vertices without a spring have no
        // equation.
        let mut held: Vec<bool> = (0..shapes[0].len())
            .map(|v| energy.around(v).next().is_none())
            .collect();
        held[region.middle()] = true;
        let support = Support::holding(&held);
        let laplacian = SpringLaplacian::factor(&energy, &springs, &support)?;
        let rotations = RotationField::fit(
            &energy,
            laplacian.constants(),
            &local,
            network.twins,
            region.middle(),
        );

        let pairs = (0..).zip(network.twins.iter().copied());
        let twins: Vec<(u32, u32)> = pairs.filter(|(v, first)| v != first).collect();
        let surface = mesh.vertex_count();
        Ok(Self {
            untangling: Untangling::new(network.tetrahedra, &local, surface, &twins),
            order,
            shapes: local,
            ends: network.ends.to_vec(),
            edges: network.edges,
            first_bridge,
            network: energy,
            rotations,
            region,
            laplacian,
            support,
            twins,
            last: None,
        })
    }

    /// A vertex in the middle of the rigid region.
    pub(crate) fn middle(&self) -> usize {
        self.region.middle()
    }

    /// Springs over which the rotations of some shape differ by more than half a turn.
    pub(crate) fn torn(&self) -> usize {
        self.rotations.torn()
    }

    /// The rest shape at the weights of the given shapes, in world coordinates.
    pub(crate) fn at(&mut self, weights: &[f64]) -> Result<&[DVec3], LinalgError> {
        let is_known = self.last.as_ref().is_some_and(|last| last.0 == weights);
        if !is_known {
            let ordered: Vec<f64> = self.order.iter().map(|&s| weights[s]).collect();
            let points = self.solve(&ordered)?;
            self.last = Some((weights.to_vec(), points));
        }

        Ok(self.last.as_ref().map_or(&[], |last| &last.1))
    }

    fn solve(&mut self, weights: &[f64]) -> Result<Vec<DVec3>, LinalgError> {
        let vectors = self.blended_vectors(weights);
        let lengths = self.lengths(weights, &vectors);

        let count = self.shapes[0].len();
        let mut linear = Vec::with_capacity(count);
        for v in 0..count {
            let terms = self.shapes.iter().zip(weights).map(|(s, w)| s[v] * *w);
            linear.push(terms.sum::<DVec3>());
        }

        let goals = parallel::map(self.ends.len(), GRAIN, |q| {
            with_length(vectors[q], lengths[q])
        });
        let mut before = self.global_step(&linear, &goals);
        let mut points = before.clone();
        let mut omega = 1.0;
        for step in 0..STEPS {
            let goals = parallel::map(self.ends.len(), GRAIN, |q| {
                if q >= self.first_bridge {
                    return vectors[q];
                }
                let [i, j] = self.ends[q].map(|v| v as usize);
                with_length(points[i] - points[j], lengths[q])
            });
            let next = self.global_step(&linear, &goals);

            // Chebyshev's weights: 1, 2 / (2 − ρ²), 4 / (4 − ρ² ω) …
            omega = match step {
                0 => 1.0,
                1 => 2.0 / (2.0 - RADIUS * RADIUS),
                _ => 4.0 / (4.0 - RADIUS * RADIUS * omega),
            };
            let mut moved = next;
            for (p, was) in moved.iter_mut().zip(&before) {
                *p = *was + (*p - *was) * omega;
            }
            before = std::mem::replace(&mut points, moved);
        }

        self.join_twins(&mut points);
        self.untangling.apply(&mut points);
        self.region.place(&mut points, &self.shapes[0], weights)?;
        Ok(points)
    }

    /// The blended vector of every spring.
    fn blended_vectors(&self, weights: &[f64]) -> Vec<DVec3> {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        let blended = self.rotations.blended(weights);

        // For each active shape ½ wₛ R̄ Rˢᵀ, by vertex.
        let mut from_shape: Vec<Vec<DMat3>> = Vec::with_capacity(active.len());
        for &s in &active {
            from_shape.push(parallel::map(blended.len(), GRAIN, |v| {
                let rotation = blended[v] * self.rotations.rotation(s, v).conjugate();
                DMat3::from_quat(rotation) * (0.5 * weights[s])
            }));
        }

        parallel::map(self.ends.len(), GRAIN, |q| {
            let [i, j] = self.ends[q].map(|v| v as usize);
            let mut vector = DVec3::ZERO;
            for (rotated, &s) in from_shape.iter().zip(&active) {
                vector += (rotated[i] + rotated[j]) * (self.shapes[s][i] - self.shapes[s][j]);
            }
            vector
        })
    }

    /// The length that every spring aims at.
    fn lengths(&self, weights: &[f64], vectors: &[DVec3]) -> Vec<f64> {
        parallel::map(vectors.len(), GRAIN, |q| {
            if q >= self.first_bridge {
                return vectors[q].length();
            }
            let [i, j] = self.ends[q].map(|v| v as usize);
            let terms = self.shapes.iter().zip(weights);
            let blended: f64 = terms.map(|(s, w)| w * s[i].distance(s[j])).sum();

            // Extrapolated lengths may be negative.
            let share = if q < self.edges { 1.0 } else { INNER_SHARE };
            share * blended.max(0.0) + (1.0 - share) * vectors[q].length()
        })
    }

    /// The points whose springs are nearest to the `goals`; held vertices are at `held`.
    fn global_step(&mut self, held: &[DVec3], goals: &[DVec3]) -> Vec<DVec3> {
        let unknowns = self.support.unknown_vertices();
        let constants = self.laplacian.constants();
        let mut sides = parallel::map(unknowns.len(), GRAIN, |unknown| {
            let vertex = unknowns[unknown] as usize;
            let mut sum = DVec3::ZERO;
            for (other, q) in self.network.around(vertex) {
                let is_first = self.ends[q][0] as usize == vertex;
                let goal = if is_first { goals[q] } else { -goals[q] };
                let beside = if self.support.unknown_of(other).is_none() {
                    held[other]
                } else {
                    DVec3::ZERO
                };
                sum += (goal + beside) * constants[q];
            }
            sum
        });

        self.laplacian.apply(&mut sides);
        let mut points = held.to_vec();
        for (position, &vertex) in sides.iter().zip(unknowns) {
            points[vertex as usize] = *position;
        }
        points
    }

    /// Moves coincident vertices to their mean.
    fn join_twins(&self, points: &mut [DVec3]) {
        let mut sums = std::collections::BTreeMap::new();
        for &(v, first) in &self.twins {
            let entry = sums.entry(first).or_insert((points[first as usize], 1.0));
            entry.0 += points[v as usize];
            entry.1 += 1.0;
        }
        for (&first, (sum, count)) in &sums {
            points[first as usize] = *sum / *count;
        }
        for &(v, first) in &self.twins {
            points[v as usize] = points[first as usize];
        }
    }
}

/// A vector in the same direction with another length.
fn with_length(vector: DVec3, length: f64) -> DVec3 {
    vector.normalize_or_zero() * length
}

/// An order of the shapes that depends neither on their order in the list nor on their placement;
/// among shapes of one size it is that of their coordinates.
pub(crate) fn canonical_order(shapes: &[Vec<DVec3>], ends: &[[u32; 2]]) -> Vec<usize> {
    let size = |shape: &[DVec3]| -> f64 {
        let terms = ends
            .iter()
            .map(|[i, j]| shape[*i as usize].distance(shape[*j as usize]));
        terms.sum()
    };
    let sizes: Vec<f64> = shapes.iter().map(|shape| size(shape)).collect();
    let unit = SIZE_SHARE
        * sizes
            .iter()
            .copied()
            .fold(0.0, f64::max)
            .max(f64::MIN_POSITIVE);

    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by(|&a, &b| {
        let by_size = (sizes[a] / unit)
            .round()
            .total_cmp(&(sizes[b] / unit).round());
        match by_size {
            Ordering::Equal => by_coordinates(&shapes[a], &shapes[b]),
            other => other,
        }
    });
    order
}

/// A third of the area of the triangles at each surface vertex, as a mean of the shapes.
fn vertex_areas(mesh: &Mesh, shapes: &[Vec<DVec3>]) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for shape in shapes {
        for triangle in mesh.triangles() {
            let corners = triangle.map(|v| shape[v as usize]);
            let third = pliant_mesh::triangle_area(corners) / (3.0 * shapes.len() as f64);
            for &v in triangle {
                areas[v as usize] += third;
            }
        }
    }
    areas
}
