//! Render pipelines and textures of the viewport.
//!
//! **Implementation.** Reversed depth: 1 near and 0 at infinity, in floating point. There is
//! no far plane, and the precision is where it is needed.

use eframe::wgpu;

use super::drawing::{FrameUniforms, ModelUniforms, table_row};
use super::height_maps::{HEIGHT, HeightMaps};
use super::materials::PLACE_BYTES;
use crate::engine::heat::HeatMap;

/// Samples per pixel.
const SAMPLES: u32 = 4;
/// The colour format of the textures.
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Entries of a colour map's table.
const TABLE_ENTRIES: usize = 256;
/// Bytes from one model's numbers to the next: a multiple of what every graphics card takes as an
/// offset.
pub(super) const MODEL_STRIDE: u64 = 512;
const _: () = assert!(
    size_of::<ModelUniforms>() as u64 <= MODEL_STRIDE,
    "the numbers of a model fit their stride"
);

/// Bytes of a vertex: position and normal.
pub(super) const VERTEX_BYTES: u64 = 24;
/// Bytes of a vertex's paint.
pub(super) const PAINT_BYTES: u64 = 8;
/// Bytes of a vertex's openness.
const OPENNESS_BYTES: u64 = 4;

/// All pipelines for one kind of screen.
pub(super) struct Pipelines {
    pub(super) opaque: wgpu::RenderPipeline,
    pub(super) translucent: wgpu::RenderPipeline,
    pub(super) material: wgpu::RenderPipeline,
    /// The backs and then the fronts of translucent materials.
    pub(super) blended: [wgpu::RenderPipeline; 2],
    /// The fine and the broad map of heights.
    pub(super) heights: [wgpu::RenderPipeline; 2],
    pub(super) lines: wgpu::RenderPipeline,
    pub(super) ground: wgpu::RenderPipeline,
    pub(super) backdrop: wgpu::RenderPipeline,
    pub(super) blit: wgpu::RenderPipeline,
    frame_layout: wgpu::BindGroupLayout,
    model_layout: wgpu::BindGroupLayout,
    blit_layout: wgpu::BindGroupLayout,
    heat_table: wgpu::TextureView,
    heat_sampler: wgpu::Sampler,
}

/// The textures of one viewport.
pub(super) struct RenderTextures {
    pub(super) samples: wgpu::TextureView,
    pub(super) picture: wgpu::TextureView,
    pub(super) depth: wgpu::TextureView,
}

impl Pipelines {
    pub(super) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        screen: wgpu::TextureFormat,
        material_layout: &wgpu::BindGroupLayout,
    ) -> Self {
        let shader = device.create_shader_module(wgpu::include_wgsl!("shader.wgsl"));
        // Group 0 belongs to the frame, group 1 to one model by a dynamic offset.
        let frame_layout = layout(
            device,
            &[
                uniform(0, false, size_of::<FrameUniforms>() as u64),
                texture(1),
                sampler(2),
                texture(3),
                texture(4),
            ],
        );

        let model_layout = layout(
            device,
            &[uniform(0, true, size_of::<ModelUniforms>() as u64)],
        );
        let blit_layout = layout(device, &[texture(0)]);
        let builder = PipelineBuilder {
            device,
            shader: &shader,
            frame_layout: &frame_layout,
            model_layout: &model_layout,
            material_layout,
            blit_layout: &blit_layout,
        };

        Self {
            opaque: builder.surface(false),
            translucent: builder.surface(true),
            material: builder.material(None),
            blended: [wgpu::Face::Front, wgpu::Face::Back].map(|face| builder.material(Some(face))),
            heights: ["fine_height_vertex", "broad_height_vertex"]
                .map(|vertex| builder.heights(vertex)),
            lines: builder.lines(),
            ground: builder.ground(),
            backdrop: builder.backdrop(),
            blit: builder.blit(screen),
            heat_table: heat_table(device, queue),
            heat_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            frame_layout,
            model_layout,
            blit_layout,
        }
    }

    pub(super) fn frame_group(
        &self,
        device: &wgpu::Device,
        numbers: &wgpu::Buffer,
        maps: &HeightMaps,
    ) -> wgpu::BindGroup {
        let table = wgpu::BindingResource::TextureView(&self.heat_table);
        let sampler = wgpu::BindingResource::Sampler(&self.heat_sampler);
        let [fine, broad] = &maps.heights;
        let fine = wgpu::BindingResource::TextureView(fine);
        let broad = wgpu::BindingResource::TextureView(broad);
        group(
            device,
            &self.frame_layout,
            [numbers.as_entire_binding(), table, sampler, fine, broad],
        )
    }

    pub(super) fn model_group(
        &self,
        device: &wgpu::Device,
        numbers: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let size = wgpu::BufferSize::new(size_of::<ModelUniforms>() as u64);
        group(
            device,
            &self.model_layout,
            [wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: numbers,
                offset: 0,
                size,
            })],
        )
    }

    pub(super) fn blit_group(
        &self,
        device: &wgpu::Device,
        picture: &wgpu::TextureView,
    ) -> wgpu::BindGroup {
        group(
            device,
            &self.blit_layout,
            [wgpu::BindingResource::TextureView(picture)],
        )
    }
}

