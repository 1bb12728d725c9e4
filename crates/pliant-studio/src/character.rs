//! The character as it stands: solved, evaluated and shaded by a worker while the window stays free.
//!
//! Every frame the window asks for the pose that the document wants, or for the drag that a hand makes; the newest question wins. The
//! worker keeps what a rig needs once ([`Poser`], [`Evaluator`]) and what a set of pins needs once ([`Grab`]) from one question to the next.

use std::sync::Arc;
use std::time::Instant;

use pliant::mesh::glam::{DVec3, Vec3};
use pliant::rig::{EvaluatedPose, Evaluator, Explanation, Grab, Limits, Pin, Pose, Poser, Range, Rig, Target};

use crate::document::{Character, Weights};
use crate::library::Loaded;
use crate::rooms::pose::Method;
use crate::timeline::TakeFrame;
use crate::view::{Surface, Vertices};
use crate::work::{Inbox, Latest, Outbox, Wake};

/// What is asked of the worker.
#[derive(Debug, Clone)]
pub struct Question {
    /// The rig.
    pub rig: RigSpec,
    /// The pose.
    pub ask: Ask,
}

/// A rig as the document has it: an asset with targets, limits and locks of its own.
#[derive(Debug, Clone)]
pub struct RigSpec {
    /// The asset.
    pub loaded: Arc<Loaded>,
    /// What the document changes of it; its weights do not matter here.
    pub character: Character,
}

impl PartialEq for RigSpec {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.character, &other.character);
        Arc::ptr_eq(&self.loaded, &other.loaded)
            && (&a.added, &a.limits, &a.locked, &a.muted, &a.solo) == (&b.added, &b.limits, &b.locked, &b.muted, &b.solo)
    }
}

/// A pose that is wanted.
#[derive(Debug, Clone)]
pub enum Ask {
    /// That of these weights.
    Show(Weights),
    /// The one to which a hand drags pins.
    Drag(Drag),
    /// That of a moment of a take; the weights are those that the sliders have meanwhile.
    Place(TakeFrame, Weights),
}

/// Pins held by a hand.
#[derive(Debug, Clone)]
pub struct Drag {
    /// The gesture, so that the answer joins its step.
    pub gesture: u64,
    /// The weights at which the pins were grabbed.
    pub base: Weights,
    /// The pins with their displacements from that pose.
    pub pins: Vec<Pin>,
    /// How pins become weights.
    pub method: Method,
}

impl Drag {
    /// Whether the same pins are held from the same pose in the same way, wherever they are wanted now.
    fn same_grab(&self, other: &Self) -> bool {
        let held = |a: &Pin, b: &Pin| (a.at, &a.aim, a.stiffness) == (b.at, &b.aim, b.stiffness);
        let pins = self.pins.len() == other.pins.len() && self.pins.iter().zip(&other.pins).all(|(a, b)| held(a, b));
        pins && (&self.base, &self.method) == (&other.base, &other.method)
    }
}

/// A character ready to be drawn.
#[derive(Debug, Clone)]
pub struct Posed {
    /// The rig in this state.
    pub rig: Arc<Rig>,
    /// Its faces.
    pub surface: Arc<Surface>,
    /// The weights of all its sliders, as they are shown.
    pub weights: Vec<f64>,
    /// Where its vertices are.
    pub positions: Arc<Vec<DVec3>>,
    /// The same for the card, with normals.
    pub vertices: Arc<Vertices>,
    /// The drag that led here, if one did.
    pub solve: Option<Arc<Solve>>,
    /// Seconds that all of it took.
    pub secs: f64,
}

/// What a solve did.
#[derive(Debug, Clone)]
pub struct Solve {
    /// The gesture it belongs to.
    pub gesture: u64,
    /// Its result.
    pub pose: Pose,
    /// Who moved what.
    pub explanation: Explanation,
    /// How far each pin was dragged.
    pub drags: Vec<DVec3>,
    /// Seconds that the solve took.
    pub secs: f64,
}

impl Solve {
    /// The pin that was dragged farthest: the one in the hand.
    #[must_use]
    pub fn dragged_pin(&self) -> Option<usize> {
        (0..self.drags.len()).max_by(|&a, &b| self.drags[a].length().total_cmp(&self.drags[b].length()).then(b.cmp(&a)))
    }
}

impl RigSpec {
    /// The rig itself. Sliders that are silent are locked, so that no solve counts on them.
    pub fn rig(&self) -> Result<Arc<Rig>, String> {
        let character = &self.character;
        let plain = character.added.is_empty() && character.limits.is_empty() && character.locked.is_empty();
        if plain && character.muted.is_empty() && character.solo.is_empty() {
            return Ok(self.loaded.rig.clone());
        }
        let mut targets = self.loaded.rig.targets().to_vec();
        let count = targets.len();
        let sources: Vec<Option<usize>> = (0..count).map(Some).chain(character.added.iter().map(|_| None)).collect();
        targets.extend(character.added.iter().map(|added| Target {
            name: added.name.clone(),
            vertices: added.vertices.to_vec(),
            deltas: added.deltas.iter().map(|&d| Vec3::from_array(d)).collect(),
            in_betweens: Vec::new(),
        }));
        let rig = self.loaded.rig.with_targets_from(targets, &sources).map_err(|error| error.to_string())?;
        let mut sliders = rig.sliders().to_vec();
        for (slider, target) in sliders.iter_mut().zip(rig.targets()) {
            let name = &target.name;
            slider.locked |= character.is_silent(name) || character.locked.contains(name);
            if let Some([min, max]) = character.limits.get(name) {
                slider.limits = Limits::new(*min, *max);
            }
        }
        rig.with_sliders(sliders).map(Arc::new).map_err(|error| error.to_string())
    }
}

