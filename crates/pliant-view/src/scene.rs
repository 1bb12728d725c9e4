//! The content of a picture: meshes with materials, strokes, markers, ground and background.

use std::sync::Arc;

use glam::DVec3;
use pliant_mesh::{Bounds, Mesh};

use crate::{Camera, Color, ColorMap, Framing, Legend, PbrPaint, ScalarRange, View, ViewError};

/// The content of a picture.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Meshes, each with its material.
    pub objects: Vec<Object>,
    /// Curves drawn over the surface.
    pub strokes: Vec<Stroke>,
    /// Small balls, such as pins.
    pub markers: Vec<Marker>,
    /// The background.
    pub backdrop: Backdrop,
    /// A colour legend at the right side.
    pub legend: Option<Legend>,
}

/// A mesh with its material.
#[derive(Debug, Clone)]
pub struct Object {
    /// The surface.
    pub mesh: Mesh,
    /// Its material.
    pub material: Material,
}

/// The appearance of a surface.
#[derive(Debug, Clone)]
pub struct Material {
    /// The colour of the unpainted surface.
    pub color: Color,
    /// The colour of the back of faces, which shows that a face is seen from behind.
    pub back_color: Color,
    /// What is painted onto it.
    pub paint: Paint,
    /// Lines along the edges of the authored polygons, if they are shown.
    pub wire: Option<Wire>,
    /// Faces that meet at a greater angle show a sharp edge; zero shows every face flat.
    pub crease_rad: f64,
}

/// Colours on a surface.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Paint {
    /// The material's own colour everywhere.
    #[default]
    Plain,
    /// One colour per vertex.
    VertexColors(Vec<Color>),
    /// One colour per authored face.
    FaceColors(Vec<Color>),
    /// One number per vertex.
    VertexScalar(ScalarPaint),
    /// One number per authored face.
    FaceScalar(ScalarPaint),
    /// Materials with textures, as files have them.
    Pbr(Arc<PbrPaint>),
}

/// Numbers on a surface, shown through a colour map.
#[derive(Debug, Clone)]
pub struct ScalarPaint {
    /// One per vertex or face; NaN and infinities are grey.
    pub values: Vec<f64>,
    /// The colours.
    pub map: ColorMap,
    /// The values at the ends of the map.
    pub range: ScalarRange,
    /// Lines of equal value at this spacing, if any; for values per vertex only.
    pub isoline_spacing: Option<f64>,
}

/// Lines along the edges of the authored polygons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wire {
    /// Their colour.
    pub color: Color,
    /// Their width in pixels.
    pub width_px: f64,
    /// 1 covers the surface, 0 is invisible.
    pub opacity: f64,
}

/// A curve through space, drawn with a round brush.
#[derive(Debug, Clone)]
pub struct Stroke {
    /// Points along the curve.
    pub points: Vec<DVec3>,
    /// Its colour.
    pub color: Color,
    /// The brush's width in pixels.
    pub width_px: f64,
}

/// A small ball of fixed size on the screen.
#[derive(Debug, Clone, Copy)]
pub struct Marker {
    /// Its centre.
    pub position: DVec3,
    /// Its colour.
    pub color: Color,
    /// Its radius in pixels.
    pub radius_px: f64,
}

/// The background of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backdrop {
    /// The colour at the top of the picture.
    pub top: Color,
    /// The colour at the bottom of the picture.
    pub bottom: Color,
    /// The surface that receives the shadows of the meshes.
    pub ground: Ground,
}

/// The floor under the meshes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Ground {
    /// Nothing.
    None,
    /// An invisible floor at the lowest vertex, which shows only the shadow.
    #[default]
    Floor,
    /// Like [`Ground::Floor`], at a given height along the up direction of the camera, so that it
    /// rests while meshes move.
    FloorAt(f64),
}

impl Scene {
    /// A scene of one mesh.
    #[must_use]
    pub fn of(mesh: &Mesh, material: Material) -> Self {
        Self::default().with_mesh(mesh, material)
    }

    /// The scene with one more mesh.
    #[must_use]
    pub fn with_mesh(mut self, mesh: &Mesh, material: Material) -> Self {
        self.objects.push(Object {
            mesh: mesh.clone(),
            material,
        });
        self
    }

    /// The scene with one more stroke.
    #[must_use]
    pub fn with_stroke(mut self, stroke: Stroke) -> Self {
        self.strokes.push(stroke);
        self
    }

    /// The scene with one more marker.
    #[must_use]
    pub fn with_marker(mut self, marker: Marker) -> Self {
        self.markers.push(marker);
        self
    }

    /// The scene with a colour legend.
    #[must_use]
    pub fn with_legend(self, legend: Legend) -> Self {
        Self {
            legend: Some(legend),
            ..self
        }
    }

    /// Every finite point of the scene that a camera should see.
    #[must_use]
    pub fn points(&self) -> Vec<DVec3> {
        let mut points = Vec::new();
        for object in &self.objects {
            points.extend_from_slice(object.mesh.positions());
        }
        for stroke in &self.strokes {
            points.extend_from_slice(&stroke.points);
        }
        points.extend(self.markers.iter().map(|marker| marker.position));

        points.retain(|point| point.is_finite());
        points
    }

