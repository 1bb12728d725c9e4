//! The studio: the one place where the document changes.
//!
//! A frame of the window goes: results of workers are fetched, panels and viewports are painted and
//! say what they want as [`Command`]s, and then these are done, in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui;

use crate::character::{self, Ask, Drag, Posed, Question, RigSpec, Solve};
use crate::command::{Command, Notice};
use crate::desk::{Clock, Desk};
use crate::document::{Document, Locator, Weights};
use crate::filing::Filing;
use crate::history::{Edit, History};
use crate::library::{Library, Loaded, Slot};
use crate::notices::{Notices, Topic};
use crate::preferences::Preferences;
use crate::rooms::blend::{Balanced, BlendRoom};
use crate::rooms::learn::LearnRoom;
use crate::rooms::pose::PoseRoom;
use crate::rooms::touch::{TouchRoom, Touched};
use crate::rooms::transfer::TransferRoom;
use crate::rooms::{Cx, Room, RoomName};
use crate::timeline::{Shown, shown_pose, shown_weights};
use crate::view::Camera;
use crate::work::{Latest, Wake, Watch};

/// The program.
pub struct Studio {
    pub(crate) history: History,
    pub(crate) desk: Desk,
    pub(crate) clock: Clock,
    pub(crate) preferences: Preferences,
    pub(crate) library: Library,
    pub(crate) notices: Notices,
    pub(crate) watches: Vec<Arc<Watch>>,
    pub(crate) rooms: Rooms,
    pub(crate) filing: Filing,
    /// Whether the sheet of shortcuts is open.
    pub(crate) help_open: bool,
    /// What was typed to find a shortcut.
    pub(crate) help_search: String,
    /// The height that the timeline cannot do without.
    pub(crate) timeline_needs: f32,
    /// Whether cameras should frame everything (`false`) or the selection (`true`).
    pub(crate) frame_asked: Option<bool>,
    /// What cameras framed by themselves.
    pub(crate) framed: BTreeMap<(RoomName, usize), Framed>,
    /// The scale that the window has.
    pub(crate) worn_scale: Option<f32>,
    commands: Vec<Command>,
    gesture: u64,
    worker: Latest<Question, Posed>,
    asked: Option<Asked>,
    posed: Option<Arc<Posed>>,
    solve: Option<Arc<Solve>>,
    /// The weights that the solve left; once there are others, it tells nothing about them.
    solved: Weights,
    drag: Option<Drag>,
    /// What was asked for but cannot be shown, such as a take that does not fit: the weights are
    /// shown instead.
    unshowable: Option<Shown>,
    /// The asset of which it was told that it cannot be loaded.
    told: Option<Locator>,
    pub(crate) wake: Wake,
}

/// What was last asked of the worker.
struct Asked {
    rig: RigSpec,
    shown: Shown,
}

/// A camera that was put in front of something, on a viewport of this size.
#[derive(Debug)]
pub(crate) struct Framed {
    pub(crate) camera: Camera,
    pub(crate) size: egui::Vec2,
    /// Whether that was what is selected.
    pub(crate) selection: bool,
}

/// The rooms, all of them, whichever is open.
#[derive(Default)]
pub(crate) struct Rooms {
    pose: PoseRoom,
    touch: TouchRoom,
    blend: BlendRoom,
    transfer: TransferRoom,
    learn: LearnRoom,
}

impl Rooms {
    pub(crate) fn get(&mut self, name: RoomName) -> &mut dyn Room {
        match name {
            RoomName::Pose => &mut self.pose,
            RoomName::Touch => &mut self.touch,
            RoomName::Blend => &mut self.blend,
            RoomName::Transfer => &mut self.transfer,
            RoomName::Learn => &mut self.learn,
        }
    }
}

