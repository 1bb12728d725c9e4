//! The panel on the left: tools, patches, the solid, and what is kept.

use eframe::egui::{self, Color32, Key, Ui};

use super::brush::delete_patch;
use super::options::slider;
use super::setup::{Method, Patch, leave_baked, playing_baked};
use super::solid::{Form, Solid};
use super::{Setup, TouchRoom};
use crate::character::Posed;
use crate::rooms::Cx;
use crate::view::DragWay;

/// The colour of what presses.
pub(super) const SOLID_COLOR: Color32 = Color32::from_rgb(205, 72, 56);

/// Skin that is nowhere farther from its place than this part of its patch is as it was: ours,
/// nobody sees it.
const STILL: f64 = 5e-3;

/// What the left button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Brush,
    Press,
    Pull,
}

impl Tool {
    pub(super) const ALL: [Self; 3] = [Self::Brush, Self::Press, Self::Pull];

    fn label(self) -> &'static str {
        match self {
            Self::Brush => "Brush",
            Self::Press => "Press",
            Self::Pull => "Pull",
        }
    }

    pub(super) fn key(self) -> Key {
        match self {
            Self::Brush => Key::B,
            Self::Press => Key::P,
            Self::Pull => Key::G,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Brush => {
                "Press on the face and drag outwards: a soft patch. Drag its middle to change the radius."
            }
            Self::Press => {
                "Press on the skin and drag: the solid sinks in and follows the pointer. The wheel presses deeper."
            }
            Self::Pull => "Drag soft skin: it follows in the plane of the screen.",
        }
    }

    /// Whether keys choose where a drag goes.
    fn has_ways(self) -> bool {
        self != Self::Brush
    }
}

