//! The pose library: poses with pictures, applied by a click and blended by a drag.

use std::collections::BTreeSet;

use eframe::egui::{
    self, Align2, Button, Color32, CursorIcon, FontId, Label, Rect, Response, Role, Sense,
    StrokeKind, TextEdit, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use pliant::rig::{PoseScope, SavedPose};

use super::pictures::PanelPictures;
use super::rig::titled_ui;
use crate::engine::character::PosedCharacter;
use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::engine::export::POSE_LIBRARY;
use crate::model::document::{Document, Weights};
use crate::widgets::drag_color;
use crate::widgets::field::named;

/// The side of a picture, in points.
const PICTURE: f32 = 84.0;
/// The height of the name below it.
const NAME: f32 = 18.0;
/// A drag over this part of a picture goes from nothing to the whole pose.
const FULL_DRAG: f32 = 0.9;

/// Pointer input on poses.
pub(crate) const SHORTCUTS: &[(&str, &str)] = &[
    ("Click", "Apply a saved pose"),
    ("Drag", "Blend it in: to the right for more"),
    ("Ctrl+click, Ctrl+drag", "The same, mirrored"),
    ("Right click", "Rename, replace or delete a pose"),
];

/// The state of the panel.
#[derive(Default)]
pub(crate) struct PosesPanel {
    name: String,
    only_moved: bool,
    closed: BTreeSet<String>,
    blending: Option<Blending>,
    renaming: Option<(usize, String)>,
}

/// A drag over a picture.
struct Blending {
    pose: usize,
    mirrored: bool,
    /// The weights at which it began.
    base: Weights,
    gesture: u64,
    amount: f64,
}

/// What a menu entry does with a pose.
enum Action {
    Apply { mirrored: bool },
    Replace,
    AddMirrored,
    Rename,
    Delete,
}

impl PosesPanel {
    /// Save, then the poses by folders.
    pub(crate) fn panel_ui(&mut self, ui: &mut Ui, pictures: &mut PanelPictures, cx: &mut Cx<'_>) {
        let Some(posed) = cx.posed.cloned() else {
            ui.weak("No rig yet. Open a rig to save its poses.");
            return;
        };
        if posed.rig.targets().is_empty() {
            ui.weak("This mesh has no sliders, so it has no poses to save.");
            return;
        }

        self.save_ui(ui, cx);
        self.files_ui(ui, cx);
        ui.separator();

        // A playing take hides the weights of the sliders.
        let plays = cx.document.timeline.playing_take.is_some();
        if plays {
            ui.weak("A take plays. Choose Keys in the timeline to apply poses.");
        }
        ui.add_enabled_ui(!plays, |ui| self.folders_ui(ui, &posed, pictures, cx));
    }

    fn save_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let mut entered = false;
        let mut clicked = false;
        ui.horizontal(|ui| {
            let field = TextEdit::singleline(&mut self.name)
                .hint_text("Name, or Folder/Name")
                .desired_width((ui.available_width() - 92.0).max(60.0));
            let field = named(ui.add(field), "Name of the pose");
            entered = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));

            let reason = self.reason_not_to_save(cx.document);
            let save = ui.add_enabled(reason.is_none(), Button::new("Save pose"));
            clicked = save
                .on_hover_text("Keep the weights of the sliders under this name")
                .on_disabled_hover_text(reason.unwrap_or_default())
                .clicked();
            entered &= reason.is_none();
        });
        ui.checkbox(&mut self.only_moved, "Only moved sliders")
            .on_hover_text(
                "Applying it leaves all other sliders as they are; otherwise they go to zero",
            );

        if clicked || entered {
            let scope = if self.only_moved {
                PoseScope::Named
            } else {
                PoseScope::All
            };
            let weights = cx.document.character.weights.clone();
            let pose = SavedPose::new(&std::mem::take(&mut self.name), scope, weights);
            cx.edit(format!("Save pose {}", pose.name), move |document| {
                document.pose.library.put(pose);
            });
        }
    }

    fn reason_not_to_save(&self, document: &Document) -> Option<&'static str> {
        let name = self.name.rsplit('/').next().unwrap_or_default();
        if name.trim().is_empty() {
            return Some("Give the pose a name");
        }
        (self.only_moved && document.character.weights.is_empty())
            .then_some("No slider is moved; move one, or save all sliders")
    }

    fn files_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.horizontal(|ui| {
            let import = ui.button("Import poses…");
            if import
                .on_hover_text("Add the poses of a library (JSON), or weights as one pose")
                .clicked()
            {
                cx.command(Command::AskImport);
            }

            let any = !cx.document.pose.library.poses.is_empty();
            let export = ui.add_enabled(any, Button::new("Export poses…"));
            if export
                .on_hover_text("Write all poses to a file that other projects import")
                .on_disabled_hover_text("Save a pose first")
                .clicked()
            {
                cx.command(Command::AskExportOf(POSE_LIBRARY));
            }
        });
    }

    fn folders_ui(
        &mut self,
        ui: &mut Ui,
        posed: &PosedCharacter,
        pictures: &mut PanelPictures,
        cx: &mut Cx<'_>,
    ) {
        let library = cx.document.pose.library.clone();
        if library.poses.is_empty() {
            ui.add(
                Label::new(
                    "No poses yet. Drag the face into an expression, type a name above and choose \
                     Save pose. Click a picture to apply a pose; drag over it to blend.",
                )
                .wrap(),
            );
            return;
        }

        for folder in library.folders() {
            if !folder.is_empty() {
                let own = library.poses.iter().filter(|pose| pose.folder == folder);
                titled_ui(
                    ui,
                    folder,
                    &own.count().to_string(),
                    false,
                    &mut self.closed,
                );
            }
            if self.closed.contains(folder) {
                continue;
            }
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                for (k, pose) in library.poses.iter().enumerate() {
                    if pose.folder == folder {
                        self.pose_ui(ui, k, pose, posed, pictures, cx);
                    }
                }
            });
        }
    }

    fn pose_ui(
        &mut self,
        ui: &mut Ui,
        k: usize,
        pose: &SavedPose,
        posed: &PosedCharacter,
        pictures: &mut PanelPictures,
        cx: &mut Cx<'_>,
    ) {
        if self.renaming.as_ref().is_some_and(|(of, _)| *of == k) {
            self.rename_ui(ui, pose, cx);
            return;
        }

        let size = vec2(PICTURE, PICTURE + NAME);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let label = format!("Pose {}", pose.name);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &label));

        let picture = Rect::from_min_size(rect.min, Vec2::splat(PICTURE));
        let texture = pictures.pose(&pose.weights, PICTURE, ui.ctx());
        let amount = self.blending.as_ref().filter(|blending| blending.pose == k);
        let amount = amount.map(|blending| blending.amount);
        if ui.is_rect_visible(rect) {
            paint_picture(ui, picture, texture, &response);
            paint_name(ui, rect, &pose.name);
            if let Some(amount) = amount {
                paint_amount(ui, picture, amount);
            }
        }

        self.drag_ui(&response, picture, k, pose, posed, cx);
        let mirrored = ui.input(|input| input.modifiers.command);
        let action = menu_ui(&response, pose);
        let response = response
            .on_hover_cursor(CursorIcon::ResizeHorizontal)
            .on_hover_text(hint(pose));
        let clicked = response.clicked().then_some(Action::Apply { mirrored });
        if let Some(action) = clicked.or(action) {
            self.act(action, k, pose, posed, cx);
        }
    }

    /// A drag to the right blends the pose in.
    fn drag_ui(
        &mut self,
        response: &Response,
        picture: Rect,
        k: usize,
        pose: &SavedPose,
        posed: &PosedCharacter,
        cx: &mut Cx<'_>,
    ) {
        if response.drag_started() {
            self.blending = Some(Blending {
                pose: k,
                mirrored: response.ctx.input(|input| input.modifiers.command),
                base: cx.document.character.weights.clone(),
                gesture: cx.gesture,
                amount: 0.0,
            });
        }
        let Some(blending) = self.blending.as_mut().filter(|blending| blending.pose == k) else {
            return;
        };

        if response.dragged()
            && let Some(way) = response.total_drag_delta()
        {
            let amount = f64::from(way.x / (FULL_DRAG * picture.width())).clamp(0.0, 1.0);
            if amount != blending.amount {
                blending.amount = amount;
                let pose = oriented(pose, blending.mirrored, posed);
                let weights = blended(&pose, posed, &blending.base, amount);
                let label = format!("Blend {}", pose.name);
                cx.edit_in_gesture(blending.gesture, label, move |document| {
                    set_weights(document, weights);
                });
            }
        } else if !response.is_pointer_button_down_on() {
            self.blending = None;
        }
    }

    fn act(
        &mut self,
        action: Action,
        k: usize,
        pose: &SavedPose,
        posed: &PosedCharacter,
        cx: &mut Cx<'_>,
    ) {
        match action {
            Action::Apply { mirrored } => apply(&oriented(pose, mirrored, posed), posed, cx),
            Action::Replace => {
                let weights = cx.document.character.weights.clone();
                cx.edit(format!("Replace pose {}", pose.name), move |document| {
                    if let Some(pose) = document.pose.library.poses.get_mut(k) {
                        pose.weights = weights;
                    }
                });
            }
            Action::AddMirrored => {
                let name = format!("{} mirrored", pose.name);
                let mirrored = SavedPose {
                    name,
                    ..pose.mirrored(&posed.rig)
                };
                cx.edit(format!("Save pose {}", mirrored.name), move |document| {
                    document.pose.library.put(mirrored);
                });
            }
            Action::Rename => self.renaming = Some((k, pose.path())),
            Action::Delete => {
                cx.edit(format!("Delete pose {}", pose.name), move |document| {
                    let poses = &mut document.pose.library.poses;
                    if k < poses.len() {
                        poses.remove(k);
                    }
                });
            }
        }
    }

    /// A field for another name or folder instead of the picture.
    fn rename_ui(&mut self, ui: &mut Ui, pose: &SavedPose, cx: &mut Cx<'_>) {
        let Some((k, text)) = &mut self.renaming else {
            return;
        };
        let k = *k;
        let field = TextEdit::singleline(text).desired_width(2.0 * PICTURE);
        let field = named(ui.add(field), "New name of the pose")
            .on_hover_text("Name, or Folder/Name; Enter keeps it, Esc does not");
        if field.lost_focus() {
            let keeps = ui.input(|input| input.key_pressed(egui::Key::Enter));
            let named = SavedPose::new(text, pose.scope, pose.weights.clone());
            self.renaming = None;
            let taken = cx
                .document
                .pose
                .library
                .position(&named.folder, &named.name)
                .is_some_and(|place| place != k);
            if taken {
                cx.notify(Notice::error(format!(
                    "There already is a pose “{}”; choose another name.",
                    named.path()
                )));
            } else if keeps && !named.name.is_empty() {
                cx.edit(format!("Rename pose {}", pose.name), move |document| {
                    if let Some(pose) = document.pose.library.poses.get_mut(k) {
                        *pose = named;
                    }
                });
            }
        } else {
            field.request_focus();
        }
    }
}

