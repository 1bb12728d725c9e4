//! Pictures of far drags with the default solver, for judgement by eye: no timings.
//!
//! `DRAG_SHEETS=FOLDER cargo test -p pliant-specimens --bench drag_sheets`, with `PLIANT_DATA` set to
//! the data folder also for the rigs there, draws 50 drags of each rig and prints their weights.
//! `DRAG_SEED` selects other drags, `DRAG_RIG` one rig. Without `DRAG_SHEETS`, one drag of the
//! built-in head is drawn and nothing is written.
//!
//! The first six drags of a rig are those of a newcomer: a mouth corner up by a hand's breadth, the
//! other one in a view from the front, a lid half-way down, a brow down on one side, the chin down, a
//! cheek pulled away. The others start at random vertices of the skin and go by 15 to 80 % of the
//! face's size in random directions, every other one in the plane of a view from the front.
//!
//! A caption shows the number of the drag, new intersections of the surface (`x`), the part of the
//! area that turned over (`f`, in thousandths) and the sliders.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod rigs;

use std::collections::BTreeSet;
use std::f64::consts::TAU;
use std::path::Path;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_area, triangle_normals, vertex_normals};
use pliant_rig::{Aim, Bounded, Pin, Poser, Range, Rig};
use pliant_view::{
    Camera, Color, ContactSheet, Framing, Image, Marker, Material, PreparedScene, Scene, Stroke,
    View,
};
use rigs::data_rigs;

/// Drags of each rig.
const DRAGS: usize = 50;
/// Pictures on a sheet.
const COLUMNS: usize = 3;
const ROWS: usize = 4;
/// Of one view; each drag is seen from two sides.
const SIZE: [usize; 2] = [260, 320];
/// A slider is named above this weight.
const MOVED: f64 = 0.02;

fn main() {
    let folder = std::env::var_os("DRAG_SHEETS");
    let only = std::env::var("DRAG_RIG").ok();
    let seed = std::env::var("DRAG_SEED").map_or(1, |text| text.parse().expect("a number"));
    let head = pliant_specimens::specimen("head").expect("it is built in");
    let Some(folder) = folder else {
        let sheet =
            Subject::new("head", &head.rig, 0).tile(&first_drags(&head.rig, usize::MAX)[0], 0);
        println!(
            "drew {:?}; DRAG_SHEETS names a folder for all",
            sheet.0.size()
        );
        return;
    };

    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let head = std::iter::once(("head", head.rig, 0));
    for (name, rig, skin) in head.chain(data_rigs()) {
        if name != "candide3" && only.as_deref().is_none_or(|only| only == name) {
            Subject::new(name, &rig, skin).draw(folder, seed);
        }
    }
}

/// One drag from the neutral.
struct Drag {
    vertex: usize,
    displacement: DVec3,
    aim: Aim,
}

struct Subject<'r> {
    name: &'static str,
    rig: &'r Rig,
    skin: usize,
    /// The skin in its rest pose; eyes, teeth and helpers would hide it or cross it.
    rest: Mesh,
    /// Points that the pictures frame.
    face: Vec<DVec3>,
    crossing_at_rest: BTreeSet<[u32; 2]>,
}

impl<'r> Subject<'r> {
    fn new(name: &'static str, rig: &'r Rig, skin: usize) -> Self {
        let skin = match skin {
            0 => rig.neutral().vertex_count(),
            some => some,
        };
        let reach = reaches(rig);
        let most = reach[..skin].iter().copied().fold(0.0, f32::max);
        let positions = rig.neutral().positions();
        let moved = (0..skin).filter(|&v| reach[v] > 0.2 * most);
        let faces = rig.neutral().faces();
        let faces = faces.filter(|face| face.iter().all(|&v| (v as usize) < skin));
        let faces: Vec<Vec<u32>> = faces.map(<[u32]>::to_vec).collect();
        let rest = Mesh::from_polygons(positions[..skin].to_vec(), &faces).expect("faces");

        Self {
            name,
            rig,
            skin,
            face: moved.map(|v| positions[v]).collect(),
            crossing_at_rest: crossings(&rest),
            rest,
        }
    }

