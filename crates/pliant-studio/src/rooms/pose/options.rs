//! The panel on the right: methods, strokes, the layer, colours.

use eframe::egui::{self, Button, Slider, Ui};

use super::compare::Figures;
use super::stroke_library::named;
use super::{HeatKind, Method, MethodKind, PoseRoom, Setup, Tool, last_solve};
use crate::character::{Drag, Ends, Hand};
use crate::command::Notice;
use crate::rooms::Cx;

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
            Self::Unreachable => "Out of reach",
            Self::Displacement => "Displacement",
            Self::Geodesic => "Geodesic distance",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Off => "The face as clay",
            Self::Unreachable => "How much of the pins' goals no slider reaches",
            Self::Displacement => "How far the face is from its neutral",
            Self::Geodesic => {
                "How far along the neutral face it is from the selected pin, or from the nearest, in the rig's units"
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
            let (base, hand) = (pull.base.clone(), Hand::Pull(pull.pins.clone()));
            let method = Setup {
                method,
                mirrored: setup.mirrored,
                ..Setup::default()
            }
            .solving_method();
            *cx.drag = Some(Drag {
                gesture: cx.gesture,
                serial,
                base,
                method,
                hand,
            });
        }
        cx.edit_by_hand("Choose method", move |document| {
            document.pose.method = method;
            // Nothing is learned beside itself.
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
        let list = egui::ComboBox::from_label("Compare with")
            .selected_text(text)
            .show_ui(ui, |ui| {
                ui.selectable_value(&mut compared, None, "Nothing");
                for kind in MethodKind::ALL
                    .into_iter()
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
        list.response
            .on_hover_text("Another method on the same pins; hold ` to see it alone");
        if let Some(method) = &mut compared {
            ui.checkbox(&mut self.compare.side_by_side, "Side by side")
                .on_hover_text("Without it, hold ` to see the other method");
            ui.collapsing("Options of B", |ui| method_options_ui(ui, "B", method));
            figures_ui(ui, last_solve(cx).map(Figures::of), self.compare.figures());
        }
        if compared != before {
            cx.edit_by_hand("Compare methods", move |document| {
                document.pose.compared = compared
            });
        }
    }

    fn sculpt_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let mut sculpt = cx.document.pose.sculpt;
        ui.checkbox(&mut sculpt.on, "Sculpt layer")
            .on_hover_text("What no slider reaches is added on top, smoothly");
        if sculpt.on {
            automatic_ui(
                ui,
                &mut sculpt.radius,
                0.1..=50.0,
                "Radius",
                "How far around pins the surface follows, in the rig's units",
            );
            self.promote_ui(ui, cx);
        }
        if sculpt != cx.document.pose.sculpt {
            cx.edit_by_hand("Change sculpt layer", move |document| {
                document.pose.sculpt = sculpt
            });
        }
    }

    fn promote_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let Some((vertices, largest)) = self.layer.extent() else {
            ui.weak("Drag a pin further than the sliders go.");
            return;
        };
        ui.weak(format!("Moves {vertices} vertices by up to {largest:.3}."));
        ui.horizontal(|ui| {
            let field = egui::TextEdit::singleline(&mut self.target_name)
                .hint_text("Name")
                .desired_width(110.0);
            named(ui.add(field), "Name of the target");
            let is_named = !self.target_name.trim().is_empty();
            let promote = ui.add_enabled(is_named, Button::new("Promote to target"));
            let hint = "Makes the layer a slider of the rig";
            if promote
                .on_hover_text(hint)
                .on_disabled_hover_text("Give the target a name")
                .clicked()
            {
                self.promote(cx);
            }
        });
    }

    /// The layer becomes a slider, at 1; the pins it took to their goals are there.
    fn promote(&mut self, cx: &mut Cx<'_>) {
        let name = self.target_name.trim().to_owned();
        let taken = cx
            .posed
            .is_some_and(|posed| posed.rig.targets().iter().any(|target| target.name == name));
        let made = if taken {
            Err(format!(
                "There is a slider “{name}” already; choose another name."
            ))
        } else {
            self.layer.to_target(&name)
        };
        match made {
            Err(sentence) => cx.tell(Notice::trouble(sentence)),
            Ok(added) => {
                self.target_name.clear();
                cx.edit("Promote to target", move |document| {
                    document.character.set_weight(&added.name, 1.0);
                    document.character.added.push(added);
                    document.pose.pull = None;
                    document
                        .pose
                        .pins
                        .iter_mut()
                        .filter(|mark| !mark.held)
                        .for_each(|mark| mark.goal = None);
                });
            }
        }
    }
}

fn kind_ui(ui: &mut Ui, label: &str, kind: &mut MethodKind) {
    let list = egui::ComboBox::from_label(label)
        .selected_text(kind.label())
        .show_ui(ui, |ui| {
            for other in MethodKind::ALL {
                ui.selectable_value(kind, other, other.label())
                    .on_hover_text(other.hint());
            }
        });
    list.response.on_hover_text(kind.hint());
}

