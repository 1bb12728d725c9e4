//! Surface tools of the Blend room: anchor, fixed vertices, painted stiffness.
//!
//! A stroke is a path over the surface; a worker computes what it covers.

use std::sync::Arc;

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Pos2, Slider, Stroke as Line, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::stroke::{self, BrushPaint, Painted, PaintedValues, Stroke};
use crate::engine::blend::equilibrium::BlendBase;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::work::Latest;
use crate::model::blend::Setup;
use crate::model::document::Document;
use crate::model::shared::Shared;
use crate::rooms::PaneCanvas;
use crate::view::{Hit, Scene};

/// Action of the left button on the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tool {
    /// Turns the view, and selects obstacles.
    #[default]
    Select,
    /// Places the anchor.
    Anchor,
    /// Fixes vertices.
    Fix,
    /// Paints stiffness.
    Stiffness,
}

impl Tool {
    const ALL: [Self; 4] = [Self::Select, Self::Anchor, Self::Fix, Self::Stiffness];

    fn label(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::Anchor => "Place anchor",
            Self::Fix => "Fix vertices",
            Self::Stiffness => "Paint stiffness",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Select => "Click an obstacle to select it; drag to rotate the view",
            Self::Anchor => "Click a vertex to hold the shape there; Shift adds more vertices",
            Self::Fix => "Paint vertices that move linearly between the shapes",
            Self::Stiffness => "Paint areas that are stiffer or softer",
        }
    }
}

/// The surface tools and their settings.
pub(super) struct Brush {
    /// Action of the left button.
    pub tool: Tool,
    /// Its radius, as a share of the shape's diagonal.
    radius: f64,
    /// Whether it takes away.
    erases: bool,
    /// The stiffness that it paints.
    stiffness: f64,
    stroke: Option<Stroke>,
    /// Whether the button is down.
    pressed: bool,
    worker: Option<Latest<Stroke, Painted>>,
}

impl Default for Brush {
    fn default() -> Self {
        Self {
            tool: Tool::default(),
            radius: 0.06,
            erases: false,
            stiffness: 10.0,
            stroke: None,
            pressed: false,
            worker: None,
        }
    }
}

/// Between dabs of a stroke, in radii. Chosen: no gap shows.
const DAB_SPACING: f32 = 0.3;
/// A radius on the screen where the pointer left the shape.
const MOST_SPACING: f32 = 24.0;
/// The most dabs per frame.
const MOST_DABS: f32 = 24.0;

impl Brush {
    /// Whether a stroke is in progress or still computed; the springs wait for its end.
    #[must_use]
    pub(super) fn paints(&self) -> bool {
        self.pressed || self.busy()
    }

