//! Worker that computes the vertices that a brush stroke covers.
//!
//! A stroke stores the values before it and the coverage of each vertex, so that a slow stroke
//! paints the same as a fast one.
//!
//! **Implementation.** Rays and distances on a large surface take longer than a frame. A request is
//! the whole stroke so far, and the newest request wins; the worker keeps its coverage, so that
//! each dab is computed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui::Pos2;
use pliant::mesh::{ExactGeodesics, SurfacePoint, TrianglePoint};

use crate::engine::blend::equilibrium::BlendBase;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::shared::Shared;
use crate::view::{Ray, Scene};

/// A stroke in progress.
#[derive(Clone)]
pub(super) struct Stroke {
    /// Unlike those of other strokes.
    pub(super) serial: u64,
    /// The gesture whose undo step it joins.
    pub(super) gesture: u64,
    /// The shape.
    pub(super) ground: Arc<BlendBase>,
    /// Its radius along the surface.
    pub(super) radius: f64,
    /// Its result.
    pub(super) paint: BrushPaint,
    /// Fixed vertices and stiffness before it.
    pub(super) before: (Arc<Vec<u32>>, Shared<Vec<f32>>),
    /// What the rays go through; the shape is the first model.
    pub(super) scene: Scene,
    /// Rays from the camera to its places.
    pub(super) dabs: Vec<Ray>,
    /// Where the pointer was last, and whether there is a dab.
    pub(super) last: Pos2,
    pub(super) rests: bool,
}

/// Result of a stroke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BrushPaint {
    /// Whether it takes away.
    pub(super) erases: bool,
    /// The stiffness that it paints; without one it fixes.
    pub(super) stiffness: Option<f32>,
}

/// The setup after a stroke.
pub(super) struct Painted {
    /// The gesture of the stroke.
    pub(super) gesture: u64,
    /// Its result.
    pub(super) values: PaintedValues,
}

/// Result of a stroke.
pub(super) enum PaintedValues {
    /// The fixed vertices, ascending.
    Fixed(Arc<Vec<u32>>),
    /// The stiffness of each vertex.
    Stiffness(Shared<Vec<f32>>),
}

impl Stroke {
    /// Whether another stroke that follows at once is more of the same.
    pub(super) fn continues_as(&self, next: &Self) -> bool {
        let alike = (self.radius, self.paint) == (next.radius, next.paint)
            && Arc::ptr_eq(&self.ground, &next.ground);
        alike && self.gesture + 1 == next.gesture
    }
}

/// Starts the worker.
pub(super) fn start(wake: Wake) -> Latest<Stroke, Painted> {
    Latest::new(
        "The brush",
        wake,
        |inbox: &Inbox<Stroke>, outbox: &Outbox<Painted>| {
            let mut coverage: Option<StrokeCoverage> = None;
            while let Some(stroke) = inbox.next() {
                // The coverage is kept as long as the shape is the same.
                let kept = coverage
                    .take()
                    .filter(|coverage| Arc::ptr_eq(&coverage.ground, &stroke.ground));
                let coverage =
                    coverage.insert(kept.unwrap_or_else(|| StrokeCoverage::new(&stroke.ground)));
                outbox.put(Ok(coverage.painted(&stroke)));
            }
        },
    )
}

/// A shape and what the stroke on it has covered so far.
struct StrokeCoverage {
    ground: Arc<BlendBase>,
    geodesics: Option<ExactGeodesics>,
    serial: u64,
    /// Dabs that are done.
    done: usize,
    /// How much of each vertex they covered, 0 to 1.
    covered: BTreeMap<u32, f32>,
}

impl StrokeCoverage {
    fn new(ground: &Arc<BlendBase>) -> Self {
        let geodesics = ground.geodesics.clone();
        Self {
            ground: ground.clone(),
            geodesics,
            serial: 0,
            done: 0,
            covered: BTreeMap::new(),
        }
    }

