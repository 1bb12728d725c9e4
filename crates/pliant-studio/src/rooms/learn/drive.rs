//! Driving: points and end effectors under the pointer, and the mesh that follows.

use std::sync::Arc;

use eframe::egui::{Color32, Key, Stroke, Ui};
use pliant::learn::Jiggle;
use pliant::mesh::glam::DVec3;
use pliant::skeleton_file::SkeletonFile;

use super::capture::Stage;
use super::driver::{self, Driven, Question, Swing, Wanted};
use super::handles::{Dot, Handle, Held, handles_ui, paint_handle};
use super::points::POINT;
use super::setup::{DrivenBy, Setup, as_arrays, as_places};
use crate::command::Notice;
use crate::rooms::{Cx, On};
use crate::work::Latest;

/// The colour of end effectors.
const EFFECTOR: Color32 = Color32::from_rgb(70, 170, 255);
/// The colour of bones.
const BONE: Color32 = Color32::from_rgb(250, 215, 100);

/// The hand that drives, and the mesh as it stands.
#[derive(Default)]
pub(super) struct Driving {
    worker: Option<Latest<Question, Driven>>,
    asked: Option<Question>,
    driven: Option<Arc<Driven>>,
    selected: Option<usize>,
    held: Option<Held>,
    /// The control point that is pulled next, as far as one can tell.
    near: Option<usize>,
    /// The goals when a pull began, and its gesture.
    before: Option<(u64, Vec<DVec3>)>,
    /// The skeleton as the worker gets it: the same one while the document has the same.
    skeleton: Option<Arc<SkeletonFile>>,
}

impl Driving {
    /// Fetches the newest pose and asks for the one that the document wants.
    pub(super) fn update(&mut self, capture: &Stage, cx: &mut Cx<'_>) {
        let worker = self
            .worker
            .get_or_insert_with(|| driver::start(cx.wake.clone()));
        match worker.answer() {
            None => {}
            Some(Ok(driven)) => self.driven = Some(Arc::new(driven)),
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
        }
        let setup = &cx.document.learn;
        if setup.skeleton.as_ref() != self.skeleton.as_deref() {
            self.skeleton = setup.skeleton.clone().map(Arc::new);
        }
        let question = self.question(setup, capture, cx);
        // A pose of another model is none of this one.
        let model = question.as_ref().map(|question| &question.model);
        self.driven = self
            .driven
            .take()
            .filter(|driven| Some(&driven.model) == model);
        if question != self.asked {
            self.asked.clone_from(&question);
            if let (Some(worker), Some(question)) = (&self.worker, question) {
                worker.ask(question);
            }
        }
    }

    fn question(&self, setup: &Setup, capture: &Stage, cx: &Cx<'_>) -> Option<Question> {
        let trained = setup
            .trained
            .as_ref()
            .filter(|trained| !trained.model.bytes().is_empty())?;
        let drive = &setup.drive;
        let frame = cx.clock.frame;
        let wanted = match drive.by {
            DrivenBy::Points if drive.goals.len() == trained.of.points.len() => {
                Wanted::Points(as_places(&drive.goals))
            }
            DrivenBy::Points => Wanted::Rest,
            DrivenBy::Effectors => match &self.skeleton {
                Some(skeleton) => Wanted::Effectors(skeleton.clone(), as_places(&drive.effectors)),
                None => Wanted::Rest,
            },
            DrivenBy::Capture => capture.at(frame).map_or(Wanted::Rest, Wanted::Points),
        };
        let jiggle = Jiggle {
            hertz: drive.swing_hertz,
            damping: drive.swing_damping,
            frames_per_second: cx.document.timeline.frames_per_second,
        };
        let swings = drive.by == DrivenBy::Capture && drive.swing_hertz > 0.0;
        let swing = swings.then_some(Swing {
            jiggle,
            frame: frame.floor() as i64,
        });
        let (model, hold) = (trained.model.clone(), drive.hold);
        let pulled = self
            .near
            .filter(|&k| drive.by == DrivenBy::Points && k < trained.of.points.len());
        Some(Question {
            model,
            hold,
            wanted,
            pulled,
            details: drive.details,
            confidence: drive.confidence,
            swing,
        })
    }

    /// The mesh as it stands, if it is that of the document's model.
    #[must_use]
    pub(super) fn driven(&self) -> Option<&Arc<Driven>> {
        self.driven.as_ref()
    }

