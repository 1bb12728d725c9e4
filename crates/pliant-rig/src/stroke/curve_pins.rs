//! Pins that move a curve on the surface onto a target curve.
//!
//! **Problem.** A line on the lip should move to a line that was drawn beside it. Which points of
//! the two curves correspond?
//!
//! **Equation.** Points correspond at equal relative arc length: the goal of `C(k/n)` is `T(σ k/n +
//! φ)`. The direction `σ = ±1` (with `φ = 0` or `1` for open curves), and for loops also the phase
//! `φ`, minimise
//!
//! ```text
//! E(σ, φ) = Σ_k |T(σ k/n + φ) − C(k/n)|²
//! ```
//!
//! **Departures.** For loops, `E` is minimised on a grid of phases and then by golden-section
//! search. Inner points may slide along the goal ([`Aim::Curve`]), since a drawn line gives
//! positions and seldom a stretch along itself.

use glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint};

use super::polyline::Polyline;
use super::sketch::nearest_corner;
use crate::{Aim, Pin, PinPlace, RigError, SketchCamera, SurfaceCurve};

/// How the ends of an open curve reach their goals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum EndAim {
    /// In space.
    #[default]
    Point,
    /// In the view plane, with free depth; inner points that do not slide do so too.
    Across(DVec3),
    /// Sliding, like the inner points.
    Slide,
}

/// Which end of the goal corresponds to the start of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CurveDirection {
    /// The nearer one, by the sum of squared distances.
    #[default]
    Nearest,
    /// The one that was drawn first.
    AsDrawn,
}

/// Options of the pins between two curves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePinOptions {
    count: Option<usize>,
    spacing_edges: f64,
    sliding: bool,
    ends: EndAim,
    direction: CurveDirection,
    pin_place: PinPlace,
}

impl Default for CurvePinOptions {
    fn default() -> Self {
        Self {
            count: None,
            spacing_edges: Self::DEFAULT_SPACING_EDGES,
            sliding: false,
            ends: EndAim::default(),
            direction: CurveDirection::default(),
            pin_place: PinPlace::Surface,
        }
    }
}

impl CurvePinOptions {
    /// *Chosen*: closer pins are on the same triangles.
    pub const DEFAULT_SPACING_EDGES: f64 = 2.0;
    /// *Chosen*: the largest number of pins without an explicit count; a face has fewer sliders
    /// that move one line.
    pub const MOST_PINS: usize = 24;

    /// The number of pins, at least 2, or 3 on a loop, instead of a spacing.
    #[must_use]
    pub fn with_count(self, count: usize) -> Self {
        Self {
            count: Some(count),
            ..self
        }
    }

    /// The spacing of pins in mean edge lengths of the posed mesh, up to
    /// [`MOST_PINS`](Self::MOST_PINS). Default:
    /// [`DEFAULT_SPACING_EDGES`](Self::DEFAULT_SPACING_EDGES).
    #[must_use]
    pub fn with_spacing_edges(self, spacing_edges: f64) -> Self {
        Self {
            spacing_edges,
            ..self
        }
    }

    /// Whether inner pins may slide along the goal. Default: no.
    #[must_use]
    pub fn with_sliding(self, sliding: bool) -> Self {
        Self { sliding, ..self }
    }

    /// How the ends of an open curve reach their goals. Default: in space.
    #[must_use]
    pub fn with_ends(self, ends: EndAim) -> Self {
        Self { ends, ..self }
    }

    /// Which end of the goal corresponds to the begin. Default: the nearer one.
    #[must_use]
    pub fn with_direction(self, direction: CurveDirection) -> Self {
        Self { direction, ..self }
    }

    /// Where pins may be. Default: anywhere on the surface. A vertex gets at most one pin.
    #[must_use]
    pub fn with_pin_place(self, pin_place: PinPlace) -> Self {
        Self { pin_place, ..self }
    }

