//! Settings of the Learn room that the document stores.

use std::collections::BTreeSet;

use pliant::learn::{ControlConstraint, DetailMode, DetailOptions, LearnOptions, Method};
use pliant::mesh::glam::DVec3;
use pliant::recipes::SkeletonFile;
use serde::{Deserialize, Serialize};

use crate::model::blob::Blob;
use crate::model::document::Locator;

/// The settings of the Learn room, and the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// Examples and training settings.
    pub recipe: TrainingSettings,
    /// Whether training begins by itself as soon as the examples are there: for a document that
    /// opens ready to use.
    pub trains_itself: bool,
    /// The model.
    pub trained: Option<Trained>,
    /// The result of the leave-one-out validation.
    pub judged: Option<Validation>,
    /// The joints by which end effectors are followed.
    pub skeleton: Option<SkeletonFile>,
    /// How the model is driven.
    pub drive: Drive,
    /// Captured markers, or a clip whose control points are followed.
    pub capture: Option<Capture>,
}

impl Setup {
    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        self.recipe.for_each_locator(visit);
        if let Some(trained) = &mut self.trained {
            trained.of.for_each_locator(visit);
        }

        if let Some(judged) = &mut self.judged {
            judged.of.for_each_locator(visit);
            for error in &mut judged.errors {
                visit(&mut error.pose.asset);
            }
        }

        if let Some(capture) = &mut self.capture {
            visit(&mut capture.source);
        }
    }

    /// Visits every large result.
    pub fn for_each_blob(&mut self, visit: &mut dyn FnMut(&mut Blob)) {
        if let Some(trained) = &mut self.trained {
            visit(&mut trained.model);
        }
    }

    /// Whether examples, points or options are others than those of the model.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.trained
            .as_ref()
            .is_some_and(|trained| trained.of != self.recipe)
    }
}

/// The settings that determine a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainingSettings {
    /// Clips and meshes, all of one topology.
    pub sources: Vec<Locator>,
    /// The pose at rest; without it, that of the first source.
    pub rest: Option<PoseId>,
    /// Poses that are not learned from.
    pub left_out: BTreeSet<PoseId>,
    /// The control points, in order.
    pub points: Vec<u32>,
    /// The method.
    #[serde(with = "method_name")]
    pub method: Method,
    /// Number of control points per bone.
    pub neighbors: usize,
    /// Number of examples per local model (Huang et al. 2012).
    pub pose_neighbors: usize,
    /// How closely control points are followed; `None` for the default of the method.
    pub beta: Option<f64>,
    /// Number of abstract bones; `None` for the default of the method.
    pub bones: Option<usize>,
    /// Whether an example's own control points return it exactly.
    pub exact: bool,
    /// Fine detail above the poses.
    pub details: Details,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            rest: None,
            left_out: BTreeSet::new(),
            points: Vec::new(),
            method: Method::Auto,
            neighbors: LearnOptions::DEFAULT_NEIGHBORS,
            pose_neighbors: LearnOptions::DEFAULT_POSE_NEIGHBORS,
            beta: None,
            bones: None,
            exact: false,
            details: Details::None,
        }
    }
}

impl TrainingSettings {
    fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        self.sources
            .iter_mut()
            .chain(self.rest.as_mut().map(|pose| &mut pose.asset))
            .for_each(&mut *visit);

        // The visit changes the sort key of the set, so the set is rebuilt.
        let left_out = std::mem::take(&mut self.left_out)
            .into_iter()
            .map(|mut pose| {
                visit(&mut pose.asset);
                pose
            });

        self.left_out = left_out.collect();
        if let Details::Asset(locator) = &mut self.details {
            visit(locator);
        }
    }

    /// Training options of the model.
    #[must_use]
    pub fn options(&self) -> LearnOptions {
        let options = LearnOptions::default()
            .with_method(self.method)
            .with_exact(self.exact);
        let options = options
            .with_neighbors(self.neighbors)
            .with_pose_neighbors(self.pose_neighbors);
        let options = self.beta.map_or(options, |beta| options.with_beta(beta));
        self.bones
            .map_or(options, |bones| options.with_bones(bones))
    }

    /// Training options of the details.
    #[must_use]
    pub fn detail_options(&self) -> DetailOptions {
        DetailOptions::default().with_mode(DetailMode::of_method(self.method))
    }
}

/// A pose of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PoseId {
    /// The source.
    pub asset: Locator,
    /// The frame of its clip; none for the mesh itself.
    pub frame: Option<u32>,
}

/// Where fine detail comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Details {
    /// There is none.
    #[default]
    None,
    /// The examples are smoothed; what that takes away is the detail.
    Smoothing,
    /// The same poses, detailed.
    Asset(Locator),
}

/// A model and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// The bytes of a `safetensors` file.
    pub model: Blob,
    /// Its training data.
    pub of: TrainingSettings,
    /// Warnings of the training.
    pub problems: Vec<String>,
    /// The method's choices as text; empty where it has none.
    pub chosen: String,
    /// Examples, with the pose at rest.
    pub examples: usize,
    /// Number of abstract bones.
    pub bones: usize,
    /// RMS distance of the examples driven by their own points, over the longest side.
    pub fit_error: f64,
    /// Seconds that it took.
    pub secs: f64,
}

