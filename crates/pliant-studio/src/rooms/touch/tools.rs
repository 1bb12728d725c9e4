//! Tools of the Touch room: tool buttons, patches, collider, storing of results.

use eframe::egui::{self, Color32, Key, Ui};

use super::TouchRoom;
use super::brush::delete_patch;
use crate::engine::character::PosedCharacter;
use crate::engine::context::Cx;
use crate::engine::touch::default_radius;
use crate::model::touch::{
    ColliderSetup, Form, Method, Patch, Setup, VertexPull, leave_baked, playing_baked,
};
use crate::view::DragDirection;
use crate::widgets::field::{ChoiceField, LeftLabel as _, no_hint, slider};

/// The colour of what presses.
pub(super) const SOLID_COLOR: Color32 = Color32::from_rgb(205, 72, 56);

/// Skin whose displacement is below this part of its patch radius counts as undeformed. Chosen: it
/// is not visible.
const STILL: f64 = 5e-3;

/// Action of the left button.
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
                "Press on the face and drag outwards to make a soft patch. Drag its centre to change the radius."
            }
            Self::Press => {
                "Press on the skin and drag: the collider sinks in and follows the pointer. The wheel changes the depth."
            }
            Self::Pull => "Drag soft skin; it follows in the view plane.",
        }
    }

    /// Whether keys choose where a drag goes.
    fn has_directions(self) -> bool {
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
                let directions = if tool.has_directions() {
                    format!("\n{}", DragDirection::KEYS)
                } else {
                    String::new()
                };
                let tip = format!("{} ({}){directions}", tool.hint(), tool.key().name());

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
        if self.tool.has_directions() {
            ui.weak(egui::RichText::new(DragDirection::KEYS).small());
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

        let field = ui.add(field).on_hover_text("Geodesic radius of the patch");
        // A screen reader reads the patch along with the value.
        let label = Some(format!("Radius of patch {}", k + 1));

        field.widget_info(|| egui::WidgetInfo {
            label: label.clone(),
            ..egui::WidgetInfo::drag_value(true, patch.radius)
        });

        if field.changed() {
            cx.edit_continuously("Set radius", move |document| {
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
        ui.strong("Store");
        ui.weak(self.next_step(cx));
        // A disabled button says why in its tooltip.
        let reason = self.no_bake_reason(cx);
        let bake = ui.add_enabled(reason.is_none(), egui::Button::new("Bake to take"));
        let bake = bake.on_hover_text(
            "Simulate the last press over the whole timeline and store it as a take",
        );

        if bake
            .on_disabled_hover_text(reason.unwrap_or_default())
            .clicked()
        {
            self.bake(cx);
        }

        ui.horizontal(|ui| {
            let label = ui.label("Slider");
            let field = egui::TextEdit::singleline(&mut self.target_name).desired_width(90.0);
            ui.add(field)
                .labelled_by(label.id)
                .on_hover_text("Name of the new slider");
        });

        let reason = self.no_slider_reason(cx);
        let keep = ui.add_enabled(reason.is_none(), egui::Button::new("Add as slider"));
        let keep = keep.on_hover_text("Store the current deformation as a new slider");

        if keep
            .on_disabled_hover_text(reason.unwrap_or_default())
            .clicked()
        {
            self.keep_as_target(cx);
        }
    }

    /// Hint about the possible actions.
    fn next_step(&self, cx: &Cx<'_>) -> String {
        let setup = &cx.document.touch;
        match (playing_baked(cx.document), &setup.recorded) {
            (Some(take), _) => {
                format!("Space plays the take {take}. Press or pull to return to the simulation.")
            }
            (None, _) if setup.patches.is_empty() => "Brush a soft patch, then press it.".into(),
            (None, Some(recorded)) => {
                let dent = if setup.stays {
                    "or add the dent as a slider"
                } else {
                    "or switch on Hold after release to add the dent as a slider"
                };
                format!(
                    "Last press: {:.1} s. Bake it over the timeline, {dent}.",
                    recorded.secs()
                )
            }
            (None, None) => "Press or pull the patch, then store the result.".into(),
        }
    }

    /// Why nothing can be baked now; `None` where it can.
    fn no_bake_reason(&self, cx: &Cx<'_>) -> Option<&'static str> {
        let setup = &cx.document.touch;
        // Gravity and inertia move the skin without a press.
        let acts = setup.recorded.is_some()
            || setup.pull.is_some()
            || setup.simulation.gravity != 0.0
            || setup.simulation.inertia != 0.0;

        if self.baking.is_some() {
            Some("A take is being baked; the progress is shown at the bottom of the window.")
        } else if setup.patches.is_empty() {
            Some("There is no soft patch yet; brush one first.")
        } else if !acts {
            Some("There is no press or pull yet; press or pull the skin first.")
        } else {
            None
        }
    }

    /// Why no slider can be made of the skin now; `None` where it can.
    fn no_slider_reason(&self, cx: &Cx<'_>) -> Option<&'static str> {
        if playing_baked(cx.document).is_some() {
            return Some("A baked take is shown; press or pull again first.");
        }
        let Some(touched) = self.touched.as_ref() else {
            return Some("There is no soft patch yet; brush one first.");
        };

        // A deformation that is not visible makes no slider.
        let still = touched.report.max_displacement
            <= STILL * touched.region.reaches().iter().copied().fold(0.0, f64::max);
        still.then_some(
            "The skin is not deformed; switch on Hold after release, then press or pull.",
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
            ui.weak(no_skin_reason(cx));
            ui.add_space(8.0);
            return;
        };

        let report = &touched.report;
        // Rounding errors are no deformation.
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
                (report.contacts + report.face_contacts).to_string(),
                "Vertices and faces in contact with the collider",
            ),
            (
                "Displacement",
                format!("{:.2}", report.max_displacement),
                "Largest displacement of a vertex",
            ),
            (
                "Penetration",
                format!("{penetration:.3}"),
                "Largest depth of a vertex inside the collider",
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

/// Why no skin is simulated.
fn no_skin_reason(cx: &Cx<'_>) -> String {
    let setup = &cx.document.touch;
    let count = cx.posed.map_or(0, |posed| posed.positions.len());
    if let Some(take) = playing_baked(cx.document) {
        return format!("The take {take} is shown as it was baked.");
    }

    let foreign = cx.posed.is_some()
        && setup
            .patches
            .iter()
            .any(|patch| patch.center.index() >= count);

    if foreign {
        "The patches belong to another character; delete them."
    } else {
        "Brush a soft patch first."
    }
    .into()
}

/// Shape, size and settings of the collider.
fn solid_ui(ui: &mut Ui, posed: &PosedCharacter, cx: &mut Cx<'_>) {
    ui.strong("Collider");
    let before = &cx.document.touch;
    let mut setup = before.clone();
    ChoiceField {
        name: "Shape",
        options: &Form::ALL,
        label: Form::label,
        hint: no_hint,
    }
    .show(ui, &mut setup.solid.form);

    size_ui(ui, &mut setup, posed);
    if setup.solid.form.is_long() {
        ui.add(slider(&mut setup.solid.slenderness, 1.0..=8.0).left_label("Length"))
            .on_hover_text("Length over thickness");
        ui.checkbox(&mut setup.solid.upright, "Perpendicular to the skin");
    }

    // The Verlet method ignores friction.
    let has_friction = setup.simulation.method == Method::Xpbd;
    let friction = slider(&mut setup.solid.friction, 0.0..=1.5).left_label("Friction");
    ui.add_enabled(has_friction, friction)
        .on_hover_text("0 slides freely, 1 drags the skin along")
        .on_disabled_hover_text("The Verlet method does not support this");
    ui.checkbox(&mut setup.stays, "Hold after release")
        .on_hover_text("If off, the collider returns to its start and the skin recovers");

    if setup.pull.is_some_and(|pull| pull.holds) && ui.button("Release the pull").clicked() {
        setup.pull = setup.pull.map(|pull| VertexPull {
            holds: false,
            ..pull
        });
    }

    if setup != *before {
        cx.edit_continuously(label_of(before, &setup), move |document| {
            leave_baked(document);
            document.touch = setup;
        });
    }
}

/// The radius of the collider and the depth of a press.
fn size_ui(ui: &mut Ui, setup: &mut Setup, posed: &PosedCharacter) {
    let mut radius = setup.solid_radius(posed);
    let most = 4.0 * default_radius(posed);
    let size = slider(&mut radius, 0.01 * most..=most)
        .logarithmic(true)
        .max_decimals(3)
        .left_label("Size");
    if ui.add(size).changed() {
        setup.solid.radius = Some(radius);
    }

    let mut depth = setup.solid.depth;
    let field = slider(&mut depth, 0.0..=ColliderSetup::MOST_DEPTH)
        .max_decimals(2)
        .left_label("Depth");
    let hint = "Depth of a press, relative to the size; the wheel changes it during a press";
    if ui.add(field).on_hover_text(hint).changed() {
        setup.press_to(depth, radius);
    }
}

/// The label of a change of the collider.
fn label_of(before: &Setup, after: &Setup) -> &'static str {
    let a = &before.solid;
    let b = &after.solid;
    if a.form != b.form {
        "Choose collider"
    } else if a.depth != b.depth {
        "Set depth"
    } else if a.friction != b.friction {
        "Set friction"
    } else if before.stays != after.stays {
        "Change hold after release"
    } else if before.pull != after.pull {
        "Release pull"
    } else {
        "Set size"
    }
}
