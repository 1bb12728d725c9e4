//! A picture on the card: each viewport draws into its own sheets, and egui copies them to the
//! screen.
//!
//! **Ours.** A picture is drawn again only when something in it changed; while the pointer wanders
//! over panels the last one is shown.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui::{Color32, Context, Id, PaintCallbackInfo};
use eframe::egui_wgpu::{CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use eframe::wgpu;

pub use super::buffers::Traffic;
use super::buffers::{Pool, is_stale};
use super::drawing::{Drawing, FrameNumbers, Item, ModelNumbers, PaintArray};
use super::pipelines::{MODEL_STRIDE, Pipelines, Sheets};
use super::scene::{Surface, Vertices};

/// Tells the viewports of a window which card they draw on; without one they say so. Once, when the
/// window is made.
pub fn install(ctx: &Context, state: Option<&RenderState>) {
    ctx.data_mut(|data| data.insert_temp(screen_id(), state.map(|state| state.target_format)));
}

/// What kind of screen the window has, or `None` without a card.
pub(super) fn screen(ctx: &Context) -> Option<wgpu::TextureFormat> {
    ctx.data(|data| data.get_temp::<Option<wgpu::TextureFormat>>(screen_id()))
        .flatten()
}

fn screen_id() -> Id {
    Id::unique("pliant viewport screen")
}

/// What the viewports of a window sent to its card so far.
#[must_use]
pub fn traffic(state: &RenderState) -> Traffic {
    state
        .renderer
        .read()
        .callback_resources
        .get::<Card>()
        .map_or(Traffic::default(), |card| card.traffic)
}

/// A drawing on its way to the card.
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
            .entry::<Card>()
            .or_insert_with(|| Card::new(device, queue, self.screen));
        card.draw(device, queue, encoder, &self.drawing, self.frame);
        Vec::new()
    }

    fn paint(
        &self,
        _: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        let Some(card) = resources.get::<Card>() else {
            return;
        };
        let Some(easel) = card.easels.get(&self.drawing.id) else {
            return;
        };
        pass.set_pipeline(&card.pipelines.blit);
        pass.set_bind_group(0, &easel.blit_group, &[]);
        pass.draw(0..3, 0..1);
    }
}

/// Everything on the card that outlives a frame.
struct Card {
    pipelines: Pipelines,
    triangles: Pool<Surface>,
    edges: Pool<Surface>,
    vertices: Pool<Vertices>,
    colors: Pool<Vec<Color32>>,
    values: Pool<Vec<f32>>,
    easels: HashMap<Id, Easel>,
    traffic: Traffic,
}

/// What one viewport draws on.
struct Easel {
    size: [u32; 2],
    sheets: Sheets,
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
    frame: FrameNumbers,
    models: Vec<(ModelNumbers, Loaded)>,
    wireframe: bool,
    grid: bool,
}

/// The uploads of a model, by their stamps.
#[derive(Clone, Copy, PartialEq)]
struct Loaded {
    triangles: u64,
    edges: u64,
    vertices: u64,
    paint: u64,
}

/// Stands for no upload.
const NOTHING: u64 = 0;

impl Card {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, screen: wgpu::TextureFormat) -> Self {
        Self {
            pipelines: Pipelines::new(device, queue, screen),
            triangles: Pool::new("triangles", wgpu::BufferUsages::INDEX),
            edges: Pool::new("edges", wgpu::BufferUsages::INDEX),
            vertices: Pool::new("vertices", wgpu::BufferUsages::VERTEX),
            colors: Pool::new("colors", wgpu::BufferUsages::VERTEX),
            values: Pool::new("values", wgpu::BufferUsages::VERTEX),
            easels: HashMap::new(),
            traffic: Traffic::default(),
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
        if drawing.size.iter().any(|&side| side == 0 || side > largest) {
            self.easels.remove(&drawing.id);
            return;
        }
        let loaded: Vec<Loaded> = drawing
            .items
            .iter()
            .map(|item| self.load(device, queue, item, drawing.wireframe, frame))
            .collect();
        self.set_up_easel(device, drawing, frame);
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
        if let Some(easel) = self.easels.get_mut(&drawing.id)
            && easel.drawn.as_ref() != Some(&fingerprint)
        {
            easel.write_numbers(queue, &fingerprint);
            easel.drawn = Some(fingerprint);
            self.traffic.pictures += 1;
            self.render(encoder, drawing);
        }
        self.retire(frame);
    }

