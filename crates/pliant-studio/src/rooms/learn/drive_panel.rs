//! Settings for driving a model.

use std::path::Path;

use eframe::egui::{self, DragValue, Slider, Ui};
use pliant::learn::{LearnOptions, Method};
use pliant::recipes::SkeletonFile;

use super::drive::{DriveTool, reset};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::file_request::FileKind;
use crate::engine::learn::capture::{CaptureReader, take_of};
use crate::engine::work::Task;
use crate::model::learn::{Capture, Details, DrivenBy, HoldMode, hand_skeleton};
use crate::model::names::shown;
use crate::widgets::field::LeftLabel as _;
use crate::widgets::field::{labelled_ui, list_ui};
use crate::widgets::{AssetField, asset_field_ui, asset_kinds, kinds_of};

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

fn capture_kinds() -> Vec<FileKind> {
    let mut kinds = kinds_of("Captured points", &["c3d", "bvh", "csv", "tsv", "npy"]);
    kinds.splice(1..1, asset_kinds().into_iter().take(1));
    kinds
}

/// Above this the goals are far from all examples.
const HIGH_NOVELTY: f64 = 2.0;
/// The error of an effector above which a warning is shown, relative to the longest side.
const MISSED: f64 = 1e-3;

/// Names that are being typed.
#[derive(Debug, Default)]
pub(super) struct DrivePanel {
    skeleton: String,
    loading: Option<Task<SkeletonFile>>,
    capture: Option<Capture>,
}

impl DrivePanel {
    /// Fetches a skeleton that was read.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.loading) {
            None => {}
            Some(Ok(skeleton)) => {
                cx.notify(Notice::done(format!(
                    "Loaded a skeleton with {} joints.",
                    skeleton.joints.len()
                )));
                set_skeleton(Some(skeleton), cx);
            }
            Some(Err(message)) => cx.notify(Notice::error(message)),
        }
    }

    /// Whether a skeleton is in progress.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.loading.is_some()
    }

    /// Everything about driving.
    pub(super) fn options_ui(
        &mut self,
        ui: &mut Ui,
        driving: &DriveTool,
        stage: &mut CaptureReader,
        cx: &mut Cx<'_>,
    ) {
        let heading = ui.strong("Drive");
        if let Some(driven) = driving.driven() {
            heading.on_hover_text(format!("{:.0} ms for the last pose", 1e3 * driven.secs));
        }

        driven_by_ui(ui, driving, cx);
        ui.add_space(4.0);
        // Each kind of input has its own options.
        match cx.document.learn.drive.by {
            DrivenBy::Points => reach_ui(ui, cx),
            DrivenBy::Effectors => self.skeleton_ui(ui, cx),
            DrivenBy::Capture => self.capture_ui(ui, stage, cx),
        }

        ui.horizontal(|ui| {
            if ui
                .button("Reset pose")
                .on_hover_text("Return to the rest pose (R)")
                .clicked()
            {
                reset(cx);
            }
            bake_ui(ui, driving, stage, cx);
        });

        ui.add_space(4.0);
        look_ui(ui, cx);
        warnings_ui(ui, driving, cx);
    }

    fn skeleton_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        match &cx.document.learn.skeleton {
            None => ui.weak("End effectors need a skeleton with a joint at each control point."),
            Some(skeleton) => {
                // The number of handles in the view.
                let effectors = skeleton
                    .joints
                    .iter()
                    .filter(|joint| joint.effector)
                    .count();
                ui.weak(format!(
                    "{} joints; drag one of the {effectors} blue end effectors.",
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
                    set_skeleton(Some(hand_skeleton()), cx);
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

    fn capture_ui(&mut self, ui: &mut Ui, stage: &mut CaptureReader, cx: &mut Cx<'_>) {
        match (stage.error(), stage.control()) {
            (Some(message), _) => ui.colored_label(ui.visuals().error_fg_color, message),
            (None, Some(control)) => ui.weak(format!(
                "{} frames; play or scrub the timeline.",
                control.frames.len()
            )),
            (None, None) if stage.busy() => ui.weak("Reading…"),
            (None, None) => ui.weak("Choose a file of markers, or a clip of the same mesh."),
        };

        // The settings enter the document when the capture is loaded.
        let capture = self
            .capture
            .get_or_insert_with(|| cx.document.learn.capture.clone().unwrap_or_default());
        let chosen = asset_field_ui(ui, &CAPTURE_FIELD, &mut capture.source, cx);
        let loads = chosen.is_some();

        capture.source = chosen.unwrap_or_else(|| std::mem::take(&mut capture.source));
        egui::CollapsingHeader::new("Markers").show(ui, |ui| preparation_ui(capture, ui));

        let ready = !capture.source.trim().is_empty() && !stage.busy();
        let button = ui
            .add_enabled(ready, egui::Button::new("Load capture"))
            .on_hover_text("Read the file and set the timeline to its length");

        if button.clicked() || (loads && ready) {
            let chosen = Capture {
                source: cx.locator(&capture.source),
                ..capture.clone()
            };
            stage.choose(chosen, cx);
        }

        secondary_motion_ui(ui, cx);
    }

    /// Reads captured points from a file, with the settings of the capture before it.
    pub(super) fn load_capture(&mut self, path: &Path, stage: &mut CaptureReader, cx: &mut Cx<'_>) {
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
                    .map_err(|error| format!("'{name}' is not a skeleton file: {error}."))
            },
        ));
    }

    /// Forgets what was typed for another document.
    pub(super) fn forget(&mut self) {
        self.capture = None;
    }
}

