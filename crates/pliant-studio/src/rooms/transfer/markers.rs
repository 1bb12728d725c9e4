//! Marker pairs under the pointer: a click on the source and one on the target make a pair.

use std::sync::Arc;

use eframe::egui::{Align2, Color32, FontId, Key, Pos2, Stroke, Ui, ecolor::Hsva};
use pliant::mesh::glam::DVec3;

use crate::engine::context::Cx;
use crate::engine::transfer::marker_pairs::{Mark, MarkerQuality, Marks};
use crate::model::document::Document;
use crate::model::transfer::Pairs;
use crate::rooms::PaneCanvas;
use crate::view::Model;

/// How near the pointer must be to a marker to take it, in points.
const REACH: f32 = 11.0;
/// Radius of a marker's disc.
const DISC: f32 = 8.5;

/// The marker tool.
#[derive(Debug, Default)]
pub(super) struct MarkerTool {
    /// The pair that is selected.
    pub(super) selected: Option<usize>,
    /// A vertex that waits for its partner: its pane, and itself.
    pub(super) pending: Option<(usize, u32)>,
    drag: Option<MarkerDrag>,
}

/// A marker being dragged.
#[derive(Debug)]
struct MarkerDrag {
    gesture: u64,
    pair: usize,
    pane: usize,
}

/// Changes the pairs of a source of the document.
pub(super) fn change_pairs(
    document: &mut Document,
    source: usize,
    change: impl FnOnce(&mut Vec<[u32; 2]>),
) {
    if let Some(source) = document.transfer.sources.get_mut(source) {
        let mut pairs = source.pairs.to_vec();
        change(&mut pairs);
        source.pairs = Arc::new(pairs);
    }
}

/// The colour of a pair, the same on both sides and unlike that of its neighbours.
pub(super) fn pair_color(pair: usize) -> Color32 {
    let hue = (pair as f32 * 0.618_034 + 0.05).fract();
    Hsva::new(hue, 0.65, 0.95, 1.0).into()
}

/// Name of a marker.
pub(super) fn mark_name(mark: &Mark) -> String {
    format!("{}{}", mark.placed + 1, if mark.image { "'" } else { "" })
}

impl MarkerTool {
    /// Whether a marker is being dragged.
    pub(super) fn drags(&self) -> bool {
        self.drag.is_some()
    }

    /// Takes the selected pair out of the document.
    pub(super) fn delete(&mut self, source: usize, cx: &mut Cx<'_>) {
        if let Some(pair) = self.selected.take() {
            cx.edit("Delete marker pair", move |document| {
                change_pairs(document, source, |pairs| {
                    if pair < pairs.len() {
                        pairs.remove(pair);
                    }
                });
            });
        }
    }

    /// Places, takes, moves and deletes pairs of a source.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        marks: &Marks,
        source: usize,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(model) = on.scene.models.first() else {
            return false;
        };

        self.keys(source, ui, cx);
        let canvas = on.canvas;
        if canvas.tool_drag_started()
            && let Some(mark) = canvas
                .press_origin()
                .and_then(|pointer| self.near(pointer, on, model, marks))
        {
            self.selected = Some(mark.placed);
            // Only placed markers are dragged; mirror images follow.
            self.drag = (!mark.image).then_some(MarkerDrag {
                gesture: cx.gesture,
                pair: mark.placed,
                pane: on.pane,
            });
        }

        if canvas.tool_clicked()
            && let Some(pointer) = canvas.pointer()
        {
            match (self.near(pointer, on, model, marks), on.pick(pointer)) {
                (Some(mark), _) => self.selected = Some(mark.placed),
                (None, Some(hit)) => self.place(on.pane, hit.vertex.get(), source, cx),
                (None, None) => self.selected = None,
            }
        }

