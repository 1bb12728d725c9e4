//! Rendering of a viewport into textures that egui copies to the screen.
//!
//! **Implementation.** A picture is rendered again only when something in it changed; otherwise the
//! last one is shown.
//!
//! - `drawing`: a scene as uniforms.
//! - `pipelines`, `shader.wgsl`: how it is rendered.
//! - `buffers`, `materials`, `height_maps`: arrays, textures and shadows on the graphics card.

mod buffers;
pub(super) mod drawing;
mod height_maps;
mod materials;
mod pipelines;

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui::{Context, Id, PaintCallbackInfo};
use eframe::egui_wgpu::{CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use eframe::wgpu;

pub use self::buffers::UploadCounts;
use self::buffers::{Pool, is_stale};
use self::drawing::{Drawing, FrameUniforms, Item, ModelUniforms, PaintArray};
use self::height_maps::HeightMaps;
use self::materials::MaterialCache;
use self::pipelines::{MODEL_STRIDE, Pipelines, RenderTextures};
use crate::engine::appearance::{Appearance, Part};
use crate::engine::color::Srgba;
use crate::engine::surface::{Surface, Vertices};

/// Sets up rendering for the viewports of a window, once; without a graphics card they show a
/// message.
pub fn install(ctx: &Context, state: Option<&RenderState>) {
    ctx.data_mut(|data| data.insert_temp(screen_id(), state.map(|state| state.target_format)));
}

/// What kind of screen the window has, or `None` without a graphics card.
pub(super) fn screen(ctx: &Context) -> Option<wgpu::TextureFormat> {
    ctx.data(|data| data.get_temp::<Option<wgpu::TextureFormat>>(screen_id()))
        .flatten()
}

fn screen_id() -> Id {
    Id::unique("pliant viewport screen")
}

/// What the viewports of a window sent to its graphics card so far.
#[must_use]
pub fn upload_counts(state: &RenderState) -> UploadCounts {
    state
        .renderer
        .read()
        .callback_resources
        .get::<KeptState>()
        .map_or(UploadCounts::default(), |card| card.upload_counts)
}

/// A drawing on its way to the graphics card.
pub(super) struct Picture {
    pub(super) drawing: Drawing,
    pub(super) screen: wgpu::TextureFormat,
    pub(super) frame: u64,
}

impl CallbackTrait for Picture {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        _: &ScreenDescriptor,
        encoder: &mut wgpu::CommandEncoder,
        resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        let card = resources
            .entry::<KeptState>()
            .or_insert_with(|| kept(GpuState::new(device, queue, self.screen)));
        card.draw(device, queue, encoder, &self.drawing, self.frame);
        Vec::new()
    }

    fn paint(
        &self,
        _: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        let Some(card) = resources.get::<KeptState>() else {
            return;
        };
        let Some(target) = card.targets.get(&self.drawing.id) else {
            return;
        };

        pass.set_pipeline(&card.pipelines.blit);
        pass.set_bind_group(0, &target.blit_group, &[]);
        pass.draw(0..3, 0..1);
    }
}

/// The state between two frames. In a browser with threads, it belongs to the thread of the page.
#[cfg(not(target_arch = "wasm32"))]
type KeptState = GpuState;
#[cfg(target_arch = "wasm32")]
type KeptState = send_wrapper::SendWrapper<GpuState>;

fn kept(state: GpuState) -> KeptState {
    #[cfg(not(target_arch = "wasm32"))]
    return state;
    #[cfg(target_arch = "wasm32")]
    send_wrapper::SendWrapper::new(state)
}

/// Everything on the graphics card that outlives a frame.
struct GpuState {
    pipelines: Pipelines,
    triangles: Pool<Surface>,
    edges: Pool<Surface>,
    vertices: Pool<Vertices>,
    colors: Pool<Vec<Srgba>>,
    values: Pool<Vec<f32>>,
    openness: Pool<Vec<f32>>,
    split: SplitPools,
    materials: MaterialCache,
    targets: HashMap<Id, ViewportTarget>,
    upload_counts: UploadCounts,
}

/// Arrays of surfaces with materials, whose vertices are split along UV seams.
struct SplitPools {
    vertices: Pool<Vertices>,
    colors: Pool<Vec<Srgba>>,
    openness: Pool<Vec<f32>>,
}

