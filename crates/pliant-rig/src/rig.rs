//! A neutral mesh and the targets that move it.
//!
//! **Equation.** `x = x₀ + Σ wₖ dₖ` with the neutral `x₀`, weights `w` and targets `d`,
//! each a displacement of the few vertices it moves.
//!
//! **Source.** Lewis and Anjyo, "Direct manipulation blendshapes", 2010, eq. 1, in delta form.
//!
//! **Ours.** In-betweens and combination shapes make the weights of shapes functions of the
//! sliders, see [`Activation`].

use std::collections::{HashMap, HashSet};

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use crate::{Activation, Combination, Driver, RigError, Slider, SliderGroup, did_you_mean};

/// One shape of a rig, stored as the displacements of the vertices it moves.
///
/// Displacements are `f32`: relative to the size of a face they are small, so their
/// rounding is far below that of any file a rig comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The slider's name.
    pub name: String,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them at weight 1.
    pub deltas: Vec<Vec3>,
    /// Shapes on the way to weight 1, ascending by weight; empty for a straight path.
    pub in_betweens: Vec<InBetween>,
}

/// The shape that a target takes at a weight other than 0 and 1, as displacements from the neutral.
#[derive(Debug, Clone, PartialEq)]
pub struct InBetween {
    /// The in-between's name in its file, often empty.
    pub name: String,
    /// Where on the slider it is reached.
    pub weight: f64,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them.
    pub deltas: Vec<Vec3>,
}

impl Target {
    /// Keeps the displacements that are not exactly zero.
    #[must_use]
    pub fn from_dense(name: impl Into<String>, deltas: impl IntoIterator<Item = Vec3>) -> Self {
        let moved = deltas
            .into_iter()
            .enumerate()
            .filter(|(_, d)| *d != Vec3::ZERO);
        let (vertices, deltas) = moved.map(|(v, d)| (v as u32, d)).unzip();
        Self {
            name: name.into(),
            vertices,
            deltas,
            in_betweens: Vec::new(),
        }
    }

    /// The displacements of every vertex of a mesh with `vertex_count` of them, at weight 1.
    #[must_use]
    pub fn to_dense(&self, vertex_count: usize) -> Vec<Vec3> {
        let mut dense = vec![Vec3::ZERO; vertex_count];
        for (&vertex, &delta) in self.vertices.iter().zip(&self.deltas) {
            dense[vertex as usize] = delta;
        }
        dense
    }

    /// Adds the displacements at `weight` to `positions`, straight from key to key.
    pub fn add_to(&self, weight: f64, positions: &mut [DVec3]) {
        let alone = Activation::new(std::slice::from_ref(self), &[Slider::default()], &[]);
        for ((vertices, deltas), coefficient) in self.shapes().zip(alone.coefficients(&[weight])) {
            add_scaled(vertices, deltas, coefficient, positions);
        }
    }

    /// The target with each displacement, its in-betweens' too, times the mask's number at its
    /// vertex; 0 leaves a vertex still.
    ///
    /// # Panics
    /// If the mask has fewer numbers than the mesh has vertices.
    #[must_use]
    pub fn masked(&self, mask: &[f32]) -> Self {
        self.map_shapes(self.name.clone(), |_, vertices, deltas| {
            vertices
                .iter()
                .zip(deltas)
                .map(|(&v, &d)| (v, d * mask[v as usize]))
                .collect()
        })
    }

    /// The target without displacements shorter than `least`: scans and exporters leave noise where
    /// nothing moves.
    #[must_use]
    pub fn pruned(&self, least: f32) -> Self {
        self.map_shapes(self.name.clone(), |_, vertices, deltas| {
            vertices
                .iter()
                .zip(deltas)
                .filter(|(_, delta)| delta.length() >= least)
                .map(|(&v, &d)| (v, d))
                .collect()
        })
    }

    /// Puts vertices in ascending order; what files list twice is added up.
    fn sort(&mut self) {
        sort_shape(&mut self.vertices, &mut self.deltas);
        self.in_betweens
            .iter_mut()
            .for_each(|between| sort_shape(&mut between.vertices, &mut between.deltas));
    }