    /// Whether a stroke is still computed.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Writes the painted values into the document.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        let Painted { gesture, values } = match self.worker.as_ref().and_then(Latest::result) {
            None => return,
            Some(Err(message)) => return cx.notify(Notice::error(message)),
            Some(Ok(painted)) => painted,
        };

        let label = match values {
            PaintedValues::Fixed(_) => "Fix vertices",
            PaintedValues::Stiffness(_) => "Paint stiffness",
        };

        let change = move |document: &mut Document| match values {
            PaintedValues::Fixed(fixed) => document.blend.fixed = fixed,
            PaintedValues::Stiffness(stiffness) => document.blend.stiffness = stiffness,
        };

        cx.edit_or_amend(gesture, label, change);
    }

    /// The tools, and what the chosen one needs.
    pub(super) fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Tool");
        for tool in Tool::ALL {
            if ui
                .selectable_label(self.tool == tool, tool.label())
                .on_hover_text(tool.hint())
                .clicked()
            {
                self.tool = tool;
            }
        }

        ui.add_space(4.0);
        match self.tool {
            Tool::Select => {}
            Tool::Anchor => anchor_ui(ui, cx),
            Tool::Fix => {
                self.brush_ui(ui);
                fixed_ui(ui, cx);
            }
            Tool::Stiffness => {
                self.brush_ui(ui);
                self.stiffness_ui(ui, cx);
            }
        }
    }

    fn brush_ui(&mut self, ui: &mut Ui) {
        let mut percent = 100.0 * self.radius;
        let label = ui.label("Brush radius");
        let slider = Slider::new(&mut percent, 0.5..=40.0)
            .logarithmic(true)
            .suffix(" %")
            .max_decimals(1);

        ui.add(slider)
            .labelled_by(label.id)
            .on_hover_text("Geodesic radius, relative to the size of the shape");
        self.radius = percent / 100.0;
        ui.checkbox(&mut self.erases, "Erase")
            .on_hover_text("Remove paint instead (or hold Ctrl)");
    }

    fn stiffness_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let label = ui.label("Stiffness");
        ui.add(
            Slider::new(&mut self.stiffness, 0.1..=10.0)
                .logarithmic(true)
                .suffix(" ×")
                .max_decimals(2),
        )
        .labelled_by(label.id)
        .on_hover_text("Above 1 is stiffer, below 1 is softer");

        ui.add_enabled_ui(!cx.document.blend.stiffness.is_empty(), |ui| {
            if ui
                .button("Clear stiffness")
                .on_hover_text("Use the same stiffness everywhere")
                .clicked()
            {
                cx.edit("Clear stiffness", |document| {
                    document.blend.stiffness = Shared::default()
                });
            }
        });
    }

    /// Works with the tool at the pointer, on the first model. Returns whether the left button is
    /// in use.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &Ui,
        cx: &mut Cx<'_>,
        ground: &Arc<BlendBase>,
    ) -> bool {
        match self.tool {
            Tool::Select => false,
            Tool::Anchor => {
                place_anchor(on, ui, cx);
                false
            }
            Tool::Fix | Tool::Stiffness => self.paint(on, ui, cx, ground),
        }
    }

    fn paint(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &Ui,
        cx: &mut Cx<'_>,
        ground: &Arc<BlendBase>,
    ) -> bool {
        let canvas = on.canvas;
        let hit = canvas.pointer().and_then(|place| shape_under(on, place));
        // A drag is recognised a few points after the press; the stroke begins at the press.
        let pressed = canvas
            .tool_drag_started()
            .then(|| canvas.press_origin())
            .flatten();

        let begins = pressed.or_else(|| canvas.pointer().filter(|_| canvas.tool_clicked()));
        if let Some(place) = begins.filter(|&place| shape_under(on, place).is_some()) {
            let erases = self.erases || ui.input(|input| input.modifiers.command);
            self.begin(place, erases, cx, ground);
        }

        if let Some(hit) = hit {
            self.ring(on, ui, &hit, ground);
        }

        let used = self.pressed;
        if let Some(place) = canvas.pointer().filter(|_| used) {
            // Beside the shape there is no depth from which to derive a radius.
            let spacing = DAB_SPACING
                * hit.map_or(MOST_SPACING, |hit| self.radius_on_screen(on, &hit, ground));
            self.draw_to(place, spacing, on, cx);
        }

        self.pressed &= ui.input(|input| input.pointer.primary_down());
        used
    }

    /// Begins a stroke. A stroke that begins before the last one is computed continues it, so that
    /// nothing is lost.
    fn begin(&mut self, place: Pos2, erases: bool, cx: &Cx<'_>, ground: &Arc<BlendBase>) {
        let setup = &cx.document.blend;
        let stiffness = (self.tool == Tool::Stiffness).then_some(self.stiffness as f32);
        let fresh = Stroke {
            serial: self.stroke.as_ref().map_or(0, |stroke| stroke.serial + 1),
            gesture: cx.gesture,
            ground: ground.clone(),
            radius: self.radius * ground.size,
            paint: BrushPaint { erases, stiffness },
            before: (setup.fixed.clone(), setup.stiffness.clone()),
            scene: Scene::default(),
            dabs: Vec::new(),
            last: place,
            rests: false,
        };

        // The worker still computes the last stroke: continue it.
        let unfinished = self
            .stroke
            .take()
            .filter(|stroke| self.busy() && stroke.continues_as(&fresh));

        self.stroke = Some(match unfinished {
            Some(unfinished) => Stroke {
                gesture: fresh.gesture,
                last: place,
                rests: false,
                ..unfinished
            },
            None => fresh,
        });

        self.pressed = true;
    }

    /// Covers all the way from the last place of the stroke.
    fn draw_to(&mut self, place: Pos2, spacing: f32, on: &PaneCanvas<'_>, cx: &Cx<'_>) {
        let Some(stroke) = &mut self.stroke else {
            return;
        };

        let from = std::mem::replace(&mut stroke.last, place);
        // A resting pointer adds no dabs.
        if from == place && stroke.rests {
            return;
        }

        stroke.rests = true;
        stroke.scene = on.scene.clone();
        stroke
            .dabs
            .extend(dabs(from, place, spacing).map(|dab| on.canvas.view.ray(dab)));
        self.worker
            .get_or_insert_with(|| stroke::start(cx.wake.clone()))
            .send(stroke.clone());
    }

    fn radius_on_screen(&self, on: &PaneCanvas<'_>, hit: &Hit, ground: &BlendBase) -> f32 {
        on.points_of_length(hit.position, self.radius * ground.size)
    }

    fn ring(&self, on: &PaneCanvas<'_>, ui: &Ui, hit: &Hit, ground: &BlendBase) {
        ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        if let Some(at) = on.canvas.view.project(hit.position) {
            let radius = self.radius_on_screen(on, hit, ground);
            // A dark ring under the white one is visible on any colour.
            on.canvas.painter.circle_stroke(
                at,
                radius,
                Line::new(2.5, Color32::from_black_alpha(120)),
            );

            on.canvas
                .painter
                .circle_stroke(at, radius, Line::new(1.0, Color32::WHITE));
        }
    }
}

