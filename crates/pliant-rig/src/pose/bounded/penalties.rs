//! Penalties on moved surface: extents `g`, the matrix `Q`, efficiencies `e` and the gain `β`.
//!
//! The module [`bounded`](super) states the equations.

use super::Bounded;
use super::driven_shapes::DrivenShapes;
use pliant_mesh::glam::DVec3;

use crate::pose::PinSystem;
use crate::pose::pin_system::ProjectedSystem;
use crate::{RigError, SliderName};

/// The factor φ of the whole surface in a slider's extent. *Chosen*: motion near the pin costs half
/// as much as motion far from it.
const NEAR_FACTOR: f64 = 0.5;
/// The factor ε of the identity beside `Q`. *Chosen*: it shares a drag between equal sliders, for
/// which `Q` is singular.
const IDENTITY_FACTOR: f64 = 0.01;
/// The factor τ of the widest slider in every extent. *Measured* in a prototype on the built-in head
/// and the ICT face: at 1 the fastest weights change half as fast along a path as at 0.2, and goals
/// within reach are missed by two to three times as much before further goals are raised.
const WIDEST_FACTOR: f64 = 1.0;
/// The factor η of the penalty on inefficient sliders beside `Q`. *Measured*: at 4 the fastest changes
/// along a path are a fifth slower, and twice as many goals within reach are missed.
const INEFFICIENCY_FACTOR: f64 = 2.0;
/// The least efficiency in a penalty. *Chosen*: sliders below it do not take part in any drag.
const LEAST_EFFICIENCY: f64 = 1e-4;
/// The factor κ on the motion of protected vertices. *Chosen*.
const PROTECTION: f64 = 1e6;
/// The coupling σ of mirrored sliders at strength 1, relative to the force of the pins. *Chosen*.
const COUPLING: f64 = 10.0;
/// Without any damping, sliders that agree at the pins would be undetermined.
const LEAST_DAMPING: f64 = 1e-9;
/// Mirror images whose motions have a correlation below this are opposites. *Chosen*.
const MIRRORED_CORRELATION: f64 = -0.5;
/// Any two sliders whose motions have a correlation below this are opposites: a lid that closes and
/// one that opens wide, a smile and a frown. *Chosen*: jaw open and jaw forward have −0.54.
const OPPOSING_CORRELATION: f64 = -0.7;
/// Columns whose products are summed side by side.
const LANES: usize = 8;

/// The penalties on the candidates, the sliders that a drag may move.
#[derive(Debug)]
pub(super) struct Penalties {
    /// `g`: the surface that one unit of each candidate moves.
    pub(super) extents: Vec<f64>,
    /// `Q + εI`, row by row.
    motion: Vec<f64>,
    /// `e`: how well each candidate moves the pins, relative to the best.
    pub(super) efficiencies: Vec<f64>,
    /// Pairs of sliders that are mirror images and undo each other.
    pub(super) mirrored: Vec<[usize; 2]>,
    /// Further pairs of sliders that undo each other.
    pub(super) opposing: Vec<[usize; 2]>,
    /// `β`.
    pub(super) gain: f64,
    /// `ρ`, divided by the root of the number of pins.
    damping: f64,
}

/// Gram matrices of the candidates over parts of the surface.
struct MotionGrams {
    /// `G(far)`.
    far: Vec<f64>,
    /// `G(all)`.
    all: Vec<f64>,
    /// `G(far) + φ² G(all)`.
    penalised: Vec<f64>,
}

impl Penalties {
    /// The penalties of `candidates`, whose limits span `ranges`; gain and efficiencies are 1 until
    /// [`scale`](Self::scale).
    pub(super) fn assemble(
        options: &Bounded,
        system: &PinSystem,
        candidates: &[usize],
        ranges: &[f64],
        damping: f64,
    ) -> Result<Self, RigError> {
        let driven = DrivenShapes::of(system, candidates);
        let grams = MotionGrams::over_surface(options, system, &driven)?;
        let (mirrored, opposing) = opposite_pairs(system, candidates, &grams.all);

        // g = a + (the contribution of the widest slider).
        let areas = grams.areas(candidates.len());
        let offsets = widest_offsets(&areas, ranges);
        let extents: Vec<f64> = areas.iter().zip(&offsets).map(|(a, o)| a + o).collect();

        let mut motion = grams.penalised;
        add_squares_to_diagonal(&mut motion, &offsets);
        options.add_protection(system, &driven, &mut motion);
        divide_by_extents(&mut motion, &extents);
        add_coupling(
            &mut motion,
            &extents,
            &options.coupled_pairs(candidates),
            options.symmetry,
            damping,
        );

        Ok(Self {
            efficiencies: vec![1.0; candidates.len()],
            extents,
            motion,
            mirrored,
            opposing,
            gain: 1.0,
            damping,
        })
    }

