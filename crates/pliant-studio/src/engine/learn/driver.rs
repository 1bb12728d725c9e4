//! Worker that evaluates a trained model for moving control points; the newest request wins.
//!
//! The worker keeps what a model needs once (the parsed bytes, the factorisation, the natural
//! angles of the skeleton) from one request to the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant::learn::shown_mesh;
use pliant::learn::{Confidence, Driver, IkSolver, Model, SecondaryMotion, SecondaryMotionOptions};
use pliant::mesh::glam::DVec3;
use pliant::recipes::SkeletonFile;
use web_time::Instant;

use crate::engine::heat::{Heat, HeatMap};
use crate::engine::surface::{Surface, Vertices};
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::blob::Blob;
use crate::model::learn::HoldMode;
use crate::model::names::to_message;

/// A requested pose.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DriveRequest {
    /// The bytes of the model.
    pub(crate) model: Blob,
    /// How its points are held.
    pub(crate) hold: HoldMode,
    /// Where they go.
    pub(crate) wanted: DriveGoal,
    /// Whether details are shown, where the model has any.
    pub(crate) details: bool,
    /// Whether to compute the confidence.
    pub(crate) confidence: bool,
    /// The secondary motion of a captured motion.
    pub(crate) swing: Option<JiggleFrame>,
    /// The control point from which distances to the others are measured.
    pub(crate) pulled: Option<usize>,
}

/// Where control points go.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DriveGoal {
    /// Where they are at rest.
    Rest,
    /// Each of them.
    Points(Vec<DVec3>),
    /// The end effectors of a skeleton; nothing for where they are at rest.
    Effectors(Arc<SkeletonFile>, Vec<DVec3>),
}

/// Secondary motion at a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct JiggleFrame {
    /// Frequency and damping.
    pub(crate) jiggle: SecondaryMotionOptions,
    /// The frame that is shown.
    pub(crate) frame: i64,
}

/// A driven mesh, ready to be drawn.
#[derive(Debug, Clone)]
pub(crate) struct DrivenPose {
    /// The model.
    pub(crate) model: Blob,
    /// Its faces, of the mesh that is shown.
    pub(crate) surface: Arc<Surface>,
    /// The vertex positions.
    pub(crate) vertices: Arc<Vertices>,
    /// Where the control points were wanted.
    pub(crate) goals: Vec<DVec3>,
    /// The positions they reached.
    pub(crate) points: Vec<DVec3>,
    /// Where the joints are, with the place of each one's parent, where a skeleton leads.
    pub(crate) bones: Vec<[DVec3; 2]>,
    /// Where the end effectors are.
    pub(crate) effectors: Vec<DVec3>,
    /// The largest distance of an effector from its goal, over the mesh's longest side.
    pub(crate) missed: f64,
    /// The confidence of each shown vertex.
    pub(crate) confidence: Option<Heat>,
    /// A control point, and how far the others are from it along the surface at rest, over the
    /// longest side.
    pub(crate) apart: Option<(usize, Arc<Vec<f64>>)>,
    /// The distance from all examples; above about 2 the pose is an extrapolation.
    pub(crate) novelty: f64,
    /// Seconds that it took.
    pub(crate) secs: f64,
}

/// Starts the worker.
#[must_use]
pub(crate) fn start(wake: Wake) -> Latest<DriveRequest, DrivenPose> {
    Latest::new(
        "Driving the model",
        wake,
        |inbox: &Inbox<DriveRequest>, outbox: &Outbox<DrivenPose>| {
            let mut next = inbox.next();
            while let Some(request) = next {
                // One model serves all requests until another model is requested.
                next = match Model::from_bytes(request.model.bytes()) {
                    Ok(model) => serve_model(&model, request, inbox, outbox),
                    Err(error) => {
                        outbox.put(Err(format!(
                            "The model cannot be read: {error}. Train it again."
                        )));
                        inbox.next()
                    }
                };
            }
        },
    )
}

