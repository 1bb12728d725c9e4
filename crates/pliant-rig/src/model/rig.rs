//! The blendshape rig: a neutral mesh, targets, sliders and combinations.
//!
//! **Equation.** `x = n + Σ wₖ bₖ` with the neutral `n`, weights `w` and targets `b`, each a
//! displacement of the few vertices it moves.
//!
//! **Source.** Lewis and Anjyo, "Direct manipulation blendshapes", 2010, eq. 1, in delta form.
//!
//! **Departures.** With in-betweens and combinations, the coefficients of the shapes are functions
//! of the slider weights; see [`Activation`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};

use super::target::{Shape, add_scaled, sort_shape};
use super::{Activation, Combination, Driver, Slider, SliderGroup, SliderId, Target};
use crate::{RigError, did_you_mean};

/// A blendshape rig: a neutral mesh, named targets, and the settings of their sliders. Clones share
/// the targets.
#[derive(Debug, Clone)]
pub struct Rig {
    neutral: Mesh,
    targets: Arc<[Target]>,
    sliders: Vec<Slider>,
    combinations: Vec<Combination>,
    groups: Vec<SliderGroup>,
    exclusive: Vec<[SliderId; 2]>,
    activation: Activation,
}

impl Rig {
    /// A rig of targets with distinct names, which move only vertices of `neutral`; sliders have
    /// the limits 0 and 1.
    ///
    /// Displacements may hold NaN, so that a report can name it; every solver calls
    /// [`Rig::require_finite`] first.
    pub fn new(neutral: Mesh, mut targets: Vec<Target>) -> Result<Self, RigError> {
        let mut names = HashSet::new();
        for target in &targets {
            if !names.insert(target.name.as_str()) {
                return Err(RigError::DuplicateName {
                    name: target.name.clone(),
                });
            }
            for shape in target.shapes() {
                check_shape("target", &target.name, shape, neutral.vertex_count())?;
            }
        }

        for target in &mut targets {
            target.sort_vertices();
        }

        // Sliders have default settings until `with_sliders`.
        let sliders = vec![Slider::default(); targets.len()];
        let activation = Activation::new(&targets, &sliders, &[]);

        Ok(Self {
            neutral,
            targets: targets.into(),
            sliders,
            combinations: Vec::new(),
            groups: Vec::new(),
            exclusive: Vec::new(),
            activation,
        })
    }

    /// A rig without targets.
    #[must_use]
    pub fn without_targets(neutral: Mesh) -> Self {
        Self::new(neutral, Vec::new()).expect("a rig without targets is always consistent")
    }

    /// The same sliders on another neutral with as many vertices.
    pub fn with_neutral(self, neutral: Mesh) -> Result<Self, RigError> {
        let expected = self.neutral.vertex_count();
        let found = neutral.vertex_count();
        if found != expected {
            return Err(RigError::VertexCount {
                what: "the new neutral".into(),
                found,
                expected,
            });
        }
        Ok(Self { neutral, ..self })
    }

    /// The same neutral with other targets. Targets of the same name keep their settings.
    pub fn with_targets(&self, targets: Vec<Target>) -> Result<Self, RigError> {
        let mut index_of: HashMap<&str, usize> = HashMap::new();
        for (k, target) in self.targets.iter().enumerate() {
            index_of.insert(&target.name, k);
        }

        let sources: Vec<Option<usize>> = targets
            .iter()
            .map(|target| index_of.get(target.name.as_str()).copied())
            .collect();

        self.with_targets_from(targets, &sources)
    }

    /// The same neutral with other targets. Each takes the settings of its source, a target of this
    /// rig or none.
    ///
    /// A target that is the source of several passes its settings and groups to all of them.
    /// Combinations and exclusive pairs stay if each of their sliders is the source of exactly one.
    ///
    /// # Errors
    /// Without one source for each target, and with a source that the rig does not have.
    pub fn with_targets_from(
        &self,
        targets: Vec<Target>,
        sources: &[Option<usize>],
    ) -> Result<Self, RigError> {
        MeshError::require_count("the list of sources", sources.len(), targets.len())?;
        for source in sources.iter().flatten() {
            self.require_slider(*source)?;
        }

        let mut sliders = Vec::with_capacity(sources.len());
        let mut results: Vec<Vec<SliderId>> = vec![Vec::new(); self.targets.len()];
        for (new, source) in sources.iter().enumerate() {
            match *source {
                Some(old) => {
                    sliders.push(self.sliders[old].clone());
                    results[old].push(new.into());
                }
                None => sliders.push(Slider::default()),
            }
        }

        // A slider that became several, or none, is in no pair and drives no combination.
        let mut single = Vec::with_capacity(results.len());
        for new in &results {
            single.push(if let [one] = new[..] { Some(one) } else { None });
        }
        let mut exclusive = Vec::new();
        for &[a, b] in &self.exclusive {
            if let (Some(a), Some(b)) = (single[a.index()], single[b.index()]) {
                exclusive.push([a, b]);
            }
        }

        Self::new(self.neutral.clone(), targets)?
            .with_sliders(sliders)?
            .with_combinations(self.combinations_with(&single))?
            .with_groups(self.groups_with(&results))?
            .with_exclusive_pairs(exclusive)
    }

