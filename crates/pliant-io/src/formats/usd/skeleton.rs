//! `Skeleton` and `SkelAnimation` prims, and the meshes that follow them.
//!
//! **Problem.** A skinned mesh has its points in the space of its bind pose; joints place it in the
//! scene, its own transform does not.
//!
//! **Equation.** With the transform `S(t)` of the skeleton in the scene, the transform `Jⱼ(t)` of a
//! joint in the skeleton, its bind transform `Bⱼ`, the bind transform `G` of the mesh and weights `w`:
//!
//! ```text
//! v(t) = Σⱼ wⱼ S(t) Jⱼ(t) Bⱼ⁻¹ G p        p: the stored point, moved by blend shapes
//! ```
//!
//! **Method.** The neutral of the object is `K G p` with `K = S Jⱼ Bⱼ⁻¹` of the first root joint at
//! rest; if the skeleton rests in its bind pose, `K` is the same for all joints. A joint then moves
//! the neutral by `S(t) Jⱼ(t) Bⱼ⁻¹ K⁻¹`.
//!
//! **Source.** Pixar, OpenUSD documentation, "UsdSkel: Skeleton and Skinning Schemas".
//!
//! **Departures.** Weights are normalised to sum 1. Of the bind transform of a joint, the origin and
//! the nearest rotation are kept. Skinning is linear.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use pliant_mesh::Polar;
use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};
use pliant_rig::{Influence, Joint, Skeleton, Skin};

use super::layer::{Prim, Property, Value, entry};
use super::mesh::{index_list, prim_error, rest_value};
use super::stage::{Node, Stage, Timeline, ends, numbers_at, samples_around};
use super::transform;
use crate::{ReadError, SkinBinding};

/// Chosen: how far the bind pose and the rest pose may differ, relative to the largest entry of the
/// matrices. Exporters round them to single precision.
const BIND_TOLERANCE: f64 = 1e-3;

/// Chosen: how far the sum of weights may be from 1 without a warning.
const SUM_TOLERANCE: f64 = 0.02;

/// The numbers that a joint takes while it is read: matrices, names and records.
const NUMBERS_PER_JOINT: usize = 96;

/// A skeleton with its bind pose and its animation.
pub(super) struct BoundSkeleton {
    /// Its prim.
    node: usize,
    /// The paths of its joints.
    tokens: Vec<String>,
    skeleton: Arc<Skeleton>,
    /// The joints, each after its parent.
    order: Vec<usize>,
    /// The transform of each joint in its parent, at rest.
    rest: Vec<DAffine3>,
    /// `K`: the transformation from the bind space to the neutral in the scene.
    scene_from_bind: DAffine3,
    /// `Bⱼ⁻¹ K⁻¹`, joint by joint.
    from_neutral: Vec<DAffine3>,
    animation: Option<JointAnimation>,
    /// Whether it rests in its bind pose.
    rests_as_bound: bool,
}

/// The animation of joints.
struct JointAnimation {
    /// Its prim.
    node: usize,
    /// For each joint of the skeleton, its index in the animation.
    index_of: Vec<Option<usize>>,
}

/// A mesh that follows joints.
pub(super) struct SkinnedMesh {
    pub(super) skeleton: Rc<BoundSkeleton>,
    pub(super) binding: SkinBinding,
    /// `K G`: the transformation from the stored points to the neutral in the scene.
    pub(super) scene_from_mesh: DAffine3,
}

/// The skeletons of a stage, each read once.
#[derive(Default)]
pub(super) struct Skeletons {
    known: HashMap<usize, Option<Rc<BoundSkeleton>>>,
}

