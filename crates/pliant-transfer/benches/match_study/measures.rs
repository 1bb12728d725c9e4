//! Errors of a correspondence against what is known, and rank correlation.

use std::borrow::Cow;

use pliant_linalg::RigidMotion;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_transfer::{
    Layer, Markers, Source, Synthesis, SynthesisOptions, TriangleMap, nearest_compatible_triangles,
};

use crate::pairs::Pair;

/// The error of the source's vertices on the target, relative to the target's diagonal: root mean
/// square distance from the known places, without those of the markers; or, if only poses are known,
/// that of the poses by the triangles nearest to the registered source.
pub(crate) fn registered_error(pair: &Pair, markers: Option<&Markers>, found: &[DVec3]) -> f64 {
    if let Some((source, target)) = &pair.poses {
        let registered = pair
            .source
            .posed(found.to_vec())
            .expect("registered vertices");
        let nearest = nearest_compatible_triangles(&registered, &pair.target).expect("triangles");
        let map = TriangleMap::new(
            nearest
                .iter()
                .map(|near| [(near.map_or(0, |near| near.0), 1.0)]),
        );
        return pose_error(&map, source, target);
    }

    let given: Vec<u32> = markers.map_or(Vec::new(), |m| m.pairs().iter().map(|p| p.0).collect());
    let mut squared = 0.0;
    let mut count = 0.0;
    for &(vertex, goal) in pair
        .goals
        .iter()
        .filter(|(vertex, _)| !given.contains(vertex))
    {
        squared += found[vertex as usize].distance_squared(goal);
        count += 1.0;
    }
    f64::sqrt(squared / count) / diagonal(&pair.target)
}

/// The error of the map itself: of the poses that it gives, or of the places of its triangles.
pub(crate) fn map_error(pair: &Pair, map: &TriangleMap) -> f64 {
    if let Some((source, target)) = &pair.poses {
        return pose_error(map, source, target);
    }
    if pair.goals.len() < pair.source.vertex_count() / 2 {
        return f64::NAN; // Landmarks only.
    }

    // The source in its true place on the target.
    let mut truth = pair.source.positions().to_vec();
    for &(vertex, goal) in &pair.goals {
        truth[vertex as usize] = goal;
    }
    let truth = pair.source.posed(truth).expect("the same vertices");

    let mut squared = 0.0;
    let mut count = 0.0;
    for (t, row) in map.rows().enumerate().filter(|(_, row)| !row.is_empty()) {
        let place: DVec3 = row
            .iter()
            .map(|&(s, w)| centroid(&truth, s as usize) * w)
            .sum();
        squared += place.distance_squared(centroid(&pair.target, t));
        count += 1.0;
    }
    f64::sqrt(squared / f64::max(count, 1.0)) / diagonal(&pair.target)
}

/// Root mean square distance from the known poses after the best rigid motion of each, relative to
/// the diagonal, mean of the poses.
fn pose_error(map: &TriangleMap, source: &Clip, target: &Clip) -> f64 {
    let mesh = target.reference();
    let sources = vec![Source {
        clip: source,
        map: Cow::Borrowed(map),
    }];
    let layers = vec![Layer::whole(
        0,
        vec![1.0; mesh.triangles().len()],
        source.frames().len(),
    )];
    let found = Synthesis::new(mesh, sources, layers, SynthesisOptions::default())
        .and_then(|mut synthesis| synthesis.clip("poses"))
        .expect("poses");

    let mut sum = 0.0;
    for (found, known) in found.frames().iter().zip(target.frames()) {
        let motion = RigidMotion::fit(found, known, None).expect("a motion");
        let squared: f64 = found
            .iter()
            .zip(known)
            .map(|(&p, q)| motion.apply(p).distance_squared(*q))
            .sum();
        sum += (squared / found.len() as f64).sqrt();
    }
    sum / found.frames().len() as f64 / diagonal(mesh)
}

fn centroid(mesh: &Mesh, triangle: usize) -> DVec3 {
    mesh.triangle_points(triangle).into_iter().sum::<DVec3>() / 3.0
}

pub(crate) fn diagonal(mesh: &Mesh) -> f64 {
    mesh.bounds().expect("vertices").diagonal()
}

/// The deviation of the logarithms of edge lengths from the mean change: how unevenly the source is
/// stretched.
pub(crate) fn stretch(source: &Mesh, found: &[DVec3]) -> f64 {
    let mut logs = Vec::new();
    for &[a, b] in source.topology().edges() {
        let (a, b) = (a as usize, b as usize);
        let ratio =
            found[a].distance(found[b]) / source.positions()[a].distance(source.positions()[b]);
        if ratio > 0.0 && ratio.is_finite() {
            logs.push(ratio.ln());
        }
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt()
}

/// Pearson's correlation of the logarithms.
pub(crate) fn log_correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(x, y)| (x.ln(), y.ln())).unzip();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mx, my) = (mean(&x), mean(&y));
    let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - ma) * (b - mb))
            .sum::<f64>()
    };
    product(&x, mx, &y, my) / (product(&x, mx, &x, mx) * product(&y, my, &y, my)).sqrt()
}
