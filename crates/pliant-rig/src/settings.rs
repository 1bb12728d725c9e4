//! What files of meshes cannot say about a rig: limits, locks, groups, and which targets are
//! correctives or in-betweens.
//!
//! **Problem.** glTF and most exporters store every shape as one more slider of equal rank. A
//! corrective such as `smile_jawOpen` or an in-between such as `blink50` then becomes a slider of
//! its own, which no one should drag.
//!
//! **Ours.** Settings are kept beside the asset, by the names of its targets: a target that is
//! named as a combination or an in-between stops being a slider and takes its place in the rig.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Combination, Driver, InBetween, Limits, Path, Rig, RigError, Rule, Slider, SliderGroup, Target,
};

/// Settings of a rig by the names of its targets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RigSettings {
    /// Lower and upper limits of sliders; those that are not named run from 0 to 1.
    pub limits: BTreeMap<String, [f64; 2]>,
    /// Sliders that solvers leave alone.
    pub locked: Vec<String>,
    /// Sliders that go through their in-betweens without a kink.
    pub smooth: Vec<String>,
    /// Groups of sliders by name.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Pairs of sliders of which at most one may be away from zero.
    pub exclusive: Vec<[String; 2]>,
    /// Targets that are shapes on the way of another one.
    pub in_betweens: BTreeMap<String, InBetweenSettings>,
    /// Targets that appear where others meet.
    pub combinations: BTreeMap<String, CombinationSettings>,
}

/// Where an in-between belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InBetweenSettings {
    /// The slider whose way it is on.
    pub of: String,
    /// The weight at which it is reached.
    pub at: f64,
}

/// What drives a combination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinationSettings {
    /// Sliders, or other combinations, by name.
    pub drivers: Vec<String>,
    /// How they become one coefficient.
    #[serde(default)]
    pub rule: Rule,
}

impl RigSettings {
    /// The rig with these settings; its targets that are in-betweens or combinations are no sliders
    /// any more.
    pub fn apply(&self, rig: &Rig) -> Result<Rig, RigError> {
        self.names()
            .try_for_each(|name| rig.slider_named(name).map(|_| ()))?;
        if let Some(name) = self
            .in_betweens
            .keys()
            .find(|name| self.combinations.contains_key(*name))
        {
            return Err(RigError::BadDriver { name: name.clone() });
        }
        let named = |name: &str| {
            rig.targets()
                .iter()
                .find(|t| t.name == name)
                .expect("names were looked up above")
        };
        let inner = |t: &&Target| {
            !self.combinations.contains_key(&t.name) && !self.in_betweens.contains_key(&t.name)
        };
        let mut targets: Vec<Target> = rig.targets().iter().filter(inner).cloned().collect();
        for (name, place) in &self.in_betweens {
            let (shape, weight) = (named(name), place.at);
            let whole = targets
                .iter_mut()
                .find(|t| t.name == place.of)
                .ok_or_else(|| RigError::BadInBetween {
                    name: name.clone(),
                    of: place.of.clone(),
                })?;
            if !weight.is_finite() || weight == 0.0 || weight == 1.0 {
                return Err(RigError::BadOption {
                    what: "the place of an in-between",
                    value: weight,
                    needed: "neither 0 nor 1",
                });
            }
            let between = InBetween {
                name: name.clone(),
                weight,
                vertices: shape.vertices.clone(),
                deltas: shape.deltas.clone(),
            };
            whole.in_betweens.push(between);
            whole
                .in_betweens
                .sort_by(|a, b| a.weight.total_cmp(&b.weight));
        }
        let changed = rig.with_targets(targets)?;
        let combinations = self.combined(&changed, named)?;
        self.with_sliders(changed)?.with_combinations(combinations)
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
        let places = self
            .in_betweens
            .iter()
            .flat_map(|(name, place)| [name, &place.of]);
        lists
            .chain(drivers)
            .chain(places)
            .chain(self.limits.keys())
            .chain(self.combinations.keys())
            .map(String::as_str)
    }

