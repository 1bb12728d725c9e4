//! The layers of a transfer as bars over frames: clip, region, start.

use eframe::egui::{
    self, Align2, Color32, CursorIcon, FontId, PointerButton, Rect, Sense, Stroke, StrokeKind, Ui,
    pos2, vec2,
};
use pliant::transfer::{Layer, LayerMode};

use super::regions::color_of;
use crate::engine::context::Cx;
use crate::model::document::Document;
use crate::model::transfer::{LayerSetup, Setup};

/// Height of a row.
const ROW: f32 = 24.0;
/// Height of the numbers above the rows.
const RULER: f32 = 16.0;

/// The layer that is worked on.
#[derive(Debug, Default)]
pub(super) struct LayerPanel {
    selected: usize,
    /// Where the bar being dragged began, and the pointer when it was taken.
    drag: Option<(usize, f32)>,
}

impl LayerSetup {
    /// How many frames of the result it fills, given those of its clip.
    #[must_use]
    pub(super) fn duration(&self, clip_frames: usize) -> usize {
        let [first, last] = self.frames.unwrap_or([0, clip_frames.saturating_sub(1)]);
        // The library computes the duration; source, weights and mode do not matter for it.
        Layer {
            source: 0,
            weights: Vec::new(),
            mode: LayerMode::Blend,
            frames: (first, last),
            at: self.at,
            speed: self.speed.max(1e-3),
            ease: self.ease,
        }
        .duration()
    }

    /// Text of its row.
    fn title(&self) -> String {
        format!(
            "{} on {}",
            self.source,
            self.region.as_deref().unwrap_or("all")
        )
    }
}

impl LayerPanel {
    /// Bars, buttons, and the fields of the selected layer. `clip_frames` says how long a source's
    /// clip is.
    pub(super) fn layers_ui(
        &mut self,
        clip_frames: &dyn Fn(&str) -> usize,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
    ) {
        let setup = cx.document.transfer.clone();
        ui.strong("Layers")
            .on_hover_text("Clips, regions and times, from the lowest layer to the highest");

        if setup.layers.is_empty() {
            ui.weak("No layer yet: choose a source.");
        } else {
            self.bars_ui(&setup, clip_frames, ui, cx);
        }

        self.buttons_ui(&setup, ui, cx);
        // The fields belong to the selected layer.
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
        // A short time line still has room for bars to be dragged.
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

        // The shown frame.
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
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }

        self.drag_bar(k, layer, &response, frame_width, cx);
        self.paint_bar(k, layer, bar, setup, ui);
        response.on_hover_text(format!("{}; drag to change its start", layer.title()));
    }

    /// Moves the start of a layer with its bar.
    fn drag_bar(
        &mut self,
        k: usize,
        layer: &LayerSetup,
        response: &egui::Response,
        frame_width: f32,
        cx: &mut Cx<'_>,
    ) {
        // A drag is recognised a few points after the press; the bar moves from the press on.
        if response.drag_started_by(PointerButton::Primary) {
            let origin = response.ctx.input(|input| input.pointer.press_origin());
            self.drag = origin.map(|from| (layer.at, from.x));
        }

        let pointer = response.interact_pointer_pos();
        if let (true, Some((at, from)), Some(pointer)) = (response.dragged(), self.drag, pointer) {
            let moved = at as f32 + ((pointer.x - from) / frame_width).round();
            let at = (moved.max(0.0) as usize).min(Layer::MOST_FRAMES);
            cx.edit_continuously("Move layer", move |document| {
                change(document, k, |layer| layer.at = at)
            });
        }
    }

    fn paint_bar(&self, k: usize, layer: &LayerSetup, bar: Rect, setup: &Setup, ui: &Ui) {
        let region = layer.region.as_deref().and_then(|name| setup.region(name));
        let fill = region.map_or(ui.visuals().widgets.inactive.bg_fill, color_of);
        let ink = if region.is_some() {
            Color32::from_gray(20)
        } else {
            ui.visuals().text_color()
        };

        let painter = ui.painter().with_clip_rect(bar);
        painter.rect_filled(bar, 4.0, fill);

        // A plus marks layers that add to those below.
        let sign = if layer.mode == LayerMode::Compound {
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
    }

    fn buttons_ui(&mut self, setup: &Setup, ui: &mut Ui, cx: &mut Cx<'_>) {
        let k = self.selected;
        let count = setup.layers.len();
        ui.horizontal_wrapped(|ui| {
            let add = egui::Button::new("Add layer");
            if ui.add_enabled(!setup.sources.is_empty(), add).clicked() {
                self.add_layer(setup, cx);
            }

            let remove = egui::Button::new("Remove layer");
            if ui.add_enabled(k < count, remove).clicked() {
                self.selected = k.saturating_sub(1);
                cx.edit("Remove layer", move |document| {
                    if k < document.transfer.layers.len() {
                        document.transfer.layers.remove(k);
                    }
                });
            }

            // The list shows the uppermost layer first, so up is the next index.
            self.move_button_ui("Up", k + 1, k + 1 < count, ui, cx);
            self.move_button_ui("Down", k.wrapping_sub(1), k > 0 && k < count, ui, cx);
        });
    }

    fn add_layer(&mut self, setup: &Setup, cx: &mut Cx<'_>) {
        self.selected = setup.layers.len();
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

    /// A button that swaps the selected layer with another one.
    fn move_button_ui(
        &mut self,
        label: &str,
        other: usize,
        possible: bool,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
    ) {
        let k = self.selected;
        let button = ui.add_enabled(possible, egui::Button::new(label));
        if !button
            .on_hover_text("Upper layers cover lower layers")
            .clicked()
        {
            return;
        }

        self.selected = other;
        cx.edit("Reorder layers", move |document| {
            let layers = &mut document.transfer.layers;
            if k.max(other) < layers.len() {
                layers.swap(k, other);
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
    // The smallest round step whose numbers do not overlap.
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
    let mut edited = layer.clone();
    egui::Grid::new("layer").num_columns(2).show(ui, |ui| {
        clip_ui(&mut edited, setup, ui);
        region_ui(&mut edited, setup, ui);
        mode_ui(&mut edited, ui);
        start_ui(&mut edited, ui);
        frames_ui(&mut edited, clip_frames, ui);
        ui.end_row();
        speed_ui(&mut edited, ui);
        ease_ui(&mut edited, ui);
    });

    // Frames of another clip mean nothing to the new one.
    if edited.source != layer.source {
        edited.frames = None;
    }

    if edited != *layer {
        cx.edit_continuously("Change layer", move |document| {
            change(document, k, |layer| *layer = edited)
        });
    }
}

fn clip_ui(layer: &mut LayerSetup, setup: &Setup, ui: &mut Ui) {
    let label = ui.label("Clip");
    let clips = egui::ComboBox::from_id_salt("layer clip")
        .selected_text(&layer.source)
        .show_ui(ui, |ui| {
            for source in &setup.sources {
                ui.selectable_value(&mut layer.source, source.name.clone(), &source.name);
            }
        });
    clips.response.labelled_by(label.id);
    ui.end_row();
}

fn region_ui(layer: &mut LayerSetup, setup: &Setup, ui: &mut Ui) {
    let label = ui.label("Region");
    let regions = egui::ComboBox::from_id_salt("layer region")
        .selected_text(layer.region.as_deref().unwrap_or("all"))
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut layer.region, None, "all");
            for region in &setup.regions {
                let name = Some(region.name.clone());
                ui.selectable_value(&mut layer.region, name, &region.name);
            }
        });
    regions.response.labelled_by(label.id);
    ui.end_row();
}

fn mode_ui(layer: &mut LayerSetup, ui: &mut Ui) {
    ui.label("Mode");
    ui.horizontal(|ui| {
        ui.selectable_value(&mut layer.mode, LayerMode::Blend, "Blend")
            .on_hover_text("Replaces the layers below");
        ui.selectable_value(&mut layer.mode, LayerMode::Compound, "Compound")
            .on_hover_text("Adds its deformation to the layers below");
    });
    ui.end_row();
}

fn start_ui(layer: &mut LayerSetup, ui: &mut Ui) {
    let label = ui.label("Starts at");
    let field = egui::DragValue::new(&mut layer.at)
        .range(0..=Layer::MOST_FRAMES)
        .prefix("frame ");
    ui.add(field).labelled_by(label.id);
    ui.end_row();
}

fn speed_ui(layer: &mut LayerSetup, ui: &mut Ui) {
    let label = ui.label("Speed");
    let field = egui::DragValue::new(&mut layer.speed)
        .range(0.05..=20.0)
        .speed(0.01)
        .suffix("×");
    ui.add(field).labelled_by(label.id);
    ui.end_row();
}

fn ease_ui(layer: &mut LayerSetup, ui: &mut Ui) {
    let label = ui.label("Ease");
    let field = egui::DragValue::new(&mut layer.ease)
        .range(0.0..=240.0)
        .speed(0.1)
        .suffix(" frames");
    ui.add(field)
        .labelled_by(label.id)
        .on_hover_text("Frames over which the layer fades in and out");
    ui.end_row();
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
        // The whole clip is stored as no range, so that it follows a longer clip.
        layer.frames = Some(chosen).filter(|chosen| *chosen != [0, most]);
    }
}
