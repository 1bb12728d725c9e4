//! Ambient occlusion: light from a uniform sky.
//!
//! **Problem.** Which fraction of a uniform sky is visible from a point with normal `n`?
//!
//! **Equation.** `∫ max(n·ω, 0) V(ω) dω / π`, as a sum over fixed directions `dₖ` weighted by
//! `|n·dₖ|`.
//!
//! **Source.** S. Zhukov, A. Iones, G. Kronin, "An ambient light illumination model", EGWR 1998; by
//! depth maps from many directions: M. Pharr, S. Green, GPU Gems ch. 17, 2004.
//!
//! **Departures.** One height map for each axis serves both directions, and a point uses the one on the
//! side of its normal. The directions are a spherical Fibonacci lattice, computed by repeated
//! rotation without trigonometry.

use glam::Vec3;
use pliant_linalg::parallel;

use super::height_map::{HeightMap, LightAxes, LightEnd, Occluder};

/// Height maps along directions spread evenly over the half sphere.
#[derive(Debug)]
pub(crate) struct AmbientOcclusion {
    maps: Vec<HeightMap>,
}

/// Chosen: fewer axes show as bands on smooth forms.
const AXES: usize = 20;
/// Texels along the side of a map. Chosen: at 144, eyelids and lips still show.
const SIDE: usize = 144;
/// Cosine and sine of the golden angle `π (3 − √5)`.
const GOLDEN: [f64; 2] = [-0.737_368_878_078_320_4, 0.675_490_294_261_523_6];

/// `count` directions over the upper half sphere, evenly spread.
pub(crate) fn half_sphere(count: usize) -> Vec<Vec3> {
    let mut x = 1.0_f64;
    let mut y = 0.0_f64;
    let mut directions = Vec::with_capacity(count);
    for k in 0..count {
        let z = (k as f64 + 0.5) / count as f64;
        let r = (1.0 - z * z).sqrt();
        directions.push(Vec3::new((r * x) as f32, z as f32, (r * y) as f32));
        (x, y) = (x * GOLDEN[0] - y * GOLDEN[1], x * GOLDEN[1] + y * GOLDEN[0]);
    }
    directions
}

impl AmbientOcclusion {
    pub(crate) fn draw(occluders: &[Occluder<'_>]) -> Self {
        let directions = half_sphere(AXES);
        Self {
            maps: parallel::map(AXES, 1, |k| {
                HeightMap::draw(LightAxes::towards(directions[k]), SIDE, occluders)
            }),
        }
    }

    /// The fraction of the sky over `normal` that is visible from `p`, 0 to 1.
    pub(crate) fn openness(&self, p: Vec3, normal: Vec3) -> f32 {
        let mut open = 0.0;
        let mut total = 0.0;
        for map in &self.maps {
            let cos = normal.dot(map.axes.d);
            let end = if cos >= 0.0 {
                LightEnd::High
            } else {
                LightEnd::Low
            };

            let weight = cos.abs();
            let texel = map.texel();

            // The offset prevents the surface from hiding itself.
            open += weight * map.lit(p + normal * (1.6 * texel), end, 1.5 * texel);
            total += weight;
        }

        if total > 0.0 { open / total } else { 1.0 }
    }

    /// The fraction of the sky over a floor with normal `up` that near surfaces cover, 0 to 1.
    ///
    /// Surfaces farther than `reach` count little, because their shadows would be visible as separate
    /// copies, one for each direction.
    pub(crate) fn covered(&self, p: Vec3, up: Vec3, reach: f32) -> f32 {
        let mut covered = 0.0;
        let mut total = 0.0;
        for map in &self.maps {
            let cos = up.dot(map.axes.d);
            let end = if cos >= 0.0 {
                LightEnd::High
            } else {
                LightEnd::Low
            };
            covered += cos.abs() * map.closeness(p, end, reach);
            total += cos.abs();
        }

        if total > 0.0 { covered / total } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_unit_length_and_a_vertical_mean() {
        let directions = half_sphere(64);
        assert!(directions.iter().all(|d| (d.length() - 1.0).abs() < 1e-6));
        let mean = directions.iter().sum::<Vec3>() / 64.0;
        // The mean over a half sphere is half a unit above its base.
        assert!((mean - Vec3::new(0.0, 0.5, 0.0)).length() < 0.03, "{mean}");
    }

    #[test]
    fn next_to_a_high_wall_half_of_the_sky_is_visible() {
        let positions = [
            Vec3::new(0.0, -0.7, -0.7),
            Vec3::new(0.0, 0.7, -0.7),
            Vec3::new(0.0, 0.7, 0.7),
            Vec3::new(0.0, -0.7, 0.7),
        ];

        let wall = Occluder {
            positions: &positions,
            triangles: &[[0, 1, 2], [0, 2, 3]],
        };
        let sky = AmbientOcclusion::draw(&[wall]);
        let openness = sky.openness(Vec3::new(0.03, -0.65, 0.0), Vec3::Y);

        assert!((openness - 0.5).abs() < 0.08, "{openness}");
        assert!(sky.openness(Vec3::new(0.3, 0.0, 0.0), Vec3::X) > 0.99);
    }
}
