//! The list of regions, the brush's options, and turns of the reference pose.

use eframe::egui::{self, Color32, Sense, Slider, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::brush::Brush;
use super::preview::Preview;
use super::setup::{RegionSetup, Setup};
use super::stage::Actor;
use crate::document::Document;
use crate::rooms::{Cx, On};
use crate::view::{Model, turn_gizmo_ui};

/// Which region is worked on, and how regions are shown.
#[derive(Debug)]
pub(super) struct RegionDesk {
    /// The region under the brush.
    pub(super) selected: usize,
    /// Whether weights are shown as they will count.
    pub(super) refined: bool,
    /// A name that is being typed.
    name: Option<(usize, String)>,
}

impl Default for RegionDesk {
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

impl RegionDesk {
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
        ui.horizontal(|ui| {
            let hint = "A part of the target that follows a clip of its own; a layer comes with it";
            if ui
                .add_enabled(!source.is_empty(), egui::Button::new("Add region"))
                .on_hover_text(hint)
                .clicked()
            {
                self.selected = cx.document.transfer.regions.len();
                let source = source.to_owned();
                cx.edit("Add region", move |document| {
                    document.transfer.add_region(&source)
                });
            }
            if ui
                .add_enabled(
                    self.region(&cx.document.transfer).is_some(),
                    egui::Button::new("Remove region"),
                )
                .clicked()
            {
                let index = self
                    .selected
                    .min(cx.document.transfer.regions.len().saturating_sub(1));
                cx.edit("Remove region", move |document| {
                    document.transfer.remove_region(index)
                });
            }
        });
        if self.region(&cx.document.transfer).is_none() {
            ui.weak("Add a region, then brush over the target.");
            return;
        }
        self.selected_ui(ui, cx);
        ui.add_space(6.0);
        ui.strong("Brush");
        ui.horizontal(|ui| {
            ui.selectable_value(&mut brush.erases, false, "Paint")
                .on_hover_text("Ctrl erases while it is held");
            ui.selectable_value(&mut brush.erases, true, "Erase")
                .on_hover_text("Ctrl paints while it is held");
        });
        ui.add(
            Slider::new(&mut brush.radius, 0.005..=0.2)
                .logarithmic(true)
                .text("Radius"),
        )
        .on_hover_text("Part of the target's size");
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            ui.selectable_value(&mut self.refined, false, "As scribbled")
                .on_hover_text("The faces under the brush");
            ui.selectable_value(&mut self.refined, true, "As it counts")
                .on_hover_text(
                    "Stiff parts are taken or left as a whole, and what bends between them blends",
                );
        });
        if self.refined && preview.is_some_and(|preview| !preview.refined) {
            ui.weak("The map says what is stiff: shown as scribbled until it is found.");
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
        let names: Vec<String> = setup
            .sources
            .iter()
            .map(|source| source.name.clone())
            .collect();
        ui.add_space(4.0);
        egui::Grid::new("region").num_columns(2).show(ui, |ui| {
            let label = ui.label("Name");
            let typed = self
                .name
                .get_or_insert_with(|| (index, region.name.clone()));
            if typed.0 != index {
                *typed = (index, region.name.clone());
            }
            let field = ui
                .add(egui::TextEdit::singleline(&mut typed.1).desired_width(140.0))
                .labelled_by(label.id);
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
            let label = ui.label("Moved by");
            let mut source = region.source.clone();
            let clips = egui::ComboBox::from_id_salt("region clip")
                .selected_text(&source)
                .show_ui(ui, |ui| {
                    for name in names {
                        ui.selectable_value(&mut source, name.clone(), name);
                    }
                });
            clips.response.labelled_by(label.id);
            if source != region.source {
                cx.edit("Choose clip of region", move |document| {
                    set_source(&mut document.transfer, index, &source)
                });
            }
            ui.end_row();
            let label = ui.label("Colour");
            let mut color = region.color;
            if ui
                .color_edit_button_srgb(&mut color)
                .labelled_by(label.id)
                .changed()
            {
                cx.edit_by_hand("Colour region", move |document| {
                    change(document, index, |region| region.color = color)
                });
            }
            ui.end_row();
        });
        let mut refine = region.refine;
        let hint =
            "Scribble roughly: stiff parts that are mostly covered belong to the region as a whole";
        if ui
            .checkbox(&mut refine, "Refine to stiff parts")
            .on_hover_text(hint)
            .changed()
        {
            cx.edit("Refine region", move |document| {
                change(document, index, |region| region.refine = refine)
            });
        }
    }

    /// Turns of the reference pose.
    pub(super) fn turns_ui(&mut self, preview: Option<&Preview>, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Turn the rest pose");
        ui.weak("Bring parts of the target near the pose in which the source rests: drag a ring, or set angles.");
        self.list_ui(ui, cx);
        let Some(region) = self
            .region(&cx.document.transfer)
            .map(|region| region.name.clone())
        else {
            ui.weak("Paint a region first, with Scribble regions.");
            return;
        };
        let before = cx.document.transfer.turn_of(&region);
        let mut degrees = before;
        ui.add_space(4.0);
        for (angle, axis) in degrees.iter_mut().zip(["X", "Y", "Z"]) {
            ui.add(
                Slider::new(angle, -180.0..=180.0)
                    .suffix("°")
                    .step_by(1.0)
                    .text(format!("Turn {axis}")),
            );
        }
        if ui
            .add_enabled(before != [0.0; 3], egui::Button::new("Reset turn"))
            .clicked()
        {
            degrees = [0.0; 3];
        }
        if degrees != before {
            let name = region.clone();
            cx.edit_by_hand("Turn region", move |document| {
                document.transfer.set_turn(&name, degrees)
            });
        }
        for problem in preview.iter().flat_map(|preview| &preview.problems) {
            ui.colored_label(ui.visuals().warn_fg_color, problem);
        }
    }
}

impl RegionDesk {
    /// Rings around the region that is worked on. Says whether one is in the hand.
    pub(super) fn turn_on_canvas_ui(
        &self,
        on: &On<'_>,
        target: &Actor,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let setup = &cx.document.transfer;
        let (Some(region), Some(model)) = (self.region(setup), on.scene.models.first()) else {
            return false;
        };
        let Some(middle) = middle_of(region, target, model) else {
            return false;
        };
        let degrees = turn_gizmo_ui(
            ui,
            on.canvas,
            "region",
            &region.name,
            middle,
            setup.turn_of(&region.name),
        );
        if let Some(degrees) = degrees {
            let name = region.name.clone();
            cx.edit_by_hand("Turn region", move |document| {
                document.transfer.set_turn(&name, degrees)
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
    own.for_each(|layer| {
        source.clone_into(&mut layer.source);
        layer.frames = None;
    });
}
