//! Thumbnails of the examples, rendered by a task.

use std::sync::Arc;

use eframe::egui::{Color32, ColorImage, Context, TextureHandle, TextureOptions};
use pliant::pictures::{Look, Shot};
use pliant::view::View;

use crate::engine::context::Cx;
use crate::engine::learn::poses::PoseSet;
use crate::engine::work::{Task, Watch};
use crate::model::names::to_message;

/// Pixels of a picture's side: sharp at a UI scale of two.
const PIXELS: usize = 88;
/// More poses than this are a motion, of which a list of names says as much.
const MOST: usize = 64;
/// From the front, a little from the side and from above.
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.15,
};

/// The pictures of a set of poses.
#[derive(Default)]
pub(super) struct Thumbnails {
    of: Option<Arc<PoseSet>>,
    task: Option<Task<Vec<ColorImage>>>,
    made: Vec<ColorImage>,
    textures: Vec<TextureHandle>,
}

impl Thumbnails {
    /// Starts missing work and fetches results.
    pub(super) fn update(&mut self, poses: &Arc<PoseSet>, cx: &Cx<'_>) {
        if self.of.as_ref().is_none_or(|of| !Arc::ptr_eq(of, poses)) {
            let of = Some(poses.clone());
            let wanted = poses.clone();
            let task = (poses.poses.len() <= MOST).then(|| {
                Task::start("Thumbnails", cx.wake.clone(), move |watch| {
                    render(&wanted, watch)
                })
            });

            *self = Self {
                of,
                task,
                ..Self::default()
            };
        }
        // Without pictures the names are shown; a failure needs no notice.
        if let Some(Ok(made)) = Task::finished(&mut self.task) {
            self.made = made;
        }
    }

    /// Whether pictures are still to come.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// The picture of a pose.
    pub(super) fn get(&mut self, pose: usize, ctx: &Context) -> Option<&TextureHandle> {
        for (k, image) in self.made.drain(..).enumerate() {
            self.textures.push(ctx.load_texture(
                format!("example {k}"),
                image,
                TextureOptions::LINEAR,
            ));
        }
        self.textures.get(pose)
    }
}

fn render(poses: &PoseSet, watch: &Watch) -> Result<Vec<ColorImage>, String> {
    let shot = Shot::new(VIEW, [PIXELS; 2]);
    let look = Look::default();
    let picture = |positions: &[_]| {
        // Rendering many poses takes seconds.
        if watch.cancelled() {
            return Err("cancelled".to_owned());
        }

        let posed = poses.mesh.posed(positions.to_vec()).map_err(to_message)?;
        let image = shot
            .of_pose(&posed, &poses.mesh, &look)
            .map_err(to_message)?;

        let pixels = image
            .pixels()
            .iter()
            .map(|&[red, green, blue]| Color32::from_rgb(red, green, blue))
            .collect();

        Ok(ColorImage::new(image.size(), pixels))
    };

    poses
        .poses
        .iter()
        .map(|pose| picture(&pose.positions))
        .collect()
}
