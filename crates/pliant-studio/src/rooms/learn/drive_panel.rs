//! What can be set while a model is driven.

use std::path::Path;

use eframe::egui::{self, ComboBox, DragValue, Slider, Ui};
use pliant::learn::{LearnOptions, Method};
use pliant::skeleton_file::SkeletonFile;

use super::capture::{Stage, take_of};
use super::drive::{Driving, reset};
use super::hand;
use super::setup::{Capture, Details, DrivenBy, HoldAs};
use crate::command::Notice;
use crate::dialog::Kind;
use crate::names::shown;
use crate::panels::{AssetField, asset_field_ui, asset_kinds, kinds_of};
use crate::rooms::Cx;
use crate::work::Task;

/// A file with captured points.
pub(super) const CAPTURE: &str = "capture";
/// A file with joints.
const SKELETON: &str = "skeleton";

/// Where joints come from.
const SKELETON_FIELD: AssetField<'_> = AssetField {
    name: "Skeleton file",
    hint: "Skeleton file",
    help: "JSON or TOML, as `pliant drive --skeleton` takes it.",
    built_in: &[],
    what: SKELETON,
    kinds: || kinds_of("Skeletons", &["json", "toml"]),
};

/// Where captured points come from.
const CAPTURE_FIELD: AssetField<'_> = AssetField {
    name: "Markers or clip",
    hint: "Markers or clip",
    help: "Such as take.c3d, motion.bvh, points.csv, places.npy, or a clip of the same mesh.",
    built_in: &["specimen:hand:play"],
    what: CAPTURE,
    kinds: capture_kinds,
};

fn capture_kinds() -> Vec<Kind> {
    let mut kinds = kinds_of("Captured points", &["c3d", "bvh", "csv", "tsv", "npy"]);
    kinds.splice(1..1, asset_kinds().into_iter().take(1));
    kinds
}

/// Above this the examples do not show what is asked.
const BEYOND: f64 = 2.0;
/// A miss of an effector that is worth a word, in longest sides.
const MISSED: f64 = 1e-3;

/// Names that are being typed.
#[derive(Debug, Default)]
pub(super) struct Panel {
    skeleton: String,
    loading: Option<Task<SkeletonFile>>,
    capture: Option<Capture>,
}

