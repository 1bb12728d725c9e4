//! The settings of the Pose room that the document stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant::rig::{PoseLibrary, SavedStroke};
use serde::{Deserialize, Serialize};

use super::line_options::LineOptions;
use super::method::Method;
use super::pins::{PinMark, Pull};
use crate::model::document::Locator;
use crate::model::shared::Shared;

/// The settings of the Pose room.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The pins.
    pub pins: Vec<PinMark>,
    /// The last drag.
    pub pull: Option<Pull>,
    /// Whether pins and strokes act on both sides.
    pub mirrored: bool,
    /// Whether a drag in the view plane requests depth, too.
    pub fixed_depth: bool,
    /// How pins become weights.
    pub method: Method,
    /// Another method to compare with.
    pub compared: Option<Method>,
    /// How lines become pins.
    pub lines: LineOptions,
    /// Landmarks of each rig, in the same order.
    pub landmarks: BTreeMap<Locator, Vec<u32>>,
    /// Saved strokes.
    pub strokes: Vec<StoredStroke>,
    /// Saved poses.
    pub library: Shared<PoseLibrary>,
    /// What no slider reaches.
    pub sculpt: ResidualSettings,
    /// The colours of the face.
    pub heat: HeatKind,
}

impl Setup {
    /// Removes what refers to vertices of the character; options stay.
    pub fn release(&mut self) {
        self.pins.clear();
        self.pull = None;
    }

    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        let landmarks =
            std::mem::take(&mut self.landmarks)
                .into_iter()
                .map(|(mut asset, vertices)| {
                    visit(&mut asset);
                    (asset, vertices)
                });

        self.landmarks = landmarks.collect();
        for stroke in &mut self.strokes {
            visit(&mut stroke.asset);
        }
    }
}

/// The smooth layer on top of the sliders.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResidualSettings {
    /// Whether it takes up what no slider reaches.
    pub on: bool,
    /// How far around pins it moves the surface, in the asset's units; `None` suits the mesh.
    pub radius: Option<f64>,
}

/// What colours show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeatKind {
    /// Clay.
    #[default]
    Off,
    /// How much of the goals no slider reaches.
    Unreachable,
    /// How far the pose is from the neutral.
    Displacement,
    /// How far along the surface it is from the selected pin, or from the nearest where none is
    /// selected.
    Geodesic,
}

/// A saved stroke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredStroke {
    /// The stroke, relative to its landmarks.
    #[serde(with = "crate::model::shared")]
    pub stroke: Arc<SavedStroke>,
    /// The rig it was drawn on.
    pub asset: Locator,
    /// The vertices that were its landmarks there.
    pub landmarks: Vec<u32>,
    /// Whether those were the outermost vertices because there were too few landmarks.
    pub extreme_vertices: bool,
}
