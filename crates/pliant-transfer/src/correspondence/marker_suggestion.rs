//! Marker suggestion: where the next marker reduces the expected error most.
//!
//! **Problem.** Markers are set by hand. The next one should go where the correspondence is least
//! certain and the surface is most flexible.
//!
//! **Equation.** Certainty decreases with the geodesic distance `d` to the nearest marker, and
//! errors are visible where the source is flexible, `f`. With the area `a` of each vertex the error
//! is modelled as
//!
//! ```text
//! E² = Σ aᵢ fᵢ dᵢ²        a marker at v leaves   E'² = Σ aᵢ fᵢ min(dᵢ, d(v, i))²
//! ```
//!
//! Candidates are chosen one by one as the vertex with the largest `a f d²`, where `d` includes the
//! earlier candidates. The candidate with the least `E'` is suggested.
//!
//! **Source.** The flexibility is that of Wang and Lee, "Example-driven animation synthesis", 2008,
//! section 3.1.1, where it is displayed to the user who sets markers.
//!
//! **Departures.** The distance to other markers counts as well.

use pliant_mesh::{
    HeatGeodesics, HeatOptions, Mesh, Progress, SurfacePoint, triangle_area, vertex_normals,
};

use super::{Correspondence, CorrespondenceOptions};
use crate::extent::diagonal;
use crate::markers::near_vertex::NearVertex;
use crate::{Markers, TransferError};

/// Candidates that are compared for each marker.
const CANDIDATES: usize = 8;

/// A wrong correspondence counts even where nothing bends: this share of the mean flexibility is
/// added.
const FLEXIBILITY_FLOOR: f64 = 0.1;

/// A suggested marker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkerSuggestion {
    /// The vertex of the source.
    pub source: u32,
    /// The corresponding vertex of the target by the present correspondence; the user should check
    /// it.
    pub target: u32,
    /// The share of the estimated error that the marker removes, between 0 and 1.
    pub removes: f64,
    /// The weighted root mean square distance to the nearest marker afterwards, relative to the
    /// source's diagonal.
    pub leaves: f64,
}

/// The next markers to set.
#[derive(Debug, Clone)]
pub struct MarkerSuggestions {
    /// In descending order of their use.
    pub suggestions: Vec<MarkerSuggestion>,
    /// The present weighted root mean square distance to the nearest marker, relative to the
    /// source's diagonal.
    pub now: f64,
    /// Warnings for the user, one sentence each.
    pub warnings: Vec<String>,
}

impl MarkerSuggestions {
    /// Finds a correspondence from `markers`, or from the shapes alone if there are too few, and
    /// suggests the next `count`.
    ///
    /// # Errors
    /// As [`Correspondence::find`] and [`suggest_markers`].
    pub fn find(
        source: &Mesh,
        target: &Mesh,
        markers: &Markers,
        flexibility: Option<&[f64]>,
        count: usize,
    ) -> Result<Self, TransferError> {
        Self::find_with_progress(source, target, markers, flexibility, count, &())
    }

    /// As [`find`](Self::find), with reports to `progress`.
    ///
    /// # Errors
    /// As [`find`](Self::find), and [`TransferError::Stopped`] if `progress` asks for it.
    pub fn find_with_progress(
        source: &Mesh,
        target: &Mesh,
        markers: &Markers,
        flexibility: Option<&[f64]>,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Self, TransferError> {
        markers.require_all_in_range(source, target)?;
        let distinct = markers.distinct().pairs().len();
        let is_enough = distinct >= Markers::FEWEST;
        let found = Correspondence::find_with_progress(
            source,
            target,
            is_enough.then_some(markers),
            &CorrespondenceOptions::default(),
            progress,
        )?;

        let mut warnings = found.warnings.clone();
        if !is_enough && distinct > 0 {
            warnings.push(format!(
                "{distinct} marker pair(s) are too few for a correspondence; the shapes alone give the suggested target vertices"
            ));
        }

        // For poses of one mesh the correspondence does not report any progress.
        progress.proceed("choosing places", 1.0)?;
        let model = ErrorModel::new(source, markers, flexibility)?;
        Ok(Self {
            now: model.mean_distance(),
            suggestions: model.suggest(source, target, &found, count)?,
            warnings,
        })
    }

    /// The given markers followed by the suggested ones, which have names if others have names.
    #[must_use]
    pub fn added_to(&self, markers: &Markers) -> Markers {
        let is_named = markers.names().iter().any(Option::is_some);
        let mut all = markers.clone();
        for suggestion in &self.suggestions {
            let name = is_named.then(|| all.free_name("suggestion"));
            all.push(name, (suggestion.source, suggestion.target));
        }
        all
    }
}

/// The next `count` markers to set, the most useful first; `flexibility` has one value per source
/// triangle.
///
/// # Errors
/// If a marker is out of range, the flexibility has another length than the source has triangles,
/// or a mesh has no faces.
pub fn suggest_markers(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
    correspondence: &Correspondence,
    flexibility: Option<&[f64]>,
    count: usize,
) -> Result<Vec<MarkerSuggestion>, TransferError> {
    ErrorModel::new(source, markers, flexibility)?.suggest(source, target, correspondence, count)
}

/// The model of the error of a correspondence.
struct ErrorModel {
    geodesics: HeatGeodesics,
    /// `a f` of each vertex.
    weights: Vec<f64>,
    /// To the nearest marker; the diagonal if there is none on the same component.
    distances: Vec<f64>,
    diagonal: f64,
}

/// A marker that was tried: its vertex, the distances with it, and the error `E'`.
struct Candidate {
    vertex: u32,
    distances: Vec<f64>,
    error: f64,
}

impl ErrorModel {
    fn new(
        source: &Mesh,
        markers: &Markers,
        flexibility: Option<&[f64]>,
    ) -> Result<Self, TransferError> {
        let mut model = Self {
            geodesics: HeatGeodesics::factor(source, &HeatOptions::default())?,
            weights: vertex_weights(source, flexibility)?,
            distances: vec![diagonal(source); source.vertex_count()],
            diagonal: diagonal(source),
        };

        let points: Vec<SurfacePoint> = markers
            .pairs()
            .iter()
            .map(|&(a, _)| SurfacePoint::Vertex(a))
            .collect();
        if !points.is_empty() {
            model.distances = model.distances_from(&points)?;
        }
        Ok(model)
    }

