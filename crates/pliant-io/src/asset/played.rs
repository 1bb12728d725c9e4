//! A performance on a rig: weight curves, the rotation of the head and those of the eyes.
//!
//! **Problem.** A take gives weights, the rotation of the head and those of the eyes. Rigs have a
//! joint for the head, or only a mesh; eyes are joints, objects, or targets.
//!
//! **Equation.** A part that rotates by `R` about the pivot `p` moves by `x ↦ p + R (x − p)`. The
//! eyes follow the head: `M_eye = M_head T(p) R_eye T(−p)`. A joint takes all joints below it along.
//!
//! **Method.** Joints are found by the words of their names (`head`, `eye` with a side), eyes
//! without joints by the names of objects or their parents; a mesh without joints rotates as a
//! whole. The axes are those of the mirror plane of the rig and of its up axis. *Chosen*: the pivot
//! of a mesh is in its middle, at a quarter of its height, where the neck of a head ends.

use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{
    ChannelKind, ChannelMap, CharacterAxes, KeyedCurves, MirrorPlane, Performance, Rig, RigError,
    RotatingPart, RotationAngle, RotationGains, Side, SideUse, Skeleton, SliderName, WeightTrack,
    front_side, gaze_of_shapes,
};

use crate::{Animation, Asset, IoError, Motion, Object, PlacementTrack, Shape, SkinTrack, UpAxis};

/// What the rotation of the head moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeadUse {
    /// The joint of the head if the asset has one, or else the whole mesh.
    #[default]
    Auto,
    /// The whole mesh.
    Mesh,
    /// Nothing.
    None,
}

/// How a performance is brought onto a rig.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlayOptions {
    /// How sides are treated.
    pub sides: SideUse,
    /// What the rotation of the head moves.
    pub head: HeadUse,
    /// Whether objects and joints of the eyes do not rotate.
    pub still_eyes: bool,
    /// The pivot of a head that is a mesh.
    pub pivot: Option<DVec3>,
    /// The largest difference of a curve from its weights, to save keys; 0 keeps each frame.
    pub tolerance: f64,
}

/// A rig with the clip of a performance.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Played {
    /// The asset with its clip.
    pub asset: Asset,
    /// The weights of all sliders over time, before keys were saved.
    pub track: WeightTrack,
    /// Keys of all curves.
    pub keys: usize,
    /// Frames of the clip.
    pub frames: usize,
    /// What the rotations of the performance move, as a name, by part.
    pub rotated: Vec<(RotatingPart, String)>,
    /// Parts whose rotation moves nothing.
    pub unused_rotations: Vec<RotatingPart>,
}

impl Asset {
    /// The same asset with the clip of a performance: curves of the targets that `map` names, and
    /// the motions of head and eyes. Everything else is kept.
    ///
    /// # Errors
    /// As [`ChannelMap::track`], and for a rig that cannot be merged.
    pub fn with_performance(
        &self,
        performance: &Performance,
        map: &ChannelMap,
        options: &PlayOptions,
    ) -> Result<Played, IoError> {
        let about = |error: RigError| self.rig_error(error);
        let rig = self.rig()?;
        let track = map.track(performance, &rig, options.sides).map_err(about)?;

        let (file_track, keys) = if options.tolerance > 0.0 {
            let curves = KeyedCurves::from_track(&track, options.tolerance).map_err(about)?;
            (curves.to_track(), curves.key_count())
        } else {
            let keys = track.keys().len() * track.keys()[0].len();
            (track.clone(), keys)
        };

        let rate = performance.frames_per_second();
        let frames = (performance.duration_secs() * rate).round() as usize + 1;
        let mut animation = Animation::new(performance.name(), frames);
        animation.frames_per_second = rate;

        let mut turns = Turns::of(performance, map);
        if options.sides == SideUse::Mirrored {
            turns.mirror();
        }
        let rotated = self.rotate(&mut animation, &turns, &rig, options);
        let unused = turns.parts.iter().map(|(part, _)| *part);
        let unused = unused.filter(|part| rotated.iter().all(|(other, _)| other != part));

        Ok(Played {
            unused_rotations: unused.collect(),
            asset: self.with_weight_clip(animation, &file_track)?,
            track,
            keys,
            frames,
            rotated,
        })
    }

