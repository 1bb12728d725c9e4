//! Rig settings beside the asset: limits, locks, groups, correctives and in-betweens, by name.
//!
//! **Problem.** glTF and most exporters store every shape as one more slider of equal rank. A
//! corrective such as `smile_jawOpen` or an in-between such as `blink50` then becomes a slider of
//! its own, which nobody should drag.
//!
//! **Implementation.** Settings are stored beside the asset, by the names of its targets. A target
//! that is named as a combination or an in-between is no longer a slider.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Combination, Driver, InBetween, Limits, Path, Rig, RigError, Rule, Slider, SliderGroup,
    SliderId, Target,
};

/// Settings of a rig by the names of its targets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RigSettings {
    /// Lower and upper limits of sliders; those that are not named run from 0 to 1.
    pub limits: BTreeMap<String, [f64; 2]>,
    /// Sliders whose weights solvers keep.
    pub locked: Vec<String>,
    /// Sliders with a smooth path through their in-betweens.
    pub smooth: Vec<String>,
    /// Groups of sliders by name.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Pairs or larger sets of sliders of which at most one may be away from zero.
    pub exclusive: Vec<Vec<String>>,
    /// Targets that are in-betweens of another one.
    pub in_betweens: BTreeMap<String, InBetweenSettings>,
    /// Targets that are combinations of others.
    pub combinations: BTreeMap<String, CombinationSettings>,
}

/// The slider and the weight of an in-between.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InBetweenSettings {
    /// The slider.
    pub of: String,
    /// The weight at which it is reached.
    pub at: f64,
}

/// The drivers of a combination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinationSettings {
    /// Sliders, or other combinations, by name.
    pub drivers: Vec<String>,
    /// How their values give the coefficient.
    #[serde(default)]
    pub rule: Rule,
}

impl RigSettings {
    /// The rig with these settings; targets that are in-betweens or combinations are no longer
    /// sliders.
    pub fn apply(&self, rig: &Rig) -> Result<Rig, RigError> {
        for name in self.names() {
            rig.slider_named(name)?;
        }
        for name in self.in_betweens.keys() {
            if self.combinations.contains_key(name) {
                return Err(RigError::BadDriver { name: name.clone() });
            }
        }

        // Combinations and in-betweens leave the list of sliders.
        let mut targets = rig.targets().to_vec();
        targets.retain(|target| {
            !self.combinations.contains_key(&target.name)
                && !self.in_betweens.contains_key(&target.name)
        });
        for (name, settings) in &self.in_betweens {
            insert_in_between(&mut targets, target_named(rig, name), settings)?;
        }

        let changed = rig.with_targets(targets)?;
        let combinations = self.all_combinations(rig, &changed)?;
        self.with_slider_settings(changed)?
            .with_combinations(combinations)
    }

    /// Every name that must be a target.
    fn names(&self) -> impl Iterator<Item = &str> {
        let lists = self
            .groups
            .values()
            .flatten()
            .chain(&self.locked)
            .chain(&self.smooth)
            .chain(self.exclusive.iter().flatten());

        let drivers = self.combinations.values().flat_map(|c| &c.drivers);
        let in_betweens = self
            .in_betweens
            .iter()
            .flat_map(|(name, settings)| [name, &settings.of]);

        lists
            .chain(drivers)
            .chain(in_betweens)
            .chain(self.limits.keys())
            .chain(self.combinations.keys())
            .map(String::as_str)
    }

