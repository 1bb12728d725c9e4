//! From two meshes and a few markers to the triangle map.
//!
//! **Problem.** Say for every triangle of the target which source triangles it takes its
//! deformation from, and how far to trust that.
//!
//! **Method.** Poses of one mesh correspond triangle by triangle. Other pairs are brought together,
//! either by the paper's warp (both become [least-squares meshes](crate::least_squares_mesh()) of
//! the same markers) or by [registration](crate::register()) of the source onto the target; then
//! triangles that lie on each other belong together. The [`MapReport`] tells how well that went.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.1.
//!
//! **Ours.** Registration is the default: on `horse-camel` it is a fifth to a third nearer to the
//! published poses than the warp. Where its report is doubtful more is tried, the warp last, and
//! the best is taken.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{Mesh, Progress};

use crate::alignment::{AlignmentCandidate, align_turned};
use crate::centroid_map::match_centroids;
use crate::extent::{diagonal, size};
use crate::map_report::{Coverage, Partners};
use crate::marker_check::doubts;
use crate::surface_map::match_surfaces;
use crate::{
    MapReport, Markers, RegistrationOptions, Similarity, TransferError, TriangleMap, align,
    least_squares_mesh, register,
};

/// How much the target pulls on the source where it is not covered otherwise. Measured: on
/// `horse-camel` the residual is a third of that without pull, and the error against the published
/// poses a tenth larger.
const PULL_WHERE_INCOMPLETE: f64 = 0.5;

/// How two meshes are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CorrespondenceMethod {
    /// Registration; more where that is doubtful, and the best by the reports.
    #[default]
    Auto,
    /// The paper's: both meshes are warped to least-squares meshes of the markers.
    Warp,
    /// The source is laid onto the target.
    Registration,
    /// Poses of one mesh: each triangle is its own partner.
    Identity,
}

impl CorrespondenceMethod {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Warp => "warp",
            Self::Registration => "registration",
            Self::Identity => "identity",
        }
    }
}

/// What happens to a map that is better not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gate {
    /// It is returned with its problems.
    #[default]
    Warn,
    /// [`TransferError::BadMap`].
    Refuse,
}

/// How a correspondence is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrespondenceOptions {
    method: CorrespondenceMethod,
    registration: RegistrationOptions,
    closeness: f64,
    gate: Gate,
}

impl Default for CorrespondenceOptions {
    fn default() -> Self {
        Self {
            method: CorrespondenceMethod::Auto,
            registration: RegistrationOptions::default(),
            closeness: Self::DEFAULT_CLOSENESS,
            gate: Gate::Warn,
        }
    }
}

impl CorrespondenceOptions {
    /// Measured on `horse-camel`; the paper says "close enough".
    pub const DEFAULT_CLOSENESS: f64 = 1.0;

    /// How the meshes are brought together. Default: [`CorrespondenceMethod::Auto`].
    #[must_use]
    pub fn with_method(self, method: CorrespondenceMethod) -> Self {
        Self { method, ..self }
    }

    /// How the source is laid onto the target.
    #[must_use]
    pub fn with_registration(self, registration: RegistrationOptions) -> Self {
        Self {
            registration,
            ..self
        }
    }

    /// How near warped centroids must be to be partners, in mean edges of the warped target; the
    /// nearest one always is. Default: [`DEFAULT_CLOSENESS`](Self::DEFAULT_CLOSENESS).
    #[must_use]
    pub fn with_closeness(self, closeness: f64) -> Self {
        Self { closeness, ..self }
    }

    /// What happens to a map that is better not used. Default: [`Gate::Warn`].
    #[must_use]
    pub fn with_gate(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }
}

/// Which source triangles each target triangle follows, and how far to trust that.
#[derive(Debug, Clone)]
pub struct Correspondence {
    /// The sources of every target triangle.
    pub map: TriangleMap,
    /// How good the map is.
    pub report: MapReport,
    /// How it was found; never [`CorrespondenceMethod::Auto`].
    pub method: CorrespondenceMethod,
    /// The source's vertices brought to the target: registered, or else moved as a whole.
    pub source_on_target: Vec<DVec3>,
    /// How far every target triangle is from its partners, in the target's units; NaN where
    /// nothing of the source is near, or only what faces the other way.
    pub distances: Vec<f64>,
    /// For every target triangle whether its shell has no counterpart in the source. Such shells
    /// follow what they are near to.
    pub unmatched: Vec<bool>,
    /// Without markers, the ways round that the source was tried in; the one that was taken comes
    /// first.
    pub candidates: Vec<AlignmentCandidate>,
    /// What a person should know, one sentence each.
    pub problems: Vec<String>,
}

