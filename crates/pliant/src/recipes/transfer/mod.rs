//! Transfer recipes: sources, layers and regions of an animation synthesis, as a TOML file.
//!
//! ```toml
//! target = "tapir.obj"
//!
//! [[source]]
//! name = "walk"
//! clip = "hound.reference.obj+hound.frames.npy"
//! markers = "hound-tapir.json"
//!
//! [[layer]]
//! source = "walk"
//! region = "all"
//! ```
//!
//! - `region`: the forms of a region and of strokes in the text.
//! - `selection`: from the region of a recipe to the selected triangles of a target.

mod region;
mod selection;
#[cfg(test)]
mod tests;

use pliant_mesh::glam::DVec3;
use pliant_transfer::{
    BorderBand, CorrespondenceMethod, LayerMode, ReconstructionWeighting, RootMotion,
    StiffnessThreshold,
};
use serde::{Deserialize, Serialize};

use super::RecipeError;
pub use region::{Region, Strokes};
pub(crate) use selection::SelectionReader;

/// The content of a transfer recipe; nothing that it names is opened yet.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TransferRecipe {
    /// The asset that receives the animation.
    pub target: String,
    /// The output file, unless the caller gives one.
    pub output: Option<String>,
    /// How the root motion of the sources is treated.
    #[serde(default)]
    pub root: RootMotion,
    /// Whether feet that are planted in a source are planted in the target.
    #[serde(default)]
    pub feet: bool,
    /// The direction away from the ground, for `feet`.
    #[serde(default)]
    pub up: UpAxis,
    /// Whether self-intersections are counted.
    #[serde(default)]
    pub check: bool,
    /// Whether self-intersections are counted and corrected.
    #[serde(default)]
    pub untangle: bool,
    /// The weight of a triangle in the reconstruction.
    #[serde(default)]
    pub form: ReconstructionWeighting,
    /// The clips that animate the target.
    #[serde(rename = "source")]
    pub sources: Vec<RecipeSource>,
    /// The layers, from the lowest to the highest.
    #[serde(rename = "layer")]
    pub layers: Vec<RecipeLayer>,
    /// Regions of the target's reference pose that are rotated first.
    #[serde(rename = "modify", default, skip_serializing_if = "Vec::is_empty")]
    pub modifications: Vec<RecipeModification>,
}

/// A clip, and how its mesh is matched to the target.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeSource {
    /// The name by which layers refer to it.
    pub name: String,
    /// The asset with the clip.
    pub clip: String,
    /// A file of marker pairs; without one, the match follows from the shapes alone.
    pub markers: Option<String>,
    /// How its mesh is matched to the target.
    #[serde(default)]
    pub method: CorrespondenceMethod,
    /// Whether the motion of a source that faces another direction than the target is rotated to
    /// the target's direction.
    #[serde(default = "yes")]
    pub turn: bool,
    /// Whether a difference of the reference poses is compensated, stiff part by stiff part.
    #[serde(default)]
    pub align_poses: bool,
}

/// A part of a clip on a part of the target.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeLayer {
    /// The name of its source.
    pub source: String,
    /// The region of the target; all of it without a region and strokes.
    pub region: Option<Region>,
    /// Lines over the target; the triangles under them belong to the region as well.
    #[serde(default, skip_serializing_if = "Strokes::is_empty")]
    pub strokes: Strokes,
    /// Width of the strokes, as part of the target's diagonal.
    #[serde(default)]
    pub width: f64,
    /// Whether stiff parts of the target are selected as a whole while flexible parts blend.
    #[serde(default = "yes")]
    pub refine: bool,
    /// The flexibility below which a triangle is stiff.
    #[serde(default)]
    pub threshold: StiffnessThreshold,
    /// How the border of the region is softened instead.
    #[serde(default)]
    pub band: BorderBand,
    /// How the layer combines with the layers below.
    #[serde(default)]
    pub mode: LayerMode,
    /// First and last frame of the clip; without it, all frames.
    pub frames: Option<[usize; 2]>,
    /// The frame of the output at which it starts.
    #[serde(default)]
    pub at: usize,
    /// Frames of the clip per frame of the output.
    #[serde(default = "one")]
    pub speed: f64,
    /// Frames of the output over which the layer fades in and out.
    #[serde(default)]
    pub ease: f64,
}

