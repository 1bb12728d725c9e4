//! Checks of an asset: everything fits together, and all numbers are finite.

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::Interpolation;

use super::{AlphaMode, Animation, Asset, Material, Motion, Object, Shape, UvTransform};
use crate::parse::finite::message;
use crate::{IoError, ReadError};

impl Asset {
    /// Rejects NaN and infinity anywhere in the asset and in the file that it was read from.
    pub fn require_finite(&self) -> Result<(), IoError> {
        match self.not_finite_places(1).into_iter().next() {
            None => Ok(()),
            Some(message) => Err(IoError::NotFinite {
                file: self.display_name(),
                message,
            }),
        }
    }

    /// Sentences about numbers that are not finite, at most `most`: each names one place.
    pub(crate) fn not_finite_places(&self, most: usize) -> Vec<String> {
        let mut places = Places {
            most,
            messages: Vec::new(),
        };
        for object in &self.objects {
            places.in_object(object);
        }
        for clip in &self.clips {
            places.in_clip(clip);
        }
        for material in &self.materials {
            places.check(
                || format!("material '{}'", material.name),
                numbers_of(material),
            );
        }
        for preset in &self.presets {
            let weights = preset.weights.values().copied();
            places.check(|| format!("preset '{}'", preset.name), weights);
        }
        places.check(|| "the unit".into(), self.meters_per_unit);

        // What the reader replaced comes last: the places above say more about the same number.
        let left = most - places.messages.len();
        places
            .messages
            .extend(self.not_finite.iter().take(left).cloned());
        places.messages
    }

    /// Rejects numbers beyond the range of single precision, in which `format` stores them. One unit of
    /// the asset is `scale` units of the file.
    pub(crate) fn require_single_range(&self, format: &str, scale: f64) -> Result<(), IoError> {
        match self.beyond_single(scale) {
            None => Ok(()),
            Some(place) => Err(IoError::NotFinite {
                file: self.display_name(),
                message: format!(
                    "{place} exceeds the 32-bit numbers of {format}; scale the asset down"
                ),
            }),
        }
    }

    /// The first place of a number beyond the range of single precision.
    fn beyond_single(&self, scale: f64) -> Option<String> {
        // The largest number that is not rounded to infinity.
        let fits = |x: f64| (x as f32).is_finite();
        let is_short = |p: &DVec3| (*p * scale).to_array().into_iter().all(fits);
        for object in &self.objects {
            let name = object.name();
            let mesh = object.rig.neutral();
            if let Some(vertex) = mesh.positions().iter().position(|p| !is_short(p)) {
                return Some(format!("vertex {vertex} of '{name}'"));
            }
            for target in object.rig.targets() {
                let in_betweens = target.in_betweens.iter().flat_map(|shape| &shape.deltas);
                let mut deltas = target.deltas.iter().chain(in_betweens);
                if !deltas.all(|delta| is_short(&delta.as_dvec3())) {
                    return Some(format!("target '{}' of '{name}'", target.name));
                }
            }

            let uvs = mesh.uv_layers().iter().flat_map(|layer| &layer.values);
            let uvs = uvs.flat_map(|uv| uv.to_array());
            let normals = mesh.normals().into_iter().flat_map(|layer| &layer.values);
            let normals = normals.flat_map(|normal| normal.to_array());
            let colors = mesh.colors().iter().flat_map(|layer| &layer.values);
            let colors = colors.flat_map(|color| color.to_array());
            let weights = object.rest_weights.iter().copied();
            if !uvs.chain(normals).chain(colors).chain(weights).all(fits) {
                return Some(format!("a UV, normal, colour or weight of '{name}'"));
            }
        }

        for clip in &self.clips {
            for motion in &clip.motions {
                let is_short = match &motion.shape {
                    Shape::Rest => true,
                    Shape::Points(frames) => frames.iter().flatten().all(is_short),
                    Shape::Weights(track) => track.keys().iter().flatten().copied().all(fits),
                };
                let placements = motion.placement.iter().flat_map(|p| &p.moved_from_rest);
                let joints = motion.skin.iter().flat_map(|track| track.motions.iter());
                let mut moved = placements.chain(joints.flatten());
                if !is_short || !moved.all(|m| fits(m.translation.abs().max_element() * scale)) {
                    return Some(format!("a frame of clip '{}'", clip.name));
                }
            }
        }
        None
    }

    /// Whether objects and clips fit together. A reader cannot check what comes from several parts
    /// of a file.
    pub(crate) fn check(&self) -> Result<(), ReadError> {
        let total: usize = self.objects.iter().map(Object::vertex_count).sum();
        for object in &self.objects {
            check_object(object, total)?;
        }
        for clip in &self.clips {
            clip.check(&self.objects)?;
        }
        Ok(())
    }
}

/// Checks skin and file order of an object in an asset whose objects have `total` vertices.
fn check_object(object: &Object, total: usize) -> Result<(), ReadError> {
    let path = &object.path;
    let vertices = object.vertex_count();
    if let Some(skin) = &object.skin {
        skin.check(vertices)
            .map_err(|message| ReadError::whole(format!("object '{path}' {message}")))?;
    }

    // Every vertex of the file is in an object, so that no index can exceed their sum.
    let fits = object
        .file_index
        .as_ref()
        .is_none_or(|index| index.len() == vertices && index.iter().all(|&v| (v as usize) < total));
    if !fits {
        return Err(ReadError::whole(format!(
            "the vertex order of object '{path}' does not fit its {vertices} vertices"
        )));
    }

    Ok(())
}

/// The places of numbers that are not finite, as they are found.
struct Places {
    most: usize,
    messages: Vec<String>,
}

impl Places {
    fn add(&mut self, message: impl FnOnce() -> String) {
        if self.messages.len() < self.most {
            self.messages.push(message());
        }
    }

