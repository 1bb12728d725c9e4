//! Tools on the surface: an anchor that is placed, vertices that are fixed, stiffness that is painted.
//!
//! A stroke remembers what was there before it and how much of each vertex it covered, so that a slow hand paints the same as a fast one.

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Pos2, Slider, Stroke as Line, Ui, vec2};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{ExactGeodesics, SurfacePoint, TrianglePoint};

use super::balance::Ground;
use super::setup::Setup;
use crate::rooms::{Cx, On};
use crate::view::Hit;

/// What the left button does on the surface.
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
            Self::Select => "Click an obstacle to select it; drag to turn the view",
            Self::Anchor => "Click where the shape is held; Shift adds more places",
            Self::Fix => "Drag over vertices that should go straight from shape to shape",
            Self::Stiffness => "Drag over what should keep its shape, or give way",
        }
    }
}

/// A brush and what it is dipped into.
#[derive(Debug)]
pub(super) struct Brush {
    /// What the left button does.
    pub tool: Tool,
    /// Its radius, as a share of the shape's diagonal.
    radius: f64,
    /// Whether it takes away.
    erases: bool,
    /// The stiffness that it paints.
    stiffness: f64,
    /// Distances on the first shape.
    geodesics: Option<(Arc<Ground>, ExactGeodesics)>,
    stroke: Option<Stroke>,
}

impl Default for Brush {
    fn default() -> Self {
        Self { tool: Tool::default(), radius: 0.06, erases: false, stiffness: 10.0, geodesics: None, stroke: None }
    }
}

/// A stroke on its way.
#[derive(Debug)]
struct Stroke {
    fixed: Arc<Vec<u32>>,
    stiffness: Arc<Vec<f32>>,
    /// How much of each vertex it covered, 0 to 1.
    covered: BTreeMap<u32, f32>,
    erases: bool,
    /// Where the pointer was last.
    last: Pos2,
}

/// Between dabs of a stroke, in radii: ours, no gap shows.
const DAB_SPACING: f32 = 0.3;
/// A radius on the screen where the pointer left the shape.
const MOST_SPACING: f32 = 24.0;
/// Dabs in a frame of the window, which must not wait.
const MOST_DABS: f32 = 24.0;

impl Brush {
    /// Whether a stroke is on its way: springs wait for its end.
    #[must_use]
    pub(super) fn paints(&self) -> bool {
        self.stroke.is_some()
    }

    /// The tools, and what the chosen one needs.
    pub(super) fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Tool");
        for tool in Tool::ALL {
            if ui.selectable_label(self.tool == tool, tool.label()).on_hover_text(tool.hint()).clicked() {
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
        let slider = Slider::new(&mut percent, 0.5..=40.0).logarithmic(true).suffix(" %").max_decimals(1);
        ui.add(slider).labelled_by(label.id).on_hover_text("As a share of the shape's size, along the surface");
        self.radius = percent / 100.0;
        ui.checkbox(&mut self.erases, "Erase").on_hover_text("Take away instead (hold Ctrl)");
    }

    fn stiffness_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let label = ui.label("Stiffness");
        ui.add(Slider::new(&mut self.stiffness, 0.1..=10.0).logarithmic(true).suffix(" ×").max_decimals(2))
            .labelled_by(label.id)
            .on_hover_text("Above 1 keeps its shape, below 1 gives way");
        ui.add_enabled_ui(!cx.document.blend.stiffness.is_empty(), |ui| {
            if ui.button("Clear stiffness").on_hover_text("The same everywhere").clicked() {
                cx.edit("Clear stiffness", |document| document.blend.stiffness = Arc::default());
            }
        });
    }

    /// Works with the tool at the pointer, on the first model. Says whether the left button is in use.
    pub(super) fn canvas_ui(&mut self, on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>, ground: &Arc<Ground>) -> bool {
        match self.tool {
            Tool::Select => false,
            Tool::Anchor => {
                place_anchor(on, ui, cx);
                false
            }
            Tool::Fix | Tool::Stiffness => self.paint(on, ui, cx, ground),
        }
    }

    fn paint(&mut self, on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>, ground: &Arc<Ground>) -> bool {
        let canvas = on.canvas;
        let hit = canvas.pointer().and_then(|place| shape_under(on, place));
        let pressed = canvas.tool_drag_started().then(|| canvas.press_origin()).flatten();
        let begins = pressed.or_else(|| canvas.pointer().filter(|_| canvas.tool_clicked()));
        if let Some(place) = begins.filter(|&place| shape_under(on, place).is_some()) {
            let erases = self.erases || ui.input(|input| input.modifiers.command);
            let (fixed, stiffness) = (cx.document.blend.fixed.clone(), cx.document.blend.stiffness.clone());
            self.stroke = Some(Stroke { fixed, stiffness, covered: BTreeMap::new(), erases, last: place });
        }
        if let Some(hit) = hit {
            self.ring(on, ui, &hit, ground);
        }
        let used = self.stroke.is_some();
        if let Some(place) = canvas.pointer().filter(|_| used) {
            self.draw_to(place, on, ground);
            self.apply(cx, ground.mesh.vertex_count());
        }
        if !ui.input(|input| input.pointer.primary_down()) {
            self.stroke = None;
        }
        used
    }