/// The pose, or its mirror image.
fn oriented(pose: &SavedPose, mirrored: bool, posed: &PosedCharacter) -> SavedPose {
    if mirrored {
        pose.mirrored(&posed.rig)
    } else {
        pose.clone()
    }
}

/// The whole pose, as one step.
fn apply(pose: &SavedPose, posed: &PosedCharacter, cx: &mut Cx<'_>) {
    let weights = blended(pose, posed, &cx.document.character.weights, 1.0);
    let unknown = pose.blend(&posed.rig, &[], 1.0).unknown;
    if let Some(first) = unknown.first() {
        let count = unknown.len();
        cx.notify(Notice::hint(format!(
            "{count} of {} sliders of “{}” are not in this rig, such as {first}.",
            pose.weights.len(),
            pose.name
        )));
    }
    cx.edit(format!("Apply {}", pose.name), move |document| {
        set_weights(document, weights);
    });
}

fn blended(pose: &SavedPose, posed: &PosedCharacter, base: &Weights, amount: f64) -> Weights {
    let names = || posed.rig.targets().iter().map(|target| &target.name);
    let before: Vec<f64> = names()
        .map(|name| base.get(name).copied().unwrap_or(0.0))
        .collect();
    let after = pose.blend(&posed.rig, &before, amount).weights;
    names().cloned().zip(after).collect()
}