/// Answers requests about one model; returns the first about another one.
fn serve_model(
    model: &Model,
    first: DriveRequest,
    inbox: &Inbox<DriveRequest>,
    outbox: &Outbox<DrivenPose>,
) -> Option<DriveRequest> {
    let name = first.model.clone();
    let mut next = Some(first);
    while let Some(request) = next {
        if request.model != name {
            return Some(request);
        }

        // Each way to hold the points needs its own factorisation.
        let driver = request
            .hold
            .hold()
            .map_or_else(|| Ok(model.driver()), |hold| model.driver_with(hold));

        next = match driver {
            Ok(driver) => {
                serve_driver(&mut ModelDriver::new(model, driver), request, inbox, outbox)
            }
            Err(error) => {
                outbox.put(Err(error.to_string()));
                inbox.next()
            }
        };
    }
    None
}

/// Answers requests about points held in one way; returns the first that is another.
fn serve_driver(
    session: &mut ModelDriver<'_>,
    first: DriveRequest,
    inbox: &Inbox<DriveRequest>,
    outbox: &Outbox<DrivenPose>,
) -> Option<DriveRequest> {
    let name = first.model.clone();
    let hold = first.hold;
    let mut request = first;
    loop {
        outbox.put(session.answer(&request));
        request = inbox.next()?;
        if request.model != name || request.hold != hold {
            return Some(request);
        }
    }
}

/// The state between requests.
struct ModelDriver<'a> {
    model: &'a Model,
    driver: Driver,
    /// The faces without and with details.
    surfaces: [Option<Arc<Surface>>; 2],
    solver: Option<(Arc<SkeletonFile>, IkSolver)>,
    motion: Option<Motion>,
    apart: BTreeMap<usize, Arc<Vec<f64>>>,
}

/// The state of the secondary motion.
struct Motion {
    swing: JiggleFrame,
    with_detail: bool,
    state: SecondaryMotion,
    /// The last driven pose, and how it was shown.
    driven: Vec<DVec3>,
    shown: Vec<DVec3>,
}

/// Control points, bones and effectors of a posed skeleton.
#[derive(Default)]
struct SkeletonPose {
    goals: Vec<DVec3>,
    bones: Vec<[DVec3; 2]>,
    effectors: Vec<DVec3>,
    miss: f64,
}

impl<'a> ModelDriver<'a> {
    fn new(model: &'a Model, driver: Driver) -> Self {
        Self {
            model,
            driver,
            surfaces: [None, None],
            solver: None,
            motion: None,
            apart: BTreeMap::new(),
        }
    }

    fn answer(&mut self, request: &DriveRequest) -> Result<DrivenPose, String> {
        let began = Instant::now();
        let model = self.model;
        let led = self.control_pose(&request.wanted)?;
        let confidence = if request.confidence {
            self.driver.confidence(&led.goals).map_err(to_message)?
        } else {
            None
        };

        // Colours are those of the base's vertices: where the details have others, the base is
        // shown.
        let on_base =
            confidence.is_some() && model.detail().is_some_and(|layer| layer.levels() > 0);
        let with_detail = request.details && model.detail().is_some() && !on_base;
        let found = self
            .driver
            .driven_pose(&led.goals, with_detail)
            .map_err(to_message)?;

        let points = model
            .control()
            .at(found.base.as_deref().unwrap_or(&found.positions));
        let positions = self.with_secondary_motion(request.swing, with_detail, found.positions)?;
        let mesh = shown_mesh(model, with_detail);
        let surface = self.surfaces[usize::from(with_detail)]
            .get_or_insert_with(|| Surface::of(mesh))
            .clone();

        Ok(DrivenPose {
            model: request.model.clone(),
            surface,
            vertices: Vertices::of(mesh, &positions),
            novelty: model.novelty(&led.goals),
            missed: led.miss / model.examples().longest_side().max(f64::MIN_POSITIVE),
            goals: led.goals,
            points,
            bones: led.bones,
            effectors: led.effectors,
            confidence: confidence.as_ref().map(colors),
            apart: request
                .pulled
                .map(|point| (point, self.distances_from(point))),
            secs: began.elapsed().as_secs_f64(),
        })
    }

    fn distances_from(&mut self, point: usize) -> Arc<Vec<f64>> {
        let model = self.model;
        let examples = self.model.examples();
        let side = examples.longest_side().max(f64::MIN_POSITIVE);
        let found = || {
            model
                .control()
                .distances_from(examples.reference(), point)
                .into_iter()
                .map(|d| d / side)
                .collect()
        };

        // Distances at rest never change, so they are measured once per point.
        self.apart
            .entry(point)
            .or_insert_with(|| Arc::new(found()))
            .clone()
    }