    /// The nearest camera from `view` that shows the whole scene and leaves room for its legend.
    #[must_use]
    pub fn camera(&self, view: View, size: [usize; 2]) -> Camera {
        let room = self.legend.as_ref().map_or(0.0, |legend| legend.room(size));
        Camera::framing_points(
            &self.points(),
            &Framing::new(view, size).with_room_right(room),
        )
    }

    /// The box around the scene; `None` if it is empty.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::of(&self.points())
    }

    /// Rejects paint that does not fit its mesh.
    pub(crate) fn check(&self) -> Result<(), ViewError> {
        for (mesh, object) in self.objects.iter().enumerate() {
            let vertices = object.mesh.vertex_count();
            let faces = object.mesh.face_count();
            // One entry for each vertex or for each face.
            let (what, found, expected) = match &object.material.paint {
                Paint::Plain => continue,
                Paint::VertexColors(colors) => {
                    ("the list of vertex colours", colors.len(), vertices)
                }
                Paint::FaceColors(colors) => ("the list of face colours", colors.len(), faces),
                Paint::VertexScalar(paint) => {
                    ("the list of vertex values", paint.values.len(), vertices)
                }
                Paint::FaceScalar(paint) => ("the list of face values", paint.values.len(), faces),
                Paint::Pbr(paint) => {
                    paint.check(mesh, vertices, faces)?;
                    continue;
                }
            };

            if found != expected {
                return Err(ViewError::Count {
                    what,
                    mesh,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}

impl Material {
    /// Chosen: smooth over organic forms down to a coarse octagon, sharp at the edges of a box.
    pub const DEFAULT_CREASE_RAD: f64 = 1.0;

    /// Warm clay, the default of every picture.
    #[must_use]
    pub fn clay() -> Self {
        Self::plain(Color::srgb8(221, 191, 170))
    }

    /// A plain surface of one colour.
    #[must_use]
    pub fn plain(color: Color) -> Self {
        Self {
            color,
            back_color: Color::srgb8(122, 134, 152),
            paint: Paint::Plain,
            wire: None,
            crease_rad: Self::DEFAULT_CREASE_RAD,
        }
    }

    /// Values per vertex through `map`, over their own range.
    #[must_use]
    pub fn scalar(values: Vec<f64>, map: ColorMap) -> Self {
        Self {
            paint: Paint::VertexScalar(ScalarPaint::new(values, map)),
            ..Self::clay()
        }
    }

    /// The material with another paint.
    #[must_use]
    pub fn with_paint(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }

    /// The material with the authored polygons' edges.
    #[must_use]
    pub fn with_wire(self, wire: Wire) -> Self {
        Self {
            wire: Some(wire),
            ..self
        }
    }

    /// The material with every face flat.
    #[must_use]
    pub fn flat(self) -> Self {
        Self {
            crease_rad: 0.0,
            ..self
        }
    }
}

impl Default for Material {
    fn default() -> Self {
        Self::clay()
    }
}

impl ScalarPaint {
    /// Values through `map`, over their own range; about zero for the diverging map.
    #[must_use]
    pub fn new(values: Vec<f64>, map: ColorMap) -> Self {
        let own = ScalarRange::of(&values);
        let range = if map == ColorMap::Diverging {
            own.symmetric()
        } else {
            own
        };

        Self {
            values,
            map,
            range,
            isoline_spacing: None,
        }
    }

    /// Over a given range.
    #[must_use]
    pub fn with_range(self, range: ScalarRange) -> Self {
        Self { range, ..self }
    }

    /// With lines of equal value at this spacing.
    #[must_use]
    pub fn with_isolines(self, spacing: f64) -> Self {
        Self {
            isoline_spacing: Some(spacing),
            ..self
        }
    }
}

impl Wire {
    /// Chosen: thin enough for dense meshes.
    pub const DEFAULT_WIDTH_PX: f64 = 1.1;
}

impl Default for Wire {
    fn default() -> Self {
        Self {
            color: Color::srgb8(54, 42, 38),
            width_px: Self::DEFAULT_WIDTH_PX,
            opacity: 0.75,
        }
    }
}

impl Stroke {
    /// A stroke in the accent colour.
    #[must_use]
    pub fn new(points: Vec<DVec3>) -> Self {
        Self {
            points,
            color: Color::srgb8(32, 104, 176),
            width_px: 3.0,
        }
    }

    /// The stroke in another colour.
    #[must_use]
    pub fn colored(self, color: Color) -> Self {
        Self { color, ..self }
    }
}

impl Marker {
    /// A pin in the accent colour.
    #[must_use]
    pub fn new(position: DVec3) -> Self {
        Self {
            position,
            color: Color::srgb8(206, 62, 48),
            radius_px: 6.0,
        }
    }

    /// The marker in another colour.
    #[must_use]
    pub fn colored(self, color: Color) -> Self {
        Self { color, ..self }
    }
}

impl Default for Backdrop {
    fn default() -> Self {
        Self {
            top: Color::srgb8(250, 250, 249),
            bottom: Color::srgb8(226, 227, 229),
            ground: Ground::Floor,
        }
    }
}
