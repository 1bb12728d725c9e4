//! The triangle that covers each texel of a UV layout, and padding of the UV islands.
//!
//! **Method.** The centre of texel `(x, y)` is at `u = (x + ½) / size`, `v = 1 − (y + ½) / size`. It
//! belongs to the first triangle that covers it. Texels around an island take the value of their
//! nearest covered neighbour, ring by ring.

use glam::DVec2;
use pliant_mesh::Mesh;

use super::BakeOptions;
use crate::ViewError;

/// The owner of a texel that no triangle covers.
pub(super) const NONE: u32 = u32::MAX;

/// The tolerance of rounding for centres on an edge, in barycentric coordinates.
const EDGE_TOLERANCE: f64 = 1e-9;

/// Chosen: triangles overlap if a centre is farther inside both, in barycentric coordinates.
const OVERLAP_MARGIN: f64 = 1e-3;

/// The tolerance of rounding for UVs outside the square.
const SQUARE_TOLERANCE: f64 = 1e-6;

/// The UVs of each triangle, and the triangle of each texel.
#[derive(Debug, Clone)]
pub(super) struct UvLayout {
    pub(super) size: usize,
    /// The UVs of the corners of each triangle; `None` if a corner has none.
    pub(super) uvs: Vec<Option<[DVec2; 3]>>,
    /// For each texel, its triangle.
    pub(super) owners: Vec<u32>,
    /// For each texel, the texel whose value it shows.
    pub(super) sources: Vec<u32>,
    pub(super) warnings: Vec<String>,
}

impl UvLayout {
    pub(super) fn of(mesh: &Mesh, options: &BakeOptions) -> Result<Self, ViewError> {
        let uvs = triangle_uvs(mesh, options.uv_set).ok_or(ViewError::NoUvs)?;
        if uvs.iter().all(Option::is_none) {
            return Err(ViewError::NoUvs);
        }

        let size = options.size;
        let mut layout = Self {
            size,
            uvs,
            owners: vec![NONE; size * size],
            sources: Vec::new(),
            warnings: Vec::new(),
        };

        let overlapping: usize = (0..layout.uvs.len())
            .map(|triangle| layout.cover(triangle))
            .sum();
        if layout.owners.iter().all(|&owner| owner == NONE) {
            return Err(ViewError::UvsOutside);
        }

        layout.sources = layout.padded(options.padding);
        layout.add_warnings(overlapping);
        Ok(layout)
    }

    /// The triangle of a texel and the barycentric coordinates of its centre.
    pub(super) fn at(&self, texel: usize) -> Option<(usize, [f64; 3])> {
        let owner = Some(self.owners[texel]).filter(|&owner| owner != NONE)? as usize;
        let weights = barycentrics(self.uvs[owner]?, self.center(texel))?;
        Some((owner, weights))
    }

    fn center(&self, texel: usize) -> DVec2 {
        let size = self.size as f64;
        DVec2::new(
            ((texel % self.size) as f64 + 0.5) / size,
            1.0 - ((texel / self.size) as f64 + 0.5) / size,
        )
    }

    /// Assigns the free texels of a triangle to it, and returns how many texels it shares with other
    /// triangles.
    fn cover(&mut self, triangle: usize) -> usize {
        let Some(corners) =
            self.uvs[triangle].filter(|corners| corners.iter().all(|uv| uv.is_finite()))
        else {
            return 0;
        };

        let [low, high] = [
            corners[0].min(corners[1]).min(corners[2]),
            corners[0].max(corners[1]).max(corners[2]),
        ];
        // Rows count downwards, and `v` upwards.
        let size = self.size as f64;
        let span = |from: f64, to: f64| {
            (from.floor().clamp(0.0, size) as usize)..(to.ceil().clamp(0.0, size) as usize)
        };

        let mut overlapping = 0;
        for y in span((1.0 - high.y) * size - 0.5, (1.0 - low.y) * size + 0.5) {
            for x in span(low.x * size - 0.5, high.x * size + 0.5) {
                let texel = y * self.size + x;
                let Some(own) = barycentrics(corners, self.center(texel))
                    .filter(|own| least(own) >= -EDGE_TOLERANCE)
                else {
                    continue;
                };

                // A centre on a common edge is inside both triangles and no overlap.
                match self.at(texel) {
                    None => self.owners[texel] = triangle as u32,
                    Some((_, other)) => {
                        overlapping += usize::from(
                            least(&own) > OVERLAP_MARGIN && least(&other) > OVERLAP_MARGIN,
                        )
                    }
                }
            }
        }

        overlapping
    }

