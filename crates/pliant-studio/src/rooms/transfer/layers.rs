//! The assembly: which clip plays on which region at what time, as bars over frames.

use eframe::egui::{
    self, Align2, Color32, CursorIcon, FontId, PointerButton, Rect, Sense, Stroke, StrokeKind, Ui,
    pos2, vec2,
};
use pliant::transfer::{Layer, LayerMode};
use pliant::transfer_recipe::RecipeMode;

use super::regions::color_of;
use super::setup::{LayerSetup, Setup};
use crate::document::Document;
use crate::rooms::Cx;

/// Height of a row.
const ROW: f32 = 24.0;
/// Height of the numbers above the rows.
const RULER: f32 = 16.0;

/// The layer that is worked on.
#[derive(Debug, Default)]
pub(super) struct LayerDesk {
    selected: usize,
    /// Where the bar in the hand began, and the pointer when it was taken.
    grip: Option<(usize, f32)>,
}

impl LayerSetup {
    /// How many frames of the result it fills, given those of its clip.
    #[must_use]
    pub(super) fn duration(&self, clip_frames: usize) -> usize {
        let [first, last] = self.frames.unwrap_or([0, clip_frames.saturating_sub(1)]);
        let (source, weights, mode) = (0, Vec::new(), LayerMode::Blend);
        Layer {
            source,
            weights,
            mode,
            frames: (first, last),
            at: self.at,
            speed: self.speed.max(1e-3),
            ease: self.ease,
        }
        .duration()
    }

    /// What its row says.
    fn title(&self) -> String {
        format!(
            "{} on {}",
            self.source,
            self.region.as_deref().unwrap_or("all")
        )
    }
}

impl LayerDesk {
    /// Bars, buttons, and the fields of the selected layer. `clip_frames` says how long a source's
    /// clip is.
    pub(super) fn layers_ui(
        &mut self,
        clip_frames: &dyn Fn(&str) -> usize,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
    ) {
        let setup = cx.document.transfer.clone();
        ui.strong("Assembly")
            .on_hover_text("From the lowest layer up: what plays where, and when");
        if setup.layers.is_empty() {
            ui.weak("No layer yet: choose a source.");
        } else {
            self.bars_ui(&setup, clip_frames, ui, cx);
        }
        self.buttons_ui(&setup, ui, cx);
        if let Some(layer) = setup.layers.get(self.selected) {
            layer_ui(
                self.selected,
                layer,
                &setup,
                clip_frames(&layer.source),
                ui,
                cx,
            );
        }
    }