    /// The number of pins on a curve.
    fn pin_count(&self, length: f64, mean_edge: f64, closed: bool) -> Result<usize, RigError> {
        let least = if closed { 3 } else { 2 };
        if let Some(count) = self.count {
            if count >= least {
                return Ok(count);
            }
            return Err(RigError::BadOption {
                what: "the number of pins",
                value: count as f64,
                needed: if closed { "at least 3" } else { "at least 2" },
            });
        }

        if self.spacing_edges.is_nan() || self.spacing_edges <= 0.0 {
            return Err(RigError::BadOption {
                what: "the spacing of pins",
                value: self.spacing_edges,
                needed: "above 0",
            });
        }

        // An open curve has one pin more than it has intervals.
        let steps = (length / (self.spacing_edges * mean_edge)).round() as usize;
        Ok((steps + usize::from(!closed)).clamp(least, Self::MOST_PINS))
    }
}

/// Pins that move a curve on the surface, with the vertices at `positions`, onto the polyline
/// `target`, which is a loop if `source` is one. Pins are in the order of the source.
pub fn curve_pins(
    mesh: &Mesh,
    positions: &[DVec3],
    source: &SurfaceCurve,
    target: &[DVec3],
    options: &CurvePinOptions,
) -> Result<Vec<Pin>, RigError> {
    let posed = mesh.posed(positions.to_vec())?;
    let index = SurfaceIndex::new(&posed)?;
    let from = source.polyline(&posed)?;
    let to = Polyline::new("the goal's curve", target, source.closed)?;
    let count = options.pin_count(from.length(), posed.mean_edge_length(), source.closed)?;

    // Points at equal arc length on both curves correspond.
    let starts = from.samples(count);

    let correspondence = Correspondence {
        starts: &starts,
        parameters: from.sample_parameters(count).collect(),
        to: &to,
    };
    let goals = correspondence.goals(source.closed, options.direction);

    let mut pins: Vec<Pin> = Vec::with_capacity(count);
    for (k, closest) in index.closest_points(&starts)?.iter().enumerate() {
        let at = match options.pin_place {
            PinPlace::Surface => closest.place.into(),
            PinPlace::Vertex => {
                SurfacePoint::Vertex(nearest_corner(&posed, closest.place, starts[k]))
            }
        };
        if pins.iter().any(|other| other.at == at) {
            continue; // Only one pin at each point.
        }

        // The ends of an open curve have their own aim.
        let is_end = !source.closed && (k == 0 || k + 1 == count);
        pins.push(Pin {
            at,
            displacement: goals[k] - at.position(&posed),
            aim: aim_of(is_end, &to, options),
            stiffness: 1.0,
        });
    }

    Ok(pins)
}

fn aim_of(is_end: bool, to: &Polyline, options: &CurvePinOptions) -> Aim {
    match (is_end, options.ends) {
        (true, EndAim::Point) => Aim::Point,
        (true, EndAim::Across(view)) => Aim::Across(view),
        (true, EndAim::Slide) => Aim::Curve(to.corners().to_vec()),
        (false, _) if options.sliding => Aim::Curve(to.corners().to_vec()),
        (false, EndAim::Across(view)) => Aim::Across(view),
        (false, _) => Aim::Point,
    }
}

/// Points of a curve with their relative arc lengths, and the target curve.
struct Correspondence<'a> {
    starts: &'a [DVec3],
    parameters: Vec<f64>,
    to: &'a Polyline,
}

impl Correspondence<'_> {
    /// The goals of the points in the best direction and phase.
    fn goals(&self, closed: bool, direction: CurveDirection) -> Vec<DVec3> {
        let mut phases = [0.0, 1.0];
        if closed {
            let grid = 4 * self.starts.len();
            phases = [1.0, -1.0].map(|sense| best_phase(|phase| self.misfit(sense, phase), grid));
        }

        let [forward, backward] = phases;
        let is_reversed = direction == CurveDirection::Nearest
            && self.misfit(-1.0, backward) < self.misfit(1.0, forward);
        if is_reversed {
            self.goals_at(-1.0, backward)
        } else {
            self.goals_at(1.0, forward)
        }
    }

    fn goals_at(&self, sense: f64, phase: f64) -> Vec<DVec3> {
        let parameters = self.parameters.iter();
        parameters.map(|s| self.to.at(sense * s + phase)).collect()
    }

    /// `E(σ, φ)`.
    fn misfit(&self, sense: f64, phase: f64) -> f64 {
        let goals = self.goals_at(sense, phase);
        let pairs = self.starts.iter().zip(goals);
        pairs.map(|(p, q)| p.distance_squared(q)).sum()
    }
}

