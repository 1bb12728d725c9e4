//! Arithmetic on eight numbers at a time (SIMD lanes).
//!
//! **Problem.** A constraint of two to four vertices is a few dozen multiplications; one constraint
//! at a time leaves most of a processor idle.
//!
//! **Departures.** Plain arrays whose operations are loops of fixed length: in a kernel that
//! [`pliant_linalg::simd::run_vectorized`] runs, they compile to the widest registers of the machine.
//! Crates of vector types choose their registers at build time, here they are chosen when the
//! program starts. Every lane is rounded as a single number would be.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use pliant_mesh::glam::DVec3;

/// Constraints that are projected at once. Measured: four take 1.4 times as long each, and sixteen
/// no less than eight.
pub(crate) const LANES: usize = 8;

/// The least divisor; far below any length, area or inverse mass, and far above an overflow of the
/// quotient.
const LEAST_DIVISOR: f64 = 1e-150;

/// A number in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

/// A vector in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Vectors {
    pub(crate) x: Lanes,
    pub(crate) y: Lanes,
    pub(crate) z: Lanes,
}

impl Lanes {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut result = Self::ZERO;
        for k in 0..LANES {
            result.0[k] = f(self.0[k]);
        }
        result
    }

    #[inline(always)]
    pub(crate) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut result = Self::ZERO;
        for k in 0..LANES {
            result.0[k] = f(self.0[k], other.0[k]);
        }
        result
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }

    /// The larger of two numbers.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// The smaller of two numbers.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    /// `self / other` for `other ≥ 0`, with a finite quotient where `other` is zero; the factor of
    /// that quotient is then zero, too.
    #[inline(always)]
    pub(crate) fn over(self, other: Self) -> Self {
        // No branch: a quotient behind a branch would be computed lane by lane.
        self / other.max(Self::splat(LEAST_DIVISOR))
    }
}

impl Vectors {
    #[inline(always)]
    pub(crate) fn splat(v: DVec3) -> Self {
        Self {
            x: Lanes::splat(v.x),
            y: Lanes::splat(v.y),
            z: Lanes::splat(v.z),
        }
    }

    #[cfg(test)]
    pub(crate) fn lane(&self, k: usize) -> DVec3 {
        DVec3::new(self.x.0[k], self.y.0[k], self.z.0[k])
    }

    pub(crate) fn set_lane(&mut self, k: usize, v: DVec3) {
        (self.x.0[k], self.y.0[k], self.z.0[k]) = (v.x, v.y, v.z);
    }

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> Lanes {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    #[inline(always)]
    pub(crate) fn length(self) -> Lanes {
        self.dot(self).sqrt()
    }
}

/// Operators on each lane, and on each of three coordinates.
macro_rules! lanewise {
    ($($trait:ident $name:ident $op:tt),*) => {$(
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                self.zip(other, |a, b| a $op b)
            }
        }
    )*};
}

lanewise!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

impl Add for Vectors {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
}

impl Sub for Vectors {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }
}

impl Neg for Vectors {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self {
            x: -self.x,
            y: -self.y,
            z: -self.z,
        }
    }
}

impl Mul<Lanes> for Vectors {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: Lanes) -> Self {
        Self {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }
}

impl AddAssign for Vectors {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vectors {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
