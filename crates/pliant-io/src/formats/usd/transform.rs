//! The transform of a USD prim: the operations of `xformOpOrder`.
//!
//! **Format.** Operations apply from the last to the first. Matrices are stored by rows for row
//! vectors, so that a row of the file is a column of ours; angles are in degrees; quaternions begin
//! with the real part.

use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};

use super::layer::{Prim, Value};
use super::stage::{Stage, ends, numbers_at};

const RESET: &str = "!resetXformStack!";

fn operations(prim: &Prim) -> &[String] {
    prim.rest("xformOpOrder").map_or(&[], Value::texts)
}

/// The transformation from prim `node` to the scene, at a time code or at rest.
pub(super) fn scene_from(stage: &Stage<'_>, node: usize, code: Option<f64>) -> DAffine3 {
    let mut whole = DAffine3::IDENTITY;
    for prim in transforming_prims(stage, node) {
        whole = local(prim, code) * whole;
    }
    whole
}

/// The prims whose transforms apply to `node`, from the prim to the root.
fn transforming_prims<'a>(stage: &Stage<'a>, node: usize) -> impl Iterator<Item = &'a Prim> {
    let mut reset = false;
    stage
        .ancestors(node)
        .map(|k| stage.nodes[k].prim)
        .take_while(move |prim| {
            !std::mem::replace(&mut reset, operations(prim).iter().any(|op| op == RESET))
        })
}

/// How many statements are evaluated for one transform of `node`. A damaged file may ask for very
/// many.
pub(super) fn cost(stage: &Stage<'_>, node: usize) -> usize {
    transforming_prims(stage, node)
        .map(|prim| 12 + operations(prim).len().saturating_mul(prim.properties.len()))
        .sum()
}

/// The first and last time codes of every animated operation that applies to `node`.
pub(super) fn codes(stage: &Stage<'_>, node: usize) -> Vec<f64> {
    let samples = transforming_prims(stage, node).flat_map(|prim| {
        operations(prim)
            .iter()
            .filter_map(|op| prim.samples(op.trim_start_matches("!invert!")))
    });
    samples.flat_map(ends).collect()
}

fn local(prim: &Prim, code: Option<f64>) -> DAffine3 {
    let steps = operations(prim)
        .iter()
        .filter(|op| *op != RESET)
        .filter_map(|op| {
            let name = op.trim_start_matches("!invert!");
            let step = operation(name.split(':').nth(1)?, &numbers_at(prim, name, code)?)?;
            Some(if name.len() < op.len() {
                step.inverse()
            } else {
                step
            })
        });
    steps.fold(DAffine3::IDENTITY, |whole, step| whole * step)
}

fn operation(kind: &str, values: &[f64]) -> Option<DAffine3> {
    let vector = || values.get(..3).map(DVec3::from_slice);
    let angle = || values.first().map(|degrees| degrees.to_radians());
    Some(match kind {
        "translate" => DAffine3::from_translation(vector()?),
        "scale" => DAffine3::from_scale(vector()?),
        "translateX" => DAffine3::from_translation(DVec3::X * *values.first()?),
        "translateY" => DAffine3::from_translation(DVec3::Y * *values.first()?),
        "translateZ" => DAffine3::from_translation(DVec3::Z * *values.first()?),
        "rotateX" => DAffine3::from_rotation_x(angle()?),
        "rotateY" => DAffine3::from_rotation_y(angle()?),
        "rotateZ" => DAffine3::from_rotation_z(angle()?),
        "orient" => {
            let [w, x, y, z] = values.get(..4)?.try_into().ok()?;
            DAffine3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
        }
        "transform" => {
            DAffine3::from_mat4(DMat4::from_cols_array(values.get(..16)?.try_into().ok()?))
        }
        _ => euler_rotation(kind.strip_prefix("rotate")?, vector()?)?,
    })
}

/// Three rotations about axes; the rotation about the first axis applies first.
fn euler_rotation(axes: &str, degrees: DVec3) -> Option<DAffine3> {
    let mut whole = DAffine3::IDENTITY;
    for axis in axes.chars() {
        let rotation = match axis {
            'X' => DAffine3::from_rotation_x(degrees.x.to_radians()),
            'Y' => DAffine3::from_rotation_y(degrees.y.to_radians()),
            'Z' => DAffine3::from_rotation_z(degrees.z.to_radians()),
            _ => return None,
        };
        whole = rotation * whole;
    }

    (axes.len() == 3).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_apply_in_the_order_of_their_axes() {
        let rotated = operation("rotateXYZ", &[90.0, 0.0, 90.0])
            .unwrap()
            .transform_point3(DVec3::Y);
        // The rotation about x takes y to z, which the rotation about z keeps.
        assert!((rotated - DVec3::Z).length() < 1e-15);
        let rotated = operation("rotateZYX", &[90.0, 0.0, 90.0])
            .unwrap()
            .transform_point3(DVec3::Y);
        assert!((rotated + DVec3::X).length() < 1e-15);
    }

    #[test]
    fn the_last_row_of_a_matrix_is_the_translation() {
        let mut rows = [
            1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
        ];
        rows[12..15].copy_from_slice(&[1.0, 2.0, 3.0]);

        assert_eq!(
            operation("transform", &rows).unwrap().translation,
            DVec3::new(1.0, 2.0, 3.0)
        );

        assert_eq!(
            operation("orient", &[0.0, 1.0, 0.0, 0.0])
                .unwrap()
                .transform_point3(DVec3::Y),
            -DVec3::Y
        );

        assert!(operation("shear", &[1.0]).is_none() && operation("transform", &[1.0]).is_none());
    }
}
