//! Options of the method of Çetinaslan 2016.

use crate::PhysicsError;

/// Options of the method of Çetinaslan 2016, chapter 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerletOptions {
    pub(crate) damping: f64,
    pub(crate) bend_stiffness: f64,
    pub(crate) iterations: usize,
    pub(crate) stretch: bool,
    pub(crate) shear: bool,
    pub(crate) bend: bool,
}

impl Default for VerletOptions {
    fn default() -> Self {
        Self {
            damping: Self::DEFAULT_DAMPING,
            bend_stiffness: Self::DEFAULT_BEND_STIFFNESS,
            iterations: Self::DEFAULT_ITERATIONS,
            stretch: true,
            shear: true,
            bend: true,
        }
    }
}

impl VerletOptions {
    /// Source: Çetinaslan 2016, figures 5.1 and 5.5; figure 5.6 has 0.3, 0.6 and 0.9.
    pub const DEFAULT_DAMPING: f64 = 0.0;

    /// Chosen: the corrections of appendix A as they stand; the thesis gives no value.
    pub const DEFAULT_BEND_STIFFNESS: f64 = 0.0;

    /// Source: Çetinaslan 2016, section 5.6, for table 5.2.
    pub const DEFAULT_ITERATIONS: usize = 2;

    /// The part of the velocity that is lost in each step, `k_damp` of eq. 5.3, from 0 to 1.
    /// Default: [`DEFAULT_DAMPING`](Self::DEFAULT_DAMPING).
    #[must_use]
    pub fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// `k_cons` of section 5.5, from 0 to 1: corrections of bending are multiplied by `1 − k_cons`,
    /// so that more of it bends more easily. Default:
    /// [`DEFAULT_BEND_STIFFNESS`](Self::DEFAULT_BEND_STIFFNESS).
    #[must_use]
    pub fn with_bend_stiffness(self, bend_stiffness: f64) -> Self {
        Self {
            bend_stiffness,
            ..self
        }
    }

    /// How often all constraints are projected in a step; cost is linear in it, and more make the
    /// patch stiffer. Default: [`DEFAULT_ITERATIONS`](Self::DEFAULT_ITERATIONS).
    #[must_use]
    pub fn with_iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// Whether edges keep their length, eq. 5.8. Default: they do; Çetinaslan 2016, figure 5.5 (a).
    #[must_use]
    pub fn with_stretch(self, stretch: bool) -> Self {
        Self { stretch, ..self }
    }

    /// Whether corners of triangles keep their angle, eq. 5.9. Default: they do; Çetinaslan 2016, figure 5.5
    /// (b).
    #[must_use]
    pub fn with_shear(self, shear: bool) -> Self {
        Self { shear, ..self }
    }

    /// Whether hinges keep their angle, eq. 5.10. Default: they do; Çetinaslan 2016, figure 5.5 (c).
    #[must_use]
    pub fn with_bend(self, bend: bool) -> Self {
        Self { bend, ..self }
    }

    pub(crate) fn require(&self) -> Result<(), PhysicsError> {
        let share = |what, value: f64| {
            if (0.0..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(PhysicsError::Setting {
                    what,
                    value,
                    bound: "a number from 0 to 1",
                })
            }
        };

        share("k_damp of the method verlet", self.damping)?;
        share("k_cons of the method verlet", self.bend_stiffness)?;
        if self.iterations > 0 {
            Ok(())
        } else {
            Err(PhysicsError::Setting {
                what: "the number of iterations",
                value: 0.0,
                bound: "one or more",
            })
        }
    }
}