fn driven_by_ui(ui: &mut Ui, driving: &DriveTool, cx: &mut Cx<'_>) {
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
                "Move end effectors such as fingertips; inverse kinematics moves the other points",
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

/// Scale, axes and smoothing of captured markers.
fn preparation_ui(capture: &mut Capture, ui: &mut Ui) {
    let scale = Slider::new(&mut capture.scale, 0.001..=1000.0)
        .logarithmic(true)
        .left_label("Scale");
    ui.add(scale)
        .on_hover_text("Length of one unit of the capture, in units of the model");

    ui.horizontal(|ui| {
        let axes = egui::TextEdit::singleline(&mut capture.axes)
            .hint_text("xyz")
            .desired_width(60.0);
        ui.add(axes);
        ui.label("Axes")
            .on_hover_text("Axes of the capture that become the model's x, y and z, such as xz-y");
    });

    ui.add(Slider::new(&mut capture.smooth_frames, 0.0..=10.0).left_label("Smooth frames"));
    ui.checkbox(&mut capture.aligned, "Keep in place")
        .on_hover_text("Remove the root motion");
}

/// How far a pull reaches.
fn reach_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    ui.weak(
        "Drag a control point; nearby points move along, and the mesh follows as in the examples.",
    );
    let mut percent = 100.0 * cx.document.learn.drive.reach;
    let slider = Slider::new(&mut percent, 0.0..=100.0)
        .suffix(" %")
        .fixed_decimals(0)
        .left_label("Reach");

    if ui
        .add(slider)
        .on_hover_text("Geodesic distance within which other control points move along, relative to the longest side; 0 moves one point only")
        .changed()
    {
        cx.edit_continuously("Set reach", move |document| document.learn.drive.reach = percent / 100.0);
    }
}

fn secondary_motion_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let drive = &cx.document.learn.drive;
    let mut hertz = drive.swing_hertz;
    let mut damping = drive.swing_damping;
    let slider = Slider::new(&mut hertz, 0.0..=8.0)
        .suffix(" Hz")
        .left_label("Secondary motion");
    let mut changed = ui
        .add(slider)
        .on_hover_text("Frequency of the oscillation that follows the motion, in hertz; 0 for none")
        .changed();

    if hertz > 0.0 {
        changed |= ui
            .add(Slider::new(&mut damping, 0.0..=1.0).left_label("Damping"))
            .changed();
    }

    if changed {
        cx.edit_continuously("Set secondary motion", move |document| {
            (
                document.learn.drive.swing_hertz,
                document.learn.drive.swing_damping,
            ) = (hertz, damping);
        });
    }
}

fn bake_ui(ui: &mut Ui, driving: &DriveTool, stage: &mut CaptureReader, cx: &mut Cx<'_>) {
    let moving = cx.document.learn.drive.by == DrivenBy::Capture;
    // A model from a file has no mesh in the project to which a take could belong.
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
        "Store the whole motion as a take"
    } else {
        "Store the pose as a take of one frame"
    };

    let missing = "A take needs a mesh of the project; add the mesh of the model under Examples, or use File › Export";
    let bake = if owned {
        bake
    } else {
        bake.on_disabled_hover_text(missing)
    };

    if bake.on_hover_text(hint).clicked() {
        // Without a captured motion the current pose is baked.
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
    .on_hover_text("Show the fine detail of the model")
    .on_disabled_hover_text("This model was trained without details");

    // Confidence is a by-product of one method only.
    let can_tell = trained.of.method == Method::Auto;
    ui.add_enabled(
        can_tell,
        egui::Checkbox::new(&mut drive.confidence, "Confidence colours"),
    )
    .on_hover_text(
        "Confidence from 0 to 1; it is 0.5 where the expected error is 1 % of the longest side",
    )
    .on_disabled_hover_text("Only the method Auto computes confidence");
    hold_ui(ui, &mut drive.hold);

    if drive != cx.document.learn.drive {
        cx.edit_continuously("Change display of the driven mesh", move |document| {
            document.learn.drive = drive
        });
    }
}

fn hold_ui(ui: &mut Ui, hold: &mut HoldMode) {
    let label = |hold: HoldMode| match hold {
        HoldMode::Learned => "As trained",
        HoldMode::Hard => "Exactly",
        HoldMode::Soft(_) => "Loosely",
    };

    list_ui(ui, "Follow points", label(*hold), |ui| {
        // Choosing Loosely again keeps its weight.
        let soft = if let HoldMode::Soft(beta) = *hold {
            beta
        } else {
            0.1 * LearnOptions::KEYFRAME_BETA
        };
        for (choice, hint) in [
            (HoldMode::Learned, "As the model was trained"),
            (HoldMode::Hard, "Control points are interpolated exactly"),
            (HoldMode::Soft(soft), "For noisy markers"),
        ] {
            ui.selectable_value(hold, choice, label(choice))
                .on_hover_text(hint);
        }
    });

    if let HoldMode::Soft(beta) = hold {
        labelled_ui(ui, "Point weight", |ui| {
            ui.add(DragValue::new(beta).range(1e-3..=1e3).speed(0.05))
        });
    }
}

/// Time and reliability of the last pose.
fn warnings_ui(ui: &mut Ui, driving: &DriveTool, cx: &Cx<'_>) {
    let Some(driven) = driving.driven() else {
        return;
    };

    let warn = ui.visuals().warn_fg_color;
    // Far from all examples the model extrapolates.
    if driven.novelty > HIGH_NOVELTY {
        ui.colored_label(
            warn,
            "The pose is far from all examples; the result is an extrapolation.",
        );
    }
    if cx.document.learn.drive.by == DrivenBy::Effectors && driven.missed > MISSED {
        ui.colored_label(warn, "An end effector cannot reach its goal.");
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
