//! Search for the best correspondence: registration, the warp of Wang and Lee 2008, orientations.
//!
//! **Method.** With markers, the source is aligned by the similarity that fits them. Registration
//! starts there. While the report is not complete, [`CorrespondenceMethod::Auto`] tries a start
//! aligned by shape, then a pull from the target, and last the warp. Without markers, the same runs
//! from every plausible orientation of [`align`]. The map with the lowest
//! [`penalty`](MapReport::penalty) is taken.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{Mesh, Progress};

use super::alignment::align_with_rotation;
use super::centroid_map::match_centroids;
use super::map_report::{Coverage, MatchedSources};
use super::surface_map::match_surfaces;
use super::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, MapReport, RegistrationOptions,
    TriangleMap, align, least_squares_mesh, register,
};
use crate::extent::{diagonal, size};
use crate::{Similarity, TransferError};

/// The pull from the target onto the source for targets that are not covered without it. Measured:
/// on `horse-camel` the residual is a third of that without pull, and the error against the
/// published poses a tenth larger.
const PULL_WHERE_INCOMPLETE: f64 = 0.5;

/// A component lies on the source where it is within this share of the target's size: an eye is
/// nearer than that to another eye, and farther from the lids around it.
const MATCHED_DISTANCE: f64 = 0.007;

/// A component has a counterpart if this share of its triangles lies on the source.
const MATCHED_SHARE: f64 = 0.9;

/// Two meshes and the markers between them.
pub(super) struct CorrespondenceSearch<'a> {
    pub(super) source: &'a Mesh,
    pub(super) target: &'a Mesh,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) options: &'a CorrespondenceOptions,
    pub(super) progress: &'a dyn Progress,
}

