//! Tests of the skinning decomposition: known bones are recovered, and no bone is lost.
//!
//! Some of these need the folder that the environment variable `PLIANT_DATA` names. Without it they
//! are skipped with a message; with it, a missing file is a failure.

use std::path::PathBuf;

use pliant_io::{LoadOptions, load};
use pliant_learn::{BoneKind, Influence, LearnError, Skin, SkinOptions, SkinningDecomposition};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_rig::Clip;

/// Rounding of a double, with room for the sums over a clip.
const EXACT: f64 = 1e-9;

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("PLIANT_DATA").map(PathBuf::from);
    if folder.is_none() {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set");
        }
    }
    folder
}

fn diagonal(clip: &Clip) -> f64 {
    clip.reference().bounds().unwrap().diagonal()
}

/// A closed strip of quads around the x axis, `length` long.
fn tube(rings: u32, around: u32, length: f64) -> Mesh {
    let point = |ring: u32, k: u32| {
        let (sin, cos) = (f64::from(k) / f64::from(around) * std::f64::consts::TAU).sin_cos();
        DVec3::new(
            length * f64::from(ring) / f64::from(rings - 1),
            0.5 * cos,
            0.4 * sin,
        )
    };

    let positions = (0..rings)
        .flat_map(|ring| (0..around).map(move |k| point(ring, k)))
        .collect();
    let at = |ring: u32, k: u32| ring * around + k % around;
    let quads = (0..rings - 1).flat_map(|ring| {
        (0..around).map(move |k| {
            vec![
                at(ring, k),
                at(ring, k + 1),
                at(ring + 1, k + 1),
                at(ring + 1, k),
            ]
        })
    });

    Mesh::from_polygons(positions, &quads.collect::<Vec<_>>()).unwrap()
}

/// Weights of three bones along a tube of length 6, which blend around 2 and 4.
fn three_bones(mesh: &Mesh) -> Skin {
    let weights = |p: &DVec3| {
        let first = (2.5 - p.x).clamp(0.0, 1.0);
        let second = (4.5 - p.x).clamp(0.0, 1.0);
        [first, second - first, 1.0 - second]
            .into_iter()
            .enumerate()
            .map(|(k, weight)| Influence {
                bone: k as u32,
                weight,
            })
            .collect()
    };
    Skin::new(3, mesh.positions().iter().map(weights)).unwrap()
}

/// Eight poses in which three bones rotation about 2 and 4, and the whole moves.
fn bent(mesh: &Mesh, skin: &Skin) -> Clip {
    let about = |x: f64, rotation: DQuat| {
        DAffine3::from_translation(DVec3::X * x)
            * DAffine3::from_quat(rotation)
            * DAffine3::from_translation(-DVec3::X * x)
    };

    let pose = |k: u32| {
        let angle = |step: f64| 0.9 * (f64::from(k) * step + step).sin();
        let root = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(angle(2.3)),
            DVec3::new(0.1, 0.2, 0.3) * f64::from(k),
        );

        let second = root
            * about(
                2.0,
                DQuat::from_rotation_z(angle(1.1)) * DQuat::from_rotation_x(angle(0.7)),
            );

        let third = second
            * about(
                4.0,
                DQuat::from_rotation_y(angle(1.7)) * DQuat::from_rotation_z(angle(0.4)),
            );

        skin.blend(mesh.positions(), &[root, second, third])
    };

    Clip::new("bent", mesh.clone(), (0..8).map(pose).collect()).unwrap()
}

fn walk() -> Clip {
    pliant_specimens::specimen("hound")
        .unwrap()
        .clips
        .swap_remove(0)
}

