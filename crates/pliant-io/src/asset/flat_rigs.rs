//! An asset whose in-betweens and combinations are targets, for formats that store only targets.

use std::borrow::Cow;

use pliant_rig::{FlatRig, RigSettings};

use crate::{Asset, Shape};

impl Asset {
    /// The asset with flat rigs, and for each object the settings that restore its rig; `None` for
    /// an object without any. Rest weights and clips become coefficients of all targets.
    pub(crate) fn with_flat_rigs(&self) -> (Cow<'_, Self>, Vec<Option<RigSettings>>) {
        let mut flat = Cow::Borrowed(self);
        let mut settings = Vec::with_capacity(self.objects.len());
        for (k, object) in self.objects.iter().enumerate() {
            // A rig that cannot be flattened is written with its targets alone.
            let own = FlatRig::of(&object.rig).ok().filter(|own| !own.is_plain());
            let Some(own) = own else {
                settings.push(None);
                continue;
            };

            let flat = flat.to_mut();
            flat.flatten(k, &own);
            settings.push(Some(own.settings));
        }

        (flat, settings)
    }

    fn flatten(&mut self, k: usize, own: &FlatRig) {
        let object = &mut self.objects[k];
        if !object.rest_weights.is_empty() {
            object.rest_weights = own.coefficients(&object.rest_weights);
        }
        object.rig = own.rig.clone();

        for clip in &mut self.clips {
            let frames = clip.frame_count;
            let times: Vec<f64> = (0..frames).map(|frame| clip.time_secs(frame)).collect();
            for motion in clip.motions.iter_mut().filter(|m| m.object == k) {
                if let Shape::Weights(track) = &motion.shape
                    && let Ok(track) = own.coefficient_track(track, times.iter().copied())
                {
                    motion.shape = Shape::Weights(track);
                }
            }
        }
    }
}
