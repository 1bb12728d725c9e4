//! Pairs of meshes with known correspondence.
//!
//! **Construction.** One model gives both meshes of most pairs. The source is the model in one
//! pose. The target is the model in another pose, deformed by a smooth field as another individual
//! would be, and decimated to vertices of the model. So the place of every source vertex on the
//! target is known. Other pairs are different animals: the horse and the camel have published poses,
//! the hound and the tapir landmarks.
//!
//! **Split.** [`Half`] was assigned by model before any result was computed. Settings may be chosen
//! on [`Half::Tuning`] only.

use std::path::{Path, PathBuf};

use pliant_io::{LoadOptions, load};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh, VertexPlacement};
use pliant_rig::Clip;
use pliant_specimens::specimen;
use pliant_transfer::Markers;

/// Which settings may be chosen on a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// Settings are chosen here.
    Tuning,
    /// Only reported.
    Test,
}

/// Two meshes and what is known about their correspondence.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) half: Half,
    pub(crate) source: Mesh,
    pub(crate) target: Mesh,
    /// Places of source vertices on the target; empty if only poses are known.
    pub(crate) goals: Vec<(u32, DVec3)>,
    /// Known pairs of vertices, from which markers are sampled.
    pub(crate) markers: Markers,
    /// Poses of the source and the same poses of the target.
    pub(crate) poses: Option<(Clip, Clip)>,
}

/// How the target differs from the source.
#[derive(Clone, Copy)]
struct Change {
    /// Seed of the field that makes another individual.
    seed: u64,
    /// Largest displacement of each bump of the field over its radius.
    individual: f64,
    /// Angle of the bend along the longest side, in radians.
    bend_rad: f64,
    /// Share of the triangles that stays.
    kept: f64,
}

/// All pairs that the specimens and, if there is one, the data folder give.
pub(crate) fn pairs(data: Option<&Path>) -> Vec<Pair> {
    let mut pairs = specimen_pairs();
    if let Some(data) = data {
        pairs.extend(published_pairs(data));
        pairs.extend(data_pairs(data));
    }
    pairs
}

fn specimen_pairs() -> Vec<Pair> {
    let clip = |name: &str| specimen(name).expect("a specimen").clips.swap_remove(0);
    let (hound, tapir, hand) = (clip("hound"), clip("tapir"), clip("hand"));
    let change = |seed, individual, bend_rad, kept| Change {
        seed,
        individual,
        bend_rad,
        kept,
    };

    let landmarks = pliant_specimens::markers();
    let forward: Vec<(u32, u32)> = landmarks.iter().map(|&[h, t]| (h, t)).collect();
    let backward: Vec<(u32, u32)> = landmarks.iter().map(|&[h, t]| (t, h)).collect();
    let other_animal = |name, source: &Clip, target: &Clip, pairs: Vec<(u32, u32)>| {
        let target = target.reference().clone();
        let goals = pairs
            .iter()
            .map(|&(a, b)| (a, target.positions()[b as usize]))
            .collect();
        Pair {
            name,
            half: Half::Test,
            source: source.reference().clone(),
            target,
            goals,
            markers: Markers::new(pairs),
            poses: None,
        }
    };

    vec![
        individual(
            "tapir",
            Half::Tuning,
            &tapir,
            [None, Some(12)],
            change(3, 0.35, 0.2, 0.5),
        ),
        individual(
            "hand",
            Half::Tuning,
            &hand,
            [None, Some(2)],
            change(4, 0.25, 0.0, 0.4),
        ),
        individual(
            "hound",
            Half::Test,
            &hound,
            [None, Some(8)],
            change(5, 0.35, 0.2, 0.5),
        ),
        other_animal("hound-tapir", &hound, &tapir, forward),
        other_animal("tapir-hound", &tapir, &hound, backward),
    ]
}

/// The horse and the camel, both ways.
fn published_pairs(data: &Path) -> Vec<Pair> {
    let horse = posed_clip(data, "horse-camel/horse-poses");
    let camel = posed_clip(data, "horse-camel/camel-poses");
    let text = std::fs::read_to_string(data.join("horse-camel/horse_camel.cons")).expect("markers");
    let markers = Markers::parse(&text).expect("markers");
    let reversed = markers.pairs().iter().map(|&(a, b)| (b, a)).collect();

    let pair = |name, half, source: &Clip, target: &Clip, markers| Pair {
        name,
        half,
        source: source.reference().clone(),
        target: target.reference().clone(),
        goals: Vec::new(),
        markers,
        poses: Some((source.clone(), target.clone())),
    };
    vec![
        pair("horse-camel", Half::Tuning, &horse, &camel, markers),
        pair(
            "camel-horse",
            Half::Test,
            &camel,
            &horse,
            Markers::new(reversed),
        ),
    ]
}

