//! Transformations as translation, Euler angles and scale.
//!
//! **Equation.** `M = T R_z R_y R_x S`, with angles in degrees: the order of nodes without an order
//! of their own.

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};

use super::node::{Node, property, vector_property};

/// A transformation of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transform {
    pub(super) translation: DVec3,
    /// Angles about x, y and z, in degrees.
    pub(super) rotation_degrees: DVec3,
    pub(super) scale: DVec3,
}

impl Transform {
    pub(super) const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation_degrees: DVec3::ZERO,
        scale: DVec3::ONE,
    };

    /// The parts of a matrix; shear is lost.
    pub(super) fn of(matrix: &DAffine3) -> Self {
        let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
        let axes = DMat3::from_quat(rotation);
        let usable = axes.is_finite();
        Self {
            translation,
            rotation_degrees: if usable {
                euler_degrees(&axes)
            } else {
                DVec3::ZERO
            },
            scale,
        }
    }

    /// The parts of a matrix, with the angles nearest to those of the frame before.
    pub(super) fn following(matrix: &DAffine3, before: Option<&Self>) -> Self {
        let mut own = Self::of(matrix);
        if let Some(before) = before {
            let target = before.rotation_degrees;
            let [x, y, z] = own.rotation_degrees.to_array();
            let other = DVec3::new(x + 180.0, 180.0 - y, z + 180.0);
            let nearest = |angles: DVec3| angles + ((target - angles) / 360.0).round() * 360.0;
            let choices = [nearest(own.rotation_degrees), nearest(other)];
            let [first, second] = choices.map(|angles| angles.distance_squared(target));
            own.rotation_degrees = choices[usize::from(second < first)];
        }
        own
    }

    /// The matrix of the parts.
    pub(super) fn matrix(&self) -> DAffine3 {
        let [x, y, z] = self.rotation_degrees.to_array().map(f64::to_radians);
        let rotation = DMat3::from_rotation_z(z) * DMat3::from_rotation_y(y);
        let rotation = rotation * DMat3::from_rotation_x(x);
        let matrix = rotation * DMat3::from_diagonal(self.scale);
        DAffine3::from_mat3_translation(matrix, self.translation)
    }

    /// The nine numbers in the order of their curves.
    pub(super) fn parts(&self) -> [DVec3; 3] {
        [self.translation, self.rotation_degrees, self.scale]
    }

    /// The properties of a node. Scales of parents apply to the axes of their children.
    pub(super) fn properties(&self) -> Vec<Node> {
        let lists = self.parts().map(|v| v.to_array());
        let mut nodes = vec![property("InheritType", "enum", "", "").value(1)];
        for (name, value) in PART_NAMES.into_iter().zip(lists) {
            nodes.push(vector_property(name, name, value));
        }
        nodes
    }
}

/// The properties of translation, rotation and scale.
pub(super) const PART_NAMES: [&str; 3] = ["Lcl Translation", "Lcl Rotation", "Lcl Scaling"];

fn euler_degrees(m: &DMat3) -> DVec3 {
    let cos_y = m.x_axis.x.hypot(m.x_axis.y);
    let y = (-m.x_axis.z).atan2(cos_y);
    let (x, z) = if cos_y > 1e-12 {
        (m.y_axis.z.atan2(m.z_axis.z), m.x_axis.y.atan2(m.x_axis.x))
    } else {
        // At ±90° about y, only the sum of the other angles matters.
        ((-m.z_axis.y).atan2(m.y_axis.y), 0.0)
    };
    DVec3::new(x, y, z).map(f64::to_degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_matrix_give_the_matrix() {
        for angles in [
            DVec3::ZERO,
            DVec3::new(30.0, -50.0, 170.0),
            DVec3::new(-120.0, 90.0, 40.0),
            DVec3::new(10.0, -90.0, 0.0),
        ] {
            let whole = Transform {
                translation: DVec3::new(1.0, 2.0, 3.0),
                rotation_degrees: angles,
                scale: DVec3::new(2.0, 0.5, -1.0),
            }
            .matrix();
            assert!(
                Transform::of(&whole).matrix().abs_diff_eq(whole, 1e-12),
                "{angles}"
            );
        }
    }

    #[test]
    fn angles_follow_those_of_the_frame_before() {
        let mut before = Transform::IDENTITY;
        for step in 1..=40 {
            let turned = DAffine3::from_rotation_y(f64::from(step) * 0.5);
            let next = Transform::following(&turned, Some(&before));
            let change = next.rotation_degrees - before.rotation_degrees;
            assert!(change.length() < 29.0, "{change} at step {step}");
            before = next;
        }
    }
}
