//! Axis-aligned bounding boxes.

use glam::DVec3;

/// The smallest axis-aligned box around some points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The corner with the least coordinates.
    pub min: DVec3,
    /// The corner with the greatest coordinates.
    pub max: DVec3,
}

impl Bounds {
    /// The box around all finite `points`; `None` if there is none.
    #[must_use]
    pub fn of(points: &[DVec3]) -> Option<Self> {
        let mut finite = points.iter().copied().filter(|p| p.is_finite());
        let first = finite.next()?;
        Some(finite.fold(
            Self {
                min: first,
                max: first,
            },
            |b, p| Self {
                min: b.min.min(p),
                max: b.max.max(p),
            },
        ))
    }

    /// The length of the box's diagonal.
    #[must_use]
    pub fn diagonal(&self) -> f64 {
        self.size().length()
    }

    /// The lengths of the box's sides.
    #[must_use]
    pub fn size(&self) -> DVec3 {
        self.max - self.min
    }

    /// The middle of the box.
    #[must_use]
    pub fn center(&self) -> DVec3 {
        (self.min + self.max) * 0.5
    }

    /// The smallest box that holds both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}
