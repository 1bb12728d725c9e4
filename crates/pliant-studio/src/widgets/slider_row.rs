//! One slider of a rig: a bar with its name, its value and its switches.

use eframe::egui::accesskit::{Action, ActionData};
use eframe::egui::load::SizedTexture;
use eframe::egui::{
    Align, Color32, Context, CursorIcon, DragValue, Image, Layout, Popup, PopupCloseBehavior, Rect,
    Response, Sense, Stroke, TextStyle, TextWrapMode, Ui, UiBuilder, WidgetInfo, WidgetText, pos2,
    vec2,
};

use super::icon::{Icon, SMALL, icon_button};
use super::{drag_color, key_color};

/// The height of a row.
pub(crate) const ROW: f32 = 21.0;
/// The width of the number.
const NUMBER: f32 = 44.0;
/// How much slower a slider is with Shift held.
const FINE: f64 = 0.1;
/// The furthest limit that can be typed.
const FURTHEST: f64 = 1e9;
/// One press of an arrow key, as a part of the slider's range.
const STEP: f64 = 0.05;

/// A slider as it is shown.
#[derive(Debug)]
pub(crate) struct SliderRow<'a> {
    pub(crate) name: &'a str,
    pub(crate) weight: f64,
    pub(crate) limits: [f64; 2],
    pub(crate) limits_are_own: bool,
    pub(crate) locked: bool,
    pub(crate) muted: bool,
    pub(crate) solo: bool,
    pub(crate) inactive: bool,
    pub(crate) has_partner: bool,
    pub(crate) keyed: KeyState,
    /// Its share of the last drag.
    pub(crate) share: Option<f64>,
    /// Whether it is listed before all others.
    pub(crate) favourite: bool,
    /// The weights of its in-betweens.
    pub(crate) in_betweens: &'a [f64],
}

/// A picture of what a slider does, for the tooltip.
pub(crate) type SliderPicture<'p> = dyn FnMut(&Context) -> Option<SizedTexture> + 'p;

/// Whether a slider has keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyState {
    No,
    Elsewhere,
    Here,
}

/// An action of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RowAction {
    /// A weight; whether it is dragged, or set at once.
    Set(f64),
    Reset,
    Lock,
    Mute,
    Solo,
    Key,
    Mirror,
    /// Listed before all others, or in its group again.
    Favourite,
    /// Limits of its own, or the rig's again.
    Limit(Option<[f64; 2]>),
}

/// The row; returns the input on it. `picture` is asked only while the pointer rests on the bar.
pub(crate) fn slider_row_ui(
    ui: &mut Ui,
    row: &SliderRow<'_>,
    picture: &mut SliderPicture<'_>,
) -> Option<RowAction> {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    share_ui(ui, rect, row);
    let builder = UiBuilder::new()
        .id_salt(row.name)
        .max_rect(rect)
        .layout(Layout::right_to_left(Align::Center));

    let mut act = None;
    ui.scope_builder(builder, |ui| {
        ui.spacing_mut().item_spacing.x = 1.0;
        // The number is as high as the bar beside it, and as quiet.
        ui.spacing_mut().interact_size.y = ROW - 4.0;
        ui.spacing_mut().button_padding.y = 0.0;
        ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::NONE;
        act = switches_ui(ui, row);
        act = act.or(number_ui(ui, row));
        ui.add_space(3.0);

        let bar = ui.available_rect_before_wrap().shrink2(vec2(0.0, 2.0));
        act = act.or(bar_ui(ui, bar, row, picture));
    });
    act
}

/// The share of the last drag, as a tint of the row.
fn share_ui(ui: &Ui, rect: Rect, row: &SliderRow<'_>) {
    if let Some(share) = row.share {
        let mut highlighted = rect.expand2(vec2(3.0, 0.0));
        ui.painter()
            .rect_filled(highlighted, 3.0, drag_color(ui).gamma_multiply(0.10));
        highlighted.set_width(highlighted.width() * share.abs().min(1.0) as f32);
        ui.painter()
            .rect_filled(highlighted, 3.0, drag_color(ui).gamma_multiply(0.22));
    }
}

