//! Flat rigs: in-betweens and combinations as targets of their own, for formats without them.
//!
//! **Problem.** glTF stores targets of equal rank and one coefficient for each. A viewer shows the
//! rig correctly only if in-betweens and correctives are stored, with the coefficients that they
//! have at the slider weights.
//!
//! **Equation.** The coefficients are the activation `φ(w)`. Back from coefficients, the weight of a
//! slider with keys at `tₖ` (1 for the target, the weight of each in-between) is
//!
//! ```text
//! w = Σₖ tₖ cₖ
//! ```
//!
//! which is exact for linear paths, since their coefficients are hat functions over the keys.
//!
//! **Source.** The order of coefficients is that of [`Activation`](crate::Activation).
//!
//! **Departures.** For spline paths the weight that comes back differs between keys. Coefficients of
//! combinations follow from the sliders and are not read back.

use std::collections::{BTreeMap, HashSet};

use crate::{
    Combination, CombinationSettings, Driver, InBetweenSettings, Interpolation, Limits, Path, Rig,
    RigError, RigSettings, SliderId, Target, WeightTrack,
};

/// A rig whose shapes are all targets, with the settings that make it the original rig again.
#[derive(Debug, Clone)]
pub struct FlatRig {
    /// All targets first, then all in-betweens, then all combinations.
    pub rig: Rig,
    /// What [`RigSettings::apply`] needs to restore the rig.
    pub settings: RigSettings,
    original: Rig,
    /// For each target, its shape in the order of the activation.
    shape_of_target: Vec<usize>,
}

impl FlatRig {
    /// The flat form of a rig.
    pub fn of(rig: &Rig) -> Result<Self, RigError> {
        let mut names = Names::of(rig);
        let mut settings = slider_settings(rig);
        let mut targets = Vec::with_capacity(rig.activation().shape_count());
        let mut shape_of_target = Vec::new();
        let mut in_betweens = Vec::new();
        let mut shape = 0;

        for target in rig.targets() {
            targets.push(Target {
                in_betweens: Vec::new(),
                ..target.clone()
            });
            shape_of_target.push(shape);
            shape += 1;

            for key in &target.in_betweens {
                let name = names.distinct(&key.name, &format!("{}@{}", target.name, key.weight));
                settings.in_betweens.insert(
                    name.clone(),
                    InBetweenSettings {
                        of: target.name.clone(),
                        at: key.weight,
                    },
                );
                in_betweens.push((shape, plain(name, &key.vertices, &key.deltas)));
                shape += 1;
            }
        }

        for (shape, target) in in_betweens {
            shape_of_target.push(shape);
            targets.push(target);
        }

        let mut combination_names: Vec<String> = Vec::new();
        for combination in rig.combinations() {
            let name = names.distinct(&combination.name, "combination");
            let drivers = driver_names(combination, rig, &combination_names);
            let rule = combination.rule;
            settings
                .combinations
                .insert(name.clone(), CombinationSettings { drivers, rule });
            targets.push(plain(
                name.clone(),
                &combination.vertices,
                &combination.deltas,
            ));
            shape_of_target.push(shape);
            combination_names.push(name);
            shape += 1;
        }

        Ok(Self {
            rig: Rig::new(rig.neutral().clone(), targets)?,
            settings,
            original: rig.clone(),
            shape_of_target,
        })
    }

    /// Whether the rig has neither in-betweens nor combinations nor settings.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.settings == RigSettings::default()
    }

    /// The coefficients of all targets at slider weights.
    #[must_use]
    pub fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let activation = self.original.activation();
        if activation.is_linear() {
            return weights.to_vec();
        }

        let coefficients = activation.coefficients(weights);
        let shapes = self.shape_of_target.iter();
        shapes.map(|&shape| coefficients[shape]).collect()
    }

    /// A track of slider weights as one of coefficients, sampled at its keys and at `times_secs`.
    pub fn coefficient_track(
        &self,
        track: &WeightTrack,
        times_secs: impl Iterator<Item = f64>,
    ) -> Result<WeightTrack, RigError> {
        if self.original.activation().is_linear() {
            return Ok(track.clone());
        }

        // Coefficients are not linear between keys, so that every frame becomes one.
        let mut times: Vec<f64> = track
            .times_secs()
            .iter()
            .copied()
            .chain(times_secs)
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        let rows = times.iter().map(|&time| self.coefficients(&track.at(time)));
        let rows = rows.collect();
        WeightTrack::new(times, rows, Interpolation::Linear)
    }
}

