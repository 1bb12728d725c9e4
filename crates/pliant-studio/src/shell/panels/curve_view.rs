//! The curve editor: weights over frames, with keys that move in both directions.

use std::collections::BTreeSet;

use eframe::egui::{
    Align2, Color32, CursorIcon, PointerButton, Pos2, Rangef, Rect, Role, Sense, Shape, Stroke,
    TextStyle, Ui, WidgetInfo, ecolor::Hsva, pos2, vec2,
};

use super::key_sheet::{
    KeyDrag, REACH, drag_at, hint_ui, is_apart, limits_of, move_keys, now_line, pick, release,
};
use super::timeline::Panel;
use super::transport::id;
use crate::engine::context::Cx;
use crate::model::timeline::{Key, KeyAt, Picked, key_at, picked_frames, weight_at};
use crate::widgets::icon::diamond;
use crate::widgets::time_axis::TimeAxis;

/// The height that curves need.
const OPEN_HEIGHT: f32 = 140.0;

/// The most lines of equal weight.
const MOST_LINES: f64 = 40.0;

/// The curves of the chosen sliders, or of all that have keys. Returns how high they must be.
pub(crate) fn curves_ui(
    ui: &mut Ui,
    axis: TimeAxis,
    hint: &str,
    panel: &mut Panel,
    cx: &mut Cx<'_>,
) -> f32 {
    let keys = &cx.document.timeline.keys;
    // Without a selection all curves are shown.
    let chosen = |name: &&String| panel.sliders.is_empty() || panel.sliders.contains(*name);
    let names: Vec<&String> = keys.keys().filter(chosen).collect();
    let height = ui.available_height().max(OPEN_HEIGHT);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let plot = Plot {
        axis,
        area: Rect::from_x_y_ranges(Rangef::new(axis.x.min - 10.0, rect.right()), rect.y_range()),
        weights: fitted(&names, cx),
    };

    let response = ui.interact(plot.area, id("curves"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Group, true, "Curves over time"));
    ui.painter()
        .rect_filled(plot.area, 0.0, ui.visuals().extreme_bg_color);
    plot.grid_ui(ui);
    legend_ui(ui, rect, &names, panel);

    let highlighted = picked_frames(&panel.picked);
    for (k, name) in names.iter().enumerate() {
        plot.curve_ui(
            ui,
            name,
            &keys[*name],
            color(k, ui),
            highlighted.get(name.as_str()),
            cx,
        );
    }

    now_line(ui, ui.painter(), rect, axis, cx.clock.frame);
    if names.is_empty() {
        hint_ui(ui, plot.area, hint);
    }

    plot.drag_ui(ui, &response, &names, panel, cx);
    OPEN_HEIGHT
}

/// The fill and the outline of a key; selected keys are inverted.
fn key_colors(ui: &Ui, color: Color32, highlighted: bool) -> (Color32, Stroke) {
    if highlighted {
        (ui.visuals().strong_text_color(), Stroke::new(2.0, color))
    } else {
        let outline = Stroke::new(1.0, ui.visuals().extreme_bg_color);
        (color, outline)
    }
}

/// Colours far apart, the same for the same place in the list.
fn color(k: usize, ui: &Ui) -> Color32 {
    let hue = (0.09 + 0.618_034 * k as f32).fract();
    if ui.visuals().dark_mode {
        Hsva::new(hue, 0.55, 0.95, 1.0).into()
    } else {
        Hsva::new(hue, 0.85, 0.65, 1.0).into()
    }
}

/// The weights from which to which all keys are in sight, and 0 and 1 at least.
fn fitted(names: &[&String], cx: &Cx<'_>) -> [f64; 2] {
    let weights = names
        .iter()
        .flat_map(|name| &cx.document.timeline.keys[*name])
        .map(|key| key.weight);
    let [min, max] = weights.fold([0.0_f64, 1.0_f64], |[min, max], w| [min.min(w), max.max(w)]);
    let room = 0.08 * (max - min);
    [min - room, max + room]
}

