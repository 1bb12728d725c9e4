//! Where a prim is: the operations of `xformOpOrder`.
//!
//! **Form.** Operations apply from the last to the first. Matrices are written by rows for row
//! vectors, so that a row here is a column there; angles are degrees; quaternions begin with the
//! real part.

use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};

use super::layer::{Prim, Value};
use super::stage::{Stage, ends, numbers_at};

const RESET: &str = "!resetXformStack!";

fn operations(prim: &Prim) -> &[String] {
    prim.rest("xformOpOrder").map_or(&[], Value::texts)
}

/// From the space of prim `node` to that of the scene, at a time code or at rest.
pub(super) fn scene_from(stage: &Stage<'_>, node: usize, code: Option<f64>) -> DAffine3 {
    let mut whole = DAffine3::IDENTITY;
    for prim in placing(stage, node) {
        whole = local(prim, code) * whole;
    }
    whole
}

/// The prims that place `node`, from the inside out.
fn placing<'a>(stage: &Stage<'a>, node: usize) -> impl Iterator<Item = &'a Prim> {
    let mut reset = false;
    stage
        .upward(node)
        .map(|k| stage.nodes[k].prim)
        .take_while(move |prim| {
            !std::mem::replace(&mut reset, operations(prim).iter().any(|op| op == RESET))
        })
}

/// How many statements are looked at to place `node` once: many operations of many are not a scene.
pub(super) fn cost(stage: &Stage<'_>, node: usize) -> usize {
    placing(stage, node)
        .map(|prim| 12 + operations(prim).len().saturating_mul(prim.properties.len()))
        .sum()
}

/// The first and last time codes of all that places `node`.
pub(super) fn codes(stage: &Stage<'_>, node: usize) -> Vec<f64> {
    let samples = placing(stage, node).flat_map(|prim| {
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
        _ => turns(kind.strip_prefix("rotate")?, vector()?)?,
    })
}

/// Three turns; the axis named first is turned about first.
fn turns(axes: &str, degrees: DVec3) -> Option<DAffine3> {
    let mut whole = DAffine3::IDENTITY;
    for axis in axes.chars() {
        let turn = match axis {
            'X' => DAffine3::from_rotation_x(degrees.x.to_radians()),
            'Y' => DAffine3::from_rotation_y(degrees.y.to_radians()),
            'Z' => DAffine3::from_rotation_z(degrees.z.to_radians()),
            _ => return None,
        };
        whole = turn * whole;
    }
    (axes.len() == 3).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_apply_in_the_order_of_their_names() {
        let turned = operation("rotateXYZ", &[90.0, 0.0, 90.0])
            .unwrap()
            .transform_point3(DVec3::Y);
        // About x the y axis goes to z, which a turn about z leaves alone.
        assert!((turned - DVec3::Z).length() < 1e-15);
        let turned = operation("rotateZYX", &[90.0, 0.0, 90.0])
            .unwrap()
            .transform_point3(DVec3::Y);
        assert!((turned + DVec3::X).length() < 1e-15);
    }

    #[test]
    fn the_last_row_of_a_matrix_moves() {
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
