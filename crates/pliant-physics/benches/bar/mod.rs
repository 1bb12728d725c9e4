//! Bars of about the sizes of table I of Ma et al. 2012, straight and bent.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_mesh::shapes::closed_box;

/// Cells along and across a bar that has, filled, about as many vertices as man, cat, face, horse
/// and hand of Ma et al. 2012.
pub(crate) const SIZES: [(&str, usize, usize); 5] = [
    ("2.2k", 41, 8),
    ("7.3k", 76, 15),
    ("8.1k", 79, 16),
    ("8.5k", 83, 16),
    ("18.6k", 121, 24),
];
/// Length of a bar.
const LENGTH: f64 = 4.0;

/// A straight bar, and the same bent by a right angle; the end at the origin does not move.
pub(crate) fn pair(along: usize, across: usize) -> [Mesh; 2] {
    let centered = closed_box([along, across, across], DVec3::new(LENGTH, 1.0, 1.0));
    let from_origin = centered
        .positions()
        .iter()
        .map(|p| *p + DVec3::X * (LENGTH / 2.0))
        .collect();

    let straight = centered.posed(from_origin).expect("as many positions");
    let bent = straight
        .posed(straight.positions().iter().map(|p| bend(*p)).collect())
        .expect("as many positions");

    [straight, bent]
}

/// The x axis becomes a quarter of a circle; sections stay plane.
fn bend(point: DVec3) -> DVec3 {
    let radius = LENGTH / std::f64::consts::FRAC_PI_2;
    let angle = point.x / radius;
    let lever = radius - point.z;
    DVec3::new(lever * angle.sin(), point.y, radius - lever * angle.cos())
}
