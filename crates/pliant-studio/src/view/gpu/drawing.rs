//! A scene as uniforms for the graphics card: matrices, colours, draw order.
//!
//! **Equation.** Normals are transformed by the inverse transpose of the matrix that transforms
//! points.
//!
//! **Implementation.** Matrices are computed in double precision for each model and rounded once.
//! Opaque models come first; translucent models follow from far to near.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use eframe::egui::{Color32, Id, Rgba, Visuals};
use pliant::mesh::Bounds;
use pliant::mesh::glam::{DMat3, DMat4, DVec3, Vec4};

use crate::engine::appearance::Appearance;
use crate::engine::color::Srgba;
use crate::engine::heat::{Heat, HeatMap};
use crate::engine::openness::SceneOpenness;
use crate::engine::surface::{Surface, Vertices};
use crate::model::camera::{Camera, Projection};
use crate::model::look::{Look, Shading};
use crate::view::scene::{Model, Paint, Scene};
use crate::view::screen::View;

/// Uniforms of all models of a picture, in the layout of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct FrameUniforms {
    clip_from_ground: [f32; 16],
    light_from_view: [f32; 16],
    light_from_ground: [f32; 16],
    up: [f32; 4],
    key: [f32; 4],
    fill: [f32; 4],
    rim: [f32; 4],
    backdrop_top: [f32; 4],
    backdrop_bottom: [f32; 4],
    line: [f32; 4],
    back: [f32; 4],
    grid: [f32; 4],
    size: [f32; 4],
    footprint: [f32; 4],
    strengths: [f32; 4],
}

/// Uniforms of one model, in the layout of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct ModelUniforms {
    clip_from_model: [f32; 16],
    view_from_model: [f32; 16],
    normal_from_model: [f32; 16],
    light_from_model: [f32; 16],
    color: [f32; 4],
    params: [f32; 4],
    heat: [f32; 4],
}

/// The array that a model's paint brings along.
#[derive(Debug, Clone)]
pub(super) enum PaintArray {
    None,
    Colors(Arc<Vec<Srgba>>),
    Values(Arc<Vec<f32>>),
}

/// One model, ready to be drawn.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) surface: Arc<Surface>,
    /// The materials it is drawn with; `None` for clay, plain colours and values.
    pub(super) appearance: Option<Arc<Appearance>>,
    /// The openness of its vertices, if it is known.
    pub(super) openness: Option<Arc<Vec<f32>>>,
    pub(super) vertices: Arc<Vertices>,
    pub(super) paint: PaintArray,
    pub(super) numbers: ModelUniforms,
    pub(super) translucent: bool,
    /// Distance of its centre from the camera, where that decides the drawing order.
    depth: f64,
}

/// A picture, ready to be drawn.
#[derive(Debug, Clone)]
pub(in crate::view) struct Drawing {
    /// The viewport.
    pub(super) id: Id,
    /// Width and height in pixels.
    pub(super) size: [u32; 2],
    pub(super) frame: FrameUniforms,
    /// Opaque ones first.
    pub(super) items: Vec<Item>,
    pub(super) wireframe: bool,
    pub(super) grid: bool,
}

impl Drawing {
    /// Whether both show the same models in the same poses from the same camera. Their openness and
    /// whether they rest may differ.
    pub(in crate::view) fn shows_the_same(&self, other: &Self) -> bool {
        let alike = |(a, b): (&Item, &Item)| {
            Arc::ptr_eq(&a.surface, &b.surface)
                && Arc::ptr_eq(&a.vertices, &b.vertices)
                && a.paint.is_same_array(&b.paint)
                && a.numbers.clip_from_model == b.numbers.clip_from_model
        };
        self.size == other.size
            && self.items.len() == other.items.len()
            && self.items.iter().zip(&other.items).all(alike)
    }

    /// Whether shadows are drawn with all samples.
    pub(in crate::view) fn rests(&self) -> bool {
        self.frame.key[3] == 1.0
    }

    /// Draws shadows with all samples or with few.
    pub(in crate::view) fn set_rests(&mut self, rests: bool) {
        self.frame.key[3] = f32::from(u8::from(rests));
    }
}

