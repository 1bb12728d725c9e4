//! Performances: recorded channels, their cleaning, and their way onto a rig.

use std::collections::BTreeMap;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::io::{HeadUse, LoadOptions, PerformanceOptions, PlayOptions};
use pliant::rig::{
    Calibration, ChannelKind, ChannelMap, CleanOptions, FrameRate, SideUse, Smoothing, clean,
};
use pliant::transfer::{retarget, retarget_options};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Rig;
use crate::arrays::{self, locator};
use crate::asset::Asset;
use crate::failure::{Failure, input_error, with_keywords};
use crate::report::{choice, from_python, to_python};
use crate::transfer::marker_pairs;
use crate::work::{run, run_long, run_unwatched};

/// A recording of named channels over time: a take of Live Link Face, Rokoko, Faceware, Audio2Face or
/// ARKit (CSV, JSON), or the weight curves of an asset.
///
/// >>> take = pliant.Performance.load("specimen:head")
/// >>> played = pliant.load("specimen:head").play(take)
/// >>> played.weights.shape[1] == len(pliant.load("specimen:head").rig())
/// True
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Performance {
    performance: Arc<pliant::rig::Performance>,
}

/// How sides are used.
pub(super) const SIDES: [(&str, SideUse); 3] = [
    ("own", SideUse::Own),
    ("symmetric", SideUse::Symmetric),
    ("mirrored", SideUse::Mirrored),
];

impl Performance {
    fn weight_channels(&self) -> impl Iterator<Item = &pliant::rig::Channel> {
        let channels = self.performance.channels().iter();
        channels.filter(|channel| channel.kind == ChannelKind::Weight)
    }

    /// The given routes, or those that follow from the names.
    fn map(
        &self,
        map: Option<&Bound<'_, PyAny>>,
        sliders: Vec<String>,
    ) -> Result<ChannelMap, Failure> {
        let map = match map {
            Some(map) => from_python("map", map)?,
            None => ChannelMap::guess(self.performance.channels(), &sliders),
        };
        if map.channels.is_empty() {
            return Err(input_error(
                "no channel has the name or the meaning of a slider; give a map (see Performance.guess_map)",
            ));
        }
        Ok(map)
    }

    pub(crate) fn of(performance: pliant::rig::Performance) -> Self {
        Self {
            performance: Arc::new(performance),
        }
    }
}

fn positive(what: &str, value: f64) -> Result<f64, Failure> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(input_error(format!(
            "{what} is {value}; give a number above 0"
        )))
    }
}

#[pymethods]
impl Performance {
    /// Channels as a dictionary from names to values, one for each frame; NaN is a missing value.
    #[new]
    #[pyo3(signature = (channels, *, frames_per_second, name=""))]
    fn new(
        channels: &Bound<'_, PyDict>,
        frames_per_second: f64,
        name: &str,
    ) -> Result<Self, Failure> {
        let mut all = Vec::new();
        let mut frames = None;
        for (key, values) in channels {
            let key: String = key.extract()?;
            let values = arrays::numbers(&format!("channel '{key}'"), &values)?;
            let expected = *frames.get_or_insert(values.len());
            if values.len() != expected {
                return Err(input_error(format!(
                    "channel '{key}' has {} values, but the first has {expected}; give one for each frame",
                    values.len()
                )));
            }
            all.push(pliant::rig::Channel::new(key, values));
        }
        let fps = positive("frames_per_second", frames_per_second)?;
        let times = (0..frames.unwrap_or(0)).map(|t| t as f64 / fps).collect();
        Ok(Self::of(pliant::rig::Performance::new(
            name, times, fps, all,
        )?))
    }

    /// Opens a performance. `frames_per_second` is for files without times, `timecode_rate` for the labels
    /// of a timecode; what was guessed is in `notes`.
    #[staticmethod]
    #[pyo3(signature = (path, *, frames_per_second=None, timecode_rate=None))]
    fn load(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        frames_per_second: Option<f64>,
        timecode_rate: Option<f64>,
    ) -> Result<Self, Failure> {
        let locator = locator(path)?;
        let mut options = PerformanceOptions::default();
        if let Some(fps) = frames_per_second {
            options = options.with_frames_per_second(positive("frames_per_second", fps)?);
        }
        if let Some(rate) = timecode_rate {
            let rate = FrameRate::of(rate).ok_or_else(|| {
                input_error(format!(
                    "timecode_rate is {rate}; give a rate from 1 to 1000"
                ))
            })?;
            options = options.with_timecode_rate(rate);
        }
        let performance = run_unwatched(py, move || {
            let assets = LoadOptions::default().with_specimens(&pliant::BuiltIn);
            Ok(pliant::io::read_performance(&locator, &options, &assets)?)
        })?;
        Ok(Self::of(performance))
    }

