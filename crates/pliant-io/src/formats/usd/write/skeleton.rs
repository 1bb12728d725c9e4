//! Writer of skeletons, skins and the animations of joints and blend shapes.
//!
//! **Format.** A `Skeleton` prim lists its joints by paths, parents first, with bind and rest
//! transforms; its `SkelAnimation` moves joints and weights. The neutrals of the asset are in the
//! space of the scene, so that the skeletons and the bind transforms of the meshes are the identity, but
//! for the offset of a mesh far from the origin.
//!
//! **Method.** Objects that follow the same joints in the same motion share one skeleton, unless
//! blend shapes of the same name have other weights. What moves an object as a whole moves its joints
//! instead, because USD ignores the transform of a skinned mesh.
//!
//! **Departures.** Scales are of half precision in USD. Shear between joints is left out and
//! reported. A skinned mesh that also moves point by point is written as positions.

use std::collections::HashSet;

use pliant_mesh::glam::{DAffine3, DQuat, DVec3, Quat};
use pliant_rig::{Interpolation, Skeleton, WeightTrack};

use super::names::{PrimTree, SKELETON, valid_name};
use super::text::{list, matrix, quoted, singles, tuples};
use super::{Writer, code, frame_code};
use crate::{Animation, Asset, Motion, Object, Shape, SkinBinding};

/// Chosen: how far a transform may be from its scale, rotation and translation before shear is
/// reported, relative to its largest entry.
const SHEAR_TOLERANCE: f64 = 1e-4;

/// A `Skeleton` prim to write.
pub(super) struct SkeletonPrim {
    /// Its path.
    path: String,
    /// The objects that use it; the first one is written beside it.
    members: Vec<usize>,
    /// Its joints; `None` if it only carries weights of blend shapes.
    joints: Option<Joints>,
}

/// The joints of a skeleton in the order in which they are written: parents first.
struct Joints {
    tokens: Vec<String>,
    names: Vec<String>,
    /// For each joint of the asset, its place in this order.
    place_of: Vec<u32>,
    bind: Vec<DAffine3>,
    rest: Vec<DAffine3>,
    /// The transform of each joint in its parent, frame by frame; empty if no joint moves.
    frames: Vec<Vec<DAffine3>>,
}

/// The same asset in which skins that USD cannot animate are positions, and how many; `None` if
/// there are none.
pub(super) fn with_written_skins_only(asset: &Asset) -> Option<(Asset, usize)> {
    let clip = asset.clips.first()?;
    let is_unwritable = |motion: &&Motion| {
        let skin = asset
            .objects
            .get(motion.object)
            .and_then(|o| o.skin.as_ref());
        let track = motion.skin.as_ref().map(|track| &track.binding);
        let moves_points = matches!(motion.shape, Shape::Points(_));
        (skin.is_some() && moves_points) || (track.is_some() && track != skin)
    };
    let baked: Vec<Motion> = clip
        .motions
        .iter()
        .filter(is_unwritable)
        .map(|motion| asset.baked(clip, motion.object))
        .collect();
    if baked.is_empty() {
        return None;
    }

    let mut plain = asset.clone();
    let count = baked.len();
    for motion in baked {
        plain.objects[motion.object].skin = None;
        let motions = &mut plain.clips[0].motions;
        motions.retain(|other| other.object != motion.object);
        motions.push(motion);
    }
    Some((plain, count))
}

/// The skeletons of all objects, in the order of the tree.
pub(super) fn skeletons(asset: &Asset, tree: &PrimTree) -> Vec<SkeletonPrim> {
    let clip = asset.clips.first();
    let mut skeletons: Vec<SkeletonPrim> = Vec::new();
    for (index, path) in tree.object_paths() {
        let object = &asset.objects[index];
        if object.skin.is_none() && object.rig.targets().is_empty() {
            continue;
        }

        let shared = skeletons.iter_mut().find(|known| {
            known
                .members
                .iter()
                .all(|&other| can_share(asset, other, index))
        });
        match shared {
            Some(known) => known.members.push(index),
            None => skeletons.push(SkeletonPrim {
                path: format!("{path}{SKELETON}"),
                members: vec![index],
                joints: object.skin.as_ref().map(|skin| {
                    let motion = clip.and_then(|clip| motion_of(clip, index));
                    Joints::of(&skin.skeleton, clip.zip(motion))
                }),
            }),
        }
    }
    skeletons
}

fn motion_of(clip: &Animation, object: usize) -> Option<&Motion> {
    clip.motions.iter().find(|motion| motion.object == object)
}

/// The weights of an object over time.
fn track_of(motion: Option<&Motion>) -> Option<&WeightTrack> {
    match &motion?.shape {
        Shape::Weights(track) => Some(track),
        _ => None,
    }
}