fn switches_ui(ui: &mut Ui, row: &SliderRow<'_>) -> Option<RowAction> {
    let warning = ui.visuals().warn_fg_color;
    let accent = ui.visuals().hyperlink_color;
    // A filled diamond is a key at the shown frame, a lit outline one elsewhere.
    let diamond = Icon::Diamond {
        filled: row.keyed == KeyState::Here,
    };
    let key_lit = (row.keyed != KeyState::No).then(|| key_color(ui));
    let lock = if row.locked {
        Icon::Lock
    } else {
        Icon::OpenLock
    };

    let solo_tip = "Solo: all other sliders are evaluated as zero";
    let solo_lit = row.solo.then_some(accent);
    let mute_lit = row.muted.then_some(warning);
    let lock_lit = row.locked.then_some(accent);
    let switches = [
        (
            diamond,
            "Key",
            "Set a key at this frame",
            key_lit,
            RowAction::Key,
        ),
        (
            Icon::Letter("S"),
            "Solo",
            solo_tip,
            solo_lit,
            RowAction::Solo,
        ),
        (
            Icon::Letter("M"),
            "Mute",
            "Mute: evaluated as zero",
            mute_lit,
            RowAction::Mute,
        ),
        (
            lock,
            "Lock",
            "Lock: solvers do not change it",
            lock_lit,
            RowAction::Lock,
        ),
    ];

    let mut act = None;
    for (icon, verb, tip, highlighted, wanted) in switches {
        let label = format!("{verb} {}", row.name);
        let button = icon_button(ui, icon, &label, SMALL, highlighted);
        if button.on_hover_text(tip).clicked() {
            act = Some(wanted);
        }
    }
    act
}

fn number_ui(ui: &mut Ui, row: &SliderRow<'_>) -> Option<RowAction> {
    let mut weight = row.weight;
    let number = DragValue::new(&mut weight)
        .speed(0.005 * span(row))
        .range(row.limits[0]..=row.limits[1])
        .clamp_existing_to_range(false);

    let response = ui.add_sized(
        vec2(NUMBER, ROW - 4.0),
        number.fixed_decimals(2).update_while_editing(false),
    );
    let changed = response.changed();

    response.accessible_name(format!("{} number", row.name));
    changed.then_some(RowAction::Set(weight))
}

/// The range of a slider.
fn span(row: &SliderRow<'_>) -> f64 {
    let [min, max] = shown_range(row);
    (max - min).max(f64::EPSILON)
}

/// What the bar shows: sliders without limits show −1 to 1 and go on beyond.
fn shown_range(row: &SliderRow<'_>) -> [f64; 2] {
    let [min, max] = row.limits;
    match (min.is_finite(), max.is_finite()) {
        (true, true) => [min, max.max(min)],
        (true, false) => [min, (min + 1.0).max(1.0)],
        (false, true) => [(max - 1.0).min(-1.0), max],
        (false, false) => [-1.0, 1.0],
    }
}

fn bar_ui(
    ui: &mut Ui,
    rect: Rect,
    row: &SliderRow<'_>,
    picture: &mut SliderPicture<'_>,
) -> Option<RowAction> {
    let response = ui.interact(rect, ui.scope_id().with("bar"), Sense::click_and_drag());
    let [min, max] = row.limits;
    response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), row.weight, row.name));
    // Screen readers can read the limits and change the weight.
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_min_numeric_value(min);
        node.set_max_numeric_value(max);
        for action in [Action::SetValue, Action::Increment, Action::Decrement] {
            node.add_action(action);
        }
    });

    if ui.is_rect_visible(rect) {
        paint_bar(ui, rect, row, response.hovered() || response.dragged());
    }

    let menu = menu_ui(&response, row);
    let response = response
        .on_hover_cursor(CursorIcon::ResizeHorizontal)
        .on_hover_ui(|ui| {
            if let Some(texture) = picture(ui.ctx()) {
                ui.add(Image::new(texture).corner_radius(4));
            }
            ui.label(hint(row));
        });
    if response.double_clicked()
        || (response.clicked() && ui.input(|input| input.modifiers.command))
    {
        // Both gestures are usual in animation programs.
        return Some(RowAction::Reset);
    }

    menu.or_else(|| {
        wanted_weight(ui, &response, row).map(|weight| RowAction::Set(weight.max(min).min(max)))
    })
}

