//! Pictures of a face with pins.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::PinResult;
use pliant_view::{
    Color, ColorMap, Image, Look, Marker, Material, Paint, ScalarPaint, ScalarRange, Scene, Shot,
    Stroke, View,
};

use super::super::ReproduceError;
use super::super::subject::Subject;

/// The view of all faces: a little from their left, so that the profile is visible.
pub(in super::super) const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.05,
};
/// Width of a row of pictures on the page, and of the gap between two.
const ROW: [usize; 2] = [1130, 14];
/// Vertices that move by more than this share of the largest displacement define the frame.
const SHOWN: f64 = 0.2;
/// Enlargement of the frame: room for pins that leave the face.
const MARGIN: f64 = 1.2;
const START: [u8; 3] = [255, 255, 255];
const GOAL: [u8; 3] = [32, 104, 176];
const REACHED: [u8; 3] = [206, 62, 48];

/// Faces in rows of some columns, from one camera.
#[derive(Debug)]
pub(in super::super) struct Portraits<'s> {
    subject: &'s Subject<'s>,
    size: [usize; 2],
    frame: Vec<DVec3>,
}

/// The marks of a pin: its start, its goal, and the position that it reached.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct PinMarks {
    pub(in super::super) from: DVec3,
    pub(in super::super) goal: DVec3,
    pub(in super::super) reached: DVec3,
}

impl PinMarks {
    pub(in super::super) fn new(from: DVec3, result: &PinResult) -> Self {
        Self {
            from,
            goal: result.goal,
            reached: result.reached,
        }
    }
}

impl<'s> Portraits<'s> {
    pub(in super::super) fn new(subject: &'s Subject<'s>, columns: usize) -> Self {
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

        // Enlarged about the middle, so that pins outside of the face are in the picture.
        let middle = frame.iter().sum::<DVec3>() / frame.len().max(1) as f64;
        for place in frame.iter_mut() {
            *place = middle + MARGIN * (*place - middle);
        }

        Self {
            subject,
            size: [width, width + width / 8],
            frame,
        }
    }

    /// The face at `weights`, with a line from the start (white) to the goal (blue) of each pin and a
    /// red ball at its reached position.
    pub(in super::super) fn pose(
        &self,
        weights: &[f64],
        pins: &[PinMarks],
    ) -> Result<Image, ReproduceError> {
        self.draw(Look::default().scene(&self.posed(weights)?), pins)
    }

    /// The face at `weights`, coloured by a number per vertex from dark at 0 to light at `most`.
    pub(in super::super) fn heat(
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

    fn draw(&self, mut scene: Scene, pins: &[PinMarks]) -> Result<Image, ReproduceError> {
        // Towards the camera, so that the face does not hide the marks, nor the goal the reached one.
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
