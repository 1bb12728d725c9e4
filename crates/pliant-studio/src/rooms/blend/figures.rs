//! Figures of a blend: volume, area, strain, penetration, convergence.

use eframe::egui::{Grid, RichText, Ui};

use crate::engine::blend::{BlendResult, Figures};

/// A table of both blends.
pub(super) fn figures_ui(ui: &mut Ui, blend_result: &BlendResult, obstructed: bool) {
    let linear = &blend_result.linear.figures;
    let physical = &blend_result.physical.figures;
    Grid::new("figures")
        .num_columns(3)
        .striped(true)
        .min_col_width(76.0)
        .show(ui, |ui| {
            ui.label("");
            ui.strong("Linear");
            ui.strong("Physical");
            ui.end_row();

            // Open meshes have no volume.
            if let (Some(a), Some(b)) = (linear.volume, physical.volume) {
                row_ui(
                    ui,
                    "Volume",
                    "Relative to the weighted volume of the shapes",
                    [kept(a), kept(b)],
                );
            }

            row_ui(
                ui,
                "Area",
                "Relative to the weighted area of the shapes",
                [kept(linear.area), kept(physical.area)],
            );

            // Above two percent the figure is highlighted.
            let strain = |strain: f64| Cell {
                text: format!("{:.2} %", 100.0 * strain),
                bad: strain > 0.02,
            };

            row_ui(
                ui,
                "Strain",
                "Mean relative deviation of edges from their blended lengths",
                [strain(linear.strain), strain(physical.strain)],
            );

            if obstructed {
                let depth = |f: &Figures| Cell {
                    text: if f.inside == 0 {
                        "none".into()
                    } else {
                        format!("{:.3}", f.depth)
                    },
                    bad: f.inside > 0,
                };
                row_ui(
                    ui,
                    "Penetration",
                    "Largest depth of the shape inside obstacles",
                    [depth(linear), depth(physical)],
                );
            }
        });
}

struct Cell {
    text: String,
    bad: bool,
}

/// A share that should be the whole.
fn kept(share: f64) -> Cell {
    Cell {
        text: format!("{:.1} %", 100.0 * share),
        bad: (share - 1.0).abs() > 0.02,
    }
}

fn row_ui(ui: &mut Ui, name: &str, hint: &str, cells: [Cell; 2]) {
    ui.label(name).on_hover_text(hint);
    for cell in cells {
        let text = RichText::new(cell.text).monospace();
        ui.label(if cell.bad {
            text.color(ui.visuals().warn_fg_color)
        } else {
            text
        });
    }
    ui.end_row();
}

/// Summary of the last solve.
pub(super) fn report_ui(ui: &mut Ui, blend_result: &BlendResult) {
    let frame = &blend_result.frame;
    let state = if frame.converged {
        "Converged"
    } else {
        "Not converged"
    };

    ui.label(format!(
        "{state} after {} iterations, {:.0} ms",
        frame.iterations,
        1e3 * frame.secs
    ));

    // Only what occurred is listed.
    if frame.contacts > 0 {
        ui.label(format!("{} contacts with obstacles", frame.contacts));
    }

    if frame.self_contacts > 0 {
        ui.label(format!("{} self-contacts", frame.self_contacts));
    }

    if frame.inverted > 0 {
        ui.label(format!(
            "{} inverted elements; switch on Volume under More to prevent this",
            frame.inverted
        ));
    }

    if let Some(cage) = blend_result.ground.cage {
        ui.label(format!("Solved on a cage of {cage} vertices"));
    }
    for note in &blend_result.ground.notes {
        ui.weak(note);
    }
}