    fn suggest(
        mut self,
        source: &Mesh,
        target: &Mesh,
        found: &Correspondence,
        count: usize,
    ) -> Result<Vec<MarkerSuggestion>, TransferError> {
        let positions = &found.source_on_target;
        let normals = vertex_normals(&source.posed(positions.clone())?);
        let nearest = NearVertex::new(target)?;

        let mut suggestions = Vec::new();
        // Greedy: each marker changes the distances for the next one.
        while suggestions.len() < count {
            let Some((vertex, removes)) = self.place_next()? else {
                break;
            };
            suggestions.push(MarkerSuggestion {
                source: vertex,
                target: nearest.of(positions[vertex as usize], normals[vertex as usize]),
                removes,
                leaves: self.mean_distance(),
            });
        }
        Ok(suggestions)
    }

    /// The distance of each vertex to the nearest of `points`, at most the diagonal.
    fn distances_from(&self, points: &[SurfacePoint]) -> Result<Vec<f64>, TransferError> {
        let mut distances = self.geodesics.distances(points)?;
        for distance in &mut distances {
            *distance = distance.clamp(0.0, self.diagonal);
        }
        Ok(distances)
    }

    /// Sets the marker that leaves the least error, and returns its vertex and the share of the
    /// error that it removes; `None` if the error is zero.
    fn place_next(&mut self) -> Result<Option<(u32, f64)>, TransferError> {
        // Includes the candidates, so that they are far from each other.
        let mut reached = self.distances.clone();
        let mut best: Option<Candidate> = None;
        for _ in 0..CANDIDATES {
            let vertex = self.vertex_of_largest_error(&reached);
            if self.weights[vertex] * reached[vertex] * reached[vertex] <= 0.0 {
                break;
            }

            let from_vertex = self.distances_from(&[SurfacePoint::Vertex(vertex as u32)])?;
            let distances = minima(&self.distances, &from_vertex);
            let error = self.error(&distances);
            if best.as_ref().is_none_or(|best| error < best.error) {
                best = Some(Candidate {
                    vertex: vertex as u32,
                    distances,
                    error,
                });
            }
            reached = minima(&reached, &from_vertex);
        }

        let Some(best) = best else {
            return Ok(None);
        };
        let before = self.error(&self.distances);
        let removes = if before > 0.0 {
            1.0 - best.error / before
        } else {
            0.0
        };
        self.distances = best.distances;
        Ok(Some((best.vertex, removes)))
    }

    /// The vertex with the largest `a f d²`; the first of equal ones.
    fn vertex_of_largest_error(&self, distances: &[f64]) -> usize {
        let error = |i: usize| self.weights[i] * distances[i] * distances[i];
        let mut largest = 0;
        for i in 1..distances.len() {
            if error(i) > error(largest) {
                largest = i;
            }
        }
        largest
    }

    /// `E` as a distance, relative to the diagonal.
    fn mean_distance(&self) -> f64 {
        let total: f64 = self.weights.iter().sum();
        if total > 0.0 && self.diagonal > 0.0 {
            self.error(&self.distances) / total.sqrt() / self.diagonal
        } else {
            0.0
        }
    }

    /// `E`.
    fn error(&self, distances: &[f64]) -> f64 {
        self.weights
            .iter()
            .zip(distances)
            .map(|(&w, &d)| w * d * d)
            .sum::<f64>()
            .sqrt()
    }
}

fn minima(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(&a, &b)| a.min(b)).collect()
}