    fn painted(&mut self, stroke: &Stroke) -> Painted {
        // Another stroke starts without coverage.
        if self.serial != stroke.serial || self.done > stroke.dabs.len() {
            (self.serial, self.done, self.covered) = (stroke.serial, 0, BTreeMap::new());
        }
        for dab in &stroke.dabs[self.done..] {
            self.cover(stroke, dab);
        }

        self.done = stroke.dabs.len();
        let (fixed, stiffness) = &stroke.before;
        let values = match stroke.paint.stiffness {
            None => {
                PaintedValues::Fixed(Arc::new(fixes(fixed, &self.covered, stroke.paint.erases)))
            }
            Some(painted) => {
                // Erasing restores the neutral stiffness 1.
                let painted = if stroke.paint.erases { 1.0 } else { painted };
                PaintedValues::Stiffness(
                    stiffens(
                        stiffness,
                        &self.covered,
                        painted,
                        self.ground.mesh.vertex_count(),
                    )
                    .into(),
                )
            }
        };

        Painted {
            gesture: stroke.gesture,
            values,
        }
    }

    /// Covers what is within the radius, less towards its rim.
    fn cover(&mut self, stroke: &Stroke, dab: &Ray) {
        // The shape is the first model; obstacles hide it.
        let Some(hit) = stroke.scene.pick(dab).filter(|hit| hit.model == 0) else {
            return;
        };

        let source = SurfacePoint::InTriangle(TrianglePoint {
            triangle: hit.triangle,
            barycentric: hit.barycentric,
        });

        let Some(Ok(disc)) = self
            .geodesics
            .as_mut()
            .map(|geodesics| geodesics.disc(&[source], stroke.radius))
        else {
            return;
        };

        for (&vertex, &distance) in disc.vertices.iter().zip(&disc.distances) {
            let covered = self.covered.entry(vertex).or_insert(0.0);
            // A dab never removes coverage, so that a slow stroke paints no more than a fast one.
            *covered = covered.max(falloff(distance / stroke.radius) as f32);
        }
    }
}

/// From 1 in the centre to 0 at the rim, flat at both.
fn falloff(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    1.0 - share * share * (3.0 - 2.0 * share)
}

/// The fixed vertices after a stroke.
fn fixes(before: &[u32], covered: &BTreeMap<u32, f32>, erases: bool) -> Vec<u32> {
    let mut fixed: Vec<u32> = before
        .iter()
        .copied()
        .filter(|vertex| !covered.contains_key(vertex))
        .collect();

    if !erases {
        fixed.extend(covered.keys());
        fixed.sort_unstable();
    }
    fixed
}

