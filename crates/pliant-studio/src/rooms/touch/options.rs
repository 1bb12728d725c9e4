//! The panel on the right: what skin is made of and how it is simulated.

use eframe::egui::{self, Ui};
use pliant::physics::SoftMaterial;

use super::Setup;
use super::material::Preset;
use super::setup::{Method, Shown, Simulation, leave_baked};
use crate::rooms::Cx;

/// All options of the document.
pub(super) fn options_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut setup = cx.document.touch.clone();
    shown_ui(ui, &mut setup.shown);
    ui.add_space(8.0);
    let has_material = setup.simulation.method == Method::Xpbd;
    ui.add_enabled_ui(has_material, |ui| material_ui(ui, &mut setup.material));
    if !has_material {
        ui.weak("The thesis' method has no material; choose Small steps (XPBD) below.");
    }
    ui.add_space(8.0);
    simulation_ui(ui, &mut setup);
    if setup != cx.document.touch {
        let label = label_of(&cx.document.touch, &setup);
        let simulated = label != SHOW;
        cx.edit_by_hand(label, move |document| {
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

/// A slider that changes a value only by hand: one of a foreign document beyond the range stays.
pub(super) fn slider<N: egui::emath::Numeric>(
    value: &mut N,
    range: std::ops::RangeInclusive<N>,
) -> egui::Slider<'_> {
    egui::Slider::new(value, range).clamping(egui::SliderClamping::Edits)
}

fn shown_ui(ui: &mut Ui, shown: &mut Shown) {
    egui::ComboBox::from_label("Colours")
        .selected_text(shown.label())
        .show_ui(ui, |ui| {
            for one in Shown::ALL {
                ui.selectable_value(shown, one, one.label())
                    .on_hover_text(one.hint());
            }
        });
}

fn material_ui(ui: &mut Ui, material: &mut SoftMaterial) {
    ui.strong("Material");
    let preset = Preset::of(material);
    egui::ComboBox::from_label("Preset")
        .selected_text(preset.map_or("Own", Preset::label))
        .show_ui(ui, |ui| {
            for one in Preset::ALL {
                if ui
                    .selectable_label(preset == Some(one), one.label())
                    .clicked()
                {
                    *material = one.material();
                }
            }
        });
    let slider = |value, range| slider(value, range).max_decimals(2);
    ui.add(
        slider(&mut material.frequency_hz, 1.0..=20.0)
            .logarithmic(true)
            .suffix(" Hz")
            .text("Stiffness"),
    )
    .on_hover_text("How often it swings in a second: jelly 2.5, a cheek 5, a forehead 10");
    ui.add(slider(&mut material.damping_ratio, 0.0..=1.5).text("Damping"))
        .on_hover_text("0 swings for ever, 1 comes back without overshoot");
    ui.collapsing("More about the material", |ui| {
        ui.add(slider(&mut material.volume, 0.0..=6.0).text("Bulge"))
            .on_hover_text("How firmly flesh keeps its volume");
        ui.add(slider(&mut material.depth, 0.02..=1.0).text("Depth"))
            .on_hover_text("How deep the flesh is, in radii of the patch");
        ui.add(slider(&mut material.spread, 0.0..=1.0).text("Spread"))
            .on_hover_text("How far a drag along the skin is felt, in radii");
        ui.add(slider(&mut material.roundness, 0.0..=0.6).text("Roundness"))
            .on_hover_text("How wide creases are, in radii");
        ui.add(slider(&mut material.shear, 0.0..=2.0).text("Shear"))
            .on_hover_text("How firmly triangles keep their form");
        ui.add(slider(&mut material.area, 0.0..=2.0).text("Area"))
            .on_hover_text("How firmly triangles keep their area");
        ui.add(slider(&mut material.strain_limit, 0.05..=2.0).text("Stretch limit"))
            .on_hover_text("0.1 is leather, 0.75 skin");
    });
}

fn simulation_ui(ui: &mut Ui, setup: &mut Setup) {
    let simulation = &mut setup.simulation;
    ui.strong("Simulation");
    egui::ComboBox::from_label("Method")
        .selected_text(simulation.method.label())
        .show_ui(ui, |ui| {
            for method in Method::ALL {
                ui.selectable_value(&mut simulation.method, method, method.label())
                    .on_hover_text(method.hint());
            }
        });
    ui.add(
        slider(&mut simulation.gravity, 0.0..=2000.0)
            .max_decimals(0)
            .text("Gravity"),
    )
    .on_hover_text(
        "Downwards, in units of the scene per second squared: 981 where a unit is a centimetre",
    );
    let xpbd = simulation.method == Method::Xpbd;
    ui.add_enabled(
        xpbd,
        slider(&mut simulation.inertia, 0.0..=2.0)
            .max_decimals(2)
            .text("Inertia"),
    )
    .on_hover_text("How much skin lags behind an animation that plays")
    .on_disabled_hover_text("Not in the thesis' method");
    ui.add_enabled(
        xpbd,
        egui::Checkbox::new(&mut simulation.self_contact, "Self-contact"),
    )
    .on_hover_text("Lips keep out of each other, and skin out of teeth and eyes")
    .on_disabled_hover_text("Not in the thesis' method");
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
        ui.add(slider(substeps, 1..=120).text("Substeps"))
            .on_hover_text("Fewer leave skin softer, more cost time");
    }
}

fn verlet_ui(ui: &mut Ui, simulation: &mut Simulation) {
    ui.add(
        slider(&mut simulation.verlet_damping, 0.0..=1.0)
            .max_decimals(2)
            .text("Velocity lost"),
    )
    .on_hover_text("The part of the velocity that is lost in each frame");
    ui.add(
        slider(&mut simulation.verlet_bend, 0.0..=1.0)
            .max_decimals(2)
            .text("Bending weakened"),
    );
    ui.add(slider(&mut simulation.verlet_iterations, 1..=30).text("Iterations"));
}
