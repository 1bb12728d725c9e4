//! Pins under the pointer: taken, moved, selected, deleted.

use eframe::egui::{CursorIcon, Modifiers, Pos2, Ui};
use pliant::mesh::glam::DVec3;
use pliant::rig::Aim;

use super::marks::{PinMark, Pull, Pulled, weights_of};
use super::mirror::{mirrored_aim, partner};
use super::{PoseRoom, Setup};
use crate::character::{self, Drag, Posed};
use crate::command::{Command, Notice};
use crate::document::{Document, Weights};
use crate::history::Edit;
use crate::rooms::{Cx, On};
use crate::timeline::found_take;
use crate::view::{DragPlane, DragWay};

/// How near the pointer must be to a pin to take it, in points.
const REACH: f32 = 11.0;

/// A hand with its pins.
#[derive(Debug, Default)]
pub(super) struct Hand {
    /// The pin that keys and buttons act on.
    pub(super) selected: Option<usize>,
    grip: Option<Grip>,
}

/// A pin in the hand.
#[derive(Debug)]
struct Grip {
    gesture: u64,
    /// The pin and, where both sides move, its partner.
    vertices: Vec<u32>,
    /// Where they were when the pin was taken, and where the pointer was.
    starts: Vec<DVec3>,
    pointer: Pos2,
    drag: DragPlane,
    /// The pose from which it is dragged, and what stays.
    base: Weights,
    held: Vec<Pulled>,
    /// The goal that was last asked for.
    goal: DVec3,
}

impl Hand {
    /// Whether a pin is in the hand.
    pub(super) fn holds(&self) -> bool {
        self.grip.is_some()
    }

    /// Where the pin in the hand should go.
    pub(super) fn goal(&self) -> Option<(u32, DVec3)> {
        self.grip.as_ref().map(|grip| (grip.vertices[0], grip.goal))
    }
}