    /// Adds the motions of head and eyes. Returns what moves.
    fn rotate(
        &self,
        animation: &mut Animation,
        turns: &Turns,
        rig: &Rig,
        options: &PlayOptions,
    ) -> Vec<(RotatingPart, String)> {
        // The mirror plane takes time; most heads have nothing that rotates.
        let head_turns = turns.part(RotatingPart::Head).is_some();
        let can_turn = |o: &Object| o.skin.is_some() || eye_of_path(&o.path).is_some();
        if turns.parts.is_empty() || !(head_turns || self.objects.iter().any(can_turn)) {
            return Vec::new();
        }

        let axes = self.character_axes(rig);
        let mut moved = Vec::new();
        let skeleton = self.objects.iter().find_map(|object| object.skin.as_ref());
        let skeleton = skeleton.map(|binding| Arc::clone(&binding.skeleton));
        if let Some(skeleton) = &skeleton
            && options.head != HeadUse::Mesh
        {
            moved.extend(self.rotate_joints(animation, turns, skeleton, &axes, options));
        }

        // Objects without joints.
        let head = if skeleton.is_none() && options.head != HeadUse::None {
            turns.part(RotatingPart::Head)
        } else {
            None
        };
        let pivot = options.pivot.unwrap_or_else(|| self.neck(axes.up));
        if head.is_some() {
            moved.push((RotatingPart::Head, "the mesh".into()));
        }

        for (index, object) in self.objects.iter().enumerate() {
            let eye = eye_of_path(&object.path)
                .filter(|_| object.skin.is_none() && !options.still_eyes)
                .and_then(|part| Some((part, turns.part(part)?)));
            if head.is_none() && eye.is_none() {
                continue;
            }

            let center = object.rig.neutral().bounds().map(|b| b.center());
            let mut placements = Vec::with_capacity(turns.times_secs.len());
            for frame in 0..turns.times_secs.len() {
                let mut motion = DAffine3::IDENTITY;
                if let Some(angles) = head {
                    motion = about(pivot, &axes, angles[frame]);
                }
                if let (Some((_, angles)), Some(center)) = (eye, center) {
                    motion *= about(center, &axes, angles[frame]);
                }
                placements.push(motion);
            }

            let mut placed = Motion::new(index, Shape::Rest);
            placed.placement = Some(PlacementTrack {
                times_secs: turns.times_secs.clone(),
                moved_from_rest: placements,
            });
            animation.motions.push(placed);
            if let Some((part, _)) = eye {
                moved.push((part, object.path.clone()));
            }
        }
        moved
    }

    /// Rotates the joints of the head and of the eyes, and all joints below them.
    fn rotate_joints(
        &self,
        animation: &mut Animation,
        turns: &Turns,
        skeleton: &Arc<Skeleton>,
        axes: &CharacterAxes,
        options: &PlayOptions,
    ) -> Vec<(RotatingPart, String)> {
        let joints = skeleton.joints();
        let mut used: Vec<(usize, RotatingPart, &[[f64; 3]])> = Vec::new();
        for (part, angles) in &turns.parts {
            let wanted = match part {
                RotatingPart::Head => options.head == HeadUse::Auto,
                _ => !options.still_eyes,
            };
            let joint = joints
                .iter()
                .position(|j| part_of_name(&j.name) == Some(*part));
            if let Some(joint) = joint.filter(|_| wanted) {
                used.push((joint, *part, angles));
            }
        }
        if used.is_empty() {
            return Vec::new();
        }

        let rest = self.objects.iter().find_map(|object| {
            let own = object.skin.as_ref()?;
            let joints = object.rest_joints.as_ref()?;
            Arc::ptr_eq(&own.skeleton, skeleton).then(|| joints.to_vec())
        });
        let rest = rest.unwrap_or_else(|| vec![DAffine3::IDENTITY; joints.len()]);

        // The motions of all frames of the clip, not of the keys.
        let mut motions = Vec::with_capacity(animation.frame_count);
        for frame in 0..animation.frame_count {
            let time = animation.time_secs(frame);
            let mut frame_motions = rest.clone();
            for (joint, motion) in frame_motions.iter_mut().enumerate() {
                // From the joint up to its root; a parent moves what its child has moved.
                let mut ancestor = Some(joint);
                while let Some(k) = ancestor {
                    for (turned, _, angles) in &used {
                        if *turned == k {
                            let pivot = rest[k].transform_point3(joints[k].origin);
                            *motion = about(pivot, axes, turns.at(angles, time)) * *motion;
                        }
                    }
                    ancestor = joints[k].parent;
                }
            }
            motions.push(frame_motions);
        }

        let motions = Arc::new(motions);
        for (index, object) in self.objects.iter().enumerate() {
            if let Some(binding) = object
                .skin
                .as_ref()
                .filter(|b| Arc::ptr_eq(&b.skeleton, skeleton))
            {
                let mut motion = Motion::new(index, Shape::Rest);
                motion.skin = Some(SkinTrack {
                    binding: binding.clone(),
                    motions: Arc::clone(&motions),
                });
                animation.motions.push(motion);
            }
        }
        let names = used
            .iter()
            .map(|(joint, part, _)| (*part, joints[*joint].name.clone()));
        names.collect()
    }