    /// Control points for a goal.
    fn control_pose(&mut self, wanted: &DriveGoal) -> Result<SkeletonPose, String> {
        let rest = || {
            self.model
                .control()
                .at(self.model.examples().reference().positions())
        };
        match wanted {
            DriveGoal::Rest => Ok(SkeletonPose {
                goals: rest(),
                ..SkeletonPose::default()
            }),
            DriveGoal::Points(goals) => Ok(SkeletonPose {
                goals: goals.clone(),
                ..SkeletonPose::default()
            }),
            DriveGoal::Effectors(skeleton, effectors) => self.follow(skeleton, effectors),
        }
    }

    fn follow(
        &mut self,
        file: &Arc<SkeletonFile>,
        goals: &[DVec3],
    ) -> Result<SkeletonPose, String> {
        if self.solver.as_ref().is_none_or(|(known, _)| known != file) {
            let solver = file.solver(self.model).map_err(to_message)?;
            self.solver = Some((file.clone(), solver));
        }

        let Some((_, solver)) = &self.solver else {
            return Ok(SkeletonPose::default());
        };

        let skeleton = solver.skeleton();
        let rest: Vec<DVec3> = skeleton.effectors().map(|joint| joint.at).collect();
        let at_rest = goals.len() != rest.len();

        // Inverse kinematics starts from the natural pose each time: equal goals give equal poses,
        // so that undo restores the pose.
        let (places, miss) = if at_rest {
            (
                skeleton.joints().iter().map(|joint| joint.at).collect(),
                0.0,
            )
        } else {
            let pose = solver.solve(goals, None).map_err(to_message)?;
            (pose.positions, pose.residual)
        };

        let place_of = |name: &str| {
            skeleton
                .joints()
                .iter()
                .position(|joint| joint.name == name)
                .map(|k| places[k])
        };

        let bones = skeleton.joints().iter().zip(&places);
        let bones = bones
            .filter_map(|(joint, place)| Some([place_of(joint.parent.as_deref()?)?, *place]))
            .collect();
        let effectors = if at_rest { rest } else { goals.to_vec() };

        Ok(SkeletonPose {
            goals: skeleton.controls(&places, self.model.control().count()),
            bones,
            effectors,
            miss,
        })
    }

    /// The pose with secondary motion. A jump restarts the motion; frames that were not drawn are
    /// interpolated linearly.
    fn with_secondary_motion(
        &mut self,
        swing: Option<JiggleFrame>,
        with_detail: bool,
        driven: Vec<DVec3>,
    ) -> Result<Vec<DVec3>, String> {
        const MOST_SKIPPED: i64 = 12;

        let Some(swing) = swing else {
            self.motion = None;
            return Ok(driven);
        };

        // A small step forward continues the motion; anything else is a jump.
        let goes_on = |motion: &Motion| {
            let ahead = swing.frame - motion.swing.frame;
            motion.swing.jiggle == swing.jiggle
                && motion.with_detail == with_detail
                && (0..=MOST_SKIPPED).contains(&ahead)
        };

        let Some(motion) = self.motion.as_mut().filter(|motion| goes_on(motion)) else {
            let mesh = shown_mesh(self.model, with_detail);
            let mut state = SecondaryMotion::new(mesh, self.model.control(), &swing.jiggle)
                .map_err(to_message)?;
            let shown = state.advance(&driven).map_err(to_message)?;

            self.motion = Some(Motion {
                swing,
                with_detail,
                state,
                driven,
                shown: shown.clone(),
            });

            return Ok(shown);
        };

        let ahead = swing.frame - motion.swing.frame;
        // Frames that were not drawn are interpolated, so that the step size is constant.
        for step in 1..=ahead {
            let share = step as f64 / ahead as f64;
            let between: Vec<DVec3> = motion
                .driven
                .iter()
                .zip(&driven)
                .map(|(from, to)| from.lerp(*to, share))
                .collect();
            motion.shown = motion.state.advance(&between).map_err(to_message)?;
        }

        if ahead > 0 {
            motion.driven = driven;
        }

        motion.swing = swing;
        Ok(motion.shown.clone())
    }
}

