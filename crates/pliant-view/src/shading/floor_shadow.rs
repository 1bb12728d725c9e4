//! Shadow on an invisible floor.
//!
//! **Method.** The shadow on the floor is smooth, so that it is computed once on a grid and
//! interpolated. It fades out towards the border of the grid. A camera below the floor sees no
//! floor.

use glam::DVec3;
use pliant_linalg::parallel;

use super::{AmbientOcclusion, KeyLight};

/// Half the side of the grid, in radii of the scene.
const REACH: f64 = 2.4;
/// Cells along the grid's side.
const SIDE: usize = 112;
const CELLS_PER_LENGTH: f64 = 0.5 * (SIDE - 1) as f64 / REACH;

/// Shadow on a plane.
#[derive(Debug)]
pub(crate) struct FloorShadow {
    up: DVec3,
    height: f64,
    across: [DVec3; 2],
    /// 0 is no shadow, 1 is full shadow.
    shade: Vec<f32>,
}

/// Chosen: the fraction of the light of the floor that comes from the sky; the rest is key light.
const SKY_SHARE: f32 = 0.72;
/// Chosen: surfaces higher above the floor, in radii of the scene, darken it little.
const CONTACT_REACH: f32 = 0.22;

impl FloorShadow {
    /// The shadow on the plane `p·up = height`.
    pub(crate) fn cast(up: DVec3, height: f64, sky: &AmbientOcclusion, key: &KeyLight) -> Self {
        let aside = if up.x.abs() < 0.6 { DVec3::X } else { DVec3::Y };
        let u = up.cross(aside).normalize();
        let across = [u, up.cross(u)];
        let normal = up.as_vec3();
        let shade = parallel::map(SIDE * SIDE, 512, |k| {
            let coordinate = |i: usize| (2.0 * i as f64 / (SIDE - 1) as f64 - 1.0) * REACH;
            let x = coordinate(k % SIDE);
            let y = coordinate(k / SIDE);
            let p = (across[0] * x + across[1] * y + up * height).as_vec3();
            let far = ((x * x + y * y).sqrt() / REACH) as f32;
            // The shadow vanishes at the border of the grid.
            let fade = (1.0 - far * far).max(0.0);
            let open = 1.0 - sky.covered(p, normal, CONTACT_REACH);

            // Squared, because a covered floor also loses the light that the floor around it would
            // reflect.
            SKY_SHARE * (1.0 - open * open)
                + (1.0 - SKY_SHARE) * (1.0 - key.lit(p, normal)) * fade * fade * fade
        });

        Self {
            up,
            height,
            across,
            shade: smoothed(&smoothed(&shade)),
        }
    }

    /// The shadow at the intersection of a ray with the floor, from above, 0 to 1.
    pub(crate) fn along(&self, origin: DVec3, direction: DVec3) -> f32 {
        let above = origin.dot(self.up) - self.height;
        let descent = -direction.dot(self.up);
        if above <= 0.0 || descent <= 0.0 {
            return 0.0;
        }

        let hit = origin + direction * (above / descent);
        let cell = |axis: DVec3| hit.dot(axis) * CELLS_PER_LENGTH + 0.5 * (SIDE - 1) as f64;
        let x = cell(self.across[0]);
        let y = cell(self.across[1]);
        let limit = (SIDE - 1) as f64;
        let inside = x >= 0.0 && y >= 0.0 && x < limit && y < limit;

        if !inside {
            return 0.0;
        }

        // Bilinear interpolation of the four cells around the intersection.
        let i = x as usize;
        let j = y as usize;
        let fx = (x - i as f64) as f32;
        let fy = (y - j as f64) as f32;
        let at = |i: usize, j: usize| self.shade[j * SIDE + i];
        let upper = at(i, j) * (1.0 - fx) + at(i + 1, j) * fx;
        let lower = at(i, j + 1) * (1.0 - fx) + at(i + 1, j + 1) * fx;

        upper * (1.0 - fy) + lower * fy
    }
}

/// A binomial filter over the neighbours of each cell, which hides that the sky has only a few
/// directions.
fn smoothed(shade: &[f32]) -> Vec<f32> {
    let along = |from: &[f32], k: usize, step: usize, coordinate: usize| {
        let inner = coordinate > 0 && coordinate < SIDE - 1;
        if inner {
            0.25 * from[k - step] + 0.5 * from[k] + 0.25 * from[k + step]
        } else {
            from[k]
        }
    };

    let rows: Vec<f32> = (0..shade.len())
        .map(|k| along(shade, k, 1, k % SIDE))
        .collect();

    (0..rows.len())
        .map(|k| along(&rows, k, SIDE, k / SIDE))
        .collect()
}
