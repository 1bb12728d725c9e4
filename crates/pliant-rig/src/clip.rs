//! Vertex positions over time.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::RigError;

/// A mesh and its poses, frame by frame.
#[derive(Debug, Clone)]
pub struct Clip {
    name: String,
    reference: Mesh,
    frames: Vec<Vec<DVec3>>,
    frame_names: Vec<String>,
    frames_per_second: f64,
}

impl Clip {
    /// The rate of a clip whose file says none. *Ours*: that of film, and of Blender's default scene.
    pub const DEFAULT_FRAMES_PER_SECOND: f64 = 24.0;

    /// A clip of absolute positions, each frame in the vertex order of `reference`.
    pub fn new(name: impl Into<String>, reference: Mesh, frames: Vec<Vec<DVec3>>) -> Result<Self, RigError> {
        let expected = reference.vertex_count();
        for (k, frame) in frames.iter().enumerate() {
            if frame.len() != expected {
                return Err(RigError::VertexCount { what: format!("frame {k}"), found: frame.len(), expected });
            }
        }
        let frames_per_second = Self::DEFAULT_FRAMES_PER_SECOND;
        Ok(Self { name: name.into(), reference, frames, frame_names: Vec::new(), frames_per_second })
    }

    /// The same clip with a name for each frame.
    #[must_use]
    pub fn with_frame_names(self, frame_names: Vec<String>) -> Self {
        Self { frame_names, ..self }
    }

    /// The same clip at another rate.
    #[must_use]
    pub fn with_frames_per_second(self, frames_per_second: f64) -> Self {
        Self { frames_per_second, ..self }
    }

    /// The clip's name, often that of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mesh at rest; not a frame itself.
    #[must_use]
    pub fn reference(&self) -> &Mesh {
        &self.reference
    }

    /// Absolute positions of every frame.
    #[must_use]
    pub fn frames(&self) -> &[Vec<DVec3>] {
        &self.frames
    }

    /// Names of the frames; empty where the file gives none.
    #[must_use]
    pub fn frame_names(&self) -> &[String] {
        &self.frame_names
    }

    /// Frames per second.
    #[must_use]
    pub fn frames_per_second(&self) -> f64 {
        self.frames_per_second
    }

    /// One frame as a mesh.
    pub fn mesh_at(&self, frame: usize) -> Result<Mesh, RigError> {
        let positions = self.frames.get(frame).ok_or(RigError::NoSuchFrame { frame, frames: self.frames.len() })?;
        Ok(self.reference.posed(positions.clone())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_from_zero_and_the_reference_is_not_one() {
        let mesh = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let clip = Clip::new("up", mesh, vec![vec![DVec3::Z; 3], vec![DVec3::ONE; 3]]).unwrap();
        assert_eq!(clip.mesh_at(1).unwrap().positions(), &[DVec3::ONE; 3]);
        assert_eq!(clip.mesh_at(2).unwrap_err(), RigError::NoSuchFrame { frame: 2, frames: 2 });
    }
}
