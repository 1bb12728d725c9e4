//! A USD stage: prims by path, time codes and frames.

use std::collections::HashMap;

use pliant_mesh::FaceLabels;

use super::layer::{Layer, Prim, Value, entry};
use super::material;
use crate::ReadError;
use crate::parse::budget::Budget;

/// Chosen: longer paths are rejected, because every prim repeats the path of its parent.
pub(super) const LONGEST_PATH: usize = 1000;

/// Chosen: clips of more frames are rejected; eleven hours at 24 frames per second.
const MOST_FRAMES: f64 = 1e6;

/// A layer with its prims listed parents first.
pub(super) struct Stage<'a> {
    pub(super) layer: &'a Layer,
    pub(super) nodes: Vec<Node<'a>>,
    index_of: HashMap<String, usize>,
    budget: Budget,
    /// The label of the faces of each material prim.
    pub(super) material_labels: HashMap<usize, String>,
}

/// A prim with its path and parent.
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
            material_labels: HashMap::new(),
        };

        for prim in &layer.prims {
            stage.add(prim, None)?;
        }
        stage.material_labels = material::labels(&stage);

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
                "the path of a prim has {} bytes, but at most {LONGEST_PATH} are supported; shorten the names of its parents",
                path.len()
            )));
        }

        let index = self.nodes.len();
        self.index_of.insert(path.clone(), index);
        self.nodes.push(Node { path, prim, parent });

        for child in &prim.children {
            self.add(child, Some(index))?;
        }
        Ok(())
    }

    /// Rejects more numbers than a file of this size can mean.
    pub(super) fn spend(&self, numbers: usize, what: &str) -> Result<(), ReadError> {
        self.budget.spend(numbers, what)
    }

    /// Rejects more names of faces than a file of this size can mean.
    pub(super) fn spend_names(&self, labels: &FaceLabels) -> Result<(), ReadError> {
        self.budget
            .spend_texts(&labels.names, "the labels of faces")
    }

    /// A prim and all its ancestors, from the prim to the root.
    pub(super) fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&k| self.nodes[k].parent)
    }

    /// The prim at the path `text`, relative to prim `from`.
    pub(super) fn resolve(&self, from: usize, text: &str) -> Option<usize> {
        if text.starts_with('/') {
            return self.index_of.get(text).copied();
        }
        // `../` refers to the parent.
        let mut path = self.nodes[from].path.as_str();
        let mut rest = text;
        while let Some(up) = rest.strip_prefix("../") {
            path = path.rsplit_once('/')?.0;
            rest = up;
        }
        self.index_of.get(&format!("{path}/{rest}")).copied()
    }

    /// The target of relationship `name` of a prim or of its nearest ancestor that has one.
    pub(super) fn inherited(&self, node: usize, name: &str) -> Option<usize> {
        let (owner, value) = self
            .ancestors(node)
            .find_map(|k| Some((k, self.nodes[k].prim.value(name)?)))?;
        self.resolve(owner, value.text()?)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        entry(&self.layer.metadata, key).and_then(Value::number)
    }

    /// The frames of the stage; `None` if nothing is `sampled` over time.
    pub(super) fn timeline(
        &self,
        sampled: impl Iterator<Item = f64>,
    ) -> Result<Option<Timeline>, ReadError> {
        let mut sampled = sampled;
        let Some(any) = sampled.next() else {
            return Ok(None);
        };
        let mut first = any;
        let mut last = any;
        for code in sampled {
            first = first.min(code);
            last = last.max(code);
        }

        let positive = |key| {
            self.number(key)
                .filter(|rate| *rate > 0.0 && rate.is_finite())
        };
        // OpenUSD: time codes per second default to frames per second, and these to 24.
        let codes_per_second = positive("timeCodesPerSecond")
            .or_else(|| positive("framesPerSecond"))
            .unwrap_or(24.0);

        let frames_per_second = positive("framesPerSecond").unwrap_or(codes_per_second);
        let finite = |key| self.number(key).filter(|code| code.is_finite());
        // A range that is missing or reversed is replaced by that of the samples.
        let (start, end) = match (finite("startTimeCode"), finite("endTimeCode")) {
            (Some(start), Some(end)) if start <= end => (start, end),
            _ => (first, last),
        };

        let codes_per_frame = codes_per_second / frames_per_second;
        let frames = ((end - start) / codes_per_frame + 1e-6).floor() + 1.0;
        if !(1.0..=MOST_FRAMES).contains(&frames) {
            return Err(ReadError::whole(format!(
                "the time codes {start} to {end} give {frames} frames, but at most {MOST_FRAMES} are supported; set startTimeCode and endTimeCode"
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

/// The samples before and after a time code, and its position between them in `[0, 1]`.
pub(super) fn samples_around(samples: &[(f64, Value)], code: f64) -> (&Value, &Value, f64) {
    let next = samples.partition_point(|(at, _)| *at <= code);
    if next == 0 || next == samples.len() {
        let held = &samples[next.saturating_sub(1)].1;
        return (held, held, 0.0);
    }
    let ((from, a), (to, b)) = (&samples[next - 1], &samples[next]);
    (a, b, (code - from) / (to - from))
}

/// The numbers of a property at a time code: linear between samples of equal length, else those of
/// the earlier sample.
pub(super) fn numbers_at(prim: &Prim, name: &str, code: Option<f64>) -> Option<Vec<f64>> {
    let (Some(code), Some(samples)) = (code, prim.samples(name)) else {
        return prim.rest(name)?.numbers().map(<[f64]>::to_vec);
    };

    let (from, to, along) = samples_around(samples, code);
    let from = from.numbers()?;
    let to = to.numbers()?;
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
