//! The range of the strain colours: a chosen value, or an automatic one that is constant during a
//! drag.

use eframe::egui::Ui;

use crate::engine::blend::equilibrium::{BlendResult, BlendSide};
use crate::widgets::field::list_ui;

/// Ends of the colours in percent that are offered, and among which an automatic one is found.
const ENDS: [f32; 6] = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The scale of the strain's colours.
#[derive(Debug, Default)]
pub(super) struct StrainScale {
    /// The end that the user chose; automatic where there is none.
    chosen: Option<f32>,
    /// The automatic end.
    fitted: Option<f32>,
    /// Whether a button of the pointer is down: colours keep their meaning as long.
    held: bool,
}

impl StrainScale {
    /// The choice, and whether the user drags now.
    pub(super) fn scale_ui(&mut self, ui: &mut Ui) {
        self.held = ui.input(|input| input.pointer.any_down());
        let text =
            |end: Option<f32>| end.map_or_else(|| "Auto".to_owned(), |end| format!("± {end} %"));
        let list = list_ui(ui, "Strain scale", text(self.chosen), |ui| {
            for end in std::iter::once(None).chain(ENDS.map(Some)) {
                ui.selectable_value(&mut self.chosen, end, text(end));
            }
        });

        list.on_hover_text(
            "The strain of the darkest red and blue; Auto adapts when the mouse button is released",
        );
    }

    /// Fits the automatic end to the greatest strain, unless the user drags and there is one.
    pub(super) fn fit(&mut self, most: f32) {
        if !self.held || self.fitted.is_none() {
            self.fitted = Some(fitting_end(most));
        }
    }

    /// The range of the colours, the same for both pictures.
    #[must_use]
    pub(super) fn range(&self) -> [f32; 2] {
        let end = self.chosen.or(self.fitted).unwrap_or(ENDS[0]);
        [-end, end]
    }
}

/// The greatest strain of both sides, either way.
pub(super) fn most_strain(blend_result: &BlendResult) -> f32 {
    most(&blend_result.linear).max(most(&blend_result.physical))
}

fn most(side: &BlendSide) -> f32 {
    side.strains
        .iter()
        .fold(0.0, |most, strain| most.max(strain.abs()))
}

/// The least end that holds all strains, so that colours mean the same for a while; more than the
/// largest is its own end.
fn fitting_end(most: f32) -> f32 {
    ENDS.into_iter().find(|end| *end >= most).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_range_is_the_smallest_that_contains_all_strains() {
        assert_eq!(
            [0.0, 2.0, 2.1, 49.0, 300.0].map(fitting_end),
            [2.0, 2.0, 5.0, 50.0, 300.0]
        );
    }

    #[test]
    fn the_automatic_range_is_constant_during_a_drag() {
        let mut scale = StrainScale {
            held: true,
            ..StrainScale::default()
        };

        let mut end = |held, most| {
            scale.held = held;
            scale.fit(most);
            scale.range()[1]
        };

        assert_eq!(
            [
                end(true, 4.0),
                end(true, 30.0),
                end(true, 1.0),
                end(false, 30.0)
            ],
            [5.0, 5.0, 5.0, 50.0]
        );
    }

    #[test]
    fn a_chosen_range_does_not_change() {
        let scale = StrainScale {
            chosen: Some(20.0),
            fitted: Some(5.0),
            held: false,
        };

        assert_eq!(scale.range(), [-20.0, 20.0]);
        assert_eq!(
            StrainScale {
                chosen: None,
                ..scale
            }
            .range(),
            [-5.0, 5.0]
        );
    }
}