    /// Brings the arrays of a model to the card, unless they are there.
    fn load(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        item: &Item,
        wireframe: bool,
        frame: u64,
    ) -> Loaded {
        let traffic = &mut self.traffic;
        let surface = &item.surface;
        let triangles = self.triangles.find(surface, frame);
        let triangles = triangles.unwrap_or_else(|| {
            self.triangles.upload(
                device,
                queue,
                surface,
                frame,
                bytemuck::cast_slice(&surface.triangles),
                traffic,
            )
        });
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
                traffic,
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
                traffic,
            )
        });
        let paint = match &item.paint {
            PaintArray::None => NOTHING,
            PaintArray::Colors(colors) => self.colors.find(colors, frame).unwrap_or_else(|| {
                let words: Vec<[u32; 2]> = colors
                    .iter()
                    .map(|color| [u32::from_le_bytes(color.to_array()), 0])
                    .collect();
                self.colors.upload(
                    device,
                    queue,
                    colors,
                    frame,
                    bytemuck::cast_slice(&words),
                    traffic,
                )
            }),
            PaintArray::Values(values) => self.values.find(values, frame).unwrap_or_else(|| {
                let pairs: Vec<[f32; 2]> = values
                    .iter()
                    .map(|&value| {
                        if value.is_finite() {
                            [value, 1.0]
                        } else {
                            [0.0; 2]
                        }
                    })
                    .collect();
                self.values.upload(
                    device,
                    queue,
                    values,
                    frame,
                    bytemuck::cast_slice(&pairs),
                    traffic,
                )
            }),
        };
        Loaded {
            triangles,
            edges,
            vertices,
            paint,
        }
    }

    /// Makes the sheets of a viewport, anew when it has another size or more models.
    fn set_up_easel(&mut self, device: &wgpu::Device, drawing: &Drawing, frame: u64) {
        let models = drawing.items.len() as u64;
        let easel = self.easels.remove(&drawing.id);
        let mut easel = match easel {
            Some(easel) if easel.size == drawing.size => easel,
            _ => Easel::new(device, &self.pipelines, drawing.size),
        };
        if easel.model_numbers.size() < models * MODEL_STRIDE {
            easel.make_room(device, &self.pipelines, models.next_power_of_two());
        }
        easel.last_used = frame;
        self.easels.insert(drawing.id, easel);
    }

    fn render(&self, encoder: &mut wgpu::CommandEncoder, drawing: &Drawing) {
        let Some(easel) = self.easels.get(&drawing.id) else {
            return;
        };
        let Some(fingerprint) = &easel.drawn else {
            return;
        };
        let mut pass = easel.begin(encoder);
        pass.set_bind_group(0, &easel.frame_group, &[]);
        pass.set_bind_group(1, &easel.model_group, &[0]);
        pass.set_pipeline(&self.pipelines.backdrop);
        pass.draw(0..3, 0..1);
        let models = || drawing.items.iter().zip(&fingerprint.models).enumerate();
        for (k, (item, (_, loaded))) in models().filter(|(_, (item, _))| !item.translucent) {
            self.draw_surface(&mut pass, easel, k, item, loaded, &self.pipelines.opaque);
        }
        for (k, (item, (_, loaded))) in
            models().filter(|(_, (item, _))| drawing.wireframe && !item.translucent)
        {
            self.draw_lines(&mut pass, easel, k, item, loaded);
        }
        if drawing.grid {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..4, 0..1);
        }
        for (k, (item, (_, loaded))) in models().filter(|(_, (item, _))| item.translucent) {
            self.draw_surface(
                &mut pass,
                easel,
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
        easel: &Easel,
        k: usize,
        item: &Item,
        loaded: &Loaded,
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
        pass.set_bind_group(1, &easel.model_group, &[offset_of_model(k)]);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_vertex_buffer(1, paint.slice(..));
        pass.set_index_buffer(triangles.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..3 * item.surface.triangles.len() as u32, 0, 0..1);
    }

    fn draw_lines(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        easel: &Easel,
        k: usize,
        item: &Item,
        loaded: &Loaded,
    ) {
        let (Some(edges), Some(vertices)) = (
            self.edges.buffer(loaded.edges),
            self.vertices.buffer(loaded.vertices),
        ) else {
            return;
        };
        pass.set_pipeline(&self.pipelines.lines);
        pass.set_bind_group(1, &easel.model_group, &[offset_of_model(k)]);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_index_buffer(edges.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..2 * item.surface.edges.len() as u32, 0, 0..1);
    }

    fn retire(&mut self, frame: u64) {
        self.triangles.retire(frame);
        self.edges.retire(frame);
        self.vertices.retire(frame);
        self.colors.retire(frame);
        self.values.retire(frame);
        self.easels
            .retain(|_, easel| !is_stale(easel.last_used, frame));
    }
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

impl Easel {
    fn new(device: &wgpu::Device, pipelines: &Pipelines, size: [u32; 2]) -> Self {
        let sheets = Sheets::new(device, size);
        let frame_numbers = numbers_buffer(device, size_of::<FrameNumbers>() as u64);
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

    fn make_room(&mut self, device: &wgpu::Device, pipelines: &Pipelines, models: u64) {
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
            place[..size_of::<ModelNumbers>()].copy_from_slice(bytemuck::bytes_of(numbers));
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
                // Nothing is the farthest.
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