impl RenderTextures {
    pub(super) fn new(device: &wgpu::Device, [width, height]: [u32; 2]) -> Self {
        let sheet = |format, sample_count, usage| {
            let size = wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            };
            device
                .create_texture(&texture_descriptor(size, format, sample_count, usage))
                .create_view(&Default::default())
        };

        let drawn = wgpu::TextureUsages::RENDER_ATTACHMENT;
        Self {
            samples: sheet(COLOR, SAMPLES, drawn),
            picture: sheet(COLOR, 1, drawn | wgpu::TextureUsages::TEXTURE_BINDING),
            depth: sheet(DEPTH, SAMPLES, drawn),
        }
    }
}

/// What all pipelines are made with.
struct PipelineBuilder<'a> {
    device: &'a wgpu::Device,
    shader: &'a wgpu::ShaderModule,
    frame_layout: &'a wgpu::BindGroupLayout,
    model_layout: &'a wgpu::BindGroupLayout,
    material_layout: &'a wgpu::BindGroupLayout,
    blit_layout: &'a wgpu::BindGroupLayout,
}

/// One pipeline of the scene.
struct PipelineSpec<'a> {
    label: &'static str,
    entries: [&'static str; 2],
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    topology: wgpu::PrimitiveTopology,
    cull_mode: Option<wgpu::Face>,
    writes_depth: bool,
    compare: wgpu::CompareFunction,
    blended: bool,
    /// Whether opacity decides how many samples of a pixel are covered.
    covers_by_opacity: bool,
}

impl PipelineSpec<'_> {
    fn screen_filling(label: &'static str, entries: [&'static str; 2]) -> Self {
        Self {
            label,
            entries,
            buffers: &[],
            topology: wgpu::PrimitiveTopology::TriangleList,
            cull_mode: None,
            writes_depth: false,
            compare: wgpu::CompareFunction::Always,
            blended: false,
            covers_by_opacity: false,
        }
    }
}

const POSITION_AND_NORMAL: [wgpu::VertexAttribute; 2] =
    wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3];
const POSITION: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![0 => Float32x3];
const PAINT: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![2 => Uint32x2];
const OPENNESS: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![3 => Float32];
const PLACE: [wgpu::VertexAttribute; 2] = wgpu::vertex_attr_array![4 => Float32x2, 5 => Float32x4];

fn vertex_layout(
    array_stride: u64,
    attributes: &[wgpu::VertexAttribute],
) -> Option<wgpu::VertexBufferLayout<'_>> {
    Some(wgpu::VertexBufferLayout {
        array_stride,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes,
    })
}