fn data_pairs(data: &Path) -> Vec<Pair> {
    let change = |seed, individual, bend_rad, kept| Change {
        seed,
        individual,
        bend_rad,
        kept,
    };
    let gallop = posed_clip(data, "horse-sequences/horse-gallop-every2nd");
    let samba = posed_clip(data, "samba/samba-every7th");
    let faces = posed_clip(data, "face-poses/face-poses");
    let cow = posed_clip(data, "elastic-cow/elastic-cow-every4th");
    let right = posed_clip(data, "hands/derived-hand-poses");
    let doll = series(
        data,
        "cheburashka/cheburashka.obj",
        &["cheburashka/cheburashka-05.obj"],
    );
    let arm = series(data, "libigl-arm/arm.obj", &[]);
    let cap = series(data, "facecap-head/facecap-plain.glb#head", &[]);
    let ict = ict_faces(data);

    vec![
        individual(
            "horse",
            Half::Tuning,
            &gallop,
            [None, Some(4)],
            change(1, 0.35, 0.0, 0.5),
        ),
        individual(
            "samba",
            Half::Tuning,
            &samba,
            [None, Some(2)],
            change(2, 0.3, 0.1, 0.5),
        ),
        individual(
            "scanned face",
            Half::Tuning,
            &faces,
            [None, Some(8)],
            change(6, 0.2, 0.0, 0.2),
        ),
        individual(
            "ict 1-3",
            Half::Tuning,
            &ict,
            [Some(1), Some(3)],
            change(7, 0.1, 0.0, 0.6),
        ),
        individual(
            "cow",
            Half::Test,
            &cow,
            [None, Some(20)],
            change(8, 0.35, 0.1, 0.6),
        ),
        individual(
            "cheburashka",
            Half::Test,
            &doll,
            [None, Some(0)],
            change(9, 0.3, 0.0, 0.5),
        ),
        individual(
            "arm",
            Half::Test,
            &arm,
            [None, None],
            change(10, 0.3, 0.5, 0.5),
        ),
        individual(
            "facecap",
            Half::Test,
            &cap,
            [None, None],
            change(11, 0.3, 0.0, 0.6),
        ),
        individual(
            "ict 5-8",
            Half::Test,
            &ict,
            [Some(5), Some(8)],
            change(12, 0.1, 0.0, 0.6),
        ),
        individual(
            "right hand",
            Half::Test,
            &right,
            [None, Some(3)],
            change(13, 0.3, 0.0, 0.7),
        ),
    ]
}

/// A pair of one model: the frames of source and target, the reference where there is none.
fn individual(
    name: &'static str,
    half: Half,
    model: &Clip,
    frames: [Option<usize>; 2],
    change: Change,
) -> Pair {
    let pose = |frame: Option<usize>| match frame {
        Some(frame) => model.frames()[frame].clone(),
        None => model.reference().positions().to_vec(),
    };
    let triangles = model.reference().triangles();
    let plain = |positions| Mesh::from_triangles(positions, triangles).expect("a mesh");

    let source = plain(pose(frames[0]));
    let changed = plain(bent(&deformed(pose(frames[1]), change), change.bend_rad));
    let budget = (triangles.len() as f64 * change.kept) as usize;
    let options = DecimationOptions::default().with_placement(VertexPlacement::Subset);
    let target = changed
        .decimated(DecimationBudget::Triangles(budget), &options)
        .expect("a decimated model");

    let used = used_vertices(&source);
    Pair {
        name,
        half,
        goals: changed
            .positions()
            .iter()
            .zip(0..)
            .filter(|&(_, v)| used[v as usize])
            .map(|(&p, v)| (v, p))
            .collect(),
        markers: Markers::new(target.sources().iter().copied().zip(0..).collect()),
        target: target.mesh().clone(),
        source,
        poses: None,
    }
}

fn used_vertices(mesh: &Mesh) -> Vec<bool> {
    let mut used = vec![false; mesh.vertex_count()];
    for &vertex in mesh.triangles().iter().flatten() {
        used[vertex as usize] = true;
    }
    used
}

