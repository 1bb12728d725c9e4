//! The Learn room: examples and control points train a model; the control points then drive the
//! mesh.
//!
//! - `gallery`, `thumbnails`: examples. `points`: control points.
//! - `model_panel`: training and validation.
//! - `drive`, `handles`, `drive_panel`: driving the model. `exports`: results as files.

mod drive;
mod drive_panel;
mod exports;
mod gallery;
mod handles;
mod model_panel;
mod points;
mod thumbnails;

use std::path::{Path, PathBuf};

use eframe::egui::Ui;
use pliant::mesh::glam::DVec3;

use super::{Pane, PaneCanvas, Room};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::export::Exportable;
use crate::engine::learn::arrivals::{ArrivalKind, Arrivals, Role};
use crate::engine::learn::{capture, pose_cache, training};
use crate::model::learn::DrivenBy;
use crate::model::room::RoomName;
use crate::view::{DragDirection, Model, Paint, Scene};

/// The keys of the room, for the list of shortcuts.
pub const SHORTCUTS: &[crate::widgets::ShortcutGroup] = &[(
    "Learn",
    &[
        ("Up, Down", "Previous or next example"),
        ("Click", "Place a control point"),
        ("Del", "Delete the selected point"),
        ("Drag", "Move a point or an end effector in the view plane"),
        ("Ctrl+drag", "Move it along the normal"),
        ("Shift+drag", "Move it along the surface"),
        ("Ctrl+Shift+drag", "Move it in depth"),
        ("R", "Return to the rest pose"),
    ],
)];

/// The current task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Examples,
    Points,
    Drive,
}

/// The room.
#[derive(Default)]
pub struct LearnRoom {
    /// What was chosen last; before that, what the document is ready for.
    tool: Option<Tool>,
    pose_cache: pose_cache::PoseCache,
    gallery: gallery::Gallery,
    picker: points::ControlPointTool,
    work: training::TrainingTasks,
    model_panel: model_panel::ModelPanel,
    driving: drive::DriveTool,
    drive_panel: drive_panel::DrivePanel,
    capture: capture::CaptureReader,
    arrivals: Arrivals,
    /// The sources for which the tools were chosen.
    of: Vec<String>,
}

impl Room for LearnRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        let sources = &cx.document.learn.recipe.sources;
        // Typed names belong to the examples before.
        if self.of != *sources {
            self.of.clone_from(sources);
            self.drive_panel.forget();
        }

        self.pose_cache.update(cx);
        // A finished training opens the next step.
        if self.work.update(&self.pose_cache, cx) {
            self.tool = Some(Tool::Drive);
        }

        match self.arrivals.update(self.pose_cache.poses(), cx) {
            None => {}
            Some(ArrivalKind::Examples) => self.tool = Some(Tool::Examples),
            Some(ArrivalKind::Model) => self.tool = Some(Tool::Drive),
        }

        self.capture.update(cx);
        self.driving.update(&self.capture, cx);
        self.drive_panel.update(cx);
    }

    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let tool = self.tool(cx);
        // Each step becomes available when the one before it has a result.
        for (choice, label, hint, ready) in [
            (Tool::Examples, "1  Examples", "Poses for training", true),
            (
                Tool::Points,
                "2  Control points",
                "Vertices that drive the model",
                !cx.document.learn.recipe.sources.is_empty(),
            ),
            (
                Tool::Drive,
                "3  Drive",
                "Move the points; the mesh follows",
                cx.document.learn.trained.is_some(),
            ),
        ] {
            let button = eframe::egui::Button::selectable(tool == choice, label)
                .min_size([ui.available_width(), 26.0].into());
            if ui
                .add_enabled(ready, button)
                .on_hover_text(hint)
                .on_disabled_hover_text(hint)
                .clicked()
            {
                self.tool = Some(choice);
            }
        }

        ui.add_space(8.0);
        match tool {
            Tool::Examples => self.gallery.tools_ui(ui, &self.pose_cache, cx),
            Tool::Points => self
                .picker
                .tools_ui(ui, &self.pose_cache, &mut self.work, cx),
            Tool::Drive => {
                ui.weak(match cx.document.learn.drive.by {
                    DrivenBy::Points => "Drag points in the view.",
                    DrivenBy::Effectors => "Drag the blue end effectors in the view.",
                    DrivenBy::Capture => "Play the timeline, or drag its playhead.",
                });
                if cx.document.learn.drive.by != DrivenBy::Capture {
                    ui.weak(format!(
                        "{}\nR: return to the rest pose",
                        DragDirection::KEYS
                    ));
                }
            }
        }
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        if self.tool(cx) == Tool::Drive {
            self.drive_panel
                .options_ui(ui, &self.driving, &mut self.capture, cx);
            ui.separator();
        }
        if let Some(pose) = self
            .model_panel
            .options_ui(ui, &self.pose_cache, &mut self.work, cx)
            && let Some(shown) = self.pose_cache.poses().and_then(|poses| poses.find(&pose))
        {
            // A click on an error bar shows its example.
            self.gallery.shown = shown;
            self.tool = Some(Tool::Examples);
        }
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        let recipe = &cx.document.learn.recipe;
        let empty = match (recipe.sources.is_empty(), self.pose_cache.error()) {
            (true, _) => {
                "Drop poses here, or add them on the left: a clip, or meshes of the same topology."
                    .to_owned()
            }
            (false, Some(_)) => "The examples could not be loaded; see the left side.".to_owned(),
            (false, None) => "Loading examples…".to_owned(),
        };

        // A model from a file has no sources.
        let model = cx
            .document
            .learn
            .trained
            .as_ref()
            .map(|trained| trained.model.name().to_owned());

        let subject = recipe
            .sources
            .first()
            .cloned()
            .or(model)
            .unwrap_or_default();

        let mut pane = Pane {
            empty,
            subject,
            ..Pane::default()
        };

        if let Some(model) = self.model(cx) {
            pane.scene = Scene::of(model);
            self.face_points(&pane.subject, cx);
        }

        vec![pane]
    }

    fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        match (self.tool(cx), self.pose_cache.poses().cloned()) {
            (Tool::Drive, _) => self.driving.canvas_ui(on, ui, cx),
            (Tool::Points, Some(poses)) => self.picker.canvas_ui(
                on,
                ui,
                &poses.poses[poses.rest(&cx.document.learn.recipe)],
                cx,
            ),
            (Tool::Examples | Tool::Points, _) => false,
        }
    }

    fn drop_hint(&self) -> &'static str {
        "Drop examples, a model, a skeleton, or captured points"
    }

    fn accept(&mut self, path: &Path, cx: &mut Cx<'_>) -> bool {
        let role = Role::of(path);
        if let Some(role) = role {
            self.take(role, path.to_owned(), cx);
        }
        role.is_some()
    }

    fn take_files(&mut self, what: &'static str, paths: Vec<PathBuf>, cx: &mut Cx<'_>) {
        // Details belong to the training settings, not to the examples.
        if what == model_panel::DETAILS {
            model_panel::take_details(paths, cx);
            return;
        }

        let role = match what {
            gallery::EXAMPLES => Role::Example,
            model_panel::MODEL => Role::Model,
            drive_panel::CAPTURE => Role::Capture,
            _ => Role::Skeleton,
        };

        for path in paths {
            self.take(role, path, cx);
        }
    }

    fn exports(&mut self, cx: &mut Cx<'_>) -> Vec<Exportable> {
        exports::exports(&self.driving, &self.capture, cx)
    }

    fn busy(&self) -> bool {
        self.pose_cache.busy()
            || self.gallery.busy()
            || self.work.busy()
            || self.capture.busy()
            || self.driving.busy()
            || self.drive_panel.busy()
            || self.arrivals.busy()
    }
}