    /// The name, often that of the file.
    #[getter]
    fn name(&self) -> &str {
        self.performance.name()
    }

    /// The names of the channels that hold weights.
    #[getter]
    fn channels(&self) -> Vec<&str> {
        let channels = self.weight_channels();
        channels.map(|channel| channel.name.as_str()).collect()
    }

    /// The values of these channels, (f, channels); NaN is a missing value.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let channels: Vec<&[f64]> = self.weight_channels().map(|c| &*c.values).collect();
        let row = |frame: usize| channels.iter().map(|values| values[frame]).collect();
        let rows: Vec<Vec<f64>> = (0..self.performance.frame_count()).map(row).collect();
        arrays::rows_array(py, &rows, channels.len())
    }

    /// The rotations of the head and the eyes in degrees: a dictionary from names to values, (f,).
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let rotations = PyDict::new(py);
        for channel in self.performance.channels() {
            if channel.kind != ChannelKind::Weight {
                rotations.set_item(&channel.name, channel.values.clone().into_pyarray(py))?;
            }
        }
        Ok(rotations)
    }

    /// The time of each frame, (f,), in seconds.
    #[getter]
    fn times_secs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.performance.times_secs().to_vec().into_pyarray(py)
    }

    /// The nominal rate.
    #[getter]
    fn frames_per_second(&self) -> f64 {
        self.performance.frames_per_second()
    }

    /// The timecode of the first frame, or `None`.
    #[getter]
    fn timecode(&self) -> Option<String> {
        let timecode = self.performance.timecode.as_ref();
        timecode.map(|timecode| timecode.first.to_string())
    }

    /// What was guessed when the file was read, one sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let notes = self.performance.notes.iter();
        notes.map(|note| with_keywords(note)).collect()
    }

    /// Without gaps, spikes, noise and jitter of holds; nothing is delayed, and closed lids and lips stay closed.
    /// `smoothing` is a factor of the measured noise; 0 does not smooth. Gaps up to `longest_gap_secs` are
    /// filled by a curve.
    #[pyo3(signature = (*, smoothing=1.0, spikes=true, holds=true, contacts=true, longest_gap_secs=CleanOptions::DEFAULT_LONGEST_GAP_SECS))]
    fn cleaned(
        &self,
        py: Python<'_>,
        smoothing: f64,
        spikes: bool,
        holds: bool,
        contacts: bool,
        longest_gap_secs: f64,
    ) -> Result<Self, Failure> {
        for (what, value) in [
            ("smoothing", smoothing),
            ("longest_gap_secs", longest_gap_secs),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(input_error(format!(
                    "{what} is {value}; give a number from 0"
                )));
            }
        }
        let mut options = CleanOptions::all();
        options.spikes = spikes;
        options.holds = holds && smoothing > 0.0;
        options.contacts = contacts;
        options.longest_gap_secs = longest_gap_secs;
        options.smoothing = if smoothing > 0.0 {
            Smoothing::Measured(smoothing)
        } else {
            Smoothing::Off
        };
        let performance = Arc::clone(&self.performance);
        let cleaned = run_unwatched(py, move || Ok(clean(&performance, &options).0))?;
        Ok(Self::of(cleaned))
    }

    /// At an even rate, which also fills dropped frames.
    fn resampled(&self, py: Python<'_>, frames_per_second: f64) -> Result<Self, Failure> {
        let fps = positive("frames_per_second", frames_per_second)?;
        Ok(Self::of(run(py, || {
            Ok(self.performance.resampled(fps)?)
        })?))
    }

    /// Without the rest, the range and the cross-talk of a device: `rest` lists frames of `take` at rest,
    /// `extremes` maps channels to the frame of their extreme.
    #[pyo3(signature = (take, rest, extremes))]
    fn calibrated(
        &self,
        py: Python<'_>,
        take: &Self,
        rest: &Bound<'_, PyAny>,
        extremes: BTreeMap<String, usize>,
    ) -> Result<Self, Failure> {
        let rest: Vec<usize> = arrays::indices("rest", rest)?
            .into_iter()
            .map(|frame| frame as usize)
            .collect();
        let extremes: Vec<(String, usize)> = extremes.into_iter().collect();
        let calibrated = run(py, || {
            let calibration = Calibration::of(&take.performance, &rest, &extremes)?;
            Ok(calibration.apply(&self.performance))
        })?;
        Ok(Self::of(calibrated))
    }

    /// The routes from the channels to sliders of these names, as a dictionary: `channels` (from, to, gain,
    /// offset), `limits`, `head`, `eyes`, `unmapped`. Edit it for `weights` and `Asset.play`.
    fn guess_map<'py>(
        &self,
        py: Python<'py>,
        sliders: Vec<String>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let map = ChannelMap::guess(self.performance.channels(), &sliders);
        to_python(py, &map)
    }

    /// The weight of each slider of a rig in each frame, (f, s). Without a map, routes follow from the names.
    #[pyo3(signature = (rig, *, map=None, sides="own"))]
    fn weights<'py>(
        &self,
        py: Python<'py>,
        rig: &Rig,
        map: Option<&Bound<'py, PyAny>>,
        sides: &str,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let names = rig.names().into_iter().map(str::to_owned).collect();
        let map = self.map(map, names)?;
        let sides = choice("sides", sides, &SIDES)?;
        let track = run(py, || Ok(map.track(&self.performance, &rig.rig, sides)?))?;
        arrays::rows_array(py, track.keys(), rig.rig.sliders().len())
    }

    /// The performance of another rig on this one: the shapes of `source`, which the performance fits, are
    /// transferred to the mesh of `rig`, and the sliders of `rig` follow that surface. Rotations stay.
    #[pyo3(signature = (source, rig, *, markers=None, progress=None))]
    fn retargeted(
        &self,
        py: Python<'_>,
        source: &Rig,
        rig: &Rig,
        markers: Option<&Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let names = source.names().into_iter().map(str::to_owned).collect();
        let map = self.map(None, names)?;
        let markers = markers.map(marker_pairs).transpose()?;
        let performance = Arc::clone(&self.performance);
        let [source, rig] = [source, rig].map(|rig| Arc::clone(&rig.rig));
        let retargeted = run_long(py, progress, move |progress| {
            let track = map.track(&performance, &source, SideUse::Own)?;
            let options = retarget_options();
            let solved = retarget(&source, &track, &rig, markers.as_ref(), &options, progress)?;
            Ok(solved.performance(&performance, &rig)?)
        })?;
        Ok(Self::of(retargeted))
    }

    fn __len__(&self) -> usize {
        self.performance.frame_count()
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Performance: {} frames of {} channels at {} per second>",
            self.performance.frame_count(),
            self.performance.channels().len(),
            self.performance.frames_per_second()
        )
    }
}

