//! Timecode (SMPTE): labels of frames, and the times that they stand for.
//!
//! **Problem.** Recorders label frames as hours, minutes, seconds and frames. At 29.97 and 59.94
//! frames per second the labels count whole numbers (30, 60) of frames in a second, so that a
//! second of labels is longer than a second; drop-frame timecode skips labels to stay in step with
//! the clock.
//!
//! **Equation.** With the nominal rate `N = ⌈r⌉`, `m` whole minutes, and `d = N / 15` labels that
//! are skipped at the start of each minute that is not a multiple of ten:
//!
//! ```text
//! n = N (3600 h + 60 min + s) + f − d (m − ⌊m / 10⌋)        t = n / r
//! ```
//!
//! without the last term of `n` where no labels are dropped.
//!
//! **Source.** SMPTE ST 12-1, "Time and control code".
//!
//! **Departures.** A frame may have a fraction, as in `13:13:04:31.652` of Live Link Face.

use std::fmt;

/// Frames per second as a fraction, such as 60000 / 1001.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRate {
    numerator: u32,
    denominator: u32,
}

impl FrameRate {
    /// The rates of film, video and capture devices.
    pub const STANDARD: [Self; 13] = [
        Self::exact(24000, 1001),
        Self::exact(24, 1),
        Self::exact(25, 1),
        Self::exact(30000, 1001),
        Self::exact(30, 1),
        Self::exact(48, 1),
        Self::exact(50, 1),
        Self::exact(60000, 1001),
        Self::exact(60, 1),
        Self::exact(90, 1),
        Self::exact(100, 1),
        Self::exact(120, 1),
        Self::exact(240, 1),
    ];
    /// How near a number must be to a standard rate to mean it. *Chosen*: 30 and 29.97 differ by
    /// one in a thousand.
    const TOLERANCE: f64 = 3e-4;

    const fn exact(numerator: u32, denominator: u32) -> Self {
        Self {
            numerator,
            denominator,
        }
    }

    /// The rate of `numerator / denominator` frames per second; `None` unless it is from 1 to 1000.
    #[must_use]
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        let rate = f64::from(numerator) / f64::from(denominator);
        (1.0..=1000.0)
            .contains(&rate)
            .then_some(Self::exact(numerator, denominator))
    }

    /// The standard rate that `frames_per_second` means (59.94 is 60000 / 1001), or else this
    /// number in thousandths; `None` unless it is from 1 to 1000.
    #[must_use]
    pub fn of(frames_per_second: f64) -> Option<Self> {
        if !(1.0..=1000.0).contains(&frames_per_second) {
            return None;
        }

        let near = Self::STANDARD.into_iter().min_by(|a, b| {
            let distance = |rate: &Self| (rate.frames_per_second() - frames_per_second).abs();
            distance(a).total_cmp(&distance(b))
        });
        near.filter(|rate| {
            (rate.frames_per_second() - frames_per_second).abs()
                <= Self::TOLERANCE * frames_per_second
        })
        .or_else(|| Self::new((1000.0 * frames_per_second).round() as u32, 1000))
    }

    /// Frames per second.
    #[must_use]
    pub fn frames_per_second(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Labels in a second of timecode: 60 for 59.94.
    #[must_use]
    pub fn nominal(self) -> u32 {
        self.numerator.div_ceil(self.denominator)
    }

    /// Labels that drop-frame timecode skips in a minute; 0 for rates without drop-frame timecode.
    fn dropped_in_a_minute(self) -> u64 {
        let is_video = self.denominator == 1001 && self.nominal().is_multiple_of(30);
        if is_video {
            u64::from(self.nominal() / 15)
        } else {
            0
        }
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (100.0 * self.frames_per_second()).round() / 100.0;
        write!(f, "{hundredths}")
    }
}

/// The label of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timecode {
    /// Hours, minutes and seconds.
    pub clock: [u32; 3],
    /// The frame within the second, with a fraction.
    pub frame: f64,
    /// Whether labels are dropped to stay in step with the clock.
    pub drop_frame: bool,
}

impl Timecode {
    /// Reads `hh:mm:ss:ff`, `hh:mm:ss;ff` (drop-frame) or either with a fraction of the frame.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, frame) = text.trim().rsplit_once([':', ';'])?;
        let separator = text.trim().as_bytes()[rest.len()];

        let mut clock = [0; 3];
        let mut fields = rest.split([':', ';']);
        for (field, largest) in clock.iter_mut().zip([99, 59, 59]) {
            let digits = fields.next().filter(|digits| is_digits(digits))?;
            *field = digits.parse().ok().filter(|value| *value <= largest)?;
        }

