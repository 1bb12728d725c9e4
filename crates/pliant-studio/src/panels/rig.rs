//! The sliders of the character.

use eframe::egui::{self, Ui};

use crate::rooms::Cx;

/// Sliders with their limits.
pub fn sliders_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let Some(posed) = cx.posed.cloned() else {
        ui.weak("No rig yet.");
        return;
    };
    for (target, slider) in posed.rig.targets().iter().zip(posed.rig.sliders()) {
        let name = &target.name;
        let mut weight = cx.document.character.weights.get(name).copied().unwrap_or(0.0);
        let range = slider.limits.min.max(-10.0)..=slider.limits.max.min(10.0);
        if ui.add(egui::Slider::new(&mut weight, range).text(name)).changed() {
            let name = name.clone();
            cx.edit_by_hand(format!("Set {name}"), move |document| document.character.set_weight(&name, weight));
        }
    }
}