/// The pin under a place of the screen, by where it is or should be: the nearest.
pub(super) fn pin_under(
    pointer: Pos2,
    on: &On<'_>,
    positions: &[DVec3],
    pins: &[PinMark],
) -> Option<usize> {
    let distance = |mark: &PinMark| {
        // A pin of a vertex that the mesh does not have is nowhere, wherever it should be.
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

impl PoseRoom {
    /// Takes, moves and selects pins. Says whether the left button is in use.
    pub(super) fn hand_ui(
        &mut self,
        on: &On<'_>,
        ui: &Ui,
        posed: &Posed,
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
        if self.hand.grip.is_none() {
            return false;
        }
        if let Some(pointer) = canvas.pointer() {
            self.move_pin(on, pointer, ui.input(|input| input.modifiers), cx);
        }
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        if !canvas.tool_dragged() {
            self.hand.grip = None;
        }
        true
    }

    /// A click selects a pin, or sets one where there is none.
    fn click(&mut self, pointer: Pos2, on: &On<'_>, positions: &[DVec3], cx: &mut Cx<'_>) {
        let pins = &cx.document.pose.pins;
        self.hand.selected = pin_under(pointer, on, positions, pins);
        let Some(hit) = on.pick(pointer).filter(|_| self.hand.selected.is_none()) else {
            return;
        };
        self.hand.selected = Some(
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
    fn both_sides(&self, vertex: u32, cx: &Cx<'_>) -> Vec<u32> {
        let other = self
            .mirror
            .get(cx)
            .and_then(|mirror| partner(&mirror, vertex));
        std::iter::once(vertex).chain(other).collect()
    }

    fn take(
        &mut self,
        pointer: Pos2,
        on: &On<'_>,
        posed: &Posed,
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
            cx.tell(Notice::hint(
                "A take stands in place of the sliders; choose Keys in the timeline to pose.",
            ));
            return;
        }
        // Keys that play would take the sliders out of the hand.
        cx.clock.playing = false;
        let vertices: Vec<u32> = self.both_sides(vertex, cx);
        let start = |&vertex: &u32| {
            let goal = setup
                .pins
                .iter()
                .find(|mark| mark.vertex == vertex)
                .and_then(PinMark::goal);
            goal.or_else(|| positions.get(vertex as usize).copied())
        };
        let Some(starts) = vertices.iter().map(start).collect::<Option<Vec<_>>>() else {
            return;
        };
        let index_of = |vertex: &u32| setup.pins.iter().position(|mark| mark.vertex == *vertex);
        let dragged: Vec<usize> = vertices.iter().filter_map(index_of).collect();
        let held = setup.held_beside(&dragged, &posed.positions);
        let Some(normal) = posed
            .vertices
            .normals
            .get(vertex as usize)
            .map(|normal| normal.as_dvec3())
        else {
            return;
        };
        self.hand.selected = Some(index_of(&vertex).unwrap_or(setup.pins.len()));
        let goal = starts[0];
        let drag = DragPlane::new(goal, normal, pointer);
        self.hand.grip = Some(Grip {
            gesture: cx.gesture,
            vertices,
            starts,
            pointer,
            drag,
            base: weights_of(posed),
            held,
            goal,
        });
    }

    fn move_pin(&mut self, on: &On<'_>, pointer: Pos2, modifiers: Modifiers, cx: &mut Cx<'_>) {
        let (serial, mirror) = (self.next_serial(), self.mirror.get(cx));
        let Some(grip) = &mut self.hand.grip else {
            return;
        };
        let goal = grip.drag.follow(&on.canvas.view, pointer, modifiers);
        // Asked once: a hand that rests lets the worker rest.
        if goal == grip.goal || !goal.is_finite() {
            return;
        }
        grip.goal = goal;
        let depth_is_free = grip.drag.way() == DragWay::Screen && !cx.document.pose.fixed_depth;
        let aim = if depth_is_free {
            Aim::Across(on.canvas.view.ray(grip.pointer).direction)
        } else {
            Aim::Point
        };
        let mut dragged = vec![Pulled::new(grip.vertices[0], goal, aim)];
        if let (Some(mirror), Some((&vertex, &start))) =
            (mirror, grip.vertices.get(1).zip(grip.starts.get(1)))
        {
            let goal = start + mirror.plane().mirror_vector(goal - grip.starts[0]);
            dragged.push(Pulled::new(
                vertex,
                goal,
                mirrored_aim(&mirror, &dragged[0].aim),
            ));
        }
        let pins: Vec<Pulled> = dragged
            .iter()
            .cloned()
            .chain(grip.held.iter().cloned())
            .collect();
        let method = cx.document.pose.solving_method();
        *cx.drag = Some(Drag {
            gesture: grip.gesture,
            serial,
            base: grip.base.clone(),
            method,
            hand: character::Hand::Pull(pins.clone()),
        });
        let pull = Pull {
            base: grip.base.clone(),
            pins,
            ..Pull::default()
        };
        edit_of(grip.gesture, "Drag pin", cx, move |document| {
            add_missing(
                &mut document.pose,
                &dragged.iter().map(|pin| pin.vertex).collect::<Vec<_>>(),
            );
            for mark in &mut document.pose.pins {
                if let Some(pin) = dragged.iter().find(|pin| pin.vertex == mark.vertex) {
                    mark.goal = Some(pin.goal);
                }
            }
            document.pose.pull = Some(pull);
        });
    }

    /// The selected pin, if it is there.
    pub(super) fn selected(&self, cx: &Cx<'_>) -> Option<usize> {
        self.hand
            .selected
            .filter(|&pin| pin < cx.document.pose.pins.len())
    }

    /// The selected pin and, where both sides act, its partner.
    fn selected_vertices(&self, cx: &Cx<'_>) -> Vec<u32> {
        self.selected(cx)
            .map(|pin| self.both_sides(cx.document.pose.pins[pin].vertex, cx))
            .unwrap_or_default()
    }

    /// Takes the selected pin off.
    pub(super) fn delete_selected(&mut self, cx: &mut Cx<'_>) {
        let vertices = self.selected_vertices(cx);
        self.hand.selected = None;
        cx.edit("Delete pin", move |document| {
            let setup = &mut document.pose;
            setup.pins.retain(|mark| !vertices.contains(&mark.vertex));
            // What was dragged with it cannot be done again without it.
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
        let places = self
            .selected_vertices(cx)
            .into_iter()
            .filter_map(|v| Some((v, *positions.get(v as usize)?)));
        let places: Vec<(u32, DVec3)> = places.collect();
        cx.edit(
            if held { "Hold pin" } else { "Let pin go" },
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
    pub(super) fn solving_method(&self) -> super::Method {
        super::Method {
            symmetric: self.method.symmetric || self.mirrored,
            ..self.method
        }
    }
}

/// Whether a take is seen instead of what the sliders say.
fn take_is_shown(cx: &mut Cx<'_>) -> bool {
    let Some(loaded) = cx.library.ready(&cx.document.character.asset) else {
        return false;
    };
    let library = &mut *cx.library;
    found_take(cx.document, &loaded, |locator| library.ready(locator)).is_some()
}

/// Asks for a change that belongs to a gesture, even if that is over.
pub(super) fn edit_of(
    gesture: u64,
    label: &str,
    cx: &mut Cx<'_>,
    change: impl FnOnce(&mut Document) + Send + 'static,
) {
    cx.command(Command::Edit(Edit {
        label: label.into(),
        gesture: Some(gesture),
        change: Box::new(change),
    }));
}

/// Pins vertices that are not.
pub(super) fn add_missing(setup: &mut Setup, vertices: &[u32]) {
    for &vertex in vertices {
        if setup.pins.iter().all(|mark| mark.vertex != vertex) {
            setup.pins.push(PinMark::new(vertex));
        }
    }
}