/// The render target of one viewport.
struct ViewportTarget {
    size: [u32; 2],
    sheets: RenderTextures,
    maps: HeightMaps,
    blit_group: wgpu::BindGroup,
    frame_numbers: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    model_numbers: wgpu::Buffer,
    model_group: wgpu::BindGroup,
    drawn: Option<Fingerprint>,
    last_used: u64,
}

/// All that a picture depends on.
#[derive(PartialEq)]
struct Fingerprint {
    frame: FrameUniforms,
    models: Vec<(ModelUniforms, LoadedBuffers)>,
    wireframe: bool,
    grid: bool,
}

/// The uploads of a model, by their stamps.
#[derive(Clone, Copy, PartialEq)]
struct LoadedBuffers {
    triangles: u64,
    edges: u64,
    vertices: u64,
    /// The vertices of lines, if they are drawn.
    line_vertices: u64,
    paint: u64,
    openness: u64,
}

/// Stands for no upload.
const NOTHING: u64 = 0;

impl GpuState {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, screen: wgpu::TextureFormat) -> Self {
        let vertex = wgpu::BufferUsages::VERTEX;
        let materials = MaterialCache::new(device, queue);
        Self {
            pipelines: Pipelines::new(device, queue, screen, materials.layout()),
            materials,
            openness: Pool::new("openness", vertex),
            split: SplitPools {
                vertices: Pool::new("split vertices", vertex),
                colors: Pool::new("split colours", vertex),
                openness: Pool::new("split openness", vertex),
            },
            triangles: Pool::new("triangles", wgpu::BufferUsages::INDEX),
            edges: Pool::new("edges", wgpu::BufferUsages::INDEX),
            vertices: Pool::new("vertices", wgpu::BufferUsages::VERTEX),
            colors: Pool::new("colors", wgpu::BufferUsages::VERTEX),
            values: Pool::new("values", wgpu::BufferUsages::VERTEX),
            targets: HashMap::new(),
            upload_counts: UploadCounts::default(),
        }
    }

    fn draw(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        drawing: &Drawing,
        frame: u64,
    ) {
        let largest = device.limits().max_texture_dimension_2d;
        // A viewport that is too large or empty has no textures.
        if drawing.size.iter().any(|&side| side == 0 || side > largest) {
            self.targets.remove(&drawing.id);
            return;
        }

        let loaded: Vec<LoadedBuffers> = drawing
            .items
            .iter()
            .map(|item| self.load(device, queue, item, drawing.wireframe, frame))
            .collect();

        self.prepare_target(device, drawing, frame);
        let models = drawing
            .items
            .iter()
            .map(|item| item.numbers)
            .zip(loaded)
            .collect();

        let fingerprint = Fingerprint {
            frame: drawing.frame,
            models,
            wireframe: drawing.wireframe,
            grid: drawing.grid,
        };

        // An unchanged picture is not rendered again.
        if let Some(target) = self.targets.get_mut(&drawing.id)
            && target.drawn.as_ref() != Some(&fingerprint)
        {
            target.write_numbers(queue, &fingerprint);
            target.drawn = Some(fingerprint);
            self.upload_counts.pictures += 1;
            self.render(encoder, drawing);
        }

        self.remove_unused(frame);
    }

    /// Brings the arrays of a model to the graphics card, unless they are there.
    fn load(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        item: &Item,
        wireframe: bool,
        frame: u64,
    ) -> LoadedBuffers {
        let mut card = Uploader {
            device,
            queue,
            frame,
            counts: &mut self.upload_counts,
        };
        let surface = &item.surface;

        // Edges are uploaded only when they are drawn.
        let [edges, line_vertices] = if wireframe {
            [
                card.load(&mut self.edges, surface, |s| {
                    s.edges.as_flattened().to_vec()
                }),
                card.load(&mut self.vertices, &item.vertices, |v| interleaved(v, None)),
            ]
        } else {
            [NOTHING; 2]
        };

        // Vertices with materials are gathered along UV seams.
        let Some(appearance) = &item.appearance else {
            return LoadedBuffers {
                triangles: card.load(&mut self.triangles, surface, |s| {
                    s.triangles.as_flattened().to_vec()
                }),
                edges,
                vertices: card.load(&mut self.vertices, &item.vertices, |v| interleaved(v, None)),
                line_vertices,
                paint: match &item.paint {
                    PaintArray::None => NOTHING,
                    PaintArray::Colors(colors) => card.load(&mut self.colors, colors, |colors| {
                        packed_colors(colors, None)
                    }),
                    PaintArray::Values(values) => {
                        card.load(&mut self.values, values, |values| value_pairs(values))
                    }
                },
                openness: item.openness.as_ref().map_or(NOTHING, |values| {
                    card.load(&mut self.openness, values, |values| values.clone())
                }),
            };
        };

        self.materials.prepare(device, queue, appearance);
        let sources = Some(appearance.sources.as_slice());
        LoadedBuffers {
            triangles: NOTHING,
            edges,
            vertices: card.load(&mut self.split.vertices, &item.vertices, |v| {
                interleaved(v, sources)
            }),
            line_vertices,
            paint: match &item.paint {
                PaintArray::Colors(colors) => card.load(&mut self.split.colors, colors, |colors| {
                    packed_colors(colors, sources)
                }),
                PaintArray::None | PaintArray::Values(_) => NOTHING,
            },
            openness: item.openness.as_ref().map_or(NOTHING, |values| {
                card.load(&mut self.split.openness, values, |values| {
                    let sources = appearance.sources.iter();
                    sources.map(|&v| values[v as usize]).collect::<Vec<f32>>()
                })
            }),
        }
    }

    /// Creates the textures of a viewport, again for another size or more models.
    fn prepare_target(&mut self, device: &wgpu::Device, drawing: &Drawing, frame: u64) {
        let models = drawing.items.len() as u64;
        let target = self.targets.remove(&drawing.id);
        let mut target = match target {
            Some(target) if target.size == drawing.size => target,
            _ => ViewportTarget::new(device, &self.pipelines, drawing.size),
        };

        if target.model_numbers.size() < models * MODEL_STRIDE {
            target.ensure_capacity(device, &self.pipelines, models.next_power_of_two());
        }

        target.last_used = frame;
        self.targets.insert(drawing.id, target);
    }

    fn render(&self, encoder: &mut wgpu::CommandEncoder, drawing: &Drawing) {
        let Some(target) = self.targets.get(&drawing.id) else {
            return;
        };
        let Some(fingerprint) = &target.drawn else {
            return;
        };

        let models = || drawing.items.iter().zip(&fingerprint.models).enumerate();
        for map in 0..2 {
            let mut pass = target.maps.begin(encoder, map);
            pass.set_pipeline(&self.pipelines.heights[map]);
            for (k, (item, (_, loaded))) in models().filter(|(_, (item, _))| !item.translucent) {
                pass.set_bind_group(1, &target.model_group, &[offset_of_model(k)]);
                self.draw_heights(&mut pass, item, loaded);
            }
        }

        let mut pass = target.begin(encoder);
        pass.set_bind_group(0, &target.frame_group, &[]);
        pass.set_bind_group(1, &target.model_group, &[0]);
        pass.set_pipeline(&self.pipelines.backdrop);
        pass.draw(0..3, 0..1);

        for (k, (item, (_, loaded))) in models().filter(|(_, (item, _))| !item.translucent) {
            pass.set_bind_group(1, &target.model_group, &[offset_of_model(k)]);
            self.draw_surface(&mut pass, item, loaded, &self.pipelines.opaque);
            self.draw_parts(&mut pass, item, loaded, &self.pipelines.material, |part| {
                !part.blended()
            });
        }

        for (k, (item, (_, loaded))) in
            models().filter(|(_, (item, _))| drawing.wireframe && !item.translucent)
        {
            pass.set_bind_group(1, &target.model_group, &[offset_of_model(k)]);
            self.draw_lines(&mut pass, item, loaded);
        }

        // The grid is blended over opaque surfaces and under translucent ones.
        if drawing.grid {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..4, 0..1);
        }

        for (k, (item, (_, loaded))) in models() {
            pass.set_bind_group(1, &target.model_group, &[offset_of_model(k)]);
            if item.translucent {
                self.draw_surface(&mut pass, item, loaded, &self.pipelines.translucent);
            }
            // Backs first, so that fronts are mixed with them.
            for pipeline in &self.pipelines.blended {
                self.draw_parts(&mut pass, item, loaded, pipeline, |part| {
                    item.translucent || part.blended()
                });
            }
        }
    }

    /// Draws a model without materials.
    fn draw_surface(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        item: &Item,
        loaded: &LoadedBuffers,
        pipeline: &wgpu::RenderPipeline,
    ) {
        // Models with materials have no triangles of their own.
        let (Some(triangles), Some(vertices)) = (
            self.triangles.buffer(loaded.triangles),
            self.vertices.buffer(loaded.vertices),
        ) else {
            return;
        };

        let paint = match item.paint {
            // Plain models do not read their paint; any buffer that is long enough will do.
            PaintArray::None => Some(vertices),
            PaintArray::Colors(_) => self.colors.buffer(loaded.paint),
            PaintArray::Values(_) => self.values.buffer(loaded.paint),
        };

        let Some(paint) = paint else { return };
        let openness = self.openness.buffer(loaded.openness).unwrap_or(vertices);
        pass.set_pipeline(pipeline);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_vertex_buffer(1, paint.slice(..));
        pass.set_vertex_buffer(2, openness.slice(..));
        pass.set_index_buffer(triangles.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..3 * item.surface.triangles.len() as u32, 0, 0..1);
    }

    /// Draws the parts of a model with materials that are chosen.
    fn draw_parts(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        item: &Item,
        loaded: &LoadedBuffers,
        pipeline: &wgpu::RenderPipeline,
        chosen: impl Fn(&Part) -> bool,
    ) {
        let Some(appearance) = item.appearance.as_ref() else {
            return;
        };
        let (Some(materials), Some(vertices)) = (
            self.materials.find(appearance),
            self.split.vertices.buffer(loaded.vertices),
        ) else {
            return;
        };
        if !appearance.parts.iter().any(&chosen) {
            return;
        }

        let paint = self.split.colors.buffer(loaded.paint).unwrap_or(vertices);
        let openness = self.split.openness.buffer(loaded.openness);
        pass.set_pipeline(pipeline);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_vertex_buffer(1, paint.slice(..));
        pass.set_vertex_buffer(2, openness.unwrap_or(vertices).slice(..));
        pass.set_vertex_buffer(3, materials.places.slice(..));
        pass.set_index_buffer(materials.triangles.slice(..), wgpu::IndexFormat::Uint32);
        for (part, group) in appearance.parts.iter().zip(&materials.groups) {
            if chosen(part) {
                pass.set_bind_group(2, group, &[]);
                pass.draw_indexed(3 * part.triangles.start..3 * part.triangles.end, 0, 0..1);
            }
        }
    }

    /// Draws what casts shadows.
    fn draw_heights(&self, pass: &mut wgpu::RenderPass<'_>, item: &Item, loaded: &LoadedBuffers) {
        let of_materials = item.appearance.as_ref().and_then(|appearance| {
            let triangles = &self.materials.find(appearance)?.triangles;
            let vertices = self.split.vertices.buffer(loaded.vertices)?;
            Some((triangles, vertices, opaque_triangles(appearance)))
        });
        let own = || {
            let triangles = self.triangles.buffer(loaded.triangles)?;
            let vertices = self.vertices.buffer(loaded.vertices)?;
            Some((triangles, vertices, item.surface.triangles.len() as u32))
        };

        let Some((triangles, vertices, count)) = of_materials.or_else(own) else {
            return;
        };
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_index_buffer(triangles.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..3 * count, 0, 0..1);
    }

    fn draw_lines(&self, pass: &mut wgpu::RenderPass<'_>, item: &Item, loaded: &LoadedBuffers) {
        // Models without edges have no lines.
        let (Some(edges), Some(vertices)) = (
            self.edges.buffer(loaded.edges),
            self.vertices.buffer(loaded.line_vertices),
        ) else {
            return;
        };

        pass.set_pipeline(&self.pipelines.lines);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_index_buffer(edges.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..2 * item.surface.edges.len() as u32, 0, 0..1);
    }

    fn remove_unused(&mut self, frame: u64) {
        self.triangles.remove_unused(frame);
        self.edges.remove_unused(frame);
        self.vertices.remove_unused(frame);
        self.colors.remove_unused(frame);
        self.values.remove_unused(frame);
        self.openness.remove_unused(frame);
        self.split.vertices.remove_unused(frame);
        self.split.colors.remove_unused(frame);
        self.split.openness.remove_unused(frame);
        self.materials.remove_unused();
        self.targets
            .retain(|_, target| !is_stale(target.last_used, frame));
    }
}

