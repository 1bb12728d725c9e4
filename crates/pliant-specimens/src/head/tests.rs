//! Claims about the finished head.

use std::collections::HashMap;
use std::sync::LazyLock;

use pliant_mesh::MeshReport;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{Rig, Target};

use super::expressions::face::Face;
use super::geometry::half::Part;
use super::geometry::sculpt::Sculpt;
use super::geometry::{anatomy as an, eye, mouth};
use super::model_half;

/// Names of ARKit's sliders, the tongue's aside.
const ARKIT: &[&str] = &[
    "browDownLeft",
    "browDownRight",
    "browInnerUp",
    "browOuterUpLeft",
    "browOuterUpRight",
    "cheekPuff",
    "cheekSquintLeft",
    "cheekSquintRight",
    "eyeBlinkLeft",
    "eyeBlinkRight",
    "eyeLookDownLeft",
    "eyeLookDownRight",
    "eyeLookInLeft",
    "eyeLookInRight",
    "eyeLookOutLeft",
    "eyeLookOutRight",
    "eyeLookUpLeft",
    "eyeLookUpRight",
    "eyeSquintLeft",
    "eyeSquintRight",
    "eyeWideLeft",
    "eyeWideRight",
    "jawForward",
    "jawLeft",
    "jawOpen",
    "jawRight",
    "mouthClose",
    "mouthDimpleLeft",
    "mouthDimpleRight",
    "mouthFrownLeft",
    "mouthFrownRight",
    "mouthFunnel",
    "mouthLeft",
    "mouthLowerDownLeft",
    "mouthLowerDownRight",
    "mouthPressLeft",
    "mouthPressRight",
    "mouthPucker",
    "mouthRight",
    "mouthRollLower",
    "mouthRollUpper",
    "mouthShrugLower",
    "mouthShrugUpper",
    "mouthSmileLeft",
    "mouthSmileRight",
    "mouthStretchLeft",
    "mouthStretchRight",
    "mouthUpperUpLeft",
    "mouthUpperUpRight",
    "noseSneerLeft",
    "noseSneerRight",
];

/// Half the distance between numbers that `f32` displacements of a few centimetres can tell apart,
/// with room for sums.
const ROUNDING: f64 = 1e-6;

/// The head, built once for all claims.
fn rig() -> &'static Rig {
    static RIG: LazyLock<Rig> = LazyLock::new(super::rig);
    &RIG
}

/// The left half of the face, whose vertices come first.
fn face() -> &'static Face {
    static FACE: LazyLock<Face> = LazyLock::new(|| Face::new(model_half(), Sculpt));
    &FACE
}

fn find<'a>(rig: &'a Rig, name: &str) -> &'a Target {
    rig.targets()
        .iter()
        .find(|t| t.name == name)
        .unwrap_or_else(|| panic!("the head has a target {name}"))
}

/// Positions with some sliders set.
fn posed(rig: &Rig, sliders: &[(&str, f64)]) -> Vec<DVec3> {
    let mut positions = rig.neutral().positions().to_vec();
    for (name, weight) in sliders {
        find(rig, name).add_to(*weight, &mut positions);
    }
    positions
}

/// The mirror image of every vertex; panics where there is none to the bit.
fn images(rig: &Rig) -> Vec<usize> {
    let bits = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
    let places: HashMap<_, _> = rig
        .neutral()
        .positions()
        .iter()
        .enumerate()
        .map(|(v, &p)| (bits(p), v))
        .collect();

    assert_eq!(
        places.len(),
        rig.neutral().vertex_count(),
        "no two vertices share a place"
    );

    rig.neutral()
        .positions()
        .iter()
        .map(|p| places[&bits(DVec3::new(-p.x, p.y, p.z))])
        .collect()
}

/// Vertices of the left half (which come first) in some part.
fn left_vertices(face: &Face, wanted: impl Fn(Part) -> bool) -> Vec<usize> {
    (0..face.half.parts.len())
        .filter(|&v| wanted(face.half.parts[v]))
        .collect()
}

fn eye_vertex(face: &Face, ring: usize, step: usize) -> usize {
    let part = Part::Eye {
        ring: ring as u16,
        step: (step % eye::STEPS) as u16,
    };
    face.half
        .parts
        .iter()
        .position(|&p| p == part)
        .expect("the ring exists")
}

