//! Saved strokes, which can be drawn again on this face or on another.

use std::sync::Arc;

use eframe::egui::{self, Button, Ui};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{Mesh, VertexId};
use pliant::rig::SavedStroke;

use super::PoseRoom;
use super::pin_tool::pin_under;
use crate::engine::character::{LineShape, PosedCharacter};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::model::pose::{PinMark, StoredStroke};
use crate::rooms::PaneCanvas;
use crate::widgets::field::named;

/// The typed text.
#[derive(Debug, Default)]
pub(super) struct SaveStrokeForm {
    name: String,
}

/// Places that are good landmarks, in the order in which they are requested.
pub(super) const PLACES: [&str; 6] = [
    "outer corner of the left eye",
    "outer corner of the right eye",
    "tip of the nose",
    "chin",
    "left mouth corner",
    "right mouth corner",
];

/// The number of landmarks that define the proportions of a face.
pub(super) const ENOUGH: usize = 4;

/// The vertices that are furthest out along the axes.
fn extreme_vertices(mesh: &Mesh) -> Vec<u32> {
    let directions = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    let furthest = |direction: DVec3| {
        let along = |v: &usize| mesh.positions()[*v].dot(direction);
        (0..mesh.vertex_count())
            .max_by(|a, b| along(a).total_cmp(&along(b)))
            .map(|v| v as u32)
    };
    directions.filter_map(furthest).collect()
}

impl PoseRoom {
    /// The strokes that are kept, with buttons to keep and to draw them.
    pub(super) fn stroke_library_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.horizontal(|ui| self.save_ui(ui, cx));
        if cx.document.pose.strokes.is_empty() {
            ui.weak("Strokes you save can be drawn again, on this rig or on another.");
        }

        for (k, kept) in cx.document.pose.strokes.iter().enumerate() {
            let name = &kept.stroke.name;
            ui.horizontal(|ui| self.stroke_ui(k, name, ui, cx));
        }
    }

    fn save_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let field = egui::TextEdit::singleline(&mut self.library.name)
            .hint_text("Name")
            .desired_width(90.0);
        named(ui.add(field), "Name of the stroke")
            .on_hover_text("What the stroke does, such as “smile”");

        let is_named = !self.library.name.trim().is_empty();
        let keep = ui.add_enabled(
            self.strokes.last.is_some() && is_named,
            Button::new("Save stroke"),
        );

        if keep
            .on_hover_text("Save the last stroke")
            .on_disabled_hover_text("Draw a stroke and give it a name")
            .clicked()
        {
            self.keep_stroke(cx);
        }
    }

    /// Buttons that draw and delete a saved stroke.
    fn stroke_ui(&mut self, k: usize, name: &str, ui: &mut Ui, cx: &mut Cx<'_>) {
        if ui
            .button(format!("Draw {name}"))
            .on_hover_text("Draws the stroke on the current pose")
            .clicked()
        {
            self.draw_stored(k, cx);
        }

        let label = format!("Delete {name}");
        if named(ui.small_button("×"), &label)
            .on_hover_text(&label)
            .clicked()
        {
            cx.edit("Delete stroke", move |document| {
                if k < document.pose.strokes.len() {
                    document.pose.strokes.remove(k);
                }
            });
        }
    }

    fn keep_stroke(&mut self, cx: &mut Cx<'_>) {
        let (Some(drawn), Some(posed)) = (self.strokes.last.clone(), cx.posed.cloned()) else {
            return;
        };

        let mesh = posed.rig.neutral();
        let asset = cx.document.character.asset.clone();
        let chosen = cx
            .document
            .pose
            .landmarks
            .get(&asset)
            .filter(|landmarks| landmarks.len() >= ENOUGH)
            .cloned();

        // With too few landmarks the outermost vertices define the size of the face.
        let is_outermost = chosen.is_none();
        let landmarks = chosen.unwrap_or_else(|| extreme_vertices(mesh));
        let name = self.library.name.trim().to_owned();

        match SavedStroke::new(
            &name,
            mesh,
            &drawn.positions,
            &landmarks,
            &drawn.curve,
            &drawn.pins,
        ) {
            Err(error) => cx.notify(Notice::error(error.to_string())),
            Ok(stroke) => {
                self.library.name.clear();
                let kept = StoredStroke {
                    stroke: Arc::new(stroke),
                    asset,
                    landmarks,
                    extreme_vertices: is_outermost,
                };

                cx.edit("Save stroke", move |document| {
                    let strokes = &mut document.pose.strokes;
                    // A stroke with the same name is replaced.
                    strokes.retain(|other| other.stroke.name != kept.stroke.name);
                    strokes.push(kept);
                });
            }
        }
    }

    fn draw_stored(&mut self, k: usize, cx: &mut Cx<'_>) {
        let (Some(kept), Some(posed)) =
            (cx.document.pose.strokes.get(k).cloned(), cx.posed.cloned())
        else {
            return;
        };
        match landmarks_for(&kept, &posed, cx) {
            Ok(landmarks) => {
                self.request_line_pins(LineShape::Saved(kept.stroke, landmarks), &posed, cx)
            }
            Err(message) => cx.notify(Notice::error(message)),
        }
    }

    /// Marks landmarks. Returns whether the left button is in use.
    pub(super) fn landmarks_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        positions: &[DVec3],
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(pointer) = on.canvas.pointer().filter(|_| on.canvas.tool_clicked()) else {
            return false;
        };

        let asset = cx.document.character.asset.clone();
        let known = cx
            .document
            .pose
            .landmarks
            .get(&asset)
            .map_or(&[][..], Vec::as_slice);

        let marks: Vec<PinMark> = known
            .iter()
            .map(|&vertex| PinMark::new(VertexId::new(vertex)))
            .collect();
        // A click on a landmark removes it.
        if let Some(k) = pin_under(pointer, on, positions, &marks) {
            cx.edit("Remove landmark", move |document| {
                let landmarks = document.pose.landmarks.entry(asset).or_default();
                if k < landmarks.len() {
                    landmarks.remove(k);
                }
            });
        } else if let Some(hit) = on.pick(pointer) {
            cx.edit("Add landmark", move |document| {
                document
                    .pose
                    .landmarks
                    .entry(asset)
                    .or_default()
                    .push(hit.vertex.get())
            });
        }
        false
    }
}

/// The landmarks of a kept stroke on this rig.
fn landmarks_for(
    kept: &StoredStroke,
    posed: &PosedCharacter,
    cx: &Cx<'_>,
) -> Result<Vec<u32>, String> {
    let asset = &cx.document.character.asset;
    if kept.asset == *asset {
        return Ok(kept.landmarks.clone());
    }
    if kept.extreme_vertices {
        return Ok(extreme_vertices(posed.rig.neutral()));
    }

    let here = cx
        .document
        .pose
        .landmarks
        .get(asset)
        .cloned()
        .unwrap_or_default();

    let needed = kept.landmarks.len();
    let found = here.len();
    // Landmarks correspond by their order.
    if needed == found {
        return Ok(here);
    }

    Err(format!(
        "“{}” was saved with {needed} landmarks and this rig has {found}; mark the same places in the same order.",
        kept.stroke.name
    ))
}