/// A performance on a rig.
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Played {
    played: pliant::io::Played,
}

#[pymethods]
impl Played {
    /// The asset with the clip: all else is kept. Save it as GLB, FBX or USD.
    #[getter]
    fn asset(&self) -> Asset {
        Asset::of(self.played.asset.clone())
    }

    /// The weight of each slider in each frame, (f, s).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let keys = self.played.track.keys();
        arrays::rows_array(py, keys, keys.first().map_or(0, Vec::len))
    }

    /// The time of each frame, (f,), in seconds.
    #[getter]
    fn times_secs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.played.track.times_secs().to_vec().into_pyarray(py)
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Played: {} frames>", self.played.frames)
    }
}

/// Plays a performance on the targets, the head and the eyes of an asset; see `Asset.play`.
pub(crate) fn play(
    py: Python<'_>,
    asset: &Asset,
    performance: &Performance,
    map: Option<&Bound<'_, PyAny>>,
    sides: &str,
    head: &str,
    still_eyes: bool,
    pivot: Option<&Bound<'_, PyAny>>,
    tolerance: f64,
) -> Result<Played, Failure> {
    let sides = choice("sides", sides, &SIDES)?;
    let head = choice(
        "head",
        head,
        &[
            ("auto", HeadUse::Auto),
            ("mesh", HeadUse::Mesh),
            ("none", HeadUse::None),
        ],
    )?;
    let pivot = pivot
        .map(|pivot| arrays::point("pivot", pivot))
        .transpose()?;
    let options = PlayOptions {
        sides,
        head,
        still_eyes,
        pivot,
        tolerance,
    };
    let map = performance.map(map, asset.asset.target_names())?;

    let asset = Arc::clone(&asset.asset);
    let performance = Arc::clone(&performance.performance);
    let played = run_unwatched(py, move || {
        Ok(asset.with_performance(&performance, &map, &options)?)
    })?;
    Ok(Played { played })
}
