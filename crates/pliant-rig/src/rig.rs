//! A neutral mesh and the targets that move it.
//!
//! **Equation.** `x = x₀ + Σ wₖ dₖ` with the neutral `x₀`, weights `w` and targets `d`,
//! each a displacement of the few vertices it moves.
//!
//! **Source.** Lewis and Anjyo, "Direct manipulation blendshapes", 2010, eq. 1, in delta form.
//!
//! **Ours.** A target with in-betweens is the piecewise linear path through them: `wₖ dₖ` becomes the
//! point at `wₖ` on the polyline `(0, 0), (w₁, d₁), …, (1, dₖ)`, whose outer segments go on beyond their
//! ends, as FBX and UsdSkel define it.

use std::collections::HashSet;

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use crate::RigError;

/// One shape of a rig, stored as the displacements of the vertices it moves.
///
/// Displacements are `f32`: relative to the size of a face they are small, so their
/// rounding is far below that of any file a rig comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The slider's name.
    pub name: String,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them at weight 1.
    pub deltas: Vec<Vec3>,
    /// Shapes on the way to weight 1, ascending by weight; empty for a straight path.
    pub in_betweens: Vec<InBetween>,
}

/// The shape that a target takes at a weight other than 0 and 1, as displacements from the neutral.
#[derive(Debug, Clone, PartialEq)]
pub struct InBetween {
    /// The in-between's name in its file, often empty.
    pub name: String,
    /// Where on the slider it is reached.
    pub weight: f64,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them.
    pub deltas: Vec<Vec3>,
}

impl Target {
    /// Keeps the displacements that are not exactly zero.
    #[must_use]
    pub fn from_dense(name: impl Into<String>, deltas: impl IntoIterator<Item = Vec3>) -> Self {
        let moved = deltas.into_iter().enumerate().filter(|(_, d)| *d != Vec3::ZERO);
        let (vertices, deltas) = moved.map(|(v, d)| (v as u32, d)).unzip();
        Self { name: name.into(), vertices, deltas, in_betweens: Vec::new() }
    }

    /// The displacements of every vertex of a mesh with `vertex_count` of them, at weight 1.
    #[must_use]
    pub fn to_dense(&self, vertex_count: usize) -> Vec<Vec3> {
        let mut dense = vec![Vec3::ZERO; vertex_count];
        for (&vertex, &delta) in self.vertices.iter().zip(&self.deltas) {
            dense[vertex as usize] = delta;
        }
        dense
    }

    /// Adds the displacements at `weight` to `positions`.
    pub fn add_to(&self, weight: f64, positions: &mut [DVec3]) {
        if self.in_betweens.is_empty() {
            return add_scaled(&self.vertices, &self.deltas, weight, positions);
        }
        let (lower, upper, along) = self.segment(weight);
        self.add_key(lower, 1.0 - along, positions);
        self.add_key(upper, along, positions);
    }

    /// The target without displacements shorter than `least`: scans and exporters leave noise where nothing moves.
    #[must_use]
    pub fn pruned(&self, least: f32) -> Self {
        let (vertices, deltas) = prune(&self.vertices, &self.deltas, least);
        let shorter = |shape: &InBetween| {
            let (vertices, deltas) = prune(&shape.vertices, &shape.deltas, least);
            InBetween { vertices, deltas, ..shape.clone() }
        };
        Self { name: self.name.clone(), vertices, deltas, in_betweens: self.in_betweens.iter().map(shorter).collect() }
    }

    /// The two keys around `weight` (0 is the neutral, the last the target itself) and the place between them.
    fn segment(&self, weight: f64) -> (usize, usize, f64) {
        let last = self.in_betweens.len() + 1;
        // In-betweens may lie below 0 or beyond 1, so the neutral and the target take their places among them.
        let mut keys: Vec<(f64, usize)> = self.in_betweens.iter().enumerate().map(|(k, b)| (b.weight, k + 1)).collect();
        keys.extend([(0.0, 0), (1.0, last)]);
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        let upper = keys.iter().position(|key| key.0 > weight).unwrap_or(keys.len() - 1).max(1);
        let ((from, a), (to, b)) = (keys[upper - 1], keys[upper]);
        let along = if to > from { (weight - from) / (to - from) } else { 1.0 };
        (a, b, along)
    }

    fn add_key(&self, key: usize, scale: f64, positions: &mut [DVec3]) {
        match key {
            0 => {}
            k if k <= self.in_betweens.len() => {
                let shape = &self.in_betweens[k - 1];
                add_scaled(&shape.vertices, &shape.deltas, scale, positions);
            }
            _ => add_scaled(&self.vertices, &self.deltas, scale, positions),
        }
    }

    /// Vertices and displacements of the target and of its in-betweens.
    fn shapes(&self) -> impl Iterator<Item = (&[u32], &[Vec3])> {
        let between = self.in_betweens.iter().map(|b| (b.vertices.as_slice(), b.deltas.as_slice()));
        std::iter::once((self.vertices.as_slice(), self.deltas.as_slice())).chain(between)
    }
}

fn prune(vertices: &[u32], deltas: &[Vec3], least: f32) -> (Vec<u32>, Vec<Vec3>) {
    vertices.iter().zip(deltas).filter(|(_, delta)| delta.length() >= least).map(|(&v, &d)| (v, d)).unzip()
}

fn add_scaled(vertices: &[u32], deltas: &[Vec3], scale: f64, positions: &mut [DVec3]) {
    for (&vertex, delta) in vertices.iter().zip(deltas) {
        positions[vertex as usize] += delta.as_dvec3() * scale;
    }
}

