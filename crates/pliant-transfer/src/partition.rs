//! Intelligent scribbling: stiff parts of a mesh, and a selection that respects them.
//!
//! **Problem.** A region drawn by hand cuts through a forearm; what is to bend in one piece should
//! be in or out as one.
//!
//! **Method.** Each triangle starts as a partition; neighbours merge while both are less flexible
//! than `γ`. Partitions of more than one triangle are *stiff*, the others *flexible*. A stiff
//! partition is selected when more than half of its triangles are scribbled on, and left out
//! otherwise; flexible triangles only blend.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.2.1.
//!
//! **Ours.** A connected part of the mesh without any stiff partition (a face, a flag) keeps the
//! region as drawn, since nothing there could decide otherwise. And since eq. 1 compares
//! neighbours, each pair of which bends less the finer the mesh is, [`Partitions::found`] lowers
//! `γ` where the paper's takes most of a body for one stiff part.

use pliant_mesh::Mesh;

use crate::TransferError;
use crate::dual_graph::{DisjointSets, neighbor_pairs};

/// What a triangle is to a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// In: it takes the deformation of the source (Φ in eq. 5).
    Selected,
    /// Out: it keeps what it has (Ψ in eq. 5).
    Unselected,
    /// In between: it blends.
    Free,
}

impl Membership {
    /// In or out, as drawn.
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
    /// The edge-connected part of each triangle, and how many there are.
    parts: (Vec<u32>, usize),
}

impl Partitions {
    /// *Paper*, section 3.2.1: γ is usually 0.1.
    pub const DEFAULT_THRESHOLD: f64 = 0.1;
    /// A stiff part beyond this share of the triangles is a body with its limbs. *Ours*.
    const ONE_BODY: f64 = 0.6;
    /// Stiff parts below this share of the triangles are crumbs. *Ours*.
    const MOSTLY_STIFF: f64 = 0.4;
    /// *Ours*: a bend of 90° over 500 triangles.
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
        let (mut partitions, mut parts) = (DisjointSets::new(count), DisjointSets::new(count));
        for [a, b] in neighbor_pairs(mesh.topology()) {
            parts.join(a, b);
            if flexibility[a as usize] < threshold && flexibility[b as usize] < threshold {
                partitions.join(a, b);
            }
        }
        let (of_triangle, partition_count) = partitions.numbered();
        let mut sizes = vec![0; partition_count];
        of_triangle.iter().for_each(|&p| sizes[p as usize] += 1);
        Ok(Self {
            of_triangle,
            sizes,
            parts: parts.numbered(),
        })
    }

    /// The stiff parts by the paper's `γ`; or, where one of them would be most of the mesh, by the
    /// next of its halves, quarters … that takes it apart and leaves stiff parts rather than
    /// crumbs.
    ///
    /// # Errors
    /// Another number of values than triangles.
    pub fn found(mesh: &Mesh, flexibility: &[f64]) -> Result<Self, TransferError> {
        let usual = Self::new(mesh, flexibility, Self::DEFAULT_THRESHOLD)?;
        let mut threshold = Self::DEFAULT_THRESHOLD;
        let mut finer = usual.clone();
        while finer.largest_share() > Self::ONE_BODY && threshold >= 2.0 * Self::LEAST_THRESHOLD {
            threshold /= 2.0;
            finer = Self::new(mesh, flexibility, threshold)?;
        }
        let good =
            finer.largest_share() <= Self::ONE_BODY && finer.stiff_share() >= Self::MOSTLY_STIFF;
        Ok(if good { finer } else { usual })
    }

    /// How much of all triangles the largest partition holds.
    fn largest_share(&self) -> f64 {
        f64::from(self.sizes.iter().copied().max().unwrap_or(0))
            / self.of_triangle.len().max(1) as f64
    }

    /// How many of all triangles are in stiff partitions.
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

    /// The selection that a scribble means: every stiff partition in or out as a whole, flexible
    /// triangles free.
    ///
    /// # Errors
    /// A scribble without one entry per triangle.
    pub fn refine(&self, scribbled: &[bool]) -> Result<Vec<Membership>, TransferError> {
        TransferError::check_count("the scribble", scribbled.len(), self.of_triangle.len())?;
        let mut hits = vec![0; self.sizes.len()];
        let mut has_stiff = vec![false; self.parts.1];
        for (t, &p) in self.of_triangle.iter().enumerate() {
            hits[p as usize] += u32::from(scribbled[t]);
            has_stiff[self.parts.0[t] as usize] |= self.is_stiff(p);
        }
        let member = |t: usize| match self.of_triangle[t] {
            p if self.is_stiff(p) => {
                Membership::drawn(2 * hits[p as usize] > self.sizes[p as usize])
            }
            _ if has_stiff[self.parts.0[t] as usize] => Membership::Free,
            _ => Membership::drawn(scribbled[t]),
        };
        Ok((0..scribbled.len()).map(member).collect())
    }
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
    fn where_all_hang_together_by_the_usual_threshold_a_lower_one_takes_them_apart() {
        let (sheet, flexibility) = hinged();
        let faint: Vec<f64> = flexibility.iter().map(|f| 0.05 * f).collect();
        assert_eq!(
            Partitions::new(&sheet, &faint, Partitions::DEFAULT_THRESHOLD)
                .unwrap()
                .len(),
            1
        );
        let found = Partitions::found(&sheet, &faint).unwrap();
        assert_eq!(
            found.of_triangles(),
            Partitions::found(&sheet, &flexibility)
                .unwrap()
                .of_triangles()
        );
        assert_eq!(found.len(), 2 + 24);
    }

    #[test]
    fn a_body_without_joints_stays_one_part() {
        let (sheet, _) = hinged();
        assert_eq!(Partitions::found(&sheet, &[0.0; 72]).unwrap().len(), 1);
        // One corner alone moves: no threshold makes limbs of that.
        let corner: Vec<f64> = (0..72).map(|t| if t < 2 { 0.05 } else { 0.0 }).collect();
        assert_eq!(Partitions::found(&sheet, &corner).unwrap().len(), 1);
    }

    #[test]
    fn more_than_half_of_a_stiff_partition_takes_all_and_half_takes_none() {
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
    fn a_mesh_without_stiff_parts_keeps_the_region_as_drawn() {
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
    fn wrong_lengths_and_thresholds_are_declined() {
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
