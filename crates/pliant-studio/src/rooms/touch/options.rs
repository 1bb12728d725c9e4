//! Material and simulation settings of the skin.

use eframe::egui::{self, Ui};
use pliant::physics::SoftMaterial;

use crate::engine::context::Cx;
use crate::model::touch::{Method, Preset, Setup, Simulation, SkinColoring, leave_baked};
use crate::widgets::field::{ChoiceField, LeftLabel as _, list_ui, slider};

/// All options of the document.
pub(super) fn options_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut setup = cx.document.touch.clone();
    shown_ui(ui, &mut setup.shown);
    ui.add_space(8.0);

    let has_material = setup.simulation.method == Method::Xpbd;
    ui.add_enabled_ui(has_material, |ui| material_ui(ui, &mut setup.material));
    if !has_material {
        ui.weak("The Verlet method has no material; choose XPBD below.");
    }

    ui.add_space(8.0);
    simulation_ui(ui, &mut setup);
    if setup != cx.document.touch {
        let label = label_of(&cx.document.touch, &setup);
        // Other colours do not change the skin, so a baked take keeps playing.
        let simulated = label != SHOW;
        cx.edit_continuously(label, move |document| {
            if simulated {
                leave_baked(document);
            }
            document.touch = setup;
        });
    }
}

const SHOW: &str = "Choose colours";

fn label_of(before: &Setup, after: &Setup) -> &'static str {
    match (
        before.shown == after.shown,
        before.material == after.material,
    ) {
        (false, _) => SHOW,
        (true, false) => "Set material",
        (true, true) => "Set simulation",
    }
}

fn shown_ui(ui: &mut Ui, shown: &mut SkinColoring) {
    ChoiceField {
        name: "Colours",
        options: &SkinColoring::ALL,
        label: SkinColoring::label,
        hint: SkinColoring::hint,
    }
    .show(ui, shown);
}

fn material_ui(ui: &mut Ui, material: &mut SoftMaterial) {
    ui.strong("Material");
    preset_ui(ui, material);

    let slider = |value, range| slider(value, range).max_decimals(2);
    ui.add(
        slider(&mut material.frequency_hz, 1.0..=20.0)
            .logarithmic(true)
            .suffix(" Hz")
            .left_label("Stiffness"),
    )
    .on_hover_text("Natural frequency: jelly 2.5, cheek 5, forehead 10");
    ui.add(slider(&mut material.damping_ratio, 0.0..=1.5).left_label("Damping"))
        .on_hover_text("Damping ratio: 0 is undamped, 1 is critically damped");

    ui.collapsing("More about the material", |ui| {
        more_material_ui(ui, material);
    });
}

fn preset_ui(ui: &mut Ui, material: &mut SoftMaterial) {
    let preset = Preset::of(material);
    list_ui(ui, "Preset", preset.map_or("Custom", Preset::label), |ui| {
        for one in Preset::ALL {
            if ui
                .selectable_label(preset == Some(one), one.label())
                .clicked()
            {
                *material = one.material();
            }
        }
    });
}

/// Rarely used properties of the skin.
fn more_material_ui(ui: &mut Ui, material: &mut SoftMaterial) {
    let slider = |value, range| slider(value, range).max_decimals(2);
    ui.add(slider(&mut material.volume, 0.0..=6.0).left_label("Bulge"))
        .on_hover_text("Stiffness of the volume");
    ui.add(slider(&mut material.depth, 0.02..=1.0).left_label("Thickness"))
        .on_hover_text("Depth of the soft layer, relative to the patch radius");
    ui.add(slider(&mut material.spread, 0.0..=1.0).left_label("Spread"))
        .on_hover_text("Reach of a tangential drag, relative to the patch radius");
    ui.add(slider(&mut material.roundness, 0.0..=0.6).left_label("Roundness"))
        .on_hover_text("Width of creases, relative to the patch radius");
    ui.add(slider(&mut material.shear, 0.0..=2.0).left_label("Shear"))
        .on_hover_text("Resistance of triangles to shear");

    ui.add(slider(&mut material.area, 0.0..=2.0).left_label("Area"))
        .on_hover_text("Resistance of triangles to a change of area");
    ui.add(slider(&mut material.strain_limit, 0.05..=2.0).left_label("Stretch limit"))
        .on_hover_text("Largest strain: leather 0.1, skin 0.75");
}

fn simulation_ui(ui: &mut Ui, setup: &mut Setup) {
    let simulation = &mut setup.simulation;
    ui.strong("Simulation");
    ChoiceField {
        name: "Method",
        options: &Method::ALL,
        label: Method::label,
        hint: Method::hint,
    }
    .show(ui, &mut simulation.method);

    ui.add(
        slider(&mut simulation.gravity, 0.0..=2000.0)
            .max_decimals(0)
            .left_label("Gravity"),
    )
    .on_hover_text(
        "Downward acceleration in asset units per second squared: 981 if a unit is a centimetre",
    );

    // Options of the other method stay visible, but disabled.
    let xpbd = simulation.method == Method::Xpbd;
    ui.add_enabled(
        xpbd,
        slider(&mut simulation.inertia, 0.0..=2.0)
            .max_decimals(2)
            .left_label("Inertia"),
    )
    .on_hover_text("How much the skin lags behind the animation")
    .on_disabled_hover_text("The Verlet method does not support this");

    ui.add_enabled(
        xpbd,
        egui::Checkbox::new(&mut simulation.self_contact, "Self-contact"),
    )
    .on_hover_text("Prevents the skin from penetrating itself, teeth and eyes")
    .on_disabled_hover_text("The Verlet method does not support this");

    ui.collapsing("More about the simulation", |ui| match simulation.method {
        Method::Xpbd => substeps_ui(ui, simulation),
        Method::Verlet => verlet_ui(ui, simulation),
    });
}

fn substeps_ui(ui: &mut Ui, simulation: &mut Simulation) {
    let mut automatic = simulation.substeps.is_none();
    if ui
        .checkbox(&mut automatic, "Automatic substeps")
        .on_hover_text("As many as the material needs")
        .changed()
    {
        simulation.substeps = (!automatic).then_some(20);
    }

    if let Some(substeps) = &mut simulation.substeps {
        ui.add(slider(substeps, 1..=120).left_label("Substeps"))
            .on_hover_text("Fewer substeps are faster and make the skin softer");
    }
}

fn verlet_ui(ui: &mut Ui, simulation: &mut Simulation) {
    ui.add(
        slider(&mut simulation.verlet_damping, 0.0..=1.0)
            .max_decimals(2)
            .left_label("Velocity damping"),
    )
    .on_hover_text("Fraction of the velocity that is lost in each frame");

    ui.add(
        slider(&mut simulation.verlet_bend, 0.0..=1.0)
            .max_decimals(2)
            .left_label("Bend stiffness"),
    );
    ui.add(slider(&mut simulation.verlet_iterations, 1..=30).left_label("Iterations"));
}
