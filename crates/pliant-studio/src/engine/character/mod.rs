//! Worker that solves, evaluates and shades the character.
//!
//! In every frame the window requests the pose of the document, or the pose of a drag; the newest
//! request wins. The worker keeps what a rig needs once ([`Poser`], [`Evaluator`]) and what a set
//! of pins needs once ([`Grab`]) from one request to the next.

mod line;

use std::sync::Arc;

pub use line::{Line, LinePins, LineShape};

use pliant::mesh::glam::{DVec3, Vec3};
use pliant::rig::{
    EvaluatedPose, Evaluator, Explanation, Grab, Limits, Pin, Pose, Poser, Rig, RigError, Target,
};
use web_time::Instant;

use super::library::LoadedAsset;
use super::playback::TakeFrame;
use super::surface::{Surface, Vertices};
use super::work::{Inbox, Latest, Outbox, Wake};
use crate::model::document::{AddedTarget, Character, Locator, Weights};
use crate::model::names::{free_name, to_message};
use crate::model::pose::{DraggedPin, Method};

/// A request to the worker.
#[derive(Debug, Clone)]
pub struct CharacterRequest {
    /// The rig.
    pub rig: RigSpec,
    /// The pose.
    pub pose: PoseRequest,
}

/// A rig as the document modifies it: an asset with added targets, limits and locks.
#[derive(Debug, Clone)]
pub struct RigSpec {
    /// The asset.
    pub loaded: Arc<LoadedAsset>,
    /// The modifications of the document; its weights are not used here.
    pub character: Character,
}

impl PartialEq for RigSpec {
    fn eq(&self, other: &Self) -> bool {
        let a = &self.character;
        let b = &other.character;
        Arc::ptr_eq(&self.loaded, &other.loaded)
            && (&a.added, &a.limits, &a.locked, &a.muted, &a.solo)
                == (&b.added, &b.limits, &b.locked, &b.muted, &b.solo)
    }
}

/// A requested pose.
#[derive(Debug, Clone)]
pub enum PoseRequest {
    /// The pose of these weights.
    Show(Weights),
    /// The pose of a drag.
    Drag(Drag),
    /// A frame of a take, with the weights that the sliders show.
    Place(TakeFrame, Weights),
}

/// A drag of pins or a drawn line.
#[derive(Debug, Clone)]
pub struct Drag {
    /// The gesture, so that the result joins its undo step.
    pub gesture: u64,
    /// The number of the drag; the result has the same number.
    pub serial: u64,
    /// The weights at which it began.
    pub base: Weights,
    /// How pins become weights.
    pub method: Method,
    /// The input.
    pub input: DragInput,
}

/// The input of a drag.
#[derive(Debug, Clone)]
pub enum DragInput {
    /// Dragged pins: the result contains the weights that bring them to their goals.
    Pull(Vec<DraggedPin>),
    /// A drawn line: the result contains its pins, and the pose does not change.
    Draw(Arc<Line>),
}

impl Drag {
    /// Whether both drags hold the same pins from the same pose with the same method; their goals
    /// may differ.
    fn same_start(&self, other: &Self) -> bool {
        let (DragInput::Pull(own), DragInput::Pull(others)) = (&self.input, &other.input) else {
            return false;
        };
        let held = |(a, b): (&DraggedPin, &DraggedPin)| {
            (a.vertex, &a.aim, a.held) == (b.vertex, &b.aim, b.held)
        };
        own.len() == others.len()
            && own.iter().zip(others).all(held)
            && (&self.base, &self.method) == (&other.base, &other.method)
    }
}

/// A character ready to be drawn.
#[derive(Debug, Clone)]
pub struct PosedCharacter {
    /// The asset of the rig.
    pub asset: Locator,
    /// The rig in this state.
    pub rig: Arc<Rig>,
    /// Its faces.
    pub surface: Arc<Surface>,
    /// The weights of all its sliders, as they are shown.
    pub weights: Vec<f64>,
    /// Where its vertices are.
    pub positions: Arc<Vec<DVec3>>,
    /// Positions and normals for the graphics card.
    pub vertices: Arc<Vertices>,
    /// The report of the drag, if this is the result of one.
    pub solve: Option<Arc<SolveReport>>,
    /// The pins of the line that was drawn, if one was.
    pub drawn: Option<Arc<LinePins>>,
    /// The total time in seconds.
    pub secs: f64,
}

