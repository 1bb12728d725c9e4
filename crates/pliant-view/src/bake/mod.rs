//! Baking of displacement and normal maps: the detail between two surfaces of one mesh.
//!
//! **Problem.** An engine moves a base surface and shades it like the detailed one. For each texel, it
//! needs the height of the detailed surface above the base, and its normal.
//!
//! **Equation.** With base and detailed positions `b`, `d` of the same vertices, smooth base
//! normals `n` and detailed normals `m`, and everything interpolated in the triangle that covers
//! the texel:
//!
//! ```text
//! h = n · (d − b)                       displacement = (h − offset) / scale · 65535
//! t = [T B N]⁻¹ m / |…|                 normal = (t + 1) / 2 · 255
//! ```
//!
//! **Source.** Cohen, Olano, Manocha, "Appearance-preserving simplification", 1998, for normals in
//! a texture; Mikkelsen, "Simulation of wrinkled surfaces revisited", 2008, for the frame: `T` and
//! `N` are interpolated without being made unit, and `B = ± N × T`.
//!
//! **Departures.** Red is the direction of growing `u`, green that of growing `v` (up in the picture:
//! +Y, as in glTF), blue that of the normal. Tangents of triangles are weighted by area, which needs
//! no trigonometry. A height cannot store displacement along the surface; its greatest length is
//! returned. The layout is computed once for all frames, and one range of heights serves all of
//! them.
//!
//! | module | concept |
//! |---|---|
//! | `uv_layout` | the triangle that covers each texel |
//! | `tangent_frames` | tangents, bitangents and normals |

mod tangent_frames;
#[cfg(test)]
mod tests;
mod uv_layout;

use glam::{DMat3, DVec3};
use pliant_linalg::parallel;
use pliant_mesh::{Mesh, vertex_normals_into};

use self::tangent_frames::Tangents;
use self::uv_layout::{NONE, UvLayout};
use crate::ViewError;
use crate::image::check_size;

/// Texels in one parallel task.
const TEXELS_PER_TASK: usize = 4096;

/// Options of baking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BakeOptions {
    /// Texels along a side.
    pub size: usize,
    /// How many texels the border of each UV island is extended outwards.
    pub padding: usize,
    /// The index of the UV set.
    pub uv_set: usize,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            size: Self::DEFAULT_SIZE,
            padding: Self::DEFAULT_PADDING,
            uv_set: 0,
        }
    }
}

impl BakeOptions {
    /// Chosen: enough for the wrinkles of a face.
    pub const DEFAULT_SIZE: usize = 1024;
    /// Chosen: four mipmap levels do not mix neighbouring islands.
    pub const DEFAULT_PADDING: usize = 16;

    /// Texels along a side. Default: [`DEFAULT_SIZE`](Self::DEFAULT_SIZE).
    #[must_use]
    pub fn with_size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// How many texels borders are extended outwards. Default:
    /// [`DEFAULT_PADDING`](Self::DEFAULT_PADDING).
    #[must_use]
    pub fn with_padding(self, padding: usize) -> Self {
        Self { padding, ..self }
    }
}

/// The UV layout of a mesh, prepared to bake any number of poses.
#[derive(Debug, Clone)]
pub struct Baker {
    mesh: Mesh,
    layout: UvLayout,
}

/// The range of heights that 16 bits encode; it always contains zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeightRange {
    /// The height of black.
    pub least: f64,
    /// The height of white.
    pub most: f64,
}

impl HeightRange {
    /// The range extended to contain `heights`.
    #[must_use]
    pub fn with(self, heights: &[f64]) -> Self {
        heights.iter().fold(self, |range, &h| Self {
            least: range.least.min(h),
            most: range.most.max(h),
        })
    }

    /// The height of white above black.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.most - self.least
    }

    /// The number that encodes a height.
    #[must_use]
    pub fn encode(&self, height: f64) -> u16 {
        if self.scale() > 0.0 {
            ((height - self.least) / self.scale() * f64::from(u16::MAX)).round() as u16
        } else {
            0
        }
    }

    /// The height that a number encodes.
    #[must_use]
    pub fn decode(&self, value: u16) -> f64 {
        self.least + f64::from(value) / f64::from(u16::MAX) * self.scale()
    }
}

/// The maps of one pose, row by row from the top left, where `u` is 0 and `v` is 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetailMaps {
    /// Texels along a side.
    pub size: usize,
    /// Heights along the base normal, in the [`HeightRange`] they were baked for.
    pub displacement: Vec<u16>,
    /// Normals of the detailed surface in the frames of the base.
    pub normals: Vec<[u8; 3]>,
}

impl Baker {
    /// Computes which triangle covers each texel.
    pub fn new(mesh: &Mesh, options: &BakeOptions) -> Result<Self, ViewError> {
        check_size([options.size; 2])?;
        let layout = UvLayout::of(mesh, options)?;
        Ok(Self {
            mesh: mesh.clone(),
            layout,
        })
    }