    /// The groups with the new indices of each slider, without empty ones.
    fn groups_with(&self, new_sliders: &[Vec<SliderId>]) -> Vec<SliderGroup> {
        let mut groups = Vec::new();
        for group in &self.groups {
            let members = group
                .sliders
                .iter()
                .flat_map(|old| &new_sliders[old.index()]);
            let sliders: Vec<SliderId> = members.copied().collect();
            if !sliders.is_empty() {
                groups.push(SliderGroup {
                    name: group.name.clone(),
                    sliders,
                });
            }
        }

        groups
    }

    /// The combinations whose sliders all have a new index, with those indices.
    fn combinations_with(&self, new_sliders: &[Option<SliderId>]) -> Vec<Combination> {
        let mut kept: Vec<Combination> = Vec::new();
        let mut new_combinations: Vec<Option<usize>> = Vec::new();
        for combination in &self.combinations {
            // A driver that no longer exists removes the combination.
            let new_driver = |driver: &Driver| match *driver {
                Driver::Slider(k) => new_sliders[k.index()].map(Driver::Slider),
                Driver::Combination(c) => new_combinations[c].map(Driver::Combination),
            };

            let drivers: Option<Vec<Driver>> = combination.drivers.iter().map(new_driver).collect();
            new_combinations.push(drivers.is_some().then_some(kept.len()));
            if let Some(drivers) = drivers {
                kept.push(Combination {
                    drivers,
                    ..combination.clone()
                });
            }
        }

        kept
    }

    /// The same rig with other settings of its sliders, one for each target.
    pub fn with_sliders(self, sliders: Vec<Slider>) -> Result<Self, RigError> {
        if sliders.len() != self.targets.len() {
            return Err(RigError::SliderCount {
                found: sliders.len(),
                expected: self.targets.len(),
            });
        }

        for (slider, target) in sliders.iter().zip(self.targets.iter()) {
            slider.limits.check(&target.name)?;
        }

        let activation = Activation::new(&self.targets, &sliders, &self.combinations);
        Ok(Self {
            sliders,
            activation,
            ..self
        })
    }

    /// The same rig with these combinations. The drivers of each are sliders or combinations before
    /// it.
    pub fn with_combinations(self, mut combinations: Vec<Combination>) -> Result<Self, RigError> {
        for (k, combination) in combinations.iter().enumerate() {
            // Drivers must exist, and combinations must come before those that they drive.
            let known = |driver: &Driver| match *driver {
                Driver::Slider(slider) => slider.index() < self.targets.len(),
                Driver::Combination(earlier) => earlier < k,
            };

            if combination.drivers.is_empty() || !combination.drivers.iter().all(known) {
                return Err(RigError::BadDriver {
                    name: combination.name.clone(),
                });
            }

            let shape = (&*combination.vertices, &*combination.deltas);
            let vertex_count = self.neutral.vertex_count();
            check_shape("combination", &combination.name, shape, vertex_count)?;
        }

        for combination in &mut combinations {
            sort_shape(&mut combination.vertices, &mut combination.deltas);
        }

        let activation = Activation::new(&self.targets, &self.sliders, &combinations);
        Ok(Self {
            combinations,
            activation,
            ..self
        })
    }

    /// The same rig with named groups of sliders.
    pub fn with_groups(self, groups: Vec<SliderGroup>) -> Result<Self, RigError> {
        for &slider in groups.iter().flat_map(|group| &group.sliders) {
            self.require_slider(slider)?;
        }
        Ok(Self { groups, ..self })
    }

    /// All pairs of the sliders called `names`, of which there must be two or more.
    pub fn exclusive_pairs_of(&self, names: &[String]) -> Result<Vec<[SliderId; 2]>, RigError> {
        if names.len() < 2 {
            return Err(RigError::ExclusiveCount { found: names.len() });
        }
        let sliders: Result<Vec<SliderId>, RigError> =
            names.iter().map(|name| self.slider_named(name)).collect();
        let sliders = sliders?;

        let mut pairs = Vec::new();
        for (k, &a) in sliders.iter().enumerate() {
            pairs.extend(sliders[k + 1..].iter().map(|&b| [a, b]));
        }
        Ok(pairs)
    }

