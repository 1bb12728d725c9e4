//! Where the next marker helps most.
//!
//! **Problem.** Markers are set by hand; the next one should go where the correspondence is least
//! known and the motion most uneven.
//!
//! **Equation.** What is known fades with the geodesic distance `d` to the nearest marker, and what
//! is unknown shows where the source is flexible, `f`. With the area `a` of each vertex the error
//! is modelled as
//!
//! ```text
//! E² = Σ aᵢ fᵢ dᵢ²        a marker at v leaves   E'² = Σ aᵢ fᵢ min(dᵢ, d(v, i))²
//! ```
//!
//! and the best of some candidates, each the farthest from all before it by `f d²`, is the one with
//! the least `E'`.
//!
//! **Source.** The flexibility is that of Wang and Lee, "Example-driven animation synthesis", 2008,
//! section 3.1.1, which shows it to the person who sets markers; choosing by distance as well is
//! ours.

use pliant_mesh::{
    HeatGeodesics, HeatOptions, Mesh, Progress, SurfacePoint, triangle_area, vertex_normals,
};

use crate::extent::diagonal;
use crate::near_vertex::NearVertex;
use crate::{Correspondence, CorrespondenceOptions, Markers, TransferError};

/// Candidates that are compared for each marker.
const CANDIDATES: usize = 8;

/// Even where nothing bends a wrong correspondence costs something: this part of the mean
/// flexibility.
const FLEXIBILITY_FLOOR: f64 = 0.1;

/// A pair of vertices that would make a good marker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkerSuggestion {
    /// The vertex of the source.
    pub source: u32,
    /// The vertex of the target that the present correspondence takes for the same spot; to be
    /// checked by eye.
    pub target: u32,
    /// The part of the estimated error that the marker removes, between 0 and 1.
    pub removes: f64,
    /// How far places that matter then are from a marker, in the root mean square, as a part of
    /// the source's diagonal.
    pub leaves: f64,
}

/// The next markers to set, from whatever markers there are.
#[derive(Debug, Clone)]
pub struct MarkerSuggestions {
    /// The most useful first.
    pub suggestions: Vec<MarkerSuggestion>,
    /// How far places that matter are from a marker now, in the root mean square, as a part of the
    /// source's diagonal.
    pub now: f64,
    /// What a person should know, one sentence each.
    pub problems: Vec<String>,
}

impl MarkerSuggestions {
    /// Finds a correspondence by `markers`, by the shapes alone where they are too few, and
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