#[test]
fn the_mesh_consists_of_quads_without_defects() {
    let rig = rig();
    let mesh = rig.neutral();
    assert!(
        (8_000..=15_000).contains(&mesh.vertex_count()),
        "{} vertices",
        mesh.vertex_count()
    );

    assert!(mesh.faces().all(|face| face.len() == 4));
    let health = MeshReport::of(mesh);
    assert_eq!(health.problems(), Vec::<String>::new());

    // Skin; eyeballs and brows in pairs; two rows of teeth and the tongue.
    assert_eq!((health.components, health.unused_vertices), (8, 0));

    // The neck, and the lids' insides behind the eyeballs.
    assert_eq!(health.boundary_loops, 3);
}

#[test]
fn the_head_is_life_size_in_centimetres() {
    let bounds = rig().neutral().bounds().unwrap();
    assert!(
        (16.0..=20.0).contains(&bounds.size().x) && (18.0..=24.0).contains(&bounds.size().z),
        "{bounds:?}"
    );
}

#[test]
fn left_and_right_are_mirror_images_to_the_bit() {
    let rig = rig();
    let image = images(rig);
    let mirrored = |t: &Target| {
        let dense = t.to_dense(image.len());
        (0..image.len())
            .map(|v| dense[image[v]] * Vec3::new(-1.0, 1.0, 1.0))
            .collect::<Vec<_>>()
    };

    for target in rig.targets() {
        let partner = match (
            target.name.strip_suffix("Left"),
            target.name.strip_suffix("Right"),
        ) {
            (Some(base), _) => format!("{base}Right"),
            (_, Some(base)) => format!("{base}Left"),
            _ => target.name.clone(),
        };

        let partner = find(rig, &partner);
        assert_eq!(
            mirrored(target),
            partner.to_dense(image.len()),
            "{}",
            target.name
        );

        for (own, other) in target.in_betweens.iter().zip(&partner.in_betweens) {
            let own = Target {
                name: String::new(),
                vertices: own.vertices.clone(),
                deltas: own.deltas.clone(),
                in_betweens: Vec::new(),
            };

            let other = Target {
                vertices: other.vertices.clone(),
                deltas: other.deltas.clone(),
                ..own.clone()
            };

            assert_eq!(
                mirrored(&own),
                other.to_dense(image.len()),
                "{}",
                target.name
            );
        }
    }
}

#[test]
fn every_slider_but_the_tongues_has_its_arkit_name() {
    let rig = rig();
    let mut names: Vec<&str> = rig.targets().iter().map(|t| t.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ARKIT);
}

#[test]
fn targets_are_finite_local_and_move_something() {
    let rig = rig();
    rig.require_finite().unwrap();
    for target in rig.targets() {
        let share = target.vertices.len() as f64 / rig.neutral().vertex_count() as f64;
        assert!(
            share < 0.55,
            "{} moves {:.0} % of the head",
            target.name,
            100.0 * share
        );

        let largest = target.deltas.iter().map(|d| d.length()).fold(0.0, f32::max);
        assert!(
            (0.1..6.0).contains(&largest),
            "{} moves by {largest}",
            target.name
        );
    }
}

#[test]
fn eyes_and_brows_of_one_side_leave_the_other_alone() {
    let rig = rig();
    for base in [
        "eyeBlink",
        "eyeSquint",
        "eyeWide",
        "eyeLookUp",
        "eyeLookIn",
        "browDown",
        "browOuterUp",
        "cheekSquint",
        "mouthSmile",
    ] {
        let target = find(rig, &format!("{base}Left"));
        assert!(
            target
                .vertices
                .iter()
                .all(|&v| rig.neutral().positions()[v as usize].x > 0.0),
            "{base}"
        );
    }
}

#[test]
fn no_target_moves_scalp_ears_or_the_edge_of_the_neck() {
    let rig = rig();
    let rest = rig.neutral().positions();
    for target in rig.targets() {
        for &v in &target.vertices {
            let p = rest[v as usize];
            assert!(
                p.y < 8.0 && p.z > -4.0 && p.y > -16.9,
                "{} moves {p}",
                target.name
            );
        }
    }
}

