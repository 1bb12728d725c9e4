//! The pose and the size of a face on a mesh.
//!
//! **Problem.** A mesh may be a mask, a head with shoulders or a whole body, of any size. Find the
//! similarity that brings a template face onto its face.
//!
//! **Equation.** For sample points `p` of the template with normals `n`, a similarity `S` and a
//! template of height `L`, the misfit is the mean over the samples of
//!
//! ```text
//! min(|S p − q| / (s L), 1/10) + (1 − n·m) / 20
//! ```
//!
//! with the closest point `q` of the mesh and its normal `m`, and 0.14 where it is farther than
//! `0.12 s L` or faces away.
//!
//! **Method.** The tip of the template's nose is placed on the profile of the mesh, at all heights,
//! at sizes from a twentieth of the mesh up to all of it, in three pitches. The best of these are
//! refined by iterative closest points with free scale; the worst fifth of the pairs does not
//! count. Where the fit is poor, seven other orientations of the mesh are tried.
//!
//! **Source.** Besl and McKay, "A method for registration of 3-D shapes", 1992; Chetverikov and
//! others, "The trimmed iterative closest point algorithm", 2002.
//!
//! **Departures.** The confidence falls from 1 to 0 between two values of the sum of both misfits,
//! before and after refinement. Heads have 0.06 to 0.10, animals and hands 0.09 to 0.19, so that a
//! few of them pass for an uncertain face.

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normals, vertex_normals};

use super::FaceTemplate;
use crate::{Similarity, TransferError};

/// A template face on a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaceFit {
    /// Takes the template to the mesh.
    pub similarity: Similarity,
    /// The misfit before and after refinement.
    pub misfits: [f64; 2],
    /// The height of the template on the mesh.
    pub height: f64,
}

const SAMPLES: usize = 260;
/// One sample of so many is used in the coarse search.
const COARSE_STEP: usize = 4;
const HEIGHTS: usize = 64;
const SCALES: usize = 22;
const SMALLEST: f64 = 0.05;
const LARGEST: f64 = 1.2;
const PITCHES_RAD: [f64; 3] = [-0.3, 0.0, 0.3];
const REFINED: usize = 12;
const ITERATIONS: usize = 30;
const FARTHEST: f64 = 0.12;
const MOST_DISTANCE: f64 = 0.1;
const NORMAL_PART: f64 = 0.05;
const MISSED: f64 = 0.14;
const LEAST_COSINE: f64 = 0.2;
/// The sums of both misfits at which the confidence is 1 and 0.
const CERTAIN: f64 = 0.07;
const NO_FACE: f64 = 0.115;
/// The factor of the misfit in unusual orientations.
const UNUSUAL: f64 = 1.25;

impl FaceFit {
    /// Finds the face of `mesh`.
    ///
    /// # Errors
    /// If a mesh has no faces or a position is not finite.
    pub fn find(template: &FaceTemplate, mesh: &Mesh) -> Result<Self, TransferError> {
        let samples = Samples::of(template);
        let target = Target::new(mesh)?;
        let mut best: Option<Self> = None;
        for (k, axes) in orientations().into_iter().enumerate() {
            // The usual orientation comes first; the others are for unusual files. The back of a
            // head is smooth, and fits a little better than a face unlike the template.
            let handicap = if k == 0 { 1.0 } else { UNUSUAL };
            for fit in target.search(&samples, axes)? {
                if best.is_none_or(|best| handicap * fit.total() < best.total()) {
                    best = Some(fit);
                }
            }
            if best.is_some_and(|best| best.total() < 0.5 * (CERTAIN + NO_FACE)) {
                break;
            }
        }
        best.ok_or(TransferError::NoExtent { what: "mesh" })
    }

    /// From 0 (no face) to 1 (a face).
    #[must_use]
    pub fn confidence(&self) -> f64 {
        ((NO_FACE - self.total()) / (NO_FACE - CERTAIN)).clamp(0.0, 1.0)
    }

    fn total(&self) -> f64 {
        self.misfits[0] + self.misfits[1]
    }
}

/// Right, up and forward of a mesh, as columns; the usual orientation first.
fn orientations() -> Vec<DMat3> {
    let pairs = [
        (DVec3::Y, DVec3::Z),
        (DVec3::Z, DVec3::NEG_Y),
        (DVec3::Z, DVec3::Y),
        (DVec3::Y, DVec3::NEG_Z),
        (DVec3::Y, DVec3::X),
        (DVec3::Y, DVec3::NEG_X),
        (DVec3::Z, DVec3::X),
        (DVec3::Z, DVec3::NEG_X),
    ];
    let axes = pairs.map(|(up, forward)| DMat3::from_cols(up.cross(forward), up, forward));
    axes.to_vec()
}

/// Evenly distributed points of the template.
struct Samples {
    points: Vec<DVec3>,
    normals: Vec<DVec3>,
    /// Its foremost point, the tip of the nose.
    tip: DVec3,
    height: f64,
}

impl Samples {
    fn of(template: &FaceTemplate) -> Self {
        let positions = template.mesh.positions();
        let normals = vertex_normals(&template.mesh);
        let foremost = (0..positions.len())
            .max_by(|&a, &b| positions[a].z.total_cmp(&positions[b].z))
            .unwrap_or(0);

        // Farthest points, so that dense parts count as much as others.
        let mut distances = vec![f64::INFINITY; positions.len()];
        let mut next = foremost;
        let mut chosen = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES.min(positions.len()) {
            chosen.push(next);
            let mut farthest = 0.0;
            for (v, distance) in distances.iter_mut().enumerate() {
                *distance = distance
                    .min(positions[v].distance_squared(positions[chosen[chosen.len() - 1]]));
                if *distance > farthest {
                    farthest = *distance;
                    next = v;
                }
            }
        }

        let bounds = template.mesh.bounds();
        Self {
            points: chosen.iter().map(|&v| positions[v]).collect(),
            normals: chosen.iter().map(|&v| normals[v]).collect(),
            tip: positions[foremost],
            height: bounds.map_or(0.0, |bounds| bounds.size().y),
        }
    }
}

