//! Figure 3: one shape out of three.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendFrame, BlendOptions, PhysicsError};
use pliant_view::{ContactSheet, View};

use super::numerals::percent;
use super::portrait::{Origin, picture};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Section, Table};
use crate::picture::Shot;

const SIZE: [usize; 2] = [330, 210];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.45,
    elevation_rad: 0.3,
};
/// *Paper*, figure 3 of the preprint; rounded to 0.33 and 0.12 there.
const WEIGHTS: [[f64; 3]; 3] = [
    [0.7, 0.1, 0.2],
    [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
    [0.125, 0.75, 0.125],
];

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Three shapes",
        "Figure 3: rest lengths are the weighted mean of those of three shapes, with the weights of the paper. The sliders are those of a \
         linear rig; only what lies between them differs.",
    );
    let straight = crate::load("specimen:bar")?.mesh()?;
    let (shapes, frames) = blends(&straight).map_err(failed("bar"))?;
    let mut sheet = ContactSheet::new("", shapes.len());
    let in_view: Vec<DVec3> = shapes.iter().flat_map(Mesh::positions).copied().collect();
    let shot = Shot::new(VIEW, SIZE);
    for (shape, name) in shapes.iter().zip(["bent", "twisted", "stretched"]) {
        sheet.push(picture(shape, Origin::Given, shot, &in_view)?, name);
    }
    let mut below = Vec::new();
    let mut table = Table::new(
        "Volume in % of the weighted mean of the three shapes, and the mean strain of the edges in %; of springs and of straight lines.",
        [
            "weights",
            "volume, springs",
            "volume, lines",
            "strain, springs",
            "strain, lines",
        ],
    );
    for frame in &frames {
        let caption = listed(&frame.weights);
        let pose = straight
            .posed(lines(&shapes, &frame.weights))
            .map_err(failed("bar"))?;
        below.push(picture(&pose, Origin::Between, shot, &in_view)?);
        let pose = straight
            .posed(frame.positions.clone())
            .map_err(failed("bar"))?;
        sheet.push(
            picture(&pose, Origin::Between, shot, &in_view)?,
            caption.clone(),
        );
        let mean: f64 = shapes
            .iter()
            .zip(&frame.weights)
            .map(|(shape, weight)| weight * shape.signed_volume())
            .sum();
        let cells = [
            frame.volume / mean,
            frame.linear.volume / mean,
            frame.strain,
            frame.linear.strain,
        ]
        .map(percent);
        section.figure(
            &format!("volume, {caption}"),
            format!("{} %, lines {} %", cells[0], cells[1]),
        );
        table.push([caption].into_iter().chain(cells));
    }
    below
        .into_iter()
        .for_each(|image| sheet.push(image, "lines"));
    section.table(table);
    let caption = "Above the three shapes, then what lies between them at these weights by springs, and by straight lines.";
    section.wide("three-shapes.png", caption, &sheet.compose()?)?;
    Ok(section)
}

fn listed(weights: &[f64]) -> String {
    weights
        .iter()
        .map(|weight| format!("{weight:.2}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn lines(shapes: &[Mesh; 3], weights: &[f64]) -> Vec<DVec3> {
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
    let mut blend = Blend::new(&shapes, &BlendOptions::default())?;
    let frames = WEIGHTS
        .iter()
        .map(|weights| blend.at(weights))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((shapes, frames))
}
