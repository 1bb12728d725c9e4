//! Figure 5.5: what each constraint adds to the surface.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{TouchMethod, TouchOptions, VerletOptions};
use pliant_view::{ContactSheet, Image, View};

use super::numerals::{mean, percent, rounded};
use super::{CHEEK, Cast, ReproduceError, ball, failed, posed_head, pressed};
use crate::page::{Section, Table};
use crate::picture::{Look, Shot};
use crate::touch_job::TouchJob;
use crate::touch_picture::TouchPicture;
use crate::touched_clip::TouchedClip;

const SIZE: [usize; 2] = [276, 262];
/// Across the dent, so that its sides show.
const VIEW: View = View::Orbit {
    azimuth_rad: 1.02,
    elevation_rad: 0.22,
};
/// Seconds after the ball has gone.
const AFTER_SECS: f64 = 1.0;

/// A way to hold the surface together, and what became of it.
struct Held {
    name: &'static str,
    clip: TouchedClip,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Stretching, shearing, bending",
        "Figure 5.5: a ball goes into the cheek and leaves it. The thesis keeps the length of edges; then also the angles of triangles; \
         then also those between them, each with two iterations and without damping. Beside it our default, which has a bed of flesh, \
         masses that follow area, and stiffness in place of projections.",
    );
    let head = cast.head.neutral();
    let base = TouchJob {
        settle_secs: AFTER_SECS,
        ..pressed(head, CHEEK).map_err(failed("head"))?
    };
    let mut all = Vec::new();
    for (name, options) in ways() {
        let job = TouchJob {
            options,
            ..base.clone()
        };
        all.push(Held {
            name,
            clip: job.run(&()).map_err(failed("head"))?,
        });
    }
    let mut table = Table::new(
        "At the turn and a second after the ball has gone: the largest way of a vertex and how far vertices stick out of their neighbours \
         (root mean square of how much more a vertex moved than they did in the mean), both in % of the radius of the patch, and the root \
         mean square change of the length of edges in %. Deepest: how far a vertex ever ends inside the ball, in % of the radius.",
        [
            "by",
            "way",
            "sticks out",
            "edges",
            "way after",
            "sticks out after",
            "edges after",
            "deepest",
        ],
    );
    for held in &all {
        table.push(held.row(head, turn(&base)));
        section.figure(
            &format!("{}: sticks out", held.name),
            format!(
                "{} % of the radius",
                rounded(held.state(head, turn(&base))[1])
            ),
        );
    }
    section.table(table);
    section.wide(
        "constraints.png",
        "Pressed, the same without the ball, and a second after it has gone.",
        &sheet(head, &base, &all)?,
    )?;
    Ok(section)
}

fn ways() -> [(&'static str, TouchOptions); 4] {
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
fn turn(job: &TouchJob) -> usize {
    (job.way_frames() - 1) / 2
}

fn sheet(head: &Mesh, job: &TouchJob, all: &[Held]) -> Result<Image, ReproduceError> {
    let camera = TouchPicture::around(
        head.positions()[CHEEK.center],
        0.95 * CHEEK.radius,
        Shot::new(VIEW, SIZE),
    );
    let (ball, turn) = (ball(head, &CHEEK), turn(job));
    let mut sheet = ContactSheet::new("", all.len());
    for (when, frame, with_ball) in [
        ("pressed", turn, true),
        ("without the ball", turn, false),
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

impl Held {
    fn row(&self, head: &Mesh, turn: usize) -> Vec<String> {
        let states = [turn, self.clip.frames.len() - 1].map(|frame| self.state(head, frame));
        let deepest = percent(self.clip.max_penetration() / CHEEK.radius);
        [self.name.to_owned()]
            .into_iter()
            .chain(states.into_iter().flatten().map(rounded))
            .chain([deepest])
            .collect()
    }

    /// The largest way, how far vertices stick out, and how much edges changed, in %.
    fn state(&self, head: &Mesh, frame: usize) -> [f64; 3] {
        let places = &self.clip.frames[frame];
        let ways: Vec<DVec3> = places
            .iter()
            .zip(head.positions())
            .map(|(place, rest)| *place - *rest)
            .collect();
        let topology = head.topology();
        let moved: Vec<usize> = (0..ways.len())
            .filter(|&v| ways[v] != DVec3::ZERO)
            .collect();
        let sticks_out = moved.iter().map(|&v| {
            let around = topology.vertex_neighbors().row(v);
            let mean =
                around.iter().map(|&w| ways[w as usize]).sum::<DVec3>() / around.len() as f64;
            (ways[v] - mean).length()
        });
        let strains = topology
            .edges()
            .iter()
            .map(|edge| edge.map(|v| v as usize))
            .filter(|[a, b]| ways[*a] != ways[*b]);
        let strains = strains.map(|[a, b]| {
            places[a].distance(places[b]) / head.positions()[a].distance(head.positions()[b]) - 1.0
        });
        let way = ways.iter().map(|way| way.length()).fold(0.0, f64::max);
        [
            way / CHEEK.radius,
            root_mean_square(sticks_out) / CHEEK.radius,
            root_mean_square(strains),
        ]
        .map(|share| 100.0 * share)
    }
}

/// Zero of no values.
fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.map(|value| value * value)).sqrt()
}
