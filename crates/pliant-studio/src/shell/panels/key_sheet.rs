//! The dope sheet: a ruler to scrub on, and keys as diamonds, one row per slider.

use std::collections::{BTreeMap, BTreeSet};

use eframe::egui::{
    Align2, Color32, CursorIcon, Painter, PointerButton, Pos2, Rangef, Rect, Response, Role,
    ScrollArea, Sense, Stroke, StrokeKind, TextStyle, TextWrapMode, Ui, Vec2, WidgetInfo,
    WidgetText, pos2, vec2,
};

use super::timeline::Panel;
use super::transport::{go_to, id};
use crate::engine::context::Cx;
use crate::model::timeline::{Key, KeyAt, Keys, Picked, moved, picked_frames};
use crate::model::view_state::Clock;
use crate::widgets::icon::diamond;
use crate::widgets::key_color;
use crate::widgets::time_axis::TimeAxis;

/// The width of the column of names.
const NAMES: f32 = 150.0;
/// The height of a row.
const ROW: f32 = 18.0;
/// The height of the ruler.
const RULER: f32 = 22.0;
/// Half the width of a key.
const KEY: f32 = 5.0;
/// How near the pointer must be to a key to take it.
pub(crate) const REACH: f32 = 7.0;
/// Of keys nearer than this on the screen only one is drawn: they look alike, and a capture has
/// thousands.
const LEAST_APART: f32 = 2.0;
/// Least height of the timeline.
const LEAST_HEIGHT: f32 = 54.0;

/// Something being dragged.
#[derive(Debug, Clone)]
pub(crate) enum KeyDrag {
    /// Keys, from where they were.
    Keys {
        from: Pos2,
        keys: Keys,
        picked: Picked,
    },
    /// A box.
    Box { from: Pos2, picked: Picked },
}

/// The ruler; scrubs.
pub(crate) fn ruler_ui(ui: &mut Ui, cx: &mut Cx<'_>) -> TimeAxis {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), RULER), Sense::hover());
    let x = Rangef::new(
        rect.left() + NAMES + 12.0,
        (rect.right() - 16.0).max(rect.left() + NAMES + 40.0),
    );

    let axis = TimeAxis {
        x,
        last: f64::from(cx.last_frame().max(1)),
    };
    // The ruler can be pressed a little beyond its ends.
    let area = Rect::from_x_y_ranges(Rangef::new(x.min - 8.0, x.max + 8.0), rect.y_range());
    let response = ui.interact(area, id("ruler"), Sense::click_and_drag());

    response.widget_info(|| WidgetInfo::slider(true, cx.clock.frame, "Ruler"));
    if let Some(pointer) = response
        .interact_pointer_pos()
        // A press and a release within one frame are a click.
        .filter(|_| response.is_pointer_button_down_on() || response.clicked())
    {
        go_to(f64::from(axis.whole_frame_at(pointer.x)), cx);
    }

    ticks_ui(ui, rect, axis);
    head_ui(ui, rect, axis, cx.clock);
    response.on_hover_cursor(CursorIcon::ResizeHorizontal);
    axis
}

/// Ticks and frame numbers of the ruler.
fn ticks_ui(ui: &Ui, rect: Rect, axis: TimeAxis) {
    let painter = ui.painter().with_clip_rect(rect);
    let visuals = ui.visuals();
    painter.rect_filled(rect, 0.0, visuals.faint_bg_color);

    // Points between two numbers and between two ticks, so that they stay apart.
    let numbers = axis.step(44.0);
    let ticks = axis.step(7.0);
    for frame in (0..=axis.last as u32).step_by(ticks as usize) {
        let x = axis.x_of(f64::from(frame));
        let long = frame % numbers == 0;
        painter.vline(
            x,
            rect.bottom() - if long { 8.0 } else { 4.0 }..=rect.bottom(),
            Stroke::new(1.0, visuals.weak_text_color()),
        );

        if long {
            painter.text(
                pos2(x, rect.top() + 1.0),
                Align2::CENTER_TOP,
                frame,
                TextStyle::Small.resolve(ui.style()),
                visuals.weak_text_color(),
            );
        }
    }
}

