//! Control points on the rest pose: place, move, delete, suggest.

use eframe::egui::{self, Color32, CursorIcon, Key, Stroke, Ui};
use pliant::learn::ControlPoints;

use super::handles::{Dot, Handle, Held, handles_ui, is_near, paint_handle};
use crate::engine::context::Cx;
use crate::engine::learn::pose_cache::PoseCache;
use crate::engine::learn::poses::Pose;
use crate::engine::learn::training::TrainingTasks;
use crate::rooms::PaneCanvas;

/// The colour of control points.
pub(super) const POINT: Color32 = Color32::from_rgb(255, 120, 60);

/// The tool that places control points.
#[derive(Debug)]
pub(super) struct ControlPointTool {
    selected: Option<usize>,
    held: Option<Held>,
    /// How many points to suggest.
    count: usize,
}

impl Default for ControlPointTool {
    fn default() -> Self {
        Self {
            selected: None,
            held: None,
            count: 20,
        }
    }
}

impl ControlPointTool {
    /// Suggest, delete, clear.
    pub(super) fn tools_ui(
        &mut self,
        ui: &mut Ui,
        pose_cache: &PoseCache,
        work: &mut TrainingTasks,
        cx: &mut Cx<'_>,
    ) {
        let count = cx.document.learn.recipe.points.len();
        ui.strong("Control points");
        ui.label(match count {
            0 => "None yet".to_owned(),
            1 => "1 point".to_owned(),
            _ => format!("{count} points"),
        });

        ui.weak("Click the mesh to place a point. Drag one to move it along the surface.");
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            // Points are chosen on the mesh of the poses.
            let ready = pose_cache.poses().is_some() && !work.busy();
            let suggest = ui.add_enabled(ready, egui::Button::new("Suggest"));
            let field = egui::DragValue::new(&mut self.count).range(ControlPoints::LEAST..=200).suffix(" points");
            ui.add(field).on_hover_text("How many points to suggest");
            if suggest.on_hover_text("Replaces all points with points as far from each other as possible (geodesic distance)").clicked() {
                self.selected = None;
                work.suggest(self.count, pose_cache, cx);
            }
        });

        ui.horizontal(|ui| self.delete_ui(count, ui, cx));
    }

    fn delete_ui(&mut self, count: usize, ui: &mut Ui, cx: &mut Cx<'_>) {
        let selected = self.selected.filter(|&k| k < count);
        if ui
            .add_enabled(selected.is_some(), egui::Button::new("Delete point"))
            .on_hover_text("Delete")
            .clicked()
        {
            self.delete(cx);
        }

        if ui
            .add_enabled(count > 0, egui::Button::new("Clear points"))
            .clicked()
        {
            self.selected = None;
            cx.edit("Clear control points", |document| {
                document.learn.recipe.points.clear()
            });
        }
    }

    fn delete(&mut self, cx: &mut Cx<'_>) {
        if let Some(point) = self
            .selected
            .take()
            .filter(|&k| k < cx.document.learn.recipe.points.len())
        {
            cx.edit("Delete control point", move |document| {
                let points = &mut document.learn.recipe.points;
                if point < points.len() {
                    points.remove(point);
                }
            });
        }
    }

    /// Places, moves and shows points on the pose at rest.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &mut Ui,
        pose: &Pose,
        cx: &mut Cx<'_>,
    ) -> bool {
        if ui.input(|input| input.key_pressed(Key::Delete)) && !ui.ctx().egui_wants_keyboard_input()
        {
            self.delete(cx);
        }

        let points = cx.document.learn.recipe.points.clone();
        let handles = handles(&points, pose);
        let touched = handles_ui(ui, on, &handles, cx.gesture, &mut self.held);

        if touched.pressed.is_some() {
            self.selected = touched.pressed;
        }

        // A dragged point jumps from vertex to vertex, but not onto another point.
        if let (Some(held), Some(hit)) = (
            self.held,
            touched.pointer.and_then(|pointer| on.pick(pointer)),
        ) && !points.contains(&hit.vertex.get())
        {
            cx.edit_continuously("Move control point", move |document| {
                if let Some(vertex) = document.learn.recipe.points.get_mut(held.index) {
                    *vertex = hit.vertex.get();
                }
            });
        }

        self.place(on, ui, &points, pose, touched.hovered.is_some(), cx);
        for handle in &handles {
            let ringed = self.selected == Some(handle.index);
            let number = if ringed || is_near(&on.canvas.view, handle) {
                (handle.index + 1).to_string()
            } else {
                String::new()
            };

            paint_handle(
                on,
                handle,
                Dot {
                    color: POINT,
                    radius: 5.0,
                    ringed,
                },
                &number,
            );
        }

        self.held.is_some()
    }

    /// A click on the mesh is a new point; one beside it releases the selection.
    fn place(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &Ui,
        points: &[u32],
        pose: &Pose,
        over_point: bool,
        cx: &mut Cx<'_>,
    ) {
        let hover = on
            .canvas
            .response
            .hover_pos()
            .filter(|_| self.held.is_none() && !over_point);
        let Some(pointer) = hover else { return };

        let hit = on.pick(pointer);
        if let Some(at) =
            hit.and_then(|hit| on.canvas.view.project(pose.positions[hit.vertex.index()]))
        {
            ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
            on.canvas
                .painter
                .circle_stroke(at, 4.0, Stroke::new(1.0, Color32::WHITE));
        }

        if !on.canvas.tool_clicked() {
            return;
        }

        // A click beside the mesh clears the selection.
        self.selected = None;
        if let Some(hit) = hit.filter(|hit| !points.contains(&hit.vertex.get())) {
            self.selected = Some(points.len());
            cx.edit("Place control point", move |document| {
                document.learn.recipe.points.push(hit.vertex.get())
            });
        }
    }
}

fn handles(points: &[u32], pose: &Pose) -> Vec<Handle> {
    let handle = |(index, &vertex): (usize, &u32)| {
        let place = *pose.positions.get(vertex as usize)?;
        let normal = pose.vertices.normals[vertex as usize].as_dvec3();
        Some(Handle {
            index,
            label: format!("Control point {}", index + 1),
            place,
            normal,
        })
    };
    points.iter().enumerate().filter_map(handle).collect()
}
