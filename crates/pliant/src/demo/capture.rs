//! Capture: the head's performance as a bad device records it, cleaned and played.

use pliant_papers::page::{Axis, Marks, Plot, Section, Series};
use pliant_papers::pictures::Film;
use pliant_rig::{
    Channel, ChannelMap, CleanOptions, Clip, Performance, Rig, RigError, SideUse, WeightTrack,
    clean,
};
use pliant_view::{ContactSheet, Shot, View};

use super::{DemoError, milliseconds, timed};

const VIEW: View = View::Orbit {
    azimuth_rad: 0.3,
    elevation_rad: 0.05,
};
/// Frames in a row of pictures.
const MOMENTS: usize = 6;
const RATE: f64 = 60.0;
/// The noise of the device.
const NOISE: f64 = 0.02;

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Capture",
        "The performance of the head as a device records it: under the names of a phone, with noise, \
         dropouts and spikes. Names find their sliders; spikes are removed, gaps filled, noise \
         smoothed without lag, and lids still close. `pliant play --clean` does so with a file, \
         `pliant listen` with a device that sends over the network.",
    );

    let head = pliant_specimens::specimen("head").expect("the head is built in");
    let rig = &head.rig;
    let track = &head.performances[0].track;
    let end = *track.times_secs().last().expect("a performance has frames");
    let times = (0..=(RATE * end) as usize).map(|k| k as f64 / RATE);
    let known = track.sampled(times.collect())?;
    let recorded = recorded(rig, &known)?;

    let (cleaned, clean_ms) = timed(|| clean(&recorded, &CleanOptions::all()));
    let (cleaned, report) = cleaned;
    let names: Vec<String> = rig.targets().iter().map(|t| t.name.clone()).collect();
    let map = ChannelMap::guess(cleaned.channels(), &names);
    let played = map.track(&cleaned, rig, SideUse::Own)?;
    let copied = map.track(&held(&recorded)?, rig, SideUse::Own)?;

    section.figure("frames", recorded.frame_count().to_string());
    section.figure("missing values filled", report.filled.to_string());
    section.figure("spikes removed", report.spikes.to_string());
    section.figure("time", milliseconds(clean_ms));
    section.figure(
        "error of a plain copy",
        format!("{:.4}", rms(&copied, &known)),
    );
    section.figure(
        "error of the cleaned",
        format!("{:.4}", rms(&played, &known)),
    );

    add_plots(&mut section, rig, [&copied, &played, &known])?;
    add_pictures(&mut section, rig, [&known, &copied, &played])?;
    let bytes = pliant_io::performance::write_csv(&recorded);
    section.file(
        "take.csv",
        "the recording, for `pliant play specimen:head take.csv`",
        bytes,
    );

    sections.push(section);
    Ok(())
}

/// What the device records.
fn recorded(rig: &Rig, known: &WeightTrack) -> Result<Performance, RigError> {
    let mut state = 17_u64;
    let mut unit = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };

    let mut channels = Vec::with_capacity(rig.targets().len());
    for (k, target) in rig.targets().iter().enumerate() {
        let mut lost = 0_usize;
        let mut values = Vec::with_capacity(known.keys().len());
        for row in known.keys() {
            if lost == 0 && unit() < 0.01 {
                lost = 2 + (6.0 * unit()) as usize;
            }
            let normal = (0..12).map(|_| unit()).sum::<f64>() - 6.0;
            let spike = if unit() < 0.004 { 0.4 } else { 0.0 };
            let value = (row[k] + NOISE * normal + spike).clamp(0.0, 1.0);
            values.push(if lost > 0 { f64::NAN } else { value });
            lost = lost.saturating_sub(1);
        }
        // The names of a phone begin with a capital.
        let name = target.name[..1].to_uppercase() + &target.name[1..];
        channels.push(Channel::new(name, values));
    }
    Performance::even("recorded", RATE, channels)
}

/// The last value where one is missing.
fn held(recorded: &Performance) -> Result<Performance, RigError> {
    let channels = recorded.channels().iter().map(|channel| {
        let mut last = 0.0;
        let hold = |&value: &f64| {
            if value.is_finite() {
                last = value;
            }
            last
        };
        let values = channel.values.iter().map(hold).collect();
        Channel {
            values,
            ..channel.clone()
        }
    });
    Performance::even("held", RATE, channels.collect())
}

/// The root mean square difference of the weights.
fn rms(a: &WeightTrack, b: &WeightTrack) -> f64 {
    let mut sum = 0.0;
    let mut count = 0;
    for (a, b) in a.keys().iter().zip(b.keys()) {
        for (a, b) in a.iter().zip(b) {
            sum += (a - b) * (a - b);
            count += 1;
        }
    }
    (sum / f64::from(count)).sqrt()
}

fn add_plots(
    section: &mut Section,
    rig: &Rig,
    [copied, played, known]: [&WeightTrack; 3],
) -> Result<(), DemoError> {
    for slider in ["eyeBlinkLeft", "mouthSmileLeft"] {
        let k = rig.slider_named(slider)?.index();
        let curve = |track: &WeightTrack| -> Vec<[f64; 2]> {
            let keys = track.times_secs().iter().zip(track.keys());
            keys.map(|(time, row)| [*time, row[k]]).collect()
        };
        let plot = Plot::new(slider, Axis::linear("seconds"), Axis::linear("weight"))
            .with_series(Series::new("recorded", Marks::Line, curve(copied)))
            .with_series(Series::new("cleaned", Marks::Line, curve(played)))
            .with_series(Series::new("known", Marks::Line, curve(known)));
        section.plot(
            plot,
            "The recording with its last values held, and cleaned.",
        );
    }
    Ok(())
}

fn add_pictures(
    section: &mut Section,
    rig: &Rig,
    [known, copied, played]: [&WeightTrack; 3],
) -> Result<(), DemoError> {
    let clip = |name: &str, track: &WeightTrack| -> Result<Clip, RigError> {
        let frames = track.keys().iter().step_by(2).map(|row| rig.evaluate(row));
        let clip = Clip::new(name, rig.neutral().clone(), frames.collect())?;
        Ok(clip.with_frames_per_second(0.5 * RATE))
    };
    let clips = [
        clip("known", known)?,
        clip("plain copy", copied)?,
        clip("cleaned", played)?,
    ];

    let small = Shot::new(VIEW, [200, 220]);
    let mut sheet = ContactSheet::new("", MOMENTS);
    for clip in &clips {
        Film::new(clip, small).add_row(&mut sheet, clip.name(), MOMENTS)?;
    }
    section.wide(
        "capture-frames.png",
        "The known performance, a plain copy of its recording, and the cleaned recording.",
        &sheet.compose()?,
    )?;

    let films: Vec<Film<'_>> = clips.iter().map(|clip| Film::new(clip, small)).collect();
    let mut frames = Vec::new();
    for frame in (0..clips[0].frames().len()).step_by(2) {
        let mut sheet = ContactSheet::new("", clips.len());
        for (film, clip) in films.iter().zip(&clips) {
            sheet.push(film.at(frame)?, clip.name());
        }
        frames.push(sheet.compose()?);
    }
    section.moving(
        "capture-plays.png",
        "The same, moving: noise shows as a trembling face.",
        &frames,
        67,
    )?;
    Ok(())
}
