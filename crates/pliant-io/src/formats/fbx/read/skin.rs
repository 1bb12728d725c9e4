//! FBX skins: the bones that the vertices of a mesh follow.
//!
//! **Equation.** With the transform `Wⱼ(t)` of a bone in the scene, the matrix `Bⱼ` from the stored
//! geometry to the bone, and weights `w`:
//!
//! ```text
//! v(t) = Σⱼ wⱼ Wⱼ(t) Bⱼ p        p: the stored position, moved by targets
//! ```
//!
//! **Method.** A cluster also stores the transform `Lⱼ` of its bone in the bind pose. The neutral
//! is the bind pose in the scene, `G p` with `G = Lⱼ Bⱼ`. A joint moves it by `Wⱼ(t) Nⱼ` with
//! `Nⱼ = Bⱼ G⁻¹`.
//!
//! **Source.** ufbx, documentation of `ufbx_skin_deformer`; the rules of `ufbx_evaluate_scene`.
//!
//! **Departures.** Of several skins of a mesh, the first counts. Weights are normalised to sum 1,
//! negative ones are dropped. A vertex without weights follows the node of its mesh, which is then
//! a joint.

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::Influence;

use super::{affine, one_line, vector};
use crate::ReadError;
use crate::parse::budget::Budget;

/// Chosen: how far two bind poses of a bone may place a mesh apart, relative to the diagonal of the
/// mesh, and still be one joint. Exporters round them to single precision.
const SAME_JOINT: f64 = 5e-6;

/// Chosen: a placement this near the identity is the identity, but for rounding.
const STORED: f64 = 1e-12;

/// A mesh bound to bones.
pub(super) struct BoundMesh<'a> {
    /// `G`: the transformation from the stored vertices to the neutral in the scene.
    pub(super) scene_from_mesh: DAffine3,
    pub(super) bones: Vec<Bone<'a>>,
    /// The bones of each vertex, as indices to `bones`, with weights that sum to 1.
    pub(super) influences: Vec<Vec<Influence>>,
    /// Corners of the bounding box of the neutral.
    corners: [DVec3; 8],
}

/// A bone of a mesh, or the mesh node itself for vertices without weights.
#[derive(Clone, Copy)]
pub(super) struct Bone<'a> {
    pub(super) node: &'a ufbx::Node,
    /// `Nⱼ`.
    pub(super) bone_from_neutral: DAffine3,
    pub(super) is_cluster: bool,
}

/// The skin that moves a mesh as joints; `None` if it has none.
pub(super) fn deformer(mesh: &ufbx::Mesh) -> Option<&ufbx::SkinDeformer> {
    let skin = mesh.skin_deformers.iter().next()?;
    let moves = skin.clusters.iter().any(|c| c.bone_node.is_some());
    moves.then_some(&**skin)
}

/// Whether dual quaternions blend the bones of a mesh, which joints of a skin cannot express.
pub(super) fn is_dual_quaternion(skin: &ufbx::SkinDeformer) -> bool {
    skin.vertices.iter().any(|vertex| vertex.dq_weight > 0.0)
}

impl<'a> BoundMesh<'a> {
    /// Binds the mesh at `node` to the bones of `skin`.
    pub(super) fn read(
        node: &'a ufbx::Node,
        mesh: &'a ufbx::Mesh,
        skin: &'a ufbx::SkinDeformer,
        budget: &Budget,
        warnings: &mut Vec<String>,
    ) -> Result<Self, ReadError> {
        let numbers = skin.weights.len().saturating_mul(2);
        let numbers = numbers.saturating_add(mesh.num_vertices.saturating_mul(4));
        let numbers = numbers.saturating_add(skin.clusters.len().saturating_mul(32));
        budget.spend(numbers, "the skins of the meshes")?;

        let scene_from_mesh = bind_placement(node, skin);
        let neutral_to_mesh = scene_from_mesh.inverse();
        let mut bones = Vec::new();
        let mut bone_of_cluster = Vec::with_capacity(skin.clusters.len());
        for cluster in &skin.clusters {
            bone_of_cluster.push(cluster.bone_node.as_ref().map(|_| bones.len() as u32));
            bones.extend(cluster.bone_node.as_ref().map(|bone| Bone {
                node: bone,
                bone_from_neutral: affine(&cluster.geometry_to_bone) * neutral_to_mesh,
                is_cluster: true,
            }));
        }

        let read = Influences::of(mesh, skin, &bone_of_cluster, bones.len() as u32);
        if read.unweighted > 0 {
            // The rule of the format's own library: such a vertex follows the first node.
            let node = mesh.element.instances.iter().next().map_or(node, |n| n);
            bones.push(Bone {
                node,
                bone_from_neutral: affine(&node.geometry_to_node) * neutral_to_mesh,
                is_cluster: false,
            });
        }

        read.warn(node, mesh, warnings);
        let positions = mesh.vertices.iter().map(vector);
        Ok(Self {
            scene_from_mesh,
            bones,
            influences: read.influences,
            corners: box_corners(positions.map(|p| scene_from_mesh.transform_point3(p))),
        })
    }

