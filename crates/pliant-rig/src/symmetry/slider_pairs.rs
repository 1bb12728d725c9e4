//! Mirror pairs of sliders, by name or by shape.
//!
//! **Equation.** With the partner `π(k)` of slider `k`, the mirror image of the weights `w` is
//! `w′(π(k)) = w(k)`.
//!
//! **Method.** Partners by shape are the pairs with the largest cosine `⟨M dⱼ, dₖ⟩ / |dⱼ| |dₖ|`, at
//! least [`LEAST_COSINE`], where `M` mirrors the vertices; a symmetric slider is its own partner.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use pliant_linalg::parallel;

use crate::{Rig, SliderName, Target, VertexMirror, mirrored_name};

/// Below this cosine, two shapes are not mirror images.
const LEAST_COSINE: f64 = 0.8;

/// The partner of each slider on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliderPairs {
    partners: Vec<Option<usize>>,
}

impl SliderPairs {
    /// Partners by name: sides are swapped; a slider without a side is its own partner.
    #[must_use]
    pub fn by_name(names: &[&str]) -> Self {
        let readings: Vec<SliderName> = names.iter().map(|name| SliderName::parse(name)).collect();
        let key = |reading: &SliderName| (reading.stem(), reading.sides.clone());
        let mut by_text = BTreeMap::new();
        let mut by_reading = BTreeMap::new();
        for (k, name) in names.iter().enumerate() {
            by_text.entry((*name).to_owned()).or_insert(k);
            by_reading.entry(key(&readings[k])).or_insert(k);
        }

        let mut claims = Vec::with_capacity(names.len());
        for (k, reading) in readings.iter().enumerate() {
            if !reading.is_sided() {
                claims.push(Some(k));
                continue;
            }

            // The same spelling takes precedence. Action units that rotate have a side without one.
            let same_spelling = mirrored_name(names[k]).and_then(|name| by_text.get(&name));
            let partner = same_spelling.or_else(|| by_reading.get(&key(&reading.mirrored())));
            claims.push(partner.copied());
        }

        Self::mutual(&claims)
    }

    /// Partners by shape: the mirror image of one displacement field is the other.
    #[must_use]
    pub fn by_shape(rig: &Rig, mirror: &VertexMirror) -> Self {
        let targets = rig.targets();
        let lengths: Vec<f64> = targets.iter().map(|t| dot_sparse(t, t).sqrt()).collect();

        let rows = parallel::map(targets.len(), 1, |j| {
            similar_targets(targets, j, &mirror.mirror_target(&targets[j]), &lengths)
        });
        let mut candidates: Vec<(f64, usize, usize)> = rows.into_iter().flatten().collect();

        // The most similar pair first; ties in the order of the sliders.
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut partners = vec![None; targets.len()];

        for (_, j, k) in candidates {
            if partners[j].is_none() && partners[k].is_none() {
                partners[j] = Some(k);
                partners[k] = Some(j);
            }
        }

        Self { partners }
    }

    /// Keeps mutual claims: of two sliders that claim one partner, the second has none.
    fn mutual(claims: &[Option<usize>]) -> Self {
        let partners = claims
            .iter()
            .enumerate()
            .map(|(k, claim)| claim.filter(|&other| claims[other] == Some(k)))
            .collect();
        Self { partners }
    }

    /// The partner of each slider: its own index for one of both sides, `None` if it has none.
    #[must_use]
    pub fn partners(&self) -> &[Option<usize>] {
        &self.partners
    }

    /// Sliders without a partner.
    #[must_use]
    pub fn unpaired(&self) -> Vec<usize> {
        (0..self.partners.len())
            .filter(|&k| self.partners[k].is_none())
            .collect()
    }

    /// The weights of the mirrored pose. A slider without a partner keeps its weight.
    #[must_use]
    pub fn mirror_weights(&self, weights: &[f64]) -> Vec<f64> {
        let mut mirrored = weights.to_vec();
        for (&weight, partner) in weights.iter().zip(&self.partners) {
            if let Some(image) = partner.and_then(|k| mirrored.get_mut(k)) {
                *image = weight;
            }
        }
        mirrored
    }
}

/// The targets from `j` on that are similar to the image of target `j`: (cosine, `j`, target).
fn similar_targets(
    targets: &[Target],
    j: usize,
    image: &Target,
    lengths: &[f64],
) -> Vec<(f64, usize, usize)> {
    let mut similar = Vec::new();

    // The cosine is symmetric, so one triangle of the matrix is enough.
    for k in j..targets.len() {
        let cosine = dot_sparse(image, &targets[k]) / (lengths[j] * lengths[k]);
        if cosine >= LEAST_COSINE {
            similar.push((cosine, j, k));
        }
    }

    similar
}

/// The inner product of two displacement fields.
fn dot_sparse(a: &Target, b: &Target) -> f64 {
    let mut sum = 0.0;
    let mut i = 0;
    let mut j = 0;
    while i < a.vertices.len() && j < b.vertices.len() {
        match a.vertices[i].cmp(&b.vertices[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                sum += a.deltas[i].as_dvec3().dot(b.deltas[j].as_dvec3());
                i += 1;
                j += 1;
            }
        }
    }

    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<Option<usize>> {
        SliderPairs::by_name(names).partners().to_vec()
    }

    #[test]
    fn partners_by_name_swap_sides_and_sliders_without_side_are_their_own() {
        assert_eq!(
            names(&["jawOpen", "smile_L", "smile_R", "jawLeft", "jawRight"]),
            [Some(0), Some(2), Some(1), Some(4), Some(3)]
        );
        assert_eq!(names(&["blinkLeft", "squint_R"]), [None, None]);
        assert_eq!(names(&["smile_L", "SmileRight"]), [Some(1), Some(0)]);
        assert_eq!(
            names(&["AU51", "AU52", "AU53"]),
            [Some(1), Some(0), Some(2)]
        );

        // Two sliders claim one partner: the one with the same spelling gets it.
        assert_eq!(
            names(&["smileLeft", "smile_L", "smile_R"]),
            [None, Some(2), Some(1)]
        );
    }
}