impl Studio {
    /// A studio with a document, for a window that `ctx` paints.
    #[must_use]
    pub fn new(ctx: &egui::Context, document: Document) -> Self {
        crate::theme::dress(ctx);
        let painted = ctx.clone();
        let wake: Wake = Arc::new(move || painted.request_repaint());
        Self {
            filing: Filing::new(&document, wake.clone()),
            history: History::new(document),
            desk: Desk::default(),
            clock: Clock::default(),
            preferences: Preferences::default(),
            library: Library::new(".", wake.clone()),
            notices: Notices::default(),
            watches: Vec::new(),
            rooms: Rooms::default(),
            help_open: false,
            help_search: String::new(),
            timeline_needs: 0.0,
            frame_asked: None,
            framed: BTreeMap::new(),
            worn_scale: None,
            commands: Vec::new(),
            gesture: 0,
            worker: character::start(wake.clone()),
            asked: None,
            posed: None,
            solve: None,
            solved: Weights::new(),
            drag: None,
            unshowable: None,
            told: None,
            wake,
        }
    }

    /// What is edited.
    #[must_use]
    pub fn document(&self) -> &Document {
        self.history.document()
    }

    /// How things are looked at.
    #[must_use]
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The steps for a beginner are known.
    pub fn put_hint_away(&mut self) {
        self.preferences.hint_seen = true;
    }

    /// Opens a room.
    pub fn open_room(&mut self, room: RoomName) {
        self.desk.room = room;
    }

    /// Whether some work is under way whose result is still to be shown.
    pub fn busy(&mut self) -> bool {
        let rooms = &mut self.rooms;
        let at_work = RoomName::ALL.into_iter().any(|name| rooms.get(name).busy());
        at_work
            || self.filing.busy()
            || self.worker.busy()
            || self.library.busy()
            || self.watches.iter().any(|watch| !watch.over())
    }

    /// Whether what a viewport shows may still be on its way.
    pub(crate) fn is_loading(&mut self) -> bool {
        self.library.busy()
            || (self.posed.is_none() && self.worker.busy())
            || self.rooms.get(self.desk.room).busy()
    }