impl PaintArray {
    fn is_same_array(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Colors(a), Self::Colors(b)) => Arc::ptr_eq(a, b),
            (Self::Values(a), Self::Values(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// The space of the key light: unit lengths are radii of the scene.
#[derive(Debug, Clone, Copy)]
struct LightSpace {
    light_from_world: DMat4,
    /// Directions to key, fill and rim light in the world.
    lamps: [DVec3; 3],
    /// The radius of the scene; 0 without opaque models, which cast no shadow.
    radius: f64,
}

impl LightSpace {
    /// Lamps turn with the camera about the vertical axis, as in `pliant render`.
    fn of(camera: &Camera, scene: &Scene) -> Self {
        let up = DVec3::Y;
        let right = camera.axes().right;
        let back = right.cross(up).normalize_or(DVec3::Z);
        let towards =
            |r: f64, u: f64, b: f64| (right * r + up * u + back * b).normalize_or(DVec3::Y);
        let key = towards(-0.55, 0.95, 0.66);
        let lamps = [key, towards(0.85, 0.10, 0.55), towards(0.50, 0.60, -0.75)];

        let opaque = scene
            .models
            .iter()
            .filter(|model| model.opacity >= Model::OPAQUE);
        let bounds = opaque
            .filter_map(Model::bounds)
            .reduce(|all, one| all.union(&one));
        let radius = bounds.map_or(0.0, |bounds| 0.5 * bounds.diagonal());
        let center = bounds.map_or(DVec3::ZERO, |bounds| bounds.center());

        let aside = if key.x.abs() < 0.6 {
            DVec3::X
        } else {
            DVec3::Y
        };
        let u = key.cross(aside).normalize();
        let axes = DMat3::from_cols(u, key.cross(u), key).transpose();
        let scale = if radius > 0.0 { 1.0 / radius } else { 1.0 };
        Self {
            light_from_world: DMat4::from_mat3(axes * scale) * DMat4::from_translation(-center),
            lamps,
            radius,
        }
    }
}

/// A grid under the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::view) struct Ground {
    /// A corner of a cell near the model's middle.
    center: DVec3,
    /// Side of a cell.
    cell: f64,
    /// How far it reaches, in cells.
    reach: f64,
    /// The box around what stands on it.
    footprint: Bounds,
}

impl Ground {
    /// Cells per diagonal of the model, at least.
    const CELLS: f64 = 7.0;
    /// How far the grid reaches, in diagonals of the model.
    const REACH: f64 = 2.4;
    /// The gap between model and grid, so that a flat sole does not flicker, in diagonals.
    const GAP: f64 = 1e-3;
    /// Cells between two strong lines.
    const STRONG_EVERY: f64 = 5.0;

    /// The part of the model's height that stands on the ground.
    const SOLE: f64 = 0.08;

    /// Under all opaque models, with cells of a round size; `None` without any, or under a point.
    pub(in crate::view) fn under(scene: &Scene) -> Option<Self> {
        let opaque = || {
            scene
                .models
                .iter()
                .filter(|model| model.opacity >= Model::OPAQUE)
        };
        let bounds = opaque()
            .filter_map(Model::bounds)
            .reduce(|all, one| all.union(&one))?;
        let sole = bounds.min.y + Self::SOLE * bounds.size().y;
        let points = opaque().flat_map(|model| {
            (0..model.vertices.positions.len() as u32).map(|vertex| model.position(vertex))
        });

        let standing: Vec<DVec3> = points.filter(|point| point.y <= sole).collect();
        Self::with_footprint(&bounds, Bounds::of(&standing)?)
    }

    /// The same ground, lowered where a model has come to reach below it.
    pub(in crate::view) fn lowered_below(self, scene: &Scene) -> Self {
        let opaque = scene
            .models
            .iter()
            .filter(|model| model.opacity >= Model::OPAQUE);
        let lowest = opaque
            .filter_map(Model::bounds)
            .map(|bounds| bounds.min.y - Self::GAP * bounds.diagonal());
        let y = lowest.fold(self.center.y, f64::min);
        Self {
            center: DVec3 { y, ..self.center },
            ..self
        }
    }

    fn with_footprint(bounds: &Bounds, footprint: Bounds) -> Option<Self> {
        let diagonal = bounds.diagonal();
        let power = 10.0_f64.powf((diagonal / Self::CELLS).log10().floor());
        // The largest round size with enough cells under the model.
        let cell = [5.0, 2.0, 1.0]
            .map(|step| step * power)
            .into_iter()
            .find(|cell| cell * Self::CELLS <= diagonal)?;

        // The centre snaps to strong lines, so that the grid does not slide with the model.
        let round = |x: f64| (x / (cell * Self::STRONG_EVERY)).round() * cell * Self::STRONG_EVERY;
        let middle = bounds.center();
        let center = DVec3::new(
            round(middle.x),
            bounds.min.y - Self::GAP * diagonal,
            round(middle.z),
        );

        (cell > 0.0 && center.is_finite()).then(|| Self {
            center,
            cell,
            reach: (Self::REACH * diagonal / cell).ceil(),
            footprint,
        })
    }

    fn world_from_cells(&self) -> DMat4 {
        DMat4::from_translation(self.center) * DMat4::from_scale(DVec3::splat(self.cell))
    }

    /// Middle and half extents of the footprint in cells, as the shader reads them.
    fn footprint_in_cells(&self) -> [f32; 4] {
        let middle = (self.footprint.center() - self.center) / self.cell;
        // Wider than the sole itself, as a soft shadow is.
        let half = (self.footprint.size() * 0.62 / self.cell).max(DVec3::splat(0.3));
        [middle.x, middle.z, half.x, half.z].map(|c| c as f32)
    }

    /// A box around everything that is drawn of it.
    fn bounds(&self) -> Bounds {
        let reach = DVec3::new(1.0, 0.0, 1.0) * (self.reach * self.cell);
        Bounds {
            min: self.center - reach,
            max: self.center + reach,
        }
    }
}

/// Colours that go with the window's theme.
struct Palette {
    backdrop: [Color32; 2],
    line: [f32; 4],
    grid: [f32; 4],
    shadow: f32,
}

impl Palette {
    fn of(visuals: &Visuals) -> Self {
        let fill = visuals.panel_fill;
        let towards = |color: Color32, share| visuals.panel_fill.lerp_to_gamma(color, share);
        // Grey of a level, with an opacity.
        let ink = |level: f32, alpha: f32| [level, level, level, alpha];

        if visuals.dark_mode {
            let backdrop = [
                towards(Color32::from_rgb(210, 222, 240), 0.22),
                fill.lerp_to_gamma(Color32::BLACK, 0.1),
            ];
            Self {
                backdrop,
                line: ink(0.01, 0.38),
                grid: ink(1.0, 0.085),
                shadow: 0.55,
            }
        } else {
            let backdrop = [
                towards(Color32::from_rgb(214, 218, 226), 0.3),
                towards(Color32::from_rgb(110, 120, 140), 0.36),
            ];
            Self {
                backdrop,
                line: ink(0.01, 0.38),
                grid: ink(0.0, 0.16),
                shadow: 0.3,
            }
        }
    }
}

/// The tint of back faces, as in the pictures of `pliant render`.
const BACK_TINT: Color32 = Color32::from_rgb(122, 134, 152);
/// How much of it they take on.
const BACK_SHARE: f32 = 1.0;

/// Gathers what the graphics card needs for a picture.
pub(in crate::view) fn compose(
    id: Id,
    view: &View,
    scene: &Scene,
    look: &Look,
    ground: Option<Ground>,
    openness: Option<&SceneOpenness>,
    visuals: &Visuals,
    pixels_per_point: f32,
) -> Drawing {
    let ground = ground.filter(|_| look.grid);
    let rect = view.rect;
    // Rounded edges, so that adjacent viewports share a pixel border.
    let across = |low: f32, high: f32| {
        ((high * pixels_per_point).round() - (low * pixels_per_point).round()).max(0.0) as u32
    };
    let size = [
        across(rect.left(), rect.right()),
        across(rect.top(), rect.bottom()),
    ];

    let view_from_world = view.camera.view_from_world();
    let clip_from_view = view
        .camera
        .clip_from_view(view.aspect(), depths(&view.camera, scene, ground));
    let light = LightSpace::of(&view.camera, scene);
    let mut items: Vec<Item> = scene
        .models
        .iter()
        .map(|model| {
            item(
                model,
                look,
                openness,
                &light,
                view_from_world,
                clip_from_view,
            )
        })
        .collect();

    // Opaque models first, translucent ones from far to near.
    items.sort_by(|a, b| {
        a.translucent
            .cmp(&b.translucent)
            .then(b.depth.total_cmp(&a.depth))
    });

    let frame = frame_numbers(
        view,
        look,
        ground,
        &light,
        visuals,
        size,
        pixels_per_point,
        clip_from_view,
    );

    Drawing {
        id,
        size,
        frame,
        items,
        wireframe: look.wireframe,
        grid: ground.is_some(),
    }
}

/// Least and greatest depth of everything drawn.
fn depths(camera: &Camera, scene: &Scene, ground: Option<Ground>) -> [f64; 2] {
    // Reversed depth needs no far plane in perspective.
    if camera.projection == Projection::Perspective {
        return [0.0, f64::INFINITY];
    }

    let all = scene
        .bounds()
        .into_iter()
        .chain(ground.map(|ground| ground.bounds()))
        .reduce(|all, one| all.union(&one));

    let all = all.unwrap_or(Bounds {
        min: camera.target,
        max: camera.target,
    });
    // An orthographic view is bounded by everything that is drawn.
    let middle = (camera.position() - all.center()).dot(camera.axes().back);
    let reach = 0.5 * all.diagonal() + 1e-3 * camera.distance;

    [middle - reach, middle + reach]
}

fn frame_numbers(
    view: &View,
    look: &Look,
    ground: Option<Ground>,
    light: &LightSpace,
    visuals: &Visuals,
    size: [u32; 2],
    pixels_per_point: f32,
    clip_from_view: DMat4,
) -> FrameUniforms {
    let palette = Palette::of(visuals);
    let axes = view.camera.axes();
    let perspective = view.camera.projection == Projection::Perspective;
    let up = [axes.right.y, axes.up.y, axes.back.y].map(|c| c as f32);
    let [backdrop_top, backdrop_bottom] = palette.backdrop.map(linear);
    let back_share = if look.backfaces { BACK_SHARE } else { 0.0 };
    let [back_red, back_green, back_blue, _] = linear(BACK_TINT);

    let view_from_world = view.camera.view_from_world();
    let world_from_ground = ground.map_or(DMat4::IDENTITY, |ground| ground.world_from_cells());
    let clip_from_ground = clip_from_view * view_from_world * world_from_ground;
    let light_from_ground = light.light_from_world * world_from_ground;
    let light_from_view = light.light_from_world * view_from_world.inverse();
    let lamp = |k: usize, w: f64| {
        let towards = view_from_world.transform_vector3(light.lamps[k]);
        towards.extend(w).as_vec4().to_array()
    };
    let casts = f64::from(u8::from(light.radius > 0.0));

    // From below there is no ground to see a shadow on.
    let above = ground.is_some_and(|ground| view.camera.position().y > ground.center.y);
    let pixels = f64::from(size[1].max(1));
    let pixel_per_depth = 2.0 * view.camera.half_height() / view.camera.distance / pixels;
    let pixel_in_depth = 2.0 * view.camera.half_height() / pixels * clip_from_view.z_axis.z;

    FrameUniforms {
        clip_from_ground: single(clip_from_ground),
        light_from_view: single(light_from_view),
        light_from_ground: single(light_from_ground),
        key: lamp(0, 1.0),
        fill: lamp(1, casts),
        rim: lamp(2, light.radius),
        up: [up[0], up[1], up[2], f32::from(u8::from(perspective))],
        backdrop_top,
        backdrop_bottom,
        line: palette.line,
        back: [back_red, back_green, back_blue, back_share],
        grid: palette.grid,
        size: [
            size[0] as f32,
            size[1] as f32,
            ground.map_or(0.0, |ground| ground.reach as f32),
            pixels_per_point,
        ],
        footprint: ground.map_or([0.0, 0.0, 1.0, 1.0], |ground| ground.footprint_in_cells()),
        strengths: [
            if above { palette.shadow } else { 0.0 },
            pixel_per_depth as f32,
            pixel_in_depth as f32,
            0.0,
        ],
    }
}

fn item(
    model: &Model,
    look: &Look,
    openness: Option<&SceneOpenness>,
    light: &LightSpace,
    view_from_world: DMat4,
    clip_from_view: DMat4,
) -> Item {
    let view_from_model = view_from_world * DMat4::from(model.placement);
    let turn = DMat3::from_mat4(view_from_model);
    // A mirrored placement exchanges the front and back of triangles.
    let mirrored = turn.determinant() < 0.0;
    let flat = model.shading.unwrap_or(look.shading) == Shading::Flat;
    let (paint, kind, color, mut heat) = paint_of(model);
    let count = model.vertices.positions.len();
    let openness = openness
        .and_then(|openness| openness.of_surface(&model.surface))
        .filter(|values| values.len() == count);
    heat[3] = f32::from(u8::from(openness.is_some()));
    let opacity = model.opacity.clamp(0.0, 1.0);
    let numbers = ModelUniforms {
        clip_from_model: single(clip_from_view * view_from_model),
        view_from_model: single(view_from_model),
        normal_from_model: single(DMat4::from_mat3(turn.inverse().transpose())),
        light_from_model: single(light.light_from_world * DMat4::from(model.placement)),
        color: linear(color),
        params: [
            kind,
            opacity,
            f32::from(u8::from(flat)),
            f32::from(u8::from(mirrored)),
        ],
        heat,
    };

    let surface = model.surface.clone();
    let vertices = model.vertices.clone();
    let translucent = opacity < Model::OPAQUE;
    // Only translucent models are sorted, and bounds take a pass over the vertices.
    let middle = if translucent {
        model.bounds().map(|bounds| bounds.center())
    } else {
        None
    };

    let depth = middle.map_or(0.0, |middle| -view_from_world.transform_point3(middle).z);
    Item {
        appearance: shown_appearance(model, look),
        openness: openness.cloned(),
        surface,
        vertices,
        paint,
        numbers,
        translucent,
        depth,
    }
}

/// The materials that a model is drawn with.
fn shown_appearance(model: &Model, look: &Look) -> Option<Arc<Appearance>> {
    let own = matches!(model.paint, Paint::Own | Paint::Colors(_));
    let appearance = model.surface.appearance.as_ref();
    // Vertices of another mesh have no materials here.
    let fits = |appearance: &&Arc<Appearance>| {
        let count = model.vertices.positions.len();
        appearance.sources.iter().all(|&v| (v as usize) < count)
    };
    appearance
        .filter(|_| own && !look.clay)
        .filter(fits)
        .cloned()
}

/// The array of a model's paint, its kind for the shader, its plain colour and its heat range.
fn paint_of(model: &Model) -> (PaintArray, f32, Color32, [f32; 4]) {
    let vertices = model.vertices.positions.len();
    match &model.paint {
        Paint::Colors(colors) if colors.len() == vertices => {
            let array = PaintArray::Colors(colors.clone());
            (array, 1.0, Model::CLAY, [0.0; 4])
        }
        Paint::Heat(heat) if heat.values.len() == vertices => {
            let array = PaintArray::Values(heat.values.clone());
            (array, 2.0, Model::CLAY, heat_numbers(heat))
        }
        Paint::Plain(color) => (PaintArray::None, 0.0, *color, [0.0; 4]),
        Paint::Own => (PaintArray::None, 0.0, Model::CLAY, [0.0; 4]),
        // Paint that does not fit the vertices is of another model.
        Paint::Colors(_) | Paint::Heat(_) => (PaintArray::None, 0.0, Model::CLAY, [0.0; 4]),
    }
}

/// Lower end, one over the width, and the row of the table.
fn heat_numbers(heat: &Heat) -> [f32; 4] {
    let [low, high] = heat.range;
    // An empty range maps everything to the middle colour.
    let [low, per_width] = if high > low {
        [low, 1.0 / (high - low)]
    } else {
        [low - 0.5, 1.0]
    };

    [
        low,
        per_width,
        (table_row(heat.map) as f32 + 0.5) / HeatMap::ALL.len() as f32,
        0.0,
    ]
}

/// The row of a map in the graphics card's table.
pub(super) fn table_row(map: HeatMap) -> usize {
    HeatMap::ALL
        .iter()
        .position(|known| *known == map)
        .unwrap_or(0)
}

fn linear(color: Color32) -> [f32; 4] {
    Rgba::from(color).to_array()
}

fn single(matrix: DMat4) -> [f32; 16] {
    let columns: [Vec4; 4] =
        [matrix.x_axis, matrix.y_axis, matrix.z_axis, matrix.w_axis].map(|column| column.as_vec4());
    std::array::from_fn(|k| columns[k / 4][k % 4])
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{Rect, pos2, vec2};
    use pliant::mesh::glam::DAffine3;
    use pliant::mesh::shapes::{closed_box, icosphere};

    fn composed(scene: &Scene) -> Drawing {
        let rect = Rect::from_min_size(pos2(10.25, 20.0), vec2(400.5, 300.0));
        let view = View {
            camera: Camera::default(),
            rect,
        };

        compose(
            Id::NULL,
            &view,
            scene,
            &Look::default(),
            Ground::under(scene),
            None,
            &Visuals::dark(),
            1.5,
        )
    }

    #[test]
    fn translucent_models_come_last_and_from_far_to_near() {
        let ball = Model::of(&icosphere(1));
        let at = |z: f64, opacity: f32| {
            ball.clone()
                .with_placement(DAffine3::from_translation(DVec3::Z * z))
                .with_opacity(opacity)
        };

        let drawing = composed(&Scene {
            models: vec![at(1.0, 0.5), at(0.0, 1.0), at(-3.0, 0.5), at(4.0, 1.0)],
        });
        let order: Vec<bool> = drawing.items.iter().map(|item| item.translucent).collect();

        assert_eq!(order, [false, false, true, true]);
        assert!(drawing.items[2].depth > drawing.items[3].depth);
    }

    #[test]
    fn paint_of_another_model_is_ignored() {
        let ball = Model::of(&icosphere(1));
        let colors = Paint::Colors(Arc::new(vec![Srgba::from_rgb(255, 0, 0); 3]));
        let drawing = composed(&Scene::of(ball.with_paint(colors)));
        assert!(matches!(drawing.items[0].paint, PaintArray::None));
        assert_eq!(drawing.items[0].numbers.params[0], 0.0);
    }

    #[test]
    fn the_picture_has_the_pixel_size_of_its_rectangle() {
        // 15.375 to 616.125 and 30 to 480.
        assert_eq!(composed(&Scene::default()).size, [601, 450]);
    }

    #[test]
    fn the_ground_is_below_the_model_with_round_cell_sizes() {
        for unit in [1e-3, 1.0, 1e4] {
            let solid = closed_box([1, 1, 1], DVec3::new(1.0, 2.0, 3.0) * unit);
            let ground =
                Ground::under(&Scene::of(Model::of(&solid))).expect("a box stands on the ground");

            assert!(ground.center.y < -unit && ground.center.y > -1.01 * unit);
            // Cells are 1, 2 or 5 times a power of ten.
            let leading = ground.cell / 10.0_f64.powf(ground.cell.log10().floor());
            assert!(
                [1.0, 2.0, 5.0]
                    .iter()
                    .any(|step| (leading - step).abs() < 1e-9),
                "{leading}"
            );

            let cells = 14.0_f64.sqrt() * unit / ground.cell;
            assert!(
                (Ground::CELLS..=2.5 * Ground::CELLS).contains(&cells),
                "{cells} cells"
            );
        }
        assert_eq!(Ground::under(&Scene::default()), None);
    }

    #[test]
    fn the_ground_only_moves_down() {
        let at = |y: f64| {
            Scene::of(
                Model::of(&icosphere(1)).with_placement(DAffine3::from_translation(DVec3::Y * y)),
            )
        };
        let ground = Ground::under(&at(0.0)).expect("a ball stands on the ground");

        assert_eq!(ground.lowered_below(&at(0.0)), ground, "nothing moved");
        let sunk = ground.lowered_below(&at(-0.5));
        assert!(
            (sunk.center.y - (ground.center.y - 0.5)).abs() < 1e-9,
            "it goes down as far as the ball"
        );

        assert_eq!(sunk.lowered_below(&at(2.0)), sunk, "it stays");
        assert_eq!(
            (sunk.cell, sunk.footprint),
            (ground.cell, ground.footprint),
            "the same cells"
        );
    }

    #[test]
    fn a_mirrored_placement_is_passed_to_the_shader() {
        let mirrored = Model::of(&icosphere(1))
            .with_placement(DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0)));
        assert_eq!(
            composed(&Scene::of(mirrored)).items[0].numbers.params[3],
            1.0
        );
    }
}