impl PipelineBuilder<'_> {
    fn surface(&self, translucent: bool) -> wgpu::RenderPipeline {
        self.scene(&PipelineSpec {
            buffers: &[
                vertex_layout(VERTEX_BYTES, &POSITION_AND_NORMAL),
                vertex_layout(PAINT_BYTES, &PAINT),
                vertex_layout(OPENNESS_BYTES, &OPENNESS),
            ],
            // One layer of a translucent solid is enough to see its form.
            cull_mode: translucent.then_some(wgpu::Face::Back),
            writes_depth: !translucent,
            compare: wgpu::CompareFunction::Greater,
            blended: translucent,
            ..PipelineSpec::screen_filling("surface", ["surface_vertex", "surface_fragment"])
        })
    }

    /// Surfaces with materials; blended ones show one side.
    fn material(&self, hidden: Option<wgpu::Face>) -> wgpu::RenderPipeline {
        let blended = hidden.is_some();
        let spec = PipelineSpec {
            buffers: &[
                vertex_layout(VERTEX_BYTES, &POSITION_AND_NORMAL),
                vertex_layout(PAINT_BYTES, &PAINT),
                vertex_layout(OPENNESS_BYTES, &OPENNESS),
                vertex_layout(PLACE_BYTES, &PLACE),
            ],
            cull_mode: hidden,
            writes_depth: !blended,
            compare: wgpu::CompareFunction::Greater,
            blended,
            covers_by_opacity: !blended,
            ..PipelineSpec::screen_filling("material", ["material_vertex", "material_fragment"])
        };
        let layouts = [
            Some(self.frame_layout),
            Some(self.model_layout),
            Some(self.material_layout),
        ];
        self.in_scene(&spec, &layouts)
    }

    /// Heights towards the key light.
    fn heights(&self, vertex: &'static str) -> wgpu::RenderPipeline {
        let spec = PipelineSpec {
            buffers: &[vertex_layout(VERTEX_BYTES, &POSITION)],
            writes_depth: true,
            compare: wgpu::CompareFunction::Greater,
            ..PipelineSpec::screen_filling("heights", [vertex, "height_fragment"])
        };
        let depth = depth_state(&spec);
        // The maps are in the group of the frame, which is not bound while they are drawn.
        let layouts = [None, Some(self.model_layout)];
        self.pipeline(&spec, &layouts, Some(depth), 1, HEIGHT.into())
    }

    fn lines(&self) -> wgpu::RenderPipeline {
        self.scene(&PipelineSpec {
            buffers: &[vertex_layout(VERTEX_BYTES, &POSITION_AND_NORMAL)],
            topology: wgpu::PrimitiveTopology::LineList,
            compare: wgpu::CompareFunction::GreaterEqual,
            blended: true,
            ..PipelineSpec::screen_filling("lines", ["line_vertex", "line_fragment"])
        })
    }

    fn ground(&self) -> wgpu::RenderPipeline {
        self.scene(&PipelineSpec {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            compare: wgpu::CompareFunction::Greater,
            blended: true,
            ..PipelineSpec::screen_filling("ground", ["ground_vertex", "ground_fragment"])
        })
    }

    fn backdrop(&self) -> wgpu::RenderPipeline {
        self.scene(&PipelineSpec::screen_filling(
            "backdrop",
            ["screen_vertex", "backdrop_fragment"],
        ))
    }

    fn scene(&self, spec: &PipelineSpec<'_>) -> wgpu::RenderPipeline {
        self.in_scene(spec, &[Some(self.frame_layout), Some(self.model_layout)])
    }

    fn in_scene(
        &self,
        spec: &PipelineSpec<'_>,
        layouts: &[Option<&wgpu::BindGroupLayout>],
    ) -> wgpu::RenderPipeline {
        // Opaque models need no blending.
        let blend = spec.blended.then_some(wgpu::BlendState::ALPHA_BLENDING);
        let target = wgpu::ColorTargetState {
            format: COLOR,
            blend,
            write_mask: wgpu::ColorWrites::ALL,
        };

        self.pipeline(spec, layouts, Some(depth_state(spec)), SAMPLES, target)
    }

    fn blit(&self, screen: wgpu::TextureFormat) -> wgpu::RenderPipeline {
        let fragment = if screen.is_srgb() {
            "blit_to_linear"
        } else {
            "blit_to_gamma"
        };
        let spec = PipelineSpec::screen_filling("blit", ["screen_vertex", fragment]);
        self.pipeline(&spec, &[Some(self.blit_layout)], None, 1, screen.into())
    }

    fn pipeline(
        &self,
        spec: &PipelineSpec<'_>,
        layouts: &[Option<&wgpu::BindGroupLayout>],
        depth_stencil: Option<wgpu::DepthStencilState>,
        samples: u32,
        target: wgpu::ColorTargetState,
    ) -> wgpu::RenderPipeline {
        let layout_descriptor = wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: layouts,
            immediate_size: 0,
        };

        let layout = self.device.create_pipeline_layout(&layout_descriptor);
        // Both stages are in one shader module.
        let [vertex, fragment] = spec.entries;
        self.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(spec.label),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: self.shader,
                    entry_point: Some(vertex),
                    compilation_options: Default::default(),
                    buffers: spec.buffers,
                },
                primitive: wgpu::PrimitiveState {
                    topology: spec.topology,
                    cull_mode: spec.cull_mode,
                    ..Default::default()
                },
                depth_stencil,
                multisample: wgpu::MultisampleState {
                    count: samples,
                    alpha_to_coverage_enabled: spec.covers_by_opacity,
                    ..Default::default()
                },
                fragment: Some(wgpu::FragmentState {
                    module: self.shader,
                    entry_point: Some(fragment),
                    compilation_options: Default::default(),
                    targets: &[Some(target)],
                }),
                multiview_mask: None,
                cache: None,
            })
    }
}

