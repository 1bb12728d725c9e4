//! The gestures of the benchmark: what is dragged, and where.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{Key, Modifiers, Pos2, Vec2, vec2};
use pliant::io::npy;
use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::mesh::shapes::closed_box;
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::pose::HeatKind;
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::{Ease, Key as Keyed, Timeline};
use pliant_studio::model::transfer::{self, RegionSetup};
use pliant_studio::model::{blend, learn, touch};

use super::window::Window;

/// A document in a room, and what the user does there.
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) room: RoomName,
    pub(crate) document: Box<dyn Fn() -> Document>,
    pub(crate) prepare: fn(&mut Window),
    pub(crate) gestures: Vec<Gesture>,
}

/// A way of the pointer.
pub(crate) struct Gesture {
    pub(crate) name: &'static str,
    pub(crate) pressed: bool,
    pub(crate) way: BakePath,
}

type BakePath = Box<dyn Fn(&mut Window) -> Vec<Pos2>>;

/// Every scene that this machine has the meshes for.
pub(crate) fn all() -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (mesh, asset, target) in meshes() {
        scenes.extend([
            pose(mesh, &asset),
            heat(mesh, &asset),
            timeline(mesh, &asset),
            touch(mesh, &asset),
        ]);
        scenes.extend([
            blend(mesh, &asset, target),
            fix(mesh, &asset, target),
            stiffen(mesh, &asset, target),
            transfer(mesh, &asset),
        ]);
    }

    scenes.extend([drive_a_hand(), gallery()]);
    scenes
}

/// Name, locator and a slider of each character.
fn meshes() -> Vec<(&'static str, String, &'static str)> {
    let mut meshes = vec![("head", "specimen:head".to_owned(), "jawOpen")];
    if let Some(folder) = std::env::var_os("PLIANT_DATA") {
        let pair = PathBuf::from(folder)
            .join("ict-facekit/generic_neutral_mesh.obj+expressions.delta.npy");
        meshes.push(("ict", pair.to_string_lossy().into_owned(), "jawOpen"));
    }
    meshes.push(("200k", round_box(), "bulge"));
    meshes
}

fn scene(
    name: String,
    room: RoomName,
    document: impl Fn() -> Document + 'static,
    gestures: Vec<Gesture>,
) -> Scene {
    Scene {
        name,
        room,
        document: Box::new(document),
        prepare: |_| (),
        gestures,
    }
}

fn of(asset: &str) -> Document {
    Document {
        character: Character {
            asset: asset.to_owned(),
            ..Character::default()
        },
        ..Document::default()
    }
}

/// A small circle about a place of a viewport, given as a share of it.
fn circle(pane: usize, at: Vec2, radius: f32) -> BakePath {
    Box::new(move |window| {
        let middle = window.viewport(pane).lerp_inside(at);
        (0..=24)
            .map(|k| middle + radius * (Vec2::angled(k as f32 * 0.26) - vec2(1.0, 0.0)))
            .collect()
    })
}

/// From one end of the thing labelled so to the other.
fn across(label: &'static str) -> BakePath {
    Box::new(move |window| {
        let rect = window.place(label);
        (0..=24)
            .map(|k| rect.lerp_inside(vec2(0.1 + 0.03 * k as f32, 0.5)))
            .collect()
    })
}

/// From one end of the first slider to the other.
fn along_slider() -> BakePath {
    Box::new(|window| {
        let rect = window.slider();
        (0..=24)
            .map(|k| rect.lerp_inside(vec2(0.1 + 0.03 * k as f32, 0.5)))
            .collect()
    })
}

const MIDDLE: Vec2 = vec2(0.5, 0.5);

fn dragged(name: &'static str, way: BakePath) -> Gesture {
    Gesture {
        name,
        pressed: true,
        way,
    }
}

fn hovered(name: &'static str, way: BakePath) -> Gesture {
    Gesture {
        name,
        pressed: false,
        way,
    }
}

