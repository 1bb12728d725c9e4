//! Faces: landmarks of any head-like mesh, by registration of a template.
//!
//! - [`FaceTemplate`]: a face with known landmarks.
//! - [`FaceFit`]: the template on another mesh, and how well it fits.
//! - [`find_landmarks`]: vertices for all landmarks, with confidence.
//! - `search`: the pose and the size of the face on the mesh.

mod face_landmarks;
mod search;

pub use face_landmarks::find_landmarks;
pub use search::FaceFit;

use pliant_mesh::Mesh;
use pliant_rig::FaceLandmark;

/// A face with known landmarks: the front of a head without hair, eyes and the inside of the mouth.
/// It looks along +Z, and +Y is up.
#[derive(Debug, Clone)]
pub struct FaceTemplate {
    /// The surface, which is open.
    pub mesh: Mesh,
    /// Its landmarks, by vertex.
    pub landmarks: Vec<(FaceLandmark, u32)>,
}
