//! The worker that drives a model: the newest places of its points win.
//!
//! It keeps what a model needs once (its bytes read, its system factored, its skeleton's natural
//! angles) from one question to the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant::driven_clip::shown_mesh;
use pliant::learn::{Confidence, Driver, IkSolver, Jiggle, Model, SecondaryMotion};
use pliant::mesh::glam::DVec3;
use pliant::skeleton_file::SkeletonFile;
use web_time::Instant;

use super::setup::HoldAs;
use crate::blob::Blob;
use crate::view::{Heat, HeatMap, Surface, Vertices};
use crate::work::{Inbox, Latest, Outbox, Wake};

/// A pose that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// The bytes of the model.
    pub(super) model: Blob,
    /// How its points are held.
    pub(super) hold: HoldAs,
    /// Where they go.
    pub(super) wanted: Wanted,
    /// Whether details are shown, where the model has any.
    pub(super) details: bool,
    /// Whether to tell how sure the model is.
    pub(super) confidence: bool,
    /// What swings after a captured motion.
    pub(super) swing: Option<Swing>,
    /// The control point from which distances to the others are asked.
    pub(super) pulled: Option<usize>,
}

/// Where control points go.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// Where they are at rest.
    Rest,
    /// Each of them.
    Points(Vec<DVec3>),
    /// The end effectors of a skeleton; nothing for where they are at rest.
    Effectors(Arc<SkeletonFile>, Vec<DVec3>),
}

/// Soft parts in a motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Swing {
    /// How they swing.
    pub(super) jiggle: Jiggle,
    /// The frame that is shown.
    pub(super) frame: i64,
}

/// A driven mesh, ready to be drawn.
#[derive(Debug, Clone)]
pub(super) struct Driven {
    /// The model.
    pub(super) model: Blob,
    /// Its faces, of the mesh that is shown.
    pub(super) surface: Arc<Surface>,
    /// Where the vertices are.
    pub(super) vertices: Arc<Vertices>,
    /// Where the control points were wanted.
    pub(super) goals: Vec<DVec3>,
    /// Where they came to be.
    pub(super) points: Vec<DVec3>,
    /// Where the joints are, with the place of each one's parent, where a skeleton leads.
    pub(super) bones: Vec<[DVec3; 2]>,
    /// Where the end effectors are.
    pub(super) effectors: Vec<DVec3>,
    /// The largest distance of an effector from its goal, over the mesh's longest side.
    pub(super) missed: f64,
    /// How sure the model is of each vertex that is shown.
    pub(super) confidence: Option<Heat>,
    /// A control point, and how far the others are from it along the surface at rest, over the
    /// longest side.
    pub(super) apart: Option<(usize, Arc<Vec<f64>>)>,
    /// How far this is from all examples; above about two they do not show what is asked.
    pub(super) novelty: f64,
    /// Seconds that it took.
    pub(super) secs: f64,
}

