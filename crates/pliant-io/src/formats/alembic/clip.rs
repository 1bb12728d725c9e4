//! Samples over time in an Alembic archive as a clip: positions and transforms at every frame.
//!
//! **Departures.** Every property has its own sampling; the frames of the clip are those of the
//! densest one, from the first sample of all to the last. A property without a sample at a frame is
//! interpolated linearly. The rest pose is frame 0, because Alembic stores no other.

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::Clip;

use super::archive::{Archive, metadata_value};
use super::mesh::mesh_error;
use super::scene::{Scene, SceneMesh};
use super::time_sampling::{SampledFrames, TimeSampling};
use super::transform::{product, transform_points};
use crate::{Animation, Motion, PlacementTrack, ReadError, Shape};

/// Chosen: longer clips are rejected; over an hour at 24 frames per second.
const MOST_FRAMES: f64 = 1e5;

/// The frames of an archive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timeline {
    pub(super) start_secs: f64,
    pub(super) frames_per_second: f64,
    pub(super) frames: usize,
}

/// Reads the motions of a scene.
#[derive(Clone, Copy)]
pub(super) struct ClipReader<'r, 'a> {
    pub(super) archive: &'r Archive<'a>,
    pub(super) scene: &'r Scene<'a>,
    pub(super) timeline: Timeline,
}

impl Timeline {
    /// The frames of all that moves; `None` if nothing does.
    pub(super) fn of(
        archive: &Archive<'_>,
        scene: &Scene<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, ReadError> {
        let rate = ["FramesPerTimeUnit", "_ai_DCC_FPS"]
            .into_iter()
            .find_map(|key| metadata_value(&archive.metadata, key)?.parse::<f64>().ok())
            .filter(|rate| rate.is_finite() && *rate > 0.0)
            .unwrap_or(Clip::DEFAULT_FRAMES_PER_SECOND);
        let frames_of =
            |sampling: &TimeSampling, samples| sampling.frames(samples, 1.0 / rate, MOST_FRAMES);

        let mut all: Option<SampledFrames> = None;
        let mut incomplete = 0;
        let mut include = |found: SampledFrames| {
            incomplete += usize::from(!found.complete);
            all = Some(match all {
                None => found,
                Some(all) => SampledFrames {
                    start: all.start.min(found.start),
                    end: all.end.max(found.end),
                    period: all.period.min(found.period),
                    complete: true,
                },
            });
        };
        for mesh in &scene.meshes {
            if let Some(points) = mesh.moving_positions() {
                include(frames_of(points.sampling(archive)?, points.samples()));
            }
            for (sampling, samples) in scene.transforms.samplings(mesh.transform) {
                include(frames_of(sampling, samples));
            }
        }

        let Some(all) = all else { return Ok(None) };
        let timeline = Self::new(all)?;
        if incomplete > 0 {
            warnings.push(format!(
                "{incomplete} animation(s) have samples between the frames of {} a second, which are not read",
                timeline.frames_per_second
            ));
        }
        Ok(Some(timeline))
    }

    fn new(all: SampledFrames) -> Result<Self, ReadError> {
        // A sample may lie a little before its frame.
        let frames = ((all.end - all.start) / all.period + 1e-3).floor() + 1.0;
        if !(1.0..=MOST_FRAMES).contains(&frames) {
            return Err(ReadError::whole(format!(
                "the samples from {} to {} s give {frames} frames, but at most {MOST_FRAMES} are supported; export fewer",
                all.start, all.end
            )));
        }
        Ok(Self {
            start_secs: all.start,
            frames_per_second: rate(all.period),
            frames: frames as usize,
        })
    }
}

/// The transformation that moves what is at `rest` to `now`; without rounding if both are equal.
fn moved(now: &DAffine3, rest: &DAffine3, mesh_from_scene: &DAffine3) -> DAffine3 {
    if now == rest {
        DAffine3::IDENTITY
    } else {
        product(now, mesh_from_scene)
    }
}

/// The frames per second of a period, without the rounding of its inverse.
fn rate(period: f64) -> f64 {
    let exact = 1.0 / period;
    let whole = exact.round();
    let thousandths = (exact * 1e3).round() / 1e3;
    if (exact - whole).abs() <= 1e-5 * exact {
        whole
    } else if (exact - thousandths).abs() <= 1e-9 * exact {
        thousandths
    } else {
        exact
    }
}

impl<'a> ClipReader<'_, 'a> {
    /// The clip of all meshes; object number `k` is mesh number `of_object[k]`.
    pub(super) fn read(
        &self,
        of_object: &[usize],
        vertices: &[usize],
        warnings: &mut Vec<String>,
    ) -> Result<Animation, ReadError> {
        let name = metadata_value(&self.archive.metadata, super::CLIP_NAME).unwrap_or_default();
        let mut clip = Animation::new(name, self.timeline.frames);
        clip.frames_per_second = self.timeline.frames_per_second;
        clip.start_secs = self.timeline.start_secs;

        let times: Vec<f64> = (0..clip.frame_count).map(|k| clip.time_secs(k)).collect();
        for (object, &mesh) in of_object.iter().enumerate() {
            let mesh = &self.scene.meshes[mesh];
            let motion = self.motion(object, mesh, vertices[object], &times, warnings)?;
            clip.motions.extend(motion);
        }
        Ok(clip)
    }