/// Slider weights from the coefficients of a flat rig.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSliders {
    /// For each target of the flat rig, its slider and the weight of its key; `None` for one that
    /// follows from others.
    keys: Vec<Option<(usize, f64)>>,
    sliders: usize,
}

impl StoredSliders {
    /// The sliders of `rig`, to which [`RigSettings::apply`] turned `flat`.
    #[must_use]
    pub fn of(settings: &RigSettings, flat: &Rig, rig: &Rig) -> Self {
        let index_of: BTreeMap<&str, usize> = rig
            .targets()
            .iter()
            .enumerate()
            .map(|(k, target)| (target.name.as_str(), k))
            .collect();
        let key = |target: &Target| {
            let in_between = settings.in_betweens.get(&target.name);
            let (name, weight) = match in_between {
                Some(key) => (key.of.as_str(), key.at),
                None => (target.name.as_str(), 1.0),
            };
            index_of.get(name).map(|&slider| (slider, weight))
        };

        Self {
            keys: flat.targets().iter().map(key).collect(),
            sliders: rig.targets().len(),
        }
    }

    /// The slider behind a target of the flat rig, and its weight at which the target is whole; `None`
    /// for a target that follows from others.
    #[must_use]
    pub fn slider_of(&self, target: usize) -> Option<(usize, f64)> {
        self.keys.get(target).copied().flatten()
    }

    /// The weights of the sliders.
    #[must_use]
    pub fn weights(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.sliders];
        for (key, coefficient) in self.keys.iter().zip(coefficients) {
            if let Some((slider, weight)) = key {
                weights[*slider] += weight * coefficient;
            }
        }
        weights
    }

    /// A track of slider weights from one of coefficients.
    #[must_use]
    pub fn weight_track(&self, track: &WeightTrack) -> WeightTrack {
        track.mapped(|row| self.weights(row))
    }
}

/// Limits, locks, paths, groups and exclusive pairs of a rig by name.
fn slider_settings(rig: &Rig) -> RigSettings {
    let name = |slider: SliderId| rig.targets()[slider.index()].name.clone();
    let mut settings = RigSettings::default();
    for (k, slider) in rig.sliders().iter().enumerate() {
        if slider.limits != Limits::default() {
            // JSON has no infinity.
            let finite = |x: f64| x.clamp(f64::MIN, f64::MAX);
            let limits = [finite(slider.limits.min), finite(slider.limits.max)];
            settings.limits.insert(name(SliderId::from(k)), limits);
        }
        if slider.locked {
            settings.locked.push(name(SliderId::from(k)));
        }
        if slider.path == Path::Spline {
            settings.smooth.push(name(SliderId::from(k)));
        }
    }

    for group in rig.groups() {
        let members = group.sliders.iter().map(|&k| name(k)).collect();
        settings.groups.insert(group.name.clone(), members);
    }
    for &[a, b] in rig.exclusive_pairs() {
        settings.exclusive.push(vec![name(a), name(b)]);
    }

    settings
}

fn driver_names(combination: &Combination, rig: &Rig, combinations: &[String]) -> Vec<String> {
    let name = |driver: &Driver| match *driver {
        Driver::Slider(slider) => rig.targets()[slider.index()].name.clone(),
        Driver::Combination(other) => combinations[other].clone(),
    };
    combination.drivers.iter().map(name).collect()
}

fn plain(name: String, vertices: &[u32], deltas: &[pliant_mesh::glam::Vec3]) -> Target {
    Target {
        name,
        vertices: vertices.to_vec(),
        deltas: deltas.to_vec(),
        in_betweens: Vec::new(),
    }
}

