//! Blend: a bar between straight and curled, where lines shrink it and springs do not; and with a
//! ball in its way.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, shapes};
use pliant_physics::{Blend, BlendOptions, ContactBlend, ContactOptions, Obstacle, ObstacleMotion};
use pliant_rig::Clip;
use pliant_view::{Color, ContactSheet, Material, View};

use super::{DemoError, milliseconds, timed};
use crate::page::Section;
use crate::picture::{Look, Shot};

const SIDE: View = View::Orbit {
    azimuth_rad: 0.25,
    elevation_rad: 0.12,
};
const STEPS: usize = 12;
const SHOWN: [usize; 5] = [0, 3, 6, 9, 12];
/// How far the bar curls.
const CURL_RAD: f64 = 2.9;
/// The ball is a little too large for the curl.
const BALL: ([f64; 3], f64) = ([-2.6, 2.4, 0.0], 1.8);

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Blend",
        "Between a straight bar and a curled one, straight lines shorten and thin it. Here edges, second neighbours and edges inside are \
         springs whose rest lengths are blended, and each frame is where their forces balance. A ball in the way holds it off.",
    );
    let straight = crate::load("specimen:bar")?.mesh()?;
    let shapes = [straight.clone(), curled(&straight)?];
    let options = BlendOptions::default().with_fixed(left_end(&shapes[0]));
    let (blend, setup_ms) = timed(|| {
        let mut blend = Blend::new(&shapes, &options)?;
        blend.prepare_walk(STEPS + 1).map(|()| blend)
    });
    let mut blend = blend?;
    let (free, walk_ms) = timed(|| walk(|alpha| Ok(blend.between(alpha)?.positions)));
    let free = free?;
    let linear = walk(|alpha| Ok(lines(&shapes, alpha)))?;
    let ball = Obstacle::sphere(DVec3::from_array(BALL.0), BALL.1)?;
    let mut among = ContactBlend::new(
        blend,
        vec![(ball, ObstacleMotion::still())],
        &ContactOptions::default(),
    )?;
    let held = walk(|alpha| Ok(among.step(&[1.0 - alpha, alpha], alpha)?.shape.positions))?;
    section.figure("springs", springs(&among));
    section.figure("fill, join and prepare", milliseconds(setup_ms));
    section.figure("one frame", milliseconds(walk_ms / free.len() as f64));
    for (name, frames) in [
        ("volume half way, springs", &free),
        ("volume half way, lines", &linear),
    ] {
        section.figure(
            name,
            format!(
                "{:+.1} %",
                100.0 * volume_change(&shapes, &frames[STEPS / 2])?
            ),
        );
    }
    section.wide(
        "blend.png",
        "Lines, springs, and springs with a ball in the way.",
        &sheet(&shapes[0], [&linear, &free, &held])?,
    )?;
    let clip = Clip::new("around a ball", shapes[0].clone(), held)?;
    section.file(
        "bar-around-a-ball.glb",
        "the bar that gives way",
        pliant_io::gltf::write(&pliant_io::Asset::from_clip(&clip)).bytes,
    );
    sections.push(section);
    Ok(())
}

/// The bar along an arc that starts at its left end; sections stay plane.
fn curled(bar: &Mesh) -> Result<Mesh, DemoError> {
    let Some(bounds) = bar.bounds() else {
        return Ok(bar.clone());
    };
    let radius = (bounds.max.x - bounds.min.x) / CURL_RAD;
    let place = |p: &DVec3| {
        let (angle, lever) = ((p.x - bounds.min.x) / radius, radius - p.y);
        DVec3::new(
            bounds.min.x + lever * angle.sin(),
            radius - lever * angle.cos(),
            p.z,
        )
    };
    Ok(bar.posed(bar.positions().iter().map(place).collect())?)
}

/// The vertices of the end that is held.
fn left_end(bar: &Mesh) -> Vec<usize> {
    let left = bar.bounds().map_or(0.0, |bounds| bounds.min.x);
    (0..bar.vertex_count())
        .filter(|&v| bar.positions()[v].x < left + 1e-9)
        .collect()
}

fn walk(
    mut at: impl FnMut(f64) -> Result<Vec<DVec3>, DemoError>,
) -> Result<Vec<Vec<DVec3>>, DemoError> {
    (0..=STEPS)
        .map(|step| at(step as f64 / STEPS as f64))
        .collect()
}

fn lines(shapes: &[Mesh; 2], alpha: f64) -> Vec<DVec3> {
    shapes[0]
        .positions()
        .iter()
        .zip(shapes[1].positions())
        .map(|(a, b)| a.lerp(*b, alpha))
        .collect()
}

fn springs(among: &ContactBlend) -> String {
    among.blend().spring_counts().in_shape().to_string()
}

/// How much more than the mean of both shapes a frame holds.
fn volume_change(shapes: &[Mesh; 2], frame: &[DVec3]) -> Result<f64, DemoError> {
    let mean = 0.5 * (shapes[0].signed_volume() + shapes[1].signed_volume());
    Ok(shapes[0].posed(frame.to_vec())?.signed_volume() / mean - 1.0)
}

fn sheet(bar: &Mesh, rows: [&[Vec<DVec3>]; 3]) -> Result<pliant_view::Image, DemoError> {
    let mut sheet = ContactSheet::new("", SHOWN.len());
    let (center, radius) = (DVec3::from_array(BALL.0), BALL.1);
    let ball = shapes::icosphere(4);
    let ball = ball.posed(
        ball.positions()
            .iter()
            .map(|p| center + *p * radius)
            .collect(),
    )?;
    let in_view: Vec<DVec3> = rows
        .iter()
        .flat_map(|frames| frames.iter().flatten())
        .chain(ball.positions())
        .copied()
        .collect();
    for ((name, frames), with_ball) in ["lines", "springs", "with a ball"]
        .into_iter()
        .zip(rows)
        .zip([false, false, true])
    {
        for step in SHOWN {
            let mut scene = Look::default().scene(&bar.posed(frames[step].clone())?);
            if with_ball {
                scene = scene.with_mesh(&ball, Material::plain(Color::srgb8(82, 118, 128)));
            }
            sheet.push(
                Shot::new(SIDE, [220, 190]).framed_by(&in_view, &scene)?,
                format!("{name}, {step}/{STEPS}"),
            );
        }
    }
    Ok(sheet.compose()?)
}
