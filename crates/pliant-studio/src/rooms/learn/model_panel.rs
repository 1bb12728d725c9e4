//! Training: method, settings, results.

use std::path::PathBuf;

use eframe::egui::{self, Align2, CornerRadius, DragValue, FontId, Rect, Sense, Ui, pos2, vec2};
use pliant::learn::{ControlPoints, Method};

use crate::engine::command::{Command, RoomFileRequest};
use crate::engine::context::Cx;
use crate::engine::file_request::FileRequest;
use crate::engine::learn::pose_cache::PoseCache;
use crate::engine::learn::training::TrainingTasks;
use crate::model::document::Locator;
use crate::model::learn::{Details, PoseId, Trained, TrainingSettings, Validation};
use crate::widgets::field::{ChoiceField, list_ui};
use crate::widgets::{AssetField, asset_field_ui, asset_kinds, kinds_of};

/// A model that was trained elsewhere.
pub(super) const MODEL: &str = "model";
/// A file with detailed poses.
pub(super) const DETAILS: &str = "details";

/// Where detailed poses come from.
const DETAILS_FIELD: AssetField<'_> = AssetField {
    name: "Detail file",
    hint: "File with detailed poses",
    help: "The same poses, sculpted or scanned.",
    built_in: &["specimen:hand"],
    what: DETAILS,
    kinds: asset_kinds,
};

/// Learns details from a file that was chosen.
pub(super) fn take_details(paths: Vec<PathBuf>, cx: &mut Cx<'_>) {
    if let Some(path) = paths.into_iter().next() {
        let locator: Locator = path.display().to_string();
        cx.edit("Choose details", move |document| {
            document.learn.recipe.details = Details::Asset(locator)
        });
    }
}

/// A name that is being typed.
#[derive(Debug, Default)]
pub(super) struct ModelPanel {
    details: Option<String>,
}

impl ModelPanel {
    /// Method, settings, buttons and figures. Returns an example that should be shown.
    pub(super) fn options_ui(
        &mut self,
        ui: &mut Ui,
        pose_cache: &PoseCache,
        work: &mut TrainingTasks,
        cx: &mut Cx<'_>,
    ) -> Option<PoseId> {
        ui.strong("Model");
        self.recipe_ui(ui, cx);
        ui.add_space(6.0);
        buttons_ui(ui, pose_cache, work, cx);
        ui.add_space(6.0);

        if let Some(trained) = &cx.document.learn.trained {
            trained_ui(ui, trained, cx.document.learn.is_outdated());
        }

        let judged = cx.document.learn.judged.as_ref()?;
        ui.add_space(6.0);
        validation_ui(ui, judged, judged.of != cx.document.learn.recipe)
    }

    fn recipe_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let mut recipe = cx.document.learn.recipe.clone();
        ChoiceField {
            name: "Method",
            options: &Method::ALL,
            label,
            hint,
        }
        .show(ui, &mut recipe.method);

        self.details_ui(ui, &mut recipe, cx);
        ui.collapsing("More settings", |ui| settings_ui(ui, &mut recipe));
        if recipe != cx.document.learn.recipe {
            cx.edit_continuously("Set training", move |document| {
                document.learn.recipe = recipe
            });
        }
    }

    fn details_ui(&mut self, ui: &mut Ui, recipe: &mut TrainingSettings, cx: &mut Cx<'_>) {
        let name = |details: &Details| match details {
            Details::None => "None",
            Details::Smoothing => "From the examples",
            Details::Asset(_) => "From a file",
        };

        let file = match &recipe.details {
            Details::Asset(locator) => locator.clone(),
            Details::None | Details::Smoothing => String::new(),
        };

        list_ui(ui, "Details", name(&recipe.details), |ui| {
            let none = ui.selectable_value(&mut recipe.details, Details::None, "None");
            let smoothing =
                ui.selectable_value(&mut recipe.details, Details::Smoothing, "From the examples");

            let smoothing = smoothing.on_hover_text(
                "The detail is the difference between the examples and their smoothed versions",
            );
            if none.clicked() || smoothing.clicked() {
                self.details = None;
            }

            let typed = self.details.is_some() || matches!(recipe.details, Details::Asset(_));
            if ui
                .selectable_label(typed, "From a file")
                .on_hover_text("The same poses, sculpted or scanned")
                .clicked()
            {
                self.details = Some(file.clone());
            }
        });

        if recipe.details != Details::Asset(file.clone()) && self.details.is_none() {
            return;
        }

        let typed = self.details.get_or_insert(file);
        if let Some(chosen) = asset_field_ui(ui, &DETAILS_FIELD, typed, cx) {
            self.details = None;
            recipe.details = Details::Asset(cx.locator(&chosen));
        } else if matches!(recipe.details, Details::Asset(_))
            && !ui.ctx().egui_wants_keyboard_input()
        {
            // Abandoned text is replaced by the value of the document, also after undo.
            self.details = None;
        }
    }
}