    /// The combinations, each after those that drive it.
    fn combined<'a>(
        &self,
        rig: &Rig,
        named: impl Fn(&str) -> &'a Target,
    ) -> Result<Vec<Combination>, RigError> {
        let mut done: Vec<&str> = Vec::new();
        let mut combinations = rig.combinations().to_vec();
        let kept = combinations.len();
        while done.len() < self.combinations.len() {
            let before = done.len();
            for (name, settings) in self
                .combinations
                .iter()
                .filter(|(name, _)| !done.contains(&name.as_str()))
                .collect::<Vec<_>>()
            {
                let driver = |driver: &String| match done.iter().position(|d| d == driver) {
                    Some(place) => Some(Driver::Combination(kept + place)),
                    None => rig.slider_named(driver).ok().map(Driver::Slider),
                };
                let Some(drivers) = settings
                    .drivers
                    .iter()
                    .map(driver)
                    .collect::<Option<Vec<_>>>()
                else {
                    continue;
                };
                let (shape, rule) = (named(name), settings.rule);
                let (vertices, deltas) = (shape.vertices.clone(), shape.deltas.clone());
                combinations.push(Combination {
                    name: name.clone(),
                    drivers,
                    rule,
                    vertices,
                    deltas,
                });
                done.push(name);
            }
            if done.len() == before {
                // What is left drives itself, or is driven by an in-between.
                let name = self
                    .combinations
                    .keys()
                    .find(|name| !done.contains(&name.as_str()))
                    .expect("some are left");
                return Err(RigError::BadDriver { name: name.clone() });
            }
        }
        Ok(combinations)
    }

    fn with_sliders(&self, rig: Rig) -> Result<Rig, RigError> {
        let mut sliders: Vec<Slider> = rig.sliders().to_vec();
        for (name, &[min, max]) in &self.limits {
            sliders[rig.slider_named(name)?].limits = Limits::new(min, max);
        }
        for name in &self.locked {
            sliders[rig.slider_named(name)?].locked = true;
        }
        for name in &self.smooth {
            sliders[rig.slider_named(name)?].path = Path::Spline;
        }
        let all = |names: &[String]| {
            names
                .iter()
                .map(|name| rig.slider_named(name))
                .collect::<Result<Vec<_>, _>>()
        };
        let group = |(name, members): (&String, &Vec<String>)| {
            Ok(SliderGroup {
                name: name.clone(),
                sliders: all(members)?,
            })
        };
        let mut groups = rig.groups().to_vec();
        groups.extend(
            self.groups
                .iter()
                .map(group)
                .collect::<Result<Vec<_>, RigError>>()?,
        );
        let mut exclusive = rig.exclusive_pairs().to_vec();
        for [a, b] in &self.exclusive {
            exclusive.push([rig.slider_named(a)?, rig.slider_named(b)?]);
        }
        rig.with_sliders(sliders)?
            .with_groups(groups)?
            .with_exclusive_pairs(exclusive)
    }
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
    fn correctives_and_in_betweens_stop_being_sliders() {
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
        assert_eq!(rig.groups()[0].sliders, [0, 1]);
        let lift = |weights: [f64; 3]| rig.evaluate(&weights)[0].z;
        assert_eq!(lift([0.0, 0.0, 0.5]), 4.0, "the in-between itself");
        // 1·0.5 + 2·0.5 and 5 times the product 0.25.
        assert_eq!(lift([0.5, 0.5, 0.0]), 1.5 + 5.0 * 0.25);
        // And 6 times the lowest of 0.25 and 1, with the blink's own 3.
        assert_eq!(lift([0.5, 0.5, 1.0]), 1.5 + 1.25 + 3.0 + 6.0 * 0.25);
    }

    #[test]
    fn names_that_are_not_there_and_circles_are_declined() {
        let apply = |text: &str| settings(text).apply(&rig()).unwrap_err();
        assert!(matches!(
            apply(r#"{"locked": ["smlie"]}"#),
            RigError::NoSuchSlider { .. }
        ));
        let circle =
            r#"{"combinations": {"jaw": {"drivers": ["blink"]}, "blink": {"drivers": ["jaw"]}}}"#;
        assert!(matches!(apply(circle), RigError::BadDriver { .. }));
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
            "a key that means nothing is a slip"
        );
    }
}
