//! Sketch: a stroke on a face becomes a curve, three pins and their displacements.
//!
//! **Problem.** A user draws a line on a posed face. The face should follow the line, without a
//! second line that gives the start of the surface.
//!
//! **Method.** (1) Rays project the stroke onto the visible surface. (2) A cubic spline with few
//! control points removes the noise. (3) Its begin, middle and end, at equal arc length, become
//! pins. (4) The radius, central angle and middle ordinate of the spline give their displacements,
//! as for a straight wire that is bent into the line.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, sections 3.2.1, 3.2.2 (algorithm 1) and 3.2.4.
//!
//! **Departures.** Algorithm 1 finds the face that is closest to a knot and keeps the last vertex
//! of that face; we use the corner of the face that is nearest to the knot. Two knots on one vertex
//! would give it two goals and are an error; pins anywhere on the surface ([`PinPlace::Surface`])
//! have no such limit. The thesis counts "`k` knots, where `k` corresponds to `D`", the degree 3,
//! and places them at begin, middle and end: three different knots of a spline of two spans, thus
//! five control points. With five, the error of the angle of a half circle is 1 %, with seven
//! 0.04 %; we use seven. Depth was not drawn and is free: on a head, pins in the plane of the stroke
//! pull the corners of a mouth off its cheeks, and unrelated sliders (a puffed cheek, the nose)
//! move.

use glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint, TrianglePoint, vertex_normals};

use crate::{
    Aim, CubicSpline, Cut, DrawingPlane, HorizontalCurve, HorizontalFrame, Pin, ProjectedStroke,
    Rig, RigError, SideStretch, SketchCamera, SurfaceCurve,
};

/// A stroke as a curve on a face, with its pins.
#[derive(Debug, Clone, PartialEq)]
pub struct Sketch {
    /// The spline near the surface.
    pub spline: CubicSpline,
    /// Points of the spline at equal arc length, projected onto the surface.
    pub curve: SurfaceCurve,
    /// The pins at the start, the middle and the end of the stroke.
    pub pins: Vec<Pin>,
    /// Radius of the arc that approximates the stroke; infinite for a straight stroke.
    pub radius: f64,
    /// Its central angle.
    pub central_angle_rad: f64,
    /// Its middle ordinate: the distance of the middle from the chord.
    pub middle_ordinate: f64,
    /// The pieces that were left out, if the stroke left the model.
    pub cut: Option<Cut>,
}

/// Where the pins of a stroke may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinPlace {
    /// On the nearest corner of the closest face, as in Çetinaslan 2016.
    #[default]
    Vertex,
    /// On the closest point of the surface.
    Surface,
}

/// Whether the pins of a stroke constrain depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinDepth {
    /// No: depth was not drawn, and a cheek is not flat like the plane of the stroke.
    #[default]
    Free,
    /// They stay in the plane of the stroke, as in Çetinaslan 2016.
    Plane,
}

/// Options of the pins of a stroke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SketchOptions {
    control_points: usize,
    middle_scale: f64,
    side_scale: f64,
    depth: PinDepth,
    frame: HorizontalFrame,
    side_stretch: SideStretch,
    pin_place: PinPlace,
}

impl Default for SketchOptions {
    fn default() -> Self {
        Self {
            control_points: Self::DEFAULT_CONTROL_POINTS,
            middle_scale: Self::DEFAULT_MIDDLE_SCALE,
            side_scale: Self::DEFAULT_SIDE_SCALE,
            depth: PinDepth::default(),
            frame: HorizontalFrame::default(),
            side_stretch: SideStretch::default(),
            pin_place: PinPlace::default(),
        }
    }
}

impl SketchOptions {
    /// *Measured* on half circles: the error of the radius is 0.02 %, with the five of the thesis
    /// 0.9 %.
    pub const DEFAULT_CONTROL_POINTS: usize = 7;
    /// *Chosen*: half of the bending by the middle, half by the ends, so that the distance of the
    /// middle from the ends is about as drawn. The thesis leaves `β` and `ω` to the user.
    pub const DEFAULT_MIDDLE_SCALE: f64 = 0.5;
    /// *Chosen*: the other half.
    pub const DEFAULT_SIDE_SCALE: f64 = 0.5;

