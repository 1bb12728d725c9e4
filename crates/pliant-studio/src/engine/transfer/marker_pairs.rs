//! All marker pairs: placed pairs, their mirror images, and the quality of each.

use std::sync::Arc;

use pliant::transfer::{MarkerFlaw, Markers, check_markers, mirror_markers};

use super::actor::Actor;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::transfer::Pairs;

/// What the library adds to the name of an image.
const IMAGE_SUFFIX: &str = "_mirrored";

/// All pairs, named by their numbers from 1, images after those they belong to; and what is odd
/// about images.
#[must_use]
pub(crate) fn all_markers(
    source: &Actor,
    target: &Actor,
    pairs: &Pairs,
    mirrored: bool,
) -> (Markers, Vec<String>) {
    let mut placed = Markers::default();
    // Pairs of an earlier mesh may name vertices that do not exist.
    let there = |[a, b]: [u32; 2]| {
        (a as usize) < source.mesh.vertex_count() && (b as usize) < target.mesh.vertex_count()
    };

    for (k, &pair) in pairs.iter().enumerate().filter(|(_, pair)| there(**pair)) {
        placed.push(Some((k + 1).to_string()), pair.into());
    }
    if !mirrored || placed.pairs().is_empty() {
        return (placed, Vec::new());
    }
    // Mirroring needs a symmetry plane on both sides.
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
        Ok(both) => (both.markers, both.warnings),
        Err(error) => (placed, vec![error.to_string()]),
    }
}

/// A pair as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// The pair that was placed, counted from 0: itself, or the one that it is the image of.
    pub(crate) placed: usize,
    /// Whether it is an image.
    pub(crate) image: bool,
    /// Its vertices, source first.
    pub(crate) pair: [u32; 2],
    /// How far it is from where the others put it, as a part of the target's diagonal.
    pub(crate) off: Option<f64>,
    /// Its severity.
    pub(crate) quality: MarkerQuality,
    /// Problems and advice, one message each.
    pub(crate) flaws: Vec<String>,
}

/// The quality of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkerQuality {
    /// No problem was found.
    Fine,
    /// It should be checked.
    Doubtful,
    /// It is wrong.
    Wrong,
}

/// State of the pairs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Marks {
    /// Every pair that counts.
    pub(crate) marks: Vec<Mark>,
    /// Messages about all of them.
    pub(crate) problems: Vec<String>,
}

impl Marks {
    /// The pairs as they were placed, before anything is known about them.
    #[must_use]
    pub(crate) fn placed(pairs: &Pairs) -> Self {
        let mark = |(placed, &pair): (usize, &[u32; 2])| Mark {
            placed,
            image: false,
            pair,
            off: None,
            quality: MarkerQuality::Fine,
            flaws: Vec::new(),
        };
        Self {
            marks: pairs.iter().enumerate().map(mark).collect(),
            problems: Vec::new(),
        }
    }

    fn checked(request: &MarkerRequest) -> Self {
        let MarkerRequest {
            source,
            target,
            pairs,
            mirrored,
        } = request;

        let (markers, mut problems) = all_markers(source, target, pairs, *mirrored);
        let check = check_markers(&source.mesh, &target.mesh, &markers);
        let (verdicts, refusal) = match check {
            Ok(check) => {
                problems.extend(check.warnings);
                (
                    check.assessments,
                    check.error.map(|error| error.to_string()),
                )
            }
            Err(error) => (Vec::new(), Some(error.to_string())),
        };

        // Too few pairs are no problem where there are none: then the match is automatic.
        problems.extend(refusal.filter(|_| !pairs.is_empty()));
        let mut marks = Vec::new();
        for (k, (&(a, b), name)) in markers.pairs().iter().zip(markers.names()).enumerate() {
            let verdict = verdicts.get(k);
            let flaws: &[MarkerFlaw] = verdict.map_or(&[], |verdict| &verdict.flaws);
            let off = verdict.and_then(|verdict| verdict.deviation);
            let name = name.as_deref().unwrap_or_default();
            marks.push(Mark::new([a, b], name, off, flaws, &markers));
        }

        let problems = problems.iter().map(|problem| with_short_images(problem));
        Self {
            marks,
            problems: problems.collect(),
        }
    }
}