impl Correspondence {
    /// Finds the correspondence that `markers` tell, or the shapes alone where there is `None`.
    ///
    /// Without markers all ways round that lie nearly as well are fitted, and the one with the best
    /// report is taken: see [`candidates`](Self::candidates). [`problems`](Self::problems) says
    /// when another one is nearly as good.
    ///
    /// # Errors
    /// - as [`Markers::check`] if markers are missing or wrong,
    /// - if a mesh has no faces or a position is not finite,
    /// - [`TransferError::WarpWithoutMarkers`] and [`TransferError::OtherSurface`] if the method
    ///   asked for cannot serve,
    /// - [`TransferError::BadMap`] if the map is bad and [`Gate::Refuse`] was asked for.
    pub fn find<'m>(
        source: &Mesh,
        target: &Mesh,
        markers: impl Into<Option<&'m Markers>>,
        options: &CorrespondenceOptions,
    ) -> Result<Self, TransferError> {
        Self::find_with_progress(source, target, markers, options, &())
    }

    /// As [`find`](Self::find), watched: `progress` hears of every way in which the meshes are
    /// brought together.
    ///
    /// # Errors
    /// As [`find`](Self::find), and [`TransferError::Stopped`] if `progress` asks for it.
    pub fn find_with_progress<'m>(
        source: &Mesh,
        target: &Mesh,
        markers: impl Into<Option<&'m Markers>>,
        options: &CorrespondenceOptions,
        progress: &dyn Progress,
    ) -> Result<Self, TransferError> {
        source.require_surface()?;
        target.require_surface()?;
        for (mesh, what) in [(source, "source"), (target, "target")] {
            if diagonal(mesh) <= 0.0 {
                return Err(TransferError::NoExtent { what });
            }
        }
        let markers = markers.into();
        let mut warnings = Vec::new();
        let mut pairs = Vec::new();
        if let Some(markers) = markers {
            warnings.extend(markers.check(source, target)?);
            let distinct = markers.distinct();
            warnings.extend(doubts(source, target, &distinct)?);
            pairs = distinct.pairs().to_vec();
        }
        let alike = source.same_surface(target);
        let is_pose = alike && markers.is_none_or(Markers::is_identity);
        match options.method {
            CorrespondenceMethod::Identity if !alike => return Err(TransferError::OtherSurface),
            CorrespondenceMethod::Warp if markers.is_none() => {
                return Err(TransferError::WarpWithoutMarkers);
            }
            CorrespondenceMethod::Auto if is_pose => {
                return Pair {
                    source,
                    target,
                    pairs,
                    options,
                    progress,
                }
                .identical()
                .gated(warnings, options.gate);
            }
            _ => {}
        }
        let turned = wound_alike(source, target, &mut warnings)?;
        let target = turned.as_ref().unwrap_or(target);
        let pair = Pair {
            source,
            target,
            pairs,
            options,
            progress,
        };
        let found = if markers.is_some() {
            pair.find()?
        } else {
            pair.find_way_round(&mut warnings)?
        };
        found.gated(warnings, options.gate)
    }

    fn gated(mut self, mut warnings: Vec<String>, gate: Gate) -> Result<Self, TransferError> {
        let problems = self.report.problems();
        if gate == Gate::Refuse && self.report.is_bad() {
            return Err(TransferError::BadMap {
                problems: problems.join("; "),
            });
        }
        warnings.extend(problems);
        self.problems = warnings;
        Ok(self)
    }
}