/// The stiffness after a stroke: geometrically between what was there and what is painted. Empty
/// where all is alike again.
fn stiffens(
    before: &[f32],
    covered: &BTreeMap<u32, f32>,
    painted: f32,
    vertex_count: usize,
) -> Vec<f32> {
    let mut map = if before.len() == vertex_count {
        before.to_vec()
    } else {
        vec![1.0; vertex_count]
    };

    for (&vertex, &covered) in covered {
        if let Some(value) = map.get_mut(vertex as usize) {
            // Geometric interpolation: stiffness is a ratio.
            *value = value.powf(1.0 - covered) * painted.powf(covered);
        }
    }

    // A uniform map is stored as none.
    if map.iter().all(|value| (value - 1.0).abs() < 1e-3) {
        Vec::new()
    } else {
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::surface::Surface;
    use crate::view::Model;
    use pliant::mesh::glam::DVec3;
    use pliant::mesh::shapes::icosphere;

    const BEFORE: [f32; 3] = [1.0, 4.0, 1.0];

    fn covered(covered: &[(u32, f32)]) -> BTreeMap<u32, f32> {
        covered.iter().copied().collect()
    }

    #[test]
    fn a_stroke_adds_or_removes_fixed_vertices() {
        let covered = covered(&[(2, 0.5), (4, 1.0)]);
        assert_eq!(fixes(&[1, 4, 7], &covered, false), [1, 2, 4, 7]);
        assert_eq!(fixes(&[1, 4, 7], &covered, true), [1, 7]);
    }

    #[test]
    fn painted_stiffness_is_interpolated_geometrically() {
        let painted = stiffens(&BEFORE, &covered(&[(0, 1.0), (1, 0.5)]), 9.0, 3);
        assert!(
            painted
                .iter()
                .zip([9.0, 6.0, 1.0])
                .all(|(a, b)| (a - b).abs() < 1e-5),
            "{painted:?}"
        );
        assert!(stiffens(&BEFORE, &covered(&[(1, 1.0)]), 1.0, 3).is_empty());
    }

    #[test]
    fn paint_of_another_mesh_is_dropped() {
        assert_eq!(
            stiffens(&BEFORE, &covered(&[(0, 1.0)]), 2.0, 4),
            [2.0, 1.0, 1.0, 1.0]
        );
    }

    /// A stroke over a ball of radius 1, seen from far along z.
    fn stroke(dabs: usize) -> Stroke {
        let mesh = icosphere(4);
        let ground = BlendBase {
            surface: Surface::of(&mesh),
            notes: Vec::new(),
            cage: None,
            geodesics: ExactGeodesics::new(&mesh).ok(),
            size: 2.0,
            mesh: mesh.clone(),
        };

        let ray = |k: usize| Ray {
            origin: DVec3::new(0.02 + 0.1 * k as f64, 0.03, 9.0),
            direction: DVec3::NEG_Z,
        };

        Stroke {
            serial: 3,
            gesture: 7,
            ground: Arc::new(ground),
            radius: 0.2,
            paint: BrushPaint {
                erases: false,
                stiffness: None,
            },
            before: Default::default(),
            scene: Scene::of(Model::of(&mesh)),
            dabs: (0..dabs).map(ray).collect(),
            last: Pos2::ZERO,
            rests: true,
        }
    }

    #[test]
    fn an_incremental_stroke_covers_the_same_as_the_whole_stroke() {
        let whole = stroke(5);
        let mut growing = StrokeCoverage::new(&whole.ground);
        for dabs in 1..=5 {
            growing.painted(&Stroke {
                dabs: whole.dabs[..dabs].to_vec(),
                ..whole.clone()
            });
        }

        let mut at_once = StrokeCoverage::new(&whole.ground);
        let PaintedValues::Fixed(fixed) = at_once.painted(&whole).values else {
            panic!("it fixes")
        };

        assert_eq!(growing.covered, at_once.covered);
        // Along a sphere of radius 1 the distance is the angle; polyhedra are a little shorter.
        let places: Vec<DVec3> = whole
            .dabs
            .iter()
            .map(|dab| {
                dab.origin
                    .with_z((1.0 - dab.origin.x.powi(2)).sqrt())
                    .normalize()
            })
            .collect();

        for (vertex, place) in whole.ground.mesh.positions().iter().enumerate() {
            let nearest = places
                .iter()
                .map(|at| at.angle_between(*place))
                .fold(f64::INFINITY, f64::min);
            let inside = fixed.binary_search(&(vertex as u32)).is_ok();
            assert!(inside || nearest > 0.97 * whole.radius, "{nearest} is near");
            assert!(!inside || nearest < 1.03 * whole.radius, "{nearest} is far");
        }
    }

    #[test]
    fn a_new_stroke_begins_without_coverage() {
        let first = stroke(5);
        let second = Stroke {
            serial: 4,
            dabs: first.dabs[4..].to_vec(),
            ..first.clone()
        };

        let mut coverage = StrokeCoverage::new(&first.ground);
        coverage.painted(&first);
        coverage.painted(&second);

        let mut alone = StrokeCoverage::new(&first.ground);
        alone.painted(&second);
        assert_eq!(coverage.covered, alone.covered);
    }
}
