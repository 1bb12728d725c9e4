//! Pairs of vertices that a person says are the same spot on two meshes.
//!
//! A pair may have a name, which is then how messages call it. How pairs are written down:
//! [`Markers::parse`].

use std::collections::{BTreeMap, BTreeSet};

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology};

use crate::TransferError;

/// Markers this much off a line or plane, as a part of their extent, are not on it.
const FLAT: f64 = 1e-3;

/// Pairs of a source vertex and the target vertex that is the same spot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Markers {
    pairs: Vec<(u32, u32)>,
    /// One for each pair.
    names: Vec<Option<String>>,
}

impl Markers {
    /// Fewest different pairs that hold a correspondence: three leave it to chance which side is
    /// up.
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

    /// The name of each pair, where it has one.
    #[must_use]
    pub fn names(&self) -> &[Option<String>] {
        &self.names
    }

    /// What messages call a pair: by its name, or by its number counted from 0.
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

    /// Whether every pair names one vertex twice.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.pairs.iter().all(|&(source, target)| source == target)
    }

    /// Each pair once, in the order of first mention.
    #[must_use]
    pub fn distinct(&self) -> Self {
        let mut seen = BTreeSet::new();
        let mut distinct = Self::default();
        for (&pair, name) in self
            .pairs
            .iter()
            .zip(&self.names)
            .filter(|&(pair, _)| seen.insert(*pair))
        {
            distinct.push(name.clone(), pair);
        }
        distinct
    }

    /// The `count` pairs that are spread best over `source`, or all: first the one farthest from
    /// their middle, then always the one farthest from those before.
    ///
    /// # Panics
    /// If a pair names a vertex that `source` does not have.
    #[must_use]
    pub fn spread_over(&self, source: &Mesh, count: usize) -> Self {
        let places: Vec<DVec3> = self
            .pairs
            .iter()
            .map(|&(a, _)| source.positions()[a as usize])
            .collect();
        let middle = places.iter().sum::<DVec3>() / places.len().max(1) as f64;
        let farthest = |reach: &[f64]| {
            (0..reach.len()).fold(0, |best, i| if reach[i] > reach[best] { i } else { best })
        };
        let mut last = farthest(
            &places
                .iter()
                .map(|p| p.distance(middle))
                .collect::<Vec<_>>(),
        );
        let mut reach = vec![f64::INFINITY; places.len()];
        let mut picked = Self::default();
        while picked.pairs.len() < count.min(places.len()) {
            picked.push(self.names[last].clone(), self.pairs[last]);
            reach
                .iter_mut()
                .zip(&places)
                .for_each(|(reach, p)| *reach = reach.min(p.distance_squared(places[last])));
            last = farthest(&reach);
        }
        picked
    }

    /// Declines what cannot work, and says in a sentence each what is doubtful.
    ///
    /// # Errors
    /// - [`TransferError::MarkerOutOfRange`] if a pair names a vertex that is not there,
    /// - [`TransferError::TooFewMarkers`] if fewer than [`FEWEST`](Self::FEWEST) pairs differ.
    pub fn check(&self, source: &Mesh, target: &Mesh) -> Result<Vec<String>, TransferError> {
        (0..self.pairs.len())
            .try_for_each(|marker| self.require_in_range(marker, source, target))?;
        let distinct = self.distinct();
        if distinct.pairs.len() < Self::FEWEST {
            return Err(TransferError::TooFewMarkers {
                found: distinct.pairs.len(),
                needed: Self::FEWEST,
            });
        }
        let mut warnings: Vec<String> = self.repeated().into_iter().collect();
        warnings.extend(distinct.contradictory());
        warnings.extend(distinct.flat("source", source, |pair| pair.0));
        warnings.extend(distinct.flat("target", target, |pair| pair.1));
        warnings.extend(
            self.astray(source, target)
                .into_iter()
                .map(|(marker, why)| format!("{} {why}", self.label(marker))),
        );
        Ok(warnings)
    }

    /// Declines a pair with a vertex that is not there.
    pub(crate) fn require_in_range(
        &self,
        marker: usize,
        source: &Mesh,
        target: &Mesh,
    ) -> Result<(), TransferError> {
        let (a, b) = self.pairs[marker];
        for (side, vertex, mesh) in [
            ("source", a as usize, source),
            ("target", b as usize, target),
        ] {
            let vertices = mesh.vertex_count();
            if vertex >= vertices {
                return Err(TransferError::MarkerOutOfRange {
                    marker: self.label(marker),
                    side,
                    vertex,
                    vertices,
                });
            }
        }
        Ok(())
    }

    fn repeated(&self) -> Option<String> {
        let repeated = self.pairs.len() - self.distinct().pairs.len();
        (repeated > 0).then(|| format!("{repeated} marker pair(s) are listed more than once"))
    }

    /// A vertex with two partners.
    fn contradictory(&self) -> Option<String> {
        let twice = |vertices: Vec<u32>| {
            let mut seen = BTreeSet::new();
            vertices.into_iter().find(|&vertex| !seen.insert(vertex))
        };
        let (sources, targets) = self.pairs.iter().copied().unzip();
        let (side, vertex) = twice(sources)
            .map(|v| ("source", v))
            .or_else(|| twice(targets).map(|v| ("target", v)))?;
        Some(format!(
            "{side} vertex {vertex} has more than one partner among the markers"
        ))
    }

    fn flat(&self, side: &str, mesh: &Mesh, end: impl Fn(&(u32, u32)) -> u32) -> Option<String> {
        let points: Vec<DVec3> = self
            .pairs
            .iter()
            .map(|pair| mesh.positions()[end(pair) as usize])
            .collect();
        match dimension(&points) {
            3 => None,
            2 if dimension(mesh.positions()) == 2 => None,
            2 => Some(format!(
                "all markers of the {side} lie in one plane; add some off it"
            )),
            _ => Some(format!(
                "all markers of the {side} lie on one line, which leaves the turn about it open; add some off it"
            )),
        }
    }

    /// Markers whose partner lies on another part of the mesh than the partners of most markers
    /// beside them, or that lie on no face; all vertices must be there.
    pub(crate) fn astray(&self, source: &Mesh, target: &Mesh) -> Vec<(usize, Astray)> {
        let (source_parts, target_parts) = (
            source.topology().component_of_vertex(),
            target.topology().component_of_vertex(),
        );
        let parts = |&(a, b): &(u32, u32)| (source_parts[a as usize], target_parts[b as usize]);
        let mut votes: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for pair in &self.pairs {
            let (s, t) = parts(pair);
            *votes.entry(s).or_default().entry(t).or_default() += 1;
        }
        let most = |s: u32| {
            votes[&s]
                .iter()
                .max_by_key(|&(t, count)| (*count, std::cmp::Reverse(*t)))
                .map(|(t, _)| *t)
        };
        let why = |pair: &(u32, u32)| match parts(pair) {
            (s, t) if s == Topology::NONE || t == Topology::NONE => Some(Astray::OffFaces),
            (s, t) => (most(s) != Some(t)).then_some(Astray::OtherPart),
        };
        self.pairs
            .iter()
            .enumerate()
            .filter_map(|(marker, pair)| Some((marker, why(pair)?)))
            .collect()
    }
}

