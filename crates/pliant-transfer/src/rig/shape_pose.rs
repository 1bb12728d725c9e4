//! Poses that show the shapes of a rig: targets, in-betweens and combinations.
//!
//! **Method.** A target is shown by the neutral with the target at weight one, an in-between at its
//! key, and a combination with all its drivers at one. Shapes that are already transferred are
//! subtracted from the pose of a combination.

use pliant_rig::Rig;

/// A pose that shows one shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShapePose {
    /// The index of the shape, in the order of [`pliant_rig::Activation`].
    pub(super) shape: usize,
    pub(super) name: String,
    /// The coefficients of the shapes in the pose, by their indices.
    pub(super) coefficients: Vec<(usize, f64)>,
    /// The weight of an in-between. Its target is the last pose before it that is no in-between.
    pub(super) in_between: Option<f64>,
}

/// The poses of all shapes: each target with its in-betweens, then combinations from few drivers to
/// many.
pub(super) fn shape_poses(rig: &Rig) -> Vec<ShapePose> {
    let mut poses = Vec::new();
    for target in rig.targets() {
        push_single(&mut poses, target.name.clone(), None);
        for key in &target.in_betweens {
            let name = format!("{} at {}", target.name, key.weight);
            push_single(&mut poses, name, Some(key.weight));
        }
    }

    // A combination contains those of fewer drivers, which must come first.
    let first = poses.len();
    let mut order: Vec<usize> = (0..rig.combinations().len()).collect();
    order.sort_by_key(|&c| rig.drivers_of(c).len());
    for c in order {
        let pose = combination_pose(rig, &poses, first, c);
        poses.push(pose);
    }
    poses
}

fn push_single(poses: &mut Vec<ShapePose>, name: String, in_between: Option<f64>) {
    let shape = poses.len();
    poses.push(ShapePose {
        shape,
        name,
        coefficients: vec![(shape, 1.0)],
        in_between,
    });
}

/// The pose of combination `c` with all drivers at one, of itself and the shapes of `earlier` poses.
fn combination_pose(rig: &Rig, earlier: &[ShapePose], first: usize, c: usize) -> ShapePose {
    let mut weights = vec![0.0; rig.targets().len()];
    for slider in rig.drivers_of(c) {
        weights[slider.index()] = 1.0;
    }

    // A combination of more drivers contains those of fewer, if they are transferred already.
    let mut coefficients = Vec::new();
    for (shape, &value) in rig.activation().coefficients(&weights).iter().enumerate() {
        let is_known = shape == first + c || earlier.iter().any(|pose| pose.shape == shape);
        if value != 0.0 && is_known {
            coefficients.push((shape, value));
        }
    }
    ShapePose {
        shape: first + c,
        name: rig.combinations()[c].name.clone(),
        coefficients,
        in_between: None,
    }
}
