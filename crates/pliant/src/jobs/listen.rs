//! Live performances: packets of a device as slider weights, and their recording.
//!
//! A [`LiveSession`] turns packets into weights; it opens no socket, so that a program, a test and
//! the studio feed it alike. A [`LiveRecorder`] writes a table row by row, so that a take of any
//! length needs no memory.

use std::io::{self, Write};

use pliant_io::performance::live::{LiveStream, Received, StreamCounts};
use pliant_rig::{
    BoundCalibration, BoundMap, Calibration, Channel, ChannelKind, ChannelMap, Performance, Preset,
    Rig, RigError, SideUse,
};

/// After this silence another sender may take the session.
const LONGEST_SILENCE_SECS: f64 = 2.0;
/// How much farther the clock of a sender may go than that of arrival.
const LONGEST_LEAP_SECS: f64 = 5.0;

/// A rig that follows packets.
#[derive(Debug)]
pub struct LiveSession {
    rig: Rig,
    sliders: Vec<String>,
    presets: Vec<Preset>,
    /// Routes of the user; without them they follow from the names.
    given: Option<ChannelMap>,
    sides: SideUse,
    stream: LiveStream,
    calibration: Option<Calibration>,
    bound: Option<(BoundMap, Option<BoundCalibration>)>,
    map: ChannelMap,
    /// The number of channels for which the map is bound.
    known_channels: usize,
    clock: LiveClock,
}

/// One frame of a live performance.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveFrame {
    /// Seconds since the first frame.
    pub time_secs: f64,
    /// The weight of each slider.
    pub weights: Vec<f64>,
}

/// Time of the sender, or of arrival where the sender gives none or starts again.
#[derive(Debug, Default)]
struct LiveClock {
    sender_secs: Option<f64>,
    arrival_secs: f64,
    time_secs: f64,
    started: bool,
}

impl LiveClock {
    fn advance(&mut self, sender_secs: Option<f64>, arrival_secs: f64) -> f64 {
        if self.started {
            // Two packets that arrive together still have an order.
            let by_arrival = (arrival_secs - self.arrival_secs).max(1e-6);
            let step = match (sender_secs, self.sender_secs) {
                // A clock that leaps is no clock.
                (Some(now), Some(before))
                    if now > before && now - before < by_arrival + LONGEST_LEAP_SECS =>
                {
                    now - before
                }
                _ => by_arrival,
            };
            self.time_secs += step;
        }
        self.started = true;
        self.sender_secs = sender_secs;
        self.arrival_secs = arrival_secs;
        self.time_secs
    }
}

impl LiveSession {
    /// A session for `rig`, with the routes of `map` or those that follow from names.
    #[must_use]
    pub fn new(rig: Rig, map: Option<ChannelMap>, sides: SideUse) -> Self {
        let targets = rig.targets().iter();
        Self {
            sliders: targets.map(|target| target.name.clone()).collect(),
            rig,
            presets: Vec::new(),
            given: map,
            sides,
            stream: LiveStream::new(),
            calibration: None,
            bound: None,
            map: ChannelMap::default(),
            known_channels: 0,
            clock: LiveClock::default(),
        }
    }

    /// Removes rest, range and cross-talk of the device from the weights from now on; the channels
    /// stay as they are sent.
    pub fn calibrate(&mut self, calibration: Option<Calibration>) {
        self.calibration = calibration;
        self.known_channels = 0;
    }

    /// Channels that mean a preset move its sliders.
    #[must_use]
    pub fn with_presets(self, presets: Vec<Preset>) -> Self {
        Self { presets, ..self }
    }