    /// The target and its in-betweens, each with the vertices and displacements that `change` makes
    /// of its own and of the weight at which it is reached. Vertices come ascending, and
    /// nothing that does not move.
    pub(crate) fn map_shapes(
        &self,
        name: String,
        change: impl Fn(f64, &[u32], &[Vec3]) -> Vec<(u32, Vec3)>,
    ) -> Self {
        let changed = |weight, vertices: &[u32], deltas: &[Vec3]| {
            let mut moved = change(weight, vertices, deltas);
            moved.retain(|(_, delta)| *delta != Vec3::ZERO);
            moved.sort_by_key(|(vertex, _)| *vertex);
            moved.into_iter().unzip()
        };
        let between = |shape: &InBetween| {
            let (vertices, deltas) = changed(shape.weight, &shape.vertices, &shape.deltas);
            InBetween {
                vertices,
                deltas,
                ..shape.clone()
            }
        };
        let (vertices, deltas) = changed(1.0, &self.vertices, &self.deltas);
        Self {
            name,
            vertices,
            deltas,
            in_betweens: self.in_betweens.iter().map(between).collect(),
        }
    }

    /// Vertices and displacements of the target and of its in-betweens.
    fn shapes(&self) -> impl Iterator<Item = (&[u32], &[Vec3])> {
        let between = self
            .in_betweens
            .iter()
            .map(|b| (b.vertices.as_slice(), b.deltas.as_slice()));
        std::iter::once((self.vertices.as_slice(), self.deltas.as_slice())).chain(between)
    }
}

/// Solvers look vertices up by bisection.
fn sort_shape(vertices: &mut Vec<u32>, deltas: &mut Vec<Vec3>) {
    if vertices.windows(2).all(|pair| pair[0] < pair[1]) {
        return;
    }
    let mut moved: Vec<(u32, Vec3)> = vertices
        .iter()
        .copied()
        .zip(deltas.iter().copied())
        .collect();
    moved.sort_by_key(|(vertex, _)| *vertex);
    let mut sums: Vec<(u32, Vec3)> = Vec::with_capacity(moved.len());
    for (vertex, delta) in moved {
        match sums.last_mut() {
            Some(last) if last.0 == vertex => last.1 += delta,
            _ => sums.push((vertex, delta)),
        }
    }
    (*vertices, *deltas) = sums.into_iter().unzip();
}

fn add_scaled(vertices: &[u32], deltas: &[Vec3], scale: f64, positions: &mut [DVec3]) {
    for (&vertex, delta) in vertices.iter().zip(deltas) {
        positions[vertex as usize] += delta.as_dvec3() * scale;
    }
}

/// A blendshape rig: a neutral mesh, named targets, and what is known about their sliders.
#[derive(Debug, Clone)]
pub struct Rig {
    neutral: Mesh,
    targets: Vec<Target>,
    sliders: Vec<Slider>,
    combinations: Vec<Combination>,
    groups: Vec<SliderGroup>,
    exclusive: Vec<[usize; 2]>,
    activation: Activation,
}

