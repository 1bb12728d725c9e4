//! Settings of the Transfer room that the document stores: a recipe with markers and regions.

use std::sync::Arc;

use pliant::recipes::{
    BorderBand, CorrespondenceMethod, LayerMode, RecipeLayer, RecipeModification, RecipeSource,
    ReconstructionWeighting, Region, RootMotion, StiffnessThreshold, Strokes, TransferRecipe,
    UpAxis,
};
use serde::{Deserialize, Serialize};

use crate::model::document::Locator;
use crate::model::names::free_name;

/// Vertices that are the same spot, source first.
pub type Pairs = Arc<Vec<[u32; 2]>>;

/// The settings of the Transfer room.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The asset that is to move; empty before there is one.
    pub target: Locator,
    /// The clips that move it.
    pub sources: Vec<SourceSetup>,
    /// Parts of the target.
    pub regions: Vec<RegionSetup>,
    /// The layers, from the lowest to the highest.
    pub layers: Vec<LayerSetup>,
    /// Regions of the target's reference pose that are rotated.
    pub turns: Vec<RotationSetup>,
    /// How to treat the root motion of the source.
    pub root: RootMotion,
    /// Whether feet that stand in a source stand in the target.
    pub feet: bool,
    /// The direction away from the ground.
    pub up: UpAxis,
    /// Whether frames that cut through themselves are counted.
    pub check: bool,
    /// Whether they are corrected, too.
    pub untangle: bool,
    /// Result of the last run.
    pub outcome: Option<Outcome>,
}

impl Setup {
    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        let clips = self.sources.iter_mut().map(|source| &mut source.clip);
        std::iter::once(&mut self.target)
            .chain(clips)
            .filter(|locator| !locator.is_empty())
            .for_each(visit);
    }
}

/// A clip, and where its mesh is like the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSetup {
    /// The name that regions and layers call it by, unlike all others.
    pub name: String,
    /// The asset with the clip.
    pub clip: Locator,
    /// Marker pairs, as they were placed.
    #[serde(with = "crate::model::shared")]
    pub pairs: Pairs,
    /// Whether each pair counts on the other side, too.
    pub mirrored: bool,
    /// How the meshes are brought together.
    pub method: CorrespondenceMethod,
    /// Whether the source is rotated to the orientation of the target.
    pub turn: bool,
    /// Whether different reference poses are compensated.
    pub align_poses: bool,
}

/// A part of the target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RegionSetup {
    /// The name that layers and turns call it by, unlike all others.
    pub name: String,
    /// Its colour, as sRGB.
    pub color: [u8; 3],
    /// The source whose clip moves it, and returns which parts are rigid.
    pub source: String,
    /// The faces that were painted, ascending.
    #[serde(with = "crate::model::shared")]
    pub faces: Arc<Vec<u32>>,
    /// Whether rigid parts are taken or left as a whole, and what bends between them blends.
    pub refine: bool,
}

/// A part of a clip on a part of the target, for a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerSetup {
    /// The name of its source.
    pub source: String,
    /// The name of its region; all of the target without one.
    pub region: Option<String>,
    /// How it meets what lies below.
    pub mode: LayerMode,
    /// First and last frame of the clip; all without.
    pub frames: Option<[usize; 2]>,
    /// The frame of the result at which it starts.
    pub at: usize,
    /// Frames of the clip per frame of the result.
    pub speed: f64,
    /// Frames over which it comes in and goes out.
    pub ease: f64,
}

/// A region of the reference pose, turned about the three axes one after another.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RotationSetup {
    /// The name of the region.
    pub region: String,
    /// Angles about x, y and z.
    pub degrees: [f64; 3],
}

/// The result of a run. Lengths are relative to the target's diagonal.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// The name of its take.
    pub take: String,
    /// Frames.
    pub frames: usize,
    /// Time for one frame.
    pub ms_per_frame: f64,
    /// Time for the maps.
    pub map_ms: f64,
    /// Triangles of the target.
    pub triangles: usize,
    /// Those of the worst map that found no partner, or only one that faces away.
    pub lost: usize,
    /// The mean distance between partners of the worst map.
    pub residual: f64,
    /// Vertices that stand at some time, and how far they slid before and after they were held.
    pub feet: Option<(usize, [f64; 2])>,
    /// Frames that cut through themselves, before and after correction.
    pub tangled: Option<[usize; 2]>,
    /// A warning for the user.
    pub problems: Vec<String>,
}

impl Default for SourceSetup {
    fn default() -> Self {
        Self {
            name: String::new(),
            clip: String::new(),
            pairs: Arc::default(),
            mirrored: true,
            method: CorrespondenceMethod::Auto,
            turn: true,
            align_poses: false,
        }
    }
}

impl Default for LayerSetup {
    fn default() -> Self {
        Self {
            source: String::new(),
            region: None,
            mode: LayerMode::Blend,
            frames: None,
            at: 0,
            speed: 1.0,
            ease: 0.0,
        }
    }
}

