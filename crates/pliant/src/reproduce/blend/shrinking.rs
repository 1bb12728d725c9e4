//! Figure 1: what straight lines lose, and the way of area and volume by three methods.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_physics::{ArapInterpolation, Blend, BlendOptions, InteriorOptions, PhysicsError};
use pliant_view::{ContactSheet, View};

use super::numerals::greatest;
use super::portrait::{Origin, picture};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Axis, Best, Marks, Plot, Section, Series, Table};
use crate::picture::Shot;

const SIZE: [usize; 2] = [208, 170];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.45,
    elevation_rad: 0.3,
};
/// Steps of the plots.
const STEPS: usize = 20;
/// How far the bar is bent or twisted.
const DEGREES: f64 = 150.0;
const METHODS: [&str; 3] = ["springs", "lines", "ARAP"];

/// The way from the straight bar to a shape, by each of the methods.
struct Ways {
    name: &'static str,
    shapes: [Mesh; 2],
    /// By method, then by step.
    frames: [Vec<Mesh>; 3],
}

/// A measure of a shape.
type Measure = fn(&Mesh) -> f64;

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "What straight lines lose",
        "Figure 1: half way between a straight bar and one that is bent or twisted by 150°. Straight lines cut through the turn and take \
         volume with them. Springs whose rest lengths are blended keep it, and so does as-rigid-as-possible interpolation (Alexa and \
         others, 2000) over the same tetrahedra, which turns each of them and fits one shape to all; but it knows no contact.",
    );
    let straight = crate::load("specimen:bar")?.mesh()?;
    let mesh_failed = |source: MeshError| ReproduceError::Mesh {
        model: "bar".to_owned(),
        source,
    };
    let bent = bars::bent(&straight, DEGREES).map_err(mesh_failed)?;
    let twisted = bars::twisted(&straight, DEGREES).map_err(mesh_failed)?;
    let mut sheet = ContactSheet::new("", 5);
    let mut table = Table::new(
        "The largest change on the way, in % of the mean of both ends at the same weights.",
        [
            "method",
            "bent: volume",
            "bent: area",
            "twisted: volume",
            "twisted: area",
        ],
    );
    for column in 1..=4 {
        table = table.with_best(column, Best::Least);
    }
    let ways = [
        Ways::new("bent", straight.clone(), bent)?,
        Ways::new("twisted", straight, twisted)?,
    ];
    for way in &ways {
        way.add_row(&mut sheet)?;
        for (method, name) in METHODS.into_iter().enumerate() {
            let half = way.change(method, STEPS / 2, Mesh::signed_volume);
            section.figure(
                &format!("volume half way, {}, {name}", way.name),
                format!("{:+.1} %", (10.0 * half).round() / 10.0 + 0.0),
            );
        }
    }
    for (method, name) in METHODS.into_iter().enumerate() {
        let worst = |way: &Ways, measure: Measure| {
            format!(
                "{:.2}",
                greatest((0..=STEPS).map(|k| way.change(method, k, measure).abs()))
            )
        };
        let cells = ways
            .iter()
            .flat_map(|way| [worst(way, Mesh::signed_volume), worst(way, Mesh::area)]);
        table.push([name.to_owned()].into_iter().chain(cells));
    }
    section.table(table);
    for way in &ways {
        section.plot(
            way.plot("volume", Mesh::signed_volume),
            format!("Volume on the way to the {} bar.", way.name),
        );
        section.plot(
            way.plot("area", Mesh::area),
            format!("Area on the way to the {} bar.", way.name),
        );
    }
    section.wide(
        "shrinking.png",
        "Both ends in blue, and the shape half way by each method.",
        &sheet.compose()?,
    )?;
    Ok(section)
}

impl Ways {
    fn new(name: &'static str, from: Mesh, to: Mesh) -> Result<Self, ReproduceError> {
        let shapes = [from, to];
        let frames = walk(&shapes).map_err(failed("bar"))?;
        Ok(Self {
            name,
            shapes,
            frames,
        })
    }

    /// How much a frame has more than the mean of both ends, in percent.
    fn change(&self, method: usize, step: usize, measure: Measure) -> f64 {
        let alpha = step as f64 / STEPS as f64;
        let expected = (1.0 - alpha) * measure(&self.shapes[0]) + alpha * measure(&self.shapes[1]);
        100.0 * (measure(&self.frames[method][step]) / expected - 1.0)
    }

    fn plot(&self, what: &str, measure: Measure) -> Plot {
        let plot = Plot::new(
            format!("{}, {what}", self.name),
            Axis::linear("α"),
            Axis::linear(format!("{what}, % of the ends' mean")),
        );
        METHODS
            .iter()
            .enumerate()
            .fold(plot, |plot, (method, name)| {
                let points = (0..=STEPS).map(|k| {
                    [
                        k as f64 / STEPS as f64,
                        100.0 + self.change(method, k, measure),
                    ]
                });
                plot.with_series(Series::new(*name, Marks::Line, points))
            })
    }

    fn add_row(&self, sheet: &mut ContactSheet) -> Result<(), ReproduceError> {
        let in_view: Vec<DVec3> = self
            .shapes
            .iter()
            .flat_map(Mesh::positions)
            .copied()
            .collect();
        let shot = Shot::new(VIEW, SIZE);
        let [springs, lines, arap] = [0, 1, 2].map(|method| {
            (
                &self.frames[method][STEPS / 2],
                METHODS[method],
                Origin::Between,
            )
        });
        let [from, to] = [
            (&self.shapes[0], "source", Origin::Given),
            (&self.shapes[1], "target", Origin::Given),
        ];
        for (mesh, name, origin) in [from, to, lines, arap, springs] {
            sheet.push(picture(mesh, origin, shot, &in_view)?, name);
        }
        Ok(())
    }
}

fn walk(shapes: &[Mesh; 2]) -> Result<[Vec<Mesh>; 3], PhysicsError> {
    let mut blend = Blend::new(shapes, &BlendOptions::default())?;
    blend.prepare_walk(STEPS + 1)?;
    let arap = ArapInterpolation::new(&shapes[0], &shapes[1], &InteriorOptions::default())?;
    let mut frames = [const { Vec::new() }; 3];
    for alpha in (0..=STEPS).map(|step| step as f64 / STEPS as f64) {
        let lines = shapes[0]
            .positions()
            .iter()
            .zip(shapes[1].positions())
            .map(|(a, b)| a.lerp(*b, alpha))
            .collect();
        let all = [blend.between(alpha)?.positions, lines, arap.at(alpha)];
        for (frames, positions) in frames.iter_mut().zip(all) {
            frames.push(shapes[0].posed(positions)?);
        }
    }
    Ok(frames)
}
