//! Takes of weights: recorded, read from files of performances, and cleaned.

use std::path::Path;

use pliant::io::{LoadOptions, PerformanceOptions, read_performance};
use pliant::rig::{
    Channel, ChannelKind, ChannelMap, CleanOptions, Performance, Rig, SideUse, Smoothing, clean,
};

use crate::model::document::Locator;
use crate::model::names::{shown, to_message};
use crate::model::timeline::Take;

/// Endings of files of performances that are no assets.
const ENDINGS: [&str; 6] = ["csv", "tsv", "json", "jsonl", "ndjson", "wav"];

/// What a button cleans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanStep {
    /// Spikes of one or two frames.
    Spikes,
    /// Noise, as strong as each slider has it.
    Noise,
    /// Jitter while a slider rests.
    Holds,
    /// All of them.
    All,
}

impl CleanStep {
    /// All steps, in the order of their buttons.
    pub const ALL: [Self; 4] = [Self::Spikes, Self::Noise, Self::Holds, Self::All];

    fn options(self) -> CleanOptions {
        let none = CleanOptions::fill_only();
        match self {
            Self::Spikes => CleanOptions {
                spikes: true,
                ..none
            },
            Self::Noise => CleanOptions {
                smoothing: Smoothing::Measured(1.0),
                ..none
            },
            Self::Holds => CleanOptions {
                holds: true,
                ..none
            },
            Self::All => CleanOptions::all(),
        }
    }
}