fn set_weights(document: &mut Document, weights: Weights) {
    for (name, weight) in &weights {
        document.character.set_weight(name, *weight);
    }
}

fn menu_ui(response: &Response, pose: &SavedPose) -> Option<Action> {
    let mut action = None;
    response.context_menu(|ui| {
        ui.strong(&pose.name);
        let entries = [
            ("Apply", Action::Apply { mirrored: false }),
            ("Apply mirrored", Action::Apply { mirrored: true }),
            ("Save mirrored copy", Action::AddMirrored),
            ("Replace by current pose", Action::Replace),
            ("Rename or move…", Action::Rename),
            ("Delete pose", Action::Delete),
        ];
        for (label, wanted) in entries {
            if ui.button(label).clicked() {
                action = Some(wanted);
                ui.close();
            }
        }
    });
    action
}

fn hint(pose: &SavedPose) -> String {
    let scope = match pose.scope {
        PoseScope::All => "all others go to zero",
        PoseScope::Named => "all others stay",
    };
    let count = pose.weights.len();
    format!(
        "{}: {count} sliders; {scope}\nClick to apply. Drag to the right to blend. Ctrl: mirrored. Right click for more.",
        pose.path()
    )
}

fn paint_picture(
    ui: &Ui,
    rect: Rect,
    texture: Option<egui::load::SizedTexture>,
    response: &Response,
) {
    match texture {
        Some(texture) => {
            egui::Image::new(texture)
                .corner_radius(4)
                .paint_at(ui, rect);
        }
        None => {
            let color = ui.visuals().extreme_bg_color;
            ui.painter().rect_filled(rect, 4.0, color);
        }
    }
    let stroke = ui.style().interact(response).fg_stroke;
    if response.hovered() || response.has_focus() {
        ui.painter()
            .rect_stroke(rect, 4.0, stroke, StrokeKind::Inside);
    }
}

fn paint_name(ui: &Ui, rect: Rect, name: &str) {
    let font = FontId::proportional(12.0);
    let text = egui::WidgetText::from(name).into_galley(
        ui,
        Some(egui::TextWrapMode::Truncate),
        rect.width(),
        font,
    );
    let place = Align2::CENTER_BOTTOM
        .anchor_size(rect.center_bottom(), text.size())
        .min;
    ui.painter().galley(place, text, ui.visuals().text_color());
}

/// How much of the pose is blended in.
fn paint_amount(ui: &Ui, rect: Rect, amount: f64) {
    let bar = Rect::from_min_max(pos2(rect.left(), rect.bottom() - 16.0), rect.max);
    let painter = ui.painter().with_clip_rect(rect);
    painter.rect_filled(bar, 0.0, Color32::from_black_alpha(150));
    let mut filled = bar;
    filled.set_width(bar.width() * amount as f32);
    painter.rect_filled(filled, 0.0, drag_color(ui).gamma_multiply(0.7));
    painter.text(
        bar.center(),
        Align2::CENTER_CENTER,
        format!("{:.0} %", 100.0 * amount),
        FontId::proportional(11.0),
        Color32::WHITE,
    );
}