impl Skeletons {
    /// The skin of mesh `node`; `None` if it follows no joints.
    pub(super) fn skin_of(
        &mut self,
        stage: &Stage<'_>,
        node: usize,
        vertices: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Option<SkinnedMesh>, ReadError> {
        let indices = inherited_property(stage, node, "primvars:skel:jointIndices");
        let weights = inherited_property(stage, node, "primvars:skel:jointWeights");
        let (Some(indices), Some(weights)) = (indices, weights) else {
            return Ok(None);
        };

        let path = &stage.nodes[node].path;
        let prim = stage.inherited(node, "skel:skeleton");
        let Some(prim) = prim.filter(|&k| stage.nodes[k].prim.kind == "Skeleton") else {
            warnings.push(format!(
                "mesh '{path}' follows joints but names no skeleton; it is read without them"
            ));
            return Ok(None);
        };
        if !is_below_skeletal_root(stage, node) {
            warnings.push(format!(
                "mesh '{path}' follows joints but is not below a SkelRoot; it is read without them"
            ));
            return Ok(None);
        }

        let skeleton = match self.known.get(&prim) {
            Some(known) => known.clone(),
            None => {
                let new = BoundSkeleton::read(stage, prim, warnings)?.map(Rc::new);
                self.known.insert(prim, new.clone());
                new
            }
        };
        let Some(skeleton) = skeleton else {
            return Ok(None);
        };

        let influences = StoredInfluences::of(stage, node, indices, weights)?;
        let skin = influences.skin(stage, node, &skeleton, vertices, warnings)?;
        let bind = inherited_property(stage, node, "primvars:skel:geomBindTransform");
        let bind = bind.and_then(rest_value).and_then(Value::numbers);
        let bind = bind.and_then(matrix).unwrap_or(DAffine3::IDENTITY);
        Ok(Some(SkinnedMesh {
            binding: SkinBinding {
                skin: Arc::new(skin),
                skeleton: Arc::clone(&skeleton.skeleton),
            },
            scene_from_mesh: skeleton.scene_from_bind * bind,
            skeleton,
        }))
    }
}

/// Whether a prim is at or below a `SkelRoot`, below which alone skeletons and blend shapes deform.
pub(super) fn is_below_skeletal_root(stage: &Stage<'_>, node: usize) -> bool {
    stage
        .ancestors(node)
        .any(|k| stage.nodes[k].prim.kind == "SkelRoot")
}

/// The property of a prim, or of its nearest ancestor that has a value of it.
fn inherited_property<'a>(stage: &Stage<'a>, node: usize, name: &str) -> Option<&'a Property> {
    stage.ancestors(node).find_map(|k| {
        let mut properties = stage.nodes[k].prim.properties.iter();
        properties.find(|p| p.name == name && rest_value(p).is_some())
    })
}

/// A matrix of 16 numbers that can be inverted.
fn matrix(numbers: &[f64]) -> Option<DAffine3> {
    let columns: [f64; 16] = numbers.try_into().ok()?;
    let affine = DAffine3::from_mat4(DMat4::from_cols_array(&columns));
    (affine.is_finite() && affine.inverse().is_finite()).then_some(affine)
}

/// Matrices that can be inverted, one for each of `count` joints.
fn matrices(prim: &Prim, name: &str, count: usize) -> Option<Vec<DAffine3>> {
    let numbers = prim.rest(name)?.numbers()?;
    let all: Option<Vec<DAffine3>> = numbers.chunks_exact(16).map(matrix).collect();
    all.filter(|all| all.len() == count && numbers.len() == 16 * count)
}

