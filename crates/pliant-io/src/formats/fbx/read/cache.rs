//! Point caches of an FBX scene, in other files.

use pliant_mesh::glam::{DAffine3, DVec3};

use super::one_line;
use crate::formats::maya_cache::{self, Channel};
use crate::{FileProvider, Shape, point_cache};

/// The positions of a mesh over time.
pub(super) enum Cache {
    /// A PC2 file, which counts frames.
    Pc2(Pc2),
    /// A channel of a Maya cache, which counts ticks of a clock.
    Maya(Channel),
}

/// The samples of a PC2 file.
pub(super) struct Pc2 {
    samples: Vec<Vec<DVec3>>,
    first_frame: f64,
    frames_per_sample: f64,
}

/// The cache of a mesh; a cache that cannot be read gives a warning.
pub(super) fn read(
    mesh: &ufbx::Mesh,
    files: &dyn FileProvider,
    warnings: &mut Vec<String>,
) -> Option<Cache> {
    let mut deformers = mesh.cache_deformers.iter();
    let deformer = deformers.find(|deformer| deformer.file.is_some())?;
    let file = deformer.file.as_deref()?;
    let name = one_line(&file.relative_filename).replace('\\', "/");
    let name = name.trim_start_matches("./");

    match open(name, &deformer.channel, mesh.num_vertices, files) {
        Ok((cache, cache_warnings)) => {
            for warning in cache_warnings {
                warnings.push(format!("the point cache '{name}': {warning}"));
            }
            Some(cache)
        }
        Err(why) => {
            warnings.push(format!(
                "the point cache '{name}' of mesh '{}' is not read: {why}",
                one_line(&mesh.element.name)
            ));
            None
        }
    }
}

/// The cache and the warnings of its file.
fn open(
    name: &str,
    channel: &str,
    vertices: usize,
    files: &dyn FileProvider,
) -> Result<(Cache, Vec<String>), String> {
    let lower = name.to_ascii_lowercase();
    if [".xml", ".mc", ".mcx"]
        .iter()
        .any(|ending| lower.ends_with(ending))
    {
        let channel = maya_cache::read_channel(name, channel, files)?;
        return match channel.points() {
            found if found == vertices => Ok((Cache::Maya(channel), Vec::new())),
            found => Err(format!("it has {found} points for {vertices} vertices")),
        };
    }
    if !lower.ends_with(".pc2") {
        return Err("only PC2 and Maya caches are supported".into());
    }

    let bytes = files.read(name).map_err(|error| error.to_string())?;
    let (mut asset, first_frame, frames_per_sample) =
        point_cache::read_pc2_sampled(&bytes).map_err(|error| error.message)?;
    let found = asset.vertex_count();
    if found != vertices {
        return Err(format!("it has {found} points for {vertices} vertices"));
    }
    if !(first_frame.is_finite() && frames_per_sample.is_finite() && frames_per_sample > 0.0) {
        return Err(format!(
            "it has a sample every {frames_per_sample} frames from frame {first_frame}"
        ));
    }

    let clip = asset.clips.pop();
    let motion = clip.and_then(|mut clip| clip.motions.pop());
    match motion.map(|motion| motion.shape) {
        Some(Shape::Points(samples)) => Ok((
            Cache::Pc2(Pc2 {
                samples,
                first_frame,
                frames_per_sample,
            }),
            asset.warnings,
        )),
        _ => unreachable!("a point cache has positions frame by frame"),
    }
}

impl Cache {
    /// How many points a sample has.
    pub(super) fn points(&self) -> usize {
        match self {
            Self::Pc2(cache) => cache.samples[0].len(),
            Self::Maya(channel) => channel.points(),
        }
    }

    /// The positions at a time of the scene: linear between samples, constant beyond their ends.
    pub(super) fn at(
        &self,
        time_secs: f64,
        frames_per_second: f64,
        scene_from_mesh: &DAffine3,
    ) -> Vec<DVec3> {
        match self {
            Self::Pc2(cache) => cache.at(time_secs * frames_per_second, scene_from_mesh),
            Self::Maya(channel) => {
                let points = channel.at_secs(time_secs).into_iter();
                points
                    .map(|p| scene_from_mesh.transform_point3(p))
                    .collect()
            }
        }
    }
}

impl Pc2 {
    /// The positions at a frame of the scene.
    fn at(&self, frame: f64, scene_from_mesh: &DAffine3) -> Vec<DVec3> {
        let last = self.samples.len() - 1;
        let at = ((frame - self.first_frame) / self.frames_per_sample).clamp(0.0, last as f64);
        let lower = (at.floor() as usize).min(last);
        let from = &self.samples[lower];
        let to = &self.samples[(lower + 1).min(last)];
        let along = at - lower as f64;

        // Without interpolation, a sample keeps its bits.
        let point = |(a, b): (&DVec3, &DVec3)| {
            scene_from_mesh.transform_point3(if along == 0.0 { *a } else { a.lerp(*b, along) })
        };

        from.iter().zip(to).map(point).collect()
    }
}
