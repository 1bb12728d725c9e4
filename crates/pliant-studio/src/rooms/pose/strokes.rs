//! Lines drawn on the face: a stroke that bends it, or a curve and where it should go.

use std::sync::Arc;

use eframe::egui::{Color32, CursorIcon, Pos2, Shape, Stroke as Pen, Ui};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{SurfacePoint, TrianglePoint};
use pliant::rig::Stroke;

use super::hand::edit_of;
use super::marks::{PinMark, Pull, Pulled, weights_of};
use super::overlay::INK;
use super::{PoseRoom, Setup, Tool};
use crate::character::{Drag, Drawn, Hand, Line, LineShape, Posed};
use crate::command::Notice;
use crate::document::Weights;
use crate::rooms::{Cx, On};
use crate::view::View;

/// The least way between two points of a line, and the least length of one, on the screen.
const STEP: f32 = 2.0;
const SHORTEST: f32 = 16.0;
/// Places of a line that are looked up on the face to show it there.
const SHOWN_PLACES: usize = 24;

/// Lines on their way.
#[derive(Debug, Default)]
pub(super) struct Strokes {
    /// The line under the pen.
    line: Vec<Pos2>,
    gesture: u64,
    /// The line on the face that should go somewhere.
    source: Option<Source>,
    /// The question that is out, with the pose it is about.
    asked: Option<(u64, Weights, Vec<Pulled>)>,
    /// The last line on the face.
    pub(super) last: Option<Arc<Drawn>>,
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
        on: &On<'_>,
        posed: &Posed,
        positions: &[DVec3],
        tool: Tool,
        pins: &[PinMark],
    ) {
        let triangles = posed.rig.neutral().triangles();
        let show = |places: &mut dyn Iterator<Item = DVec3>, color: Color32| {
            let line: Vec<Pos2> = places
                .filter_map(|place| on.canvas.view.project(place))
                .collect();
            on.canvas
                .painter
                .add(Shape::line(line, Pen::new(2.5, color)));
        };
        let is_there = |last: &&Arc<Drawn>| {
            last.pulled
                .iter()
                .all(|pulled| pins.iter().any(|mark| mark.vertex == pulled.vertex))
        };
        if let Some(last) = self
            .last
            .as_ref()
            .filter(is_there)
            .filter(|_| matches!(tool, Tool::Stroke | Tool::Curve))
        {
            let place = |point: &SurfacePoint| match point {
                SurfacePoint::Vertex(vertex) => positions.get(*vertex as usize).copied(),
                SurfacePoint::InTriangle(point) => {
                    is_on(point, triangles.len()).then(|| point.position(triangles, positions))
                }
            };
            show(
                &mut last.curve.points.iter().filter_map(place),
                INK.gamma_multiply(0.55),
            );
        }
        if let Some(source) = self.source.as_ref().filter(|_| tool == Tool::Curve) {
            let on_face = source
                .places
                .iter()
                .filter(|point| is_on(point, triangles.len()));
            show(
                &mut on_face.map(|point| point.position(triangles, positions)),
                INK,
            );
        }
        on.canvas
            .painter
            .add(Shape::line(self.line.clone(), Pen::new(3.0, INK)));
    }
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
    /// Draws lines. Says whether the left button is in use.
    pub(super) fn strokes_ui(
        &mut self,
        on: &On<'_>,
        ui: &Ui,
        posed: &Arc<Posed>,
        cx: &mut Cx<'_>,
    ) -> bool {
        let canvas = on.canvas;
        let strokes = &mut self.strokes;
        // Where a curve should go may be beside the face.
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

    fn end_line(&mut self, line: &[Pos2], on: &On<'_>, posed: &Arc<Posed>, cx: &mut Cx<'_>) {
        let stroke = stroke_of(&on.canvas.view, line);
        match (self.tool, self.strokes.source.take()) {
            (Tool::Curve, None) => {
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
                self.ask_line(LineShape::Toward(source.stroke, stroke), posed, cx)
            }
            _ => self.ask_line(LineShape::Bent(stroke), posed, cx),
        }
    }

    /// Asks for the pins of a line.
    pub(super) fn ask_line(&mut self, shape: LineShape, posed: &Posed, cx: &mut Cx<'_>) {
        let setup = &cx.document.pose;
        let held = setup.held_beside(&[], &posed.positions);
        let line = Line {
            shape,
            options: setup.lines,
            held: held.clone(),
            mirror: self.mirror.get(cx),
        };
        let (serial, base, gesture) = (self.next_serial(), weights_of(posed), cx.gesture);
        self.strokes.asked = Some((serial, base.clone(), held));
        *cx.drag = Some(Drag {
            gesture,
            serial,
            base,
            method: setup.solving_method(),
            hand: Hand::Draw(Arc::new(line)),
        });
    }

    /// Takes in the pins of a line, and pulls them.
    pub(super) fn take_drawn(&mut self, cx: &mut Cx<'_>) {
        let drawn = cx.posed.and_then(|posed| posed.drawn.clone());
        let answers = |drawn: &Arc<Drawn>| {
            self.strokes
                .asked
                .as_ref()
                .is_some_and(|(serial, ..)| *serial == drawn.serial)
        };
        let Some(drawn) = drawn.filter(answers) else {
            return;
        };
        let Some((_, base, held)) = self.strokes.asked.take() else {
            return;
        };
        let apart = held
            .into_iter()
            .filter(|held| drawn.pulled.iter().all(|pin| pin.vertex != held.vertex));
        let pins: Vec<Pulled> = drawn.pulled.iter().cloned().chain(apart).collect();
        if let Some(remark) = &drawn.remark {
            cx.tell(Notice::hint(remark));
        }
        let (serial, method) = (self.next_serial(), cx.document.pose.solving_method());
        *cx.drag = Some(Drag {
            gesture: drawn.gesture,
            serial,
            base: base.clone(),
            method,
            hand: Hand::Pull(pins.clone()),
        });
        let (pull, pulled) = (
            Pull {
                base,
                pins,
                ..Pull::default()
            },
            drawn.pulled.clone(),
        );
        edit_of(drawn.gesture, "Draw stroke", cx, move |document| {
            document.pose.take_stroke(&pulled, pull)
        });
        self.hand.selected = None;
        self.strokes.last = Some(drawn);
    }
}

impl Setup {
    /// The pins of a stroke; those that are there already join it.
    fn take_stroke(&mut self, pulled: &[Pulled], pull: Pull) {
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
