//! Claims about both animals and the hound's motions.

use std::sync::LazyLock;

use pliant_mesh::MeshReport;
use pliant_mesh::glam::DVec3;

use super::gait::{DUTY, TOUCHDOWN, TRAVEL};
use super::legs::LEGS;
use super::*;

/// Built once for all claims.
static HOUND: LazyLock<Built> = LazyLock::new(|| hound::animal().build());
static TAPIR: LazyLock<Built> = LazyLock::new(|| tapir::animal().build());
static WALK: LazyLock<Clip> = LazyLock::new(|| HOUND.clip("walk", WALK_FRAMES, true, gait::walk));

/// The vertices on which each leg stands: those of its paw that are lowest at rest.
fn soles(built: &Built) -> [Vec<usize>; 4] {
    let skeleton = &built.animal.skeleton;
    LEGS.map(|leg| {
        let paw = skeleton.find(&format!(
            "{leg}_{}",
            if leg.starts_with("fore") { 5 } else { 4 }
        ));
        let stands =
            |v: &usize| built.mesh.positions()[*v].y < 0.012 && built.skin.weights[*v][0].0 == paw;
        (0..built.mesh.vertex_count()).filter(stands).collect()
    })
}

/// The time since touch-down of `leg` in frame `k`, as a part of the cycle.
fn phase(leg: usize, k: usize) -> f64 {
    (k as f64 / WALK_FRAMES as f64 - TOUCHDOWN[leg]).rem_euclid(1.0)
}

