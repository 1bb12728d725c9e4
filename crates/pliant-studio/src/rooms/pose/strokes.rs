//! Strokes on the face: a stroke that bends it, or a curve with its goal curve.

use std::sync::Arc;

use eframe::egui::{Color32, CursorIcon, Pos2, Shape, Stroke as Pen, Ui};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{SurfacePoint, TrianglePoint};
use pliant::rig::Stroke;

use super::overlay::INK;
use super::{PoseRoom, Tool};
use crate::engine::character::{
    Drag, DragInput, Line, LinePins, LineShape, PosedCharacter, weights_of,
};
use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::model::document::Weights;
use crate::model::pose::{DraggedPin, PinMark, Pull, Setup};
use crate::rooms::PaneCanvas;
use crate::view::View;

/// The least way between two points of a line, and the least length of one, on the screen.
const STEP: f32 = 2.0;
const SHORTEST: f32 = 16.0;
/// Places of a line that are looked up on the face to show it there.
const SHOWN_PLACES: usize = 24;

/// Lines in progress.
#[derive(Debug, Default)]
pub(super) struct Strokes {
    /// The line under the pen.
    line: Vec<Pos2>,
    gesture: u64,
    /// The line on the face that should go somewhere.
    source: Option<Source>,
    /// The request that is out, with the pose it is about.
    requested: Option<(u64, Weights, Vec<DraggedPin>)>,
    /// The last line on the face.
    pub(super) last: Option<Arc<LinePins>>,
}

#[derive(Debug)]
struct Source {
    stroke: Stroke,
    places: Vec<TrianglePoint>,
}

impl Strokes {
    /// Whether a line is under the pen.
    pub(super) fn draws(&self) -> bool {
        !self.line.is_empty()
    }

    /// Whether the next line says where the first should go.
    pub(super) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// Lets the first line go.
    pub(super) fn forget(&mut self) {
        (self.source, self.line) = (None, Vec::new());
    }

    /// Shows lines.
    pub(super) fn paint(
        &self,
        on: &PaneCanvas<'_>,
        posed: &PosedCharacter,
        positions: &[DVec3],
        tool: Tool,
        pins: &[PinMark],
    ) {
        let triangles = posed.rig.neutral().triangles();
        // The last stroke stays visible, faded, as long as its pins exist.
        if let Some(last) = &self.last
            && matches!(tool, Tool::Stroke | Tool::Curve)
            && has_all_pins(last, pins)
        {
            let points = last.curve.points.iter();
            let places = points.filter_map(|point| place_of(point, triangles, positions));
            paint_line(on, places, INK.gamma_multiply(0.55));
        }

        if let Some(source) = self.source.as_ref().filter(|_| tool == Tool::Curve) {
            let on_face = source
                .places
                .iter()
                .filter(|point| is_on(point, triangles.len()));
            let places = on_face.map(|point| point.position(triangles, positions));
            paint_line(on, places, INK);
        }

        on.canvas
            .painter
            .add(Shape::line(self.line.clone(), Pen::new(3.0, INK)));
    }
}

/// Whether all pins of a stroke still exist.
fn has_all_pins(stroke: &LinePins, pins: &[PinMark]) -> bool {
    let mut pulled = stroke.pulled.iter();
    pulled.all(|pulled| pins.iter().any(|mark| mark.vertex == pulled.vertex))
}

/// The position of a surface point; `None` for a point of another mesh.
fn place_of(point: &SurfacePoint, triangles: &[[u32; 3]], positions: &[DVec3]) -> Option<DVec3> {
    match point {
        SurfacePoint::Vertex(vertex) => positions.get(*vertex as usize).copied(),
        SurfacePoint::InTriangle(point) => {
            is_on(point, triangles.len()).then(|| point.position(triangles, positions))
        }
    }
}

fn paint_line(on: &PaneCanvas<'_>, places: impl Iterator<Item = DVec3>, color: Color32) {
    let line: Vec<Pos2> = places
        .filter_map(|place| on.canvas.view.project(place))
        .collect();
    let shape = Shape::line(line, Pen::new(2.5, color));
    on.canvas.painter.add(shape);
}

/// Whether a place is on this mesh, and not on the one before it.
fn is_on(point: &TrianglePoint, triangles: usize) -> bool {
    (point.triangle as usize) < triangles
}

fn stroke_of(view: &View, line: &[Pos2]) -> Stroke {
    Stroke {
        camera: view.sketch_camera(),
        points: line.iter().map(|&place| view.to_uv(place)).collect(),
    }
}

fn length(line: &[Pos2]) -> f32 {
    line.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
}