/// The report of a solve.
#[derive(Debug, Clone)]
pub struct SolveReport {
    /// The gesture it belongs to.
    pub gesture: u64,
    /// The drag's number.
    pub serial: u64,
    /// The size of the rig, [`Poser::size`]; distances are relative to it.
    pub size: f64,
    /// Its result.
    pub pose: Pose,
    /// Which slider moved which pin.
    pub explanation: Explanation,
    /// The displacement of each pin.
    pub drags: Vec<DVec3>,
    /// Seconds that the solve took.
    pub secs: f64,
}

impl SolveReport {
    /// The pin with the largest displacement: the dragged one.
    #[must_use]
    pub fn dragged_pin(&self) -> Option<usize> {
        (0..self.drags.len()).max_by(|&a, &b| {
            self.drags[a]
                .length()
                .total_cmp(&self.drags[b].length())
                .then(b.cmp(&a))
        })
    }
}

impl RigSpec {
    /// The rig itself. Inactive sliders are locked, so that no solver uses them.
    pub fn rig(&self) -> Result<Arc<Rig>, String> {
        let character = &self.character;
        let plain = character.added.is_empty()
            && character.limits.is_empty()
            && character.locked.is_empty();
        // Most characters need no copy of the rig.
        if plain && character.muted.is_empty() && character.solo.is_empty() {
            return Ok(self.loaded.rig.clone());
        }

        let mut targets = self.loaded.rig.targets().to_vec();
        let count = targets.len();
        // Added targets have no counterpart in the asset.
        let sources: Vec<Option<usize>> = (0..count)
            .map(Some)
            .chain(character.added.iter().map(|_| None))
            .collect();

        targets.extend(character.added.iter().map(|added| Target {
            name: added.name.clone(),
            vertices: added.vertices.to_vec(),
            deltas: added.deltas.iter().map(|&d| Vec3::from_array(d)).collect(),
            in_betweens: Vec::new(),
        }));

        let rig = self
            .loaded
            .rig
            .with_targets_from(targets, &sources)
            .map_err(to_message)?;

        // Inactive and locked sliders are locked for every solver.
        let mut sliders = rig.sliders().to_vec();
        for (slider, target) in sliders.iter_mut().zip(rig.targets()) {
            let name = &target.name;
            slider.locked |= character.is_inactive(name) || character.locked.contains(name);
            if let Some([min, max]) = character.limits.get(name) {
                slider.limits = Limits::new(*min, *max);
            }
        }

        rig.with_sliders(sliders).map(Arc::new).map_err(to_message)
    }
}

/// Starts the worker.
#[must_use]
pub fn start(wake: Wake) -> Latest<CharacterRequest, PosedCharacter> {
    Latest::new(
        "Posing",
        wake,
        |inbox: &Inbox<CharacterRequest>, outbox: &Outbox<PosedCharacter>| {
            let mut next = inbox.next();
            while let Some(request) = next {
                // One evaluator serves all requests until the rig changes.
                next = match RigEvaluator::new(&request.rig) {
                    Ok(session) => serve_rig(&session, request, inbox, outbox),
                    Err(message) => {
                        outbox.put(Err(message));
                        inbox.next()
                    }
                };
            }
        },
    )
}

/// The data that a rig needs once.
struct RigEvaluator {
    spec: RigSpec,
    rig: Arc<Rig>,
    surface: Arc<Surface>,
    evaluator: Evaluator,
}

impl RigEvaluator {
    fn new(spec: &RigSpec) -> Result<Self, String> {
        let rig = spec.rig()?;
        let evaluator = Evaluator::new(rig.neutral(), rig.shapes());
        Ok(Self {
            spec: spec.clone(),
            surface: spec.loaded.surface.clone(),
            rig,
            evaluator,
        })
    }

    fn weights(&self, weights: &Weights) -> Vec<f64> {
        self.rig
            .targets()
            .iter()
            .map(|target| weights.get(&target.name).copied().unwrap_or(0.0))
            .collect()
    }