/// Errors of a leave-one-out validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// The validated settings.
    pub of: TrainingSettings,
    /// By example; the pose at rest is never left out.
    pub errors: Vec<ExampleError>,
}

/// The error of one example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExampleError {
    /// The example.
    pub pose: PoseId,
    /// Its name.
    pub name: String,
    /// RMS distance over the longest side.
    pub rms: f64,
}

impl Validation {
    /// The mean over the examples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.errors.iter().map(|error| error.rms).sum::<f64>() / self.errors.len().max(1) as f64
    }

    /// The example that is predicted worst.
    #[must_use]
    pub fn worst(&self) -> Option<&ExampleError> {
        self.errors.iter().max_by(|a, b| a.rms.total_cmp(&b.rms))
    }
}

/// How the model is driven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drive {
    /// What moves it.
    pub by: DrivenBy,
    /// Where the control points are requested; empty at rest.
    pub goals: Vec<[f64; 3]>,
    /// Where the end effectors are requested; empty at rest.
    pub effectors: Vec<[f64; 3]>,
    /// How far along the surface a pulled control point takes others along, over the longest side;
    /// zero for none.
    pub reach: f64,
    /// Whether details are shown that the model has.
    pub details: bool,
    /// Whether colours show the confidence.
    pub confidence: bool,
    /// How control points are held.
    pub hold: HoldMode,
    /// Frequency of the secondary motion in hertz; zero for none.
    pub swing_hertz: f64,
    /// Damping ratio of the secondary motion.
    pub swing_damping: f64,
}

impl Drive {
    /// Chosen: a dragged fingertip moves its finger, and the next finger stays.
    pub const DEFAULT_REACH: f64 = 0.25;
}

impl Default for Drive {
    fn default() -> Self {
        Self {
            by: DrivenBy::Points,
            goals: Vec::new(),
            effectors: Vec::new(),
            reach: Self::DEFAULT_REACH,
            details: true,
            confidence: false,
            hold: HoldMode::Learned,
            swing_hertz: 0.0,
            swing_damping: pliant::learn::SecondaryMotionOptions::DEFAULT_DAMPING,
        }
    }
}

/// What moves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum DrivenBy {
    /// Each control point by itself.
    #[default]
    Points,
    /// A few of them; a skeleton finds the others.
    Effectors,
    /// Captured markers over time.
    Capture,
}

/// How control points are held.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum HoldMode {
    /// As trained.
    #[default]
    Learned,
    /// Met exactly.
    Hard,
    /// Followed with this weight.
    Soft(f64),
}

impl HoldMode {
    /// The same for a model; none for as it was trained.
    #[must_use]
    pub fn hold(self) -> Option<ControlConstraint> {
        match self {
            Self::Learned => None,
            Self::Hard => Some(ControlConstraint::Hard),
            Self::Soft(beta) => Some(ControlConstraint::Soft(beta)),
        }
    }
}

/// Captured markers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// A file of markers, or a clip of the same mesh.
    pub source: Locator,
    /// The length of a unit of the take in units of the model.
    pub scale: f64,
    /// Which axis of the take is the model's x, y and z, such as `xz-y`; empty for the same.
    pub axes: String,
    /// Whether the motion of the whole is taken off.
    pub aligned: bool,
    /// The deviation over which the motion is smoothed, in frames.
    pub smooth_frames: f64,
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            source: String::new(),
            scale: 1.0,
            axes: String::new(),
            aligned: false,
            smooth_frames: 0.0,
        }
    }
}

/// Places as the document has them.
pub(crate) fn as_arrays(places: &[DVec3]) -> Vec<[f64; 3]> {
    places.iter().map(|place| place.to_array()).collect()
}

/// Places as libraries take them.
pub(crate) fn as_places(arrays: &[[f64; 3]]) -> Vec<DVec3> {
    arrays
        .iter()
        .map(|array| DVec3::from_array(*array))
        .collect()
}

/// `#[serde(with = "method_name")]`: a method is written as its name in recipes.
mod method_name {
    use pliant::learn::Method;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        method: &Method,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(method.name())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Method, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_settings_are_restored_from_their_text() {
        let recipe = TrainingSettings {
            sources: vec!["specimen:hand".into()],
            left_out: BTreeSet::from([PoseId {
                asset: "specimen:hand".into(),
                frame: Some(3),
            }]),
            points: vec![5, 249, 1006],
            method: Method::Sumner2005,
            details: Details::Asset("sculpted.glb".into()),
            ..TrainingSettings::default()
        };

        let text = serde_json::to_string(&recipe).unwrap();
        assert!(text.contains("\"meshik\""), "{text}");
        assert_eq!(
            serde_json::from_str::<TrainingSettings>(&text).unwrap(),
            recipe
        );
        assert_eq!(
            serde_json::from_str::<Setup>("{}").unwrap(),
            Setup::default()
        );
    }

    #[test]
    fn the_worst_example_is_the_one_with_the_largest_error() {
        let error = |name: &str, rms| ExampleError {
            pose: PoseId {
                asset: String::new(),
                frame: None,
            },
            name: name.into(),
            rms,
        };

        let judged = Validation {
            of: TrainingSettings::default(),
            errors: vec![error("fist", 0.1), error("point", 0.4), error("flat", 0.1)],
        };

        assert_eq!(judged.worst().map(|worst| &*worst.name), Some("point"));
        assert!((judged.mean() - 0.2).abs() < 1e-15);
    }
}
