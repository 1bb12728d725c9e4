//! Small fields of options panels: lists, sliders, accessible names.

use eframe::egui::{self, ComboBox, Response, Ui};

/// A list from which one value is chosen.
pub(crate) struct ChoiceField<'a, T: 'static> {
    /// The label beside the list.
    pub(crate) name: &'a str,
    /// The values, in order.
    pub(crate) options: &'a [T],
    /// The text of a value.
    pub(crate) label: fn(T) -> &'static str,
    /// The tooltip of a value; empty for none.
    pub(crate) hint: fn(T) -> &'static str,
}

impl<T: Copy + PartialEq> ChoiceField<'_, T> {
    /// Shows the list.
    pub(crate) fn show(&self, ui: &mut Ui, value: &mut T) -> Response {
        let list = ComboBox::from_label(self.name)
            .selected_text((self.label)(*value))
            .show_ui(ui, |ui| {
                for &option in self.options {
                    let item = ui.selectable_value(value, option, (self.label)(option));
                    let hint = (self.hint)(option);
                    if !hint.is_empty() {
                        item.on_hover_text(hint);
                    }
                }
            });
        list.response
    }
}

/// The tooltip of values without one.
pub(crate) fn no_hint<T>(_: T) -> &'static str {
    ""
}

/// A slider that clamps only edits: a value of the document beyond the range stays.
pub(crate) fn slider<N: egui::emath::Numeric>(
    value: &mut N,
    range: std::ops::RangeInclusive<N>,
) -> egui::Slider<'_> {
    egui::Slider::new(value, range).clamping(egui::SliderClamping::Edits)
}

/// Gives a field a name for screen readers.
pub(crate) fn named(field: Response, name: &str) -> Response {
    field
        .ctx
        .accesskit_node_builder(field.id, |node| node.set_label(name));
    field
}
