//! Pairs of vertices that a person says are the same spot on two meshes.
//!
//! Files are JSON `[[source, target], …]`, or lines of two numbers with a comma, a colon or spaces between them, with or without a
//! line before them that counts them. Numbers count vertices from 0. `#` starts a comment.

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
}

impl Markers {
    /// Fewest different pairs that hold a correspondence: three leave it to chance which side is up.
    pub const FEWEST: usize = 4;

    /// Pairs of (source vertex, target vertex).
    #[must_use]
    pub fn new(pairs: Vec<(u32, u32)>) -> Self {
        Self { pairs }
    }

    /// Reads pairs from JSON or from lines of two numbers.
    ///
    /// # Errors
    /// [`TransferError::MarkerSyntax`] with the place of what cannot be read.
    pub fn parse(text: &str) -> Result<Self, TransferError> {
        let text = text.trim_start_matches('\u{feff}');
        let pairs = if text.trim_start().starts_with(['[', '{', '"']) { parse_json(text)? } else { parse_lines(text)? };
        Ok(Self { pairs })
    }

    /// All pairs in order.
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
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
        Self { pairs: self.pairs.iter().copied().filter(|&pair| seen.insert(pair)).collect() }
    }

    /// These pairs and their mirror images, given the partner of each vertex on the other side of either mesh.
    ///
    /// A pair with an end that has no partner is kept without an image.
    #[must_use]
    pub fn mirrored(&self, source_partners: &[Option<u32>], target_partners: &[Option<u32>]) -> Self {
        let partner = |partners: &[Option<u32>], vertex: u32| partners.get(vertex as usize).copied().flatten();
        let image = |&(a, b): &(u32, u32)| Some((partner(source_partners, a)?, partner(target_partners, b)?));
        let both = self.pairs.iter().flat_map(|pair| [Some(*pair), image(pair)]).flatten();
        Self { pairs: both.collect() }.distinct()
    }

    /// Declines what cannot work, and says in a sentence each what is doubtful.
    ///
    /// # Errors
    /// - [`TransferError::MarkerOutOfRange`] if a pair names a vertex that is not there,
    /// - [`TransferError::TooFewMarkers`] if fewer than [`FEWEST`](Self::FEWEST) pairs differ.
    pub fn check(&self, source: &Mesh, target: &Mesh) -> Result<Vec<String>, TransferError> {
        for (marker, &(a, b)) in self.pairs.iter().enumerate() {
            require(marker, "source", a, source)?;
            require(marker, "target", b, target)?;
        }
        let distinct = self.distinct();
        if distinct.pairs.len() < Self::FEWEST {
            return Err(TransferError::TooFewMarkers { found: distinct.pairs.len(), needed: Self::FEWEST });
        }
        let mut warnings: Vec<String> = self.repeated().into_iter().collect();
        warnings.extend(distinct.contradictory());
        warnings.extend(distinct.flat("source", source, |pair| pair.0));
        warnings.extend(distinct.flat("target", target, |pair| pair.1));
        warnings.extend(distinct.astray(source, target));
        Ok(warnings)
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
        let (side, vertex) = twice(sources).map(|v| ("source", v)).or_else(|| twice(targets).map(|v| ("target", v)))?;
        Some(format!("{side} vertex {vertex} has more than one partner among the markers"))
    }

    fn flat(&self, side: &str, mesh: &Mesh, end: impl Fn(&(u32, u32)) -> u32) -> Option<String> {
        let points: Vec<DVec3> = self.pairs.iter().map(|pair| mesh.positions()[end(pair) as usize]).collect();
        match dimension(&points) {
            3 => None,
            2 if dimension(mesh.positions()) == 2 => None,
            2 => Some(format!("all markers of the {side} lie in one plane; add some off it")),
            _ => Some(format!("all markers of the {side} lie on one line, which leaves the turn about it open; add some off it")),
        }
    }

    /// Markers whose partner lies on another part of the mesh than the partners of most markers beside them.
    fn astray(&self, source: &Mesh, target: &Mesh) -> Vec<String> {
        let (source_parts, target_parts) = (source.topology().component_of_vertex(), target.topology().component_of_vertex());
        let parts = |&(a, b): &(u32, u32)| (source_parts[a as usize], target_parts[b as usize]);
        let mut votes: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for pair in &self.pairs {
            let (s, t) = parts(pair);
            *votes.entry(s).or_default().entry(t).or_default() += 1;
        }
        let most = |s: u32| votes[&s].iter().max_by_key(|&(t, count)| (*count, std::cmp::Reverse(*t))).map(|(t, _)| *t);
        let mut warnings = Vec::new();
        for (marker, pair) in self.pairs.iter().enumerate() {
            let (s, t) = parts(pair);
            if s == Topology::NONE || t == Topology::NONE {
                warnings.push(format!("marker {marker} ({}, {}) is on a vertex without faces and has no say", pair.0, pair.1));
            } else if most(s) != Some(t) {
                warnings
                    .push(format!("marker {marker} ({}, {}) has its partner on another part than most markers beside it", pair.0, pair.1));
            }
        }
        warnings
    }
}

