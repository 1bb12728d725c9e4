//! Procedural models that ship with Pliant, computed from formulas only.
//!
//! Each [`Specimen`] is the same on every machine: a rig, and clips that move its mesh.
//!
//! ```
//! let hound = pliant_specimens::specimen("hound").expect("a hound ships with the product");
//! assert_eq!(hound.clips[0].name(), "walk");
//! assert!(pliant_specimens::specimen("unicorn").is_none());
//! ```

mod bar;
mod built_in;
mod hand;
mod head;
mod implicit;
mod math;
mod quadruped;
mod skeleton;
mod surface_nets;

use pliant_rig::{Clip, Rig, WeightTrack};

pub use built_in::{BuiltIn, load};
pub use hand::{HandLandmark, landmarks as hand_landmarks};
pub use head::{HeadFace, face as head_face};
pub use quadruped::markers;

/// A model with everything that moves it.
#[derive(Debug, Clone)]
pub struct Specimen {
    /// The name that [`specimen`] takes.
    pub name: String,
    /// How many metres one unit of the positions is.
    pub meters_per_unit: f64,
    /// The mesh at rest and its targets; without targets where clips alone move it.
    pub rig: Rig,
    /// Motions and sets of poses, as positions.
    pub clips: Vec<Clip>,
    /// Motions of the rig's sliders.
    pub performances: Vec<Performance>,
}

/// A motion of a rig's sliders.
#[derive(Debug, Clone)]
pub struct Performance {
    /// Its name.
    pub name: String,
    /// How many frames it has.
    pub frame_count: usize,
    /// Frames per second.
    pub frames_per_second: f64,
    /// The weights of all sliders over time, frame 0 at zero seconds.
    pub track: WeightTrack,
}

/// The specimens, by name.
#[must_use]
pub fn names() -> &'static [&'static str] {
    &[
        "bar",
        "bar:coarse",
        "bar:fine",
        "hand",
        "hand:play",
        "hand:smooth",
        "head",
        "hound",
        "tapir",
    ]
}

/// Builds the specimen called `name`; `None` where [`names`] does not list it.
#[must_use]
pub fn specimen(name: &str) -> Option<Specimen> {
    let mut performances = Vec::new();
    let (rig, clips) = match name {
        "bar" => bar::build(bar::Resolution::Medium),
        "bar:coarse" => bar::build(bar::Resolution::Coarse),
        "bar:fine" => bar::build(bar::Resolution::Fine),
        "hand" => hand::build(),
        "hand:play" => hand::play(),
        "hand:smooth" => hand::smooth(),
        "head" => {
            let (rig, performance) = head::build();
            performances.push(performance);
            (rig, Vec::new())
        }
        "hound" => quadruped::hound(),
        "tapir" => quadruped::tapir(),
        _ => return None,
    };

    Some(Specimen {
        name: name.to_owned(),
        meters_per_unit: meters_per_unit(name),
        rig,
        clips,
        performances,
    })
}

/// The unit of a specimen: the animals are in metres, head and hand in centimetres, and the bar of
/// 6 by 1 by 1 units is 60 cm long.
fn meters_per_unit(name: &str) -> f64 {
    match name.split(':').next() {
        Some("head" | "hand") => 0.01,
        Some("bar") => 0.1,
        _ => 1.0,
    }
}
