//! The character as it stands: solved, evaluated and shaded by a worker while the window stays
//! free.
//!
//! Every frame the window asks for the pose that the document wants, or for the drag that a hand
//! makes; the newest question wins. The worker keeps what a rig needs once ([`Poser`],
//! [`Evaluator`]) and what a set of pins needs once ([`Grab`]) from one question to the next.

mod line;

use std::sync::Arc;

pub use line::{Drawn, Ends, Line, LineOptions, LineShape};

use pliant::mesh::glam::{DVec3, Vec3};
use pliant::rig::{
    EvaluatedPose, Evaluator, Explanation, Grab, Limits, Pin, Pose, Poser, Rig, RigError, Target,
};
use web_time::Instant;

use crate::document::{Character, Locator, Weights};
use crate::library::Loaded;
use crate::rooms::pose::{Method, Pulled};
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
            && (&a.added, &a.limits, &a.locked, &a.muted, &a.solo)
                == (&b.added, &b.limits, &b.locked, &b.muted, &b.solo)
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

/// Something a hand does to the face.
#[derive(Debug, Clone)]
pub struct Drag {
    /// The gesture, so that the answer joins its step.
    pub gesture: u64,
    /// The asker's number for it, which the answer bears.
    pub serial: u64,
    /// The weights at which it began.
    pub base: Weights,
    /// How pins become weights.
    pub method: Method,
    /// What is done.
    pub hand: Hand,
}

/// What a hand does.
#[derive(Debug, Clone)]
pub enum Hand {
    /// It holds pins: the answer has the weights that bring them to their goals.
    Pull(Vec<Pulled>),
    /// It drew a line: the answer has the pins that it asks for, and the pose is as it was.
    Draw(Arc<Line>),
}

impl Drag {
    /// Whether the same pins are held from the same pose in the same way, wherever they are wanted
    /// now.
    fn same_grab(&self, other: &Self) -> bool {
        let (Hand::Pull(own), Hand::Pull(others)) = (&self.hand, &other.hand) else {
            return false;
        };
        let held =
            |(a, b): (&Pulled, &Pulled)| (a.vertex, &a.aim, a.held) == (b.vertex, &b.aim, b.held);
        own.len() == others.len()
            && own.iter().zip(others).all(held)
            && (&self.base, &self.method) == (&other.base, &other.method)
    }
}

/// A character ready to be drawn.
#[derive(Debug, Clone)]
pub struct Posed {
    /// The asset that the rig is of.
    pub asset: Locator,
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
    /// The pins of the line that was drawn, if one was.
    pub drawn: Option<Arc<Drawn>>,
    /// Seconds that all of it took.
    pub secs: f64,
}

/// What a solve did.
#[derive(Debug, Clone)]
pub struct Solve {
    /// The gesture it belongs to.
    pub gesture: u64,
    /// The drag's number.
    pub serial: u64,
    /// The size of the rig, [`Poser::size`], beside which distances are small or large.
    pub size: f64,
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
        (0..self.drags.len()).max_by(|&a, &b| {
            self.drags[a]
                .length()
                .total_cmp(&self.drags[b].length())
                .then(b.cmp(&a))
        })
    }
}

impl RigSpec {
    /// The rig itself. Sliders that are silent are locked, so that no solve counts on them.
    pub fn rig(&self) -> Result<Arc<Rig>, String> {
        let character = &self.character;
        let plain = character.added.is_empty()
            && character.limits.is_empty()
            && character.locked.is_empty();
        if plain && character.muted.is_empty() && character.solo.is_empty() {
            return Ok(self.loaded.rig.clone());
        }
        let mut targets = self.loaded.rig.targets().to_vec();
        let count = targets.len();
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
            .map_err(|error| error.to_string())?;
        let mut sliders = rig.sliders().to_vec();
        for (slider, target) in sliders.iter_mut().zip(rig.targets()) {
            let name = &target.name;
            slider.locked |= character.is_silent(name) || character.locked.contains(name);
            if let Some([min, max]) = character.limits.get(name) {
                slider.limits = Limits::new(*min, *max);
            }
        }
        rig.with_sliders(sliders)
            .map(Arc::new)
            .map_err(|error| error.to_string())
    }
}