/// A rotation of a region of the target's reference pose.
///
/// The keys of a region are repeated here and in [`RecipeLayer`]: serde cannot reject unknown keys
/// in a struct with a flattened part.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeModification {
    /// As in a layer.
    pub region: Option<Region>,
    /// As in a layer.
    #[serde(default, skip_serializing_if = "Strokes::is_empty")]
    pub strokes: Strokes,
    /// As in a layer.
    #[serde(default)]
    pub width: f64,
    /// As in a layer; the source of the lowest layer decides what is stiff.
    #[serde(default = "yes")]
    pub refine: bool,
    /// As in a layer.
    #[serde(default)]
    pub threshold: StiffnessThreshold,
    /// As in a layer.
    #[serde(default)]
    pub band: BorderBand,
    /// The axis of the rotation in the space of the target, of any length but zero.
    pub axis: [f64; 3],
    /// The angle, in degrees, by the right-hand rule.
    pub degrees: f64,
}

/// The keys of a region, of a layer or a modification.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RegionKeys<'a> {
    pub(crate) region: Option<&'a Region>,
    pub(crate) strokes: &'a Strokes,
    pub(crate) width: f64,
    pub(crate) refine: bool,
    pub(crate) threshold: StiffnessThreshold,
    pub(crate) band: BorderBand,
}

impl RecipeLayer {
    pub(crate) fn region_keys(&self) -> RegionKeys<'_> {
        RegionKeys {
            region: self.region.as_ref(),
            strokes: &self.strokes,
            width: self.width,
            refine: self.refine,
            threshold: self.threshold,
            band: self.band,
        }
    }
}

impl RecipeModification {
    pub(crate) fn region_keys(&self) -> RegionKeys<'_> {
        RegionKeys {
            region: self.region.as_ref(),
            strokes: &self.strokes,
            width: self.width,
            refine: self.refine,
            threshold: self.threshold,
            band: self.band,
        }
    }
}

/// The direction away from the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum UpAxis {
    /// Along x.
    X,
    /// Along y.
    #[default]
    Y,
    /// Along z.
    Z,
}

impl From<UpAxis> for DVec3 {
    fn from(up: UpAxis) -> Self {
        match up {
            UpAxis::X => Self::X,
            UpAxis::Y => Self::Y,
            UpAxis::Z => Self::Z,
        }
    }
}

impl TransferRecipe {
    /// A template with an explanation of every key.
    pub const TEMPLATE: &str = include_str!("template.toml");

    /// Reads a recipe; an unknown key is an error.
    ///
    /// # Errors
    /// [`RecipeError::Syntax`] with the line.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error))
    }

    /// The text that [`parse`](Self::parse) reads back as the same recipe.
    ///
    /// # Errors
    /// [`RecipeError::Meaning`] for a union of regions with a list of faces in it, which the format
    /// cannot express.
    pub fn to_toml(&self) -> Result<String, RecipeError> {
        toml::to_string(self).map_err(|error| RecipeError::meaning("region", error.to_string()))
    }

    /// The recipe of a whole clip on a whole target.
    #[must_use]
    pub fn plain(clip: &str, target: &str, markers: Option<&str>) -> Self {
        let source = RecipeSource {
            name: clip.into(),
            clip: clip.into(),
            markers: markers.map(Into::into),
            method: CorrespondenceMethod::Auto,
            turn: true,
            align_poses: false,
        };
        Self {
            target: target.into(),
            output: None,
            root: RootMotion::Carry,
            feet: false,
            up: UpAxis::Y,
            check: false,
            untangle: false,
            form: ReconstructionWeighting::Area,
            layers: vec![RecipeLayer::whole(clip)],
            sources: vec![source],
            modifications: Vec::new(),
        }
    }
}

impl RecipeLayer {
    /// All of a source on all of the target.
    #[must_use]
    pub fn whole(source: &str) -> Self {
        Self {
            source: source.into(),
            region: None,
            strokes: Strokes::default(),
            width: 0.0,
            refine: true,
            threshold: StiffnessThreshold::Auto,
            band: BorderBand::Auto,
            mode: LayerMode::Blend,
            frames: None,
            at: 0,
            speed: 1.0,
            ease: 0.0,
        }
    }
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}