/// Colours of regions, apart from each other for most eyes, and from clay.
const REGION_COLORS: [[u8; 3]; 8] = [
    [230, 120, 40],
    [60, 140, 220],
    [70, 170, 90],
    [200, 80, 160],
    [150, 110, 220],
    [210, 180, 40],
    [60, 180, 180],
    [200, 70, 70],
];

impl Setup {
    /// Adds a clip under a name of its own; the first one moves all of the target.
    pub fn add_source(&mut self, clip: Locator) {
        let name = free_name(&short_name(&clip), |name| {
            self.sources.iter().any(|source| source.name == name)
        });

        // The first source animates the whole target.
        if self.layers.is_empty() {
            self.layers.push(LayerSetup {
                source: name.clone(),
                ..LayerSetup::default()
            });
        }

        self.sources.push(SourceSetup {
            name,
            clip,
            ..SourceSetup::default()
        });
    }

    /// Takes a clip out, with its layers; regions that it moved go to the first that is left.
    pub fn remove_source(&mut self, index: usize) {
        if index >= self.sources.len() {
            return;
        }

        let name = self.sources.remove(index).name;
        self.layers.retain(|layer| layer.source != name);
        // Regions stay, with the motion of the first source that is left.
        let first = self
            .sources
            .first()
            .map_or_else(String::new, |source| source.name.clone());

        for region in self
            .regions
            .iter_mut()
            .filter(|region| region.source == name)
        {
            region.source.clone_from(&first);
        }
    }

    /// Takes another target; vertices and faces of the one before mean nothing on it.
    pub fn set_target(&mut self, target: Locator) {
        self.target = target;
        for source in &mut self.sources {
            source.pairs = Arc::default();
        }
        self.regions.clear();
        self.turns.clear();
        self.layers.retain(|layer| layer.region.is_none());
        self.outcome = None;
    }

    /// Adds an empty region of a source, and a layer with it.
    pub fn add_region(&mut self, source: &str) {
        let region = Some(self.push_region(Vec::new(), source, true));
        self.layers.push(LayerSetup {
            source: source.to_owned(),
            region,
            ..LayerSetup::default()
        });
    }

    fn push_region(&mut self, faces: Vec<u32>, source: &str, refine: bool) -> String {
        let name = free_name("Region", |name| self.region(name).is_some());
        let color = REGION_COLORS[self.regions.len() % REGION_COLORS.len()];
        self.regions.push(RegionSetup {
            name: name.clone(),
            color,
            source: source.to_owned(),
            faces: Arc::new(faces),
            refine,
        });
        name
    }

    /// The name of the region of these faces, a new one if there is none like it.
    pub(crate) fn region_of(&mut self, faces: Vec<u32>, source: &str, refine: bool) -> String {
        let same = |region: &&RegionSetup| {
            *region.faces == faces && (&*region.source, region.refine) == (source, refine)
        };
        let known = self
            .regions
            .iter()
            .find(same)
            .map(|region| region.name.clone());
        known.unwrap_or_else(|| self.push_region(faces, source, refine))
    }

    /// Takes a region out, with what refers to it.
    pub fn remove_region(&mut self, index: usize) {
        if index >= self.regions.len() {
            return;
        }
        let name = self.regions.remove(index).name;
        self.layers
            .retain(|layer| layer.region.as_ref() != Some(&name));
        self.turns.retain(|turn| turn.region != name);
    }

    /// Gives a region another name, unless another one has it.
    pub fn rename_region(&mut self, index: usize, name: &str) {
        if name.is_empty() || self.region(name).is_some() {
            return;
        }
        let Some(region) = self.regions.get_mut(index) else {
            return;
        };

        // Layers and rotations refer to the region by name.
        let before = std::mem::replace(&mut region.name, name.to_owned());
        for r in self
            .layers
            .iter_mut()
            .filter_map(|layer| layer.region.as_mut())
            .filter(|r| **r == before)
        {
            name.clone_into(r);
        }

        for turn in self.turns.iter_mut().filter(|turn| turn.region == before) {
            name.clone_into(&mut turn.region);
        }
    }

    /// Rotates a region; zero angles remove the rotation.
    pub fn set_rotation(&mut self, region: &str, degrees: [f64; 3]) {
        self.turns.retain(|turn| turn.region != region);
        if degrees != [0.0; 3] {
            self.turns.push(RotationSetup {
                region: region.to_owned(),
                degrees,
            });
        }
    }

    /// The region of this name.
    #[must_use]
    pub fn region(&self, name: &str) -> Option<&RegionSetup> {
        self.regions.iter().find(|region| region.name == name)
    }

    /// The rotation of a region.
    #[must_use]
    pub fn rotation_of(&self, region: &str) -> [f64; 3] {
        self.turns
            .iter()
            .find(|turn| turn.region == region)
            .map_or([0.0; 3], |turn| turn.degrees)
    }

    /// The same as the command line takes it, but for the markers, which it has in files.
    #[must_use]
    pub fn recipe(&self) -> TransferRecipe {
        TransferRecipe {
            target: self.target.clone(),
            output: None,
            root: self.root,
            feet: self.feet,
            up: self.up,
            check: self.check,
            untangle: self.untangle,
            form: ReconstructionWeighting::Area,
            sources: self.sources.iter().map(SourceSetup::recipe).collect(),
            layers: self.layers.iter().map(|layer| layer.recipe(self)).collect(),
            modifications: self
                .turns
                .iter()
                .flat_map(|turn| turn.recipe(self))
                .collect(),
        }
    }
}