/// What an upload needs.
struct Uploader<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    frame: u64,
    counts: &'a mut UploadCounts,
}

impl Uploader<'_> {
    /// The stamp of an array, which is uploaded as `packed` unless it is there.
    fn load<T, P: bytemuck::NoUninit>(
        &mut self,
        pool: &mut Pool<T>,
        array: &Arc<T>,
        packed: impl FnOnce(&T) -> Vec<P>,
    ) -> u64 {
        // Arrays that are on the card already are found by their address.
        if let Some(stamp) = pool.find(array, self.frame) {
            return stamp;
        }
        let packed = packed(array);
        let bytes = bytemuck::cast_slice(&packed);
        pool.upload(
            self.device,
            self.queue,
            array,
            self.frame,
            bytes,
            self.counts,
        )
    }
}

/// The triangles before the first translucent part.
fn opaque_triangles(appearance: &Appearance) -> u32 {
    let opaque = appearance.parts.iter().filter(|part| !part.blended());
    opaque.map(|part| part.triangles.end).max().unwrap_or(0)
}

/// A packed colour and an unused word per vertex. The shader reads two words for every kind of
/// paint.
fn packed_colors(colors: &[Srgba], sources: Option<&[u32]>) -> Vec<[u32; 2]> {
    let word = |color: &Srgba| [u32::from_le_bytes(color.0), 0];
    match sources {
        Some(sources) => sources.iter().map(|&v| word(&colors[v as usize])).collect(),
        None => colors.iter().map(word).collect(),
    }
}