/// How far apart lines of equal weight are: a quarter, or that times a power of ten where there
/// would be too many.
fn grid_step([low, high]: [f64; 2]) -> f64 {
    let quarters = (high - low).min(f64::MAX) / (0.25 * MOST_LINES);
    0.25 * 10_f64.powf(quarters.log10().ceil().max(0.0))
}

/// Frames and weights on the screen.
struct Plot {
    axis: TimeAxis,
    area: Rect,
    weights: [f64; 2],
}

impl Plot {
    fn y_of(&self, weight: f64) -> f32 {
        let [low, high] = self.weights;
        self.area.bottom() - self.area.height() * ((weight - low) / (high - low)) as f32
    }

    fn weight_at(&self, y: f32) -> f64 {
        let [low, high] = self.weights;
        low + (high - low) * f64::from((self.area.bottom() - y) / self.area.height())
    }

    fn place(&self, key: &Key) -> Pos2 {
        pos2(self.axis.x_of(f64::from(key.frame)), self.y_of(key.weight))
    }

    fn grid_ui(&self, ui: &Ui) {
        let weak = ui.visuals().weak_text_color();
        let painter = ui.painter().with_clip_rect(self.area);
        let step = grid_step(self.weights);

        for line in (self.weights[0] / step).ceil() as i64..=(self.weights[1] / step).floor() as i64
        {
            let weight = line as f64 * step;
            // Every fourth line is stronger: with quarters, the whole weights.
            let whole = line % 4 == 0;
            let y = self.y_of(weight);
            painter.hline(
                self.area.x_range(),
                y,
                Stroke::new(1.0, weak.gamma_multiply(if whole { 0.5 } else { 0.18 })),
            );

            if line % 2 == 0 {
                painter.text(
                    pos2(self.area.right() - 3.0, y - 1.0),
                    Align2::RIGHT_BOTTOM,
                    weight,
                    TextStyle::Small.resolve(ui.style()),
                    weak,
                );
            }
        }

        for frame in (0..=self.axis.last as u32).step_by(self.axis.step(44.0) as usize) {
            painter.vline(
                self.axis.x_of(f64::from(frame)),
                self.area.y_range(),
                Stroke::new(1.0, weak.gamma_multiply(0.18)),
            );
        }
    }

    fn curve_ui(
        &self,
        ui: &Ui,
        name: &str,
        keys: &[Key],
        color: Color32,
        lit_frames: Option<&BTreeSet<u32>>,
        cx: &Cx<'_>,
    ) {
        let painter = ui.painter().with_clip_rect(self.area);
        for limit in limits_of(name, cx) {
            // A slider without limits has infinite ones.
            if limit.is_finite() {
                let y = self.y_of(limit);
                let ends = [pos2(self.area.left(), y), pos2(self.area.right(), y)];
                let line = Stroke::new(1.0, color.gamma_multiply(0.3));
                painter.add(Shape::dashed_line(&ends, line, 4.0, 5.0));
            }
        }

        // A sample every second point of the screen looks smooth.
        let points = (self.area.left() as i32..=self.area.right() as i32)
            .step_by(2)
            .map(|x| x as f32);
        let curve: Vec<Pos2> = points
            .map(|x| pos2(x, self.y_of(weight_at(keys, self.axis.frame_at(x)))))
            .collect();

        painter.add(Shape::line(curve, Stroke::new(1.8, color)));
        let mut last = None;
        for key in keys {
            let at = self.place(key);
            let highlighted = lit_frames.is_some_and(|frames| frames.contains(&key.frame));
            if is_apart(&mut last, at) || highlighted {
                let (fill, outline) = key_colors(ui, color, highlighted);
                painter.add(diamond(at, 4.5, fill, outline));
            }
        }
    }

    fn keys_where(&self, names: &[&String], inside: impl Fn(Pos2) -> bool, cx: &Cx<'_>) -> Picked {
        let of = |name: &&String| {
            let keys = cx.document.timeline.keys[*name]
                .iter()
                .filter(|key| inside(self.place(key)));
            keys.map(|key| KeyAt {
                slider: (*name).clone(),
                frame: key.frame,
            })
            .collect::<Vec<_>>()
        };
        names.iter().flat_map(of).collect()
    }

