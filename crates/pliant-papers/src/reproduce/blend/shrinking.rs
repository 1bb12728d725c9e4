//! Figure 1: area and volume on the path by springs, linear and ARAP interpolation.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_physics::{
    ArapInterpolation, Blend, BlendOptions, EnergyTerms, InteriorOptions, PhysicsError,
};
use pliant_view::{ContactSheet, Shot, View};

use super::numerals::{greatest, row};
use super::portrait::{Origin, picture};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Axis, Best, Marks, Plot, Section, Series, Table};

const SIZE: [usize; 2] = [208, 170];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.45,
    elevation_rad: 0.3,
};
/// Steps of the plots.
const STEPS: usize = 20;
/// Angle of the bend or twist.
const DEGREES: f64 = 150.0;
const METHODS: [&str; 3] = ["springs", "lines", "ARAP"];

/// The path from the straight bar to a shape, by each of the methods.
struct MethodPaths {
    name: &'static str,
    shapes: [Mesh; 2],
    /// By method, then by step.
    frames: [Vec<Mesh>; 3],
}

/// A measure of a shape.
type Measure = fn(&Mesh) -> f64;

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "What linear interpolation loses",
        "Figure 1: half way between a straight bar and one that is bent or twisted by 150°. \
         Linear interpolation does not follow the rotation and loses volume. Springs with blended \
         rest lengths keep it. So does as-rigid-as-possible interpolation (Alexa et al. 2000) \
         over the same tetrahedra, which rotates each of them and fits one shape to all; but it \
         has no contact.",
    );

    let straight = pliant_specimens::load("specimen:bar")?.mesh()?;
    let mesh_failed = |source: MeshError| ReproduceError::Mesh {
        model: "bar".to_owned(),
        source,
    };
    let bent = bars::bent(&straight, DEGREES).map_err(mesh_failed)?;
    let twisted = bars::twisted(&straight, DEGREES).map_err(mesh_failed)?;
    let paths = [
        MethodPaths::new("bent", straight.clone(), bent)?,
        MethodPaths::new("twisted", straight, twisted)?,
    ];

    let mut sheet = ContactSheet::new("", 5);
    for path in &paths {
        path.add_row(&mut sheet)?;
        path.add_figures(&mut section);
    }

    section.table(table(&paths));
    for path in &paths {
        section.plot(
            path.plot("volume", Mesh::signed_volume),
            format!("Volume on the path to the {} bar.", path.name),
        );
        section.plot(
            path.plot("area", Mesh::area),
            format!("Area on the path to the {} bar.", path.name),
        );
    }
    section.wide(
        "shrinking.png",
        "Both ends in blue, and the shape half way by each method.",
        &sheet.compose()?,
    )?;

    Ok(section)
}

fn table(paths: &[MethodPaths; 2]) -> Table {
    let mut table = Table::new(
        "The largest change on the way, in % of the weighted mean of both ends.",
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

    for (method, name) in METHODS.into_iter().enumerate() {
        let mut cells = Vec::new();
        for path in paths {
            for measure in [Mesh::signed_volume as Measure, Mesh::area] {
                let changes = (0..=STEPS).map(|k| path.change(method, k, measure).abs());
                cells.push(format!("{:.2}", greatest(changes)));
            }
        }
        table.push(row(name, cells));
    }
    table
}

impl MethodPaths {
    fn new(name: &'static str, from: Mesh, to: Mesh) -> Result<Self, ReproduceError> {
        let shapes = [from, to];
        let frames = frames(&shapes).map_err(failed("bar"))?;
        Ok(Self {
            name,
            shapes,
            frames,
        })
    }

    /// How much a frame has more than the mean of both ends, in percent.
    fn change(&self, method: usize, step: usize, measure: Measure) -> f64 {
        let alpha = step as f64 / STEPS as f64;
        // A perfect interpolation changes volume and area linearly between the ends.
        let expected = (1.0 - alpha) * measure(&self.shapes[0]) + alpha * measure(&self.shapes[1]);
        100.0 * (measure(&self.frames[method][step]) / expected - 1.0)
    }

    /// The change of volume half way, by each method.
    fn add_figures(&self, section: &mut Section) {
        for (method, name) in METHODS.into_iter().enumerate() {
            let half = self.change(method, STEPS / 2, Mesh::signed_volume);
            section.figure(
                &format!("volume half way, {}, {name}", self.name),
                // Adding zero avoids a negative zero.
                format!("{:+.1} %", (10.0 * half).round() / 10.0 + 0.0),
            );
        }
    }

    fn plot(&self, what: &str, measure: Measure) -> Plot {
        let mut plot = Plot::new(
            format!("{}, {what}", self.name),
            Axis::linear("α"),
            Axis::linear(format!("{what}, % of the ends' mean")),
        );
        for (method, name) in METHODS.into_iter().enumerate() {
            let points = (0..=STEPS).map(|k| {
                let alpha = k as f64 / STEPS as f64;
                [alpha, 100.0 + self.change(method, k, measure)]
            });
            plot = plot.with_series(Series::new(name, Marks::Line, points));
        }
        plot
    }

    fn add_row(&self, sheet: &mut ContactSheet) -> Result<(), ReproduceError> {
        let in_view: Vec<DVec3> = self
            .shapes
            .iter()
            .flat_map(Mesh::positions)
            .copied()
            .collect();

        let shot = Shot::new(VIEW, SIZE);
        for (mesh, name) in self.shapes.iter().zip(["source", "target"]) {
            sheet.push(picture(mesh, Origin::Given, shot, &in_view)?, name);
        }
        for method in [1, 2, 0] {
            let half = &self.frames[method][STEPS / 2];
            let image = picture(half, Origin::Between, shot, &in_view)?;
            sheet.push(image, METHODS[method]);
        }

        Ok(())
    }
}

/// The frames by each method.
fn frames(shapes: &[Mesh; 2]) -> Result<[Vec<Mesh>; 3], PhysicsError> {
    let mut blend = Blend::new(
        shapes,
        &BlendOptions::default().with_energy(EnergyTerms::springs()),
    )?;
    blend.prepare_frames(STEPS + 1)?;
    let arap = ArapInterpolation::new(&shapes[0], &shapes[1], &InteriorOptions::default())?;

    // All methods at the same α, in the order of METHODS.
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