    /// Control points of the spline, at least 4; more follow the hand closer.
    /// Default: [`DEFAULT_CONTROL_POINTS`](Self::DEFAULT_CONTROL_POINTS).
    #[must_use]
    pub fn with_control_points(self, control_points: usize) -> Self {
        Self {
            control_points,
            ..self
        }
    }

    /// `β` of the thesis: multiplies the displacement of the middle pin.
    /// Default: [`DEFAULT_MIDDLE_SCALE`](Self::DEFAULT_MIDDLE_SCALE).
    #[must_use]
    pub fn with_middle_scale(self, middle_scale: f64) -> Self {
        Self {
            middle_scale,
            ..self
        }
    }

    /// `ω` of the thesis: multiplies the displacements of the side pins.
    /// Default: [`DEFAULT_SIDE_SCALE`](Self::DEFAULT_SIDE_SCALE).
    #[must_use]
    pub fn with_side_scale(self, side_scale: f64) -> Self {
        Self { side_scale, ..self }
    }

    /// Whether pins constrain depth. Default: no.
    #[must_use]
    pub fn with_depth(self, depth: PinDepth) -> Self {
        Self { depth, ..self }
    }

    /// The directions of displacements. Default: those of the curve.
    #[must_use]
    pub fn with_frame(self, frame: HorizontalFrame) -> Self {
        Self { frame, ..self }
    }

    /// The direction of side pins. Default: along the tangents of the curve.
    #[must_use]
    pub fn with_side_stretch(self, side_stretch: SideStretch) -> Self {
        Self {
            side_stretch,
            ..self
        }
    }

    /// Where pins may be. Default: on vertices.
    #[must_use]
    pub fn with_pin_place(self, pin_place: PinPlace) -> Self {
        Self { pin_place, ..self }
    }

    fn check(&self) -> Result<(), RigError> {
        for (what, value) in [
            ("the scale of the middle pin", self.middle_scale),
            ("the scale of the side pins", self.side_scale),
        ] {
            if !value.is_finite() {
                return Err(RigError::BadOption {
                    what,
                    value,
                    needed: "a finite number",
                });
            }
        }
        Ok(())
    }

    /// A pin that is seen along `view`.
    fn pin(&self, at: SurfacePoint, displacement: DVec3, view: DVec3) -> Pin {
        let aim = if self.depth == PinDepth::Free {
            Aim::Across(view)
        } else {
            Aim::Point
        };
        Pin {
            at,
            displacement,
            aim,
            stiffness: 1.0,
        }
    }
}

impl Sketch {
    /// Points of [`Sketch::curve`]. *Chosen*: an odd number, so that the middle is one of them, and
    /// enough to look smooth.
    const CURVE_POINTS: usize = 65;

    /// The pins of a stroke, in pixels of `camera`, on a mesh with its vertices at `positions`. For
    /// many strokes on one pose, see [`SketchSurface`].
    pub fn from_stroke(
        mesh: &Mesh,
        positions: &[DVec3],
        camera: &SketchCamera,
        points: &[[f64; 2]],
        options: &SketchOptions,
    ) -> Result<Self, RigError> {
        SketchSurface::new(mesh, positions)?.sketch(camera, points, options)
    }
}

/// A posed mesh prepared for strokes.
#[derive(Debug, Clone)]
pub struct SketchSurface {
    posed: Mesh,
    index: SurfaceIndex,
    normals: Vec<DVec3>,
    mean_edge: f64,
    /// For each vertex whether targets move its component; empty if all are alike.
    posable: Vec<bool>,
}

