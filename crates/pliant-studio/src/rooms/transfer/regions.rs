//! The list of regions, the options of the brush, and rotations of the reference pose.

use eframe::egui::{self, Color32, Sense, Slider, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::brush::Brush;
use crate::engine::context::Cx;
use crate::engine::transfer::actor::Actor;
use crate::engine::transfer::preview::Preview;
use crate::model::document::Document;
use crate::model::transfer::{RegionSetup, Setup};
use crate::rooms::PaneCanvas;
use crate::view::{Model, rotation_gizmo_ui};
use crate::widgets::field::LeftLabel as _;

/// Which region is worked on, and how regions are shown.
#[derive(Debug)]
pub(super) struct RegionPanel {
    /// The region under the brush.
    pub(super) selected: usize,
    /// Whether weights are shown as they will count.
    pub(super) refined: bool,
    /// A name that is being typed.
    name: Option<(usize, String)>,
}

impl Default for RegionPanel {
    fn default() -> Self {
        Self {
            selected: 0,
            refined: true,
            name: None,
        }
    }
}

/// The colour of a region.
pub(super) fn color_of(region: &RegionSetup) -> Color32 {
    let [red, green, blue] = region.color;
    Color32::from_rgb(red, green, blue)
}

impl RegionPanel {
    /// The region that is worked on.
    #[must_use]
    pub(super) fn region<'s>(&self, setup: &'s Setup) -> Option<&'s RegionSetup> {
        setup
            .regions
            .get(self.selected)
            .or_else(|| setup.regions.last())
    }

    /// Regions and the brush.
    pub(super) fn regions_ui(
        &mut self,
        brush: &mut Brush,
        source: &str,
        preview: Option<&Preview>,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
    ) {
        ui.strong("Regions");
        self.list_ui(ui, cx);
        ui.horizontal(|ui| self.buttons_ui(source, ui, cx));

        if self.region(&cx.document.transfer).is_none() {
            ui.weak("Add a region, then paint it on the target.");
            return;
        }

        self.selected_ui(ui, cx);
        ui.add_space(6.0);
        brush_ui(brush, ui);
        ui.add_space(6.0);
        self.display_ui(preview, ui);
    }

    fn buttons_ui(&mut self, source: &str, ui: &mut Ui, cx: &mut Cx<'_>) {
        let count = cx.document.transfer.regions.len();
        let add = ui.add_enabled(!source.is_empty(), egui::Button::new("Add region"));
        let add =
            add.on_hover_text("A part of the target with its own clip; this also adds a layer");
        if add.clicked() {
            self.selected = count;
            let source = source.to_owned();
            cx.edit("Add region", move |document| {
                document.transfer.add_region(&source)
            });
        }

        let has_region = self.region(&cx.document.transfer).is_some();
        let remove = ui.add_enabled(has_region, egui::Button::new("Remove region"));
        if remove.clicked() {
            let index = self.selected.min(count.saturating_sub(1));
            cx.edit("Remove region", move |document| {
                document.transfer.remove_region(index)
            });
        }
    }

    /// Whether painted faces or blend weights are shown, and warnings about them.
    fn display_ui(&mut self, preview: Option<&Preview>, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut self.refined, false, "As painted")
                .on_hover_text("The faces under the brush");
            ui.selectable_value(&mut self.refined, true, "Blend weights")
                .on_hover_text(
                    "Rigid parts belong to the region completely or not at all; flexible parts blend",
                );
        });

        if self.refined && preview.is_some_and(|preview| !preview.refined) {
            ui.weak("The correspondence defines rigid parts; the region is shown as painted until it is computed.");
        }
        for problem in preview.iter().flat_map(|preview| &preview.problems) {
            ui.colored_label(ui.visuals().warn_fg_color, problem);
        }
    }

    fn list_ui(&mut self, ui: &mut Ui, cx: &Cx<'_>) {
        for (k, region) in cx.document.transfer.regions.iter().enumerate() {
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
                ui.painter().rect_filled(rect, 3.0, color_of(region));
                if ui
                    .selectable_label(self.selected == k, &region.name)
                    .clicked()
                {
                    (self.selected, self.name) = (k, None);
                }

                ui.weak(format!("{} faces", region.faces.len()));
            });
        }
    }

    /// Name, clip, colour and refinement of the selected region.
    fn selected_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let setup = &cx.document.transfer;
        let index = self.selected.min(setup.regions.len().saturating_sub(1));
        let Some(region) = setup.regions.get(index).cloned() else {
            return;
        };

        ui.add_space(4.0);
        egui::Grid::new("region").num_columns(2).show(ui, |ui| {
            self.name_ui(index, &region, ui, cx);
            source_ui(index, &region, ui, cx);
            color_ui(index, &region, ui, cx);
        });

        let mut refine = region.refine;
        let hint =
            "Paint roughly: rigid parts that are mostly covered belong to the region completely";
        let refined = ui.checkbox(&mut refine, "Refine to rigid parts");
        if refined.on_hover_text(hint).changed() {
            cx.edit("Refine region", move |document| {
                change(document, index, |region| region.refine = refine)
            });
        }
    }

    fn name_ui(&mut self, index: usize, region: &RegionSetup, ui: &mut Ui, cx: &mut Cx<'_>) {
        let label = ui.label("Name");
        let typed = self
            .name
            .get_or_insert_with(|| (index, region.name.clone()));
        if typed.0 != index {
            *typed = (index, region.name.clone());
        }

        // The document changes when typing ends, so that a name is one undo step.
        let field = egui::TextEdit::singleline(&mut typed.1).desired_width(140.0);
        let field = ui.add(field).labelled_by(label.id);
        if field.lost_focus() {
            let name = typed.1.trim().to_owned();
            cx.edit("Rename region", move |document| {
                document.transfer.rename_region(index, &name)
            });
        }

        if !field.has_focus() {
            self.name = None;
        }
        ui.end_row();
    }

    /// Rotations of the reference pose.
    pub(super) fn rotations_ui(&mut self, preview: Option<&Preview>, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Rotate the rest pose");
        ui.weak("Rotate parts of the target to match the rest pose of the source: drag a ring, or set angles.");
        self.list_ui(ui, cx);

        let Some(region) = self
            .region(&cx.document.transfer)
            .map(|region| region.name.clone())
        else {
            ui.weak("Paint a region first with the tool Paint regions.");
            return;
        };

        let before = cx.document.transfer.rotation_of(&region);
        let mut degrees = before;
        ui.add_space(4.0);

        for (angle, axis) in degrees.iter_mut().zip(["X", "Y", "Z"]) {
            ui.add(
                Slider::new(angle, -180.0..=180.0)
                    .suffix("°")
                    .step_by(1.0)
                    .left_label(format!("Rotation {axis}")),
            );
        }

        if ui
            .add_enabled(before != [0.0; 3], egui::Button::new("Reset rotation"))
            .clicked()
        {
            degrees = [0.0; 3];
        }

        // Sliders and the reset button make the same edit.
        if degrees != before {
            let name = region.clone();
            cx.edit_continuously("Rotate region", move |document| {
                document.transfer.set_rotation(&name, degrees)
            });
        }

        for problem in preview.iter().flat_map(|preview| &preview.problems) {
            ui.colored_label(ui.visuals().warn_fg_color, problem);
        }
    }
}

