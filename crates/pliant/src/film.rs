//! Pictures of a clip from one place: single moments, rows of them, and films that play.

use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_view::{ContactSheet, Ground, Image, ViewError};

use crate::picture::{Look, Shot};

/// Frames that are asked where the motion goes. Ours: a picture may lose a hair of what happens
/// between them.
const FRAMING_FRAMES: usize = 12;

/// A clip before a camera that holds all of its motion in view, on the floor of its reference.
#[derive(Debug)]
pub(crate) struct Film<'a> {
    clip: &'a Clip,
    shot: Shot,
    in_view: Vec<DVec3>,
    ground: Ground,
}

impl<'a> Film<'a> {
    pub(crate) fn new(clip: &'a Clip, shot: Shot) -> Self {
        let step = clip.frames().len().div_ceil(FRAMING_FRAMES).max(1);
        let motion = clip.frames().iter().step_by(step).flatten();
        let in_view = clip
            .reference()
            .positions()
            .iter()
            .chain(motion)
            .copied()
            .collect();
        let ground = clip
            .reference()
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
    /// # Panics
    /// If the clip has no such frame.
    pub(crate) fn at(&self, frame: usize) -> Result<Image, ViewError> {
        let pose = self.clip.mesh_at(frame).expect("a frame of the clip");
        let mut scene = Look::default().scene(&pose);
        scene.backdrop.ground = self.ground;
        self.shot.framed_by(&self.in_view, &scene)
    }

    /// Every `step`-th frame.
    pub(crate) fn every(&self, step: usize) -> Result<Vec<Image>, ViewError> {
        (0..self.clip.frames().len())
            .step_by(step)
            .map(|frame| self.at(frame))
            .collect()
    }

    /// Adds `count` frames, evenly spaced, to a sheet.
    pub(crate) fn add_row(
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
