//! The marker pairs that count: those that were placed, their images on the other side, and what
//! the check says of each.

use std::sync::Arc;

use pliant::transfer::{MarkerFlaw, Markers, check_markers, mirror_markers};

use super::setup::Pairs;
use super::stage::Actor;
use crate::work::{Inbox, Latest, Outbox, Wake};

/// What the library adds to the name of an image.
const IMAGE_SUFFIX: &str = "_mirrored";

/// All pairs, named by their numbers from 1, images after those they belong to; and what is odd
/// about images.
#[must_use]
pub(super) fn all_markers(
    source: &Actor,
    target: &Actor,
    pairs: &Pairs,
    mirrored: bool,
) -> (Markers, Vec<String>) {
    let mut placed = Markers::default();
    let there = |[a, b]: [u32; 2]| {
        (a as usize) < source.mesh.vertex_count() && (b as usize) < target.mesh.vertex_count()
    };
    for (k, &pair) in pairs.iter().enumerate().filter(|(_, pair)| there(**pair)) {
        placed.push(Some((k + 1).to_string()), pair.into());
    }
    if !mirrored || placed.pairs().is_empty() {
        return (placed, Vec::new());
    }
    let (Some(of_source), Some(of_target)) = (source.plane(), target.plane()) else {
        let side = if source.plane().is_none() {
            "source"
        } else {
            "target"
        };
        return (
            placed,
            vec![format!(
                "The {side} is not symmetric: markers are not mirrored."
            )],
        );
    };
    match mirror_markers(&source.mesh, &target.mesh, &placed, [of_source, of_target]) {
        Ok(both) => (both.markers, both.problems),
        Err(error) => (placed, vec![error.to_string()]),
    }
}

/// A pair as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    /// The pair that was placed, counted from 0: itself, or the one that it is the image of.
    pub(super) placed: usize,
    /// Whether it is an image.
    pub(super) image: bool,
    /// Its vertices, source first.
    pub(super) pair: [u32; 2],
    /// How far it is from where the others put it, as a part of the target's diagonal.
    pub(super) off: Option<f64>,
    /// How bad it is.
    pub(super) mood: Mood,
    /// What is wrong and what to do, one sentence each.
    pub(super) flaws: Vec<String>,
}

/// How bad a pair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mood {
    /// Nothing is known against it.
    Fine,
    /// A look at it is worth while.
    Doubtful,
    /// It is surely no good.
    Wrong,
}

/// What is known about the pairs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Marks {
    /// Every pair that counts.
    pub(super) marks: Vec<Mark>,
    /// What a person should know about all of them.
    pub(super) problems: Vec<String>,
}

impl Marks {
    /// The pairs as they were placed, before anything is known about them.
    #[must_use]
    pub(super) fn placed(pairs: &Pairs) -> Self {
        let mark = |(placed, &pair): (usize, &[u32; 2])| Mark {
            placed,
            image: false,
            pair,
            off: None,
            mood: Mood::Fine,
            flaws: Vec::new(),
        };
        Self {
            marks: pairs.iter().enumerate().map(mark).collect(),
            problems: Vec::new(),
        }
    }

    fn judged(question: &Question) -> Self {
        let Question {
            source,
            target,
            pairs,
            mirrored,
        } = question;
        let (markers, mut problems) = all_markers(source, target, pairs, *mirrored);
        let check = check_markers(&source.mesh, &target.mesh, &markers);
        let (verdicts, refusal) = match check {
            Ok(check) => {
                problems.extend(check.problems);
                (check.verdicts, check.refusal.map(|error| error.to_string()))
            }
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        problems.extend(refusal.filter(|_| !pairs.is_empty()));
        let mark = |(k, (&(a, b), name)): (usize, (&(u32, u32), &Option<String>))| {
            let name = name.as_deref().unwrap_or_default();
            let number = name.strip_suffix(IMAGE_SUFFIX);
            let verdict = verdicts.get(k);
            let flaws: &[MarkerFlaw] = verdict.map_or(&[], |verdict| &verdict.flaws);
            Mark {
                placed: number
                    .unwrap_or(name)
                    .parse::<usize>()
                    .map_or(0, |number| number.saturating_sub(1)),
                image: number.is_some(),
                pair: [a, b],
                off: verdict.and_then(|verdict| verdict.off),
                mood: flaws
                    .iter()
                    .map(|flaw| {
                        if flaw.is_wrong() {
                            Mood::Wrong
                        } else {
                            Mood::Doubtful
                        }
                    })
                    .max()
                    .unwrap_or(Mood::Fine),
                flaws: flaws
                    .iter()
                    .map(|flaw| flaw.sentence(&markers).replace(IMAGE_SUFFIX, "'"))
                    .collect(),
            }
        };
        let marks = markers
            .pairs()
            .iter()
            .zip(markers.names())
            .enumerate()
            .map(mark)
            .collect();
        Self {
            marks,
            problems: problems
                .into_iter()
                .map(|problem| problem.replace(IMAGE_SUFFIX, "'"))
                .collect(),
        }
    }
}

#[derive(Debug, Clone)]
struct Question {
    source: Arc<Actor>,
    target: Arc<Actor>,
    pairs: Pairs,
    mirrored: bool,
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        let actors =
            Arc::ptr_eq(&self.source, &other.source) && Arc::ptr_eq(&self.target, &other.target);
        actors && (&self.pairs, self.mirrored) == (&other.pairs, other.mirrored)
    }
}

/// Looks at the pairs beside the window.
#[derive(Default)]
pub(super) struct Judge {
    worker: Option<Latest<Question, (Question, Marks)>>,
    asked: Option<Question>,
    known: Option<(Question, Arc<Marks>)>,
}

impl Judge {
    /// What is known about the pairs; without images and verdicts until those are there.
    pub(super) fn marks(
        &mut self,
        actors: [&Arc<Actor>; 2],
        pairs: &Pairs,
        mirrored: bool,
        wake: &Wake,
    ) -> Arc<Marks> {
        let [source, target] = actors;
        let question = Question {
            source: source.clone(),
            target: target.clone(),
            pairs: pairs.clone(),
            mirrored,
        };
        let worker = self.worker.get_or_insert_with(|| start(wake.clone()));
        if let Some(Ok((answered, marks))) = worker.answer() {
            self.known = Some((answered, Arc::new(marks)));
        }
        if self.asked.as_ref() != Some(&question) {
            worker.ask(question.clone());
            self.asked = Some(question.clone());
        }
        match &self.known {
            Some((answered, marks)) if *answered == question => marks.clone(),
            _ => Arc::new(Marks::placed(pairs)),
        }
    }

    /// Whether a verdict is on its way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

fn start(wake: Wake) -> Latest<Question, (Question, Marks)> {
    Latest::new(
        "Checking markers",
        wake,
        |inbox: &Inbox<Question>, outbox: &Outbox<(Question, Marks)>| {
            while let Some(question) = inbox.next() {
                let marks = Marks::judged(&question);
                outbox.put(Ok((question, marks)));
            }
        },
    )
}
