//! Figure 5.6: damping, and the time until the skin is at rest.

use pliant_mesh::glam::DVec3;
use pliant_physics::{TouchJob, TouchMethod, TouchOptions, VerletOptions};
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::numerals::rounded;
use super::{CHEEK, Models, ReproduceError, failed, posed_head, pressed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::pictures::TouchPicture;

const SIZE: [usize; 2] = [276, 262];
const VIEW: View = View::Orbit {
    azimuth_rad: 1.02,
    elevation_rad: 0.22,
};
/// *Çetinaslan 2016*, figure 5.6.
const DAMPING: [f64; 3] = [0.3, 0.6, 0.9];
/// A quick push: press and return in a quarter of a second.
const FRAMES: usize = 15;
/// Simulated time after the ball has left.
const WATCHED_SECS: f64 = 2.5;
/// The frames of the pictures, counted from the one in which the ball has left.
const SHOWN: [usize; 2] = [0, 60];
/// The skin is at rest within this part of its largest displacement.
const AT_REST: f64 = 0.05;

/// The displacement of the middle of the patch over time.
struct DecayCurve {
    name: String,
    /// Positions of all vertices in the shown frames.
    shown: [Vec<DVec3>; 2],
    /// Displacement of the middle in each frame, in % of the radius.
    displacements: Vec<f64>,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Damping",
        "Figure 5.6: the decay after a quick push. The thesis removes a part of the velocity in \
         every step (eq. 5.3), so the same number damps more at a higher frame rate. Ours is the \
         damping ratio of an oscillation, 0.3 by default, at any frame rate.",
    );

    let base = TouchJob {
        frames: Some(FRAMES),
        settle_secs: WATCHED_SECS,
        ..pressed(models.head.neutral(), CHEEK).map_err(failed("head"))?
    };
    let curves: Vec<DecayCurve> = methods()
        .map(|(name, options)| curve(&base, name, options))
        .collect::<Result<_, _>>()?;

    let mut table = Table::new(
        format!(
            "The middle of the patch: its largest displacement, its displacement when the ball \
             has left and one second later, in % of the radius, and the time from then until it \
             stays within {:.0} % of its largest displacement.",
            100.0 * AT_REST
        ),
        [
            "by",
            "largest",
            "ball has left",
            "1 s later",
            "at rest after, s",
        ],
    );

    for curve in &curves {
        table.push(curve.row(base.fps));
        section.figure(
            &format!("{}: at rest after", curve.name),
            format!("{} s", curve.at_rest(base.fps)),
        );
    }

    section.table(table);
    section.plot(
        plot(&curves, base.fps),
        "The middle of the patch. The ball turns back at 0.117 s and has left at 0.233 s.",
    );

    section.wide(
        "damping.png",
        "When the ball has left, and one second later.",
        &sheet(&base, &curves)?,
    )?;

    Ok(section)
}

fn methods() -> impl Iterator<Item = (String, TouchOptions)> {
    let verlet = |k: f64| {
        TouchOptions::default().with_method(TouchMethod::Verlet(
            VerletOptions::default().with_damping(k),
        ))
    };
    let published = DAMPING
        .into_iter()
        .map(move |k| (format!("verlet, damping {k}"), verlet(k)));
    published.chain([("ours".to_owned(), TouchOptions::default())])
}

fn curve(
    base: &TouchJob,
    name: String,
    options: TouchOptions,
) -> Result<DecayCurve, ReproduceError> {
    let clip = TouchJob {
        options,
        ..base.clone()
    }
    .run(&())
    .map_err(failed("head"))?;

    // The middle of the patch has the largest displacement.
    let rest = base.mesh.positions()[CHEEK.center.index()];
    let displacements = clip
        .frames
        .iter()
        .map(|places| 100.0 * places[CHEEK.center.index()].distance(rest) / CHEEK.radius)
        .collect();

    Ok(DecayCurve {
        name,
        shown: SHOWN.map(|after| clip.frames[FRAMES - 1 + after].clone()),
        displacements,
    })
}

impl DecayCurve {
    fn row(&self, fps: f64) -> [String; 5] {
        let largest = self.displacements.iter().copied().fold(0.0, f64::max);
        let [left, later] = SHOWN.map(|after| rounded(self.displacements[FRAMES - 1 + after]));
        [
            self.name.clone(),
            rounded(largest),
            left,
            later,
            self.at_rest(fps),
        ]
    }

    /// The time from the frame in which the ball has left until the skin is at rest.
    fn at_rest(&self, fps: f64) -> String {
        let largest = self.displacements.iter().copied().fold(0.0, f64::max);
        // The last frame beyond the tolerance; from the next one on the skin is at rest.
        let last = self
            .displacements
            .iter()
            .rposition(|length| *length > AT_REST * largest);
        match last {
            Some(frame) if frame + 1 == self.displacements.len() => {
                format!("not in {WATCHED_SECS}")
            }
            Some(frame) => format!("{:.2}", (frame + 1).saturating_sub(FRAMES - 1) as f64 / fps),
            None => "0".to_owned(),
        }
    }
}

fn plot(curves: &[DecayCurve], fps: f64) -> Plot {
    let mut plot = Plot::new(
        "Coming to rest",
        Axis::linear("time, s"),
        Axis::linear("displacement of the middle, % of the radius"),
    );

    for curve in curves {
        let points = curve
            .displacements
            .iter()
            .enumerate()
            .map(|(frame, length)| [frame as f64 / fps, *length]);
        plot = plot.with_series(Series::new(&curve.name, Marks::Line, points));
    }

    plot.with_size([760, 400])
}

fn sheet(base: &TouchJob, curves: &[DecayCurve]) -> Result<Image, ReproduceError> {
    let camera = TouchPicture::around(
        base.mesh.positions()[CHEEK.center.index()],
        0.95 * CHEEK.radius,
        Shot::new(VIEW, SIZE),
    );

    let mut sheet = ContactSheet::new("", curves.len());
    for (k, after) in SHOWN.iter().enumerate() {
        for curve in curves {
            let pose = posed_head(&base.mesh, &curve.shown[k])?;
            sheet.push(
                camera.draw(Look::default().scene(&pose))?,
                format!("{}, frame {}", curve.name, FRAMES - 1 + after),
            );
        }
    }

    Ok(sheet.compose()?)
}
