//! Horizontal curve of a stroke: radius, central angle and middle ordinate.
//!
//! **Problem.** One stroke gives the goal of a surface, but not its start. Taken as a wire that was
//! straight before, it gives both: the displacement from its chord to its arc.
//!
//! **Equation.** A circular arc with radius `r` and central angle `θ` has the chord `c = 2 r
//! sin(θ/2)` and the middle ordinate
//!
//! ```text
//! M = r (1 − cos(θ/2))
//! ```
//!
//! The middle pin moves by `β M` along the middle ordinate, away from the chord; the side pins are
//! stretched by `ω M cos(θ/2)` along the chord ("x") and `ω M sin(θ/2)` along the middle ordinate
//! ("y"). From the three knots of a line (begin, middle, end) with the chord `c` and the middle's
//! height `s` over it,
//!
//! ```text
//! r = (c² + 4 s²) / 8 s     cos(θ/2) = (c² − 4 s²) / (c² + 4 s²)     sin(θ/2) = 4 c s / (c² + 4 s²)     M = s
//! ```
//!
//! which is exact for arcs up to the full circle and needs no curvature, so it is robust to noise.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, section 3.2.4, after road builders' horizontal curves. The thesis
//! takes `r` from the modelling program and does not define the sign of the displacements. It calls
//! a curve whose normal points down "concave downward", and moves only along the world's Y, so that
//! a line drawn on a cheek from the side would pull in the wrong direction.
//!
//! **Departures.**
//!
//! 1. `x` and `y` are those of the line, in the surface ([`HorizontalFrame::Curve`]); those of the
//!    world are an option.
//! 2. Sign: the wire bends from the chord to the bow, so the middle pin follows the bow, up for ⌒
//!    and down for ⌣.
//! 3. `(cos(θ/2), sin(θ/2))` is the direction of the wire at its ends, so a stretch by `ω M`
//!    lengthens the wire along its tangents: outward, and against the bow
//!    ([`SideStretch::Tangent`]). A ⌣ on a mouth pulls its corners out and up. A brow has no
//!    sliders for that: there the ends move with the bow ([`SideStretch::Bow`]), and the rig
//!    determines which alternative is used
//!    ([`SketchedPose::draw_first_that_fits`](crate::SketchedPose::draw_first_that_fits)).
//! 4. Lines are measured in a plane along the view, since depth was not drawn: a line that is
//!    straight on the screen has `M = 0` also on a round cheek.

use glam::DVec3;

/// The plane in which a drawn line is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawingPlane {
    /// Unit normal, towards the eye.
    normal: DVec3,
    /// Unit viewing direction, along which points are projected onto the plane.
    view: DVec3,
}

impl DrawingPlane {
    /// Cosine of the largest angle between the normal of the plane and the view. *Chosen*, 75°:
    /// beyond it a pixel is four pixels deep, which is not what the user drew.
    const LEAST_COSINE: f64 = 0.258_819_045_102_520_76;

    /// The tangent plane with this normal (of either sign), seen along `view`; rotated towards the
    /// camera if it is seen at less than 15°. Without a normal, the view plane.
    #[must_use]
    pub fn new(normal: DVec3, view: DVec3) -> Self {
        let view = view.normalize_or(DVec3::NEG_Z);
        let facing = normal.normalize_or(-view) * if normal.dot(view) > 0.0 { -1.0 } else { 1.0 };
        let cosine = -facing.dot(view);
        if cosine >= Self::LEAST_COSINE {
            return Self {
                normal: facing,
                view,
            };
        }

        // Rotate the normal towards the camera, to the largest angle.
        let tilt = (facing + view * cosine).normalize_or_zero();
        let sine = (1.0 - Self::LEAST_COSINE * Self::LEAST_COSINE).sqrt();
        Self {
            normal: (tilt * sine - view * Self::LEAST_COSINE).normalize(),
            view,
        }
    }

    /// An offset projected along the view into the plane.
    fn project(&self, offset: DVec3) -> DVec3 {
        offset - self.view * (offset.dot(self.normal) / self.view.dot(self.normal))
    }
}

/// The directions `x` and `y` of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HorizontalFrame {
    /// The line's chord and its perpendicular in the surface.
    #[default]
    Curve,
    /// The world's X and Y with the signs of the line, as in Çetinaslan 2016.
    World,
}