fn largest_step(from: &[DVec3], to: &[DVec3]) -> f64 {
    from.iter()
        .zip(to)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

#[test]
fn both_animals_are_closed_quad_meshes_without_defects_and_differ() {
    let counts = [&HOUND, &TAPIR].map(|built| {
        let mesh = &built.mesh;
        let health = MeshReport::of(mesh);
        assert!(
            health.problems().is_empty() && health.components == 1 && mesh.topology().is_closed(),
            "{}",
            mesh.name()
        );

        assert!(
            (5_000..=12_000).contains(&mesh.vertex_count())
                && mesh.faces().all(|face| face.len() == 4)
        );
        assert!(mesh.signed_volume() > 0.0);
        assert!(
            ["head", "tail", "ear_left", "fore_right"]
                .iter()
                .all(|part| mesh.groups().names.iter().any(|name| name == part))
        );

        mesh.vertex_count()
    });
    assert_ne!(counts[0], counts[1]);
}

#[test]
fn the_walk_closes_with_a_step_like_the_others() {
    let frames = WALK.frames();
    let steps: Vec<f64> = frames
        .windows(2)
        .map(|pair| largest_step(&pair[0], &pair[1]))
        .collect();
    let closing = largest_step(&frames[WALK_FRAMES - 1], &frames[0]);

    assert!(
        closing <= steps.iter().copied().fold(0.0, f64::max),
        "{closing}"
    );
}

#[test]
fn standing_feet_move_with_the_ground() {
    // The bone above has small weights on the sole; this is the part of the ground's step that
    // soles may slip.
    const SLIP: f64 = 0.03;

    let (built, clip) = (&*HOUND, &*WALK);
    let ground_step = DVec3::NEG_Z * TRAVEL / (DUTY * WALK_FRAMES as f64);
    for (leg, sole) in soles(built).iter().enumerate() {
        assert!(
            sole.len() >= 8,
            "{} stands on {} vertices",
            LEGS[leg],
            sole.len()
        );
        for k in (0..WALK_FRAMES).filter(|&k| phase(leg, k) + 1.0 / WALK_FRAMES as f64 <= DUTY) {
            let now = &clip.frames()[k];
            let next = &clip.frames()[(k + 1) % WALK_FRAMES];
            let slip = sole
                .iter()
                .map(|&v| (next[v] - now[v] - ground_step).length())
                .fold(0.0, f64::max);

            assert!(
                slip < SLIP * ground_step.length(),
                "{} slips {slip} of {} in frame {k}",
                LEGS[leg],
                ground_step.length()
            );
        }
    }
}

#[test]
fn feet_touch_down_hind_left_fore_left_hind_right_fore_right_a_quarter_apart() {
    let (built, clip) = (&*HOUND, &*WALK);
    let soles = soles(built);
    for (leg, sole) in soles.iter().enumerate() {
        let lowest = |k: usize| {
            sole.iter()
                .map(|&v| clip.frames()[k % WALK_FRAMES][v].y)
                .fold(f64::INFINITY, f64::min)
        };
        let ground = (0..WALK_FRAMES).map(lowest).fold(f64::INFINITY, f64::min);

        let lifted: Vec<bool> = (0..WALK_FRAMES)
            .map(|k| lowest(k) > ground + 0.004)
            .collect();
        let landings: Vec<usize> = (0..WALK_FRAMES)
            .filter(|&k| lifted[k] && !lifted[(k + 1) % WALK_FRAMES])
            .collect();

        assert_eq!(landings.len(), 1, "{} lands once in a cycle", LEGS[leg]);
        // The last lifted frame lies at most two frames before the touch-down.
        let before = (leg * WALK_FRAMES / 4 + WALK_FRAMES - landings[0]) % WALK_FRAMES;

        assert!(
            (1..=3).contains(&before),
            "{} lands {before} frames late",
            LEGS[leg]
        );
    }
}

#[test]
fn the_left_side_repeats_the_right_side_half_a_cycle_later() {
    let skeleton = &HOUND.animal.skeleton;
    for k in 0..WALK_FRAMES {
        let [now, later] = [0.0, 0.5].map(|shift| {
            gait::walk(skeleton, k as f64 / WALK_FRAMES as f64 + shift).motions(skeleton)
        });
        for (b, bone) in skeleton.bones.iter().enumerate() {
            let other = skeleton.find(
                &bone
                    .name
                    .replace("left", "RIGHT")
                    .replace("right", "left")
                    .replace("RIGHT", "right"),
            );

            let mirror = |p: DVec3| DVec3::new(-p.x, p.y, p.z);
            let distance = mirror(now[b].apply(bone.tail))
                .distance(later[other].apply(skeleton.bones[other].tail));

            assert!(distance < 1e-12, "{} is off by {distance}", bone.name);
        }
    }
}

#[test]
fn legs_reach_their_footholds_in_every_frame() {
    let skeleton = &HOUND.animal.skeleton;
    for t in (0..96).map(|k| f64::from(k) / 96.0) {
        for posture in [gait::walk(skeleton, t), stretch::stretch(skeleton, t)] {
            let motions = posture.motions(skeleton);
            for (leg, step) in LEGS.iter().zip(&posture.steps) {
                let paw = skeleton.find(&format!(
                    "{leg}_{}",
                    if leg.starts_with("fore") { 5 } else { 4 }
                ));
                let foothold = skeleton.bones[paw].head + step.shift;

                assert!(
                    motions[paw]
                        .apply(skeleton.bones[paw].head)
                        .distance(foothold)
                        < 1e-9,
                    "{leg} at {t}"
                );
            }
        }
    }
}

#[test]
fn motions_keep_the_volume_and_every_triangle() {
    let built = &*HOUND;
    let rest = built.mesh.signed_volume();
    for clip in [
        built.clip("walk", 8, true, gait::walk),
        built.clip("stretch", 9, false, stretch::stretch),
    ] {
        for k in 0..clip.frames().len() {
            let posed = clip.mesh_at(k).unwrap();
            assert!(
                (posed.signed_volume() / rest - 1.0).abs() < 0.04,
                "{} {k}",
                clip.name()
            );
            assert_eq!(MeshReport::of(&posed).degenerate_triangles, 0);
        }
    }
}

#[test]
fn only_the_trunk_swings() {
    let built = &*TAPIR;
    let clip = built.clip("trunk", 8, true, tapir::swing_trunk);
    let skeleton = &built.animal.skeleton;
    let trunk = |v: usize| {
        built.skin.weights[v]
            .iter()
            .any(|(bone, _)| skeleton.bones[*bone].name.starts_with("trunk"))
    };

    let (mut still, mut reach) = (0.0_f64, 0.0_f64);
    for frame in clip.frames() {
        for (v, (moved, rest)) in frame.iter().zip(built.mesh.positions()).enumerate() {
            let distance = moved.distance(*rest);
            if trunk(v) {
                reach = reach.max(distance)
            } else {
                still = still.max(distance)
            }
        }
    }

    assert!(still < 1e-12 && reach > 0.1, "{still} {reach}");
}

#[test]
fn markers_are_distinct_vertices_and_mirror_each_other() {
    let pairs = markers();
    assert!((30..=45).contains(&pairs.len()), "{} markers", pairs.len());
    for (k, built) in [&*HOUND, &*TAPIR].into_iter().enumerate() {
        let mut used: Vec<u32> = pairs.iter().map(|pair| pair[k]).collect();
        assert!(
            used.iter()
                .all(|&v| (v as usize) < built.mesh.vertex_count())
        );

        let places: Vec<DVec3> = used
            .iter()
            .map(|&v| built.mesh.positions()[v as usize])
            .collect();
        let edge = built.mesh.mean_edge_length();

        for p in &places {
            let mirrored = DVec3::new(-p.x, p.y, p.z);
            assert!(
                places.iter().any(|q| q.distance(mirrored) < 2.0 * edge),
                "{p} has no partner"
            );
        }

        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), pairs.len());
    }
}
