//! Blendshape rigs and clips: what animators own.
//!
//! A [`Rig`] is a neutral mesh and sparse targets; a [`Clip`] is a reference mesh and
//! its vertex positions frame by frame. A [`WeightTrack`] moves a rig's sliders over time.
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

mod activation;
mod box_terms;
mod clip;
mod clip_edit;
mod combination;
mod eased_curve;
mod error;
mod evaluator;
mod invert;
mod keyed_curves;
mod marker_track;
mod names;
mod pin;
mod pose;
mod residual;
mod rig;
mod settings;
mod skeleton;
mod skin;
mod slider;
mod stroke;
mod symmetry;
mod track;
mod vertex_order;

pub use activation::{Activation, Slope};
pub use clip::Clip;
pub use clip_edit::{Bell, ClipEdit, edit_clip};
pub use combination::{Combination, Driver, Rule};
pub use eased_curve::{Ease, EasedKey, eased_weight};
pub use error::RigError;
pub use evaluator::{EvaluatedPose, Evaluator};
pub use invert::{Inverse, InverseReport, InvertOptions, Inverter, MarkerClip, Miss};
pub use keyed_curves::{Key, KeyedCurves};
pub use marker_track::{MarkerGap, MarkerTrack};
pub use names::{
    Likeness, NameMap, NamePair, Side, SideStyle, SliderName, Vocabulary, all_groups, did_you_mean,
    match_names, mirrored_name,
};
pub use pin::{Aim, Pin, Support};
pub use pose::{
    Bounded, BoxProblem, Explanation, Factored, Grab, Hybrid, Localized, Near, Outcome, PinResult,
    PinShare, PinSystem, Pose, PoseSolver, Poser, PseudoInverse, Range, SliderMove, Tikhonov,
    Transpose, Units, weight_error,
};
pub use residual::{
    KeyedResidual, Residual, ResidualLayer, ResidualOptions, ResidualReport, unreachable_map,
};
pub use rig::{InBetween, Rig, Target};
pub use settings::{CombinationSettings, InBetweenSettings, RigSettings};
pub use skeleton::{Joint, Skeleton};
pub use skin::{Influence, Skin};
pub use slider::{Limits, Path, Slider, SliderGroup};
pub use stroke::{
    CubicSpline, CurveDirection, CurvePinOptions, Cut, DrawingPlane, Earlier, EndAim,
    HorizontalCurve, HorizontalFrame, LandmarkWarp, PinDepth, PinPlace, ProjectedStroke,
    ReusedStroke, SavedPin, SavedStroke, SideStretch, Sketch, SketchCamera, SketchOptions,
    SketchSurface, SketchedDrag, SketchedPose, Stroke, StrokeLibrary, StrokePiece, SurfaceCurve,
    curve_pins,
};
pub use symmetry::{
    MirrorPlane, SliderPairs, SplitOptions, SplitRig, VertexMirror, front_side, mirror_rig,
    split_rig, split_target, splittable_targets, symmetric_rig,
};
pub use track::{Interpolation, WeightTrack};
pub use vertex_order::{Scrambled, find_scrambled};
