//! Units and up axis: the same asset in metres, in centimetres, Y up or Z up.
//!
//! **Problem.** Formats differ in what one unit is and in which axis points up. A head of 0.585 m
//! must measure 0.585 m, and stand upright, in every file written from it.
//!
//! **Equation.** With the ratio `s` of the units and the rotation `R` from one up axis to another,
//! `A = s R` maps
//!
//! ```text
//! positions, displacements  x ↦ A x      normals  n ↦ R n
//! motions of joints and objects  T ↦ A T A⁻¹      bind poses (q, o) ↦ (R q, A o)
//! ```
//!
//! **Departures.** `R` permutes axes and changes signs, so that it rounds nothing. An asset of
//! unknown unit is not scaled. An asset that is already as requested is returned without a copy.

use std::borrow::Cow;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use pliant_mesh::{Bounds, Mesh};
use pliant_rig::{Combination, InBetween, Joint, Rig, Skeleton, Target};

use super::{Animation, Asset, Motion, Object, Shape, SkinBinding, UpAxis};

impl Asset {
    /// The same asset with the given axis up and the given unit. Without a known unit, lengths
    /// stay.
    #[must_use]
    pub fn in_space(&self, up_axis: UpAxis, meters_per_unit: f64) -> Cow<'_, Self> {
        let scale = self
            .meters_per_unit
            .map_or(1.0, |own| own / meters_per_unit);
        if up_axis == self.up_axis && scale == 1.0 {
            return Cow::Borrowed(self);
        }

        let mut change = SpaceChange {
            scale,
            rotation: AxisRotation::between(self.up_axis, up_axis),
            skeletons: Vec::new(),
        };

        let mut converted = self.clone();
        converted.up_axis = up_axis;
        converted.meters_per_unit = self.meters_per_unit.map(|_| meters_per_unit);
        for object in &mut converted.objects {
            change.object(object);
        }
        for clip in &mut converted.clips {
            change.clip(clip);
        }

        Cow::Owned(converted)
    }

    /// The same asset in the unit and with the up axis of `other`; as it is if one of the units is
    /// unknown.
    #[must_use]
    pub fn in_space_of(&self, other: &Self) -> Cow<'_, Self> {
        match (self.meters_per_unit, other.meters_per_unit) {
            (Some(_), Some(unit)) => self.in_space(other.up_axis, unit),
            _ => Cow::Borrowed(self),
        }
    }

    /// The bounds of all objects at rest; `None` without a finite vertex.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        self.objects
            .iter()
            .filter_map(|object| object.rig.neutral().bounds())
            .reduce(|a, b| a.union(&b))
    }
}

/// A rotation by quarter turns: for each new axis, the old axis and the sign of its coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AxisRotation([(usize, f64); 3]);

impl AxisRotation {
    const IDENTITY: Self = Self([(0, 1.0), (1, 1.0), (2, 1.0)]);

    fn between(from: UpAxis, to: UpAxis) -> Self {
        if from == to {
            return Self::IDENTITY;
        }
        Self::to_y_up(from).then(Self::to_y_up(to).inverse())
    }

    /// Z up turns about X, X up about Z.
    fn to_y_up(from: UpAxis) -> Self {
        match from {
            UpAxis::X => Self([(1, -1.0), (0, 1.0), (2, 1.0)]),
            UpAxis::Y => Self::IDENTITY,
            UpAxis::Z => Self([(0, 1.0), (2, 1.0), (1, -1.0)]),
        }
    }

    fn then(self, next: Self) -> Self {
        Self(next.0.map(|(axis, sign)| {
            let (first_axis, first_sign) = self.0[axis];
            (first_axis, first_sign * sign)
        }))
    }

    fn inverse(self) -> Self {
        let mut inverse = Self::IDENTITY;
        for (new, (old, sign)) in self.0.into_iter().enumerate() {
            inverse.0[old] = (new, sign);
        }
        inverse
    }

    fn vector(self, v: DVec3) -> DVec3 {
        DVec3::from_array(self.0.map(|(axis, sign)| v[axis] * sign))
    }

    fn matrix(self) -> DMat3 {
        DMat3::from_cols(
            self.vector(DVec3::X),
            self.vector(DVec3::Y),
            self.vector(DVec3::Z),
        )
    }
}

/// A change of unit and up axis.
struct SpaceChange {
    scale: f64,
    rotation: AxisRotation,
    /// Converted skeletons, so that objects that share one still share it.
    skeletons: Vec<(Arc<Skeleton>, Arc<Skeleton>)>,
}

impl SpaceChange {
    fn point(&self, point: DVec3) -> DVec3 {
        self.rotation.vector(point) * self.scale
    }