/// Starts the worker.
#[must_use]
pub(super) fn start(wake: Wake) -> Latest<Question, Driven> {
    Latest::new(
        "Driving the model",
        wake,
        |inbox: &Inbox<Question>, outbox: &Outbox<Driven>| {
            let mut next = inbox.next();
            while let Some(question) = next {
                next = match Model::from_bytes(question.model.bytes()) {
                    Ok(model) => serve_model(&model, question, inbox, outbox),
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

/// Answers questions about one model; returns the first about another one.
fn serve_model(
    model: &Model,
    first: Question,
    inbox: &Inbox<Question>,
    outbox: &Outbox<Driven>,
) -> Option<Question> {
    let name = first.model.clone();
    let mut next = Some(first);
    while let Some(question) = next {
        if question.model != name {
            return Some(question);
        }
        let driver = question
            .hold
            .hold()
            .map_or_else(|| Ok(model.driver()), |hold| model.driver_with(hold));
        next = match driver {
            Ok(driver) => serve_driver(&mut Stand::new(model, driver), question, inbox, outbox),
            Err(error) => {
                outbox.put(Err(error.to_string()));
                inbox.next()
            }
        };
    }
    None
}

/// Answers questions about points held in one way; returns the first that is another.
fn serve_driver(
    stand: &mut Stand<'_>,
    first: Question,
    inbox: &Inbox<Question>,
    outbox: &Outbox<Driven>,
) -> Option<Question> {
    let (name, hold) = (first.model.clone(), first.hold);
    let mut question = first;
    loop {
        outbox.put(stand.answer(&question));
        question = inbox.next()?;
        if question.model != name || question.hold != hold {
            return Some(question);
        }
    }
}

/// What is kept from question to question.
struct Stand<'a> {
    model: &'a Model,
    driver: Driver<'a>,
    /// The faces without and with details.
    surfaces: [Option<Arc<Surface>>; 2],
    solver: Option<(Arc<SkeletonFile>, IkSolver)>,
    motion: Option<Motion>,
    apart: BTreeMap<usize, Arc<Vec<f64>>>,
}

/// Soft parts as they swing now.
struct Motion {
    swing: Swing,
    with_detail: bool,
    state: SecondaryMotion,
    /// The last driven pose, and how it was shown.
    driven: Vec<DVec3>,
    shown: Vec<DVec3>,
}

/// Control points with what a skeleton says of them.
#[derive(Default)]
struct Led {
    goals: Vec<DVec3>,
    bones: Vec<[DVec3; 2]>,
    effectors: Vec<DVec3>,
    miss: f64,
}

impl<'a> Stand<'a> {
    fn new(model: &'a Model, driver: Driver<'a>) -> Self {
        Self {
            model,
            driver,
            surfaces: [None, None],
            solver: None,
            motion: None,
            apart: BTreeMap::new(),
        }
    }

    fn answer(&mut self, question: &Question) -> Result<Driven, String> {
        let began = Instant::now();
        let model = self.model;
        let led = self.lead(&question.wanted)?;
        let told = |error: pliant::learn::LearnError| error.to_string();
        let confidence = if question.confidence {
            self.driver.confidence(&led.goals).map_err(told)?
        } else {
            None
        };
        // Colours are those of the base's vertices: where the details have others, the base is
        // shown.
        let on_base =
            confidence.is_some() && model.detail().is_some_and(|layer| layer.levels() > 0);
        let with_detail = question.details && model.detail().is_some() && !on_base;
        let found = self.driver.driven(&led.goals, with_detail).map_err(told)?;
        let points = model
            .control()
            .at(found.held.as_deref().unwrap_or(&found.positions));
        let positions = self.swung(question.swing, with_detail, found.positions)?;
        let mesh = shown_mesh(model, with_detail);
        let surface = self.surfaces[usize::from(with_detail)]
            .get_or_insert_with(|| Surface::of(mesh))
            .clone();
        Ok(Driven {
            model: question.model.clone(),
            surface,
            vertices: Vertices::of(mesh, &positions),
            novelty: model.novelty(&led.goals),
            missed: led.miss / model.examples().longest_side().max(f64::MIN_POSITIVE),
            goals: led.goals,
            points,
            bones: led.bones,
            effectors: led.effectors,
            confidence: confidence.as_ref().map(colors),
            apart: question
                .pulled
                .map(|point| (point, self.distances_from(point))),
            secs: began.elapsed().as_secs_f64(),
        })
    }

    fn distances_from(&mut self, point: usize) -> Arc<Vec<f64>> {
        let (model, examples) = (self.model, self.model.examples());
        let side = examples.longest_side().max(f64::MIN_POSITIVE);
        let found = || {
            model
                .control()
                .distances_from(examples.reference(), point)
                .into_iter()
                .map(|d| d / side)
                .collect()
        };
        self.apart
            .entry(point)
            .or_insert_with(|| Arc::new(found()))
            .clone()
    }

    /// Control points for what is wanted.
    fn lead(&mut self, wanted: &Wanted) -> Result<Led, String> {
        let rest = || {
            self.model
                .control()
                .at(self.model.examples().reference().positions())
        };
        match wanted {
            Wanted::Rest => Ok(Led {
                goals: rest(),
                ..Led::default()
            }),
            Wanted::Points(goals) => Ok(Led {
                goals: goals.clone(),
                ..Led::default()
            }),
            Wanted::Effectors(skeleton, effectors) => self.follow(skeleton, effectors),
        }
    }

    fn follow(&mut self, file: &Arc<SkeletonFile>, goals: &[DVec3]) -> Result<Led, String> {
        if self.solver.as_ref().is_none_or(|(known, _)| known != file) {
            let solver = file.solver(self.model).map_err(|error| error.to_string())?;
            self.solver = Some((file.clone(), solver));
        }
        let Some((_, solver)) = &self.solver else {
            return Ok(Led::default());
        };
        let skeleton = solver.skeleton();
        let rest: Vec<DVec3> = skeleton.effectors().map(|joint| joint.at).collect();
        let at_rest = goals.len() != rest.len();
        // From what is natural each time: the same goals always give the same pose, so that undo
        // shows what was.
        let (places, miss) = if at_rest {
            (
                skeleton.joints().iter().map(|joint| joint.at).collect(),
                0.0,
            )
        } else {
            let pose = solver
                .solve(goals, None)
                .map_err(|error| error.to_string())?;
            (pose.places, pose.miss)
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
        Ok(Led {
            goals: skeleton.controls(&places, self.model.control().count()),
            bones,
            effectors,
            miss,
        })
    }

    /// The pose with what swings after it. A motion that jumps begins anew; frames that were not
    /// drawn are passed straight.
    fn swung(
        &mut self,
        swing: Option<Swing>,
        with_detail: bool,
        driven: Vec<DVec3>,
    ) -> Result<Vec<DVec3>, String> {
        const MOST_SKIPPED: i64 = 12;
        let Some(swing) = swing else {
            self.motion = None;
            return Ok(driven);
        };
        let goes_on = |motion: &Motion| {
            let ahead = swing.frame - motion.swing.frame;
            motion.swing.jiggle == swing.jiggle
                && motion.with_detail == with_detail
                && (0..=MOST_SKIPPED).contains(&ahead)
        };
        let Some(motion) = self.motion.as_mut().filter(|motion| goes_on(motion)) else {
            let mesh = shown_mesh(self.model, with_detail);
            let mut state = SecondaryMotion::new(mesh, self.model.control(), &swing.jiggle)
                .map_err(|error| error.to_string())?;
            let shown = state.advance(&driven);
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
        for step in 1..=ahead {
            let share = step as f64 / ahead as f64;
            let between: Vec<DVec3> = motion
                .driven
                .iter()
                .zip(&driven)
                .map(|(from, to)| from.lerp(*to, share))
                .collect();
            motion.shown = motion.state.advance(&between);
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

    /// A sheet that bends, with points at its corners and in its middle.
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

    fn ask(question: Question) -> Result<Driven, String> {
        let (ring, woken) = mpsc::channel();
        let worker = start(Arc::new(move || ring.send(()).unwrap_or(())));
        worker.ask(question);
        loop {
            if let Some(answer) = worker.answer() {
                return answer;
            }
            woken.recv().unwrap();
        }
    }

    fn question(model: Blob, wanted: Wanted) -> Question {
        Question {
            model,
            hold: HoldAs::Learned,
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
        let driven = ask(question(blob.clone(), Wanted::Points(goals.clone()))).unwrap();
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
        let rest = ask(question(blob, Wanted::Rest)).unwrap();
        assert_eq!(rest.goals, model.control().at(model.examples().pose(0)));
    }

    #[test]
    fn bytes_that_are_no_model_are_told() {
        let sentence = ask(question(
            Blob::new(b"nothing".to_vec(), "safetensors"),
            Wanted::Rest,
        ))
        .unwrap_err();
        assert!(sentence.contains("Train it again"), "{sentence}");
    }

    #[test]
    fn a_motion_swings_on_and_a_jump_begins_anew() {
        let model = model();
        let mut stand = Stand::new(&model, model.driver());
        let pose = |amount: f64| {
            model
                .examples()
                .reference()
                .positions()
                .iter()
                .map(|p| *p + DVec3::Z * amount)
                .collect::<Vec<_>>()
        };
        let jiggle = Jiggle {
            hertz: 2.0,
            damping: 0.2,
            frames_per_second: 24.0,
        };
        let mut at = |frame, amount| {
            stand
                .swung(Some(Swing { jiggle, frame }), false, pose(amount))
                .unwrap()
        };
        assert_eq!(at(0, 0.0), pose(0.0));
        at(1, 0.1);
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
