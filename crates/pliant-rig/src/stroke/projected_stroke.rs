//! Projection of a stroke from the screen onto the visible surface.
//!
//! **Problem.** A stroke should become a curve on the visible surface, also if the stroke leaves
//! the model for a moment, or crosses a silhouette such as that of the nose.
//!
//! **Method.** Each point of the stroke casts a ray; its first hit is a point of the curve. A
//! stroke is split between two neighbouring points if one of them misses the model, or if their
//! hits stay apart by more than a gap however close the points are. Bisection finds the two sides
//! of the split, the silhouette.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, section 3.2.1: a ray for each point, the closest visible surface.
//! It does not treat strokes that leave the model.
//!
//! **Departures.** Of several pieces, the longest one on the screen that is on the model is kept,
//! and the others are reported.

use glam::{DVec2, DVec3};
use pliant_linalg::parallel;
use pliant_mesh::{Mesh, RayHit, SurfaceIndex, TrianglePoint};

use super::screen_path::{fill_gaps, path_length};
use crate::{RigError, SketchCamera, SketchSurface, SurfaceCurve};

/// Rays in one parallel task.
const RAYS_PER_TASK: usize = 64;
/// A jump in depth splits a stroke if it is longer than this many mean edge lengths. *Chosen*:
/// facets near a silhouette occlude each other by less.
const GAP_EDGES: f64 = 2.0;
/// Bisections of a step: a silhouette is found to a millionth of a pixel.
const BISECTIONS: usize = 30;
/// The largest number of splits in one step of the stroke.
const SPLITS_PER_STEP: usize = 16;

/// A stroke that was projected onto a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedStroke {
    /// The curve on the surface.
    pub curve: SurfaceCurve,
    /// Its points in space.
    pub positions: Vec<DVec3>,
    /// The pieces that were left out, if the stroke left the model.
    pub cut: Option<Cut>,
}

/// How a stroke that left the model was cut.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The piece that is used.
    pub kept: StrokePiece,
    /// All others, in the order of drawing.
    pub dropped: Vec<StrokePiece>,
}

/// A piece of a stroke on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrokePiece {
    /// Its first point, in pixels.
    pub from: [f64; 2],
    /// Its last point, in pixels.
    pub to: [f64; 2],
    /// Its length in pixels.
    pub length_pixels: f64,
    /// Whether it is on the model.
    pub on_model: bool,
}

impl ProjectedStroke {
    /// Projects a stroke, in pixels of `camera`, onto the mesh with its vertices at `positions`.
    pub fn new(
        mesh: &Mesh,
        positions: &[DVec3],
        camera: &SketchCamera,
        points: &[[f64; 2]],
    ) -> Result<Self, RigError> {
        SketchSurface::new(mesh, positions)?.project(camera, points)
    }

    /// As [`new`](Self::new), for a posed mesh whose search tree and mean edge length are known.
    /// Vertices that are not posable are ignored where posable ones lie behind them.
    pub(crate) fn on(
        (posed, posable): (&Mesh, &[bool]),
        index: &SurfaceIndex,
        mean_edge: f64,
        camera: &SketchCamera,
        points: &[[f64; 2]],
    ) -> Result<Self, RigError> {
        camera.check()?;
        let path = fill_gaps(points)?;
        let caster = RayCaster {
            posed,
            posable,
            index,
            camera,
            gap: GAP_EDGES * mean_edge,
        };

        // Keep the longest piece on the model, and report the others.
        let mut pieces = caster.pieces(&path);
        let longest = longest_on_model(&pieces).ok_or(RigError::StrokeOffModel {
            points: points.len(),
        })?;
        let kept = pieces.remove(longest);
        let cut = (!pieces.is_empty()).then(|| Cut {
            kept: kept.report(),
            dropped: pieces.iter().map(Piece::report).collect(),
        });

        Ok(Self {
            curve: SurfaceCurve {
                points: kept.hits.iter().map(|hit| hit.place.into()).collect(),
                closed: false,
            },
            positions: kept.hits.iter().map(|hit| hit.point).collect(),
            cut,
        })
    }
}

/// The first of the longest pieces on the model.
fn longest_on_model(pieces: &[Piece]) -> Option<usize> {
    let mut longest: Option<usize> = None;
    for (k, piece) in pieces.iter().enumerate() {
        if piece.on_model() && longest.is_none_or(|j| piece.length() > pieces[j].length()) {
            longest = Some(k);
        }
    }

    longest
}

/// The intersection of a ray with the surface.
#[derive(Debug, Clone, Copy)]
struct Hit {
    place: TrianglePoint,
    point: DVec3,
}

/// A point of the stroke and its hit on the surface.
#[derive(Debug, Clone, Copy)]
struct Sample {
    pixel: DVec2,
    hit: Option<Hit>,
}

/// A piece between two splits: all of its points hit the model, or none.
#[derive(Debug)]
struct Piece {
    pixels: Vec<DVec2>,
    hits: Vec<Hit>,
}

impl Piece {
    fn starting(sample: &Sample) -> Self {
        Self {
            pixels: vec![sample.pixel],
            hits: sample.hit.into_iter().collect(),
        }
    }

