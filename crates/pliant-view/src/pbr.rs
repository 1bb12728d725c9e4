//! Materials as files have them: base colour, metalness, roughness, normal map, emission, opacity.
//!
//! **Source.** "glTF 2.0 Specification", section 3.9 (metallic-roughness materials).

use glam::{Vec3, Vec4};

use crate::{TextureMap, ViewError};

/// The materials of a mesh, face by face.
#[derive(Debug, Clone, Default)]
pub struct PbrPaint {
    /// The materials.
    pub materials: Vec<PbrMaterial>,
    /// For each authored face the index of its material; `None` shows the plain surface.
    pub of_face: Vec<Option<u32>>,
    /// One colour for each vertex, in linear light with opacity; may be empty.
    pub vertex_colors: Vec<Vec4>,
}

/// A metallic-roughness material.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PbrMaterial {
    /// Colour in linear light, and opacity.
    pub base_color: Vec4,
    /// Colours by which it is multiplied.
    pub base_color_map: Option<TextureMap>,
    /// 1 for metals, 0 for everything else.
    pub metallic: f32,
    /// 0 for a mirror, 1 for a matte surface.
    pub roughness: f32,
    /// Roughness in green, metalness in blue.
    pub metallic_roughness_map: Option<TextureMap>,
    /// Normals in tangent space; green points up in the image.
    pub normal_map: Option<TextureMap>,
    /// The factor of the slopes of the normal map.
    pub normal_scale: f32,
    /// The openness to light from all directions, in red.
    pub occlusion_map: Option<TextureMap>,
    /// Emitted light.
    pub emissive: Vec3,
    /// Colours by which it is multiplied.
    pub emissive_map: Option<TextureMap>,
    /// Opacity in red, by which that of the base colour is multiplied.
    pub opacity_map: Option<TextureMap>,
    /// How opacity is used.
    pub transparency: Transparency,
    /// Whether the back of faces is drawn.
    pub double_sided: bool,
    /// Whether the base colour is shown without light.
    pub unlit: bool,
    /// Whether the base colour is multiplied by the colours of vertices.
    pub vertex_colors: bool,
}

/// How opacity is used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Transparency {
    /// It is ignored.
    #[default]
    Opaque,
    /// The surface is visible where opacity is at least this number.
    Mask(f32),
    /// The surface is mixed with what is behind it.
    Blend,
}

impl PbrPaint {
    /// The material of an authored face.
    pub(crate) fn material(&self, face: usize) -> Option<&PbrMaterial> {
        let index = (*self.of_face.get(face)?)?;
        self.materials.get(index as usize)
    }

    /// Rejects paint that does not fit a mesh.
    pub(crate) fn check(
        &self,
        mesh: usize,
        vertices: usize,
        faces: usize,
    ) -> Result<(), ViewError> {
        let count = |what, found, expected| {
            if found == expected {
                return Ok(());
            }
            Err(ViewError::Count {
                what,
                mesh,
                found,
                expected,
            })
        };
        count("the list of face materials", self.of_face.len(), faces)?;
        if self.vertex_colors.is_empty() {
            return Ok(());
        }
        count(
            "the list of vertex colours",
            self.vertex_colors.len(),
            vertices,
        )
    }
}

impl Default for PbrMaterial {
    fn default() -> Self {
        Self {
            base_color: Vec4::ONE,
            base_color_map: None,
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_map: None,
            normal_map: None,
            normal_scale: 1.0,
            occlusion_map: None,
            emissive: Vec3::ZERO,
            emissive_map: None,
            opacity_map: None,
            transparency: Transparency::Opaque,
            double_sided: true,
            unlit: false,
            vertex_colors: false,
        }
    }
}