    /// Evaluates and shades `weights`.
    fn posed(
        &self,
        shown: &mut EvaluatedPose,
        weights: Vec<f64>,
        started: Instant,
    ) -> PosedCharacter {
        // Only targets whose coefficient changed are evaluated again.
        self.evaluator
            .update(shown, &self.rig.activation().coefficients(&weights));
        let vertices = Arc::new(Vertices::from((shown.positions(), shown.normals())));
        let positions = Arc::new(shown.positions().to_vec());
        let secs = started.elapsed().as_secs_f64();
        let asset = self.spec.loaded.locator.clone();

        PosedCharacter {
            asset,
            rig: self.rig.clone(),
            surface: self.surface.clone(),
            weights,
            positions,
            vertices,
            solve: None,
            drawn: None,
            secs,
        }
    }

    /// Shades a moment of a take.
    fn placed(&self, frame: &TakeFrame, weights: &Weights) -> Result<PosedCharacter, String> {
        let started = Instant::now();
        let mesh = self.rig.neutral();
        let positions = frame
            .positions(mesh.vertex_count())
            .ok_or("The take does not fit this character; choose Keys or another take.")?;
        // A file can contain NaN; the graphics card would draw garbage.
        if !positions.iter().all(|place| place.is_finite()) {
            return Err("The take contains positions that are not finite and cannot be shown; bake or export it again.".into());
        }

        let vertices = Vertices::of(mesh, &positions);
        let weights = self.weights(weights);
        let positions = Arc::new(positions);
        let rig = self.rig.clone();
        let surface = self.surface.clone();
        let secs = started.elapsed().as_secs_f64();

        let asset = self.spec.loaded.locator.clone();
        Ok(PosedCharacter {
            asset,
            rig,
            surface,
            weights,
            positions,
            vertices,
            solve: None,
            drawn: None,
            secs,
        })
    }
}

/// Answers requests about one rig; returns the first about another one.
fn serve_rig(
    session: &RigEvaluator,
    request: CharacterRequest,
    inbox: &Inbox<CharacterRequest>,
    outbox: &Outbox<PosedCharacter>,
) -> Option<CharacterRequest> {
    let poser = Poser::new(&session.rig);
    let mut worker = RigWorker {
        session,
        poser: poser.as_ref(),
        shown: session.evaluator.start(),
        inbox,
        outbox,
    };

    let mut next = Some(request);
    while let Some(request) = next {
        // Another rig needs another evaluator; the caller builds it.
        if request.rig != session.spec {
            return Some(request);
        }
        next = match request.pose {
            PoseRequest::Show(weights) => worker.show(&weights),
            PoseRequest::Place(frame, weights) => {
                outbox.put(session.placed(&frame, &weights));
                inbox.next()
            }
            PoseRequest::Drag(drag) => worker.drag(drag),
        };
    }
    None
}

/// The state of the worker for one rig.
struct RigWorker<'a> {
    session: &'a RigEvaluator,
    poser: Result<&'a Poser, &'a RigError>,
    shown: EvaluatedPose,
    inbox: &'a Inbox<CharacterRequest>,
    outbox: &'a Outbox<PosedCharacter>,
}