impl SourceSetup {
    fn recipe(&self) -> RecipeSource {
        let Self {
            name,
            clip,
            method,
            turn,
            align_poses,
            ..
        } = self;
        RecipeSource {
            name: name.clone(),
            clip: clip.clone(),
            markers: None,
            method: *method,
            turn: *turn,
            align_poses: *align_poses,
        }
    }
}

impl RegionSetup {
    /// Its faces as a recipe names them.
    #[must_use]
    pub fn recipe(&self) -> Region {
        Region::Faces(self.faces.iter().map(|&face| face as usize).collect())
    }
}

impl LayerSetup {
    fn recipe(&self, setup: &Setup) -> RecipeLayer {
        let region = self.region.as_deref().and_then(|name| setup.region(name));
        RecipeLayer {
            region: region.map(RegionSetup::recipe),
            refine: region.is_none_or(|region| region.refine),
            mode: self.mode,
            frames: self.frames,
            at: self.at,
            speed: self.speed,
            ease: self.ease,
            ..RecipeLayer::whole(&self.source)
        }
    }
}

impl RotationSetup {
    /// One rotation about each axis that has an angle.
    fn recipe<'a>(&'a self, setup: &'a Setup) -> impl Iterator<Item = RecipeModification> + 'a {
        let region = setup.region(&self.region);
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        region.into_iter().flat_map(move |region| {
            axes.into_iter()
                .zip(self.degrees)
                .filter(|(_, degrees)| *degrees != 0.0)
                .map(|(axis, degrees)| RecipeModification {
                    region: Some(region.recipe()),
                    strokes: Strokes::default(),
                    width: 0.0,
                    refine: region.refine,
                    threshold: StiffnessThreshold::Auto,
                    band: BorderBand::Auto,
                    axis,
                    degrees,
                })
        })
    }
}

/// What the user calls an asset: `hound walk` for `specimen:hound#walk`, `horse` for
/// `meshes/horse.glb`.
#[must_use]
pub fn short_name(locator: &str) -> String {
    let (path, part) = locator
        .split_once('#')
        .map_or((locator, ""), |(path, part)| (path, part));
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = file
        .strip_prefix("specimen:")
        .unwrap_or_else(|| file.rsplit_once('.').map_or(file, |(stem, _)| stem));
    format!("{stem} {part}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_sources() -> Setup {
        let mut setup = Setup {
            target: "specimen:tapir".into(),
            ..Setup::default()
        };
        setup.add_source("specimen:hound#walk".into());
        setup.add_source("specimen:hound#walk".into());
        setup
    }

    #[test]
    fn asset_names_are_short_and_source_names_are_unique() {
        assert_eq!(
            short_name("meshes/old/horse.v2.glb#gallop"),
            "horse.v2 gallop"
        );

        let setup = two_sources();
        assert_eq!(
            [&*setup.sources[0].name, &*setup.sources[1].name],
            ["hound walk", "hound walk 2"]
        );
        assert_eq!(setup.layers.len(), 1, "the first one moves everything");
    }

    #[test]
    fn removing_a_region_removes_its_layers_and_rotations() {
        let mut setup = two_sources();
        setup.add_region("hound walk 2");
        setup.set_rotation("Region", [0.0, 30.0, 10.0]);
        setup.rename_region(0, "Trunk");

        assert_eq!(
            (setup.layers[1].region.as_deref(), &*setup.turns[0].region),
            (Some("Trunk"), "Trunk")
        );

        // An angle of zero gives no entry in the recipe.
        let recipe = setup.recipe();
        let turned: Vec<([f64; 3], f64)> = recipe
            .modifications
            .iter()
            .map(|m| (m.axis, m.degrees))
            .collect();

        assert_eq!(turned, [([0.0, 1.0, 0.0], 30.0), ([0.0, 0.0, 1.0], 10.0)]);
        setup.remove_region(0);
        assert_eq!((setup.layers.len(), setup.turns.len()), (1, 0));
    }

    #[test]
    fn removing_a_source_removes_its_layers_and_keeps_its_regions() {
        let mut setup = two_sources();
        setup.add_region("hound walk 2");
        setup.remove_source(1);
        assert_eq!(
            (setup.layers.len(), &*setup.regions[0].source),
            (1, "hound walk")
        );
    }

    #[test]
    fn a_setup_is_restored_from_its_text() {
        let mut setup = two_sources();
        setup.sources[0].pairs = Arc::new(vec![[1, 2], [3, 4]]);
        setup.add_region("hound walk");
        setup.outcome = Some(Outcome {
            feet: Some((3, [0.5, 0.25])),
            ..Outcome::default()
        });

        assert_eq!(
            serde_json::from_str::<Setup>(&serde_json::to_string(&setup).unwrap()).unwrap(),
            setup
        );

        assert_eq!(
            serde_json::from_str::<Setup>("{}").unwrap(),
            Setup::default()
        );
    }
}