impl BoundSkeleton {
    /// Reads a skeleton; `None`, with a warning, if it has no usable bind pose.
    fn read(
        stage: &Stage<'_>,
        node: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, ReadError> {
        let Node { path, prim, .. } = &stage.nodes[node];
        let tokens = prim.rest("joints").map_or(&[][..], Value::texts);
        let count = tokens.len();
        stage.spend(count.saturating_mul(NUMBERS_PER_JOINT), "the joints")?;

        let Some(bind) = matrices(prim, "bindTransforms", count).filter(|_| count > 0) else {
            warnings.push(format!(
                "skeleton '{path}' has no invertible bind transform for each of its {count} joints; its meshes are read without it"
            ));
            return Ok(None);
        };
        let parents = parents(tokens);
        let rest = matrices(prim, "restTransforms", count).unwrap_or_else(|| {
            // Without a rest pose, the bind pose is the best guess.
            let local = |k: usize| match parents[k] {
                Some(parent) => bind[parent].inverse() * bind[k],
                None => bind[k],
            };
            (0..count).map(local).collect()
        });

        // The path of a parent is shorter than those of its children.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&k| tokens[k].len());
        let in_scene = transform::scene_from(stage, node, None);
        let worlds = worlds(in_scene, &rest, &parents, &order);
        let bound: Vec<DAffine3> = (0..count).map(|k| worlds[k] * bind[k].inverse()).collect();
        let scene_from_bind = usable_transform(bound[order[0]]);

        let rests_as_bound = bound.iter().all(|other| near(other, &scene_from_bind));
        let names = prim.rest("jointNames").map_or(&[][..], Value::texts);
        let joints = (0..count).map(|k| {
            let placed = scene_from_bind * bind[k];
            let last = tokens[k].rsplit('/').next().unwrap_or_default();
            Joint {
                name: names.get(k).map_or(last, String::as_str).to_owned(),
                origin: placed.translation,
                axes: rotation(&placed),
                parent: parents[k],
            }
        });

        let bound_from_scene = scene_from_bind.inverse();
        Ok(Some(Self {
            node,
            tokens: tokens.to_vec(),
            skeleton: Arc::new(Skeleton::new(joints.collect())?),
            order,
            scene_from_bind,
            from_neutral: bind
                .iter()
                .map(|bind| bind.inverse() * bound_from_scene)
                .collect(),
            animation: JointAnimation::of(stage, node, tokens)?,
            rest,
            rests_as_bound,
        }))
    }

    /// Whether the meshes are read in another pose than the file rests in.
    pub(super) fn rests_in_other_pose(&self) -> bool {
        !self.rests_as_bound
    }

    /// The first and last time codes of everything that moves its joints; one code if they are only
    /// posed.
    pub(super) fn codes(&self, stage: &Stage<'_>) -> Vec<f64> {
        let mut codes = transform::codes(stage, self.node);
        if let Some(animation) = &self.animation {
            let prim = stage.nodes[animation.node].prim;
            for name in COMPONENTS {
                match prim.samples(name) {
                    Some(samples) => codes.extend(ends(samples)),
                    None => codes.extend(prim.value(name).map(|_| 0.0)),
                }
            }
        }
        codes
    }

    /// The prim of the skeleton.
    pub(super) fn node(&self) -> usize {
        self.node
    }

    /// The transformation of the neutral by each joint, frame by frame.
    pub(super) fn motions(
        &self,
        stage: &Stage<'_>,
        timeline: Timeline,
    ) -> Result<Vec<Vec<DAffine3>>, ReadError> {
        let joints = self.rest.len();
        let numbers_per_frame = transform::cost(stage, self.node) + 40 * joints;
        stage.spend(
            timeline.frames.saturating_mul(numbers_per_frame),
            "the motions of the joints",
        )?;

        let parents: Vec<Option<usize>> = self.skeleton.joints().iter().map(|j| j.parent).collect();
        let mut motions = Vec::with_capacity(timeline.frames);
        for code in timeline.codes() {
            let locals = match &self.animation {
                Some(animation) => animation.locals(stage, code, &self.rest),
                None => self.rest.clone(),
            };
            let in_scene = transform::scene_from(stage, self.node, Some(code));
            let worlds = worlds(in_scene, &locals, &parents, &self.order);
            let moved = worlds.iter().zip(&self.from_neutral);
            motions.push(moved.map(|(world, back)| *world * *back).collect());
        }
        Ok(motions)
    }
}

/// The properties of an animation that move joints.
const COMPONENTS: [&str; 3] = ["translations", "rotations", "scales"];

impl JointAnimation {
    /// The animation that the skeleton or a prim above it names, if it moves joints.
    fn of(
        stage: &Stage<'_>,
        skeleton: usize,
        tokens: &[String],
    ) -> Result<Option<Self>, ReadError> {
        let Some(node) = stage.inherited(skeleton, "skel:animationSource") else {
            return Ok(None);
        };
        let own = stage.nodes[node]
            .prim
            .rest("joints")
            .map_or(&[][..], Value::texts);
        stage.spend(
            own.len().saturating_add(tokens.len()),
            "the animated joints",
        )?;
        let index_of: HashMap<&str, usize> = own.iter().map(String::as_str).zip(0..).collect();
        let index_of: Vec<_> = tokens
            .iter()
            .map(|token| index_of.get(token.as_str()).copied())
            .collect();
        let moves = index_of.iter().any(Option::is_some);
        Ok(moves.then_some(Self { node, index_of }))
    }