fn brush_ui(brush: &mut Brush, ui: &mut Ui) {
    ui.strong("Brush");
    ui.horizontal(|ui| {
        ui.selectable_value(&mut brush.erases, false, "Paint")
            .on_hover_text("Ctrl erases while it is held");
        ui.selectable_value(&mut brush.erases, true, "Erase")
            .on_hover_text("Ctrl paints while it is held");
    });

    let radius = Slider::new(&mut brush.radius, 0.005..=0.2)
        .logarithmic(true)
        .text("Radius");
    ui.add(radius)
        .on_hover_text("Relative to the size of the target");
}

fn source_ui(index: usize, region: &RegionSetup, ui: &mut Ui, cx: &mut Cx<'_>) {
    let label = ui.label("Clip");
    let mut chosen = region.source.clone();
    let clips = egui::ComboBox::from_id_salt("region clip")
        .selected_text(&chosen)
        .show_ui(ui, |ui| {
            for source in &cx.document.transfer.sources {
                ui.selectable_value(&mut chosen, source.name.clone(), &source.name);
            }
        });

    clips.response.labelled_by(label.id);
    if chosen != region.source {
        cx.edit("Choose clip of region", move |document| {
            set_source(&mut document.transfer, index, &chosen)
        });
    }
    ui.end_row();
}

fn color_ui(index: usize, region: &RegionSetup, ui: &mut Ui, cx: &mut Cx<'_>) {
    let label = ui.label("Colour");
    let mut color = region.color;
    let button = ui.color_edit_button_srgb(&mut color).labelled_by(label.id);
    if button.changed() {
        cx.edit_continuously("Colour region", move |document| {
            change(document, index, |region| region.color = color)
        });
    }
    ui.end_row();
}

impl RegionPanel {
    /// Rings around the region that is worked on. Returns whether one is being dragged.
    pub(super) fn rotation_on_canvas_ui(
        &self,
        on: &PaneCanvas<'_>,
        target: &Actor,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let setup = &cx.document.transfer;
        let (Some(region), Some(model)) = (self.region(setup), on.scene.models.first()) else {
            return false;
        };
        // An empty region has no centre to rotate about.
        let Some(middle) = middle_of(region, target, model) else {
            return false;
        };

        let degrees = rotation_gizmo_ui(
            ui,
            on.canvas,
            "region",
            &region.name,
            middle,
            setup.rotation_of(&region.name),
        );

        if let Some(degrees) = degrees {
            let name = region.name.clone();
            cx.edit_continuously("Rotate region", move |document| {
                document.transfer.set_rotation(&name, degrees)
            });
        }

        degrees.is_some()
    }
}

/// The mean of the corners of a region's faces, as the target stands; nothing for an empty region.
fn middle_of(region: &RegionSetup, target: &Actor, model: &Model) -> Option<DVec3> {
    let there = |face: &&u32| (**face as usize) < target.mesh.face_count();
    let corners = region
        .faces
        .iter()
        .filter(there)
        .flat_map(|&face| target.mesh.face(face as usize));

    let (sum, count) = corners.fold((DVec3::ZERO, 0_usize), |(sum, count), &corner| {
        (sum + model.position(corner), count + 1)
    });

    (count > 0).then(|| sum / count as f64)
}

fn change(document: &mut Document, region: usize, change: impl FnOnce(&mut RegionSetup)) {
    if let Some(region) = document.transfer.regions.get_mut(region) {
        change(region);
    }
}

/// Another clip for a region: its layers that played the old one play the new one.
fn set_source(setup: &mut Setup, region: usize, source: &str) {
    let Some(region) = setup.regions.get_mut(region) else {
        return;
    };

    let before = std::mem::replace(&mut region.source, source.to_owned());
    let own = setup
        .layers
        .iter_mut()
        .filter(|layer| layer.region.as_ref() == Some(&region.name) && layer.source == before);

    for layer in own {
        source.clone_into(&mut layer.source);
        // The frame range belonged to the old clip.
        layer.frames = None;
    }
}