fn pose(mesh: &str, asset: &str) -> Scene {
    let asset = asset.to_owned();
    let turn = dragged("turn the view", circle(0, vec2(0.04, 0.9), 40.0));
    let gestures = vec![
        dragged("drag a pin", circle(0, MIDDLE, 30.0)),
        hovered("hover", circle(0, MIDDLE, 60.0)),
        turn,
    ];

    scene(
        format!("pose/{mesh}"),
        RoomName::Pose,
        move || of(&asset),
        gestures,
    )
}

fn heat(mesh: &str, asset: &str) -> Scene {
    let asset = asset.to_owned();
    let document = move || {
        let mut document = of(&asset);
        (document.pose.heat, document.pose.sculpt.on) = (HeatKind::Displacement, true);
        document
    };

    scene(
        format!("pose/{mesh}"),
        RoomName::Pose,
        document,
        vec![dragged(
            "drag a pin, layer and heat",
            circle(0, MIDDLE, 30.0),
        )],
    )
}

/// Every slider of an hour of capture: 60 sliders with 2,000 keys each.
fn timeline(mesh: &str, asset: &str) -> Scene {
    let asset = asset.to_owned();
    let document = move || {
        let key = |frame: u32| Keyed {
            frame,
            weight: f64::from(frame % 7) / 7.0,
            ease: Ease::Linear,
        };
        let keys = (0..60)
            .map(|k| (format!("slider {k:02}"), (0..2000).map(key).collect()))
            .collect();

        Document {
            timeline: Timeline {
                last_frame: 2000,
                keys,
                ..Timeline::default()
            },
            ..of(&asset)
        }
    };

    let gestures = vec![
        dragged("scrub 120,000 keys", across("Ruler")),
        dragged("move a key of 120,000", across("Keys over time")),
        dragged("drag a pin beside 120,000 keys", circle(0, MIDDLE, 30.0)),
    ];

    scene(format!("pose/{mesh}"), RoomName::Pose, document, gestures)
}

fn touch(mesh: &str, asset: &str) -> Scene {
    let asset = asset.to_owned();
    let document = move || {
        let mut document = of(&asset);
        document.touch = touch::Setup {
            patches: vec![touch::Patch {
                center: 100.into(),
                radius: 0.5,
            }],
            ..touch::Setup::default()
        };

        document
    };

    scene(
        format!("touch/{mesh}"),
        RoomName::Touch,
        document,
        vec![dragged("press", circle(0, MIDDLE, 30.0))],
    )
}

fn blending(asset: &str, target: &str) -> Document {
    let shapes = vec![
        blend::ShapeMark::neutral(),
        blend::ShapeMark::target(target),
    ];

    let material = blend::Material {
        body: blend::Body::Shell,
        interior: false,
        ..blend::Material::default()
    };

    Document {
        blend: blend::Setup {
            shapes,
            weights: vec![0.5, 0.5],
            material,
            ..blend::Setup::default()
        },
        ..of(asset)
    }
}

fn blend(mesh: &str, asset: &str, target: &'static str) -> Scene {
    let asset = asset.to_owned();
    let gestures = vec![
        dragged("weights", along_slider()),
        dragged("turn the view", circle(0, vec2(0.1, 0.9), 40.0)),
    ];

    scene(
        format!("blend/{mesh}"),
        RoomName::Blend,
        move || blending(&asset, target),
        gestures,
    )
}

fn fix(mesh: &str, asset: &str, target: &'static str) -> Scene {
    let asset = asset.to_owned();
    let gestures = vec![
        dragged("fix vertices", circle(1, MIDDLE, 60.0)),
        hovered("hover with a brush", circle(1, MIDDLE, 60.0)),
    ];

    let scene = scene(
        format!("blend/{mesh}"),
        RoomName::Blend,
        move || blending(&asset, target),
        gestures,
    );

    Scene {
        prepare: |window| window.click("Fix vertices"),
        ..scene
    }
}

