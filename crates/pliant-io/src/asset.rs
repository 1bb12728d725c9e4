//! What a file holds: objects and clips.
//!
//! Objects are listed one by one, as the file has them. Vertex indices that a person gives run over
//! the **whole** file in its own order, so the asset also has a merged view: [`Asset::mesh`],
//! [`Asset::rig`] and [`Asset::clip`] are over that order, and [`Asset::posed`] takes positions in
//! it.

use std::sync::Arc;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{FaceLabels, Mesh};
use pliant_rig::{Clip, Rig, RigError};

use crate::gltf::Seams;
use crate::{Animation, IoError, Motion, ReadError, Shape, SkinBinding, UpAxis};

/// Everything that was in a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Asset {
    /// The asset's name: the file's without its ending.
    pub name: String,
    /// The file or locator it came from, for messages; empty for an asset made in memory.
    pub source: String,
    /// The meshes with their targets, in file order.
    pub objects: Vec<Object>,
    /// The clips, in file order.
    pub clips: Vec<Animation>,
    /// The axis that points up. Positions are as in the file, whichever it is.
    pub up_axis: UpAxis,
    /// How many metres one unit of the positions is, where the file says.
    pub meters_per_unit: Option<f64>,
    /// What was odd on reading, one sentence each.
    pub problems: Vec<String>,
}

/// A mesh of an asset and the targets that move it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Object {
    /// The way to it in the file, as `/rig/child`; its last part is its name. Empty where the file
    /// gives none.
    pub path: String,
    /// The mesh and its targets, which may be none.
    pub rig: Rig,
    /// How many vertices the file stores for it, before any welding.
    pub file_vertices: usize,
    /// For each vertex its index in the whole file's order, ascending; vertices of one index are
    /// one vertex. `None`: they follow those of the objects before.
    pub file_index: Option<Vec<u32>>,
    /// Smoothing group of each face, in OBJ's words.
    pub smoothing: FaceLabels,
    /// The weights at which the file has it rest, one for each target; empty where they are all
    /// zero.
    pub rest_weights: Vec<f64>,
    /// The joints that its vertices follow, where there are some; its neutral is the pose in which
    /// it is bound to them.
    pub skin: Option<SkinBinding>,
    /// How glTF stored its vertices, so that they are stored so again.
    pub(crate) seams: Option<Arc<Seams>>,
}

impl Object {
    /// An object at the path of its mesh's name.
    #[must_use]
    pub fn new(rig: Rig) -> Self {
        let (path, file_vertices) = (
            rig.neutral().name().to_owned(),
            rig.neutral().vertex_count(),
        );
        let (smoothing, rest_weights) = (FaceLabels::default(), Vec::new());
        Self {
            path,
            rig,
            file_vertices,
            file_index: None,
            smoothing,
            rest_weights,
            skin: None,
            seams: None,
        }
    }

    /// The last part of its path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Its number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.rig.neutral().vertex_count()
    }

    fn posed(&self, positions: Vec<DVec3>) -> Result<Self, RigError> {
        let neutral = self.rig.neutral().posed(positions)?;
        Ok(Self {
            rig: Rig::still(neutral),
            rest_weights: Vec::new(),
            skin: None,
            ..self.clone()
        })
    }
}

impl Asset {
    /// An asset of one mesh.
    #[must_use]
    pub fn from_mesh(mesh: Mesh) -> Self {
        Self::from_rig(Rig::still(mesh))
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
        let mut asset = Self {
            name: clip.name().to_owned(),
            ..Self::from_mesh(clip.reference().clone())
        };
        let mut animation = Animation::new(clip.name(), clip.frames().len());
        animation.frames_per_second = clip.frames_per_second();
        animation.frame_names = clip.frame_names().to_vec();
        animation.motions = vec![Motion::new(0, Shape::Points(clip.frames().to_vec()))];
        asset.clips.push(animation);
        asset
    }

    /// The same asset without target displacements shorter than `least`, in the asset's units.
    pub fn pruned(&self, least: f32) -> Result<Self, IoError> {
        let mut pruned = self.clone();
        for object in &mut pruned.objects {
            let targets = object
                .rig
                .targets()
                .iter()
                .map(|target| target.pruned(least))
                .collect();
            object.rig =
                Rig::new(object.rig.neutral().clone(), targets).map_err(|e| self.broken(e))?;
        }
        Ok(pruned)
    }

    /// The same asset with its vertices, in the whole file's order, at `positions`; without targets
    /// and clips.
    pub fn posed(&self, positions: &[DVec3]) -> Result<Self, IoError> {
        let expected = self.vertex_count();
        if positions.len() != expected {
            let what = "the list of new positions".into();
            return Err(self.broken(RigError::VertexCount {
                what,
                found: positions.len(),
                expected,
            }));
        }
        let places = self.file_indices();
        let objects = self.objects.iter().zip(&places).map(|(object, places)| {
            let own = places.iter().map(|&v| positions[v as usize]).collect();
            object.posed(own).map_err(|e| self.broken(e))
        });
        Ok(Self {
            objects: objects.collect::<Result<_, _>>()?,
            clips: Vec::new(),
            ..self.clone()
        })
    }

    /// The asset's only clip, as files hold it.
    pub fn only_clip(&self) -> Result<&Animation, IoError> {
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
        Err(IoError::Clip {
            file: self.shown_source(),
            message,
        })
    }