    /// The same rig with pairs of sliders of which at most one may be away from zero.
    pub fn with_exclusive_pairs(self, exclusive: Vec<[SliderId; 2]>) -> Result<Self, RigError> {
        for &slider in exclusive.iter().flatten() {
            self.require_slider(slider)?;
        }
        for &[a, b] in &exclusive {
            if a == b {
                return Err(RigError::ExcludesItself {
                    name: self.targets[a.index()].name.clone(),
                });
            }
        }

        Ok(Self { exclusive, ..self })
    }

    /// Returns an error if a position or displacement is NaN or infinite.
    pub fn require_finite(&self) -> Result<(), RigError> {
        self.neutral.require_finite()?;
        for target in self.targets.iter() {
            for shape in target.shapes() {
                require_finite_shape("target", &target.name, shape)?;
            }
        }
        for combination in &self.combinations {
            let shape = (&*combination.vertices, &*combination.deltas);
            require_finite_shape("combination", &combination.name, shape)?;
        }
        Ok(())
    }

    /// Returns an error if the rig does not have slider `slider`.
    pub fn require_slider(&self, slider: impl Into<SliderId>) -> Result<(), RigError> {
        let slider = slider.into();
        let sliders = self.targets.len();
        if slider.index() < sliders {
            Ok(())
        } else {
            Err(RigError::NoSuchSlider {
                slider: format!("number {slider}"),
                known: format!("it has {sliders}, counted from 0"),
            })
        }
    }

    /// The slider called `name`.
    pub fn slider_named(&self, name: &str) -> Result<SliderId, RigError> {
        let found = self.targets.iter().position(|target| target.name == name);
        found
            .map(SliderId::from)
            .ok_or_else(|| RigError::NoSuchSlider {
                slider: format!("'{name}'"),
                known: did_you_mean(name, self.targets.iter().map(|t| t.name.as_str())),
            })
    }

    /// The mesh at weight 0 of all sliders.
    #[must_use]
    pub fn neutral(&self) -> &Mesh {
        &self.neutral
    }

    /// The targets in file order.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The settings of each target's slider.
    #[must_use]
    pub fn sliders(&self) -> &[Slider] {
        &self.sliders
    }

    /// The combinations.
    #[must_use]
    pub fn combinations(&self) -> &[Combination] {
        &self.combinations
    }

    /// The sliders that combination `combination` depends on, directly or through others,
    /// ascending.
    #[must_use]
    pub fn drivers_of(&self, combination: usize) -> Vec<SliderId> {
        let mut sliders = Vec::new();
        let mut pending = vec![combination];
        while let Some(c) = pending.pop() {
            for driver in &self.combinations[c].drivers {
                match *driver {
                    Driver::Slider(slider) => sliders.push(slider),
                    Driver::Combination(inner) => pending.push(inner),
                }
            }
        }

        sliders.sort_unstable();
        sliders.dedup();
        sliders
    }

    /// Named groups of sliders.
    #[must_use]
    pub fn groups(&self) -> &[SliderGroup] {
        &self.groups
    }

    /// Pairs of sliders of which at most one may be away from zero.
    #[must_use]
    pub fn exclusive_pairs(&self) -> &[[SliderId; 2]] {
        &self.exclusive
    }

    /// How slider weights become coefficients of shapes.
    #[must_use]
    pub fn activation(&self) -> &Activation {
        &self.activation
    }

    /// The vertices and displacements of every shape, in the order of [`Activation`].
    pub fn shapes(&self) -> impl Iterator<Item = Shape<'_>> {
        let combined = self
            .combinations
            .iter()
            .map(|c| (c.vertices.as_slice(), c.deltas.as_slice()));
        self.targets.iter().flat_map(Target::shapes).chain(combined)
    }

    /// Vertex positions at `weights`, one for each target; missing ones count as zero.
    #[must_use]
    pub fn evaluate(&self, weights: &[f64]) -> Vec<DVec3> {
        let mut positions = self.neutral.positions().to_vec();
        let coefficients = self.activation.coefficients(weights);
        for (shape, &coefficient) in self.shapes().zip(&coefficients) {
            if coefficient != 0.0 {
                add_scaled(shape, coefficient, &mut positions);
            }
        }
        positions
    }
}

