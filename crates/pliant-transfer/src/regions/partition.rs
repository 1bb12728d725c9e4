//! Partitions: stiff parts of a mesh, and a selection that respects them.
//!
//! **Problem.** A region drawn by hand cuts through a forearm; a part that moves as one piece should
//! be selected as one.
//!
//! **Method.** Each triangle starts as a partition; neighbours merge if both are less flexible than
//! `γ`. Partitions of more than one triangle are *stiff*, the others *flexible*. A stiff partition is
//! selected if more than half of its triangles are drawn on, or if strokes span more than half of its
//! length; flexible triangles only blend.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.2.1 ("intelligent
//! scribbling").
//!
//! **Departures.** A connected component without any stiff partition (a face, a flag) keeps the
//! region as drawn. Eq. 1 compares neighbours, each pair of which bends less the finer the mesh is;
//! so [`Partitions::detect`] lowers `γ` if the published one makes one stiff partition of most of a
//! body. The rule for strokes is our own: a thin stroke along a limb covers few of its triangles.

use pliant_linalg::DisjointSets;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::dual_graph::neighbor_pairs;
use crate::TransferError;
use crate::extent::triangle_centroid;

/// The membership of a triangle in a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// It takes the deformation of the source (Φ in eq. 5).
    Selected,
    /// It keeps the deformation below (Ψ in eq. 5).
    Unselected,
    /// It blends.
    Free,
}

impl Membership {
    /// Selected or unselected, as drawn.
    #[must_use]
    pub fn drawn(selected: bool) -> Self {
        if selected {
            Self::Selected
        } else {
            Self::Unselected
        }
    }
}

/// The stiff and flexible partitions of a mesh.
#[derive(Debug, Clone)]
pub struct Partitions {
    of_triangle: Vec<u32>,
    sizes: Vec<u32>,
    /// The edge-connected component of each triangle.
    component_of: Vec<u32>,
    component_count: usize,
}

impl Partitions {
    /// Wang and Lee 2008, section 3.2.1: γ is usually 0.1.
    pub const DEFAULT_THRESHOLD: f64 = 0.1;
    /// A stiff partition with more than this share of the triangles contains body and limbs. Chosen.
    const WHOLE_BODY_SHARE: f64 = 0.6;
    /// The least share of the triangles in stiff partitions. Chosen.
    const LEAST_STIFF_SHARE: f64 = 0.4;
    /// The least share of a stiff partition's length that strokes span to select it. Chosen as the
    /// published share of its triangles.
    const LEAST_SPAN: f64 = 0.5;
    /// Chosen: a bend of 90° over 500 triangles.
    const LEAST_THRESHOLD: f64 = 1e-5;

    /// Merges neighbours that are both less flexible than `threshold`; `flexibility` has one value
    /// per triangle of `mesh`.
    ///
    /// # Errors
    /// Another number of values than triangles, or a threshold that is not a number from zero up.
    pub fn new(mesh: &Mesh, flexibility: &[f64], threshold: f64) -> Result<Self, TransferError> {
        let count = mesh.triangles().len();
        TransferError::check_count("the flexibility", flexibility.len(), count)?;
        if threshold.is_nan() || threshold < 0.0 {
            return Err(TransferError::BadNumber {
                what: "the flexibility of stiff parts",
                value: threshold,
                needed: "zero or more",
            });
        }

        // Partitions join stiff neighbours, components all neighbours.
        let mut partitions = DisjointSets::new(count);
        let mut components = DisjointSets::new(count);
        for [a, b] in neighbor_pairs(mesh.topology()) {
            components.merge(a, b);
            if flexibility[a as usize] < threshold && flexibility[b as usize] < threshold {
                partitions.merge(a, b);
            }
        }

        let (of_triangle, partition_count) = partitions.into_labels();
        let mut sizes = vec![0; partition_count];
        for &p in &of_triangle {
            sizes[p as usize] += 1;
        }

        let (component_of, component_count) = components.into_labels();
        Ok(Self {
            of_triangle,
            sizes,
            component_of,
            component_count,
        })
    }

    /// The partitions by the published `γ`. If one of them is most of the mesh, by the largest of
    /// its halves, quarters … that divides it, unless too little of the mesh is stiff then.
    ///
    /// # Errors
    /// Another number of values than triangles.
    pub fn detect(mesh: &Mesh, flexibility: &[f64]) -> Result<Self, TransferError> {
        let usual = Self::new(mesh, flexibility, Self::DEFAULT_THRESHOLD)?;
        let mut threshold = Self::DEFAULT_THRESHOLD;
        let mut finer = usual.clone();

        // The flexibility of a pair decreases with the resolution, so the threshold is halved until
        // the body divides.
        while finer.largest_share() > Self::WHOLE_BODY_SHARE
            && threshold >= 2.0 * Self::LEAST_THRESHOLD
        {
            threshold /= 2.0;
            finer = Self::new(mesh, flexibility, threshold)?;
        }

        let is_divided = finer.largest_share() <= Self::WHOLE_BODY_SHARE;
        let is_stiff = finer.stiff_share() >= Self::LEAST_STIFF_SHARE;
        Ok(if is_divided && is_stiff { finer } else { usual })
    }

