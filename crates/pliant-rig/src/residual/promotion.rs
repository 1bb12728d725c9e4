//! From a residual layer to shapes of the rig.
//!
//! **Problem.** A sculpt made on top of the pose at weights `w` should become a part of the rig
//! that gives the sculpted pose at `w` again and leaves the neutral alone.
//!
//! **Equation.** A rig's pose is the neutral plus shapes times coefficients, so a displacement `u`
//! of the pose is the same displacement of the neutral: a shape that comes in with coefficient `c`
//! at `w` is `u / c`. As an in-between of a slider at `w_k` it is the slider's own displacement
//! there plus `u`, since an in-between replaces the path instead of adding to it.

use pliant_mesh::MeshError;
use pliant_mesh::glam::{DVec3, Vec3};

use super::Residual;
use crate::{InBetween, RigError, Target};

impl Residual {
    /// *Ours*: a shape promoted at a smaller coefficient would move a thousand times the sculpt at
    /// full weight.
    pub const LEAST_COEFFICIENT: f64 = 1e-3;

    /// The shape that adds this layer when the rig gives it the coefficient `coefficient`, as
    /// vertices and displacements: for a combination of sliders the product of their weights
    /// where the layer was made.
    ///
    /// # Errors
    /// [`MeshError::BadNumber`] if the coefficient is nearer to zero than
    /// [`LEAST_COEFFICIENT`](Self::LEAST_COEFFICIENT), [`RigError::NotFinite`] if a
    /// displacement is beyond `f32`.
    pub fn displacements_for_coefficient(
        &self,
        coefficient: f64,
    ) -> Result<(Vec<u32>, Vec<Vec3>), RigError> {
        if !(coefficient.abs() >= Self::LEAST_COEFFICIENT && coefficient.is_finite()) {
            let needed = "at least 0.001 away from zero; sculpt where the drivers are higher";
            return Err(MeshError::BadNumber {
                what: "the coefficient of the new shape",
                value: coefficient,
                needed,
            }
            .into());
        }
        let moved = self
            .vertices
            .iter()
            .zip(&self.displacements)
            .map(|(&v, &d)| (v, d / coefficient));
        narrowed(moved)
    }

    /// A new slider that adds this layer at weight `weight`.
    ///
    /// # Errors
    /// As [`displacements_for_coefficient`](Self::displacements_for_coefficient).
    pub fn to_target(&self, name: impl Into<String>, weight: f64) -> Result<Target, RigError> {
        let (vertices, deltas) = self.displacements_for_coefficient(weight)?;
        Ok(Target {
            name: name.into(),
            vertices,
            deltas,
            in_betweens: Vec::new(),
        })
    }

    /// The target with an in-between at `weight` that adds this layer there, and nothing at 0, at 1
    /// and at its other in-betweens. One that is already at `weight` takes the layer up and
    /// keeps its name.
    ///
    /// # Errors
    /// [`MeshError::BadNumber`] if the weight is nearer to 0 or 1 than
    /// [`LEAST_COEFFICIENT`](Self::LEAST_COEFFICIENT): the neutral and the target are there.
    /// [`RigError::NotFinite`] if a displacement is beyond `f32`.
    pub fn to_in_between(
        &self,
        target: &Target,
        name: impl Into<String>,
        weight: f64,
    ) -> Result<Target, RigError> {
        let apart = |key: f64| (weight - key).abs() >= Self::LEAST_COEFFICIENT;
        if !(weight.is_finite() && apart(0.0) && apart(1.0)) {
            let needed = "at least 0.001 away from 0 and 1, where the neutral and the target are; make a new target instead";
            return Err(MeshError::BadNumber {
                what: "the weight of the new in-between",
                value: weight,
                needed,
            }
            .into());
        }
        let (vertices, deltas) = self.added_to(target, weight)?;
        let mut target = target.clone();
        match target
            .in_betweens
            .iter_mut()
            .find(|shape| shape.weight == weight)
        {
            Some(shape) => (shape.vertices, shape.deltas) = (vertices, deltas),
            None => {
                let place = target
                    .in_betweens
                    .partition_point(|shape| shape.weight < weight);
                target.in_betweens.insert(
                    place,
                    InBetween {
                        name: name.into(),
                        weight,
                        vertices,
                        deltas,
                    },
                );
            }
        }
        Ok(target)
    }

    /// The displacement of `target` at `weight` with this layer on top.
    fn added_to(&self, target: &Target, weight: f64) -> Result<(Vec<u32>, Vec<Vec3>), RigError> {
        let shapes = target
            .in_betweens
            .iter()
            .map(|shape| &shape.vertices)
            .chain([&target.vertices, &self.vertices]);
        let count = shapes
            .filter_map(|vertices| vertices.iter().max())
            .max()
            .map_or(0, |&v| v as usize + 1);
        let mut sum = vec![DVec3::ZERO; count];
        target.add_to(weight, &mut sum);
        self.vertices
            .iter()
            .zip(&self.displacements)
            .for_each(|(&v, &d)| sum[v as usize] += d);
        narrowed(sum.into_iter().enumerate().map(|(v, d)| (v as u32, d)))
    }
}

/// What moves, in the precision of a target.
fn narrowed(moved: impl Iterator<Item = (u32, DVec3)>) -> Result<(Vec<u32>, Vec<Vec3>), RigError> {
    let (vertices, deltas): (Vec<u32>, Vec<Vec3>) = moved
        .map(|(v, d)| (v, d.as_vec3()))
        .filter(|(_, d)| *d != Vec3::ZERO)
        .unzip();
    match deltas.iter().position(|d| !d.is_finite()) {
        Some(k) => Err(RigError::NotFinite {
            what: "the promoted layer".into(),
            vertex: vertices[k] as usize,
        }),
        None => Ok((vertices, deltas)),
    }
}
