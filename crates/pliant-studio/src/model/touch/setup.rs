//! Settings of the Touch room that the document stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant::mesh::VertexId;
use pliant::mesh::glam::DVec3;
use pliant::physics::{SoftMaterial, SoftPatch, TouchMethod, TouchOptions, VerletOptions};
use serde::{Deserialize, Serialize};

use super::solid::ColliderSetup;
use crate::model::document::Document;

/// The settings of the Touch room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// Where the skin is soft.
    pub patches: Vec<Patch>,
    /// The collider.
    pub solid: ColliderSetup,
    /// The vertex that was pulled last.
    pub pull: Option<VertexPull>,
    /// Whether colliders and pulls stay after the button is released.
    pub stays: bool,
    /// The last press, as it is baked.
    pub recorded: Option<RecordedPress>,
    /// Material of the skin.
    pub material: SoftMaterial,
    /// How it is simulated.
    pub simulation: Simulation,
    /// Which colours the skin has.
    pub shown: SkinColoring,
    /// Takes that were baked in this room, with the take that was playing below them.
    pub baked: BTreeMap<String, Option<String>>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            patches: Vec::new(),
            solid: ColliderSetup::default(),
            pull: None,
            stays: false,
            recorded: None,
            material: SoftMaterial::default(),
            simulation: Simulation::default(),
            shown: SkinColoring::Softness,
            baked: BTreeMap::new(),
        }
    }
}

/// A soft disc.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The vertex in its centre.
    pub center: VertexId,
    /// How far it reaches along the surface.
    pub radius: f64,
}

/// A pulled vertex.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VertexPull {
    /// Which one.
    pub vertex: VertexId,
    /// How far from the character's own shape.
    pub offset: [f64; 3],
    /// Whether the pull is active.
    pub holds: bool,
}

/// The recorded path of a collider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedPress {
    /// The frame of the timeline in which it began.
    pub start_frame: f64,
    /// Places, [`RecordedPress::RATE`] in a second.
    #[serde(with = "crate::model::shared")]
    pub places: Arc<Vec<[f64; 3]>>,
}

/// How skin is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulation {
    /// How soft vertices move.
    pub method: Method,
    /// Downwards, in units of the scene per second squared.
    pub gravity: f64,
    /// How much skin lags behind an animation.
    pub inertia: f64,
    /// Whether lips keep out of each other and of teeth.
    pub self_contact: bool,
    /// Substeps in a frame; as many as needed where there is no number.
    pub substeps: Option<u32>,
    /// Çetinaslan 2016: the part of the velocity that is lost in a frame.
    pub verlet_damping: f64,
    /// Çetinaslan 2016: by how much bending is weakened.
    pub verlet_bend: f64,
    /// Çetinaslan 2016: sweeps in a frame.
    pub verlet_iterations: u32,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            method: Method::Xpbd,
            gravity: 0.0,
            inertia: 0.0,
            self_contact: false,
            substeps: None,
            verlet_damping: 0.1,
            verlet_bend: VerletOptions::DEFAULT_BEND_STIFFNESS,
            verlet_iterations: VerletOptions::DEFAULT_ITERATIONS as u32,
        }
    }
}

/// How soft vertices move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Extended position-based dynamics.
    #[default]
    Xpbd,
    /// Çetinaslan 2016.
    Verlet,
}

impl Method {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Xpbd, Self::Verlet];

    /// Text of the list entry.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Xpbd => "XPBD",
            Self::Verlet => "Verlet (Çetinaslan 2016)",
        }
    }

    /// Text of the tooltip.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Xpbd => "Extended position-based dynamics: physical stiffness, no penetration",
            Self::Verlet => {
                "Position Verlet as in Çetinaslan 2016, ch. 5: one step per frame; no material, friction, pulls, inertia or self-contact"
            }
        }
    }
}

/// Which colours the skin has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkinColoring {
    /// How soft it is.
    #[default]
    Softness,
    /// How far it is from its place.
    Displacement,
    /// How much longer or shorter its edges are.
    Stretch,
    /// How far along the surface it is from the centre of the nearest patch.
    Distance,
    /// None.
    Skin,
}

impl SkinColoring {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Softness,
        Self::Displacement,
        Self::Stretch,
        Self::Distance,
        Self::Skin,
    ];

    /// Text of the list entry.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Softness => "Softness",
            Self::Displacement => "Displacement",
            Self::Stretch => "Stretch",
            Self::Distance => "Geodesic distance",
            Self::Skin => "Plain skin",
        }
    }

    /// Text of the tooltip.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Softness => "Softness, from the boundary of a patch to its centre",
            Self::Displacement => "Distance from the animated position",
            Self::Stretch => "Relative change of the edge lengths",
            Self::Distance => {
                "Geodesic distance to the centre of the nearest patch, in asset units"
            }
            Self::Skin => "No colours",
        }
    }
}