/// The shown frame on the ruler.
fn head_ui(ui: &Ui, rect: Rect, axis: TimeAxis, clock: &Clock) {
    let x = axis.x_of(clock.frame);
    let accent = ui.visuals().hyperlink_color;
    let text = clock.whole_frame().to_string();
    let galley = ui.painter().layout_no_wrap(
        text,
        TextStyle::Small.resolve(ui.style()),
        if ui.visuals().dark_mode {
            Color32::BLACK
        } else {
            Color32::WHITE
        },
    );

    let flag = Rect::from_center_size(pos2(x, rect.top() + 8.0), galley.size() + vec2(10.0, 3.0));
    ui.painter().rect_filled(flag, 4.0, accent);
    ui.painter()
        .galley(flag.center() - 0.5 * galley.size(), galley, Color32::WHITE);
    ui.painter()
        .vline(x, flag.bottom()..=rect.bottom(), Stroke::new(1.5, accent));
}

/// The line of the shown frame.
pub(crate) fn now_line(ui: &Ui, painter: &Painter, rect: Rect, axis: TimeAxis, frame: f64) {
    painter.vline(
        axis.x_of(frame),
        rect.y_range(),
        Stroke::new(1.5, ui.visuals().hyperlink_color.gamma_multiply(0.8)),
    );
}

/// What stands where there are no keys, clear of the line of the shown frame.
pub(crate) fn hint_ui(ui: &Ui, area: Rect, hint: &str) {
    let font = TextStyle::Body.resolve(ui.style());
    let color = ui.visuals().weak_text_color();
    let galley = ui
        .painter()
        .layout(hint.to_owned(), font, color, area.width());

    let place = Rect::from_center_size(area.center(), galley.size());
    ui.painter()
        .rect_filled(place.expand2(vec2(8.0, 2.0)), 4.0, ui.visuals().panel_fill);
    ui.painter().galley(place.min, galley, color);
}

/// The rows: all keys, then each slider. Returns how high they must be.
pub(crate) fn sheet_ui(
    ui: &mut Ui,
    axis: TimeAxis,
    hint: &str,
    panel: &mut Panel,
    cx: &mut Cx<'_>,
) -> f32 {
    let names: Vec<&String> = cx.document.timeline.keys.keys().collect();
    let listed = if panel.folded { 0 } else { names.len() };
    ScrollArea::vertical()
        .id_salt("key rows")
        .auto_shrink([false, false])
        .min_scrolled_height(LEAST_HEIGHT)
        .show(ui, |ui| rows_ui(ui, axis, hint, &names, listed, panel, cx));
    LEAST_HEIGHT
}

/// The top row and the first `listed` sliders.
fn rows_ui(
    ui: &mut Ui,
    axis: TimeAxis,
    hint: &str,
    names: &[&String],
    listed: usize,
    panel: &mut Panel,
    cx: &mut Cx<'_>,
) {
    // The sheet fills the panel, so that a box can be dragged below the last row.
    let size = vec2(
        ui.available_width(),
        (ROW * (1 + listed) as f32).max(ui.available_height()),
    );
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let row = |k: usize| {
        Rect::from_min_size(
            pos2(rect.left(), rect.top() + ROW * k as f32),
            vec2(rect.width(), ROW),
        )
    };

    let sheet = KeyRows {
        axis,
        rows: rect,
        names: &names[..listed],
    };
    let area = Rect::from_x_y_ranges(Rangef::new(axis.x.min - 10.0, rect.right()), rect.y_range());
    let response = ui.interact(area, id("keys"), Sense::click_and_drag());

    response.widget_info(|| WidgetInfo::labeled(Role::Group, true, "Keys over time"));
    summary_ui(ui, row(0), panel, names);
    for (k, name) in names.iter().enumerate().take(listed) {
        // A capture can have hundreds of rows.
        if ui.is_rect_visible(row(k + 1)) {
            name_ui(ui, row(k + 1), k, name, panel);
        }
    }

    paint_keys(ui, &sheet, &panel.picked, cx);
    now_line(ui, ui.painter(), rect, axis, cx.clock.frame);
    if names.is_empty() {
        hint_ui(ui, area.with_min_y(rect.top() + ROW), hint);
    }

    drag_ui(ui, &sheet, &response, panel, cx);
}

/// Where keys are on the screen.
struct KeyRows<'a> {
    axis: TimeAxis,
    rows: Rect,
    names: &'a [&'a String],
}

