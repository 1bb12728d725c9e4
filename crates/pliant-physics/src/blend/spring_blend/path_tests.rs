//! The even path, which is the default.

use pliant_mesh::glam::DQuat;

use super::*;
use crate::test_shapes::{Bar, LENGTH, apart, apart_rigid, bar, bent, foot, twisted};
use crate::{EnergyTerms, snap_frames};

fn blend_of(bar: &Bar, poses: Vec<Vec<DVec3>>, options: &BlendOptions) -> Blend {
    let own: Vec<u32> = (0..bar.mesh.vertex_count() as u32).collect();
    Blend::connect(&bar.mesh, poses, &bar.tetrahedra, &own, options).expect("the bar is sound")
}

fn path_of(bar: &Bar, poses: Vec<Vec<DVec3>>) -> Blend {
    blend_of(bar, poses, &BlendOptions::default())
}

fn motion() -> RigidMotion {
    RigidMotion {
        rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 1.75),
        translation: DVec3::new(3.0, -2.0, 1.0),
    }
}

fn moved(points: &[DVec3], motion: &RigidMotion) -> Vec<DVec3> {
    points.iter().map(|p| motion.apply(*p)).collect()
}

/// A bar, and a plate that lies near the upper side of its free end and shares no edge with it.
fn bar_with_plate() -> (Mesh, usize) {
    let bar = bar(12, 3);
    let plate = pliant_mesh::shapes::closed_box([3, 3, 1], DVec3::new(0.8, 0.8, 0.1));
    let host = bar.mesh.vertex_count();

    let mut points = bar.mesh.positions().to_vec();
    let middle = plate.positions().iter().sum::<DVec3>() / plate.vertex_count() as f64;
    let place = DVec3::new(LENGTH - 0.5, 0.0, -0.65) - middle;
    points.extend(plate.positions().iter().map(|p| *p + place));
    let mut triangles = bar.mesh.triangles().to_vec();
    let above = |t: &[u32; 3]| t.map(|v| v + host as u32);
    triangles.extend(plate.triangles().iter().map(above));

    (Mesh::from_triangles(points, &triangles).unwrap(), host)
}

#[test]
fn the_ends_are_the_shapes_to_the_bit_and_their_neighbours_are_near() {
    let bar = bar(12, 3);
    let poses = vec![
        bar.points.clone(),
        moved(&bent(&bar.points, 200.0), &motion()),
        twisted(&bar.points, 300.0),
    ];
    let mut blend = path_of(&bar, poses.clone());
    for (s, pose) in poses.iter().enumerate() {
        let mut weights = vec![0.0; 3];
        weights[s] = 1.0;
        assert_eq!(
            blend.at(&weights).unwrap().positions,
            pose[..bar.mesh.vertex_count()]
        );

        // Without the short cut for given shapes.
        weights[s] -= 1e-9;
        weights[(s + 1) % 3] += 1e-9;
        let near = blend.at(&weights).unwrap();
        assert!(
            apart(&near.positions, &pose[..bar.mesh.vertex_count()]) < 1e-7,
            "{s}: {}",
            apart(&near.positions, &pose[..bar.mesh.vertex_count()])
        );
    }
}

#[test]
fn half_of_a_bend_is_half_the_bend_up_to_a_whole_turn() {
    let bar = bar(24, 3);
    for degrees in [90.0, 180.0, 270.0, 350.0] {
        let mut blend = path_of(&bar, vec![bar.points.clone(), bent(&bar.points, degrees)]);
        for alpha in [0.25, 0.5, 0.8] {
            let frame = blend.between(alpha).unwrap();
            let expected = bent(bar.mesh.positions(), degrees * alpha);
            let off = apart_rigid(&frame.positions, &expected);
            assert!(off < 0.015, "{degrees} at {alpha}: {off}");
            assert_eq!(frame.inverted, 0, "{degrees} at {alpha}");
        }
    }
}

#[test]
fn half_of_a_twist_is_half_the_twist_beyond_half_a_turn() {
    let bar = bar(24, 3);
    for degrees in [120.0, 300.0] {
        let mut blend = path_of(
            &bar,
            vec![bar.points.clone(), twisted(&bar.points, degrees)],
        );
        let frame = blend.between(0.5).unwrap();
        let expected = twisted(bar.mesh.positions(), 0.5 * degrees);
        let off = apart_rigid(&frame.positions, &expected);
        assert!(off < 0.03, "{degrees}: {off}");
    }
}

