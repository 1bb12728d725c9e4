//! The built-in pair of a transfer: the tapir walks like the hound, and its trunk swings by a clip
//! of its own.
//!
//! **Form.** Two sources and two layers. The hound's walk moves all of the tapir, by markers; the
//! trunk's swing comes on top, compounded, on the trunk alone with a soft border.

use std::borrow::Cow;

use pliant_io::{Animation, Asset, IoError};
use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceOptions, Layer, LayerMode, Markers, Source, Synthesis,
    SynthesisOptions, TransferError, TriangleMap, blend_weights, geodesic_band,
};

/// Width of the border between trunk and head, in parts of the tapir's diagonal: about the
/// thickness of the trunk.
const BORDER: f64 = 0.06;
/// Frames of the swing per frame of the walk: it swings once in every stride.
const SWINGS_PER_STRIDE: f64 = 1.5;

/// Both animals with their clips.
#[derive(Debug, Clone)]
pub(crate) struct WalkingTapir {
    /// The hound's walk.
    pub(crate) walk: Clip,
    /// The swing of the tapir's trunk.
    pub(crate) swing: Clip,
    /// Vertices that are the same spot, hound first.
    pub(crate) markers: Markers,
    tapir: Asset,
}

impl WalkingTapir {
    pub(crate) fn load() -> Result<Self, IoError> {
        let walk = crate::load("specimen:hound#walk")?.clip()?;
        let tapir = crate::load("specimen:tapir#trunk")?;
        let markers = Markers::new(
            pliant_specimens::markers()
                .into_iter()
                .map(|[hound, tapir]| (hound, tapir))
                .collect(),
        );
        Ok(Self {
            walk,
            swing: tapir.clip()?,
            markers,
            tapir,
        })
    }

    /// The tapir at rest.
    pub(crate) fn tapir(&self) -> &Mesh {
        self.swing.reference()
    }

    /// Where hound and tapir correspond.
    pub(crate) fn correspondence(&self) -> Result<Correspondence, TransferError> {
        Correspondence::find(
            self.walk.reference(),
            self.tapir(),
            &self.markers,
            &CorrespondenceOptions::default(),
        )
    }

    /// The tapir, moved by the walk alone.
    pub(crate) fn walking<'a>(
        &'a self,
        map: &'a TriangleMap,
    ) -> Result<Synthesis<'a>, TransferError> {
        Synthesis::new(
            self.tapir(),
            self.sources(map),
            vec![self.walk_layer()],
            SynthesisOptions::default(),
        )
    }

    /// The tapir, moved by both.
    pub(crate) fn walking_and_swinging<'a>(
        &'a self,
        map: &'a TriangleMap,
    ) -> Result<Synthesis<'a>, TransferError> {
        let swing = Layer {
            mode: LayerMode::Compound,
            speed: SWINGS_PER_STRIDE,
            ..Layer::whole(1, self.trunk_weights()?, self.swing.frames().len())
        };
        Synthesis::new(
            self.tapir(),
            self.sources(map),
            vec![self.walk_layer(), swing],
            SynthesisOptions::default(),
        )
    }

    /// How much every triangle follows the swing.
    pub(crate) fn trunk_weights(&self) -> Result<Vec<f64>, TransferError> {
        let border = BORDER
            * self
                .tapir()
                .bounds()
                .map_or(0.0, |bounds| bounds.diagonal());
        blend_weights(
            self.tapir(),
            &geodesic_band(self.tapir(), &part(self.tapir(), "trunk"), border)?,
        )
    }

    /// The tapir with this clip, for any viewer.
    pub(crate) fn glb(&self, clip: &Clip) -> Result<Vec<u8>, IoError> {
        let mut animation = Animation::new(clip.name(), clip.frames().len());
        animation.frames_per_second = clip.frames_per_second();
        Ok(pliant_io::gltf::write(&self.tapir.with_point_clip(animation, clip.frames())?).bytes)
    }

    fn walk_layer(&self) -> Layer {
        Layer::whole(
            0,
            vec![1.0; self.tapir().triangles().len()],
            self.walk.frames().len(),
        )
    }

    fn sources<'a>(&'a self, map: &'a TriangleMap) -> Vec<Source<'a>> {
        let own = TriangleMap::identity(self.tapir().triangles().len());
        vec![
            Source {
                clip: &self.walk,
                map: Cow::Borrowed(map),
            },
            Source {
                clip: &self.swing,
                map: Cow::Owned(own),
            },
        ]
    }
}

/// The triangles of a named part of a mesh.
pub(crate) fn part(mesh: &Mesh, name: &str) -> Vec<bool> {
    mesh.triangle_faces()
        .iter()
        .map(|&face| mesh.groups().of(face as usize) == Some(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_swing_moves_the_trunk_and_leaves_the_walk_of_all_else() {
        let pair = WalkingTapir::load().unwrap();
        let map = pair.correspondence().unwrap().map;
        let weights = pair.trunk_weights().unwrap();
        let (mut plain, mut both) = (
            pair.walking(&map).unwrap(),
            pair.walking_and_swinging(&map).unwrap(),
        );
        assert_eq!(
            plain.frame_count(),
            both.frame_count(),
            "one swing fills one stride"
        );
        let k = plain.frame_count() / 3;
        plain.frame(k);
        both.frame(k);
        let apart = |t: usize| {
            let [a, b] = [&plain, &both].map(|synthesis| synthesis.gradients()[t].to_cols_array());
            a.iter()
                .zip(b)
                .map(|(x, y)| (x - y).abs())
                .fold(0.0, f64::max)
        };
        assert!(
            (0..weights.len())
                .filter(|&t| weights[t] == 0.0)
                .all(|t| apart(t) == 0.0)
        );
        assert!(
            (0..weights.len())
                .filter(|&t| weights[t] == 1.0)
                .any(|t| apart(t) > 0.5),
            "the trunk curls"
        );
    }
}
