//! Aliases: targets that other targets give as well.
//!
//! **Problem.** Avatars for several platforms store one shape under several names, and presets of
//! the whole face that are sums of others. A solver that uses both applies a shape twice.
//!
//! **Equation.** A twin equals an earlier target to the bit. A composite `t` satisfies
//!
//! ```text
//! min |t − Σ cₖ dₖ|²,  0 ≤ cₖ ≤ 1        |t − Σ cₖ dₖ| ≤ 10⁻² |t|
//! ```
//!
//! with two parts or more, over the other targets `d` that move only vertices that `t` moves.
//!
//! **Implementation.** A solve is needed only where such targets cover what `t` moves, which is
//! rare. Rigs with more than 500 targets are searched for twins only.

use std::collections::{BTreeSet, HashMap};

use pliant_linalg::{BoxQuadratic, BoxTerms, BoxWorkspace};

use super::plausibility::inner_product;
use crate::Target;

/// A target that others give as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The target.
    pub name: String,
    /// The targets that give it, with their weights; a twin has one with weight 1.
    pub parts: Vec<(String, f64)>,
}

impl Alias {
    /// `'joy' = smile + 0.5 squint`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        for (name, weight) in &self.parts {
            parts.push(if (weight - 1.0).abs() < 5e-3 {
                name.clone()
            } else {
                format!("{weight:.2} {name}")
            });
        }
        format!("'{}' = {}", self.name, parts.join(" + "))
    }
}

/// Largest error of a composite relative to its length. *Chosen*: exporters round and quantise.
const TOLERANCE: f64 = 1e-2;
/// Parts with smaller weights only fit noise. *Chosen*.
const LEAST_PART: f64 = 0.05;
/// Vertices that a target moves by less than this part of its largest displacement do not count.
const MOVED: f32 = 0.01;
/// The part of the moved vertices that may lie outside, for noise.
const OUTSIDE: f64 = 0.01;
const MOST_TARGETS: usize = 500;

/// The aliases among targets that are not `driven`.
pub(super) fn find(targets: &[Target], driven: &BTreeSet<usize>) -> Vec<Alias> {
    let sliders: Vec<usize> = (0..targets.len())
        .filter(|k| !driven.contains(k) && targets[*k].in_betweens.is_empty())
        .filter(|&k| !targets[k].vertices.is_empty())
        .collect();

    let mut aliases = Vec::new();
    let mut originals = Vec::new();
    let mut seen: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
    for &k in &sliders {
        let same_key = seen.entry(key(&targets[k])).or_default();
        let twin = same_key.iter().find(|&&other| {
            targets[other].vertices == targets[k].vertices
                && targets[other].deltas == targets[k].deltas
        });
        match twin {
            Some(&twin) => aliases.push(Alias {
                name: targets[k].name.clone(),
                parts: vec![(targets[twin].name.clone(), 1.0)],
            }),
            None => {
                same_key.push(k);
                originals.push(k);
            }
        }
    }

    if originals.len() <= MOST_TARGETS {
        aliases.extend(composites(targets, &originals));
    }
    aliases
}

/// Numbers that twins have in common.
fn key(target: &Target) -> Vec<u32> {
    let first = target.deltas[0];
    vec![
        target.vertices.len() as u32,
        target.vertices[0],
        first.x.to_bits(),
        first.y.to_bits(),
        first.z.to_bits(),
    ]
}

fn composites(targets: &[Target], originals: &[usize]) -> Vec<Alias> {
    let supports: Vec<Support> = originals
        .iter()
        .map(|&k| Support::of(&targets[k]))
        .collect();
    let mut found = Vec::new();
    for (i, support) in supports.iter().enumerate() {
        let mut inside = Vec::new();
        let mut covered = vec![0_u64; support.bits.len()];
        for (j, other) in supports.iter().enumerate() {
            if j != i && other.is_inside(support) {
                inside.push(originals[j]);
                for (covered, bits) in covered.iter_mut().zip(&other.bits) {
                    *covered |= bits;
                }
            }
        }

        let union = Support::new(covered);
        if inside.len() > 1 && support.is_inside(&union) {
            found.extend(composite(targets, originals[i], &inside));
        }
    }
    found
}

/// The target `whole` as a sum of some of `inside`, if it is one.
fn composite(targets: &[Target], whole: usize, inside: &[usize]) -> Option<Alias> {
    let whole = &targets[whole];
    let n = inside.len();
    let mut gram = vec![0.0; n * n];
    for i in 0..n {
        for j in i..n {
            let value = inner_product(&targets[inside[i]], &targets[inside[j]]);
            gram[i * n + j] = value;
            gram[j * n + i] = value;
        }
    }

    let linear: Vec<f64> = inside
        .iter()
        .map(|&k| inner_product(whole, &targets[k]))
        .collect();
    let square = inner_product(whole, whole);
    let objective = |x: &[f64]| {
        let mut value = square;
        for i in 0..n {
            let row = &gram[i * n..][..n];
            let product: f64 = row.iter().zip(x).map(|(g, x)| g * x).sum();
            value += x[i] * (product - 2.0 * linear[i]);
        }
        value
    };

    // Parts may depend on each other, so the matrix gets a small diagonal.
    let mut hessian = gram.clone();
    let largest = (0..n).map(|k| gram[k * n + k]).fold(0.0, f64::max);
    for k in 0..n {
        hessian[k * n + k] += 1e-9 * largest;
    }
    let mut weights = vec![0.0; n];
    BoxQuadratic::trusted(hessian).solve(
        &BoxTerms {
            linear: &linear,
            penalties: &vec![1e-7 * square / n as f64; n],
            lower: &vec![0.0; n],
            upper: &vec![1.0; n],
        },
        &mut weights,
        &mut BoxWorkspace::default(),
    );

    for weight in &mut weights {
        if *weight < LEAST_PART {
            *weight = 0.0;
        }
    }
    let mut parts = Vec::new();
    for (&k, &weight) in inside.iter().zip(&weights) {
        if weight > 0.0 {
            parts.push((targets[k].name.clone(), weight));
        }
    }

    let fits = objective(&weights) <= TOLERANCE * TOLERANCE * square;
    (parts.len() > 1 && fits).then(|| Alias {
        name: whole.name.clone(),
        parts,
    })
}

/// The vertices that a target moves, as bits.
struct Support {
    bits: Vec<u64>,
    count: u32,
}

impl Support {
    fn of(target: &Target) -> Self {
        let lengths = target.deltas.iter().map(|delta| delta.length());
        let least = MOVED * lengths.fold(0.0, f32::max);
        let last = target.vertices.last().map_or(0, |&v| v as usize);
        let mut bits = vec![0_u64; last / 64 + 1];
        for (&vertex, delta) in target.vertices.iter().zip(&target.deltas) {
            if delta.length() > least {
                bits[vertex as usize / 64] |= 1 << (vertex % 64);
            }
        }
        Self::new(bits)
    }

    fn new(bits: Vec<u64>) -> Self {
        let count = bits.iter().map(|word| word.count_ones()).sum();
        Self { bits, count }
    }

    fn is_inside(&self, other: &Self) -> bool {
        let common = self.bits.iter().zip(&other.bits);
        let common: u32 = common.map(|(a, b)| (a & b).count_ones()).sum();
        self.count > 0 && f64::from(common) >= (1.0 - OUTSIDE) * f64::from(self.count)
    }
}