/// The phase with the least misfit: the best of a grid, then golden-section search around it.
fn best_phase(misfit: impl Fn(f64) -> f64, grid: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    /// The bracket shrinks to `GOLDEN⁶⁰`, the rounding of a parameter.
    const STEPS: usize = 60;

    let step = 1.0 / grid as f64;
    let mut middle = 0.0;
    let mut least = misfit(middle);
    for k in 1..grid {
        let phase = k as f64 * step;
        let value = misfit(phase);
        if value < least {
            middle = phase;
            least = value;
        }
    }

    let mut low = middle - step;
    let mut high = middle + step;
    for _ in 0..STEPS {
        let width = GOLDEN * (high - low);
        let left = high - width;
        let right = low + width;
        if misfit(left) <= misfit(right) {
            high = right;
        } else {
            low = left;
        }
    }

    let refined = 0.5 * (low + high);
    if misfit(refined) < least {
        refined
    } else {
        middle
    }
}

impl SketchCamera {
    /// A stroke on the view plane through a point, such as the middle of a curve.
    pub fn on_view_plane(
        &self,
        points: &[[f64; 2]],
        through: DVec3,
    ) -> Result<Vec<DVec3>, RigError> {
        let depth = (through - self.eye).dot(self.forward());
        self.at_depths(points, |_| depth)
    }

    /// A stroke at the depths of a curve: each point of the stroke has the depth of the curve at
    /// the same relative arc length, counted from the other end if the stroke has the opposite
    /// direction.
    pub fn at_depth_of(
        &self,
        points: &[[f64; 2]],
        posed: &Mesh,
        curve: &SurfaceCurve,
    ) -> Result<Vec<DVec3>, RigError> {
        let line = curve.polyline(posed)?;
        let forward = self.forward();
        let is_reversed = self.is_reversed(points, &line);
        self.at_depths(points, |parameter| {
            let parameter = if is_reversed {
                1.0 - parameter
            } else {
                parameter
            };
            (line.at(parameter) - self.eye).dot(forward)
        })
    }

    fn at_depths(
        &self,
        points: &[[f64; 2]],
        depth_at: impl Fn(f64) -> f64,
    ) -> Result<Vec<DVec3>, RigError> {
        self.check()?;
        let pixels: Vec<DVec3> = points.iter().map(|&[u, v]| DVec3::new(u, v, 0.0)).collect();
        let stroke = Polyline::new("the stroke", &pixels, false)?;
        let forward = self.forward();

        let mut positions = Vec::with_capacity(pixels.len());
        for (pixel, parameter) in stroke.corners().iter().zip(stroke.parameters()) {
            let (origin, direction) = self.ray([pixel.x, pixel.y]);

            // The depth is measured along the viewing direction, not along the ray.
            let distance = depth_at(parameter) / direction.dot(forward);
            positions.push(origin + direction * distance);
        }

        Ok(positions)
    }

    /// Whether the ends of a stroke on the screen are nearer to the opposite ends of a line.
    fn is_reversed(&self, points: &[[f64; 2]], line: &Polyline) -> bool {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return false;
        };
        let (Some(begin), Some(end)) = (
            self.project(line.at(0.0)),
            self.project(line.corners()[line.corners().len() - 1]),
        ) else {
            return false;
        };

