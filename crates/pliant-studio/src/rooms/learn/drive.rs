//! Driving a model: control points and end effectors under the pointer.

use std::sync::Arc;

use eframe::egui::{Color32, Key, Stroke, Ui};
use pliant::learn::SecondaryMotionOptions;
use pliant::mesh::glam::DVec3;
use pliant::recipes::SkeletonFile;

use super::handles::{Dot, Handle, Held, handles_ui, paint_handle};
use super::points::POINT;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::learn::capture::CaptureReader;
use crate::engine::learn::driver::{self, DriveGoal, DriveRequest, DrivenPose, JiggleFrame};
use crate::engine::work::Latest;
use crate::model::learn::{DrivenBy, Setup, as_arrays, as_places};
use crate::rooms::PaneCanvas;

/// The colour of end effectors.
const EFFECTOR: Color32 = Color32::from_rgb(70, 170, 255);
/// The colour of bones.
const BONE: Color32 = Color32::from_rgb(250, 215, 100);

/// The tool that drives the model, and the driven mesh.
#[derive(Default)]
pub(super) struct DriveTool {
    worker: Option<Latest<DriveRequest, DrivenPose>>,
    requested: Option<DriveRequest>,
    driven: Option<Arc<DrivenPose>>,
    selected: Option<usize>,
    held: Option<Held>,
    /// The control point that will probably be dragged next.
    near: Option<usize>,
    /// The goals when a pull began, and its gesture.
    before: Option<(u64, Vec<DVec3>)>,
    /// The skeleton as the worker gets it: the same one while the document has the same.
    skeleton: Option<Arc<SkeletonFile>>,
}

impl DriveTool {
    /// Fetches the newest pose and requests the one that the document wants.
    pub(super) fn update(&mut self, capture: &CaptureReader, cx: &mut Cx<'_>) {
        let worker = self
            .worker
            .get_or_insert_with(|| driver::start(cx.wake.clone()));

        match worker.result() {
            None => {}
            Some(Ok(driven)) => self.driven = Some(Arc::new(driven)),
            Some(Err(message)) => cx.notify(Notice::error(message)),
        }

        let setup = &cx.document.learn;
        if setup.skeleton.as_ref() != self.skeleton.as_deref() {
            self.skeleton = setup.skeleton.clone().map(Arc::new);
        }

        let request = self.request(setup, capture, cx);
        // A pose of another model is not shown.
        let model = request.as_ref().map(|request| &request.model);
        self.driven = self
            .driven
            .take()
            .filter(|driven| Some(&driven.model) == model);

        if request != self.requested {
            self.requested.clone_from(&request);
            if let (Some(worker), Some(request)) = (&self.worker, request) {
                worker.send(request);
            }
        }
    }

    fn request(&self, setup: &Setup, capture: &CaptureReader, cx: &Cx<'_>) -> Option<DriveRequest> {
        let trained = setup
            .trained
            .as_ref()
            .filter(|trained| !trained.model.bytes().is_empty())?;
        let drive = &setup.drive;
        let frame = cx.clock.frame;

        let wanted = match drive.by {
            DrivenBy::Points if drive.goals.len() == trained.of.points.len() => {
                DriveGoal::Points(as_places(&drive.goals))
            }
            DrivenBy::Points => DriveGoal::Rest,
            DrivenBy::Effectors => match &self.skeleton {
                Some(skeleton) => {
                    DriveGoal::Effectors(skeleton.clone(), as_places(&drive.effectors))
                }
                None => DriveGoal::Rest,
            },
            DrivenBy::Capture => capture.at(frame).map_or(DriveGoal::Rest, DriveGoal::Points),
        };

        let jiggle = SecondaryMotionOptions {
            hertz: drive.swing_hertz,
            damping: drive.swing_damping,
            frames_per_second: cx.document.timeline.frames_per_second,
        };
        let swings = drive.by == DrivenBy::Capture && drive.swing_hertz > 0.0;

        let swing = swings.then_some(JiggleFrame {
            jiggle,
            frame: frame.floor() as i64,
        });
        let model = trained.model.clone();
        let hold = drive.hold;
        // The worker measures distances from the point that is dragged next, ahead of the drag.
        let pulled = self
            .near
            .filter(|&k| drive.by == DrivenBy::Points && k < trained.of.points.len());

        Some(DriveRequest {
            model,
            hold,
            wanted,
            pulled,
            details: drive.details,
            confidence: drive.confidence,
            swing,
        })
    }

    /// The mesh in its current state, if it is that of the document's model.
    #[must_use]
    pub(super) fn driven(&self) -> Option<&Arc<DrivenPose>> {
        self.driven.as_ref()
    }

    /// Whether a pose is still to come.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Drags and shows control points and effectors.
    pub(super) fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
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

    fn points_ui(&mut self, on: &PaneCanvas<'_>, ui: &Ui, driven: &DrivenPose, cx: &mut Cx<'_>) {
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
            self.paint_point(on, handle, *point, touched.hovered, cx);
        }