/// Why a pair cannot hold two surfaces together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Astray {
    /// An end is on a vertex without faces.
    OffFaces,
    /// The ends are on parts that do not belong together.
    OtherPart,
}

impl std::fmt::Display for Astray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OffFaces => {
                "is on a vertex without faces and has no say; choose one on the surface"
            }
            Self::OtherPart => "has its partner on another part than most markers beside it",
        })
    }
}

/// 0 for one place, 1 for points on a line, 2 for points in a plane, else 3.
fn dimension(points: &[DVec3]) -> usize {
    let Some(&first) = points.first() else {
        return 0;
    };
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        let each = points.iter().map(|&p| (measure(p), p));
        each.fold(
            (0.0, first),
            |best, next| if next.0 > best.0 { next } else { best },
        )
    };
    let (length, end) = farthest(&|p| p.distance(first));
    if length == 0.0 {
        return 0;
    }
    let along = (end - first) / length;
    let (height, off) = farthest(&|p| (p - first).cross(along).length());
    if height <= FLAT * length {
        return 1;
    }
    let normal = along.cross(off - first).normalize_or_zero();
    let (depth, _) = farthest(&|p| (p - first).dot(normal).abs());
    if depth <= FLAT * length { 2 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    #[test]
    fn a_vertex_that_is_not_there_and_too_few_pairs_are_declined() {
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
    fn markers_spread_best_are_the_far_ones_first_and_at_most_all() {
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
    fn well_spread_markers_raise_no_doubt_and_others_say_why() {
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
    fn markers_on_a_line_are_told_from_markers_on_a_flat_mesh() {
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
    fn a_partner_on_another_part_is_noticed() {
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
        let mut astray = pairs;
        astray.push((9, n + 9));
        assert!(
            Markers::new(astray)
                .check(&two, &two)
                .unwrap()
                .join(" ")
                .contains("marker 10 (9, ")
        );
    }
}