/// A value per vertex, and whether there is one.
fn value_pairs(values: &[f32]) -> Vec<[f32; 2]> {
    let mut pairs = Vec::with_capacity(values.len());
    for &value in values {
        pairs.push(if value.is_finite() {
            [value, 1.0]
        } else {
            [0.0; 2]
        });
    }
    pairs
}

fn offset_of_model(k: usize) -> u32 {
    k as u32 * MODEL_STRIDE as u32
}

/// Positions and normals of all vertices, or of those at `sources`.
fn interleaved(vertices: &Vertices, sources: Option<&[u32]>) -> Vec<[f32; 6]> {
    let vertex = |v: usize| {
        let p = vertices.positions[v];
        let n = vertices.normals.get(v).copied().unwrap_or_default();
        [p.x, p.y, p.z, n.x, n.y, n.z]
    };
    match sources {
        Some(sources) => sources.iter().map(|&v| vertex(v as usize)).collect(),
        None => (0..vertices.positions.len()).map(vertex).collect(),
    }
}

impl ViewportTarget {
    fn new(device: &wgpu::Device, pipelines: &Pipelines, size: [u32; 2]) -> Self {
        let sheets = RenderTextures::new(device, size);
        let maps = HeightMaps::new(device);
        let frame_numbers = numbers_buffer(device, size_of::<FrameUniforms>() as u64);
        let model_numbers = numbers_buffer(device, MODEL_STRIDE);

        Self {
            size,
            blit_group: pipelines.blit_group(device, &sheets.picture),
            frame_group: pipelines.frame_group(device, &frame_numbers, &maps),
            maps,
            model_group: pipelines.model_group(device, &model_numbers),
            sheets,
            frame_numbers,
            model_numbers,
            drawn: None,
            last_used: 0,
        }
    }