impl PoseRoom {
    /// Draws lines. Returns whether the left button is in use.
    pub(super) fn strokes_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &Ui,
        posed: &Arc<PosedCharacter>,
        cx: &mut Cx<'_>,
    ) -> bool {
        let canvas = on.canvas;
        let strokes = &mut self.strokes;

        // A goal curve may lie outside the face.
        let may_begin = |place: &Pos2| strokes.source.is_some() || on.pick(*place).is_some();
        if canvas.tool_drag_started()
            && let Some(origin) = canvas.press_origin().filter(may_begin)
        {
            (strokes.line, strokes.gesture) = (vec![origin], cx.gesture);
        }

        let (Some(&last), Some(pointer)) = (strokes.line.last(), canvas.pointer()) else {
            return false;
        };

        ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        if pointer.distance(last) >= STEP {
            strokes.line.push(pointer);
        }

        if canvas.tool_drag_stopped() {
            let line = std::mem::take(&mut strokes.line);
            if length(&line) >= SHORTEST {
                self.end_line(&line, on, posed, cx);
            }
        } else if !canvas.tool_dragged() {
            strokes.line.clear();
        }
        true
    }

    fn end_line(
        &mut self,
        line: &[Pos2],
        on: &PaneCanvas<'_>,
        posed: &Arc<PosedCharacter>,
        cx: &mut Cx<'_>,
    ) {
        let stroke = stroke_of(&on.canvas.view, line);
        match (self.tool, self.strokes.source.take()) {
            (Tool::Curve, None) => {
                // The first line is looked up at a few places, which show it on the face.
                let step = line.len().div_ceil(SHOWN_PLACES).max(1);
                let hits = line
                    .iter()
                    .step_by(step)
                    .chain(line.last())
                    .filter_map(|&place| on.pick(place));

                let places = hits
                    .map(|hit| TrianglePoint {
                        triangle: hit.triangle,
                        barycentric: hit.barycentric,
                    })
                    .collect();

                self.strokes.source = Some(Source { stroke, places });
            }
            (Tool::Curve, Some(source)) => {
                self.request_line_pins(LineShape::Toward(source.stroke, stroke), posed, cx)
            }
            _ => self.request_line_pins(LineShape::Bent(stroke), posed, cx),
        }
    }

    /// Requests the pins of a line.
    pub(super) fn request_line_pins(
        &mut self,
        shape: LineShape,
        posed: &PosedCharacter,
        cx: &mut Cx<'_>,
    ) {
        let setup = &cx.document.pose;
        let held = setup.held_beside(&[], &posed.positions);
        let line = Line {
            shape,
            options: setup.lines,
            held: held.clone(),
            mirror: self.mirror.get(cx),
        };

        let serial = self.next_serial();
        let base = weights_of(posed);
        let gesture = cx.gesture;
        // The result is a list of pins, which are then dragged from the same pose.
        self.strokes.requested = Some((serial, base.clone(), held));
        cx.command(Command::Drag(Drag {
            gesture,
            serial,
            base,
            method: setup.solving_method(),
            input: DragInput::Draw(Arc::new(line)),
        }));
    }

    /// Takes in the pins of a line, and pulls them.
    pub(super) fn take_drawn(&mut self, cx: &mut Cx<'_>) {
        let drawn = cx.posed.and_then(|posed| posed.drawn.clone());
        // A result for an older line is ignored.
        let answers = |drawn: &Arc<LinePins>| {
            self.strokes
                .requested
                .as_ref()
                .is_some_and(|(serial, ..)| *serial == drawn.serial)
        };

        let Some(drawn) = drawn.filter(answers) else {
            return;
        };
        let Some((_, base, held)) = self.strokes.requested.take() else {
            return;
        };

        // A vertex of the stroke that is also held belongs to the stroke.
        let apart = held
            .into_iter()
            .filter(|held| drawn.pulled.iter().all(|pin| pin.vertex != held.vertex));
        let pins: Vec<DraggedPin> = drawn.pulled.iter().cloned().chain(apart).collect();

        if let Some(remark) = &drawn.remark {
            cx.notify(Notice::hint(remark));
        }

        let serial = self.next_serial();
        let method = cx.document.pose.solving_method();
        cx.command(Command::Drag(Drag {
            gesture: drawn.gesture,
            serial,
            base: base.clone(),
            method,
            input: DragInput::Pull(pins.clone()),
        }));

        let pull = Pull {
            base,
            pins,
            ..Pull::default()
        };
        let pulled = drawn.pulled.clone();

        cx.edit_in_gesture(drawn.gesture, "Draw stroke", move |document| {
            document.pose.take_stroke(&pulled, pull)
        });
        self.pin_tool.selected = None;
        self.strokes.last = Some(drawn);
    }
}

impl Setup {
    /// The pins of a stroke; those that are there already join it.
    fn take_stroke(&mut self, pulled: &[DraggedPin], pull: Pull) {
        let stroke = Some(self.next_stroke());
        for pin in pulled {
            let mark = PinMark {
                goal: Some(pin.goal),
                stroke,
                ..PinMark::new(pin.vertex)
            };
            match self
                .pins
                .iter_mut()
                .find(|known| known.vertex == pin.vertex)
            {
                // A pin that existed before stays held.
                Some(known) => {
                    *known = PinMark {
                        held: known.held,
                        ..mark
                    }
                }
                None => self.pins.push(mark),
            }
        }

        self.pull = Some(pull);
    }
}
