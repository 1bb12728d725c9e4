//! Options of the Pose room: method, strokes, residual layer, colours.

use eframe::egui::{self, Button, Slider, Ui};

use super::compare::Figures;
use super::{PoseRoom, Tool, last_solve};
use crate::engine::character::{Drag, DragInput};
use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::model::pose::{Ends, HeatKind, Method, MethodKind, Setup};
use crate::widgets::field::{ChoiceField, LeftLabel as _, list_ui, named, no_hint};

impl HeatKind {
    const ALL: [Self; 4] = [
        Self::Off,
        Self::Unreachable,
        Self::Displacement,
        Self::Geodesic,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Off => "None",
            Self::Unreachable => "Unreachable",
            Self::Displacement => "Displacement",
            Self::Geodesic => "Geodesic distance",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Off => "No colours",
            Self::Unreachable => "Part of the goals that no slider reaches",
            Self::Displacement => "Distance from the neutral",
            Self::Geodesic => {
                "Geodesic distance on the neutral to the selected pin, or to the nearest pin, in asset units"
            }
        }
    }
}

impl PoseRoom {
    pub(super) fn options_panel_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.add_space(4.0);
        self.method_ui(ui, cx);
        self.compare_ui(ui, cx);
        ui.separator();

        if matches!(self.tool, Tool::Stroke | Tool::Curve) {
            line_options_ui(ui, self.tool, cx);
            ui.separator();
        }

        self.sculpt_ui(ui, cx);
        ui.separator();
        heat_ui(ui, cx);
        ui.separator();
    }

    fn method_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let mut method = cx.document.pose.method;
        kind_ui(ui, "Method", &mut method.kind);
        ui.collapsing("Method options", |ui| {
            method_options_ui(ui, "A", &mut method);
            depth_ui(ui, cx);
        });
        if method != cx.document.pose.method {
            self.change_method(method, cx);
        }
    }

    /// Chooses a method, and lets it do the last drag again.
    fn change_method(&mut self, method: Method, cx: &mut Cx<'_>) {
        let serial = self.next_serial();
        let setup = &cx.document.pose;
        if let Some(pull) = setup.current_pull(&cx.document.character.weights) {
            let base = pull.base.clone();
            let input = DragInput::Pull(pull.pins.clone());
            let method = Setup {
                method,
                mirrored: setup.mirrored,
                ..Setup::default()
            }
            .solving_method();

            cx.command(Command::Drag(Drag {
                gesture: cx.gesture,
                serial,
                base,
                method,
                input,
            }));
        }

        cx.edit_continuously("Choose method", move |document| {
            document.pose.method = method;
            // Comparing a method with itself shows nothing.
            document
                .pose
                .compared
                .take_if(|compared| compared.kind == method.kind);
        });
    }

    fn compare_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let before = cx.document.pose.compared;
        let mut compared = before;
        let text = compared.map_or("Nothing", |method| method.kind.label());
        let list = list_ui(ui, "Compare with", text, |ui| {
            ui.selectable_value(&mut compared, None, "Nothing");
            for kind in MethodKind::ALL
                .into_iter()
                // A method is not compared with itself.
                .filter(|kind| *kind != cx.document.pose.method.kind)
            {
                let chosen = compared.is_some_and(|method| method.kind == kind);
                if ui
                    .selectable_label(chosen, kind.label())
                    .on_hover_text(kind.hint())
                    .clicked()
                {
                    compared = Some(Method {
                        kind,
                        ..compared.unwrap_or_default()
                    });
                }
            }
        });

        list.on_hover_text(
            "Solve the same pins with another method; hold ` to show only that result",
        );
        if let Some(method) = &mut compared {
            ui.checkbox(&mut self.compare.side_by_side, "Side by side")
                .on_hover_text("If off, hold ` to show the other method");
            ui.collapsing("Options of B", |ui| method_options_ui(ui, "B", method));
            figures_ui(ui, last_solve(cx).map(Figures::of), self.compare.figures());
        }

        if compared != before {
            cx.edit_continuously("Compare methods", move |document| {
                document.pose.compared = compared
            });
        }
    }

    fn sculpt_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let mut sculpt = cx.document.pose.sculpt;
        ui.checkbox(&mut sculpt.on, "Residual layer")
            .on_hover_text("Adds a smooth displacement for what no slider reaches");

        if sculpt.on {
            automatic_ui(
                ui,
                &mut sculpt.radius,
                0.1..=50.0,
                "Radius",
                "Radius around the pins in which the surface moves, in asset units",
            );
            self.add_as_slider_ui(ui, cx);
        }

        if sculpt != cx.document.pose.sculpt {
            cx.edit_continuously("Change residual layer", move |document| {
                document.pose.sculpt = sculpt
            });
        }
    }

    fn add_as_slider_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some((vertices, largest)) = self.layer.extent() else {
            ui.weak("Drag a pin beyond the reach of the sliders.");
            return;
        };

        ui.weak(format!("Moves {vertices} vertices by up to {largest:.3}."));
        ui.horizontal(|ui| {
            let field = egui::TextEdit::singleline(&mut self.target_name)
                .hint_text("Name")
                .desired_width(110.0);
            named(ui.add(field), "Name of the target");

            let is_named = !self.target_name.trim().is_empty();
            let add_layer_as_slider = ui.add_enabled(is_named, Button::new("Promote to target"));
            let hint = "Adds the layer to the rig as a new target";

            if add_layer_as_slider
                .on_hover_text(hint)
                .on_disabled_hover_text("Give the target a name")
                .clicked()
            {
                self.add_layer_as_slider(cx);
            }
        });
    }

    /// The layer becomes a slider, at 1; the pins it took to their goals are there.
    fn add_layer_as_slider(&mut self, cx: &mut Cx<'_>) {
        let name = self.target_name.trim().to_owned();
        let taken = cx
            .posed
            .is_some_and(|posed| posed.rig.targets().iter().any(|target| target.name == name));
        let made = if taken {
            Err(format!(
                "The slider “{name}” already exists; choose another name."
            ))
        } else {
            self.layer.to_target(&name)
        };

        match made {
            Err(message) => cx.notify(Notice::error(message)),
            Ok(added) => {
                self.target_name.clear();
                cx.edit("Promote to target", move |document| {
                    document.character.set_weight(&added.name, 1.0);
                    document.character.added.push(added);
                    // The new target reaches the goals, so the pins have none any more.
                    document.pose.pull = None;
                    for mark in document.pose.pins.iter_mut().filter(|mark| !mark.held) {
                        mark.goal = None;
                    }
                });
            }
        }
    }
}