    /// How far apart two transformations place the mesh, relative to its diagonal.
    pub(super) fn distance(&self, a: &DAffine3, b: &DAffine3) -> f64 {
        let diagonal = self.corners[0].distance(self.corners[7]);
        let apart = self
            .corners
            .iter()
            .map(|&p| a.transform_point3(p).distance(b.transform_point3(p)))
            .fold(0.0, f64::max);
        if apart == 0.0 { 0.0 } else { apart / diagonal }
    }

    /// Whether two bones are one joint for this mesh.
    pub(super) fn is_same_joint(&self, a: &Bone<'_>, b: &Bone<'_>) -> bool {
        if !std::ptr::eq(a.node, b.node) {
            return false;
        }
        let there_and_back = a.bone_from_neutral.inverse() * b.bone_from_neutral;
        a.bone_from_neutral == b.bone_from_neutral
            || self.distance(&there_and_back, &DAffine3::IDENTITY) <= SAME_JOINT
    }
}

/// `G`, from the cluster with the most weights; the rest pose if the bind pose cannot be used.
fn bind_placement(node: &ufbx::Node, skin: &ufbx::SkinDeformer) -> DAffine3 {
    let bound = skin.clusters.iter().filter(|c| c.bone_node.is_some());
    let heaviest = bound.reduce(|best, c| {
        if c.num_weights > best.num_weights {
            c
        } else {
            best
        }
    });

    let rest = affine(&node.geometry_to_world);
    let bind = heaviest.map(|c| affine(&c.bind_to_world) * affine(&c.geometry_to_bone));
    let usable = |m: &DAffine3| m.is_finite() && m.inverse().is_finite();
    let placement = [bind.unwrap_or(rest), rest].into_iter().find(usable);

    // A mesh that was bound where it is stored keeps its bits.
    let is_stored = |m: &DAffine3| {
        let size = m.translation.abs().max_element().max(1.0);
        m.abs_diff_eq(DAffine3::IDENTITY, STORED * size)
    };
    placement
        .filter(|m| !is_stored(m))
        .unwrap_or(DAffine3::IDENTITY)
}

/// The bones of each vertex.
struct Influences {
    influences: Vec<Vec<Influence>>,
    unweighted: usize,
    dropped: usize,
}

impl Influences {
    /// Reads the weights; vertices without any follow the bone `fallback`.
    fn of(
        mesh: &ufbx::Mesh,
        skin: &ufbx::SkinDeformer,
        bone_of_cluster: &[Option<u32>],
        fallback: u32,
    ) -> Self {
        let mut read = Self {
            influences: Vec::with_capacity(mesh.num_vertices),
            unweighted: 0,
            dropped: 0,
        };

        for vertex in 0..mesh.num_vertices {
            let mut own = read.weights(skin, vertex, bone_of_cluster);
            let sum: f64 = own.iter().map(|influence| influence.weight).sum();
            for influence in &mut own {
                influence.weight /= sum;
            }

            if sum <= 0.0 {
                read.unweighted += 1;
                own = vec![Influence {
                    bone: fallback,
                    weight: 1.0,
                }];
            }
            read.influences.push(own);
        }

        read
    }

    /// The positive weights of a vertex, as stored.
    fn weights(
        &mut self,
        skin: &ufbx::SkinDeformer,
        vertex: usize,
        bone_of_cluster: &[Option<u32>],
    ) -> Vec<Influence> {
        let Some(listed) = skin.vertices.get(vertex) else {
            return Vec::new();
        };
        let begin = listed.weight_begin as usize;
        let end = begin.saturating_add(listed.num_weights as usize);

        let mut own: Vec<Influence> = Vec::new();
        for stored in skin.weights.get(begin..end).unwrap_or_default() {
            let cluster = stored.cluster_index as usize;
            let Some(&Some(bone)) = bone_of_cluster.get(cluster) else {
                continue;
            };
            if stored.weight > 0.0 && stored.weight.is_finite() {
                own.push(Influence {
                    bone,
                    weight: stored.weight,
                });
            } else if stored.weight != 0.0 {
                self.dropped += 1;
            }
        }

        own
    }

    fn warn(&self, node: &ufbx::Node, mesh: &ufbx::Mesh, warnings: &mut Vec<String>) {
        let name = one_line(&node.element.name);
        if self.dropped > 0 {
            warnings.push(format!(
                "mesh '{name}': {} weights that are negative or not finite were skipped",
                self.dropped
            ));
        }

        let skins = mesh.skin_deformers.len();
        if skins > 1 {
            warnings.push(format!(
                "mesh '{name}': {skins} skins move it, and only the first is read"
            ));
        }
    }
}

/// The corners of the bounding box of some points, the least first and the greatest last.
fn box_corners(points: impl Iterator<Item = DVec3>) -> [DVec3; 8] {
    let (least, greatest) = points.filter(|p| p.is_finite()).fold(
        (DVec3::INFINITY, DVec3::NEG_INFINITY),
        |(least, greatest), p| (least.min(p), greatest.max(p)),
    );
    if !least.is_finite() {
        return [DVec3::ZERO; 8];
    }
    std::array::from_fn(|k| {
        let pick = |axis: usize| {
            if k >> axis & 1 == 0 {
                least[axis]
            } else {
                greatest[axis]
            }
        };
        DVec3::new(pick(0), pick(1), pick(2))
    })
}
