//! Figure 6: shapes between two poses of hands and animals.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendFrame, BlendOptions, PhysicsError};
use pliant_view::{ContactSheet, View};
use web_time::Instant;

use super::numerals::{file_stem, grouped, mean, rounded};
use super::portrait::{Origin, picture};
use super::{Data, ReproduceError, failed};
use crate::page::{Section, Table};
use crate::picture::Shot;
use crate::transfer_job::milliseconds;

const SIZE: [usize; 2] = [208, 210];
/// Frames that are shown, all of them measured.
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

/// Poses of the built-in hand: flat, and a fist.
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

/// A walk between two poses.
struct Walk {
    mesh: Mesh,
    frames: Vec<BlendFrame>,
    vertices: usize,
    springs: usize,
    step_ms: f64,
}

pub(super) fn section(data: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Hands and animals",
        "Figure 6: given poses in blue, those between them in yellow. Every step is counted that did not converge, and every element inside \
         that turned over.",
    );
    let mut table = Table::new(
        format!(
            "{STEPS} steps from pose to pose. Volume half way in % of the mean of both ends, by springs and by straight lines. Turned over: \
             the most elements inside in one step. Times are of this machine."
        ),
        [
            "shape",
            "vertices",
            "springs",
            "one step, ms",
            "not converged",
            "volume, springs",
            "volume, lines",
            "turned over",
        ],
    );
    for pair in BUILT_IN.iter().chain(&SHARED) {
        let Some(asset) = data.asset(pair.locator)? else {
            continue;
        };
        let clip = asset.clip()?;
        let [from, to] = pair.frames.map(|frame| clip.mesh_at(frame));
        let rig_failed = |source| ReproduceError::Rig {
            model: pair.name.to_owned(),
            source,
        };
        let shapes = [from.map_err(rig_failed)?, to.map_err(rig_failed)?];
        let walk = Walk::between(&shapes).map_err(failed(pair.name))?;
        let row = walk.row(&shapes);
        section.figure(
            &format!("{}: volume half way", pair.name),
            format!("{} %, lines {} %", row[4], row[5]),
        );
        table.push([pair.name.to_owned()].into_iter().chain(row));
        let file = format!("{}.png", file_stem(pair.name));
        section.wide(
            &file,
            &format!("The {}.", pair.name),
            &walk.sheet(pair)?.compose()?,
        )?;
    }
    section.table(table);
    Ok(section)
}

impl Walk {
    fn between(shapes: &[Mesh; 2]) -> Result<Self, PhysicsError> {
        let mut blend = Blend::new(shapes, &BlendOptions::default())?;
        blend.prepare_walk(STEPS + 1)?;
        let (mut frames, mut spans) = (Vec::new(), Vec::new());
        for step in 0..=STEPS {
            let began = Instant::now();
            frames.push(blend.between(step as f64 / STEPS as f64)?);
            if step % STEPS != 0 {
                spans.push(milliseconds(began)); // The ends cost nothing.
            }
        }
        let springs = blend.spring_counts().in_shape();
        let vertices = shapes[0].vertex_count() + blend.interior_points();
        Ok(Self {
            mesh: shapes[0].clone(),
            frames,
            vertices,
            springs,
            step_ms: mean(spans),
        })
    }

    fn row(&self, shapes: &[Mesh; 2]) -> [String; 7] {
        let half = &self.frames[STEPS / 2];
        let mean = 0.5 * (shapes[0].signed_volume() + shapes[1].signed_volume());
        [
            grouped(self.vertices),
            grouped(self.springs),
            rounded(self.step_ms),
            self.frames
                .iter()
                .filter(|frame| !frame.report.converged)
                .count()
                .to_string(),
            format!("{:.1}", 100.0 * half.volume / mean),
            format!("{:.1}", 100.0 * half.linear.volume / mean),
            self.frames
                .iter()
                .map(|frame| frame.inverted)
                .max()
                .map_or_else(String::new, grouped),
        ]
    }

    fn sheet(&self, pair: &Pair) -> Result<ContactSheet, ReproduceError> {
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