    /// The share of all triangles in the largest partition.
    fn largest_share(&self) -> f64 {
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        f64::from(largest) / self.of_triangle.len().max(1) as f64
    }

    /// The share of all triangles in stiff partitions.
    fn stiff_share(&self) -> f64 {
        let stiff: u32 = self.sizes.iter().copied().filter(|&size| size > 1).sum();
        f64::from(stiff) / self.of_triangle.len().max(1) as f64
    }

    /// The partition of every triangle, numbered in the order of their first triangles.
    #[must_use]
    pub fn of_triangles(&self) -> &[u32] {
        &self.of_triangle
    }

    /// Number of partitions, flexible ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the mesh has no triangle.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Whether `partition` has more than one triangle.
    #[must_use]
    pub fn is_stiff(&self, partition: u32) -> bool {
        self.sizes[partition as usize] > 1
    }

    /// Whether some partition is stiff: faces and flags have none.
    #[must_use]
    pub fn any_stiff(&self) -> bool {
        self.sizes.iter().any(|&size| size > 1)
    }

    /// The selection of a drawn region: every stiff partition selected or not as a whole, flexible
    /// triangles free.
    ///
    /// # Errors
    /// A region without one entry per triangle.
    pub fn refine(&self, drawn: &[bool]) -> Result<Vec<Membership>, TransferError> {
        TransferError::check_count("the scribble", drawn.len(), self.of_triangle.len())?;
        let mut hits = vec![0; self.sizes.len()];
        let mut has_stiff = vec![false; self.component_count];
        for (t, &p) in self.of_triangle.iter().enumerate() {
            hits[p as usize] += u32::from(drawn[t]);
            has_stiff[self.component_of[t] as usize] |= self.is_stiff(p);
        }

        // A majority of drawn triangles selects a stiff partition as a whole.
        let mut members = Vec::with_capacity(drawn.len());
        for (t, &p) in self.of_triangle.iter().enumerate() {
            members.push(if self.is_stiff(p) {
                Membership::drawn(2 * hits[p as usize] > self.sizes[p as usize])
            } else if has_stiff[self.component_of[t] as usize] {
                Membership::Free
            } else {
                Membership::drawn(drawn[t])
            });
        }
        Ok(members)
    }

    /// As [`refine`](Self::refine), and a stiff partition is also selected if the triangles under
    /// `strokes` span more than half of its length.
    ///
    /// # Errors
    /// A region or strokes without one entry per triangle of `mesh`.
    pub fn refine_with_strokes(
        &self,
        mesh: &Mesh,
        drawn: &[bool],
        strokes: &[bool],
    ) -> Result<Vec<Membership>, TransferError> {
        let mut members = self.refine(drawn)?;
        TransferError::check_count("the strokes", strokes.len(), members.len())?;
        let mut triangles_of = vec![Vec::new(); self.sizes.len()];
        for (t, &p) in self.of_triangle.iter().enumerate() {
            triangles_of[p as usize].push(t);
        }

        for triangles in triangles_of.iter().filter(|triangles| triangles.len() > 1) {
            if spanned_share(mesh, triangles, strokes) > Self::LEAST_SPAN {
                for &t in triangles {
                    members[t] = Membership::Selected;
                }
            }
        }
        Ok(members)
    }
}

/// The share of the length of a part that its triangles under strokes span. The length runs between
/// two ends of the part: the centroid farthest from the mean, and the one farthest from that.
fn spanned_share(mesh: &Mesh, triangles: &[usize], strokes: &[bool]) -> f64 {
    let centroids: Vec<DVec3> = triangles
        .iter()
        .map(|&t| triangle_centroid(mesh, t))
        .collect();
    let mean = centroids.iter().sum::<DVec3>() / centroids.len() as f64;
    let first = farthest(&centroids, mean);
    let last = farthest(&centroids, first);
    let axis = (last - first).normalize_or_zero();

    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (&centroid, _) in centroids
        .iter()
        .zip(triangles)
        .filter(|&(_, &t)| strokes[t])
    {
        let along = (centroid - first).dot(axis);
        low = low.min(along);
        high = high.max(along);
    }
    let length = first.distance(last);
    if high >= low && length > 0.0 {
        (high - low) / length
    } else {
        0.0
    }
}

