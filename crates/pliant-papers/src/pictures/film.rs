//! Pictures of a clip from one fixed camera: single frames, rows of frames, and films.

use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_view::{ContactSheet, Ground, Image, Look, Shot, ViewError};

/// Frames that decide the framing. Chosen: the motion between them hardly leaves the picture.
const FRAMING_FRAMES: usize = 12;

/// A clip in front of a camera that shows all of its motion, on the floor of its reference pose.
#[derive(Debug)]
pub struct Film<'a> {
    clip: &'a Clip,
    shot: Shot,
    in_view: Vec<DVec3>,
    ground: Ground,
}

impl<'a> Film<'a> {
    /// A film of `clip`, framed by its motion.
    #[must_use]
    pub fn new(clip: &'a Clip, shot: Shot) -> Self {
        let step = clip.frames().len().div_ceil(FRAMING_FRAMES).max(1);
        let motion = clip.frames().iter().step_by(step).flatten();
        let reference = clip.reference();
        let in_view = reference
            .positions()
            .iter()
            .chain(motion)
            .copied()
            .collect();
        let ground = reference
            .bounds()
            .map_or(Ground::None, |bounds| Ground::FloorAt(bounds.min.y));

        Self {
            clip,
            shot,
            in_view,
            ground,
        }
    }

    /// The picture of one frame.
    ///
    /// # Errors
    /// Positions that are not finite.
    ///
    /// # Panics
    /// If the clip has no such frame.
    pub fn at(&self, frame: usize) -> Result<Image, ViewError> {
        let pose = self.clip.mesh_at(frame).expect("a frame of the clip");
        let mut scene = Look::default().scene(&pose);
        scene.backdrop.ground = self.ground;
        self.shot.framed_by(&self.in_view, &scene)
    }

    /// The pictures of every `step`-th frame.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn every(&self, step: usize) -> Result<Vec<Image>, ViewError> {
        (0..self.clip.frames().len())
            .step_by(step)
            .map(|frame| self.at(frame))
            .collect()
    }

    /// Adds `count` evenly spaced frames to a sheet.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn add_row(
        &self,
        sheet: &mut ContactSheet,
        name: &str,
        count: usize,
    ) -> Result<(), ViewError> {
        for k in 0..count {
            let frame = k * self.clip.frames().len() / count;
            sheet.push(self.at(frame)?, format!("{name}, frame {frame}"));
        }
        Ok(())
    }
}
