//! The list of examples: add, step through, exclude.

use eframe::egui::{self, Key, Ui};

use super::thumbnails::Thumbnails;
use crate::engine::context::Cx;
use crate::engine::learn::pose_cache::PoseCache;
use crate::engine::learn::poses::{Pose, PoseSet};
use crate::model::learn::{PoseId, TrainingSettings};
use crate::widgets::{AssetField, asset_field_ui, asset_kinds};

/// Files with poses.
pub(super) const EXAMPLES: &str = "examples";

/// Where poses come from.
const FIELD: AssetField<'_> = AssetField {
    name: "Example file",
    hint: "File with poses",
    help: "A clip or a mesh, such as poses.glb.",
    built_in: &[
        "specimen:hand",
        "specimen:hand:smooth",
        "specimen:bar",
        "specimen:hound",
        "specimen:tapir",
    ],
    what: EXAMPLES,
    kinds: asset_kinds,
};

/// The side of a picture in the list, in points.
const THUMBNAIL: egui::Vec2 = egui::vec2(44.0, 44.0);

/// The list and which of it is shown.
#[derive(Default)]
pub(super) struct Gallery {
    /// The example in the viewport.
    pub(super) shown: usize,
    /// A name that is being typed.
    typed: String,
    thumbnails: Thumbnails,
}

impl Gallery {
    /// Whether pictures are still to come.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.thumbnails.busy()
    }

    /// Sources, then poses.
    pub(super) fn tools_ui(&mut self, ui: &mut Ui, pose_cache: &PoseCache, cx: &mut Cx<'_>) {
        ui.strong("Sources");
        self.sources_ui(ui, cx);
        ui.add_space(8.0);

        // Before the poses are loaded: why there are none.
        let Some(poses) = pose_cache.poses() else {
            match pose_cache.error() {
                Some(message) => ui.colored_label(ui.visuals().error_fg_color, message),
                None if cx.document.learn.recipe.sources.is_empty() => {
                    ui.weak(match cx.document.learn.trained {
                        Some(_) => {
                            "The model contains its examples. Add files to train another model."
                        }
                        None => {
                            "Add a clip, or meshes with the same topology; each pose is an example."
                        }
                    })
                }
                None => ui.weak("Loading…"),
            };
            return;
        };

        let used = poses.used(&cx.document.learn.recipe).len();
        ui.horizontal(|ui| {
            ui.strong("Examples");
            ui.weak(format!("{used} of {} used", poses.poses.len()));
        });
        self.thumbnails.update(poses, cx);
        self.step_ui(ui, poses);
        self.poses_ui(ui, poses, cx);
    }

    fn sources_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        for source in cx.document.learn.recipe.sources.clone() {
            ui.horizontal(|ui| {
                let remove = ui.small_button("×");
                remove.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Remove {source}"))
                });

                if remove.on_hover_text("Remove these examples").clicked() {
                    let source = source.clone();
                    cx.edit("Remove source", move |document| {
                        remove_source(&mut document.learn.recipe, &source)
                    });
                }

                ui.add(egui::Label::new(&source).truncate())
                    .on_hover_text(&source);
            });
        }
        if let Some(source) = asset_field_ui(ui, &FIELD, &mut self.typed, cx) {
            add_source(cx.locator(&source), cx);
        }
    }

    fn step_ui(&mut self, ui: &mut Ui, poses: &PoseSet) {
        let count = poses.poses.len();
        self.shown = self.shown.min(count - 1);
        // Arrow keys belong to a text field while one has the focus.
        let free = !ui.ctx().egui_wants_keyboard_input();
        let key = |key: Key| free && ui.input(|input| input.key_pressed(key));
        let back = key(Key::ArrowUp);
        let on = key(Key::ArrowDown);

        ui.horizontal(|ui| {
            if ui
                .button("Previous")
                .on_hover_text("Previous example (Up)")
                .clicked()
                || back
            {
                self.shown = (self.shown + count - 1) % count;
            }
            if ui
                .button("Next")
                .on_hover_text("Next example (Down)")
                .clicked()
                || on
            {
                self.shown = (self.shown + 1) % count;
            }
        });
    }

    fn poses_ui(&mut self, ui: &mut Ui, poses: &PoseSet, cx: &mut Cx<'_>) {
        let recipe = &cx.document.learn.recipe;
        let rest = poses.rest(recipe);
        let mut change = None;

        for (k, pose) in poses.poses.iter().enumerate() {
            let picture = self
                .thumbnails
                .get(k, ui.ctx())
                .map(|texture| egui::Image::new((texture.id(), THUMBNAIL)).corner_radius(4));

            let height = if picture.is_some() {
                THUMBNAIL.y + 6.0
            } else {
                ui.spacing().interact_size.y
            };

            let row = egui::Layout::left_to_right(egui::Align::Center);
            let size = egui::vec2(ui.available_width(), height);

            // A clip can have thousands of poses; rows out of sight only take their space. The rest
            // pose has a second line, so its row is always laid out.
            if k != rest && !ui.is_rect_visible(egui::Rect::from_min_size(ui.cursor().min, size)) {
                ui.allocate_space(size);
                continue;
            }

            ui.allocate_ui_with_layout(size, row, |ui| {
                let mut used = !recipe.left_out.contains(&pose.id);
                if used_ui(&mut used, k != rest, &pose.name, ui) {
                    change = Some((pose.id.clone(), used));
                }

                if ui
                    .add(card(pose, picture, used, k == rest, self.shown == k))
                    .clicked()
                {
                    self.shown = k;
                }
            });
        }

        if let Some((id, used)) = change {
            cx.edit("Choose examples", move |document| {
                set_used(&mut document.learn.recipe, id, used)
            });
        }

        self.rest_ui(ui, poses, rest, cx);
    }

    fn rest_ui(&mut self, ui: &mut Ui, poses: &PoseSet, rest: usize, cx: &mut Cx<'_>) {
        let button = egui::Button::new("Use as rest pose");
        let button = ui.add_enabled(self.shown != rest, button);
        let hint = "The other examples are stored as deformations of the rest pose";
        if button.on_hover_text(hint).clicked() {
            let id = poses.poses[self.shown].id.clone();
            cx.edit("Choose rest pose", move |document| {
                // The rest pose is always used.
                document.learn.recipe.left_out.remove(&id);
                document.learn.recipe.rest = Some(id);
            });
        }
    }
}

