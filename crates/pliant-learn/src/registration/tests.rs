//! Tests of the registration, on a body with a known position of every point: a long ball that
//! bends, with waves on it.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::shapes::icosphere;
use pliant_mesh::{LoopSubdivision, Mesh, vertex_normals};
use pliant_transfer::Markers;

use super::scan_registration::moved;
use super::{Scan, ScanOptions, ScanRegistration};
use crate::LearnError;

/// Where the point `u` of the unit sphere is on the body, bent by an angle, with waves that grow
/// with it.
fn body(u: DVec3, bend: f64) -> DVec3 {
    let wave = 0.02 * (1.0 + bend) * (14.0 * u.x).sin() * (1.0 - u.x * u.x);
    let round = DVec3::new(3.0 * u.x, u.y, 0.8 * u.z) * (1.0 + wave);
    let rotation = DQuat::from_rotation_z(0.5 * bend * u.x);
    DVec3::new(0.0, 0.4 * bend * u.x * u.x, 0.0) + rotation * round
}

/// The body with the vertices of a sphere that was turned, so that no two bodies share a vertex.
struct Tiling {
    units: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Tiling {
    fn new(level: usize, rotation: f64) -> Self {
        let sphere = icosphere(level);
        let rotation = DQuat::from_scaled_axis(DVec3::new(0.3, 1.0, -0.4) * rotation);
        Self {
            units: sphere.positions().iter().map(|&u| rotation * u).collect(),
            triangles: sphere.triangles().to_vec(),
        }
    }

    fn mesh(&self, bend: f64) -> Mesh {
        Mesh::from_triangles(
            self.units.iter().map(|&u| body(u, bend)).collect(),
            &self.triangles,
        )
        .unwrap()
    }

    fn nearest(&self, unit: DVec3) -> u32 {
        let squared = |v: &usize| self.units[*v].distance_squared(unit);
        (0..self.units.len())
            .min_by(|a, b| squared(a).total_cmp(&squared(b)))
            .unwrap() as u32
    }

    /// A scan of the bent body somewhere in space, with markers at the vertices nearest to those of
    /// a coarse sphere.
    fn scan(&self, reference: &Self, bend: f64, motion: RigidMotion) -> Scan {
        let pairs = icosphere(1)
            .positions()
            .iter()
            .map(|&u| (reference.nearest(u), self.nearest(u)))
            .collect();
        let mesh = moved(&self.mesh(bend), motion).unwrap();

        Scan {
            name: format!("bent by {bend}"),
            mesh,
            markers: Markers::new(pairs),
        }
    }
}

fn motion(k: f64) -> RigidMotion {
    RigidMotion {
        rotation: DQuat::from_scaled_axis(DVec3::new(k, 2.0 - k, -1.3)),
        translation: DVec3::new(20.0, -9.0 * k, 4.0),
    }
}

fn registered(reference: &Mesh, scans: &[Scan]) -> ScanRegistration {
    ScanRegistration::of(
        reference,
        scans,
        &ScanOptions::default().with_vertices(700),
        &(),
    )
    .unwrap()
}

/// Root mean square difference, over the diagonal of the reference, between how coarse vertices
/// move and how their points of the body do.
fn motion_error(
    registration: &ScanRegistration,
    reference: &Tiling,
    bend: f64,
    frame: usize,
) -> f64 {
    let rest = reference.mesh(0.0);
    let rigid = registration.low.reference();
    let truth = |p: &DVec3| {
        let squared = |v: &usize| rest.positions()[*v].distance_squared(*p);
        let v = (0..rest.vertex_count())
            .min_by(|a, b| squared(a).total_cmp(&squared(b)))
            .unwrap();
        (
            body(reference.units[v], bend),
            body(reference.units[v], 0.0),
        )
    };

    let goals: Vec<(DVec3, DVec3)> = rigid.positions().iter().map(truth).collect();
    // The frame of the reference is known up to the rigid part of the bend.
    let (found, expected): (Vec<DVec3>, Vec<DVec3>) = (0..goals.len())
        .map(|v| {
            (
                registration.low.frames()[frame][v] - rigid.positions()[v] + goals[v].1,
                goals[v].0,
            )
        })
        .unzip();

    let best = RigidMotion::fit(&expected, &found, None).unwrap();
    let sum: f64 = found
        .iter()
        .zip(&expected)
        .map(|(a, b)| a.distance_squared(best.apply(*b)))
        .sum();

    (sum / goals.len() as f64).sqrt() / rest.bounds().unwrap().diagonal()
}

#[test]
fn a_rigidly_moved_scan_is_registered_as_itself() {
    let tiling = Tiling::new(4, 0.0);
    let reference = tiling.mesh(0.0);
    let registration = registered(
        &reference,
        &[
            tiling.scan(&tiling, 0.0, motion(0.4)),
            tiling.scan(&tiling, 0.0, motion(1.9)),
        ],
    );

    for clip in [&registration.low, &registration.high] {
        let diagonal = reference.bounds().unwrap().diagonal();
        for frame in clip.frames() {
            let off = frame
                .iter()
                .zip(clip.reference().positions())
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f64::max);
            assert!(off < 1e-6 * diagonal, "{}: {off:e}", clip.name());
        }
    }

