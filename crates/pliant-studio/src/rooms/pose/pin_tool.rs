//! Pins under the pointer: add, drag, select, delete.

use std::sync::Arc;

use eframe::egui::{CursorIcon, Pos2, Ui};
use pliant::mesh::VertexId;
use pliant::mesh::glam::DVec3;
use pliant::rig::{Aim, VertexMirror};

use super::PoseRoom;
use crate::engine::character::{self, Drag, PosedCharacter, weights_of};
use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::engine::playback::find_take;
use crate::engine::pose::mirror::{mirrored_aim, partner};
use crate::engine::surface::Vertices;
use crate::model::document::Weights;
use crate::model::pose::{DraggedPin, PinMark, Pull, Setup};
use crate::rooms::PaneCanvas;
use crate::view::{DragDirection, DragPlane};

/// How near the pointer must be to a pin to take it, in points.
const REACH: f32 = 11.0;

/// The pin tool.
#[derive(Debug, Default)]
pub(super) struct PinTool {
    /// The pin that keys and buttons act on.
    pub(super) selected: Option<usize>,
    drag: Option<PinDrag>,
}

/// A pin being dragged.
#[derive(Debug)]
struct PinDrag {
    gesture: u64,
    /// The pin and, where both sides move, its partner.
    vertices: Vec<VertexId>,
    /// Where they were when the pin was taken, and where the pointer was.
    starts: Vec<DVec3>,
    pointer: Pos2,
    plane: DragPlane,
    /// The pose from which it is dragged, and what stays.
    base: Weights,
    held: Vec<DraggedPin>,
    /// The goal that was last requested.
    goal: DVec3,
    /// The face before the drag.
    before: Arc<Vertices>,
}

impl PinTool {
    /// Whether a pin is being dragged.
    pub(super) fn holds(&self) -> bool {
        self.drag.is_some()
    }

    /// The face before the drag in progress.
    pub(super) fn before(&self) -> Option<&Arc<Vertices>> {
        self.drag.as_ref().map(|drag| &drag.before)
    }

    /// Where the pin being dragged should go.
    pub(super) fn goal(&self) -> Option<(VertexId, DVec3)> {
        self.drag.as_ref().map(|drag| (drag.vertices[0], drag.goal))
    }
}

/// The pin under a place of the screen, by where it is or should be: the nearest.
pub(super) fn pin_under(
    pointer: Pos2,
    on: &PaneCanvas<'_>,
    positions: &[DVec3],
    pins: &[PinMark],
) -> Option<usize> {
    let distance = |mark: &PinMark| {
        // A pin on a vertex that the mesh does not have is ignored.
        let places = [Some(mark.place(positions)?), mark.goal()];
        let shown = places
            .into_iter()
            .flatten()
            .filter_map(|place| on.canvas.view.project(place));

        shown
            .map(|place| place.distance(pointer))
            .reduce(f32::min)
            .filter(|d| *d <= REACH)
    };

    let near = pins
        .iter()
        .enumerate()
        .filter_map(|(k, mark)| Some((k, distance(mark)?)));

    near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}

impl PinDrag {
    /// The dragged pin and, with a mirror, its partner, whose displacement is mirrored.
    fn dragged_pins(
        &self,
        goal: DVec3,
        aim: Aim,
        mirror: Option<&VertexMirror>,
    ) -> Vec<DraggedPin> {
        let mut dragged = vec![DraggedPin::new(self.vertices[0], goal, aim)];
        let partner = self.vertices.get(1).zip(self.starts.get(1));
        if let (Some(mirror), Some((&vertex, &start))) = (mirror, partner) {
            let goal = start + mirror.plane().mirror_vector(goal - self.starts[0]);
            let aim = mirrored_aim(mirror, &dragged[0].aim);
            dragged.push(DraggedPin::new(vertex, goal, aim));
        }
        dragged
    }
}