fn assert_is_a_skin(decomposition: &SkinningDecomposition, bones: usize, influences: usize) {
    assert_eq!(decomposition.bone_count(), bones);
    let mut strongest = vec![false; bones];
    for vertex in 0..decomposition.skin.vertex_count() {
        let own = decomposition.skin.influences(vertex);
        assert!((1..=influences).contains(&own.len()) && own.iter().all(|i| i.weight > 0.0));
        assert!((own.iter().map(|i| i.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        strongest[own[0].bone as usize] = true;
    }

    let used = strongest.iter().filter(|used| **used).count();
    assert!(
        used * 10 >= bones * 9,
        "only {used} of {bones} bones lead a vertex"
    );
}

#[test]
fn known_bones_and_weights_are_recovered() {
    let mesh = tube(61, 16, 6.0);
    let skin = three_bones(&mesh);
    let clip = bent(&mesh, &skin);
    let decomposition = SkinningDecomposition::of(
        &clip,
        &SkinOptions::default().with_bones(3).with_rounds(400),
    )
    .unwrap();

    assert!(
        decomposition.rms < 1e-6 * diagonal(&clip),
        "{}",
        decomposition.rms / diagonal(&clip)
    );

    // Bones come in any order: each is known by a vertex that follows it alone.
    let names = [0, 30, 60].map(|ring| decomposition.skin.influences(ring * 16)[0].bone);
    for vertex in 0..skin.vertex_count() {
        for known in skin.influences(vertex) {
            let found = decomposition
                .skin
                .influences(vertex)
                .iter()
                .find(|i| i.bone == names[known.bone as usize])
                .map_or(0.0, |i| i.weight);
            assert!(
                (found - known.weight).abs() < 1e-4,
                "vertex {vertex}: {found} for {}",
                known.weight
            );
        }
    }
}

#[test]
fn components_that_move_apart_get_their_own_bones() {
    let one = pliant_mesh::shapes::icosphere(2);
    let count = one.vertex_count() as u32;
    let positions = [DVec3::ZERO, DVec3::X * 5.0]
        .into_iter()
        .flat_map(|at| one.positions().iter().map(move |p| *p + at))
        .collect();

    let triangles: Vec<[u32; 3]> = [0, count]
        .into_iter()
        .flat_map(|from| one.triangles().iter().map(move |t| t.map(|v| v + from)))
        .collect();
    let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
    let moved = |k: u32| {
        let rotations = [
            DQuat::from_rotation_z(0.5 * f64::from(k)),
            DQuat::from_rotation_x(-0.4 * f64::from(k)),
        ];
        mesh.positions()
            .iter()
            .enumerate()
            .map(|(v, p)| rotations[usize::from(v as u32 >= count)] * *p)
            .collect()
    };

    let clip = Clip::new("apart", mesh.clone(), (0..4).map(moved).collect()).unwrap();
    let decomposition =
        SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(2)).unwrap();
    assert!(
        decomposition.rms < EXACT * diagonal(&clip),
        "{}",
        decomposition.rms
    );

    let bones: Vec<u32> = (0..2 * count as usize)
        .map(|v| decomposition.skin.influences(v)[0].bone)
        .collect();

    assert!(
        bones[..count as usize].iter().all(|b| *b == bones[0])
            && bones[count as usize..].iter().all(|b| *b != bones[0])
    );
}

#[test]
fn a_rigid_motion_of_every_frame_changes_nothing() {
    let clip = walk();
    let moved = |k: usize| {
        let motion = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(0.3 * k as f64),
            DVec3::splat(2.0 * k as f64),
        );
        clip.frames()[k]
            .iter()
            .map(|p| motion.transform_point3(*p))
            .collect()
    };

    let other = Clip::new(
        "moved",
        clip.reference().clone(),
        (0..clip.frames().len()).map(moved).collect(),
    )
    .unwrap();

    let options = SkinOptions::default().with_bones(12).with_rounds(10);
    let [a, b] = [&clip, &other].map(|clip| SkinningDecomposition::of(clip, &options).unwrap());
    assert!(
        (a.rms - b.rms).abs() < 1e-6 * a.rms,
        "{} and {}",
        a.rms,
        b.rms
    );
}

#[test]
fn weights_are_convex_and_sparse_for_all_options() {
    let clip = walk();
    for (bones, influences) in [(1, 4), (2, 1), (7, 2), (40, 4)] {
        let options = SkinOptions::default()
            .with_bones(bones)
            .with_influences(influences)
            .with_rounds(5);
        assert_is_a_skin(
            &SkinningDecomposition::of(&clip, &options).unwrap(),
            bones,
            influences,
        );
    }

    let smooth = SkinOptions::default()
        .with_bones(7)
        .with_rounds(5)
        .with_smoothness(1e-4);

    assert_is_a_skin(&SkinningDecomposition::of(&clip, &smooth).unwrap(), 7, 4);
}

#[test]
fn smoothness_reduces_weight_differences_between_neighbours() {
    let clip = walk();
    let roughness = |smoothness: f64| {
        let options = SkinOptions::default()
            .with_bones(10)
            .with_rounds(10)
            .with_smoothness(smoothness);
        let decomposition = SkinningDecomposition::of(&clip, &options).unwrap();
        let weight = |v: u32, bone: u32| {
            decomposition
                .skin
                .influences(v as usize)
                .iter()
                .find(|i| i.bone == bone)
                .map_or(0.0, |i| i.weight)
        };

        let apart = |[a, b]: &[u32; 2]| {
            (0..10)
                .map(|bone| (weight(*a, bone) - weight(*b, bone)).powi(2))
                .sum::<f64>()
        };

        clip.reference()
            .topology()
            .edges()
            .iter()
            .map(apart)
            .sum::<f64>()
    };

    let rough = roughness(0.0);
    let smooth = roughness(1e-3);
    assert!(smooth < 0.95 * rough, "{smooth} and {rough}");
}

#[test]
fn affine_bones_have_a_smaller_error_than_rigid_ones() {
    let clip = walk();
    let rms = |kind| {
        SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(6).with_kind(kind))
            .unwrap()
            .rms
    };
    assert!(rms(BoneKind::Affine) < rms(BoneKind::Rigid));
}