    /// Whether a pose is still to come.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Drags and shows what moves the model.
    pub(super) fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(driven) = self.driven.clone() else {
            return false;
        };
        let free = !ui.ctx().egui_wants_keyboard_input();
        if free && ui.input(|input| input.key_pressed(Key::R)) {
            reset(cx);
        }
        match cx.document.learn.drive.by {
            DrivenBy::Points => self.points_ui(on, ui, &driven, cx),
            DrivenBy::Effectors => self.effectors_ui(on, ui, &driven, cx),
            DrivenBy::Capture => paint_points(on, &driven, cx),
        }
        self.held.is_some()
    }

    fn points_ui(&mut self, on: &On<'_>, ui: &Ui, driven: &Driven, cx: &mut Cx<'_>) {
        let Some(trained) = &cx.document.learn.trained else {
            return;
        };
        let vertices = trained.of.points.clone();
        let drive = &cx.document.learn.drive;
        let goals = if drive.goals.len() == vertices.len() {
            as_places(&drive.goals)
        } else {
            driven.goals.clone()
        };
        if goals.len() != vertices.len() {
            return;
        }
        let handles = point_handles(&vertices, &goals, driven);
        let touched = handles_ui(ui, on, &handles, cx.gesture, &mut self.held);
        self.selected = touched.pressed.or(self.selected);
        self.near = self
            .held
            .map(|held| held.index)
            .or(touched.hovered)
            .or(self.selected);
        for (handle, point) in handles.iter().zip(&driven.points) {
            if let (Some(from), Some(to)) = (
                on.canvas.view.project(*point),
                on.canvas.view.project(handle.place),
            ) {
                on.canvas
                    .painter
                    .line_segment([from, to], Stroke::new(1.5, POINT.gamma_multiply(0.7)));
            }
            let active =
                touched.hovered == Some(handle.index) || self.selected == Some(handle.index);
            let words = if active {
                point_name(&cx.document.learn, handle.index)
            } else {
                String::new()
            };
            paint_handle(
                on,
                handle,
                Dot {
                    color: POINT,
                    radius: 4.5,
                    ringed: self.selected == Some(handle.index),
                },
                &words,
            );
        }
        if let (Some(held), Some(pointer)) = (&mut self.held, touched.pointer) {
            let (gesture, index, goal) = (
                held.gesture,
                held.index,
                held.follow(ui, &on.canvas.view, pointer),
            );
            let (_, before) = self
                .before
                .take_if(|(other, _)| *other == gesture)
                .unwrap_or((gesture, goals));
            let goals = pulled(&before, index, goal, drive.reach, driven);
            self.before = Some((gesture, before));
            cx.edit_by_hand("Drag control point", move |document| {
                document.learn.drive.goals = as_arrays(&goals)
            });
        }
    }

    fn effectors_ui(&mut self, on: &On<'_>, ui: &Ui, driven: &Driven, cx: &mut Cx<'_>) {
        for [from, to] in &driven.bones {
            if let (Some(from), Some(to)) =
                (on.canvas.view.project(*from), on.canvas.view.project(*to))
            {
                on.canvas
                    .painter
                    .line_segment([from, to], Stroke::new(4.0, Color32::from_black_alpha(90)));
                on.canvas
                    .painter
                    .line_segment([from, to], Stroke::new(2.0, BONE));
                on.canvas.painter.circle_filled(to, 3.0, BONE);
            }
        }
        let names = self.effector_names();
        let drive = &cx.document.learn.drive;
        let mut goals = if drive.effectors.len() == names.len() {
            as_places(&drive.effectors)
        } else {
            driven.effectors.clone()
        };
        let handles = effector_handles(&names, &goals, on);
        let touched = handles_ui(ui, on, &handles, cx.gesture, &mut self.held);
        self.selected = touched.pressed.or(self.selected);
        for handle in &handles {
            let ringed = self.selected == Some(handle.index);
            let words = if ringed || touched.hovered == Some(handle.index) {
                &*names[handle.index]
            } else {
                ""
            };
            paint_handle(
                on,
                handle,
                Dot {
                    color: EFFECTOR,
                    radius: 7.0,
                    ringed,
                },
                words,
            );
        }
        if let (Some(held), Some(pointer)) = (&mut self.held, touched.pointer)
            && held.index < goals.len()
        {
            goals[held.index] = held.follow(ui, &on.canvas.view, pointer);
            cx.edit_by_hand("Drag end effector", move |document| {
                document.learn.drive.effectors = as_arrays(&goals)
            });
        }
    }

    fn effector_names(&self) -> Vec<String> {
        let joints = self.skeleton.iter().flat_map(|skeleton| &skeleton.joints);
        joints
            .filter(|joint| joint.effector)
            .map(|joint| joint.name.clone())
            .collect()
    }

    /// Goes over to another way of driving from the pose as it stands.
    pub(super) fn drive_by(&self, by: DrivenBy, cx: &mut Cx<'_>) {
        let (goals, effectors) = self.carried(&cx.document.learn);
        let at_rest = cx.document.learn.drive.goals.is_empty()
            && cx.document.learn.drive.effectors.is_empty();
        let from = cx.document.learn.drive.by;
        cx.edit("Choose what drives", move |document| {
            let drive = &mut document.learn.drive;
            drive.by = by;
            match by {
                DrivenBy::Points if from == DrivenBy::Effectors && !at_rest => drive.goals = goals,
                DrivenBy::Effectors if from == DrivenBy::Points && !at_rest => {
                    drive.effectors = effectors
                }
                DrivenBy::Points | DrivenBy::Effectors | DrivenBy::Capture => {}
            }
        });
    }

    /// The pose as it stands, by control points and by effectors that sit at some.
    fn carried(&self, setup: &Setup) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
        let Some(driven) = &self.driven else {
            return Default::default();
        };
        let joints = setup
            .skeleton
            .iter()
            .flat_map(|skeleton| &skeleton.joints)
            .filter(|joint| joint.effector);
        let places: Option<Vec<DVec3>> = joints
            .map(|joint| driven.goals.get(joint.control?).copied())
            .collect();
        (
            as_arrays(&driven.goals),
            places.map(|places| as_arrays(&places)).unwrap_or_default(),
        )
    }
}

