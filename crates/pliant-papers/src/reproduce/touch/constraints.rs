//! Figure 5.5: the effect of stretch, shear and bend constraints.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{TouchJob, TouchMethod, TouchOptions, TouchedClip, VerletOptions};
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::numerals::{mean, percent, rounded, row};
use super::{CHEEK, Models, ReproduceError, ball, failed, posed_head, pressed};
use crate::page::{Section, Table};
use crate::pictures::TouchPicture;

const SIZE: [usize; 2] = [276, 262];
/// Across the dent, so that its sides are visible.
const VIEW: View = View::Orbit {
    azimuth_rad: 1.02,
    elevation_rad: 0.22,
};
/// Time after the ball has left.
const AFTER_SECS: f64 = 1.0;

/// The touch with one set of constraints.
struct ConstraintResult {
    name: &'static str,
    clip: TouchedClip,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Stretching, shearing, bending",
        "Figure 5.5: a ball presses the cheek and leaves it. The thesis constrains the lengths of \
         edges, then also the angles of triangles, then also the angles between triangles, each \
         with two iterations and without damping. Beside it is our default, which has a \
         foundation of flesh, masses proportional to area, and a stiffness instead of projections.",
    );

    let head = models.head.neutral();
    let base = TouchJob {
        settle_secs: AFTER_SECS,
        ..pressed(head, CHEEK).map_err(failed("head"))?
    };
    let results = results(&base)?;

    for result in &results {
        let [_, roughness, _] = result.state(head, turning_frame(&base));
        section.figure(
            &format!("{}: roughness", result.name),
            format!("{} % of the radius", rounded(roughness)),
        );
    }
    section.table(table(head, turning_frame(&base), &results));
    section.wide(
        "constraints.png",
        "Pressed, the same without the ball, and a second after the ball has left.",
        &sheet(head, &base, &results)?,
    )?;

    Ok(section)
}

fn results(base: &TouchJob) -> Result<Vec<ConstraintResult>, ReproduceError> {
    let mut results = Vec::new();
    for (name, options) in methods() {
        let job = TouchJob {
            options,
            ..base.clone()
        };
        let clip = job.run(&()).map_err(failed("head"))?;
        results.push(ConstraintResult { name, clip });
    }
    Ok(results)
}

fn table(head: &Mesh, turning_frame: usize, results: &[ConstraintResult]) -> Table {
    let mut table = Table::new(
        "At the turn and a second after the ball has left: the largest displacement of a vertex \
         and the roughness (root mean square difference between the displacement of a vertex and \
         the mean of its neighbours), both in % of the radius of the patch, and the root mean \
         square change of edge lengths in %. Deepest: the greatest depth of a vertex inside the \
         ball in any frame, in % of the radius.",
        [
            "by",
            "displacement",
            "roughness",
            "edges",
            "displacement after",
            "roughness after",
            "edges after",
            "deepest",
        ],
    );
    for result in results {
        table.push(result.row(head, turning_frame));
    }
    table
}

fn methods() -> [(&'static str, TouchOptions); 4] {
    let by =
        |verlet: VerletOptions| TouchOptions::default().with_method(TouchMethod::Verlet(verlet));
    let all = VerletOptions::default();
    [
        ("stretch", by(all.with_shear(false).with_bend(false))),
        ("stretch, shear", by(all.with_bend(false))),
        ("stretch, shear, bend", by(all)),
        ("ours", TouchOptions::default()),
    ]
}

/// The frame in which the ball is deepest.
fn turning_frame(job: &TouchJob) -> usize {
    (job.touch_frames() - 1) / 2
}

fn sheet(head: &Mesh, job: &TouchJob, all: &[ConstraintResult]) -> Result<Image, ReproduceError> {
    let camera = TouchPicture::around(
        head.positions()[CHEEK.center.index()],
        0.95 * CHEEK.radius,
        Shot::new(VIEW, SIZE),
    );
    let ball = ball(head, &CHEEK);
    let deepest = turning_frame(job);

    let mut sheet = ContactSheet::new("", all.len());
    // Rows: pressed with and without the ball, and a second later.
    for (when, frame, with_ball) in [
        ("pressed", deepest, true),
        ("without the ball", deepest, false),
        ("after", job.frame_count() - 1, false),
    ] {
        for held in all {
            let mut scene = Look::default().scene(&posed_head(head, &held.clip.frames[frame])?);
            if with_ball {
                scene = ball.shown(scene, 1.0);
            }
            sheet.push(camera.draw(scene)?, format!("{}, {when}", held.name));
        }
    }

    Ok(sheet.compose()?)
}

impl ConstraintResult {
    fn row(&self, head: &Mesh, turning_frame: usize) -> Vec<String> {
        let last = self.clip.frames.len() - 1;
        let mut cells: Vec<String> = Vec::new();
        for frame in [turning_frame, last] {
            cells.extend(self.state(head, frame).map(rounded));
        }
        cells.push(percent(self.clip.max_penetration() / CHEEK.radius));
        row(self.name, cells)
    }

    /// The largest displacement, the roughness, and the change of edge lengths, in %.
    fn state(&self, head: &Mesh, frame: usize) -> [f64; 3] {
        let positions = &self.clip.frames[frame];
        let displacements: Vec<DVec3> = positions
            .iter()
            .zip(head.positions())
            .map(|(position, rest)| *position - *rest)
            .collect();

        let largest = displacements
            .iter()
            .map(|displacement| displacement.length())
            .fold(0.0, f64::max);
        [
            largest / CHEEK.radius,
            roughness(head, &displacements) / CHEEK.radius,
            edge_strain(head, positions, &displacements),
        ]
        .map(|share| 100.0 * share)
    }
}

/// Root mean square distance of a displacement from the mean of its neighbours, over all vertices
/// that moved.
fn roughness(head: &Mesh, displacements: &[DVec3]) -> f64 {
    let neighbors = head.topology().vertex_neighbors();
    let moved = (0..displacements.len()).filter(|&v| displacements[v] != DVec3::ZERO);
    root_mean_square(moved.map(|v| {
        let around = neighbors.row(v);
        let sum = around
            .iter()
            .map(|&w| displacements[w as usize])
            .sum::<DVec3>();
        (displacements[v] - sum / around.len() as f64).length()
    }))
}

/// Root mean square relative change of length, over all edges that changed.
fn edge_strain(head: &Mesh, positions: &[DVec3], displacements: &[DVec3]) -> f64 {
    let rest = head.positions();
    let changed = head
        .topology()
        .edges()
        .iter()
        .map(|edge| edge.map(|v| v as usize))
        .filter(|&[a, b]| displacements[a] != displacements[b]);
    root_mean_square(
        changed.map(|[a, b]| positions[a].distance(positions[b]) / rest[a].distance(rest[b]) - 1.0),
    )
}

/// The root mean square; zero without values.
fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.map(|value| value * value)).sqrt()
}