    /// The axes of the character: its up axis, and left by the mirror plane and the left sliders.
    #[must_use]
    pub fn character_axes(&self, rig: &Rig) -> CharacterAxes {
        let up = match self.up_axis {
            UpAxis::X => DVec3::X,
            UpAxis::Y => DVec3::Y,
            UpAxis::Z => DVec3::Z,
        };
        let usual_left = if up == DVec3::X {
            DVec3::NEG_Y
        } else {
            DVec3::X
        };

        let plane = MirrorPlane::find(rig.neutral());
        let left = plane.map(|plane| match front_side(rig, plane) {
            Side::Left => plane.normal(),
            Side::Right => -plane.normal(),
        });
        left.and_then(|left| CharacterAxes::new(left, up))
            .or_else(|| CharacterAxes::new(usual_left, up))
            .expect("the usual axes are orthogonal")
    }

    /// Where the neck of a head ends: in the middle, at a quarter of the height.
    fn neck(&self, up: DVec3) -> DVec3 {
        let Some(bounds) = self.bounds() else {
            return DVec3::ZERO;
        };
        let height = (bounds.max - bounds.min).dot(up);
        bounds.center() - up * (0.25 * height)
    }
}

fn about(pivot: DVec3, axes: &CharacterAxes, angles: [f64; 3]) -> DAffine3 {
    DAffine3::from_translation(pivot)
        * DAffine3::from_quat(axes.rotation(angles))
        * DAffine3::from_translation(-pivot)
}

/// The head or an eye, by the words of a name such as `Head`, `mixamorig:LeftEye` or `eye_R`.
pub(super) fn part_of_name(name: &str) -> Option<RotatingPart> {
    let last = name.rsplit([':', '|', '/']).next().unwrap_or_default();
    let parsed = SliderName::parse(last);
    let has = |word: &str| parsed.words.iter().any(|other| other == word);
    let others = [
        "brow", "lid", "lash", "top", "end", "target", "aim", "socket", "shadow",
    ];
    if others
        .iter()
        .any(|word| has(word) || parsed.stem().contains(word))
    {
        return None;
    }
    match parsed.side() {
        Some(Side::Left) if has("eye") || has("eyeball") => Some(RotatingPart::LeftEye),
        Some(Side::Right) if has("eye") || has("eyeball") => Some(RotatingPart::RightEye),
        None if parsed.words == ["head"] => Some(RotatingPart::Head),
        _ => None,
    }
}

/// The eye that an object is, by its name or that of a node above it.
pub(super) fn eye_of_path(path: &str) -> Option<RotatingPart> {
    let found = path.rsplit('/').find_map(part_of_name);
    found.filter(|part| *part != RotatingPart::Head)
}

/// The angles of the parts that rotate: yaw, pitch and roll in radians for each frame.
struct Turns {
    times_secs: Vec<f64>,
    parts: Vec<(RotatingPart, Vec<[f64; 3]>)>,
}