    /// Covers all the way from the last place of the stroke.
    fn draw_to(&mut self, place: Pos2, on: &On<'_>, ground: &Arc<Ground>) {
        let Some(stroke) = &mut self.stroke else { return };
        let from = std::mem::replace(&mut stroke.last, place);
        let radius = shape_under(on, place).map_or(MOST_SPACING, |hit| self.radius_on_screen(on, &hit, ground));
        for dab in dabs(from, place, DAB_SPACING * radius) {
            if let Some(hit) = shape_under(on, dab) {
                self.cover(&hit, ground);
            }
        }
    }

    /// Covers what is within the radius, less towards its rim.
    fn cover(&mut self, hit: &Hit, ground: &Arc<Ground>) {
        let radius = self.radius * ground.size;
        if self.geodesics.as_ref().is_none_or(|(of, _)| !Arc::ptr_eq(of, ground)) {
            self.geodesics = ground.geodesics.clone().map(|geodesics| (ground.clone(), geodesics));
        }
        let (Some((_, geodesics)), Some(stroke)) = (&mut self.geodesics, &mut self.stroke) else { return };
        let source = SurfacePoint::InTriangle(TrianglePoint { triangle: hit.triangle, barycentric: hit.barycentric });
        let Ok(disc) = geodesics.disc(&[source], radius) else { return };
        for (&vertex, &distance) in disc.vertices.iter().zip(&disc.distances) {
            let cover = falloff(distance / radius) as f32;
            let covered = stroke.covered.entry(vertex).or_insert(0.0);
            *covered = covered.max(cover);
        }
    }

    fn apply(&self, cx: &mut Cx<'_>, vertex_count: usize) {
        let Some(stroke) = &self.stroke else { return };
        if self.tool == Tool::Fix {
            let fixed = Arc::new(stroke.fixes());
            cx.edit_by_hand("Fix vertices", move |document| document.blend.fixed = fixed);
        } else {
            let stiffness = Arc::new(stroke.stiffens(self.stiffness as f32, vertex_count));
            cx.edit_by_hand("Paint stiffness", move |document| document.blend.stiffness = stiffness);
        }
    }

    fn radius_on_screen(&self, on: &On<'_>, hit: &Hit, ground: &Ground) -> f32 {
        (self.radius * ground.size / on.canvas.view.world_per_pixel(hit.position).max(f64::MIN_POSITIVE)) as f32
    }

    fn ring(&self, on: &On<'_>, ui: &Ui, hit: &Hit, ground: &Ground) {
        ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        if let Some(at) = on.canvas.view.project(hit.position) {
            let radius = self.radius_on_screen(on, hit, ground);
            on.canvas.painter.circle_stroke(at, radius, Line::new(2.5, Color32::from_black_alpha(120)));
            on.canvas.painter.circle_stroke(at, radius, Line::new(1.0, Color32::WHITE));
        }
    }
}

/// Places from one to another, the first left out unless it is both, no further apart than `spacing` as long as they are few.
fn dabs(from: Pos2, to: Pos2, spacing: f32) -> impl Iterator<Item = Pos2> {
    let count = (from.distance(to) / spacing.max(1.0)).ceil().clamp(1.0, MOST_DABS) as usize;
    (1..=count).map(move |k| from + (to - from) * (k as f32 / count as f32))
}

/// From 1 in the middle to 0 at the rim, flat at both.
fn falloff(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    1.0 - share * share * (3.0 - 2.0 * share)
}

impl Stroke {
    /// The fixed vertices after it.
    fn fixes(&self) -> Vec<u32> {
        let covered = |vertex: &u32| self.covered.contains_key(vertex);
        let mut fixed: Vec<u32> = self.fixed.iter().copied().filter(|vertex| !covered(vertex)).collect();
        if !self.erases {
            fixed.extend(self.covered.keys());
            fixed.sort_unstable();
        }
        fixed
    }