    /// For each texel, the covered texel whose value it shows after `rings` steps outwards; itself if
    /// none is near.
    fn padded(&self, rings: usize) -> Vec<u32> {
        let mut sources: Vec<u32> = (0..self.owners.len() as u32).collect();
        let mut known: Vec<bool> = self.owners.iter().map(|&owner| owner != NONE).collect();
        let mut border: Vec<usize> = (0..known.len())
            .filter(|&texel| !known[texel] && self.neighbor(texel, &known).is_some())
            .collect();

        // Each ring takes values only from the rings before, so that the order does not matter.
        for _ in 0..rings {
            let found: Vec<(usize, u32)> = border
                .iter()
                .filter_map(|&t| Some((t, sources[self.neighbor(t, &known)?])))
                .collect();

            for &(texel, source) in &found {
                sources[texel] = source;
                known[texel] = true;
            }

            border = found
                .iter()
                .flat_map(|&(texel, _)| self.around(texel))
                .filter(|&texel| !known[texel])
                .collect();
            border.sort_unstable();
            border.dedup();
        }

        sources
    }

    /// The first known texel around a texel.
    fn neighbor(&self, texel: usize, known: &[bool]) -> Option<usize> {
        self.around(texel).find(|&other| known[other])
    }

    /// The texels around a texel, those that share a side first.
    fn around(&self, texel: usize) -> impl Iterator<Item = usize> {
        const STEPS: [(isize, isize); 8] = [
            (-1, 0),
            (1, 0),
            (0, -1),
            (0, 1),
            (-1, -1),
            (1, -1),
            (-1, 1),
            (1, 1),
        ];

        let (size, x, y) = (self.size, texel % self.size, texel / self.size);
        STEPS.into_iter().filter_map(move |(dx, dy)| {
            let (x, y) = (x.checked_add_signed(dx)?, y.checked_add_signed(dy)?);
            (x < size && y < size).then_some(y * size + x)
        })
    }

    fn add_warnings(&mut self, overlapping: usize) {
        let beyond = |uv: &DVec2| {
            uv.min_element() < -SQUARE_TOLERANCE
                || uv.max_element() > 1.0 + SQUARE_TOLERANCE
                || !uv.is_finite()
        };
        let outside = self
            .uvs
            .iter()
            .flatten()
            .filter(|corners| corners.iter().any(beyond))
            .count();

        let without = self.uvs.iter().filter(|corners| corners.is_none()).count();
        for (count, what) in [
            (
                outside,
                "triangles extend beyond the UV square; the part outside was not baked",
            ),
            (without, "triangles have no UVs and were not baked"),
            (
                overlapping,
                "texels lie in several triangles; the first was baked",
            ),
        ] {
            if count > 0 {
                self.warnings.push(format!("{count} {what}"));
            }
        }
    }
}

fn triangle_uvs(mesh: &Mesh, set: usize) -> Option<Vec<Option<[DVec2; 3]>>> {
    let layer = mesh.uv_layers().get(set)?;
    let value = |corner: usize| layer.corners[corner].map(|k| layer.values[k as usize]);
    let faces = (0..mesh.face_count()).map(|face| mesh.face_corners(face));
    // The fan triangulation of the faces, as in `Mesh::triangles`.
    let corners = faces
        .flat_map(|range| (range.start + 1..range.end - 1).map(move |k| [range.start, k, k + 1]));

    Some(
        corners
            .map(|[a, b, c]| Some([value(a)?, value(b)?, value(c)?]))
            .collect(),
    )
}

/// The barycentric coordinates of a point; `None` for a triangle without area.
fn barycentrics([a, b, c]: [DVec2; 3], point: DVec2) -> Option<[f64; 3]> {
    let area = (b - a).perp_dot(c - a);
    let weights = [
        (b - point).perp_dot(c - point) / area,
        (c - point).perp_dot(a - point) / area,
    ];
    let third = 1.0 - weights[0] - weights[1];
    (area != 0.0 && third.is_finite()).then_some([weights[0], weights[1], third])
}

fn least(weights: &[f64; 3]) -> f64 {
    weights[0].min(weights[1]).min(weights[2])
}