fn kind_ui(ui: &mut Ui, label: &str, kind: &mut MethodKind) {
    let list = ChoiceField {
        name: label,
        options: &MethodKind::ALL,
        label: MethodKind::label,
        hint: MethodKind::hint,
    }
    .show(ui, kind);
    list.on_hover_text(kind.hint());
}

fn method_options_ui(ui: &mut Ui, id: &str, method: &mut Method) {
    ui.push_id(id, |ui| match method.kind {
        MethodKind::Bounded => {
            let sparsity = Slider::new(&mut method.sparsity, 0.0..=0.05)
                .logarithmic(true)
                .smallest_positive(1e-5)
                .left_label("Sparsity");

            ui.add(sparsity).on_hover_text(
                "Penalty for each moved slider; 0 spreads a drag over all useful sliders",
            );

            let damping = Slider::new(&mut method.damping, 0.0..=1.0)
                .logarithmic(true)
                .smallest_positive(1e-5)
                .left_label("Damping");

            ui.add(damping)
                .on_hover_text("Penalty for moved surface; 0 follows exactly, 1 follows weakly");
            automatic_ui(
                ui,
                &mut method.reach,
                0.0..=100.0,
                "Reach",
                "Radius around the pins in which motion has a low penalty, in asset units",
            );

            ui.checkbox(&mut method.symmetric, "Symmetric")
                .on_hover_text("Left and right sliders get equal weights");
        }
        // The published methods share most options.
        kind => {
            if matches!(kind, MethodKind::Tikhonov | MethodKind::Localized) {
                let alpha = Slider::new(&mut method.alpha, 0.0..=1.0)
                    .logarithmic(true)
                    .smallest_positive(1e-8)
                    .left_label("Alpha");
                ui.add(alpha).on_hover_text("Penalty on squared weights");
            }

            if kind == MethodKind::Localized {
                automatic_ui(
                    ui,
                    &mut method.radius,
                    0.0..=10.0,
                    "Radius",
                    "Targets that move the pins by less are ignored",
                );
            }

            if kind == MethodKind::Hybrid {
                automatic_ui(
                    ui,
                    &mut method.gamma,
                    0.0..=1.0,
                    "Gamma",
                    "Share of the pseudo-inverse",
                );
            }

            if kind != MethodKind::PseudoInverse {
                ui.checkbox(&mut method.scene_units, "Scene units")
                    .on_hover_text(
                        "As in Çetinaslan 2016: the result depends on the scale of the scene",
                    );
            }

            ui.checkbox(&mut method.beyond_limits, "Ignore limits")
                .on_hover_text("Weights may exceed the slider limits");
        }
    });
}