impl PoseRoom {
    /// Takes, moves and selects pins. Returns whether the left button is in use.
    pub(super) fn pin_tool_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &Ui,
        posed: &PosedCharacter,
        positions: &[DVec3],
        cx: &mut Cx<'_>,
    ) -> bool {
        let canvas = on.canvas;
        if let Some(pointer) = canvas.press_origin().filter(|_| canvas.tool_drag_started()) {
            self.take(pointer, on, posed, positions, cx);
        }

        if canvas.tool_clicked()
            && let Some(pointer) = canvas.pointer()
        {
            self.click(pointer, on, positions, cx);
        }

        if self.pin_tool.drag.is_none() {
            return false;
        }

        if let Some(pointer) = canvas.pointer() {
            self.move_pin(on, pointer, ui, cx);
        }

        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        // The drag ended in this frame, after its last movement.
        if !canvas.tool_dragged() {
            self.pin_tool.drag = None;
        }
        true
    }

    /// A click selects a pin, or sets one where there is none.
    fn click(&mut self, pointer: Pos2, on: &PaneCanvas<'_>, positions: &[DVec3], cx: &mut Cx<'_>) {
        let pins = &cx.document.pose.pins;
        self.pin_tool.selected = pin_under(pointer, on, positions, pins);
        // A click beside all pins adds one.
        let Some(hit) = on
            .pick(pointer)
            .filter(|_| self.pin_tool.selected.is_none())
        else {
            return;
        };

        self.pin_tool.selected = Some(
            pins.iter()
                .position(|mark| mark.vertex == hit.vertex)
                .unwrap_or(pins.len()),
        );

        let vertices = self.both_sides(hit.vertex, cx);
        cx.edit("Add pin", move |document| {
            add_missing(&mut document.pose, &vertices)
        });
    }

    /// A vertex and, where both sides act, its partner.
    fn both_sides(&self, vertex: VertexId, cx: &Cx<'_>) -> Vec<VertexId> {
        let other = self
            .mirror
            .get(cx)
            .and_then(|mirror| partner(&mirror, vertex.get()));
        std::iter::once(vertex)
            .chain(other.map(VertexId::new))
            .collect()
    }

    fn take(
        &mut self,
        pointer: Pos2,
        on: &PaneCanvas<'_>,
        posed: &PosedCharacter,
        positions: &[DVec3],
        cx: &mut Cx<'_>,
    ) {
        let setup = &cx.document.pose;
        let found = pin_under(pointer, on, positions, &setup.pins);
        let vertex = match found {
            Some(pin) => setup.pins[pin].vertex,
            None => match on.pick(pointer) {
                Some(hit) => hit.vertex,
                None => return,
            },
        };

        if take_is_shown(cx) {
            cx.notify(Notice::hint(
                "A take plays instead of the sliders; choose Keys in the timeline to pose.",
            ));
            return;
        }

        // Playing keys would move the sliders during the drag.
        cx.clock.playing = false;
        let vertices = self.both_sides(vertex, cx);
        let mut starts = Vec::new();
        for &vertex in &vertices {
            let Some(start) = drag_start(vertex, setup, positions) else {
                return;
            };
            starts.push(start);
        }

        let index_of =
            |vertex: &VertexId| setup.pins.iter().position(|mark| mark.vertex == *vertex);
        let dragged: Vec<usize> = vertices.iter().filter_map(index_of).collect();
        let held = setup.held_beside(&dragged, &posed.positions);
        let Some(normal) = posed
            .vertices
            .normals
            .get(vertex.index())
            .map(|normal| normal.as_dvec3())
        else {
            return;
        };

        self.pin_tool.selected = Some(index_of(&vertex).unwrap_or(setup.pins.len()));
        let goal = starts[0];
        let plane = DragPlane::new(goal, normal, pointer);
        self.pin_tool.drag = Some(PinDrag {
            gesture: cx.gesture,
            vertices,
            starts,
            pointer,
            plane,
            base: weights_of(posed),
            held,
            goal,
            before: posed.vertices.clone(),
        });
    }

    fn move_pin(&mut self, on: &PaneCanvas<'_>, pointer: Pos2, ui: &Ui, cx: &mut Cx<'_>) {
        let serial = self.next_serial();
        let mirror = self.mirror.get(cx);
        let Some(drag) = &mut self.pin_tool.drag else {
            return;
        };

        let goal = drag.plane.follow_input(ui, &on.canvas.view, pointer);
        // A resting pointer sends no new request.
        if goal == drag.goal || !goal.is_finite() {
            return;
        }

        // In the view plane the sliders choose the depth, unless the user fixed it.
        drag.goal = goal;
        let depth_is_free =
            drag.plane.direction() == DragDirection::Screen && !cx.document.pose.fixed_depth;
        let aim = if depth_is_free {
            Aim::Across(on.canvas.view.ray(drag.pointer).direction)
        } else {
            Aim::Point
        };

        let dragged = drag.dragged_pins(goal, aim, mirror.as_deref());
        let mut pins = dragged.clone();
        pins.extend(drag.held.iter().cloned());
        cx.command(Command::Drag(Drag {
            gesture: drag.gesture,
            serial,
            base: drag.base.clone(),
            method: cx.document.pose.solving_method(),
            input: character::DragInput::Pull(pins.clone()),
        }));

        // The document gets the goals now and the weights with the worker's result.
        let pull = Pull {
            base: drag.base.clone(),
            pins,
            ..Pull::default()
        };
        cx.edit_in_gesture(drag.gesture, "Drag pin", move |document| {
            store_drag(&mut document.pose, &dragged, pull)
        });
    }

    /// The selected pin, if it is there.
    pub(super) fn selected(&self, cx: &Cx<'_>) -> Option<usize> {
        self.pin_tool
            .selected
            .filter(|&pin| pin < cx.document.pose.pins.len())
    }

    /// The selected pin and, where both sides act, its partner.
    fn selected_vertices(&self, cx: &Cx<'_>) -> Vec<VertexId> {
        self.selected(cx)
            .map(|pin| self.both_sides(cx.document.pose.pins[pin].vertex, cx))
            .unwrap_or_default()
    }

    /// Takes the selected pin off.
    pub(super) fn delete_selected(&mut self, cx: &mut Cx<'_>) {
        let vertices = self.selected_vertices(cx);
        self.pin_tool.selected = None;
        cx.edit("Delete pin", move |document| {
            let setup = &mut document.pose;
            setup.pins.retain(|mark| !vertices.contains(&mark.vertex));
            // The last drag cannot be repeated without this pin.
            setup
                .pull
                .take_if(|pull| pull.pins.iter().any(|pin| vertices.contains(&pin.vertex)));
        });
    }

    /// Holds the selected pin where it is, or lets it go.
    pub(super) fn toggle_held(&mut self, cx: &mut Cx<'_>) {
        let (Some(pin), Some(posed)) = (self.selected(cx), cx.posed.cloned()) else {
            return;
        };

        let held = !cx.document.pose.pins[pin].held;
        let positions = self.layer.face(&posed).positions;
        // A held pin keeps its present position, with the residual layer.
        let places = self
            .selected_vertices(cx)
            .into_iter()
            .filter_map(|v| Some((v, *positions.get(v.index())?)));

        let places: Vec<(VertexId, DVec3)> = places.collect();
        cx.edit(
            if held { "Hold pin" } else { "Release pin" },
            move |document| {
                for mark in &mut document.pose.pins {
                    if let Some((_, place)) =
                        places.iter().find(|(vertex, _)| *vertex == mark.vertex)
                    {
                        (mark.held, mark.goal) = (held, held.then(|| place.to_array()));
                    }
                }
            },
        );
    }
}

