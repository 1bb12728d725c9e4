//! A thread that receives a live performance, and what the window shows of it.
//!
//! The thread turns each packet into weights as soon as it arrives; the window shows the newest
//! ones. A recording grows in the thread until it is fetched.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pliant::jobs::{LivePort, LiveSession};
use pliant::rig::{Calibration, Channel, Performance, Rig, SideUse};

use crate::engine::work::Wake;
use crate::model::document::Weights;
use crate::model::names::to_message;

/// How long the thread waits for a packet before it looks whether it should end.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest recording, in numbers: two hours of 61 channels at 60 Hz, 211 MB.
const MOST_NUMBERS: usize = 61 * 60 * 7200;
/// The share of the newest value in the mean of the rate.
const RATE_SHARE: f64 = 0.05;

/// One channel as its meter shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Meter {
    /// The channel.
    pub name: String,
    /// Its latest value.
    pub value: f64,
    /// Whether it moves a slider.
    pub mapped: bool,
}

/// What the window shows of a receiver.
#[derive(Debug, Clone, Default)]
pub struct ReceiverState {
    /// The channels that came so far.
    pub meters: Vec<Meter>,
    /// The weights of the sliders; none before the first frame.
    pub weights: Option<Weights>,
    /// Frames that came.
    pub frames: u64,
    /// Frames that are missing by the clock of the sender.
    pub lost: u64,
    /// Packets of no known kind, late ones, those of other senders, and those beyond the queue.
    pub declined: u64,
    /// Frames per second, a running mean.
    pub rate: f64,
    /// From the arrival of the last packet to its weights, in milliseconds.
    pub latency_ms: f64,
    /// The longest such time.
    pub longest_latency_ms: f64,
    /// Seconds that are recorded; `None` while nothing is.
    pub recorded_secs: Option<f64>,
    /// Why the recording ended by itself, or why nothing can be received.
    pub problem: Option<String>,
    /// Whether weights are calibrated.
    pub calibrated: bool,
}

/// Rows that are being recorded.
#[derive(Debug, Default)]
struct Recording {
    names: Vec<String>,
    times_secs: Vec<f64>,
    /// Values of the channels, frame after frame.
    values: Vec<f64>,
}

/// What a recording is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalibrationStep {
    /// It shows the range of the face.
    Begin,
    /// The range is complete; weights are calibrated by it.
    End,
    /// Weights are those of the device again.
    Clear,
}

#[derive(Default)]
struct Shared {
    state: ReceiverState,
    recording: Option<Recording>,
    range: Option<Recording>,
    calibration: Option<Calibration>,
    /// Whether the thread has yet to use it.
    is_new: bool,
}

