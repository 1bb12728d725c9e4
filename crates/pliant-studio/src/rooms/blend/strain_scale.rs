//! What the ends of the strain's colours stand for: a chosen number, or one that fits and stays
//! while a hand drags.

use eframe::egui::{ComboBox, Ui};

use super::balance::{Balanced, Side};

/// Ends of the colours in percent that are offered, and among which an automatic one is found.
const ENDS: [f32; 6] = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The scale of the strain's colours.
#[derive(Debug, Default)]
pub(super) struct StrainScale {
    /// The end that a person chose; automatic where there is none.
    chosen: Option<f32>,
    /// The automatic end.
    fitted: Option<f32>,
    /// Whether a button of the pointer is down: colours keep their meaning as long.
    held: bool,
}

impl StrainScale {
    /// The choice, and whether a hand drags now.
    pub(super) fn scale_ui(&mut self, ui: &mut Ui) {
        self.held = ui.input(|input| input.pointer.any_down());
        let text =
            |end: Option<f32>| end.map_or_else(|| "Auto".to_owned(), |end| format!("± {end} %"));
        let list = ComboBox::from_label("Strain scale")
            .selected_text(text(self.chosen))
            .show_ui(ui, |ui| {
                for end in std::iter::once(None).chain(ENDS.map(Some)) {
                    ui.selectable_value(&mut self.chosen, end, text(end));
                }
            });
        list.response.on_hover_text(
            "What the darkest red and blue stand for; Auto fits the shapes when you let go",
        );
    }

    /// Fits the automatic end to the greatest strain, unless a hand drags and there is one.
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
pub(super) fn most_strain(balanced: &Balanced) -> f32 {
    most(&balanced.linear).max(most(&balanced.physical))
}

fn most(side: &Side) -> f32 {
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
    fn an_automatic_end_is_the_least_that_holds_all() {
        assert_eq!(
            [0.0, 2.0, 2.1, 49.0, 300.0].map(fitting_end),
            [2.0, 2.0, 5.0, 50.0, 300.0]
        );
    }

    #[test]
    fn an_automatic_end_stays_while_a_hand_drags_and_fits_again_when_it_lets_go() {
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
    fn a_chosen_end_stays_whatever_fits() {
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