impl SketchSurface {
    /// Builds the search tree of one pose; each stroke then costs only its rays.
    pub fn new(mesh: &Mesh, positions: &[DVec3]) -> Result<Self, RigError> {
        let posed = mesh.posed(positions.to_vec())?;
        let index = SurfaceIndex::new(&posed)?;
        Ok(Self {
            normals: vertex_normals(&posed),
            mean_edge: posed.mean_edge_length(),
            posed,
            index,
            posable: Vec::new(),
        })
    }

    /// The surface of a rig in the pose `positions`. Lines are drawn on what targets move: hair or
    /// clothes in front of a face that no target moves are ignored.
    pub fn of_rig(rig: &Rig, positions: &[DVec3]) -> Result<Self, RigError> {
        Ok(Self {
            posable: rig.posable_vertices(),
            ..Self::new(rig.neutral(), positions)?
        })
    }

    /// Projects a stroke, in pixels of `camera`, onto the surface.
    pub fn project(
        &self,
        camera: &SketchCamera,
        points: &[[f64; 2]],
    ) -> Result<ProjectedStroke, RigError> {
        ProjectedStroke::on(
            (&self.posed, &self.posable),
            &self.index,
            self.mean_edge,
            camera,
            points,
        )
    }

    /// The pins of a stroke, in pixels of `camera`.
    pub fn sketch(
        &self,
        camera: &SketchCamera,
        points: &[[f64; 2]],
        options: &SketchOptions,
    ) -> Result<Sketch, RigError> {
        options.check()?;
        let stroke = self.project(camera, points)?;
        let spline = CubicSpline::fit(&stroke.positions, options.control_points)?;
        let samples = spline.samples(Sketch::CURVE_POINTS)?;
        let knots = [0, Sketch::CURVE_POINTS / 2, Sketch::CURVE_POINTS - 1].map(|k| samples[k]);

        // The arc through the knots, in a plane along the view.
        let view = knots[1] - camera.eye;
        let plane = DrawingPlane::new(self.mean_normal(&stroke), view);
        let arc = HorizontalCurve::through(knots, &plane);
        let displacements = arc.displacements(
            options.middle_scale,
            options.side_scale,
            options.frame,
            options.side_stretch,
        );

        let points = pin_points(&self.posed, &self.index, knots, options.pin_place)?;
        let mut pins = Vec::with_capacity(points.len());
        for (at, displacement) in points.into_iter().zip(displacements) {
            pins.push(options.pin(at, displacement, view));
        }

        Ok(Sketch {
            curve: SurfaceCurve::nearest(&self.index, &samples)?,
            spline,
            pins,
            radius: arc.radius,
            central_angle_rad: arc.central_angle_rad,
            middle_ordinate: arc.middle_ordinate,
            cut: stroke.cut,
        })
    }

    /// The mean of the surface normals along a stroke, each weighted by the length it represents.
    fn mean_normal(&self, stroke: &ProjectedStroke) -> DVec3 {
        let positions = &stroke.positions;
        let last = positions.len() - 1;
        let mut sum = DVec3::ZERO;
        for (k, &at) in stroke.curve.points.iter().enumerate() {
            // Each hit represents the segments on both sides.
            let length = positions[k].distance(positions[k.saturating_sub(1)])
                + positions[k].distance(positions[(k + 1).min(last)]);
            let support = Pin { at, ..Pin::hold(0) }.support(&self.posed);
            sum += support.of(&self.normals) * length;
        }

        sum
    }
}

/// The surface points of the knots, all different.
fn pin_points(
    posed: &Mesh,
    index: &SurfaceIndex,
    knots: [DVec3; 3],
    place: PinPlace,
) -> Result<Vec<SurfacePoint>, RigError> {
    let closest = index.closest_points(&knots)?;
    if place == PinPlace::Surface {
        return Ok(closest
            .into_iter()
            .map(|found| found.place.into())
            .collect());
    }

    // A vertex can have only one of the three pins.
    let vertices: Vec<u32> = closest
        .iter()
        .zip(knots)
        .map(|(found, knot)| nearest_corner(posed, found.place, knot))
        .collect();

    match (0..3).find(|&k| vertices[..k].contains(&vertices[k])) {
        Some(k) => Err(RigError::PinsCoincide {
            vertex: vertices[k] as usize,
        }),
        None => Ok(vertices.into_iter().map(SurfacePoint::Vertex).collect()),
    }
}