impl Rig {
    /// A rig of targets with distinct names that move vertices of `neutral` only; sliders run from
    /// 0 to 1.
    ///
    /// Displacements may hold NaN (so that a report can name it); whatever computes calls
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
                check_shape(
                    || format!("target '{}'", target.name),
                    shape,
                    neutral.vertex_count(),
                )?;
            }
        }
        targets.iter_mut().for_each(Target::sort);
        let sliders = vec![Slider::default(); targets.len()];
        let activation = Activation::new(&targets, &sliders, &[]);
        Ok(Self {
            neutral,
            targets,
            sliders,
            combinations: Vec::new(),
            groups: Vec::new(),
            exclusive: Vec::new(),
            activation,
        })
    }

    /// A mesh that no slider moves.
    #[must_use]
    pub fn still(neutral: Mesh) -> Self {
        Self::new(neutral, Vec::new()).expect("a rig without targets is always consistent")
    }

    /// The same neutral with other targets. Settings stay with the names of sliders.
    pub fn with_targets(&self, targets: Vec<Target>) -> Result<Self, RigError> {
        let place: HashMap<&str, usize> = self
            .targets
            .iter()
            .enumerate()
            .map(|(k, t)| (t.name.as_str(), k))
            .collect();
        let sources: Vec<Option<usize>> = targets
            .iter()
            .map(|t| place.get(t.name.as_str()).copied())
            .collect();
        self.with_targets_from(targets, &sources)
    }

    /// The same neutral with other targets, each made from one of this rig's (or from none), whose
    /// settings it takes over.
    ///
    /// A target that became several passes its settings and groups to all of them; combinations and
    /// exclusive pairs stay where each of their sliders became exactly one.
    ///
    /// # Panics
    /// If there is not one source for each target, or a source that the rig does not have.
    pub fn with_targets_from(
        &self,
        targets: Vec<Target>,
        sources: &[Option<usize>],
    ) -> Result<Self, RigError> {
        assert_eq!(targets.len(), sources.len(), "one source for each target");
        let mut became: Vec<Vec<usize>> = vec![Vec::new(); self.targets.len()];
        for (new, source) in sources.iter().enumerate() {
            source.iter().for_each(|&old| became[old].push(new));
        }
        let sliders = sources
            .iter()
            .map(|source| source.map_or_else(Slider::default, |old| self.sliders[old].clone()))
            .collect();
        let group = |g: &SliderGroup| SliderGroup {
            name: g.name.clone(),
            sliders: g
                .sliders
                .iter()
                .flat_map(|&old| became[old].iter().copied())
                .collect(),
        };
        let groups = self
            .groups
            .iter()
            .map(group)
            .filter(|g| !g.sliders.is_empty())
            .collect();
        let only: Vec<Option<usize>> = became
            .iter()
            .map(|new| if let [one] = new[..] { Some(one) } else { None })
            .collect();
        let exclusive = self
            .exclusive
            .iter()
            .filter_map(|pair| Some([only[pair[0]]?, only[pair[1]]?]))
            .collect();
        let combinations = self.combinations_with(&only);
        let rig = Self::new(self.neutral.clone(), targets)?
            .with_sliders(sliders)?
            .with_combinations(combinations)?;
        rig.with_groups(groups)?.with_exclusive_pairs(exclusive)
    }

    /// The combinations whose sliders are still there, at their new places.
    fn combinations_with(&self, moved: &[Option<usize>]) -> Vec<Combination> {
        let mut kept: Vec<Combination> = Vec::new();
        let mut places: Vec<Option<usize>> = Vec::new();
        for combination in &self.combinations {
            let driver = |driver: &Driver| match *driver {
                Driver::Slider(k) => moved[k].map(Driver::Slider),
                Driver::Combination(c) => places[c].map(Driver::Combination),
            };
            let drivers: Option<Vec<Driver>> = combination.drivers.iter().map(driver).collect();
            places.push(drivers.is_some().then_some(kept.len()));
            kept.extend(drivers.map(|drivers| Combination {
                drivers,
                ..combination.clone()
            }));
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
        sliders
            .iter()
            .zip(&self.targets)
            .try_for_each(|(slider, target)| slider.limits.check(&target.name))?;
        let activation = Activation::new(&self.targets, &sliders, &self.combinations);
        Ok(Self {
            sliders,
            activation,
            ..self
        })
    }

    /// The same rig with these combination shapes; each is driven by sliders and by combinations
    /// before it.
    pub fn with_combinations(self, mut combinations: Vec<Combination>) -> Result<Self, RigError> {
        for (k, combination) in combinations.iter().enumerate() {
            let known = |driver: &Driver| match *driver {
                Driver::Slider(slider) => slider < self.targets.len(),
                Driver::Combination(earlier) => earlier < k,
            };
            if combination.drivers.is_empty() || !combination.drivers.iter().all(known) {
                return Err(RigError::BadDriver {
                    name: combination.name.clone(),
                });
            }
            let what = || format!("combination '{}'", combination.name);
            check_shape(
                what,
                (&combination.vertices, &combination.deltas),
                self.neutral.vertex_count(),
            )?;
        }
        combinations
            .iter_mut()
            .for_each(|c| sort_shape(&mut c.vertices, &mut c.deltas));
        let activation = Activation::new(&self.targets, &self.sliders, &combinations);
        Ok(Self {
            combinations,
            activation,
            ..self
        })
    }

    /// The same rig with named groups of sliders.
    pub fn with_groups(self, groups: Vec<SliderGroup>) -> Result<Self, RigError> {
        groups
            .iter()
            .flat_map(|group| &group.sliders)
            .try_for_each(|&slider| self.require_slider(slider))?;
        Ok(Self { groups, ..self })
    }

    /// The same rig with pairs of sliders of which at most one may be away from zero.
    pub fn with_exclusive_pairs(self, exclusive: Vec<[usize; 2]>) -> Result<Self, RigError> {
        exclusive
            .iter()
            .flatten()
            .try_for_each(|&slider| self.require_slider(slider))?;
        if let Some([slider, _]) = exclusive.iter().find(|[a, b]| a == b) {
            return Err(RigError::ExcludesItself {
                name: self.targets[*slider].name.clone(),
            });
        }
        Ok(Self { exclusive, ..self })
    }

    /// Declines a rig with NaN or infinite positions or displacements.
    pub fn require_finite(&self) -> Result<(), RigError> {
        self.neutral.require_finite()?;
        let of_targets = self.targets.iter().flat_map(|target| {
            target
                .shapes()
                .map(move |shape| ("target", &target.name, shape))
        });
        let of_combinations = self
            .combinations
            .iter()
            .map(|c| ("combination", &c.name, (&*c.vertices, &*c.deltas)));
        for (kind, name, (vertices, deltas)) in of_targets.chain(of_combinations) {
            if let Some(k) = deltas.iter().position(|d| !d.is_finite()) {
                return Err(RigError::NotFinite {
                    what: format!("{kind} '{name}'"),
                    vertex: vertices[k] as usize,
                });
            }
        }
        Ok(())
    }

    /// Declines a slider that the rig does not have.
    pub fn require_slider(&self, slider: usize) -> Result<(), RigError> {
        let sliders = self.targets.len();
        if slider < sliders {
            Ok(())
        } else {
            Err(RigError::NoSuchSlider {
                slider: format!("number {slider}"),
                known: format!("it has {sliders}, counted from 0"),
            })
        }
    }

    /// The slider called `name`.
    pub fn slider_named(&self, name: &str) -> Result<usize, RigError> {
        let found = self.targets.iter().position(|target| target.name == name);
        found.ok_or_else(|| RigError::NoSuchSlider {
            slider: format!("'{name}'"),
            known: did_you_mean(name, self.targets.iter().map(|t| t.name.as_str())),
        })
    }

    /// The mesh with all weights zero.
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

    /// The combination shapes.
    #[must_use]
    pub fn combinations(&self) -> &[Combination] {
        &self.combinations
    }

    /// The sliders that combination `combination` depends on, directly or through others,
    /// ascending.
    #[must_use]
    pub fn drivers_of(&self, combination: usize) -> Vec<usize> {
        let mut sliders = Vec::new();
        let mut open = vec![combination];
        while let Some(c) = open.pop() {
            for driver in &self.combinations[c].drivers {
                match *driver {
                    Driver::Slider(slider) => sliders.push(slider),
                    Driver::Combination(inner) => open.push(inner),
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
    pub fn exclusive_pairs(&self) -> &[[usize; 2]] {
        &self.exclusive
    }

    /// How slider weights become coefficients of shapes.
    #[must_use]
    pub fn activation(&self) -> &Activation {
        &self.activation
    }

    /// The vertices and displacements of every shape, in the order of [`Activation`].
    pub fn shapes(&self) -> impl Iterator<Item = (&[u32], &[Vec3])> {
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
        for ((vertices, deltas), &coefficient) in
            self.shapes().zip(&coefficients).filter(|(_, c)| **c != 0.0)
        {
            add_scaled(vertices, deltas, coefficient, &mut positions);
        }
        positions
    }
}

fn check_shape(
    what: impl Fn() -> String,
    (vertices, deltas): (&[u32], &[Vec3]),
    vertex_count: usize,
) -> Result<(), RigError> {
    if vertices.len() != deltas.len() {
        return Err(RigError::Displacements {
            what: what(),
            vertices: vertices.len(),
            displacements: deltas.len(),
        });
    }
    match vertices.iter().find(|&&v| v as usize >= vertex_count) {
        Some(&vertex) => Err(RigError::VertexCount {
            what: what(),
            found: vertex as usize + 1,
            expected: vertex_count,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Mesh {
        Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap()
    }

    #[test]
    fn targets_keep_only_what_moves_and_add_up() {
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
    fn pruning_moves_no_vertex_farther_than_its_limit() {
        let target = Target::from_dense("smile", [Vec3::X * 0.001, Vec3::Y, Vec3::Z * 0.01]);
        let pruned = target.pruned(0.01);
        assert_eq!(pruned.vertices, vec![1, 2]);
        let worst = target
            .to_dense(3)
            .iter()
            .zip(pruned.to_dense(3))
            .map(|(a, b)| a.distance(b))
            .fold(0.0, f32::max);
        assert!(worst < 0.01);
    }

    #[test]
    fn vertices_in_disorder_are_sorted_and_what_is_listed_twice_is_added_up() {
        let (vertices, deltas) = (vec![2, 0, 2], vec![Vec3::X, Vec3::Y, Vec3::Z]);
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
    fn a_mask_and_its_complement_share_a_target() {
        let target = Target::from_dense("smile", [Vec3::X, Vec3::Y * 2.0, Vec3::Z]);
        let mask = [1.0, 0.25, 0.0];
        let (here, there) = (target.masked(&mask), target.masked(&mask.map(|m| 1.0 - m)));
        assert_eq!(
            (here.vertices.as_slice(), there.vertices.as_slice()),
            (&[0, 1][..], &[1, 2][..])
        );
        let sum: Vec<Vec3> = here
            .to_dense(3)
            .iter()
            .zip(there.to_dense(3))
            .map(|(a, b)| *a + b)
            .collect();
        assert_eq!(sum, target.to_dense(3));
    }

    #[test]
    fn a_combination_adds_its_shape_where_its_drivers_meet() {
        let [a, b] = ["a", "b"].map(|name| Target::from_dense(name, [Vec3::ZERO; 3]));
        let both = Combination {
            name: "a_b".into(),
            drivers: vec![Driver::Slider(0), Driver::Slider(1)],
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

    #[test]
    fn with_other_targets_settings_stay_with_their_names() {
        let targets: Vec<Target> = ["a", "b", "c"]
            .map(|name| Target::from_dense(name, []))
            .to_vec();
        let shape = |drivers| Combination {
            name: "x".into(),
            drivers,
            rule: crate::Rule::Product,
            vertices: vec![],
            deltas: vec![],
        };
        let pair = |a, b| shape(vec![Driver::Slider(a), Driver::Slider(b)]);
        let nested = shape(vec![Driver::Combination(1), Driver::Slider(2)]);
        let mut sliders = vec![Slider::default(); 3];
        sliders[2].locked = true;
        let rig = Rig::new(triangle(), targets.clone())
            .unwrap()
            .with_sliders(sliders)
            .unwrap();
        let rig = rig
            .with_combinations(vec![pair(0, 1), pair(1, 2), nested])
            .unwrap();
        let fewer = rig
            .with_targets(vec![targets[2].clone(), targets[1].clone()])
            .unwrap();
        assert!(fewer.sliders()[0].locked && !fewer.sliders()[1].locked);
        let drivers: Vec<_> = fewer
            .combinations()
            .iter()
            .map(|c| c.drivers.clone())
            .collect();
        assert_eq!(
            drivers,
            [
                vec![Driver::Slider(1), Driver::Slider(0)],
                vec![Driver::Combination(0), Driver::Slider(0)]
            ]
        );
        let renamed = Target {
            name: "z".into(),
            ..targets[2].clone()
        };
        let halves = [
            targets[0].clone(),
            Target {
                name: "a2".into(),
                ..targets[0].clone()
            },
            targets[1].clone(),
            renamed,
        ];
        let split = rig
            .with_targets_from(halves.to_vec(), &[Some(0), Some(0), Some(1), Some(2)])
            .unwrap();
        assert!(split.sliders()[3].locked, "settings follow a new name");
        assert_eq!(
            split.combinations().len(),
            2,
            "what a split slider drives is not kept"
        );
    }

    #[test]
    fn limits_without_a_weight_inside_are_declined() {
        let rig = Rig::new(triangle(), vec![Target::from_dense("a", [])]).unwrap();
        let upside_down = Slider {
            limits: crate::Limits::new(1.0, 0.0),
            ..Slider::default()
        };
        assert!(matches!(
            rig.clone().with_sliders(vec![upside_down]),
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
    fn a_target_beyond_the_mesh_or_with_a_taken_name_is_declined() {
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
    fn an_in_between_bends_the_path_and_its_outer_segments_go_on() {
        let halfway = InBetween {
            name: String::new(),
            weight: 0.5,
            vertices: vec![2],
            deltas: vec![Vec3::X],
        };
        let mut lid = Target::from_dense("lid", [Vec3::ZERO, Vec3::ZERO, Vec3::Z]);
        lid.in_betweens.push(halfway);
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
    fn nan_in_a_target_is_kept_for_the_report_and_declined_on_request() {
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