        if let (Some(held), Some(pointer)) = (&mut self.held, touched.pointer) {
            let gesture = held.gesture;
            let index = held.index;
            let goal = held.follow(ui, &on.canvas.view, pointer);

            // Every frame of a drag starts from the goals at its begin, so that the falloff does
            // not accumulate.
            let (_, before) = self
                .before
                .take_if(|(other, _)| *other == gesture)
                .unwrap_or((gesture, goals));
            let goals = pulled(&before, index, goal, drive.reach, driven);
            self.before = Some((gesture, before));

            cx.edit_continuously("Drag control point", move |document| {
                document.learn.drive.goals = as_arrays(&goals)
            });
        }
    }

    /// A control point with a line from its reached position to its goal.
    fn paint_point(
        &self,
        on: &PaneCanvas<'_>,
        handle: &Handle,
        reached: DVec3,
        hovered: Option<usize>,
        cx: &Cx<'_>,
    ) {
        let view = &on.canvas.view;
        if let (Some(from), Some(to)) = (view.project(reached), view.project(handle.place)) {
            let line = Stroke::new(1.5, POINT.gamma_multiply(0.7));
            on.canvas.painter.line_segment([from, to], line);
        }

        let ringed = self.selected == Some(handle.index);
        let words = if ringed || hovered == Some(handle.index) {
            point_name(&cx.document.learn, handle.index)
        } else {
            String::new()
        };

        let dot = Dot {
            color: POINT,
            radius: 4.5,
            ringed,
        };
        paint_handle(on, handle, dot, &words);
    }

    fn effectors_ui(&mut self, on: &PaneCanvas<'_>, ui: &Ui, driven: &DrivenPose, cx: &mut Cx<'_>) {
        paint_bones(on, &driven.bones);

        let names = self.effector_names();
        let drive = &cx.document.learn.drive;
        // Goals of another skeleton do not fit; then the drag starts from the current pose.
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

            let dot = Dot {
                color: EFFECTOR,
                radius: 7.0,
                ringed,
            };
            paint_handle(on, handle, dot, words);
        }

        if let (Some(held), Some(pointer)) = (&mut self.held, touched.pointer)
            && held.index < goals.len()
        {
            goals[held.index] = held.follow(ui, &on.canvas.view, pointer);
            cx.edit_continuously("Drag end effector", move |document| {
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

    /// Goes over to another way of driving from the pose in its current state.
    pub(super) fn drive_by(&self, by: DrivenBy, cx: &mut Cx<'_>) {
        let (goals, effectors) = self.current_goals(&cx.document.learn);
        let at_rest = cx.document.learn.drive.goals.is_empty()
            && cx.document.learn.drive.effectors.is_empty();
        let from = cx.document.learn.drive.by;

        cx.edit("Choose what drives", move |document| {
            let drive = &mut document.learn.drive;
            drive.by = by;
            // The new mode starts from the pose of the old one, unless that was at rest.
            match by {
                DrivenBy::Points if from == DrivenBy::Effectors && !at_rest => drive.goals = goals,
                DrivenBy::Effectors if from == DrivenBy::Points && !at_rest => {
                    drive.effectors = effectors
                }
                DrivenBy::Points | DrivenBy::Effectors | DrivenBy::Capture => {}
            }
        });
    }

    /// The pose in its current state, by control points and by effectors that sit at some.
    fn current_goals(&self, setup: &Setup) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
        let Some(driven) = &self.driven else {
            return Default::default();
        };

        let joints = setup
            .skeleton
            .iter()
            .flat_map(|skeleton| &skeleton.joints)
            .filter(|joint| joint.effector);
        // Effectors without a control point cannot be carried over.
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
fn pulled(
    before: &[DVec3],
    point: usize,
    goal: DVec3,
    reach: f64,
    driven: &DrivenPose,
) -> Vec<DVec3> {
    // Until the distances are known, the point moves alone.
    let apart = driven
        .apart
        .as_ref()
        .filter(|(of, _)| *of == point)
        .map(|(_, apart)| &**apart);
    let displacement = before.get(point).map_or(DVec3::ZERO, |from| goal - *from);

    let near = |k: usize| {
        apart
            .and_then(|apart| apart.get(k))
            .map_or(0.0, |&distance| falloff(distance, reach))
    };
    let share = |k: usize| if k == point { 1.0 } else { near(k) };

    before
        .iter()
        .enumerate()
        .map(|(k, place)| *place + displacement * share(k))
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

fn point_handles(vertices: &[u32], goals: &[DVec3], driven: &DrivenPose) -> Vec<Handle> {
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

/// The bones of the skeleton, on a dark outline.
fn paint_bones(on: &PaneCanvas<'_>, bones: &[[DVec3; 2]]) {
    let painter = &on.canvas.painter;
    for [from, to] in bones {
        let view = &on.canvas.view;
        if let (Some(from), Some(to)) = (view.project(*from), view.project(*to)) {
            painter.line_segment([from, to], Stroke::new(4.0, Color32::from_black_alpha(90)));
            painter.line_segment([from, to], Stroke::new(2.0, BONE));
            painter.circle_filled(to, 3.0, BONE);
        }
    }
}

/// Effectors face the camera: they are drawn through the mesh.
fn effector_handles(names: &[String], goals: &[DVec3], on: &PaneCanvas<'_>) -> Vec<Handle> {
    let normal = on.canvas.view.camera.axes().back;
    let handle = |(index, (&place, name)): (usize, (&DVec3, &String))| Handle {
        index,
        label: format!("End effector {name}"),
        place,
        normal,
    };
    goals.iter().zip(names).enumerate().map(handle).collect()
}

/// Points that are not dragged.
fn paint_points(on: &PaneCanvas<'_>, driven: &DrivenPose, cx: &Cx<'_>) {
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
    fn the_falloff_is_one_at_the_point_and_zero_beyond_the_reach() {
        assert_eq!(
            [falloff(0.0, 0.25), falloff(0.25, 0.25), falloff(1.0, 0.25)],
            [1.0, 0.0, 0.0]
        );
        assert_eq!(falloff(0.1, 0.0), 0.0, "without reach a point moves alone");
        assert!(falloff(0.05, 0.25) > falloff(0.06, 0.25));
    }
}
