//! A window: the part of an edge that one unfolded source sees, and how it crosses a triangle.
//!
//! **Equation.** In the frame of a side (start at the origin, end at `(ℓ, 0)`, apex `P` above)
//! the source lies at `S = (s, −h)`. The ray through `(b, 0)` meets the edge from the origin to
//! the apex at `λ P`, and the ray to the apex meets the side at `x`:
//!
//! ```text
//! λ = h b / (h Pₓ − (b − s) Pᵧ)        x = s + h (Pₓ − s) / (h + Pᵧ)
//! ```
//!
//! The other edge is the same after mirroring the frame.

/// A vertex counts as lit when it misses a window by no more than this part of the distance:
/// windows on both sides of a vertex meet only up to rounding. A path that cuts a corner by `δ` is
/// too short by about `δ²`, which is far less.
const LIT_TOLERANCE: f64 = 1e-11;
/// Rounding of an unfolded source, relative to its distance; it weighs where rays run almost along
/// the edge.
const ROUNDING: f64 = 1e-15;
/// Trimmed windows stay longer by this part of their edge, so that rounding opens no crack.
const TRIM_TOLERANCE: f64 = 1e-9;
/// A window is dropped, or loses a child, only when it is longer than its rival by this part: ties
/// are kept.
pub(super) const TIE: f64 = 1e-12;

/// The part of a line that an unfolded source sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beam {
    /// Where the lit part of the edge begins and ends, as lengths from the edge's start.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The unfolded source: along the edge and behind it.
    pub(super) along: f64,
    pub(super) depth: f64,
    /// Distance travelled before the source, where that is a vertex at which paths bend.
    pub(super) travelled: f64,
}

impl Beam {
    /// Distance at the nearest visible point of the edge.
    pub(super) fn least_distance(&self) -> f64 {
        let aside = self.along - self.along.max(self.from).min(self.to);
        self.travelled + length(aside, self.depth)
    }

    /// Whether the path to a place of the edge is clearly longer than `rival`.
    pub(super) fn is_longer(&self, place: f64, rival: f64) -> bool {
        // Squares avoid a root: most windows are compared several times.
        let rest = rival * (1.0 + TIE) - self.travelled;
        let aside = place - self.along;
        rest < 0.0 || aside * aside + self.depth * self.depth > rest * rest
    }

    /// The place up to which paths along the edge from its start, at distance `start`, are shorter;
    /// the start's own place or less where they nowhere are. Meant for beams that win at their
    /// end.
    ///
    /// `|S − p| = c + p` has one root, as the left side grows slower than the right.
    pub(super) fn dominated_up_to(&self, start: f64) -> f64 {
        if !self.is_longer(self.from, start + self.from) {
            return 0.0;
        }
        let c = start - self.travelled;
        let root =
            (self.along * self.along + self.depth * self.depth - c * c) / (2.0 * (self.along + c));
        root - TRIM_TOLERANCE * self.to
    }

    /// Distance at a point above the edge.
    pub(super) fn distance_to(&self, [x, y]: [f64; 2]) -> f64 {
        self.travelled + length(x - self.along, y + self.depth)
    }

    /// Where the ray to `apex` crosses the edge, and how far that may be off.
    pub(super) fn entry_to(&self, [x, y]: [f64; 2], edge: f64) -> (f64, f64) {
        let steepness = (x - self.along) / (self.depth + y);
        let rounding = ROUNDING * (self.along.abs() + self.depth + edge) * steepness.abs();
        (
            self.along + self.depth * steepness,
            LIT_TOLERANCE * (self.depth + edge) + rounding,
        )
    }

    /// The same beam with places counted from the edge's end.
    pub(super) fn mirrored(&self, edge: f64) -> Self {
        Self {
            from: edge - self.to,
            to: edge - self.from,
            along: edge - self.along,
            ..*self
        }
    }

    /// The beam on the edge from the origin to `apex`, which has length `edge`, counted from the
    /// origin.
    ///
    /// `ends_at_apex` says that the ray at `to` goes to the apex exactly, without rounding.
    pub(super) fn on_edge_to(
        &self,
        apex @ [x, y]: [f64; 2],
        edge: f64,
        ends_at_apex: bool,
    ) -> Self {
        let scale = 1.0 / edge;
        Self {
            from: edge * self.fraction(apex, self.from),
            to: if ends_at_apex {
                edge
            } else {
                edge * self.fraction(apex, self.to)
            },
            along: (self.along * x - self.depth * y) * scale,
            depth: (self.depth * x + self.along * y) * scale,
            travelled: self.travelled,
        }
    }

    /// `λ` of the ray through `(b, 0)`. A ray that misses the edge would pass beyond the apex.
    fn fraction(&self, [x, y]: [f64; 2], b: f64) -> f64 {
        let near = self.depth * b;
        let across = self.depth * x - (b - self.along) * y;
        if near < across { near / across } else { 1.0 }
    }
}

/// Euclidean length; edges are bounded, so squares do not overflow.
pub(super) fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
