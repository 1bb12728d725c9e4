//! Strokes that are kept, and drawn again on this face or another.

use std::sync::Arc;

use eframe::egui::{self, Button, Ui};
use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::rig::SavedStroke;
use serde::{Deserialize, Serialize};

use super::marks::PinMark;
use super::{PoseRoom, hand::pin_under};
use crate::character::{LineShape, Posed};
use crate::command::Notice;
use crate::document::Locator;
use crate::rooms::{Cx, On};

/// A stroke that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptStroke {
    /// The stroke, relative to its landmarks.
    #[serde(with = "crate::shared")]
    pub stroke: Arc<SavedStroke>,
    /// The rig it was drawn on.
    pub asset: Locator,
    /// The vertices that were its landmarks there.
    pub landmarks: Vec<u32>,
    /// Whether those were the outermost vertices, for want of better ones.
    pub outermost: bool,
}

/// What is typed.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    name: String,
}

/// Places that are good landmarks, in the order in which they are asked for.
pub(super) const PLACES: [&str; 6] = [
    "outer corner of the left eye",
    "outer corner of the right eye",
    "tip of the nose",
    "chin",
    "left mouth corner",
    "right mouth corner",
];

/// So many landmarks tell the proportions of a face.
pub(super) const ENOUGH: usize = 4;

/// Gives a field a name for people who do not see it.
pub(super) fn named(field: egui::Response, name: &str) -> egui::Response {
    field
        .ctx
        .accesskit_node_builder(field.id, |node| node.set_label(name));
    field
}

/// The vertices that are furthest out along the axes.
fn outermost(mesh: &Mesh) -> Vec<u32> {
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
        ui.horizontal(|ui| {
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
                .on_hover_text("Keep the last stroke")
                .on_disabled_hover_text("Draw a stroke and give it a name")
                .clicked()
            {
                self.keep_stroke(cx);
            }
        });
        if cx.document.pose.strokes.is_empty() {
            ui.weak("Strokes you save can be drawn again, on this rig or on another.");
        }
        let kept: Vec<(usize, String)> = cx
            .document
            .pose
            .strokes
            .iter()
            .enumerate()
            .map(|(k, kept)| (k, kept.stroke.name.clone()))
            .collect();
        for (k, name) in kept {
            ui.horizontal(|ui| {
                if ui
                    .button(format!("Draw {name}"))
                    .on_hover_text("Draws it on the face as it is")
                    .clicked()
                {
                    self.draw_kept(k, cx);
                }
                let label = format!("Forget {name}");
                if named(ui.small_button("×"), &label)
                    .on_hover_text(&label)
                    .clicked()
                {
                    cx.edit("Forget stroke", move |document| {
                        if k < document.pose.strokes.len() {
                            document.pose.strokes.remove(k);
                        }
                    });
                }
            });
        }
    }

    fn keep_stroke(&mut self, cx: &mut Cx<'_>) {
        let (Some(drawn), Some(posed)) = (self.strokes.last.clone(), cx.posed.cloned()) else {
            return;
        };
        let (mesh, asset) = (posed.rig.neutral(), cx.document.character.asset.clone());
        let chosen = cx
            .document
            .pose
            .landmarks
            .get(&asset)
            .filter(|landmarks| landmarks.len() >= ENOUGH)
            .cloned();
        let is_outermost = chosen.is_none();
        let landmarks = chosen.unwrap_or_else(|| outermost(mesh));
        let name = self.library.name.trim().to_owned();
        match SavedStroke::new(
            &name,
            mesh,
            &drawn.positions,
            &landmarks,
            &drawn.curve,
            &drawn.pins,
        ) {
            Err(error) => cx.tell(Notice::trouble(error.to_string())),
            Ok(stroke) => {
                self.library.name.clear();
                let kept = KeptStroke {
                    stroke: Arc::new(stroke),
                    asset,
                    landmarks,
                    outermost: is_outermost,
                };
                cx.edit("Save stroke", move |document| {
                    let strokes = &mut document.pose.strokes;
                    strokes.retain(|other| other.stroke.name != kept.stroke.name);
                    strokes.push(kept);
                });
            }
        }
    }

    fn draw_kept(&mut self, k: usize, cx: &mut Cx<'_>) {
        let (Some(kept), Some(posed)) =
            (cx.document.pose.strokes.get(k).cloned(), cx.posed.cloned())
        else {
            return;
        };
        match landmarks_for(&kept, &posed, cx) {
            Ok(landmarks) => self.ask_line(LineShape::Saved(kept.stroke, landmarks), &posed, cx),
            Err(sentence) => cx.tell(Notice::trouble(sentence)),
        }
    }

    /// Marks landmarks. Says whether the left button is in use.
    pub(super) fn landmarks_ui(
        &mut self,
        on: &On<'_>,
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
        let marks: Vec<PinMark> = known.iter().map(|&vertex| PinMark::new(vertex)).collect();
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
                    .push(hit.vertex)
            });
        }
        false
    }
}

/// The landmarks of a kept stroke on this rig.
fn landmarks_for(kept: &KeptStroke, posed: &Posed, cx: &Cx<'_>) -> Result<Vec<u32>, String> {
    let asset = &cx.document.character.asset;
    if kept.asset == *asset {
        return Ok(kept.landmarks.clone());
    }
    if kept.outermost {
        return Ok(outermost(posed.rig.neutral()));
    }
    let here = cx
        .document
        .pose
        .landmarks
        .get(asset)
        .cloned()
        .unwrap_or_default();
    let (needed, found) = (kept.landmarks.len(), here.len());
    if needed == found {
        return Ok(here);
    }
    Err(format!(
        "“{}” was saved with {needed} landmarks and this rig has {found}; mark the same places in the same order.",
        kept.stroke.name
    ))
}