    /// The stiffness after it: geometrically between what was there and what is painted. Empty where all is alike again.
    fn stiffens(&self, painted: f32, vertex_count: usize) -> Vec<f32> {
        let painted = if self.erases { 1.0 } else { painted };
        let mut map = if self.stiffness.len() == vertex_count { self.stiffness.to_vec() } else { vec![1.0; vertex_count] };
        for (&vertex, &covered) in &self.covered {
            if let Some(value) = map.get_mut(vertex as usize) {
                *value = value.powf(1.0 - covered) * painted.powf(covered);
            }
        }
        if map.iter().all(|value| (value - 1.0).abs() < 1e-3) { Vec::new() } else { map }
    }
}

/// The blended shape under a place: the first model.
fn shape_under(on: &On<'_>, place: Pos2) -> Option<Hit> {
    on.pick(place).filter(|hit| hit.model == 0)
}

fn anchor_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let setup = &cx.document.blend;
    match setup.anchor.len() {
        0 => ui.label("Anchor: the middle"),
        1 => ui.label(format!("Anchor: vertex {}", setup.anchor[0])),
        more => ui.label(format!("Anchor: {more} vertices")),
    };
    if !setup.fixed.is_empty() {
        ui.weak("Fixed vertices hold the shape in its place.");
    }
    ui.add_enabled_ui(!setup.anchor.is_empty(), |ui| {
        if ui.button("Anchor in the middle").on_hover_text("Hold the shape in its middle, as by default").clicked() {
            cx.edit("Place anchor", |document| document.blend.anchor.clear());
        }
    });
}

fn fixed_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let count = cx.document.blend.fixed.len();
    ui.label(format!("{count} vertices fixed"));
    ui.add_enabled_ui(count > 0, |ui| {
        if ui.button("Free all vertices").clicked() {
            cx.edit("Free all vertices", |document| document.blend.fixed = Arc::default());
        }
    });
}

fn place_anchor(on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>) {
    let Some(hit) = on.canvas.pointer().and_then(|place| shape_under(on, place)) else { return };
    ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
    if on.canvas.tool_clicked() {
        let (vertex, adds) = (hit.vertex, ui.input(|input| input.modifiers.shift));
        cx.edit("Place anchor", move |document| set_anchor(&mut document.blend, vertex, adds));
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
pub(super) fn anchor_marks(on: &On<'_>, anchor: &[u32], positions: &[DVec3]) {
    let painter = &on.canvas.painter;
    for place in anchor.iter().filter_map(|&v| positions.get(v as usize)) {
        let Some(at) = on.canvas.view.project(*place) else { continue };
        let color = Color32::from_rgb(120, 200, 255);
        painter.circle(at, 6.0, color, Line::new(1.5, Color32::from_gray(20)));
        painter.line_segment([at - vec2(0.0, 4.0), at + vec2(0.0, 4.0)], Line::new(1.5, Color32::from_gray(20)));
        painter.line_segment([at - vec2(4.0, 0.0), at + vec2(4.0, 0.0)], Line::new(1.5, Color32::from_gray(20)));
        painter.text(at + vec2(10.0, 0.0), Align2::LEFT_CENTER, "Anchor", FontId::proportional(12.0), color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stroke(covered: &[(u32, f32)], erases: bool) -> Stroke {
        let covered = covered.iter().copied().collect();
        Stroke { fixed: Arc::new(vec![1, 4, 7]), stiffness: Arc::new(vec![1.0, 4.0, 1.0]), covered, erases, last: Pos2::ZERO }
    }

    #[test]
    fn a_stroke_adds_to_the_fixed_vertices_or_takes_away() {
        assert_eq!(stroke(&[(2, 0.5), (4, 1.0)], false).fixes(), [1, 2, 4, 7]);
        assert_eq!(stroke(&[(2, 0.5), (4, 1.0)], true).fixes(), [1, 7]);
    }

    #[test]
    fn stiffness_goes_in_ratios_from_what_was_there_to_what_is_painted() {
        let painted = stroke(&[(0, 1.0), (1, 0.5)], false).stiffens(9.0, 3);
        assert!(painted.iter().zip([9.0, 6.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-5), "{painted:?}");
        assert!(stroke(&[(1, 1.0)], true).stiffens(9.0, 3).is_empty());
    }

    #[test]
    fn a_stroke_leaves_no_gap_and_a_click_is_one_dab() {
        let (from, to) = (Pos2::new(3.0, 4.0), Pos2::new(63.0, 84.0));
        let places: Vec<Pos2> = std::iter::once(from).chain(dabs(from, to, 8.0)).collect();
        assert_eq!(places.last(), Some(&to));
        assert!(places.windows(2).all(|pair| pair[0].distance(pair[1]) <= 8.001));
        assert_eq!(dabs(to, to, 8.0).collect::<Vec<_>>(), [to]);
    }

    #[test]
    fn paint_of_another_mesh_is_not_kept() {
        assert_eq!(stroke(&[(0, 1.0)], false).stiffens(2.0, 4), [2.0, 1.0, 1.0, 1.0]);
    }
}