    fn draw(&self, folder: &Path, seed: u64) {
        let mut drags = first_drags(self.rig, self.skin);
        drags.extend(self.random_drags(seed, DRAGS - drags.len()));

        for (page, some) in drags.chunks(COLUMNS * ROWS).enumerate() {
            let mut sheet = ContactSheet::new(format!("{} {}", self.name, page + 1), COLUMNS);
            for (k, drag) in some.iter().enumerate() {
                let (picture, caption) = self.tile(drag, page * COLUMNS * ROWS + k);
                println!("{} {caption}", self.name);
                sheet.push(picture, caption);
            }

            let png = sheet.compose().and_then(|sheet| sheet.to_png());
            let path = folder.join(format!("{}-{}.png", self.name, page + 1));
            std::fs::write(&path, png.expect("pictures")).expect("the folder can be written");
        }
    }

    /// Far drags of random vertices that look ahead.
    fn random_drags(&self, seed: u64, count: usize) -> Vec<Drag> {
        let reach = reaches(self.rig);
        let most = reach[..self.skin].iter().copied().fold(0.0, f32::max);
        let normals = vertex_normals(self.rig.neutral());
        let lively: Vec<usize> = (0..self.skin)
            .filter(|&v| reach[v] > 0.25 * most && normals[v].z > 0.2)
            .collect();

        let size = Poser::new(self.rig).expect("a rig").size();
        let mut state = seed;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        number();

        let drag = |k: usize| {
            let angle_rad = TAU * number();
            let depth = if k.is_multiple_of(2) {
                0.0
            } else {
                number() - 0.5
            };
            let direction = DVec3::new(angle_rad.cos(), angle_rad.sin(), depth).normalize();
            Drag {
                vertex: lively[(number() * lively.len() as f64) as usize],
                displacement: direction * size * (0.15 + 0.65 * number()),
                aim: if k.is_multiple_of(2) {
                    Aim::Across(DVec3::Z)
                } else {
                    Aim::Point
                },
            }
        };
        (0..count).map(drag).collect()
    }

    /// The picture of a drag from two sides, and its caption.
    fn tile(&self, drag: &Drag, number: usize) -> (Image, String) {
        let poser = Poser::new(self.rig).expect("a rig");
        let pin = Pin::hold(drag.vertex).with_aim(drag.aim.clone());
        let mut grab = poser
            .grab(&[], &[pin], &Bounded::default(), Range::Clip)
            .expect("a pin on the skin");
        let pose = grab.solve(&[drag.displacement]);

        let rest = &self.rest;
        let mut positions = self.rig.evaluate(&pose.weights);
        positions.truncate(self.skin);
        let mesh = rest.posed(positions).expect("the same vertices");
        let start = rest.positions()[drag.vertex];
        let scene = Scene::of(&mesh, Material::clay())
            .with_stroke(Stroke::new(vec![start, start + drag.displacement]))
            .with_marker(Marker {
                radius_px: 3.0,
                ..Marker::new(mesh.positions()[drag.vertex])
            });

        let prepared = PreparedScene::new(&scene).expect("a scene");
        let mut picture = Image::filled([2 * SIZE[0], SIZE[1]], Color::WHITE).expect("a picture");
        let views = [
            View::Front,
            View::Orbit {
                azimuth_rad: 0.7,
                elevation_rad: 0.1,
            },
        ];
        for (k, view) in views.into_iter().enumerate() {
            let camera = Camera::framing_points(&self.face, &Framing::new(view, SIZE));
            let half = prepared.render(&camera, SIZE).expect("a picture");
            picture.paste(&half, k * SIZE[0], 0);
        }

        let crossing = crossings(&mesh).difference(&self.crossing_at_rest).count();
        let folded = 1000.0 * folded(rest, &mesh);
        let caption = format!(
            "{number} x{crossing} f{folded:.0} {}",
            self.sliders(&pose.weights)
        );
        (picture, caption)
    }

