//! Recognition of driven shapes: combinations, in-betweens and aliases among the targets of a rig.
//!
//! **Problem.** Most exporters store every shape as one more slider of equal rank. A corrective
//! such as `smile_jawOpen` or an in-between such as `blink_050` is then a slider that nobody should
//! drag, a twin of another shape doubles it, and a preset such as `joy`, the sum of a smile and a
//! squint, adds to both.
//!
//! **Method.** A name is a combination if its parts are sliders of the rig, and an in-between if
//! it is a slider's name with a percentage (`shape_name`). A name alone is no evidence:
//! `mouth_left` may stand beside `mouth` and `left`. So the displacements are checked, too
//! (`plausibility`), and names of published vocabularies are ordinary sliders. Aliases need no
//! name: they are found by their displacements (`aliases`).
//!
//! **Conventions.** `a_b`, `a__b` (MetaHuman, after the prefix of the mesh), `a+b`, and lists of
//! action units such as `AU6_AU12`, `AU6+12`, `AU6_12L`; any number of parts; a side may stand
//! after the last part for all of them (`smile_jawOpen_L`). In-betweens: `name_050`, `name50`,
//! `name_50_L`. Simplex uses `a_b` and `name_50`.
//!
//! **Departures.** Combinations are products of their drivers; a settings file can say otherwise
//! ([`RigSettings`]).

mod aliases;
mod plausibility;
mod shape_name;

use std::collections::BTreeSet;

pub use aliases::Alias;

use crate::{CombinationSettings, InBetweenSettings, Rig, RigError, RigSettings, Rule, Target};
use plausibility::{CombinationKind, combination_kind, is_in_between};
use shape_name::{Names, ShapeName};

/// What the names and displacements of a rig's targets say about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recognition {
    /// Targets that are combinations, with the names of their drivers.
    pub combinations: Vec<(String, Vec<String>)>,
    /// Targets that are in-betweens, with their slider and its weight.
    pub in_betweens: Vec<(String, String, f64)>,
    /// Targets that others give as well.
    pub aliases: Vec<Alias>,
    /// Targets whose names look like one of these, but whose displacements do not, and why.
    pub declined: Vec<(String, &'static str)>,
}

impl Recognition {
    /// Of the targets of a rig.
    #[must_use]
    pub fn of(rig: &Rig) -> Self {
        let targets = rig.targets();
        let names = Names::new(targets.iter().map(|target| target.name.as_str()));
        let mut found = Self::default();
        let mut driven = BTreeSet::new();

        for (index, target) in targets.iter().enumerate() {
            // A target with in-betweens of its own is a slider in its file.
            if !target.in_betweens.is_empty() {
                continue;
            }
            match names.read(index) {
                ShapeName::Slider => {}
                ShapeName::InBetween { of, at } => {
                    if is_in_between(target, &targets[of], at) {
                        driven.insert(index);
                        let slider = targets[of].name.clone();
                        found.in_betweens.push((target.name.clone(), slider, at));
                    } else {
                        found.declined.push((
                            target.name.clone(),
                            "is named as an in-between, but is not on the way to its slider",
                        ));
                    }
                }
                ShapeName::Combination(parts) => {
                    found.read_combination(target, targets, &parts, || {
                        driven.insert(index);
                    });
                }
            }
        }

        found.drop_driven_drivers();
        found.aliases = aliases::find(targets, &driven);
        found
    }

    fn read_combination(
        &mut self,
        target: &Target,
        targets: &[Target],
        parts: &[usize],
        accept: impl FnOnce(),
    ) {
        let drivers: Vec<&Target> = parts.iter().map(|&part| &targets[part]).collect();
        match combination_kind(target, &drivers) {
            CombinationKind::Corrective => {
                accept();
                let names = drivers.iter().map(|driver| driver.name.clone());
                self.combinations
                    .push((target.name.clone(), names.collect()));
            }
            CombinationKind::WholePose => self.declined.push((
                target.name.clone(),
                "is named as a combination, but is the whole pose of its parts and not a correction",
            )),
            CombinationKind::Unrelated => self.declined.push((
                target.name.clone(),
                "is named as a combination, but moves other vertices than its parts, or moves them farther",
            )),
        }
    }