    /// Adds `place` if one of its numbers is not finite.
    fn check(&mut self, place: impl FnOnce() -> String, numbers: impl IntoIterator<Item = f64>) {
        if self.messages.len() < self.most && numbers.into_iter().any(|x| !x.is_finite()) {
            self.messages.push(message(place()));
        }
    }

    fn in_object(&mut self, object: &Object) {
        if let Err(error) = object.rig.require_finite() {
            self.add(|| error.to_string());
        }

        let mesh = object.rig.neutral();
        let place = |layer: &str| format!("object '{}' has {layer}", object.path);
        if let Some(normals) = mesh.normals() {
            let numbers = normals.values.iter().flat_map(|n| n.to_array());
            self.check(|| place("normals of which one"), numbers);
        }
        for layer in mesh.uv_layers() {
            let numbers = layer.values.iter().flat_map(|uv| uv.to_array());
            self.check(|| place("UVs of which one"), numbers);
        }
        for layer in mesh.colors() {
            let numbers = layer.values.iter().flat_map(|color| color.to_array());
            self.check(|| place("vertex colours of which one"), numbers);
        }

        let weights = object.rest_weights.iter().copied();
        self.check(|| place("weights at rest of which one"), weights);
        for target in object.rig.targets() {
            let weights = target.in_betweens.iter().map(|shape| shape.weight);
            self.check(
                || format!("an in-between of target '{}'", target.name),
                weights,
            );
        }

        // Limits may be infinite.
        let limits = object.rig.sliders().iter().map(|slider| slider.limits);
        if limits.into_iter().any(|l| l.min.is_nan() || l.max.is_nan()) {
            self.add(|| message(place("limits of sliders of which one")));
        }

        if let Some(binding) = &object.skin {
            let skeleton = || message(place("a skeleton of which a joint"));
            let mut joints = binding.skeleton.joints().iter();
            if joints.any(|joint| !joint.origin.is_finite() || !joint.axes.is_finite()) {
                self.add(skeleton);
            }
        }
        let mut motions = object.rest_joints.iter().flat_map(|motions| motions.iter());
        if motions.any(|motion| !motion.is_finite()) {
            self.add(|| message(place("a rest pose of which a joint")));
        }
    }

    fn in_clip(&mut self, clip: &Animation) {
        let rate = [clip.frames_per_second, clip.start_secs];
        self.check(|| format!("the timing of clip '{}'", clip.name), rate);
        for motion in &clip.motions {
            self.in_joints(clip, motion);
            self.in_shape(clip, &motion.shape);
            self.in_placement(clip, motion);
        }
    }

    fn in_joints(&mut self, clip: &Animation, motion: &Motion) {
        let Some(track) = &motion.skin else { return };
        let is_damaged = |joints: &Vec<DAffine3>| joints.iter().any(|joint| !joint.is_finite());
        if let Some(frame) = track.motions.iter().position(is_damaged) {
            self.add(|| {
                format!(
                    "frame {frame} of clip '{}' moves a joint by a number that is not finite; repair the file",
                    clip.name
                )
            });
        }
    }

    fn in_shape(&mut self, clip: &Animation, shape: &Shape) {
        let name = &clip.name;
        let is_damaged = |weights: &Vec<f64>| weights.iter().any(|weight| !weight.is_finite());
        match shape {
            Shape::Rest => {}
            Shape::Points(frames) => {
                let found = frames
                    .iter()
                    .enumerate()
                    .find_map(|(k, frame)| Some((k, frame.iter().position(|p| !p.is_finite())?)));
                if let Some((k, vertex)) = found {
                    self.add(|| {
                        format!(
                            "frame {k} of clip '{name}' holds a number that is not finite at vertex {vertex}; repair the file"
                        )
                    });
                }
            }
            Shape::Weights(track) => {
                if let Some(key) = track.keys().iter().position(is_damaged) {
                    self.add(|| {
                        format!(
                            "key {key} of clip '{name}' holds a weight that is not finite; repair the file"
                        )
                    });
                }
                if let Interpolation::Cubic { arriving, leaving } = track.interpolation() {
                    let key = arriving
                        .iter()
                        .zip(leaving)
                        .position(|(arriving, leaving)| {
                            is_damaged(arriving) || is_damaged(leaving)
                        });
                    if let Some(key) = key {
                        self.add(|| message(format!("a tangent of key {key} of clip '{name}'")));
                    }
                }
            }
        }
    }

    fn in_placement(&mut self, clip: &Animation, motion: &Motion) {
        let Some(track) = &motion.placement else {
            return;
        };
        let times = track.times_secs.iter();
        let mut keys = times.zip(&track.moved_from_rest);
        let key = keys.position(|(time, moved)| !time.is_finite() || !moved.is_finite());
        if let Some(key) = key {
            self.add(|| {
                let object = motion.object;
                message(format!(
                    "key {key} of the placement of object {object} in clip '{}'",
                    clip.name
                ))
            });
        }
    }
}

/// All numbers of a material.
fn numbers_of(material: &Material) -> impl Iterator<Item = f64> {
    let cutoff = match material.alpha {
        AlphaMode::Mask(cutoff) => cutoff,
        AlphaMode::Opaque | AlphaMode::Blend => 0.0,
    };
    let own = [
        material.metallic,
        material.roughness,
        material.normal_scale,
        cutoff,
    ];
    let transforms = material.textures().flat_map(|texture| {
        let UvTransform {
            offset,
            rotation_rad,
            scale,
        } = texture.transform;
        [offset.x, offset.y, rotation_rad, scale.x, scale.y]
    });
    own.into_iter()
        .chain(material.base_color.to_array())
        .chain(material.emissive.to_array())
        .chain(transforms)
}
