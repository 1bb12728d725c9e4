//! Explanation of the last solve: pins, moved sliders, limits.
//!
//! While a pin is dragged this panel changes in every frame. It therefore has a constant height,
//! and the most useful lines come first.

use eframe::egui::{
    Align, Color32, Grid, Label, Layout, Rect, RichText, ScrollArea, Sense, TextStyle, Ui,
    UiBuilder, vec2,
};
use pliant::rig::{Rig, SliderId};

use crate::engine::character::SolveReport;
use crate::engine::context::Cx;
use crate::model::pose::Setup;
use crate::widgets::drag_color;

/// How many sliders are listed.
const LISTED: usize = 5;
/// How many pins are listed.
const LISTED_PINS: usize = 6;
/// A pin counts as reached within this part of its drag.
const REACHED: f64 = 0.01;

/// How high the panel is, full or empty: what comes below it stays where it is.
const HEIGHT: f32 = 176.0;

/// Method, pins, sliders, limits hit, what is out of reach, and how long it took.
pub fn explain_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let area = ScrollArea::vertical()
        .id_salt("explain")
        .max_height(HEIGHT)
        .min_scrolled_height(HEIGHT)
        .auto_shrink(false);
    area.show(ui, |ui| report_ui(ui, cx));
}

fn report_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let (Some(solve), Some(posed)) = (cx.solve.cloned(), cx.posed.cloned()) else {
        let message = if cx.document.pose.pull.is_some() {
            "There is no result yet. Drag a pin to see how the sliders move."
        } else {
            "Drag a point of the face to see how the sliders move."
        };
        ui.weak(message);
        return;
    };
    // Sliders were added or removed since the solve.
    if solve.pose.weights.len() != posed.rig.targets().len() {
        ui.weak("The rig changed since the last drag.");
        return;
    }

    ui.spacing_mut().item_spacing.y = 2.0;
    head_ui(ui, &solve, posed.secs);
    pins_ui(ui, &solve, &cx.document.pose);
    messages_ui(ui, &solve, &posed.rig);
    moves_ui(ui, &solve, &posed.rig);
}

fn head_ui(ui: &mut Ui, solve: &SolveReport, frame_secs: f64) {
    ui.horizontal(|ui| {
        ui.strong(method_label(solve.pose.method));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let times = format!(
                "{} solve, {} frame",
                duration(solve.secs),
                duration(frame_secs.max(solve.secs))
            );
            ui.add(Label::new(RichText::new(times).small().weak()).truncate())
                .on_hover_text("Time of the solver alone, and with evaluation and shading");
        });
    });
}

/// The method as the list of methods calls it.
fn method_label(name: &str) -> &str {
    match name {
        "box" => "Bounded",
        "pinv" => "Pseudo-inverse",
        "tikhonov" => "Damped",
        "localized" => "Localized",
        "transpose" => "Transpose",
        "hybrid" => "Hybrid",
        other => other,
    }
}

fn duration(secs: f64) -> String {
    if secs < 1e-3 {
        format!("{:.0} µs", secs * 1e6)
    } else {
        format!("{:.1} ms", secs * 1e3)
    }
}

/// The pins of the solve, by their numbers in the list.
fn pins_ui(ui: &mut Ui, solve: &SolveReport, setup: &Setup) {
    let vertex = |k: usize| Some(setup.pull.as_ref()?.pins.get(k)?.vertex);
    // Pins have the numbers of the list on the left.
    let number = |k: usize| {
        setup
            .pins
            .iter()
            .position(|mark| Some(mark.vertex) == vertex(k))
            .unwrap_or(k)
            + 1
    };

    Grid::new("explained pins")
        .num_columns(2)
        .spacing(vec2(10.0, 2.0))
        .show(ui, |ui| {
            for (k, pin) in solve.pose.pins.iter().enumerate().take(LISTED_PINS) {
                let drag = solve.drags.get(k).map_or(0.0, |drag| drag.length());
                let held = if solve.dragged_pin() == Some(k) {
                    ", dragged"
                } else {
                    ""
                };

                let name = format!("Pin {}{held}", number(k));
                ui.label(name);
                ui.label(pin_message(pin.error, drag));
                ui.end_row();
            }
        });

    let more = solve.pose.pins.len().saturating_sub(LISTED_PINS);
    if more > 0 {
        ui.weak(format!("and {more} more pins"));
    }
}

/// How near a pin came to its goal.
fn pin_message(error: f64, drag: f64) -> String {
    if error <= REACHED * drag {
        "reached".into()
    } else if drag > 0.0 && error < drag * 10.0 {
        format!("error {} ({:.0} %)", length(error), 100.0 * error / drag)
    } else if error > 0.0 {
        format!("moved by {}", length(error))
    } else {
        "stays".into()
    }
}