fn stiffen(mesh: &str, asset: &str, target: &'static str) -> Scene {
    let asset = asset.to_owned();
    let gestures = vec![dragged("paint stiffness", circle(1, MIDDLE, 60.0))];
    let scene = scene(
        format!("blend/{mesh}"),
        RoomName::Blend,
        move || blending(&asset, target),
        gestures,
    );

    Scene {
        prepare: |window| window.click("Paint stiffness"),
        ..scene
    }
}

fn transfer(mesh: &str, asset: &str) -> Scene {
    let asset = asset.to_owned();
    let document = move || {
        let mut setup = transfer::Setup::default();
        setup.set_target(asset.clone());
        setup.add_source("specimen:hound#walk".into());

        let source = setup.sources[0].name.clone();
        setup.regions.push(RegionSetup {
            name: "a".into(),
            color: [200, 60, 60],
            source,
            faces: Arc::default(),
            refine: false,
        });

        Document {
            transfer: setup,
            ..Document::default()
        }
    };

    let gestures = vec![
        dragged("scribble a region", circle(1, MIDDLE, 60.0)),
        hovered("hover", circle(1, MIDDLE, 60.0)),
    ];

    let scene = scene(
        format!("transfer/{mesh}"),
        RoomName::Transfer,
        document,
        gestures,
    );

    Scene {
        prepare: |window| window.click("Paint regions"),
        ..scene
    }
}

fn drive_a_hand() -> Scene {
    let gestures = vec![
        dragged("drive", circle(0, MIDDLE, 40.0)),
        dragged("turn the view", circle(0, vec2(0.04, 0.9), 40.0)),
    ];
    scene(
        "learn/hand".into(),
        RoomName::Learn,
        learn::drive_a_hand,
        gestures,
    )
}

/// All frames of the clips as examples.
fn gallery() -> Scene {
    let document = || {
        let mut document = Document::default();
        document.learn.recipe.sources = vec!["specimen:hand".into()];
        if let Some(folder) = std::env::var_os("PLIANT_DATA") {
            let samba = PathBuf::from(folder)
                .join("samba/samba-every7th.reference.obj+samba-every7th.frames.npy");
            document.learn.recipe.sources = vec![samba.to_string_lossy().into_owned()];
        }
        document
    };

    let scene = scene(
        "learn/gallery".into(),
        RoomName::Learn,
        document,
        vec![hovered("hover", circle(0, MIDDLE, 40.0))],
    );

    Scene {
        prepare: |window| window.press(Key::ArrowDown, Modifiers::NONE),
        ..scene
    }
}

/// A round box of 200,936 vertices with two sliders, as files in the folder for temporary ones.
fn round_box() -> String {
    let cube = closed_box([183; 3], DVec3::splat(2.0));
    let round: Vec<DVec3> = cube
        .positions()
        .iter()
        .map(|p| p.normalize_or(DVec3::X))
        .collect();

    let bulge = |p: &DVec3| p.as_vec3() * 0.4 * (8.0 * (p.z as f32 - 1.0)).exp();
    let stretch = |p: &DVec3| (p.as_vec3() * pliant::mesh::glam::Vec3::Y) * 0.3;
    let deltas: Vec<f32> = round
        .iter()
        .map(bulge)
        .chain(round.iter().map(stretch))
        .flat_map(|delta| delta.to_array())
        .collect();

    let folder = std::env::temp_dir().join("pliant-ui-frame");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("there is room for temporary files")
    };

    std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    write("round.obj", obj(&cube, &round).as_bytes());
    write(
        "round.delta.npy",
        &npy::write_f32(&[2, round.len(), 3], deltas),
    );

    write("round.names.txt", b"bulge\nstretch\n");
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    format!("{}+{}", path("round.obj"), path("round.delta.npy"))
}

fn obj(mesh: &Mesh, positions: &[DVec3]) -> String {
    let vertices = positions
        .iter()
        .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = mesh.faces().map(|face| {
        face.iter()
            .fold("f".to_owned(), |line, v| format!("{line} {}", v + 1))
            + "\n"
    });
    vertices.chain(faces).collect()
}
