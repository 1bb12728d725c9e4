//! How well a scan was registered.

use pliant_mesh::{Mesh, SurfaceIndex, triangle_normal, vertex_normals};

use crate::LearnError;

/// More misses than this part of the vertices are told.
const MANY: f64 = 0.1;

/// A scan farther than this part of the diagonal from its registered surface, on average, is told.
const FAR: f64 = 1e-3;

/// A scan farther than this part of the diagonal from its registered surface at any place is told:
/// a finger is 5 % thick.
const FARTHEST: f64 = 0.02;

/// How far the vertices of a scan are from a surface, over the diagonal of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScanDistance {
    /// On average.
    pub mean: f64,
    /// At most.
    pub max: f64,
}

impl ScanDistance {
    /// From each vertex of `scan` on a face to the closest point of `surface`.
    pub(super) fn of(scan: &Mesh, surface: &Mesh, diagonal: f64) -> Result<Self, LearnError> {
        let used = (0..scan.vertex_count())
            .filter(|&v| !scan.topology().vertex_triangles().row(v).is_empty());
        let queries: Vec<_> = used.map(|v| scan.positions()[v]).collect();
        let closest = SurfaceIndex::new(surface)?.closest_points(&queries)?;
        let sum: f64 = closest.iter().map(|point| point.distance).sum();
        let max = closest
            .iter()
            .map(|point| point.distance)
            .fold(0.0, f64::max);
        Ok(Self {
            mean: sum / queries.len().max(1) as f64 / diagonal,
            max: max / diagonal,
        })
    }
}

/// Distances of markers, root mean square over the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Fit {
    pub(super) rigid: f64,
    pub(super) markers: f64,
}

/// How well one scan was registered. Lengths are over the diagonal of the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanReport {
    /// The name of the scan.
    pub name: String,
    /// How far markers are apart after the rigid alignment (root mean square): what has deformed.
    pub rigid: f64,
    /// How far markers are apart after the deformation.
    pub markers: f64,
    /// From the scan to the subdivided base.
    pub before: ScanDistance,
    /// From the scan to the displaced surface.
    pub after: ScanDistance,
    /// Fine vertices whose ray met no scan.
    pub missed: usize,
    /// Coarse triangles that the deformation has turned over: against the surface around them, and
    /// not so in the reference.
    pub flipped_low: usize,
    /// Fine triangles that the displacement has turned over: against the subdivided base.
    pub flipped_high: usize,
}

impl ScanReport {
    /// The name of the first report.
    pub const REFERENCE: &str = "reference";

    /// What is doubtful, in a sentence each; `fine` is the subdivided mesh.
    pub(super) fn problems(&self, fine: &Mesh) -> Vec<String> {
        let Self { name, missed, .. } = self;
        let mut problems = Vec::new();
        if *missed as f64 > MANY * fine.vertex_count() as f64 {
            problems.push(format!(
                "{name}: {missed} of {} fine vertices met no scan; check its markers and the way its faces wind",
                fine.vertex_count()
            ));
        }
        if self.after.mean > FAR {
            let percent = 100.0 * self.after.mean;
            problems.push(format!("{name}: the scan lies {percent:.2} % of the diagonal off on average; add markers where it moves most"));
        }
        if self.after.max > FARTHEST {
            let percent = 100.0 * self.after.max;
            problems.push(format!(
                "{name}: at its worst place the scan lies {percent:.1} % of the diagonal off; look at it before learning from it, and add markers there"
            ));
        }
        let flipped = self.flipped_low + self.flipped_high;
        if flipped > 0 {
            problems.push(format!("{name}: {flipped} triangle(s) are turned over; add markers there, or ask for fewer vertices"));
        }
        problems
    }
}

/// Whether each triangle faces against the mean of the normals at its corners, as one that is
/// turned over does.
pub(super) fn folded_triangles(mesh: &Mesh) -> Vec<bool> {
    let normals = vertex_normals(mesh);
    let against = |t: usize| {
        let around = mesh.triangles()[t]
            .map(|v| normals[v as usize])
            .into_iter()
            .sum();
        triangle_normal(mesh.triangle_points(t)).dot(around) < 0.0
    };
    (0..mesh.triangles().len()).map(against).collect()
}

/// Triangles that face against their counterparts in `base`.
pub(super) fn turned_triangles(base: &Mesh, high: &Mesh) -> Vec<usize> {
    let turned = |t: &usize| {
        triangle_normal(base.triangle_points(*t)).dot(triangle_normal(high.triangle_points(*t)))
            < 0.0
    };
    (0..base.triangles().len()).filter(turned).collect()
}
