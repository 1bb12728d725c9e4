//! Settings of the Blend room that the document stores; nothing that is computed from them.

use std::sync::Arc;

pub use pliant::physics::WeightKey as BlendKey;
use pliant::physics::{
    BlendOptions, CageSize, ContactOptions, EnergyTerms, InteriorOptions, InteriorPoints,
    LengthTerm,
};
use serde::{Deserialize, Serialize};

use super::ObstacleMark;
use crate::model::document::Locator;
use crate::model::shared::Shared;

/// The settings of the Blend room.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// Poses of one surface: none yet, two or three.
    pub shapes: Vec<ShapeMark>,
    /// The weight of each shape; they sum to one.
    pub weights: Vec<f64>,
    /// Vertices of the anchor; none for the centre.
    pub anchor: Vec<u32>,
    /// Fixed vertices: they move linearly between the shapes; ascending.
    #[serde(with = "crate::model::shared")]
    pub fixed: Arc<Vec<u32>>,
    /// How stiff each vertex is; empty where all are alike.
    pub stiffness: Shared<Vec<f32>>,
    /// The obstacles.
    pub obstacles: Vec<ObstacleMark>,
    /// Coulomb's friction at obstacles.
    pub friction: f64,
    /// Whether self-contact is prevented.
    pub self_contact: bool,
    /// The material.
    pub material: Material,
    /// The solver.
    pub solver: Solver,
    /// Whether a coarse cage is solved instead of a large mesh.
    pub cage: Cage,
    /// Weights at frames, ascending.
    pub keys: Vec<BlendKey>,
    /// How a take is made.
    pub bake: Bake,
}

impl Setup {
    /// The corners of a triangle.
    pub const MOST_SHAPES: usize = 3;

    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        self.shapes
            .iter_mut()
            .map(|shape| &mut shape.asset)
            .filter(|asset| !asset.is_empty())
            .for_each(visit);
    }
}

/// A shape: an asset in its current state, or with one of its targets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShapeMark {
    /// The asset; empty for the character.
    pub asset: Locator,
    /// The target at full weight; empty for none.
    pub target: String,
}

/// The material: what the springs preserve besides lengths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Material {
    /// A solid or a thin shell.
    pub body: Body,
    /// Stiffness of dihedral angles; 0 for none.
    pub angles: f64,
    /// Stiffness of volumes; 0 for none.
    pub volume: f64,
    /// Whether closed shapes get points inside.
    pub interior: bool,
}

/// Source of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// Springs along the surface and through the inside.
    #[default]
    Solid,
    /// Edges of the surface alone.
    Shell,
}

/// The solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// To a thousandth.
    #[default]
    Fast,
    /// To a millionth.
    Tight,
    /// Newton's method of Ma et al. 2012.
    Newton,
}

/// Whether a coarse cage is solved and the mesh follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cage {
    /// For large meshes.
    #[default]
    Auto,
    /// Never.
    Off,
    /// Of about so many vertices.
    Vertices(u32),
}

/// How a take is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bake {
    /// Its path.
    #[serde(rename = "way")]
    pub path: BakePath,
    /// Steps from one shape to the next.
    pub steps: u32,
}

/// The path of a take through the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BakePath {
    /// From the first shape to the last.
    There,
    /// And back to the first.
    #[default]
    AndBack,
    /// Along the keys.
    Keys,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            body: Body::Solid,
            angles: 0.0,
            volume: 0.0,
            interior: true,
        }
    }
}

impl Default for Bake {
    fn default() -> Self {
        Self {
            path: BakePath::default(),
            steps: 24,
        }
    }
}

impl Bake {
    /// The limit of steps, against typing errors.
    pub const MOST_STEPS: u32 = 2000;
}

impl ShapeMark {
    /// The character in its neutral pose.
    #[must_use]
    pub fn neutral() -> Self {
        Self::default()
    }

    /// A target of the character.
    #[must_use]
    pub fn target(name: &str) -> Self {
        Self {
            asset: Locator::new(),
            target: name.into(),
        }
    }

    /// An asset in its current state.
    #[must_use]
    pub fn asset(locator: &str) -> Self {
        Self {
            asset: locator.into(),
            target: String::new(),
        }
    }

    /// Its name in the panel.
    #[must_use]
    pub fn name(&self) -> &str {
        match (&*self.asset, &*self.target) {
            ("", "") => "Neutral",
            (asset, "") => asset,
            (_, target) => target,
        }
    }
}

impl Setup {
    /// Chooses shapes again. A shape that comes has no weight, and one that goes leaves its weight
    /// to the others, in keys, too.
    pub fn choose(&mut self, shapes: Vec<ShapeMark>) {
        share_among(&mut self.weights, shapes.len());
        for key in &mut self.keys {
            share_among(&mut key.weights, shapes.len());
        }
        self.shapes = shapes;
    }

    /// The options of the blend solver.
    pub fn blend_options(&self) -> BlendOptions {
        let index = |list: &[u32]| list.iter().map(|&v| v as usize).collect();
        let options = BlendOptions::default()
            .with_solver(self.solver.into())
            .with_energy(self.material.into())
            .with_interior(self.material.interior())
            .with_anchor(index(&self.anchor))
            .with_fixed(index(&self.fixed));

        // No painted stiffness: the default everywhere.
        if self.stiffness.is_empty() {
            return options;
        }

        options.with_stiffness(self.stiffness.iter().map(|&k| f64::from(k)).collect())
    }

    /// How obstacles and shapes meet.
    #[must_use]
    pub fn contact_options(&self) -> ContactOptions {
        ContactOptions::default()
            .with_friction(self.friction)
            .with_self_contact(self.self_contact)
    }

