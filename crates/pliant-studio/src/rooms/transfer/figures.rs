//! Settings and figures of a transfer: correspondence, result, recipe.

use eframe::egui::{self, Ui};
use pliant::recipes::{RootMotion, UpAxis};

use crate::engine::command::{Command, RoomFileRequest};
use crate::engine::context::Cx;
use crate::engine::file_request::FileRequest;
use crate::engine::transfer::maps::SourceMap;
use crate::engine::transfer::recipe_file::{LOAD, RecipeFile, SAVE, recipe_kind};
use crate::model::transfer::{Outcome, Setup};
use crate::widgets::kinds_of;

impl SourceMap {
    /// How good it is.
    pub(crate) fn figures_ui(&self, ui: &mut Ui) {
        let report = &self.correspondence.report;
        let method = self.correspondence.method.name();

        ui.label(format!(
            "{} of {} triangles without correspondence",
            report.uncovered + report.flipped,
            report.triangles
        ));

        ui.label(format!(
            "Mean distance {:.2} % of size",
            100.0 * report.residual
        ));

        ui.label(format!(
            "Distortion between neighbours {:.2}×",
            report.distortion
        ))
        .on_hover_text("1 is no distortion; above 2 the correspondence is torn");
        ui.weak(format!("Method: {method}"));

        for problem in &self.correspondence.warnings {
            ui.colored_label(ui.visuals().warn_fg_color, problem);
        }
    }
}

impl RecipeFile {
    /// Buttons to load and to save; `ready` returns whether there is something to save.
    pub(crate) fn recipe_ui(&self, ready: bool, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.collapsing("Recipe for pliant transfer", |ui| {
            ui.horizontal(|ui| {
                if ui
                    .button("Load recipe…")
                    .on_hover_text(
                        "A .toml file of `pliant transfer`; it replaces the settings of this room",
                    )
                    .clicked()
                {
                    // The room loads the file when the dialog returns it.
                    let kinds = kinds_of("Recipe for pliant transfer", &["toml"]);
                    let request = FileRequest {
                        title: "Load recipe".into(),
                        action: "Load".into(),
                        kinds,
                        ..FileRequest::default()
                    };

                    cx.command(Command::AskFiles(RoomFileRequest {
                        what: LOAD,
                        request,
                    }));
                }

                let save = ui.add_enabled(ready && !self.busy(), egui::Button::new("Save recipe…"));
                let save = save.on_hover_text(
                    "A .toml file for `pliant transfer`, with the markers in .json files beside it",
                );

                if save
                    .on_disabled_hover_text("Choose a source and a target first")
                    .clicked()
                {
                    let title = "Save recipe".into();
                    let action = "Save".into();
                    let kinds = vec![recipe_kind()];
                    let request = FileRequest {
                        title,
                        action,
                        kinds,
                        saves: true,
                        name: "transfer".into(),
                        ..FileRequest::default()
                    };

                    cx.command(Command::AskFiles(RoomFileRequest {
                        what: SAVE,
                        request,
                    }));
                }
            });
        });
    }
}

/// What holds for the whole transfer.
pub(crate) fn choices_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let before = cx.document.transfer.clone();
    let mut setup = before.clone();
    ui.horizontal(|ui| {
        ui.label("Root motion");
        ui.selectable_value(&mut setup.root, RootMotion::Carry, "Scaled")
            .on_hover_text("The target travels the same path, scaled to its size");
        ui.selectable_value(&mut setup.root, RootMotion::Fix, "In place")
            .on_hover_text("The target stays in place");
    });

    ui.checkbox(&mut setup.feet, "Plant feet")
        .on_hover_text("Feet that stand still in the source stand still in the target");
    ui.collapsing("More", |ui| more_ui(ui, &mut setup));

    if setup != before {
        cx.edit("Change transfer options", move |document| {
            // Only the options of this panel are written, because others may have changed.
            let stored = &mut document.transfer;
            (stored.root, stored.feet, stored.up) = (setup.root, setup.feet, setup.up);
            (stored.check, stored.untangle) = (setup.check, setup.untangle);
            for (stored, source) in stored.sources.iter_mut().zip(setup.sources) {
                stored.align_poses = source.align_poses;
            }
        });
    }
}

/// Up axis, self-intersections and rest poses.
fn more_ui(ui: &mut Ui, setup: &mut Setup) {
    ui.horizontal(|ui| {
        ui.label("Up axis");
        for (up, name) in [(UpAxis::X, "X"), (UpAxis::Y, "Y"), (UpAxis::Z, "Z")] {
            ui.selectable_value(&mut setup.up, up, name)
                .on_hover_text("Direction away from the ground, for planted feet");
        }
    });

    ui.checkbox(&mut setup.check, "Count self-intersections")
        .on_hover_text("Frames with self-intersections that the rest pose does not have");
    ui.checkbox(&mut setup.untangle, "Correct self-intersections")
        .on_hover_text("Correct such frames where a small change is enough");

    for source in &mut setup.sources {
        let label = format!("Match rest pose of {}", source.name);
        ui.checkbox(&mut source.align_poses, label)
            .on_hover_text("Compensate for different rest poses, one rigid part at a time");
    }
}

/// How the last run went.
pub(crate) fn figures_ui(outcome: &Outcome, ui: &mut Ui) {
    egui::Grid::new("figures")
        .num_columns(2)
        .striped(true)
        .show(ui, |ui| {
            let mut row = |name: &str, value: String| {
                ui.weak(name);
                ui.label(value);
                ui.end_row();
            };

            row("Frames", outcome.frames.to_string());
            row("Per frame", format!("{:.1} ms", outcome.ms_per_frame));
            let lost = 100.0 * outcome.lost as f64 / outcome.triangles.max(1) as f64;
            row(
                "Unmatched",
                format!(
                    "{} of {} triangles ({lost:.1} %)",
                    outcome.lost, outcome.triangles
                ),
            );

            row(
                "Mean distance",
                format!("{:.2} % of size", 100.0 * outcome.residual),
            );

            if let Some((vertices, [before, after])) = outcome.feet {
                row(
                    "Foot sliding",
                    format!(
                        "{:.2} % of size, {:.2} % uncorrected ({vertices} vertices)",
                        100.0 * after,
                        100.0 * before
                    ),
                );
            }

            if let Some([before, after]) = outcome.tangled {
                row(
                    "Self-intersections",
                    format!("{after} frames, {before} before correction"),
                );
            }
        });
    for problem in &outcome.problems {
        ui.colored_label(ui.visuals().warn_fg_color, problem);
    }
}
