//! Round trips of real files.
//!
//! These tests need the folder in the environment variable `PLIANT_DATA`. Without it, they are
//! skipped and say so; with it, a missing file is a failure.

use std::path::PathBuf;

use pliant_io::{Asset, LoadOptions, load, save};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

fn data(name: &str) -> Option<PathBuf> {
    match std::env::var_os("PLIANT_DATA") {
        Some(folder) => {
            let path = PathBuf::from(folder).join(name);
            assert!(
                path.exists(),
                "PLIANT_DATA is set, but {} is missing",
                path.display()
            );
            Some(path)
        }
        None => {
            #[allow(clippy::print_stderr, reason = "a skipped test says why")]
            {
                eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
            }
            None
        }
    }
}

fn read(locator: &str) -> Asset {
    load(locator, &LoadOptions::default()).unwrap()
}

fn assert_same(before: &Mesh, after: &Mesh) {
    let (mut a, mut b) = (before.to_builder(), after.to_builder());
    a.name.clear();
    b.name.clear();

    assert!(a.positions == b.positions, "positions");
    assert!(
        a.face_sizes == b.face_sizes && a.corners == b.corners,
        "faces"
    );
    assert!(a.uv_layers == b.uv_layers, "texture coordinates");
    assert!(a.normals == b.normals, "normals");
    assert!(a.groups == b.groups && a.materials == b.materials, "labels");
    assert_eq!(a.material_library, b.material_library);
}

const OBJS: [(&str, [usize; 3]); 12] = [
    (
        "ict-facekit/generic_neutral_mesh.obj",
        [26719, 26384, 52220],
    ),
    ("makehuman-face/base.obj", [19158, 18486, 36972]),
    ("face-poses/face-poses.reference.obj", [29299, 57836, 57836]),
    (
        "horse-camel/horse-poses.reference.obj",
        [8431, 16843, 16843],
    ),
    (
        "horse-camel/camel-poses.reference.obj",
        [21887, 43814, 43814],
    ),
    ("samba/samba-every7th.reference.obj", [9971, 19938, 19938]),
    (
        "elastic-cow/elastic-cow-every4th.reference.obj",
        [2904, 5804, 5804],
    ),
    ("cheburashka/cheburashka.obj", [6669, 13334, 13334]),
    ("libigl-arm/arm.obj", [8311, 16618, 16618]),
    ("static/decimated-max.obj", [5272, 10540, 10540]),
    ("candide3/candide3.obj", [113, 184, 184]),
    ("hands/derived-hand-poses.reference.obj", [1159, 2314, 2314]),
];

#[test]
fn real_objs_have_their_counts_and_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for (name, counts) in OBJS {
        let Some(path) = data(name) else { return };
        let asset = read(path.to_str().unwrap());
        let mesh = asset.mesh().unwrap();

        assert_eq!(
            [
                mesh.vertex_count(),
                mesh.face_count(),
                mesh.triangles().len()
            ],
            counts,
            "{name}"
        );

        assert_eq!(
            asset.objects.len(),
            1,
            "{name}: groups and materials make no object"
        );

        let copy = folder.path().join("copy.obj");
        let saved = save(&asset, &copy).unwrap();
        assert!(saved.left_out.is_empty(), "{name}: {:?}", saved.left_out);

        let again = read(copy.to_str().unwrap());
        assert_same(&mesh, &again.mesh().unwrap());
        assert_eq!(
            asset.objects[0].smoothing, again.objects[0].smoothing,
            "{name}"
        );
    }
}

#[test]
fn real_offs_have_their_counts() {
    for (name, vertices, faces) in [
        ("static/bunny.off", 3485, 6966),
        ("static/camelhead.off", 11381, 22704),
        ("camel-decimated/camel-gallop-01.off", 4999, 10000),
        ("camel-decimated/camel-gallop-05.off", 5001, 10000),
    ] {
        let Some(path) = data(name) else { return };
        let asset = read(path.to_str().unwrap());
        let mesh = asset.mesh().unwrap();

        assert_eq!(
            (mesh.vertex_count(), mesh.face_count()),
            (vertices, faces),
            "{name}"
        );

        assert!(
            mesh.positions().iter().all(|p| p.is_finite()) && asset.warnings.is_empty(),
            "{name}"
        );
    }
}