/// An open port whose packets move a rig. It closes when it is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Opens `port` for this computer, or for all if `open`; packets move `rig`.
    ///
    /// # Errors
    /// A message for a port that cannot be opened.
    pub fn start(port: u16, open: bool, rig: Rig, wake: Wake) -> Result<Self, String> {
        let opened = LivePort::bind(port, open).map_err(|error| {
            format!("Port {port} cannot be opened: {error}. Another program may use it; choose another port.")
        })?;
        let address = opened.address();
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let stop: Arc<AtomicBool> = Arc::default();
        let session = LiveSession::new(rig, None, SideUse::Own);

        let (own, ended) = (Arc::clone(&shared), Arc::clone(&stop));
        let run = move || serve(&opened, session, &own, &ended, &wake);
        let thread = std::thread::Builder::new()
            .name("capture".into())
            .spawn(run)
            .map_err(to_message)?;
        Ok(Self {
            address,
            shared,
            stop,
            thread: Some(thread),
        })
    }

    /// Where devices send to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What there is to show.
    #[must_use]
    pub fn state(&self) -> ReceiverState {
        self.shared().state.clone()
    }

    /// The latest weights.
    #[must_use]
    pub fn weights(&self) -> Option<Weights> {
        self.shared().state.weights.clone()
    }

    /// Begins to record.
    pub fn record(&self) {
        let mut shared = self.shared();
        shared.recording = Some(Recording::default());
        shared.state.recorded_secs = Some(0.0);
        shared.state.problem = None;
    }

    /// Ends the recording and returns it, calibrated; `None` if no frame came.
    #[must_use]
    pub fn take_recording(&self) -> Option<Performance> {
        let mut shared = self.shared();
        shared.state.recorded_secs = None;
        let recorded = shared.recording.take()?.performance()?;
        Some(match &shared.calibration {
            Some(calibration) => calibration.apply(&recorded),
            None => recorded,
        })
    }

    /// Records the range of the face, calibrates by it, or ends the calibration.
    ///
    /// # Errors
    /// A message for a range in which the face hardly moved.
    pub fn calibrate(&self, step: CalibrationStep) -> Result<(), String> {
        let mut shared = self.shared();
        match step {
            CalibrationStep::Begin => shared.range = Some(Recording::default()),
            CalibrationStep::End => {
                let range = shared.range.take().and_then(Recording::performance);
                let range = range.ok_or("No frame came while the range was recorded.")?;
                let calibration = Calibration::of_range(&range).map_err(|_| {
                    "The face hardly moved. Rest first, then open the mouth, smile, blink and raise the brows as far as you can."
                })?;
                shared.use_calibration(Some(calibration));
            }
            CalibrationStep::Clear => {
                shared.use_calibration(None);
                shared.range = None;
            }
        }
        Ok(())
    }

    /// Whether the range of the face is being recorded.
    #[must_use]
    pub fn is_calibrating(&self) -> bool {
        self.shared().range.is_some()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

impl Recording {
    fn push(&mut self, time_secs: f64, names: &[String], values: &[f64]) {
        // Channels that come later are missing before.
        if self.names.len() < names.len() {
            let rows = self.times_secs.len();
            let mut wide = Vec::with_capacity(names.len() * (rows + 1));
            for row in 0..rows {
                let old = self.names.len();
                wide.extend_from_slice(&self.values[row * old..(row + 1) * old]);
                wide.resize((row + 1) * names.len(), f64::NAN);
            }
            self.values = wide;
            self.names = names.to_vec();
        }
        self.times_secs.push(time_secs);
        self.values.extend_from_slice(values);
    }

    fn secs(&self) -> f64 {
        match (self.times_secs.first(), self.times_secs.last()) {
            (Some(first), Some(last)) => last - first,
            _ => 0.0,
        }
    }

    fn performance(self) -> Option<Performance> {
        let first = *self.times_secs.first()?;
        let times: Vec<f64> = self.times_secs.iter().map(|time| time - first).collect();
        let count = self.names.len();
        let channel = |(k, name): (usize, &String)| {
            let values = self.values.iter().skip(k).step_by(count).copied();
            Channel::new(&**name, values.collect())
        };
        let channels = self.names.iter().enumerate().map(channel).collect();
        let rate = pliant::io::performance::usual_rate(&times).unwrap_or(60.0);
        Performance::new("capture", times, rate, channels).ok()
    }
}

/// Receives until it should end.
fn serve(
    port: &LivePort,
    mut session: LiveSession,
    shared: &Mutex<Shared>,
    stop: &AtomicBool,
    wake: &Wake,
) {
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let mut first_arrival = None;
    let mut last_secs = None;
    while !stop.load(Ordering::Relaxed) {
        {
            let mut shared = lock();
            if std::mem::take(&mut shared.is_new) {
                session.calibrate(shared.calibration.clone());
            }
        }
        let Some(packet) = port.receive(PAUSE) else {
            continue;
        };
        let began = *first_arrival.get_or_insert(packet.at);
        let arrival_secs = packet.at.duration_since(began).as_secs_f64();
        let frame = session.receive(&packet.bytes, arrival_secs);

        let mut shared = lock();
        let counts = session.counts();
        shared.state.frames = counts.frames;
        shared.state.lost = counts.lost;
        shared.state.declined =
            counts.unreadable + counts.late + counts.other_subjects + port.dropped();
        match frame {
            Ok(None) => continue,
            Err(error) => shared.state.problem = Some(format!("{error}.")),
            Ok(Some(frame)) => {
                let named = session.sliders().iter().cloned().zip(frame.weights);
                let weights = named.filter(|(_, weight)| *weight != 0.0).collect();
                shared.state.weights = Some(weights);
                shared.state.latency_ms = 1e3 * packet.at.elapsed().as_secs_f64();
                shared.state.longest_latency_ms =
                    shared.state.longest_latency_ms.max(shared.state.latency_ms);
                if let Some(last) = last_secs.replace(frame.time_secs) {
                    shared.state.see_step(frame.time_secs - last);
                }
                shared.keep(frame.time_secs, &session);
            }
        }
        drop(shared);
        wake();
    }
}

impl ReceiverState {
    fn see_step(&mut self, secs: f64) {
        let rate = 1.0 / secs.max(1e-6);
        self.rate = if self.rate == 0.0 {
            rate
        } else {
            (1.0 - RATE_SHARE) * self.rate + RATE_SHARE * rate
        };
    }
}

impl Shared {
    fn use_calibration(&mut self, calibration: Option<Calibration>) {
        self.state.calibrated = calibration.is_some();
        self.calibration = calibration;
        self.is_new = true;
    }

    /// Shows and records the channels of a frame.
    fn keep(&mut self, time_secs: f64, session: &LiveSession) {
        let (names, values) = session.channels();
        if self.state.meters.len() != names.len() {
            let map = session.map();
            let meter = |name: &String| Meter {
                name: name.clone(),
                value: 0.0,
                mapped: map.channels.iter().any(|route| route.from == *name),
            };
            self.state.meters = names.iter().map(meter).collect();
        }
        for (meter, value) in self.state.meters.iter_mut().zip(values) {
            meter.value = *value;
        }

        for recording in [&mut self.recording, &mut self.range].into_iter().flatten() {
            if recording.values.len() + values.len() <= MOST_NUMBERS {
                recording.push(time_secs, names, values);
            } else {
                self.state.problem = Some("The recording is full; stop it to keep it.".into());
            }
        }
        if let Some(recording) = &self.recording {
            self.state.recorded_secs = Some(recording.secs());
        }
    }
}
