//! The built-in example of a transfer: the tapir walks like the hound while its trunk swings.
//!
//! **Method.** Two sources and two layers. The hound's walk animates the whole tapir, by markers.
//! The clip of the tapir's own trunk is compounded with it on the trunk, with a soft border.

use std::borrow::Cow;

use pliant_io::{Animation, Asset, IoError};
use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceOptions, Layer, LayerMode, Markers, Source, Synthesis,
    SynthesisOptions, TransferError, TriangleMap, blend_weights, geodesic_band,
};

/// Width of the border between trunk and head, relative to the tapir's diagonal. Chosen: about the
/// thickness of the trunk.
const BORDER: f64 = 0.06;
/// Frames of the swing per frame of the walk; the trunk swings once in every stride.
const SWINGS_PER_STRIDE: f64 = 1.5;

/// Both animals with their clips.
#[derive(Debug, Clone)]
pub struct WalkingTapir {
    /// The hound's walk.
    pub walk: Clip,
    /// The swing of the tapir's trunk.
    pub swing: Clip,
    /// Corresponding vertices, hound first.
    pub markers: Markers,
    tapir: Asset,
}

impl WalkingTapir {
    /// Loads both animals.
    ///
    /// # Errors
    /// Never for the built-in animals.
    pub fn load() -> Result<Self, IoError> {
        let walk = pliant_specimens::load("specimen:hound#walk")?.clip()?;
        let tapir = pliant_specimens::load("specimen:tapir#trunk")?;
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

    /// The tapir in its rest pose.
    #[must_use]
    pub fn tapir(&self) -> &Mesh {
        self.swing.reference()
    }

    /// The correspondence of hound and tapir.
    ///
    /// # Errors
    /// As [`Correspondence::find`].
    pub fn correspondence(&self) -> Result<Correspondence, TransferError> {
        Correspondence::find(
            self.walk.reference(),
            self.tapir(),
            &self.markers,
            &CorrespondenceOptions::default(),
        )
    }

    /// The tapir, animated by the walk alone.
    ///
    /// # Errors
    /// As [`Synthesis::new`].
    pub fn walking<'a>(&'a self, map: &'a TriangleMap) -> Result<Synthesis<'a>, TransferError> {
        Synthesis::new(
            self.tapir(),
            self.sources(map),
            vec![self.walk_layer()],
            SynthesisOptions::default(),
        )
    }

    /// The tapir, animated by both clips.
    ///
    /// # Errors
    /// As [`Synthesis::new`].
    pub fn walking_and_swinging<'a>(
        &'a self,
        map: &'a TriangleMap,
    ) -> Result<Synthesis<'a>, TransferError> {
        // Compounded: the swing deforms the walk instead of replacing it.
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

    /// The weight of the swing on every triangle.
    ///
    /// # Errors
    /// As [`blend_weights`].
    pub fn trunk_weights(&self) -> Result<Vec<f64>, TransferError> {
        let border = BORDER
            * self
                .tapir()
                .bounds()
                .map_or(0.0, |bounds| bounds.diagonal());
        blend_weights(
            self.tapir(),
            &geodesic_band(
                self.tapir(),
                &group_triangles(self.tapir(), "trunk"),
                border,
            )?,
        )
    }

    /// The tapir with this clip as a GLB file.
    ///
    /// # Errors
    /// A clip of another mesh.
    pub fn glb(&self, clip: &Clip) -> Result<Vec<u8>, IoError> {
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
        // The trunk clip is of the tapir itself.
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

/// Whether each triangle of a mesh belongs to a group.
#[must_use]
pub fn group_triangles(mesh: &Mesh, name: &str) -> Vec<bool> {
    mesh.triangle_faces()
        .iter()
        .map(|&face| mesh.groups().of(face as usize) == Some(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_swing_moves_the_trunk_and_leaves_the_walk_elsewhere() {
        let pair = WalkingTapir::load().unwrap();
        let map = pair.correspondence().unwrap().map;
        let weights = pair.trunk_weights().unwrap();
        let mut plain = pair.walking(&map).unwrap();
        let mut both = pair.walking_and_swinging(&map).unwrap();

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
