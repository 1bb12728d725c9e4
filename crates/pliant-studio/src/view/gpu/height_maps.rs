//! Maps of heights towards the key light, for its shadow.
//!
//! The equations and the sizes are those of `pliant-view` (`shading/height_map.rs`,
//! `shading/key_light.rs`).

use eframe::wgpu;

use super::pipelines::{DEPTH, texture_descriptor};

/// The format of heights.
pub(super) const HEIGHT: wgpu::TextureFormat = wgpu::TextureFormat::R16Float;
/// Texels along the side of the fine and the broad map.
const SIDES: [u32; 2] = [400, 84];
/// Below everything: heights are between −1 and 1.
const NOTHING: f64 = -2.0;

/// The fine and the broad map of one viewport.
pub(super) struct HeightMaps {
    pub(super) heights: [wgpu::TextureView; 2],
    depths: [wgpu::TextureView; 2],
}

impl HeightMaps {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let map = |side, format, usage| {
            let size = wgpu::Extent3d {
                width: side,
                height: side,
                depth_or_array_layers: 1,
            };
            device
                .create_texture(&texture_descriptor(size, format, 1, usage))
                .create_view(&Default::default())
        };
        let drawn = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let read = drawn | wgpu::TextureUsages::TEXTURE_BINDING;
        Self {
            heights: SIDES.map(|side| map(side, HEIGHT, read)),
            depths: SIDES.map(|side| map(side, DEPTH, drawn)),
        }
    }

    /// Begins to draw the fine map (0) or the broad one (1).
    pub(super) fn begin<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        map: usize,
    ) -> wgpu::RenderPass<'a> {
        let clear = wgpu::Color {
            r: NOTHING,
            ..wgpu::Color::BLACK
        };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("heights"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.heights[map],
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(clear),
                    store: wgpu::StoreOp::Store,
                },
                depth_slice: None,
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depths[map],
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
