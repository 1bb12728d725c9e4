//! Markers: pairs of corresponding vertices, and the checks that every correspondence runs.
//!
//! A pair may have a name; messages then refer to it by that name. [`Markers::parse`] describes the
//! file formats.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology};

use crate::TransferError;

/// Points that are off a line or plane by less, relative to their extent, are on it.
const FLATNESS: f64 = 1e-3;

/// Pairs of a source vertex and the corresponding target vertex.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Markers {
    pairs: Vec<(u32, u32)>,
    /// One for each pair.
    names: Vec<Option<String>>,
}

impl Markers {
    /// The fewest distinct pairs that define a correspondence: with three, a reflection in their
    /// plane is undecided.
    pub const FEWEST: usize = 4;

    /// Pairs of (source vertex, target vertex) without names.
    #[must_use]
    pub fn new(pairs: Vec<(u32, u32)>) -> Self {
        Self {
            names: vec![None; pairs.len()],
            pairs,
        }
    }

    /// Adds a pair.
    pub fn push(&mut self, name: Option<String>, pair: (u32, u32)) {
        self.names.push(name);
        self.pairs.push(pair);
    }

    /// All pairs in order.
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The name of each pair, if it has one.
    #[must_use]
    pub fn names(&self) -> &[Option<String>] {
        &self.names
    }

    /// The text that refers to a pair in messages: its name, or its index counted from 0.
    ///
    /// # Panics
    /// If there is no such pair.
    #[must_use]
    pub fn label(&self, marker: usize) -> String {
        let (a, b) = self.pairs[marker];
        match &self.names[marker] {
            Some(name) => format!("marker '{name}' ({a}, {b})"),
            None => format!("marker {marker} ({a}, {b})"),
        }
    }

