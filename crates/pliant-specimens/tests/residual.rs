//! Claims about residual layers on a head with lids, lips, teeth and hair.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{SurfacePoint, triangle_normal, vertex_normals};
use pliant_rig::{ResidualLayer, ResidualOptions, Rig};
use pliant_specimens::specimen;

/// The vertex that a slider moves farthest.
fn most_moved(rig: &Rig, slider: &str) -> u32 {
    let target = rig
        .targets()
        .iter()
        .find(|target| target.name == slider)
        .expect("the head has the slider");

    let farthest = (0..target.deltas.len()).max_by(|&a, &b| {
        target.deltas[a]
            .length()
            .total_cmp(&target.deltas[b].length())
    });

    target.vertices[farthest.expect("the slider moves something")]
}

fn weights(rig: &Rig, set: &[(&str, f64)]) -> Vec<f64> {
    rig.targets()
        .iter()
        .map(|target| {
            set.iter()
                .find(|(name, _)| *name == target.name)
                .map_or(0.0, |entry| entry.1)
        })
        .collect()
}

#[test]
fn a_pulled_lid_and_mouth_corner_reach_their_goals_without_folds_and_without_moving_the_rest() {
    let rig = specimen("head").expect("a head ships").rig;
    let weights = weights(&rig, &[("jawOpen", 0.6), ("mouthSmileLeft", 0.5)]);
    let pose = rig.evaluate(&weights);
    let posed = rig.neutral().posed(pose.clone()).unwrap();
    let pins = ["eyeBlinkLeft", "mouthSmileLeft"].map(|slider| most_moved(&rig, slider));
    let places = pins.map(SurfacePoint::Vertex);
    let radius = 0.06 * posed.bounds().unwrap().diagonal();
    let normals = vertex_normals(&posed);
    let goals = pins.map(|v| (normals[v as usize] + DVec3::Y * 0.5) * (0.2 * radius));

    let layer = ResidualLayer::factor(
        rig.neutral(),
        &pose,
        &places,
        radius,
        &ResidualOptions::default(),
    )
    .unwrap();

    let (residual, report) = layer.residual(&goals).unwrap();
    assert!(
        report.converged && report.largest_error < 1e-12,
        "{report:?}"
    );

    let mut sculpt = pose.clone();
    residual.apply_to(&mut sculpt, 1.0).unwrap();
    let parts = posed.topology().component_of_vertex();
    let touched = |v: usize| pins.iter().any(|&pin| parts[pin as usize] == parts[v]);

    for v in 0..pose.len() {
        let near = pins
            .iter()
            .any(|&pin| pose[pin as usize].distance(pose[v]) < radius);
        assert!(
            sculpt[v] == pose[v] || (near && touched(v)),
            "vertex {v} moves beyond the discs or on another part"
        );
    }

    let sculpted = posed.posed(sculpt.clone()).unwrap();
    let rotated = |t: usize| {
        triangle_normal(posed.triangle_points(t)).dot(triangle_normal(sculpted.triangle_points(t)))
    };
    let folded = (0..posed.triangles().len())
        .filter(|&t| rotated(t) < 0.0)
        .count();

    assert_eq!(folded, 0, "triangles rotated over");

    let promoted = residual.to_target("fix", 1.0).unwrap();
    let again = Rig::new(
        rig.neutral().clone(),
        rig.targets().iter().cloned().chain([promoted]).collect(),
    )
    .unwrap();

    let found = again.evaluate(&[&weights[..], &[1.0]].concat());
    let rounding = f64::from(f32::EPSILON) * radius;
    assert!(
        found
            .iter()
            .zip(&sculpt)
            .all(|(a, b)| a.distance(*b) < rounding)
    );
}
