//! Touch: brush soft patches, press things into them, pull them, and bake what came of it.

mod bake;
mod brush;
mod live;
mod material;
mod options;
mod pointer;
mod press;
mod pull;
mod setup;
mod skin_map;
mod solid;
mod tools;

use std::sync::Arc;

use eframe::egui::{Align2, FontId, Key, Rect, Ui, vec2};
use pliant::mesh::glam::DVec3;

pub use live::{HeldSolid, Touched};
pub use material::Preset;
pub use setup::{Method, Patch, Pull, Recorded, Setup, Shown, Simulation};
pub use skin_map::SkinColors;
pub use solid::{Form, Solid};

use super::{Cx, Example, On, Pane, Room, RoomName};
use crate::character::Posed;
use crate::command::Notice;
use crate::document::{AddedTarget, Character, Document, Locator};
use crate::view::heat::LEGEND_SIZE;
use crate::view::{Model, Paint, Scene, legend_ui};
use crate::work::{Latest, Task};
use bake::{Baked, Plan, recorded_place};
use live::{Ask, STEP_SECS};
use setup::playing_baked;
use tools::Tool;

/// The keys of the room, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[(
    "Touch",
    &[
        ("B, P, G", "Brush, press, pull"),
        ("Drag", "Press into the skin and along it"),
        ("Wheel while pressing", "Deeper or shallower"),
        ("Ctrl, Shift, both", "Along the normal, the skin, in depth"),
        ("Del", "Delete the patch"),
    ],
)];

/// A solid hides this much of the skin behind it.
const SOLID_OPACITY: f32 = 0.7;
/// The longest time between two shapes of an animation that plays; more is a jump.
const LONGEST_STEP_SECS: f64 = 0.2;

/// The room.
pub struct TouchRoom {
    tool: Tool,
    brush: brush::Brush,
    press: press::Press,
    fingers: pull::Fingers,
    /// Started with the first question.
    worker: Option<Latest<Ask, Touched>>,
    asked: Option<Ask>,
    asked_frame: f64,
    touched: Option<Touched>,
    /// Whether the last question had no answer but a sentence.
    declined: bool,
    /// The character for which the tool was chosen.
    subject: Option<Locator>,
    /// Whether the room is open: only then skin moves.
    open: bool,
    baking: Option<Task<Baked>>,
    target_name: String,
}

impl Default for TouchRoom {
    fn default() -> Self {
        Self {
            tool: Tool::Brush,
            brush: brush::Brush::default(),
            press: press::Press::default(),
            fingers: pull::Fingers::default(),
            worker: None,
            asked: None,
            asked_frame: 0.0,
            touched: None,
            declined: false,
            subject: None,
            open: false,
            baking: None,
            target_name: "touch".into(),
        }
    }
}

impl Room for TouchRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        self.open = cx.desk.room == RoomName::Touch;
        self.choose_tool(cx);
        self.fetch_baked(cx);
        self.fetch_touched(cx);
        if self.open {
            self.ask(cx);
        }
    }

    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        // The wheel is the hand's before it is the camera's, and panels are asked before viewports.
        self.press.take_wheel(ui);
        self.panel_ui(ui, cx);
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.figures_ui(ui, cx);
        options::options_ui(ui, cx);
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        let mut pane = Pane {
            empty: "Drop a character here, or choose one in File › Open.".into(),
            subject: cx.document.character.asset.clone(),
            ..Pane::default()
        };
        if let Some(posed) = cx.posed {
            pane.scene = self.scene(posed, cx);
        }
        vec![pane]
    }

    fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(posed) = cx.posed.cloned() else {
            return false;
        };
        self.keys(ui, cx);
        let used = match self.tool {
            Tool::Brush => self.brush.canvas_ui(on, &posed, ui, cx),
            Tool::Press => self.press.canvas_ui(on, &posed, ui, cx),
            Tool::Pull => self.fingers.canvas_ui(on, self.touched.as_ref(), ui, cx),
        };
        if self.tool == Tool::Brush {
            self.brush.paint(on, cx);
        }
        self.press.paint(on);
        if let Some(touched) = &self.touched {
            self.fingers.paint(on, touched, cx);
            legend(on, self.tool, touched, cx);
        }
        if cx.document.touch.patches.is_empty() {
            let hint = "Press on the face and drag outwards: the disc becomes soft.";
            pointer::label(
                &on.canvas.painter,
                on.canvas.response.rect.left_top() + vec2(14.0, 14.0),
                Align2::LEFT_TOP,
                hint,
                FontId::proportional(14.0),
            );
        }
        used
    }

    fn busy(&self) -> bool {
        let asked = self.open && self.asked.is_some() && !self.declined;
        let moving = asked && self.touched.as_ref().is_none_or(|touched| !touched.rests);
        moving || self.worker.as_ref().is_some_and(Latest::busy) || self.baking.is_some()
    }
}

impl TouchRoom {
    /// The skin that is shown; `None` before there is a soft patch, and while a baked take plays.
    #[must_use]
    pub fn touched(&self) -> Option<&Touched> {
        self.touched.as_ref()
    }