/// A check box that includes a pose in the training; returns whether it changed.
fn used_ui(used: &mut bool, enabled: bool, name: &str, ui: &mut Ui) -> bool {
    let tick = ui.add_enabled(enabled, egui::Checkbox::without_text(used));
    tick.widget_info(|| {
        let label = format!("Learn from {name}");
        egui::WidgetInfo::selected(egui::Role::CheckBox, enabled, *used, label)
    });
    tick.on_hover_text("Learn from this pose").changed()
}

/// The name of a pose, with its picture where there is one.
fn card<'a>(
    pose: &Pose,
    picture: Option<egui::Image<'a>>,
    used: bool,
    at_rest: bool,
    shown: bool,
) -> egui::Button<'a> {
    let name = egui::RichText::new(if at_rest {
        format!("{}\n(at rest)", pose.name)
    } else {
        pose.name.clone()
    });

    let name = if used {
        name
    } else {
        name.weak().strikethrough()
    };

    match picture {
        Some(picture) => egui::Button::selectable(shown, (picture, name)),
        None => egui::Button::selectable(shown, name),
    }
}

/// Loads a source again and learns from it, too.
fn add_source(source: String, cx: &mut Cx<'_>) {
    cx.library.reload(&source);
    cx.edit("Add source", move |document| {
        let sources = &mut document.learn.recipe.sources;
        if !sources.contains(&source) {
            sources.push(source);
        }
    });
}

fn remove_source(recipe: &mut TrainingSettings, source: &str) {
    recipe.sources.retain(|other| other != source);
    recipe.left_out.retain(|id| id.asset != *source);
    recipe.rest = recipe.rest.take().filter(|id| id.asset != *source);
    if recipe.sources.is_empty() {
        // Vertex indices of one mesh are meaningless on another.
        recipe.points.clear();
    }
}

fn set_used(recipe: &mut TrainingSettings, id: PoseId, used: bool) {
    if used {
        recipe.left_out.remove(&id);
    } else {
        recipe.left_out.insert(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_a_source_removes_its_poses() {
        let id = |asset: &str, frame| PoseId {
            asset: asset.into(),
            frame,
        };

        let mut recipe = TrainingSettings {
            sources: vec!["a".into(), "b".into()],
            points: vec![1, 2, 3],
            rest: Some(id("b", Some(1))),
            ..TrainingSettings::default()
        };

        set_used(&mut recipe, id("a", Some(0)), false);
        set_used(&mut recipe, id("b", Some(0)), false);
        // The rest pose is of the removed source, the points are of the mesh.
        remove_source(&mut recipe, "b");

        assert_eq!(
            (
                recipe.rest.clone(),
                recipe.left_out.len(),
                recipe.points.len()
            ),
            (None, 1, 3)
        );

        set_used(&mut recipe, id("a", Some(0)), true);
        // Without any source there is no mesh, so the points go, too.
        remove_source(&mut recipe, "a");
        assert_eq!(recipe, TrainingSettings::default());
    }
}