/// The corner nearest to `point` of the face that contains `place`; the first of equally near ones.
pub(crate) fn nearest_corner(posed: &Mesh, place: TrianglePoint, point: DVec3) -> u32 {
    let face = posed.face(posed.triangle_faces()[place.triangle as usize] as usize);
    let distance = |v: u32| posed.positions()[v as usize].distance_squared(point);
    face.iter()
        .copied()
        .reduce(|a, b| if distance(b) < distance(a) { b } else { a })
        .expect("a face has corners")
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use pliant_mesh::shapes::{flat_sheet, icosphere};
    use proptest::prelude::*;
    use std::f64::consts::PI;

    const SIDE: usize = 60;

    /// The square from −1 to 1 in the plane z = 0.
    fn board() -> Mesh {
        let sheet = flat_sheet(SIDE, 0.2);
        sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| *p * 2.0 - DVec3::new(1.0, 1.0, 0.0))
                    .collect(),
            )
            .unwrap()
    }

    /// A camera that looks at the board from aside.
    fn camera() -> SketchCamera {
        SketchCamera {
            eye: DVec3::new(1.5, -1.0, 4.0),
            target: DVec3::new(0.1, 0.0, 0.0),
            up: DVec3::Y,
            fov_y_degrees: 40.0,
            width: 800,
            height: 600,
        }
    }

    fn arc(radius: f64, angle_rad: f64, count: usize) -> Vec<DVec3> {
        let at = |k: usize| angle_rad * (k as f64 / (count - 1) as f64 - 0.5);
        (0..count)
            .map(|k| DVec3::new(at(k).sin(), at(k).cos() - 0.5, 0.0) * radius)
            .collect()
    }

    fn pixels(camera: &SketchCamera, points: &[DVec3]) -> Vec<[f64; 2]> {
        points.iter().map(|p| camera.project(*p).unwrap()).collect()
    }

    fn draw(points: &[DVec3], options: &SketchOptions) -> Sketch {
        let board = board();
        Sketch::from_stroke(
            &board,
            board.positions(),
            &camera(),
            &pixels(&camera(), points),
            options,
        )
        .unwrap()
    }

    #[test]
    fn an_arc_on_a_tilted_plane_has_its_radius_angle_and_middle_ordinate() {
        for (r, angle, tolerance) in [
            (0.7, 0.5, 1e-4),
            (0.7, PI / 2.0, 2e-4),
            (0.5, PI, 5e-4),
            (0.4, 4.5, 5e-4),
        ] {
            let sketch = draw(&arc(r, angle, 120), &SketchOptions::default());
            let fine = draw(
                &arc(r, angle, 120),
                &SketchOptions::default().with_control_points(11),
            );

            // The closed form of the middle ordinate.
            let middle_ordinate = r * (1.0 - (angle / 2.0).cos());

            for (found, bound) in [(sketch, tolerance), (fine, 1e-4)] {
                assert!(
                    (found.radius / r - 1.0).abs() < bound,
                    "{} {r}",
                    found.radius
                );
                assert!(
                    (found.central_angle_rad / angle - 1.0).abs() < bound,
                    "{} {angle}",
                    found.central_angle_rad
                );
                assert!(
                    (found.middle_ordinate / middle_ordinate - 1.0).abs() < bound,
                    "{} {middle_ordinate}",
                    found.middle_ordinate
                );
                assert_eq!(found.cut, None);
            }
        }
    }

    #[test]
    fn the_pins_of_an_arch_move_up_in_the_middle_and_along_the_tangents_at_its_ends() {
        let (r, angle) = (0.7, 1.8_f64);
        let drawn = arc(r, angle, 60);
        let sketch = draw(
            &drawn,
            &SketchOptions::default()
                .with_middle_scale(2.0)
                .with_side_scale(0.5),
        );

        // M = r (1 − cos(θ/2)), with β = 2 and ω = ½.
        let m = r * (1.0 - (angle / 2.0).cos());
        let cos = (angle / 2.0).cos();
        let sin = (angle / 2.0).sin();
        let goals = [
            DVec3::new(-cos, -sin, 0.0) * 0.5 * m,
            DVec3::Y * 2.0 * m,
            DVec3::new(cos, -sin, 0.0) * 0.5 * m,
        ];

        let edge = board().mean_edge_length();
        for ((pin, goal), knot) in
            sketch
                .pins
                .iter()
                .zip(goals)
                .zip([drawn[0], (drawn[29] + drawn[30]) * 0.5, drawn[59]])
        {
            assert!(
                pin.displacement.distance(goal) < 2e-3 * m,
                "{} {goal}",
                pin.displacement
            );
            assert!(
                matches!(pin.at, SurfacePoint::Vertex(_))
                    && pin.at.position(&board()).distance(knot) < edge
            );
        }
    }

    #[test]
    fn few_noisy_points_give_the_arc() {
        let noise = |k: usize| {
            DVec3::new(
                ((k * 37) % 11) as f64 / 5.0 - 1.0,
                ((k * 53) % 13) as f64 / 6.0 - 1.0,
                0.0,
            ) * 0.004
        };

        let drawn: Vec<DVec3> = arc(0.6, 2.0, 14)
            .into_iter()
            .enumerate()
            .map(|(k, p)| p + noise(k))
            .collect();
        let sketch = draw(&drawn, &SketchOptions::default());
        let m = 0.6 * (1.0 - 1_f64.cos());

        // The noise is 1.5 % of M; the knots see at most three times that.
        assert!(
            (sketch.middle_ordinate - m).abs() < 3.0 * 0.004
                && (sketch.radius / 0.6 - 1.0).abs() < 0.05,
            "{sketch:?}"
        );
    }

    #[test]
    fn a_straight_stroke_gives_zero_displacements_even_on_a_sphere() {
        let sphere = icosphere(5);
        let view = SketchCamera {
            eye: DVec3::new(0.0, 0.5, 4.0),
            target: DVec3::ZERO,
            ..camera()
        };

        let straight = [[330.0, 200.0], [480.0, 330.0]];
        let sketch = Sketch::from_stroke(
            &sphere,
            sphere.positions(),
            &view,
            &straight,
            &SketchOptions::default(),
        )
        .unwrap();

        // The curve bends in depth only, which does not count.
        let length = sketch.curve.length(&sphere).unwrap();
        assert!(
            sketch.middle_ordinate < 1e-6 * length,
            "{} of {length}",
            sketch.middle_ordinate
        );
        assert!(
            sketch
                .pins
                .iter()
                .all(|pin| pin.displacement.length() < 1e-6 * length)
        );
        assert!(
            draw(
                &[DVec3::new(-0.5, 0.1, 0.0), DVec3::new(0.6, 0.4, 0.0)],
                &SketchOptions::default()
            )
            .middle_ordinate
                < 1e-9
        );
    }

    #[test]
    fn the_stroke_drawn_backwards_gives_the_same_pins() {
        let drawn: Vec<DVec3> = (0..50)
            .map(|k| f64::from(k) / 49.0)
            .map(|s| DVec3::new(s - 0.4, s * s - 0.3 * s, 0.0))
            .collect();
        let mut reversed = drawn.clone();
        reversed.reverse();

        let there = draw(&drawn, &SketchOptions::default());
        let mut back = draw(&reversed, &SketchOptions::default());
        back.pins.reverse();
        for (a, b) in there.pins.iter().zip(&back.pins) {
            assert!(
                a.at == b.at && a.displacement.distance(b.displacement) < 1e-9,
                "{a:?} {b:?}"
            );
        }
    }

    #[test]
    fn the_pins_rotate_and_scale_with_the_scene() {
        let rotation = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 0.5).normalize(), 1.1);
        let scale = 250.0;
        let shift = DVec3::new(3.0, -7.0, 40.0);
        let transform = |p: DVec3| rotation * p * scale + shift;
        let board = board();
        let drawn = pixels(&camera(), &arc(0.6, 1.5, 40));

        // The same pixels in a rotated, scaled and translated scene.
        let moved: Vec<DVec3> = board.positions().iter().map(|p| transform(*p)).collect();

        let view = SketchCamera {
            eye: transform(camera().eye),
            target: transform(camera().target),
            up: rotation * DVec3::Y,
            ..camera()
        };

        let here = Sketch::from_stroke(
            &board,
            board.positions(),
            &camera(),
            &drawn,
            &SketchOptions::default(),
        )
        .unwrap();

        let there =
            Sketch::from_stroke(&board, &moved, &view, &drawn, &SketchOptions::default()).unwrap();
        for (a, b) in here.pins.iter().zip(&there.pins) {
            assert!(
                a.at == b.at
                    && (rotation * a.displacement * scale).distance(b.displacement) < 1e-8 * scale
            );
        }

        assert!((there.radius - scale * here.radius).abs() < 1e-8 * scale);
    }

    #[test]
    fn pins_on_one_vertex_are_an_error_and_pins_on_the_surface_are_not() {
        let board = board();
        let tiny = pixels(&camera(), &arc(0.004, 2.0, 20));
        let on = |place| {
            Sketch::from_stroke(
                &board,
                board.positions(),
                &camera(),
                &tiny,
                &SketchOptions::default().with_pin_place(place),
            )
        };

        assert!(matches!(
            on(PinPlace::Vertex),
            Err(RigError::PinsCoincide { .. })
        ));

        let pins = on(PinPlace::Surface).unwrap().pins;
        let edge = board.mean_edge_length();
        assert!(
            pins.iter()
                .all(|pin| pin.check(&board).is_ok() && pin.at.position(&board).length() < edge)
        );
    }

    proptest! {
        #[test]
        fn any_stroke_gives_sound_pins_or_an_error(
            points in prop::collection::vec(prop::array::uniform2(-50.0..900.0_f64), 0..12),
            on_surface: bool,
        ) {
            let (sphere, place) = (icosphere(2), if on_surface { PinPlace::Surface } else { PinPlace::Vertex });
            let found = Sketch::from_stroke(&sphere, sphere.positions(), &camera(), &points, &SketchOptions::default().with_pin_place(place));
            if let Ok(sketch) = found {
                prop_assert!(sketch.pins.len() == 3 && sketch.pins.iter().all(|pin| pin.check(&sphere).is_ok()), "{sketch:?}");
                prop_assert!(sketch.curve.check(&sphere).is_ok() && sketch.middle_ordinate.is_finite());
                prop_assert!((0.0..=2.0 * PI + 1e-12).contains(&sketch.central_angle_rad));
            }
        }
    }

    #[test]
    fn the_pin_is_the_nearest_corner_of_the_face() {
        let board = board();
        let index = SurfaceIndex::new(&board).unwrap();
        for k in 0..40 {
            let point = DVec3::new(
                (f64::from(k) * 0.37).sin() * 0.9,
                (f64::from(k) * 0.73).cos() * 0.9,
                0.01,
            );
            let found = nearest_corner(&board, index.closest_point(point).unwrap().place, point);
            let distance = board.positions()[found as usize].distance(point);

            // In a grid of nearly square faces the corner is the nearest of all vertices, up to the
            // faces' shear.
            let best = board
                .positions()
                .iter()
                .map(|p| p.distance(point))
                .fold(f64::INFINITY, f64::min);

            assert!(distance <= 1.5 * best, "{distance} {best}");
        }
    }
}