impl RecordedPress {
    /// Places in a second.
    pub const RATE: f64 = 60.0;

    /// The duration of the press.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.places.len().saturating_sub(1) as f64 / Self::RATE
    }

    /// The path from times and positions, in order.
    #[must_use]
    pub fn of(start_frame: f64, seen: &[(f64, DVec3)]) -> Option<Self> {
        let begin = seen.first()?.0;
        let end = seen.last()?.0;
        // The path is resampled at a fixed rate.
        let count = ((end - begin) * Self::RATE).ceil().max(0.0) as usize;
        let places = (0..=count)
            .map(|k| place_at(seen, begin + k as f64 / Self::RATE).to_array())
            .collect();
        Some(Self {
            start_frame,
            places: Arc::new(places),
        })
    }

    /// Where it is so many seconds after it began; it stays before and after.
    #[must_use]
    pub fn at(&self, secs: f64) -> Option<DVec3> {
        let last = self.places.len().checked_sub(1)?;
        let at = (secs * Self::RATE).clamp(0.0, last as f64);
        let place = |k: usize| DVec3::from_array(self.places[k.min(last)]);
        Some(place(at as usize).lerp(place(at as usize + 1), at.fract()))
    }
}

/// Linear interpolation between samples, of which there is at least one.
fn place_at(seen: &[(f64, DVec3)], time: f64) -> DVec3 {
    let after = seen.partition_point(|(t, _)| *t <= time);
    let (Some(before), Some(next)) = (after.checked_sub(1).map(|k| seen[k]), seen.get(after))
    else {
        return seen[after.min(seen.len() - 1)].1;
    };
    before
        .1
        .lerp(next.1, (time - before.0) / (next.0 - before.0))
}

impl Setup {
    /// The patches for the simulation.
    #[must_use]
    pub fn soft_patches(&self) -> Vec<SoftPatch> {
        self.patches
            .iter()
            .map(|patch| SoftPatch {
                center: patch.center,
                radius: patch.radius,
            })
            .collect()
    }

    /// The options for the simulation; what the method does not know is left out.
    #[must_use]
    pub fn touch_options(&self) -> TouchOptions {
        let simulation = &self.simulation;
        let options = TouchOptions::default().with_gravity(DVec3::NEG_Y * simulation.gravity);
        // Each method gets only the options that it supports.
        match simulation.method {
            Method::Xpbd => {
                let options = options
                    .with_material(self.material)
                    .with_inertia(simulation.inertia)
                    .with_skin_contact(simulation.self_contact);
                simulation.substeps.map_or(options.clone(), |substeps| {
                    options.with_substeps(substeps.max(1) as usize)
                })
            }
            Method::Verlet => {
                let verlet = VerletOptions::default()
                    .with_damping(simulation.verlet_damping)
                    .with_bend_stiffness(simulation.verlet_bend)
                    .with_iterations(simulation.verlet_iterations.max(1) as usize);
                options.with_method(TouchMethod::Verlet(verlet))
            }
        }
    }

    /// The collider's friction, as far as the method has one.
    #[must_use]
    pub fn friction(&self) -> f64 {
        if self.simulation.method == Method::Verlet {
            0.0
        } else {
            self.solid.friction
        }
    }

    /// Chooses how deep presses go; a collider that stays in the skin goes there at once.
    pub fn press_to(&mut self, depth: f64, radius: f64) {
        let deeper = depth - std::mem::replace(&mut self.solid.depth, depth);
        let axis = self.solid.axis();
        if self.stays && self.solid.place != self.solid.from {
            self.solid.place = self
                .solid
                .place
                .map(|place| (DVec3::from_array(place) - axis * (deeper * radius)).to_array());
        }
    }
}

/// Shows the character below a baked take again, where one is playing: it is touched again.
pub(crate) fn leave_baked(document: &mut Document) {
    let playing = document.timeline.playing_take.as_ref();
    if let Some(below) = playing.and_then(|take| document.touch.baked.get(take)) {
        document.timeline.playing_take.clone_from(below);
    }
}