impl CorrespondenceSearch<'_> {
    /// The correspondence by all markers, or by those that are not `wrong` if its report is better.
    /// `wrong` holds indices of pairs in ascending order.
    pub(super) fn by_consistent_markers(
        &self,
        wrong: &[usize],
        warnings: &mut Vec<String>,
    ) -> Result<Correspondence, TransferError> {
        let all = self.by_markers()?;
        if wrong.is_empty() {
            return Ok(all);
        }

        // A creature in another pose deviates as much as a wrong marker; the maps show which it is.
        let kept = self.pairs.iter().enumerate();
        let kept = kept.filter(|(k, _)| wrong.binary_search(k).is_err());
        let consistent = Self {
            pairs: kept.map(|(_, &pair)| pair).collect(),
            ..*self
        };
        let found = consistent.by_markers()?;
        if found.report.penalty() >= all.report.penalty() {
            return Ok(all);
        }
        warnings.push(format!(
            "{} of {} marker pairs contradict the others and are left out of the map",
            wrong.len(),
            self.pairs.len()
        ));
        Ok(found)
    }

    /// The correspondence from the alignment that fits the markers best.
    pub(super) fn by_markers(&self) -> Result<Correspondence, TransferError> {
        let mut from = Vec::with_capacity(self.pairs.len());
        let mut to = Vec::with_capacity(self.pairs.len());
        for &(a, b) in &self.pairs {
            from.push(self.source.positions()[a as usize]);
            to.push(self.goal(b));
        }

        // The rotation is passed on: a second start may use it without the markers' position.
        let similarity = Similarity::fit(&from, &to)?;
        let aligned = similarity.apply_all(self.source.positions());
        self.at_alignment(aligned, Some(similarity.motion.rotation))
    }

    /// The correspondence with the best report over all plausible orientations; its orientation
    /// comes to the front of the candidates.
    pub(super) fn over_orientations(
        &self,
        warnings: &mut Vec<String>,
    ) -> Result<Correspondence, TransferError> {
        let alignment = align(self.source, self.target)?;
        warnings.extend(alignment.ambiguity());
        let plausible = alignment.plausible_count();
        let mut candidates = alignment.candidates;

        // Each plausible orientation is fitted completely; the misfit alone is ambiguous.
        let mut best: Option<(usize, Correspondence)> = None;
        for (k, candidate) in candidates.iter_mut().enumerate().take(plausible) {
            let aligned = candidate.similarity.apply_all(self.source.positions());
            let found = self.at_alignment(aligned, None)?;
            candidate.fitted = Some(found.report);

            let is_better = best
                .as_ref()
                .is_none_or(|(_, known)| found.report.penalty() < known.report.penalty());
            if is_better {
                best = Some((k, found));
            }
        }

        let (taken, found) = best.expect("the best candidate is plausible");
        // The order of the other candidates, by their misfit, is kept.
        candidates[..=taken].rotate_right(1);
        Ok(Correspondence {
            candidates,
            ..found
        })
    }

    /// The correspondence from the source's vertices `aligned` with the target; `rotation` is that
    /// of the markers, if there are any.
    fn at_alignment(
        &self,
        aligned: Vec<DVec3>,
        rotation: Option<DQuat>,
    ) -> Result<Correspondence, TransferError> {
        match self.options.method {
            CorrespondenceMethod::Identity => Ok(Correspondence::identity(self.target)),
            CorrespondenceMethod::Wang2008 => self.by_warp(aligned),
            CorrespondenceMethod::Registration => {
                self.by_registration(aligned, &self.registration())
            }
            CorrespondenceMethod::Auto => self.by_best_method(aligned, rotation),
        }
    }

    /// The options of the registration, by the number of markers if none are given.
    fn registration(&self) -> RegistrationOptions {
        let by_count = || RegistrationOptions::for_markers(self.pairs.len());
        self.options.registration.unwrap_or_else(by_count)
    }

    /// The correspondence with the best report among several attempts, which end as soon as the
    /// target is covered.
    fn by_best_method(
        &self,
        aligned: Vec<DVec3>,
        rotation: Option<DQuat>,
    ) -> Result<Correspondence, TransferError> {
        let mut start = aligned.clone();
        let mut registration = self.registration();
        let mut found = self.by_registration(aligned.clone(), &registration)?;

        // Few markers fix little more than the rotation; the shapes fix position and size better.
        if let Some(rotation) = rotation.filter(|_| !found.report.is_complete()) {
            let by_shape = align_with_rotation(self.source, self.target, rotation)?
                .apply_all(self.source.positions());
            let without_markers = registration.with_marker_start(false);
            let other = self.by_registration(by_shape.clone(), &without_markers)?;
            if other.report.penalty() < found.report.penalty() {
                (found, start, registration) = (other, by_shape, without_markers);
            }
        }

        // The pull from the target covers protruding parts that no closest point reaches.
        if !found.report.is_complete() && !registration.pulls_from_target() {
            let registration = registration.with_pull_from_target(PULL_WHERE_INCOMPLETE);
            found = better(found, self.by_registration(start, &registration)?);
        }

        // The warp ignores the shapes; it is the last resort.
        if !found.report.warnings().is_empty() && !self.pairs.is_empty() {
            found = better(found, self.by_warp(aligned)?);
        }
        Ok(found)
    }

    /// The correspondence of two least-squares meshes of the markers (Wang and Lee 2008).
    fn by_warp(&self, aligned: Vec<DVec3>) -> Result<Correspondence, TransferError> {
        self.report_progress("warping both meshes", 0.75)?;
        let source_goals = self.marker_goals(|pair| pair.0);
        let target_goals = self.marker_goals(|pair| pair.1);
        let (source, target) = parallel::join(
            || least_squares_mesh(self.source, &source_goals, &aligned),
            || least_squares_mesh(self.target, &target_goals, self.target.positions()),
        );
        // Both meshes now have nearly the same shape.
        let source = self.source.posed(source?)?;
        let target = self.target.posed(target?)?;

        let matches = match_centroids(self.source, &source, &target, self.options.closeness)?;
        let marker_residual = self.marker_residual(source.positions());
        let method = CorrespondenceMethod::Wang2008;
        Ok(self.assembled(matches, marker_residual, method, aligned))
    }

    /// The correspondence of the source registered onto the target.
    fn by_registration(
        &self,
        aligned: Vec<DVec3>,
        options: &RegistrationOptions,
    ) -> Result<Correspondence, TransferError> {
        self.report_progress("registering the source onto the target", 0.0)?;
        let goals = self.marker_goals(|pair| pair.0);
        let registered = register(self.source, self.target, aligned, &goals, options)?;

        self.report_progress("matching triangles", 0.5)?;
        let matches = match_surfaces(&self.source.posed(registered.clone())?, self.target)?;
        let marker_residual = self.marker_residual(&registered);
        let method = CorrespondenceMethod::Registration;
        Ok(self.assembled(matches, marker_residual, method, registered))
    }

    /// The correspondence of matched triangles, with its report.
    fn assembled(
        &self,
        matches: Vec<MatchedSources>,
        marker_residual: f64,
        method: CorrespondenceMethod,
        source_on_target: Vec<DVec3>,
    ) -> Correspondence {
        let map = TriangleMap::new(matches.iter().map(|matched| &matched.sources));
        let report = MapReport::of(&matches, &map, self.source, self.target, marker_residual);

        // A triangle that is not covered has no meaningful distance.
        let mut distances = Vec::with_capacity(matches.len());
        for matched in &matches {
            distances.push(match matched.coverage {
                Coverage::Covered => matched.distance,
                Coverage::Flipped | Coverage::Uncovered => f64::NAN,
            });
        }

        Correspondence {
            map,
            report,
            method,
            source_on_target,
            distances,
            unmatched: self.unmatched_triangles(&matches),
            candidates: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// For every target triangle whether its component has no counterpart.
    ///
    /// A component has a counterpart if it holds a marker, or if nearly all of it lies on the
    /// source. A target of one component always has one.
    fn unmatched_triangles(&self, matches: &[MatchedSources]) -> Vec<bool> {
        let topology = self.target.topology();
        let component_of = topology.component_of_vertex();
        let mut component_of_triangle = Vec::with_capacity(matches.len());
        for triangle in self.target.triangles() {
            component_of_triangle.push(component_of[triangle[0] as usize] as usize);
        }

        let count = topology.component_count();
        // A marker on a component states that it has a counterpart.
        let mut has_marker = vec![count == 1; count];
        for &(_, b) in &self.pairs {
            if let Some(has_marker) = has_marker.get_mut(component_of[b as usize] as usize) {
                *has_marker = true;
            }
        }

        // Without a marker, the distance to the source decides.
        let near = MATCHED_DISTANCE * size(self.target);
        let mut triangles = vec![0.0; count];
        let mut covered = vec![0.0; count];
        for (matched, &component) in matches.iter().zip(&component_of_triangle) {
            triangles[component] += 1.0;
            if matched.coverage == Coverage::Covered && matched.distance <= near {
                covered[component] += 1.0;
            }
        }

        component_of_triangle
            .into_iter()
            .map(|c| !has_marker[c] && covered[c] < MATCHED_SHARE * triangles[c])
            .collect()
    }

    /// The position of a target vertex.
    fn goal(&self, target_vertex: u32) -> DVec3 {
        self.target.positions()[target_vertex as usize]
    }

    /// One end of each marker, with the position of its target vertex.
    fn marker_goals(&self, end: impl Fn(&(u32, u32)) -> u32) -> Vec<(u32, DVec3)> {
        let mut goals = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            goals.push((end(pair), self.goal(pair.1)));
        }
        goals
    }

    /// Root mean square distance of the markers from their goals over the target's diagonal.
    fn marker_residual(&self, moved: &[DVec3]) -> f64 {
        let diagonal = diagonal(self.target);
        if diagonal <= 0.0 || self.pairs.is_empty() {
            return 0.0;
        }

        let squared = self
            .pairs
            .iter()
            .map(|&(a, b)| moved[a as usize].distance_squared(self.goal(b)))
            .sum::<f64>();
        (squared / self.pairs.len() as f64).sqrt() / diagonal
    }

    fn report_progress(&self, stage: &str, done: f64) -> Result<(), TransferError> {
        Ok(self.progress.proceed(stage, done)?)
    }
}

/// The correspondence with the lower penalty; the first one if both are equal.
fn better(first: Correspondence, second: Correspondence) -> Correspondence {
    if second.report.penalty() < first.report.penalty() {
        second
    } else {
        first
    }
}
