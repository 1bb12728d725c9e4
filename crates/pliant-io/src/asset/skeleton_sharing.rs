//! Motions that files with nodes can play, and objects that follow the same joints.
//!
//! **Problem.** In glTF and FBX, joints are nodes. A skinned object follows its joints and ignores
//! its own node, and objects can share joints only if these move in the same way in every clip.

use std::borrow::Cow;
use std::sync::Arc;

use pliant_mesh::glam::DAffine3;
use pliant_rig::Skeleton;

use crate::{Animation, Asset, Motion, Object, SkinBinding};

impl Object {
    /// Its skin, if it fits.
    pub(crate) fn fitting_skin(&self) -> Option<&SkinBinding> {
        let skin = self.skin.as_ref();
        skin.filter(|binding| binding.check(self.vertex_count()).is_ok())
    }
}

impl Asset {
    /// The asset with motions that nodes can play. A skinned node plays its joints and weights; any
    /// other motion of a skinned object becomes frames of positions.
    pub(crate) fn with_playable_motions(&self) -> Cow<'_, Self> {
        let plays = |motion: &Motion| {
            let of_object = self
                .objects
                .get(motion.object)
                .and_then(Object::fitting_skin);
            match &motion.skin {
                Some(track) => of_object == Some(&track.binding) && motion.placement.is_none(),
                None => of_object.is_none() || motion.placement.is_none(),
            }
        };

        if self.clips.iter().flat_map(|clip| &clip.motions).all(plays) {
            return Cow::Borrowed(self);
        }

        let mut baked = self.clone();
        for (clip, own) in baked.clips.iter_mut().zip(&self.clips) {
            for motion in &mut clip.motions {
                if !plays(motion) {
                    *motion = self.baked(own, motion.object);
                }
            }
        }

        Cow::Owned(baked)
    }

    /// For each object with a skin, the first object that follows the same joints in all clips.
    pub(crate) fn joint_leaders(&self) -> Vec<Option<usize>> {
        let mut first: Vec<usize> = Vec::new();
        let mut leaders = Vec::with_capacity(self.objects.len());
        for (k, object) in self.objects.iter().enumerate() {
            if object.fitting_skin().is_none() {
                leaders.push(None);
                continue;
            }
            let known = first.iter().find(|&&other| self.have_same_joints(other, k));
            let leader = known.copied().unwrap_or_else(|| {
                first.push(k);
                k
            });
            leaders.push(Some(leader));
        }

        leaders
    }

    fn have_same_joints(&self, a: usize, b: usize) -> bool {
        let skeleton = |object: usize| self.objects[object].fitting_skin().map(|s| &s.skeleton);
        let same = |(a, b): (&Arc<Skeleton>, &Arc<Skeleton>)| Arc::ptr_eq(a, b) || a == b;
        let move_alike = |clip: &Animation| match (clip.joint_motions(a), clip.joint_motions(b)) {
            (Some(a), Some(b)) => std::ptr::eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        };

        let rest = |object: usize| self.objects[object].rest_motions().map(|(_, rest)| rest);
        skeleton(a).zip(skeleton(b)).is_some_and(same)
            && rest(a) == rest(b)
            && self.clips.iter().all(move_alike)
    }
}

impl Animation {
    /// The joint motions of an object, frame by frame.
    pub(crate) fn joint_motions(&self, object: usize) -> Option<&[Vec<DAffine3>]> {
        let motion = self.motions.iter().find(|motion| motion.object == object)?;
        motion.skin.as_ref().map(|track| track.motions.as_slice())
    }
}
