//! The content of a file: objects with their targets, clips, and warnings.
//!
//! An [`Asset`] lists its objects one by one, in the order of the file. Vertex indices that users
//! give count over the **whole** file in its own order, so that an asset also has a merged view:
//! [`Asset::mesh`], [`Asset::rig`] and [`Asset::clip`] use that order, and [`Asset::posed`] takes
//! positions in it.
//!
//! | module | concept |
//! |---|---|
//! | `object` | one mesh with its targets, skin and storage order |
//! | `animation` | a clip as files store it: shape, skin and placement of each object |
//! | `character_pose` | a frame or the rest pose, in which sliders still act |
//! | `material` | materials, textures and image files |
//! | `merge` | all objects as one mesh or rig; one part of an asset |
//! | `validation` | checks that everything fits together and is finite |
//! | `point_clip`, `weight_clip`, `skin_clip` | an asset with a new clip |
//! | `shape_clip` | clips of few shapes with weights instead of frames |
//! | `skeleton_sharing` | motions that nodes can play; objects that follow the same joints |
//! | `performance` | the weight curves of a clip as a performance |
//! | `played` | an asset with the clip of a performance |
//! | `repair` | vertex orders, twins, degenerate faces, orientations, components |
//! | `retarget` | an asset with other targets |
//! | `flat_rigs` | an asset with in-betweens and combinations as targets |
//! | `up_axis` | the axis that points up |
//! | `length` | typed lengths against the size of an asset |
//! | `recentred` | objects far from the origin, brought near it for single precision |
//! | `space` | an asset in another unit and with another up axis |

mod animation;
mod character_pose;
mod flat_rigs;
mod length;
mod material;
mod merge;
mod object;
mod performance;
mod played;
mod point_clip;
mod recentred;
mod repair;
mod retarget;
mod shape_clip;
mod skeleton_sharing;
mod skin_clip;
mod space;
mod up_axis;
mod validation;
mod weight_clip;

use std::sync::Arc;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, Preset, Rig, RigError};

pub use self::animation::{Animation, Motion, PlacementTrack, Shape};
pub use self::character_pose::CharacterPose;
pub use self::material::{
    AlphaMode, ImageFile, Material, Texture, UvTransform, VertexColorUse, Wrap,
};
pub(crate) use self::material::{distinct_names, image_file_names, media_type_of, plain_file_name};
pub(crate) use self::merge::check_file_order;
pub use self::object::Object;
pub use self::played::{HeadUse, PlayOptions, Played};
pub(crate) use self::recentred::{TOLERANCE as PRECISION, rounding_error};
pub use self::repair::{Repair, RepairKind, RepairedAsset};
pub use self::retarget::MappedRig;
pub(crate) use self::retarget::restricted;
pub use self::skin_clip::{SkinBinding, SkinTrack};
pub use self::up_axis::UpAxis;
use crate::IoError;
use crate::gltf::Original;

/// Everything that was in a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Asset {
    /// The name of the asset: that of its file without the ending.
    pub name: String,
    /// The file or locator it came from, for messages; empty for an asset made in memory.
    pub source: String,
    /// The meshes with their targets, in file order.
    pub objects: Vec<Object>,
    /// The clips, in file order.
    pub clips: Vec<Animation>,
    /// The materials that face labels name; a label may have none.
    pub materials: Vec<Material>,
    /// The images that textures show.
    pub images: Vec<ImageFile>,
    /// Weights of several sliders under one name: the expressions of a VRM avatar.
    pub presets: Vec<Preset>,
    /// The axis that points up. Positions are as in the file, whichever axis it is;
    /// [`Asset::in_space`] converts.
    pub up_axis: UpAxis,
    /// How many metres one unit of the positions is, if the file says so.
    pub meters_per_unit: Option<f64>,
    /// What the reader skipped, corrected or found suspicious, one sentence each.
    pub warnings: Vec<String>,
    /// What its file holds besides, one phrase each: cameras, lights, properties of other programs. A
    /// save that edits the file keeps it, any other save lists it as left out.
    pub other_content: Vec<String>,
    /// The name of the clip that stands for the asset where it has several: the one that was made
    /// last.
    pub main_clip: Option<String>,
    /// Where the file holds numbers that are not finite and that the reader replaced, one sentence
    /// each.
    pub(crate) not_finite: Vec<String>,
    /// Whether glTF stores targets without normals.
    pub(crate) plain_targets: bool,
    /// Whether clips of the original file that are not in `clips` stay in it.
    pub(crate) keeps_original_clips: bool,
    /// The file it was read from, if a save in the same format edits that file.
    pub(crate) original: Option<Arc<Original>>,
}

