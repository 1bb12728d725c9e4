//! Wrinkle maps: the detail between two surfaces, baked into the UV layout of their mesh.
//!
//! **Problem.** An engine moves a plain surface and shades it as the detailed one. It needs, texel
//! by texel, how far the detailed surface stands out and which way it faces.
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
//! **Ours.** Red is along growing `u`, green along growing `v` (up in the picture: +Y, as glTF has
//! it), blue along the normal. Tangents of triangles count by area, which needs no trigonometry.
//! What the detail moves sideways has no place in a height; it is measured. The layout is found
//! once for all frames, and one range of heights serves all of them.

mod frames;
mod layout;

use glam::{DMat3, DVec3};
use pliant_linalg::parallel;
use pliant_mesh::{Mesh, vertex_normals_into};

use crate::ViewError;
use crate::image::check_size;
use frames::Tangents;
use layout::{Layout, NONE};

/// Texels in one parallel task.
const TEXELS_PER_TASK: usize = 4096;

/// How maps are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BakeOptions {
    /// Texels along a side.
    pub size: usize,
    /// How many texels the border of each part of the layout is carried outwards.
    pub padding: usize,
    /// Which of the mesh's UV sets.
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
    /// *Ours*: what a wrinkle of a face needs.
    pub const DEFAULT_SIZE: usize = 1024;
    /// *Ours*: four halvings of the map do not mix neighbours.
    pub const DEFAULT_PADDING: usize = 16;

    /// Texels along a side. Default: [`DEFAULT_SIZE`](Self::DEFAULT_SIZE).
    #[must_use]
    pub fn with_size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// How many texels borders are carried outwards. Default:
    /// [`DEFAULT_PADDING`](Self::DEFAULT_PADDING).
    #[must_use]
    pub fn with_padding(self, padding: usize) -> Self {
        Self { padding, ..self }
    }
}

/// A mesh's layout, ready to bake any number of poses.
#[derive(Debug, Clone)]
pub struct Baker {
    mesh: Mesh,
    layout: Layout,
}

/// The range of heights that 16 bits stand for; zero is always in it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeightRange {
    /// The height of black.
    pub least: f64,
    /// The height of white.
    pub most: f64,
}

impl HeightRange {
    /// The range with `heights` in it as well.
    #[must_use]
    pub fn with(self, heights: &[f64]) -> Self {
        heights.iter().fold(self, |range, &h| Self {
            least: range.least.min(h),
            most: range.most.max(h),
        })
    }

    /// What white is above black.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.most - self.least
    }

    /// The number that stands for a height.
    #[must_use]
    pub fn encode(&self, height: f64) -> u16 {
        if self.scale() > 0.0 {
            ((height - self.least) / self.scale() * f64::from(u16::MAX)).round() as u16
        } else {
            0
        }
    }

    /// The height that a number stands for.
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
    /// Finds which triangle covers each texel.
    pub fn new(mesh: &Mesh, options: &BakeOptions) -> Result<Self, ViewError> {
        check_size([options.size; 2])?;
        let layout = Layout::of(mesh, options)?;
        Ok(Self {
            mesh: mesh.clone(),
            layout,
        })
    }

    /// The part of the texels that triangles cover.
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

    /// What is odd about the layout, one sentence each.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.layout.problems
    }

    /// How far `detailed` stands out of `base` at each vertex, and the most that it moves one
    /// sideways.
    pub fn heights(
        &self,
        base: &[DVec3],
        detailed: &[DVec3],
    ) -> Result<(Vec<f64>, f64), ViewError> {
        self.check(base, detailed)?;
        let normals = self.normals(base);
        let moved = || {
            base.iter()
                .zip(detailed)
                .map(|(b, d)| *d - *b)
                .zip(&normals)
        };
        let heights: Vec<f64> = moved().map(|(moved, normal)| moved.dot(*normal)).collect();
        let sideways = moved()
            .zip(&heights)
            .map(|((moved, normal), height)| (moved - *normal * *height).length())
            .fold(0.0, f64::max);
        Ok((heights, sideways))
    }

    /// The maps of a pose; heights outside `range` are cut off at its ends.
    pub fn bake(
        &self,
        base: &[DVec3],
        detailed: &[DVec3],
        range: &HeightRange,
    ) -> Result<DetailMaps, ViewError> {
        let (heights, _) = self.heights(base, detailed)?;
        let (plain, fine) = (self.normals(base), self.normals(detailed));
        let tangents = Tangents::of(&self.mesh, &self.layout, base, &plain);
        let texel = |texel: usize| {
            let Some((triangle, weights)) = self.layout.at(texel) else {
                return (range.encode(0.0), encode_normal(DVec3::Z));
            };
            let corners = self.mesh.triangles()[triangle].map(|v| v as usize);
            let height = corners
                .iter()
                .zip(weights)
                .map(|(&v, w)| heights[v] * w)
                .sum::<f64>();
            let mixed = |of: &[DVec3]| {
                corners
                    .iter()
                    .zip(weights)
                    .map(|(&v, w)| of[v] * w)
                    .sum::<DVec3>()
            };
            let normal = tangents
                .frame(triangle, weights, mixed(&plain))
                .and_then(|frame| local(frame, mixed(&fine)));
            (
                range.encode(height),
                encode_normal(normal.unwrap_or(DVec3::Z)),
            )
        };
        let texels = parallel::map(self.layout.owners.len(), TEXELS_PER_TASK, texel);
        let padded = self
            .layout
            .sources
            .iter()
            .map(|&source| texels[source as usize]);
        let (displacement, normals) = padded.unzip();
        Ok(DetailMaps {
            size: self.layout.size,
            displacement,
            normals,
        })
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

    /// The normals as a PNG of 8-bit red, green and blue, to be read as plain numbers.
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

/// A normal in the axes of a frame; nothing where either is flat.
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

#[cfg(test)]
mod tests;