fn require(marker: usize, side: &'static str, vertex: u32, mesh: &Mesh) -> Result<(), TransferError> {
    let (vertex, vertices) = (vertex as usize, mesh.vertex_count());
    if vertex < vertices { Ok(()) } else { Err(TransferError::MarkerOutOfRange { marker, side, vertex, vertices }) }
}

/// 0 for one place, 1 for points on a line, 2 for points in a plane, else 3.
fn dimension(points: &[DVec3]) -> usize {
    let Some(&first) = points.first() else { return 0 };
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        let each = points.iter().map(|&p| (measure(p), p));
        each.fold((0.0, first), |best, next| if next.0 > best.0 { next } else { best })
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

fn syntax(place: String, what: impl Into<String>) -> TransferError {
    TransferError::MarkerSyntax { place, what: what.into() }
}

fn parse_json(text: &str) -> Result<Vec<(u32, u32)>, TransferError> {
    let pairs: Vec<serde_json::Value> =
        serde_json::from_str(text).map_err(|error| syntax(format!("line {}", error.line()), error.to_string()))?;
    let pair = |(entry, value): (usize, &serde_json::Value)| {
        let numbers = value.as_array().filter(|list| list.len() == 2);
        let numbers = numbers.ok_or_else(|| syntax(format!("entry {entry}"), format!("{value} is not a pair")))?;
        let vertex = |number: &serde_json::Value| {
            let vertex = number.as_u64().and_then(|n| u32::try_from(n).ok());
            vertex.ok_or_else(|| syntax(format!("entry {entry}"), format!("{number} is not a vertex number")))
        };
        Ok((vertex(&numbers[0])?, vertex(&numbers[1])?))
    };
    pairs.iter().enumerate().map(pair).collect()
}

fn parse_lines(text: &str) -> Result<Vec<(u32, u32)>, TransferError> {
    let content = |line: &'_ str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let lines: Vec<(usize, String)> = (1..).zip(text.lines().map(content)).filter(|(_, line)| !line.is_empty()).collect();
    let words = |line: &str| line.split([',', ';', ':', ' ', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mut pairs = Vec::with_capacity(lines.len());
    for (k, (number, line)) in lines.iter().enumerate() {
        let words = words(line);
        let counts_the_rest = words.len() == 1 && words[0].parse() == Ok(lines.len() - 1);
        let is_header = words.iter().all(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        if k == 0 && (counts_the_rest || (is_header && words.len() == 2)) {
            continue;
        }
        let [a, b] = words.as_slice() else {
            return Err(syntax(format!("line {number}"), format!("'{line}' is not a pair")));
        };
        let vertex =
            |word: &str| word.parse::<u32>().map_err(|_| syntax(format!("line {number}"), format!("'{word}' is not a vertex number")));
        pairs.push((vertex(a)?, vertex(b)?));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    fn syntax_place(text: &str) -> String {
        match Markers::parse(text) {
            Err(TransferError::MarkerSyntax { place, .. }) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn json_csv_and_counted_lines_say_the_same() {
        let expected = Markers::new(vec![(3, 5), (0, 7), (12, 1)]);
        for text in [
            "[[3, 5], [0, 7], [12, 1]]",
            "3,5\n0,7\n12,1\n",
            "source,target\r\n3,5\r\n0,7\r\n12,1",
            "3\n3, 5\n0, 7\n12, 1\n\n",
            "# pairs\n3 5\n0 7 # the nose\n12:1",
        ] {
            assert_eq!(Markers::parse(text).unwrap(), expected, "{text}");
        }
        assert_eq!(Markers::parse("[]").unwrap(), Markers::parse("").unwrap());
    }

    #[test]
    fn what_is_no_pair_is_named_by_its_place() {
        assert_eq!(syntax_place("[[1, 2],\n [3, 4"), "line 2");
        assert_eq!(syntax_place("[[1, 2], [3, 4, 5]]"), "entry 1");
        assert_eq!(syntax_place("[[1, -2]]"), "entry 0");
        assert_eq!(syntax_place("[[1, 2.5]]"), "entry 0");
        assert_eq!(syntax_place("1,2\n3,-4\n"), "line 2");
        assert_eq!(syntax_place("1,2\n3,4,5\n"), "line 2");
        assert_eq!(syntax_place("these are not the markers you are looking for"), "line 1");
        assert_eq!(syntax_place("{\"a\": 1}"), "line 1");
    }

    #[test]
    fn a_vertex_that_is_not_there_and_too_few_pairs_are_declined() {
        let mesh = icosphere(1);
        let n = mesh.vertex_count() as u32;
        let bad = Markers::new(vec![(0, 0), (1, 1), (2, n)]).check(&mesh, &mesh).unwrap_err();
        assert!(matches!(bad, TransferError::MarkerOutOfRange { marker: 2, side: "target", .. }), "{bad:?}");
        let few = Markers::new(vec![(0, 0), (1, 1), (2, 2), (1, 1), (0, 0)]).check(&mesh, &mesh).unwrap_err();
        assert_eq!(few, TransferError::TooFewMarkers { found: 3, needed: 4 });
    }

    #[test]
    fn well_spread_markers_raise_no_doubt_and_others_say_why() {
        let mesh = icosphere(1);
        let check = |pairs: &[(u32, u32)]| Markers::new(pairs.to_vec()).check(&mesh, &mesh).unwrap().join(" ");
        assert_eq!(check(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]), "");
        assert!(check(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 4)]).contains("more than once"));
        assert!(check(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 5)]).contains("source vertex 4 has more than one partner"));
        // The first four corners of the icosahedron lie in the plane z = 0.
        assert!(check(&[(0, 0), (1, 1), (2, 2), (3, 3)]).contains("in one plane"));
    }

    #[test]
    fn markers_on_a_line_are_told_from_markers_on_a_flat_mesh() {
        let sheet = bumpy_sheet(4, 0.0);
        let row: Vec<(u32, u32)> = (0..5).map(|i| (i, i)).collect();
        assert!(Markers::new(row).check(&sheet, &sheet).unwrap().join(" ").contains("on one line"));
        let corners = [0, 4, 20, 24].map(|i| (i, i)).to_vec();
        assert_eq!(Markers::new(corners).check(&sheet, &sheet).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_partner_on_another_part_is_noticed() {
        let ball = icosphere(1);
        let n = ball.vertex_count() as u32;
        let positions = ball.positions().iter().copied().chain(ball.positions().iter().map(|&p| p + DVec3::X * 4.0)).collect();
        let triangles: Vec<[u32; 3]> = ball.triangles().iter().copied().chain(ball.triangles().iter().map(|t| t.map(|v| v + n))).collect();
        let two = Mesh::from_triangles(positions, &triangles).unwrap();
        let pairs = [0, 1, 2, 3, 4, n, n + 1, n + 2, n + 3, n + 4].map(|i| (i, i)).to_vec();
        assert_eq!(Markers::new(pairs.clone()).check(&two, &two).unwrap(), Vec::<String>::new());
        let mut astray = pairs;
        astray.push((9, n + 9));
        assert!(Markers::new(astray).check(&two, &two).unwrap().join(" ").contains("marker 10 (9, "));
    }

    #[test]
    fn mirroring_adds_images_once_and_keeps_what_has_none() {
        let partners = [Some(1), Some(0), Some(2), None];
        let markers = Markers::new(vec![(0, 1), (2, 2), (3, 0)]);
        let both = markers.mirrored(&partners, &partners);
        assert_eq!(both, Markers::new(vec![(0, 1), (1, 0), (2, 2), (3, 0)]));
        assert_eq!(both.mirrored(&partners, &partners), both);
    }
}