/// Whether two objects follow the same joints in the same motion, and agree in the weights of their
/// blend shapes.
fn can_share(asset: &Asset, a: usize, b: usize) -> bool {
    let skeleton = |index: usize| {
        asset.objects[index]
            .skin
            .as_ref()
            .map(|skin| &skin.skeleton)
    };
    let (Some(first), Some(second)) = (skeleton(a), skeleton(b)) else {
        return false;
    };
    if first != second {
        return false;
    }
    let Some(clip) = asset.clips.first() else {
        return true;
    };

    let (first, second) = (motion_of(clip, a), motion_of(clip, b));
    let joints =
        |motion: Option<&'_ Motion>| motion.and_then(|m| m.skin.clone()).map(|s| s.motions);
    let placement = |motion: Option<&'_ Motion>| motion.and_then(|m| m.placement.clone());
    joints(first) == joints(second)
        && placement(first) == placement(second)
        && weights_agree(
            &asset.objects[a],
            track_of(first),
            &asset.objects[b],
            track_of(second),
        )
}

fn weights_agree(
    a: &Object,
    track_a: Option<&WeightTrack>,
    b: &Object,
    track_b: Option<&WeightTrack>,
) -> bool {
    let mut common = Vec::new();
    for (k, target) in a.rig.targets().iter().enumerate() {
        let mut others = b.rig.targets().iter();
        common.extend(
            others
                .position(|other| other.name == target.name)
                .map(|l| (k, l)),
        );
    }

    match (track_a, track_b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            let rows = || a.keys().iter().zip(b.keys());
            a.times_secs() == b.times_secs()
                && a.interpolation() == b.interpolation()
                && rows().all(|(a, b)| common.iter().all(|&(k, l)| a[k] == b[l]))
        }
        _ => common.is_empty(),
    }
}

impl Joints {
    fn of(skeleton: &Skeleton, moved: Option<(&Animation, &Motion)>) -> Self {
        let joints = skeleton.joints();
        let order = parents_first(skeleton);
        let mut place_of = vec![0; joints.len()];
        for (place, &joint) in order.iter().enumerate() {
            place_of[joint] = place as u32;
        }

        let mut tokens: Vec<String> = Vec::with_capacity(order.len());
        let mut taken = HashSet::new();
        for &joint in &order {
            let parent = joints[joint].parent.map(|parent| place_of[parent] as usize);
            let above = parent.map_or(String::new(), |parent| format!("{}/", tokens[parent]));
            let name = format!("{above}{}", valid_name(&joints[joint].name));
            let mut token = name.clone();
            let mut k = 0;
            while !taken.insert(token.clone()) {
                k += 1;
                token = format!("{name}_{k}");
            }
            tokens.push(token);
        }

        let binds: Vec<DAffine3> = joints.iter().map(|joint| joint.bind()).collect();
        let frames = moved.map_or_else(Vec::new, |(clip, motion)| {
            frames(skeleton, clip, motion, &order)
        });
        Self {
            names: order.iter().map(|&k| joints[k].name.clone()).collect(),
            tokens,
            place_of,
            rest: locals(skeleton, &binds, &order),
            bind: order.iter().map(|&k| binds[k]).collect(),
            frames,
        }
    }

    /// How many transforms of joints have shear, which translation, rotation and scale cannot give.
    fn sheared(&self) -> usize {
        let is_sheared = |local: &&DAffine3| {
            let (scale, rotation, translation) = local.to_scale_rotation_translation();
            let again = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
            let entries = local.to_cols_array();
            let size = entries.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            !again.abs_diff_eq(**local, SHEAR_TOLERANCE * size)
        };
        self.frames.iter().flatten().filter(is_sheared).count()
    }
}

/// The joints, each after its parent; otherwise in their order.
fn parents_first(skeleton: &Skeleton) -> Vec<usize> {
    let joints = skeleton.joints();
    let mut order = Vec::with_capacity(joints.len());
    let mut placed = vec![false; joints.len()];
    for joint in 0..joints.len() {
        let above = std::iter::successors(Some(joint), |&k| joints[k].parent);
        let mut pending: Vec<usize> = above.take_while(|&k| !placed[k]).collect();
        while let Some(next) = pending.pop() {
            placed[next] = true;
            order.push(next);
        }
    }
    order
}

/// The transform of each joint in its parent, in the written order, from those in the scene.
fn locals(skeleton: &Skeleton, worlds: &[DAffine3], order: &[usize]) -> Vec<DAffine3> {
    let local = |&joint: &usize| {
        let parent = skeleton.joints()[joint].parent;
        let above = parent.map_or(DAffine3::IDENTITY, |parent| worlds[parent]);
        let local = above.inverse() * worlds[joint];
        // Below a joint that is scaled to a point, every transform gives that point.
        if local.is_finite() {
            local
        } else {
            DAffine3::IDENTITY
        }
    };
    order.iter().map(local).collect()
}

