//! Figure 3: a blend of three shapes.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendFrame, BlendOptions, EnergyTerms, PhysicsError};
use pliant_view::{ContactSheet, Image, Shot, View};

use super::numerals::{percent, row};
use super::portrait::{Origin, picture};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Section, Table};

const SIZE: [usize; 2] = [330, 210];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.45,
    elevation_rad: 0.3,
};
/// *Ma et al. 2012*, figure 3 of the preprint; there rounded to 0.33 and 0.12.
const WEIGHTS: [[f64; 3]; 3] = [
    [0.7, 0.1, 0.2],
    [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
    [0.125, 0.75, 0.125],
];

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Three shapes",
        "Figure 3: rest lengths are the weighted mean of the rest lengths of three shapes, with \
         the weights of the paper. The sliders are those of a linear rig; only the shapes between \
         the targets differ.",
    );
    let straight = pliant_specimens::load("specimen:bar")?.mesh()?;
    let (shapes, frames) = blends(&straight).map_err(failed("bar"))?;
    for frame in &frames {
        let [volume, linear, ..] = cells(&shapes, frame);
        section.figure(
            &format!("volume, {}", listed(&frame.weights)),
            format!("{volume} %, lines {linear} %"),
        );
    }
    section.table(table(&shapes, &frames));
    section.wide(
        "three-shapes.png",
        "Top: the three shapes. Middle: their blends by springs. Bottom: the same by linear \
         interpolation.",
        &sheet(&straight, &shapes, &frames)?,
    )?;
    Ok(section)
}

fn table(shapes: &[Mesh; 3], frames: &[BlendFrame]) -> Table {
    let mut table = Table::new(
        "Volume in % of the weighted mean of the three shapes, and the mean strain of the edges \
         in %, by springs and by linear interpolation.",
        [
            "weights",
            "volume, springs",
            "volume, lines",
            "strain, springs",
            "strain, lines",
        ],
    );
    for frame in frames {
        table.push(row(listed(&frame.weights), cells(shapes, frame)));
    }
    table
}

/// Volume and strain, by springs and by linear interpolation.
fn cells(shapes: &[Mesh; 3], frame: &BlendFrame) -> [String; 4] {
    let mean: f64 = shapes
        .iter()
        .zip(&frame.weights)
        .map(|(shape, weight)| weight * shape.signed_volume())
        .sum();
    [
        frame.volume / mean,
        frame.linear.volume / mean,
        frame.strain,
        frame.linear.strain,
    ]
    .map(percent)
}

fn sheet(
    straight: &Mesh,
    shapes: &[Mesh; 3],
    frames: &[BlendFrame],
) -> Result<Image, ReproduceError> {
    let in_view: Vec<DVec3> = shapes.iter().flat_map(Mesh::positions).copied().collect();
    let shot = Shot::new(VIEW, SIZE);
    let between = |positions: Vec<DVec3>| -> Result<Image, ReproduceError> {
        let pose = straight.posed(positions).map_err(failed("bar"))?;
        picture(&pose, Origin::Between, shot, &in_view)
    };

    let mut sheet = ContactSheet::new("", shapes.len());
    for (shape, name) in shapes.iter().zip(["bent", "twisted", "stretched"]) {
        sheet.push(picture(shape, Origin::Given, shot, &in_view)?, name);
    }
    for frame in frames {
        sheet.push(between(frame.positions.clone())?, listed(&frame.weights));
    }
    for frame in frames {
        sheet.push(between(linear(shapes, &frame.weights))?, "lines");
    }

    Ok(sheet.compose()?)
}

fn listed(weights: &[f64]) -> String {
    weights
        .iter()
        .map(|weight| format!("{weight:.2}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The linear blend.
fn linear(shapes: &[Mesh; 3], weights: &[f64]) -> Vec<DVec3> {
    let blended = |v: usize| {
        shapes
            .iter()
            .zip(weights)
            .map(|(shape, weight)| shape.positions()[v] * *weight)
            .sum()
    };
    (0..shapes[0].vertex_count()).map(blended).collect()
}

fn blends(straight: &Mesh) -> Result<([Mesh; 3], Vec<BlendFrame>), PhysicsError> {
    let shapes = [
        bars::bent(straight, 120.0)?,
        bars::twisted(straight, 150.0)?,
        bars::stretched(straight, 1.4)?,
    ];
    let mut blend = Blend::new(
        &shapes,
        &BlendOptions::default().with_energy(EnergyTerms::springs()),
    )?;

    let frames = WEIGHTS
        .iter()
        .map(|weights| blend.at(weights))
        .collect::<Result<Vec<_>, _>>()?;

    Ok((shapes, frames))
}