    /// A character that comes with a patch is ready to be pressed.
    fn choose_tool(&mut self, cx: &Cx<'_>) {
        let asset = &cx.document.character.asset;
        if self.subject.as_ref() != Some(asset) {
            self.tool = if cx.document.touch.patches.is_empty() {
                Tool::Brush
            } else {
                Tool::Press
            };
            self.subject = Some(asset.clone());
        }
    }

    fn keys(&mut self, ui: &Ui, cx: &mut Cx<'_>) {
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }
        let plain =
            |key: Key| ui.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        if let Some(tool) = Tool::ALL.into_iter().find(|tool| plain(tool.key())) {
            self.tool = tool;
        }
        if plain(Key::Delete) {
            self.brush.delete(cx);
        }
    }

    fn fetch_touched(&mut self, cx: &mut Cx<'_>) {
        match self.worker.as_ref().and_then(Latest::answer) {
            None => {}
            Some(Ok(touched)) => self.touched = Some(touched),
            Some(Err(sentence)) => {
                // Asked again only for something else.
                (self.touched, self.declined) = (None, true);
                cx.tell(Notice::trouble(sentence));
            }
        }
    }

    /// Asks for the skin that the document wants, unless it was asked for already.
    fn ask(&mut self, cx: &mut Cx<'_>) {
        let Some(mut ask) = question(self.tool, cx) else {
            (self.asked, self.touched) = (None, None);
            return;
        };
        let before = self.asked.as_ref();
        let same = before.is_some_and(|before| before.is_same(&ask));
        let moving = self.touched.as_ref().is_some_and(|touched| !touched.rests);
        // Without threads the worker does one step for each question.
        if same && (cfg!(feature = "parallel") || !moving) {
            return;
        }
        if cx.clock.playing && before.is_some_and(|before| !Arc::ptr_eq(&before.posed, &ask.posed))
        {
            let passed =
                (cx.clock.frame - self.asked_frame) / cx.document.timeline.frames_per_second;
            ask.playing_secs = Some(if passed > 0.0 && passed <= LONGEST_STEP_SECS {
                passed
            } else {
                STEP_SECS
            });
        }
        self.asked_frame = cx.clock.frame;
        (self.asked, self.declined) = (Some(ask.clone()), false);
        self.worker
            .get_or_insert_with(|| live::start(cx.wake.clone()))
            .ask(ask);
    }

    fn scene(&self, posed: &Arc<Posed>, cx: &Cx<'_>) -> Scene {
        let touched = self
            .touched
            .as_ref()
            .filter(|touched| Arc::ptr_eq(&touched.posed.surface, &posed.surface));
        let vertices = touched.map_or(&posed.vertices, |touched| &touched.vertices);
        let mut face = Model::new(posed.surface.clone(), vertices.clone());
        if let Some(skin) = touched.and_then(|touched| touched.colors.as_ref()) {
            face = face.with_paint(Paint::Colors(skin.colors.clone()));
        }
        let solid = self.solid_model(posed, cx).map(|model| {
            model
                .with_paint(Paint::Plain(tools::SOLID_COLOR))
                .with_opacity(SOLID_OPACITY)
        });
        Scene {
            models: std::iter::once(face).chain(solid).collect(),
        }
    }

    /// The solid where the shown skin met it, so that neither is ahead of the other.
    fn solid_model(&self, posed: &Posed, cx: &Cx<'_>) -> Option<Model> {
        let setup = &cx.document.touch;
        let idle = setup.solid.place.is_none() && self.tool != Tool::Press;
        if setup.patches.is_empty() || idle {
            return None;
        }
        if playing_baked(cx.document).is_some() {
            let fps = cx.document.timeline.frames_per_second;
            let place = recorded_place(setup, cx.clock.frame / fps, fps)?;
            return Some(setup.solid.model(setup.solid_radius(posed), place));
        }
        if let Some(held) = self
            .touched
            .as_ref()
            .and_then(|touched| touched.solid.as_ref())
        {
            return Some(held.solid.model(held.radius, held.place));
        }
        let (solid, place) = setup.solid_at(posed)?;
        Some(solid.model(setup.solid_radius(posed), place))
    }

    /// Bakes the last press over the timeline.
    fn bake(&mut self, cx: &mut Cx<'_>) {
        let Some(posed) = cx.posed.cloned() else {
            return;
        };
        match Plan::new(cx.document, cx.library, &posed) {
            Ok(plan) => {
                self.baking = Some(cx.start("Baking the touch", move |watch| plan.bake(watch)))
            }
            Err(sentence) => cx.tell(Notice::trouble(sentence)),
        }
    }

    fn fetch_baked(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.baking) {
            None => {}
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
            Some(Ok(Baked {
                take,
                below,
                problem,
            })) => {
                let count = take.frame_count;
                cx.edit("Bake touch", move |document| {
                    let name = document.timeline.add_take(take);
                    document.touch.baked.insert(name.clone(), below);
                    document.timeline.playing_take = Some(name);
                });
                let done = Notice::done(format!(
                    "Baked {count} frames as a take; play it on the timeline."
                ));
                cx.tell(problem.map_or(done, |problem| {
                    Notice::hint(format!("Baked, but {problem}."))
                }));
            }
        }
    }

    /// Makes a slider of what the touch adds to the character's own shape now.
    fn keep_as_target(&mut self, cx: &mut Cx<'_>) {
        let Some(touched) = &self.touched else { return };
        let added = added_target(
            touched,
            &free_name(&self.target_name, touched, &cx.document.character),
        );
        cx.tell(Notice::done(format!("Kept as the slider {}.", added.name)));
        cx.edit("Keep touch as slider", move |document| {
            document.character.added.push(added)
        });
    }
}

