//! Materials and textures on the graphics card, kept as long as their surface lives.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use bytemuck::{Pod, Zeroable};
use eframe::wgpu;
use pliant::view::{PbrMaterial, TexelEncoding, Texture, TextureMap, TextureWrap, Transparency};

use super::pipelines::{group, layout, sampler, texture, uniform};
use crate::engine::appearance::{Appearance, Part, Reflection};

/// Uniforms of one material, in the layout of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
struct MaterialUniforms {
    base_color: [f32; 4],
    emissive: [f32; 4],
    params: [f32; 4],
    flags: [f32; 4],
}

/// The place on the textures and the tone of a drawn vertex.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Place {
    uv: [f32; 2],
    tone: [f32; 4],
}

/// Bytes of [`Place`].
pub(super) const PLACE_BYTES: u64 = size_of::<Place>() as u64;
/// Chosen: larger textures are shown by one of their halved copies; a square of 4096.
const MOST_TEXELS: usize = 1 << 24;
/// Chosen: samples along the longer axis of a pixel's footprint.
const ANISOTROPY: u16 = 8;

/// The appearances that were drawn.
pub(super) struct MaterialCache {
    layout: wgpu::BindGroupLayout,
    white: wgpu::TextureView,
    slots: Vec<(Weak<Appearance>, MaterialBuffers)>,
}

/// One appearance on the graphics card.
pub(super) struct MaterialBuffers {
    pub(super) triangles: wgpu::Buffer,
    pub(super) places: wgpu::Buffer,
    /// One for each part.
    pub(super) groups: Vec<wgpu::BindGroup>,
}

impl MaterialCache {
    pub(super) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let mut entries = vec![
            uniform(0, false, size_of::<MaterialUniforms>() as u64),
            sampler(1),
        ];
        entries.extend((2..8).map(texture));

        let white = Texture::from_rgba8([1, 1], vec![[255; 4]], TexelEncoding::Linear);
        let white = white.expect("one texel fills one by one");
        Self {
            layout: layout(device, &entries),
            white: upload(device, queue, &white),
            slots: Vec::new(),
        }
    }

    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// Brings an appearance to the graphics card, unless it is there.
    pub(super) fn prepare(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        appearance: &Arc<Appearance>,
    ) {
        if self.find(appearance).is_none() {
            let buffers = self.buffers(device, queue, appearance);
            self.slots.push((Arc::downgrade(appearance), buffers));
        }
    }

    pub(super) fn find(&self, appearance: &Arc<Appearance>) -> Option<&MaterialBuffers> {
        let is_it =
            |known: &Weak<Appearance>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(appearance));
        let slot = self.slots.iter().find(|(known, _)| is_it(known))?;
        Some(&slot.1)
    }

    /// Drops those of surfaces that are gone.
    pub(super) fn remove_unused(&mut self) {
        self.slots.retain(|(known, _)| known.strong_count() > 0);
    }

    fn buffers(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        appearance: &Appearance,
    ) -> MaterialBuffers {
        let places: Vec<Place> = appearance
            .uvs
            .iter()
            .zip(&appearance.tones)
            .map(|(&uv, &tone)| Place { uv, tone })
            .collect();

        // Materials share images.
        let mut views = BTreeMap::new();
        let mut group_of = |part: &Part| self.group(device, queue, part, &mut views);
        MaterialBuffers {
            triangles: filled(
                device,
                queue,
                bytemuck::cast_slice(&appearance.triangles),
                wgpu::BufferUsages::INDEX,
            ),
            places: filled(
                device,
                queue,
                bytemuck::cast_slice(&places),
                wgpu::BufferUsages::VERTEX,
            ),
            groups: appearance.parts.iter().map(&mut group_of).collect(),
        }
    }

    fn group(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        part: &Part,
        views: &mut BTreeMap<usize, wgpu::TextureView>,
    ) -> wgpu::BindGroup {
        let material = &part.material;
        let numbers = filled(
            device,
            queue,
            bytemuck::bytes_of(&numbers(part)),
            wgpu::BufferUsages::UNIFORM,
        );
        let first = maps(material).into_iter().flatten().next();
        let sampler = device.create_sampler(&sampler_descriptor(first));
        let [base, shine, normal, occlusion, emissive, opacity] = maps(material).map(|map| {
            let Some(map) = map else {
                return self.white.clone();
            };
            let key = Arc::as_ptr(&map.texture).addr();
            let view = views
                .entry(key)
                .or_insert_with(|| upload(device, queue, &map.texture));
            view.clone()
        });

        let view = wgpu::BindingResource::TextureView;
        group(
            device,
            &self.layout,
            [
                numbers.as_entire_binding(),
                wgpu::BindingResource::Sampler(&sampler),
                view(&base),
                view(&shine),
                view(&normal),
                view(&occlusion),
                view(&emissive),
                view(&opacity),
            ],
        )
    }
}