    /// Whether every pair names the same vertex twice.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.pairs.iter().all(|&(source, target)| source == target)
    }

    /// Each pair once, in the order of first occurrence.
    #[must_use]
    pub fn distinct(&self) -> Self {
        let mut seen = BTreeSet::new();
        let mut distinct = Self::default();
        for (&pair, name) in self.pairs.iter().zip(&self.names) {
            if seen.insert(pair) {
                distinct.push(name.clone(), pair);
            }
        }
        distinct
    }

    /// The `count` pairs that cover `source` best, or all: farthest point sampling, which starts
    /// with the pair farthest from their mean.
    ///
    /// # Panics
    /// If a pair names a vertex that `source` does not have.
    #[must_use]
    pub fn spread_over(&self, source: &Mesh, count: usize) -> Self {
        let mut points = Vec::with_capacity(self.pairs.len());
        for &(a, _) in &self.pairs {
            points.push(source.positions()[a as usize]);
        }
        let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        let from_mean: Vec<f64> = points.iter().map(|p| p.distance(mean)).collect();

        // The squared distance to the nearest picked pair; infinite before the first.
        let mut next = first_largest(&from_mean);
        let mut squared = vec![f64::INFINITY; points.len()];
        let mut picked = Self::default();
        while picked.pairs.len() < count.min(points.len()) {
            picked.push(self.names[next].clone(), self.pairs[next]);
            for (squared, p) in squared.iter_mut().zip(&points) {
                *squared = squared.min(p.distance_squared(points[next]));
            }
            next = first_largest(&squared);
        }
        picked
    }

    /// Rejects markers that cannot define a correspondence, and returns warnings about doubtful
    /// ones, one sentence each.
    ///
    /// # Errors
    /// - [`TransferError::MarkerOutOfRange`] if a pair names a vertex that does not exist,
    /// - [`TransferError::TooFewMarkers`] if fewer than [`FEWEST`](Self::FEWEST) pairs differ.
    pub fn check(&self, source: &Mesh, target: &Mesh) -> Result<Vec<String>, TransferError> {
        self.require_all_in_range(source, target)?;
        let distinct = self.distinct();
        if distinct.pairs.len() < Self::FEWEST {
            return Err(TransferError::TooFewMarkers {
                found: distinct.pairs.len(),
                needed: Self::FEWEST,
            });
        }

        // Repetitions are counted over all pairs; the other checks use each pair once.
        let mut warnings: Vec<String> = self.repetition_warning().into_iter().collect();
        warnings.extend(distinct.second_partner_warning());
        warnings.extend(distinct.flatness_warning("source", source, |pair| pair.0));
        warnings.extend(distinct.flatness_warning("target", target, |pair| pair.1));
        for (marker, misplacement) in self.misplacements(source, target) {
            warnings.push(format!("{} {misplacement}", self.label(marker)));
        }
        Ok(warnings)
    }

    /// Rejects pairs with a vertex that does not exist.
    pub(crate) fn require_all_in_range(
        &self,
        source: &Mesh,
        target: &Mesh,
    ) -> Result<(), TransferError> {
        (0..self.pairs.len()).try_for_each(|marker| self.require_in_range(marker, source, target))
    }

    /// Rejects a pair with a vertex that does not exist.
    pub(crate) fn require_in_range(
        &self,
        marker: usize,
        source: &Mesh,
        target: &Mesh,
    ) -> Result<(), TransferError> {
        let (a, b) = self.pairs[marker];
        for (side, vertex, mesh) in [("source", a, source), ("target", b, target)] {
            let vertices = mesh.vertex_count();
            if vertex as usize >= vertices {
                return Err(TransferError::MarkerOutOfRange {
                    marker: self.label(marker),
                    side,
                    vertex: vertex as usize,
                    vertices,
                });
            }
        }
        Ok(())
    }

    fn repetition_warning(&self) -> Option<String> {
        let repeated = self.pairs.len() - self.distinct().pairs.len();
        (repeated > 0).then(|| format!("{repeated} marker pair(s) are listed more than once"))
    }

    /// A warning about the first vertex with two partners.
    fn second_partner_warning(&self) -> Option<String> {
        let (sources, targets): (Vec<u32>, Vec<u32>) = self.pairs.iter().copied().unzip();
        let (side, vertex) = match (first_repeated(&sources), first_repeated(&targets)) {
            (Some(vertex), _) => ("source", vertex),
            (None, Some(vertex)) => ("target", vertex),
            (None, None) => return None,
        };
        Some(format!(
            "{side} vertex {vertex} has more than one partner among the markers"
        ))
    }

    /// A warning if all markers of a solid mesh are in one plane, or on one line.
    fn flatness_warning(
        &self,
        side: &str,
        mesh: &Mesh,
        end: impl Fn(&(u32, u32)) -> u32,
    ) -> Option<String> {
        let points: Vec<DVec3> = self
            .pairs
            .iter()
            .map(|pair| mesh.positions()[end(pair) as usize])
            .collect();
        // A flat mesh has only flat markers.
        match affine_dimension(&points) {
            3 => None,
            2 if affine_dimension(mesh.positions()) == 2 => None,
            2 => Some(format!(
                "all markers of the {side} lie in one plane; add some off it"
            )),
            _ => Some(format!(
                "all markers of the {side} lie on one line, so the rotation about it is undefined; add some off it"
            )),
        }
    }

    /// Markers on a vertex without faces, and markers whose target vertex is on another component
    /// than those of most markers of the same source component. All vertices must exist.
    pub(crate) fn misplacements(&self, source: &Mesh, target: &Mesh) -> Vec<(usize, Misplacement)> {
        let source_components = source.topology().component_of_vertex();
        let target_components = target.topology().component_of_vertex();
        let mut components = Vec::with_capacity(self.pairs.len());
        let mut votes: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for &(a, b) in &self.pairs {
            let s = source_components[a as usize];
            let t = target_components[b as usize];
            components.push((s, t));
            *votes.entry(s).or_default().entry(t).or_default() += 1;
        }

        // Most markers of a source component decide which target component corresponds to it.
        let mut misplacements = Vec::new();
        for (marker, &(s, t)) in components.iter().enumerate() {
            if s == Topology::NONE || t == Topology::NONE {
                misplacements.push((marker, Misplacement::OffFaces));
            } else if most_voted(&votes[&s]) != Some(t) {
                misplacements.push((marker, Misplacement::OtherPart));
            }
        }
        misplacements
    }
}

/// Why the vertices of a pair cannot correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misplacement {
    /// A vertex has no faces.
    OffFaces,
    /// The vertices are on components that do not correspond.
    OtherPart,
}

impl std::fmt::Display for Misplacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OffFaces => {
                "is on a vertex without faces and has no effect; choose a vertex of a face"
            }
            Self::OtherPart => {
                "has its target vertex on another component than most markers of its source component"
            }
        })
    }
}

/// The index of the largest value; the first of equal ones.
fn first_largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (k, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = k;
        }
    }
    best
}

fn first_repeated(vertices: &[u32]) -> Option<u32> {
    let mut seen = BTreeSet::new();
    vertices
        .iter()
        .copied()
        .find(|&vertex| !seen.insert(vertex))
}

/// The component with most votes; the lowest of equal ones.
fn most_voted(votes: &BTreeMap<u32, usize>) -> Option<u32> {
    let (component, _) = votes
        .iter()
        .max_by_key(|&(component, count)| (*count, Reverse(*component)))?;
    Some(*component)
}

