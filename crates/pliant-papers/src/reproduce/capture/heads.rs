//! One take on two unlike heads: lids and lips through surfaces, against copies of names.

use pliant_rig::{ContactGaps, InvertOptions, Inverter, Rig, WeightTrack};
use pliant_transfer::{
    Correspondence, CorrespondenceOptions, RigTransfer, RigTransferOptions, TransferError,
    contact_points, retarget_options,
};

use super::planted::{RATE, planted};
use super::{Model, ReproduceError, failed};
use crate::page::{Best, Section, Table};

/// 8 s at 60 Hz.
const FRAMES: usize = 480;
const SEED: u64 = 307;

pub(super) fn section(heads: &[Model]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Two unlike heads",
        "A performance planted on one head plays on another: its shapes are transferred once, and the \
         sliders of the other head follow the surface. Lids and lips that are closed on the first head \
         should be closed on the second. The peers are copies of weights by name, and least squares \
         inside the limits of each frame over the whole surface.",
    );
    let mut table = Table::new(
        "Distance from the surface relative to its motion; mean opening of closed lids and lips \
         relative to their widest gap; second difference relative to the first head's.",
        [
            "from",
            "to",
            "method",
            "surface",
            "open contacts",
            "roughness",
        ],
    );
    for column in [3, 4] {
        table = table.with_best(column, Best::Least);
    }

    let pairs = pairs(heads);
    for (from, to) in &pairs {
        let measured = measure(from, to)?;
        for (method, found) in &measured {
            table.push([
                from.name.clone(),
                to.name.clone(),
                (*method).to_owned(),
                format!("{:.3}", found.surface),
                format!("{:.3}", found.open),
                format!("{:.2}", found.roughness),
            ]);
        }
    }
    if pairs.is_empty() {
        section.warning("this chapter needs two heads; give --data");
    }
    section.table(table);
    Ok(section)
}

/// The built-in head with the others that have its shapes.
fn pairs(heads: &[Model]) -> Vec<(&Model, &Model)> {
    let mut pairs = Vec::new();
    if let Some((first, others)) = heads.split_first() {
        for other in others.iter().filter(|model| model.rig.targets().len() > 50) {
            pairs.push((other, first));
            pairs.push((first, other));
        }
    }
    pairs
}

struct Found {
    surface: f64,
    open: f64,
    roughness: f64,
}

fn measure(from: &Model, to: &Model) -> Result<Vec<(&'static str, Found)>, ReproduceError> {
    let about = |source: TransferError| ReproduceError::Transfer {
        model: to.name.clone(),
        source,
    };
    let names: Vec<String> = from.rig.targets().iter().map(|t| t.name.clone()).collect();
    let planted = planted(&names, FRAMES, SEED);
    let times = (0..FRAMES).map(|k| k as f64 / RATE).collect();
    let track = WeightTrack::new(times, planted.rows, pliant_rig::Interpolation::Linear)
        .map_err(failed(from))?;

    let mesh = to.rig.neutral();
    let options = CorrespondenceOptions::default();
    let correspondence =
        Correspondence::find(from.rig.neutral(), mesh, None, &options).map_err(about)?;
    let transfer = RigTransfer::new(
        &from.rig,
        mesh,
        &correspondence,
        RigTransferOptions::default(),
    )
    .map_err(about)?;
    let shown = transfer.rig(&()).map_err(about)?.rig;
    let points = contact_points(&shown).map_err(|source| ReproduceError::Mesh {
        model: to.name.clone(),
        source,
    })?;

    let solve = |options: &InvertOptions, points: &[_]| -> Result<WeightTrack, ReproduceError> {
        let inverter = Inverter::factor(&to.rig, options).map_err(failed(to))?;
        let inverse = inverter.invert_rig_with_progress(&shown, &track, points, &());
        Ok(inverse.map_err(failed(to))?.track)
    };
    let per_frame = InvertOptions::default()
        .with_sparsity(0.0)
        .with_roughness(0.0);
    let methods = [
        ("copy of names", copied(&track, &names, &to.rig)),
        ("NNLS, each frame", solve(&per_frame, &[])?),
        ("without contacts", solve(&retarget_options(), &[])?),
        ("play --via", solve(&retarget_options(), &points)?),
    ];
    let gaps = [&shown, &to.rig].map(|rig| ContactGaps::of(rig, &points));
    Ok(methods
        .into_iter()
        .map(|(name, found)| (name, compare(&shown, &track, &to.rig, &found, &gaps)))
        .collect())
}

/// Weights of the same shapes of ARKit.
fn copied(track: &WeightTrack, names: &[String], rig: &Rig) -> WeightTrack {
    let shapes = super::planted::arkit_of(names);
    let own: Vec<String> = rig.targets().iter().map(|t| t.name.clone()).collect();
    let columns: Vec<Option<usize>> = super::planted::arkit_of(&own)
        .iter()
        .zip(&own)
        .map(|(shape, name)| {
            let same = shapes
                .iter()
                .position(|other| other.is_some() && other == shape);
            same.or_else(|| names.iter().position(|other| other == name))
        })
        .collect();
    track.mapped(|row| columns.iter().map(|c| c.map_or(0.0, |k| row[k])).collect())
}

fn compare(
    shown: &Rig,
    track: &WeightTrack,
    rig: &Rig,
    found: &WeightTrack,
    gaps: &[ContactGaps; 2],
) -> Found {
    let rest = rig.neutral().positions();
    let (mut error, mut motion) = (0.0, 0.0);
    for (goal, weights) in track.keys().iter().zip(found.keys()).step_by(12) {
        let goal = shown.evaluate(goal);
        for ((a, b), rest) in rig.evaluate(weights).iter().zip(&goal).zip(rest) {
            error += a.distance_squared(*b);
            motion += b.distance_squared(*rest);
        }
    }
    Found {
        surface: (error / motion).sqrt(),
        open: pliant_transfer::contact_report(&gaps[0], track, &gaps[1], found).mean_opening,
        roughness: bend(found) / bend(track),
    }
}

/// The root mean square second difference.
fn bend(track: &WeightTrack) -> f64 {
    let mut sum = 0.0;
    for w in track.keys().windows(3) {
        for k in 0..w[0].len() {
            sum += (w[0][k] - 2.0 * w[1][k] + w[2][k]).powi(2);
        }
    }
    sum.sqrt()
}