fn maps(material: &PbrMaterial) -> [Option<&TextureMap>; 6] {
    [
        &material.base_color_map,
        &material.metallic_roughness_map,
        &material.normal_map,
        &material.occlusion_map,
        &material.emissive_map,
        &material.opacity_map,
    ]
    .map(Option::as_ref)
}

fn numbers(part: &Part) -> MaterialUniforms {
    let material = &part.material;
    let flag = |set: bool| f32::from(u8::from(set));
    let kind = match part.reflection {
        Reflection::Clay => 0.0,
        Reflection::Physical if material.unlit => 2.0,
        Reflection::Physical => 1.0,
    };
    let cutoff = match material.transparency {
        Transparency::Mask(cutoff) => cutoff,
        _ => -1.0,
    };
    let textured = maps(material).iter().any(Option::is_some);

    MaterialUniforms {
        base_color: material.base_color.to_array(),
        emissive: material.emissive.extend(material.normal_scale).to_array(),
        params: [material.metallic, material.roughness, kind, cutoff],
        flags: [
            flag(material.double_sided),
            flag(part.blended()),
            flag(material.normal_map.is_some()),
            flag(textured),
        ],
    }
}

fn sampler_descriptor(map: Option<&TextureMap>) -> wgpu::SamplerDescriptor<'static> {
    let mode = |wrap: TextureWrap| match wrap {
        TextureWrap::Repeat => wgpu::AddressMode::Repeat,
        TextureWrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        TextureWrap::Clamp => wgpu::AddressMode::ClampToEdge,
    };
    let [u, v] = map
        .map_or([TextureWrap::Repeat; 2], |map| map.wrap)
        .map(mode);
    let nearest = map.is_some_and(|map| map.nearest);
    let filter = if nearest {
        wgpu::FilterMode::Nearest
    } else {
        wgpu::FilterMode::Linear
    };
    wgpu::SamplerDescriptor {
        label: Some("material"),
        address_mode_u: u,
        address_mode_v: v,
        mag_filter: filter,
        min_filter: filter,
        mipmap_filter: if nearest {
            wgpu::MipmapFilterMode::Nearest
        } else {
            wgpu::MipmapFilterMode::Linear
        },
        anisotropy_clamp: if nearest { 1 } else { ANISOTROPY },
        ..Default::default()
    }
}

/// Uploads a texture with the halved copies that a graphics card takes.
fn upload(device: &wgpu::Device, queue: &wgpu::Queue, texture: &Texture) -> wgpu::TextureView {
    let largest = device.limits().max_texture_dimension_2d as usize;
    let fits =
        |[width, height]: [usize; 2]| width.max(height) <= largest && width * height <= MOST_TEXELS;
    let mut levels: Vec<_> = texture
        .levels()
        .skip_while(|(size, _)| !fits(*size))
        .collect();
    let Some(&([width, height], _)) = levels.first() else {
        unreachable!("the last copy of a texture is one texel");
    };

    // Copies of odd sizes are rounded up, those of a graphics card down: the chain ends there.
    let usable = levels
        .iter()
        .enumerate()
        .take_while(|(k, (size, _))| *size == [(width >> k).max(1), (height >> k).max(1)]);
    let usable = usable.count();
    levels.truncate(usable);

    let format = match texture.encoding() {
        TexelEncoding::Srgb => wgpu::TextureFormat::Rgba8UnormSrgb,
        TexelEncoding::Linear => wgpu::TextureFormat::Rgba8Unorm,
    };
    let uploaded = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("texture"),
        size: extent([width, height]),
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });

    for (level, (size, texels)) in levels.into_iter().enumerate() {
        let place = wgpu::TexelCopyTextureInfo {
            mip_level: level as u32,
            ..uploaded.as_image_copy()
        };
        let rows = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * size[0] as u32),
            rows_per_image: None,
        };
        queue.write_texture(place, texels.as_flattened(), rows, extent(size));
    }
    uploaded.create_view(&Default::default())
}

fn extent([width, height]: [usize; 2]) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: width as u32,
        height: height as u32,
        depth_or_array_layers: 1,
    }
}

fn filled(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("materials"),
        // Empty buffers are not allowed.
        size: (bytes.len() as u64).max(wgpu::COPY_BUFFER_ALIGNMENT),
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}
