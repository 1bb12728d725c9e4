//! The studio: the only place that changes the document.
//!
//! In a frame of the window, results of workers are fetched, panels and viewports are painted and
//! send [`Command`]s, and these are executed in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui;

use super::filing::Filing;
use super::notices::{Notices, Topic};
use super::panels::{CapturePanel, ObjectsPanel, PanelPictures, PosesPanel};
use crate::engine::blend::BlendResult;
use crate::engine::character::{
    self, CharacterRequest, Drag, PoseRequest, PosedCharacter, RigSpec, SolveReport,
};
use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::engine::library::{AssetState, Library, LoadedAsset};
use crate::engine::playback::{ShownPose, live_pose, shown_pose, shown_weights};
use crate::engine::storage::preferences::Preferences;
use crate::engine::touch::TouchResult;
use crate::engine::work::host::host;
use crate::engine::work::{Latest, Wake, Watch};
use crate::model::camera::Camera;
use crate::model::document::{Document, Locator, Weights};
use crate::model::history::{Edit, History};
use crate::model::room::RoomName;
use crate::model::tour::Tour;
use crate::model::view_state::{Clock, ViewState};
use crate::rooms::Room;
use crate::rooms::blend::BlendRoom;
use crate::rooms::learn::LearnRoom;
use crate::rooms::pose::PoseRoom;
use crate::rooms::touch::TouchRoom;
use crate::rooms::transfer::TransferRoom;

/// The program.
pub struct Studio {
    pub(crate) history: History,
    pub(crate) view_state: ViewState,
    pub(crate) clock: Clock,
    pub(crate) preferences: Preferences,
    pub(crate) library: Library,
    pub(crate) notices: Notices,
    pub(crate) watches: Vec<Arc<Watch>>,
    pub(crate) rooms: Rooms,
    pub(crate) filing: Filing,
    /// Live performances.
    pub(crate) capture: CapturePanel,
    /// Shown and locked objects of the character.
    pub(crate) objects: ObjectsPanel,
    /// Saved poses.
    pub(crate) poses: PosesPanel,
    /// Pictures of poses and of what sliders do.
    pub(crate) pictures: PanelPictures,
    /// The tour, if one is in progress.
    pub(crate) tour: Tour,
    /// Whether the list of shortcuts is open.
    pub(crate) help_open: bool,
    /// The search text for shortcuts.
    pub(crate) help_search: String,
    /// The height that the timeline cannot do without.
    pub(crate) timeline_needs: f32,
    /// Whether cameras should frame everything (`false`) or the selection (`true`).
    pub(crate) frame_requested: Option<bool>,
    /// Subjects that cameras framed automatically.
    pub(crate) framed: BTreeMap<(RoomName, usize), AutoFramedCamera>,
    /// The scale that the window has.
    pub(crate) applied_scale: Option<f32>,
    commands: Vec<Command>,
    gesture: u64,
    worker: Latest<CharacterRequest, PosedCharacter>,
    requested: Option<PoseQuery>,
    posed: Option<Arc<PosedCharacter>>,
    solve: Option<Arc<SolveReport>>,
    /// The weights after the last solve; once they change, the report is outdated.
    solved: Weights,
    drag: Option<Drag>,
    /// What was requested but cannot be shown, such as a take that does not fit: the weights are
    /// shown instead.
    unshowable: Option<ShownPose>,
    /// The asset whose failure was already reported.
    reported_failure: Option<Locator>,
    pub(crate) wake: Wake,
    window: egui::Context,
}

/// The last request to the worker.
struct PoseQuery {
    rig: RigSpec,
    shown: ShownPose,
}

/// A camera that was put in front of something, on a viewport of this size.
#[derive(Debug)]
pub(crate) struct AutoFramedCamera {
    pub(crate) camera: Camera,
    pub(crate) size: egui::Vec2,
    /// Whether it was selected.
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
        crate::widgets::theme::apply_theme(ctx);
        // Workers call this from their threads.
        let painted = ctx.clone();
        let wake: Wake = Arc::new(move || {
            // A page's window must not be touched by other threads.
            if !host().is_some_and(|host| (host.wake)()) {
                painted.request_repaint();
            }
        });

        Self {
            filing: Filing::new(&document, wake.clone()),
            history: History::new(document),
            view_state: ViewState::default(),
            clock: Clock::default(),
            preferences: Preferences::default(),
            library: Library::new(".", wake.clone()),
            notices: Notices::default(),
            watches: Vec::new(),
            rooms: Rooms::default(),
            capture: CapturePanel::default(),
            objects: ObjectsPanel::default(),
            poses: PosesPanel::default(),
            pictures: PanelPictures::default(),
            tour: Tour::default(),
            help_open: false,
            help_search: String::new(),
            timeline_needs: 0.0,
            frame_requested: None,
            framed: BTreeMap::new(),
            applied_scale: None,
            commands: Vec::new(),
            gesture: 0,
            worker: character::start(wake.clone()),
            requested: None,
            posed: None,
            solve: None,
            solved: Weights::new(),
            drag: None,
            unshowable: None,
            reported_failure: None,
            wake,
            window: ctx.clone(),
        }
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> &Document {
        self.history.document()
    }