const CLIPS: [(&str, usize); 8] = [
    ("face-poses/face-poses", 9),
    ("horse-camel/horse-poses", 10),
    ("horse-camel/camel-poses", 10),
    ("horse-sequences/horse-gallop-every2nd", 24),
    ("horse-sequences/horse-collapse-every2nd", 27),
    ("samba/samba-every7th", 25),
    ("elastic-cow/elastic-cow-every4th", 51),
    ("hands/derived-hand-poses", 12),
];

#[test]
fn real_clips_survive_a_round_trip_exactly() {
    let folder = tempfile::tempdir().unwrap();
    for (name, frames) in CLIPS {
        let Some(path) = data(&format!("{name}.reference.obj")) else {
            return;
        };

        let stem = name.rsplit('/').next().unwrap();
        let asset = read(&format!("{}+{stem}.frames.npy", path.display()));
        let clip = asset.clip().unwrap();

        assert_eq!(
            (clip.frames().len(), clip.frame_names().len(), clip.name()),
            (frames, frames, stem),
            "{name}"
        );

        let out = format!(
            "{0}/{stem}.reference.obj+{stem}.frames.npy",
            folder.path().display()
        );

        assert!(save(&asset, &out).unwrap().left_out.is_empty());
        let again = read(&out).clip().unwrap();
        assert!(again.frames() == clip.frames(), "{name}: {frames} frames");
        assert_eq!(again.frame_names(), clip.frame_names());

        let last = read(&format!("{out}@{}", frames - 1));
        assert!(
            last.mesh().unwrap().positions() == clip.frames()[frames - 1],
            "{name}"
        );
    }
}

#[test]
fn the_deltas_of_the_head_give_its_source_meshes() {
    let Some(path) = data("ict-facekit/generic_neutral_mesh.obj") else {
        return;
    };

    let asset = read(&format!("{}+expressions.delta.npy", path.display()));
    let rig = asset.rig().unwrap();
    assert_eq!(rig.targets().len(), 57);

    let jaw = rig
        .targets()
        .iter()
        .position(|t| t.name == "jawOpen")
        .unwrap();
    let mut weights = vec![0.0; 57];

    weights[jaw] = 1.0;
    let posed = rig.evaluate(&weights);
    let source = read(
        data("ict-facekit/raw-targets/jawOpen.obj")
            .unwrap()
            .to_str()
            .unwrap(),
    )
    .mesh()
    .unwrap();

    let worst = posed
        .iter()
        .zip(source.positions())
        .map(|(a, b)| (*a - *b).abs().max_element())
        .fold(0.0, f64::max);

    // Six decimals in the text and a float32 of at most 4 cm in the array.
    assert!(worst < 1e-6, "{worst}");

    let folder = tempfile::tempdir().unwrap();
    let out = format!("{}/head.obj+head.delta.npy", folder.path().display());
    assert!(save(&asset, &out).unwrap().left_out.is_empty());
    assert!(read(&out).rig().unwrap().targets() == rig.targets());
}

#[test]
fn makehuman_targets_move_the_base_mesh() {
    let Some(base) = data("makehuman-face/base.obj") else {
        return;
    };
    let asset = read(&format!("{}+expression-units-caucasian", base.display()));
    let rig = asset.rig().unwrap();
    assert_eq!(rig.targets().len(), 34);
    let moved: Vec<usize> = rig.targets().iter().map(|t| t.vertices.len()).collect();
    assert!(moved.iter().all(|&n| (1..=1344).contains(&n)), "{moved:?}");
    assert!(rig.targets().iter().any(|t| t.name == "eye-left-closure"));
}

#[test]
fn an_array_has_the_numbers_of_the_obj() {
    let Some(path) = data("candide3/candide3.obj") else {
        return;
    };

    let asset = read(path.to_str().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("v.npy");

    assert!(save(&asset, &out).unwrap().left_out.is_empty());
    let array = pliant_io::npy::read(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!(array.shape, [113, 3]);

    let points: Vec<DVec3> = array
        .values
        .chunks_exact(3)
        .map(DVec3::from_slice)
        .collect();

    assert_eq!(points, asset.mesh().unwrap().positions());
}