    /// The combinations of `changed` and those of the settings, each after those that drive it;
    /// their shapes are targets of `rig`.
    fn all_combinations(&self, rig: &Rig, changed: &Rig) -> Result<Vec<Combination>, RigError> {
        let mut combinations = changed.combinations().to_vec();
        let existing = combinations.len();
        let mut done: Vec<&str> = Vec::new();

        // Each pass adds the combinations whose drivers are all known.
        while done.len() < self.combinations.len() {
            let before = done.len();
            for (name, settings) in &self.combinations {
                if done.contains(&name.as_str()) {
                    continue;
                }
                let Some(drivers) = known_drivers(&settings.drivers, changed, &done, existing)
                else {
                    continue;
                };

                let shape = target_named(rig, name);
                combinations.push(Combination {
                    name: name.clone(),
                    drivers,
                    rule: settings.rule,
                    vertices: shape.vertices.clone(),
                    deltas: shape.deltas.clone(),
                });
                done.push(name);
            }

            // The rest form a cycle, or an in-between drives them.
            if done.len() == before {
                let mut names = self.combinations.keys();
                let rest = names.find(|name| !done.contains(&name.as_str()));
                let name = rest.expect("the loop ends when all are done").clone();
                return Err(RigError::BadDriver { name });
            }
        }

        Ok(combinations)
    }

    fn with_slider_settings(&self, rig: Rig) -> Result<Rig, RigError> {
        let mut sliders: Vec<Slider> = rig.sliders().to_vec();
        for (name, &[min, max]) in &self.limits {
            sliders[rig.slider_named(name)?.index()].limits = Limits::new(min, max);
        }
        for name in &self.locked {
            sliders[rig.slider_named(name)?.index()].locked = true;
        }
        for name in &self.smooth {
            sliders[rig.slider_named(name)?.index()].path = Path::Spline;
        }

        // Groups and pairs of the settings are added to those of the rig.
        let mut groups = rig.groups().to_vec();
        for (name, members) in &self.groups {
            let sliders: Result<Vec<SliderId>, RigError> = members
                .iter()
                .map(|member| rig.slider_named(member))
                .collect();
            groups.push(SliderGroup {
                name: name.clone(),
                sliders: sliders?,
            });
        }

        let mut exclusive = rig.exclusive_pairs().to_vec();
        for names in &self.exclusive {
            exclusive.extend(rig.exclusive_pairs_of(names)?);
        }

        rig.with_sliders(sliders)?
            .with_groups(groups)?
            .with_exclusive_pairs(exclusive)
    }
}

/// The target called `name`, which [`RigSettings::apply`] has looked up before.
fn target_named<'a>(rig: &'a Rig, name: &str) -> &'a Target {
    let found = rig.targets().iter().find(|target| target.name == name);
    found.expect("all names are checked before")
}

/// Makes `shape` an in-between of one of `targets`.
fn insert_in_between(
    targets: &mut [Target],
    shape: &Target,
    settings: &InBetweenSettings,
) -> Result<(), RigError> {
    let found = targets.iter_mut().find(|t| t.name == settings.of);
    let target = found.ok_or_else(|| RigError::BadInBetween {
        name: shape.name.clone(),
        of: settings.of.clone(),
    })?;

    let weight = settings.at;
    if !weight.is_finite() || weight == 0.0 || weight == 1.0 {
        return Err(RigError::BadOption {
            what: "the weight of an in-between",
            value: weight,
            needed: "finite, and neither 0 nor 1",
        });
    }

    // In-betweens are sorted by weight.
    target.in_betweens.push(InBetween {
        name: shape.name.clone(),
        weight,
        vertices: shape.vertices.clone(),
        deltas: shape.deltas.clone(),
    });
    target
        .in_betweens
        .sort_by(|a, b| a.weight.total_cmp(&b.weight));
    Ok(())
}