impl KeyRows<'_> {
    /// The centre of a key of slider `row`.
    fn place(&self, row: usize, frame: u32) -> Pos2 {
        pos2(
            self.axis.x_of(f64::from(frame)),
            self.rows.top() + ROW * (row as f32 + 1.5),
        )
    }

    /// The keys under a place: one, or all of a frame in the top row.
    fn keys_at(&self, place: Pos2, cx: &Cx<'_>) -> Picked {
        let timeline = &cx.document.timeline;
        let near = |frame: u32| (self.axis.x_of(f64::from(frame)) - place.x).abs() <= REACH;
        let row = ((place.y - self.rows.top()) / ROW).floor() as i64 - 1;

        // The top row stands for all keys of a frame.
        if row < 0 {
            return timeline
                .key_frames()
                .into_iter()
                .find(|&frame| near(frame))
                .map(|frame| timeline.keys_at(frame))
                .unwrap_or_default();
        }

        let Some(slider) = self.names.get(row as usize) else {
            return Picked::new();
        };

        let key = timeline.keys[*slider].iter().find(|key| near(key.frame));
        key.map(|key| KeyAt {
            slider: (*slider).clone(),
            frame: key.frame,
        })
        .into_iter()
        .collect()
    }

    /// The keys inside a box.
    fn keys_in(&self, area: Rect, cx: &Cx<'_>) -> Picked {
        let timeline = &cx.document.timeline;
        let over = |frame: u32| area.x_range().contains(self.axis.x_of(f64::from(frame)));
        // A box over the top row selects all keys of its frames.
        let top = area
            .y_range()
            .intersects(Rangef::new(self.rows.top(), self.rows.top() + ROW));
        let mut inside: Picked = if top {
            timeline
                .key_frames()
                .into_iter()
                .filter(|&f| over(f))
                .flat_map(|f| timeline.keys_at(f))
                .collect()
        } else {
            Picked::new()
        };

        for (row, slider) in self.names.iter().enumerate() {
            let keys = timeline.keys[*slider]
                .iter()
                .filter(|key| area.contains(self.place(row, key.frame)));
            inside.extend(keys.map(|key| KeyAt {
                slider: (*slider).clone(),
                frame: key.frame,
            }));
        }
        inside
    }
}

fn summary_ui(ui: &mut Ui, row: Rect, panel: &mut Panel, names: &[&String]) {
    let label = match names.len() {
        0 => String::from("All keys"),
        count => format!("All keys ({count})"),
    };

    ui.painter()
        .rect_filled(row, 0.0, ui.visuals().faint_bg_color);
    let response = ui.interact(name_rect(row), id("fold"), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, !panel.folded, "All keys"));

    let mut sign = response.clone();
    sign.rect = Rect::from_center_size(pos2(row.left() + 10.0, row.center().y), vec2(8.0, 8.0));
    eframe::egui::collapsing_header::paint_default_icon(
        ui,
        if panel.folded { 0.0 } else { 1.0 },
        &sign,
    );

    row_name(ui, row, &label, 20.0, ui.visuals().strong_text_color());
    if response
        .on_hover_text("Show a row for each slider")
        .clicked()
    {
        panel.folded = !panel.folded;
    }
}

fn name_ui(ui: &mut Ui, row: Rect, k: usize, name: &String, panel: &mut Panel) {
    let chosen = panel.sliders.contains(name);
    // Selected rows have a background; of the others every second one.
    if chosen {
        ui.painter().rect_filled(
            row,
            0.0,
            ui.visuals().selection.bg_fill.gamma_multiply(0.35),
        );
    } else if k % 2 == 1 {
        ui.painter()
            .rect_filled(row, 0.0, ui.visuals().faint_bg_color.gamma_multiply(0.6));
    }

    let response = ui.interact(name_rect(row), id("name").with(name), Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, true, chosen, format!("Curve of {name}"))
    });
    row_name(
        ui,
        row,
        name,
        20.0,
        if chosen || response.hovered() {
            ui.visuals().strong_text_color()
        } else {
            ui.visuals().text_color()
        },
    );

    if response.on_hover_text("Select its curve").clicked() && !panel.sliders.remove(name) {
        panel.sliders.insert(name.clone());
    }
}

fn name_rect(row: Rect) -> Rect {
    Rect::from_min_size(row.min, vec2(NAMES, row.height()))
}

fn row_name(ui: &Ui, row: Rect, name: &str, indent: f32, color: Color32) {
    let font = TextStyle::Small.resolve(ui.style());
    let galley = WidgetText::from(name).into_galley(
        ui,
        Some(TextWrapMode::Truncate),
        NAMES - indent - 4.0,
        font,
    );

    ui.painter().galley(
        pos2(row.left() + indent, row.center().y - 0.5 * galley.size().y),
        galley,
        color,
    );
}