    /// Lends a room what it needs.
    pub(crate) fn with_room<T>(
        &mut self,
        name: RoomName,
        call: impl FnOnce(&mut dyn Room, &mut Cx<'_>) -> T,
    ) -> T {
        let Self {
            history,
            desk,
            clock,
            library,
            watches,
            rooms,
            commands,
            gesture,
            posed,
            solve,
            drag,
            wake,
            ..
        } = self;
        let (document, gesture, posed, solve) =
            (history.document(), *gesture, posed.as_ref(), solve.as_ref());
        let mut cx = Cx {
            document,
            gesture,
            library,
            posed,
            solve,
            desk,
            clock,
            drag,
            commands,
            watches,
            wake,
        };
        call(rooms.get(name), &mut cx)
    }

    /// Everything of a frame that is not painted.
    pub(crate) fn begin_frame(&mut self, ctx: &egui::Context) {
        self.count_gestures(ctx);
        self.run_clock(ctx);
        let (now_secs, at_work) = (ctx.input(|input| input.time), self.busy());
        if let Some(left) = self.notices.tick(now_secs, at_work) {
            ctx.request_repaint_after(left);
        }
        self.watches.retain(|watch| !watch.over());
        self.fetch_pose();
        self.begin_files(ctx);
        self.forget_stranger();
        for name in RoomName::ALL {
            self.with_room(name, |room, cx| room.update(cx));
        }
    }

    fn run_clock(&mut self, ctx: &egui::Context) {
        let secs = f64::from(ctx.input(|i| i.stable_dt.min(0.1)));
        let known = self.with_room(self.desk.room, |_, cx| cx.known_last_frame());
        let timeline = &self.history.document().timeline;
        self.clock.tick(
            secs,
            timeline.frames_per_second,
            known.unwrap_or(timeline.last_frame),
            self.desk.looping,
        );
        if let Some(last) = known {
            self.clock.frame = self.clock.frame.min(f64::from(last));
        }
        if self.clock.playing {
            ctx.request_repaint();
        }
    }

    /// A press of a button or a key begins a gesture.
    fn count_gestures(&mut self, ctx: &egui::Context) {
        let presses = ctx.input(|input| {
            let held = input.pointer.any_down() && !input.pointer.any_pressed();
            let press = |event: &&egui::Event| match event {
                egui::Event::PointerButton { pressed, .. } => *pressed,
                // A key pressed during a drag, such as one that changes its plane, belongs to the
                // drag.
                egui::Event::Key {
                    pressed, repeat, ..
                } => *pressed && !*repeat && !held,
                _ => false,
            };
            input.events.iter().filter(press).count()
        });
        self.gesture += presses as u64;
    }

    fn fetch_pose(&mut self) {
        match self.worker.answer() {
            None => {}
            Some(Err(sentence)) => {
                self.unshowable = self.asked.take().map(|asked| asked.shown);
                self.tell(Notice::trouble(sentence));
            }
            // An answer about a character that is gone is no use.
            Some(Ok(posed)) if posed.asset != self.document().character.asset => {}
            Some(Ok(posed)) => {
                if let Some(solve) = &posed.solve {
                    self.solve = Some(solve.clone());
                    self.keep_solved(solve, &posed);
                    self.solved = self.document().character.weights.clone();
                }
                self.posed = Some(Arc::new(posed));
            }
        }
    }

    /// Writes the weights of a solve into the document, as a part of the gesture that asked for it;
    /// not after it was taken back.
    fn keep_solved(&mut self, solve: &Solve, posed: &Posed) {
        let names = posed.rig.targets().iter().map(|target| target.name.clone());
        let weights: Vec<(String, f64)> = names.zip(posed.weights.iter().copied()).collect();
        let silent = self.document().character.clone();
        let change = move |document: &mut Document| {
            for (name, weight) in weights {
                // A silent slider is at zero only as it is shown.
                if weight.is_finite() && !silent.is_silent(&name) {
                    document.character.set_weight(&name, weight);
                }
            }
            document.pose.settle(solve, &document.character.weights);
        };
        self.history.apply_to_open(solve.gesture, change);
    }

    /// Another document stands there now; what the last drag did is no longer told.
    fn turn_back(&mut self, step: impl FnOnce(&mut History)) {
        step(&mut self.history);
        self.solve = None;
    }

    /// Does what was asked for in this frame, then asks for the pose that is wanted now.
    pub(crate) fn end_frame(&mut self, ctx: &egui::Context) {
        for command in std::mem::take(&mut self.commands) {
            self.do_command(command, ctx);
        }
        self.ask_for_pose();
        if self.solve.is_some() && self.document().character.weights != self.solved {
            self.solve = None;
        }
        self.end_files(ctx);
    }

    /// Says something at the bottom of the window.
    pub(crate) fn tell(&mut self, notice: Notice) {
        self.notices.tell(Topic::Other, notice);
    }

    pub(crate) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    fn do_command(&mut self, command: Command, ctx: &egui::Context) {
        match command {
            Command::Edit(edit) => self.history.apply(edit),
            Command::Amend(Edit {
                gesture, change, ..
            }) => {
                if let Some(gesture) = gesture {
                    self.history.apply_to_open(gesture, change);
                }
            }
            Command::Undo => self.turn_back(History::undo),
            Command::Redo => self.turn_back(History::redo),
            Command::Tell(notice) => self.tell(notice),
            Command::Room(room) => self.desk.room = room,
            Command::Frame { selection } => self.frame_asked = Some(selection),
            other => self.file_command(other, ctx),
        }
    }

    /// Another document, without a past, takes the place of this one; whatever was under way for
    /// the old one is forgotten.
    pub(crate) fn reset(&mut self, document: Document) {
        self.history = History::new(document);
        // What a room still works on belongs to the project that is left.
        self.rooms = Rooms::default();
        self.told = None;
        self.notices.leave_project();
        self.forget_pose();
    }

    /// What is shown of another character, or is dragged on it, means nothing to this one.
    fn forget_stranger(&mut self) {
        let asset = &self.history.document().character.asset;
        if asset.is_empty()
            || self
                .posed
                .as_ref()
                .is_some_and(|posed| posed.asset != *asset)
        {
            self.forget_pose();
        }
    }

    fn forget_pose(&mut self) {
        (self.asked, self.posed, self.solve, self.drag) = (None, None, None, None);
    }

    /// The skin that the touch room shows; `None` before there is a soft patch, and while a baked
    /// take plays.
    #[must_use]
    pub fn touched(&self) -> Option<&Touched> {
        self.rooms.touch.touched()
    }

    /// The blend that the blend room shows.
    #[must_use]
    pub fn balanced(&self) -> Option<&Arc<Balanced>> {
        self.rooms.blend.balanced()
    }

    /// The character as it stands.
    pub(crate) fn posed(&self) -> Option<&Arc<Posed>> {
        self.posed.as_ref()
    }

    /// Keyed sliders follow their curves when the clock goes to another frame, or undo brings back
    /// the pose of one.
    fn follow_keys(&mut self) {
        let (frame, timeline) = (self.clock.frame, &self.history.document().timeline);
        if timeline.shown_frame != frame
            && timeline.playing_take.is_none()
            && !timeline.keys.is_empty()
        {
            self.history.show(|document| document.show_frame(frame));
        }
    }

    /// The character's asset, if it is there; tells once if it cannot be loaded.
    fn loaded(&mut self, asset: &str) -> Option<Arc<Loaded>> {
        if asset.is_empty() {
            if self.told.take().is_some() {
                self.notices.settle(Topic::Rig);
            }
            return None;
        }
        match self.library.get(asset) {
            Slot::Failed(sentence) => {
                if self.told.as_deref() != Some(asset) {
                    self.told = Some(asset.to_owned());
                    self.notices.tell(Topic::Rig, Notice::trouble(sentence));
                }
                None
            }
            slot => {
                if self.told.take().is_some() {
                    self.notices.settle(Topic::Rig);
                }
                if let Slot::Ready(loaded) = slot {
                    Some(loaded)
                } else {
                    None
                }
            }
        }
    }

    /// Whether the character cannot be loaded.
    pub(crate) fn rig_failed(&self) -> bool {
        self.told.is_some()
    }

    fn ask_for_pose(&mut self) {
        self.follow_keys();
        self.forget_stranger();
        let character = self.history.document().character.clone();
        let Some(loaded) = self.loaded(&character.asset) else {
            return;
        };
        let rig = RigSpec { loaded, character };
        if let Some(drag) = self.drag.take() {
            self.asked = None;
            self.worker.ask(Question {
                rig,
                ask: Ask::Drag(drag),
            });
            return;
        }
        let library = &mut self.library;
        let shown = shown_pose(
            self.history.document(),
            &rig.loaded,
            |locator| library.ready(locator),
            self.clock.frame,
        );
        let shown = if self.unshowable.as_ref() == Some(&shown) {
            shown_weights(self.history.document())
        } else {
            shown
        };
        let same = |asked: &Asked| asked.rig == rig && asked.shown == shown;
        // While a drag is being answered the document does not hold its weights yet.
        if self.asked.as_ref().is_some_and(same) || (self.asked.is_none() && self.worker.busy()) {
            return;
        }
        self.asked = Some(Asked {
            rig: rig.clone(),
            shown: shown.clone(),
        });
        let ask = match shown {
            Shown::Weights(weights) => Ask::Show(weights),
            Shown::Frame(frame) => Ask::Place(frame, rig.character.weights.clone()),
        };
        self.worker.ask(Question { rig, ask });
    }
}
