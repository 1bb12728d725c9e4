//! Options of the registration: stiffness, steps, closest points, markers.

use crate::TransferError;

/// Options of [`register`](super::register()).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegistrationOptions {
    pub(super) first_length: f64,
    pub(super) last_length: f64,
    pub(super) steps: usize,
    pub(super) facing: f64,
    pub(super) from_target: f64,
    pub(super) sliding: f64,
    pub(super) marker_shares: [f64; 2],
    pub(super) marker_start: bool,
    pub(super) gaps: bool,
}

impl Default for RegistrationOptions {
    fn default() -> Self {
        Self {
            first_length: Self::DEFAULT_LENGTHS[0],
            last_length: Self::DEFAULT_LENGTHS[1],
            steps: Self::DEFAULT_STEPS,
            facing: Self::DEFAULT_FACING,
            from_target: 0.0,
            sliding: 0.0,
            marker_shares: Self::DEFAULT_MARKER_SHARES,
            marker_start: true,
            gaps: false,
        }
    }
}

impl RegistrationOptions {
    /// Measured on `horse-camel`: between half and twice these lengths, the error against the
    /// published poses changes by a tenth.
    pub const DEFAULT_LENGTHS: [f64; 2] = [0.3, 0.015];
    /// Measured on `horse-camel`: with 3 to 8 steps the error differs by less than a tenth.
    pub const DEFAULT_STEPS: usize = 5;
    /// Chosen: normals within 72°. With 90° a thin ear sticks to its other side.
    pub const DEFAULT_FACING: f64 = 0.3;
    /// Measured on `horse-camel`: with many markers, the same share at the end as at the start
    /// increases the error by a tenth.
    pub const DEFAULT_MARKER_SHARES: [f64; 2] = [0.012, 0.0012];

    /// The options with which a correspondence registers meshes with `markers` marker pairs: many
    /// small steps, a pull from both sides, sliding on tangent planes, and a first stiffness that
    /// follows the distance between markers.
    ///
    /// Measured by `match_study` on its tuning pairs. From 5 to 30 steps the error falls to 0.6 of
    /// what it was: the rest shape of a step follows the rotation and scale of the step before, so
    /// the number of steps bounds how far proportions adapt. A first length of 0.3 with 8 markers
    /// bends the body between them; one of 0.6 lowers the error by a quarter.
    #[must_use]
    pub fn for_markers(markers: usize) -> Self {
        // Markers spread over a surface are as far apart as one over the root of their number.
        let spacing = 1.6 / (markers as f64).sqrt();
        Self::default()
            .with_lengths(spacing.clamp(0.2, 0.7), 0.03)
            .with_steps(30)
            .with_pull_from_target(0.5)
            .with_sliding(0.9)
    }

    /// The length below which the source does not bend, in the first and in the last step, relative
    /// to the target's size. Default: [`DEFAULT_LENGTHS`](Self::DEFAULT_LENGTHS).
    #[must_use]
    pub fn with_lengths(self, first: f64, last: f64) -> Self {
        Self {
            first_length: first,
            last_length: last,
            ..self
        }
    }

    /// Iterations of closest points and a linear solve; cost is linear in it. Default:
    /// [`DEFAULT_STEPS`](Self::DEFAULT_STEPS).
    #[must_use]
    pub fn with_steps(self, steps: usize) -> Self {
        Self { steps, ..self }
    }

    /// The least cosine between the normals of a point and its closest point. Default:
    /// [`DEFAULT_FACING`](Self::DEFAULT_FACING).
    #[must_use]
    pub fn with_facing(self, facing: f64) -> Self {
        Self { facing, ..self }
    }

    /// `β`, the weight with which the vertices of the target pull on the source. Default 0: on
    /// `horse-camel` 0.5 doubles the cost without any gain. It helps if the target has parts that no
    /// closest point of the source lies on.
    #[must_use]
    pub fn with_pull_from_target(self, from_target: f64) -> Self {
        Self {
            from_target,
            ..self
        }
    }

    /// Whether the vertices of the target pull on the source.
    pub(crate) fn pulls_from_target(&self) -> bool {
        self.from_target > 0.0
    }

    /// From 0 (point to point) to 1 (point to plane): how freely a point slides along the tangent
    /// plane of its closest point. Default 0.
    #[must_use]
    pub fn with_sliding(self, sliding: f64) -> Self {
        Self { sliding, ..self }
    }

    /// `μ` in the first and in the last step, relative to the source's surface: a marker of 0.01
    /// pulls as strongly as a hundredth of the surface.
    /// Default: [`DEFAULT_MARKER_SHARES`](Self::DEFAULT_MARKER_SHARES).
    #[must_use]
    pub fn with_marker_shares(self, first: f64, last: f64) -> Self {
        Self {
            marker_shares: [first, last],
            ..self
        }
    }

    /// Whether a first solve uses the markers only, without closest points. Default true: it brings
    /// rotated or longer parts to the right place. It needs more than a handful of markers: on
    /// `horse-camel` ten or fewer deform the body too much.
    #[must_use]
    pub fn with_marker_start(self, marker_start: bool) -> Self {
        Self {
            marker_start,
            ..self
        }
    }

    /// Whether the target may lack parts that the source has, as scans do. Then a boundary point of
    /// the target attracts only boundary vertices of the source, and the surface over a hole follows
    /// its neighbours. Default false.
    #[must_use]
    pub fn with_gaps(self, gaps: bool) -> Self {
        Self { gaps, ..self }
    }

    pub(super) fn check(&self) -> Result<(), TransferError> {
        require_positive("the first stiffness length", self.first_length)?;
        require_positive("the last stiffness length", self.last_length)?;
        require_positive("the first marker share", self.marker_shares[0])?;
        require_positive("the last marker share", self.marker_shares[1])?;

        if !(-1.0..=1.0).contains(&self.facing) {
            return Err(TransferError::BadNumber {
                what: "the least cosine of facing normals",
                value: self.facing,
                needed: "between -1 and 1",
            });
        }
        require_share("the pull from the target", self.from_target)?;
        require_share("the sliding of closest points", self.sliding)
    }
}

fn require_positive(what: &'static str, value: f64) -> Result<(), TransferError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(TransferError::BadNumber {
        what,
        value,
        needed: "positive and finite",
    })
}

fn require_share(what: &'static str, value: f64) -> Result<(), TransferError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(TransferError::BadNumber {
        what,
        value,
        needed: "between 0 and 1",
    })
}
