//! Options of the scan registration.

use pliant_transfer::RegistrationOptions;

use crate::LearnError;

/// The least bending length, in coarse edges.
const FEWEST_EDGES: f64 = 3.0;

/// Options of the scan registration.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanOptions {
    vertices: Option<usize>,
    pub(super) levels: usize,
    pub(super) smoothing: f64,
    pub(super) reach: f64,
    pub(super) icp: usize,
    pub(super) chain: bool,
    lengths: [f64; 2],
    registration: RegistrationOptions,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            vertices: None,
            levels: Self::DEFAULT_LEVELS,
            smoothing: Self::DEFAULT_SMOOTHING,
            reach: Self::DEFAULT_REACH,
            icp: 0,
            chain: true,
            lengths: Self::DEFAULT_LENGTHS,
            registration: RegistrationOptions::default()
                .with_steps(Self::DEFAULT_STEPS)
                .with_gaps(true),
        }
    }
}

impl ScanOptions {
    /// *Huang 2012*: the low-resolution hand of 49k vertices is a quarter of the scan.
    pub const DEFAULT_LEVELS: usize = 1;
    /// *Measured* on the hand, 4,000 coarse vertices, 14 gestures: the error of the correspondence
    /// is a tenth less than with 1.0. Waves shorter than about four edges, which the coarse mesh
    /// cannot represent, are removed.
    pub const DEFAULT_SMOOTHING: f64 = 0.6;
    /// *Chosen*: the distance of a scan from its smooth version is smaller, and most fingers are
    /// thicker.
    pub const DEFAULT_REACH: f64 = 3.0;
    /// *Measured* on the hand with 120 markers: a first length of 0.3 leaves fingers of a fist
    /// behind and nearly doubles the error.
    pub const DEFAULT_LENGTHS: [f64; 2] = [0.1, 0.03];
    /// *Measured* on the hand: twice as many gain a twentieth.
    pub const DEFAULT_STEPS: usize = 8;
    /// The most levels; they multiply the triangles by over four thousand.
    pub const MOST_LEVELS: usize = 6;

    /// The most vertices of the coarse mesh. Default: the number that gives the vertex count of the
    /// scan after subdivision.
    #[must_use]
    pub fn with_vertices(self, vertices: usize) -> Self {
        Self {
            vertices: Some(vertices),
            ..self
        }
    }

    /// Levels of subdivision between the coarse mesh and the fine one. Default:
    /// [`DEFAULT_LEVELS`](Self::DEFAULT_LEVELS).
    #[must_use]
    pub fn with_levels(self, levels: usize) -> Self {
        Self { levels, ..self }
    }

    /// The length of the waves that smoothing removes, in edges of an even coarse mesh. Default:
    /// [`DEFAULT_SMOOTHING`](Self::DEFAULT_SMOOTHING).
    #[must_use]
    pub fn with_smoothing(self, smoothing: f64) -> Self {
        Self { smoothing, ..self }
    }

    /// The largest displacement along a normal, in edges of an even coarse mesh. Default:
    /// [`DEFAULT_REACH`](Self::DEFAULT_REACH).
    #[must_use]
    pub fn with_reach(self, reach: f64) -> Self {
        Self { reach, ..self }
    }

    /// Rounds of closest points that refine the rigid alignment by markers. Default: none.
    #[must_use]
    pub fn with_icp(self, rounds: usize) -> Self {
        Self {
            icp: rounds,
            ..self
        }
    }

    /// Whether an example is deformed from the nearest registered pose, or always from the
    /// reference, as in Huang et al. 2012. Default: true. *Measured* on the hand with 60 markers:
    /// the mean distance of every scan is then below 0.07 % of the diagonal, against 0.14 % for
    /// fists from the reference. Poses between a fist and a flat hand have a slightly larger error
    /// along the surface.
    #[must_use]
    pub fn with_chain(self, chain: bool) -> Self {
        Self { chain, ..self }
    }

    /// The length below which the coarse mesh does not bend, in the first and in the last step, as
    /// parts of the scan's size; never less than a few coarse edges. Default:
    /// [`DEFAULT_LENGTHS`](Self::DEFAULT_LENGTHS).
    #[must_use]
    pub fn with_lengths(self, first: f64, last: f64) -> Self {
        Self {
            lengths: [first, last],
            ..self
        }
    }

    /// Options of the registration of the coarse mesh, except for the
    /// [lengths](Self::with_lengths).
    #[must_use]
    pub fn with_registration(self, registration: RegistrationOptions) -> Self {
        Self {
            registration,
            ..self
        }
    }

    /// How the coarse mesh is laid onto an example.
    #[must_use]
    pub fn registration(&self) -> RegistrationOptions {
        self.registration
    }

    /// Registration options for a mesh with this edge length, relative to the diagonal. Its bending
    /// length is at least [`FEWEST_EDGES`], because an error of a marker by a part of an edge would
    /// crumple it otherwise.
    pub(super) fn registration_for(&self, edge: f64) -> RegistrationOptions {
        let least = FEWEST_EDGES * edge;
        let [first, last] = self.lengths.map(|length| {
            if length > 0.0 {
                length.max(least)
            } else {
                length
            }
        });
        self.registration.with_lengths(first, last)
    }

    /// The most vertices of the coarse mesh for a scan with so many.
    pub(super) fn vertices_for(&self, scan_vertices: usize) -> usize {
        self.vertices
            .unwrap_or_else(|| scan_vertices >> (2 * self.levels))
            .max(4)
    }

    pub(super) fn check(&self) -> Result<(), LearnError> {
        let bad = |what, value: f64, needed| {
            Err(LearnError::BadNumber {
                what,
                value,
                needed,
            })
        };

        if self.vertices.is_some_and(|vertices| vertices < 4) {
            return bad(
                "the number of coarse vertices",
                self.vertices.unwrap_or_default() as f64,
                "at least 4",
            );
        }

        if self.levels > Self::MOST_LEVELS {
            return bad("the number of levels", self.levels as f64, "at most 6");
        }
        if !(self.smoothing >= 0.0 && self.smoothing.is_finite()) {
            return bad("the smoothing", self.smoothing, "finite and not negative");
        }
        if !(self.reach > 0.0 && self.reach.is_finite()) {
            return bad("the reach", self.reach, "positive and finite");
        }

        Ok(())
    }
}