/// `p + Σ aₖ exp(−|p − cₖ|² / 2σₖ²)` with twelve random bumps.
fn deformed(mut points: Vec<DVec3>, change: Change) -> Vec<DVec3> {
    let (low, high) = bounds(&points);
    let diagonal = low.distance(high);
    let mut random = Random(change.seed);

    let count = points.len();
    let bumps: Vec<(DVec3, f64, DVec3)> = (0..12)
        .map(|_| {
            let center = points[(random.unit() * count as f64) as usize % count];
            let radius = diagonal * (0.08 + 0.14 * random.unit());
            let direction = DVec3::new(random.signed(), random.signed(), random.signed());
            (
                center,
                radius,
                direction.normalize_or_zero() * change.individual * radius,
            )
        })
        .collect();
    for p in &mut points {
        let bump = |&(center, radius, shift): &(DVec3, f64, DVec3)| {
            shift * (-0.5 * p.distance_squared(center) / (radius * radius)).exp()
        };
        *p += bumps.iter().map(bump).sum::<DVec3>();
    }
    points
}

/// Bends along the longest side of the box about the shortest one: each slice rotates by its share
/// of `angle_rad`.
fn bent(points: &[DVec3], angle_rad: f64) -> Vec<DVec3> {
    if angle_rad == 0.0 {
        return points.to_vec();
    }

    let (low, high) = bounds(points);
    let sides = high - low;
    let (along, about) = (sides.max_position(), sides.min_position());
    let axis = DMat3::IDENTITY.col(about);
    let length = sides[along];
    let center = 0.5 * (low + high);
    // An arc of this radius has the length of the box.
    let radius = length / angle_rad;
    let across = 3 - along - about;
    let sign = if (along + 1) % 3 == across { 1.0 } else { -1.0 };
    points
        .iter()
        .map(|&p| {
            let q = p - center;
            let mut from_axis = DVec3::ZERO;
            from_axis[across] = q[across] + radius;
            from_axis[about] = q[about];
            let turn = DQuat::from_axis_angle(axis, -sign * q[along] / radius);
            let mut moved = turn * from_axis;
            moved[across] -= radius;
            center + moved
        })
        .collect()
}

fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    points
        .iter()
        .fold((points[0], points[0]), |(low, high), &p| {
            (low.min(p), high.max(p))
        })
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}

fn mesh(path: &Path) -> Mesh {
    load(&path.display().to_string(), &LoadOptions::default())
        .and_then(|asset| asset.mesh())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `NAME.reference.obj` with `NAME.frames.npy`.
fn posed_clip(data: &Path, name: &str) -> Clip {
    let path = |end: &str| data.join(format!("{name}.{end}")).display().to_string();
    let locator = format!("{}+{}", path("reference.obj"), path("frames.npy"));
    load(&locator, &LoadOptions::default())
        .and_then(|asset| asset.clip())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A mesh and poses of it from files of their own.
fn series(data: &Path, rest: &str, poses: &[&str]) -> Clip {
    let read = |name: &&str| mesh(&data.join(name)).positions().to_vec();
    let frames = poses.iter().map(read).collect();
    Clip::new("poses", mesh(&data.join(rest)), frames).expect("poses of one mesh")
}

/// The narrow faces of the ten identities as frames.
pub(crate) fn ict_faces(data: &Path) -> Clip {
    const NARROW_FACE: usize = 6706;
    let path = |name: &str| -> PathBuf { data.join("ict-facekit").join(name) };
    let locator = format!(
        "{}+{}",
        path("generic_neutral_mesh.obj").display(),
        path("identity000-009.delta.npy").display()
    );
    let rig = load(&locator, &LoadOptions::default())
        .and_then(|asset| asset.rig())
        .expect("the identities");

    let neutral = rig.neutral();
    let triangles: Vec<[u32; 3]> = neutral
        .triangles()
        .iter()
        .copied()
        .filter(|t| t.iter().all(|&v| (v as usize) < NARROW_FACE))
        .collect();
    let face = neutral.positions()[..NARROW_FACE].to_vec();
    let frames = rig
        .targets()
        .iter()
        .map(|target| {
            let mut points = neutral.positions().to_vec();
            target.add_to(1.0, &mut points);
            points.truncate(NARROW_FACE);
            points
        })
        .collect();
    let face = Mesh::from_triangles(face, &triangles).expect("a face");
    Clip::new("identities", face, frames).expect("faces of one mesh")
}
