//! Rendering of a viewport into textures that egui copies to the screen.
//!
//! **Implementation.** A picture is rendered again only when something in it changed; otherwise the
//! last one is shown.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui::{Context, Id, PaintCallbackInfo};
use eframe::egui_wgpu::{CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use eframe::wgpu;

pub use super::buffers::UploadCounts;
use super::buffers::{Pool, is_stale};
use super::drawing::{Drawing, FrameUniforms, Item, ModelUniforms, PaintArray};
use super::pipelines::{MODEL_STRIDE, Pipelines, RenderTextures};
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
        .get::<GpuState>()
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
            .entry::<GpuState>()
            .or_insert_with(|| GpuState::new(device, queue, self.screen));
        card.draw(device, queue, encoder, &self.drawing, self.frame);
        Vec::new()
    }

    fn paint(
        &self,
        _: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        let Some(card) = resources.get::<GpuState>() else {
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

/// Everything on the graphics card that outlives a frame.
struct GpuState {
    pipelines: Pipelines,
    triangles: Pool<Surface>,
    edges: Pool<Surface>,
    vertices: Pool<Vertices>,
    colors: Pool<Vec<Srgba>>,
    values: Pool<Vec<f32>>,
    targets: HashMap<Id, ViewportTarget>,
    upload_counts: UploadCounts,
}

/// The render target of one viewport.
struct ViewportTarget {
    size: [u32; 2],
    sheets: RenderTextures,
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
    paint: u64,
}

/// Stands for no upload.
const NOTHING: u64 = 0;

impl GpuState {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, screen: wgpu::TextureFormat) -> Self {
        Self {
            pipelines: Pipelines::new(device, queue, screen),
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
        let upload_counts = &mut self.upload_counts;
        let surface = &item.surface;
        let triangles = self.triangles.find(surface, frame);
        let triangles = triangles.unwrap_or_else(|| {
            self.triangles.upload(
                device,
                queue,
                surface,
                frame,
                bytemuck::cast_slice(&surface.triangles),
                upload_counts,
            )
        });

        // Edges are uploaded only when they are drawn.
        let edges = if wireframe {
            self.edges.find(surface, frame)
        } else {
            Some(NOTHING)
        };

        let edges = edges.unwrap_or_else(|| {
            self.edges.upload(
                device,
                queue,
                surface,
                frame,
                bytemuck::cast_slice(&surface.edges),
                upload_counts,
            )
        });

        let vertices = self.vertices.find(&item.vertices, frame);
        let vertices = vertices.unwrap_or_else(|| {
            let bytes = interleaved(&item.vertices);
            self.vertices.upload(
                device,
                queue,
                &item.vertices,
                frame,
                bytemuck::cast_slice(&bytes),
                upload_counts,
            )
        });

        let paint = self.load_paint(device, queue, &item.paint, frame);
        LoadedBuffers {
            triangles,
            edges,
            vertices,
            paint,
        }
    }

    /// Uploads the paint of a model, unless it is there. The shader reads two words per vertex for
    /// every kind of paint.
    fn load_paint(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        paint: &PaintArray,
        frame: u64,
    ) -> u64 {
        let upload_counts = &mut self.upload_counts;
        match paint {
            PaintArray::None => NOTHING,
            // Arrays that are on the card already are found by their address.
            PaintArray::Colors(colors) => self.colors.find(colors, frame).unwrap_or_else(|| {
                let words = packed_colors(colors);
                let bytes = bytemuck::cast_slice(&words);
                self.colors
                    .upload(device, queue, colors, frame, bytes, upload_counts)
            }),
            PaintArray::Values(values) => self.values.find(values, frame).unwrap_or_else(|| {
                let pairs = value_pairs(values);
                let bytes = bytemuck::cast_slice(&pairs);
                self.values
                    .upload(device, queue, values, frame, bytes, upload_counts)
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

        let mut pass = target.begin(encoder);
        pass.set_bind_group(0, &target.frame_group, &[]);
        pass.set_bind_group(1, &target.model_group, &[0]);
        pass.set_pipeline(&self.pipelines.backdrop);
        pass.draw(0..3, 0..1);

        let models = || drawing.items.iter().zip(&fingerprint.models).enumerate();
        for (k, (item, (_, loaded))) in models().filter(|(_, (item, _))| !item.translucent) {
            self.draw_surface(&mut pass, target, k, item, loaded, &self.pipelines.opaque);
        }

        for (k, (item, (_, loaded))) in
            models().filter(|(_, (item, _))| drawing.wireframe && !item.translucent)
        {
            self.draw_lines(&mut pass, target, k, item, loaded);
        }

        // The grid is blended over opaque surfaces and under translucent ones.
        if drawing.grid {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..4, 0..1);
        }

        for (k, (item, (_, loaded))) in models().filter(|(_, (item, _))| item.translucent) {
            self.draw_surface(
                &mut pass,
                target,
                k,
                item,
                loaded,
                &self.pipelines.translucent,
            );
        }
    }

    fn draw_surface(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        target: &ViewportTarget,
        k: usize,
        item: &Item,
        loaded: &LoadedBuffers,
        pipeline: &wgpu::RenderPipeline,
    ) {
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
        pass.set_pipeline(pipeline);
        pass.set_bind_group(1, &target.model_group, &[offset_of_model(k)]);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_vertex_buffer(1, paint.slice(..));
        pass.set_index_buffer(triangles.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..3 * item.surface.triangles.len() as u32, 0, 0..1);
    }

    fn draw_lines(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        target: &ViewportTarget,
        k: usize,
        item: &Item,
        loaded: &LoadedBuffers,
    ) {
        // Models without edges have no lines.
        let (Some(edges), Some(vertices)) = (
            self.edges.buffer(loaded.edges),
            self.vertices.buffer(loaded.vertices),
        ) else {
            return;
        };

        pass.set_pipeline(&self.pipelines.lines);
        pass.set_bind_group(1, &target.model_group, &[offset_of_model(k)]);
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
        self.targets
            .retain(|_, target| !is_stale(target.last_used, frame));
    }
}

/// A packed colour and an unused word per vertex.
fn packed_colors(colors: &[Srgba]) -> Vec<[u32; 2]> {
    let words = colors.iter().map(|color| [u32::from_le_bytes(color.0), 0]);
    words.collect()
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

fn interleaved(vertices: &Arc<Vertices>) -> Vec<[f32; 6]> {
    let normals = vertices
        .normals
        .iter()
        .copied()
        .chain(std::iter::repeat(Default::default()));
    let pairs = vertices.positions.iter().zip(normals);
    pairs.map(|(p, n)| [p.x, p.y, p.z, n.x, n.y, n.z]).collect()
}

impl ViewportTarget {
    fn new(device: &wgpu::Device, pipelines: &Pipelines, size: [u32; 2]) -> Self {
        let sheets = RenderTextures::new(device, size);
        let frame_numbers = numbers_buffer(device, size_of::<FrameUniforms>() as u64);
        let model_numbers = numbers_buffer(device, MODEL_STRIDE);

        Self {
            size,
            blit_group: pipelines.blit_group(device, &sheets.picture),
            frame_group: pipelines.frame_group(device, &frame_numbers),
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
