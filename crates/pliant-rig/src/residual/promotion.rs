//! Promotion of a residual to a target or an in-between of the rig.
//!
//! **Problem.** A residual on top of the pose at weights `w` should become a part of the rig that
//! gives the same pose at `w` again and does not change the neutral.
//!
//! **Equation.** A pose is the neutral plus shapes times coefficients, so a displacement `u` of the
//! pose is the same displacement of the neutral: a shape with the coefficient `c` at `w` is
//! `u / c`. An in-between of a slider at `w_k` is the displacement of the slider there plus `u`,
//! since an in-between replaces the path instead of adding to it.

use pliant_mesh::MeshError;
use pliant_mesh::glam::{DVec3, Vec3};

use super::Residual;
use crate::{InBetween, RigError, Target};

impl Residual {
    /// *Chosen*: a shape promoted at a smaller coefficient would move a thousand times the residual
    /// at weight 1.
    pub const LEAST_COEFFICIENT: f64 = 1e-3;

    /// The vertices and displacements of a shape that adds this residual at the coefficient
    /// `coefficient`; for a combination of sliders the coefficient at the weights of the bind pose.
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

        let displacements = self.vertices.iter().zip(&self.displacements);
        to_f32(displacements.map(|(&v, &d)| (v, d / coefficient)))
    }

    /// A new target that adds this residual at weight `weight`.
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

    /// The target with an in-between at `weight` that adds this residual there, and nothing at 0,
    /// at 1 and at its other in-betweens. An existing in-between at `weight` gets the residual
    /// added and keeps its name.
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
        let is_apart = |key: f64| (weight - key).abs() >= Self::LEAST_COEFFICIENT;
        if !(weight.is_finite() && is_apart(0.0) && is_apart(1.0)) {
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

        // Replace an in-between at the same weight, or insert a new one in order.
        let shapes = &mut target.in_betweens;
        match shapes.iter_mut().find(|shape| shape.weight == weight) {
            Some(shape) => {
                shape.vertices = vertices;
                shape.deltas = deltas;
            }
            None => {
                let in_between = InBetween {
                    name: name.into(),
                    weight,
                    vertices,
                    deltas,
                };
                let index = shapes.partition_point(|shape| shape.weight < weight);
                shapes.insert(index, in_between);
            }
        }

        Ok(target)
    }

    /// The displacement of `target` at `weight` plus this residual.
    fn added_to(&self, target: &Target, weight: f64) -> Result<(Vec<u32>, Vec<Vec3>), RigError> {
        let own = [&target.vertices, &self.vertices].into_iter();
        let lists = own.chain(target.in_betweens.iter().map(|shape| &shape.vertices));
        let count = lists.flatten().max().map_or(0, |&v| v as usize + 1);

        let mut sum = vec![DVec3::ZERO; count];
        target.add_to(weight, &mut sum);
        for (&v, &displacement) in self.vertices.iter().zip(&self.displacements) {
            sum[v as usize] += displacement;
        }

        to_f32((0..).zip(sum))
    }
}

/// The nonzero displacements in the precision of a target.
fn to_f32(moved: impl Iterator<Item = (u32, DVec3)>) -> Result<(Vec<u32>, Vec<Vec3>), RigError> {
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
