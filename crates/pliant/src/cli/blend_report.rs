//! What `pliant blend` says of its frames.

use std::cmp::Reverse;

use pliant_mesh::glam::DVec3;
use pliant_physics::{ContactFrame, SceneBlend, Solver, snaps};
use serde_json::{Map, Value, json};

use super::blend::Args;

/// A frame, and how long it took.
pub(super) struct Timed {
    pub(super) frame: ContactFrame,
    pub(super) ms: f64,
}

/// Frames, and what they were made by.
pub(super) struct BlendReport<'a> {
    pub(super) args: &'a Args,
    pub(super) scene: &'a SceneBlend,
    /// Of the full mesh.
    pub(super) vertices: usize,
    pub(super) frames: &'a [Timed],
    pub(super) setup_ms: f64,
}

impl BlendReport<'_> {
    pub(super) fn describe(&self) -> Map<String, Value> {
        let counts = self.scene.blend().spring_counts();
        let mut object = Map::new();
        object.insert("springs".into(), json!({"structure": counts.structure, "bending": counts.bending, "internal": counts.internal}));
        object.insert(
            "interior_points".into(),
            json!(self.scene.blend().interior_points()),
        );
        object.insert(
            "solver".into(),
            json!(format!("{:?}", self.args.solver).to_lowercase()),
        );
        object.insert("energy".into(), json!(self.args.energy.to_string()));
        object.insert("setup_ms".into(), json!(self.setup_ms));
        object.insert(
            "frames".into(),
            self.frames
                .iter()
                .map(|timed| self.describe_frame(timed))
                .collect(),
        );
        object.insert("vertices".into(), json!(self.vertices));
        object.insert(
            "cage".into(),
            self.scene.cage().map_or(
                Value::Null,
                |cage| json!({"vertices": cage.shapes()[0].vertex_count()}),
            ),
        );
        object
    }

    fn describe_frame(&self, Timed { frame, ms }: &Timed) -> Value {
        let shape = &frame.shape;
        let mut object = json!({
            "iterations": shape.report.iterations,
            "residual": shape.report.residual,
            "converged": shape.report.converged,
            "area": shape.area,
            "volume": shape.volume,
            "strain": shape.strain,
            "linear": {"area": shape.linear.area, "volume": shape.linear.volume, "strain": shape.linear.strain},
            "inverted": shape.inverted,
            "contacts": frame.contacts,
            "faces": frame.faces,
            "substeps": frame.substeps,
            "ms": ms,
        });
        if self.args.self_contact {
            object["self_contacts"] = json!(frame.self_contacts);
            object["self_depth"] = json!(frame.self_depth);
        }
        match self.args.weights.is_empty() {
            true => object["alpha"] = json!(shape.weights[1]),
            false => object["weights"] = json!(shape.weights),
        }
        object
    }

    /// For a person.
    pub(super) fn told(&self) -> String {
        let Self {
            args,
            scene,
            vertices,
            frames,
            setup_ms,
        } = self;
        let ms: f64 = frames.iter().map(|timed| timed.ms).sum::<f64>() / frames.len() as f64;
        let worst = frames
            .iter()
            .map(|timed| timed.frame.shape.report.residual)
            .fold(0.0, f64::max);
        let inverted: usize = frames
            .iter()
            .map(|timed| timed.frame.shape.inverted)
            .max()
            .unwrap_or(0);
        let touching = frames
            .iter()
            .map(|timed| timed.frame.contacts)
            .max()
            .unwrap_or(0);
        let touching = if args.obstacle.is_empty() {
            String::new()
        } else {
            format!(", at most {touching} contact(s)")
        };
        let volume = self.volume().map(|[least, most, lines]| {
            format!(", volume {least:.0} to {most:.0} % of the way's (straight lines {lines:.0} %)")
        });
        let pairs = frames
            .iter()
            .map(|timed| timed.frame.self_contacts)
            .max()
            .unwrap_or(0);
        let pairs = if args.self_contact {
            format!(", at most {pairs} pair(s) of the surface push each other")
        } else {
            String::new()
        };
        format!(
            "{} frame(s) of {vertices} vertices and {} points inside, {} springs; ready in {setup_ms:.0} ms, {ms:.1} ms a frame; forces \
             balance to {worst:.1e}{}, at most {inverted} element(s) turned over{touching}{pairs}; written to {}\n",
            frames.len(),
            scene.blend().interior_points(),
            scene.blend().spring_counts().in_shape(),
            volume.unwrap_or_default(),
            args.out.display()
        )
    }

    /// Volumes on a walk in percent of what lies evenly between its ends': the least, the most, and
    /// the least of straight lines.
    fn volume(&self) -> Option<[f64; 3]> {
        let [first, .., last] = self.frames else {
            return None;
        };
        let (a, b) = (first.frame.shape.volume, last.frame.shape.volume);
        let percent = |volume: f64, alpha: f64| 100.0 * volume / (a + (b - a) * alpha);
        let own = || {
            self.frames
                .iter()
                .map(|timed| percent(timed.frame.shape.volume, timed.frame.shape.weights[1]))
        };
        let lines = self.frames.iter().map(|timed| {
            percent(
                timed.frame.shape.linear.volume,
                timed.frame.shape.weights[1],
            )
        });
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        (a > 0.0 && b > 0.0).then(|| {
            [
                least(&mut own()),
                own().fold(0.0, f64::max),
                least(&mut { lines }),
            ]
        })
    }

    /// What a user should know.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        let of_frames = [
            self.not_balanced(),
            not_settled(self.frames, self.tolerance()),
            self.snaps(),
            self.turned_over(),
            moved(self.frames),
            stuck(self.frames),
            entered(self.frames),
            self.without_effect(),
        ];
        self.scene
            .notes()
            .iter()
            .cloned()
            .chain(of_frames.into_iter().flatten())
    }

    /// Frames whose forces do not balance, in one sentence.
    fn not_balanced(&self) -> Option<String> {
        let lost = listed(self.frames, |frame| {
            frame.shape.report.residual > self.tolerance()
        })?;
        let worst = self
            .frames
            .iter()
            .map(|timed| timed.frame.shape.report.residual)
            .fold(0.0, f64::max);
        Some(format!(
            "forces do not balance in frame(s) {lost}: the residual is up to {worst:.1e}, above {:.0e}",
            self.tolerance()
        ))
    }

    fn tolerance(&self) -> f64 {
        Solver::from(self.args.solver).tolerance()
    }

    /// Frames to which the shape snaps.
    fn snaps(&self) -> Option<String> {
        let walk: Vec<&[DVec3]> = self
            .frames
            .iter()
            .map(|timed| &timed.frame.shape.positions[..])
            .collect();
        let found: Vec<String> = snaps(&walk).iter().map(usize::to_string).collect();
        let advice = "look at them; a coarse --cage, such as 1500, or a shape in between may lead around that";
        (!found.is_empty()).then(|| {
            format!(
                "the shape snaps to another balance on the way to frame(s) {}; {advice}",
                found.join(", ")
            )
        })
    }

    /// Frames with elements inside that turned over, in one sentence.
    fn turned_over(&self) -> Option<String> {
        let inverted = |timed: &Timed| timed.frame.shape.inverted;
        let (frame, most) = self
            .frames
            .iter()
            .map(inverted)
            .enumerate()
            .max_by_key(|&(k, n)| (n, Reverse(k)))?;
        let way_out = if self.args.energy.volume().is_none() {
            "; --energy springs,volume keeps them"
        } else {
            ""
        };
        (most > 0).then(|| {
            format!(
                "{most} element(s) inside turned over in frame {frame}, the most of all{way_out}"
            )
        })
    }

    /// What was asked for and changes nothing.
    fn without_effect(&self) -> Option<String> {
        let idle = self.args.friction > 0.0 && self.args.obstacle.is_empty();
        idle.then(|| "--friction is felt at obstacles only, and there is none".into())
    }
}