    fn motion(
        &self,
        object: usize,
        mesh: &SceneMesh<'a>,
        vertices: usize,
        times: &[f64],
        warnings: &mut Vec<String>,
    ) -> Result<Option<Motion>, ReadError> {
        let transforms = &self.scene.transforms;
        let rest = mesh.scene_from_mesh(transforms, Some(self.timeline.start_secs));
        let placements = self.placements(mesh, times)?;
        let mesh_from_scene = rest.inverse();

        // A mesh that is scaled to zero at rest cannot be moved from there.
        if let Some(placements) = &placements
            && !mesh_from_scene.is_finite()
        {
            let frames = self.points(mesh, vertices, times, |k| placements[k], warnings)?;
            return Ok(frames.map(|frames| Motion::new(object, Shape::Points(frames))));
        }

        let frames = if mesh.moving_positions().is_some() {
            self.points(mesh, vertices, times, |_| rest, warnings)?
        } else {
            None
        };
        if frames.is_none() && placements.is_none() {
            return Ok(None);
        }

        let placement = placements.map(|placements| PlacementTrack {
            times_secs: times.to_vec(),
            moved_from_rest: placements
                .iter()
                .map(|now| moved(now, &rest, &mesh_from_scene))
                .collect(),
        });
        Ok(Some(Motion {
            placement,
            ..Motion::new(object, frames.map_or(Shape::Rest, Shape::Points))
        }))
    }

    /// The transformation to the scene at each time; `None` if it does not change.
    fn placements(
        &self,
        mesh: &SceneMesh<'a>,
        times: &[f64],
    ) -> Result<Option<Vec<DAffine3>>, ReadError> {
        let transforms = &self.scene.transforms;
        if transforms.samplings(mesh.transform).next().is_none() {
            return Ok(None);
        }

        let cost = 12 + transforms.depth(mesh.transform);
        self.archive
            .budget
            .spend(times.len().saturating_mul(cost), "the transforms")?;
        Ok(Some(
            times
                .iter()
                .map(|&time| transforms.scene_from(mesh.transform, Some(time)))
                .collect(),
        ))
    }

    /// The positions at each time; `None` if their number changes.
    fn points(
        &self,
        mesh: &SceneMesh<'a>,
        vertices: usize,
        times: &[f64],
        scene_from_mesh: impl Fn(usize) -> DAffine3,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<Vec<DVec3>>>, ReadError> {
        let points = mesh
            .positions()
            .ok_or_else(|| mesh_error(mesh, "has no points"))?;
        let sampling = points.sampling(self.archive)?;

        let mut frames = Vec::with_capacity(times.len());
        for (k, &time) in times.iter().enumerate() {
            let around = sampling.around(points.samples(), time);
            let mut frame = points.points(self.archive, around.from)?;
            if around.along > 0.0 && points.count(around.to)? == frame.len() {
                let to = points.points(self.archive, around.to)?;
                for (position, to) in frame.iter_mut().zip(to) {
                    *position = position.lerp(to, around.along);
                }
            }
            if frame.len() != vertices {
                warnings.push(format!(
                    "object '{}' has {} points at frame {k} and {vertices} at the first; only the first is read",
                    mesh.path,
                    frame.len()
                ));
                return Ok(None);
            }

            transform_points(&mut frame, &scene_from_mesh(k));
            frames.push(frame);
        }
        Ok(Some(frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_free_of_rounding() {
        assert_eq!(rate(0.041_666_666_666_666_664), 24.0);
        assert_eq!(rate(1.0 / 29.97), 29.97);
        assert_eq!(rate(1001.0 / 24000.0), 24000.0 / 1001.0);
        assert_eq!(rate(f64::from(1.0_f32 / 30.0)), 30.0);
        assert_eq!(rate(2.0), 0.5);
    }
}