impl Turns {
    /// Parts with at least one angle that is not zero.
    fn of(performance: &Performance, map: &ChannelMap) -> Self {
        let first = performance
            .times_secs()
            .first()
            .copied()
            .unwrap_or_default();
        let times_secs = performance.times_secs().iter().map(|time| time - first);
        let mut turns = Self {
            times_secs: times_secs.collect(),
            parts: Vec::new(),
        };

        // Shapes of the gaze that move no slider rotate eyes; rotations that do move sliders, as
        // well, would move them twice.
        let routed = |name: &str| map.channels.iter().any(|route| route.from == name);
        let gaze = gaze_of_shapes(performance.channels(), routed);

        for part in [
            RotatingPart::Head,
            RotatingPart::LeftEye,
            RotatingPart::RightEye,
        ] {
            let gains = if part == RotatingPart::Head {
                map.head
            } else {
                map.eyes
            };
            let mut angles = vec![[0.0; 3]; performance.frame_count()];
            let mut turns_at_all = false;
            for channel in performance.channels().iter().chain(&gaze) {
                let ChannelKind::Rotation(rotation) = channel.kind else {
                    continue;
                };
                if rotation.part != part || routed(&channel.name) {
                    continue;
                }
                let (column, gain) = column_and_gain(rotation.angle, gains);
                for (angles, &value) in angles.iter_mut().zip(&channel.values) {
                    let angle = if value.is_finite() { gain * value } else { 0.0 };
                    angles[column] = angle;
                    turns_at_all |= angle != 0.0;
                }
            }
            if turns_at_all {
                turns.parts.push((part, angles));
            }
        }
        turns
    }

    fn part(&self, part: RotatingPart) -> Option<&[[f64; 3]]> {
        let found = self.parts.iter().find(|(other, _)| *other == part);
        found.map(|(_, angles)| angles.as_slice())
    }

    /// The angles at a time, linear between frames.
    fn at(&self, angles: &[[f64; 3]], time: f64) -> [f64; 3] {
        let next = self.times_secs.partition_point(|&t| t <= time);
        if next == 0 || next == angles.len() {
            return angles[next.saturating_sub(1)];
        }
        let (from, to) = (self.times_secs[next - 1], self.times_secs[next]);
        let s = (time - from) / (to - from);
        let (a, b) = (angles[next - 1], angles[next]);
        [0, 1, 2].map(|k| (1.0 - s) * a[k] + s * b[k])
    }

    /// Exchanges left and right.
    fn mirror(&mut self) {
        for (part, angles) in &mut self.parts {
            *part = match part {
                RotatingPart::Head => RotatingPart::Head,
                RotatingPart::LeftEye => RotatingPart::RightEye,
                RotatingPart::RightEye => RotatingPart::LeftEye,
            };
            for [yaw, _, roll] in angles {
                *yaw = -*yaw;
                *roll = -*roll;
            }
        }
    }
}