impl Setup {
    /// The method as drags use it: with mirrored pins, both sides move alike.
    pub(super) fn solving_method(&self) -> crate::model::pose::Method {
        crate::model::pose::Method {
            symmetric: self.method.symmetric || self.mirrored,
            ..self.method
        }
    }
}

/// Whether a take is shown instead of the slider weights.
fn take_is_shown(cx: &mut Cx<'_>) -> bool {
    let Some(loaded) = cx.library.ready(&cx.document.character.asset) else {
        return false;
    };
    let library = &mut *cx.library;
    find_take(cx.document, &loaded, |locator| library.ready(locator)).is_some()
}

/// Where a drag of a vertex begins: at its goal, or at its position.
fn drag_start(vertex: VertexId, setup: &Setup, positions: &[DVec3]) -> Option<DVec3> {
    let mark = setup.pins.iter().find(|mark| mark.vertex == vertex);
    let goal = mark.and_then(PinMark::goal);
    goal.or_else(|| positions.get(vertex.index()).copied())
}

/// Stores the goals of a drag, and pins for vertices without one.
fn store_drag(setup: &mut Setup, dragged: &[DraggedPin], pull: Pull) {
    let vertices: Vec<VertexId> = dragged.iter().map(|pin| pin.vertex).collect();
    add_missing(setup, &vertices);

    for mark in &mut setup.pins {
        if let Some(pin) = dragged.iter().find(|pin| pin.vertex == mark.vertex) {
            mark.goal = Some(pin.goal);
        }
    }
    setup.pull = Some(pull);
}

/// Pins vertices that are not.
pub(super) fn add_missing(setup: &mut Setup, vertices: &[VertexId]) {
    for &vertex in vertices {
        if setup.pins.iter().all(|mark| mark.vertex != vertex) {
            setup.pins.push(PinMark::new(vertex));
        }
    }
}
