//! Figure 6: blends between two poses of hands and animals.

use pliant_io::Asset;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendFrame, BlendOptions, EnergyTerms, PhysicsError};
use pliant_view::{ContactSheet, Shot, View};
use web_time::Instant;

use super::numerals::{file_stem, grouped, mean, rounded, row};
use super::portrait::{Origin, picture};
use super::{Data, ReproduceError, failed};
use crate::page::{Section, Table};
use crate::reproduce::milliseconds;

const SIZE: [usize; 2] = [208, 210];
/// Steps of a path; all are measured, and some are shown.
const STEPS: usize = 12;
const SHOWN: [usize; 5] = [0, 3, 6, 9, 12];

/// Two frames of a clip.
pub(super) struct Pair {
    name: &'static str,
    pub(super) locator: &'static str,
    frames: [usize; 2],
    view: View,
}

const fn orbit(azimuth_rad: f64, elevation_rad: f64) -> View {
    View::Orbit {
        azimuth_rad,
        elevation_rad,
    }
}

/// Two poses of the built-in hand: flat, and a fist.
const BUILT_IN: [Pair; 1] = [Pair {
    name: "hand",
    locator: "specimen:hand",
    frames: [0, 3],
    view: orbit(0.5, 0.2),
}];

/// Poses of the sets in a data folder.
pub(super) const SHARED: [Pair; 3] = [
    Pair {
        name: "horse",
        locator: "horse-camel/horse-poses.reference.obj+horse-camel/horse-poses.frames.npy",
        frames: [1, 4],
        view: orbit(1.05, 0.12),
    },
    Pair {
        name: "cow",
        locator: "elastic-cow/elastic-cow-every4th.reference.obj+elastic-cow/elastic-cow-every4th.frames.npy",
        frames: [4, 39],
        view: orbit(0.9, 0.2),
    },
    Pair {
        name: "dancer",
        locator: "samba/samba-every7th.reference.obj+samba/samba-every7th.frames.npy",
        frames: [2, 14],
        view: orbit(0.3, 0.08),
    },
];

/// A path between two poses.
struct PosePath {
    mesh: Mesh,
    frames: Vec<BlendFrame>,
    vertices: usize,
    springs: usize,
    step_ms: f64,
}

pub(super) fn section(data: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Hands and animals",
        "Figure 6: given poses in blue, poses between them in yellow. The table counts the steps \
         that did not converge and the inverted elements.",
    );

    let mut table = Table::new(
        format!(
            "{STEPS} steps from pose to pose. Volume half way in % of the mean of both ends, by \
             springs and by linear interpolation. Inverted elements: the largest number in a step. \
             Times are of this machine."
        ),
        [
            "shape",
            "vertices",
            "springs",
            "one step, ms",
            "not converged",
            "volume, springs",
            "volume, lines",
            "inverted elements",
        ],
    );

    for pair in BUILT_IN.iter().chain(&SHARED) {
        // Sets that the data folder lacks are reported as warnings.
        let Some(asset) = data.asset(pair.locator)? else {
            continue;
        };

        let shapes = pair.shapes(&asset)?;
        let path = PosePath::between(&shapes).map_err(failed(pair.name))?;
        let cells = path.row(&shapes);
        section.figure(
            &format!("{}: volume half way", pair.name),
            format!("{} %, lines {} %", cells[4], cells[5]),
        );
        table.push(row(pair.name, cells));
        section.wide(
            &format!("{}.png", file_stem(pair.name)),
            &format!("The {}.", pair.name),
            &path.sheet(pair)?.compose()?,
        )?;
    }

    section.table(table);
    Ok(section)
}

impl Pair {
    fn shapes(&self, asset: &Asset) -> Result<[Mesh; 2], ReproduceError> {
        let clip = asset.clip()?;
        let rig_failed = |source| ReproduceError::Rig {
            model: self.name.to_owned(),
            source,
        };
        let [from, to] = self.frames.map(|frame| clip.mesh_at(frame));
        Ok([from.map_err(rig_failed)?, to.map_err(rig_failed)?])
    }
}

impl PosePath {
    fn between(shapes: &[Mesh; 2]) -> Result<Self, PhysicsError> {
        let mut blend = Blend::new(
            shapes,
            &BlendOptions::default().with_energy(EnergyTerms::springs()),
        )?;
        blend.prepare_frames(STEPS + 1)?;

        let mut frames = Vec::new();
        let mut spans = Vec::new();
        for step in 0..=STEPS {
            let began = Instant::now();
            frames.push(blend.between(step as f64 / STEPS as f64)?);
            if step % STEPS != 0 {
                spans.push(milliseconds(began)); // The ends need no solve.
            }
        }

        Ok(Self {
            mesh: shapes[0].clone(),
            frames,
            vertices: shapes[0].vertex_count() + blend.interior_points(),
            springs: blend.spring_counts().in_shape(),
            step_ms: mean(spans),
        })
    }

    fn row(&self, shapes: &[Mesh; 2]) -> [String; 7] {
        let half = &self.frames[STEPS / 2];
        let mean = 0.5 * (shapes[0].signed_volume() + shapes[1].signed_volume());
        let failed = self.frames.iter().filter(|f| !f.report.converged).count();
        let inverted = self.frames.iter().map(|frame| frame.inverted).max();
        [
            grouped(self.vertices),
            grouped(self.springs),
            rounded(self.step_ms),
            failed.to_string(),
            format!("{:.1}", 100.0 * half.volume / mean),
            format!("{:.1}", 100.0 * half.linear.volume / mean),
            inverted.map_or_else(String::new, grouped),
        ]
    }

    fn sheet(&self, pair: &Pair) -> Result<ContactSheet, ReproduceError> {
        // All shown steps share one frame, so that their sizes can be compared.
        let in_view: Vec<DVec3> = SHOWN
            .iter()
            .flat_map(|&step| &self.frames[step].positions)
            .copied()
            .collect();

        let mut sheet = ContactSheet::new("", SHOWN.len());
        for step in SHOWN {
            let pose = self
                .mesh
                .posed(self.frames[step].positions.clone())
                .map_err(failed(pair.name))?;
            let origin = Origin::at(step as f64 / STEPS as f64);

            sheet.push(
                picture(&pose, origin, Shot::new(pair.view, SIZE), &in_view)?,
                format!("{step}/{STEPS}"),
            );
        }

        Ok(sheet)
    }
}