/// The point farthest from `from`; the first of equal ones.
fn farthest(points: &[DVec3], from: DVec3) -> DVec3 {
    let mut best = points[0];
    for &point in points {
        if point.distance_squared(from) > best.distance_squared(from) {
            best = point;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    /// A sheet of 6 × 6 quads whose middle columns bend: two stiff halves. Triangles come in
    /// columns of 12.
    fn hinged() -> (Mesh, Vec<f64>) {
        let sheet = shapes::bumpy_sheet(6, 0.0);
        let flexibility = (0..72)
            .map(|t| if (24..48).contains(&t) { 1.0 } else { 0.01 })
            .collect();
        (sheet, flexibility)
    }

    #[test]
    fn a_hinge_leaves_two_stiff_partitions_and_single_triangles() {
        let (sheet, flexibility) = hinged();
        let partitions =
            Partitions::new(&sheet, &flexibility, Partitions::DEFAULT_THRESHOLD).unwrap();

        assert_eq!(
            (0..partitions.len() as u32)
                .filter(|&p| partitions.is_stiff(p))
                .count(),
            2
        );

        assert_eq!(partitions.len(), 2 + 24);
        assert!(partitions.of_triangles()[..24].iter().all(|&p| p == 0));
    }

    #[test]
    fn a_lower_threshold_divides_a_single_stiff_partition() {
        let (sheet, flexibility) = hinged();
        let faint: Vec<f64> = flexibility.iter().map(|f| 0.05 * f).collect();
        assert_eq!(
            Partitions::new(&sheet, &faint, Partitions::DEFAULT_THRESHOLD)
                .unwrap()
                .len(),
            1
        );

        let partitions = Partitions::detect(&sheet, &faint).unwrap();
        assert_eq!(
            partitions.of_triangles(),
            Partitions::detect(&sheet, &flexibility)
                .unwrap()
                .of_triangles()
        );

        assert_eq!(partitions.len(), 2 + 24);
    }

    #[test]
    fn a_body_without_joints_is_one_partition() {
        let (sheet, _) = hinged();
        assert_eq!(Partitions::detect(&sheet, &[0.0; 72]).unwrap().len(), 1);
        // One corner alone moves: no threshold makes limbs of that.
        let corner: Vec<f64> = (0..72).map(|t| if t < 2 { 0.05 } else { 0.0 }).collect();
        assert_eq!(Partitions::detect(&sheet, &corner).unwrap().len(), 1);
    }

    #[test]
    fn a_stiff_partition_is_selected_if_more_than_half_of_it_is_drawn() {
        let (sheet, flexibility) = hinged();
        let partitions = Partitions::new(&sheet, &flexibility, 0.1).unwrap();
        for (scribbled, expected) in [(12, Membership::Unselected), (13, Membership::Selected)] {
            let members = partitions
                .refine(
                    &(0..72)
                        .map(|t| t < scribbled || t == 30)
                        .collect::<Vec<_>>(),
                )
                .unwrap();

            assert!(members[..24].iter().all(|&m| m == expected));
            assert!(members[24..48].iter().all(|&m| m == Membership::Free));
            assert!(members[48..].iter().all(|&m| m == Membership::Unselected));
        }
    }

    #[test]
    fn a_stroke_selects_a_stiff_partition_if_it_spans_more_than_half_of_its_length() {
        // Longer than wide, so that its length is along y: the stiff parts are 2 × 6 quads.
        let (sheet, flexibility) = hinged();
        let partitions = Partitions::new(&sheet, &flexibility, 0.1).unwrap();
        // One column of quads is 12 triangles from one end of a part to the other.
        for (strip, expected) in [
            (1..11, Membership::Selected),
            (1..4, Membership::Unselected),
        ] {
            let strokes: Vec<bool> = (0..72).map(|t| t % 2 == 0 && strip.contains(&t)).collect();
            let members = partitions
                .refine_with_strokes(&sheet, &strokes, &strokes)
                .unwrap();

            assert!(strokes.iter().filter(|&&s| s).count() < 12, "under half");
            assert!(members[..24].iter().all(|&m| m == expected), "{members:?}");
            assert!(members[24..48].iter().all(|&m| m == Membership::Free));
            assert!(members[48..].iter().all(|&m| m == Membership::Unselected));
        }
    }

    #[test]
    fn a_mesh_without_stiff_partitions_keeps_the_region_as_drawn() {
        let (sheet, _) = hinged();
        let partitions = Partitions::new(&sheet, &[1.0; 72], 0.1).unwrap();
        assert!(
            !partitions.any_stiff()
                && Partitions::new(&sheet, &hinged().1, 0.1)
                    .unwrap()
                    .any_stiff()
        );

        let members = partitions
            .refine(&(0..72).map(|t| t % 3 == 0).collect::<Vec<_>>())
            .unwrap();

        assert!(
            members
                .iter()
                .enumerate()
                .all(|(t, &m)| m == Membership::drawn(t % 3 == 0))
        );
    }

    #[test]
    fn wrong_lengths_and_thresholds_are_rejected() {
        let (sheet, flexibility) = hinged();
        assert!(Partitions::new(&sheet, &flexibility[1..], 0.1).is_err());
        assert!(Partitions::new(&sheet, &flexibility, f64::NAN).is_err());
        assert!(
            Partitions::new(&sheet, &flexibility, 0.1)
                .unwrap()
                .refine(&[true])
                .is_err()
        );
    }
}