/// Names that are taken already.
struct Names(HashSet<String>);

impl Names {
    fn of(rig: &Rig) -> Self {
        Self(rig.targets().iter().map(|t| t.name.clone()).collect())
    }

    /// The name, or `fallback` if it is empty, with a number if it is taken.
    fn distinct(&mut self, name: &str, fallback: &str) -> String {
        let base = if name.is_empty() { fallback } else { name };
        let mut candidate = base.to_owned();
        let mut number = 2;
        while !self.0.insert(candidate.clone()) {
            candidate = format!("{base}#{number}");
            number += 1;
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};

    use super::*;
    use crate::{InBetween, Rule, Slider, SliderGroup};

    fn rig() -> Rig {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let mut blink = Target::from_dense("blink", [Vec3::Z]);
        blink.in_betweens.push(InBetween {
            name: String::new(),
            weight: 0.5,
            vertices: vec![0],
            deltas: vec![Vec3::X],
        });
        let smile = Target::from_dense("smile", [Vec3::Y]);
        let limits = Limits::new(-1.0, f64::INFINITY);
        let slider = Slider {
            limits,
            locked: true,
            ..Slider::default()
        };
        Rig::new(mesh, vec![blink, smile])
            .unwrap()
            .with_sliders(vec![Slider::default(), slider])
            .unwrap()
            .with_combinations(vec![Combination {
                name: "smile".into(),
                drivers: vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
                rule: Rule::Product,
                vertices: vec![0],
                deltas: vec![Vec3::ONE],
            }])
            .unwrap()
            .with_groups(vec![SliderGroup {
                name: "mouth".into(),
                sliders: vec![1.into()],
            }])
            .unwrap()
            .with_exclusive_pairs(vec![[0.into(), 1.into()]])
            .unwrap()
    }

    #[test]
    fn a_flat_rig_at_its_coefficients_has_the_shape_of_the_rig_at_its_weights() {
        let flat = FlatRig::of(&rig()).unwrap();
        for weights in [
            [0.0, 0.0],
            [0.25, 0.0],
            [0.75, 0.5],
            [1.0, 2.0],
            [-0.5, 1.0],
        ] {
            let expected = rig().evaluate(&weights);
            let found = flat.rig.evaluate(&flat.coefficients(&weights));
            for (a, b) in found.iter().zip(&expected) {
                assert!(a.distance(*b) < 1e-14, "{weights:?}");
            }
        }
    }

    #[test]
    fn settings_restore_the_rig_and_coefficients_the_weights() {
        let flat = FlatRig::of(&rig()).unwrap();
        let names: Vec<&str> = flat.rig.targets().iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["blink", "smile", "blink@0.5", "smile#2"]);

        let restored = flat.settings.apply(&flat.rig).unwrap();
        assert_eq!(restored.targets()[0].in_betweens[0].deltas, [Vec3::X]);
        assert_eq!(
            restored.combinations()[0].drivers,
            rig().combinations()[0].drivers
        );
        assert_eq!(restored.groups(), rig().groups());
        assert_eq!(restored.exclusive_pairs(), rig().exclusive_pairs());
        assert!(restored.sliders()[1].locked);
        assert_eq!(restored.sliders()[1].limits.min, -1.0);

        let stored = StoredSliders::of(&flat.settings, &flat.rig, &restored);
        for weights in [[0.25, 0.5], [0.75, 0.0], [1.5, 1.0]] {
            let found = stored.weights(&flat.coefficients(&weights));
            for (a, b) in found.iter().zip(&weights) {
                assert!((a - b).abs() < 1e-15, "{weights:?}");
            }
        }
    }

    #[test]
    fn a_rig_of_plain_targets_stays_as_it_is() {
        let mesh = rig().neutral().clone();
        let plain = Rig::new(mesh, vec![Target::from_dense("smile", [Vec3::Y])]).unwrap();
        let flat = FlatRig::of(&plain).unwrap();
        assert!(flat.is_plain());
        assert_eq!(flat.rig.targets(), plain.targets());
    }
}
