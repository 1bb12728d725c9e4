//! Pictures of poses and sliders as textures of the window.

use std::collections::BTreeMap;

use eframe::egui::load::SizedTexture;
use eframe::egui::{Color32, ColorImage, Context, TextureHandle, TextureOptions, Vec2};

use crate::engine::context::Cx;
use crate::engine::pose::pose_pictures::{PictureKey, PosePictures};
use crate::model::document::Weights;

/// Pictures for the panels beside the viewport.
#[derive(Default)]
pub(crate) struct PanelPictures {
    pictures: PosePictures,
    textures: BTreeMap<u64, TextureHandle>,
}

impl PanelPictures {
    /// Fetches results, and starts what was asked for in the last frame.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        self.pictures.update(cx);
    }

    /// Whether pictures are still to come.
    pub(crate) fn busy(&self) -> bool {
        self.pictures.busy()
    }

    /// A pose on all that sliders move, of so many points; `None` until it is rendered.
    pub(super) fn pose(
        &mut self,
        weights: &Weights,
        points: f32,
        ctx: &Context,
    ) -> Option<SizedTexture> {
        self.get(weights.clone(), false, points, ctx)
    }

    /// What a slider does, close by.
    pub(super) fn slider(
        &mut self,
        slider: &str,
        weight: f64,
        points: f32,
        ctx: &Context,
    ) -> Option<SizedTexture> {
        let weights = Weights::from([(slider.to_owned(), weight)]);
        self.get(weights, true, points, ctx)
    }

    fn get(
        &mut self,
        weights: Weights,
        close: bool,
        points: f32,
        ctx: &Context,
    ) -> Option<SizedTexture> {
        let side = (points * ctx.pixels_per_point()).round().max(16.0) as usize;
        let key = PictureKey {
            weights,
            close,
            side,
        };
        let picture = self.pictures.get(&key)?;
        let image = picture.image?;
        let texture = self.textures.entry(picture.id).or_insert_with(|| {
            let pixels = image.pixels().iter();
            let pixels = pixels.map(|&[red, green, blue]| Color32::from_rgb(red, green, blue));
            let colors = ColorImage::new(image.size(), pixels.collect());
            ctx.load_texture(
                format!("pose {}", picture.id),
                colors,
                TextureOptions::LINEAR,
            )
        });
        Some(SizedTexture::new(texture.id(), Vec2::splat(points)))
    }
}
