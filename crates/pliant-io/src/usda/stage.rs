//! Prims by their paths, and time.

use std::collections::HashMap;

use super::layer::{Layer, Prim, Value, entry};
use crate::ReadError;
use crate::budget::Budget;

/// Longer paths are declined: every prim repeats that of its parent.
const LONGEST_PATH: usize = 1000;

/// A clip of more frames is declined: eleven hours at 24 frames a second.
const MOST_FRAMES: f64 = 1e6;

/// A layer with its prims listed parents first.
pub(super) struct Stage<'a> {
    pub(super) layer: &'a Layer,
    pub(super) nodes: Vec<Node<'a>>,
    index_of: HashMap<String, usize>,
    budget: Budget,
}

/// A prim and where it is.
pub(super) struct Node<'a> {
    pub(super) path: String,
    pub(super) prim: &'a Prim,
    pub(super) parent: Option<usize>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(layer: &'a Layer, file_bytes: usize) -> Result<Self, ReadError> {
        let mut stage = Self {
            layer,
            nodes: Vec::new(),
            index_of: HashMap::new(),
            budget: Budget::of_samples(file_bytes),
        };
        for prim in &layer.prims {
            stage.add(prim, None)?;
        }
        Ok(stage)
    }

    fn add(&mut self, prim: &'a Prim, parent: Option<usize>) -> Result<(), ReadError> {
        let inactive = entry(&prim.metadata, "active").and_then(Value::number) == Some(0.0);
        if prim.specifier == "class" || inactive {
            return Ok(());
        }
        let path = format!(
            "{}/{}",
            parent.map_or("", |k| &self.nodes[k].path),
            prim.name
        );
        if path.len() > LONGEST_PATH {
            return Err(ReadError::whole(format!(
                "the path of a prim has {} letters; at most {LONGEST_PATH} are read",
                path.len()
            )));
        }
        let index = self.nodes.len();
        self.index_of.insert(path.clone(), index);
        self.nodes.push(Node { path, prim, parent });
        prim.children
            .iter()
            .try_for_each(|child| self.add(child, Some(index)))
    }

    /// Declines to make so many numbers that the file cannot have meant it.
    pub(super) fn spend(&self, numbers: usize, what: &str) -> Result<(), ReadError> {
        self.budget.spend(numbers, what)
    }

    /// A prim and all above it, from the inside out.
    pub(super) fn upward(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&k| self.nodes[k].parent)
    }

    /// What the path `text` means, said by prim `from`.
    pub(super) fn resolve(&self, from: usize, text: &str) -> Option<usize> {
        if text.starts_with('/') {
            return self.index_of.get(text).copied();
        }
        let mut path = self.nodes[from].path.as_str();
        let mut rest = text;
        while let Some(up) = rest.strip_prefix("../") {
            (path, rest) = (path.rsplit_once('/')?.0, up);
        }
        self.index_of.get(&format!("{path}/{rest}")).copied()
    }

    /// Where relationship `name` of a prim, or of the nearest above it that has one, leads.
    pub(super) fn inherited(&self, node: usize, name: &str) -> Option<usize> {
        let (owner, value) = self
            .upward(node)
            .find_map(|k| Some((k, self.nodes[k].prim.value(name)?)))?;
        self.resolve(owner, value.text()?)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        entry(&self.layer.metadata, key).and_then(Value::number)
    }

    /// How time codes become frames, where any of `sampled` codes exist.
    pub(super) fn timeline(
        &self,
        sampled: impl Iterator<Item = f64>,
    ) -> Result<Option<Timeline>, ReadError> {
        let Some((first, last)) = sampled.fold(None, |range: Option<(f64, f64)>, code| {
            Some(range.map_or((code, code), |(first, last)| {
                (first.min(code), last.max(code))
            }))
        }) else {
            return Ok(None);
        };
        let positive = |key| {
            self.number(key)
                .filter(|rate| *rate > 0.0 && rate.is_finite())
        };
        let codes_per_second = positive("timeCodesPerSecond")
            .or_else(|| positive("framesPerSecond"))
            .unwrap_or(24.0);
        let frames_per_second = positive("framesPerSecond").unwrap_or(codes_per_second);
        let finite = |key| self.number(key).filter(|code| code.is_finite());
        let (start, end) = match (finite("startTimeCode"), finite("endTimeCode")) {
            (Some(start), Some(end)) if start <= end => (start, end),
            _ => (first, last),
        };
        let codes_per_frame = codes_per_second / frames_per_second;
        let frames = ((end - start) / codes_per_frame + 1e-6).floor() + 1.0;
        if !(1.0..=MOST_FRAMES).contains(&frames) {
            return Err(ReadError::whole(format!(
                "the time codes {start} to {end} make {frames} frames; at most {MOST_FRAMES} are read"
            )));
        }
        Ok(Some(Timeline {
            start,
            codes_per_frame,
            codes_per_second,
            frames_per_second,
            frames: frames as usize,
        }))
    }
}

/// From frames to time codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timeline {
    pub(super) start: f64,
    codes_per_frame: f64,
    pub(super) codes_per_second: f64,
    pub(super) frames_per_second: f64,
    pub(super) frames: usize,
}

impl Timeline {
    /// The time code of each frame.
    pub(super) fn codes(&self) -> impl Iterator<Item = f64> {
        let timeline = *self;
        (0..self.frames).map(move |k| timeline.start + k as f64 * timeline.codes_per_frame)
    }
}

/// The first and last time codes of samples.
pub(super) fn ends(samples: &[(f64, Value)]) -> impl Iterator<Item = f64> {
    [samples.first(), samples.last()]
        .into_iter()
        .flatten()
        .map(|(code, _)| *code)
}

/// The samples around a time code, and how far it is from the first to the second.
pub(super) fn around(samples: &[(f64, Value)], code: f64) -> (&Value, &Value, f64) {
    let next = samples.partition_point(|(at, _)| *at <= code);
    if next == 0 || next == samples.len() {
        let held = &samples[next.saturating_sub(1)].1;
        return (held, held, 0.0);
    }
    let ((from, a), (to, b)) = (&samples[next - 1], &samples[next]);
    (a, b, (code - from) / (to - from))
}

/// A value at a time code: the line between samples of one length, else the earlier one.
pub(super) fn numbers_at(prim: &Prim, name: &str, code: Option<f64>) -> Option<Vec<f64>> {
    let (Some(code), Some(samples)) = (code, prim.samples(name)) else {
        return prim.rest(name)?.numbers().map(<[f64]>::to_vec);
    };
    let (from, to, along) = around(samples, code);
    let (from, to) = (from.numbers()?, to.numbers()?);
    if from.len() != to.len() || along == 0.0 {
        return Some(from.to_vec());
    }
    Some(
        from.iter()
            .zip(to)
            .map(|(a, b)| a + along * (b - a))
            .collect(),
    )
}
