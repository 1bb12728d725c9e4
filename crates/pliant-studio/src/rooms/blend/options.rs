//! How shapes give way and what they keep.

use eframe::egui::{ComboBox, DragValue, Slider, Ui};
use pliant::physics::Cage as PhysicsCage;

use super::setup::{Body, Cage, Setup, Solver};
use crate::rooms::Cx;

/// Friction and contact.
pub(super) fn contact_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut setup = cx.document.blend.clone();
    let obstructed = !setup.obstacles.is_empty();
    ui.strong("Contact");
    ui.add_enabled_ui(obstructed, |ui| {
        let slider = Slider::new(&mut setup.friction, 0.0..=1.0)
            .fixed_decimals(2)
            .text("Friction");
        ui.add(slider)
            .on_hover_text("How much obstacles hold what slides along them")
            .on_disabled_hover_text("There is no obstacle yet");
    });
    ui.checkbox(&mut setup.self_contact, "Self-contact")
        .on_hover_text("Parts of the surface keep out of each other, such as fingers");
    change(cx, "Change contact", setup);
}

/// What few people change.
pub(super) fn more_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut setup = cx.document.blend.clone();
    ComboBox::from_label("Body")
        .selected_text(body_label(setup.material.body))
        .show_ui(ui, |ui| {
            for body in [Body::Solid, Body::Shell] {
                ui.selectable_value(&mut setup.material.body, body, body_label(body))
                    .on_hover_text(body_hint(body));
            }
        });
    term_ui(
        ui,
        "Angles",
        "The bend of the surface over its edges counts; for cloth and thin skins",
        &mut setup.material.angles,
    );
    term_ui(
        ui,
        "Volume",
        "Volumes count: nothing inside turns over",
        &mut setup.material.volume,
    );
    ui.checkbox(&mut setup.material.interior, "Points inside")
        .on_hover_text("Fill closed shapes with points that hold them from within");
    ComboBox::from_label("Solver")
        .selected_text(solver_label(setup.solver))
        .show_ui(ui, |ui| {
            for solver in [Solver::Fast, Solver::Tight, Solver::Newton] {
                ui.selectable_value(&mut setup.solver, solver, solver_label(solver))
                    .on_hover_text(solver_hint(solver));
            }
        });
    cage_ui(ui, &mut setup);
    change(cx, "Change material", setup);
}

fn change(cx: &mut Cx<'_>, label: &str, setup: Setup) {
    if setup != cx.document.blend {
        cx.edit_by_hand(label, move |document| document.blend = setup);
    }
}

/// A term that counts, with its stiffness.
fn term_ui(ui: &mut Ui, name: &str, hint: &str, weight: &mut f64) {
    ui.horizontal(|ui| {
        let mut counts = *weight > 0.0;
        if ui.checkbox(&mut counts, name).on_hover_text(hint).changed() {
            *weight = if counts { 1.0 } else { 0.0 };
        }
        if counts {
            let field = DragValue::new(weight)
                .range(0.01..=1000.0)
                .speed(0.02)
                .prefix("× ");
            ui.add(field)
                .on_hover_text("How stiff, beside what is usual");
        }
    });
}

fn cage_ui(ui: &mut Ui, setup: &mut Setup) {
    let text = match setup.cage {
        Cage::Auto => "For big meshes",
        Cage::Off => "Never",
        Cage::Vertices(_) => "Always",
    };
    ui.horizontal(|ui| {
        ComboBox::from_label("Cage")
            .selected_text(text)
            .show_ui(ui, |ui| {
                let hint = format!("From {} vertices on", PhysicsCage::WORTH_A_CAGE);
                ui.selectable_value(&mut setup.cage, Cage::Auto, "For big meshes")
                    .on_hover_text(hint);
                ui.selectable_value(&mut setup.cage, Cage::Off, "Never")
                    .on_hover_text("Balance every vertex");
                let some = if matches!(setup.cage, Cage::Vertices(_)) {
                    setup.cage
                } else {
                    Cage::Vertices(1500)
                };
                ui.selectable_value(&mut setup.cage, some, "Always")
                    .on_hover_text("Faster, and creases less");
            });
        if let Cage::Vertices(vertices) = &mut setup.cage {
            ui.add(
                DragValue::new(vertices)
                    .range(4..=100_000)
                    .speed(10)
                    .suffix(" vertices"),
            )
            .on_hover_text("How many are balanced; the others follow");
        }
    });
}

fn body_label(body: Body) -> &'static str {
    match body {
        Body::Solid => "Solid",
        Body::Shell => "Thin shell",
    }
}

fn body_hint(body: Body) -> &'static str {
    match body {
        Body::Solid => "Springs along the surface and through the inside",
        Body::Shell => "The surface alone; add angles and volume",
    }
}

fn solver_label(solver: Solver) -> &'static str {
    match solver {
        Solver::Fast => "Fast",
        Solver::Tight => "Tight",
        Solver::Newton => "Newton",
    }
}

fn solver_hint(solver: Solver) -> &'static str {
    match solver {
        Solver::Fast => "Forces balance to a thousandth",
        Solver::Tight => "Forces balance to a millionth",
        Solver::Newton => "Newton's method as published: slow",
    }
}
