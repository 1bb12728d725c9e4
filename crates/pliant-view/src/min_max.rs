//! Minimum and maximum of two numbers in one machine instruction.
//!
//! `f32::max` must ignore NaN, which takes further instructions. These functions need not.

/// The greater of two numbers; the second if one is NaN.
#[inline]
pub(crate) fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The lesser of two numbers; the second if one is NaN.
#[inline]
pub(crate) fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}