    /// A row per layer, the uppermost first; a bar is dragged to another time.
    fn bars_ui(
        &mut self,
        setup: &Setup,
        clip_frames: &dyn Fn(&str) -> usize,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
    ) {
        let count = setup.layers.len();
        let size = vec2(ui.available_width(), RULER + ROW * count as f32);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        let end_of = |layer: &LayerSetup| {
            layer
                .at
                .saturating_add(layer.duration(clip_frames(&layer.source)))
                .min(Layer::MOST_FRAMES)
        };
        let ends: Vec<usize> = setup.layers.iter().map(end_of).collect();
        let end = ends.iter().copied().max().unwrap_or(1).max(8);
        let x = |frame: f32| rect.left() + frame / end as f32 * rect.width();
        ruler(ui, rect, end, &x);
        for (k, layer) in setup.layers.iter().enumerate() {
            let top = rect.top() + RULER + ROW * (count - 1 - k) as f32;
            let row = Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), top + ROW));
            let bar = Rect::from_x_y_ranges(
                x(layer.at.min(ends[k]) as f32)..=x(ends[k] as f32),
                row.y_range(),
            )
            .shrink2(vec2(0.5, 2.0));
            self.bar_ui(k, layer, bar, rect.width() / end as f32, setup, ui, cx);
        }
        let now = x(cx.clock.frame as f32);
        if rect.x_range().contains(now) {
            ui.painter().vline(
                now,
                rect.y_range(),
                Stroke::new(1.0, ui.visuals().selection.stroke.color),
            );
        }
    }

    fn bar_ui(
        &mut self,
        k: usize,
        layer: &LayerSetup,
        bar: Rect,
        frame_width: f32,
        setup: &Setup,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) {
        let response = ui.interact(
            bar,
            ui.scope_id().with(("layer bar", k)),
            Sense::click_and_drag(),
        );
        let label = format!("Layer {}: {}", k + 1, layer.title());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
        if response.clicked() || response.drag_started() {
            self.selected = k;
        }
        if response.drag_started_by(PointerButton::Primary) {
            self.grip = ui
                .input(|input| input.pointer.press_origin())
                .map(|from| (layer.at, from.x));
        }
        if let (true, Some((at, from)), Some(pointer)) = (
            response.dragged(),
            self.grip,
            response.interact_pointer_pos(),
        ) {
            let moved = at as f32 + ((pointer.x - from) / frame_width).round();
            let at = (moved.max(0.0) as usize).min(Layer::MOST_FRAMES);
            cx.edit_by_hand("Move layer", move |document| {
                change(document, k, |layer| layer.at = at)
            });
        }
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
        let region = layer.region.as_deref().and_then(|name| setup.region(name));
        let fill = region.map_or(ui.visuals().widgets.inactive.bg_fill, color_of);
        let ink = if region.is_some() {
            Color32::from_gray(20)
        } else {
            ui.visuals().text_color()
        };
        let painter = ui.painter().with_clip_rect(bar);
        painter.rect_filled(bar, 4.0, fill);
        let sign = if layer.mode == RecipeMode::Compound {
            "+ "
        } else {
            ""
        };
        painter.text(
            bar.left_center() + vec2(6.0, 0.0),
            Align2::LEFT_CENTER,
            format!("{sign}{}", layer.title()),
            FontId::proportional(12.0),
            ink,
        );
        if self.selected == k {
            painter.rect_stroke(
                bar,
                4.0,
                Stroke::new(2.0, ui.visuals().strong_text_color()),
                StrokeKind::Inside,
            );
        }
        response.on_hover_text(format!("{}; drag to another time", layer.title()));
    }

    fn buttons_ui(&mut self, setup: &Setup, ui: &mut Ui, cx: &mut Cx<'_>) {
        let (k, count) = (self.selected, setup.layers.len());
        ui.horizontal_wrapped(|ui| {
            if ui
                .add_enabled(!setup.sources.is_empty(), egui::Button::new("Add layer"))
                .clicked()
            {
                self.selected = count;
                let source = setup
                    .sources
                    .first()
                    .map_or_else(String::new, |source| source.name.clone());
                cx.edit("Add layer", move |document| {
                    document.transfer.layers.push(LayerSetup {
                        source,
                        ..LayerSetup::default()
                    });
                });
            }
            if ui
                .add_enabled(k < count, egui::Button::new("Remove layer"))
                .clicked()
            {
                self.selected = k.saturating_sub(1);
                cx.edit("Remove layer", move |document| {
                    if k < document.transfer.layers.len() {
                        document.transfer.layers.remove(k);
                    }
                });
            }
            for (label, other, possible) in [
                ("Up", k + 1, k + 1 < count),
                ("Down", k.wrapping_sub(1), k > 0 && k < count),
            ] {
                if ui
                    .add_enabled(possible, egui::Button::new(label))
                    .on_hover_text("Upper layers come over lower ones")
                    .clicked()
                {
                    self.selected = other;
                    cx.edit("Reorder layers", move |document| {
                        let layers = &mut document.transfer.layers;
                        if k.max(other) < layers.len() {
                            layers.swap(k, other);
                        }
                    });
                }
            }
        });
    }
}

fn change(document: &mut Document, layer: usize, change: impl FnOnce(&mut LayerSetup)) {
    if let Some(layer) = document.transfer.layers.get_mut(layer) {
        change(layer);
    }
}