/// Frames whose forces balance while what touches changes from round to round.
fn not_settled(frames: &[Timed], tolerance: f64) -> Option<String> {
    let lost = listed(frames, |frame| {
        !frame.shape.report.converged && frame.shape.report.residual <= tolerance
    })?;
    Some(format!(
        "contacts do not settle in frame(s) {lost}; more --steps, or an obstacle that leaves the shape some way out, may help"
    ))
}

/// Frames with vertices that were put on an obstacle's surface in the end.
fn moved(frames: &[Timed]) -> Option<String> {
    let some = listed(frames, |frame| frame.moved > 0)?;
    Some(format!(
        "vertices that were still inside an obstacle were moved to its surface in frame(s) {some}"
    ))
}

/// Frames with held vertices inside an obstacle.
fn stuck(frames: &[Timed]) -> Option<String> {
    let some = listed(frames, |frame| frame.stuck > 0)?;
    Some(format!(
        "fixed or pulled vertices are inside an obstacle, and stay, in frame(s) {some}"
    ))
}

/// Frames with vertices inside other parts of the surface.
fn entered(frames: &[Timed]) -> Option<String> {
    let some = listed(frames, |frame| frame.self_depth > 0.0)?;
    let deepest = frames
        .iter()
        .map(|timed| timed.frame.self_depth)
        .fold(0.0, f64::max);
    Some(format!(
        "vertices are still inside other parts of the surface, up to {deepest:.1e} deep, in frame(s) {some}; more --steps may help"
    ))
}

/// The frames that are so, or `None`.
fn listed(frames: &[Timed], is_so: impl Fn(&ContactFrame) -> bool) -> Option<String> {
    let some: Vec<String> = (0..frames.len())
        .filter(|&k| is_so(&frames[k].frame))
        .map(|k| k.to_string())
        .collect();
    (!some.is_empty()).then(|| some.join(", "))
}
