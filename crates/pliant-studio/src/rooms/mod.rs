//! The five rooms, and what every room gets and gives.
//!
//! A room reads the [`Document`] and asks for [`Edit`]s; it never changes it. What follows from the
//! document (a map, a simulation, a trained model in memory) a room keeps in itself and makes anew
//! when the document moved on, so undo needs nothing of it.

pub mod blend;
pub mod learn;
pub mod pose;
pub mod touch;
pub mod transfer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{Pos2, Ui};
use pliant::mesh::Bounds;
use serde::{Deserialize, Serialize};

use crate::character::{Drag, Posed, Solve};
use crate::command::{Command, Notice};
use crate::desk::{Clock, Desk};
use crate::document::{Document, Locator};
use crate::export::Exportable;
use crate::help::Sheet;
use crate::history::Edit;
use crate::library::Library;
use crate::project::{absolute, resolved};
use crate::view::{Canvas, Hit, Scene};
use crate::work::{Task, Wake, Watch};

/// Which room is open.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum RoomName {
    /// Pins and strokes on a rig.
    #[default]
    Pose,
    /// Contact on soft skin.
    Touch,
    /// Shapes as equilibria.
    Blend,
    /// Animations from other meshes.
    Transfer,
    /// A mesh driven by a few points.
    Learn,
}

impl RoomName {
    /// All of them, in the order of their tabs.
    pub const ALL: [Self; 5] = [
        Self::Pose,
        Self::Touch,
        Self::Blend,
        Self::Transfer,
        Self::Learn,
    ];

    /// What its tab says.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Pose => "Pose",
            Self::Touch => "Touch",
            Self::Blend => "Blend",
            Self::Transfer => "Transfer",
            Self::Learn => "Learn",
        }
    }

    /// What its tooltip says.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Pose => "Drag pins or draw strokes; the sliders follow",
            Self::Touch => "Press things into soft skin",
            Self::Blend => "Blend shapes without shrinking, around obstacles",
            Self::Transfer => "Bring animations of other meshes to this one",
            Self::Learn => "Drive a detailed mesh by a few points, learned from examples",
        }
    }
}

/// A picture of a room: one viewport with what it shows.
#[derive(Debug, Default)]
pub struct Pane {
    /// What stands above it, such as `Source: hound`; empty for a room with one.
    pub title: String,
    /// What is drawn.
    pub scene: Scene,
    /// Names what is shown, such as an asset; when it changes, the camera frames it.
    pub subject: String,
    /// What stands in place of an empty scene: one sentence and what to do.
    pub empty: String,
    /// What the key F frames instead of everything while something is selected.
    pub selection: Option<Bounds>,
}

/// A viewport under the pointer.
pub struct On<'a> {
    /// Which of the room's panes it is.
    pub pane: usize,
    /// What it shows.
    pub scene: &'a Scene,
    /// Where to draw, and how the camera sees.
    pub canvas: &'a Canvas,
}

impl On<'_> {
    /// What is under a place of the screen.
    #[must_use]
    pub fn pick(&self, place: Pos2) -> Option<Hit> {
        self.scene.pick(&self.canvas.view.ray(place))
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

    /// Tools and overlays on a viewport. Says whether the left button is in use; otherwise it
    /// orbits.
    fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool;

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

    /// Takes the files that a person chose after [`Command::AskFiles`]; `what` is what the room
    /// wanted them for.
    fn take_files(&mut self, _what: &'static str, _paths: Vec<PathBuf>, _cx: &mut Cx<'_>) {}

    /// What can be exported from this room beside the character and takes, what it shows first.
    fn exports(&mut self, _cx: &mut Cx<'_>) -> Vec<Exportable> {
        Vec::new()
    }

    /// Whether work is under way whose result is still to be shown: tests wait for it.
    fn busy(&self) -> bool {
        false
    }
}