    /// Takes a packet that arrived `arrival_secs` after some fixed time. Returns a frame if the
    /// packet completes one.
    ///
    /// # Errors
    /// Routes that name other sliders than those of the rig.
    pub fn receive(
        &mut self,
        packet: &[u8],
        arrival_secs: f64,
    ) -> Result<Option<LiveFrame>, RigError> {
        // A sender that fell silent no longer holds the session.
        if self.clock.started && arrival_secs - self.clock.arrival_secs > LONGEST_SILENCE_SECS {
            self.stream.release();
        }
        if self.stream.receive(packet) != Received::Frame {
            return Ok(None);
        }
        if self.stream.names().len() != self.known_channels {
            self.bind()?;
        }
        let Some((bound, calibration)) = &self.bound else {
            return Ok(None);
        };

        let mut values = self.stream.values().to_vec();
        if let Some(calibration) = calibration {
            calibration.apply(&mut values);
        }
        Ok(Some(LiveFrame {
            time_secs: self.clock.advance(self.stream.time_secs(), arrival_secs),
            weights: bound.weights(|channel| values[channel]),
        }))
    }

    /// Resolves the routes for the channels that came so far.
    fn bind(&mut self) -> Result<(), RigError> {
        let names = self.stream.names();
        let channels: Vec<Channel> = names
            .iter()
            .map(|n| Channel::new(&**n, Vec::new()))
            .collect();
        self.known_channels = names.len();
        self.map = match &self.given {
            // A sender may not send every channel of the map, or not yet.
            Some(given) => {
                let mut map = given.clone();
                map.channels.retain(|route| names.contains(&route.from));
                map
            }
            None => ChannelMap::guess_with_presets(&channels, &self.sliders, &self.presets),
        };
        let empty = Performance::even("", 60.0, channels)?;
        let bound = BoundMap::new(&self.map, &empty, &self.rig, self.sides)?;
        let own = names.iter().map(String::as_str);
        let calibration = self.calibration.as_ref().map(|c| c.bind(own));
        self.bound = Some((bound, calibration));
        Ok(())
    }

    /// The names of the sliders, in the order of the weights.
    #[must_use]
    pub fn sliders(&self) -> &[String] {
        &self.sliders
    }

    /// The routes of the channels that came so far.
    #[must_use]
    pub fn map(&self) -> &ChannelMap {
        &self.map
    }

    /// The names of the channels that came so far, and their latest values.
    #[must_use]
    pub fn channels(&self) -> (&[String], &[f64]) {
        (self.stream.names(), self.stream.values())
    }

    /// Channels of weights that move no slider.
    #[must_use]
    pub fn unmapped(&self) -> Vec<String> {
        let routed = |name: &String| self.map.channels.iter().any(|route| route.from == *name);
        let names = self.stream.names().iter().filter(|name| {
            Channel::new(&***name, Vec::new()).kind == ChannelKind::Weight && !routed(name)
        });
        names.cloned().collect()
    }

    /// What happened to packets so far.
    #[must_use]
    pub fn counts(&self) -> StreamCounts {
        self.stream.counts()
    }
}

/// Writes the channels of a live performance as a table.
#[derive(Debug)]
pub struct LiveRecorder<W> {
    out: W,
    columns: usize,
    /// Frames that were written.
    pub frames: u64,
    /// Values of channels that first came after the header was written.
    pub left_out: u64,
}