    /// Sets the gain `β` and the efficiencies `e` from the columns of `B̄`.
    pub(super) fn scale(&mut self, projected: &ProjectedSystem, candidates: &[usize]) {
        let mut gains = Vec::with_capacity(candidates.len());
        for (&slider, extent) in candidates.iter().zip(&self.extents) {
            let column = projected.column(slider);
            gains.push(column.iter().map(|b| b * b).sum::<f64>().sqrt() / extent);
        }

        let largest = gains.iter().copied().fold(0.0, f64::max);
        self.gain = if largest > 0.0 { largest } else { 1.0 };
        self.efficiencies = gains
            .iter()
            .map(|gain| (gain / self.gain).max(LEAST_EFFICIENCY))
            .collect();
    }

    /// Multiplies the efficiencies by the centralities `c` and scales the largest to 1 again.
    pub(super) fn scale_by_centrality(
        &mut self,
        system: &PinSystem,
        projected: &ProjectedSystem,
        candidates: &[usize],
    ) {
        let peaks = system.poser().peaks();
        for (efficiency, &slider) in self.efficiencies.iter_mut().zip(candidates) {
            let at_pins = projected.column(slider).chunks_exact(3);
            let lengths = at_pins.map(|b| DVec3::from_slice(b).length());
            let peak = peaks[slider];
            if peak > 0.0 {
                *efficiency *= lengths.fold(0.0, f64::max) / peak;
            }
        }

        let best = self.efficiencies.iter().copied().fold(0.0, f64::max);
        for efficiency in &mut self.efficiencies {
            *efficiency = if best > 0.0 {
                (*efficiency / best).max(LEAST_EFFICIENCY)
            } else {
                1.0
            };
        }
    }

    /// Gives both sliders of a coupled pair the larger of their efficiencies.
    pub(super) fn share_efficiency(&mut self, [a, b]: [usize; 2]) {
        let larger = self.efficiencies[a].max(self.efficiencies[b]);
        self.efficiencies[a] = larger;
        self.efficiencies[b] = larger;
    }

    /// Adds `η (1 − e)⁴` to the diagonal.
    pub(super) fn penalise_inefficiency(&mut self) {
        let n = self.efficiencies.len();
        for (k, efficiency) in self.efficiencies.iter().enumerate() {
            let lack = (1.0 - efficiency).max(0.0);
            self.motion[k * n + k] += INEFFICIENCY_FACTOR * lack.powi(4);
        }
    }

    /// `B̂ᵀB̂ / β² + ρ (Q + εI)` with `B̂ = B̄ / g`, in the buffer `hessian`.
    pub(super) fn hessian(
        &self,
        projected: &ProjectedSystem,
        candidates: &[usize],
        hessian: Vec<f64>,
    ) -> Vec<f64> {
        self.scaled_hessian(projected, candidates, 1.0, hessian)
    }

    /// As [`hessian`](Self::hessian) with `factor` times the penalty `ρ`.
    pub(super) fn scaled_hessian(
        &self,
        projected: &ProjectedSystem,
        candidates: &[usize],
        factor: f64,
        mut hessian: Vec<f64>,
    ) -> Vec<f64> {
        let n = candidates.len();
        let blocks = n.div_ceil(LANES);

        // `B̂ / β` row by row, each row in blocks of `LANES` columns.
        let mut scaled = vec![[0.0; LANES]; projected.rows() * blocks];
        for (k, (&slider, g)) in candidates.iter().zip(&self.extents).enumerate() {
            for (row, b) in projected.column(slider).iter().enumerate() {
                scaled[row * blocks + k / LANES][k % LANES] = b / (g * self.gain);
            }
        }

        let damping = factor * self.damping.max(LEAST_DAMPING);
        hessian.clear();
        hessian.extend(self.motion.iter().map(|q| damping * q));

        // The lower triangle, block by block, mirrored to the upper one.
        for i in 0..n {
            for block in 0..=i / LANES {
                let products = products_with_block(&scaled, blocks, i, block);
                for (j, product) in (LANES * block..=i).zip(products) {
                    hessian[i * n + j] += product;
                    hessian[j * n + i] = hessian[i * n + j];
                }
            }
        }

        hessian
    }

    /// `½ ρ xᵀ(Q + εI)x`.
    pub(super) fn motion_energy(&self, x: &[f64]) -> f64 {
        let n = x.len();
        let mut sum = 0.0;
        for (k, row) in self.motion.chunks_exact(n.max(1)).enumerate() {
            if x[k] != 0.0 {
                sum += x[k] * row.iter().zip(x).map(|(q, y)| q * y).sum::<f64>();
            }
        }

        0.5 * self.damping.max(LEAST_DAMPING) * sum
    }
}

/// The products of column `i` with the columns of a block.
fn products_with_block(
    scaled: &[[f64; LANES]],
    blocks: usize,
    i: usize,
    block: usize,
) -> [f64; LANES] {
    let mut products = [0.0; LANES];
    for row in scaled.chunks_exact(blocks) {
        let factor = row[i / LANES][i % LANES];
        for (product, value) in products.iter_mut().zip(&row[block]) {
            *product += factor * value;
        }
    }

    products
}