#[test]
fn a_blink_closes_the_eye() {
    let rig = rig();
    let face = face();
    let rest = rig.neutral().positions();
    let shut = posed(rig, &[("eyeBlinkLeft", 1.0)]);

    let ring = eye::MARGIN_INNER;
    let pairs: Vec<[usize; 2]> = (1..24)
        .map(|k| {
            [
                eye_vertex(face, ring, k),
                eye_vertex(face, ring, eye::STEPS - k),
            ]
        })
        .collect();

    let gap = |points: &[DVec3]| {
        pairs
            .iter()
            .map(|&[u, l]| points[u].distance(points[l]))
            .fold(0.0, f64::max)
    };

    let (open, closed) = (gap(rest), gap(&shut));
    assert!(open > 1.5 && closed < 0.02 * open, "{closed} of {open}");

    // The upper lid stays above the lower one: they meet and do not pass.
    assert!(pairs.iter().all(|&[u, l]| shut[u].y >= shut[l].y));
}

#[test]
fn lids_stay_outside_the_eyeball_at_every_weight() {
    let rig = rig();
    let face = face();
    let lids = left_vertices(face, |part| matches!(part, Part::Eye { .. }));

    for slider in [
        "eyeBlinkLeft",
        "eyeSquintLeft",
        "eyeWideLeft",
        "eyeLookDownLeft",
        "eyeLookUpLeft",
    ] {
        for step in 0..=20 {
            let points = posed(rig, &[(slider, f64::from(step) * 0.05)]);
            let nearest = lids
                .iter()
                .map(|&v| points[v].distance(an::EYE))
                .fold(f64::INFINITY, f64::min);

            assert!(
                nearest > an::EYE_RADIUS,
                "{slider} at {}: {nearest}",
                f64::from(step) * 0.05
            );
        }
    }
}

#[test]
fn a_look_rotates_the_eyeball_without_shrinking_it() {
    let rig = rig();
    let face = face();
    let ball = left_vertices(face, |part| part == Part::Eyeball);

    for slider in [
        "eyeLookUpLeft",
        "eyeLookDownLeft",
        "eyeLookInLeft",
        "eyeLookOutLeft",
    ] {
        for (weight, tolerance) in [(0.5, ROUNDING), (1.0, ROUNDING), (0.25, 0.02), (0.75, 0.02)] {
            let points = posed(rig, &[(slider, weight)]);
            for &v in &ball {
                assert!(
                    (points[v].distance(an::EYE) - an::EYE_RADIUS).abs()
                        < tolerance * an::EYE_RADIUS,
                    "{slider} at {weight}"
                );
            }
        }
    }
}

#[test]
fn the_jaw_moves_on_circles_about_its_hinge() {
    let rig = rig();
    let rest = rig.neutral().positions();
    let radius = |p: DVec3| (p - an::HINGE).with_x(0.0).length();
    let moved = &find(rig, "jawOpen").vertices;

    // Between keys a vertex is on a chord of half the opening: 1 − cos(0.44 / 4) of the radius
    // inside its circle.
    for (weight, tolerance) in [
        (0.5, ROUNDING),
        (1.0, ROUNDING),
        (0.25, 0.007),
        (0.75, 0.007),
    ] {
        let points = posed(rig, &[("jawOpen", weight)]);
        for v in moved.iter().map(|&v| v as usize) {
            let (before, after) = (radius(rest[v]), radius(points[v]));
            assert!(
                (after - before).abs() <= tolerance * before,
                "vertex {v} at {weight}: {before} became {after}"
            );
        }
    }
}

#[test]
fn lower_teeth_rotate_rigidly_with_the_jaw_and_upper_teeth_stay() {
    let rig = rig();
    let face = face();
    let rest = rig.neutral().positions();
    let open = posed(rig, &[("jawOpen", 1.0)]);
    let lower = left_vertices(face, |part| part == Part::LowerTeeth);

    for pair in lower.windows(2) {
        let before = rest[pair[0]].distance(rest[pair[1]]);
        assert!((open[pair[0]].distance(open[pair[1]]) - before).abs() < ROUNDING);
    }

    assert!(
        left_vertices(face, |part| part == Part::UpperTeeth)
            .iter()
            .all(|&v| open[v] == rest[v])
    );
}

/// Largest distance between facing vertices of the lips' line of contact.
fn mouth_gap(face: &Face, points: &[DVec3]) -> f64 {
    (0..mouth::CORNER)
        .map(|k| points[face.contact(k)].distance(points[face.contact(mouth::STEPS - k)]))
        .fold(0.0, f64::max)
}