impl Asset {
    /// An asset of one mesh.
    #[must_use]
    pub fn from_mesh(mesh: Mesh) -> Self {
        Self::from_rig(Rig::without_targets(mesh))
    }

    /// An asset of one rig.
    #[must_use]
    pub fn from_rig(rig: Rig) -> Self {
        Self {
            name: rig.neutral().name().to_owned(),
            objects: vec![Object::new(rig)],
            ..Self::default()
        }
    }

    /// An asset of one clip.
    #[must_use]
    pub fn from_clip(clip: &Clip) -> Self {
        let mut animation = Animation::new(clip.name(), clip.frames().len());
        animation.frames_per_second = clip.frames_per_second();
        animation.frame_names = clip.frame_names().to_vec();
        animation.motions = vec![Motion::new(0, Shape::Points(clip.frames().to_vec()))];

        Self {
            name: clip.name().to_owned(),
            clips: vec![animation],
            ..Self::from_mesh(clip.reference().clone())
        }
    }

    /// The same asset without target displacements shorter than `least`, in asset units.
    pub fn pruned(&self, least: f32) -> Result<Self, IoError> {
        let mut pruned = self.clone();
        for object in &mut pruned.objects {
            let targets = object.rig.targets().iter();
            let targets = targets.map(|target| target.pruned(least)).collect();
            object.rig = object
                .rig
                .with_targets(targets)
                .map_err(|e| self.rig_error(e))?;
        }

        Ok(pruned)
    }

    /// The same asset, whose targets and frames glTF stores without normals: about half the size, for
    /// viewers that compute normals.
    #[must_use]
    pub fn without_target_normals(&self) -> Self {
        Self {
            plain_targets: true,
            ..self.clone()
        }
    }

    /// The same asset with its vertices, in the order of the whole file, at `positions`; without
    /// targets and clips.
    pub fn posed(&self, positions: &[DVec3]) -> Result<Self, IoError> {
        let expected = self.vertex_count();
        if positions.len() != expected {
            return Err(self.rig_error(RigError::VertexCount {
                what: "the list of new positions".into(),
                found: positions.len(),
                expected,
            }));
        }

        let mut objects = Vec::with_capacity(self.objects.len());
        for (object, indices) in self.objects.iter().zip(&self.file_indices()) {
            let own = indices.iter().map(|&v| positions[v as usize]).collect();
            objects.push(object.posed(own).map_err(|e| self.rig_error(e))?);
        }

        Ok(Self {
            objects,
            clips: Vec::new(),
            original: None,
            ..self.clone()
        })
    }

    /// All objects as one mesh, at the weights and in the pose in which the file rests.
    pub fn resting_mesh(&self) -> Result<Mesh, IoError> {
        let mesh = self.mesh()?;
        let at_rest = |o: &Object| o.rest_weights.is_empty() && o.rest_joints.is_none();
        if self.objects.iter().all(at_rest) {
            return Ok(mesh);
        }

        let mut positions = mesh.positions().to_vec();
        for (object, indices) in self.objects.iter().zip(&self.file_indices()) {
            for (&index, position) in indices.iter().zip(object.resting_positions()) {
                positions[index as usize] = position;
            }
        }
        mesh.posed(positions)
            .map_err(|e| self.rig_error(RigError::from(e)))
    }

    /// Whether a save as glTF edits the file that the asset was read from, so that a new clip joins
    /// its targets and clips.
    #[must_use]
    pub fn edits_its_file(&self) -> bool {
        self.original.is_some()
    }