        // Compare the ends in both directions.
        let squared = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
        squared(*first, end) + squared(*last, begin) < squared(*first, begin) + squared(*last, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::flat_sheet;
    use std::f64::consts::TAU;

    const SIDE: usize = 20;

    fn sheet() -> Mesh {
        flat_sheet(SIDE, 0.0)
    }

    /// The vertex of column `i` and row `j`.
    fn at(i: usize, j: usize) -> u32 {
        (i * (SIDE + 1) + j) as u32
    }

    /// A row of vertices along +X.
    fn row() -> SurfaceCurve {
        SurfaceCurve::through_vertices(&(2..=18).map(|i| at(i, 10)).collect::<Vec<_>>())
    }

    fn pins(source: &SurfaceCurve, target: &[DVec3], options: &CurvePinOptions) -> Vec<Pin> {
        curve_pins(&sheet(), sheet().positions(), source, target, options).unwrap()
    }

    #[test]
    fn a_shifted_and_stretched_copy_is_matched_in_either_direction() {
        let target: Vec<DVec3> = (0..=7)
            .map(|k| DVec3::new(0.2 * f64::from(k), 0.9, 0.3))
            .collect();
        let mut backwards = target.clone();
        backwards.reverse();

        for drawn in [&target, &backwards] {
            let found = pins(&row(), drawn, &CurvePinOptions::default());
            assert_eq!(
                found.len(),
                8,
                "0.8 long with edges of about 0.057: seven double edges"
            );

            for (k, pin) in found.iter().enumerate() {
                // Equal relative arc length on both curves.
                let s = k as f64 / 7.0;
                let start = pin.at.position(&sheet());
                assert!(start.distance(DVec3::new(0.1 + 0.8 * s, 0.5, 0.0)) < 1e-12);
                assert!(
                    (start + pin.displacement).distance(DVec3::new(1.4 * s, 0.9, 0.3)) < 1e-12,
                    "{pin:?}"
                );
            }
        }

        // In the drawn direction the first pin goes to the far end.
        let as_drawn = pins(
            &row(),
            &backwards,
            &CurvePinOptions::default().with_direction(CurveDirection::AsDrawn),
        );

        assert!(as_drawn[0].displacement.x > 1.0, "to the opposite end");
    }

    #[test]
    fn sliding_frees_the_inner_pins_and_holds_the_ends() {
        let target = [DVec3::new(0.0, 0.8, 0.0), DVec3::new(1.0, 0.8, 0.0)];
        let found = pins(
            &row(),
            &target,
            &CurvePinOptions::default()
                .with_sliding(true)
                .with_ends(EndAim::Across(DVec3::Z))
                .with_count(5),
        );

        // Three inner pins slide, the two ends are constrained in the view plane.
        assert_eq!(found.len(), 5);
        assert!(
            found[1..4]
                .iter()
                .all(|pin| pin.aim == Aim::Curve(target.to_vec()))
        );
        assert!(
            [&found[0], &found[4]]
                .iter()
                .all(|pin| pin.aim == Aim::Across(DVec3::Z))
        );
        assert!(found.iter().all(|pin| pin.check(&sheet()).is_ok()));
    }

    fn ring(phase: f64, sense: f64, count: usize) -> Vec<DVec3> {
        let angle = |k: usize| TAU * (phase + sense * k as f64 / count as f64);

        // An ellipse, so that only one phase fits.
        (0..count)
            .map(|k| DVec3::new(0.5 + 0.4 * angle(k).cos(), 0.5 + 0.2 * angle(k).sin(), 0.0))
            .collect()
    }

    #[test]
    fn a_loop_is_matched_in_phase_and_direction() {
        let index = SurfaceIndex::new(&sheet()).unwrap();
        let source = SurfaceCurve::nearest(&index, &ring(0.0, 1.0, 720))
            .unwrap()
            .closed();
        let lift = DVec3::new(0.0, 0.0, 0.25);

        for (phase, sense) in [(0.0, 1.0), (0.137, 1.0), (0.4, -1.0), (0.83, -1.0)] {
            let target: Vec<DVec3> = ring(phase, sense, 720)
                .into_iter()
                .map(|p| p + lift)
                .collect();
            let found = pins(&source, &target, &CurvePinOptions::default());
            assert!(found.len() >= 12, "{}", found.len());

            // The two polygons have other corners: their arc lengths differ by the square of a
            // step.
            let worst = found
                .iter()
                .map(|pin| pin.displacement.distance(lift))
                .fold(0.0, f64::max);

            assert!(worst < 1e-4, "{phase} {sense}: {worst}");
        }
    }

    #[test]
    fn the_number_of_pins_does_not_depend_on_the_unit_and_is_capped() {
        let target = [DVec3::ZERO, DVec3::X];

        // The same curves in millimetres.
        let large: Vec<DVec3> = sheet().positions().iter().map(|p| *p * 1000.0).collect();
        let count = |options: &CurvePinOptions| {
            let scaled = [DVec3::ZERO, DVec3::X * 1000.0];
            let there = curve_pins(&sheet(), &large, &row(), &scaled, options).unwrap();
            let here = pins(&row(), &target, options);
            assert_eq!(here.len(), there.len());
            here.len()
        };

        assert_eq!(
            count(&CurvePinOptions::default().with_spacing_edges(0.01)),
            CurvePinOptions::MOST_PINS
        );
        assert_eq!(
            count(&CurvePinOptions::default().with_spacing_edges(1e9)),
            2
        );

        let none = CurvePinOptions::default().with_spacing_edges(f64::NAN);
        assert!(matches!(
            curve_pins(&sheet(), sheet().positions(), &row(), &target, &none),
            Err(RigError::BadOption { .. })
        ));
    }

    #[test]
    fn pins_on_vertices_are_distinct_and_aim_at_the_goal() {
        let target = [DVec3::new(0.1, 0.7, 0.0), DVec3::new(0.9, 0.7, 0.0)];
        let found = pins(
            &row(),
            &target,
            &CurvePinOptions::default()
                .with_pin_place(PinPlace::Vertex)
                .with_count(40),
        );

        assert_eq!(found.len(), 17, "one for each vertex of the row");
        assert!(
            found
                .iter()
                .all(|pin| ((pin.at.position(&sheet()) + pin.displacement).y - 0.7).abs() < 1e-15)
        );
    }

    #[test]
    fn a_stroke_beside_the_curve_has_its_depth_and_projects_to_its_pixels() {
        let camera = SketchCamera {
            eye: DVec3::new(0.5, 0.4, 3.0),
            target: DVec3::new(0.5, 0.5, 0.0),
            up: DVec3::Y,
            fov_y_degrees: 40.0,
            width: 400,
            height: 300,
        };

        let drawn = [[100.0, 100.0], [200.0, 90.0], [300.0, 100.0]];
        let through = DVec3::new(0.5, 0.5, 0.1);
        for (pixel, point) in drawn
            .iter()
            .zip(camera.on_view_plane(&drawn, through).unwrap())
        {
            let back = camera.project(point).unwrap();
            assert!((0..2).all(|c| (back[c] - pixel[c]).abs() < 1e-9));
            assert!((point - through).dot(camera.forward()).abs() < 1e-12);
        }

        // A curve that goes away from the eye; the stroke is drawn from its far end.
        let ramp: Vec<DVec3> = sheet()
            .positions()
            .iter()
            .map(|p| DVec3::new(p.x, p.y, -p.x))
            .collect();

        let posed = sheet().posed(ramp).unwrap();
        let reversed = [drawn[2], drawn[1], drawn[0]];
        let deep = camera.at_depth_of(&reversed, &posed, &row()).unwrap();
        let line = row().positions(&posed).unwrap();
        let depth = |p: DVec3| (p - camera.eye).dot(camera.forward());

        assert!(
            (depth(deep[0]) - depth(line[16])).abs() < 1e-12
                && (depth(deep[2]) - depth(line[0])).abs() < 1e-12
        );
    }
}