#[test]
fn the_jaw_opens_the_mouth_and_mouth_close_shuts_the_lips_again() {
    let rig = rig();
    let face = face();
    let gap = |sliders: &[(&str, f64)]| mouth_gap(face, &posed(rig, sliders));
    let open = gap(&[("jawOpen", 1.0)]);
    assert!(gap(&[]) < 0.05 && open > 2.5, "{open}");
    assert!(gap(&[("jawOpen", 1.0), ("mouthClose", 1.0)]) < 0.05 * open);
}

#[test]
fn a_smile_lifts_the_corners_and_a_frown_lowers_them() {
    let rig = rig();
    let face = face();
    let corner = face.contact(mouth::CORNER);
    let at = |name: &str| posed(rig, &[(name, 1.0)])[corner] - rig.neutral().positions()[corner];
    let (smile, frown) = (at("mouthSmileLeft"), at("mouthFrownLeft"));
    assert!(smile.y > 0.5 && smile.x > 0.3 && smile.z < 0.0, "{smile}");
    assert!(frown.y < -0.5, "{frown}");
}

#[test]
fn no_single_slider_collapses_or_tears_an_edge() {
    let rig = rig();
    let edges = rig.neutral().topology().edges();
    let rest = rig.neutral().positions();

    for target in rig.targets() {
        let points = posed(rig, &[(&target.name, 1.0)]);
        for &[a, b] in edges {
            let before = rest[a as usize].distance(rest[b as usize]);
            let after = points[a as usize].distance(points[b as usize]);
            let stretch = after / before;

            assert!(
                (0.04..12.0).contains(&stretch),
                "{}: edge {a}-{b} goes from {before} to {after}",
                target.name
            );
        }
    }
}

#[test]
fn building_twice_gives_the_same_bits() {
    let (first, second) = (super::rig(), rig());
    assert_eq!(first.neutral().positions(), second.neutral().positions());
    assert_eq!(first.targets(), second.targets());
}

#[test]
fn the_head_at_rest_has_no_self_intersection() {
    assert_eq!(
        rig().neutral().self_intersections().unwrap(),
        Vec::<[u32; 2]>::new()
    );
}

#[test]
fn expressions_keep_lips_lids_teeth_and_cheeks_apart() {
    let expressions: [&[(&str, f64)]; 10] = [
        &[("jawOpen", 0.5)],
        &[("jawOpen", 1.0)],
        &[("mouthSmileLeft", 1.0), ("mouthSmileRight", 1.0)],
        &[("mouthFrownLeft", 1.0), ("mouthFrownRight", 1.0)],
        &[("mouthPucker", 1.0)],
        &[("mouthFunnel", 1.0)],
        &[
            ("mouthFunnel", 0.6),
            ("mouthPucker", 0.55),
            ("jawOpen", 0.22),
        ],
        &[
            ("cheekPuff", 1.0),
            ("eyeSquintLeft", 1.0),
            ("eyeSquintRight", 1.0),
        ],
        &[
            ("browDownLeft", 1.0),
            ("browDownRight", 1.0),
            ("noseSneerLeft", 1.0),
            ("noseSneerRight", 1.0),
        ],
        &[
            ("browInnerUp", 1.0),
            ("eyeWideLeft", 1.0),
            ("eyeWideRight", 1.0),
            ("mouthUpperUpLeft", 1.0),
            ("mouthUpperUpRight", 1.0),
        ],
    ];
    for expression in expressions {
        let mesh = rig().neutral().posed(posed(rig(), expression)).unwrap();
        assert_eq!(
            mesh.self_intersections().unwrap().len(),
            0,
            "{expression:?}"
        );
    }
}

#[test]
fn texture_coordinates_lie_in_the_unit_square_and_mirror() {
    let rig = rig();
    let layer = &rig.neutral().uv_layers()[0];
    assert_eq!(layer.values.len(), rig.neutral().vertex_count());

    for (v, image) in images(rig).into_iter().enumerate() {
        let (uv, other) = (layer.values[v], layer.values[image]);
        assert!(
            (0.0..=1.0).contains(&uv.x) && (0.0..=1.0).contains(&uv.y),
            "{uv}"
        );
        assert!((uv.x + other.x - 1.0).abs() < 1e-15 && uv.y == other.y);
    }
}