/// `a f` of each vertex: a third of the area around it, each triangle weighted by its flexibility.
fn vertex_weights(source: &Mesh, flexibility: Option<&[f64]>) -> Result<Vec<f64>, TransferError> {
    let triangles = source.triangles().len();
    let mut weights = vec![0.0; source.vertex_count()];
    let mut mean = 1.0;
    if let Some(flexibility) = flexibility {
        TransferError::check_count("the flexibility", flexibility.len(), triangles)?;
        mean = flexibility.iter().sum::<f64>() / triangles as f64;
    }

    // Relative to the mean flexibility, so that the floor has a meaning for every clip.
    for (t, triangle) in source.triangles().iter().enumerate() {
        let factor = match flexibility {
            Some(flexibility) if mean > 0.0 => flexibility[t] / mean + FLEXIBILITY_FLOOR,
            _ => 1.0,
        };
        let third = factor * triangle_area(source.triangle_points(t)) / 3.0;
        for &v in triangle {
            weights[v as usize] += third;
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes::bumpy_sheet;

    /// A sheet of 12 × 12 quads with markers near its first corner.
    fn cornered() -> (Mesh, Markers, Correspondence) {
        let sheet = bumpy_sheet(12, 0.2);
        let markers = Markers::new([0, 2, 13, 27, 30].map(|i| (i, i)).to_vec());
        let found =
            Correspondence::find(&sheet, &sheet, &markers, &CorrespondenceOptions::default())
                .unwrap();
        (sheet, markers, found)
    }

    #[test]
    fn a_search_stops_if_the_progress_asks_for_it() {
        struct StopAtOnce;
        impl Progress for StopAtOnce {
            fn report(&self, _: &str, _: f64) -> std::ops::ControlFlow<()> {
                std::ops::ControlFlow::Break(())
            }
        }

        let (sheet, markers, _) = cornered();
        let found =
            MarkerSuggestions::find_with_progress(&sheet, &sheet, &markers, None, 4, &StopAtOnce);

        assert!(matches!(found, Err(TransferError::Stopped(_))), "{found:?}");
    }

    #[test]
    fn the_next_marker_is_far_from_the_others_and_names_corresponding_vertices() {
        let (sheet, markers, found) = cornered();
        let next = suggest_markers(&sheet, &sheet, &markers, &found, None, 4).unwrap();
        assert_eq!(next.len(), 4);

        let first = sheet.positions()[next[0].source as usize];
        assert!(first.x + first.y > 0.8, "{first}");
        for suggestion in &next {
            assert!(
                suggestion.source == suggestion.target && (0.0..1.0).contains(&suggestion.removes),
                "{suggestion:?}"
            );
        }

        assert!(next[0].removes > 0.2, "{next:?}");
    }

    #[test]
    fn flexible_places_are_suggested_first() {
        let (sheet, markers, found) = cornered();
        let bends = |t: usize| sheet.triangle_points(t).into_iter().sum::<DVec3>().x / 3.0 > 0.8;
        let only = |bends: &dyn Fn(usize) -> bool| {
            (0..sheet.triangles().len())
                .map(|t| f64::from(u8::from(bends(t))))
                .collect::<Vec<_>>()
        };

        let next =
            suggest_markers(&sheet, &sheet, &markers, &found, Some(&only(&bends)), 1).unwrap();
        assert!(
            sheet.positions()[next[0].source as usize].x > 0.75,
            "{next:?}"
        );
    }

    #[test]
    fn a_flexibility_of_another_mesh_is_rejected() {
        let (sheet, markers, found) = cornered();
        assert!(suggest_markers(&sheet, &sheet, &markers, &found, Some(&[1.0]), 1).is_err());
    }

    #[test]
    fn each_suggestion_leaves_a_smaller_error_and_few_markers_give_a_warning() {
        let (sheet, markers, _) = cornered();
        let some = MarkerSuggestions::find(&sheet, &sheet, &markers, None, 3).unwrap();
        let left: Vec<f64> = std::iter::once(some.now)
            .chain(some.suggestions.iter().map(|suggestion| suggestion.leaves))
            .collect();

        assert!(left.windows(2).all(|pair| pair[1] < pair[0]), "{left:?}");
        for (k, suggestion) in some.suggestions.iter().enumerate() {
            assert!((left[k + 1] / left[k] - (1.0 - suggestion.removes)).abs() < 1e-12);
        }

        let named = Markers::parse(
            "{\"a\": [0, 0], \"suggestion0\": [2, 2], \"c\": [13, 13], \"d\": [27, 27]}",
        )
        .unwrap();
        let all = some.added_to(&some.added_to(&named));

        assert_eq!(
            Markers::parse(&all.to_text(crate::MarkerFormat::Json).unwrap()).unwrap(),
            all
        );

        let few =
            MarkerSuggestions::find(&sheet, &sheet, &Markers::new(vec![(0, 0)]), None, 1).unwrap();
        assert!(
            few.warnings
                .iter()
                .any(|warning| warning.contains("shapes alone")),
            "{:?}",
            few.warnings
        );

        assert!(
            MarkerSuggestions::find(&sheet, &sheet, &Markers::new(vec![(0, 9_999)]), None, 1)
                .is_err()
        );
    }
}
