//! The order of packets and the latest values of a live performance.

use std::collections::HashMap;

use super::{LivePacket, read_packet};

/// *Chosen*: twice the channels of the longest known list.
const MOST_CHANNELS: usize = 512;
const LONGEST_NAME: usize = 128;
/// A sender whose clock goes back by more than this has started again.
const RESTART_SECS: f64 = 1.0;

/// What happened to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It completed a frame.
    Frame,
    /// It is a part of a frame.
    Part,
    /// It is not newer than the last frame.
    Late,
    /// It is no packet of a known kind.
    Unreadable,
    /// Another sender holds the stream.
    OtherSubject,
}

/// How many packets came, and what happened to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamCounts {
    /// Complete frames.
    pub frames: u64,
    /// Packets that came late or twice.
    pub late: u64,
    /// Packets that could not be read.
    pub unreadable: u64,
    /// Packets of further senders.
    pub other_subjects: u64,
    /// Frames that the clock of the sender shows to be lost.
    pub lost: u64,
    /// Values of channels beyond the number that is kept.
    pub left_out: u64,
}

/// The latest value of each channel.
#[derive(Debug, Clone, Default)]
pub struct LiveStream {
    names: Vec<String>,
    values: Vec<f64>,
    index: HashMap<String, usize>,
    subject: Option<String>,
    time_secs: Option<f64>,
    step_secs: f64,
    counts: StreamCounts,
}

impl LiveStream {
    /// A stream without channels.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The names of the channels in the order in which they first came.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The latest value of each channel.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The time of the last frame by the clock of the sender.
    #[must_use]
    pub fn time_secs(&self) -> Option<f64> {
        self.time_secs
    }

    /// What happened to packets so far.
    #[must_use]
    pub fn counts(&self) -> StreamCounts {
        self.counts
    }

    /// Lets another sender take the stream, after the first was silent.
    pub fn release(&mut self) {
        self.subject = None;
        self.time_secs = None;
    }

    /// Takes a packet.
    pub fn receive(&mut self, bytes: &[u8]) -> Received {
        let received = match read_packet(bytes) {
            Some(packet) => self.take(packet),
            None => Received::Unreadable,
        };
        match received {
            Received::Frame => self.counts.frames += 1,
            Received::Late => self.counts.late += 1,
            Received::Unreadable => self.counts.unreadable += 1,
            Received::OtherSubject => self.counts.other_subjects += 1,
            Received::Part => {}
        }
        received
    }

    fn take(&mut self, packet: LivePacket) -> Received {
        // The first sender holds the stream.
        match &self.subject {
            Some(subject) if *subject != packet.subject => return Received::OtherSubject,
            Some(_) => {}
            None => self.subject = Some(packet.subject.clone()),
        }

        if let (Some(time), Some(last)) = (packet.time_secs, self.time_secs) {
            let step = time - last;
            if step <= 0.0 && step > -RESTART_SECS {
                return Received::Late;
            }
            if step > 0.0 {
                self.count_lost(step);
            }
        }
        self.time_secs = packet.time_secs.or(self.time_secs);

        for (name, value) in packet.values {
            match self.index.get(&name) {
                Some(&channel) => self.values[channel] = value,
                None if self.names.len() < MOST_CHANNELS && name.len() <= LONGEST_NAME => {
                    self.index.insert(name.clone(), self.names.len());
                    self.names.push(name);
                    self.values.push(value);
                }
                None => self.counts.left_out += 1,
            }
        }
        if packet.ends_frame {
            Received::Frame
        } else {
            Received::Part
        }
    }

    /// Counts frames that are missing between two times, by the shortest step so far.
    fn count_lost(&mut self, step: f64) {
        const LONGEST_PAUSE_SECS: f64 = 1.0;
        if self.step_secs == 0.0 || step < self.step_secs {
            self.step_secs = step;
        }
        if step < LONGEST_PAUSE_SECS {
            self.counts.lost += ((step / self.step_secs).round() as u64).saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{encode_live_link, encode_vmc};
    use super::*;

    fn packet(frame: i32, jaw: f32) -> Vec<u8> {
        encode_live_link("phone", frame, 60, |name| {
            if name == "JawOpen" { jaw } else { 0.0 }
        })
    }

    #[test]
    fn late_and_double_packets_do_not_move_the_face_back() {
        let mut stream = LiveStream::new();
        assert_eq!(stream.receive(&packet(10, 0.1)), Received::Frame);
        assert_eq!(stream.receive(&packet(12, 0.3)), Received::Frame);
        assert_eq!(stream.receive(&packet(11, 0.2)), Received::Late);
        assert_eq!(stream.receive(&packet(12, 0.3)), Received::Late);
        assert_eq!(stream.receive(&packet(13, 0.4)), Received::Frame);
        let jaw = stream
            .names()
            .iter()
            .position(|name| name == "JawOpen")
            .unwrap();
        assert_eq!(stream.values()[jaw], f64::from(0.4_f32));
        assert_eq!(stream.counts().late, 2);
    }

    #[test]
    fn lost_frames_are_counted_and_a_restart_is_followed() {
        let mut stream = LiveStream::new();
        for frame in [0, 1, 2, 5, 6, 9] {
            stream.receive(&packet(frame, 0.0));
        }
        assert_eq!(stream.counts().lost, 4);
        assert_eq!(stream.receive(&packet(200, 0.0)), Received::Frame);
        assert_eq!(
            stream.receive(&packet(0, 0.0)),
            Received::Frame,
            "the sender started again"
        );
    }

    #[test]
    fn a_flood_of_names_and_rubbish_takes_bounded_memory() {
        let mut stream = LiveStream::new();
        for k in 0..5000 {
            let name = format!("name{k}");
            stream.receive(&encode_vmc(k as f32, &[(&name, 0.5)]));
            let mut rubbish = packet(k, 0.5);
            let at = (k as usize * 7919) % rubbish.len();
            rubbish[at] ^= 0xff;
            rubbish.truncate(1 + (k as usize * 104729) % rubbish.len());
            stream.receive(&rubbish);
        }
        assert!(stream.names().len() <= MOST_CHANNELS);
        assert!(stream.counts().left_out > 4000);
        assert!(stream.values().iter().all(|value| value.is_finite()));
    }

    #[test]
    fn ten_minutes_at_sixty_frames_lose_nothing() {
        let mut stream = LiveStream::new();
        for frame in 0..36_000 {
            assert_eq!(stream.receive(&packet(frame, 0.5)), Received::Frame);
        }
        assert_eq!(stream.counts().frames, 36_000);
        assert_eq!((stream.counts().lost, stream.names().len()), (0, 61));
    }
}