    /// The fraction of the texels that triangles cover.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        let covered = self
            .layout
            .owners
            .iter()
            .filter(|&&owner| owner != NONE)
            .count();
        covered as f64 / self.layout.owners.len() as f64
    }

    /// Warnings about the layout, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.layout.warnings
    }

    /// The height of `detailed` above `base` at each vertex, and the greatest displacement along the
    /// surface.
    pub fn heights(
        &self,
        base: &[DVec3],
        detailed: &[DVec3],
    ) -> Result<(Vec<f64>, f64), ViewError> {
        self.check(base, detailed)?;
        let normals = self.normals(base);
        let mut heights = Vec::with_capacity(base.len());
        let mut greatest_tangential = 0.0_f64;
        for v in 0..base.len() {
            let displacement = detailed[v] - base[v];
            let height = displacement.dot(normals[v]);
            let tangential = (displacement - normals[v] * height).length();
            greatest_tangential = greatest_tangential.max(tangential);
            heights.push(height);
        }

        Ok((heights, greatest_tangential))
    }

    /// The maps of a pose; heights outside `range` are clamped.
    pub fn bake(
        &self,
        base: &[DVec3],
        detailed: &[DVec3],
        range: &HeightRange,
    ) -> Result<DetailMaps, ViewError> {
        let (heights, _) = self.heights(base, detailed)?;
        let base_normals = self.normals(base);
        let pose = BakedPose {
            tangents: Tangents::of(&self.mesh, &self.layout, base, &base_normals),
            heights,
            base_normals,
            detailed_normals: self.normals(detailed),
        };

        let texels = parallel::map(self.layout.owners.len(), TEXELS_PER_TASK, |texel| {
            self.texel(texel, &pose, range)
        });

        // A texel outside all islands shows the nearest covered one.
        let padded = self.layout.sources.iter();
        let (displacement, normals) = padded.map(|&source| texels[source as usize]).unzip();
        Ok(DetailMaps {
            size: self.layout.size,
            displacement,
            normals,
        })
    }

    /// The encoded height and normal of a texel; flat if no triangle covers it.
    fn texel(&self, texel: usize, pose: &BakedPose, range: &HeightRange) -> (u16, [u8; 3]) {
        let Some((triangle, weights)) = self.layout.at(texel) else {
            return (range.encode(0.0), encode_normal(DVec3::Z));
        };

        let corners = self.mesh.triangles()[triangle].map(|v| v as usize);
        let weighted = || corners.iter().zip(weights);
        let height = weighted().map(|(&v, w)| pose.heights[v] * w).sum::<f64>();
        let interpolated =
            |normals: &[DVec3]| weighted().map(|(&v, w)| normals[v] * w).sum::<DVec3>();

        let frame = pose
            .tangents
            .frame(triangle, weights, interpolated(&pose.base_normals));
        let normal = frame.and_then(|frame| local(frame, interpolated(&pose.detailed_normals)));
        let normal = normal.unwrap_or(DVec3::Z);

        (range.encode(height), encode_normal(normal))
    }

    fn normals(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; positions.len()];
        vertex_normals_into(
            self.mesh.topology(),
            self.mesh.triangles(),
            positions,
            &mut normals,
        );
        normals
    }

    fn check(&self, base: &[DVec3], detailed: &[DVec3]) -> Result<(), ViewError> {
        let expected = self.mesh.vertex_count();
        // Both surfaces must be poses of the mesh.
        for (what, positions) in [
            ("the base surface", base),
            ("the detailed surface", detailed),
        ] {
            if positions.len() != expected {
                return Err(ViewError::Count {
                    what,
                    mesh: 0,
                    found: positions.len(),
                    expected,
                });
            }
            if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
                return Err(ViewError::NotFinite { what, vertex });
            }
        }

        Ok(())
    }
}

/// What the texels of one pose need.
struct BakedPose {
    heights: Vec<f64>,
    base_normals: Vec<DVec3>,
    detailed_normals: Vec<DVec3>,
    tangents: Tangents,
}

impl DetailMaps {
    /// The heights as a PNG of 16-bit grey.
    pub fn displacement_png(&self) -> Result<Vec<u8>, ViewError> {
        let bytes: Vec<u8> = self
            .displacement
            .iter()
            .flat_map(|value| value.to_be_bytes())
            .collect();
        self.png(png::ColorType::Grayscale, png::BitDepth::Sixteen, &bytes)
    }

    /// The normals as a PNG of 8-bit red, green and blue; the numbers are linear, not sRGB.
    pub fn normal_png(&self) -> Result<Vec<u8>, ViewError> {
        self.png(
            png::ColorType::Rgb,
            png::BitDepth::Eight,
            self.normals.as_flattened(),
        )
    }

    fn png(
        &self,
        color: png::ColorType,
        depth: png::BitDepth,
        data: &[u8],
    ) -> Result<Vec<u8>, ViewError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.size as u32, self.size as u32);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.set_compression(png::Compression::Balanced);

        let mut writer = encoder.write_header()?;
        writer.write_image_data(data)?;
        writer.finish()?;

        Ok(bytes)
    }
}

/// A normal in the axes of a frame; `None` if the frame is singular or the normal is zero.
fn local(frame: DMat3, normal: DVec3) -> Option<DVec3> {
    let inverse = frame.inverse();
    (inverse.is_finite())
        .then(|| inverse * normal.normalize_or_zero())
        .and_then(DVec3::try_normalize)
}

fn encode_normal(normal: DVec3) -> [u8; 3] {
    normal
        .to_array()
        .map(|x| ((x * 0.5 + 0.5) * 255.0).round() as u8)
}
