//! Figure 2: a bar that bends around a cylinder in its way.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_physics::{
    Blend, BlendOptions, ContactBlend, ContactMethod, ContactOptions, Obstacle, ObstacleMotion,
    PhysicsError,
};
use pliant_view::{Color, ContactSheet, Material, View};

use super::numerals::{greatest, rounded};
use super::portrait::{Origin, scene};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Section, Table};
use crate::picture::Shot;

const SIZE: [usize; 2] = [208, 180];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.3,
    elevation_rad: 0.22,
};
const STEPS: usize = 12;
const SHOWN: [usize; 5] = [0, 4, 7, 10, 12];
const DEGREES: f64 = 150.0;
/// The cylinder lies across the bar, where its right half would come to lie.
const CENTER: [f64; 2] = [1.45, 1.9];
const RADIUS: f64 = 0.9;
const HALF_LENGTH: f64 = 1.1;
/// Sides of the cylinder in pictures.
const SIDES: usize = 64;

/// The way of the bar by one method.
struct Way {
    name: &'static str,
    frames: Vec<Vec<DVec3>>,
    /// The largest mean strain of the edges.
    strain: f64,
    /// Vertices inside and how deep, at the end.
    inside: usize,
    depth: f64,
    failed: usize,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A cylinder in the way",
        "Figure 2: the bar bends up, and a solid cylinder is where its right half would be. The paper moves vertices that entered it to its \
         surface and fixes them there for the step. Ours bars the way in alone: vertices slide, and leave when nothing presses them.",
    );
    let straight = crate::load("specimen:bar")?.mesh()?;
    let (ways, cylinder) = walks(&straight).map_err(failed("bar"))?;
    let mut table = Table::new(
        "At the end of the way: vertices inside the cylinder and the deepest, in parts of its radius; and the largest mean strain of the edges \
         on the way, in %.",
        [
            "method",
            "vertices inside",
            "deepest",
            "strain, %",
            "steps not converged",
        ],
    );
    for way in &ways {
        let cells = [
            way.inside.to_string(),
            rounded(way.depth / RADIUS),
            rounded(100.0 * way.strain),
            way.failed.to_string(),
        ];
        table.push([way.name.to_owned()].into_iter().chain(cells));
        section.figure(
            &format!("vertices inside, {}", way.name),
            way.inside.to_string(),
        );
    }
    section.table(table);
    let in_view: Vec<DVec3> = ways
        .iter()
        .flat_map(|way| way.frames.iter().flatten())
        .chain(cylinder.positions())
        .copied()
        .collect();
    let mut sheet = ContactSheet::new("", SHOWN.len());
    for way in &ways {
        for step in SHOWN {
            let origin = if way.name == FREE {
                Origin::at(step as f64 / STEPS as f64)
            } else {
                Origin::Between
            };
            let pose = straight
                .posed(way.frames[step].clone())
                .map_err(failed("bar"))?;
            let mut scene = scene(&pose, origin);
            if way.name != FREE {
                scene = scene.with_mesh(&cylinder, Material::plain(Color::srgb8(122, 132, 128)));
            }
            sheet.push(
                Shot::new(VIEW, SIZE).framed_by(&in_view, &scene)?,
                format!("{}, {step}/{STEPS}", way.name),
            );
        }
    }
    section.wide(
        "cylinder.png",
        "Without the cylinder, as published, and ours.",
        &sheet.compose()?,
    )?;
    Ok(section)
}

const FREE: &str = "free";

fn walks(straight: &Mesh) -> Result<([Way; 3], Mesh), PhysicsError> {
    let shapes = [straight.clone(), bars::bent(straight, DEGREES)?];
    let [start, end] = [-HALF_LENGTH, HALF_LENGTH].map(|z| DVec3::new(CENTER[0], CENTER[1], z));
    let obstacle = Obstacle::cylinder(start, end, RADIUS)?;
    let walk = |name: &'static str, method: Option<ContactMethod>| {
        let mut blend = Blend::new(&shapes, &BlendOptions::default())?;
        blend.prepare_walk(STEPS + 1)?;
        let obstacles = method
            .map(|_| (obstacle.clone(), ObstacleMotion::still()))
            .into_iter()
            .collect();
        let options = ContactOptions::default().with_method(method.unwrap_or_default());
        let mut among = ContactBlend::new(blend, obstacles, &options)?;
        let mut way = Way {
            name,
            frames: Vec::new(),
            strain: 0.0,
            inside: 0,
            depth: 0.0,
            failed: 0,
        };
        for alpha in (0..=STEPS).map(|step| step as f64 / STEPS as f64) {
            let frame = among.step(&[1.0 - alpha, alpha], alpha)?.shape;
            way.strain = way.strain.max(frame.strain);
            way.failed += usize::from(!frame.report.converged);
            way.frames.push(frame.positions);
        }
        // Touching is not inside: half a thousandth of the radius is below what pictures show.
        let inside = way
            .frames
            .last()
            .map_or(Vec::new(), |last| obstacle.contacts(last, -5e-4 * RADIUS));
        way.inside = inside.len();
        way.depth = greatest(inside.iter().map(|contact| contact.depth)).max(0.0);
        Ok::<Way, PhysicsError>(way)
    };
    let ways = [
        walk(FREE, None)?,
        walk("published contact", Some(ContactMethod::Paper))?,
        walk("ours", Some(ContactMethod::Active))?,
    ];
    Ok((ways, solid(start, end)?))
}

/// A closed prism of many sides between two points along z.
fn solid(start: DVec3, end: DVec3) -> Result<Mesh, MeshError> {
    let ring = |center: DVec3| {
        (0..SIDES).map(move |k| {
            let (sine, cosine) = (TAU * k as f64 / SIDES as f64).sin_cos();
            center + DVec3::new(cosine, sine, 0.0) * RADIUS
        })
    };
    let side = |k: usize| {
        [k, (k + 1) % SIDES, (k + 1) % SIDES + SIDES, k + SIDES]
            .map(|v| v as u32)
            .to_vec()
    };
    let ends = [
        (0..SIDES as u32).rev().collect(),
        (SIDES as u32..2 * SIDES as u32).collect(),
    ];
    Mesh::from_polygons(
        ring(start).chain(ring(end)).collect(),
        &(0..SIDES).map(side).chain(ends).collect::<Vec<_>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cylinder_of_the_pictures_is_the_one_that_is_in_the_way() {
        let (start, end) = (DVec3::new(0.3, -0.2, -1.0), DVec3::new(0.3, -0.2, 1.0));
        let (mesh, obstacle) = (
            solid(start, end).unwrap(),
            Obstacle::cylinder(start, end, RADIUS).unwrap(),
        );
        assert!(
            mesh.signed_volume() > 0.99 * TAU * RADIUS * RADIUS
                && mesh.topology().boundary_loops().is_empty()
        );
        assert!(
            obstacle
                .contacts(mesh.positions(), 1.0)
                .iter()
                .all(|contact| contact.depth.abs() < 1e-9)
        );
    }
}