/// The drivers called `names`: combinations that are `done`, whose indices start at `existing`, or
/// sliders; `None` if one is neither.
fn known_drivers(
    names: &[String],
    rig: &Rig,
    done: &[&str],
    existing: usize,
) -> Option<Vec<Driver>> {
    let mut drivers = Vec::with_capacity(names.len());
    for name in names {
        drivers.push(match done.iter().position(|d| d == name) {
            Some(index) => Driver::Combination(existing + index),
            None => Driver::Slider(rig.slider_named(name).ok()?),
        });
    }

    Some(drivers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};

    fn rig() -> Rig {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let names = [
            "smile",
            "jaw",
            "blink",
            "blink50",
            "smile_jaw",
            "smile_jaw_blink",
        ];

        Rig::new(
            mesh,
            names
                .iter()
                .enumerate()
                .map(|(k, n)| Target::from_dense(*n, [Vec3::Z * (k + 1) as f32]))
                .collect(),
        )
        .unwrap()
    }

    fn settings(text: &str) -> RigSettings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn combinations_and_in_betweens_are_no_longer_sliders() {
        let text = r#"{
            "limits": {"jaw": [-1, 2]}, "locked": ["smile"], "smooth": ["blink"], "groups": {"mouth": ["smile", "jaw"]},
            "in_betweens": {"blink50": {"of": "blink", "at": 0.5}},
            "combinations": {
                "smile_jaw_blink": {"drivers": ["smile_jaw", "blink"], "rule": "lowest"},
                "smile_jaw": {"drivers": ["smile", "jaw"]}
            }
        }"#;

        let rig = settings(text).apply(&rig()).unwrap();
        let names: Vec<&str> = rig.targets().iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["smile", "jaw", "blink"]);
        assert!(
            rig.sliders()[0].locked
                && rig.sliders()[1].limits == Limits::new(-1.0, 2.0)
                && rig.sliders()[2].path == Path::Spline
        );
        assert_eq!(rig.groups()[0].sliders, [0, 1].map(SliderId::new));
        let lift = |weights: [f64; 3]| rig.evaluate(&weights)[0].z;
        assert_eq!(lift([0.0, 0.0, 0.5]), 4.0, "the in-between itself");

        // 1·0.5 + 2·0.5 and 5 times the product 0.25.
        assert_eq!(lift([0.5, 0.5, 0.0]), 1.5 + 5.0 * 0.25);

        // And 6 times the lowest of 0.25 and 1, with the blink's own 3.
        assert_eq!(lift([0.5, 0.5, 1.0]), 1.5 + 1.25 + 3.0 + 6.0 * 0.25);
    }

    #[test]
    fn of_an_exclusive_set_every_two_sliders_exclude_each_other() {
        let text = r#"{"exclusive": [["smile", "jaw", "blink"], ["jaw", "blink50"]]}"#;
        let rig = settings(text).apply(&rig()).unwrap();
        let pairs = [[0, 1], [0, 2], [1, 2], [1, 3]].map(|pair| pair.map(SliderId::new));
        assert_eq!(rig.exclusive_pairs(), pairs);

        for wrong in [
            r#"[["smile"]]"#,
            r#"[["smile", "smile"]]"#,
            r#"[["smile", "jwa"]]"#,
        ] {
            let text = format!(r#"{{"exclusive": {wrong}}}"#);
            assert!(settings(&text).apply(&rig).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unknown_names_and_cyclic_drivers_are_errors() {
        let apply = |text: &str| settings(text).apply(&rig()).unwrap_err();
        assert!(matches!(
            apply(r#"{"locked": ["smlie"]}"#),
            RigError::NoSuchSlider { .. }
        ));

        let cycle =
            r#"{"combinations": {"jaw": {"drivers": ["blink"]}, "blink": {"drivers": ["jaw"]}}}"#;
        assert!(matches!(apply(cycle), RigError::BadDriver { .. }));
        assert!(matches!(
            apply(r#"{"limits": {"jaw": [1, 0]}}"#),
            RigError::EmptyLimits { .. }
        ));
        assert!(matches!(
            apply(r#"{"in_betweens": {"blink50": {"of": "blink", "at": 1.0}}}"#),
            RigError::BadOption { .. }
        ));
        assert!(
            serde_json::from_str::<RigSettings>(r#"{"limit": {}}"#).is_err(),
            "an unknown key is an error"
        );
    }
}