    /// The positions of every vertex in one frame of the only clip, in the whole file's order.
    pub fn frame_positions(&self, frame: usize) -> Result<Vec<DVec3>, IoError> {
        let clip = self.only_clip()?;
        if frame >= clip.frame_count {
            return Err(self.broken(RigError::NoSuchFrame {
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
        let (places, count) = (self.file_indices(), self.vertex_count());
        let frames = (0..animation.frame_count)
            .map(|k| self.positions_in(animation, k, &places, count))
            .collect();
        let clip = Clip::new(&*animation.name, self.mesh()?, frames).map_err(|e| self.broken(e))?;
        Ok(clip
            .with_frame_names(animation.frame_names.clone())
            .with_frames_per_second(animation.frames_per_second))
    }

    /// The positions of the merged mesh in one frame of one of the clips; `None` where there is no
    /// such frame.
    #[must_use]
    pub fn clip_positions(&self, clip: usize, frame: usize) -> Option<Vec<DVec3>> {
        let animation = self
            .clips
            .get(clip)
            .filter(|animation| frame < animation.frame_count)?;
        Some(self.positions_in(animation, frame, &self.file_indices(), self.vertex_count()))
    }

    fn positions_in(
        &self,
        clip: &Animation,
        frame: usize,
        places: &[Vec<u32>],
        count: usize,
    ) -> Vec<DVec3> {
        let mut whole = vec![DVec3::ZERO; count];
        for (k, object) in self.objects.iter().enumerate() {
            for (&place, position) in places[k].iter().zip(clip.positions(k, object, frame)) {
                whole[place as usize] = position;
            }
        }
        whole
    }

    /// Declines NaN and infinity in positions, targets and frames.
    pub fn require_finite(&self) -> Result<(), IoError> {
        match self.not_finite() {
            None => Ok(()),
            Some(message) => Err(IoError::NotFinite {
                file: self.shown_source(),
                message,
            }),
        }
    }

    /// A sentence about the first number that is not finite.
    pub(crate) fn not_finite(&self) -> Option<String> {
        let in_rigs = self
            .objects
            .iter()
            .find_map(|o| o.rig.require_finite().err());
        in_rigs
            .map(|e| e.to_string())
            .or_else(|| self.clips.iter().find_map(frame_not_finite))
    }

    /// Whether everything fits together: readers cannot check what comes from several places.
    pub(crate) fn check(&self) -> Result<(), ReadError> {
        let total: usize = self.objects.iter().map(Object::vertex_count).sum();
        for object in &self.objects {
            if let Some(Err(message)) = object
                .skin
                .as_ref()
                .map(|skin| skin.check(object.vertex_count()))
            {
                return Err(ReadError::whole(format!(
                    "object '{}' {message}",
                    object.path
                )));
            }
            let Some(index) = &object.file_index else {
                continue;
            };
            // Every vertex of the file is in an object, so that no index may exceed their sum.
            if index.len() != object.vertex_count() || index.iter().any(|&v| v as usize >= total) {
                let message = format!(
                    "the vertex order of object '{}' does not fit its {} vertices",
                    object.path,
                    object.vertex_count()
                );
                return Err(ReadError::whole(message));
            }
        }
        self.clips
            .iter()
            .try_for_each(|clip| clip.check(&self.objects))
    }

    /// Its source, or its name, for a message.
    pub(crate) fn shown_source(&self) -> String {
        let known = [&self.source, &self.name]
            .into_iter()
            .find(|text| !text.is_empty());
        known.cloned().unwrap_or_else(|| "the asset".into())
    }

    pub(crate) fn broken(&self, source: impl Into<RigError>) -> IoError {
        IoError::Rig {
            file: self.shown_source(),
            source: source.into(),
        }
    }
}

fn frame_not_finite(clip: &Animation) -> Option<String> {
    let joint_not_finite = |motion: &Motion| {
        let frame = motion
            .skin
            .as_ref()?
            .motions
            .iter()
            .position(|joints| joints.iter().any(|joint| !joint.is_finite()))?;
        Some(format!(
            "frame {frame} of clip '{}' moves a joint to a place that is not finite; repair the file",
            clip.name
        ))
    };
    clip.motions.iter().find_map(|motion| {
        if let Some(message) = joint_not_finite(motion) {
            return Some(message);
        }
        let bad_track = |numbers: &[Vec<f64>]| numbers.iter().position(|row| row.iter().any(|w| !w.is_finite()));
        match &motion.shape {
            Shape::Rest => None,
            Shape::Points(frames) => frames.iter().enumerate().find_map(|(k, frame)| {
                let vertex = frame.iter().position(|p| !p.is_finite())?;
                Some(format!("frame {k} of clip '{}' holds a number that is not finite at vertex {vertex}; repair the file", clip.name))
            }),
            Shape::Weights(track) => {
                let key = bad_track(track.keys())?;
                Some(format!("key {key} of clip '{}' holds a weight that is not finite; repair the file", clip.name))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::{DAffine3, Vec3};
    use pliant_rig::{Interpolation, Target, WeightTrack};

    use super::*;
    use crate::PlacementTrack;

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
        let places = [DVec3::ZERO, DVec3::X]
            .map(DAffine3::from_translation)
            .to_vec();
        let placement = Some(PlacementTrack {
            times_secs: vec![1.0, 2.0],
            moved_from_rest: places,
        });
        let mut clip = Animation::new("hop", 3);
        (clip.start_secs, clip.frames_per_second) = (1.0, 2.0);
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
    fn weights_stay_weights_and_give_positions_frame_by_frame() {
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
    fn motions_that_do_not_fit_their_objects_are_declined() {
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
