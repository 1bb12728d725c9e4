//! Figure 5.6: damping, and how the skin comes to rest.

use pliant_mesh::glam::DVec3;
use pliant_physics::{TouchMethod, TouchOptions, VerletOptions};
use pliant_view::{ContactSheet, Image, View};

use super::numerals::rounded;
use super::{CHEEK, Cast, ReproduceError, failed, posed_head, pressed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::picture::{Look, Shot};
use crate::touch_job::TouchJob;
use crate::touch_picture::TouchPicture;

const SIZE: [usize; 2] = [276, 262];
const VIEW: View = View::Orbit {
    azimuth_rad: 1.02,
    elevation_rad: 0.22,
};
/// *Paper*: figure 5.6.
const DAMPING: [f64; 3] = [0.3, 0.6, 0.9];
/// A quick push: there and back in a quarter of a second.
const FRAMES: usize = 15;
/// How long the skin is watched after the ball has left.
const WATCHED_SECS: f64 = 2.5;
/// The frames of the pictures, counted from the one in which the ball has left.
const SHOWN: [usize; 2] = [0, 60];
/// The skin is at rest within this part of its largest way.
const AT_REST: f64 = 0.05;

/// The way of the middle of the patch over time.
struct Course {
    name: String,
    /// Places of all vertices in the frames that are shown.
    shown: [Vec<DVec3>; 2],
    /// How far it is from its place in each frame, in % of the radius.
    ways: Vec<f64>,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Damping",
        "Figure 5.6: a quick push, and what is left of it. The thesis takes a part of the velocity away in every step (eq. 5.3), so that the \
         same number damps more at a higher rate of frames; ours is the damping ratio of a swing, 0.3 unless told otherwise, at any rate.",
    );
    let base = TouchJob {
        frames: Some(FRAMES),
        settle_secs: WATCHED_SECS,
        ..pressed(cast.head.neutral(), CHEEK).map_err(failed("head"))?
    };
    let courses: Vec<Course> = ways()
        .map(|(name, options)| course(&base, name, options))
        .collect::<Result<_, _>>()?;
    let mut table = Table::new(
        format!(
            "The middle of the patch: its largest way, where it is when the ball has left and a second later, in % of the radius; \
             and the time from then until it stays within {:.0} % of its largest way.",
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
    for course in &courses {
        table.push(course.row(base.fps));
        section.figure(
            &format!("{}: at rest after", course.name),
            format!("{} s", course.at_rest(base.fps)),
        );
    }
    section.table(table);
    section.plot(
        plot(&courses, base.fps),
        "The middle of the patch: the ball comes, turns at 0.117 s and has left at 0.233 s.",
    );
    section.wide(
        "damping.png",
        "When the ball has left, and a second later.",
        &sheet(&base, &courses)?,
    )?;
    Ok(section)
}

fn ways() -> impl Iterator<Item = (String, TouchOptions)> {
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

fn course(base: &TouchJob, name: String, options: TouchOptions) -> Result<Course, ReproduceError> {
    let clip = TouchJob {
        options,
        ..base.clone()
    }
    .run(&())
    .map_err(failed("head"))?;
    let rest = base.mesh.positions()[CHEEK.center];
    let ways = clip
        .frames
        .iter()
        .map(|places| 100.0 * places[CHEEK.center].distance(rest) / CHEEK.radius)
        .collect();
    Ok(Course {
        name,
        shown: SHOWN.map(|after| clip.frames[FRAMES - 1 + after].clone()),
        ways,
    })
}

impl Course {
    fn row(&self, fps: f64) -> [String; 5] {
        let largest = self.ways.iter().copied().fold(0.0, f64::max);
        let [left, later] = SHOWN.map(|after| rounded(self.ways[FRAMES - 1 + after]));
        [
            self.name.clone(),
            rounded(largest),
            left,
            later,
            self.at_rest(fps),
        ]
    }

    /// How long it takes from when the ball has left.
    fn at_rest(&self, fps: f64) -> String {
        let largest = self.ways.iter().copied().fold(0.0, f64::max);
        let last = self.ways.iter().rposition(|way| *way > AT_REST * largest);
        match last {
            Some(frame) if frame + 1 == self.ways.len() => format!("not in {WATCHED_SECS}"),
            Some(frame) => format!("{:.2}", (frame + 1).saturating_sub(FRAMES - 1) as f64 / fps),
            None => "0".to_owned(),
        }
    }
}

fn plot(courses: &[Course], fps: f64) -> Plot {
    let mut plot = Plot::new(
        "Coming to rest",
        Axis::linear("time, s"),
        Axis::linear("way of the middle, % of the radius"),
    );
    for course in courses {
        let points = course
            .ways
            .iter()
            .enumerate()
            .map(|(frame, way)| [frame as f64 / fps, *way]);
        plot = plot.with_series(Series::new(&course.name, Marks::Line, points));
    }
    plot.with_size([760, 400])
}

fn sheet(base: &TouchJob, courses: &[Course]) -> Result<Image, ReproduceError> {
    let camera = TouchPicture::around(
        base.mesh.positions()[CHEEK.center],
        0.95 * CHEEK.radius,
        Shot::new(VIEW, SIZE),
    );
    let mut sheet = ContactSheet::new("", courses.len());
    for (k, after) in SHOWN.iter().enumerate() {
        for course in courses {
            let pose = posed_head(&base.mesh, &course.shown[k])?;
            sheet.push(
                camera.draw(Look::default().scene(&pose))?,
                format!("{}, frame {}", course.name, FRAMES - 1 + after),
            );
        }
    }
    Ok(sheet.compose()?)
}