fn paint_keys(ui: &Ui, sheet: &KeyRows<'_>, picked: &Picked, cx: &Cx<'_>) {
    let timeline = &cx.document.timeline;
    let painter = ui
        .painter()
        .with_clip_rect(ui.clip_rect().intersect(sheet.rows));
    // Keys have no effect while a take plays.
    let faded = if timeline.playing_take.is_some() {
        0.4
    } else {
        1.0
    };

    // The top row has a key at each frame at which any slider has one.
    let lit_frames = picked_frames(picked);
    let lit_in_any: BTreeSet<u32> = lit_frames.values().flatten().copied().collect();
    let mut last = None;
    for frame in timeline.key_frames() {
        let x = sheet.axis.x_of(f64::from(frame));
        let top = pos2(x, sheet.rows.top() + 0.5 * ROW);
        let highlighted = lit_in_any.contains(&frame);
        if is_apart(&mut last, top) || highlighted {
            paint_key(ui, &painter, top, highlighted, KEY, faded);
        }
    }

    chosen_ui(ui, &painter, sheet, &lit_frames);
    for (row, slider) in sheet.names.iter().enumerate() {
        let size = vec2(sheet.rows.width() * 2.0, ROW);
        let area = Rect::from_center_size(sheet.place(row, 0), size);
        if ui.is_rect_visible(area) {
            let keys = &timeline.keys[*slider];
            let highlighted = lit_frames.get(slider.as_str());
            paint_row(ui, &painter, sheet, row, keys, highlighted, faded);
        }
    }
}

/// The keys of one slider.
fn paint_row(
    ui: &Ui,
    painter: &Painter,
    sheet: &KeyRows<'_>,
    row: usize,
    keys: &[Key],
    lit_frames: Option<&BTreeSet<u32>>,
    faded: f32,
) {
    // A line connects keys between which the weight is constant.
    for pair in keys.windows(2) {
        if pair[0].weight == pair[1].weight {
            let ends = [pair[0].frame, pair[1].frame].map(|frame| sheet.place(row, frame));
            let line = Stroke::new(2.0, key_color(ui).gamma_multiply(0.3));
            painter.line_segment(ends, line);
        }
    }

    let mut last = None;
    for key in keys {
        let at = sheet.place(row, key.frame);
        let highlighted = lit_frames.is_some_and(|frames| frames.contains(&key.frame));
        if is_apart(&mut last, at) || highlighted {
            paint_key(ui, painter, at, highlighted, KEY - 0.5, faded);
        }
    }
}

fn paint_key(ui: &Ui, painter: &Painter, at: Pos2, highlighted: bool, radius: f32, faded: f32) {
    let visuals = ui.visuals();
    let (fill, edge) = if highlighted {
        (visuals.strong_text_color(), key_color(ui))
    } else {
        (key_color(ui), visuals.panel_fill)
    };
    let outline = Stroke::new(if highlighted { 2.0 } else { 1.0 }, edge);
    painter.add(diamond(at, radius, fill.gamma_multiply(faded), outline));
}

/// Whether a key at this place can be told from the last one that was drawn, which it is then.
pub(crate) fn is_apart(last: &mut Option<Pos2>, at: Pos2) -> bool {
    let apart = last.is_none_or(|last| last.distance(at) >= LEAST_APART);
    if apart {
        *last = Some(at);
    }
    apart
}

/// A box around the selected keys, so that it is seen which ones move together.
fn chosen_ui(
    ui: &Ui,
    painter: &Painter,
    sheet: &KeyRows<'_>,
    picked: &BTreeMap<&str, BTreeSet<u32>>,
) {
    let ends = |(row, name): (usize, &&String)| {
        let frames = picked.get(name.as_str())?;
        Some([frames.first()?, frames.last()?].map(|&frame| sheet.place(row, frame)))
    };
    // The first and last selected key of each row bound the box.
    let places = sheet.names.iter().enumerate().filter_map(ends).flatten();
    let around = places.fold(Rect::NOTHING, |area, place| {
        area.union(Rect::from_center_size(place, Vec2::splat(2.0 * KEY)))
    });

    if picked.values().map(BTreeSet::len).sum::<usize>() > 1 && around.is_positive() {
        let accent = ui.visuals().hyperlink_color;
        painter.rect(
            around.expand(3.0),
            3.0,
            accent.gamma_multiply(0.10),
            Stroke::new(1.0, accent),
            StrokeKind::Inside,
        );
    }
}

