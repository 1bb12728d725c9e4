//! Figure 4: the anchor that defines the position of a blended shape.

use pliant_linalg::RigidMotion;
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_physics::{Blend, BlendOptions, EnergyTerms, PhysicsError};
use pliant_view::{Color, ContactSheet, Image, Marker, Shot, View};

use super::numerals::greatest;
use super::portrait::{Origin, scene};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Section, Table};

const SIZE: [usize; 2] = [208, 190];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.25,
};
const STEPS: usize = 4;
const DEGREES: f64 = 90.0;
/// Rotation and translation of the whole target.
const ROTATION_RAD: f64 = 1.9;
const TRANSLATION: DVec3 = DVec3::new(2.5, 2.2, -1.0);
/// The held end, relative to the length.
const END: f64 = 0.2;
/// One in this many held vertices gets a marker.
const MARKED: usize = 31;

/// The path of the bar under one boundary condition.
struct AnchoredPath {
    name: &'static str,
    held: Vec<usize>,
    frames: Vec<Vec<DVec3>>,
    /// Volume half way relative to the mean of both ends.
    volume: f64,
    /// The largest distance half way from the shape towards a target that was not rotated, after
    /// the best rigid motion, in diagonals.
    difference: f64,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The anchor",
        "Figure 4: springs define lengths, not positions. A rigid anchor inside the shape defines \
         the position: it rotates and translates evenly while the surface is free. Marked \
         vertices move linearly instead, and the paper warns of the result. The target is bent, \
         then rotated by 109° and translated as a whole, which must not change the shapes in \
         between.",
    );

    let straight = pliant_specimens::load("specimen:bar")?.mesh()?;
    let paths = anchored_paths(&straight).map_err(failed("bar"))?;

    let mut table = Table::new(
        "Half way: the volume in % of the mean of both ends, and the difference from the shape \
         towards a target that was not rotated, as the largest distance after the best rigid \
         motion, in % of the diagonal.",
        ["held by", "volume, %", "difference, %"],
    );
    for path in &paths {
        let difference = format!("{:.3}", 100.0 * path.difference);
        section.figure(
            &format!("difference, {}", path.name),
            format!("{difference} % of the diagonal"),
        );
        let volume = format!("{:.1}", 100.0 * path.volume);
        table.push([path.name.to_owned(), volume, difference]);
    }

    section.table(table);
    section.wide(
        "anchor.png",
        "An anchor in the middle, an anchor around the left end, and the vertices of that end \
         moved linearly.",
        &sheet(&straight, &paths)?,
    )?;
    Ok(section)
}

fn sheet(straight: &Mesh, paths: &[AnchoredPath]) -> Result<Image, ReproduceError> {
    let mut in_view = Vec::new();
    for path in paths {
        in_view.extend(path.frames.iter().flatten().copied());
    }

    let mut sheet = ContactSheet::new("", STEPS + 1);
    for path in paths {
        for (step, frame) in path.frames.iter().enumerate() {
            let pose = straight.posed(frame.clone()).map_err(failed("bar"))?;
            let mut scene = scene(&pose, Origin::at(step as f64 / STEPS as f64));
            for &vertex in path.held.iter().step_by(MARKED) {
                scene = scene.with_marker(Marker {
                    position: frame[vertex],
                    color: Color::srgb8(206, 62, 48),
                    radius_px: 2.0,
                });
            }

            let image = Shot::new(VIEW, SIZE).framed_by(&in_view, &scene)?;
            sheet.push(image, format!("{}, {step}/{STEPS}", path.name));
        }
    }

    Ok(sheet.compose()?)
}

fn anchored_paths(straight: &Mesh) -> Result<Vec<AnchoredPath>, PhysicsError> {
    let bent = bars::bent(straight, DEGREES)?;
    let end = bars::left_end(straight, END);
    let middle = BlendOptions::default().with_energy(EnergyTerms::springs());
    let conditions = [
        ("middle", Vec::new(), middle.clone()),
        (
            "left end",
            end.clone(),
            middle.clone().with_anchor(end.clone()),
        ),
        ("marked", end.clone(), middle.with_fixed(end)),
    ];

    let mut paths = Vec::with_capacity(conditions.len());
    for (name, held, options) in conditions {
        paths.push(AnchoredPath::new(name, held, &options, straight, &bent)?);
    }
    Ok(paths)
}

impl AnchoredPath {
    fn new(
        name: &'static str,
        held: Vec<usize>,
        options: &BlendOptions,
        straight: &Mesh,
        bent: &Mesh,
    ) -> Result<Self, PhysicsError> {
        let motion = RigidMotion {
            rotation: DQuat::from_rotation_z(ROTATION_RAD),
            translation: TRANSLATION,
        };
        let moved = bent.posed(bent.positions().iter().map(|p| motion.apply(*p)).collect())?;

        let mut blend = Blend::new(&[straight.clone(), moved], options)?;
        let mut frames = Vec::with_capacity(STEPS + 1);
        for step in 0..=STEPS {
            frames.push(blend.between(step as f64 / STEPS as f64)?.positions);
        }

        // The rotation of the target must not change the shape half way.
        let half = blend.between(0.5)?;
        let unmoved = Blend::new(&[straight.clone(), bent.clone()], options)?.between(0.5)?;
        Ok(Self {
            name,
            held,
            frames,
            volume: 2.0 * half.volume / (straight.signed_volume() + bent.signed_volume()),
            difference: rigid_difference(&half.positions, &unmoved.positions)?,
        })
    }
}

/// The largest distance after the best rigid motion, in diagonals.
fn rigid_difference(found: &[DVec3], other: &[DVec3]) -> Result<f64, PhysicsError> {
    let motion = RigidMotion::fit(found, other, None)?;
    let diagonal = pliant_mesh::Bounds::of(other).map_or(1.0, |bounds| bounds.diagonal());
    let distances = found
        .iter()
        .zip(other)
        .map(|(a, b)| motion.apply(*a).distance(*b));
    Ok(greatest(distances) / diagonal)
}