/// What a room sees in a frame, and where it says what should happen.
pub struct Cx<'a> {
    /// What is edited.
    pub document: &'a Document,
    /// The gesture under way: everything since the last press of a button or key.
    pub gesture: u64,
    /// Assets by name.
    pub library: &'a mut Library,
    /// The character as it stands; `None` while it is loading.
    pub posed: Option<&'a Arc<Posed>>,
    /// The last drag's solve.
    pub solve: Option<&'a Arc<Solve>>,
    /// How things are looked at.
    pub desk: &'a mut Desk,
    /// The frame that is shown.
    pub clock: &'a mut Clock,
    /// Set while a hand drags pins: the character follows.
    pub drag: &'a mut Option<Drag>,
    /// What should happen after this frame.
    pub commands: &'a mut Vec<Command>,
    /// Bars to show.
    pub watches: &'a mut Vec<Arc<Watch>>,
    /// Paints the window again.
    pub wake: &'a Wake,
}

impl Cx<'_> {
    /// Asks for a change that is a step of its own.
    pub fn edit(
        &mut self,
        label: impl Into<String>,
        change: impl FnOnce(&mut Document) + Send + 'static,
    ) {
        let edit = Edit {
            label: label.into(),
            gesture: None,
            change: Box::new(change),
        };
        self.commands.push(Command::Edit(edit));
    }

    /// Asks for a change that joins the others of this gesture with the same label: a drag.
    pub fn edit_by_hand(
        &mut self,
        label: impl Into<String>,
        change: impl FnOnce(&mut Document) + Send + 'static,
    ) {
        let edit = Edit {
            label: label.into(),
            gesture: Some(self.gesture),
            change: Box::new(change),
        };
        self.commands.push(Command::Edit(edit));
    }

    /// Asks for something that is no change of the document.
    pub fn command(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Shows a sentence at the bottom of the window.
    pub fn tell(&mut self, notice: Notice) {
        self.commands.push(Command::Tell(notice));
    }

    /// Starts long work with a bar and a cancel button at the bottom of the window.
    pub fn start<T: Send + 'static>(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce(&Watch) -> Result<T, String> + Send + 'static,
    ) -> Task<T> {
        let task = Task::start(name, self.wake.clone(), work);
        self.watches.push(task.watch().clone());
        task
    }

    /// The locator that was typed, with its paths absolute: a relative one would be lost once the
    /// project is saved elsewhere.
    #[must_use]
    pub fn locator(&self, text: &str) -> Locator {
        resolved(text.trim(), &absolute(self.library.folder()))
    }

    /// The last frame of what the open room plays: of the keys, or of the take in their place.
    #[must_use]
    pub fn last_frame(&mut self) -> u32 {
        self.known_last_frame()
            .unwrap_or(self.document.timeline.last_frame)
    }

    /// As [`last_frame`](Self::last_frame); `None` while the file of the take is not there.
    pub(crate) fn known_last_frame(&mut self) -> Option<u32> {
        let asset = &self.document.character.asset;
        let file = if asset.is_empty() {
            None
        } else {
            self.library.ready(asset)
        };
        let clips = file.as_ref().map_or(&[][..], |file| &file.asset.clips);
        self.document.last_frame_in(self.desk.room, clips)
    }
}

/// The keys of a room, for the sheet.
#[must_use]
pub fn shortcuts(room: RoomName) -> &'static [Sheet] {
    match room {
        RoomName::Pose => pose::SHORTCUTS,
        RoomName::Touch => touch::SHORTCUTS,
        RoomName::Blend => blend::SHORTCUTS,
        RoomName::Transfer => transfer::SHORTCUTS,
        RoomName::Learn => learn::SHORTCUTS,
    }
}

/// An example of a room: a name, and how to make it.
pub type Example = (&'static str, fn() -> Document);

/// The examples of a room.
#[must_use]
pub fn examples(room: RoomName) -> Vec<Example> {
    match room {
        RoomName::Pose => pose::examples(),
        RoomName::Touch => touch::examples(),
        RoomName::Blend => blend::examples(),
        RoomName::Transfer => transfer::examples(),
        RoomName::Learn => learn::examples(),
    }
}