fn column_and_gain(angle: RotationAngle, gains: RotationGains) -> (usize, f64) {
    match angle {
        RotationAngle::Yaw => (0, gains.yaw),
        RotationAngle::Pitch => (1, gains.pitch),
        RotationAngle::Roll => (2, gains.roll),
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::Vec3;
    use pliant_rig::{Channel, Target};

    use super::*;

    fn part(path: &str, at: DVec3, targets: &[&str]) -> Object {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| at + p);
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let mesh = Mesh::from_triangles(corners.to_vec(), &faces).unwrap();
        let lift = |name: &&str| Target::from_dense(*name, [Vec3::Z; 4]);
        let rig = Rig::new(mesh, targets.iter().map(lift).collect()).unwrap();
        Object {
            path: path.into(),
            ..Object::new(rig)
        }
    }

    fn head() -> Asset {
        Asset {
            objects: vec![
                part("/root/face", DVec3::ZERO, &["jawOpen"]),
                part("/root/grp_eyeLeft/0", DVec3::new(3.0, 4.0, 0.0), &[]),
            ],
            ..Asset::default()
        }
    }

    fn take(channels: Vec<Channel>) -> Performance {
        Performance::even("take", 30.0, channels).unwrap()
    }

    #[test]
    fn weights_and_the_rotation_of_the_head_move_all_objects() {
        let take = take(vec![
            Channel::new("JawOpen", vec![0.0, 0.5, 1.0]),
            Channel::new("HeadYaw", vec![0.0, 0.2, -0.4]),
        ]);
        let asset = head();
        let map = ChannelMap::guess(take.channels(), &asset.target_names());
        let played = asset
            .with_performance(&take, &map, &PlayOptions::default())
            .unwrap();

        played.asset.check().unwrap();
        assert_eq!((played.frames, played.keys), (3, 3));
        assert_eq!(
            played.rotated,
            [(RotatingPart::Head, "the mesh".to_owned())]
        );

        // All distances between the face at its weights and the eye stay.
        let rig = asset.rig().unwrap();
        for (frame, weight) in [(1, 0.5), (2, 1.0)] {
            let moved = played.asset.frame_positions(frame).unwrap();
            let shape = rig.evaluate(&[weight]);
            assert!(moved[0].distance(shape[0]) > 0.05, "it rotates");
            for (a, b) in moved
                .iter()
                .zip(&moved[1..])
                .zip(shape.iter().zip(&shape[1..]))
                .map(|((a, b), (c, d))| (a.distance(*b), c.distance(*d)))
            {
                assert!((a - b).abs() < 1e-12);
            }
        }

        let still = PlayOptions {
            head: HeadUse::None,
            ..PlayOptions::default()
        };
        let played = asset.with_performance(&take, &map, &still).unwrap();
        assert_eq!(
            played.asset.frame_positions(2).unwrap(),
            rig.evaluate(&[1.0])
        );
        assert_eq!(played.unused_rotations, [RotatingPart::Head]);
    }

    #[test]
    fn eyes_rotate_about_their_own_middle() {
        let take = take(vec![
            Channel::new("jawOpen", vec![0.0; 2]),
            Channel::new("LeftEyePitch", vec![0.0, 0.3]),
        ]);
        let asset = head();
        let map = ChannelMap::guess(take.channels(), &asset.target_names());
        let played = asset
            .with_performance(&take, &map, &PlayOptions::default())
            .unwrap();
        assert_eq!(played.rotated.len(), 1);

        let rest = asset.rig().unwrap().evaluate(&[0.0]);
        let moved = played.asset.frame_positions(1).unwrap();
        assert_eq!(moved[..4], rest[..4]);
        let center = asset.objects[1].rig.neutral().bounds().unwrap().center();
        for (moved, rest) in moved[4..].iter().zip(&rest[4..]) {
            assert!(moved.distance(*rest) > 0.1);
            assert!((moved.distance(center) - rest.distance(center)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_played_clip_is_a_performance_with_the_same_angles() {
        let recorded = take(vec![
            Channel::new("jawOpen", vec![0.0, 0.5, 1.0]),
            Channel::new("HeadYaw", vec![0.0, 0.2, -0.4]),
            Channel::new("HeadRoll", vec![0.0, 0.1, 0.0]),
            Channel::new("LeftEyePitch", vec![0.0, -0.3, 0.2]),
        ]);
        let asset = head();
        let map = ChannelMap::guess(recorded.channels(), &asset.target_names());
        let played = asset
            .with_performance(&recorded, &map, &PlayOptions::default())
            .unwrap();
        let found = played.asset.performance().unwrap();
        assert_eq!(found.channels().len(), recorded.channels().len());
        for channel in recorded.channels() {
            let values = &found.channel(&channel.name).unwrap().values;
            for (a, b) in values.iter().zip(&channel.values) {
                assert!((a - b).abs() < 1e-9, "{}: {a} {b}", channel.name);
            }
        }
    }

    #[test]
    fn shapes_of_the_gaze_rotate_an_eye_whose_rig_has_no_such_slider() {
        let take = take(vec![
            Channel::new("jawOpen", vec![0.0; 2]),
            Channel::new("eyeLookDownLeft", vec![0.0, 0.5]),
        ]);
        let asset = head();
        let map = ChannelMap::guess(take.channels(), &asset.target_names());
        let played = asset
            .with_performance(&take, &map, &PlayOptions::default())
            .unwrap();
        assert_eq!(played.rotated.len(), 1);
        let rest = asset.rig().unwrap().evaluate(&[0.0]);
        let moved = played.asset.frame_positions(1).unwrap();
        assert_eq!(moved[..4], rest[..4]);
        assert!(moved[4].distance(rest[4]) > 0.1);
    }

    #[test]
    fn parts_are_known_by_the_words_of_their_names() {
        use RotatingPart::{Head, LeftEye, RightEye};
        for (name, part) in [
            ("Head", Some(Head)),
            ("mixamorig:Head", Some(Head)),
            ("mixamorig:HeadTop_End", None),
            ("LeftEye", Some(LeftEye)),
            ("eye_R", Some(RightEye)),
            ("eyebrow_L", None),
            ("eyelid.L", None),
            ("body", None),
        ] {
            assert_eq!(part_of_name(name), part, "{name}");
        }
        assert_eq!(eye_of_path("/a/grp_eyeLeft/eyeLeft/0"), Some(LeftEye));
        assert_eq!(eye_of_path("/a/head/0"), None);
    }
}
