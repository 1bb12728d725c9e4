//! Markers with noise and dropouts: weights over time, against least squares for each frame.

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{InvertOptions, Inverter, MarkerClip, WeightTrack};

use super::lcg::Lcg;
use super::planted::{Planted, RATE, errors, normal, planted};
use super::{Model, ReproduceError, failed};
use crate::page::{Best, Section, Table};

/// 6 s at 60 Hz.
const FRAMES: usize = 360;
const MARKERS: usize = 70;
/// The noise of a coordinate, relative to the diagonal: about a tenth of a millimetre on a head.
const NOISE: f64 = 3e-4;
const SEED: u64 = 211;

pub(super) fn section(heads: &[Model]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Markers with dropouts",
        format!(
            "{MARKERS} vertices that sliders move most, apart from each other, are the markers of a \
             planted performance of 6 s, with noise of {NOISE} of the diagonal; each is hidden for a \
             tenth of the time. The peer is non-negative least squares with upper limits, frame by \
             frame. Ours takes the penalties from the noise that it finds.",
        ),
    );
    let mut table = Table::new(
        "Root mean square error of the weights, second difference relative to the planted one, and \
         mean opening of lids that should be closed.",
        ["rig", "method", "RMS", "roughness", "open lids"],
    );
    for column in [2, 4] {
        table = table.with_best(column, Best::Least);
    }

    for head in heads {
        let names: Vec<String> = head.rig.targets().iter().map(|t| t.name.clone()).collect();
        let planted = planted(&names, FRAMES, SEED);
        let clip = captured(head, &planted);
        let per_frame = InvertOptions::default()
            .with_sparsity(0.0)
            .with_roughness(0.0);
        let mut rms = Vec::new();
        for (method, options) in [
            ("NNLS, each frame", per_frame),
            ("play --markers", InvertOptions::default()),
        ] {
            let track = solved(head, &options, &clip)?;
            let errors = errors(&planted, track.keys());
            rms.push(errors.rms);
            table.push([
                head.name.clone(),
                method.to_owned(),
                format!("{:.4}", errors.rms),
                format!("{:.2}", errors.roughness),
                format!("{:.3}", errors.open_lids),
            ]);
        }
        section.figure(
            &format!("{}, RMS ours / NNLS", head.name),
            format!("{:.2}", rms[1] / rms[0]),
        );
    }
    section.table(table);
    Ok(section)
}

fn solved(
    head: &Model,
    options: &InvertOptions,
    clip: &MarkerClip,
) -> Result<WeightTrack, ReproduceError> {
    let inverter = Inverter::factor(&head.rig, options).map_err(failed(head))?;
    let inverse = inverter.invert_markers(clip).map_err(failed(head))?;
    Ok(inverse.track)
}

/// The markers of a planted performance, as a camera system sees them.
fn captured(head: &Model, planted: &Planted) -> MarkerClip {
    let rig = &head.rig;
    let markers = marker_vertices(head);
    let noise = NOISE
        * rig
            .neutral()
            .bounds()
            .map_or(1.0, |bounds| bounds.diagonal());
    let mut lcg = Lcg::new(SEED + 1);
    let mut hidden = vec![0_usize; markers.len()];
    let mut frames = Vec::with_capacity(planted.rows.len());
    for weights in &planted.rows {
        let positions = rig.evaluate(weights);
        let mut frame = Vec::with_capacity(markers.len());
        for (&v, hidden) in markers.iter().zip(&mut hidden) {
            if *hidden == 0 && lcg.unit() < 0.01 {
                *hidden = 5 + lcg.below(12);
            }
            let error = DVec3::new(normal(&mut lcg), normal(&mut lcg), normal(&mut lcg));
            let seen = *hidden == 0;
            frame.push(seen.then(|| positions[v] + noise * error));
            *hidden = hidden.saturating_sub(1);
        }
        frames.push(frame);
    }
    MarkerClip {
        at: markers
            .iter()
            .map(|&v| SurfacePoint::Vertex(v as u32))
            .collect(),
        frames,
        frames_per_second: RATE,
    }
}

/// Vertices that targets move most, apart from each other.
fn marker_vertices(head: &Model) -> Vec<usize> {
    let mesh = head.rig.neutral();
    let positions = mesh.positions();
    let mut reach = vec![0.0_f64; positions.len()];
    for target in head.rig.targets() {
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            reach[v as usize] = reach[v as usize].max(f64::from(delta.length()));
        }
    }

    // Farthest points, weighted by how much they move.
    let mut nearest = vec![f64::INFINITY; positions.len()];
    let mut chosen = Vec::with_capacity(MARKERS);
    for _ in 0..MARKERS {
        let worth = |v: usize| reach[v] * nearest[v].min(1e9);
        let best = (0..positions.len()).max_by(|&a, &b| worth(a).total_cmp(&worth(b)));
        let Some(best) = best else { break };
        chosen.push(best);
        for (distance, position) in nearest.iter_mut().zip(positions) {
            *distance = distance.min(position.distance(positions[best]));
        }
    }
    chosen
}