impl LearnRoom {
    /// Imports a file by its contents.
    fn take(&mut self, role: Role, path: PathBuf, cx: &mut Cx<'_>) {
        let ready = cx.document.learn.trained.is_some();
        match role {
            Role::Example => self.arrivals.take_example(path),
            Role::Model => self.arrivals.take_model(path, cx),
            Role::Capture if ready => self.drive_panel.load_capture(&path, &mut self.capture, cx),
            Role::Capture => {
                cx.notify(Notice::error(
                    "Captured points need a model; train or load a model first.",
                ));
            }
            Role::Skeleton => self.drive_panel.load_skeleton(&path, cx),
        }
    }

    /// The chosen tool, if the document is ready for it; else the last that it is ready for.
    fn tool(&self, cx: &Cx<'_>) -> Tool {
        let setup = &cx.document.learn;
        match self.tool {
            Some(Tool::Drive) | None if setup.trained.is_some() => Tool::Drive,
            Some(Tool::Examples) => Tool::Examples,
            _ if setup.recipe.sources.is_empty() => Tool::Examples,
            _ => Tool::Points,
        }
    }

    /// What stands in the viewport.
    fn model(&self, cx: &Cx<'_>) -> Option<Model> {
        let tool = self.tool(cx);
        // Until the first driven pose arrives, the rest pose is shown.
        if let (Tool::Drive, Some(driven)) = (tool, self.driving.driven()) {
            let model = Model::new(driven.surface.clone(), driven.vertices.clone());
            return Some(match &driven.confidence {
                Some(heat) => model.with_paint(Paint::Heat(heat.clone())),
                None => model,
            });
        }

        let poses = self.pose_cache.poses()?;
        let shown = if tool == Tool::Examples {
            self.gallery.shown.min(poses.poses.len() - 1)
        } else {
            poses.rest(&cx.document.learn.recipe)
        };

        Some(Model::new(
            poses.surface.clone(),
            poses.poses[shown].vertices.clone(),
        ))
    }

    /// Before the camera frames another subject, turns it to the side on which the control points
    /// are.
    fn face_points(&self, subject: &str, cx: &mut Cx<'_>) {
        let seen = cx.view_state.cameras.entry(RoomName::Learn).or_default();
        if seen.is_empty() {
            seen.push(Default::default());
        }

        let Some(poses) = self
            .pose_cache
            .poses()
            .filter(|_| seen[0].subject != subject)
        else {
            return;
        };

        let recipe = &cx.document.learn.recipe;
        let normals = &poses.poses[poses.rest(recipe)].vertices.normals;
        // The mean normal of the control points shows on which side they are.
        let mean: DVec3 = recipe
            .points
            .iter()
            .filter_map(|&v| normals.get(v as usize))
            .map(|normal| normal.as_dvec3())
            .sum();

        let camera = &mut seen[0].camera;
        if mean.dot(camera.axes().back) < 0.0 {
            camera.yaw += std::f64::consts::PI;
        }
    }
}