    /// The transform of each joint in its parent at a time code; at rest what is not animated.
    fn locals(&self, stage: &Stage<'_>, code: f64, rest: &[DAffine3]) -> Vec<DAffine3> {
        let prim = stage.nodes[self.node].prim;
        let [translations, rotations, scales] = COMPONENTS.map(|name| match name {
            "rotations" => rotations_at(prim, name, code),
            _ => numbers_at(prim, name, Some(code)),
        });
        let vector = |values: &Option<Vec<f64>>, k: usize| {
            let entry = values.as_ref()?.get(3 * k..3 * k + 3)?;
            Some(DVec3::from_slice(entry)).filter(|v| v.is_finite())
        };

        let mut locals = Vec::with_capacity(rest.len());
        for (joint, rest) in rest.iter().enumerate() {
            let Some(k) = self.index_of[joint] else {
                locals.push(*rest);
                continue;
            };
            let (scale, rotation, translation) = rest.to_scale_rotation_translation();
            let turned = rotations.as_ref().and_then(|all| all.get(4 * k..4 * k + 4));
            locals.push(DAffine3::from_scale_rotation_translation(
                vector(&scales, k).unwrap_or(scale),
                turned.and_then(quaternion).unwrap_or(rotation),
                vector(&translations, k).unwrap_or(translation),
            ));
        }
        locals
    }
}

/// The rotations at a time code, along great circles between samples.
fn rotations_at(prim: &Prim, name: &str, code: f64) -> Option<Vec<f64>> {
    let Some(samples) = prim.samples(name) else {
        return numbers_at(prim, name, Some(code));
    };
    let (from, to, along) = samples_around(samples, code);
    let (from, to) = (from.numbers()?, to.numbers()?);
    if from.len() != to.len() || along == 0.0 {
        return Some(from.to_vec());
    }

    let mut between = Vec::with_capacity(from.len());
    for (a, b) in from.chunks_exact(4).zip(to.chunks_exact(4)) {
        let rotation = match (quaternion(a), quaternion(b)) {
            (Some(a), Some(b)) => a.slerp(b, along),
            _ => DQuat::IDENTITY,
        };
        between.extend([rotation.w, rotation.x, rotation.y, rotation.z]);
    }
    Some(between)
}

/// A unit quaternion from four numbers, the real part first.
fn quaternion(numbers: &[f64]) -> Option<DQuat> {
    let &[w, x, y, z] = numbers else { return None };
    let quaternion = DQuat::from_xyzw(x, y, z, w);
    let length = quaternion.length();
    (length > 0.0 && length.is_finite()).then(|| quaternion / length)
}

/// For each joint, the joint at the nearest path above its own.
fn parents(tokens: &[String]) -> Vec<Option<usize>> {
    let mut index_of = HashMap::new();
    for (k, token) in tokens.iter().enumerate() {
        index_of.entry(token.as_str()).or_insert(k);
    }
    let above = |token: &String| {
        std::iter::successors(Some(token.as_str()), |path| {
            path.rsplit_once('/').map(|(above, _)| above)
        })
        .skip(1)
        .find_map(|path| index_of.get(path).copied())
    };
    tokens.iter().map(above).collect()
}

/// The transforms of all joints in the scene; `order` has each joint after its parent.
fn worlds(
    in_scene: DAffine3,
    locals: &[DAffine3],
    parents: &[Option<usize>],
    order: &[usize],
) -> Vec<DAffine3> {
    let mut worlds = vec![DAffine3::IDENTITY; locals.len()];
    for &joint in order {
        let above = parents[joint].map_or(in_scene, |parent| worlds[parent]);
        worlds[joint] = above * locals[joint];
    }
    worlds
}

/// A transformation that can be inverted; the identity for one that is near it, flat or infinite.
fn usable_transform(transform: DAffine3) -> DAffine3 {
    let invertible = transform.is_finite() && transform.inverse().is_finite();
    if !invertible || near(&transform, &DAffine3::IDENTITY) {
        DAffine3::IDENTITY
    } else {
        transform
    }
}

/// Whether two transforms are equal up to the tolerance.
fn near(a: &DAffine3, b: &DAffine3) -> bool {
    let size = |m: &DAffine3| {
        let entries = m.to_cols_array();
        entries.iter().fold(0.0_f64, |most, x| most.max(x.abs()))
    };
    a.abs_diff_eq(*b, BIND_TOLERANCE * size(a).max(size(b)))
}

/// The rotation nearest to the axes of a joint.
fn rotation(bind: &DAffine3) -> DQuat {
    let rotation = DQuat::from_mat3(&Polar::of(bind.matrix3).rotation);
    if rotation.is_finite() {
        rotation.normalize()
    } else {
        DQuat::IDENTITY
    }
}

/// The joints and weights of a mesh as stored.
struct StoredInfluences<'a> {
    joints: Vec<u32>,
    weights: &'a [f64],
    /// How many joints each vertex lists.
    per_vertex: usize,
    /// Whether all vertices follow the same joints.
    rigid: bool,
    /// The joints that the indices mean; empty for those of the skeleton.
    names: &'a [String],
}