    /// Combinations of shapes that are driven themselves are declined.
    fn drop_driven_drivers(&mut self) {
        let in_betweens: BTreeSet<String> = self
            .in_betweens
            .iter()
            .map(|(name, ..)| name.clone())
            .collect();
        let combinations: BTreeSet<String> = self
            .combinations
            .iter()
            .map(|(name, _)| name.clone())
            .collect();

        let mut declined = Vec::new();
        self.combinations.retain(|(name, drivers)| {
            let keeps = !drivers
                .iter()
                .any(|driver| in_betweens.contains(driver) || combinations.contains(driver));
            if !keeps {
                declined.push((
                    name.clone(),
                    "is a combination of a shape that is driven itself",
                ));
            }
            keeps
        });
        self.in_betweens.retain(|(name, of, _)| {
            let keeps = !in_betweens.contains(of) && !combinations.contains(of);
            if !keeps {
                declined.push((
                    name.clone(),
                    "is an in-between of a shape that is driven itself",
                ));
            }
            keeps
        });
        self.declined.extend(declined);
    }

    /// Whether every target is an ordinary slider.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.combinations.is_empty()
            && self.in_betweens.is_empty()
            && self.aliases.is_empty()
            && self.declined.is_empty()
    }

    /// The same without these targets, which stay sliders.
    #[must_use]
    pub fn keeping_sliders(mut self, names: &[&str]) -> Self {
        let is_kept = |name: &String| !names.contains(&name.as_str());
        self.combinations.retain(|(name, _)| is_kept(name));
        self.in_betweens.retain(|(name, ..)| is_kept(name));
        self.aliases.retain(|alias| is_kept(&alias.name));
        self.declined.retain(|(name, _)| is_kept(name));
        self
    }

    /// The combinations and in-betweens as settings.
    #[must_use]
    pub fn settings(&self) -> RigSettings {
        let mut settings = RigSettings::default();
        for (name, drivers) in &self.combinations {
            let combination = CombinationSettings {
                drivers: drivers.clone(),
                rule: Rule::default(),
            };
            settings.combinations.insert(name.clone(), combination);
        }
        for (name, of, at) in &self.in_betweens {
            let in_between = InBetweenSettings {
                of: of.clone(),
                at: *at,
            };
            settings.in_betweens.insert(name.clone(), in_between);
        }
        settings
    }

    /// The rig with its aliases locked, so that no solver adds them to the shapes that they repeat.
    pub fn lock_aliases(&self, rig: Rig) -> Result<Rig, RigError> {
        let mut sliders = rig.sliders().to_vec();
        for alias in &self.aliases {
            if let Ok(slider) = rig.slider_named(&alias.name) {
                sliders[slider.index()].locked = true;
            }
        }
        rig.with_sliders(sliders)
    }

    /// What was understood, one sentence for each kind of shape.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.combinations.is_empty() {
            let shown = self.combinations.iter();
            let texts = shown.map(|(name, drivers)| format!("'{name}' ({})", drivers.join(" × ")));
            sentences.push(format!(
                "{} target(s) are combinations, driven by their sliders: {}",
                self.combinations.len(),
                listed(texts.collect())
            ));
        }
        if !self.in_betweens.is_empty() {
            let shown = self.in_betweens.iter();
            let texts = shown.map(|(name, of, at)| format!("'{name}' ('{of}' at {at})"));
            sentences.push(format!(
                "{} target(s) are in-betweens: {}",
                self.in_betweens.len(),
                listed(texts.collect())
            ));
        }
        if !self.aliases.is_empty() {
            let texts = self.aliases.iter().map(Alias::text);
            sentences.push(format!(
                "{} target(s) repeat others: {}",
                self.aliases.len(),
                listed(texts.collect())
            ));
        }
        for (name, reason) in &self.declined {
            sentences.push(format!("target '{name}' {reason}; it stays a slider"));
        }
        sentences
    }
}

/// The first texts of a list, and how many more there are.
fn listed(texts: Vec<String>) -> String {
    const SHOWN: usize = 5;

    let more = texts.len().saturating_sub(SHOWN);
    let shown = texts[..texts.len() - more].join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests;