        let whole = frame.split('.').next().unwrap_or_default();
        let fraction_is_digits = frame.split('.').skip(1).all(is_digits);
        let is_number = is_digits(whole) && fraction_is_digits && frame.split('.').count() <= 2;
        let frame = frame.parse().ok().filter(|_| is_number)?;
        fields.next().is_none().then_some(Self {
            clock,
            frame,
            drop_frame: separator == b';',
        })
    }

    /// The time since midnight, in seconds.
    #[must_use]
    pub fn secs(&self, rate: FrameRate) -> f64 {
        let [hours, minutes, secs] = self.clock.map(u64::from);
        let whole_minutes = 60 * hours + minutes;
        let labels = u64::from(rate.nominal()) * (60 * whole_minutes + secs);

        let dropped = if self.drop_frame {
            rate.dropped_in_a_minute() * (whole_minutes - whole_minutes / 10)
        } else {
            0
        };
        ((labels - dropped.min(labels)) as f64 + self.frame) / rate.frames_per_second()
    }

    /// The label of a time since midnight, to a thousandth of a frame.
    #[must_use]
    pub fn at(secs: f64, rate: FrameRate, drop_frame: bool) -> Self {
        let thousandths = (1000.0 * secs.max(0.0) * rate.frames_per_second()).round();
        let frames = (thousandths / 1000.0).floor();
        let fraction = (thousandths - 1000.0 * frames) / 1000.0;

        let mut label = frames as u64;
        let dropped = rate.dropped_in_a_minute();
        if drop_frame && dropped > 0 {
            label += dropped_before(label, dropped, u64::from(rate.nominal()));
        }

        let nominal = u64::from(rate.nominal());
        let secs = label / nominal;
        Self {
            clock: [secs / 3600 % 24, secs / 60 % 60, secs % 60].map(|field| field as u32),
            frame: (label % nominal) as f64 + fraction,
            drop_frame,
        }
    }
}

/// The labels that were skipped before frame number `n`.
fn dropped_before(n: u64, dropped: u64, nominal: u64) -> u64 {
    // The first of ten minutes drops nothing.
    let minute = 60 * nominal - dropped;
    let ten_minutes = 10 * minute + dropped;
    let rest = n % ten_minutes;
    let in_rest = rest.saturating_sub(dropped) / minute;
    dropped * (9 * (n / ten_minutes) + in_rest)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Timecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [hours, minutes, secs] = self.clock;
        let separator = if self.drop_frame { ';' } else { ':' };
        write!(f, "{hours:02}:{minutes:02}:{secs:02}{separator}")?;

        let thousandths = (1000.0 * self.frame).round() as u64;
        match thousandths % 1000 {
            0 => write!(f, "{:02}", thousandths / 1000),
            fraction => write!(f, "{:02}.{fraction:03}", thousandths / 1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(frames_per_second: f64) -> FrameRate {
        FrameRate::of(frames_per_second).unwrap()
    }

    #[test]
    fn rates_of_video_are_exact_fractions() {
        assert_eq!(rate(59.94), FrameRate::new(60000, 1001).unwrap());
        assert_eq!(rate(29.97), FrameRate::new(30000, 1001).unwrap());
        assert_eq!(rate(23.976), FrameRate::new(24000, 1001).unwrap());
        assert_eq!(rate(60.0).frames_per_second(), 60.0);
        assert_eq!(rate(72.5).frames_per_second(), 72.5);
        assert_eq!(rate(59.94).to_string(), "59.94");
        for wrong in [f64::NAN, 0.0, -1.0, f64::INFINITY, 1e5] {
            assert_eq!(FrameRate::of(wrong), None);
        }
        assert_eq!(FrameRate::new(60, 0), None);
    }

    #[test]
    fn an_hour_of_drop_frame_timecode_is_an_hour_of_the_clock() {
        for frames_per_second in [29.97, 59.94] {
            let hour = Timecode::parse("01:00:00;00").unwrap();
            let secs = hour.secs(rate(frames_per_second));
            assert!((secs - 3600.0).abs() < 0.01, "{secs}");

            // Without dropped labels it is 3.6 s longer.
            let plain = Timecode::parse("01:00:00:00").unwrap();
            let secs = plain.secs(rate(frames_per_second));
            assert!((secs - 3603.6).abs() < 1e-9, "{secs}");
        }
    }

    #[test]
    fn drop_frame_labels_skip_the_first_of_a_minute_but_not_of_the_tenth() {
        let rate = rate(29.97);
        let next = |text: &str| {
            let secs = Timecode::parse(text).unwrap().secs(rate);
            Timecode::at(secs + 1.0 / rate.frames_per_second(), rate, true).to_string()
        };
        assert_eq!(next("00:00:59;29"), "00:01:00;02");
        assert_eq!(next("00:09:59;29"), "00:10:00;00");
        assert_eq!(next("00:10:59;29"), "00:11:00;02");
    }

    #[test]
    fn every_frame_of_two_drop_frame_hours_has_its_label() {
        for (rate, step) in [(rate(29.97), 7), (rate(59.94), 13)] {
            for n in (0..216_000).step_by(step) {
                let secs = f64::from(n) / rate.frames_per_second();
                let label = Timecode::at(secs, rate, true);
                assert!((label.secs(rate) - secs).abs() < 1e-9, "{label}");
            }
        }
    }

    #[test]
    fn fractions_of_a_frame_are_kept() {
        let text = "13:13:04:31.652";
        let label = Timecode::parse(text).unwrap();
        assert_eq!(label.to_string(), text);
        assert_eq!(
            Timecode::at(label.secs(rate(60.0)), rate(60.0), false).to_string(),
            text
        );
        assert_eq!(
            Timecode::parse("23:59:59:23").unwrap().to_string(),
            "23:59:59:23"
        );
    }

    #[test]
    fn text_that_is_no_timecode_is_declined() {
        for text in [
            "",
            "12",
            "1:2:3",
            "a:b:c:d",
            "00:61:00:00",
            "00:00:00:1e9",
            "00:00:00:-1",
            "1:1:1:1:1",
            "00:00:00:1.2.3",
            "::::",
            "00:00:00:nan",
            "é:é:é;é",
        ] {
            assert_eq!(Timecode::parse(text), None, "{text}");
        }
    }
}