impl<'a> StoredInfluences<'a> {
    fn of(
        stage: &Stage<'a>,
        node: usize,
        joints: &'a Property,
        weights: &'a Property,
    ) -> Result<Self, ReadError> {
        let numbers = |property: &'a Property| {
            rest_value(property)
                .and_then(Value::numbers)
                .unwrap_or_default()
        };
        let size = entry(&joints.metadata, "elementSize").and_then(Value::number);
        let interpolation = entry(&joints.metadata, "interpolation").and_then(Value::text);
        let rigid = interpolation == Some("constant");

        stage.spend(numbers(joints).len(), "the joint indices")?;
        let indices = index_list(numbers(joints)).ok_or_else(|| {
            let what = "has joint indices that are not whole numbers from 0 on";
            prim_error(&stage.nodes[node], what)
        })?;
        let names = inherited_property(stage, node, "skel:joints");
        Ok(Self {
            per_vertex: match size {
                _ if rigid => indices.len(),
                Some(size) if size >= 1.0 => size as usize,
                _ => 1,
            },
            joints: indices,
            weights: numbers(weights),
            rigid,
            names: names.and_then(rest_value).map_or(&[], Value::texts),
        })
    }

    fn skin(
        &self,
        stage: &Stage<'_>,
        node: usize,
        skeleton: &BoundSkeleton,
        vertices: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Skin, ReadError> {
        let prim = &stage.nodes[node];
        let lists = if self.rigid { 1 } else { vertices };
        let expected = lists.saturating_mul(self.per_vertex);
        if self.joints.len() != expected || self.weights.len() != expected {
            return Err(prim_error(
                prim,
                format!(
                    "has {} joint indices and {} weights instead of {expected}; export the file again",
                    self.joints.len(),
                    self.weights.len()
                ),
            ));
        }
        stage.spend(
            vertices.saturating_mul(2 * self.per_vertex + 1),
            "the joints of the vertices",
        )?;

        let joint_of = self.joints_of_skeleton(stage, node, skeleton)?;
        let mut influences = Vec::with_capacity(vertices);
        let mut corrected = [0; 2];
        for vertex in 0..vertices {
            let list = if self.rigid { 0 } else { vertex };
            let own = list * self.per_vertex..(list + 1) * self.per_vertex;
            let pairs = self.joints[own.clone()].iter().zip(&self.weights[own]);
            let (own, sum) = normalised(pairs, &joint_of).map_err(|why| {
                prim_error(
                    prim,
                    format!("has vertex {vertex}, which {why}; export the file again"),
                )
            })?;
            corrected[0] += usize::from(sum != 0.0 && (sum - 1.0).abs() > SUM_TOLERANCE);
            corrected[1] += usize::from(sum == 0.0);
            influences.push(own);
        }

        for (count, what) in corrected.into_iter().zip([
            "have weights that do not sum to 1; they were made to",
            "follow no joint; they follow the first",
        ]) {
            if count > 0 {
                warnings.push(format!("{count} vertices of prim '{}' {what}", prim.path));
            }
        }
        Ok(Skin::new(skeleton.tokens.len(), influences)?)
    }

    /// For each joint index of the mesh, the joint of the skeleton.
    fn joints_of_skeleton(
        &self,
        stage: &Stage<'_>,
        node: usize,
        skeleton: &BoundSkeleton,
    ) -> Result<Vec<usize>, ReadError> {
        if self.names.is_empty() {
            return Ok((0..skeleton.tokens.len()).collect());
        }

        let known: HashMap<&str, usize> = skeleton
            .tokens
            .iter()
            .map(String::as_str)
            .zip(0..)
            .collect();
        stage.spend(self.names.len() + known.len(), "the joints of a mesh")?;
        let joint = |name: &String| {
            known.get(name.as_str()).copied().ok_or_else(|| {
                let what = format!("names the joint '{name}', which its skeleton has not");
                prim_error(&stage.nodes[node], what)
            })
        };
        self.names.iter().map(joint).collect()
    }
}

