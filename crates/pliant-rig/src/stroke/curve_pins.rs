//! From where to where: one curve on the surface, another where it should go.
//!
//! **Problem.** A lip's line should come to lie on a line that was drawn beside it. Which point of
//! the one goes to which of the other?
//!
//! **Equation.** Points correspond at equal shares of arc length: `C(k/n)` goes to `T(σ k/n + φ)`.
//! For open curves the direction `σ = ±1` (with `φ = 0` or `1`), and for loops also the phase `φ`,
//! are those of the least
//!
//! ```text
//! E(σ, φ) = Σ_k |T(σ k/n + φ) − C(k/n)|²
//! ```
//!
//! **Ours.** The loop's `E` is searched on a grid of phases and then by golden section. Inner
//! points may slide along the goal ([`Aim::Curve`]), since a hand draws where a line should be and
//! seldom how it should stretch.

use glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex};

use super::polyline::Polyline;
use super::sketch::nearest_corner;
use crate::{Aim, Pin, PinPlace, RigError, SketchCamera, SurfaceCurve};

/// How the ends of an open curve reach their goals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum EndAim {
    /// In space.
    #[default]
    Point,
    /// Across a view, whose depth is free; so do inner points that do not slide.
    Across(DVec3),
    /// Sliding, like the inner points.
    Slide,
}

/// Which end of the goal belongs to the curve's begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CurveDirection {
    /// The nearer one, by the sum of squared distances.
    #[default]
    Nearest,
    /// The one that was drawn first.
    AsDrawn,
}

/// How two curves become pins.
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
    /// Ours: closer pins hold the same triangles.
    pub const DEFAULT_SPACING_EDGES: f64 = 2.0;
    /// Ours: the most pins that are set without being counted out; a face has fewer sliders that
    /// matter to one line.
    pub const MOST_PINS: usize = 24;

    /// So many pins, at least 2, or 3 on a loop, instead of one for each spacing.
    #[must_use]
    pub fn with_count(self, count: usize) -> Self {
        Self {
            count: Some(count),
            ..self
        }
    }

    /// One pin for each so many mean edges of the posed mesh, up to [`MOST_PINS`](Self::MOST_PINS).
    /// Default: [`DEFAULT_SPACING_EDGES`](Self::DEFAULT_SPACING_EDGES).
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

    /// Which end of the goal belongs to the begin. Default: the nearer one.
    #[must_use]
    pub fn with_direction(self, direction: CurveDirection) -> Self {
        Self { direction, ..self }
    }

    /// Where pins may be. Default: anywhere on the surface. Vertices that would be pinned twice are
    /// pinned once.
    #[must_use]
    pub fn with_pin_place(self, pin_place: PinPlace) -> Self {
        Self { pin_place, ..self }
    }

    fn pins_on(&self, length: f64, mean_edge: f64, closed: bool) -> Result<usize, RigError> {
        let least = if closed { 3 } else { 2 };
        if let Some(count) = self.count {
            let (value, needed) = (
                count as f64,
                if closed { "at least 3" } else { "at least 2" },
            );
            return if count >= least {
                Ok(count)
            } else {
                Err(RigError::BadOption {
                    what: "the number of pins",
                    value,
                    needed,
                })
            };
        }
        if self.spacing_edges.is_nan() || self.spacing_edges <= 0.0 {
            return Err(RigError::BadOption {
                what: "the spacing of pins",
                value: self.spacing_edges,
                needed: "above 0",
            });
        }
        let steps = (length / (self.spacing_edges * mean_edge)).round() as usize;
        Ok((steps + usize::from(!closed)).clamp(least, Self::MOST_PINS))
    }
}

/// Pins that take a curve on the surface, with the vertices at `positions`, onto the polyline
/// `target`, which is a loop where `source` is one. Pins follow the source in its order.
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
    let count = options.pins_on(from.length(), posed.mean_edge_length(), source.closed)?;
    let starts = from.samples(count);
    let goals = corresponding(
        &starts,
        from.shares(count),
        &to,
        source.closed,
        options.direction,
    );
    let mut pins = Vec::with_capacity(count);
    for (k, found) in index.closest_points(&starts)?.iter().enumerate() {
        let at = match options.pin_place {
            PinPlace::Surface => found.place.into(),
            PinPlace::Vertex => {
                pliant_mesh::SurfacePoint::Vertex(nearest_corner(&posed, found.place, starts[k]))
            }
        };
        let end = !source.closed && (k == 0 || k + 1 == count);
        pins.push(Pin {
            at,
            displacement: goals[k] - at.position(&posed),
            aim: aim_of(end, &to, options),
            stiffness: 1.0,
        });
    }
    Ok(without_repeats(pins))
}

/// The first pin of each place.
fn without_repeats(pins: Vec<Pin>) -> Vec<Pin> {
    let mut kept: Vec<Pin> = Vec::with_capacity(pins.len());
    for pin in pins {
        if kept.iter().all(|other| other.at != pin.at) {
            kept.push(pin);
        }
    }
    kept
}

fn aim_of(end: bool, to: &Polyline, options: &CurvePinOptions) -> Aim {
    match (end, options.ends) {
        (true, EndAim::Point) => Aim::Point,
        (true, EndAim::Across(view)) => Aim::Across(view),
        (true, EndAim::Slide) => Aim::Curve(to.corners().to_vec()),
        (false, _) if options.sliding => Aim::Curve(to.corners().to_vec()),
        (false, EndAim::Across(view)) => Aim::Across(view),
        (false, _) => Aim::Point,
    }
}