    /// The same asset with a new clip instead of its own ones. A save as the glTF that it was read
    /// from adds the clip to those of the file.
    pub(crate) fn with_new_clip(&self, animation: Animation) -> Self {
        let mut moved = self.clone();
        moved.keeps_original_clips = true;
        moved.main_clip = Some(animation.name.clone());
        moved.clips = vec![animation];
        moved
    }

    /// The only clip of the asset, or its main one, as files store it.
    pub fn only_clip(&self) -> Result<&Animation, IoError> {
        let clip = self.one_clip()?;
        if clip.frame_count == 0 {
            let message = format!("clip '{}' has no frame; export it again", clip.name);
            return Err(self.clip_error(&message));
        }
        Ok(clip)
    }

    fn one_clip(&self) -> Result<&Animation, IoError> {
        let is_main = |clip: &&Animation| Some(&clip.name) == self.main_clip.as_ref();
        if let Some(clip) = self.clips.iter().find(is_main) {
            return Ok(clip);
        }

        let message = match self.clips.as_slice() {
            [clip] => return Ok(clip),
            [] => "it holds no clip; name an asset with frames".into(),
            clips => {
                let names: Vec<_> = clips.iter().map(|c| format!("'{}'", c.name)).collect();
                format!(
                    "it holds {} clips ({}); name one as FILE#NAME",
                    clips.len(),
                    names.join(", ")
                )
            }
        };
        Err(self.clip_error(&message))
    }

    /// The positions of every vertex in one frame of the only clip, in the order of the whole file.
    pub fn frame_positions(&self, frame: usize) -> Result<Vec<DVec3>, IoError> {
        let clip = self.only_clip()?;
        if frame >= clip.frame_count {
            return Err(self.rig_error(RigError::NoSuchFrame {
                frame,
                frames: clip.frame_count,
            }));
        }
        Ok(self.positions_in(clip, frame, &self.file_indices(), self.vertex_count()))
    }

    /// One frame of the only clip as an asset of its own.
    pub fn at_frame(&self, frame: usize) -> Result<Self, IoError> {
        self.posed(&self.frame_positions(frame)?)
    }

    /// The only clip as plain positions over the merged mesh.
    pub fn clip(&self) -> Result<Clip, IoError> {
        let animation = self.only_clip()?;
        let indices = self.file_indices();
        let count = self.vertex_count();

        let mut frames = Vec::with_capacity(animation.frame_count);
        for frame in 0..animation.frame_count {
            frames.push(self.positions_in(animation, frame, &indices, count));
        }

        let clip = Clip::new(&*animation.name, self.mesh()?, frames);
        Ok(clip
            .map_err(|e| self.rig_error(e))?
            .with_frame_names(animation.frame_names.clone())
            .with_frames_per_second(animation.frames_per_second))
    }

    /// The positions of the merged mesh in one frame of one of the clips; `None` if there is no
    /// such frame.
    #[must_use]
    pub fn clip_positions(&self, clip: usize, frame: usize) -> Option<Vec<DVec3>> {
        let clip = self.clips.get(clip)?;
        (frame < clip.frame_count)
            .then(|| self.positions_in(clip, frame, &self.file_indices(), self.vertex_count()))
    }

    /// The positions of a frame, with `indices` as [`Asset::file_indices`] gives them.
    fn positions_in(
        &self,
        clip: &Animation,
        frame: usize,
        indices: &[Vec<u32>],
        count: usize,
    ) -> Vec<DVec3> {
        let mut whole = vec![DVec3::ZERO; count];
        for (k, object) in self.objects.iter().enumerate() {
            for (&index, position) in indices[k].iter().zip(clip.positions(k, object, frame)) {
                whole[index as usize] = position;
            }
        }

        whole
    }

    /// Its source, or else its name, for a message.
    pub(crate) fn display_name(&self) -> String {
        let known = [&self.source, &self.name]
            .into_iter()
            .find(|text| !text.is_empty());
        known.cloned().unwrap_or_else(|| "the asset".into())
    }

