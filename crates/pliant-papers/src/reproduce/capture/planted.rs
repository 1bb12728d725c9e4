//! Planted performances: curves with a known answer, and the damage that devices do.

use std::f64::consts::TAU;

use pliant_rig::{Channel, Performance, Vocabulary, match_names};

use super::lcg::Lcg;

/// Frames per second of all takes.
pub(super) const RATE: f64 = 60.0;
/// The noise of a channel. *Chosen*: that of a phone in bad light.
pub(super) const NOISE: f64 = 0.01;
/// The part of frames that begin a dropout, and its longest length.
const DROPOUT: (f64, usize) = (0.01, 8);
/// The part of frames that are spikes.
const SPIKE: f64 = 0.003;

/// A performance with a known answer.
pub(super) struct Planted {
    /// The weights of each slider in each frame.
    pub(super) rows: Vec<Vec<f64>>,
    /// For each frame whether lids are closed.
    pub(super) closed: Vec<bool>,
    /// The sliders of lids.
    pub(super) lids: Vec<usize>,
}

/// Gestures, speech and blinks on sliders of these names.
pub(super) fn planted(names: &[String], frames: usize, seed: u64) -> Planted {
    let mut lcg = Lcg::new(seed);
    let arkit = arkit_of(names);
    let is = |k: usize, shape: &str| arkit[k].as_deref() == Some(shape);
    let lids: Vec<usize> = (0..names.len())
        .filter(|&k| is(k, "eyeBlinkLeft") || is(k, "eyeBlinkRight"))
        .collect();

    let blinks = blinks(frames, &mut lcg);
    let mut columns = Vec::with_capacity(names.len());
    for k in 0..names.len() {
        let column = if lids.contains(&k) {
            blinks.clone()
        } else if is(k, "jawOpen") {
            speech(frames, &mut lcg)
        } else {
            gestures(frames, &mut lcg)
        };
        columns.push(column);
    }
    let row = |frame: usize| columns.iter().map(|column| column[frame]).collect();
    Planted {
        rows: (0..frames).map(row).collect(),
        closed: blinks.iter().map(|weight| *weight > 0.95).collect(),
        lids,
    }
}

/// The shape of ARKit that each slider is.
pub(super) fn arkit_of(names: &[String]) -> Vec<Option<String>> {
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut shapes = vec![None; names.len()];
    for pair in match_names(&texts, Vocabulary::Arkit).pairs {
        shapes[pair.source] = Some(pair.name);
    }
    shapes
}

/// Lids that close within 80 ms, stay for 50 ms and open within 150 ms, every 2 to 5 s.
fn blinks(frames: usize, lcg: &mut Lcg) -> Vec<f64> {
    let mut curve = vec![0.0; frames];
    let mut at = lcg.between(0.5, 2.0);
    while at * RATE < frames as f64 {
        for (k, weight) in curve.iter_mut().enumerate() {
            let t = k as f64 / RATE - at;
            let lid = match t {
                _ if t < 0.0 => 0.0,
                _ if t < 0.08 => eased(t / 0.08),
                _ if t < 0.13 => 1.0,
                _ => 1.0 - eased((t - 0.13) / 0.15),
            };
            *weight = f64::max(*weight, lid);
        }
        at += lcg.between(2.0, 5.0);
    }
    curve
}

/// A jaw that opens four times a second while it speaks, and rests between.
fn speech(frames: usize, lcg: &mut Lcg) -> Vec<f64> {
    let rate = lcg.between(3.5, 4.5);
    let value = |k: usize| {
        let t = k as f64 / RATE;
        let speaks = (t % 4.0) < 2.5;
        let swell = 0.5 - 0.5 * (TAU * (t % 4.0) / 2.5).cos();
        if speaks {
            0.5 * swell * (0.5 - 0.5 * (TAU * rate * t).cos())
        } else {
            0.0
        }
    };
    (0..frames).map(value).collect()
}

/// A few gestures that rise, hold and fall.
fn gestures(frames: usize, lcg: &mut Lcg) -> Vec<f64> {
    let mut curve = vec![0.0; frames];
    let mut at = lcg.between(0.0, 6.0);
    while at * RATE < frames as f64 {
        let height = lcg.between(0.2, 0.9);
        let rise = lcg.between(0.15, 0.4);
        let hold = lcg.between(0.0, 1.2);
        for (k, weight) in curve.iter_mut().enumerate() {
            let t = k as f64 / RATE - at;
            let part = if t < rise + hold {
                eased(t / rise)
            } else {
                1.0 - eased((t - rise - hold) / rise)
            };
            *weight = f64::max(*weight, height * part);
        }
        at += 2.0 * rise + hold + lcg.between(1.0, 8.0);
    }
    curve
}

