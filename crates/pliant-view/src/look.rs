//! The look of a mesh in a picture: paint, wire, and one number per vertex or face as colour.

use std::sync::Arc;

use pliant_mesh::Mesh;

use crate::{
    Color, ColorMap, Legend, Material, Paint, PbrPaint, ScalarPaint, ScalarRange, Scene, Wire,
};

/// How a mesh is painted.
#[derive(Debug, Clone, Default)]
pub struct Look {
    wire: bool,
    flat: bool,
    scalar: Option<(Vec<f64>, String)>,
    range: Option<ScalarRange>,
    isolines: Option<f64>,
    materials: Option<Arc<PbrPaint>>,
}

impl Look {
    /// Draws the authored edges.
    #[must_use]
    pub fn with_wire(self, wire: bool) -> Self {
        Self { wire, ..self }
    }

    /// Gives each face one normal.
    #[must_use]
    pub fn with_flat(self, flat: bool) -> Self {
        Self { flat, ..self }
    }

    /// Shows one number per vertex, face or triangle as colours, with a legend of that title.
    #[must_use]
    pub fn with_scalar(self, values: Vec<f64>, title: impl Into<String>) -> Self {
        Self {
            scalar: Some((values, title.into())),
            ..self
        }
    }

    /// The values at the two ends of the colour map; values beyond take the colour of the end.
    /// Default: the least and the greatest value.
    #[must_use]
    pub fn with_range(self, low: f64, high: f64) -> Self {
        Self {
            range: Some(ScalarRange { low, high }),
            ..self
        }
    }

    /// Lines of equal value at this spacing, where the numbers are per vertex.
    #[must_use]
    pub fn with_isolines(self, isolines: Option<f64>) -> Self {
        Self { isolines, ..self }
    }

    /// Shows the materials of the file, unless there are numbers to show.
    #[must_use]
    pub fn with_materials(self, materials: Option<Arc<PbrPaint>>) -> Self {
        Self { materials, ..self }
    }

    /// A scene of `mesh` in this look.
    #[must_use]
    pub fn scene(&self, mesh: &Mesh) -> Scene {
        let mut material = Material::clay();
        if self.flat {
            material = material.flat();
        }
        if self.wire {
            material = material.with_wire(Wire::default());
        }

        let Some((values, title)) = &self.scalar else {
            let paint = match &self.materials {
                Some(materials) => Paint::Pbr(Arc::clone(materials)),
                None => own_paint(mesh),
            };
            return Scene::of(mesh, material.with_paint(paint));
        };

        if values.len() == mesh.vertex_count() {
            let paint = self.scalar_paint(values.clone());
            let legend = Legend::of(&paint, title);
            let material = material.with_paint(Paint::VertexScalar(paint));
            return Scene::of(mesh, material).with_legend(legend);
        }

        let paint = self.scalar_paint(face_means(mesh, values));
        let legend = Legend::of(&paint, title);
        let material = material.with_paint(Paint::FaceScalar(paint));
        Scene::of(mesh, material).with_legend(legend)
    }

    fn scalar_paint(&self, values: Vec<f64>) -> ScalarPaint {
        let mut paint = ScalarPaint::new(values, ColorMap::Sequential);
        if let Some(range) = self.range {
            paint = paint.with_range(range);
        }
        if let Some(spacing) = self.isolines {
            paint = paint.with_isolines(spacing);
        }
        paint
    }
}

/// The colours of a mesh: those of its vertices, else those that its material names suggest.
#[must_use]
pub fn own_paint(mesh: &Mesh) -> Paint {
    match mesh.colors().first() {
        Some(layer) => Paint::VertexColors(
            layer
                .values
                .iter()
                .map(|c| Color::srgb([c.x, c.y, c.z]))
                .collect(),
        ),
        None => paint_of_materials(mesh),
    }
}

/// The colours of faces by their material names; plain where no name is known.
fn paint_of_materials(mesh: &Mesh) -> Paint {
    let materials = mesh.materials();
    let colors: Vec<Option<Color>> = materials
        .names
        .iter()
        .map(|name| color_of_material(name))
        .collect();

    if colors.iter().all(Option::is_none) {
        return Paint::Plain;
    }

    let clay = Material::clay().color;
    Paint::FaceColors(
        materials
            .of_face
            .iter()
            .map(|&k| colors[k as usize].unwrap_or(clay))
            .collect(),
    )
}

/// The usual colour of a character's material, by a word in its name.
fn color_of_material(name: &str) -> Option<Color> {
    const KNOWN: [(&str, [u8; 3]); 14] = [
        ("lash", [58, 44, 40]),
        ("brow", [92, 64, 50]),
        ("hair", [104, 72, 54]),
        ("lip", [203, 132, 120]),
        ("nostril", [150, 96, 84]),
        ("pupil", [24, 22, 24]),
        ("iris", [82, 118, 128]),
        ("limbus", [46, 60, 68]),
        ("sclera", [238, 235, 230]),
        ("eyeball", [238, 235, 230]),
        ("teeth", [236, 230, 216]),
        ("gum", [190, 110, 108]),
        ("tongue", [196, 112, 110]),
        ("mouth", [140, 78, 76]),
    ];

    let name = name.to_lowercase();
    KNOWN
        .iter()
        .find(|(word, _)| name.contains(word))
        .map(|&(_, [r, g, b])| Color::srgb8(r, g, b))
}

/// The mean over the triangles of each face; values that are not one per triangle are returned
/// unchanged.
#[must_use]
pub fn face_means(mesh: &Mesh, values: &[f64]) -> Vec<f64> {
    if values.len() != mesh.triangles().len() {
        return values.to_vec();
    }
    let mut sums = vec![(0.0, 0.0); mesh.face_count()];
    for (&face, &value) in mesh.triangle_faces().iter().zip(values) {
        sums[face as usize].0 += value;
        sums[face as usize].1 += 1.0;
    }
    sums.iter().map(|(sum, count)| sum / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn the_triangles_of_a_quad_are_averaged() {
        let sheet = bumpy_sheet(1, 0.0);
        assert_eq!(face_means(&sheet, &[1.0, 3.0]), vec![2.0]);
    }
}