fn method_options_ui(ui: &mut Ui, id: &str, method: &mut Method) {
    ui.push_id(id, |ui| match method.kind {
        MethodKind::Bounded => {
            let sparsity = Slider::new(&mut method.sparsity, 0.0..=0.05)
                .logarithmic(true)
                .smallest_positive(1e-5)
                .text("Sparsity");
            ui.add(sparsity).on_hover_text(
                "Price of moving one more slider; 0 spreads a drag over all that help",
            );
            let damping = Slider::new(&mut method.damping, 0.0..=1.0)
                .logarithmic(true)
                .smallest_positive(1e-5)
                .text("Damping");
            ui.add(damping)
                .on_hover_text("Price of moved surface; 0 is exact, 1 follows half-heartedly");
            automatic_ui(
                ui,
                &mut method.reach,
                0.0..=100.0,
                "Reach",
                "Motion is cheap within it around the pins, in the rig's units",
            );
            ui.checkbox(&mut method.symmetric, "Symmetric")
                .on_hover_text("Left and right sliders move alike");
        }
        kind => {
            if matches!(kind, MethodKind::Tikhonov | MethodKind::Localized) {
                let alpha = Slider::new(&mut method.alpha, 0.0..=1.0)
                    .logarithmic(true)
                    .smallest_positive(1e-8)
                    .text("Alpha");
                ui.add(alpha).on_hover_text("Price on squared weights");
            }
            if kind == MethodKind::Localized {
                automatic_ui(
                    ui,
                    &mut method.radius,
                    0.0..=10.0,
                    "Radius",
                    "Targets that move a pin by less do not count",
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
                    .on_hover_text("As in the thesis: scaling the scene changes the weights");
            }
            ui.checkbox(&mut method.beyond_limits, "Beyond limits")
                .on_hover_text("Weights may leave the sliders' limits");
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
    let hint = "A drag in the plane of the screen keeps the pin's depth, too; without it the sliders choose the depth";
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
            for head in ["", "Sliders", "Off by", "Time"] {
                ui.weak(head);
            }
            ui.end_row();
            for (letter, figures) in [("A", first), ("B", second)] {
                ui.strong(letter);
                if let Some(figures) = figures {
                    ui.label(figures.sliders.to_string());
                    ui.label(format!("{:.2} %", figures.error_percent))
                        .on_hover_text("The farthest pin from its goal, in parts of the face");
                    ui.label(format!("{:.0} µs", figures.micros));
                } else {
                    ui.weak("–").on_hover_text(
                        "Nothing was solved since the pose was taken back or opened; drag a pin",
                    );
                }
                ui.end_row();
            }
        });
}

fn line_options_ui(ui: &mut Ui, tool: Tool, cx: &mut Cx<'_>) {
    let mut lines = cx.document.pose.lines;
    if tool == Tool::Stroke {
        ui.strong("Stroke");
        ui.add(Slider::new(&mut lines.middle, 0.0..=2.0).text("Middle"))
            .on_hover_text("How far the middle of a stroke goes");
        ui.add(Slider::new(&mut lines.sides, 0.0..=2.0).text("Ends"))
            .on_hover_text("How far its ends are pulled");
        egui::ComboBox::from_label("Ends go")
            .selected_text(lines.ends.label())
            .show_ui(ui, |ui| {
                for ends in Ends::ALL {
                    ui.selectable_value(&mut lines.ends, ends, ends.label());
                }
            });
        ui.checkbox(&mut lines.flat, "Stay in the stroke's plane")
            .on_hover_text("Without it the sliders choose the depth");
    } else {
        ui.strong("Curve");
        ui.checkbox(&mut lines.closed, "Loops")
            .on_hover_text("Both lines are closed, such as the lips' outline");
        ui.checkbox(&mut lines.slide, "Slide along")
            .on_hover_text("Points may slide along the line they should go to");
    }
    if lines != cx.document.pose.lines {
        cx.edit_by_hand("Change stroke options", move |document| {
            document.pose.lines = lines
        });
    }
}

fn heat_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut heat = cx.document.pose.heat;
    egui::ComboBox::from_label("Colours")
        .selected_text(heat.label())
        .show_ui(ui, |ui| {
            for kind in HeatKind::ALL {
                ui.selectable_value(&mut heat, kind, kind.label())
                    .on_hover_text(kind.hint());
            }
        });
    if heat == HeatKind::Geodesic && cx.document.pose.pins.is_empty() {
        ui.weak("Set a pin: distances are measured from it.");
    }
    if heat != cx.document.pose.heat {
        cx.edit("Choose colours", move |document| document.pose.heat = heat);
    }
}
