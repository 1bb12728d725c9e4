//! Skinning decomposition: bones, weights and bone motions that approximate a clip.
//!
//! - `options`: number of bones, influences, smoothness, rounds.
//! - `decomposition`: the result, and the whole method.
//! - `trajectories`: the clip, centred and scaled, with the positions of each vertex over time.
//! - `clustering`: initial bones by clustering of rigid motions.
//! - `rigid_moments`: sums from which rigid motions and their errors follow.
//! - `fit`: weights and motions in alternation, with extrapolation.
//! - `weights`: the weights of all vertices for given motions.
//! - `minimum_norm_point`: the sparse convex combination of least norm, for one vertex.
//! - `motions`: the motions of all bones for given weights.
//! - `correctives`: blendshape targets for the residual of the bones.
//! - `joints`: bones as a skeleton.
//!
//! **Problem.** Find bones, their motions in every frame and the weights of every vertex, so that
//! linear blend skinning approximates the examples, with few influences on each vertex.
//!
//! **Equation.** Eq. 1 of Huang et al. 2012, over all examples `i`:
//!
//! ```text
//! min Σᵢ Σᵥ |Σ_{j ∈ B(v)} wᵥⱼ Tⱼᵢ vʳ − vᵢ|²        w ≥ 0,  Σⱼ wᵥⱼ = 1,  |B(v)| ≤ K
//! ```
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, section 6.1; James and Twigg, "Skinning mesh animations", 2005; Le and Deng, "Smooth
//! skinning decomposition with rigid bones", 2012.
//!
//! **Departures.** Vertices instead of triangles are clustered, and the number of bones never
//! falls. Weights and motions are improved in alternation. Because the alternation alone converges
//! slowly, motions are extrapolated along their last step (Ang and Gillis, "Accelerating
//! nonnegative matrix factorization algorithms using extrapolation", 2019). A step that increases
//! the error is undone, so that the error never rises.

mod clustering;
mod correctives;
mod decomposition;
mod fit;
mod joints;
mod minimum_norm_point;
mod motions;
mod options;
mod rigid_moments;
mod trajectories;
mod weights;

pub use correctives::Correctives;
pub use decomposition::SkinningDecomposition;
pub use motions::BoneKind;
pub use options::SkinOptions;