/// Goals after one of them was pulled to a place: others go along, the less the farther they are
/// along the surface.
fn pulled(before: &[DVec3], point: usize, goal: DVec3, reach: f64, driven: &Driven) -> Vec<DVec3> {
    let apart = driven
        .apart
        .as_ref()
        .filter(|(of, _)| *of == point)
        .map(|(_, apart)| &**apart);
    let way = before.get(point).map_or(DVec3::ZERO, |from| goal - *from);
    let near = |k: usize| {
        apart
            .and_then(|apart| apart.get(k))
            .map_or(0.0, |&distance| falloff(distance, reach))
    };
    let share = |k: usize| if k == point { 1.0 } else { near(k) };
    before
        .iter()
        .enumerate()
        .map(|(k, place)| *place + way * share(k))
        .collect()
}

/// The part of a pull that reaches so far: all of it where it begins, none from `reach` on, smooth
/// at both ends.
fn falloff(distance: f64, reach: f64) -> f64 {
    let near = 1.0 - (distance / reach).powi(2);
    if near > 0.0 { near * near } else { 0.0 }
}

/// Brings everything back to rest.
pub(super) fn reset(cx: &mut Cx<'_>) {
    cx.edit("Reset pose", |document| {
        document.learn.drive.goals.clear();
        document.learn.drive.effectors.clear();
    });
}

/// A control point's number, with its name where the skeleton has one.
fn point_name(setup: &Setup, point: usize) -> String {
    let joints = setup.skeleton.iter().flat_map(|skeleton| &skeleton.joints);
    let name = joints
        .filter(|joint| joint.control == Some(point))
        .map(|joint| joint.name.clone())
        .next();
    name.map_or_else(
        || (point + 1).to_string(),
        |name| format!("{} {name}", point + 1),
    )
}

fn point_handles(vertices: &[u32], goals: &[DVec3], driven: &Driven) -> Vec<Handle> {
    let handle = |(index, (&place, &vertex)): (usize, (&DVec3, &u32))| {
        let normal = driven
            .vertices
            .normals
            .get(vertex as usize)
            .map_or(DVec3::ZERO, |normal| normal.as_dvec3());
        Handle {
            index,
            label: format!("Control point {}", index + 1),
            place,
            normal,
        }
    };
    goals.iter().zip(vertices).enumerate().map(handle).collect()
}

/// Effectors face the eye: they are seen through the mesh.
fn effector_handles(names: &[String], goals: &[DVec3], on: &On<'_>) -> Vec<Handle> {
    let normal = on.canvas.view.camera.axes().back;
    let handle = |(index, (&place, name)): (usize, (&DVec3, &String))| Handle {
        index,
        label: format!("End effector {name}"),
        place,
        normal,
    };
    goals.iter().zip(names).enumerate().map(handle).collect()
}

/// Points that nobody drags.
fn paint_points(on: &On<'_>, driven: &Driven, cx: &Cx<'_>) {
    let Some(trained) = &cx.document.learn.trained else {
        return;
    };
    for handle in point_handles(&trained.of.points, &driven.goals, driven) {
        paint_handle(
            on,
            &handle,
            Dot {
                color: POINT,
                radius: 3.5,
                ringed: false,
            },
            "",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_is_whole_where_it_begins_and_nothing_from_its_reach_on() {
        assert_eq!(
            [falloff(0.0, 0.25), falloff(0.25, 0.25), falloff(1.0, 0.25)],
            [1.0, 0.0, 0.0]
        );
        assert_eq!(falloff(0.1, 0.0), 0.0, "without reach a point moves alone");
        assert!(falloff(0.05, 0.25) > falloff(0.06, 0.25));
    }
}