/// Selects and moves keys.
fn drag_ui(ui: &Ui, sheet: &KeyRows<'_>, response: &Response, panel: &mut Panel, cx: &mut Cx<'_>) {
    let adding = ui.input(|input| input.modifiers.shift);
    let pressed = ui.input(|input| input.pointer.press_origin());
    if response
        .hover_pos()
        .is_some_and(|place| !sheet.keys_at(place, cx).is_empty())
    {
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }

    if response.clicked() {
        let hit = response
            .interact_pointer_pos()
            .map(|place| sheet.keys_at(place, cx))
            .unwrap_or_default();
        panel.picked = pick(&panel.picked, hit, adding);
    }

    if let Some(from) = pressed.filter(|_| response.drag_started_by(PointerButton::Primary)) {
        panel.drag = Some(drag_at(
            from,
            sheet.keys_at(from, cx),
            &mut panel.picked,
            adding,
            cx,
        ));
    }

    let Some(pointer) = ui.input(|input| input.pointer.interact_pos()) else {
        return;
    };

    // Keys move by whole frames; their weights change in the curve view only.
    match panel.drag.clone() {
        Some(KeyDrag::Keys { from, keys, picked }) => {
            let frames = sheet.axis.frame_at(pointer.x) - sheet.axis.frame_at(from.x);
            move_keys(keys, &picked, frames.round() as i64, 0.0, panel, cx);
        }
        Some(KeyDrag::Box { from, picked }) => {
            let area = Rect::from_two_pos(from, pointer);
            panel.picked = pick(&picked, sheet.keys_in(area, cx), adding);
            let accent = ui.visuals().hyperlink_color;
            ui.painter().rect(
                area,
                0.0,
                accent.gamma_multiply(0.12),
                Stroke::new(1.0, accent),
                StrokeKind::Inside,
            );
        }
        None => {}
    }

    release(response, panel);
}

/// Releases when the button is up.
pub(crate) fn release(response: &Response, panel: &mut Panel) {
    if response.drag_stopped() || !response.dragged() {
        panel.drag = None;
    }
}

/// The selection after `hit` was chosen.
pub(crate) fn pick(picked: &Picked, hit: Picked, adding: bool) -> Picked {
    if adding {
        picked.union(&hit).cloned().collect()
    } else {
        hit
    }
}

/// Takes the keys under the user, with all that are selected if they are, or begins a box.
pub(crate) fn drag_at(
    from: Pos2,
    hit: Picked,
    picked: &mut Picked,
    adding: bool,
    cx: &Cx<'_>,
) -> KeyDrag {
    if hit.is_empty() {
        return KeyDrag::Box {
            from,
            picked: if adding {
                picked.clone()
            } else {
                Picked::new()
            },
        };
    }

    // A drag of an unselected key selects it first.
    if !hit.is_subset(picked) {
        *picked = pick(picked, hit, adding);
    }

    KeyDrag::Keys {
        from,
        keys: cx.document.timeline.keys.clone(),
        picked: picked.clone(),
    }
}

/// Moves keys from where they were when they were taken, so that those passed over come back.
pub(crate) fn move_keys(
    keys: Keys,
    picked: &Picked,
    frames: i64,
    weight: f64,
    panel: &mut Panel,
    cx: &mut Cx<'_>,
) {
    let limits = |slider: &str| limits_of(slider, cx);
    let (keys, places) = moved(&keys, picked, frames, weight, limits);
    panel.picked = places;
    cx.edit_continuously("Move keys", move |document| {
        document.edit_keys(|present| *present = keys)
    });
}

/// The limits of a slider by name.
pub(crate) fn limits_of(slider: &str, cx: &Cx<'_>) -> [f64; 2] {
    let own = cx.document.character.limits.get(slider).copied();
    own.or_else(|| {
        let rig = &cx.posed?.rig;
        let limits = rig.sliders()[rig
            .targets()
            .iter()
            .position(|target| target.name == slider)?]
        .limits;
        Some([limits.min, limits.max])
    })
    .unwrap_or([f64::NEG_INFINITY, f64::INFINITY])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_overlapping_keys_only_the_first_is_drawn() {
        let places: Vec<Pos2> = (0..2000).map(|k| pos2(0.5 * k as f32, 3.0)).collect();
        let mut last = None;
        let drawn: Vec<Pos2> = places
            .iter()
            .copied()
            .filter(|&at| is_apart(&mut last, at))
            .collect();

        assert_eq!((drawn[0], drawn.len()), (places[0], 500));
        assert!(
            drawn
                .windows(2)
                .all(|pair| pair[1].x - pair[0].x == LEAST_APART)
        );
    }
}