fn label(method: Method) -> &'static str {
    match method {
        Method::Auto => "Auto",
        Method::Huang2012 => "Huang 2012",
        Method::Feng2008 => "Feng 2008",
        Method::Sumner2005 => "MeshIK 2005",
        Method::Sorkine2007 => "As rigid as possible",
    }
}

fn hint(method: Method) -> &'static str {
    match method {
        Method::Auto => {
            "Blends deformations region by region; leave-one-out validation chooses the settings"
        }
        Method::Huang2012 => "Local kernel CCA on abstract bones (Huang et al. 2012)",
        Method::Feng2008 => "Global kernel CCA on abstract bones (Feng, Kim, Yu 2008)",
        Method::Sumner2005 => "Mesh-based inverse kinematics (Sumner et al. 2005)",
        Method::Sorkine2007 => "Without examples (Sorkine and Alexa 2007)",
    }
}

fn settings_ui(ui: &mut Ui, recipe: &mut TrainingSettings) {
    let options = recipe.options();
    egui::Grid::new("settings").num_columns(2).show(ui, |ui| {
        let mut count = |text: &str, hint: &str, value: &mut usize, least: usize| {
            let row = ui.label(text);
            ui.add(DragValue::new(value).range(least..=2000))
                .labelled_by(row.id)
                .on_hover_text(hint);
            ui.end_row();
        };

        count(
            "Control points per bone",
            "k_c: number of nearest control points (Huang et al. 2012: 7)",
            &mut recipe.neighbors,
            ControlPoints::LEAST,
        );

        if recipe.method == Method::Huang2012 {
            count(
                "Poses per local model",
                "k_p: number of nearest poses (Huang et al. 2012: 7)",
                &mut recipe.pose_neighbors,
                1,
            );
        }

        let mut bones = options.bones();
        count("Bones", "Number of abstract bones", &mut bones, 1);
        // An untouched field stays automatic.
        recipe.bones = (bones != options.bones()).then_some(bones).or(recipe.bones);

        let row = ui.label("Follow");
        let mut beta = options.beta();
        let field = ui
            .add(DragValue::new(&mut beta).range(1e-3..=1e4).speed(0.5))
            .labelled_by(row.id);

        if field
            .on_hover_text("β: how closely control points are followed")
            .changed()
        {
            recipe.beta = Some(beta);
        }
        ui.end_row();
    });

    ui.checkbox(&mut recipe.exact, "Interpolate examples exactly")
        .on_hover_text("The control points of an example reproduce it exactly");
    if ui.button("Default settings").clicked() {
        *recipe = with_default_options(recipe.clone());
    }
}

/// Default options; examples, control points, method and details stay.
fn with_default_options(settings: TrainingSettings) -> TrainingSettings {
    TrainingSettings {
        sources: settings.sources,
        rest: settings.rest,
        left_out: settings.left_out,
        points: settings.points,
        method: settings.method,
        details: settings.details,
        ..TrainingSettings::default()
    }
}

fn buttons_ui(ui: &mut Ui, pose_cache: &PoseCache, work: &mut TrainingTasks, cx: &mut Cx<'_>) {
    let recipe = &cx.document.learn.recipe;
    let missing = missing(recipe, pose_cache);
    ui.horizontal(|ui| {
        let ready = missing.is_none();
        if work.is_training() {
            if ui.button("Stop training").clicked() {
                work.cancel_training();
            }
        } else if ui
            .add_enabled(ready, egui::Button::new("Train"))
            .on_hover_text("Train a model that drives the mesh by its control points")
            .clicked()
        {
            work.train(pose_cache, cx);
        }

        let validate = ui.add_enabled(
            ready && !work.is_validating(),
            egui::Button::new("Validate"),
        );
        if validate
            .on_hover_text("Leave-one-out validation: predict each example from the others")
            .clicked()
        {
            work.validate(pose_cache, cx);
        }

        if ui
            .button("Load model…")
            .on_hover_text("A .safetensors file that was trained here or by `pliant learn`")
            .clicked()
        {
            let kinds = kinds_of("Models", &["safetensors"]);
            let request = FileRequest {
                title: "Load model".into(),
                action: "Load".into(),
                kinds,
                ..FileRequest::default()
            };

            cx.command(Command::AskFiles(RoomFileRequest {
                what: MODEL,
                request,
            }));
        }
    });

    // A disabled button needs a reason.
    if let Some(message) = missing {
        ui.weak(message);
    }
}

