//! Blendshape rigs: evaluation, direct manipulation, inverse rig, residual layers and symmetry.
//!
//! - `model`: a [`Rig`] is a neutral mesh with sparse [`Target`]s, sliders and combinations.
//! - `animation`: a [`Clip`] holds positions over time, a [`WeightTrack`] slider weights over time.
//! - `point_grid`: nearest points within a radius.
//! - `names`: [`SliderName`]s, their sides, and [`Vocabulary`]s such as ARKit and FACS.
//! - `performance`: a [`Performance`] is a recording of named channels; a [`ChannelMap`] brings it onto a rig.
//! - `recognition`: combinations, in-betweens and aliases among the targets, by [`Recognition`].
//! - `pose`: slider weights from [`Pin`]s, with [`Poser`] and its solvers.
//! - `prior`: a [`PosePrior`] over the weights of known clips, and the [`MostProbable`] pose.
//! - `stroke`: pins from [`Stroke`]s on the screen.
//! - `residual`: a [`ResidualLayer`] for goals that no slider reaches.
//! - `landmarks`: [`FaceLandmark`]s such as `mouth corner left`, and where targets show them.
//! - `invert`: slider weights from a clip or from markers, with [`Inverter`].
//! - `symmetry`: [`MirrorPlane`], [`VertexMirror`], and mirrored or split targets.
//!
//! ```
//! use pliant_mesh::{Mesh, glam::{DVec3, Vec3}};
//! use pliant_rig::{Rig, Target};
//!
//! let neutral = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]])?;
//! let lift = Target::from_dense("lift", [Vec3::ZERO, Vec3::Z, Vec3::ZERO]);
//! let rig = Rig::new(neutral, vec![lift])?;
//! assert_eq!(rig.evaluate(&[0.5])[1], DVec3::new(1.0, 0.0, 0.5));
//! # Ok::<(), pliant_rig::RigError>(())
//! ```

mod animation;
mod error;
mod invert;
mod landmarks;
mod model;
mod names;
mod performance;
mod point_grid;
mod pose;
mod prior;
mod recognition;
mod residual;
mod stroke;
mod symmetry;

pub use animation::{
    Clip, ClipEdit, Ease, EasedKey, Falloff, FrameSelection, FrameSelectionError, Interpolation,
    Key, KeyedCurves, MarkerGap, MarkerTrack, PoseBlend, PoseLibrary, PoseScope, SavedPose,
    ShapeBasis, WeightTrack, eased_weight, edit_clip,
};
pub use error::RigError;
pub use invert::{
    ContactGaps, FitError, Inverse, InverseReport, InvertOptions, Inverter, MarkerClip,
};
pub use landmarks::{FaceLandmark, FacePlace, FoundLandmark, landmarks_by_targets};
pub use model::{
    Activation, ActivationDerivative, Combination, CombinationSettings, Driver, EvaluatedPose,
    Evaluator, FlatRig, InBetween, InBetweenSettings, Influence, Joint, Limits, Path, Preset,
    ReorderedTarget, Rig, RigSettings, Rule, Skeleton, Skin, Slider, SliderGroup, SliderId,
    StoredSliders, Target, VertexOrder, all_groups, find_reordered_targets, inverse_linear_part,
    inverse_linear_parts,
};
pub use names::{
    MatchKind, NameMap, NamePair, Side, SliderName, Vocabulary, did_you_mean, match_names,
    mirrored_name,
};
pub use performance::{
    BoundCalibration, BoundMap, Calibration, Channel, ChannelKind, ChannelMap, CharacterAxes,
    CleanOptions, CleanReport, FrameRate, MarkerAttachment, MarkerInverse, MarkerResidual,
    Performance, RotatingPart, RotationAngle, RotationChannel, RotationGains, Route, RouteKind,
    SideUse, Smoothing, Timecode, TimecodeStart, clean, gaze_of_shapes, visemes_of_speech,
};
pub use pose::{
    Aim, Bounded, BoxProblem, DragPath, Explanation, Factored, Grab, Hybrid, Localized, Outcome,
    Pin, PinResult, PinShare, PinSystem, Pose, PoseSolver, Poser, PseudoInverse, Range, SliderMove,
    StepLimit, Support, Tikhonov, Transpose, Units, weight_error,
};
pub use prior::{MostProbable, PosePrior};
pub use recognition::{Alias, Recognition};
pub use residual::{
    KeyedResidual, Residual, ResidualLayer, ResidualOptions, ResidualReport, unreachable_map,
};
pub use stroke::{
    CubicSpline, CurveDirection, CurvePinOptions, Cut, DrawingPlane, EarlierStrokes, EndAim,
    FaceFeatures, Feature, HorizontalCurve, HorizontalFrame, LandmarkWarp, PinDepth, PinPlace,
    ProjectedStroke, ReusedStroke, SavedPin, SavedStroke, SideStretch, Sketch, SketchCamera,
    SketchOptions, SketchSurface, SketchedDrag, SketchedPose, Stroke, StrokeLibrary, StrokePiece,
    SurfaceCurve, curve_pins,
};
pub use symmetry::{
    MirrorPlane, SideStyle, SliderPairs, SplitOptions, SplitRig, VertexMirror, front_side,
    mirror_rig, split_rig, split_target, splittable_targets, symmetric_rig,
};