impl<W: Write> LiveRecorder<W> {
    /// A recorder that writes to `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            columns: 0,
            frames: 0,
            left_out: 0,
        }
    }

    /// Writes a frame. The channels of the first frame are the columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn push(&mut self, time_secs: f64, names: &[String], values: &[f64]) -> io::Result<()> {
        if self.frames == 0 {
            self.columns = names.len();
            self.out.write_all(b"time_secs")?;
            for name in names {
                // A name from the network may hold anything.
                let plain = |c: char| !c.is_control() && !matches!(c, ',' | ';' | '"');
                let name: String = name.chars().filter(|c| plain(*c)).collect();
                write!(self.out, ",{name}")?;
            }
            self.out.write_all(b"\n")?;
        }

        self.left_out += (values.len() - self.columns) as u64;
        write!(self.out, "{time_secs:.6}")?;
        for value in &values[..self.columns] {
            write!(self.out, ",{value}")?;
        }
        self.out.write_all(b"\n")?;
        self.frames += 1;
        Ok(())
    }

    /// Writes what is buffered, and returns the writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use pliant_io::performance::live::encode_live_link;
    use pliant_io::performance::{PerformanceOptions, read_csv};

    use super::*;

    fn head() -> Rig {
        pliant_specimens::specimen("head").expect("a head").rig
    }

    #[test]
    fn packets_move_the_sliders_and_the_recording_is_the_performance() {
        let mut session = LiveSession::new(head(), None, SideUse::Own);
        let mut recorder = LiveRecorder::new(Vec::new());
        let jaw = session
            .sliders
            .iter()
            .position(|name| name == "jawOpen")
            .unwrap();
        for frame in 0..120 {
            let open = 0.5 - 0.5 * (frame as f32 / 10.0).cos();
            let packet = encode_live_link("phone", frame, 60, |name| {
                if name == "JawOpen" { open } else { 0.0 }
            });
            let live = session.receive(&packet, 0.0).unwrap().unwrap();
            assert!((live.weights[jaw] - f64::from(open)).abs() < 1e-7);
            let (names, values) = session.channels();
            recorder.push(live.time_secs, names, values).unwrap();
        }
        let bytes = recorder.finish().unwrap();
        let take = read_csv(&bytes, &PerformanceOptions::default()).unwrap();
        assert_eq!((take.frame_count(), take.channels().len()), (120, 61));
        assert_eq!(take.frames_per_second(), 60.0);
        assert!(take.dropped_frames().is_empty());
        assert_eq!(session.counts().frames, 120);
    }

    fn json(subject: &str, time: f64, jaw: f64) -> Vec<u8> {
        format!(r#"{{"subject": "{subject}", "time": {time}, "jawOpen": {jaw}}}"#).into_bytes()
    }

    #[test]
    fn a_silent_sender_gives_way_and_a_leaping_clock_is_not_followed() {
        let mut session = LiveSession::new(head(), None, SideUse::Own);
        let mut receive = |packet: Vec<u8>, secs: f64| session.receive(&packet, secs).unwrap();
        assert!(receive(json("a", 10.0, 0.1), 0.0).is_some());
        assert_eq!(receive(json("b", 5.0, 0.9), 1.0), None, "held by the first");
        let next = receive(json("b", 5.0, 0.9), 4.0).unwrap();
        assert_eq!(next.time_secs, 4.0, "by arrival");
        let leap = receive(json("b", 1e15, 0.2), 4.1).unwrap();
        assert!((leap.time_secs - 4.1).abs() < 1e-9);
        let back = receive(json("b", 6.0, 0.3), 4.2).unwrap();
        assert!((back.time_secs - 4.2).abs() < 1e-9);
    }

    #[test]
    fn a_calibration_changes_weights_and_not_the_recording() {
        let mut session = LiveSession::new(head(), None, SideUse::Own);
        let jaw = session.sliders.iter().position(|name| name == "jawOpen");
        let jaw = jaw.unwrap();
        let rom = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.6];
        let rom = vec![Channel::new("jawOpen", rom.to_vec())];
        let rom = Performance::even("rom", 60.0, rom).unwrap();
        session.calibrate(Some(Calibration::of_range(&rom).unwrap()));
        for (k, (sent, wanted)) in [(0.1, 0.0), (0.35, 0.5), (0.6, 1.0)]
            .into_iter()
            .enumerate()
        {
            let packet = json("", k as f64, sent);
            let frame = session.receive(&packet, k as f64).unwrap().unwrap();
            assert!((frame.weights[jaw] - wanted).abs() < 1e-12);
            assert_eq!(session.channels().1, [sent]);
        }
    }

    #[test]
    fn rubbish_is_counted_and_moves_nothing() {
        let mut session = LiveSession::new(head(), None, SideUse::Own);
        for bytes in [&b""[..], b"\x06", b"{", b"/x", &[0xff; 2000]] {
            assert_eq!(session.receive(bytes, 0.0).unwrap(), None);
        }
        assert_eq!(session.counts().unreadable, 5);
    }
}
