//! Figure 4: what says where a shape stands between two that stand elsewhere.

use pliant_linalg::RigidMotion;
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_physics::{Blend, BlendOptions, PhysicsError};
use pliant_view::{Color, ContactSheet, Marker, View};

use super::numerals::greatest;
use super::portrait::{Origin, scene};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Section, Table};
use crate::picture::Shot;

const SIZE: [usize; 2] = [208, 190];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.25,
};
const STEPS: usize = 4;
const DEGREES: f64 = 90.0;
/// How the whole target is turned and moved.
const TURN_RAD: f64 = 1.9;
const MOVE: DVec3 = DVec3::new(2.5, 2.2, -1.0);
/// The end that is held, in parts of the length.
const END: f64 = 0.2;
/// Held vertices of which a marker is drawn: one of so many.
const MARKED: usize = 31;

/// The way of the bar under one boundary condition.
struct Way {
    name: &'static str,
    held: Vec<usize>,
    frames: Vec<Vec<DVec3>>,
    /// Volume half way against the mean of both ends.
    volume: f64,
    /// How far the shape half way is from that with a target that was not turned, after the best
    /// rigid motion, in diagonals.
    off: f64,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The anchor",
        "Figure 4: springs know lengths, not places. A rigid anchor inside says where the shape stands: it turns and moves evenly while all \
         of the surface is free. Vertices that are marked instead move in straight lines, and the paper warns of what that looks like. \
         The target is bent, then turned by 109° and moved as a whole, which must not change the shapes between.",
    );
    let straight = crate::load("specimen:bar")?.mesh()?;
    let ways = walks(&straight).map_err(failed("bar"))?;
    let mut table = Table::new(
        "Half way: the volume in % of the mean of both ends, and how much the shape differs from the one towards a target that was not \
         turned, largest distance after the best rigid motion in % of the diagonal.",
        ["held by", "volume, %", "difference, %"],
    );
    for way in &ways {
        table.push([
            way.name.to_owned(),
            format!("{:.1}", 100.0 * way.volume),
            format!("{:.3}", 100.0 * way.off),
        ]);
        section.figure(
            &format!("difference, {}", way.name),
            format!("{:.3} % of the diagonal", 100.0 * way.off),
        );
    }
    section.table(table);
    let in_view: Vec<DVec3> = ways
        .iter()
        .flat_map(|way| way.frames.iter().flatten())
        .copied()
        .collect();
    let mut sheet = ContactSheet::new("", STEPS + 1);
    for way in &ways {
        for (step, frame) in way.frames.iter().enumerate() {
            let pose = straight.posed(frame.clone()).map_err(failed("bar"))?;
            let mut scene = scene(&pose, Origin::at(step as f64 / STEPS as f64));
            for &vertex in way.held.iter().step_by(MARKED) {
                scene = scene.with_marker(Marker {
                    position: frame[vertex],
                    color: Color::srgb8(206, 62, 48),
                    radius_px: 2.0,
                });
            }
            sheet.push(
                Shot::new(VIEW, SIZE).framed_by(&in_view, &scene)?,
                format!("{}, {step}/{STEPS}", way.name),
            );
        }
    }
    let caption = "An anchor in the middle, one around the left end, and the vertices of that end marked to move in straight lines.";
    section.wide("anchor.png", caption, &sheet.compose()?)?;
    Ok(section)
}

fn walks(straight: &Mesh) -> Result<[Way; 3], PhysicsError> {
    let bent = bars::bent(straight, DEGREES)?;
    let motion = RigidMotion {
        rotation: DQuat::from_rotation_z(TURN_RAD),
        translation: MOVE,
    };
    let turned = bent.posed(bent.positions().iter().map(|p| motion.apply(*p)).collect())?;
    let end = bars::left_end(straight, END);
    let middle = BlendOptions::default();
    let ways = [
        ("middle", Vec::new(), middle.clone()),
        (
            "left end",
            end.clone(),
            middle.clone().with_anchor(end.clone()),
        ),
        ("marked", end.clone(), middle.with_fixed(end)),
    ];
    let [a, b, c] = ways.map(|(name, held, options)| {
        let mut blend = Blend::new(&[straight.clone(), turned.clone()], &options)?;
        let frames =
            (0..=STEPS).map(|step| Ok(blend.between(step as f64 / STEPS as f64)?.positions));
        let frames = frames.collect::<Result<Vec<_>, PhysicsError>>()?;
        let half = blend.between(0.5)?;
        let near = Blend::new(&[straight.clone(), bent.clone()], &options)?
            .between(0.5)?
            .positions;
        let volume = 2.0 * half.volume / (straight.signed_volume() + bent.signed_volume());
        Ok::<Way, PhysicsError>(Way {
            name,
            held,
            frames,
            volume,
            off: rigidly_off(&half.positions, &near)?,
        })
    });
    Ok([a?, b?, c?])
}

/// The largest distance after the best rigid motion, in diagonals.
fn rigidly_off(found: &[DVec3], other: &[DVec3]) -> Result<f64, PhysicsError> {
    let motion = RigidMotion::fit(found, other, None)?;
    let diagonal = pliant_mesh::Bounds::of(other).map_or(1.0, |bounds| bounds.diagonal());
    Ok(greatest(
        found
            .iter()
            .zip(other)
            .map(|(a, b)| motion.apply(*a).distance(*b)),
    ) / diagonal)
}