impl TouchRoom {
    /// The whole panel.
    pub(super) fn panel_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.tool_ui(ui);
        ui.add_space(8.0);
        self.patches_ui(ui, cx);
        ui.add_space(8.0);
        if let Some(posed) = cx.posed.cloned() {
            solid_ui(ui, &posed, cx);
        }
        ui.add_space(8.0);
        self.keep_ui(ui, cx);
    }

    fn tool_ui(&mut self, ui: &mut Ui) {
        ui.strong("Tool");
        ui.horizontal_wrapped(|ui| {
            for tool in Tool::ALL {
                let ways = if tool.has_ways() {
                    format!("\n{}", DragWay::KEYS)
                } else {
                    String::new()
                };
                let tip = format!("{} ({}){ways}", tool.hint(), tool.key().name());
                if ui
                    .selectable_label(self.tool == tool, tool.label())
                    .on_hover_text(tip)
                    .clicked()
                {
                    self.tool = tool;
                }
            }
        });
        ui.weak(self.tool.hint());
        if self.tool.has_ways() {
            ui.weak(egui::RichText::new(DragWay::KEYS).small());
        }
    }

    fn patches_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Soft patches");
        let patches = cx.document.touch.patches.clone();
        if patches.is_empty() {
            ui.weak("None yet.");
            return;
        }
        for (k, patch) in patches.iter().enumerate() {
            ui.horizontal(|ui| self.patch_ui(k, *patch, ui, cx));
        }
        if patches.len() > 1 && ui.button("Delete all patches").clicked() {
            cx.edit("Delete all patches", |document| {
                leave_baked(document);
                document.touch.patches.clear();
            });
        }
    }

    fn patch_ui(&mut self, k: usize, patch: Patch, ui: &mut Ui, cx: &mut Cx<'_>) {
        let name = format!("Patch {}", k + 1);
        if ui
            .selectable_label(self.brush.selected == Some(k), &name)
            .on_hover_text(format!("Around vertex {}", patch.center))
            .clicked()
        {
            self.brush.selected = Some(k);
        }
        let mut radius = patch.radius;
        let field = egui::DragValue::new(&mut radius)
            .speed(0.01 * patch.radius)
            .range(1e-6..=1e6)
            .max_decimals(3)
            .prefix("radius ");
        let field = ui
            .add(field)
            .on_hover_text("How far it reaches along the surface");
        let label = Some(format!("Radius of patch {}", k + 1));
        field.widget_info(|| egui::WidgetInfo {
            label: label.clone(),
            ..egui::WidgetInfo::drag_value(true, patch.radius)
        });
        if field.changed() {
            cx.edit_by_hand("Set radius", move |document| {
                leave_baked(document);
                if let Some(patch) = document.touch.patches.get_mut(k) {
                    patch.radius = radius;
                }
            });
        }
        let delete = ui
            .button("×")
            .on_hover_text(format!("Delete {name} (Delete)"));
        delete.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Delete {name}"))
        });
        if delete.clicked() {
            self.brush.selected = None;
            delete_patch(k, cx);
        }
    }

    fn keep_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Keep");
        ui.weak(self.next_step(cx));
        let why_not = self.why_no_bake(cx);
        let bake = ui.add_enabled(why_not.is_none(), egui::Button::new("Bake to take"));
        let bake = bake
            .on_hover_text("Simulate the last press over the whole timeline and keep it as a take");
        if bake
            .on_disabled_hover_text(why_not.unwrap_or_default())
            .clicked()
        {
            self.bake(cx);
        }
        ui.horizontal(|ui| {
            let label = ui.label("Slider");
            let field = egui::TextEdit::singleline(&mut self.target_name).desired_width(90.0);
            ui.add(field)
                .labelled_by(label.id)
                .on_hover_text("What the slider will be called");
        });
        let why_not = self.why_no_slider(cx);
        let keep = ui.add_enabled(why_not.is_none(), egui::Button::new("Keep as slider"));
        let keep = keep.on_hover_text("Make a slider of the skin as it is now");
        if keep
            .on_disabled_hover_text(why_not.unwrap_or_default())
            .clicked()
        {
            self.keep_as_target(cx);
        }
    }

    /// What a person can do now, in a sentence.
    fn next_step(&self, cx: &Cx<'_>) -> String {
        let setup = &cx.document.touch;
        match (playing_baked(cx.document), &setup.recorded) {
            (Some(take), _) => {
                format!("Space plays the take {take}. Press or pull again to go on with live skin.")
            }
            (None, _) if setup.patches.is_empty() => "Brush a soft patch, then press it.".into(),
            (None, Some(recorded)) => {
                let dent = if setup.stays {
                    "or keep the dent as a slider"
                } else {
                    "or let the dent stay to keep it as a slider"
                };
                format!(
                    "Last press: {:.1} s. Bake it over the timeline, {dent}.",
                    recorded.secs()
                )
            }
            (None, None) => "Press or pull the patch, then keep what came of it.".into(),
        }
    }

    /// Why nothing can be baked now; `None` where it can.
    fn why_no_bake(&self, cx: &Cx<'_>) -> Option<&'static str> {
        let setup = &cx.document.touch;
        let acts = setup.recorded.is_some()
            || setup.pull.is_some()
            || setup.simulation.gravity != 0.0
            || setup.simulation.inertia != 0.0;
        if self.baking.is_some() {
            Some("A take is being baked; its bar is at the bottom of the window.")
        } else if setup.patches.is_empty() {
            Some("There is no soft skin yet: brush a patch first.")
        } else if !acts {
            Some("Nothing has touched the skin yet: press it or pull it first.")
        } else {
            None
        }
    }

    /// Why no slider can be made of the skin now; `None` where it can.
    fn why_no_slider(&self, cx: &Cx<'_>) -> Option<&'static str> {
        if playing_baked(cx.document).is_some() {
            return Some("A baked take is shown: press or pull again, and keep the live skin.");
        }
        let Some(touched) = self.touched.as_ref() else {
            return Some("There is no soft skin yet: brush a patch first.");
        };
        let still = touched.report.max_displacement
            <= STILL * touched.region.reaches().iter().copied().fold(0.0, f64::max);
        still.then_some(
            "The skin is as it was: turn on Stays when let go, press or pull, and keep it then.",
        )
    }

    /// Figures of the last step.
    pub(super) fn figures_ui(&self, ui: &mut Ui, cx: &Cx<'_>) {
        ui.strong("Skin");
        let Some(touched) = self
            .touched
            .as_ref()
            .filter(|_| !cx.document.touch.patches.is_empty())
        else {
            ui.weak(why_no_skin(cx));
            ui.add_space(8.0);
            return;
        };
        let report = &touched.report;
        // What rounding leaves is none.
        let penetration = if report.max_penetration < 1e-9 * (1.0 + report.max_displacement) {
            0.0
        } else {
            report.max_penetration
        };
        let rows = [
            (
                "Soft vertices",
                touched.region.vertices().len().to_string(),
                "Vertices within the patches",
            ),
            (
                "Contacts",
                report.contacts.to_string(),
                "Vertices that the solid pushes",
            ),
            (
                "Displacement",
                format!("{:.2}", report.max_displacement),
                "The farthest that skin is from its place",
            ),
            (
                "Penetration",
                format!("{penetration:.3}"),
                "The deepest that skin is inside the solid",
            ),
        ];
        let step = format!(
            "A step of the simulation took {:.1} ms in {} substeps",
            touched.secs * 1e3,
            report.substeps
        );
        egui::Grid::new("skin figures")
            .num_columns(2)
            .show(ui, |ui| {
                for (name, value, hint) in rows {
                    ui.weak(name).on_hover_text(hint);
                    ui.label(value).on_hover_text(&step);
                    ui.end_row();
                }
            });
        ui.add_space(8.0);
    }
}

/// Why there is no live skin to tell of.
fn why_no_skin(cx: &Cx<'_>) -> String {
    let (setup, count) = (
        &cx.document.touch,
        cx.posed.map_or(0, |posed| posed.positions.len()),
    );
    if let Some(take) = playing_baked(cx.document) {
        return format!("The take {take} is shown as it was baked.");
    }
    let foreign = cx.posed.is_some()
        && setup
            .patches
            .iter()
            .any(|patch| patch.center as usize >= count);
    if foreign {
        "The patches are those of another character; delete them."
    } else {
        "Brush a soft patch first."
    }
    .into()
}

/// The form, the size and the manners of what presses.
fn solid_ui(ui: &mut Ui, posed: &Posed, cx: &mut Cx<'_>) {
    ui.strong("What presses");
    let before = &cx.document.touch;
    let mut setup = before.clone();
    egui::ComboBox::from_label("Form")
        .selected_text(setup.solid.form.label())
        .show_ui(ui, |ui| {
            for form in Form::ALL {
                ui.selectable_value(&mut setup.solid.form, form, form.label());
            }
        });
    let mut radius = setup.solid_radius(posed);
    let most = 4.0 * super::setup::default_radius(posed);
    if ui
        .add(
            slider(&mut radius, 0.01 * most..=most)
                .logarithmic(true)
                .max_decimals(3)
                .text("Size"),
        )
        .changed()
    {
        setup.solid.radius = Some(radius);
    }
    let mut depth = setup.solid.depth;
    let field = slider(&mut depth, 0.0..=Solid::MOST_DEPTH)
        .max_decimals(2)
        .text("Depth");
    if ui
        .add(field)
        .on_hover_text(
            "How deep a press goes, in parts of the size; the wheel changes it while you press",
        )
        .changed()
    {
        setup.press_to(depth, radius);
    }
    if setup.solid.form.is_long() {
        ui.add(slider(&mut setup.solid.slenderness, 1.0..=8.0).text("Length"))
            .on_hover_text("Length over thickness");
        ui.checkbox(&mut setup.solid.upright, "Points out of the skin");
    }
    let has_friction = setup.simulation.method == Method::Xpbd;
    let friction = slider(&mut setup.solid.friction, 0.0..=1.5).text("Friction");
    ui.add_enabled(has_friction, friction)
        .on_hover_text("0 slides, 1 drags skin along")
        .on_disabled_hover_text("Not in the thesis' method");
    ui.checkbox(&mut setup.stays, "Stays when let go")
        .on_hover_text("Otherwise it goes back where you took it, and the skin comes back");
    if setup.pull.is_some_and(|pull| pull.holds) && ui.button("Let go of the pull").clicked() {
        setup.pull = setup.pull.map(|pull| super::Pull {
            holds: false,
            ..pull
        });
    }
    if setup != *before {
        cx.edit_by_hand(label_of(before, &setup), move |document| {
            leave_baked(document);
            document.touch = setup;
        });
    }
}

/// What a change of the solid is called.
fn label_of(before: &Setup, after: &Setup) -> &'static str {
    let (a, b) = (&before.solid, &after.solid);
    if a.form != b.form {
        "Choose form"
    } else if a.depth != b.depth {
        "Set depth"
    } else if a.friction != b.friction {
        "Set friction"
    } else if before.stays != after.stays {
        "Choose whether it stays"
    } else if before.pull != after.pull {
        "Let go"
    } else {
        "Set size"
    }
}