    /// As [`find`](Self::find), telling `progress` how far the correspondence is.
    ///
    /// # Errors
    /// As there; [`TransferError::Stopped`] where `progress` asks to stop.
    pub fn find_with_progress(
        source: &Mesh,
        target: &Mesh,
        markers: &Markers,
        flexibility: Option<&[f64]>,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Self, TransferError> {
        let distinct = markers.distinct().pairs().len();
        (0..markers.pairs().len()).try_for_each(|k| markers.require_in_range(k, source, target))?;
        let options = CorrespondenceOptions::default();
        let enough = distinct >= Markers::FEWEST;
        let found = Correspondence::find_with_progress(
            source,
            target,
            Some(markers).filter(|_| enough),
            &options,
            progress,
        )?;
        let mut problems = found.problems.clone();
        if !enough && distinct > 0 {
            problems.push(format!(
                "{distinct} marker pair(s) hold no correspondence; the shapes alone say which target vertices are suggested"
            ));
        }
        // Meshes with the same faces need no search, which would have asked.
        if progress.report("choosing places", 1.0).is_break() {
            return Err(TransferError::Stopped);
        }
        let need = Need::new(source, markers, flexibility)?;
        Ok(Self {
            now: need.mean_distance(),
            suggestions: need.suggest(source, target, &found, count)?,
            problems,
        })
    }

    /// The markers that there were, then those suggested; with names of their own where others have
    /// names.
    #[must_use]
    pub fn added_to(&self, markers: &Markers) -> Markers {
        let named = markers.names().iter().any(Option::is_some);
        let mut all = markers.clone();
        for suggestion in &self.suggestions {
            let name = named.then(|| all.free_name("suggestion"));
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
    Need::new(source, markers, flexibility)?.suggest(source, target, correspondence, count)
}

/// How badly each place needs a marker.
struct Need {
    geodesics: HeatGeodesics,
    /// `a f` of each vertex.
    weights: Vec<f64>,
    /// To the nearest marker; the diagonal where there is none on the same part.
    distances: Vec<f64>,
    farthest: f64,
}

impl Need {
    fn new(
        source: &Mesh,
        markers: &Markers,
        flexibility: Option<&[f64]>,
    ) -> Result<Self, TransferError> {
        let mut need = Self {
            geodesics: HeatGeodesics::factor(source, &HeatOptions::default())?,
            weights: weights(source, flexibility)?,
            distances: vec![diagonal(source); source.vertex_count()],
            farthest: diagonal(source),
        };
        let points: Vec<SurfacePoint> = markers
            .pairs()
            .iter()
            .map(|&(a, _)| SurfacePoint::Vertex(a))
            .collect();
        if !points.is_empty() {
            need.distances = need.from(&points)?;
        }
        Ok(need)
    }

    fn suggest(
        mut self,
        source: &Mesh,
        target: &Mesh,
        found: &Correspondence,
        count: usize,
    ) -> Result<Vec<MarkerSuggestion>, TransferError> {
        let places = &found.source_on_target;
        let facing = vertex_normals(&source.posed(places.clone())?);
        let partners = NearVertex::new(target)?;
        let mut suggestions = Vec::new();
        while suggestions.len() < count {
            let Some((vertex, removes)) = self.place_next()? else {
                break;
            };
            let partner = partners.of(places[vertex as usize], facing[vertex as usize]);
            suggestions.push(MarkerSuggestion {
                source: vertex,
                target: partner,
                removes,
                leaves: self.mean_distance(),
            });
        }
        Ok(suggestions)
    }

    /// The distance of each vertex to the nearest of `points`, no more than the diagonal.
    fn from(&self, points: &[SurfacePoint]) -> Result<Vec<f64>, TransferError> {
        let distances = self.geodesics.distances(points)?;
        Ok(distances
            .into_iter()
            .map(|d| d.clamp(0.0, self.farthest))
            .collect())
    }

    /// Sets the marker that leaves the least error; `None` where nothing is left to gain.
    fn place_next(&mut self) -> Result<Option<(u32, f64)>, TransferError> {
        let before = self.error(&self.distances);
        let mut reached = self.distances.clone();
        let mut best: Option<(u32, f64, Vec<f64>)> = None;
        for _ in 0..CANDIDATES {
            let need = |i: usize| self.weights[i] * reached[i] * reached[i];
            let vertex =
                (0..reached.len()).fold(0, |best, i| if need(i) > need(best) { i } else { best });
            if need(vertex) <= 0.0 {
                break;
            }
            let around = self.from(&[SurfacePoint::Vertex(vertex as u32)])?;
            let nearer = |old: &[f64]| {
                old.iter()
                    .zip(&around)
                    .map(|(&a, &b)| a.min(b))
                    .collect::<Vec<f64>>()
            };
            let left = nearer(&self.distances);
            let error = self.error(&left);
            if best.as_ref().is_none_or(|&(_, least, _)| error < least) {
                best = Some((vertex as u32, error, left));
            }
            reached = nearer(&reached);
        }
        Ok(best.map(|(vertex, after, left)| {
            self.distances = left;
            (
                vertex,
                if before > 0.0 {
                    1.0 - after / before
                } else {
                    0.0
                },
            )
        }))
    }

    /// `E` as a distance, in parts of the diagonal.
    fn mean_distance(&self) -> f64 {
        let total: f64 = self.weights.iter().sum();
        if total > 0.0 && self.farthest > 0.0 {
            self.error(&self.distances) / total.sqrt() / self.farthest
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

/// `a f` of each vertex: a third of the area around it, each triangle by its flexibility.
fn weights(source: &Mesh, flexibility: Option<&[f64]>) -> Result<Vec<f64>, TransferError> {
    let triangles = source.triangles().len();
    flexibility.map_or(Ok(()), |f| {
        TransferError::check_count("the flexibility", f.len(), triangles)
    })?;
    let mean = flexibility.map_or(1.0, |f| f.iter().sum::<f64>() / triangles as f64);
    let of_triangle = |t: usize| {
        flexibility
            .filter(|_| mean > 0.0)
            .map_or(1.0, |f| f[t] / mean + FLEXIBILITY_FLOOR)
    };
    let mut weights = vec![0.0; source.vertex_count()];
    for (t, triangle) in source.triangles().iter().enumerate() {
        let share = of_triangle(t) * triangle_area(source.triangle_points(t)) / 3.0;
        triangle.iter().for_each(|&v| weights[v as usize] += share);
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
    fn a_search_that_is_asked_to_stop_stops() {
        struct Impatient;
        impl Progress for Impatient {
            fn report(&self, _: &str, _: f64) -> std::ops::ControlFlow<()> {
                std::ops::ControlFlow::Break(())
            }
        }
        let (sheet, markers, _) = cornered();
        let found =
            MarkerSuggestions::find_with_progress(&sheet, &sheet, &markers, None, 4, &Impatient);
        assert!(matches!(found, Err(TransferError::Stopped)), "{found:?}");
    }

    #[test]
    fn the_next_marker_goes_far_from_the_others_and_names_the_same_spot() {
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
    fn flexible_places_come_first() {
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
    fn a_flexibility_of_another_mesh_is_declined() {
        let (sheet, markers, found) = cornered();
        assert!(suggest_markers(&sheet, &sheet, &markers, &found, Some(&[1.0]), 1).is_err());
    }

    #[test]
    fn each_suggestion_leaves_less_and_few_markers_are_enough_to_ask() {
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
            few.problems
                .iter()
                .any(|problem| problem.contains("shapes alone")),
            "{:?}",
            few.problems
        );
        assert!(
            MarkerSuggestions::find(&sheet, &sheet, &Markers::new(vec![(0, 9_999)]), None, 1)
                .is_err()
        );
    }
}
