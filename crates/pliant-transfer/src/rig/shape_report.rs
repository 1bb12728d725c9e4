//! Reports of a rig transfer: moved vertices and closed gaps of each shape.

use pliant_rig::Rig;

/// The result of the transfer of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeReport {
    /// The name of the target, with the weight for an in-between, or that of the combination.
    pub name: String,
    /// Number of target vertices that it moves.
    pub moved: usize,
    /// Pairs of places that close in the source and have counterparts on the target.
    pub pairs: usize,
    /// Pairs that close in the source and have no counterparts.
    pub lost_pairs: usize,
    /// The largest difference of a pair's gap from that in the source, relative to the target's
    /// size.
    pub gap_before: f64,
    /// The same after the correction.
    pub gap_after: f64,
}

impl ShapeReport {
    /// A gap above this share of the size is visible: a quarter of a millimetre on a head.
    pub const VISIBLE_GAP: f64 = 1e-3;

    /// Warnings for the user, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.gap_after > Self::VISIBLE_GAP {
            let percent = 100.0 * self.gap_after;
            warnings.push(format!(
                "'{}': places that close in the source stay {percent:.2} % of the size apart; add markers along them",
                self.name
            ));
        }

        if self.lost_pairs > self.pairs {
            warnings.push(format!(
                "'{}': {} of {} places that close in the source have no counterpart; add markers there",
                self.name,
                self.lost_pairs,
                self.lost_pairs + self.pairs
            ));
        }
        warnings
    }
}

/// The result of a rig transfer.
#[derive(Debug, Clone)]
pub struct TransferredRig {
    /// The target with the source's sliders.
    pub rig: Rig,
    /// The report of each shape, in the order of [`pliant_rig::Activation`].
    pub shapes: Vec<ShapeReport>,
    /// Warnings for the user, one sentence each.
    pub warnings: Vec<String>,
}