/// The mesh on which the face is searched.
struct Target {
    index: SurfaceIndex,
    triangle_normals: Vec<DVec3>,
    positions: Vec<DVec3>,
}

impl Target {
    fn new(mesh: &Mesh) -> Result<Self, TransferError> {
        Ok(Self {
            index: SurfaceIndex::new(mesh)?,
            triangle_normals: triangle_normals(mesh),
            positions: mesh.positions().to_vec(),
        })
    }

    /// The refined fits in one orientation.
    fn search(&self, samples: &Samples, axes: DMat3) -> Result<Vec<FaceFit>, TransferError> {
        let starts = self.starts(samples, axes);
        let coarse = parallel::map(starts.len(), 16, |k| {
            self.misfit(samples, &starts[k], COARSE_STEP)
        });

        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_by(|&a, &b| coarse[a].total_cmp(&coarse[b]));
        order.truncate(REFINED);

        let refined = parallel::map(order.len(), 1, |k| self.refined(samples, starts[order[k]]));
        let mut fits = Vec::new();
        for similarity in refined {
            let similarity = similarity?;
            fits.push(FaceFit {
                similarity,
                misfits: [coarse[order[0]], self.misfit(samples, &similarity, 1)],
                height: similarity.scale * samples.height,
            });
        }
        Ok(fits)
    }

    /// The tip of the nose on the profile, at all heights, sizes and pitches.
    fn starts(&self, samples: &Samples, axes: DMat3) -> Vec<Similarity> {
        let into_axes = axes.transpose();
        let mut low = DVec3::INFINITY;
        let mut high = DVec3::NEG_INFINITY;
        for &position in &self.positions {
            low = low.min(into_axes * position);
            high = high.max(into_axes * position);
        }

        let height = high.y - low.y;
        let mut starts = Vec::new();
        for k in 0..HEIGHTS {
            let share = (k as f64 + 0.5) / HEIGHTS as f64;
            let front = DVec3::new(
                0.5 * (low.x + high.x),
                low.y + share * height,
                high.z + height,
            );
            let direction = axes * DVec3::NEG_Z;
            let reach = high.z - low.z + 2.0 * height;
            let Some(hit) = self.index.cast_ray(axes * front, direction, reach) else {
                continue;
            };

            let tip = axes * front + direction * hit.distance;
            for scale in 0..SCALES {
                let size = SMALLEST * (LARGEST / SMALLEST).powf(scale as f64 / (SCALES - 1) as f64);
                let scale = size * height / samples.height;
                for pitch in PITCHES_RAD {
                    let rotation = DQuat::from_mat3(&axes) * DQuat::from_rotation_x(pitch);
                    starts.push(Similarity {
                        scale,
                        motion: RigidMotion {
                            rotation,
                            translation: tip - rotation * (samples.tip * scale),
                        },
                    });
                }
            }
        }
        starts
    }

    fn misfit(&self, samples: &Samples, similarity: &Similarity, step: usize) -> f64 {
        let height = similarity.scale * samples.height;
        let mut sum = 0.0;
        let mut count = 0;
        for k in (0..samples.points.len()).step_by(step) {
            let point = similarity.apply(samples.points[k]);
            let normal = similarity.motion.rotation * samples.normals[k];
            let closest = self
                .index
                .closest_point_within(point, FARTHEST * height, |_| true);

            count += 1;
            sum += match closest {
                Some(closest) => {
                    let cosine = normal.dot(self.triangle_normals[closest.place.triangle as usize]);
                    if cosine > LEAST_COSINE {
                        (closest.distance / height).min(MOST_DISTANCE)
                            + NORMAL_PART * (1.0 - cosine)
                    } else {
                        MISSED
                    }
                }
                None => MISSED,
            };
        }
        sum / f64::from(count.max(1))
    }

    /// Trimmed iterative closest points.
    fn refined(&self, samples: &Samples, start: Similarity) -> Result<Similarity, TransferError> {
        const TRIMMED: f64 = 0.8;
        const LEAST_REACH: f64 = 0.02;
        const FACING: f64 = 0.3;

        let mut similarity = start;
        for _ in 0..ITERATIONS {
            let mut pairs = Vec::with_capacity(samples.points.len());
            for (&point, &normal) in samples.points.iter().zip(&samples.normals) {
                let normal = similarity.motion.rotation * normal;
                if let Some(closest) = self.index.closest_point(similarity.apply(point)) {
                    let facing = normal.dot(self.triangle_normals[closest.place.triangle as usize]);
                    pairs.push((closest.distance, facing, point, closest.point));
                }
            }

            let mut distances: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            distances.sort_by(f64::total_cmp);
            let rank = (TRIMMED * distances.len() as f64) as usize;
            let reach = distances.get(rank).copied().unwrap_or(f64::INFINITY);
            let reach = reach.max(LEAST_REACH * similarity.scale * samples.height);
            pairs.retain(|&(distance, facing, ..)| distance <= reach && facing > FACING);
            if pairs.len() < 8 {
                break;
            }

            let from: Vec<DVec3> = pairs.iter().map(|pair| pair.2).collect();
            let to: Vec<DVec3> = pairs.iter().map(|pair| pair.3).collect();
            similarity = Similarity::fit(&from, &to)?;
        }
        Ok(similarity)
    }
}
