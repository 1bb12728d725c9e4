//! The five rooms, and the interface of a room.
//!
//! A room reads the document and requests edits; it never changes the document itself. A room
//! stores what is computed from the document (a correspondence, a simulation, a trained model in
//! memory) and recomputes it when the document changes, so undo does not concern it.

pub mod blend;
pub mod learn;
pub mod pose;
pub mod touch;
pub mod transfer;

use std::path::{Path, PathBuf};

use eframe::egui::{Pos2, Ui};
use pliant::mesh::Bounds;
use pliant::mesh::glam::DVec3;

use crate::engine::context::Cx;
use crate::engine::export::Exportable;
use crate::model::room::RoomName;
use crate::view::{Canvas, Hit, Scene};
use crate::widgets::ShortcutGroup;

/// A picture of a room: one viewport with what it shows.
#[derive(Debug, Default)]
pub struct Pane {
    /// Its title, such as `Source: hound`; empty for a room with one pane.
    pub title: String,
    /// The contents to draw.
    pub scene: Scene,
    /// Names what is shown, such as an asset; when it changes, the camera frames it.
    pub subject: String,
    /// What stands instead of an empty scene: one message and what to do.
    pub empty: String,
    /// What the key F frames instead of everything while something is selected.
    pub selection: Option<Bounds>,
}

/// A viewport under the pointer.
pub struct PaneCanvas<'a> {
    /// Which of the room's panes it is.
    pub pane: usize,
    /// Its contents.
    pub scene: &'a Scene,
    /// Where to draw, and how the camera sees.
    pub canvas: &'a Canvas,
}

impl PaneCanvas<'_> {
    /// The object at a position of the screen.
    #[must_use]
    pub fn pick(&self, place: Pos2) -> Option<Hit> {
        self.scene.pick_unlocked(&self.canvas.view.ray(place))
    }

    /// How many points of the screen a length covers at the depth of a position: the radius of a
    /// brush.
    #[must_use]
    pub fn points_of_length(&self, position: DVec3, length: f64) -> f32 {
        let length_per_point = self.canvas.view.world_per_pixel(position);
        (length / length_per_point.max(f64::MIN_POSITIVE)) as f32
    }
}

/// A room of the studio.
pub trait Room {
    /// Fetches results and starts what is missing. Called for every room in every frame, before
    /// anything is painted.
    fn update(&mut self, _cx: &mut Cx<'_>) {}

    /// The tools on the left.
    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>);

    /// The options on the right, above the sliders.
    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>);

    /// One viewport, or two side by side.
    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane>;

    /// Tools and overlays on a viewport. Returns whether the left button is in use; otherwise it
    /// orbits.
    fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool;

    /// Whether sliders and the explanation of the last solve belong to it.
    fn shows_sliders(&self) -> bool {
        false
    }

    /// Takes a file that was dropped or chosen while the room is open; `false` leaves it to become
    /// the character or a take.
    fn accept(&mut self, _path: &Path, _cx: &mut Cx<'_>) -> bool {
        false
    }

    /// What stands over the window while files are held above it.
    fn drop_hint(&self) -> &'static str {
        "Drop to open"
    }

    /// Takes the files that the user chose after `Command::AskFiles`; `what` is what the room
    /// wanted them for.
    fn take_files(&mut self, _what: &'static str, _paths: Vec<PathBuf>, _cx: &mut Cx<'_>) {}

    /// What can be exported from this room beside the character and takes, what it shows first.
    fn exports(&mut self, _cx: &mut Cx<'_>) -> Vec<Exportable> {
        Vec::new()
    }

    /// Whether work is in progress whose result is still to be shown: tests wait for it.
    fn busy(&self) -> bool {
        false
    }
}

/// The keys of a room, for the list of shortcuts.
#[must_use]
pub fn shortcuts(room: RoomName) -> &'static [ShortcutGroup] {
    match room {
        RoomName::Pose => pose::SHORTCUTS,
        RoomName::Touch => touch::SHORTCUTS,
        RoomName::Blend => blend::SHORTCUTS,
        RoomName::Transfer => transfer::SHORTCUTS,
        RoomName::Learn => learn::SHORTCUTS,
    }
}