    fn points(&self, points: &mut [DVec3]) {
        for point in points {
            *point = self.point(*point);
        }
    }

    fn displacements(&self, deltas: &[Vec3]) -> Vec<Vec3> {
        let limit = Vec3::splat(f32::MAX);
        let converted = |d: &Vec3| self.point(d.as_dvec3()).as_vec3().clamp(-limit, limit);
        deltas.iter().map(converted).collect()
    }

    /// A motion `T` of the old space as `A T A⁻¹`.
    fn motion(&self, motion: &DAffine3) -> DAffine3 {
        let linear = if self.rotation == AxisRotation::IDENTITY {
            motion.matrix3
        } else {
            let rotation = self.rotation.matrix();
            rotation * motion.matrix3 * rotation.transpose()
        };
        DAffine3::from_mat3_translation(linear, self.point(motion.translation))
    }

    fn object(&mut self, object: &mut Object) {
        object.rig = self.rig(&object.rig);
        if let Some(binding) = &mut object.skin {
            self.binding(binding);
        }
        if let Some(joints) = &mut object.rest_joints {
            *joints = Arc::new(joints.iter().map(|m| self.motion(m)).collect());
        }
    }

    fn rig(&self, rig: &Rig) -> Rig {
        let targets = rig.targets().iter().map(|t| self.target(t)).collect();
        let combinations = rig.combinations().iter().map(|combination| Combination {
            deltas: self.displacements(&combination.deltas),
            ..combination.clone()
        });

        Rig::new(self.mesh(rig.neutral()), targets)
            .and_then(|new| new.with_sliders(rig.sliders().to_vec()))
            .and_then(|new| new.with_combinations(combinations.collect()))
            .and_then(|new| new.with_groups(rig.groups().to_vec()))
            .and_then(|new| new.with_exclusive_pairs(rig.exclusive_pairs().to_vec()))
            .expect("a rig stays a rig in another unit")
    }

    fn mesh(&self, mesh: &Mesh) -> Mesh {
        let mut positions = mesh.positions().to_vec();
        self.points(&mut positions);
        if mesh.normals().is_none() {
            return mesh
                .posed(positions)
                .expect("there are as many vertices as before");
        }

        let mut builder = mesh.to_builder();
        builder.positions = positions;
        for normal in builder
            .normals
            .iter_mut()
            .flat_map(|layer| &mut layer.values)
        {
            *normal = self.rotation.vector(*normal);
        }
        builder
            .build()
            .expect("a mesh stays a mesh in another unit")
    }

    fn target(&self, target: &Target) -> Target {
        let in_between = |shape: &InBetween| InBetween {
            deltas: self.displacements(&shape.deltas),
            ..shape.clone()
        };
        Target {
            name: target.name.clone(),
            vertices: target.vertices.clone(),
            deltas: self.displacements(&target.deltas),
            in_betweens: target.in_betweens.iter().map(in_between).collect(),
        }
    }

    fn binding(&mut self, binding: &mut SkinBinding) {
        binding.skeleton = self.skeleton(&binding.skeleton);
    }

    fn skeleton(&mut self, skeleton: &Arc<Skeleton>) -> Arc<Skeleton> {
        let known = self
            .skeletons
            .iter()
            .find(|(old, _)| Arc::ptr_eq(old, skeleton));
        if let Some((_, new)) = known {
            return Arc::clone(new);
        }

        // The axes of a joint are those of its own space, which only the root's rotation turns.
        let rotates = self.rotation != AxisRotation::IDENTITY;
        let rotation = DQuat::from_mat3(&self.rotation.matrix());
        let joint = |joint: &Joint| Joint {
            origin: self.point(joint.origin),
            axes: if rotates {
                rotation * joint.axes
            } else {
                joint.axes
            },
            ..joint.clone()
        };

        let joints = skeleton.joints().iter().map(joint).collect();
        let new = Skeleton::new(joints).expect("the parents of the joints stay");
        let new = Arc::new(new);
        self.skeletons
            .push((Arc::clone(skeleton), Arc::clone(&new)));
        new
    }

    fn clip(&mut self, clip: &mut Animation) {
        // Objects that share the motions of their joints still share them.
        let mut shared: Vec<(Arc<JointFrames>, Arc<JointFrames>)> = Vec::new();
        for motion in &mut clip.motions {
            self.shape_and_placement(motion);
            let Some(track) = &mut motion.skin else {
                continue;
            };

            self.binding(&mut track.binding);
            let known = shared
                .iter()
                .find(|(old, _)| Arc::ptr_eq(old, &track.motions));
            let converted = match known {
                Some((_, new)) => Arc::clone(new),
                None => Arc::new(self.joint_frames(&track.motions)),
            };
            let old = std::mem::replace(&mut track.motions, Arc::clone(&converted));
            shared.push((old, converted));
        }
    }