impl Mark {
    /// A pair with the result of the check. The library names pairs by their numbers from 1, and
    /// mirror images by the number of their pair and a suffix.
    fn new(
        pair: [u32; 2],
        name: &str,
        off: Option<f64>,
        flaws: &[MarkerFlaw],
        markers: &Markers,
    ) -> Self {
        // A mirror image is named after its pair, with a suffix.
        let number = name.strip_suffix(IMAGE_SUFFIX);
        let placed = number.unwrap_or(name).parse::<usize>();
        let quality = if flaws.iter().any(MarkerFlaw::is_wrong) {
            MarkerQuality::Wrong
        } else if flaws.is_empty() {
            MarkerQuality::Fine
        } else {
            MarkerQuality::Doubtful
        };

        let messages = flaws.iter().map(|flaw| flaw.message(markers));
        Self {
            placed: placed.map_or(0, |number| number.saturating_sub(1)),
            image: number.is_some(),
            pair,
            off,
            quality,
            flaws: messages.map(|text| with_short_images(&text)).collect(),
        }
    }
}

/// A message with `3'` for the mirror image of pair 3.
fn with_short_images(message: &str) -> String {
    message.replace(IMAGE_SUFFIX, "'")
}

#[derive(Debug, Clone)]
struct MarkerRequest {
    source: Arc<Actor>,
    target: Arc<Actor>,
    pairs: Pairs,
    mirrored: bool,
}

impl PartialEq for MarkerRequest {
    fn eq(&self, other: &Self) -> bool {
        let actors =
            Arc::ptr_eq(&self.source, &other.source) && Arc::ptr_eq(&self.target, &other.target);
        actors && (&self.pairs, self.mirrored) == (&other.pairs, other.mirrored)
    }
}

/// Worker that checks the pairs.
#[derive(Default)]
pub(crate) struct MarkerChecker {
    worker: Option<Latest<MarkerRequest, (MarkerRequest, Marks)>>,
    requested: Option<MarkerRequest>,
    known: Option<(MarkerRequest, Arc<Marks>)>,
}

impl MarkerChecker {
    /// State of the pairs; without predictions and checks until they are ready.
    pub(crate) fn marks(
        &mut self,
        actors: [&Arc<Actor>; 2],
        pairs: &Pairs,
        mirrored: bool,
        wake: &Wake,
    ) -> Arc<Marks> {
        let [source, target] = actors;
        let request = MarkerRequest {
            source: source.clone(),
            target: target.clone(),
            pairs: pairs.clone(),
            mirrored,
        };

        let worker = self.worker.get_or_insert_with(|| start(wake.clone()));
        if let Some(Ok((answered, marks))) = worker.result() {
            self.known = Some((answered, Arc::new(marks)));
        }

        if self.requested.as_ref() != Some(&request) {
            worker.send(request.clone());
            self.requested = Some(request.clone());
        }

        // Until the result arrives, the placed pairs are shown without quality.
        match &self.known {
            Some((answered, marks)) if *answered == request => marks.clone(),
            _ => Arc::new(Marks::placed(pairs)),
        }
    }

    /// Whether a verdict is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

fn start(wake: Wake) -> Latest<MarkerRequest, (MarkerRequest, Marks)> {
    Latest::new(
        "Checking markers",
        wake,
        |inbox: &Inbox<MarkerRequest>, outbox: &Outbox<(MarkerRequest, Marks)>| {
            while let Some(request) = inbox.next() {
                let marks = Marks::checked(&request);
                outbox.put(Ok((request, marks)));
            }
        },
    )
}