    /// Puts the weights at a frame, instead of those that were there.
    pub fn set_key(&mut self, frame: u32) {
        let weights = self.weights.clone();
        match self.keys.binary_search_by_key(&frame, |key| key.frame) {
            Ok(at) => self.keys[at].weights = weights,
            Err(at) => self.keys.insert(at, BlendKey { frame, weights }),
        }
    }

    /// Whether two setups differ in no more than weights, keys and takes: the same springs between
    /// the same obstacles.
    #[must_use]
    pub fn same_scene(&self, other: &Self) -> bool {
        self.same_springs(other) && self.same_surroundings(other)
    }

    /// Whether two setups of the same shapes have the same springs.
    #[must_use]
    pub fn same_springs(&self, other: &Self) -> bool {
        (&self.shapes, &self.anchor, &self.fixed, &self.stiffness)
            == (&other.shapes, &other.anchor, &other.fixed, &other.stiffness)
            && (self.material, self.solver, self.cage) == (other.material, other.solver, other.cage)
    }

    fn same_surroundings(&self, other: &Self) -> bool {
        (&self.obstacles, self.friction, self.self_contact)
            == (&other.obstacles, other.friction, other.self_contact)
    }
}

/// Weights of another number of shapes: they sum to one, and all is the first one's where nothing
/// is left.
fn share_among(weights: &mut Vec<f64>, shapes: usize) {
    if weights.len() == shapes {
        return;
    }

    weights.resize(shapes, 0.0);
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        for weight in weights.iter_mut() {
            *weight /= sum;
        }
    // Without any weight the first shape gets all of it.
    } else if let Some(first) = weights.first_mut() {
        *first = 1.0;
    }
}

impl Material {
    fn interior(self) -> InteriorOptions {
        if self.interior {
            InteriorOptions::default()
        } else {
            InteriorOptions::default().with_points(InteriorPoints::None)
        }
    }
}

impl From<Material> for EnergyTerms {
    fn from(material: Material) -> Self {
        let lengths = match material.body {
            Body::Solid => LengthTerm::Springs,
            Body::Shell => LengthTerm::Edges,
        };

        let mut terms = Self::springs().with_lengths(lengths);
        if material.angles > 0.0 {
            terms = terms.with_angles(material.angles);
        }

        if material.volume > 0.0 {
            terms.with_volume(material.volume)
        } else {
            terms
        }
    }
}

impl From<Solver> for pliant::physics::Solver {
    fn from(solver: Solver) -> Self {
        match solver {
            Solver::Fast => Self::Fast,
            Solver::Tight => Self::Tight,
            Solver::Newton => Self::Newton,
        }
    }
}

impl From<Cage> for CageSize {
    fn from(cage: Cage) -> Self {
        match cage {
            Cage::Auto => Self::Auto,
            Cage::Off => Self::None,
            Cage::Vertices(vertices) => Self::Vertices(vertices as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thin_shell_with_angles_and_volume_matches_the_published_options() {
        let material = Material {
            body: Body::Shell,
            angles: 1.0,
            volume: 1.0,
            interior: true,
        };

        assert_eq!(EnergyTerms::from(material), EnergyTerms::shell());
        assert_eq!(
            EnergyTerms::from(Material::default()),
            EnergyTerms::springs()
        );
    }

    #[test]
    fn weights_and_keys_keep_the_scene_and_paint_and_obstacles_change_it() {
        let setup = Setup {
            shapes: vec![ShapeMark::neutral(); 2],
            weights: vec![1.0, 0.0],
            ..Setup::default()
        };

        let mut moved = Setup {
            weights: vec![0.5, 0.5],
            ..setup.clone()
        };

        moved.set_key(4);
        assert!(setup.same_scene(&moved));

        let painted = Setup {
            stiffness: vec![1.0, 2.0].into(),
            ..setup.clone()
        };

        // Painted stiffness needs a new solver, an obstacle only a new scene.
        assert!(!setup.same_springs(&painted));
        let obstructed = Setup {
            obstacles: vec![ObstacleMark::default()],
            ..setup.clone()
        };

        assert!(setup.same_springs(&obstructed) && !setup.same_scene(&obstructed));
    }

    #[test]
    fn a_new_shape_has_weight_zero_and_a_removed_one_gives_its_weight_to_the_others() {
        let mut setup = Setup::default();
        setup.choose(vec![ShapeMark::neutral(), ShapeMark::target("bent")]);
        setup.weights = vec![0.25, 0.75];
        setup.choose(vec![ShapeMark::neutral(), ShapeMark::target("twisted")]);

        assert_eq!(setup.weights, [0.25, 0.75]);
        // Keys are extended along with the weights.
        setup.set_key(5);
        setup.choose(vec![
            ShapeMark::neutral(),
            ShapeMark::target("twisted"),
            ShapeMark::asset("a.obj"),
        ]);

        assert_eq!(
            (&setup.weights[..], &setup.keys[0].weights[..]),
            (&[0.25, 0.75, 0.0][..], &[0.25, 0.75, 0.0][..])
        );
        // The two that stay keep their ratio and fill the sum to one.
        setup.weights = vec![0.125, 0.375, 0.5];
        setup.choose(setup.shapes[..2].to_vec());

        assert_eq!(setup.weights, [0.25, 0.75]);
        setup.weights = vec![0.0, 0.0, 1.0];
        setup.choose(setup.shapes[..2].to_vec());

        assert_eq!(setup.weights, [1.0, 0.0], "all of it went");
    }
}