    fn joint_frames(&self, frames: &JointFrames) -> JointFrames {
        let frame = |joints: &Vec<DAffine3>| joints.iter().map(|m| self.motion(m)).collect();
        frames.iter().map(frame).collect()
    }

    fn shape_and_placement(&self, motion: &mut Motion) {
        if let Shape::Points(frames) = &mut motion.shape {
            for frame in frames {
                self.points(frame);
            }
        }
        for placement in motion
            .placement
            .iter_mut()
            .flat_map(|p| &mut p.moved_from_rest)
        {
            *placement = self.motion(placement);
        }
    }
}

/// The motions of all joints, frame by frame.
type JointFrames = Vec<Vec<DAffine3>>;

#[cfg(test)]
mod tests {
    use pliant_mesh::{CornerLayer, MeshBuilder};
    use pliant_rig::{Driver, Influence, Rule, Skin};

    use super::*;
    use crate::{PlacementTrack, SkinTrack, gltf};

    const AXES: [UpAxis; 3] = [UpAxis::X, UpAxis::Y, UpAxis::Z];

    /// A triangle of 2 by 3 by 5 units with a target, an in-between, a combination, normals, a
    /// skin, and a clip of each kind.
    fn everything() -> Asset {
        let mut builder = MeshBuilder {
            positions: vec![DVec3::ZERO, DVec3::new(2.0, 3.0, 0.0), DVec3::Z * 5.0],
            normals: Some(CornerLayer {
                values: vec![DVec3::new(3.0, -2.0, 0.0).normalize()],
                corners: vec![Some(0); 3],
                name: String::new(),
            }),
            ..MeshBuilder::default()
        };
        builder.push_face(&[0, 1, 2]);

        let mut target = Target::from_dense("lift", [Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0)]);
        target.in_betweens = vec![InBetween {
            name: String::new(),
            weight: 0.5,
            vertices: vec![2],
            deltas: vec![Vec3::Y],
        }];
        let combination = Combination {
            name: "fix".into(),
            drivers: vec![Driver::Slider(0.into())],
            rule: Rule::Product,
            vertices: vec![0],
            deltas: vec![Vec3::X],
        };
        let rig = Rig::new(builder.build().unwrap(), vec![target])
            .unwrap()
            .with_combinations(vec![combination])
            .unwrap();