    assert!(
        registration
            .reports
            .iter()
            .all(|report| report.rigid < 1e-12 && report.missed == 0)
    );
}

#[test]
fn scans_with_different_triangles_become_poses_that_move_as_the_body() {
    let tiling = Tiling::new(4, 0.0);
    let bends = [0.5, -0.8];
    let scans = [
        Tiling::new(5, 0.7).scan(&tiling, bends[0], motion(0.4)),
        Tiling::new(4, 1.1).scan(&tiling, bends[1], motion(1.9)),
    ];

    let registration = registered(&tiling.mesh(0.0), &scans);
    assert!(registration.low.reference().vertex_count() <= 700);
    assert_eq!(
        registration.low.frame_names(),
        ["bent by 0.5", "bent by -0.8"]
    );

    for (frame, &bend) in bends.iter().enumerate() {
        // Markers are set to the nearest vertex, off by up to half an edge: 1 % of the diagonal.
        let error = motion_error(&registration, &tiling, bend, frame);
        assert!(
            error < 0.01 && error < 0.2 * registration.reports[frame + 1].rigid,
            "{bend}: {error}"
        );
    }

    for report in &registration.reports {
        assert!(
            report.after.mean < 1e-3 && report.after.mean < report.before.mean,
            "{report:?}"
        );
        assert_eq!(
            (report.flipped_low, report.flipped_high),
            (0, 0),
            "{report:?}"
        );
    }
}

#[test]
fn the_fine_clip_is_the_subdivided_coarse_one_moved_along_its_normals() {
    let tiling = Tiling::new(4, 0.0);
    let registration = registered(
        &tiling.mesh(0.0),
        &[Tiling::new(4, 0.7).scan(&tiling, 0.5, motion(0.4))],
    );
    let subdivision = LoopSubdivision::levels(registration.low.reference(), 1).unwrap();

    assert!(
        registration
            .high
            .reference()
            .same_surface(subdivision.mesh())
    );
    let base = subdivision
        .mesh()
        .posed(subdivision.apply(&registration.low.frames()[0]))
        .unwrap();

    for (v, normal) in vertex_normals(&base).into_iter().enumerate() {
        let step = registration.high.frames()[0][v] - base.positions()[v];
        assert!(step.cross(normal).length() < 1e-12, "vertex {v}");
    }
}