impl MotionGrams {
    fn over_surface(
        options: &Bounded,
        system: &PinSystem,
        driven: &DrivenShapes,
    ) -> Result<Self, RigError> {
        let poser = system.poser();
        let reach = options
            .reach
            .unwrap_or(Bounded::DEFAULT_REACH * poser.size());

        // The far part is the whole minus the disc, so a new set of pins costs only its disc.
        let all = poser.gram().whole(&driven.shapes);
        let near = poser
            .gram()
            .over(&poser.near_pins(system, reach)?, &driven.shapes);
        let far: Vec<f64> = all
            .iter()
            .zip(&near)
            .map(|(all, near)| all - near)
            .collect();

        let near_factor = NEAR_FACTOR * NEAR_FACTOR;
        let penalised: Vec<f64> = all
            .iter()
            .zip(&far)
            .map(|(all, far)| far + near_factor * all)
            .collect();

        Ok(Self {
            far: driven.slider_gram(&far),
            all: driven.slider_gram(&all),
            penalised: driven.slider_gram(&penalised),
        })
    }

    /// `aₖ = √Gₖₖ(far) + φ √Gₖₖ(all)` for each of `n` candidates.
    fn areas(&self, n: usize) -> Vec<f64> {
        let root = |gram: &[f64], k: usize| gram[k * n + k].max(0.0).sqrt();
        (0..n)
            .map(|k| root(&self.far, k) + NEAR_FACTOR * root(&self.all, k))
            .collect()
    }
}

/// `τ maxⱼ(aⱼ rⱼ) / rₖ`, the part of the widest slider in every extent.
fn widest_offsets(areas: &[f64], ranges: &[f64]) -> Vec<f64> {
    let widest = areas
        .iter()
        .zip(ranges)
        .map(|(a, r)| a * r)
        .fold(0.0, f64::max);

    if widest > 0.0 {
        ranges.iter().map(|r| WIDEST_FACTOR * widest / r).collect()
    } else {
        // The pins are on vertices without area: any extent serves.
        vec![1.0; ranges.len()]
    }
}

fn add_squares_to_diagonal(matrix: &mut [f64], values: &[f64]) {
    let n = values.len();
    for (k, value) in values.iter().enumerate() {
        matrix[k * n + k] += value * value;
    }
}

/// `g⁻¹ M g⁻¹ + εI`, in place.
fn divide_by_extents(matrix: &mut [f64], extents: &[f64]) {
    let n = extents.len();
    for row in 0..n {
        for column in 0..n {
            matrix[row * n + column] /= extents[row] * extents[column];
        }
        matrix[row * n + row] += IDENTITY_FACTOR;
    }
}

/// `½ σ gᵢgⱼ (Δᵢ − Δⱼ)²` for coupled sliders `i` and `j`.
fn add_coupling(
    matrix: &mut [f64],
    extents: &[f64],
    pairs: &[[usize; 2]],
    symmetry: f64,
    damping: f64,
) {
    let n = extents.len();

    // The Hessian multiplies `matrix` by the damping; the coupling must not depend on it.
    let strength = COUPLING * symmetry / damping.max(LEAST_DAMPING);

    for &[row, column] in pairs {
        let a = extents[row];
        let b = extents[column];
        matrix[row * n + row] += strength * b / a;
        matrix[column * n + column] += strength * a / b;
        matrix[row * n + column] -= strength;
        matrix[column * n + row] -= strength;
    }
}

/// Pairs of sliders that undo each other: mirror images by name, and others.
fn opposite_pairs(
    system: &PinSystem,
    candidates: &[usize],
    gram: &[f64],
) -> (Vec<[usize; 2]>, Vec<[usize; 2]>) {
    let n = candidates.len();
    let targets = system.rig().targets();
    let name = |k: usize| SliderName::parse(&targets[candidates[k]].name);

    let mut mirrored = Vec::new();
    let mut opposing = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            // Sliders that move no surface have a NaN here, and are no opposites.
            let correlation = gram[i * n + j] / (gram[i * n + i] * gram[j * n + j]).sqrt();
            let pair = [candidates[i], candidates[j]];
            if correlation < MIRRORED_CORRELATION
                && name(i).is_sided()
                && name(i).mirrored() == name(j)
            {
                mirrored.push(pair);
            } else if correlation < OPPOSING_CORRELATION {
                opposing.push(pair);
            }
        }
    }

    (mirrored, opposing)
}

impl Bounded {
    /// Adds κ times the Gram matrix over the protected vertices.
    fn add_protection(&self, system: &PinSystem, driven: &DrivenShapes, motion: &mut [f64]) {
        if self.protected.is_empty() {
            return;
        }

        let vertices: Vec<(u32, f64)> = self.protected.iter().map(|&v| (v, PROTECTION)).collect();
        let gram = system.poser().gram().over(&vertices, &driven.shapes);
        for (sum, protection) in motion.iter_mut().zip(driven.slider_gram(&gram)) {
            *sum += protection;
        }
    }
}