/// Starts the worker.
#[must_use]
pub fn start(wake: Wake) -> Latest<Question, Posed> {
    Latest::new(
        "Posing",
        wake,
        |inbox: &Inbox<Question>, outbox: &Outbox<Posed>| {
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
        },
    )
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
    fn posed(&self, shown: &mut EvaluatedPose, weights: Vec<f64>, begun: Instant) -> Posed {
        self.evaluator
            .update(shown, &self.rig.activation().coefficients(&weights));
        let vertices = Arc::new(Vertices::from((shown.positions(), shown.normals())));
        let positions = Arc::new(shown.positions().to_vec());
        let secs = begun.elapsed().as_secs_f64();
        let asset = self.spec.loaded.locator.clone();
        Posed {
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
    fn placed(&self, frame: &TakeFrame, weights: &Weights) -> Result<Posed, String> {
        let (begun, mesh) = (Instant::now(), self.rig.neutral());
        let positions = frame
            .positions(mesh.vertex_count())
            .ok_or("The take does not fit this character; choose Keys or another take.")?;
        if !positions.iter().all(|place| place.is_finite()) {
            return Err("The take holds positions that are no numbers, so it cannot be shown; make or export it again.".into());
        }
        let vertices = Vertices::of(mesh, &positions);
        let (weights, positions) = (self.weights(weights), Arc::new(positions));
        let (rig, surface, secs) = (
            self.rig.clone(),
            self.surface.clone(),
            begun.elapsed().as_secs_f64(),
        );
        let asset = self.spec.loaded.locator.clone();
        Ok(Posed {
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

/// Answers questions about one rig; returns the first about another one.
fn serve_rig(
    stand: &Stand,
    question: Question,
    inbox: &Inbox<Question>,
    outbox: &Outbox<Posed>,
) -> Option<Question> {
    let poser = Poser::new(&stand.rig);
    let mut desk = Workplace {
        stand,
        poser: poser.as_ref(),
        shown: stand.evaluator.start(),
        inbox,
        outbox,
    };
    let mut next = Some(question);
    while let Some(question) = next {
        if question.rig != stand.spec {
            return Some(question);
        }
        next = match question.ask {
            Ask::Show(weights) => desk.show(&weights),
            Ask::Place(frame, weights) => {
                outbox.put(stand.placed(&frame, &weights));
                inbox.next()
            }
            Ask::Drag(drag) => desk.drag(drag),
        };
    }
    None
}

/// A rig at work.
struct Workplace<'a> {
    stand: &'a Stand,
    poser: Result<&'a Poser<'a>, &'a RigError>,
    shown: EvaluatedPose,
    inbox: &'a Inbox<Question>,
    outbox: &'a Outbox<Posed>,
}

impl Workplace<'_> {
    /// Each of these answers, and returns the next question that it cannot answer itself.
    fn show(&mut self, weights: &Weights) -> Option<Question> {
        let posed = self
            .stand
            .posed(&mut self.shown, self.stand.weights(weights), Instant::now());
        self.outbox.put(Ok(posed));
        self.inbox.next()
    }

    fn drag(&mut self, drag: Drag) -> Option<Question> {
        let answer = match (self.poser, &drag.hand) {
            (Err(error), _) => Err(error.to_string()),
            (Ok(poser), Hand::Pull(_)) => match self.grabbed(poser, &drag) {
                Ok(grab) => return self.pull(grab, drag),
                Err(error) => Err(error.to_string()),
            },
            (Ok(poser), Hand::Draw(line)) => self
                .draw(poser, &drag, line)
                .map_err(|error| error.to_string()),
        };
        self.outbox.put(answer);
        self.inbox.next()
    }

    fn draw(&mut self, poser: &Poser<'_>, drag: &Drag, line: &Line) -> Result<Posed, RigError> {
        let begun = Instant::now();
        let weights = self.stand.weights(&drag.base);
        let solver = drag
            .method
            .solver(&self.stand.rig, &held_vertices(&line.held));
        let drawn = line.pins(poser, &weights, &*solver, drag)?;
        Ok(Posed {
            drawn: Some(Arc::new(drawn)),
            ..self.stand.posed(&mut self.shown, weights, begun)
        })
    }

    fn grabbed<'p>(&self, poser: &'p Poser<'_>, drag: &Drag) -> Result<Grab<'p>, RigError> {
        let Hand::Pull(pulled) = &drag.hand else {
            return Err(RigError::NoPins);
        };
        let solver = drag.method.solver(&self.stand.rig, &held_vertices(pulled));
        let pins: Vec<Pin> = pulled
            .iter()
            .map(|pin| Pin::hold(pin.vertex as usize).with_aim(pin.aim.clone()))
            .collect();
        poser.grab(
            &self.stand.weights(&drag.base),
            &pins,
            &*solver,
            drag.method.range(),
        )
    }

    /// Answers as long as the same pins are held, wherever they go; what is shown in between does
    /// not let go of them.
    fn pull(&mut self, mut grab: Grab<'_>, mut drag: Drag) -> Option<Question> {
        loop {
            let begun = Instant::now();
            let solve = Arc::new(solved(&mut grab, &drag));
            let posed = self
                .stand
                .posed(&mut self.shown, solve.pose.weights.clone(), begun);
            self.outbox.put(Ok(Posed {
                solve: Some(solve),
                ..posed
            }));
            let mut next = self.inbox.next()?;
            while let Question {
                rig,
                ask: Ask::Show(weights),
            } = &next
                && *rig == self.stand.spec
            {
                next = self.show(weights)?;
            }
            match next {
                Question {
                    rig,
                    ask: Ask::Drag(other),
                } if rig == self.stand.spec && other.same_grab(&drag) => drag = other,
                other => return Some(other),
            }
        }
    }
}

fn held_vertices(pins: &[Pulled]) -> Vec<u32> {
    pins.iter()
        .filter(|pin| pin.held)
        .map(|pin| pin.vertex)
        .collect()
}

fn solved(grab: &mut Grab<'_>, drag: &Drag) -> Solve {
    let begun = Instant::now();
    let pulled: &[Pulled] = if let Hand::Pull(pulled) = &drag.hand {
        pulled
    } else {
        &[]
    };
    let places = grab.system().places().iter();
    let displacements: Vec<DVec3> = pulled
        .iter()
        .zip(places)
        .map(|(pin, place)| pin.goal() - *place)
        .collect();
    let pose = grab.solve(&displacements);
    let secs = begun.elapsed().as_secs_f64();
    let size = grab.system().poser().size();
    Solve {
        gesture: drag.gesture,
        serial: drag.serial,
        size,
        explanation: grab.explain(&pose),
        pose,
        drags: displacements,
        secs,
    }
}