    fn push(&mut self, sample: &Sample) {
        // A split next to a point gives that point again.
        if self.pixels.last() != Some(&sample.pixel) {
            self.pixels.push(sample.pixel);
            self.hits.extend(sample.hit);
        }
    }

    fn on_model(&self) -> bool {
        !self.hits.is_empty()
    }

    fn length(&self) -> f64 {
        path_length(&self.pixels)
    }

    fn report(&self) -> StrokePiece {
        let end = self.pixels[self.pixels.len() - 1];
        StrokePiece {
            from: self.pixels[0].to_array(),
            to: end.to_array(),
            length_pixels: self.length(),
            on_model: self.on_model(),
        }
    }
}

/// Casts rays at a posed mesh.
struct RayCaster<'a> {
    posed: &'a Mesh,
    /// For each vertex whether targets move its component; empty if all are alike.
    posable: &'a [bool],
    index: &'a SurfaceIndex,
    camera: &'a SketchCamera,
    /// The longest jump that does not split a stroke.
    gap: f64,
}

impl RayCaster<'_> {
    fn cast(&self, pixel: DVec2) -> Sample {
        let (origin, direction) = self.camera.ray(pixel.to_array());
        let first = self.index.cast_ray(origin, direction, f64::INFINITY);
        let hit = first.map(|first| self.behind_cover(origin, direction, first));
        let hit = hit.map(|hit| Hit {
            place: hit.place,
            point: hit
                .place
                .position(self.posed.triangles(), self.posed.positions()),
        });
        Sample { pixel, hit }
    }

    /// The posable surface behind `first`, if that is not posable and the surface faces the eye, as
    /// skin behind hair does and the inside of a head behind an eye does not.
    fn behind_cover(&self, origin: DVec3, direction: DVec3, first: RayHit) -> RayHit {
        let triangles = self.posed.triangles();
        let is_posable = |triangle: u32| {
            let corners = triangles[triangle as usize];
            corners.iter().all(|&v| self.posable[v as usize])
        };
        if self.posable.is_empty() || is_posable(first.place.triangle) {
            return first;
        }

        let behind = self
            .index
            .cast_ray_where(origin, direction, f64::INFINITY, is_posable);
        let faces_eye = |hit: &RayHit| {
            let [a, b, c] = self.posed.triangle_points(hit.place.triangle as usize);
            (b - a).cross(c - a).dot(direction) < 0.0
        };
        behind.filter(faces_eye).unwrap_or(first)
    }

    /// The pieces of the path, split where it leaves the surface.
    fn pieces(&self, path: &[DVec2]) -> Vec<Piece> {
        let samples = parallel::map(path.len(), RAYS_PER_TASK, |k| self.cast(path[k]));
        let mut pieces = Vec::new();

        // A step of the stroke may cross several silhouettes.
        let mut piece = Piece::starting(&samples[0]);

        for pair in samples.windows(2) {
            let mut start = pair[0];
            for _ in 0..SPLITS_PER_STEP {
                let Some((last, first)) = self.find_split(start, pair[1], BISECTIONS) else {
                    break;
                };
                piece.push(&last);
                pieces.push(std::mem::replace(&mut piece, Piece::starting(&first)));
                start = first;
            }

            piece.push(&pair[1]);
        }

        pieces.push(piece);
        pieces
    }

    /// The two sides of the first split between two samples, after so many bisections. Where the
    /// surface is steep but connected, the hits of a bisected step come close, and there is no
    /// split.
    fn find_split(&self, a: Sample, b: Sample, bisections: usize) -> Option<(Sample, Sample)> {
        if !self.are_apart(&a, &b) {
            return None;
        }
        if bisections == 0 {
            return Some((a, b));
        }

        let middle = self.cast((a.pixel + b.pixel) * 0.5);
        self.find_split(a, middle, bisections - 1)
            .or_else(|| self.find_split(middle, b, bisections - 1))
    }

    fn are_apart(&self, a: &Sample, b: &Sample) -> bool {
        match (&a.hit, &b.hit) {
            (Some(a), Some(b)) => a.point.distance(b.point) > self.gap,
            (a, b) => a.is_some() != b.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{flat_sheet, icosphere};

    fn front(distance: f64) -> SketchCamera {
        SketchCamera {
            eye: DVec3::Z * distance,
            target: DVec3::ZERO,
            up: DVec3::Y,
            fov_y_degrees: 40.0,
            width: 400,
            height: 300,
        }
    }

    fn project(mesh: &Mesh, points: &[[f64; 2]]) -> Result<ProjectedStroke, RigError> {
        ProjectedStroke::new(mesh, mesh.positions(), &front(5.0), points)
    }

    #[test]
    fn the_curve_projects_to_the_stroke_and_is_on_the_near_side() {
        let sphere = icosphere(4);
        let drawn: Vec<[f64; 2]> = (0..40)
            .map(|k| {
                [
                    150.0 + 2.5 * f64::from(k),
                    150.0 + 30.0 * (f64::from(k) * 0.1).sin(),
                ]
            })
            .collect();

        let stroke = project(&sphere, &drawn).unwrap();
        assert_eq!(stroke.cut, None);
        assert_eq!(stroke.positions.len(), 40);

        for (point, pixel) in stroke.positions.iter().zip(&drawn) {
            let back = front(5.0).project(*point).unwrap();
            assert!(point.z > 0.0 && (0..2).all(|c| (back[c] - pixel[c]).abs() < 1e-9));
        }
    }

    #[test]
    fn a_stroke_across_a_sphere_is_cut_at_its_silhouette() {
        let sphere = icosphere(5);
        let stroke = project(&sphere, &[[5.0, 150.0], [395.0, 150.0]]).unwrap();
        let cut = stroke.cut.expect("it began and ended beside the sphere");

        assert_eq!((cut.dropped.len(), cut.kept.on_model), (2, true));
        assert!(cut.dropped.iter().all(|piece| !piece.on_model));

        // Seen from 5 the unit sphere covers the sine 1/5, tangent 1/√24.
        let radius = 150.0 / 20_f64.to_radians().tan() / 24_f64.sqrt();
        assert!(
            (cut.kept.length_pixels - 2.0 * radius).abs() < 0.2,
            "{} {radius}",
            cut.kept.length_pixels
        );

        let ends = [
            stroke.positions[0],
            stroke.positions[stroke.positions.len() - 1],
        ];

        assert!(
            ends.iter().all(|p| (p.z - 0.2).abs() < 0.05),
            "the limb lies at z = 1/5: {ends:?}"
        );

        let total: f64 = cut.kept.length_pixels
            + cut
                .dropped
                .iter()
                .map(|piece| piece.length_pixels)
                .sum::<f64>();

        assert!(
            (total - 390.0).abs() < 1e-5,
            "nothing is lost between the pieces: {total}"
        );
    }

    #[test]
    fn the_longest_of_several_pieces_is_kept_and_the_others_are_reported() {
        let (a, b) = (icosphere(3), icosphere(3));
        let moved = |mesh: &Mesh, to: DVec3, scale: f64| {
            mesh.positions()
                .iter()
                .map(|p| *p * scale + to)
                .collect::<Vec<_>>()
        };

        // A small sphere on the left and a larger one on the right.
        let mut positions = moved(&a, DVec3::X * -0.9, 0.4);
        positions.extend(moved(&b, DVec3::X * 0.6, 0.7));
        let shift = a.vertex_count() as u32;
        let triangles: Vec<[u32; 3]> = a
            .triangles()
            .iter()
            .copied()
            .chain(b.triangles().iter().map(|t| t.map(|v| v + shift)))
            .collect();

        let pair = Mesh::from_triangles(positions, &triangles).unwrap();
        let stroke = project(&pair, &[[40.0, 150.0], [360.0, 150.0]]).unwrap();

        // Background, small sphere, gap and background are left out.
        let cut = stroke.cut.unwrap();

        assert_eq!(
            cut.dropped
                .iter()
                .map(|piece| piece.on_model)
                .collect::<Vec<_>>(),
            [false, true, false, false]
        );
        assert!(
            stroke.positions.iter().all(|p| p.x > -0.2),
            "the larger sphere"
        );
    }

    #[test]
    fn a_sheet_in_front_of_another_splits_the_stroke() {
        let sheet = flat_sheet(8, 0.0);
        let mut positions: Vec<DVec3> = sheet
            .positions()
            .iter()
            .map(|p| *p * 2.0 - DVec3::new(1.0, 1.0, 1.0))
            .collect();

        positions.extend(
            sheet
                .positions()
                .iter()
                .map(|p| *p * DVec3::new(0.5, 1.0, 1.0) + DVec3::new(0.3, -0.5, 0.0)),
        );

        let shift = sheet.vertex_count() as u32;
        let triangles = sheet.triangles();
        let both: Vec<[u32; 3]> = triangles
            .iter()
            .copied()
            .chain(triangles.iter().map(|t| t.map(|v| v + shift)))
            .collect();

        // The front sheet covers a part of the back one.
        let stacked = Mesh::from_triangles(positions, &both).unwrap();
        let stroke = project(&stacked, &[[140.0, 150.0], [240.0, 150.0]]).unwrap();
        let cut = stroke.cut.expect("the front sheet hides the back one");

        assert!(cut.kept.on_model && cut.dropped.len() == 1 && cut.dropped[0].on_model);
        assert!(
            stroke
                .positions
                .iter()
                .all(|p| p.z == stroke.positions[0].z),
            "one sheet only"
        );
    }

    #[test]
    fn a_stroke_beside_the_model_is_an_error() {
        assert_eq!(
            project(&icosphere(2), &[[1.0, 1.0], [30.0, 1.0]]),
            Err(RigError::StrokeOffModel { points: 2 })
        );

        let behind = SketchCamera {
            target: DVec3::Z * 10.0,
            ..front(5.0)
        };
        let sphere = icosphere(2);
        let found = ProjectedStroke::new(
            &sphere,
            sphere.positions(),
            &behind,
            &[[190.0, 150.0], [210.0, 150.0]],
        );

        assert_eq!(found, Err(RigError::StrokeOffModel { points: 2 }));
    }
}