/// Whether a file is a performance that is no asset, by its name.
#[must_use]
pub fn is_performance_file(path: &Path) -> bool {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// The endings of files of performances.
pub(crate) fn performance_endings() -> impl Iterator<Item = String> {
    ENDINGS.into_iter().map(str::to_owned)
}

/// A take, and what of its performance it does not keep, as one sentence.
pub type TakeAndLoss = (Take, Option<String>);

/// The performance of a file on the sliders of `rig`, as a take of the character `of`.
///
/// # Errors
/// A message about the file, or about channels of which none has a slider.
pub fn performance_take(path: &Path, of: &str, rig: &Rig) -> Result<TakeAndLoss, String> {
    let locator = path.to_string_lossy();
    let options = PerformanceOptions::default();
    let read = read_performance(&locator, &options, &LoadOptions::default());
    let performance = read.map_err(|error| format!("{error}."))?;
    if performance.channels().is_empty() {
        return Err(format!(
            "'{}' holds markers; find weights for them by `pliant play --markers`.",
            shown(path)
        ));
    }
    take(&performance, of, rig)
        .map_err(|message| format!("'{}' cannot be played: {message}", shown(path)))
}

/// A recorded performance on the sliders of `rig`, as a take of the character `of`.
///
/// # Errors
/// A message about channels of which none has a slider.
pub fn recorded_take(
    performance: &Performance,
    of: &str,
    rig: &Rig,
) -> Result<TakeAndLoss, String> {
    take(performance, of, rig).map_err(|message| format!("The recording cannot be kept: {message}"))
}

fn take(performance: &Performance, of: &str, rig: &Rig) -> Result<TakeAndLoss, String> {
    let even = performance
        .resampled(performance.frames_per_second())
        .map_err(to_message)?;
    let (filled, _) = clean(&even, &CleanOptions::fill_only());
    let sliders: Vec<String> = rig.targets().iter().map(|t| t.name.clone()).collect();
    let map = ChannelMap::guess(filled.channels(), &sliders);
    if map.channels.is_empty() {
        return Err("no channel has the name or the meaning of a slider of this character.".into());
    }

    let track = map.track(&filled, rig, SideUse::Own).map_err(to_message)?;
    // Only the sliders that channels move belong to the take.
    let moved: Vec<usize> = (0..sliders.len())
        .filter(|&k| map.channels.iter().any(|route| route.to == sliders[k]))
        .collect();
    let row = |row: &Vec<f64>| moved.iter().map(|&k| row[k]).collect();
    let rows: Vec<Vec<f64>> = track.keys().iter().map(row).collect();
    let take = Take::of_weights(
        filled.name(),
        Locator::from(of),
        moved.iter().map(|&k| sliders[k].clone()).collect(),
        &rows,
        filled.frames_per_second(),
    );
    Ok((take, loss(&filled, &map)))
}

/// What a take of weights does not keep: rotations, and shapes without a slider.
fn loss(performance: &Performance, map: &ChannelMap) -> Option<String> {
    let (mut rotations, mut shapes) = (false, 0);
    for channel in performance.channels() {
        let routed = map.channels.iter().any(|route| route.from == channel.name);
        let moves = channel.values.iter().any(|value| *value != 0.0);
        if moves && !routed {
            let is_rotation = matches!(channel.kind, ChannelKind::Rotation(_));
            rotations |= is_rotation;
            shapes += usize::from(!is_rotation);
        }
    }

    let shapes = match shapes {
        0 => String::new(),
        1 => "1 channel without a slider".to_owned(),
        count => format!("{count} channels without a slider"),
    };
    match (rotations, shapes.is_empty()) {
        (false, true) => None,
        (false, false) => Some(format!("The take leaves out {shapes}.")),
        (true, _) => {
            let and = if shapes.is_empty() { "" } else { " and " };
            Some(format!(
                "The take keeps weights of sliders, not the rotation of the head and the eyes{and}{shapes}; `pliant play` writes a clip with the rotations."
            ))
        }
    }
}

/// A take of weights, cleaned; `None` for another take, or one that is damaged.
#[must_use]
pub fn clean_take(take: &Take, step: CleanStep) -> Option<Take> {
    let (sliders, track) = take.weight_track()?;
    let track = track.ok()?;
    let channel = |(k, name): (usize, &String)| Channel {
        kind: ChannelKind::Weight,
        ..Channel::new(&**name, track.keys().iter().map(|row| row[k]).collect())
    };
    let channels = sliders.iter().enumerate().map(channel).collect();
    let performance = Performance::even(&*take.name, take.frames_per_second, channels).ok()?;

    let (cleaned, _) = clean(&performance, &step.options());
    let rows: Vec<Vec<f64>> = (0..cleaned.frame_count())
        .map(|frame| cleaned.channels().iter().map(|c| c.values[frame]).collect())
        .collect();
    Some(Take::of_weights(
        &*take.name,
        &*take.of,
        sliders.to_vec(),
        &rows,
        take.frames_per_second,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_a_take_that_cleaning_makes_calm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("take.csv");
        let mut text = String::from("time,JawOpen,HeadYaw\n");
        for k in 0..200 {
            let jaw = 0.4 + 0.004 * f64::from(k * 7919 % 5) + if k == 90 { 0.5 } else { 0.0 };
            text += &format!("{},{jaw},0\n", f64::from(k) / 60.0);
        }
        std::fs::write(&path, text).unwrap();

        let rig = pliant::load("specimen:head").unwrap().rig().unwrap();
        let (take, loss) = performance_take(&path, "specimen:head", &rig).unwrap();
        assert_eq!(loss, None, "a head that does not turn loses nothing");
        assert_eq!((take.frame_count, take.name.as_str()), (200, "take"));
        let jaw = |take: &Take| -> Vec<f64> {
            let (_, track) = take.weight_track().unwrap();
            track.unwrap().keys().iter().map(|row| row[0]).collect()
        };
        assert!(jaw(&take)[90] > 0.8);
        assert!(jaw(&clean_take(&take, CleanStep::Spikes).unwrap())[90] < 0.45);
        let calm = jaw(&clean_take(&take, CleanStep::All).unwrap());
        assert!(calm.windows(2).all(|w| (w[0] - w[1]).abs() < 1e-6));

        std::fs::write(&path, "time,jawOpen,HeadYaw,tail\n0,1,0.1,1\n1,0,0.2,1\n").unwrap();
        let (_, loss) = performance_take(&path, "specimen:head", &rig).unwrap();
        let loss = loss.unwrap();
        assert!(
            loss.contains("head") && loss.contains("1 channel without"),
            "{loss}"
        );

        std::fs::write(&path, "time,tail\n0,1\n").unwrap();
        let message = performance_take(&path, "specimen:head", &rig).unwrap_err();
        assert!(message.contains("no channel"), "{message}");
        assert!(is_performance_file(&path) && !is_performance_file(Path::new("a.glb")));
    }
}