fn hint(row: &SliderRow<'_>) -> String {
    let [min, max] = row.limits;
    let share = row
        .share
        .map(|share| format!("\n{:.0} % of the last drag", 100.0 * share))
        .unwrap_or_default();
    let between = match row.in_betweens {
        [] => String::new(),
        weights => {
            let weights: Vec<String> = weights.iter().map(|weight| format!("{weight}")).collect();
            format!("\nIn-between shapes at {}", weights.join(", "))
        }
    };
    format!(
        "{} from {min} to {max}{between}\nDrag to change; hold Shift for small steps. Double click to reset. Right click for more.{share}",
        row.name
    )
}

/// The weight that a drag, an arrow key or a screen reader requests.
fn wanted_weight(ui: &Ui, response: &Response, row: &SliderRow<'_>) -> Option<f64> {
    if !ui.is_enabled() {
        return None;
    }

    if response.dragged() && response.drag_delta().x != 0.0 {
        let speed = if ui.input(|input| input.modifiers.shift) {
            FINE
        } else {
            1.0
        };
        return Some(
            row.weight
                + speed * span(row) * f64::from(response.drag_delta().x / response.rect.width()),
        );
    }

    // Requests of a screen reader.
    ui.input(|input| {
        let set = input
            .accesskit_action_requests(response.id, Action::SetValue)
            .filter_map(|request| match request.data {
                Some(ActionData::NumericValue(value)) => Some(value),
                _ => None,
            });

        let count = |action| input.num_accesskit_action_requests(response.id, action) as f64;
        let steps = count(Action::Increment) - count(Action::Decrement);
        set.last()
            .or_else(|| (steps != 0.0).then(|| row.weight + STEP * steps * span(row)))
    })
}

fn paint_bar(ui: &Ui, rect: Rect, row: &SliderRow<'_>, hot: bool) {
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let visuals = ui.visuals();
    let [min, max] = shown_range(row);
    let x = |weight: f64| {
        rect.left() + rect.width() * ((weight.max(min).min(max) - min) / span(row)) as f32
    };

    painter.rect_filled(
        rect,
        3.0,
        visuals
            .extreme_bg_color
            .gamma_multiply(if row.share.is_some() { 0.6 } else { 1.0 }),
    );

    let fill = if row.inactive {
        visuals.weak_text_color().gamma_multiply(0.25)
    } else {
        crate::widgets::theme::CALM.gamma_multiply(0.5)
    };
    // The bar starts at zero, which need not be at the left end.
    let zero = x(0.0);
    let at = x(row.weight);

    painter.rect_filled(
        Rect::from_x_y_ranges(zero.min(at)..=zero.max(at), rect.y_range()),
        3.0,
        fill.gamma_multiply(if hot { 1.0 } else { 0.8 }),
    );

    // The shapes on the way to the end of the slider; at rest they would be in the way of names.
    let shown = if hot { row.in_betweens } else { &[] };
    for &weight in shown {
        if weight > min && weight < max {
            let reached = weight.abs() <= row.weight.abs() && weight * row.weight > 0.0;
            let color = if reached {
                visuals.text_color()
            } else {
                visuals.weak_text_color()
            };
            let bottom = rect.bottom() - 5.0..=rect.bottom();
            painter.vline(x(weight), bottom, Stroke::new(1.5, color));
        }
    }

    paint_bar_text(ui, &painter, rect, row);
}

/// The name and the share on a bar, and a mark where a limit stops the slider.
fn paint_bar_text(ui: &Ui, painter: &eframe::egui::Painter, rect: Rect, row: &SliderRow<'_>) {
    let visuals = ui.visuals();
    // Zero is often a limit, and is not worth a mark.
    let held = row.weight != 0.0 && (row.weight <= row.limits[0] || row.weight >= row.limits[1]);
    if held {
        let at = if row.weight >= row.limits[1] {
            rect.right() - 1.5
        } else {
            rect.left() + 1.5
        };
        painter.vline(at, rect.y_range(), Stroke::new(3.0, visuals.warn_fg_color));
    }

    let color = if row.inactive {
        visuals.weak_text_color()
    } else {
        visuals.text_color()
    };

    let mut right = rect.right() - if held { 8.0 } else { 5.0 };
    if let Some(share) = row.share {
        right -= text(
            ui,
            painter,
            format!("{:.0} %", 100.0 * share),
            rect,
            right,
            true,
            drag_color(ui),
        ) + 4.0;
    }

    text(ui, painter, row.name.to_owned(), rect, right, false, color);
}