#[test]
fn a_hole_is_reported_and_filled_smoothly() {
    let tiling = Tiling::new(4, 0.0);
    let whole = Tiling::new(5, 0.7);
    let far = |unit: DVec3| unit.distance(DVec3::Z) > 0.35;
    let mut open = Tiling {
        units: whole.units.clone(),
        triangles: whole.triangles.clone(),
    };

    open.triangles
        .retain(|t| t.iter().all(|&v| far(open.units[v as usize])));
    let mut scan = open.scan(&tiling, 0.5, motion(0.4));
    scan.markers = Markers::new(
        scan.markers
            .pairs()
            .iter()
            .copied()
            .filter(|&(a, _)| far(tiling.units[a as usize]))
            .collect(),
    );

    let complete = registered(&tiling.mesh(0.0), &[whole.scan(&tiling, 0.5, motion(0.4))]);
    let registration = registered(&tiling.mesh(0.0), &[scan]);
    assert!(
        registration.reports[1].missed > 10 && registration.reports[0].missed == 0,
        "{:?}",
        registration.reports
    );

    assert_eq!(
        (
            registration.reports[1].flipped_low,
            registration.reports[1].flipped_high
        ),
        (0, 0)
    );

    let [with, without] =
        [&registration, &complete].map(|registration| motion_error(registration, &tiling, 0.5, 0));
    assert!(with < without + 0.004, "{with} {without}");
}

#[test]
fn errors_of_a_scan_contain_its_name() {
    let tiling = Tiling::new(3, 0.0);
    let reference = tiling.mesh(0.0);
    let good = tiling.scan(&tiling, 0.5, motion(0.4));
    let message = |scan: Scan| {
        ScanRegistration::of(
            &reference,
            &[good.clone(), scan],
            &ScanOptions::default(),
            &(),
        )
        .unwrap_err()
        .to_string()
    };

    let with = |change: &dyn Fn(&mut Scan)| {
        let mut scan = Scan {
            name: "damaged".into(),
            ..good.clone()
        };
        change(&mut scan);
        message(scan)
    };

    let all = |message: String, words: &[&str]| {
        assert!(words.iter().all(|word| message.contains(word)), "{message}")
    };
    all(
        with(&|scan| scan.markers = Markers::new(vec![(0, 0), (1, 1)])),
        &["'damaged'", "2 different", "at least 3"],
    );

    all(
        with(&|scan| scan.markers = Markers::new(vec![(0, 0), (1, 1), (9999, 2)])),
        &["'damaged'", "9999", "reference"],
    );

    all(
        with(&|scan| {
            scan.mesh = Mesh::from_triangles(scan.mesh.positions().to_vec(), &[]).unwrap()
        }),
        &["'damaged'", "no faces"],
    );

    let two_pieces = |scan: &mut Scan| {
        let mut builder = scan.mesh.to_builder();
        let n = builder.positions.len() as u32;
        builder.positions.extend([DVec3::ZERO, DVec3::X, DVec3::Y]);
        builder.push_face(&[n, n + 1, n + 2]);
        scan.mesh = builder.build().unwrap();
    };

    all(
        with(&two_pieces),
        &["'damaged'", "2 connected component(s)", "reference has 1"],
    );

    let broken = |scan: &mut Scan| {
        let mut positions = scan.mesh.positions().to_vec();
        positions[3].y = f64::NAN;
        scan.mesh = scan.mesh.posed(positions).unwrap();
    };

    all(with(&broken), &["'damaged'", "vertex 3", "NaN or infinite"]);
}

#[test]
fn options_out_of_range_are_rejected_by_name() {
    let reference = Tiling::new(1, 0.0).mesh(0.0);
    let default = ScanOptions::default;
    for wrong in [
        default().with_vertices(3),
        default().with_levels(7),
        default().with_smoothing(-1.0),
        default().with_smoothing(f64::NAN),
        default().with_reach(0.0),
    ] {
        assert!(
            matches!(
                ScanRegistration::of(&reference, &[], &wrong, &()),
                Err(LearnError::BadNumber { .. })
            ),
            "{wrong:?}"
        );
    }
}