    /// The view state.
    #[must_use]
    pub fn view_state(&self) -> &ViewState {
        &self.view_state
    }

    /// Hides the first steps.
    pub fn dismiss_hint(&mut self) {
        self.preferences.hint_seen = true;
    }

    /// Opens a room.
    pub fn open_room(&mut self, room: RoomName) {
        self.view_state.room = room;
    }

    /// Whether some work is in progress whose result is still to be shown.
    pub fn busy(&mut self) -> bool {
        let rooms = &mut self.rooms;
        let at_work = RoomName::ALL.into_iter().any(|name| rooms.get(name).busy());
        at_work
            || self.filing.busy()
            || self.capture.busy()
            || self.pictures.busy()
            || self.worker.busy()
            || self.library.busy()
            || crate::view::occlusion_busy(&self.window)
            || self.watches.iter().any(|watch| !watch.over())
    }

    /// Whether the contents of a viewport may still change.
    pub(crate) fn is_loading(&mut self) -> bool {
        self.library.busy()
            || (self.posed.is_none() && self.worker.busy())
            || self.rooms.get(self.view_state.room).busy()
    }

    /// Calls a room with its context.
    pub(crate) fn with_room<T>(
        &mut self,
        name: RoomName,
        call: impl FnOnce(&mut dyn Room, &mut Cx<'_>) -> T,
    ) -> T {
        let Self {
            history,
            view_state,
            clock,
            library,
            watches,
            rooms,
            commands,
            gesture,
            posed,
            solve,
            wake,
            ..
        } = self;

        // The fields are borrowed one by one, because the room borrows the rest mutably.
        let document = history.document();
        let gesture = *gesture;
        let posed = posed.as_ref();
        let solve = solve.as_ref();
        let mut cx = Cx {
            document,
            gesture,
            library,
            posed,
            solve,
            view_state,
            clock,
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
        let now_secs = ctx.input(|input| input.time);
        let at_work = self.busy();

        if let Some(left) = self.notices.tick(now_secs, at_work) {
            ctx.request_repaint_after(left);
        }

        self.watches.retain(|watch| !watch.over());
        self.fetch_pose();
        self.begin_files(ctx);
        self.forget_other_character();

        for name in RoomName::ALL {
            self.with_room(name, |room, cx| room.update(cx));
        }
        let mut pictures = std::mem::take(&mut self.pictures);
        self.with_room(self.view_state.room, |_, cx| pictures.update(cx));
        self.pictures = pictures;
    }

    fn run_clock(&mut self, ctx: &egui::Context) {
        let secs = f64::from(ctx.input(|i| i.stable_dt.min(0.1)));
        let known = self.with_room(self.view_state.room, |_, cx| cx.known_last_frame());
        let timeline = &self.history.document().timeline;
        self.clock.tick(
            secs,
            timeline.frames_per_second,
            known.unwrap_or(timeline.last_frame),
            self.view_state.looping,
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
        match self.worker.result() {
            None => {}
            Some(Err(message)) => {
                self.unshowable = self.requested.take().map(|requested| requested.shown);
                self.notify(Notice::error(message));
            }
            // A result for a previous character is ignored.
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

    /// Writes the weights of a solve into the document, as a part of the gesture that requested it;
    /// not after it was taken back.
    fn keep_solved(&mut self, solve: &SolveReport, posed: &PosedCharacter) {
        let names = posed.rig.targets().iter().map(|target| target.name.clone());
        let weights: Vec<(String, f64)> = names.zip(posed.weights.iter().copied()).collect();
        let character = self.document().character.clone();
        let change = move |document: &mut Document| {
            for (name, weight) in weights {
                // An inactive slider is at zero only as it is shown.
                if weight.is_finite() && !character.is_inactive(&name) {
                    document.character.set_weight(&name, weight);
                }
            }
            document.pose.settle(solve, &document.character.weights);
        };

        self.history.apply_to_open(solve.gesture, change);
    }

    /// Undo or redo; the report of the last drag is dropped.
    fn step_history(&mut self, step: impl FnOnce(&mut History)) {
        step(&mut self.history);
        self.solve = None;
    }

    /// Executes the commands of this frame, then requests the pose of the document.
    pub(crate) fn end_frame(&mut self, ctx: &egui::Context) {
        for command in std::mem::take(&mut self.commands) {
            self.do_command(command, ctx);
        }
        self.request_pose();
        if self.solve.is_some() && self.document().character.weights != self.solved {
            self.solve = None;
        }
        self.end_files(ctx);
    }

    /// Shows a notice at the bottom of the window.
    pub(crate) fn notify(&mut self, notice: Notice) {
        self.notices.notify(Topic::Other, notice);
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
            Command::Drag(drag) => self.drag = Some(drag),
            Command::Undo => self.step_history(History::undo),
            Command::Redo => self.step_history(History::redo),
            Command::Notify(notice) => self.notify(notice),
            Command::Room(room) => self.view_state.room = room,
            Command::ShowCapture => self.capture.open = true,
            Command::Frame { selection } => self.frame_requested = Some(selection),
            other => self.file_command(other, ctx),
        }
    }

    /// Another document, without a past, replaces this one; whatever was in progress for the old
    /// one is forgotten.
    pub(crate) fn reset(&mut self, document: Document) {
        self.tour.opened(&document);
        self.history = History::new(document);
        // Running work of the rooms belongs to the previous project.
        self.rooms = Rooms::default();
        self.capture.leave_project();
        self.poses = PosesPanel::default();
        self.objects = ObjectsPanel::default();
        self.reported_failure = None;
        self.notices.leave_project();
        self.forget_pose();
    }

    /// Drops the pose and the drag of another character.
    fn forget_other_character(&mut self) {
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
        (self.requested, self.posed, self.solve, self.drag) = (None, None, None, None);
    }

    /// The skin that the touch room shows; `None` before there is a soft patch, and while a baked
    /// take plays.
    #[must_use]
    pub fn touched(&self) -> Option<&TouchResult> {
        self.rooms.touch.touched()
    }

    /// The blend that the blend room shows.
    #[must_use]
    pub fn blend_result(&self) -> Option<&Arc<BlendResult>> {
        self.rooms.blend.blend_result()
    }

    /// The character in its current state.
    pub(crate) fn posed(&self) -> Option<&Arc<PosedCharacter>> {
        self.posed.as_ref()
    }

    /// Keyed sliders follow their curves when the clock goes to another frame, or undo brings back
    /// the pose of one.
    fn follow_keys(&mut self) {
        let frame = self.clock.frame;
        let timeline = &self.history.document().timeline;
        if timeline.shown_frame != frame
            && timeline.playing_take.is_none()
            && !timeline.keys.is_empty()
        {
            self.history.show(|document| document.show_frame(frame));
        }
    }

    /// The character's asset, if it is loaded; reports a failure once.
    fn loaded(&mut self, asset: &str) -> Option<Arc<LoadedAsset>> {
        if asset.is_empty() {
            if self.reported_failure.take().is_some() {
                self.notices.settle(Topic::Rig);
            }
            return None;
        }
        match self.library.get(asset) {
            AssetState::Failed(message) => {
                // A failure is reported once, not in every frame.
                if self.reported_failure.as_deref() != Some(asset) {
                    self.reported_failure = Some(asset.to_owned());
                    self.notices.notify(Topic::Rig, Notice::error(message));
                }
                None
            }
            slot => {
                if self.reported_failure.take().is_some() {
                    self.notices.settle(Topic::Rig);
                }
                if let AssetState::Ready(loaded) = slot {
                    Some(loaded)
                } else {
                    None
                }
            }
        }
    }

    /// Whether the character cannot be loaded.
    pub(crate) fn rig_failed(&self) -> bool {
        self.reported_failure.is_some()
    }

    fn request_pose(&mut self) {
        self.follow_keys();
        self.forget_other_character();
        let character = self.history.document().character.clone();
        let Some(loaded) = self.loaded(&character.asset) else {
            return;
        };

        let rig = RigSpec { loaded, character };
        if let Some(drag) = self.drag.take() {
            self.requested = None;
            self.worker.send(CharacterRequest {
                rig,
                pose: PoseRequest::Drag(drag),
            });
            return;
        }

        let library = &mut self.library;
        let shown = match self.capture.live_weights(&rig.loaded.locator) {
            Some(weights) => live_pose(self.history.document(), weights),
            None => shown_pose(
                self.history.document(),
                &rig.loaded,
                |locator| library.ready(locator),
                self.clock.frame,
            ),
        };

        let shown = if self.unshowable.as_ref() == Some(&shown) {
            shown_weights(self.history.document())
        } else {
            shown
        };
        let same = |requested: &PoseQuery| requested.rig == rig && requested.shown == shown;

        // While a drag is being answered the document does not hold its weights yet.
        if self.requested.as_ref().is_some_and(same)
            || (self.requested.is_none() && self.worker.busy())
        {
            return;
        }

        self.requested = Some(PoseQuery {
            rig: rig.clone(),
            shown: shown.clone(),
        });

        let pose = match shown {
            ShownPose::Weights(weights) => PoseRequest::Show(weights),
            ShownPose::Frame(frame) => PoseRequest::Place(frame, rig.character.weights.clone()),
        };

        self.worker.send(CharacterRequest { rig, pose });
    }
}