/// The direction of the displacements of side pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SideStretch {
    /// Along the tangents at the ends: outward along the chord and against the bow.
    #[default]
    Tangent,
    /// Outward along the chord and with the bow.
    Bow,
}

/// The circular arc that approximates a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HorizontalCurve {
    /// Radius `r`; infinite for a straight line.
    pub radius: f64,
    /// Central angle `θ`, from 0 to 2π.
    pub central_angle_rad: f64,
    /// Middle ordinate `M`: the distance of the middle from the chord.
    pub middle_ordinate: f64,
    /// Unit direction from begin to end.
    pub chord: DVec3,
    /// Unit direction from the chord to the bow.
    pub bow: DVec3,
    /// `cos(θ/2)` and `sin(θ/2)`.
    half_angle: [f64; 2],
}

impl HorizontalCurve {
    /// A chord shorter than this part of the line has no direction.
    const LEAST_CHORD: f64 = 1e-9;

    /// The arc through the start, middle and end of a line.
    #[must_use]
    pub fn through([begin, middle, end]: [DVec3; 3], plane: &DrawingPlane) -> Self {
        let [to_begin, to_end] = [begin, end].map(|p| plane.project(p - middle));
        let span = to_end - to_begin;
        let reach = to_begin.length().max(to_end.length());
        let closed = span.length() <= Self::LEAST_CHORD * reach;

        // The chord of a full circle has no length; it is orthogonal to the line to the middle.
        let chord = if closed {
            plane.normal.cross(to_begin).normalize_or(DVec3::X)
        } else {
            span.normalize()
        };

        // The height of the middle over the chord.
        let rise = -(to_begin - chord * to_begin.dot(chord));
        let c = if closed { 0.0 } else { span.length() };
        let s = rise.length();
        let bow = rise
            .try_normalize()
            .unwrap_or_else(|| plane.normal.cross(chord));
        let sum = c * c + 4.0 * s * s;

        let half_angle = if sum > 0.0 {
            [(c * c - 4.0 * s * s) / sum, 4.0 * c * s / sum]
        } else {
            [1.0, 0.0]
        };

        let radius = if s > 0.0 {
            sum / (8.0 * s)
        } else {
            f64::INFINITY
        };

        Self {
            radius,
            central_angle_rad: 4.0 * (2.0 * s).atan2(c),
            middle_ordinate: s,
            chord,
            bow,
            half_angle,
        }
    }

