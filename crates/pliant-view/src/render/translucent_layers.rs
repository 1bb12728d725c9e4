//! Translucent surfaces of a tile: layers in front of the opaque picture.
//!
//! **Equation.** Layers `k` from front to back, with colours `c` and opacities `a`:
//!
//! ```text
//! color = Σ cₖ aₖ Tₖ + T c_opaque        Tₖ = Π_{j<k} (1 − aⱼ)
//! ```
//!
//! **Source.** T. Porter, T. Duff, "Compositing digital images", SIGGRAPH 1984.

use glam::Vec3;

use super::{PictureRenderer, TriangleKind};
use crate::Color;
use crate::raster::{NOTHING, PeeledDepths, SAMPLES, TILE, TileSamples};

/// Chosen: layers of hair rarely exceed ten; what lies behind so many is hidden anyway.
const MOST_LAYERS: usize = 24;
/// Chosen: less light than a step of a byte passes.
const LEAST_TRANSMITTANCE: f32 = 1.0 / 256.0;

/// What the layers of a tile add to the opaque picture, sample by sample.
struct Layers {
    light: Vec<[Vec3; SAMPLES]>,
    transmittance: Vec<[f32; SAMPLES]>,
    peeled: PeeledDepths,
}

impl PictureRenderer<'_> {
    /// Whether a tile has triangles that are drawn in layers.
    pub(super) fn has_layers(&self, members: &[u32]) -> bool {
        members.iter().any(|&member| self.is_layered(member))
    }

    fn is_layered(&self, member: u32) -> bool {
        matches!(
            self.kinds.get(member as usize),
            Some(TriangleKind::Masked | TriangleKind::Blended)
        )
    }

    /// The bytes of a tile: its layers over the opaque samples.
    pub(super) fn layered_pixels(&self, opaque: &TileSamples, members: &[u32]) -> Vec<[u8; 3]> {
        let layers = self.peel(opaque, members);
        let pixels = 0..TILE * TILE;
        let bytes = pixels.map(|pixel| {
            let mut behind = [Vec3::ZERO; SAMPLES];
            self.each_group(opaque, pixel, |group, color| {
                for k in 0..SAMPLES {
                    if group >> k & 1 == 1 {
                        behind[k] = color;
                    }
                }
            });

            let mut sum = Vec3::ZERO;
            for k in 0..SAMPLES {
                sum += layers.light[pixel][k] + behind[k] * layers.transmittance[pixel][k];
            }
            Color(sum / SAMPLES as f32).to_srgb8()
        });
        bytes.collect()
    }

    /// Draws layer after layer until nothing more is visible.
    fn peel(&self, opaque: &TileSamples, members: &[u32]) -> Layers {
        let pixels = TILE * TILE;
        let mut layers = Layers {
            light: vec![[Vec3::ZERO; SAMPLES]; pixels],
            transmittance: vec![[1.0; SAMPLES]; pixels],
            peeled: vec![[f32::INFINITY; SAMPLES]; pixels],
        };

        for _ in 0..MOST_LAYERS {
            let layer = self.next_layer(opaque, members, &layers.peeled);
            let mut is_empty = true;
            for pixel in 0..pixels {
                if layer.seen[pixel] != [NOTHING; SAMPLES] {
                    is_empty = false;
                    self.composite(&layer, pixel, &mut layers);
                }
            }
            if is_empty {
                break;
            }
        }

        layers
    }

    fn next_layer(
        &self,
        opaque: &TileSamples,
        members: &[u32],
        peeled: &PeeledDepths,
    ) -> TileSamples {
        let mut layer = opaque.empty_layer();
        for &member in members.iter().filter(|&&member| self.is_layered(member)) {
            let k = member as usize;
            if let Some(pixel_box) = &self.boxes[k] {
                layer.draw_triangle_behind(&self.triangles[k], pixel_box, member, peeled);
            }
        }
        layer
    }

    /// Adds a pixel of a layer behind the layers before.
    fn composite(&self, layer: &TileSamples, pixel: usize, layers: &mut Layers) {
        let seen = &layer.seen[pixel];
        let mut left = (0..SAMPLES)
            .filter(|&k| seen[k] != NOTHING)
            .fold(0_u32, |all, k| all | 1 << k);

        while left != 0 {
            let (first, group) = self.group_of(layer, pixel, left);
            left &= !group;

            let visible = self.masked(layer, pixel, group);
            for k in (0..SAMPLES).filter(|k| group >> k & 1 == 1) {
                layers.peeled[pixel][k] = layer.depth[pixel][k];
            }
            if visible == 0 {
                continue;
            }

            let shaded = if visible >> first & 1 == 1 {
                first
            } else {
                visible.trailing_zeros() as usize
            };
            let covered = self.covered(layer, pixel, shaded);
            for k in (0..SAMPLES).filter(|k| visible >> k & 1 == 1) {
                let transmittance = &mut layers.transmittance[pixel][k];
                layers.light[pixel][k] += covered.color * (covered.opacity * *transmittance);
                *transmittance *= 1.0 - covered.opacity;
                // Nothing behind an opaque layer needs to be drawn.
                if *transmittance < LEAST_TRANSMITTANCE {
                    *transmittance = 0.0;
                    layers.peeled[pixel][k] = f32::NEG_INFINITY;
                }
            }
        }
    }

    /// The samples of a group that pass the test of opacity.
    fn masked(&self, layer: &TileSamples, pixel: usize, group: u32) -> u32 {
        let mut visible = 0;
        for k in (0..SAMPLES).filter(|k| group >> k & 1 == 1) {
            let member = layer.seen[pixel][k] as usize;
            let [x, y] = super::sample_position(layer.origin, pixel, k);
            let source = self.triangles[member].source;
            let passes = match self.surfaces.pbr(source) {
                Some(pbr) if self.kinds[member] == TriangleKind::Masked => {
                    self.surfaces.passes_mask(pbr, source, x, y)
                }
                _ => true,
            };
            visible |= u32::from(passes) << k;
        }
        visible
    }
}