#[test]
fn a_coil_on_which_springs_snap_is_blended_evenly() {
    // The largest step of a vertex relative to the mean of the largest steps.
    let unevenness = |blend: &mut Blend| {
        let clip: Vec<Vec<DVec3>> = (0..=24)
            .map(|k| blend.between(f64::from(k) / 24.0).unwrap().positions)
            .collect();
        let step = |pair: &[Vec<DVec3>]| {
            let lengths = pair[0].iter().zip(&pair[1]).map(|(p, q)| p.distance(*q));
            lengths.fold(0.0, f64::max)
        };
        let steps: Vec<f64> = clip.windows(2).map(step).collect();
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        let frames: Vec<&[DVec3]> = clip.iter().map(Vec::as_slice).collect();
        (
            steps.iter().copied().fold(0.0, f64::max) / mean,
            snap_frames(&frames),
        )
    };

    let bar = bar(24, 3);
    let almost = vec![bar.points.clone(), bent(&bar.points, 350.0)];
    let (path, snaps) = unevenness(&mut path_of(&bar, almost));
    assert!(path < 1.3 && snaps.is_empty(), "{path} {snaps:?}");

    // Twice around, through itself.
    let twice = vec![bar.points.clone(), bent(&bar.points, 720.0)];
    let springs = BlendOptions::default().with_energy(EnergyTerms::springs());
    let (path, _) = unevenness(&mut path_of(&bar, twice.clone()));
    let (springs, _) = unevenness(&mut blend_of(&bar, twice, &springs));
    assert!(path < 2.0 && springs > 1.5 * path, "{path} {springs}");
}

#[test]
fn rigid_copies_blend_rigidly_also_in_several_parts() {
    let (mesh, _) = bar_with_plate();
    let copy = mesh.posed(moved(mesh.positions(), &motion())).unwrap();
    let mut blend = Blend::new(&[mesh.clone(), copy], &BlendOptions::default()).unwrap();
    for alpha in [0.2, 0.5, 0.9] {
        let frame = blend.between(alpha).unwrap();
        let off = apart_rigid(&frame.positions, mesh.positions());
        assert!(off < 1e-10, "{alpha}: {off}");
    }
}

#[test]
fn a_part_without_common_edges_stays_on_its_host() {
    let (mesh, host) = bar_with_plate();
    let end = mesh.posed(bent(mesh.positions(), 180.0)).unwrap();
    let mut blend = Blend::new(&[mesh.clone(), end], &BlendOptions::default()).unwrap();

    for alpha in [0.25, 0.5, 0.75] {
        let frame = blend.between(alpha).unwrap();
        let expected = bent(mesh.positions(), 180.0 * alpha);
        let off = apart_rigid(&frame.positions, &expected);
        assert!(off < 0.01, "{alpha}: {off}");

        // The gap between the plate and the bar, relative to what it is in both shapes.
        let gap = |points: &[DVec3]| {
            let to_host = |p: &DVec3| {
                let distances = points[..host].iter().map(|q| p.distance(*q));
                distances.fold(f64::INFINITY, f64::min)
            };
            points[host..]
                .iter()
                .map(to_host)
                .fold(f64::INFINITY, f64::min)
        };
        let change = gap(&frame.positions) - gap(&expected);
        assert!(change.abs() < 0.02, "{alpha}: {change}");
    }
}

#[test]
fn the_order_of_the_shapes_does_not_matter() {
    let bar = bar(12, 3);
    let [a, b, c] = [
        bar.points.clone(),
        bent(&bar.points, 200.0),
        twisted(&bar.points, 250.0),
    ];

    for options in [
        BlendOptions::default(),
        BlendOptions::default()
            .with_fixed(foot(&bar))
            .with_solver(Solver::Tight),
    ] {
        let mut one = blend_of(&bar, vec![a.clone(), b.clone(), c.clone()], &options);
        let mut two = blend_of(&bar, vec![c.clone(), a.clone(), b.clone()], &options);
        let one = one.at(&[0.5, 0.3, 0.2]).unwrap();
        let two = two.at(&[0.2, 0.5, 0.3]).unwrap();
        let off = apart(&one.positions, &two.positions);
        assert!(off < 1e-5, "{off}");
    }
}