/// The target with its triangles turned over, where it is inside out compared with the source.
fn wound_alike(
    source: &Mesh,
    target: &Mesh,
    warnings: &mut Vec<String>,
) -> Result<Option<Mesh>, TransferError> {
    if hollowness(source)? * hollowness(target)? >= 0.0 {
        return Ok(None);
    }
    warnings
        .push("the faces of the target are wound the other way round than those of the source; normals are compared accordingly".into());
    let turned: Vec<[u32; 3]> = target
        .triangles()
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect();
    Ok(Some(Mesh::from_triangles(
        target.positions().to_vec(),
        &turned,
    )?))
}

/// Positive for a surface that faces outwards, negative for one that faces inwards, zero where that
/// cannot be told.
fn hollowness(mesh: &Mesh) -> Result<f64, TransferError> {
    /// A body fills more of the cube of its diagonal than this.
    const THIN: f64 = 1e-3;
    let Some(bounds) = mesh.bounds() else {
        return Ok(0.0);
    };
    let center = bounds.center();
    // About its own center an open surface does not count its distance from the origin.
    let volume = mesh
        .posed(mesh.positions().iter().map(|&p| p - center).collect())?
        .signed_volume();
    let filled = volume / bounds.diagonal().powi(3);
    Ok(if filled.abs() > THIN { filled } else { 0.0 })
}

/// Two meshes that are to be brought together.
struct Pair<'a> {
    source: &'a Mesh,
    target: &'a Mesh,
    pairs: Vec<(u32, u32)>,
    options: &'a CorrespondenceOptions,
    progress: &'a dyn Progress,
}