impl Panel {
    /// Fetches a skeleton that was read.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.loading) {
            None => {}
            Some(Ok(skeleton)) => {
                cx.tell(Notice::done(format!(
                    "A skeleton of {} joints leads the points now.",
                    skeleton.joints.len()
                )));
                set_skeleton(Some(skeleton), cx);
            }
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
        }
    }

    /// Whether a skeleton is on its way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.loading.is_some()
    }

    /// Everything about driving.
    pub(super) fn options_ui(
        &mut self,
        ui: &mut Ui,
        driving: &Driving,
        stage: &mut Stage,
        cx: &mut Cx<'_>,
    ) {
        let heading = ui.strong("Drive");
        if let Some(driven) = driving.driven() {
            heading.on_hover_text(format!("{:.0} ms for the last pose", 1e3 * driven.secs));
        }
        by_ui(ui, driving, cx);
        ui.add_space(4.0);
        match cx.document.learn.drive.by {
            DrivenBy::Points => reach_ui(ui, cx),
            DrivenBy::Effectors => self.skeleton_ui(ui, cx),
            DrivenBy::Capture => self.capture_ui(ui, stage, cx),
        }
        ui.horizontal(|ui| {
            if ui
                .button("Reset pose")
                .on_hover_text("Back to rest (R)")
                .clicked()
            {
                reset(cx);
            }
            bake_ui(ui, driving, stage, cx);
        });
        ui.add_space(4.0);
        look_ui(ui, cx);
        verdict_ui(ui, driving, cx);
    }

    fn skeleton_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        match &cx.document.learn.skeleton {
            None => ui.weak("End effectors need a skeleton with a joint at each control point."),
            Some(skeleton) => {
                let effectors = skeleton
                    .joints
                    .iter()
                    .filter(|joint| joint.effector)
                    .count();
                ui.weak(format!(
                    "{} joints; drag one of the {effectors} blue ends, the others follow.",
                    skeleton.joints.len()
                ))
            }
        };
        ui.collapsing("Skeleton", |ui| {
            if let Some(file) = asset_field_ui(ui, &SKELETON_FIELD, &mut self.skeleton, cx) {
                self.load_skeleton(Path::new(&file), cx);
            }
            ui.horizontal(|ui| {
                if ui
                    .button("Hand")
                    .on_hover_text("The skeleton of the built-in hand")
                    .clicked()
                {
                    set_skeleton(Some(hand::skeleton()), cx);
                }
                if ui
                    .add_enabled(
                        cx.document.learn.skeleton.is_some(),
                        egui::Button::new("Remove skeleton"),
                    )
                    .clicked()
                {
                    set_skeleton(None, cx);
                }
            });
        });
    }

    fn capture_ui(&mut self, ui: &mut Ui, stage: &mut Stage, cx: &mut Cx<'_>) {
        match (stage.trouble(), stage.control()) {
            (Some(sentence), _) => ui.colored_label(ui.visuals().error_fg_color, sentence),
            (None, Some(control)) => ui.weak(format!(
                "{} frames; play or scrub the timeline.",
                control.frames.len()
            )),
            (None, None) if stage.busy() => ui.weak("Reading…"),
            (None, None) => ui.weak("Choose a file of markers, or a clip of the same mesh."),
        };
        let capture = self
            .capture
            .get_or_insert_with(|| cx.document.learn.capture.clone().unwrap_or_default());
        let chosen = asset_field_ui(ui, &CAPTURE_FIELD, &mut capture.source, cx);
        let loads = chosen.is_some();
        capture.source = chosen.unwrap_or_else(|| std::mem::take(&mut capture.source));
        egui::CollapsingHeader::new("Markers").show(ui, |ui| {
            ui.add(
                Slider::new(&mut capture.scale, 0.001..=1000.0)
                    .logarithmic(true)
                    .text("Scale"),
            )
            .on_hover_text("A unit of the take in units of the model");
            ui.horizontal(|ui| {
                ui.add(
                    egui::TextEdit::singleline(&mut capture.axes)
                        .hint_text("xyz")
                        .desired_width(60.0),
                );
                ui.label("Axes").on_hover_text(
                    "Which axis of the take is the model's x, y and z, such as xz-y",
                );
            });
            ui.add(Slider::new(&mut capture.smooth_frames, 0.0..=10.0).text("Smooth frames"));
            ui.checkbox(&mut capture.aligned, "Keep in place")
                .on_hover_text("Take the motion of the whole off");
        });
        let ready = !capture.source.trim().is_empty() && !stage.busy();
        let button = ui
            .add_enabled(ready, egui::Button::new("Load capture"))
            .on_hover_text("Read it and fit the timeline to it");
        if button.clicked() || (loads && ready) {
            let chosen = Capture {
                source: cx.locator(&capture.source),
                ..capture.clone()
            };
            stage.choose(chosen, cx);
        }
        swing_ui(ui, cx);
    }

    /// Reads captured points from a file, with the settings of the capture before it.
    pub(super) fn load_capture(&mut self, path: &Path, stage: &mut Stage, cx: &mut Cx<'_>) {
        let settings = self
            .capture
            .take()
            .or_else(|| cx.document.learn.capture.clone())
            .unwrap_or_default();
        stage.choose(
            Capture {
                source: path.display().to_string(),
                ..settings
            },
            cx,
        );
    }

    /// Reads joints from a file.
    pub(super) fn load_skeleton(&mut self, path: &Path, cx: &Cx<'_>) {
        let path = cx.library.folder().join(path);
        let name = shown(&path);
        self.loading = Some(Task::start(
            "Reading a skeleton",
            cx.wake.clone(),
            move |_| {
                let text = std::fs::read_to_string(&path)
                    .map_err(|error| format!("'{name}' cannot be read: {error}."))?;
                SkeletonFile::parse(&text)
                    .map_err(|error| format!("'{name}' is no skeleton: {error}."))
            },
        ));
    }

    /// Forgets what was typed for another document.
    pub(super) fn forget(&mut self) {
        self.capture = None;
    }
}

fn by_ui(ui: &mut Ui, driving: &Driving, cx: &mut Cx<'_>) {
    let by = cx.document.learn.drive.by;
    ui.horizontal(|ui| {
        for (choice, label, hint) in [
            (
                DrivenBy::Points,
                "Points",
                "Move each control point by itself",
            ),
            (
                DrivenBy::Effectors,
                "End effectors",
                "Move fingertips or feet; a skeleton finds the other points",
            ),
            (DrivenBy::Capture, "Capture", "Play captured markers"),
        ] {
            if ui
                .selectable_label(by == choice, label)
                .on_hover_text(hint)
                .clicked()
                && by != choice
            {
                driving.drive_by(choice, cx);
            }
        }
    });
}

/// How far a pull reaches.
fn reach_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    ui.weak("Drag a point; others near it go along, and the mesh follows as in the examples.");
    let mut percent = 100.0 * cx.document.learn.drive.reach;
    let slider = Slider::new(&mut percent, 0.0..=100.0)
        .suffix(" %")
        .fixed_decimals(0)
        .text("Reach");
    if ui
        .add(slider)
        .on_hover_text("How far along the surface a pull takes other points along, of the longest side; 0 moves one alone")
        .changed()
    {
        cx.edit_by_hand("Set reach", move |document| document.learn.drive.reach = percent / 100.0);
    }
}