    pub(crate) fn rig_error(&self, source: impl Into<RigError>) -> IoError {
        IoError::Rig {
            file: self.display_name(),
            source: source.into(),
        }
    }

    pub(crate) fn clip_error(&self, message: &str) -> IoError {
        IoError::Clip {
            file: self.display_name(),
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::{DAffine3, Vec3};
    use pliant_rig::{Interpolation, Target, WeightTrack};

    use super::*;

    fn object(path: &str, targets: Vec<Target>) -> Object {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        Object {
            path: path.into(),
            ..Object::new(Rig::new(mesh, targets).unwrap())
        }
    }

    /// A still object, and one that a slider lifts while it moves along x as a whole.
    fn moving() -> Asset {
        let lift = Target::from_dense("lift", [Vec3::ZERO, Vec3::ZERO, Vec3::Z]);
        let track = WeightTrack::new(
            vec![1.0, 2.0],
            vec![vec![0.0], vec![2.0]],
            Interpolation::Linear,
        )
        .unwrap();

        let moved_from_rest = [DVec3::ZERO, DVec3::X].map(DAffine3::from_translation);
        let placement = Some(PlacementTrack {
            times_secs: vec![1.0, 2.0],
            moved_from_rest: moved_from_rest.to_vec(),
        });

        let mut clip = Animation::new("hop", 3);
        clip.start_secs = 1.0;
        clip.frames_per_second = 2.0;
        clip.motions = vec![Motion {
            placement,
            ..Motion::new(1, Shape::Weights(track))
        }];

        Asset {
            objects: vec![object("/still", vec![]), object("/rig/hopper", vec![lift])],
            clips: vec![clip],
            ..Asset::default()
        }
    }

    #[test]
    fn a_clip_of_weights_gives_the_positions_of_each_frame() {
        let asset = moving();
        asset.check().unwrap();
        let middle = asset.frame_positions(1).unwrap();
        let half = DVec3::X * 0.5;

        assert_eq!(
            middle,
            [
                DVec3::ZERO,
                DVec3::X,
                DVec3::Y,
                half,
                DVec3::X + half,
                DVec3::Y + DVec3::Z + half
            ]
        );

        let clip = asset.clip().unwrap();
        assert_eq!(
            (clip.frames().len(), clip.frames_per_second(), clip.name()),
            (3, 2.0, "hop")
        );
        assert_eq!(clip.frames()[1], middle);

        assert_eq!(
            asset.at_frame(1).unwrap().mesh().unwrap().positions(),
            middle
        );

        assert_eq!(
            asset.rig().unwrap().evaluate(&[1.0])[5],
            DVec3::Y + DVec3::Z
        );
    }

    #[test]
    fn a_part_comes_with_the_clips_that_move_it() {
        let asset = moving();
        let hopper = asset.part("hopper").unwrap();
        assert_eq!(
            hopper.frame_positions(2).unwrap(),
            [DVec3::X, DVec3::X * 2.0, DVec3::ONE + DVec3::Z]
        );
        assert!(asset.part("/still").unwrap().clips.is_empty());
        assert_eq!(asset.part("hop").unwrap().objects.len(), 2);
    }

    #[test]
    fn motions_that_do_not_fit_their_objects_are_rejected() {
        let mut asset = moving();
        asset.clips[0].motions[0].object = 0;
        assert!(
            asset
                .check()
                .unwrap_err()
                .message
                .contains("moves 1 targets, but its mesh has 0")
        );

        asset.clips[0].motions[0].object = 7;
        assert!(asset.check().unwrap_err().message.contains("object 7 of 2"));
        asset.clips[0].motions = vec![Motion::new(0, Shape::Points(vec![vec![DVec3::ZERO; 2]; 3]))];

        assert!(
            asset
                .check()
                .unwrap_err()
                .message
                .contains("2 vertices in frame 0")
        );

        asset.objects[0].file_index = Some(vec![0, 1, 4_000_000_000]);
        assert!(asset.check().unwrap_err().message.contains("vertex order"));
    }
}