/// The transforms of the joints of an object, frame by frame; empty if they rest.
fn frames(
    skeleton: &Skeleton,
    clip: &Animation,
    motion: &Motion,
    order: &[usize],
) -> Vec<Vec<DAffine3>> {
    if motion.skin.is_none() && motion.placement.is_none() {
        return Vec::new();
    }

    let mut frames = Vec::with_capacity(clip.frame_count);
    for frame in 0..clip.frame_count {
        let placement = motion.placement.as_ref();
        let placed = placement.map_or(DAffine3::IDENTITY, |track| track.at(clip.time_secs(frame)));
        let moved = |joint: usize| match &motion.skin {
            Some(track) => placed * track.motions[frame][joint],
            None => placed,
        };
        let joints = skeleton.joints().iter().enumerate();
        let worlds: Vec<DAffine3> = joints.map(|(k, joint)| moved(k) * joint.bind()).collect();
        frames.push(locals(skeleton, &worlds, order));
    }
    frames
}

impl Writer<'_> {
    /// The binding of a mesh to its skeleton: the joints and weights of its vertices.
    pub(super) fn binding(&mut self, index: usize) {
        let skeletons = self.skeletons.clone();
        let Some(skeleton) = skeletons.iter().find(|s| s.members.contains(&index)) else {
            return;
        };
        self.line(&format!("rel skel:skeleton = <{}>", skeleton.path));

        let asset = self.asset;
        if let (Some(binding), Some(joints)) = (&asset.objects[index].skin, &skeleton.joints) {
            let mesh = DAffine3::from_translation(self.offsets[index]);
            self.influences(binding, joints, &mesh);
        }
    }

    fn influences(&mut self, binding: &SkinBinding, joints: &Joints, bind: &DAffine3) {
        let skin = &binding.skin;
        let width = skin.most_influences().max(1);
        let mut places = Vec::with_capacity(width * skin.vertex_count());
        let mut weights = Vec::with_capacity(width * skin.vertex_count());
        for vertex in 0..skin.vertex_count() {
            let own = skin.influences(vertex);
            for k in 0..width {
                let influence = own.get(k);
                places.push(influence.map_or(0, |i| joints.place_of[i.bone as usize]));
                weights.push(influence.map_or(0.0, |i| i.weight));
            }
        }

        let metadata = [
            &*format!("elementSize = {width}"),
            "interpolation = \"vertex\"",
        ];
        let bind = matrix(bind);
        self.line(&format!(
            "matrix4d primvars:skel:geomBindTransform = {bind}"
        ));
        let places = list(places);
        self.attribute(
            &format!("int[] primvars:skel:jointIndices = {places}"),
            &metadata,
        );
        let weights = singles(weights.into_iter());
        self.attribute(
            &format!("float[] primvars:skel:jointWeights = {weights}"),
            &metadata,
        );
    }

    /// The skeleton that is written beside object `index`, if there is one.
    pub(super) fn skeleton_beside(&mut self, index: usize) {
        let skeletons = self.skeletons.clone();
        let first = |s: &&SkeletonPrim| s.members.first() == Some(&index);
        let Some(skeleton) = skeletons.iter().find(first) else {
            return;
        };

        let name = skeleton.path.rsplit('/').next().unwrap_or_default();
        self.prim("Skeleton", name, name, &["SkelBindingAPI"]);
        if let Some(joints) = &skeleton.joints {
            self.joints(joints);
            self.sheared += joints.sheared();
        }

        let columns = self.weight_columns(&skeleton.members);
        let moves = skeleton
            .joints
            .as_ref()
            .is_some_and(|j| !j.frames.is_empty());
        if let Some(clip) = self.clip.filter(|_| moves || !columns.is_empty()) {
            self.line(&format!(
                "rel skel:animationSource = <{}/Animation>",
                skeleton.path
            ));
            self.prim("SkelAnimation", "Animation", "Animation", &[]);
            if !columns.is_empty() {
                let tokens: Vec<String> = columns.iter().map(|c| quoted(&c.name)).collect();
                let tokens = tokens.join(", ");
                self.line(&format!("uniform token[] blendShapes = [{tokens}]"));
                self.weights(&columns, clip);
            }
            if let Some(joints) = skeleton.joints.as_ref().filter(|_| moves) {
                self.joint_motions(joints, clip);
            }
            self.close("}");
        }
        self.close("}");
    }

    fn joints(&mut self, joints: &Joints) {
        let matrices = |all: &[DAffine3]| list(all.iter().map(matrix));
        let texts = |all: &[String]| list(all.iter().map(|text| quoted(text)));
        let bind = matrices(&joints.bind);
        self.line(&format!("uniform matrix4d[] bindTransforms = {bind}"));

        let mut pairs = joints.names.iter().zip(&joints.tokens);
        if pairs.any(|(name, token)| token.rsplit('/').next() != Some(name)) {
            let names = texts(&joints.names);
            self.line(&format!("uniform token[] jointNames = {names}"));
        }
        let tokens = texts(&joints.tokens);
        self.line(&format!("uniform token[] joints = {tokens}"));
        let rest = matrices(&joints.rest);
        self.line(&format!("uniform matrix4d[] restTransforms = {rest}"));
    }

    fn joint_motions(&mut self, joints: &Joints, clip: &Animation) {
        let tokens = list(joints.tokens.iter().map(|token| quoted(token)));
        self.line(&format!("uniform token[] joints = {tokens}"));

        let mut translations = Vec::with_capacity(joints.frames.len());
        let mut rotations = Vec::with_capacity(joints.frames.len());
        let mut scales = Vec::with_capacity(joints.frames.len());
        for frame in &joints.frames {
            let parts = frame.iter().map(DAffine3::to_scale_rotation_translation);
            let parts: Vec<_> = parts.collect();
            let rows = |part: fn(&Parts) -> [f32; 3]| tuples(parts.iter().map(part));
            scales.push(rows(|(scale, ..)| scale.as_vec3().to_array()));
            translations.push(rows(|(.., place)| place.as_vec3().to_array()));
            rotations.push(tuples(parts.iter().map(|(_, rotation, _)| {
                // The real part comes first. A flat joint has no rotation.
                let rotation = if rotation.is_finite() {
                    rotation.as_quat()
                } else {
                    Quat::IDENTITY
                };
                [rotation.w, rotation.x, rotation.y, rotation.z]
            })));
        }

        self.varying("quatf[] rotations", &rotations, clip);
        self.varying("half3[] scales", &scales, clip);
        self.varying("float3[] translations", &translations, clip);
    }

    /// An attribute with a value for each frame; one value if all are equal.
    fn varying(&mut self, what: &str, frames: &[String], clip: &Animation) {
        if frames.windows(2).all(|pair| pair[0] == pair[1]) {
            if let Some(value) = frames.first() {
                self.line(&format!("{what} = {value}"));
            }
            return;
        }

        self.open(&format!("{what}.timeSamples = {{"));
        for (frame, value) in frames.iter().enumerate() {
            self.line(&format!("{}: {value},", frame_code(clip, frame)));
        }
        self.close("}");
    }

    /// The animated blend shapes of some objects, each name once.
    fn weight_columns(&self, members: &[usize]) -> Vec<WeightColumn> {
        let mut columns: Vec<WeightColumn> = Vec::new();
        for &object in members {
            let motion = self.clip.and_then(|clip| motion_of(clip, object));
            if track_of(motion).is_none() {
                continue;
            }
            for (target, shape) in self.asset.objects[object].rig.targets().iter().enumerate() {
                if columns.iter().all(|known| known.name != shape.name) {
                    columns.push(WeightColumn {
                        name: shape.name.clone(),
                        object,
                        target,
                    });
                }
            }
        }
        columns
    }

    fn weights(&mut self, columns: &[WeightColumn], clip: &Animation) {
        let track = |object: usize| track_of(motion_of(clip, object));
        let Some(first) = columns.first().and_then(|column| track(column.object)) else {
            return;
        };
        let row = |value: &dyn Fn(&WeightTrack) -> Vec<f64>| {
            let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
            let mut all = Vec::with_capacity(columns.len());
            for column in columns {
                if rows
                    .last()
                    .is_none_or(|(object, _)| *object != column.object)
                {
                    rows.push((
                        column.object,
                        track(column.object).map_or_else(Vec::new, value),
                    ));
                }
                all.push(rows.last().map_or(0.0, |(_, row)| row[column.target]));
            }
            singles(all.into_iter())
        };

        // USD interpolates linearly; other curves are written frame by frame.
        let linear = *first.interpolation() == Interpolation::Linear || first.keys().len() == 1;
        self.open("float[] blendShapeWeights.timeSamples = {");
        if linear {
            for (k, &time) in first.times_secs().iter().enumerate() {
                let row = row(&|track| track.keys()[k].clone());
                self.line(&format!("{}: {row},", code(clip, time)));
            }
        } else {
            for frame in 0..clip.frame_count {
                let row = row(&|track| track.at(clip.time_secs(frame)));
                self.line(&format!("{}: {row},", frame_code(clip, frame)));
            }
        }
        self.curves += usize::from(!linear);
        self.close("}");
    }
}

/// Scale, rotation and translation of a joint.
type Parts = (DVec3, DQuat, DVec3);

/// The weights of one blend shape.
struct WeightColumn {
    name: String,
    /// The object whose weights are written, and the index of its target.
    object: usize,
    target: usize,
}