/// Places from one to another, the first left out unless it is both, no further apart than
/// `spacing` as long as they are few.
fn dabs(from: Pos2, to: Pos2, spacing: f32) -> impl Iterator<Item = Pos2> {
    let count = (from.distance(to) / spacing.max(1.0))
        .ceil()
        .clamp(1.0, MOST_DABS) as usize;
    (1..=count).map(move |k| from + (to - from) * (k as f32 / count as f32))
}

/// The blended shape under a place: the first model.
fn shape_under(on: &PaneCanvas<'_>, place: Pos2) -> Option<Hit> {
    on.pick(place).filter(|hit| hit.model == 0)
}

fn anchor_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let setup = &cx.document.blend;
    match setup.anchor.len() {
        0 => ui.label("Anchor: centre"),
        1 => ui.label(format!("Anchor: vertex {}", setup.anchor[0])),
        more => ui.label(format!("Anchor: {more} vertices")),
    };
    if !setup.fixed.is_empty() {
        ui.weak("Fixed vertices hold the shape in place.");
    }

    ui.add_enabled_ui(!setup.anchor.is_empty(), |ui| {
        if ui
            .button("Anchor at the centre")
            .on_hover_text("Hold the shape at its centre (default)")
            .clicked()
        {
            cx.edit("Place anchor", |document| document.blend.anchor.clear());
        }
    });
}

fn fixed_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let count = cx.document.blend.fixed.len();
    ui.label(format!("{count} vertices fixed"));
    ui.add_enabled_ui(count > 0, |ui| {
        if ui.button("Clear fixed vertices").clicked() {
            cx.edit("Clear fixed vertices", |document| {
                document.blend.fixed = Arc::default()
            });
        }
    });
}

fn place_anchor(on: &PaneCanvas<'_>, ui: &Ui, cx: &mut Cx<'_>) {
    let Some(hit) = on.canvas.pointer().and_then(|place| shape_under(on, place)) else {
        return;
    };

    ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
    if on.canvas.tool_clicked() {
        let vertex = hit.vertex.get();
        let adds = ui.input(|input| input.modifiers.shift);
        cx.edit("Place anchor", move |document| {
            set_anchor(&mut document.blend, vertex, adds)
        });
    }
}

fn set_anchor(setup: &mut Setup, vertex: u32, adds: bool) {
    if !adds {
        setup.anchor = vec![vertex];
    } else if let Some(at) = setup.anchor.iter().position(|&v| v == vertex) {
        setup.anchor.remove(at);
    } else {
        setup.anchor.push(vertex);
    }
}

/// Marks the anchor on a picture of the shape.
pub(super) fn anchor_marks(on: &PaneCanvas<'_>, anchor: &[u32], positions: &[DVec3]) {
    let painter = &on.canvas.painter;
    for place in anchor.iter().filter_map(|&v| positions.get(v as usize)) {
        let Some(at) = on.canvas.view.project(*place) else {
            continue;
        };

        let color = Color32::from_rgb(120, 200, 255);
        painter.circle(at, 6.0, color, Line::new(1.5, Color32::from_gray(20)));
        painter.line_segment(
            [at - vec2(0.0, 4.0), at + vec2(0.0, 4.0)],
            Line::new(1.5, Color32::from_gray(20)),
        );

        painter.line_segment(
            [at - vec2(4.0, 0.0), at + vec2(4.0, 0.0)],
            Line::new(1.5, Color32::from_gray(20)),
        );

        painter.text(
            at + vec2(10.0, 0.0),
            Align2::LEFT_CENTER,
            "Anchor",
            FontId::proportional(12.0),
            color,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stroke_leaves_no_gap_and_a_click_is_one_dab() {
        let from = Pos2::new(3.0, 4.0);
        let to = Pos2::new(63.0, 84.0);
        let places: Vec<Pos2> = std::iter::once(from).chain(dabs(from, to, 8.0)).collect();
        assert_eq!(places.last(), Some(&to));
        assert!(
            places
                .windows(2)
                .all(|pair| pair[0].distance(pair[1]) <= 8.001)
        );
        assert_eq!(dabs(to, to, 8.0).collect::<Vec<_>>(), [to]);
    }
}