/// One line, ending at `right` or beginning at the left and cut there; says how wide it is.
fn text(
    ui: &Ui,
    painter: &eframe::egui::Painter,
    text: String,
    rect: Rect,
    right: f32,
    at_right: bool,
    color: Color32,
) -> f32 {
    let left = rect.left() + 6.0;
    let galley = WidgetText::from(text).into_galley(
        ui,
        Some(TextWrapMode::Truncate),
        (right - left).max(8.0),
        TextStyle::Small.resolve(ui.style()),
    );

    let width = galley.size().x;
    let height = galley.size().y;
    let x = if at_right { right - width } else { left };
    painter.galley(pos2(x, rect.center().y - 0.5 * height), galley, color);
    width
}

fn menu_ui(response: &Response, row: &SliderRow<'_>) -> Option<RowAction> {
    let mut act = None;
    Popup::context_menu(response)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.strong(row.name);
            // Choosing an entry closes the menu; the limits below stay open while they are edited.
            let mut item = |ui: &mut Ui, label: &str, enabled: bool, wanted| {
                if ui
                    .add_enabled(enabled, eframe::egui::Button::new(label))
                    .clicked()
                {
                    act = Some(wanted);
                    ui.close();
                }
            };

            item(ui, "Reset", row.weight != 0.0, RowAction::Reset);
            item(
                ui,
                "Copy to the other side",
                row.has_partner,
                RowAction::Mirror,
            );

            item(ui, "Set key", true, RowAction::Key);
            let favourite = if row.favourite {
                "Remove from favourites"
            } else {
                "Add to favourites"
            };
            item(ui, favourite, true, RowAction::Favourite);
            ui.separator();
            item(
                ui,
                "Use the limits of the rig",
                row.limits_are_own,
                RowAction::Limit(None),
            );

            act = act.or(limits_ui(ui, row));
        });
    act
}

fn limits_ui(ui: &mut Ui, row: &SliderRow<'_>) -> Option<RowAction> {
    let [mut min, mut max] = shown_range(row);
    let mut changed = false;
    ui.horizontal(|ui| {
        ui.label("Limits");
        let mut field = |ui: &mut Ui, value: &mut f64, range, what: &str| {
            let response = ui.add(
                DragValue::new(value)
                    .speed(0.01)
                    .range(range)
                    .max_decimals(3),
            );
            changed |= response.changed();
            response.accessible_name(format!("{what} of {}", row.name));
        };

        field(ui, &mut min, -FURTHEST..=max, "Lower limit");
        field(ui, &mut max, min..=FURTHEST, "Upper limit");
    });

    changed.then_some(RowAction::Limit(Some([min, max])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(limits: [f64; 2]) -> SliderRow<'static> {
        let name = "smile";
        let weight = 0.5;
        let share = None;
        let [
            limits_are_own,
            locked,
            muted,
            solo,
            inactive,
            has_partner,
            favourite,
        ] = [false; 7];
        SliderRow {
            name,
            weight,
            limits,
            limits_are_own,
            locked,
            muted,
            solo,
            inactive,
            has_partner,
            keyed: KeyState::No,
            share,
            favourite,
            in_betweens: &[],
        }
    }

    #[test]
    fn a_bar_maps_its_limits_from_left_to_right() {
        let inf = f64::INFINITY;
        let nan = f64::NAN;
        assert_eq!(shown_range(&row([0.0, 2.0])), [0.0, 2.0]);
        assert_eq!(shown_range(&row([-inf, inf])), [-1.0, 1.0]);

        for limits in [
            [1.0, 0.0],
            [5.0, inf],
            [-inf, -5.0],
            [inf, -inf],
            [nan, nan],
            [3.0, nan],
        ] {
            let [low, high] = shown_range(&row(limits));
            assert!(
                low.is_finite() && high.is_finite() && low <= high,
                "{limits:?} is shown as {low} to {high}"
            );
        }
    }
}