impl Pair<'_> {
    fn identical(&self) -> Correspondence {
        let triangles = self.target.triangles().len();
        Correspondence {
            map: TriangleMap::identity(triangles),
            report: MapReport::identity(triangles),
            method: CorrespondenceMethod::Identity,
            source_on_target: self.target.positions().to_vec(),
            distances: vec![0.0; triangles],
            unmatched: vec![false; triangles],
            candidates: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn find(&self) -> Result<Correspondence, TransferError> {
        let from: Vec<DVec3> = self
            .pairs
            .iter()
            .map(|&(a, _)| self.source.positions()[a as usize])
            .collect();
        let to: Vec<DVec3> = self.pairs.iter().map(|&(_, b)| self.place(b)).collect();
        let similarity = Similarity::fit(&from, &to)?;
        self.laid(
            similarity.apply_all(self.source.positions()),
            Some(similarity.motion.rotation),
        )
    }

    /// From where the source was laid; `turn` is that of the markers, where there are some.
    fn laid(&self, laid: Vec<DVec3>, turn: Option<DQuat>) -> Result<Correspondence, TransferError> {
        match self.options.method {
            CorrespondenceMethod::Identity => Ok(self.identical()),
            CorrespondenceMethod::Warp => self.warped(laid),
            CorrespondenceMethod::Registration => self.registered(laid, &self.options.registration),
            CorrespondenceMethod::Auto => self.best(laid, turn),
        }
    }

    /// The best by its report of what follows, until the target is covered: the source laid onto
    /// the target; the same from where the shapes alone lay it, if the markers' `turn` is known
    /// (a handful of markers says little more than that); the better of these with the
    /// target pulling, too; and where even that is doubtful, the warp.
    fn best(&self, laid: Vec<DVec3>, turn: Option<DQuat>) -> Result<Correspondence, TransferError> {
        let better = |a: Correspondence, b: Correspondence| {
            if b.report.badness() < a.report.badness() {
                b
            } else {
                a
            }
        };
        let (mut start, mut registration) = (laid.clone(), self.options.registration);
        let mut found = self.registered(laid.clone(), &registration)?;
        if let Some(turn) = turn.filter(|_| !found.report.is_complete()) {
            let by_shape =
                align_turned(self.source, self.target, turn)?.apply_all(self.source.positions());
            let without = registration.with_marker_start(false);
            let other = self.registered(by_shape.clone(), &without)?;
            if other.report.badness() < found.report.badness() {
                (found, start, registration) = (other, by_shape, without);
            }
        }
        if !found.report.is_complete() {
            let pulled = self.registered(
                start,
                &registration.with_pull_from_target(PULL_WHERE_INCOMPLETE),
            )?;
            found = better(found, pulled);
        }
        if !found.report.problems().is_empty() && !self.pairs.is_empty() {
            found = better(found, self.warped(laid)?);
        }
        Ok(found)
    }

    /// The best by its report of all ways round that are likely, which comes to the front of the
    /// candidates.
    fn find_way_round(&self, warnings: &mut Vec<String>) -> Result<Correspondence, TransferError> {
        let alignment = align(self.source, self.target)?;
        warnings.extend(alignment.doubt());
        let likely = alignment.likely();
        let mut candidates = alignment.candidates;
        let mut best: Option<(usize, Correspondence)> = None;
        for (k, candidate) in candidates.iter_mut().enumerate().take(likely) {
            let found = self.laid(
                candidate.similarity.apply_all(self.source.positions()),
                None,
            )?;
            candidate.fitted = Some(found.report);
            if best
                .as_ref()
                .is_none_or(|(_, known)| found.report.badness() < known.report.badness())
            {
                best = Some((k, found));
            }
        }
        let (taken, found) = best.expect("the best candidate is a likely one");
        candidates[..=taken].rotate_right(1);
        Ok(Correspondence {
            candidates,
            ..found
        })
    }

    fn place(&self, target_vertex: u32) -> DVec3 {
        self.target.positions()[target_vertex as usize]
    }

    /// The vertices of the markers, with the places of their partners on the target.
    fn goals(&self, end: impl Fn(&(u32, u32)) -> u32) -> Vec<(u32, DVec3)> {
        self.pairs
            .iter()
            .map(|pair| (end(pair), self.place(pair.1)))
            .collect()
    }

    fn go_on(&self, stage: &str, done: f64) -> Result<(), TransferError> {
        if self.progress.report(stage, done).is_break() {
            Err(TransferError::Stopped)
        } else {
            Ok(())
        }
    }

    fn warped(&self, laid: Vec<DVec3>) -> Result<Correspondence, TransferError> {
        self.go_on("warping both meshes", 0.75)?;
        let (of_source, of_target) = (self.goals(|pair| pair.0), self.goals(|pair| pair.1));
        let (warped_source, warped_target) = parallel::join(
            || least_squares_mesh(self.source, &of_source, &laid),
            || least_squares_mesh(self.target, &of_target, self.target.positions()),
        );
        let (warped_source, warped_target) = (
            self.source.posed(warped_source?)?,
            self.target.posed(warped_target?)?,
        );
        let partners = match_centroids(
            self.source,
            &warped_source,
            &warped_target,
            self.options.closeness,
        )?;
        let marker_residual = self.marker_residual(warped_source.positions());
        Ok(self.concluded(partners, marker_residual, CorrespondenceMethod::Warp, laid))
    }

    fn registered(
        &self,
        laid: Vec<DVec3>,
        registration: &RegistrationOptions,
    ) -> Result<Correspondence, TransferError> {
        self.go_on("laying the source onto the target", 0.0)?;
        let fitted = register(
            self.source,
            self.target,
            laid,
            &self.goals(|pair| pair.0),
            registration,
        )?;
        self.go_on("matching triangles", 0.5)?;
        let partners = match_surfaces(&self.source.posed(fitted.clone())?, self.target)?;
        let marker_residual = self.marker_residual(&fitted);
        Ok(self.concluded(
            partners,
            marker_residual,
            CorrespondenceMethod::Registration,
            fitted,
        ))
    }

    fn marker_residual(&self, moved: &[DVec3]) -> f64 {
        let squared = self
            .pairs
            .iter()
            .map(|&(a, b)| moved[a as usize].distance_squared(self.place(b)))
            .sum::<f64>();
        let diagonal = diagonal(self.target);
        if diagonal > 0.0 && !self.pairs.is_empty() {
            (squared / self.pairs.len() as f64).sqrt() / diagonal
        } else {
            0.0
        }
    }

    fn concluded(
        &self,
        partners: Vec<Partners>,
        marker_residual: f64,
        method: CorrespondenceMethod,
        source_on_target: Vec<DVec3>,
    ) -> Correspondence {
        let map = TriangleMap::new(partners.iter().map(|p| &p.sources));
        let report = MapReport::of(&partners, &map, self.source, self.target, marker_residual);
        let unmatched = self.unmatched(&partners);
        let distance = |p: &Partners| {
            if p.coverage == Coverage::Covered {
                p.distance
            } else {
                f64::NAN
            }
        };
        let distances = partners.iter().map(distance).collect();
        Correspondence {
            map,
            report,
            method,
            source_on_target,
            distances,
            unmatched,
            candidates: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// A shell has a counterpart when it holds a marker, or lies all over on the source. The only
    /// shell always has one.
    fn unmatched(&self, partners: &[Partners]) -> Vec<bool> {
        /// An eye is this much nearer to another eye than to the lids around it, as a part of the
        /// target's size.
        const ON_IT: f64 = 0.007;
        /// Part of a shell's triangles that must be covered.
        const MOST: f64 = 0.9;
        let near = ON_IT * size(self.target);
        let topology = self.target.topology();
        let parts = topology.component_of_vertex();
        let part_of = |t: usize| parts[self.target.triangles()[t][0] as usize] as usize;
        let count = topology.component_count();
        let (mut triangles, mut covered, mut marked) =
            (vec![0.0; count], vec![0.0; count], vec![count == 1; count]);
        for (t, partner) in partners.iter().enumerate() {
            triangles[part_of(t)] += 1.0;
            let on_it = partner.coverage == Coverage::Covered && partner.distance <= near;
            covered[part_of(t)] += f64::from(u8::from(on_it));
        }
        for &(_, b) in &self.pairs {
            if let Some(marked) = marked.get_mut(parts[b as usize] as usize) {
                *marked = true;
            }
        }
        (0..partners.len())
            .map(part_of)
            .map(|part| !marked[part] && covered[part] < MOST * triangles[part])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{corner_pairs, halved, lump, shuffled, shuffled_vertex};
    use pliant_mesh::{DecimationBudget, DecimationOptions, VertexPlacement};

    fn find(source: &Mesh, target: &Mesh, pairs: Vec<(u32, u32)>) -> Correspondence {
        Correspondence::find(
            source,
            target,
            &Markers::new(pairs),
            &CorrespondenceOptions::default(),
        )
        .unwrap()
    }

    fn find_by(
        method: CorrespondenceMethod,
        source: &Mesh,
        target: &Mesh,
        pairs: Vec<(u32, u32)>,
    ) -> Correspondence {
        let options = CorrespondenceOptions::default().with_method(method);
        Correspondence::find(source, target, &Markers::new(pairs), &options).unwrap()
    }

    const BOTH: [CorrespondenceMethod; 2] = [
        CorrespondenceMethod::Registration,
        CorrespondenceMethod::Warp,
    ];

    /// The part of the rows that are equal.
    fn agreement(a: &TriangleMap, b: &TriangleMap) -> f64 {
        a.rows().zip(b.rows()).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
    }

    fn centroid(mesh: &Mesh, triangle: usize) -> DVec3 {
        mesh.triangle_points(triangle).into_iter().sum::<DVec3>() / 3.0
    }

    #[test]
    fn poses_of_one_mesh_correspond_triangle_by_triangle() {
        let found = find(&lump(2, 0.0), &lump(2, 0.5), corner_pairs());
        assert_eq!(found.map, TriangleMap::identity(320));
        assert_eq!(
            (found.method, found.problems.len()),
            (CorrespondenceMethod::Identity, 0)
        );
    }

    #[test]
    fn a_copy_in_another_order_is_found_triangle_by_triangle() {
        let source = lump(3, 0.0);
        let (copy, order) = shuffled(&source);
        let pairs: Vec<(u32, u32)> = (0..12).map(|v| (v, shuffled_vertex(&source, v))).collect();
        let found = find(&source, &copy, pairs);
        assert!(
            found
                .map
                .rows()
                .zip(&order)
                .all(|(row, &t)| row == [(t, 1.0)])
        );
        assert!(
            found.report.residual < 1e-9 && (found.report.distortion - 1.0).abs() < 1e-9,
            "{:?}",
            found.report
        );
    }

    #[test]
    fn the_distances_of_a_complete_map_have_its_residual_as_their_mean() {
        let target = lump(3, 0.4);
        let found = find(&lump(2, 0.0), &target, corner_pairs());
        assert_eq!((found.report.uncovered, found.report.flipped), (0, 0));
        let mean =
            found.distances.iter().sum::<f64>() / found.distances.len() as f64 / diagonal(&target);
        assert!(
            (mean - found.report.residual).abs() < 1e-12 && mean > 0.0,
            "{mean} {}",
            found.report.residual
        );
    }

    #[test]
    fn a_correspondence_stops_when_it_is_asked_to() {
        struct Impatient;
        impl Progress for Impatient {
            fn report(&self, _: &str, _: f64) -> std::ops::ControlFlow<()> {
                std::ops::ControlFlow::Break(())
            }
        }
        let markers = Markers::new(corner_pairs());
        let options = CorrespondenceOptions::default();
        let found = Correspondence::find_with_progress(
            &lump(2, 0.0),
            &lump(3, 0.4),
            &markers,
            &options,
            &Impatient,
        );
        assert!(matches!(found, Err(TransferError::Stopped)), "{found:?}");
    }

    #[test]
    fn turning_scaling_and_moving_the_target_changes_hardly_a_row() {
        let (source, target) = (lump(3, 0.0), shuffled(&lump(3, 0.4)).0);
        let pairs: Vec<(u32, u32)> = (0..12).map(|v| (v, shuffled_vertex(&source, v))).collect();
        let turn = DQuat::from_scaled_axis(DVec3::new(1.0, 2.0, -0.5));
        let moved = target
            .posed(
                target
                    .positions()
                    .iter()
                    .map(|&p| turn * p * 0.001 + DVec3::ONE)
                    .collect(),
            )
            .unwrap();
        for method in BOTH {
            let (plain, turned) = (
                find_by(method, &source, &target, pairs.clone()),
                find_by(method, &source, &moved, pairs.clone()),
            );
            // Near-ties between two triangles may fall either way.
            let same = agreement(&plain.map, &turned.map);
            assert!(same > 0.97, "{method:?} {same}");
            assert!((plain.report.distortion - turned.report.distortion).abs() < 1e-2);
        }
    }

    #[test]
    fn a_power_of_two_on_either_side_changes_no_bit() {
        let (source, target) = (lump(2, 0.0), lump(3, 0.4));
        let scaled = |mesh: &Mesh, s: f64| {
            mesh.posed(mesh.positions().iter().map(|&p| p * s).collect())
                .unwrap()
        };
        for method in BOTH {
            let plain = find_by(method, &source, &target, corner_pairs());
            for scale in [1024.0, 1.0 / 1024.0] {
                assert_eq!(
                    find_by(method, &scaled(&source, scale), &target, corner_pairs()).map,
                    plain.map
                );
                assert_eq!(
                    find_by(method, &source, &scaled(&target, scale), corner_pairs()).map,
                    plain.map
                );
            }
        }
    }

    #[test]
    fn a_finer_copy_finds_the_triangle_it_was_cut_from() {
        let source = lump(3, 0.0);
        let fine = halved(&source);
        let found = find(&source, &fine, corner_pairs());
        let right = (0..fine.triangles().len())
            .filter(|&t| found.map.row(t).iter().any(|&(s, _)| s as usize == t / 4))
            .count();
        assert!(
            right as f64 > 0.99 * fine.triangles().len() as f64,
            "{right}"
        );
    }

    #[test]
    fn a_coarse_copy_hears_of_all_the_triangles_below_it() {
        let source = lump(4, 0.0);
        let coarse = source
            .decimated(
                DecimationBudget::Triangles(320),
                &DecimationOptions::default().with_placement(VertexPlacement::Subset),
            )
            .unwrap();
        let pairs: Vec<(u32, u32)> = (0..coarse.mesh().vertex_count() as u32)
            .step_by(11)
            .map(|v| (coarse.sources()[v as usize], v))
            .collect();
        let target = coarse.mesh();
        let found = find(&source, target, pairs);
        let spacing = source.mean_edge_length();
        let grain = source.area() / source.triangles().len() as f64;
        for (t, row) in found.map.rows().enumerate() {
            let large = pliant_mesh::triangle_area(target.triangle_points(t)) > 6.0 * grain;
            let place = row
                .iter()
                .map(|&(s, weight)| centroid(&source, s as usize) * weight)
                .sum::<DVec3>();
            assert!(
                place.distance(centroid(target, t)) < 2.0 * spacing && (row.len() > 3 || !large),
                "{t} {}",
                row.len()
            );
        }
    }

    #[test]
    fn only_shells_without_a_counterpart_are_unmatched() {
        let (source, body) = (lump(3, 0.0), lump(3, 0.2));
        let n = body.vertex_count() as u32;
        let ball = pliant_mesh::shapes::icosphere(1);
        let mut positions = body.positions().to_vec();
        positions.extend(ball.positions().iter().map(|&p| p * 0.3 + DVec3::Y * 3.0));
        let mut triangles = body.triangles().to_vec();
        triangles.extend(ball.triangles().iter().map(|t| t.map(|v| v + n)));
        let target = Mesh::from_triangles(positions, &triangles).unwrap();
        for method in BOTH {
            let found = find_by(method, &source, &target, corner_pairs());
            let expected: Vec<bool> = (0..triangles.len())
                .map(|t| t >= body.triangles().len())
                .collect();
            assert_eq!(found.unmatched, expected, "{method:?}");
        }
    }

    #[test]
    fn a_target_inside_out_gets_the_same_map_and_a_warning() {
        let (source, target) = (lump(3, 0.0), shuffled(&lump(3, 0.3)).0);
        let turned: Vec<[u32; 3]> = target
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b])
            .collect();
        let inside_out = Mesh::from_triangles(target.positions().to_vec(), &turned).unwrap();
        let pairs: Vec<(u32, u32)> = (0..12).map(|v| (v, shuffled_vertex(&source, v))).collect();
        let (plain, found) = (
            find(&source, &target, pairs.clone()),
            find(&source, &inside_out, pairs),
        );
        assert!(agreement(&plain.map, &found.map) > 0.99);
        assert!(
            found
                .problems
                .iter()
                .any(|p| p.contains("wound the other way")),
            "{:?}",
            found.problems
        );
    }

    #[test]
    fn markers_at_random_are_noticed() {
        let (source, target) = (lump(3, 0.0), lump(4, 0.3));
        let right = find(&source, &target, (0..40).map(|v| (v, v)).collect());
        assert_eq!(right.problems, Vec::<String>::new());
        let nonsense: Vec<(u32, u32)> = (0..40).map(|v| (v, v * 17 % 40)).collect();
        let wrong = find(&source, &target, nonsense);
        assert!(
            !wrong.problems.is_empty(),
            "{:?} {:?}",
            wrong.report,
            right.report
        );
    }

    #[test]
    fn a_part_that_sticks_out_of_reach_is_covered_in_the_end() {
        // No marker sits on the longer nose of the target, and no point of the source's nose is
        // closest to its tip.
        let (source, target) = (lump(3, 0.0), lump(4, 0.6));
        let plain = find_by(
            CorrespondenceMethod::Registration,
            &source,
            &target,
            corner_pairs(),
        );
        let found = find(&source, &target, corner_pairs());
        assert!(
            !plain.report.is_complete() && found.report.is_complete(),
            "{:?} {:?}",
            plain.report,
            found.report
        );
    }

    #[test]
    fn without_markers_the_shapes_decide() {
        let (source, target) = (lump(3, 0.0), shuffled(&lump(3, 0.2)).0);
        let turn = DQuat::from_scaled_axis(DVec3::new(0.5, 2.5, 0.3));
        let target = target
            .posed(target.positions().iter().map(|&p| turn * p * 7.0).collect())
            .unwrap();
        let found = Correspondence::find(&source, &target, None, &CorrespondenceOptions::default())
            .unwrap();
        let like = lump(3, 0.2);
        let off = source
            .positions()
            .iter()
            .zip(found.source_on_target)
            .zip(like.positions());
        let rms = (off
            .map(|((_, x), &p)| x.distance_squared(turn * p * 7.0))
            .sum::<f64>()
            / source.vertex_count() as f64)
            .sqrt();
        assert!(
            rms < 0.03 * diagonal(&target) && found.problems.is_empty(),
            "{rms} {:?}",
            found.problems
        );
        let tried: Vec<bool> = found
            .candidates
            .iter()
            .map(|candidate| candidate.fitted.is_some())
            .collect();
        assert!(
            tried.len() > 1 && tried.iter().filter(|&&tried| tried).count() == 1 && tried[0],
            "{tried:?}"
        );
    }

    #[test]
    fn ways_round_that_lie_alike_are_all_fitted_and_the_doubt_is_told() {
        let ball = pliant_mesh::shapes::icosphere(3);
        let egg = ball
            .posed(
                ball.positions()
                    .iter()
                    .map(|&p| p * DVec3::new(3.0, 2.0, 1.0))
                    .collect(),
            )
            .unwrap();
        let found = Correspondence::find(
            &egg,
            &shuffled(&egg).0,
            None,
            &CorrespondenceOptions::default(),
        )
        .unwrap();
        assert!(
            found
                .problems
                .iter()
                .any(|problem| problem.starts_with("unsure:")),
            "{:?}",
            found.problems
        );
        assert_eq!(
            found
                .candidates
                .iter()
                .filter(|candidate| candidate.fitted.is_some())
                .count(),
            4
        );
        let taken = found.candidates[0].fitted.unwrap();
        assert_eq!(taken, found.report);
        assert!(
            found
                .candidates
                .iter()
                .all(|candidate| taken.badness() <= candidate.fitted.unwrap().badness())
        );
    }

    #[test]
    fn a_method_that_cannot_serve_is_declined() {
        let (source, target) = (lump(2, 0.0), lump(3, 0.2));
        let by = |method, markers: Option<&Markers>| {
            let options = CorrespondenceOptions::default().with_method(method);
            Correspondence::find(&source, &target, markers, &options)
        };
        let markers = Markers::new(corner_pairs());
        assert!(matches!(
            by(CorrespondenceMethod::Warp, None),
            Err(TransferError::WarpWithoutMarkers)
        ));
        assert!(matches!(
            by(CorrespondenceMethod::Identity, Some(&markers)),
            Err(TransferError::OtherSurface)
        ));
        assert_eq!(
            by(CorrespondenceMethod::Registration, None).unwrap().method,
            CorrespondenceMethod::Registration
        );
    }

    #[test]
    fn awkward_targets_are_finished_without_nan() {
        let (source, body) = (lump(3, 0.0), lump(2, 0.2));
        let n = body.vertex_count() as u32;
        let mut positions = body.positions().to_vec();
        // A double, a loose vertex, the tip of a fin, and a point so close to a corner that its
        // triangles are needles.
        positions.extend([
            positions[3],
            DVec3::splat(9.0),
            positions[4] * 1.5,
            positions[5] * (1.0 + 1e-9),
        ]);
        let mut triangles = body.triangles().to_vec();
        let [a, b, c] = triangles[7];
        triangles.extend([
            [3, n, 4],
            [a, b, n + 2],
            [5, n + 3, a],
            [5, b, n + 3],
            [a, a, c],
        ]);
        for scale in [1.0, 1e-3, 1e3] {
            let target =
                Mesh::from_triangles(positions.iter().map(|&p| p * scale).collect(), &triangles)
                    .unwrap();
            for method in BOTH {
                let found = find_by(method, &source, &target, corner_pairs());
                assert_eq!(found.map.len(), triangles.len());
                assert!(found.source_on_target.iter().all(|p| p.is_finite()));
                assert!(
                    found
                        .map
                        .rows()
                        .all(|row| (row.iter().map(|&(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-12)
                );
                assert!(
                    [found.report.residual, found.report.distortion]
                        .iter()
                        .all(|figure| figure.is_finite())
                );
            }
        }
    }

    #[test]
    fn a_bad_map_is_refused_where_that_was_asked_for() {
        let bad = MapReport {
            uncovered: 400,
            ..MapReport::identity(500)
        };
        let found = Correspondence {
            report: bad,
            ..find(&lump(1, 0.0), &lump(1, 0.0), corner_pairs())
        };
        assert!(matches!(
            found.clone().gated(Vec::new(), Gate::Refuse),
            Err(TransferError::BadMap { .. })
        ));
        assert_eq!(
            found
                .gated(vec!["a".into()], Gate::Warn)
                .unwrap()
                .problems
                .len(),
            2
        );
    }
}
