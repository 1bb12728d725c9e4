//! What shrank, what stretched and what is inside something: the numbers under the pictures.

use eframe::egui::{Grid, RichText, Ui};
pub use pliant::physics::BlendFigures as Figures;

use super::balance::Balanced;

/// A table: both ways to blend side by side.
pub(super) fn figures_ui(ui: &mut Ui, balanced: &Balanced, obstructed: bool) {
    let (linear, physical) = (&balanced.linear.figures, &balanced.physical.figures);
    Grid::new("figures")
        .num_columns(3)
        .striped(true)
        .min_col_width(76.0)
        .show(ui, |ui| {
            ui.label("");
            ui.strong("Linear");
            ui.strong("Physical");
            ui.end_row();
            if let (Some(a), Some(b)) = (linear.volume, physical.volume) {
                row_ui(
                    ui,
                    "Volume",
                    "Of the shapes' volume, weighted as they are",
                    [kept(a), kept(b)],
                );
            }
            row_ui(
                ui,
                "Area",
                "Of the shapes' area, weighted as they are",
                [kept(linear.area), kept(physical.area)],
            );
            let strain = |strain: f64| Cell {
                text: format!("{:.2} %", 100.0 * strain),
                bad: strain > 0.02,
            };
            row_ui(
                ui,
                "Strain",
                "How far edges are from their blended lengths, on average",
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
                    "How deep the shape is inside obstacles",
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

/// What the last solve did, in one line or a few.
pub(super) fn report_ui(ui: &mut Ui, balanced: &Balanced) {
    let frame = &balanced.frame;
    let state = if frame.converged {
        "In balance"
    } else {
        "Not quite in balance"
    };
    ui.label(format!(
        "{state} after {} steps, {:.0} ms",
        frame.iterations,
        1e3 * frame.secs
    ));
    if frame.contacts > 0 {
        ui.label(format!("{} vertices touch obstacles", frame.contacts));
    }
    if frame.self_contacts > 0 {
        ui.label(format!(
            "{} places where the surface touches itself",
            frame.self_contacts
        ));
    }
    if frame.inverted > 0 {
        ui.label(format!(
            "{} elements inside turned over; volume in More keeps them",
            frame.inverted
        ));
    }
    if let Some(cage) = balanced.ground.cage {
        ui.label(format!("On a cage of {cage} vertices"));
    }
    for note in &balanced.ground.notes {
        ui.weak(note);
    }
}