fn colors(confidence: &Confidence) -> Heat {
    Heat::new(
        &confidence.of_vertices(),
        HeatMap::Sequential,
        "Confidence",
        "",
    )
    .with_range([0.0, 1.0])
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use pliant::learn::{ControlPoints, Examples, LearnOptions};
    use pliant::mesh::shapes::flat_sheet;

    use super::*;

    /// A sheet that bends, with points at its corners and in its centre.
    fn model() -> Model {
        let sheet = flat_sheet(8, 0.0);
        let bent = |amount: f64| {
            sheet
                .positions()
                .iter()
                .map(|p| *p + DVec3::Z * amount * p.x * p.x)
                .collect::<Vec<_>>()
        };

        let examples = Examples::new(
            sheet.clone(),
            vec![bent(0.2), bent(0.4)],
            vec!["half".into(), "full".into()],
        )
        .unwrap();

        let control = ControlPoints::new(&sheet, &[0, 8, 40, 72, 80]).unwrap();
        Model::train(examples, control, &LearnOptions::default(), &()).unwrap()
    }

    fn driven_pose(request: DriveRequest) -> Result<DrivenPose, String> {
        let (ring, woken) = mpsc::channel();
        let worker = start(Arc::new(move || ring.send(()).unwrap_or(())));
        worker.send(request);
        loop {
            if let Some(answer) = worker.result() {
                return answer;
            }
            woken.recv().unwrap();
        }
    }

    fn request(model: Blob, wanted: DriveGoal) -> DriveRequest {
        DriveRequest {
            model,
            hold: HoldMode::Learned,
            wanted,
            details: true,
            confidence: true,
            swing: None,
            pulled: Some(1),
        }
    }

    #[test]
    fn the_worker_drives_as_the_model_does() {
        let model = model();
        let goals = model.control().at(model.examples().pose(2));
        let blob = Blob::new(model.to_bytes(), "safetensors");
        let driven = driven_pose(request(blob.clone(), DriveGoal::Points(goals.clone()))).unwrap();
        let expected: Vec<_> = model
            .drive(&goals)
            .unwrap()
            .iter()
            .map(|p| p.as_vec3())
            .collect();

        assert_eq!(driven.vertices.positions, expected);
        assert!(
            driven
                .confidence
                .is_some_and(|heat| heat.values.len() == expected.len())
        );

        let (point, apart) = driven.apart.expect("distances were asked for");
        // Points 0 and 1 are the ends of a side, which is the longest.
        assert!(
            point == 1 && (apart[0] - 1.0).abs() < 1e-12 && apart[1] == 0.0,
            "{apart:?}"
        );

        let rest = driven_pose(request(blob, DriveGoal::Rest)).unwrap();
        assert_eq!(rest.goals, model.control().at(model.examples().pose(0)));
    }

    #[test]
    fn invalid_model_bytes_are_an_error() {
        let message = driven_pose(request(
            Blob::new(b"nothing".to_vec(), "safetensors"),
            DriveGoal::Rest,
        ))
        .unwrap_err();
        assert!(message.contains("Train it again"), "{message}");
    }

    #[test]
    fn secondary_motion_continues_and_a_jump_restarts_it() {
        let model = model();
        let mut session = ModelDriver::new(&model, model.driver());
        let pose = |amount: f64| {
            model
                .examples()
                .reference()
                .positions()
                .iter()
                .map(|p| *p + DVec3::Z * amount)
                .collect::<Vec<_>>()
        };

        let jiggle = SecondaryMotionOptions {
            hertz: 2.0,
            damping: 0.2,
            frames_per_second: 24.0,
        };

        let mut at = |frame, amount| {
            session
                .with_secondary_motion(Some(JiggleFrame { jiggle, frame }), false, pose(amount))
                .unwrap()
        };

        // The first frame has no velocity, so it is the driven pose itself.
        assert_eq!(at(0, 0.0), pose(0.0));
        at(1, 0.1);
        // The drive stops at frame 2, and the velocity of frame 1 carries on.
        let stopped = at(2, 0.1);

        assert!(
            stopped
                .iter()
                .zip(pose(0.1))
                .any(|(shown, driven)| shown.z > driven.z + 1e-3),
            "it goes on where the pose stops"
        );

        assert_eq!(
            at(2, 0.1),
            stopped,
            "a frame that is shown again does not go on"
        );
        assert_eq!(at(50, 0.1), pose(0.1), "after a jump it is at rest");
    }
}
