//! Whether displacements agree with what the name of a shape says.
//!
//! **Equation.** With the inner product `⟨a, b⟩` over all vertices and `|a|² = ⟨a, a⟩`:
//!
//! - An in-between `d` of `D` at weight `a` is on the way to it: `⟨d, D⟩ / |D|²` is between `0.4 a`
//!   and `min(2.5 a, 1.2)`, and the cosine of the two is at least 0.5.
//! - A shape `d` is the whole pose of its parts if `|d − Σ D| < 0.6 |d|`.
//! - A correction `d` is smaller than its parts, `|d| ≤ 1.2 |Σ D|`. At least 0.9 of `|d|²` is on
//!   vertices that a part moves, and 0.2 of it on the vertices of each part. A part moves a vertex
//!   that is displaced by at least a hundredth of its largest displacement.
//!
//! All factors are *chosen*.

use pliant_mesh::glam::Vec3;

use crate::Target;

/// What a shape is that is named as a combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CombinationKind {
    /// It corrects the sum of its parts.
    Corrective,
    /// It contains its parts.
    WholePose,
    /// Neither.
    Unrelated,
}

const ON_THE_WAY: [f64; 2] = [0.4, 2.5];
const FARTHEST_IN_BETWEEN: f64 = 1.2;
const LEAST_COSINE: f64 = 0.5;
const WHOLE_POSE: f64 = 0.6;
const LARGEST_CORRECTION: f64 = 1.2;
const SHARE_ON_ANY_PART: f64 = 0.9;
const SHARE_ON_EACH_PART: f64 = 0.2;
const MOVED: f32 = 0.01;

pub(super) fn is_in_between(shape: &Target, of: &Target, at: f64) -> bool {
    let along = inner_product(shape, of);
    let [whole, own] = [inner_product(of, of), inner_product(shape, shape)];
    if whole == 0.0 || own == 0.0 {
        return false;
    }

    let way = along / whole;
    let cosine = along / (whole * own).sqrt();
    cosine >= LEAST_COSINE
        && way >= ON_THE_WAY[0] * at
        && way <= (ON_THE_WAY[1] * at).min(FARTHEST_IN_BETWEEN)
}

pub(super) fn combination_kind(shape: &Target, parts: &[&Target]) -> CombinationKind {
    let own = inner_product(shape, shape);
    let mut with_sum = 0.0;
    let mut sum = 0.0;
    for a in parts {
        with_sum += inner_product(shape, a);
        sum += parts.iter().map(|b| inner_product(a, b)).sum::<f64>();
    }

    if own == 0.0 || sum <= 0.0 {
        return CombinationKind::Unrelated;
    }
    // |d − Σ D|² = |d|² − 2 ⟨d, Σ D⟩ + |Σ D|²
    if own - 2.0 * with_sum + sum < WHOLE_POSE * WHOLE_POSE * own {
        return CombinationKind::WholePose;
    }

    let is_small = own <= LARGEST_CORRECTION * LARGEST_CORRECTION * sum;
    if is_small && is_where_parts_are(shape, parts, own) {
        CombinationKind::Corrective
    } else {
        CombinationKind::Unrelated
    }
}

fn is_where_parts_are(shape: &Target, parts: &[&Target], own: f64) -> bool {
    let least: Vec<f32> = parts.iter().map(|part| MOVED * largest(part)).collect();
    let mut on_any = 0.0;
    let mut on_each = vec![0.0; parts.len()];
    for (&vertex, delta) in shape.vertices.iter().zip(&shape.deltas) {
        let square = delta.as_dvec3().length_squared();
        let mut moved = false;
        for (k, part) in parts.iter().enumerate() {
            if delta_at(part, vertex).length() > least[k] {
                on_each[k] += square;
                moved = true;
            }
        }
        if moved {
            on_any += square;
        }
    }

    on_any >= SHARE_ON_ANY_PART * own && on_each.iter().all(|on| *on >= SHARE_ON_EACH_PART * own)
}

fn largest(target: &Target) -> f32 {
    let lengths = target.deltas.iter().map(|delta| delta.length());
    lengths.fold(0.0, f32::max)
}

fn delta_at(target: &Target, vertex: u32) -> Vec3 {
    match target.vertices.binary_search(&vertex) {
        Ok(k) => target.deltas[k],
        Err(_) => Vec3::ZERO,
    }
}

/// `⟨a, b⟩` of two shapes whose vertices ascend.
pub(super) fn inner_product(a: &Target, b: &Target) -> f64 {
    let [mut i, mut j] = [0, 0];
    let mut sum = 0.0;
    while i < a.vertices.len() && j < b.vertices.len() {
        match a.vertices[i].cmp(&b.vertices[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += a.deltas[i].as_dvec3().dot(b.deltas[j].as_dvec3());
                i += 1;
                j += 1;
            }
        }
    }
    sum
}
