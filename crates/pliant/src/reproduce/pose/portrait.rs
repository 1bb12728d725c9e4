//! Pictures of a face that is held by pins.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::PinResult;
use pliant_view::{
    Color, ColorMap, Image, Marker, Material, Paint, ScalarPaint, ScalarRange, Scene, Stroke, View,
};

use super::ReproduceError;
use super::subject::Subject;
use crate::picture::{Look, Shot};

/// Where all faces are seen from: a little from their left, so that profiles show.
pub(super) const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.05,
};
/// Width of a row of pictures on the page, and of the gap between two.
const ROW: [usize; 2] = [1130, 14];
/// The share of the largest displacement above which a vertex is in the picture: what moves less is
/// in it anyway, or neck.
const SHOWN: f64 = 0.2;
/// The frame in parts of what is in it: room for pins that leave the face.
const MARGIN: f64 = 1.2;
const START: [u8; 3] = [255, 255, 255];
const GOAL: [u8; 3] = [32, 104, 176];
const REACHED: [u8; 3] = [206, 62, 48];

/// Faces in rows of as many columns, from one place.
#[derive(Debug)]
pub(super) struct Portraits<'s> {
    subject: &'s Subject<'s>,
    size: [usize; 2],
    frame: Vec<DVec3>,
}

/// A pin in a picture: where it was taken, was to go and went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) from: DVec3,
    pub(super) goal: DVec3,
    pub(super) reached: DVec3,
}

impl Held {
    pub(super) fn new(from: DVec3, result: &PinResult) -> Self {
        Self {
            from,
            goal: result.goal,
            reached: result.reached,
        }
    }
}

impl<'s> Portraits<'s> {
    pub(super) fn new(subject: &'s Subject<'s>, columns: usize) -> Self {
        let width = ROW[0] / columns.max(1) - ROW[1];
        let places = subject.model.rig.neutral().positions();
        let most = SHOWN
            * subject
                .skin
                .iter()
                .map(|&v| subject.reach[v as usize])
                .fold(0.0, f64::max);
        let mut frame: Vec<DVec3> = subject
            .skin
            .iter()
            .map(|&v| v as usize)
            .filter(|&v| subject.reach[v] > most)
            .map(|v| places[v])
            .collect();
        let middle = frame.iter().sum::<DVec3>() / frame.len().max(1) as f64;
        frame
            .iter_mut()
            .for_each(|place| *place = middle + MARGIN * (*place - middle));
        Self {
            subject,
            size: [width, width + width / 8],
            frame,
        }
    }

    /// The face at `weights`, with a line from where each pin was (white) to its goal (blue) and a
    /// red ball where it went.
    pub(super) fn pose(&self, weights: &[f64], pins: &[Held]) -> Result<Image, ReproduceError> {
        self.draw(Look::default().scene(&self.posed(weights)?), pins)
    }

    /// The face at `weights` with a number for every vertex as colours, from dark at 0 to light at
    /// `most`.
    pub(super) fn heat(
        &self,
        weights: &[f64],
        values: Vec<f64>,
        most: f64,
    ) -> Result<Image, ReproduceError> {
        let paint = ScalarPaint::new(values, ColorMap::Sequential).with_range(ScalarRange {
            low: 0.0,
            high: most,
        });
        let material = Material::clay().with_paint(Paint::VertexScalar(paint));
        self.draw(Scene::of(&self.posed(weights)?, material), &[])
    }

    fn posed(&self, weights: &[f64]) -> Result<Mesh, ReproduceError> {
        let rig = &self.subject.model.rig;
        rig.neutral()
            .posed(rig.evaluate(weights))
            .map_err(|source| self.subject.mesh_error(source))
    }

    fn draw(&self, mut scene: Scene, pins: &[Held]) -> Result<Image, ReproduceError> {
        // Towards the eye, so that neither the face hides them nor a goal what reached it.
        let lifted =
            |place: DVec3, by: f64| place + 0.04 * by * self.subject.size * VIEW.direction();
        let srgb = |[r, g, b]: [u8; 3]| Color::srgb8(r, g, b);
        for pin in pins {
            scene.strokes.push(Stroke {
                points: [pin.from, pin.goal]
                    .map(|place| lifted(place, 1.0))
                    .to_vec(),
                color: srgb(GOAL),
                width_px: 2.0,
            });
            let balls = [
                (pin.from, START, 2.5, 1.0),
                (pin.goal, GOAL, 4.5, 1.2),
                (pin.reached, REACHED, 3.0, 1.8),
            ];
            let ball = |(place, color, radius_px, by)| Marker {
                position: lifted(place, by),
                color: srgb(color),
                radius_px,
            };
            scene.markers.extend(balls.map(ball));
        }
        Ok(Shot::new(VIEW, self.size).framed_by(&self.frame, &scene)?)
    }
}