    fn ensure_capacity(&mut self, device: &wgpu::Device, pipelines: &Pipelines, models: u64) {
        self.model_numbers = numbers_buffer(device, models * MODEL_STRIDE);
        self.model_group = pipelines.model_group(device, &self.model_numbers);
        self.drawn = None;
    }

    fn write_numbers(&self, queue: &wgpu::Queue, fingerprint: &Fingerprint) {
        queue.write_buffer(
            &self.frame_numbers,
            0,
            bytemuck::bytes_of(&fingerprint.frame),
        );

        let mut bytes = vec![0; fingerprint.models.len() * MODEL_STRIDE as usize];
        for (place, (numbers, _)) in bytes
            .chunks_mut(MODEL_STRIDE as usize)
            .zip(&fingerprint.models)
        {
            place[..size_of::<ModelUniforms>()].copy_from_slice(bytemuck::bytes_of(numbers));
        }

        queue.write_buffer(&self.model_numbers, 0, &bytes);
    }

    fn begin<'a>(&self, encoder: &'a mut wgpu::CommandEncoder) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("viewport"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.sheets.samples,
                resolve_target: Some(&self.sheets.picture),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Discard,
                },
                depth_slice: None,
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.sheets.depth,
                // Depth 0 is infinitely far.
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

fn numbers_buffer(device: &wgpu::Device, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("numbers"),
        size,
        usage,
        mapped_at_creation: false,
    })
}