/// The goals of `starts`, which lie at `shares` of their curve.
fn corresponding(
    starts: &[DVec3],
    shares: impl Iterator<Item = f64>,
    to: &Polyline,
    closed: bool,
    direction: CurveDirection,
) -> Vec<DVec3> {
    let shares: Vec<f64> = shares.collect();
    let goals = |sense: f64, phase: f64| -> Vec<DVec3> {
        shares.iter().map(|s| to.at(sense * s + phase)).collect()
    };
    let misfit = |sense: f64, phase: f64| -> f64 {
        starts
            .iter()
            .zip(goals(sense, phase))
            .map(|(p, q)| p.distance_squared(q))
            .sum()
    };
    let best = |sense: f64| match closed {
        true => best_phase(|phase| misfit(sense, phase), 4 * starts.len()),
        false => {
            if sense > 0.0 {
                0.0
            } else {
                1.0
            }
        }
    };
    let (along, against) = (best(1.0), best(-1.0));
    let turned = direction == CurveDirection::Nearest && misfit(-1.0, against) < misfit(1.0, along);
    if turned {
        goals(-1.0, against)
    } else {
        goals(1.0, along)
    }
}

/// The phase in `[0, 1)` with the least misfit: the best of a grid, then golden section beside it.
fn best_phase(misfit: impl Fn(f64) -> f64, grid: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    /// The bracket shrinks to `GOLDEN⁶⁰`, the rounding of a share.
    const STEPS: usize = 60;
    let step = 1.0 / grid as f64;
    let coarse = (0..grid)
        .map(|k| (k as f64 * step, misfit(k as f64 * step)))
        .reduce(|a, b| if b.1 < a.1 { b } else { a });
    let (middle, least) = coarse.expect("a grid has points");
    let (mut low, mut high) = (middle - step, middle + step);
    for _ in 0..STEPS {
        let reach = GOLDEN * (high - low);
        let (left, right) = (high - reach, low + reach);
        if misfit(left) <= misfit(right) {
            high = right
        } else {
            low = left
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
    /// A stroke on the plane across the viewing direction through a point, such as the middle of a
    /// curve.
    pub fn on_view_plane(
        &self,
        points: &[[f64; 2]],
        through: DVec3,
    ) -> Result<Vec<DVec3>, RigError> {
        let depth = (through - self.eye).dot(self.forward());
        self.at_depths(points, |_| depth)
    }

    /// A stroke at the depths of a curve: each place of the stroke is as deep as the curve at the
    /// same share of its length. Where the stroke runs the other way, so does the share.
    pub fn at_depth_of(
        &self,
        points: &[[f64; 2]],
        posed: &Mesh,
        curve: &SurfaceCurve,
    ) -> Result<Vec<DVec3>, RigError> {
        let line = curve.polyline(posed)?;
        let forward = self.forward();
        let turned = self.runs_against(points, &line);
        self.at_depths(points, |share| {
            (line.at(if turned { 1.0 - share } else { share }) - self.eye).dot(forward)
        })
    }

    fn at_depths(
        &self,
        points: &[[f64; 2]],
        depth_at: impl Fn(f64) -> f64,
    ) -> Result<Vec<DVec3>, RigError> {
        self.check()?;
        let flat: Vec<DVec3> = points.iter().map(|&[u, v]| DVec3::new(u, v, 0.0)).collect();
        let shares = Polyline::new("the stroke", &flat, false)?;
        let forward = self.forward();
        let placed = shares
            .corners()
            .iter()
            .zip(shares.parameters())
            .map(|(pixel, share)| {
                let (origin, direction) = self.ray([pixel.x, pixel.y]);
                origin + direction * (depth_at(share) / direction.dot(forward))
            });
        Ok(placed.collect())
    }

    /// Whether a stroke's ends on the screen are nearer to a line's ends the other way round.
    fn runs_against(&self, points: &[[f64; 2]], line: &Polyline) -> bool {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return false;
        };
        let (Some(begin), Some(end)) = (
            self.project(line.at(0.0)),
            self.project(line.corners()[line.corners().len() - 1]),
        ) else {
            return false;
        };
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
    fn a_shifted_and_stretched_copy_is_reached_point_by_point_whichever_way_it_is_drawn() {
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
                let share = k as f64 / 7.0;
                let start = pin.at.position(&sheet());
                assert!(start.distance(DVec3::new(0.1 + 0.8 * share, 0.5, 0.0)) < 1e-12);
                assert!(
                    (start + pin.displacement).distance(DVec3::new(1.4 * share, 0.9, 0.3)) < 1e-12,
                    "{pin:?}"
                );
            }
        }
        let as_drawn = pins(
            &row(),
            &backwards,
            &CurvePinOptions::default().with_direction(CurveDirection::AsDrawn),
        );
        assert!(as_drawn[0].displacement.x > 1.0, "across");
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
    fn a_loop_finds_its_phase_and_its_direction() {
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
    fn pins_on_vertices_are_different_and_still_aim_at_the_goal() {
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
    fn a_stroke_beside_the_curve_lies_in_its_depth_and_under_its_pixels() {
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
