//! Quality report of a registered scan.

use pliant_mesh::{Mesh, SurfaceIndex, triangle_normal, vertex_normals};

use crate::LearnError;

/// Part of missed vertices above which there is a warning.
const MANY: f64 = 0.1;

/// Mean distance from the registered surface above which there is a warning, relative to the
/// diagonal.
const FAR: f64 = 1e-3;

/// Largest distance from the registered surface above which there is a warning, relative to the
/// diagonal: a finger is 5 % thick.
const FARTHEST: f64 = 0.02;

/// Distances of the vertices of a scan from a surface, relative to the diagonal of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScanDistance {
    /// Mean.
    pub mean: f64,
    /// Maximum.
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

/// Quality of one registered scan. Lengths are relative to the diagonal of the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanReport {
    /// The name of the scan.
    pub name: String,
    /// RMS distance of the markers after the rigid alignment: the deformation.
    pub rigid: f64,
    /// RMS distance of the markers after the registration.
    pub markers: f64,
    /// Distance from the scan to the subdivided base.
    pub before: ScanDistance,
    /// Distance from the scan to the displaced surface.
    pub after: ScanDistance,
    /// Fine vertices whose ray hit no scan.
    pub missed: usize,
    /// Coarse triangles that the registration has flipped: they face against the surface around
    /// them, but not in the reference.
    pub flipped_low: usize,
    /// Fine triangles that the displacement has flipped, compared with the subdivided base.
    pub flipped_high: usize,
}

impl ScanReport {
    /// The name of the first report.
    pub const REFERENCE: &str = "reference";

    /// Warnings, one sentence each; `fine` is the subdivided mesh.
    pub(super) fn warnings(&self, fine: &Mesh) -> Vec<String> {
        let Self { name, missed, .. } = self;
        let mut warnings = Vec::new();
        // Many missed rays indicate wrong markers or flipped faces.
        if *missed as f64 > MANY * fine.vertex_count() as f64 {
            warnings.push(format!(
                "{name}: {missed} of {} fine vertices met no scan; check its markers and the orientation of its faces",
                fine.vertex_count()
            ));
        }

        if self.after.mean > FAR {
            let percent = 100.0 * self.after.mean;
            warnings.push(format!("{name}: the mean distance of the scan is {percent:.2} % of the diagonal; add markers where it moves most"));
        }

        if self.after.max > FARTHEST {
            let percent = 100.0 * self.after.max;
            warnings.push(format!(
                "{name}: the largest distance of the scan is {percent:.1} % of the diagonal; check the pose before training, and add markers there"
            ));
        }

        // Flipped triangles disturb every later step.
        let flipped = self.flipped_low + self.flipped_high;
        if flipped > 0 {
            warnings.push(format!("{name}: {flipped} triangle(s) are flipped; add markers there, or use fewer vertices"));
        }

        warnings
    }
}

/// Whether each triangle faces against the mean of the normals at its corners, as a folded one
/// does.
pub(super) fn folded_triangles(mesh: &Mesh) -> Vec<bool> {
    let normals = vertex_normals(mesh);
    let mut folded = Vec::with_capacity(mesh.triangles().len());
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let around = corners.map(|v| normals[v as usize]).into_iter().sum();
        folded.push(triangle_normal(mesh.triangle_points(t)).dot(around) < 0.0);
    }
    folded
}

/// Triangles that face against their counterparts in `base`.
pub(super) fn flipped_triangles(base: &Mesh, high: &Mesh) -> Vec<usize> {
    let mut flipped = Vec::new();
    for t in 0..base.triangles().len() {
        let before = triangle_normal(base.triangle_points(t));
        if before.dot(triangle_normal(high.triangle_points(t))) < 0.0 {
            flipped.push(t);
        }
    }
    flipped
}
