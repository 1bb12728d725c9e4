//! Blendshape rigs: evaluation, direct manipulation, inverse rig, residual layers and symmetry.
//!
//! - `model`: a [`Rig`] is a neutral mesh with sparse [`Target`]s, sliders and combinations.
//! - `animation`: a [`Clip`] holds positions over time, a [`WeightTrack`] slider weights over time.
//! - `point_grid`: nearest points within a radius.
//! - `names`: [`SliderName`]s, their sides, and [`Vocabulary`]s such as ARKit and FACS.
//! - `pose`: slider weights from [`Pin`]s, with [`Poser`] and its solvers.
//! - `stroke`: pins from [`Stroke`]s on the screen.
//! - `residual`: a [`ResidualLayer`] for goals that no slider reaches.
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
mod model;
mod names;
mod point_grid;
mod pose;
mod residual;
mod stroke;
mod symmetry;

pub use animation::{
    Clip, ClipEdit, Ease, EasedKey, Falloff, Interpolation, Key, KeyedCurves, MarkerGap,
    MarkerTrack, WeightTrack, eased_weight, edit_clip,
};
pub use error::RigError;
pub use invert::{FitError, Inverse, InverseReport, InvertOptions, Inverter, MarkerClip};
pub use model::{
    Activation, ActivationDerivative, Combination, CombinationSettings, Driver, EvaluatedPose,
    Evaluator, FlatRig, InBetween, InBetweenSettings, Influence, Joint, Limits, Path,
    ReorderedTarget, Rig, RigSettings, Rule, Skeleton, Skin, Slider, SliderGroup, SliderId,
    StoredSliders, Target, VertexOrder, all_groups, find_reordered_targets,
};
pub use names::{
    MatchKind, NameMap, NamePair, Side, SliderName, Vocabulary, did_you_mean, match_names,
    mirrored_name,
};
pub use pose::{
    Aim, Bounded, BoxProblem, Explanation, Factored, Grab, Hybrid, Localized, Outcome, Pin,
    PinResult, PinShare, PinSystem, Pose, PoseSolver, Poser, PseudoInverse, Range, SliderMove,
    StepLimit, Support, Tikhonov, Transpose, Units, weight_error,
};
pub use residual::{
    KeyedResidual, Residual, ResidualLayer, ResidualOptions, ResidualReport, unreachable_map,
};
pub use stroke::{
    CubicSpline, CurveDirection, CurvePinOptions, Cut, DrawingPlane, EarlierStrokes, EndAim,
    HorizontalCurve, HorizontalFrame, LandmarkWarp, PinDepth, PinPlace, ProjectedStroke,
    ReusedStroke, SavedPin, SavedStroke, SideStretch, Sketch, SketchCamera, SketchOptions,
    SketchSurface, SketchedDrag, SketchedPose, Stroke, StrokeLibrary, StrokePiece, SurfaceCurve,
    curve_pins,
};
pub use symmetry::{
    MirrorPlane, SideStyle, SliderPairs, SplitOptions, SplitRig, VertexMirror, front_side,
    mirror_rig, split_rig, split_target, splittable_targets, symmetric_rig,
};