/// A blendshape rig: a neutral mesh and named targets.
#[derive(Debug, Clone)]
pub struct Rig {
    neutral: Mesh,
    targets: Vec<Target>,
}

impl Rig {
    /// A rig of targets with distinct names that move vertices of `neutral` only.
    ///
    /// Displacements may hold NaN (so that a report can name it); whatever computes calls
    /// [`Rig::require_finite`] first.
    pub fn new(neutral: Mesh, targets: Vec<Target>) -> Result<Self, RigError> {
        let expected = neutral.vertex_count();
        let mut names = HashSet::new();
        for target in &targets {
            if !names.insert(target.name.as_str()) {
                return Err(RigError::DuplicateName { name: target.name.clone() });
            }
            let what = || format!("target '{}'", target.name);
            for (vertices, deltas) in target.shapes() {
                if vertices.len() != deltas.len() {
                    return Err(RigError::VertexCount { what: what(), found: deltas.len(), expected: vertices.len() });
                }
                if let Some(&vertex) = vertices.iter().find(|&&v| v as usize >= expected) {
                    return Err(RigError::VertexCount { what: what(), found: vertex as usize + 1, expected });
                }
            }
        }
        Ok(Self { neutral, targets })
    }

    /// A mesh that no slider moves.
    #[must_use]
    pub fn still(neutral: Mesh) -> Self {
        Self { neutral, targets: Vec::new() }
    }

    /// Declines a rig with NaN or infinite positions or displacements.
    pub fn require_finite(&self) -> Result<(), RigError> {
        self.neutral.require_finite()?;
        for target in &self.targets {
            for (vertices, deltas) in target.shapes() {
                if let Some(k) = deltas.iter().position(|d| !d.is_finite()) {
                    let what = format!("target '{}'", target.name);
                    return Err(RigError::NotFinite { what, vertex: vertices[k] as usize });
                }
            }
        }
        Ok(())
    }

    /// The mesh with all weights zero.
    #[must_use]
    pub fn neutral(&self) -> &Mesh {
        &self.neutral
    }

    /// The targets in file order.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Vertex positions at `weights`, one for each target; missing ones count as zero.
    #[must_use]
    pub fn evaluate(&self, weights: &[f64]) -> Vec<DVec3> {
        let mut positions = self.neutral.positions().to_vec();
        for (target, &weight) in self.targets.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            target.add_to(weight, &mut positions);
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Mesh {
        Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap()
    }

    #[test]
    fn targets_keep_only_what_moves_and_add_up() {
        let lift = Target::from_dense("lift", [Vec3::ZERO, Vec3::Z, Vec3::ZERO]);
        let slide = Target::from_dense("slide", [Vec3::X, Vec3::ZERO, Vec3::X]);
        assert_eq!(lift.vertices, vec![1]);
        let rig = Rig::new(triangle(), vec![lift, slide]).unwrap();
        assert_eq!(rig.evaluate(&[0.5, 2.0]), vec![DVec3::X * 2.0, DVec3::new(1.0, 0.0, 0.5), DVec3::new(2.0, 1.0, 0.0)]);
        assert_eq!(rig.evaluate(&[]), triangle().positions());
    }

    #[test]
    fn pruning_moves_no_vertex_farther_than_its_limit() {
        let target = Target::from_dense("smile", [Vec3::X * 0.001, Vec3::Y, Vec3::Z * 0.01]);
        let pruned = target.pruned(0.01);
        assert_eq!(pruned.vertices, vec![1, 2]);
        let worst = target.to_dense(3).iter().zip(pruned.to_dense(3)).map(|(a, b)| a.distance(b)).fold(0.0, f32::max);
        assert!(worst < 0.01);
    }

    #[test]
    fn a_target_beyond_the_mesh_or_with_a_taken_name_is_declined() {
        let far = Target { name: "far".into(), vertices: vec![7], deltas: vec![Vec3::X], in_betweens: Vec::new() };
        assert!(matches!(Rig::new(triangle(), vec![far]), Err(RigError::VertexCount { found: 8, expected: 3, .. })));
        let twice = vec![Target::from_dense("smile", []), Target::from_dense("smile", [])];
        assert_eq!(Rig::new(triangle(), twice).unwrap_err(), RigError::DuplicateName { name: "smile".into() });
    }

    #[test]
    fn an_in_between_bends_the_path_and_its_outer_segments_go_on() {
        let halfway = InBetween { name: String::new(), weight: 0.5, vertices: vec![2], deltas: vec![Vec3::X] };
        let mut lid = Target::from_dense("lid", [Vec3::ZERO, Vec3::ZERO, Vec3::Z]);
        lid.in_betweens.push(halfway);
        let rig = Rig::new(triangle(), vec![lid]).unwrap();
        let moved = |weight: f64| rig.evaluate(&[weight])[2] - DVec3::Y;
        assert_eq!(moved(0.25), DVec3::X * 0.5);
        assert_eq!(moved(0.5), DVec3::X);
        assert_eq!(moved(0.75), (DVec3::X + DVec3::Z) * 0.5);
        assert_eq!(moved(1.0), DVec3::Z);
        assert_eq!(moved(1.5), DVec3::Z * 2.0 - DVec3::X);
        assert_eq!(moved(-0.5), -DVec3::X);
    }

    #[test]
    fn nan_in_a_target_is_kept_for_the_report_and_declined_on_request() {
        let broken = Target::from_dense("broken", [Vec3::ZERO, Vec3::NAN, Vec3::ZERO]);
        let rig = Rig::new(triangle(), vec![broken]).unwrap();
        assert_eq!(rig.require_finite(), Err(RigError::NotFinite { what: "target 'broken'".into(), vertex: 1 }));
    }
}