    /// Displacements of the pins at begin, middle and end, with the multipliers `β` and `ω`.
    #[must_use]
    pub fn displacements(
        &self,
        middle_scale: f64,
        side_scale: f64,
        frame: HorizontalFrame,
        stretch: SideStretch,
    ) -> [DVec3; 3] {
        // The axes of the line, or those of the world with its signs.
        let (x, y) = match frame {
            HorizontalFrame::Curve => (self.chord, self.bow),
            HorizontalFrame::World => (
                DVec3::X * self.chord.x.signum(),
                DVec3::Y * self.bow.y.signum(),
            ),
        };

        let [cos, sin] = self.half_angle;
        let pull = side_scale * self.middle_ordinate;
        let sign = match stretch {
            SideStretch::Bow => 1.0,
            SideStretch::Tangent => -1.0,
        };
        let rise = y * (pull * sin * sign);

        [
            rise - x * (pull * cos),
            y * (middle_scale * self.middle_ordinate),
            rise + x * (pull * cos),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn facing() -> DrawingPlane {
        DrawingPlane::new(DVec3::Z, DVec3::NEG_Z)
    }

    /// Begin, middle and end of an arc with its bow towards +Y.
    fn knots(radius: f64, angle_rad: f64) -> [DVec3; 3] {
        [-0.5, 0.0, 0.5].map(|share| {
            DVec3::new((share * angle_rad).sin(), (share * angle_rad).cos(), 0.0) * radius
        })
    }

    #[test]
    fn arcs_up_to_the_full_circle_have_their_radius_angle_and_middle_ordinate() {
        for (r, angle) in [
            (1.0, 0.3),
            (2.5, PI / 2.0),
            (0.1, PI),
            (40.0, 4.0),
            (1.0, 6.0),
            (1.0, 2.0 * PI),
        ] {
            let found = HorizontalCurve::through(knots(r, angle), &facing());
            assert!((found.radius / r - 1.0).abs() < 1e-12, "{found:?}");
            assert!((found.central_angle_rad - angle).abs() < 1e-12, "{found:?}");
            assert!((found.middle_ordinate - r * (1.0 - (angle / 2.0).cos())).abs() < 1e-12 * r);
            assert!(
                (found.half_angle[0] - (angle / 2.0).cos()).abs() < 1e-12
                    && (found.half_angle[1] - (angle / 2.0).sin()).abs() < 1e-9
            );
            assert!(found.bow.distance(DVec3::Y) < 1e-9);
        }
    }

    #[test]
    fn the_side_pins_move_along_the_tangents_at_the_ends() {
        let (r, angle) = (2.0, 1.4_f64);
        let curve = HorizontalCurve::through(knots(r, angle), &facing());
        let [begin, middle, end] =
            curve.displacements(1.0, 1.0, HorizontalFrame::Curve, SideStretch::Tangent);
        let m = curve.middle_ordinate;

        assert!(middle.distance(DVec3::Y * m) < 1e-12);

        // The end's tangent is across its radius.
        let [first, _, last] = knots(r, angle);

        assert!(end.dot(last).abs() < 1e-12 && begin.dot(first).abs() < 1e-12);
        assert!((end.length() - m).abs() < 1e-12 && end.x > 0.0 && end.y < 0.0 && begin.x < 0.0);

        let [_, _, with_bow] =
            curve.displacements(1.0, 1.0, HorizontalFrame::Curve, SideStretch::Bow);
        assert!(
            with_bow.distance(DVec3::new(
                m * (angle / 2.0).cos(),
                m * (angle / 2.0).sin(),
                0.0
            )) < 1e-12
        );
    }

    #[test]
    fn a_straight_line_gives_zero_displacements() {
        let curve = HorizontalCurve::through(
            [
                DVec3::ZERO,
                DVec3::new(1.0, 1.0, 0.0),
                DVec3::new(3.0, 3.0, 0.0),
            ],
            &facing(),
        );

        assert!(
            curve.middle_ordinate < 1e-15 && curve.central_angle_rad < 1e-15 && curve.radius > 1e15
        );

        let at_rest = curve.displacements(1.0, 1.0, HorizontalFrame::Curve, SideStretch::Tangent);
        assert!(at_rest.iter().all(|d| d.length() < 1e-15));
    }

    #[test]
    fn depth_along_the_view_does_not_count_as_bending() {
        let plane = DrawingPlane::new(DVec3::new(0.3, -0.2, 1.0), DVec3::new(0.1, 0.2, -1.0));
        let [a, b, c] = knots(1.0, 2.0).map(|p| plane.project(p));
        let flat = HorizontalCurve::through([a, b, c], &plane);
        let deep =
            HorizontalCurve::through([a + plane.view * 0.4, b, c - plane.view * 2.0], &plane);
        assert!((flat.radius - deep.radius).abs() < 1e-12 && flat.bow.distance(deep.bow) < 1e-12);
    }

    #[test]
    fn a_plane_seen_edge_on_is_rotated_towards_the_camera() {
        for normal in [
            DVec3::X,
            DVec3::new(1.0, 0.0, -0.1),
            DVec3::new(-1.0, 0.5, 0.2),
            DVec3::ZERO,
        ] {
            let plane = DrawingPlane::new(normal, DVec3::NEG_Z);
            assert!(
                (plane.normal.length() - 1.0).abs() < 1e-15
                    && plane.normal.z >= DrawingPlane::LEAST_COSINE - 1e-15,
                "{plane:?}"
            );
        }
    }

    #[test]
    fn the_axes_of_the_world_take_the_signs_of_the_line() {
        let down = knots(1.0, 2.0).map(|p| DVec3::new(-p.x, -p.y, 0.0));
        let curve = HorizontalCurve::through(down, &facing());
        let [begin, middle, end] =
            curve.displacements(2.0, 1.0, HorizontalFrame::World, SideStretch::Tangent);
        let m = curve.middle_ordinate;

        assert!(middle.distance(DVec3::NEG_Y * 2.0 * m) < 1e-12);
        assert!(
            begin.x > 0.0 && end.x < 0.0 && begin.y > 0.0 && end.y > 0.0,
            "outward, and against the bow"
        );
    }
}
