//! Figure 2: a bar that bends around a cylinder.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_physics::{
    Blend, BlendOptions, ContactBlend, ContactMethod, ContactOptions, EnergyTerms, Obstacle,
    ObstacleMotion, PhysicsError,
};
use pliant_view::{Color, ContactSheet, Image, Material, Shot, View};

use super::numerals::{greatest, rounded};
use super::portrait::{Origin, scene};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Section, Table};

const SIZE: [usize; 2] = [208, 180];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.3,
    elevation_rad: 0.22,
};
const STEPS: usize = 12;
const SHOWN: [usize; 5] = [0, 4, 7, 10, 12];
const DEGREES: f64 = 150.0;
/// The cylinder lies across the bar, in the path of its right half.
const CENTER: [f64; 2] = [1.45, 1.9];
const RADIUS: f64 = 0.9;
const HALF_LENGTH: f64 = 1.1;
/// Sides of the cylinder in pictures.
const SIDES: usize = 64;

/// The path of the bar with one contact method.
struct ContactPath {
    name: &'static str,
    frames: Vec<Vec<DVec3>>,
    /// The largest mean strain of the edges.
    strain: f64,
    /// Vertices inside the cylinder in the last frame.
    inside: usize,
    /// Their greatest depth.
    depth: f64,
    /// Steps that did not converge.
    failed: usize,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A cylinder in the way",
        "Figure 2: the bar bends upwards, and a solid cylinder is in the path of its right half. \
         The paper moves vertices that have entered the cylinder to its surface and fixes them \
         there for the step. Our contact only prevents vertices from entering: they slide, and \
         they leave when no force presses them.",
    );
    let straight = pliant_specimens::load("specimen:bar")?.mesh()?;
    let shapes = [
        straight.clone(),
        bars::bent(&straight, DEGREES).map_err(failed("bar"))?,
    ];
    let paths = [
        ContactPath::new(FREE, &shapes, None),
        ContactPath::new("published contact", &shapes, Some(ContactMethod::Ma2012)),
        ContactPath::new("ours", &shapes, Some(ContactMethod::ActiveSet)),
    ];
    let paths = paths
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed("bar"))?;

    for path in &paths {
        let name = format!("vertices inside, {}", path.name);
        section.figure(&name, path.inside.to_string());
    }
    section.table(table(&paths));
    section.wide(
        "cylinder.png",
        "Without the cylinder, with the contact of Ma et al. 2012, and with ours.",
        &sheet(&straight, &paths)?,
    )?;

    Ok(section)
}

const FREE: &str = "free";

fn table(paths: &[ContactPath]) -> Table {
    let mut table = Table::new(
        "At the end of the way: vertices inside the cylinder and the greatest depth, relative to \
         its radius; and the largest mean strain of the edges in any frame, in %.",
        [
            "method",
            "vertices inside",
            "deepest",
            "strain, %",
            "steps not converged",
        ],
    );
    for path in paths {
        table.push([
            path.name.to_owned(),
            path.inside.to_string(),
            rounded(path.depth / RADIUS),
            rounded(100.0 * path.strain),
            path.failed.to_string(),
        ]);
    }
    table
}

fn sheet(straight: &Mesh, paths: &[ContactPath]) -> Result<Image, ReproduceError> {
    let [start, end] = axis();
    let cylinder = solid(start, end).map_err(failed("bar"))?;
    let mut in_view = Vec::new();
    for path in paths {
        in_view.extend(path.frames.iter().flatten().copied());
    }
    in_view.extend_from_slice(cylinder.positions());

    let mut sheet = ContactSheet::new("", SHOWN.len());
    for path in paths {
        for step in SHOWN {
            let is_free = path.name == FREE;
            let origin = if is_free {
                Origin::at(step as f64 / STEPS as f64)
            } else {
                Origin::Between
            };

            let frame = path.frames[step].clone();
            let mut scene = scene(&straight.posed(frame).map_err(failed("bar"))?, origin);
            if !is_free {
                scene = scene.with_mesh(&cylinder, Material::plain(Color::srgb8(122, 132, 128)));
            }

            let image = Shot::new(VIEW, SIZE).framed_by(&in_view, &scene)?;
            sheet.push(image, format!("{}, {step}/{STEPS}", path.name));
        }
    }

    Ok(sheet.compose()?)
}

/// Both ends of the axis of the cylinder.
fn axis() -> [DVec3; 2] {
    [-HALF_LENGTH, HALF_LENGTH].map(|z| DVec3::new(CENTER[0], CENTER[1], z))
}

impl ContactPath {
    /// The path by a contact method, or without the cylinder.
    fn new(
        name: &'static str,
        shapes: &[Mesh; 2],
        method: Option<ContactMethod>,
    ) -> Result<Self, PhysicsError> {
        let mut blend = Blend::new(
            shapes,
            &BlendOptions::default().with_energy(EnergyTerms::springs()),
        )?;
        blend.prepare_frames(STEPS + 1)?;

        let [start, end] = axis();
        let obstacle = Obstacle::cylinder(start, end, RADIUS)?;
        // The free path has no obstacle but is measured against the same cylinder.
        let mut obstacles = Vec::new();
        if method.is_some() {
            obstacles.push((obstacle.clone(), ObstacleMotion::still()));
        }
        let options = ContactOptions::default().with_method(method.unwrap_or_default());
        let mut contact = ContactBlend::new(blend, obstacles, &options)?;

        let mut path = Self {
            name,
            frames: Vec::new(),
            strain: 0.0,
            inside: 0,
            depth: 0.0,
            failed: 0,
        };
        for alpha in (0..=STEPS).map(|step| step as f64 / STEPS as f64) {
            let frame = contact.step(&[1.0 - alpha, alpha], alpha)?.shape;
            path.strain = path.strain.max(frame.strain);
            path.failed += usize::from(!frame.report.converged);
            path.frames.push(frame.positions);
        }

        // Touching is not inside: half a thousandth of the radius is below what pictures show.
        if let Some(last) = path.frames.last() {
            let inside = obstacle.contacts(last, -5e-4 * RADIUS);
            path.inside = inside.len();
            path.depth = greatest(inside.iter().map(|contact| contact.depth)).max(0.0);
        }
        Ok(path)
    }
}

/// A closed prism of many sides between two points along z.
fn solid(start: DVec3, end: DVec3) -> Result<Mesh, MeshError> {
    let ring = |center: DVec3| {
        (0..SIDES).map(move |k| {
            let (sine, cosine) = (TAU * k as f64 / SIDES as f64).sin_cos();
            center + DVec3::new(cosine, sine, 0.0) * RADIUS
        })
    };

    // Quads between the two rings, then a polygon at each end.
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
    fn the_drawn_cylinder_is_the_obstacle() {
        let start = DVec3::new(0.3, -0.2, -1.0);
        let end = DVec3::new(0.3, -0.2, 1.0);
        let mesh = solid(start, end).unwrap();
        let obstacle = Obstacle::cylinder(start, end, RADIUS).unwrap();

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
