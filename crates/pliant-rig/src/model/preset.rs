//! Presets: slider weights under one name.
//!
//! **Problem.** An avatar has expressions such as `happy` or `blinkLeft`, each of which moves several
//! targets, perhaps of several meshes. The targets themselves have names of their own.
//!
//! **Equation.** Presets add up, and a slider that has a weight of its own keeps it:
//!
//! ```text
//! wₖ = own weight, or else Σₚ aₚ wₚₖ        aₚ: the amount of preset p
//! ```
//!
//! **Source.** VRM Consortium, "VRMC_vrm-1.0", expressions.
//!
//! **Departures.** Expressions that override others (`overrideBlink`) do not here.

use std::collections::BTreeMap;

use crate::{Rig, RigError, did_you_mean};

/// Slider weights under one name, as an expression of a VRM avatar has them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// The weights of the sliders that it moves, by their names.
    pub weights: BTreeMap<String, f64>,
}

impl Rig {
    /// The weights of all sliders from `amounts` of sliders and presets, by their names. What is not
    /// named is zero; a name that a slider and a preset share is that of the slider.
    ///
    /// # Errors
    /// [`RigError::NoSuchSlider`] for a name that is neither a slider nor a preset.
    pub fn weights_of_names<'n>(
        &self,
        presets: &[Preset],
        amounts: impl IntoIterator<Item = (&'n str, f64)>,
    ) -> Result<Vec<f64>, RigError> {
        let mut own = vec![None; self.targets().len()];
        let mut of_presets = vec![0.0; own.len()];
        for (name, amount) in amounts {
            if let Ok(slider) = self.slider_named(name) {
                own[slider.index()] = Some(amount);
                continue;
            }

            let preset = presets.iter().find(|preset| preset.name == name);
            let preset = preset.ok_or_else(|| self.no_such_name(presets, name))?;
            for (slider, weight) in &preset.weights {
                of_presets[self.slider_named(slider)?.index()] += amount * weight;
            }
        }

        let weights = own.into_iter().zip(of_presets);
        Ok(weights
            .map(|(own, of_presets)| own.unwrap_or(of_presets))
            .collect())
    }

    fn no_such_name(&self, presets: &[Preset], name: &str) -> RigError {
        let sliders = self.targets().iter().map(|target| target.name.as_str());
        let presets = presets.iter().map(|preset| preset.name.as_str());
        RigError::NoSuchSlider {
            slider: format!("'{name}'"),
            known: did_you_mean(name, sliders.chain(presets)),
        }
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};

    use super::*;
    use crate::Target;

    fn rig() -> Rig {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        let mesh = Mesh::from_triangles(corners, &[[0, 1, 2]]).unwrap();
        let target = |name: &str| Target::from_dense(name, vec![Vec3::Z; 3]);
        Rig::new(mesh, ["smile_L", "smile_R", "open"].map(target).to_vec()).unwrap()
    }

    fn preset(name: &str, weights: &[(&str, f64)]) -> Preset {
        let weights = weights
            .iter()
            .map(|&(name, weight)| (name.to_owned(), weight));
        Preset {
            name: name.into(),
            weights: weights.collect(),
        }
    }

    #[test]
    fn presets_add_up_and_sliders_keep_their_own_weights() {
        let presets = [
            preset("happy", &[("smile_L", 1.0), ("smile_R", 0.5)]),
            preset("aa", &[("open", 0.8), ("smile_L", -0.25)]),
        ];
        let amounts = [("happy", 0.5), ("open", 0.1), ("aa", 1.0)];
        let weights = rig().weights_of_names(&presets, amounts).unwrap();
        assert_eq!(weights, [0.25, 0.25, 0.1]);
    }

    #[test]
    fn a_slider_comes_before_a_preset_of_its_name() {
        let presets = [preset("open", &[("smile_L", 1.0)])];
        let weights = rig().weights_of_names(&presets, [("open", 0.5)]).unwrap();
        assert_eq!(weights, [0.0, 0.0, 0.5]);
    }

    #[test]
    fn an_unknown_name_is_reported_with_presets_among_the_suggestions() {
        let presets = [preset("happy", &[])];
        let error = rig().weights_of_names(&presets, [("hapy", 1.0)]);
        assert!(error.unwrap_err().to_string().contains("happy"));
    }
}