impl RigWorker<'_> {
    /// Serves requests, and returns the first that it cannot serve itself.
    fn show(&mut self, weights: &Weights) -> Option<CharacterRequest> {
        let posed = self.session.posed(
            &mut self.shown,
            self.session.weights(weights),
            Instant::now(),
        );
        self.outbox.put(Ok(posed));
        self.inbox.next()
    }

    fn drag(&mut self, drag: Drag) -> Option<CharacterRequest> {
        let answer = match (self.poser, &drag.input) {
            (Err(error), _) => Err(error.to_string()),
            (Ok(poser), DragInput::Pull(_)) => match self.grabbed(poser, &drag) {
                // The prepared solve serves the following drags, too.
                Ok(grab) => return self.pull(grab, drag),
                Err(error) => Err(error.to_string()),
            },
            (Ok(poser), DragInput::Draw(line)) => self.draw(poser, &drag, line).map_err(to_message),
        };

        self.outbox.put(answer);
        self.inbox.next()
    }

    fn draw(
        &mut self,
        poser: &Poser,
        drag: &Drag,
        line: &Line,
    ) -> Result<PosedCharacter, RigError> {
        let started = Instant::now();
        let weights = self.session.weights(&drag.base);
        // The method decides which interpretation of the line fits.
        let solver = drag
            .method
            .solver(&self.session.rig, &held_vertices(&line.held));
        let drawn = line.pins(poser, &weights, solver, drag)?;

        Ok(PosedCharacter {
            drawn: Some(Arc::new(drawn)),
            ..self.session.posed(&mut self.shown, weights, started)
        })
    }

    fn grabbed(&self, poser: &Poser, drag: &Drag) -> Result<Grab, RigError> {
        let DragInput::Pull(pulled) = &drag.input else {
            return Err(RigError::NoPins);
        };

        let solver = drag
            .method
            .solver(&self.session.rig, &held_vertices(pulled));
        // Goals come with each solve; the grab needs only vertices and aims.
        let pins: Vec<Pin> = pulled
            .iter()
            .map(|pin| Pin::hold(pin.vertex).with_aim(pin.aim.clone()))
            .collect();

        poser.grab(
            &self.session.weights(&drag.base),
            &pins,
            &*solver,
            drag.method.range(),
        )
    }

    /// Answers as long as the same pins are dragged; requests to show weights in between do not end
    /// the drag.
    fn pull(&mut self, mut grab: Grab, mut drag: Drag) -> Option<CharacterRequest> {
        loop {
            let started = Instant::now();
            let solve = Arc::new(solved(&mut grab, &drag));
            let posed = self
                .session
                .posed(&mut self.shown, solve.pose.weights.clone(), started);

            self.outbox.put(Ok(PosedCharacter {
                solve: Some(solve),
                ..posed
            }));

            // Requests to show weights arrive between two drags; they do not end the grab.
            let mut next = self.inbox.next()?;
            while let CharacterRequest {
                rig,
                pose: PoseRequest::Show(weights),
            } = &next
                && *rig == self.session.spec
            {
                next = self.show(weights)?;
            }

            // The factorisation is kept as long as the same pins are dragged.
            match next {
                CharacterRequest {
                    rig,
                    pose: PoseRequest::Drag(other),
                } if rig == self.session.spec && other.same_start(&drag) => drag = other,
                other => return Some(other),
            }
        }
    }
}

/// The weights of a posed character by name.
#[must_use]
pub(crate) fn weights_of(posed: &PosedCharacter) -> Weights {
    posed
        .rig
        .targets()
        .iter()
        .zip(&posed.weights)
        .filter(|(_, w)| **w != 0.0)
        .map(|(t, w)| (t.name.clone(), *w))
        .collect()
}

/// The name itself, or with a number where a target of the rig or of `added` has it.
pub(crate) fn free_target_name(name: &str, rig: &Rig, added: &[AddedTarget]) -> String {
    let is_taken = |name: &str| {
        rig.targets().iter().any(|target| target.name == name)
            || added.iter().any(|target| target.name == name)
    };
    free_name(name, is_taken)
}

fn held_vertices(pins: &[DraggedPin]) -> Vec<u32> {
    pins.iter()
        .filter(|pin| pin.held)
        .map(|pin| pin.vertex.get())
        .collect()
}

fn solved(grab: &mut Grab, drag: &Drag) -> SolveReport {
    let started = Instant::now();
    let pulled: &[DraggedPin] = if let DragInput::Pull(pulled) = &drag.input {
        pulled
    } else {
        &[]
    };

    let places = grab.system().positions().iter();
    // The solver takes displacements from the positions at the start of the grab.
    let displacements: Vec<DVec3> = pulled
        .iter()
        .zip(places)
        .map(|(pin, place)| pin.goal() - *place)
        .collect();

    let pose = grab.solve(&displacements);
    let secs = started.elapsed().as_secs_f64();
    let size = grab.system().poser().size();

    SolveReport {
        gesture: drag.gesture,
        serial: drag.serial,
        size,
        explanation: grab.explain(&pose),
        pose,
        drags: displacements,
        secs,
    }
}