    /// The key nearest to a place, if it is in reach.
    fn key_at(&self, place: Pos2, names: &[&String], cx: &Cx<'_>) -> Picked {
        let near = self.keys_where(names, |at| at.distance(place) <= REACH, cx);
        let far = |at: &KeyAt| {
            let key = key_at(&cx.document.timeline.keys[&at.slider], at.frame);
            key.map_or(f32::MAX, |key| self.place(key).distance(place))
        };
        near.into_iter()
            .min_by(|a, b| far(a).total_cmp(&far(b)))
            .into_iter()
            .collect()
    }

    /// Selects and moves keys.
    fn drag_ui(
        &self,
        ui: &Ui,
        response: &eframe::egui::Response,
        names: &[&String],
        panel: &mut Panel,
        cx: &mut Cx<'_>,
    ) {
        let adding = ui.input(|input| input.modifiers.shift);
        if response
            .hover_pos()
            .is_some_and(|place| !self.key_at(place, names, cx).is_empty())
        {
            ui.ctx().set_cursor_icon(CursorIcon::Move);
        }

        if let Some(place) = response
            .interact_pointer_pos()
            .filter(|_| response.clicked())
        {
            panel.picked = pick(&panel.picked, self.key_at(place, names, cx), adding);
        }

        if let Some(from) = ui
            .input(|input| input.pointer.press_origin())
            .filter(|_| response.drag_started_by(PointerButton::Primary))
        {
            panel.drag = Some(drag_at(
                from,
                self.key_at(from, names, cx),
                &mut panel.picked,
                adding,
                cx,
            ));
        }

        let Some(pointer) = ui.input(|input| input.pointer.interact_pos()) else {
            return;
        };

        // A drag moves the selected keys, or selects those inside a box.
        match panel.drag.clone() {
            Some(KeyDrag::Keys { from, keys, picked }) => {
                let frames = self.axis.frame_at(pointer.x) - self.axis.frame_at(from.x);
                move_keys(
                    keys,
                    &picked,
                    frames.round() as i64,
                    self.weight_at(pointer.y) - self.weight_at(from.y),
                    panel,
                    cx,
                );
            }
            Some(KeyDrag::Box { from, picked }) => {
                let area = Rect::from_two_pos(from, pointer);
                panel.picked = pick(
                    &picked,
                    self.keys_where(names, |at| area.contains(at), cx),
                    adding,
                );

                let accent = ui.visuals().hyperlink_color;
                ui.painter()
                    .rect_filled(area, 0.0, accent.gamma_multiply(0.15));
            }
            None => {}
        }

        release(response, panel);
    }
}

/// The names of the curves; a click shows one alone, or all again.
fn legend_ui(ui: &mut Ui, rect: Rect, names: &[&String], panel: &mut Panel) {
    let column = Rect::from_min_size(rect.min, vec2(150.0, rect.height()));
    let mut ui =
        ui.new_child(eframe::egui::UiBuilder::new().max_rect(column.shrink2(vec2(6.0, 3.0))));
    eframe::egui::ScrollArea::vertical()
        .id_salt("curve names")
        .auto_shrink([false, false])
        .show(&mut ui, |ui| {
            for (k, name) in names.iter().enumerate() {
                let text = eframe::egui::RichText::new(*name)
                    .small()
                    .color(color(k, ui));
                let label = eframe::egui::Label::new(text)
                    .truncate()
                    .sense(Sense::click());

                if ui
                    .add(label)
                    .on_hover_text("Show it alone; again for all")
                    .clicked()
                {
                    // A second click shows all curves again.
                    panel.sliders = if panel.sliders.len() == 1 {
                        Default::default()
                    } else {
                        [(*name).clone()].into()
                    };
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_lines_are_quarters_and_limited_in_number() {
        assert_eq!(grid_step([-0.08, 1.08]), 0.25);
        for far in [1.0, 3.0, 77.0, 1e6, 1e15, 1e300, f64::MAX] {
            let step = grid_step([-far, far]);
            let lines = (far / step).floor() - (-far / step).ceil() + 1.0;
            assert!(
                (3.0..=MOST_LINES + 1.0).contains(&lines),
                "{lines} lines to {far}"
            );
        }
    }
}