    /// The sliders in use, the strongest first.
    fn sliders(&self, weights: &[f64]) -> String {
        let mut used: Vec<usize> = (0..weights.len())
            .filter(|&k| weights[k].abs() > MOVED)
            .collect();
        used.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
        let words = used.iter().map(|&k| {
            let name = &self.rig.targets()[k].name;
            let name = name.rsplit('.').next().unwrap_or(name);
            format!("{name} {:.2}", weights[k])
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Drags that a newcomer tries, at the vertices that named sliders move most.
fn first_drags(rig: &Rig, skin: usize) -> Vec<Drag> {
    let size = Poser::new(rig).expect("a rig").size();
    let corner = most_moved(rig, skin, &["smile"]).or(most_moved(rig, skin, &["corner"]));
    let other_corner = most_moved(rig, skin, &["smile", "r"]).or(corner);
    let lid = most_moved(rig, skin, &["blink"]).or(most_moved(rig, skin, &["eye", "closure"]));
    let brow =
        most_moved(rig, skin, &["brow", "down"]).or(most_moved(rig, skin, &["eyebrows", "down"]));
    let chin =
        most_moved(rig, skin, &["jaw", "open"]).or(most_moved(rig, skin, &["mouth", "open"]));
    let cheek = most_moved(rig, skin, &["puff"]).or(most_moved(rig, skin, &["cheek"]));

    let mut drags = Vec::new();
    let mut push = |found: Option<(usize, DVec3)>, displacement: DVec3, aim: Aim| {
        if let Some((vertex, _)) = found {
            drags.push(Drag {
                vertex,
                displacement,
                aim,
            });
        }
    };
    let front = || Aim::Across(DVec3::Z);
    push(corner, DVec3::Y * 0.5 * size, Aim::Point);
    push(other_corner, DVec3::new(0.15, 0.45, 0.0) * size, front());
    push(lid, lid.map_or(DVec3::ZERO, |(_, way)| 0.5 * way), front());
    push(brow, DVec3::NEG_Y * 0.2 * size, front());
    push(chin, DVec3::NEG_Y * 0.5 * size, front());
    push(cheek, DVec3::X * 0.5 * size, front());
    drags
}

/// The vertex that the first slider whose name has these parts moves most, and its displacement.
fn most_moved(rig: &Rig, skin: usize, parts: &[&str]) -> Option<(usize, DVec3)> {
    let named = |name: &str| {
        let name = name.to_lowercase();
        parts.iter().all(|part| match *part {
            "r" => name.ends_with("right") || name.ends_with("_r"),
            part => name.contains(part),
        })
    };
    let target = rig.targets().iter().find(|target| named(&target.name))?;
    let most = (0..target.vertices.len())
        .filter(|&k| (target.vertices[k] as usize) < skin)
        .max_by(|&a, &b| {
            target.deltas[a]
                .length()
                .total_cmp(&target.deltas[b].length())
        })?;
    Some((
        target.vertices[most] as usize,
        target.deltas[most].as_dvec3(),
    ))
}

/// How far any target moves each vertex.
fn reaches(rig: &Rig) -> Vec<f32> {
    let mut reach = vec![0.0_f32; rig.neutral().vertex_count()];
    for target in rig.targets() {
        for (&v, d) in target.vertices.iter().zip(&target.deltas) {
            reach[v as usize] = reach[v as usize].max(d.length());
        }
    }
    reach
}

fn crossings(mesh: &Mesh) -> BTreeSet<[u32; 2]> {
    let pairs = mesh.self_intersections().unwrap_or_default();
    pairs.into_iter().collect()
}

/// The part of the area whose normal is rotated by more than a right angle.
fn folded(rest: &Mesh, posed: &Mesh) -> f64 {
    let before = triangle_normals(rest);
    let after = triangle_normals(posed);
    let (mut folded, mut whole) = (0.0, 0.0);
    for (k, (a, b)) in before.iter().zip(&after).enumerate() {
        let area = triangle_area(rest.triangle_points(k));
        whole += area;
        folded += if a.dot(*b) < 0.0 { area } else { 0.0 };
    }
    folded / whole
}