/// 0 for coincident points, 1 for points on a line, 2 for points in a plane, else 3.
fn affine_dimension(points: &[DVec3]) -> usize {
    let Some(&first) = points.first() else {
        return 0;
    };

    let (length, end) = farthest(points, |p| p.distance(first));
    if length == 0.0 {
        return 0;
    }

    // The farthest point spans the line, the point farthest from the line the plane.
    let direction = (end - first) / length;
    let (height, off_line) = farthest(points, |p| (p - first).cross(direction).length());
    if height <= FLATNESS * length {
        return 1;
    }

    let normal = direction.cross(off_line - first).normalize_or_zero();
    let (depth, _) = farthest(points, |p| (p - first).dot(normal).abs());
    if depth <= FLATNESS * length { 2 } else { 3 }
}

/// The largest distance and the point that has it.
fn farthest(points: &[DVec3], distance: impl Fn(DVec3) -> f64) -> (f64, DVec3) {
    let mut best = (0.0, points[0]);
    for &point in points {
        let distance = distance(point);
        if distance > best.0 {
            best = (distance, point);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    #[test]
    fn a_vertex_out_of_range_and_too_few_pairs_are_rejected() {
        let mesh = icosphere(1);
        let n = mesh.vertex_count() as u32;
        let bad = Markers::new(vec![(0, 0), (1, 1), (2, n)])
            .check(&mesh, &mesh)
            .unwrap_err();

        assert!(
            matches!(bad, TransferError::MarkerOutOfRange { side: "target", .. })
                && bad.to_string().contains("marker 2"),
            "{bad:?}"
        );

        let few = Markers::new(vec![(0, 0), (1, 1), (2, 2), (1, 1), (0, 0)])
            .check(&mesh, &mesh)
            .unwrap_err();

        assert_eq!(
            few,
            TransferError::TooFewMarkers {
                found: 3,
                needed: 4
            }
        );
    }

    #[test]
    fn farthest_point_sampling_takes_the_corners_first_and_at_most_all_markers() {
        let sheet = bumpy_sheet(4, 0.0);
        let all = Markers::new((0..25).map(|i| (i, i)).collect());
        let corners = all.spread_over(&sheet, 4);

        assert!(
            corners
                .pairs()
                .iter()
                .all(|&(a, _)| [0, 4, 20, 24].contains(&a)),
            "{corners:?}"
        );

        assert_eq!(all.spread_over(&sheet, 99).distinct().pairs().len(), 25);
        assert_eq!(
            Markers::default().spread_over(&sheet, 3),
            Markers::default()
        );
    }

    #[test]
    fn well_spread_markers_give_no_warning_and_others_do() {
        let mesh = icosphere(1);
        let check = |pairs: &[(u32, u32)]| {
            Markers::new(pairs.to_vec())
                .check(&mesh, &mesh)
                .unwrap()
                .join(" ")
        };

        assert_eq!(check(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]), "");
        assert!(
            check(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 4)]).contains("more than once")
        );
        assert!(
            check(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 5)])
                .contains("source vertex 4 has more than one partner")
        );

        // The first four corners of the icosahedron lie in the plane z = 0.
        assert!(check(&[(0, 0), (1, 1), (2, 2), (3, 3)]).contains("in one plane"));
    }

    #[test]
    fn markers_on_a_line_give_a_warning_and_markers_on_a_flat_mesh_do_not() {
        let sheet = bumpy_sheet(4, 0.0);
        let row: Vec<(u32, u32)> = (0..5).map(|i| (i, i)).collect();
        assert!(
            Markers::new(row)
                .check(&sheet, &sheet)
                .unwrap()
                .join(" ")
                .contains("on one line")
        );

        let corners = [0, 4, 20, 24].map(|i| (i, i)).to_vec();
        assert_eq!(
            Markers::new(corners).check(&sheet, &sheet).unwrap(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_partner_on_another_component_gives_a_warning() {
        let ball = icosphere(1);
        let n = ball.vertex_count() as u32;
        let positions = ball
            .positions()
            .iter()
            .copied()
            .chain(ball.positions().iter().map(|&p| p + DVec3::X * 4.0))
            .collect();

        let triangles: Vec<[u32; 3]> = ball
            .triangles()
            .iter()
            .copied()
            .chain(ball.triangles().iter().map(|t| t.map(|v| v + n)))
            .collect();

        let two = Mesh::from_triangles(positions, &triangles).unwrap();
        let pairs = [0, 1, 2, 3, 4, n, n + 1, n + 2, n + 3, n + 4]
            .map(|i| (i, i))
            .to_vec();

        assert_eq!(
            Markers::new(pairs.clone()).check(&two, &two).unwrap(),
            Vec::<String>::new()
        );

        let mut misplaced = pairs;
        misplaced.push((9, n + 9));
        assert!(
            Markers::new(misplaced)
                .check(&two, &two)
                .unwrap()
                .join(" ")
                .contains("marker 10 (9, ")
        );
    }
}
