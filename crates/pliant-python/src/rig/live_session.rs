//! Live performances.

use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1};
use pliant::rig::ChannelMap;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Rig;
use super::performance::SIDES;
use crate::failure::Failure;
use crate::report::{choice, from_python};
use crate::work::{lock, run};

/// A rig that follows the packets of a device: Live Link Face, VMC over OSC, iFacialMocap, or JSON. Your program receives
/// them, for example with `socket`.
///
/// >>> session = pliant.LiveSession(pliant.load("specimen:head").rig())
/// >>> time, weights = session.receive(b'{"time": 0.0, "jawOpen": 0.5}', 0.0)
/// >>> float(weights[pliant.load("specimen:head").rig().names.index("jawOpen")])
/// 0.5
#[pyclass(frozen, module = "pliant")]
pub(crate) struct LiveSession {
    session: Mutex<pliant::jobs::LiveSession>,
}

#[pymethods]
impl LiveSession {
    #[new]
    #[pyo3(signature = (rig, *, map=None, sides="own"))]
    fn new(rig: &Rig, map: Option<&Bound<'_, PyAny>>, sides: &str) -> Result<Self, Failure> {
        let sides = choice("sides", sides, &SIDES)?;
        let map: Option<ChannelMap> = map.map(|map| from_python("map", map)).transpose()?;
        let session = pliant::jobs::LiveSession::new((*rig.rig).clone(), map, sides);
        Ok(Self {
            session: Mutex::new(session),
        })
    }

    /// Takes a packet that arrived `arrival_secs` after some fixed time. A packet that completes a frame gives
    /// its time in seconds and the weights of the sliders, (s,); another one gives `None`.
    #[expect(clippy::type_complexity, reason = "a pair")]
    fn receive<'py>(
        &self,
        py: Python<'py>,
        packet: &[u8],
        arrival_secs: f64,
    ) -> Result<Option<(f64, Bound<'py, PyArray1<f64>>)>, Failure> {
        let frame = run(py, || {
            Ok(lock(&self.session)?.receive(packet, arrival_secs)?)
        })?;
        Ok(frame.map(|frame| (frame.time_secs, frame.weights.into_pyarray(py))))
    }

    /// The latest value of each channel.
    #[getter]
    fn channels<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let session = lock(&self.session)?;
        let (names, values) = session.channels();
        let channels = PyDict::new(py);
        for (name, value) in names.iter().zip(values) {
            channels.set_item(name, value)?;
        }
        Ok(channels)
    }

    /// Channels of weights that move no slider.
    #[getter]
    fn unmapped(&self) -> Result<Vec<String>, Failure> {
        Ok(lock(&self.session)?.unmapped())
    }

    /// Packets that were `late`, `lost`, `unreadable`, or of `other_senders`.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let counts = lock(&self.session)?.counts();
        let found = PyDict::new(py);
        found.set_item("late", counts.late)?;
        found.set_item("lost", counts.lost)?;
        found.set_item("unreadable", counts.unreadable)?;
        found.set_item("other_senders", counts.other_subjects)?;
        Ok(found)
    }
}