/// What the skin's colours mean, where viewports have their legends.
fn legend(on: &On<'_>, tool: Tool, touched: &Touched, cx: &Cx<'_>) {
    let tinted = tool != Tool::Brush && cx.document.touch.shown == Shown::Softness;
    if let Some(skin) = touched
        .colors
        .as_ref()
        .filter(|_| cx.desk.look.legend && !tinted)
    {
        let corner = on.canvas.response.rect.right_bottom() - LEGEND_SIZE - vec2(14.0, 14.0);
        legend_ui(
            &on.canvas.painter,
            Rect::from_min_size(corner, LEGEND_SIZE),
            &skin.heat,
        );
    }
}

/// The skin that the document wants; `None` without a character or a patch, and while a take plays
/// that was baked here.
fn question(tool: Tool, cx: &Cx<'_>) -> Option<Ask> {
    let (posed, setup) = (cx.posed?, &cx.document.touch);
    let count = posed.positions.len() as u32;
    if setup.patches.is_empty()
        || playing_baked(cx.document).is_some()
        || setup.patches.iter().any(|patch| patch.center >= count)
    {
        return None;
    }
    let pull = setup
        .pull
        .filter(|pull| pull.holds && setup.simulation.method == Method::Xpbd);
    let solid = setup.solid_at(posed).map(|(solid, place)| HeldSolid {
        radius: setup.solid_radius(posed),
        friction: setup.friction(),
        from: solid.from.map_or(place, DVec3::from_array),
        solid,
        place,
    });
    Some(Ask {
        posed: posed.clone(),
        patches: setup.soft_patches(),
        options: setup.touch_options(),
        solid,
        pull: pull.map(|pull| (pull.vertex as usize, DVec3::from_array(pull.offset))),
        shown: setup.shown,
        brushed: tool == Tool::Brush,
        playing_secs: None,
    })
}

/// What the touch adds to the character's own shape.
fn added_target(touched: &Touched, name: &str) -> AddedTarget {
    let way =
        |&v: &u32| (touched.positions[v as usize] - touched.posed.positions[v as usize]).as_vec3();
    let moved = || {
        touched
            .region
            .vertices()
            .iter()
            .filter(|v| way(v).length_squared() > 0.0)
    };
    let (vertices, deltas) = (
        moved().copied().collect(),
        moved().map(|v| way(v).to_array()).collect(),
    );
    AddedTarget {
        name: name.to_owned(),
        vertices: Arc::new(vertices),
        deltas: Arc::new(deltas),
    }
}

/// A name that no slider has: the wanted one, or that with a number.
fn free_name(wanted: &str, touched: &Touched, character: &Character) -> String {
    let wanted = if wanted.trim().is_empty() {
        "touch"
    } else {
        wanted.trim()
    };
    let taken = |name: &str| {
        touched
            .posed
            .rig
            .targets()
            .iter()
            .any(|target| target.name == name)
            || character.added.iter().any(|added| added.name == name)
    };
    crate::names::free_name(wanted, taken)
}

/// The middle of the built-in head's left cheek, and how far it is soft, in centimetres: those of
/// the demo and of the published pictures.
const CHEEK: Patch = Patch {
    center: 2134,
    radius: 4.0,
};
/// The same on its chin.
const CHIN: Patch = Patch {
    center: 1083,
    radius: 4.0,
};

/// The head with a soft cheek and a ball ready beside it.
#[must_use]
pub fn press_a_cheek() -> Document {
    head(Setup {
        patches: vec![CHEEK],
        ..Setup::default()
    })
}

/// The head with a chin of jelly and a finger that drags its skin along.
#[must_use]
pub fn finger_on_a_chin() -> Document {
    let finger = Solid {
        form: Form::Capsule,
        friction: 0.6,
        ..Solid::default()
    };
    head(Setup {
        patches: vec![CHIN],
        solid: finger,
        material: Preset::Jelly.material(),
        ..Setup::default()
    })
}

fn head(touch: Setup) -> Document {
    let character = Character {
        asset: "specimen:head".into(),
        ..Character::default()
    };
    Document {
        character,
        touch,
        ..Document::default()
    }
}

/// Documents to begin with.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("Press a cheek", press_a_cheek),
        ("A finger on a jelly chin", finger_on_a_chin),
    ]
}