fn swing_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let drive = &cx.document.learn.drive;
    let (mut hertz, mut damping) = (drive.swing_hertz, drive.swing_damping);
    let slider = Slider::new(&mut hertz, 0.0..=8.0)
        .text("Swing")
        .suffix(" Hz");
    let mut changed = ui
        .add(slider)
        .on_hover_text("How often a second soft parts swing after the motion; 0 for none")
        .changed();
    if hertz > 0.0 {
        changed |= ui
            .add(Slider::new(&mut damping, 0.0..=1.0).text("Damping"))
            .changed();
    }
    if changed {
        cx.edit_by_hand("Set swing", move |document| {
            (
                document.learn.drive.swing_hertz,
                document.learn.drive.swing_damping,
            ) = (hertz, damping);
        });
    }
}

fn bake_ui(ui: &mut Ui, driving: &Driving, stage: &mut Stage, cx: &mut Cx<'_>) {
    let moving = cx.document.learn.drive.by == DrivenBy::Capture;
    let owned = take_of(&cx.document.learn).is_some();
    let ready = owned
        && !stage.is_baking()
        && if moving {
            stage.control().is_some()
        } else {
            driving.driven().is_some()
        };
    let bake = ui.add_enabled(ready, egui::Button::new("Bake take"));
    let hint = if moving {
        "The whole motion as a take of the timeline"
    } else {
        "The pose as a take of one frame"
    };
    let missing = "A take moves a mesh of the project: add that of the model under Examples, or write the motion by File › Export";
    let bake = if owned {
        bake
    } else {
        bake.on_disabled_hover_text(missing)
    };
    if bake.on_hover_text(hint).clicked() {
        let still = driving
            .driven()
            .filter(|_| !moving)
            .map(|driven| driven.goals.clone());
        stage.bake(still, cx);
    }
}

/// What is shown, and how points are held.
fn look_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let Some(trained) = &cx.document.learn.trained else {
        return;
    };
    let mut drive = cx.document.learn.drive.clone();
    let has_details = trained.of.details != Details::None;
    ui.add_enabled(
        has_details,
        egui::Checkbox::new(&mut drive.details, "Show details"),
    )
    .on_hover_text("Fine detail that the model has learned")
    .on_disabled_hover_text("This model was trained without details");
    let can_tell = trained.of.method == Method::Auto;
    ui.add_enabled(can_tell, egui::Checkbox::new(&mut drive.confidence, "Confidence colours"))
        .on_hover_text("How sure the model is, from 0 to 1; one half where 1 % of the longest side is to be expected")
        .on_disabled_hover_text("Only the method Auto knows how sure it is");
    hold_ui(ui, &mut drive.hold);
    if drive != cx.document.learn.drive {
        cx.edit_by_hand("Set look of the drive", move |document| {
            document.learn.drive = drive
        });
    }
}

fn hold_ui(ui: &mut Ui, hold: &mut HoldAs) {
    let label = |hold: HoldAs| match hold {
        HoldAs::Learned => "As trained",
        HoldAs::Hard => "Exactly",
        HoldAs::Soft(_) => "Loosely",
    };
    ComboBox::from_label("Follow points")
        .selected_text(label(*hold))
        .show_ui(ui, |ui| {
            let soft = if let HoldAs::Soft(beta) = *hold {
                beta
            } else {
                0.1 * LearnOptions::KEYFRAME_BETA
            };
            for (choice, hint) in [
                (HoldAs::Learned, "As the model was trained"),
                (HoldAs::Hard, "Points are met to the last digit"),
                (HoldAs::Soft(soft), "For noisy markers"),
            ] {
                ui.selectable_value(hold, choice, label(choice))
                    .on_hover_text(hint);
            }
        });
    if let HoldAs::Soft(beta) = hold {
        ui.horizontal(|ui| {
            ui.add(DragValue::new(beta).range(1e-3..=1e3).speed(0.05));
            ui.label("Weight of the points");
        });
    }
}

/// What the last pose cost, and whether it can be trusted.
fn verdict_ui(ui: &mut Ui, driving: &Driving, cx: &Cx<'_>) {
    let Some(driven) = driving.driven() else {
        return;
    };
    let warn = ui.visuals().warn_fg_color;
    if driven.novelty > BEYOND {
        ui.colored_label(warn, "Far from all examples: the pose is a guess.");
    }
    if cx.document.learn.drive.by == DrivenBy::Effectors && driven.missed > MISSED {
        ui.colored_label(warn, "An end effector is out of reach.");
    }
}

fn set_skeleton(skeleton: Option<SkeletonFile>, cx: &mut Cx<'_>) {
    cx.edit("Choose skeleton", move |document| {
        if skeleton.is_some() {
            document.learn.drive.by = DrivenBy::Effectors;
        }
        document.learn.skeleton = skeleton;
        document.learn.drive.effectors.clear();
    });
}
