//! The inside of whole figures: the built-in hand, and scanned and captured ones where
//! `PLIANT_DATA` names them.

mod poses;

use pliant_mesh::glam::DVec3;
use pliant_mesh::shapes::icosphere;
use pliant_mesh::{Mesh, SurfaceIndex, triangle_area};
use pliant_physics::{Interior, InteriorOptions, InteriorPoints};
use poses::poses;

fn filled(shapes: &[Mesh], options: &InteriorOptions) -> Interior {
    Interior::fill(&shapes.iter().collect::<Vec<_>>(), options).unwrap()
}

fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// No tetrahedron is turned in any shape, and together they hold all but a few hundredths of the
/// volume.
fn assert_filled(shapes: &[Mesh], interior: &Interior, least_share: f64) {
    for (shape, mesh) in shapes.iter().enumerate() {
        let points = [mesh.positions(), interior.points(shape)].concat();
        let volumes: Vec<f64> = interior
            .tetrahedra()
            .iter()
            .map(|t| volume(t.map(|v| points[v as usize])))
            .collect();

        assert!(volumes.iter().all(|&v| v > 0.0), "shape {shape}");
        let share = volumes.iter().sum::<f64>() / mesh.signed_volume().abs();
        assert!(
            (least_share..1.03).contains(&share),
            "shape {shape}: {share}"
        );
    }
}

/// The least height of a tetrahedron and the width of its widest face, both beside its longest
/// edge.
fn height_and_width([a, b, c, d]: [DVec3; 4]) -> [f64; 2] {
    let longest = [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)]
        .map(|(p, q)| p.distance(q))
        .into_iter()
        .fold(0.0, f64::max);

    let widest = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]]
        .map(triangle_area)
        .into_iter()
        .fold(0.0, f64::max);

    [
        3.0 * volume([a, b, c, d]) / widest / longest,
        2.0 * widest / (longest * longest),
    ]
}

/// No tetrahedron is a line or a plane in any shape, and by far the most are neither by a good
/// measure.
fn assert_thick(name: &str, shapes: &[Mesh]) {
    const LEAST_HEIGHT: f64 = 1e-6;
    const LEAST_WIDTH: f64 = 1e-3;
    const MEAN_HEIGHT: f64 = 0.2;

    let interior = filled(shapes, &InteriorOptions::default());
    for (shape, mesh) in shapes.iter().enumerate() {
        let points = [mesh.positions(), interior.points(shape)].concat();
        let forms: Vec<[f64; 2]> = interior
            .tetrahedra()
            .iter()
            .map(|t| height_and_width(t.map(|v| points[v as usize])))
            .collect();

        let least = forms
            .iter()
            .fold([f64::INFINITY; 2], |l, f| [l[0].min(f[0]), l[1].min(f[1])]);

        assert!(
            least[0] > LEAST_HEIGHT && least[1] > LEAST_WIDTH,
            "{name} in shape {shape}: {least:?}"
        );

        let mean = forms.iter().map(|f| f[0]).sum::<f64>() / forms.len() as f64;
        assert!(mean > MEAN_HEIGHT, "{name} in shape {shape}: {mean}");
    }
}

#[test]
fn no_tetrahedron_is_a_line_or_a_plane_in_any_shape() {
    assert_thick("ball", &[icosphere(4)]);
    for name in ["bar", "bar:fine", "hand", "hound"] {
        let specimen = pliant_specimens::specimen(name).expect("built in");
        let clip = &specimen.clips[0];
        assert_thick(
            name,
            &[0, clip.frames().len() / 2].map(|frame| clip.mesh_at(frame).unwrap()),
        );
    }

    for (name, frames) in [
        ("horse-camel/horse-poses", [0, 4, 8]),
        ("elastic-cow/elastic-cow-every4th", [0, 12, 30]),
    ] {
        let Some(shapes) = poses(name, &frames) else {
            return;
        };
        assert_thick(name, &shapes);
    }
}

/// By winding numbers summed over all triangles: points along a sample of the edges are inside, or
/// so near to the surface that the edge is a chord of it.
fn assert_edges_stay_inside(mesh: &Mesh, interior: &Interior, every: usize) {
    const CHORD: f64 = 0.1;

    let points = [mesh.positions(), interior.points(0)].concat();
    let index = SurfaceIndex::new(mesh).unwrap();
    let surface_edges = mesh.topology();
    let edges = interior
        .tetrahedra()
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]);

    let hidden = |&[a, b]: &[u32; 2]| {
        (a.max(b) as usize) >= mesh.vertex_count() || surface_edges.edge_between(a, b).is_none()
    };

    for [a, b] in edges.filter(hidden).step_by(every) {
        let start = points[a as usize];
        let end = points[b as usize];
        for share in [0.2, 0.35, 0.5, 0.65, 0.8] {
            let query = start.lerp(end, share);
            let distance = index.closest_point(query).unwrap().distance;
            assert!(
                distance < CHORD * start.distance(end) || index.contains(query),
                "the edge {a} to {b} leaves the volume"
            );
        }
    }
}

#[test]
fn fingers_of_the_hand_are_not_bridged_and_no_pose_inverts_a_tetrahedron() {
    let hand = pliant_specimens::specimen("hand").expect("the hand is built in");
    let clip = &hand.clips[0];
    let shapes: Vec<Mesh> = [0, clip.frames().len() / 2]
        .map(|frame| clip.mesh_at(frame).unwrap())
        .into();
    let interior = filled(&shapes, &InteriorOptions::default());

    assert!(interior.points(0).len() > shapes[0].vertex_count() / 4);
    assert_filled(&shapes, &interior, 0.97);
    assert_edges_stay_inside(&shapes[0], &interior, 1009);

    let surface_only = filled(
        &shapes,
        &InteriorOptions::default().with_points(InteriorPoints::None),
    );

    assert!(surface_only.points(0).is_empty());
    assert_edges_stay_inside(&shapes[0], &surface_only, 1009);
}

#[test]
fn the_holes_of_the_horse_are_closed_for_its_interior() {
    let Some(shapes) = poses("horse-camel/horse-poses", &[0, 4, 8]) else {
        return;
    };

    let interior = filled(&shapes, &InteriorOptions::default());
    let expected = "2 small hole(s) with 19 boundary edges are closed for the interior";
    assert!(
        interior
            .warnings()
            .iter()
            .any(|warning| warning == expected),
        "{:?}",
        interior.warnings()
    );

    assert_filled(&shapes, &interior, 0.95);
}

#[test]
fn a_mask_has_no_interior() {
    let Some(shapes) = poses("face-poses/face-poses", &[0, 1]) else {
        return;
    };

    let interior = filled(&shapes, &InteriorOptions::default());
    assert!(interior.tetrahedra().is_empty());

    let expected = "the surface: open, so without an interior; surface springs only";
    assert!(
        interior
            .warnings()
            .iter()
            .any(|warning| warning == expected),
        "{:?}",
        interior.warnings()
    );
}

#[test]
fn a_dancer_and_a_fist_are_filled_in_all_their_poses() {
    for (name, frames) in [
        ("samba/samba-every7th", [0, 9, 20]),
        ("hands/derived-hand-poses", [0, 3, 11]),
    ] {
        let Some(shapes) = poses(name, &frames) else {
            return;
        };
        let interior = filled(&shapes, &InteriorOptions::default());
        assert_filled(&shapes, &interior, 0.95);
    }
}