/// Starts the worker.
#[must_use]
pub fn start(wake: Wake) -> Latest<Question, Posed> {
    Latest::new("Posing", wake, |inbox: &Inbox<Question>, outbox: &Outbox<Posed>| {
        let mut next = inbox.next();
        while let Some(question) = next {
            next = match Stand::new(&question.rig) {
                Ok(stand) => serve_rig(&stand, question, inbox, outbox),
                Err(sentence) => {
                    outbox.put(Err(sentence));
                    inbox.next()
                }
            };
        }
    })
}

/// What a rig needs once.
struct Stand {
    spec: RigSpec,
    rig: Arc<Rig>,
    surface: Arc<Surface>,
    evaluator: Evaluator,
}

impl Stand {
    fn new(spec: &RigSpec) -> Result<Self, String> {
        let rig = spec.rig()?;
        let evaluator = Evaluator::new(rig.neutral(), rig.shapes());
        Ok(Self { spec: spec.clone(), surface: spec.loaded.surface.clone(), rig, evaluator })
    }

    fn weights(&self, weights: &Weights) -> Vec<f64> {
        self.rig.targets().iter().map(|target| weights.get(&target.name).copied().unwrap_or(0.0)).collect()
    }

    /// Evaluates and shades `weights`.
    fn posed(&self, pose: &mut EvaluatedPose, weights: Vec<f64>, solve: Option<Arc<Solve>>, begun: Instant) -> Posed {
        self.evaluator.update(pose, &self.rig.activation().coefficients(&weights));
        let vertices = Arc::new(Vertices::from((pose.positions(), pose.normals())));
        let positions = Arc::new(pose.positions().to_vec());
        let secs = begun.elapsed().as_secs_f64();
        Posed { rig: self.rig.clone(), surface: self.surface.clone(), weights, positions, vertices, solve, secs }
    }

    /// Shades a moment of a take.
    fn placed(&self, frame: &TakeFrame, weights: &Weights) -> Result<Posed, String> {
        let (begun, mesh) = (Instant::now(), self.rig.neutral());
        let positions = frame.positions(mesh.vertex_count()).ok_or("The take does not fit this character; choose Keys or another take.")?;
        let vertices = Vertices::of(mesh, &positions);
        let (weights, positions) = (self.weights(weights), Arc::new(positions));
        let (rig, surface, secs) = (self.rig.clone(), self.surface.clone(), begun.elapsed().as_secs_f64());
        Ok(Posed { rig, surface, weights, positions, vertices, solve: None, secs })
    }
}

/// Answers questions about one rig; returns the first about another one.
fn serve_rig(stand: &Stand, question: Question, inbox: &Inbox<Question>, outbox: &Outbox<Posed>) -> Option<Question> {
    let poser = Poser::new(&stand.rig);
    let mut shown = stand.evaluator.start();
    let mut next = Some(question);
    while let Some(question) = next {
        if question.rig != stand.spec {
            return Some(question);
        }
        next = match (question.ask, &poser) {
            (Ask::Show(weights), _) => {
                let begun = Instant::now();
                outbox.put(Ok(stand.posed(&mut shown, stand.weights(&weights), None, begun)));
                inbox.next()
            }
            (Ask::Place(frame, weights), _) => {
                outbox.put(stand.placed(&frame, &weights));
                inbox.next()
            }
            (Ask::Drag(drag), Ok(poser)) => serve_grab(stand, poser, drag, &mut shown, inbox, outbox),
            (Ask::Drag(_), Err(error)) => {
                outbox.put(Err(error.to_string()));
                inbox.next()
            }
        };
    }
    None
}

/// Answers questions about one set of pins; returns the first that is another.
fn serve_grab(
    stand: &Stand,
    poser: &Poser<'_>,
    first: Drag,
    shown: &mut EvaluatedPose,
    inbox: &Inbox<Question>,
    outbox: &Outbox<Posed>,
) -> Option<Question> {
    let solver = first.method.solver(&stand.rig);
    let mut grab = match poser.grab(&stand.weights(&first.base), &first.pins, &*solver, Range::Clip) {
        Ok(grab) => grab,
        Err(error) => {
            outbox.put(Err(error.to_string()));
            return inbox.next();
        }
    };
    let mut drag = first;
    loop {
        let begun = Instant::now();
        let solve = Arc::new(solved(&mut grab, &drag));
        let weights = solve.pose.weights.clone();
        outbox.put(Ok(stand.posed(shown, weights, Some(solve), begun)));
        match inbox.next()? {
            Question { rig, ask: Ask::Drag(next) } if rig == stand.spec && next.same_grab(&drag) => drag = next,
            other => return Some(other),
        }
    }
}

fn solved(grab: &mut Grab<'_>, drag: &Drag) -> Solve {
    let begun = Instant::now();
    let displacements: Vec<DVec3> = drag.pins.iter().map(|pin| pin.displacement).collect();
    let pose = grab.solve(&displacements);
    let secs = begun.elapsed().as_secs_f64();
    Solve { gesture: drag.gesture, explanation: grab.explain(&pose), pose, drags: displacements, secs }
}
