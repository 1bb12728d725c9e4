//! Test fixture: a bar that bends and twists.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::{ControlPoints, Examples};

const RINGS: usize = 25;
const SIDES: usize = 8;

/// A closed tube along x, from −3 to 3.
pub(crate) fn bar() -> Mesh {
    let mut positions = Vec::new();
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let angle = side as f64 / SIDES as f64 * std::f64::consts::TAU;
            positions.push(DVec3::new(
                ring as f64 * 0.25 - 3.0,
                0.5 * angle.cos(),
                0.4 * angle.sin(),
            ));
        }
    }

    let mut polygons = Vec::new();
    for ring in 0..RINGS as u32 - 1 {
        for side in 0..SIDES as u32 {
            let here = ring * 8 + side;
            let next = ring * 8 + (side + 1) % 8;
            polygons.push(vec![here, next, next + 8, here + 8]);
        }
    }

    // Two polygons close the ends.
    polygons.push((0..SIDES as u32).rev().collect());
    polygons.push(
        (0..SIDES as u32)
            .map(|side| (RINGS as u32 - 1) * 8 + side)
            .collect(),
    );

    Mesh::from_polygons(positions, &polygons).unwrap()
}

/// The bar with its right half rotated about z and twisted about x, gradually.
pub(crate) fn bent(bend: f64, twist: f64) -> Vec<DVec3> {
    let bar = bar();
    let place = |p: &DVec3| {
        let along = (p.x + 1.0).clamp(0.0, 2.0) / 2.0;
        let spine = DVec3::new(p.x.min(0.0), 0.0, 0.0);
        let rotation = DMat3::from_rotation_z(bend * along) * DMat3::from_rotation_x(twist * along);
        spine + rotation * (*p - spine)
    };
    bar.positions().iter().map(place).collect()
}

pub(crate) const POSES: [(f64, f64); 6] = [
    (0.5, 0.0),
    (1.0, 0.0),
    (0.0, 0.8),
    (0.6, 0.6),
    (-0.6, 0.3),
    (-0.3, -0.5),
];

pub(crate) fn bar_examples() -> Examples {
    let frames = POSES
        .iter()
        .map(|&(bend, twist)| bent(bend, twist))
        .collect();
    let names = (0..POSES.len()).map(|k| format!("pose {k}")).collect();
    Examples::new(bar(), frames, names).unwrap()
}

/// Three points on every sixth ring.
pub(crate) fn bar_control() -> ControlPoints {
    let vertices: Vec<usize> = (0..RINGS)
        .step_by(6)
        .flat_map(|ring| [0, 3, 6].map(|side| ring * SIDES + side))
        .collect();
    ControlPoints::new(&bar(), &vertices).unwrap()
}