/// A number that can be left to the program.
fn automatic_ui(
    ui: &mut Ui,
    value: &mut Option<f64>,
    range: std::ops::RangeInclusive<f64>,
    label: &str,
    hint: &str,
) {
    ui.horizontal(|ui| {
        let mut automatic = value.is_none();
        ui.checkbox(&mut automatic, format!("{label}: automatic"))
            .on_hover_text(hint);

        // A tenth of the range is a visible start value.
        let mut number = value.unwrap_or(range.end() * 0.1);
        if !automatic {
            ui.add(egui::DragValue::new(&mut number).range(range).speed(0.01))
                .on_hover_text(hint);
        }

        *value = (!automatic).then_some(number);
    });
}

fn depth_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut fixed = cx.document.pose.fixed_depth;
    let hint = "A drag in the view plane also constrains the depth; otherwise the sliders choose the depth";
    if ui
        .checkbox(&mut fixed, "Keep depth")
        .on_hover_text(hint)
        .changed()
    {
        cx.edit("Keep depth", move |document| {
            document.pose.fixed_depth = fixed
        });
    }
}

fn figures_ui(ui: &mut Ui, first: Option<Figures>, second: Option<Figures>) {
    if first.is_none() && second.is_none() {
        ui.weak("Drag a pin to compare.");
        return;
    }
    egui::Grid::new("figures")
        .num_columns(4)
        .striped(true)
        .show(ui, |ui| {
            for head in ["", "Sliders", "Error", "Time"] {
                ui.weak(head);
            }
            ui.end_row();

            // A method without a result keeps its row, so that nothing jumps.
            for (letter, figures) in [("A", first), ("B", second)] {
                ui.strong(letter);
                if let Some(figures) = figures {
                    ui.label(figures.sliders.to_string());
                    ui.label(format!("{:.2} %", figures.error_percent))
                        .on_hover_text("Largest distance of a pin from its goal, relative to the size of the face");
                    ui.label(format!("{:.0} µs", figures.micros));
                } else {
                    ui.weak("–").on_hover_text(
                        "There is no result yet; drag a pin",
                    );
                }
                ui.end_row();
            }
        });
}

fn line_options_ui(ui: &mut Ui, tool: Tool, cx: &mut Cx<'_>) {
    // Edited on a copy; the document changes only if the copy differs.
    let mut lines = cx.document.pose.lines;
    if tool == Tool::Stroke {
        ui.strong("Stroke");
        ui.add(Slider::new(&mut lines.middle, 0.0..=2.0).left_label("Middle"))
            .on_hover_text("Scale of the displacement at the middle of a stroke");
        ui.add(Slider::new(&mut lines.sides, 0.0..=2.0).left_label("Ends"))
            .on_hover_text("Scale of the displacement at the ends of a stroke");
        ChoiceField {
            name: "End direction",
            options: &Ends::ALL,
            label: Ends::label,
            hint: no_hint,
        }
        .show(ui, &mut lines.ends);

        ui.checkbox(&mut lines.flat, "Stay in the stroke's plane")
            .on_hover_text("If off, the sliders choose the depth");
    } else {
        ui.strong("Curve");
        ui.checkbox(&mut lines.closed, "Loops")
            .on_hover_text("Both lines are closed, such as the outline of the lips");
        ui.checkbox(&mut lines.slide, "Slide along")
            .on_hover_text("Points may slide along the goal line");
    }

    if lines != cx.document.pose.lines {
        cx.edit_continuously("Change stroke options", move |document| {
            document.pose.lines = lines
        });
    }
}

fn heat_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut heat = cx.document.pose.heat;
    ChoiceField {
        name: "Colours",
        options: &HeatKind::ALL,
        label: HeatKind::label,
        hint: HeatKind::hint,
    }
    .show(ui, &mut heat);

    if heat == HeatKind::Geodesic && cx.document.pose.pins.is_empty() {
        ui.weak("Set a pin to measure distances from it.");
    }
    if heat != cx.document.pose.heat {
        cx.edit("Choose colours", move |document| document.pose.heat = heat);
    }
}