fn eased(s: f64) -> f64 {
    pliant_linalg::smoothstep(s.clamp(0.0, 1.0))
}

/// A normal number of deviation 1, as a sum of twelve uniform ones.
pub(super) fn normal(lcg: &mut Lcg) -> f64 {
    (0..12).map(|_| lcg.unit()).sum::<f64>() - 6.0
}

impl Planted {
    /// What a device records: the channels under other names, with noise, values cut below 0 and
    /// above 1, dropouts and spikes.
    pub(super) fn recorded(&self, names: &[String], seed: u64) -> Performance {
        let mut lcg = Lcg::new(seed);
        let mut channels = Vec::with_capacity(names.len());
        for (k, name) in renamed(names).into_iter().enumerate() {
            let mut values = Vec::with_capacity(self.rows.len());
            let mut lost = 0;
            for row in &self.rows {
                if lost == 0 && lcg.unit() < DROPOUT.0 {
                    lost = 1 + lcg.below(DROPOUT.1);
                }
                let spike = if lcg.unit() < SPIKE { 0.4 } else { 0.0 };
                let value = (row[k] + NOISE * normal(&mut lcg) + spike).clamp(0.0, 1.0);
                values.push(if lost > 0 { f64::NAN } else { value });
                lost = usize::saturating_sub(lost, 1);
            }
            channels.push(Channel::new(name, values));
        }
        Performance::even("planted", RATE, channels).expect("columns of one length")
    }
}

/// Names as another device spells them: the shape of ARKit in capitals, or the words joined.
fn renamed(names: &[String]) -> Vec<String> {
    let shapes = arkit_of(names);
    let spelled = |(name, shape): (&String, Option<String>)| match shape {
        Some(shape) => shape[..1].to_uppercase() + &shape[1..],
        None => name.replace(['_', '-', ' ', '.'], "__"),
    };
    names.iter().zip(shapes).map(spelled).collect()
}

/// Errors of found weights against the planted ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Errors {
    /// Root mean square error of the weights.
    pub(super) rms: f64,
    /// Root mean square second difference, relative to that of the planted curves.
    pub(super) roughness: f64,
    /// How far lids are open where they should be closed.
    pub(super) open_lids: f64,
}

/// The errors of `rows`.
pub(super) fn errors(planted: &Planted, rows: &[Vec<f64>]) -> Errors {
    let squares = |a: &[Vec<f64>], b: Option<&[Vec<f64>]>| -> f64 {
        let mut sum = 0.0;
        for (frame, row) in a.iter().enumerate() {
            for (k, value) in row.iter().enumerate() {
                sum += (value - b.map_or(0.0, |b| b[frame][k])).powi(2);
            }
        }
        sum / (a.len() * a[0].len()) as f64
    };
    let bends = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let bend = |w: &[Vec<f64>]| {
            (0..w[0].len())
                .map(|k| w[0][k] - 2.0 * w[1][k] + w[2][k])
                .collect()
        };
        rows.windows(3).map(bend).collect()
    };

    let mut open = Vec::new();
    for (frame, row) in rows.iter().enumerate().filter(|(t, _)| planted.closed[*t]) {
        for &lid in &planted.lids {
            open.push((planted.rows[frame][lid] - row[lid]).max(0.0));
        }
    }
    Errors {
        rms: squares(rows, Some(&planted.rows)).sqrt(),
        roughness: (squares(&bends(rows), None) / squares(&bends(&planted.rows), None)).sqrt(),
        open_lids: super::numerals::mean(open),
    }
}

/// Missing values by the value before, as a plain copy holds them.
pub(super) fn held(values: &[f64]) -> Vec<f64> {
    let mut last = 0.0;
    values
        .iter()
        .map(|&value| {
            if value.is_finite() {
                last = value;
            }
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planted_performance_has_no_error_and_its_record_has() {
        let names = ["jawOpen", "eyeBlink_L", "smile"].map(str::to_owned);
        let planted = planted(&names, 900, 3);
        assert_eq!(planted.lids, [1]);
        assert!(planted.closed.contains(&true));
        let none = errors(&planted, &planted.rows);
        assert_eq!((none.rms, none.open_lids), (0.0, 0.0));
        assert!((none.roughness - 1.0).abs() < 1e-12);

        let record = planted.recorded(&names, 4);
        assert_eq!(record.channels()[1].name, "EyeBlinkLeft");
        assert!(
            record
                .channels()
                .iter()
                .all(|channel| channel.missing() > 0)
        );
        assert_eq!(planted.rows.len(), 900);
    }
}
