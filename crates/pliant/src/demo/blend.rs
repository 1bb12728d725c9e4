//! Blend: a bar between straight and curled, by linear interpolation, on the path, and with a ball.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, shapes};
use pliant_papers::page::Section;
use pliant_physics::{
    BlendClip, BlendOptions, ContactOptions, Obstacle, ObstacleMotion, SceneBlend, SceneOptions,
    WeightPath,
};
use pliant_rig::Clip;
use pliant_view::{Color, ContactSheet, Image, Look, Material, Shot, View};

use super::{DemoError, add_viewer, milliseconds, timed};

const SIDE: View = View::Orbit {
    azimuth_rad: 0.25,
    elevation_rad: 0.12,
};
const STEPS: usize = 12;
const SHOWN: [usize; 5] = [0, 3, 6, 9, 12];
/// The angle of the curl.
const CURL_RAD: f64 = 2.9;
/// Centre and radius of the ball, which is a little too large for the curl.
const BALL: ([f64; 3], f64) = ([-2.6, 2.4, 0.0], 1.8);

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Blend",
        "Linear interpolation between a straight bar and a curled one shortens and thins it. The \
         even path blends rotations and lengths. Edges, second neighbours and interior edges are \
         springs at rest on the path, and an obstacle moves them to an equilibrium of their forces.",
    );
    let asset = pliant_specimens::load("specimen:bar")?;
    let straight = asset.mesh()?;
    let shapes = [straight.clone(), curled(&straight)?];
    let path = WeightPath::OneWay {
        shapes: 2,
        steps: STEPS as u32,
    };

    // Free, then with a ball in the path of the bar.
    let (scene, setup_ms) = timed(|| prepare(&shapes));
    let mut scene = scene?;
    let free = BlendClip::along(&mut scene, &path, &())?;
    let ball = Obstacle::sphere(DVec3::from_array(BALL.0), BALL.1)?;
    let obstacles = vec![(ball, ObstacleMotion::still())];
    let mut scene = scene.with_obstacles(obstacles, &ContactOptions::default())?;
    let held = BlendClip::along(&mut scene, &path, &())?;

    let springs = scene.blend().spring_counts().in_shape();
    section.figure("springs", springs.to_string());
    section.figure("fill, join and prepare", milliseconds(setup_ms));
    section.figure("one frame", milliseconds(free.mean_ms()));

    let free = free.positions();
    let held = held.positions();
    let linear: Vec<Vec<DVec3>> = (0..=STEPS)
        .map(|step| interpolated(&shapes, step as f64 / STEPS as f64))
        .collect();
    for (name, frames) in [
        ("volume half way, path", &free),
        ("volume half way, lines", &linear),
    ] {
        let change = 100.0 * volume_change(&shapes, &frames[STEPS / 2])?;
        section.figure(name, format!("{change:+.1} %"));
    }

    section.wide(
        "blend.png",
        "Linear interpolation, the even path, and the path with a ball as obstacle.",
        &sheet(&shapes[0], [&linear, &free, &held])?,
    )?;
    let clip = Clip::new("around a ball", shapes[0].clone(), held)?;
    let caption = "The bar on its way around the ball.";
    add_viewer(&mut section, "blend-viewer.html", caption, &clip);
    let mut held = pliant_io::Asset::from_clip(&clip);
    held.meters_per_unit = asset.meters_per_unit;
    section.file(
        "bar-around-a-ball.glb",
        "the bar with the ball as obstacle",
        pliant_io::gltf::write(&held).bytes,
    );

    sections.push(section);
    Ok(())
}

/// The scene with the left end fixed, without obstacles.
fn prepare(shapes: &[Mesh; 2]) -> Result<SceneBlend, DemoError> {
    let blend = BlendOptions::default().with_fixed(left_end(&shapes[0]));
    let mut scene = SceneBlend::new(shapes, &SceneOptions::default().with_blend(blend))?;
    scene.prepare_frames(STEPS + 1)?;
    Ok(scene)
}

/// The bar along an arc that starts at its left end; sections stay plane.
fn curled(bar: &Mesh) -> Result<Mesh, DemoError> {
    let Some(bounds) = bar.bounds() else {
        return Ok(bar.clone());
    };

    let radius = (bounds.max.x - bounds.min.x) / CURL_RAD;
    let position = |p: &DVec3| {
        let angle = (p.x - bounds.min.x) / radius;
        let lever = radius - p.y;
        DVec3::new(
            bounds.min.x + lever * angle.sin(),
            radius - lever * angle.cos(),
            p.z,
        )
    };
    Ok(bar.posed(bar.positions().iter().map(position).collect())?)
}

/// The vertices of the fixed end.
fn left_end(bar: &Mesh) -> Vec<usize> {
    let left = bar.bounds().map_or(0.0, |bounds| bounds.min.x);
    (0..bar.vertex_count())
        .filter(|&v| bar.positions()[v].x < left + 1e-9)
        .collect()
}

fn interpolated(shapes: &[Mesh; 2], alpha: f64) -> Vec<DVec3> {
    shapes[0]
        .positions()
        .iter()
        .zip(shapes[1].positions())
        .map(|(a, b)| a.lerp(*b, alpha))
        .collect()
}

/// The volume of a frame relative to the mean of both shapes, minus one.
fn volume_change(shapes: &[Mesh; 2], frame: &[DVec3]) -> Result<f64, DemoError> {
    let mean = 0.5 * (shapes[0].signed_volume() + shapes[1].signed_volume());
    Ok(shapes[0].posed(frame.to_vec())?.signed_volume() / mean - 1.0)
}

fn sheet(bar: &Mesh, rows: [&[Vec<DVec3>]; 3]) -> Result<Image, DemoError> {
    let ball = ball_mesh()?;
    let mut in_view: Vec<DVec3> = Vec::new();
    for frames in rows {
        in_view.extend(frames.iter().flatten().copied());
    }
    in_view.extend_from_slice(ball.positions());

    let mut sheet = ContactSheet::new("", SHOWN.len());
    for (name, frames) in ["lines", "path", "with a ball"].into_iter().zip(rows) {
        for step in SHOWN {
            let mut scene = Look::default().scene(&bar.posed(frames[step].clone())?);
            if name == "with a ball" {
                scene = scene.with_mesh(&ball, Material::plain(Color::srgb8(82, 118, 128)));
            }
            let image = Shot::new(SIDE, [220, 190]).framed_by(&in_view, &scene)?;
            sheet.push(image, format!("{name}, {step}/{STEPS}"));
        }
    }

    Ok(sheet.compose()?)
}

fn ball_mesh() -> Result<Mesh, DemoError> {
    let center = DVec3::from_array(BALL.0);
    let unit = shapes::icosphere(4);
    let positions = unit.positions().iter().map(|p| center + *p * BALL.1);
    Ok(unit.posed(positions.collect())?)
}