/// The influences of a vertex, normalised to sum 1, and their sum before; or what is wrong.
fn normalised<'a>(
    pairs: impl Iterator<Item = (&'a u32, &'a f64)>,
    joint_of: &[usize],
) -> Result<(Vec<Influence>, f64), String> {
    let mut own: Vec<Influence> = Vec::new();
    for (&index, &weight) in pairs {
        // A weight that is not finite is noted for the whole stage.
        if !weight.is_finite() {
            continue;
        }
        if weight < 0.0 {
            return Err(format!("has the weight {weight}"));
        }
        let Some(&joint) = joint_of.get(index as usize) else {
            return Err(format!("follows joint {index} of {}", joint_of.len()));
        };
        // Lists are filled up with weights of zero; a joint may be listed twice.
        let bone = joint as u32;
        match own.iter_mut().find(|known| known.bone == bone) {
            _ if weight == 0.0 => {}
            Some(known) => known.weight += weight,
            None => own.push(Influence { bone, weight }),
        }
    }

    let sum: f64 = own.iter().map(|influence| influence.weight).sum();
    for influence in &mut own {
        influence.weight /= sum;
    }
    if own.is_empty() {
        own.push(Influence {
            bone: 0,
            weight: 1.0,
        });
    }
    Ok((own, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_joint_is_the_nearest_path_above() {
        let tokens = ["a/b/c", "a", "x", "a/d", "x/y/z/w"].map(String::from);
        assert_eq!(parents(&tokens), [Some(1), None, None, Some(1), Some(2)]);
    }

    #[test]
    fn weights_are_normalised_and_joints_merged() {
        let joints = [0, 1, 0, 1];
        let weights = [1.0, 0.5, 0.5, 0.0];
        let (own, sum) = normalised(joints.iter().zip(&weights), &[4, 7]).unwrap();
        assert_eq!(sum, 2.0);
        let found: Vec<_> = own.iter().map(|i| (i.bone, i.weight)).collect();
        assert_eq!(found, [(4, 0.75), (7, 0.25)]);

        let error = |joint: u32, weight: f64| {
            normalised([(&joint, &weight)].into_iter(), &[0]).unwrap_err()
        };
        assert!(error(0, -1.0).contains("weight -1"));
        assert!(error(3, 1.0).contains("joint 3 of 1"));
    }
}