#[test]
fn a_free_frame_is_at_rest_and_depends_on_its_weights_alone() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 150.0)];
    let mut blend = path_of(&bar, poses.clone());
    let first = blend.between(0.4).unwrap();
    assert!(
        first.report.residual < 1e-10 && first.report.converged,
        "{:?}",
        first.report
    );

    blend.between(0.9).unwrap();
    blend.prepare_frames(36).unwrap();
    assert_eq!(first, blend.between(0.4).unwrap());
    assert_eq!(first, path_of(&bar, poses).between(0.4).unwrap());
}

#[test]
fn a_rigid_motion_of_all_shapes_moves_the_result() {
    let bar = bar(12, 3);
    let poses = vec![
        bar.points.clone(),
        bent(&bar.points, 150.0),
        twisted(&bar.points, 80.0),
    ];
    let weights = [0.3, 0.5, 0.2];
    let here = path_of(&bar, poses.clone()).at(&weights).unwrap();
    let there = poses.iter().map(|pose| moved(pose, &motion())).collect();
    let there = path_of(&bar, there).at(&weights).unwrap();

    let off = apart(&moved(&here.positions, &motion()), &there.positions);
    assert!(off < 1e-9, "{off}");
}

#[test]
fn fixed_vertices_move_linearly_and_a_pull_bends_the_rest_shape() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 90.0)];
    let tip = (0..bar.mesh.vertex_count())
        .find(|&v| bar.points[v].x == LENGTH)
        .unwrap();

    let held = BlendOptions::default().with_fixed(foot(&bar));
    let free = blend_of(&bar, poses.clone(), &held).between(0.5).unwrap();
    assert!(free.report.converged, "{:?}", free.report);
    for v in foot(&bar) {
        assert!(
            free.positions[v].distance(bar.points[v]) < 1e-12,
            "the foot is the same in both"
        );
    }
    let off = apart(&free.positions, &bent(bar.mesh.positions(), 45.0));
    assert!(off < 0.01, "{off}");

    let goal = free.positions[tip] + DVec3::new(0.3, 0.4, 0.3);
    let pulled = blend_of(&bar, poses, &held.with_pulls(vec![(tip, goal)]))
        .between(0.5)
        .unwrap();
    assert!(pulled.report.converged, "{:?}", pulled.report);
    assert_eq!(pulled.positions[tip], goal);
    assert!(pulled.strain < 0.05, "{}", pulled.strain);
}

#[test]
fn texture_seams_stay_closed() {
    // Two halves of a strip share a column of coincident vertices.
    let strip = |bend: f64| -> Vec<DVec3> {
        let columns = (0..9).chain(8..17).map(|k| 0.25 * f64::from(k));
        let flat: Vec<DVec3> = columns
            .flat_map(|x| [-0.5, 0.0, 0.5].map(|y| DVec3::new(x, y, 0.0)))
            .collect();
        bent(&flat, bend)
    };
    let mut triangles = Vec::new();
    for column in (0..17).filter(|&column| column != 8) {
        for row in 0..2 {
            let a = 3 * column + row;
            triangles.extend([[a, a + 3, a + 4], [a, a + 4, a + 1]]);
        }
    }

    let flat = Mesh::from_triangles(strip(1e-6), &triangles).unwrap();
    let rolled = flat.posed(strip(200.0)).unwrap();
    let frame = Blend::new(&[flat, rolled], &BlendOptions::default())
        .unwrap()
        .between(0.5)
        .unwrap();
    for row in 0..3 {
        assert_eq!(frame.positions[24 + row], frame.positions[27 + row]);
    }
    assert!(apart_rigid(&frame.positions, &strip(100.0)) < 0.01);
}

#[test]
fn one_thread_and_two_give_the_same_bits_on_the_path() {
    let bar = bar(12, 3);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let poses = vec![bar.points.clone(), bent(&bar.points, 200.0)];
        pool.install(|| path_of(&bar, poses).between(0.5).unwrap())
    };
    assert_eq!(run(1), run(2));
}
