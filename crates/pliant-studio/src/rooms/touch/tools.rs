//! The panel on the left: tools, patches, the solid, and what is kept.

use eframe::egui::{self, Color32, Key, Ui};

use super::brush::delete_patch;
use super::options::slider;
use super::setup::{Method, Patch, leave_baked};
use super::solid::Form;
use super::{Setup, TouchRoom};
use crate::character::Posed;
use crate::rooms::Cx;

/// The colour of what presses.
pub(super) const SOLID_COLOR: Color32 = Color32::from_rgb(205, 72, 56);

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
            Self::Brush => "Press on the face and drag outwards: a soft patch. Drag its middle to change the radius.",
            Self::Press => "Drag the solid into the face. Shift: into the skin. Ctrl or wheel: away from you.",
            Self::Pull => "Drag a soft vertex. Shift: out of the skin. Ctrl: away from you.",
        }
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
                let tip = format!("{} ({})", tool.hint(), tool.key().name());
                if ui.selectable_label(self.tool == tool, tool.label()).on_hover_text(tip).clicked() {
                    self.tool = tool;
                }
            }
        });
        ui.weak(self.tool.hint());
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
        if ui.selectable_label(self.brush.selected == Some(k), &name).on_hover_text(format!("Around vertex {}", patch.center)).clicked() {
            self.brush.selected = Some(k);
        }
        let mut radius = patch.radius;
        let field = egui::DragValue::new(&mut radius).speed(0.01 * patch.radius).range(1e-6..=1e6).max_decimals(3).prefix("radius ");
        let field = ui.add(field).on_hover_text("How far it reaches along the surface");
        let label = Some(format!("Radius of patch {}", k + 1));
        field.widget_info(|| egui::WidgetInfo { label: label.clone(), ..egui::WidgetInfo::drag_value(true, patch.radius) });
        if field.changed() {
            cx.edit_by_hand("Set radius", move |document| {
                leave_baked(document);
                if let Some(patch) = document.touch.patches.get_mut(k) {
                    patch.radius = radius;
                }
            });
        }
        let delete = ui.button("×").on_hover_text(format!("Delete {name} (Delete)"));
        delete.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Delete {name}")));
        if delete.clicked() {
            self.brush.selected = None;
            delete_patch(k, cx);
        }
    }

    fn keep_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let setup = &cx.document.touch;
        ui.strong("Keep");
        let told = setup.recorded.as_ref().map(|recorded| format!("Last press: {:.1} s", recorded.secs()));
        ui.weak(told.unwrap_or_else(|| "Press or pull, then bake it over the timeline.".into()));
        let simulation = &setup.simulation;
        let acts = setup.recorded.is_some() || setup.pull.is_some() || simulation.gravity != 0.0 || simulation.inertia != 0.0;
        let ready = acts && !setup.patches.is_empty() && self.baking.is_none();
        let bake = ui.add_enabled(ready, egui::Button::new("Bake to take"));
        if bake.on_hover_text("Simulate the last press over the whole timeline and keep it as a take").clicked() {
            self.bake(cx);
        }
        ui.horizontal(|ui| {
            let label = ui.label("Slider");
            ui.add(egui::TextEdit::singleline(&mut self.target_name).desired_width(90.0)).labelled_by(label.id);
        });
        let keep = ui.add_enabled(self.touched.is_some(), egui::Button::new("Keep as slider"));
        if keep.on_hover_text("Make a slider of the skin as it is now").clicked() {
            self.keep_as_target(cx);
        }
    }

    /// Figures of the last step.
    pub(super) fn figures_ui(&self, ui: &mut Ui, cx: &Cx<'_>) {
        ui.strong("Skin");
        let Some(touched) = self.touched.as_ref().filter(|_| !cx.document.touch.patches.is_empty()) else {
            let count = cx.posed.map_or(0, |posed| posed.positions.len());
            let foreign = cx.posed.is_some() && cx.document.touch.patches.iter().any(|patch| patch.center as usize >= count);
            ui.weak(if foreign { "The patches are those of another character; delete them." } else { "Brush a soft patch first." });
            ui.add_space(8.0);
            return;
        };
        let report = &touched.report;
        // What rounding leaves is none.
        let penetration = if report.max_penetration < 1e-9 * (1.0 + report.max_displacement) { 0.0 } else { report.max_penetration };
        let rows = [
            ("Soft vertices", touched.region.vertices().len().to_string(), "Vertices within the patches"),
            ("Contacts", report.contacts.to_string(), "Vertices that the solid pushes"),
            ("Displacement", format!("{:.2}", report.max_displacement), "The farthest that skin is from its place"),
            ("Penetration", format!("{penetration:.3}"), "The deepest that skin is inside the solid"),
        ];
        let step = format!("A step of the simulation took {:.1} ms in {} substeps", touched.secs * 1e3, report.substeps);
        egui::Grid::new("skin figures").num_columns(2).show(ui, |ui| {
            for (name, value, hint) in rows {
                ui.weak(name).on_hover_text(hint);
                ui.label(value).on_hover_text(&step);
                ui.end_row();
            }
        });
        ui.add_space(8.0);
    }
}

/// The form, the size and the manners of what presses.
fn solid_ui(ui: &mut Ui, posed: &Posed, cx: &mut Cx<'_>) {
    ui.strong("What presses");
    let before = &cx.document.touch;
    let mut setup = before.clone();
    egui::ComboBox::from_label("Form").selected_text(setup.solid.form.label()).show_ui(ui, |ui| {
        for form in Form::ALL {
            ui.selectable_value(&mut setup.solid.form, form, form.label());
        }
    });
    let mut radius = setup.solid_radius(posed);
    let most = 4.0 * super::setup::default_radius(posed);
    if ui.add(slider(&mut radius, 0.01 * most..=most).logarithmic(true).max_decimals(3).text("Size")).changed() {
        setup.solid.radius = Some(radius);
    }
    if setup.solid.form.is_long() {
        ui.add(slider(&mut setup.solid.slenderness, 1.0..=8.0).text("Length")).on_hover_text("Length over thickness");
        ui.checkbox(&mut setup.solid.upright, "Points out of the skin");
    }
    let has_friction = setup.simulation.method == Method::Xpbd;
    let friction = slider(&mut setup.solid.friction, 0.0..=1.5).text("Friction");
    ui.add_enabled(has_friction, friction)
        .on_hover_text("0 slides, 1 drags skin along")
        .on_disabled_hover_text("Not in the thesis' method");
    ui.checkbox(&mut setup.stays, "Stays when let go").on_hover_text("Otherwise it goes back where you took it, and the skin comes back");
    if setup.pull.is_some_and(|pull| pull.holds) && ui.button("Let go of the pull").clicked() {
        setup.pull = setup.pull.map(|pull| super::Pull { holds: false, ..pull });
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