/// Checks that a shape has one displacement per vertex and moves only vertices of the mesh.
fn check_shape(
    kind: &str,
    name: &str,
    (vertices, deltas): Shape<'_>,
    vertex_count: usize,
) -> Result<(), RigError> {
    if vertices.len() != deltas.len() {
        return Err(RigError::Displacements {
            what: format!("{kind} '{name}'"),
            vertices: vertices.len(),
            displacements: deltas.len(),
        });
    }
    match vertices.iter().find(|&&v| v as usize >= vertex_count) {
        Some(&vertex) => Err(RigError::VertexCount {
            what: format!("{kind} '{name}'"),
            found: vertex as usize + 1,
            expected: vertex_count,
        }),
        None => Ok(()),
    }
}

fn require_finite_shape(
    kind: &str,
    name: &str,
    (vertices, deltas): Shape<'_>,
) -> Result<(), RigError> {
    match deltas.iter().position(|d| !d.is_finite()) {
        Some(k) => Err(RigError::NotFinite {
            what: format!("{kind} '{name}'"),
            vertex: vertices[k] as usize,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InBetween;
    use pliant_mesh::glam::Vec3;

    fn triangle() -> Mesh {
        Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap()
    }

    #[test]
    fn targets_store_only_moved_vertices_and_add_up() {
        let lift = Target::from_dense("lift", [Vec3::ZERO, Vec3::Z, Vec3::ZERO]);
        let slide = Target::from_dense("slide", [Vec3::X, Vec3::ZERO, Vec3::X]);
        assert_eq!(lift.vertices, vec![1]);

        let rig = Rig::new(triangle(), vec![lift, slide]).unwrap();
        assert_eq!(
            rig.evaluate(&[0.5, 2.0]),
            vec![
                DVec3::X * 2.0,
                DVec3::new(1.0, 0.0, 0.5),
                DVec3::new(2.0, 1.0, 0.0)
            ]
        );
        assert_eq!(rig.evaluate(&[]), triangle().positions());
    }

    #[test]
    fn unordered_vertices_are_sorted_and_duplicates_are_added_up() {
        let vertices = vec![2, 0, 2];
        let deltas = vec![Vec3::X, Vec3::Y, Vec3::Z];
        let target = Target {
            name: "t".into(),
            vertices,
            deltas,
            in_betweens: Vec::new(),
        };

        let mut before = triangle().positions().to_vec();
        target.add_to(0.5, &mut before);
        let rig = Rig::new(triangle(), vec![target]).unwrap();

        assert_eq!(rig.targets()[0].vertices, [0, 2]);
        assert_eq!(rig.evaluate(&[0.5]), before);
    }

    #[test]
    fn a_combination_adds_its_shape_where_all_drivers_are_active() {
        let [a, b] = ["a", "b"].map(|name| Target::from_dense(name, [Vec3::ZERO; 3]));
        let both = Combination {
            name: "a_b".into(),
            drivers: vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
            rule: crate::Rule::Product,
            vertices: vec![2],
            deltas: vec![Vec3::Z],
        };

        let rig = Rig::new(triangle(), vec![a, b]).unwrap();
        let broken = Combination {
            drivers: vec![Driver::Combination(0)],
            ..both.clone()
        };

        assert_eq!(
            rig.clone().with_combinations(vec![broken]).unwrap_err(),
            RigError::BadDriver { name: "a_b".into() }
        );

        let rig = rig.with_combinations(vec![both]).unwrap();
        assert_eq!(rig.evaluate(&[0.5, 0.5])[2], DVec3::Y + DVec3::Z * 0.25);
        assert_eq!(rig.evaluate(&[1.0, 0.0])[2], DVec3::Y);
    }

    /// Sliders a, b and c (locked), combinations of (a, b), (b, c) and ((b, c), c).
    fn rig_with_combinations() -> Rig {
        let targets = ["a", "b", "c"].map(|name| Target::from_dense(name, []));
        let combination = |drivers| Combination {
            name: "x".into(),
            drivers,
            rule: crate::Rule::Product,
            vertices: vec![],
            deltas: vec![],
        };
        let [a, b, c] = [0, 1, 2].map(|k| Driver::Slider(k.into()));
        let combinations = vec![
            combination(vec![a, b]),
            combination(vec![b, c]),
            combination(vec![Driver::Combination(1), c]),
        ];
        let mut sliders = vec![Slider::default(); 3];
        sliders[2].locked = true;

        Rig::new(triangle(), targets.to_vec())
            .unwrap()
            .with_sliders(sliders)
            .unwrap()
            .with_combinations(combinations)
            .unwrap()
    }

    fn renamed(target: &Target, name: &str) -> Target {
        Target {
            name: name.into(),
            ..target.clone()
        }
    }

    #[test]
    fn settings_and_combinations_follow_the_names_of_targets() {
        let rig = rig_with_combinations();
        let [_, b, c] = rig.targets() else {
            unreachable!()
        };
        let fewer = rig.with_targets(vec![c.clone(), b.clone()]).unwrap();

        assert!(fewer.sliders()[0].locked && !fewer.sliders()[1].locked);
        let first = Driver::Slider(0.into());
        let drivers: Vec<_> = fewer.combinations().iter().map(|c| &*c.drivers).collect();
        assert_eq!(
            drivers,
            [
                [Driver::Slider(1.into()), first],
                [Driver::Combination(0), first]
            ]
        );
    }

    #[test]
    fn settings_follow_the_sources_of_split_and_renamed_targets() {
        let rig = rig_with_combinations();
        let [a, b, c] = rig.targets() else {
            unreachable!()
        };
        let targets = vec![a.clone(), renamed(a, "a2"), b.clone(), renamed(c, "z")];
        let sources = [Some(0), Some(0), Some(1), Some(2)];

        let split = rig.with_targets_from(targets, &sources).unwrap();
        assert!(split.sliders()[3].locked, "settings follow a new name");
        assert_eq!(
            split.combinations().len(),
            2,
            "combinations of a split slider are not kept"
        );

        let one = || vec![a.clone()];
        let too_many = rig.with_targets_from(one(), &[Some(0), None]);
        assert!(matches!(
            too_many,
            Err(RigError::Mesh(MeshError::Count {
                found: 2,
                expected: 1,
                ..
            }))
        ));
        assert!(matches!(
            rig.with_targets_from(one(), &[Some(99)]),
            Err(RigError::NoSuchSlider { .. })
        ));
    }

    #[test]
    fn empty_limits_are_an_error() {
        let rig = Rig::new(triangle(), vec![Target::from_dense("a", [])]).unwrap();
        let empty = Slider {
            limits: crate::Limits::new(1.0, 0.0),
            ..Slider::default()
        };

        assert!(matches!(
            rig.clone().with_sliders(vec![empty]),
            Err(RigError::EmptyLimits { .. })
        ));
        assert!(matches!(
            rig.with_sliders(vec![]),
            Err(RigError::SliderCount {
                found: 0,
                expected: 1
            })
        ));
    }

    #[test]
    fn a_target_beyond_the_mesh_or_with_a_duplicate_name_is_an_error() {
        let far = Target {
            name: "far".into(),
            vertices: vec![7],
            deltas: vec![Vec3::X],
            in_betweens: Vec::new(),
        };

        assert!(matches!(
            Rig::new(triangle(), vec![far]),
            Err(RigError::VertexCount {
                found: 8,
                expected: 3,
                ..
            })
        ));

        let twice = vec![
            Target::from_dense("smile", []),
            Target::from_dense("smile", []),
        ];

        assert_eq!(
            Rig::new(triangle(), twice).unwrap_err(),
            RigError::DuplicateName {
                name: "smile".into()
            }
        );
    }

    #[test]
    fn an_in_between_bends_the_path_and_its_outer_segments_extend() {
        let in_between = InBetween {
            name: String::new(),
            weight: 0.5,
            vertices: vec![2],
            deltas: vec![Vec3::X],
        };

        let mut lid = Target::from_dense("lid", [Vec3::ZERO, Vec3::ZERO, Vec3::Z]);
        lid.in_betweens.push(in_between);
        let rig = Rig::new(triangle(), vec![lid]).unwrap();
        let moved = |weight: f64| rig.evaluate(&[weight])[2] - DVec3::Y;

        assert_eq!(moved(0.25), DVec3::X * 0.5);
        assert_eq!(moved(0.5), DVec3::X);
        assert_eq!(moved(0.75), (DVec3::X + DVec3::Z) * 0.5);
        assert_eq!(moved(1.0), DVec3::Z);
        assert_eq!(moved(1.5), DVec3::Z * 2.0 - DVec3::X);
        assert_eq!(moved(-0.5), -DVec3::X);
    }

    #[test]
    fn nan_in_a_target_is_kept_for_the_report_and_require_finite_is_an_error() {
        let broken = Target::from_dense("broken", [Vec3::ZERO, Vec3::NAN, Vec3::ZERO]);
        let rig = Rig::new(triangle(), vec![broken]).unwrap();
        assert_eq!(
            rig.require_finite(),
            Err(RigError::NotFinite {
                what: "target 'broken'".into(),
                vertex: 1
            })
        );
    }
}