        let bound = binding();
        let mut asset = Asset::from_rig(rig);
        asset.objects[0].skin = Some(bound.clone());
        asset.up_axis = UpAxis::Z;
        asset.meters_per_unit = Some(0.25);
        asset.clips = clips(&asset, &bound);
        asset.check().unwrap();
        asset
    }

    fn binding() -> SkinBinding {
        let joint = |name: &str, origin, parent| Joint {
            name: name.into(),
            origin,
            axes: DQuat::from_rotation_y(0.3),
            parent,
        };
        let joints = vec![
            joint("root", DVec3::X, None),
            joint("tip", DVec3::ONE, Some(0)),
        ];
        let influence = |bone| vec![Influence { bone, weight: 1.0 }];
        SkinBinding {
            skin: Arc::new(Skin::new(2, [0, 1, 1].map(influence)).unwrap()),
            skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        }
    }

    fn clips(asset: &Asset, bound: &SkinBinding) -> Vec<Animation> {
        let rest = asset.objects[0].rig.neutral().positions();
        let mut points = Animation::new("points", 1);
        let moved = rest.iter().map(|p| *p * 2.0 + DVec3::Y).collect();
        points.motions = vec![Motion::new(0, Shape::Points(vec![moved]))];
        points.motions[0].placement = Some(PlacementTrack {
            times_secs: vec![0.0],
            moved_from_rest: vec![DAffine3::from_rotation_translation(
                DQuat::from_rotation_x(0.7),
                DVec3::new(1.0, 2.0, 3.0),
            )],
        });

        let bend = DAffine3::from_rotation_translation(DQuat::from_rotation_z(0.4), DVec3::Y);
        let mut bones = Animation::new("bones", 1);
        bones.motions = vec![Motion::new(0, Shape::Rest)];
        bones.motions[0].skin = Some(SkinTrack {
            binding: bound.clone(),
            motions: Arc::new(vec![vec![DAffine3::IDENTITY, bend]]),
        });
        vec![points, bones]
    }

    /// Positions at rest, at full weight, half weight, and in each clip.
    fn all_positions(asset: &Asset) -> Vec<DVec3> {
        let rig = &asset.objects[0].rig;
        let mut all = rig.neutral().positions().to_vec();
        for weight in [0.5, 1.0] {
            all.extend(rig.evaluate(&[weight]));
        }
        for clip in 0..asset.clips.len() {
            all.extend(asset.clip_positions(clip, 0).unwrap());
        }
        all
    }

    #[test]
    fn an_asset_that_is_already_as_requested_is_not_copied() {
        let asset = everything();
        assert!(matches!(asset.in_space(UpAxis::Z, 0.25), Cow::Borrowed(_)));

        let unknown = Asset {
            meters_per_unit: None,
            ..asset
        };
        assert!(matches!(unknown.in_space(UpAxis::Z, 1.0), Cow::Borrowed(_)));
        assert_eq!(unknown.in_space(UpAxis::Y, 1.0).meters_per_unit, None);
    }

    #[test]
    fn the_axis_that_points_up_still_does_and_nothing_is_mirrored() {
        for from in AXES {
            for to in AXES {
                let rotation = AxisRotation::between(from, to);
                assert_eq!(rotation.vector(unit(from)), unit(to), "{from} {to}");
                assert_eq!(rotation.matrix().determinant(), 1.0, "{from} {to}");
            }
        }
    }

    fn unit(axis: UpAxis) -> DVec3 {
        match axis {
            UpAxis::X => DVec3::X,
            UpAxis::Y => DVec3::Y,
            UpAxis::Z => DVec3::Z,
        }
    }

    #[test]
    fn every_pose_scales_and_rotates_as_one() {
        let asset = everything();
        for to in AXES {
            let metres = asset.in_space(to, 1.0);
            let rotation = AxisRotation::between(asset.up_axis, to);
            assert_eq!(metres.meters_per_unit, Some(1.0));
            let expected = all_positions(&asset);
            for (before, after) in expected.iter().zip(all_positions(&metres)) {
                let error = rotation.vector(*before) * 0.25 - after;
                assert!(error.length() < 1e-6, "{to}: {before} {after}");
            }
        }
    }

    #[test]
    fn there_and_back_again_changes_no_bit() {
        let asset = everything();
        let there = asset.in_space(UpAxis::Y, 1.0);
        let back = there.in_space(UpAxis::Z, 0.25);

        // A quarter is a power of two, so that scaling rounds nothing.
        let [old, new] = [&asset, &*back].map(|asset| &asset.objects[0]);
        assert_eq!(old.rig.targets(), new.rig.targets());
        assert_eq!(old.rig.combinations(), new.rig.combinations());
        assert_eq!(old.rig.neutral().positions(), new.rig.neutral().positions());
        assert_eq!(old.rig.neutral().normals(), new.rig.neutral().normals());
    }

    #[test]
    fn normals_stay_perpendicular_to_their_face() {
        let upright = everything();
        let upright = upright.in_space(UpAxis::X, 1.0);
        let mesh = upright.objects[0].rig.neutral();
        let normal = mesh.normals().unwrap().values[0];
        for p in mesh.positions() {
            assert!(normal.dot(*p).abs() < 1e-12);
        }
    }

    #[test]
    fn joints_stay_where_their_vertices_are() {
        let asset = everything();
        let converted = asset.in_space(UpAxis::Y, 1.0);
        let skeleton =
            |asset: &Asset| Arc::clone(&asset.objects[0].skin.as_ref().unwrap().skeleton);
        let rotation = AxisRotation::between(UpAxis::Z, UpAxis::Y);
        let pairs = skeleton(&asset);
        let after = skeleton(&converted);
        for (old, new) in pairs.joints().iter().zip(after.joints()) {
            assert_eq!(rotation.vector(old.origin) * 0.25, new.origin);
            let turned = rotation.vector(old.axes * DVec3::Z);
            assert!((turned - new.axes * DVec3::Z).length() < 1e-12);
        }
    }

    #[test]
    fn a_gltf_file_is_in_metres_and_upright() {
        let asset = everything();
        let written = gltf::write(&asset);
        let read = gltf::read(&written.bytes, &crate::NoFiles).unwrap();
        assert_eq!((read.up_axis, read.meters_per_unit), (UpAxis::Y, Some(1.0)));
        let size = read.bounds().unwrap().size();
        assert!(
            (size - DVec3::new(0.5, 1.25, 0.75)).length() < 1e-6,
            "{size}"
        );

        let lost = written.left_out.join(", ");
        assert!(!lost.contains("axis") && !lost.contains("unit"), "{lost}");
    }
}