        self.drag_marker(on, source, ui, cx)
    }

    fn keys(&mut self, source: usize, ui: &Ui, cx: &mut Cx<'_>) {
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }
        if ui.input(|input| input.key_pressed(Key::Delete)) {
            self.delete(source, cx);
        }
        if ui.input(|input| input.key_pressed(Key::Escape)) {
            self.pending = None;
        }
    }

    /// The first click waits for the one in the other pane; another in the same pane takes its
    /// place.
    fn place(&mut self, pane: usize, vertex: u32, source: usize, cx: &mut Cx<'_>) {
        match self.pending.take() {
            Some((other, partner)) if other != pane => {
                // The source vertex comes first, whichever pane was clicked first.
                let pair = if pane == 1 {
                    [partner, vertex]
                } else {
                    [vertex, partner]
                };

                self.selected = cx
                    .document
                    .transfer
                    .sources
                    .get(source)
                    .map(|source| source.pairs.len());

                cx.edit("Add marker pair", move |document| {
                    change_pairs(document, source, |pairs| pairs.push(pair))
                });
            }
            _ => {
                self.selected = None;
                self.pending = Some((pane, vertex));
            }
        }
    }

    fn drag_marker(
        &mut self,
        on: &PaneCanvas<'_>,
        source: usize,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(drag) = self.drag.as_ref().filter(|drag| drag.pane == on.pane) else {
            return false;
        };

        let pair = drag.pair;
        // Another press ends the drag.
        if cx.gesture != drag.gesture {
            self.drag = None;
            return false;
        }

        if let Some(hit) = ui
            .input(|input| input.pointer.interact_pos())
            .and_then(|pointer| on.pick(pointer))
        {
            let side = on.pane;
            let vertex = hit.vertex.get();
            cx.edit_continuously("Move marker", move |document| {
                change_pairs(document, source, |pairs| {
                    if let Some(pair) = pairs.get_mut(pair) {
                        pair[side] = vertex;
                    }
                });
            });
        }

        if ui.input(|input| input.pointer.primary_released()) {
            self.drag = None;
        }
        true
    }

    /// The marker under the pointer, one in front before one behind, one that was placed before an
    /// image.
    fn near<'m>(
        &self,
        pointer: Pos2,
        on: &PaneCanvas<'_>,
        model: &Model,
        marks: &'m Marks,
    ) -> Option<&'m Mark> {
        let distance = |mark: &Mark| {
            on.canvas
                .view
                .project(place(model, mark.pair[on.pane])?)
                .map(|p| p.distance(pointer))
        };

        let near = marks
            .marks
            .iter()
            .filter(|mark| distance(mark).is_some_and(|d| d <= REACH));

        // Markers in front come before those behind, placed pairs before mirror images.
        near.min_by_key(|mark| (is_behind(on, model, mark.pair[on.pane]), mark.image))
    }

    /// Draws all markers of a pane, and the one that waits.
    pub(super) fn paint(&self, on: &PaneCanvas<'_>, marks: &Marks, ui: &Ui) {
        let Some(model) = on.scene.models.first() else {
            return;
        };

        let behind = |mark: &&Mark| is_behind(on, model, mark.pair[on.pane]);
        // Markers on the far side are painted first.
        let (back, front): (Vec<&Mark>, Vec<&Mark>) = marks.marks.iter().partition(behind);
        for (mark, faint) in back
            .into_iter()
            .map(|mark| (mark, true))
            .chain(front.into_iter().map(|mark| (mark, false)))
        {
            self.paint_mark(on, model, mark, faint, ui);
        }

        let Some((pane, vertex)) = self.pending else {
            return;
        };

        if pane == on.pane
            && let Some(at) = place(model, vertex).and_then(|place| on.canvas.view.project(place))
        {
            let color = Color32::from_rgb(255, 210, 60);
            on.canvas.painter.circle_filled(at, 4.0, color);
            on.canvas
                .painter
                .circle_stroke(at, DISC + 3.0, Stroke::new(2.5, color));
        }
    }

    fn paint_mark(&self, on: &PaneCanvas<'_>, model: &Model, mark: &Mark, faint: bool, ui: &Ui) {
        let Some(at) =
            place(model, mark.pair[on.pane]).and_then(|place| on.canvas.view.project(place))
        else {
            return;
        };

        // Marks on the far side show through the mesh.
        let strength = if faint { 0.25 } else { 1.0 };
        let radius = if mark.image { DISC - 1.5 } else { DISC };
        let ring = match mark.quality {
            MarkerQuality::Wrong => Stroke::new(2.5, ui.visuals().error_fg_color),
            MarkerQuality::Doubtful => Stroke::new(2.0, ui.visuals().warn_fg_color),
            MarkerQuality::Fine => Stroke::new(1.0, Color32::from_black_alpha(170)),
        };

        let fill = if mark.image {
            pair_color(mark.placed).gamma_multiply(0.75)
        } else {
            pair_color(mark.placed)
        };
        let painter = &on.canvas.painter;

        painter.circle(
            at,
            radius,
            fill.gamma_multiply(strength),
            Stroke::new(ring.width, ring.color.gamma_multiply(strength)),
        );

        let ink = Color32::from_gray(15).gamma_multiply(strength);
        painter.text(
            at,
            Align2::CENTER_CENTER,
            mark_name(mark),
            FontId::proportional(if mark.image { 9.0 } else { 10.5 }),
            ink,
        );

        if self.selected == Some(mark.placed) {
            painter.circle_stroke(
                at,
                radius + 3.0,
                Stroke::new(
                    2.0,
                    ui.visuals().strong_text_color().gamma_multiply(strength),
                ),
            );
        }
    }
}

/// Where a vertex is; nothing for one that is not there.
fn place(model: &Model, vertex: u32) -> Option<DVec3> {
    ((vertex as usize) < model.vertices.positions.len()).then(|| model.position(vertex))
}

/// Whether the surface at a vertex faces away from the camera.
fn is_behind(on: &PaneCanvas<'_>, model: &Model, vertex: u32) -> bool {
    let Some(normal) = model.vertices.normals.get(vertex as usize) else {
        return false;
    };

    let ray = place(model, vertex)
        .and_then(|place| on.canvas.view.project(place))
        .map(|at| on.canvas.view.ray(at));

    // A normal along the ray faces away from the camera.
    ray.is_some_and(|ray| {
        model
            .placement
            .transform_vector3(normal.as_dvec3())
            .dot(ray.direction)
            > 0.0
    })
}

/// The pairs of a source, or none.
pub(super) fn pairs_of(document: &Document, source: usize) -> Pairs {
    document
        .transfer
        .sources
        .get(source)
        .map(|source| source.pairs.clone())
        .unwrap_or_default()
}