/// Numbers of frames, at round distances.
fn ruler(ui: &Ui, rect: Rect, end: usize, x: &dyn Fn(f32) -> f32) {
    let fits = (rect.width() / 40.0).max(1.0) as usize;
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 20_000]
        .into_iter()
        .find(|step| end / step <= fits)
        .unwrap_or(100_000);
    let painter = ui.painter();
    painter.rect_filled(
        rect.with_min_y(rect.top() + RULER),
        3.0,
        ui.visuals().extreme_bg_color,
    );
    for frame in (0..=end).step_by(step) {
        let at = x(frame as f32);
        painter.vline(
            at,
            rect.top() + RULER..=rect.bottom(),
            Stroke::new(1.0, ui.visuals().faint_bg_color),
        );
        let align = if frame == 0 {
            Align2::LEFT_TOP
        } else {
            Align2::CENTER_TOP
        };
        if at < rect.right() - 8.0 {
            painter.text(
                pos2(at, rect.top()),
                align,
                frame.to_string(),
                FontId::proportional(10.0),
                ui.visuals().weak_text_color(),
            );
        }
    }
}

/// The fields of one layer.
fn layer_ui(
    k: usize,
    layer: &LayerSetup,
    setup: &Setup,
    clip_frames: usize,
    ui: &mut Ui,
    cx: &mut Cx<'_>,
) {
    let mut told = layer.clone();
    egui::Grid::new("layer").num_columns(2).show(ui, |ui| {
        let label = ui.label("Clip");
        let clips = egui::ComboBox::from_id_salt("layer clip")
            .selected_text(&told.source)
            .show_ui(ui, |ui| {
                for source in &setup.sources {
                    ui.selectable_value(&mut told.source, source.name.clone(), &source.name);
                }
            });
        clips.response.labelled_by(label.id);
        ui.end_row();
        let label = ui.label("Region");
        let regions = egui::ComboBox::from_id_salt("layer region")
            .selected_text(told.region.as_deref().unwrap_or("all"))
            .show_ui(ui, |ui| {
                ui.selectable_value(&mut told.region, None, "all");
                for region in &setup.regions {
                    ui.selectable_value(&mut told.region, Some(region.name.clone()), &region.name);
                }
            });
        regions.response.labelled_by(label.id);
        ui.end_row();
        ui.label("Mode");
        ui.horizontal(|ui| {
            ui.selectable_value(&mut told.mode, RecipeMode::Blend, "Blend")
                .on_hover_text("Takes the place of what is below");
            ui.selectable_value(&mut told.mode, RecipeMode::Compound, "Compound")
                .on_hover_text("Deforms further what is below");
        });
        ui.end_row();
        let label = ui.label("Starts at");
        ui.add(
            egui::DragValue::new(&mut told.at)
                .range(0..=Layer::MOST_FRAMES)
                .prefix("frame "),
        )
        .labelled_by(label.id);
        ui.end_row();
        frames_ui(&mut told, clip_frames, ui);
        ui.end_row();
        let label = ui.label("Speed");
        ui.add(
            egui::DragValue::new(&mut told.speed)
                .range(0.05..=20.0)
                .speed(0.01)
                .suffix("×"),
        )
        .labelled_by(label.id);
        ui.end_row();
        let label = ui.label("Ease");
        ui.add(
            egui::DragValue::new(&mut told.ease)
                .range(0.0..=240.0)
                .speed(0.1)
                .suffix(" frames"),
        )
        .labelled_by(label.id)
        .on_hover_text("Frames over which it comes in and goes out");
        ui.end_row();
    });
    if told.source != layer.source {
        told.frames = None;
    }
    if told != *layer {
        cx.edit_by_hand("Change layer", move |document| {
            change(document, k, |layer| *layer = told)
        });
    }
}

/// First and last frame of the clip.
fn frames_ui(layer: &mut LayerSetup, clip_frames: usize, ui: &mut Ui) {
    let label = ui.label("Clip frames");
    let most = clip_frames.saturating_sub(1);
    let [mut first, mut last] = layer.frames.unwrap_or([0, most]);
    ui.horizontal(|ui| {
        ui.add(egui::DragValue::new(&mut first).range(0..=last.min(most)))
            .labelled_by(label.id);
        let to = ui.label("to");
        ui.add(egui::DragValue::new(&mut last).range(first..=most.max(first)))
            .labelled_by(to.id);
    });
    let chosen = [first, last];
    if chosen != layer.frames.unwrap_or([0, most]) {
        layer.frames = Some(chosen).filter(|chosen| *chosen != [0, most]);
    }
}