#[test]
fn a_rigidly_moving_clip_gets_all_bones_and_a_warning() {
    let mesh = tube(11, 8, 3.0);
    let turned = |k: u32| {
        mesh.positions()
            .iter()
            .map(|p| DQuat::from_rotation_z(f64::from(k)) * *p)
            .collect()
    };

    for frames in [
        vec![mesh.positions().to_vec(); 3],
        (0..3).map(turned).collect(),
    ] {
        let clip = Clip::new("rigid", mesh.clone(), frames).unwrap();
        let decomposition =
            SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(5)).unwrap();
        assert_eq!(decomposition.bone_count(), 5);
        assert!(decomposition.rms < EXACT * diagonal(&clip));
        assert!(
            decomposition.warnings[0].starts_with("4 of 5 bones"),
            "{:?}",
            decomposition.warnings
        );
    }
}

#[test]
fn invalid_clips_and_counts_are_rejected_with_a_reason() {
    let mesh = tube(11, 8, 3.0);
    let clip = |frames: Vec<Vec<DVec3>>| Clip::new("bad", mesh.clone(), frames).unwrap();
    let rest = mesh.positions().to_vec();
    let declined = |clip: &Clip, bones: usize| {
        SkinningDecomposition::of(clip, &SkinOptions::default().with_bones(bones)).unwrap_err()
    };

    let good = clip(vec![rest.clone(); 2]);
    assert_eq!(
        declined(&clip(vec![rest.clone()]), 2),
        LearnError::TooFewExamples {
            found: 1,
            needed: 2
        }
    );

    assert!(declined(&good, 0).to_string().contains("at least 1"));
    assert_eq!(
        declined(&good, 30),
        LearnError::TooManyBones {
            bones: 30,
            vertices: 88,
            most: 29
        }
    );

    let mut broken = rest.clone();
    broken[5].y = f64::NAN;
    assert_eq!(
        declined(&clip(vec![rest.clone(), broken]), 2),
        LearnError::FrameNotFinite {
            frame: 1,
            vertex: 5
        }
    );

    let cloud = Mesh::from_triangles(rest.clone(), &[]).unwrap();
    assert!(matches!(
        declined(
            &Clip::new("cloud", cloud, vec![rest.clone(); 2]).unwrap(),
            2
        ),
        LearnError::Mesh(_)
    ));

    let point = Mesh::from_triangles(vec![DVec3::ONE; 9], &[[0, 1, 2]]).unwrap();
    assert_eq!(
        declined(
            &Clip::new("point", point, vec![vec![DVec3::ONE; 9]; 2]).unwrap(),
            1
        ),
        LearnError::NoExtent
    );
}

#[test]
fn the_horse_keeps_all_its_bones() {
    let Some(folder) = data() else { return };
    let stem = folder.join("horse-camel/horse-poses").display().to_string();
    let clip = load(
        &format!("{stem}.reference.obj+horse-poses.frames.npy"),
        &LoadOptions::default(),
    )
    .unwrap()
    .clip()
    .unwrap();

    let decomposition = SkinningDecomposition::of(&clip, &SkinOptions::default()).unwrap();
    assert_is_a_skin(&decomposition, 20, 4);
    assert!(
        decomposition.rms < 0.0034 * diagonal(&clip),
        "{}",
        decomposition.rms / diagonal(&clip)
    );
}

#[test]
fn the_known_figure_is_recovered_to_a_thousandth() {
    let Some(folder) = data() else { return };
    let mesh = |name: &str| {
        let path = folder
            .join("cheburashka")
            .join(format!("{name}.obj"))
            .display()
            .to_string();
        load(&path, &LoadOptions::default())
            .unwrap()
            .mesh()
            .unwrap()
    };

    let frames = (1..=11)
        .map(|k| mesh(&format!("cheburashka-{k:02}")).positions().to_vec())
        .collect();
    let clip = Clip::new("cheburashka", mesh("cheburashka"), frames).unwrap();
    let decomposition =
        SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(11)).unwrap();

    assert_is_a_skin(&decomposition, 11, 4);
    assert!(
        decomposition.rms < 0.0015 * diagonal(&clip),
        "{}",
        decomposition.rms / diagonal(&clip)
    );
}
