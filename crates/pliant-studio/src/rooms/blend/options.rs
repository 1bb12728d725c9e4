//! Contact, material and solver settings of a blend.

use eframe::egui::{DragValue, Slider, Ui};
use pliant::physics::Cage as PhysicsCage;

use crate::engine::context::Cx;
use crate::model::blend::{Body, Cage, Setup, Solver};
use crate::widgets::field::{ChoiceField, LeftLabel as _, labelled_ui, list_ui};

/// Friction and contact.
pub(super) fn contact_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut setup = cx.document.blend.clone();
    let obstructed = !setup.obstacles.is_empty();
    ui.strong("Contact");
    ui.add_enabled_ui(obstructed, |ui| {
        let slider = Slider::new(&mut setup.friction, 0.0..=1.0)
            .fixed_decimals(2)
            .left_label("Friction");
        ui.add(slider)
            .on_hover_text("Friction between the shape and obstacles")
            .on_disabled_hover_text("Add an obstacle first");
    });

    ui.checkbox(&mut setup.self_contact, "Self-contact")
        .on_hover_text("Prevents the surface from penetrating itself, such as fingers");
    change(cx, "Change contact", setup);
}

/// Rarely used settings.
pub(super) fn more_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    // Edited on a copy; the document changes only if the copy differs.
    let mut setup = cx.document.blend.clone();
    ChoiceField {
        name: "Body",
        options: &[Body::Solid, Body::Shell],
        label: body_label,
        hint: body_hint,
    }
    .show(ui, &mut setup.material.body);

    term_ui(
        ui,
        "Angles",
        "Bending energy of dihedral angles; for cloth and thin skin",
        &mut setup.material.angles,
    );

    term_ui(
        ui,
        "Volume",
        "Volume energy; prevents inverted elements",
        &mut setup.material.volume,
    );

    ui.checkbox(&mut setup.material.interior, "Interior points")
        .on_hover_text("Fills closed shapes with interior points and springs");
    ChoiceField {
        name: "Solver",
        options: &[Solver::Fast, Solver::Tight, Solver::Newton],
        label: solver_label,
        hint: solver_hint,
    }
    .show(ui, &mut setup.solver);

    cage_ui(ui, &mut setup);
    change(cx, "Change material", setup);
}

fn change(cx: &mut Cx<'_>, label: &str, setup: Setup) {
    if setup != cx.document.blend {
        cx.edit_continuously(label, move |document| document.blend = setup);
    }
}

/// A term that counts, with its stiffness.
fn term_ui(ui: &mut Ui, name: &str, hint: &str, weight: &mut f64) {
    ui.horizontal(|ui| {
        let mut counts = *weight > 0.0;
        if ui.checkbox(&mut counts, name).on_hover_text(hint).changed() {
            // Zero switches a term off.
            *weight = if counts { 1.0 } else { 0.0 };
        }

        if counts {
            let field = DragValue::new(weight)
                .range(0.01..=1000.0)
                .speed(0.02)
                .prefix("× ");
            ui.add(field)
                .on_hover_text("Relative to the default stiffness");
        }
    });
}

fn cage_ui(ui: &mut Ui, setup: &mut Setup) {
    let text = match setup.cage {
        Cage::Auto => "For large meshes",
        Cage::Off => "Never",
        Cage::Vertices(_) => "Always",
    };
    list_ui(ui, "Cage", text, |ui| {
        let hint = format!(
            "For meshes with {} or more vertices",
            PhysicsCage::CAGE_THRESHOLD
        );
        ui.selectable_value(&mut setup.cage, Cage::Auto, "For large meshes")
            .on_hover_text(hint);
        ui.selectable_value(&mut setup.cage, Cage::Off, "Never")
            .on_hover_text("Solve for every vertex");

        // Choosing Always again keeps the number of vertices.
        let some = if matches!(setup.cage, Cage::Vertices(_)) {
            setup.cage
        } else {
            Cage::Vertices(1500)
        };

        ui.selectable_value(&mut setup.cage, some, "Always")
            .on_hover_text("Faster, with fewer creases");
    });
    if let Cage::Vertices(vertices) = &mut setup.cage {
        labelled_ui(ui, "Vertices", |ui| {
            ui.add(DragValue::new(vertices).range(4..=100_000).speed(10))
        })
        .on_hover_text("Number of solved vertices; the others follow");
    }
}

fn body_label(body: Body) -> &'static str {
    match body {
        Body::Solid => "Solid",
        Body::Shell => "Thin shell",
    }
}

fn body_hint(body: Body) -> &'static str {
    match body {
        Body::Solid => "Springs on the surface and through the interior",
        Body::Shell => "The surface only; combine with angles and volume",
    }
}

fn solver_label(solver: Solver) -> &'static str {
    match solver {
        Solver::Fast => "Fast",
        Solver::Tight => "Accurate",
        Solver::Newton => "Newton",
    }
}

fn solver_hint(solver: Solver) -> &'static str {
    match solver {
        Solver::Fast => "Residual tolerance of one thousandth",
        Solver::Tight => "Residual tolerance of one millionth",
        Solver::Newton => "Newton's method of Ma et al. 2012; slow",
    }
}