/// A length with three digits, whatever its size.
fn length(length: f64) -> String {
    let digits = if length > 0.0 {
        (2.0 - length.log10().floor()).clamp(0.0, 6.0) as usize
    } else {
        0
    };
    format!("{length:.digits$}")
}

fn moves_ui(ui: &mut Ui, solve: &SolveReport, rig: &Rig) {
    let moves = &solve.explanation.moves;
    ui.label(RichText::new(count_of(moves.len(), "slider moved", "sliders moved")).strong());
    let pin = solve.dragged_pin();

    for moved in moves.iter().take(LISTED) {
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 17.0), Sense::hover());
        // The share of the slider in the displacement of the dragged pin.
        let share = pin
            .and_then(|pin| moved.shares.get(pin))
            .map_or(0.0, |share| share.of_goal);

        move_ui(
            ui,
            rect,
            &rig.targets()[moved.slider.index()].name,
            share,
            moved.from,
            moved.to,
        );
    }

    let more = moves.len().saturating_sub(LISTED);
    if more > 0 {
        ui.weak(format!("and {more} more"));
    }
}

fn count_of(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("No {many}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

fn move_ui(ui: &mut Ui, rect: Rect, name: &str, share: f64, from: f64, to: f64) {
    let color = drag_color(ui);
    let mut bar = rect;
    bar.set_width(rect.width() * share.abs().min(1.0) as f32);
    ui.painter()
        .rect_filled(rect, 3.0, ui.visuals().faint_bg_color);
    // A negative share worked against the drag; its bar is fainter.
    ui.painter().rect_filled(
        bar,
        3.0,
        color.gamma_multiply(if share < 0.0 { 0.12 } else { 0.28 }),
    );

    ui.scope_builder(
        UiBuilder::new()
            .max_rect(rect.shrink2(vec2(5.0, 0.0)))
            .layout(Layout::right_to_left(Align::Center)),
        |ui| {
            small(ui, format!("{:.0} %", 100.0 * share), color);
            small(
                ui,
                format!("{from:.2} to {to:.2}"),
                ui.visuals().weak_text_color(),
            );

            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                small(ui, name.to_owned(), ui.visuals().text_color())
            });
        },
    );
}

fn small(ui: &mut Ui, text: String, color: Color32) {
    ui.add(
        Label::new(
            RichText::new(text)
                .text_style(TextStyle::Small)
                .color(color),
        )
        .truncate()
        .selectable(false),
    );
}

fn messages_ui(ui: &mut Ui, solve: &SolveReport, rig: &Rig) {
    // Most sliders are at zero, which is also a limit; only those that moved there are listed.
    let moved = |slider: &&SliderId| solve.explanation.moves.iter().any(|m| m.slider == **slider);
    let names: Vec<&str> = solve
        .pose
        .at_limit
        .iter()
        .filter(moved)
        .map(|slider| &*rig.targets()[slider.index()].name)
        .collect();

    let limits = if names.is_empty() {
        "No slider is at its limit".into()
    } else {
        format!("At their limit: {}", names.join(", "))
    };

    line_ui(ui, limits, !names.is_empty());
    let far = solve.explanation.unreachable.iter().zip(&solve.drags);
    let worst = far
        .map(|(left, drag)| (left.length(), drag.length()))
        .filter(|(left, drag)| *left > REACHED * drag)
        .max_by(|a, b| a.0.total_cmp(&b.0));

    let reach = match worst {
        Some((left, drag)) if drag > 0.0 => format!(
            "No slider reaches the last {} ({:.0} %)",
            length(left),
            100.0 * left / drag
        ),
        Some((left, _)) => format!("No slider reaches the last {}", length(left)),
        None => "The goal is reachable".into(),
    };

    line_ui(ui, reach, worst.is_some());
    let problems = solve.pose.warnings.join(" ");
    let calm = problems.is_empty();

    if !calm {
        line_ui(ui, problems, true);
    }
}

/// One line that is cut where the panel ends; all of it is in its tooltip.
fn line_ui(ui: &mut Ui, text: String, matters: bool) {
    let color = if matters {
        ui.visuals().warn_fg_color
    } else {
        ui.visuals().weak_text_color()
    };
    ui.add(Label::new(RichText::new(&text).color(color)).truncate())
        .on_hover_text(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_three_digits_in_any_unit() {
        assert_eq!(
            [123.4, 1.234, 0.01234, 0.0].map(length),
            ["123", "1.23", "0.0123", "0"]
        );
    }

    #[test]
    fn the_explanation_reports_reached_missed_and_held_pins() {
        assert_eq!(pin_message(0.001, 1.0), "reached");
        assert_eq!(pin_message(0.5, 2.0), "error 0.500 (25 %)");
        assert_eq!(pin_message(0.5, 0.0), "moved by 0.500");
        assert_eq!(pin_message(0.0, 0.0), "reached");
    }
}