/// The take playing now, if it was baked in this room.
#[must_use]
pub(crate) fn playing_baked(document: &Document) -> Option<&str> {
    document
        .timeline
        .playing_take
        .as_deref()
        .filter(|take| document.touch.baked.contains_key(*take))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_path_passes_through_its_samples() {
        let seen = [
            (2.0, DVec3::ZERO),
            (2.5, DVec3::X),
            (2.5, DVec3::X * 3.0),
            (3.0, DVec3::X * 2.0),
        ];

        let recorded = RecordedPress::of(7.0, &seen).unwrap();
        assert_eq!((recorded.secs(), recorded.start_frame), (1.0, 7.0));
        for (secs, x) in [(-1.0, 0.0), (0.0, 0.0), (0.25, 0.5), (1.0, 2.0), (9.0, 2.0)] {
            assert!((recorded.at(secs).unwrap().x - x).abs() < 1e-9, "{secs}");
        }

        assert_eq!(RecordedPress::of(0.0, &[]), None);
        assert_eq!(RecordedPress::of(0.0, &seen[..1]).unwrap().places.len(), 1);
    }

    #[test]
    fn the_verlet_method_gets_only_options_it_supports() {
        let mesh = pliant::mesh::shapes::icosphere(2);
        let mut setup = Setup {
            patches: vec![Patch {
                center: 3.into(),
                radius: 0.5,
            }],
            ..Setup::default()
        };

        setup.simulation = Simulation {
            method: Method::Verlet,
            inertia: 1.0,
            self_contact: true,
            ..setup.simulation
        };

        // Inertia, self-contact and friction are left from another method.
        setup.solid.friction = 0.5;
        let mut touch =
            pliant::physics::Touch::new(&mesh, &setup.soft_patches(), &setup.touch_options())
                .unwrap();
        let solid = setup.solid.collider(0.1, setup.friction()).unwrap();

        assert!(touch.add_collider(solid).is_ok());
    }

    #[test]
    fn the_depth_setting_moves_only_a_collider_that_stays() {
        let place = Some([0.0, 1.0, 0.0]);
        let from = Some([0.0, 1.2, 0.0]);
        let axis = [0.0, 1.0, 0.0];

        let solid = ColliderSetup {
            place,
            from,
            axis,
            depth: 0.5,
            ..ColliderSetup::default()
        };

        let mut setup = Setup {
            solid,
            stays: true,
            ..Setup::default()
        };

        setup.press_to(0.9, 0.5);
        let place = DVec3::from_array(setup.solid.place.unwrap());
        assert!(
            place.distance(DVec3::Y * (1.0 - 0.4 * 0.5)) < 1e-12,
            "{place}"
        );

        // Without a collider on the skin only the setting changes.
        setup.stays = false;
        setup.press_to(0.1, 0.5);
        assert_eq!(
            (setup.solid.place, setup.solid.depth),
            (Some(place.to_array()), 0.1)
        );
    }

    #[test]
    fn a_setup_is_restored_from_its_text() {
        let recorded = RecordedPress::of(0.0, &[(0.0, DVec3::ZERO), (0.1, DVec3::ONE)]);
        let setup = Setup {
            recorded,
            stays: true,
            pull: Some(VertexPull {
                vertex: 3.into(),
                offset: [1.0, 2.0, 3.0],
                holds: true,
            }),
            ..Setup::default()
        };

        assert_eq!(
            serde_json::from_str::<Setup>(&serde_json::to_string(&setup).unwrap()).unwrap(),
            setup
        );

        assert_eq!(
            serde_json::from_str::<Setup>("{}").unwrap(),
            Setup::default()
        );
    }

    #[test]
    fn a_project_of_an_earlier_version_keeps_its_material_and_its_solid() {
        let text = r#"{ "material": { "frequency_hz": 7.5, "damping_ratio": 0.4, "spread": 0.2, "roundness": 0.1, "shear": 0.6, "area": 0.1,
            "depth": 0.25, "volume": 1.5, "strain_limit": 0.5 }, "solid": { "form": "capsule", "friction": 0.7 } }"#;
        let setup: Setup = serde_json::from_str(text).unwrap();
        let SoftMaterial {
            frequency_hz,
            damping_ratio,
            spread,
            roundness,
            shear,
            area,
            depth,
            volume,
            strain_limit,
        } = setup.material;

        let numbers = [
            frequency_hz,
            damping_ratio,
            spread,
            roundness,
            shear,
            area,
            depth,
            volume,
            strain_limit,
        ];

        assert_eq!(numbers, [7.5, 0.4, 0.2, 0.1, 0.6, 0.1, 0.25, 1.5, 0.5]);
        assert_eq!(
            (setup.solid.friction, setup.solid.depth),
            (0.7, ColliderSetup::DEFAULT_DEPTH)
        );

        // Missing fields have the present defaults.
        let part: Setup = serde_json::from_str(r#"{ "material": { "volume": 4.0 } }"#).unwrap();
        assert_eq!(
            part.material,
            SoftMaterial {
                volume: 4.0,
                ..SoftMaterial::default()
            }
        );
    }
}
