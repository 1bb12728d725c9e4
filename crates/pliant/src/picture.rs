//! Pictures of meshes in one look: what `render` and `demo` draw.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_view::{
    Camera, Color, ColorMap, Framing, Ground, Image, Legend, Material, Paint, ScalarPaint,
    ScalarRange, Scene, Stage, View, ViewError, Wire, turntable,
};

/// How a mesh is painted.
#[derive(Debug, Clone, Default)]
pub struct Look {
    wire: bool,
    flat: bool,
    scalar: Option<(Vec<f64>, String)>,
    range: Option<ScalarRange>,
    isolines: Option<f64>,
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

    /// The values at the ends of the colours; beyond them colours stay. Default: the least and the
    /// greatest.
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
            return Scene::of(mesh, material.with_paint(own_paint(mesh)));
        };
        let paint = |values: &[f64]| {
            let paint = ScalarPaint::new(values.to_vec(), ColorMap::Sequential);
            let paint = self
                .range
                .map_or(paint.clone(), |range| paint.with_range(range));
            self.isolines
                .map_or(paint.clone(), |spacing| paint.with_isolines(spacing))
        };
        let (paint, legend) = if values.len() == mesh.vertex_count() {
            let paint = paint(values);
            (
                Paint::VertexScalar(paint.clone()),
                Legend::of(&paint, title),
            )
        } else {
            let paint = paint(&per_face(mesh, values));
            (Paint::FaceScalar(paint.clone()), Legend::of(&paint, title))
        };
        Scene::of(mesh, material.with_paint(paint)).with_legend(legend)
    }
}

/// The mesh's own colours: those of its vertices, else those that its materials' names suggest.
fn own_paint(mesh: &Mesh) -> Paint {
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

/// The colours that faces have by the names of their materials; plain where no name says anything.
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

/// The colour that a material of a character usually has, by a word in its name.
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

/// Values of triangles as the means of their faces; anything else stays as it is.
pub(crate) fn per_face(mesh: &Mesh, values: &[f64]) -> Vec<f64> {
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

/// Where the camera stands and how large the picture is.
#[derive(Debug, Clone, Copy)]
pub struct Shot {
    view: View,
    size: [usize; 2],
}

impl Shot {
    /// A shot from `view`, framed by what it shows.
    #[must_use]
    pub fn new(view: View, size: [usize; 2]) -> Self {
        Self { view, size }
    }

    /// The camera of [`of`](Self::of).
    #[must_use]
    pub fn camera(&self, mesh: &Mesh, look: &Look) -> Camera {
        look.scene(mesh).camera(self.view, self.size)
    }

    /// The picture of `mesh`, framed by it.
    pub fn of(&self, mesh: &Mesh, look: &Look) -> Result<Image, ViewError> {
        let scene = look.scene(mesh);
        Stage::prepare(&scene)?.render(&scene.camera(self.view, self.size), self.size)
    }

    /// The picture of one pose of a mesh, framed by its rest and standing on its floor, so that
    /// several poses keep their place.
    pub fn of_pose(&self, pose: &Mesh, rest: &Mesh, look: &Look) -> Result<Image, ViewError> {
        let mut scene = look.scene(pose);
        scene.backdrop.ground = rest
            .bounds()
            .map_or(Ground::None, |bounds| Ground::FloorAt(bounds.min.y));
        self.framed_by(rest.positions(), &scene)
    }

    /// The picture of a scene, framed by some points of it.
    pub fn framed_by(&self, points: &[DVec3], scene: &Scene) -> Result<Image, ViewError> {
        let camera = Camera::framing_points(points, &Framing::new(self.view, self.size));
        Stage::prepare(scene)?.render(&camera, self.size)
    }

    /// One turn around `mesh`.
    pub fn turntable(
        &self,
        mesh: &Mesh,
        look: &Look,
        frames: usize,
    ) -> Result<Vec<Image>, ViewError> {
        let scene = look.scene(mesh);
        turntable(
            &Stage::prepare(&scene)?,
            &scene.camera(self.view, self.size),
            self.size,
            frames,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    #[test]
    fn numbers_per_vertex_face_and_triangle_are_all_shown() {
        let sheet = bumpy_sheet(4, 0.2);
        for count in [
            sheet.vertex_count(),
            sheet.face_count(),
            sheet.triangles().len(),
        ] {
            let look = Look::default().with_scalar((0..count).map(|i| i as f64).collect(), "index");
            Shot::new(View::Front, [60, 40])
                .of(&sheet, &look)
                .expect("values that fit");
        }
        let look = Look::default().with_scalar(vec![1.0; 7], "too few");
        let message = Shot::new(View::Front, [60, 40])
            .of(&sheet, &look)
            .unwrap_err()
            .to_string();
        assert!(message.contains('7'), "{message}");
    }

    #[test]
    fn triangles_of_a_quad_are_averaged() {
        let sheet = bumpy_sheet(1, 0.0);
        assert_eq!(per_face(&sheet, &[1.0, 3.0]), vec![2.0]);
    }

    #[test]
    fn a_picture_is_the_same_bytes_twice() {
        let sphere = icosphere(2);
        let draw = || {
            Shot::new(View::ThreeQuarter, [80, 60])
                .of(&sphere, &Look::default())
                .unwrap()
                .to_png()
                .unwrap()
        };
        assert_eq!(draw(), draw());
    }
}
