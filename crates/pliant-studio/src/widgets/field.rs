//! Small fields of options panels: lists, sliders, accessible names.

use eframe::egui::{self, Align, ComboBox, Layout, Response, Slider, Ui, Widget, vec2};

/// The width of the labels on the left of fields, in points, so that fields stand in a column.
const LABEL_WIDTH: f32 = 96.0;

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
        list_ui(ui, self.name, (self.label)(*value), |ui| {
            for &option in self.options {
                let item = ui.selectable_value(value, option, (self.label)(option));
                let hint = (self.hint)(option);
                if !hint.is_empty() {
                    item.on_hover_text(hint);
                }
            }
        })
    }
}

/// A list with its label on the left.
pub(crate) fn list_ui(
    ui: &mut Ui,
    name: &str,
    selected: impl Into<egui::WidgetText>,
    entries: impl FnOnce(&mut Ui),
) -> Response {
    labelled_ui(ui, name, |ui| {
        ComboBox::from_id_salt(name)
            .selected_text(selected)
            .truncate()
            .width(ui.available_width())
            .show_ui(ui, entries)
            .response
    })
}

/// A field with its label on the left.
pub(crate) fn labelled_ui(
    ui: &mut Ui,
    name: &str,
    field: impl FnOnce(&mut Ui) -> Response,
) -> Response {
    ui.horizontal(|ui| {
        let width = LABEL_WIDTH.min(0.45 * ui.available_width());
        let size = vec2(width, ui.spacing().interact_size.y);
        let label = ui
            .allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(width);
                ui.add(egui::Label::new(name).truncate())
            })
            .inner;
        field(ui).labelled_by(label.id)
    })
    .inner
}

/// A slider with its label on the left.
pub(crate) struct LabelledSlider<'a> {
    slider: Slider<'a>,
    name: String,
}

/// Labels on the left of sliders.
pub(crate) trait LeftLabel<'a> {
    /// With a label on the left.
    fn left_label(self, name: impl Into<String>) -> LabelledSlider<'a>;
}

impl<'a> LeftLabel<'a> for Slider<'a> {
    fn left_label(self, name: impl Into<String>) -> LabelledSlider<'a> {
        LabelledSlider {
            slider: self,
            name: name.into(),
        }
    }
}

impl Widget for LabelledSlider<'_> {
    fn ui(self, ui: &mut Ui) -> Response {
        labelled_ui(ui, &self.name, |ui| {
            // The bar takes what the number leaves.
            let number = ui.spacing().interact_size.x + ui.spacing().item_spacing.x + 8.0;
            ui.spacing_mut().slider_width = (ui.available_width() - number).max(48.0);
            ui.add(self.slider)
        })
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
