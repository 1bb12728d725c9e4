//! Bars at about the sizes of table I of the paper, straight and bent.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

/// Cells along and across a bar that has, filled, about as many vertices as the paper's man, cat, face, horse and hand.
pub(crate) const SIZES: [(&str, usize, usize); 5] =
    [("2.2k", 41, 8), ("7.3k", 76, 15), ("8.1k", 79, 16), ("8.5k", 83, 16), ("18.6k", 121, 24)];
/// Length of a bar.
const LENGTH: f64 = 4.0;

/// A straight bar, and the same bent by a right angle; the end at the origin stays.
pub(crate) fn pair(along: usize, across: usize) -> [Mesh; 2] {
    let straight = bar(along, across);
    let bent = straight.posed(straight.positions().iter().map(|p| bend(*p)).collect()).expect("as many positions");
    [straight, bent]
}

/// A closed box around the x axis, one wide and one high.
fn bar(along: usize, across: usize) -> Mesh {
    let cells = [along, across, across];
    let mut index = std::collections::BTreeMap::new();
    let mut positions = Vec::new();
    let mut vertex = |k: [usize; 3]| {
        *index.entry(k).or_insert_with(|| {
            let share = |axis: usize| k[axis] as f64 / cells[axis] as f64;
            positions.push(DVec3::new(LENGTH * share(0), share(1) - 0.5, share(2) - 0.5));
            positions.len() as u32 - 1
        })
    };
    let mut faces = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (side, outward) in [(0, false), (cells[axis], true)] {
            for i in 0..cells[u] {
                for j in 0..cells[v] {
                    let mut corner = |di: usize, dj: usize| {
                        let mut k = [0; 3];
                        (k[axis], k[u], k[v]) = (side, i + di, j + dj);
                        vertex(k)
                    };
                    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    faces.push(if outward { vec![a, b, c, d] } else { vec![a, d, c, b] });
                }
            }
        }
    }
    Mesh::from_polygons(positions, &faces).expect("the bar is sound")
}

/// The x axis becomes a quarter of a circle; sections stay plane.
fn bend(point: DVec3) -> DVec3 {
    let radius = LENGTH / std::f64::consts::FRAC_PI_2;
    let (angle, lever) = (point.x / radius, radius - point.z);
    DVec3::new(lever * angle.sin(), point.y, radius - lever * angle.cos())
}
