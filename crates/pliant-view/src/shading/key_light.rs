//! The key light and its soft shadow (percentage-closer soft shadows).
//!
//! **Problem.** The shadow of a large lamp is sharp at contacts and soft far from the blocker.
//!
//! **Equation.** A lamp of angular size `s` blurs the shadow of a blocker at height `h` over a
//! width `s h`.
//!
//! **Source.** R. Fernando, "Percentage-closer soft shadows", SIGGRAPH sketches 2005.
//!
//! **Departures.** Two fixed blurs replace one of variable width: a fine one for contacts, a broad one
//! for distant blockers, and an interpolation between them. The texels of each map are as wide as
//! the gaps between the taps, so that neither steps nor noise are visible.

use glam::{Vec2, Vec3};
use pliant_linalg::parallel;

use super::ambient_occlusion::half_sphere;
use super::height_map::{HeightMap, LightAxes, Occluder};

/// The lamp's width over its distance.
const LAMP_SIZE: f32 = 0.2;
/// Texels along the side of the fine and the broad map.
const FINE_SIDE: usize = 400;
const BROAD_SIDE: usize = 84;
/// Radius of the fine and the broad blur, in radii of the scene.
const FINE_BLUR: f32 = 0.014;
const BROAD_BLUR: f32 = 0.075;
/// Taps of each blur.
const TAPS: usize = 12;

/// The key light's direction and shadow.
#[derive(Debug)]
pub(crate) struct KeyLight {
    fine: HeightMap,
    broad: HeightMap,
    disc: [Vec2; TAPS],
}

impl KeyLight {
    pub(crate) fn draw(towards: Vec3, occluders: &[Occluder<'_>]) -> Self {
        let axes = LightAxes::towards(towards);
        let (fine, broad) = parallel::join(
            || HeightMap::draw(axes, FINE_SIDE, occluders),
            || HeightMap::draw(axes, BROAD_SIDE, occluders),
        );
        let disc = disc(TAPS);

        Self {
            fine,
            broad,
            disc: std::array::from_fn(|k| disc[k]),
        }
    }

    /// The direction towards the light.
    pub(crate) fn direction(&self) -> Vec3 {
        self.fine.axes.d
    }

    /// The fraction of the lamp that is visible from `p`, 0 to 1.
    pub(crate) fn lit(&self, p: Vec3, normal: Vec3) -> f32 {
        let texel = self.broad.texel();
        // Offsets and ramps in texels prevent a tilted surface from shading itself.
        let lifted = p + normal * (1.5 * texel);
        let (broad, height) = self
            .broad
            .hidden(lifted, &self.disc, BROAD_BLUR, 1.5 * texel);

        if broad <= 0.0 {
            return 1.0;
        }

        let texel = self.fine.texel();
        let lifted = p + normal * (2.5 * texel);
        let (fine, _) = self.fine.hidden(lifted, &self.disc, FINE_BLUR, 3.0 * texel);
        // The penumbra grows with the height of the blocker.
        let distant = (height * LAMP_SIZE / BROAD_BLUR).clamp(0.0, 1.0);

        1.0 - (fine + (broad - fine) * distant)
    }
}

/// A half-sphere lattice of equal areas, mapped to the disc with equal areas: radius² is 1 − z.
fn disc(count: usize) -> Vec<Vec2> {
    let flat = |d: Vec3| Vec2::new(d.x, d.z).normalize_or_zero() * (1.0 - d.y).sqrt();
    half_sphere(count).into_iter().map(flat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_taps_cover_the_disc_uniformly() {
        let taps = disc(256);
        let inside = |r: f32| taps.iter().filter(|t| t.length() < r).count() as f32 / 256.0;
        for r in [0.25, 0.5, 0.75] {
            assert!((inside(r) - r * r).abs() < 0.02, "{r}");
        }
    }
}
