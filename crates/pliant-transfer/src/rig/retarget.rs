//! A performance that fits one rig, in the sliders of another.
//!
//! **Problem.** Two heads differ in shape, in vertices and in what their sliders do, so that equal
//! names do not mean equal faces.
//!
//! **Method.** The shapes of rig A are transferred to the mesh of rig B once ([`RigTransfer`], with
//! lids and lips that close on A closed on B). The performance plays on these shapes, and the inverse
//! rig finds the weights of B's own sliders for that surface, sparse and smooth
//! ([`Inverter::invert_rig`]), without computing a frame. The gaps of lids and lips count for
//! themselves ([`contact_points`], [`ContactGaps`]), so that they close when they close on A.

use pliant_mesh::Progress;
use pliant_rig::{
    Channel, ChannelKind, ContactGaps, Inverse, InvertOptions, Inverter, Performance, Rig,
    RigError, WeightTrack,
};

use super::{RigTransfer, RigTransferOptions, contact_points};
use crate::{Correspondence, CorrespondenceOptions, Markers, TransferError};

/// A performance in the sliders of another rig.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Retargeted {
    /// The weights of the other rig, and how their solve ended.
    pub inverse: Inverse,
    /// The root mean square displacement of the surface over the take, in asset units.
    pub motion_rms: f64,
    /// The largest gap of lids or lips that a transferred shape closes, relative to the diagonal.
    pub largest_gap: f64,
    /// How lids and lips close over the take.
    pub contacts: ContactReport,
    /// Warnings about the correspondence and the shapes.
    pub warnings: Vec<String>,
}

impl Retargeted {
    /// The weights as a performance with the times, the labels and the rotations of `take`.
    ///
    /// # Errors
    /// A take of another length.
    pub fn performance(&self, take: &Performance, rig: &Rig) -> Result<Performance, RigError> {
        let keys = self.inverse.track.keys();
        let mut channels = Vec::with_capacity(rig.targets().len());
        for (k, target) in rig.targets().iter().enumerate() {
            channels.push(Channel {
                kind: ChannelKind::Weight,
                ..Channel::new(&*target.name, keys.iter().map(|row| row[k]).collect())
            });
        }
        let rotations = take.channels().iter();
        channels.extend(
            rotations
                .filter(|c| matches!(c.kind, ChannelKind::Rotation(_)))
                .cloned(),
        );

        let times = take.times_secs().to_vec();
        let mut performance =
            Performance::new(take.name(), times, take.frames_per_second(), channels)?;
        performance.timecode = take.timecode;
        Ok(performance)
    }
}

/// The options of the solve. *Chosen*: noise was removed by cleaning; small penalties keep the
/// result sparse and smooth.
#[must_use]
pub fn retarget_options() -> InvertOptions {
    InvertOptions::default()
        .with_sparsity(1e-4)
        .with_roughness(1e-4)
}

/// Lids and lips that close in a performance, and how far apart they are on the other rig.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ContactReport {
    /// Pairs of points that some shape brings together or takes apart.
    pub pairs: usize,
    /// Frames in which some pair is closed that can be open.
    pub closed_frames: usize,
    /// The mean distance of closed pairs from where they should be, relative to how far the shapes
    /// take them apart: 0 is closed, 1 as open as can be.
    pub mean_opening: f64,
    /// The mean of the worst frame.
    pub largest_opening: f64,
}

/// The weights of `rig` that show what `track` shows on `source`.
///
/// # Errors
/// Rigs whose surfaces cannot be matched; `progress` may stop the transfer.
pub fn retarget(
    source: &Rig,
    track: &WeightTrack,
    rig: &Rig,
    markers: Option<&Markers>,
    options: &InvertOptions,
    progress: &dyn Progress,
) -> Result<Retargeted, TransferError> {
    let mesh = rig.neutral();
    let matching = CorrespondenceOptions::default();
    let correspondence =
        Correspondence::find_with_progress(source.neutral(), mesh, markers, &matching, progress)?;
    let transfer = RigTransfer::new(source, mesh, &correspondence, RigTransferOptions::default())?;
    let transferred = transfer.rig(progress)?;

    let inverter = Inverter::factor(rig, options)?;
    let points = contact_points(&transferred.rig)?;
    let inverse = inverter.invert_rig_with_progress(&transferred.rig, track, &points, progress)?;
    let wanted = ContactGaps::of(&transferred.rig, &points);
    let own = ContactGaps::of(rig, &points);
    let contacts = contact_report(&wanted, track, &own, &inverse.track);
    let motion_rms = motion_rms(&transferred.rig, track);
    let gaps = transferred.shapes.iter().filter(|shape| shape.pairs > 0);
    let largest_gap = gaps.map(|shape| shape.gap_after).fold(0.0, f64::max);
    Ok(Retargeted {
        inverse,
        motion_rms,
        largest_gap,
        contacts,
        warnings: [correspondence.warnings, transferred.warnings].concat(),
    })
}

/// How the pairs that are closed in `track`, with the gaps `wanted`, close in `found`, with the gaps
/// `own` of the same pairs.
#[must_use]
pub fn contact_report(
    wanted: &ContactGaps,
    track: &WeightTrack,
    own: &ContactGaps,
    found: &WeightTrack,
) -> ContactReport {
    /// A pair is closed below this share of its widest gap over the take.
    const CLOSED: f64 = 0.1;
    let goals: Vec<_> = track
        .keys()
        .iter()
        .map(|weights| wanted.at(weights))
        .collect();
    let mut widest: Vec<f64> = wanted.at_rest().iter().map(|gap| gap.length()).collect();
    for gaps in &goals {
        for (widest, gap) in widest.iter_mut().zip(gaps) {
            *widest = widest.max(gap.length());
        }
    }

    let mut report = ContactReport {
        pairs: wanted.pair_count(),
        ..ContactReport::default()
    };
    let mut sum = 0.0;
    for (goals, weights) in goals.iter().zip(found.keys()) {
        let gaps = own.at(weights);
        let mut openings = Vec::new();
        for (k, goal) in goals.iter().enumerate() {
            if widest[k] > 0.0 && goal.length() < CLOSED * widest[k] {
                openings.push(gaps[k].distance(*goal) / widest[k]);
            }
        }
        if openings.is_empty() {
            continue;
        }
        let mean = openings.iter().sum::<f64>() / openings.len() as f64;
        report.closed_frames += 1;
        report.largest_opening = report.largest_opening.max(mean);
        sum += mean;
    }
    report.mean_opening = sum / report.closed_frames.max(1) as f64;
    report
}

/// The root mean square displacement over some frames of the take.
fn motion_rms(rig: &Rig, track: &WeightTrack) -> f64 {
    const FRAMES: usize = 24;
    let rest = rig.neutral().positions();
    let step = track.keys().len().div_ceil(FRAMES).max(1);
    let mut squares = 0.0;
    let mut count = 0;
    for weights in track.keys().iter().step_by(step) {
        for (posed, rest) in rig.evaluate(weights).iter().zip(rest) {
            squares += posed.distance_squared(*rest);
            count += 1;
        }
    }
    (squares / f64::from(count.max(1))).sqrt()
}
