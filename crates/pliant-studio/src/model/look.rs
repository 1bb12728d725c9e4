//! Display options of a viewport: shading, wireframe, grid, legend.

use serde::{Deserialize, Serialize};

/// Shading of surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Shading {
    /// Normals of vertices, blended between them.
    #[default]
    Smooth,
    /// One normal per triangle.
    Flat,
}

/// Display options of a viewport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// Shading of surfaces.
    pub shading: Shading,
    /// Plain clay instead of materials and textures.
    pub clay: bool,
    /// Lines along the sides of the polygons.
    pub wireframe: bool,
    /// Tints faces that are seen from inside.
    pub backfaces: bool,
    /// A grid on the ground.
    pub grid: bool,
    /// A legend beside a heat map.
    pub legend: bool,
    /// The small axes in the corner.
    pub axes: bool,
    /// The pose before a drag, while it lasts.
    pub ghost: bool,
    /// The poses at the keys before and after the frame.
    pub onion: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            shading: Shading::Smooth,
            clay: false,
            wireframe: false,
            backfaces: false,
            grid: true,
            legend: true,
            axes: true,
            ghost: false,
            onion: false,
        }
    }
}