fn depth_state(spec: &PipelineSpec<'_>) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH,
        depth_write_enabled: Some(spec.writes_depth),
        depth_compare: Some(spec.compare),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    }
}

pub(super) fn layout(
    device: &wgpu::Device,
    entries: &[wgpu::BindGroupLayoutEntry],
) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries,
    })
}

pub(super) fn group<const N: usize>(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: [wgpu::BindingResource<'_>; N],
) -> wgpu::BindGroup {
    let numbered = resources.into_iter().zip(0..);
    let entries: Vec<_> = numbered
        .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
        .collect();

    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

fn entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty,
        count: None,
    }
}

pub(super) fn uniform(
    binding: u32,
    has_dynamic_offset: bool,
    bytes: u64,
) -> wgpu::BindGroupLayoutEntry {
    let min_binding_size = wgpu::BufferSize::new(bytes);
    entry(
        binding,
        wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset,
            min_binding_size,
        },
    )
}

pub(super) fn texture(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let sample_type = wgpu::TextureSampleType::Float { filterable: true };
    entry(
        binding,
        wgpu::BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
    )
}

pub(super) fn sampler(binding: u32) -> wgpu::BindGroupLayoutEntry {
    entry(
        binding,
        wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
    )
}

pub(super) fn texture_descriptor(
    size: wgpu::Extent3d,
    format: wgpu::TextureFormat,
    sample_count: u32,
    usage: wgpu::TextureUsages,
) -> wgpu::TextureDescriptor<'static> {
    let dimension = wgpu::TextureDimension::D2;
    wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count,
        dimension,
        format,
        usage,
        view_formats: &[],
    }
}

/// The colour maps, one row each.
fn heat_table(device: &wgpu::Device, queue: &wgpu::Queue) -> wgpu::TextureView {
    let rows = HeatMap::ALL.len();
    let mut texels = vec![[0_u8; 4]; rows * TABLE_ENTRIES];
    // One row per colour map, sampled linearly by the shader.
    for map in HeatMap::ALL {
        for k in 0..TABLE_ENTRIES {
            texels[table_row(map) * TABLE_ENTRIES + k] =
                map.color(k as f64 / (TABLE_ENTRIES - 1) as f64).0;
        }
    }

    let size = wgpu::Extent3d {
        width: TABLE_ENTRIES as u32,
        height: rows as u32,
        depth_or_array_layers: 1,
    };
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    let table = device.create_texture(&texture_descriptor(size, COLOR, 1, usage));

    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * TABLE_ENTRIES as u32),
        rows_per_image: None,
    };

    queue.write_texture(
        table.as_image_copy(),
        bytemuck::cast_slice(&texels),
        layout,
        size,
    );

    table.create_view(&Default::default())
}