/// Steps left before training.
fn missing(recipe: &TrainingSettings, pose_cache: &PoseCache) -> Option<String> {
    let Some(poses) = pose_cache.poses().filter(|_| pose_cache.ready_for(recipe)) else {
        return Some(if recipe.sources.is_empty() {
            "Add examples first.".into()
        } else {
            "Examples are loading.".into()
        });
    };

    // The rest pose is the reference and no example.
    let frames = poses.used(recipe).len() - 1;
    let least = pliant::learn::Examples::LEAST_FRAMES;
    if frames < least {
        return Some(format!(
            "Use at least {least} examples besides the rest pose."
        ));
    }

    let points = recipe.points.len();
    let least = ControlPoints::LEAST;
    (points < least).then(|| format!("Place at least {least} control points; there are {points}."))
}

fn trained_ui(ui: &mut Ui, trained: &Trained, outdated: bool) {
    if outdated {
        ui.colored_label(
            ui.visuals().warn_fg_color,
            "The settings changed after the training. Train again to apply them.",
        );
    }

    let figures = egui::Grid::new("figures").num_columns(2).show(ui, |ui| {
        let mut row = |name: &str, value: String| {
            ui.weak(name);
            ui.label(value);
            ui.end_row();
        };

        row(
            "Trained on",
            format!(
                "{} examples, {} points",
                trained.examples,
                trained.of.points.len()
            ),
        );

        row("Regions", trained.bones.to_string());
        row(
            "Error on examples",
            format!("{:.3} % of the longest side", 100.0 * trained.fit_error),
        );
    });

    // A loaded model has no training time.
    if trained.secs > 0.0 {
        figures
            .response
            .on_hover_text(format!("Trained in {:.1} s", trained.secs));
    }

    if !trained.chosen.is_empty() {
        ui.weak(format!("Chosen: {}", trained.chosen));
    }
    for problem in &trained.problems {
        ui.colored_label(ui.visuals().warn_fg_color, problem);
    }
}

/// A bar for each example; a click shows it.
fn validation_ui(ui: &mut Ui, judged: &Validation, outdated: bool) -> Option<PoseId> {
    ui.strong("Leave-one-out validation");
    if outdated {
        ui.weak("For earlier settings; validate again.");
    }

    ui.label(format!(
        "Mean error {:.2} % of the longest side",
        100.0 * judged.mean()
    ));

    let worst = judged.worst()?;
    ui.weak(format!(
        "Worst: {}. More examples like it help most.",
        worst.name
    ));
    ui.add_space(2.0);

    let mut shown = None;
    for error in &judged.errors {
        // Bars are relative to the worst example.
        let share = (error.rms / worst.rms.max(f64::MIN_POSITIVE)) as f32;
        let is_worst = error.pose == worst.pose;
        if bar_ui(
            ui,
            &error.name,
            share,
            &format!("{:.2} %", 100.0 * error.rms),
            is_worst,
        ) {
            shown = Some(error.pose.clone());
        }
    }
    shown
}

/// A row of name, bar and value. Returns whether it was clicked.
fn bar_ui(ui: &mut Ui, name: &str, share: f32, value: &str, is_worst: bool) -> bool {
    let height = ui.text_style_height(&egui::TextStyle::Body) + 2.0;
    let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    row.widget_info(|| {
        egui::WidgetInfo::labeled(
            egui::Role::Button,
            true,
            format!("Error of {name}: {value}"),
        )
    });

    let visuals = ui.visuals();
    let color = if is_worst {
        visuals.warn_fg_color
    } else {
        visuals.selection.bg_fill
    };

    let text = if row.hovered() {
        visuals.strong_text_color()
    } else {
        visuals.text_color()
    };
    let font = FontId::proportional(12.0);
    // Name, bar and value share the width of the row.
    let [left, right] = [0.30, 0.82].map(|part| rect.left() + part * rect.width());
    let painter = ui.painter_at(rect);

    painter.text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        name,
        font.clone(),
        text,
    );

    let whole = Rect::from_min_max(
        pos2(left, rect.top() + 3.0),
        pos2(right, rect.bottom() - 3.0),
    );

    painter.rect_filled(
        whole,
        CornerRadius::same(2),
        visuals.faint_bg_color.additive(),
    );

    let filled = Rect::from_min_size(
        whole.min,
        vec2((whole.width() * share).max(1.0), whole.height()),
    );

    painter.rect_filled(filled, CornerRadius::same(2), color);
    painter.text(rect.right_center(), Align2::RIGHT_CENTER, value, font, text);
    row.on_hover_text("Show this example").clicked()
}
