//! Control points over time from a marker track, directly or through a skeleton of end effectors.
//!
//! **Method.** A [`MarkerPreparation`] turns the markers into one goal per control point and frame. With
//! a skeleton the markers are goals of its end effectors; an [`IkSolver`] finds the joints, and the
//! control points are those joints that sit at them.

use pliant_mesh::MeshError;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, MarkerTrack};
use web_time::Instant;

use crate::{DrivenPoints, IkPose, IkSkeleton, IkSolver, LearnError, MarkerPreparation, Model};

/// A distance between effector and goal beyond this part of the longest chain gives a warning.
const UNREACHED: f64 = 1e-3;

/// Control points over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlTrack {
    /// One position per control point and frame.
    pub frames: Vec<Vec<DVec3>>,
    /// Frames per second, where known.
    pub fps: Option<f64>,
    /// What was filled, guessed or left out.
    pub warnings: Vec<String>,
    /// How closely the end effectors reached their goals.
    pub effectors: Option<EffectorReport>,
}

/// How closely end effectors reached their goals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectorReport {
    /// The largest distance of an effector from its goal, in the model's units.
    pub miss: f64,
    /// The frame with that distance.
    pub frame: usize,
    /// Mean time of a frame.
    pub ms_per_frame: f64,
}

impl ControlTrack {
    /// A single frame of control points.
    #[must_use]
    pub fn still(goals: Vec<DVec3>) -> Self {
        Self {
            frames: vec![goals],
            fps: None,
            warnings: Vec::new(),
            effectors: None,
        }
    }

    /// The control points of `model` from markers that are goals of the points themselves.
    ///
    /// # Errors
    /// Markers that do not fit the model, or settings out of range.
    pub fn from_markers(
        track: &MarkerTrack,
        model: &Model,
        preparation: &MarkerPreparation,
    ) -> Result<Self, LearnError> {
        let reference = model.examples().reference().positions();
        let source = DrivenPoints {
            rest: &model.control().at(reference),
            names: &[],
            reference,
        };
        let prepared = preparation.run(track, &source)?;

        Ok(Self {
            frames: prepared.frames,
            fps: prepared.fps,
            warnings: prepared.warnings,
            effectors: None,
        })
    }

    /// The control points of `model` from markers that are goals of the end effectors of `solver`.
    ///
    /// # Errors
    /// As [`from_markers`](Self::from_markers).
    pub fn from_effectors(
        track: &MarkerTrack,
        model: &Model,
        solver: &IkSolver,
        preparation: &MarkerPreparation,
    ) -> Result<Self, LearnError> {
        let skeleton = solver.skeleton();
        let (names, rest): (Vec<&str>, Vec<DVec3>) = skeleton
            .effectors()
            .map(|joint| (joint.name.as_str(), joint.at))
            .unzip();
        let source = DrivenPoints {
            rest: &rest,
            names: &names,
            reference: model.examples().reference().positions(),
        };
        let mut prepared = preparation.run(track, &source)?;

        let began = Instant::now();
        let poses = solver.solve_all(&prepared.frames)?;
        let ms_per_frame = began.elapsed().as_secs_f64() * 1e3 / poses.len() as f64;

        let (frame, miss) = largest_error(&poses);
        if miss > UNREACHED * skeleton.reach() {
            prepared.warnings.push(format!(
                "goals are out of reach: in frame {frame} an effector stays {miss:.4} away from its goal"
            ));
        }

        let count = model.control().count();
        Ok(Self {
            frames: poses
                .iter()
                .map(|pose| skeleton.controls(&pose.positions, count))
                .collect(),
            fps: prepared.fps,
            warnings: prepared.warnings,
            effectors: Some(EffectorReport {
                miss,
                frame,
                ms_per_frame,
            }),
        })
    }
}

/// The first frame with the largest distance between an effector and its goal, and that distance.
fn largest_error(poses: &[IkPose]) -> (usize, f64) {
    let mut largest = (0, 0.0);
    for (frame, pose) in poses.iter().enumerate() {
        if pose.residual > largest.1 {
            largest = (frame, pose.residual);
        }
    }
    largest
}

/// The positions of the control points of `model` in a clip of its mesh.
///
/// # Errors
/// A clip with another number of vertices than the model, and positions that are not finite.
pub fn control_markers(model: &Model, clip: &Clip) -> Result<MarkerTrack, pliant_rig::RigError> {
    MeshError::require_count(
        "the vertices of the clip",
        clip.reference().vertex_count(),
        model.examples().reference().vertex_count(),
    )?;

    let control = model.control();
    let names = control.vertices().iter().map(u32::to_string).collect();
    let mut frames = Vec::with_capacity(clip.frames().len());
    for frame in clip.frames() {
        frames.push(control.at(frame).into_iter().map(Some).collect());
    }
    MarkerTrack::new(names, Some(clip.frames_per_second()), frames)
}

/// The part of a track of control points that gives the effectors which sit at control points.
///
/// # Panics
/// If the track has fewer markers than the skeleton's control points.
#[must_use]
pub fn effector_markers(track: &MarkerTrack, skeleton: &IkSkeleton) -> MarkerTrack {
    let mut names = Vec::new();
    let mut controls = Vec::new();
    for joint in skeleton.effectors() {
        if let Some(control) = joint.control {
            names.push(joint.name.clone());
            controls.push(control);
        }
    }

    let frames = track
        .frames()
        .iter()
        .map(|frame| controls.iter().map(|&k| frame[k]).collect())
        .collect();
    MarkerTrack::new(names, track.fps(), frames).expect("a part of a track is a track")
}
