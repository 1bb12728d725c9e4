//! Non-rigid registration of one surface onto another, with annealed stiffness.
//!
//! **Problem.** Deform the source so that it covers the target, each part on the same part, guided
//! by a few markers and by the two shapes.
//!
//! **Equation.** Let `p` be the source at rest, aligned with the target by a similarity, and `L`
//! the normalised mean-value Laplacian. The registration minimises over `x`
//!
//! ```text
//! (ℓ/h)⁴/16 Σ |(L x)ᵢ − Tᵢ (L p)ᵢ|²  +  Σ mᵢ |xᵢ − qᵢ|²  +  β Σ nⱼ |x(j) − yⱼ|²  +  μ Σ |xₖ − cₖ|²
//! ```
//!
//! `qᵢ` is the closest point of the target that faces the same direction, `x(j)` the closest point
//! of the moved source to the target vertex `yⱼ`, and `cₖ` the goal of a marker. `m` and `n` are
//! areas in units of the mean area of a source vertex, and `h` is its root. `Tᵢ` is the rotation and
//! scale of the edges around `i`. The length `ℓ`, below which the source does not bend, decreases
//! from step to step: from 30 % of the target's size to 1.5 %, or as a correspondence chooses it
//! ([`RegistrationOptions::for_markers`]).
//!
//! **Source.** Amberg, Romdhani, Vetter, "Optimal Step Nonrigid ICP Algorithms for Surface
//! Registration", CVPR 2007: the annealing, and the alternation of closest points and one linear
//! solve. The rotated Laplacian coordinates are those of Lipman and others, "Differential
//! coordinates for interactive mesh editing", 2004.
//!
//! **Departures.** Laplacian coordinates instead of an affine map per vertex: a quarter of the
//! unknowns, and one factorisation for all three coordinates, of a constant pattern. Stiffness as a
//! length makes the result independent of units and almost independent of the meshing. While `ℓ` is
//! long, only a part of the vertices is attracted, with the weight of all.
//!
//! **Files.** [`options`], [`attraction`] (closest points and markers), [`linear_step`] (the system
//! of one step).

mod attraction;
mod linear_step;
mod options;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::boundary::Boundary;
use super::loose_parts::carry_loose_parts;
use crate::TransferError;
use attraction::TargetSurface;
use linear_step::LinearStep;

pub use options::RegistrationOptions;

/// The vertices of `source` registered onto `target`. `rest` is the source aligned with the target;
/// `markers` are source vertices with their goals.
///
/// # Errors
/// If a mesh has no faces or a position is not finite, a marker names no vertex, or an option is
/// out of range.
pub fn register(
    source: &Mesh,
    target: &Mesh,
    rest: Vec<DVec3>,
    markers: &[(u32, DVec3)],
    options: &RegistrationOptions,
) -> Result<Vec<DVec3>, TransferError> {
    options.check()?;
    for &(vertex, _) in markers {
        source.require_vertex(vertex as usize)?;
    }

    let rest = source.posed(rest)?;
    let mut linear = LinearStep::new(&rest)?;
    let surface = TargetSurface::new(target, linear.mean_area)?;
    let mut positions = rest.positions().to_vec();
    if options.marker_start && !markers.is_empty() {
        positions = fit_markers(&rest, &mut linear, markers, options, surface.size)?;
    }

    let boundary = Boundary::of(source);
    for step in 0..options.steps {
        // The markers give way to the closest points while the stiffness decreases.
        let [first_share, last_share] = options.marker_shares;
        let share = annealed(first_share, last_share, step, options.steps);
        let mut attractions = linear.marker_attractions(markers, share);

        let moved = rest.posed(positions.clone())?;
        let length = annealed(
            options.first_length,
            options.last_length,
            step,
            options.steps,
        ) * surface.size;
        let stride = stride_for(length, linear.mean_area, positions.len());
        let masses = &linear.masses;
        attractions
            .extend(surface.attract_source_vertices(&moved, masses, &boundary, stride, options));
        if options.from_target > 0.0 {
            attractions
                .extend(surface.attract_to_target_vertices(&moved, &boundary, stride, options)?);
        }
        positions = linear.solve(&positions, length, &attractions)?;
    }
    Ok(positions)
}

/// The source deformed by the markers only, at the first stiffness.
fn fit_markers(
    rest: &Mesh,
    linear: &mut LinearStep,
    markers: &[(u32, DVec3)],
    options: &RegistrationOptions,
    size: f64,
) -> Result<Vec<DVec3>, TransferError> {
    let mut positions = rest.positions().to_vec();
    let attractions = linear.marker_attractions(markers, options.marker_shares[0]);
    // Twice: the second solve has the local rotations of the first.
    for _ in 0..2 {
        positions = linear.solve(&positions, options.first_length * size, &attractions)?;
    }

    let marked: Vec<u32> = markers.iter().map(|&(vertex, _)| vertex).collect();
    carry_loose_parts(rest, &marked, &mut positions)?;
    Ok(positions)
}

/// Of how many vertices one is attracted: a stiff surface needs few, which represent the others.
///
/// With a mean distance `h` of vertices, one in `(ℓ / 8h)²` has eight within each length `ℓ`; a
/// thousand are always kept.
fn stride_for(length: f64, mean_area: f64, vertices: usize) -> usize {
    let by_stiffness = length * length / (64.0 * mean_area);
    let by_count = vertices as f64 / 1000.0;
    (by_stiffness.min(by_count) as usize).max(1)
}

/// Geometric interpolation over the steps; the last value if there is one step only.
fn annealed(first: f64, last: f64, step: usize, steps: usize) -> f64 {
    let progress = if steps > 1 {
        step as f64 / (steps - 1) as f64
    } else {
        1.0
    };
    first * (last / first).powf(progress)
}

#[cfg(test)]
mod tests;
