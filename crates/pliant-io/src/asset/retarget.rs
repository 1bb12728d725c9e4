//! An asset with other targets; names, UVs, clips and rest weights stay.

use pliant_mesh::Mesh;
use pliant_mesh::glam::Vec3;
use pliant_rig::{Combination, InBetween, Rig, RigError, RigSettings, Target};

use crate::{Asset, IoError, Object, Shape};

/// A new rig of an object, and for each of its targets the old target whose weight it takes.
pub type MappedRig = (Rig, Vec<Option<usize>>);

impl Asset {
    /// The same asset with the rig that `change` returns for each object; clips and rest weights
    /// follow.
    pub fn map_rigs(
        &self,
        mut change: impl FnMut(&Object) -> Result<MappedRig, RigError>,
    ) -> Result<Self, IoError> {
        let mut changed = self.clone();
        for (k, object) in changed.objects.iter_mut().enumerate() {
            let (rig, sources) = change(object).map_err(|e| self.rig_error(e))?;
            if !object.rest_weights.is_empty() {
                object.rest_weights = mapped_weights(&object.rest_weights, &sources);
            }

            object.rig = rig;
            for motion in changed
                .clips
                .iter_mut()
                .flat_map(|clip| &mut clip.motions)
                .filter(|motion| motion.object == k)
            {
                if let Shape::Weights(track) = &motion.shape {
                    let mapped = track.mapped(|row| mapped_weights(row, &sources));
                    motion.shape = Shape::Weights(mapped);
                }
            }
        }

        Ok(changed)
    }

    /// The same asset with targets in the order of the whole file, as [`Asset::rig`] gives them,
    /// instead of those of the same names. Each object gets the targets that it had, and those that
    /// move it.
    pub fn with_targets(&self, targets: &[Target]) -> Result<Self, IoError> {
        let indices = self.file_indices();
        let mut next = indices.iter();
        self.map_rigs(|object| {
            let indices = next.next().expect("indices for each object");
            let old = object.rig.targets();
            let mut own = Vec::new();
            let mut sources = Vec::new();
            for target in targets {
                let source = old.iter().position(|known| known.name == target.name);
                let part = restricted(target, indices);
                if source.is_some() || !part.vertices.is_empty() {
                    own.push(part);
                    sources.push(source);
                }
            }

            Ok((object.rig.with_targets(own)?, sources))
        })
    }

    /// The same asset with rig settings, such as limits, in-betweens and combinations.
    pub fn with_rig_settings(&self, settings: &RigSettings) -> Result<Self, IoError> {
        let rig = settings.apply(&self.rig()?);
        self.with_rig(&rig.map_err(|e| self.rig_error(e))?)
    }

    /// The same asset with the sliders of `rig`, in the order of the whole file, instead of its own.
    /// Each object gets the targets and combinations that move it, with their settings; the first
    /// object also gets those that move nothing. Clips and rest weights follow the names of targets.
    pub fn with_rig(&self, rig: &Rig) -> Result<Self, IoError> {
        let indices = self.file_indices();
        let mut next = indices.iter().enumerate();
        self.map_rigs(|object| {
            let (k, indices) = next.next().expect("indices for each object");
            let part = part_of_rig(rig, object.rig.neutral(), indices, k == 0)?;
            let old = object.rig.targets();
            let sources = part
                .targets()
                .iter()
                .map(|target| old.iter().position(|known| known.name == target.name))
                .collect();

            Ok((part, sources))
        })
    }
}

/// The part of a rig that moves one object, and the sliders that drive it; with `idle`, also the
/// sliders that move nothing.
pub(super) fn part_of_rig(
    rig: &Rig,
    neutral: &Mesh,
    indices: &[u32],
    idle: bool,
) -> Result<Rig, RigError> {
    // All sliders first, so that settings and combinations keep their indices; then the needed ones.
    let whole = restricted_rig(rig, neutral, indices)?;
    let mut needed: Vec<bool> = whole
        .targets()
        .iter()
        .zip(rig.targets())
        .map(|(part, whole)| moves(part) || (idle && !moves(whole)))
        .collect();
    for (c, combination) in whole.combinations().iter().enumerate() {
        if !combination.vertices.is_empty() {
            for slider in rig.drivers_of(c) {
                needed[slider.index()] = true;
            }
        }
    }

    let kept: Vec<usize> = (0..needed.len()).filter(|&k| needed[k]).collect();
    let own = kept.iter().map(|&k| whole.targets()[k].clone()).collect();
    let sources: Vec<Option<usize>> = kept.iter().map(|&k| Some(k)).collect();
    whole.with_targets_from(own, &sources)
}

/// All sliders of a rig on the part of its vertices at `indices`, which ascend.
pub(super) fn restricted_rig(rig: &Rig, neutral: &Mesh, indices: &[u32]) -> Result<Rig, RigError> {
    let targets = rig.targets().iter();
    let combinations = rig.combinations().iter();
    let parts = combinations.map(|combination| restricted_combination(combination, indices));
    Rig::new(
        neutral.clone(),
        targets.map(|target| restricted(target, indices)).collect(),
    )?
    .with_sliders(rig.sliders().to_vec())?
    .with_combinations(parts.collect())?
    .with_groups(rig.groups().to_vec())?
    .with_exclusive_pairs(rig.exclusive_pairs().to_vec())
}

fn moves(target: &Target) -> bool {
    !target.vertices.is_empty()
        || target
            .in_betweens
            .iter()
            .any(|key| !key.vertices.is_empty())
}

/// The part of a target that moves the vertices at `file_indices`, which ascend.
pub(crate) fn restricted(target: &Target, file_indices: &[u32]) -> Target {
    let (vertices, deltas) =
        restricted_displacements(&target.vertices, &target.deltas, file_indices);
    let mut in_betweens = Vec::with_capacity(target.in_betweens.len());
    for shape in &target.in_betweens {
        let (vertices, deltas) =
            restricted_displacements(&shape.vertices, &shape.deltas, file_indices);
        in_betweens.push(InBetween {
            vertices,
            deltas,
            ..shape.clone()
        });
    }

    Target {
        name: target.name.clone(),
        vertices,
        deltas,
        in_betweens,
    }
}

fn restricted_combination(combination: &Combination, file_indices: &[u32]) -> Combination {
    let (vertices, deltas) =
        restricted_displacements(&combination.vertices, &combination.deltas, file_indices);
    Combination {
        vertices,
        deltas,
        ..combination.clone()
    }
}

/// The displacements of the vertices at `file_indices`, with their indices in the object.
fn restricted_displacements(
    vertices: &[u32],
    deltas: &[Vec3],
    file_indices: &[u32],
) -> (Vec<u32>, Vec<Vec3>) {
    let mut own_vertices = Vec::new();
    let mut own_deltas = Vec::new();
    for (vertex, &delta) in vertices.iter().zip(deltas) {
        if let Ok(own) = file_indices.binary_search(vertex) {
            own_vertices.push(own as u32);
            own_deltas.push(delta);
        }
    }

    (own_vertices, own_deltas)
}

/// The weights of new targets; zero for a target without a source.
pub(super) fn mapped_weights(weights: &[f64], sources: &[Option<usize>]) -> Vec<f64> {
    sources
        .iter()
        .map(|source| source.and_then(|k| weights.get(k)).copied().unwrap_or(0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::DVec3;

    use super::*;
    use crate::{Animation, Motion};
    use pliant_rig::{Driver, Interpolation, Rule, Slider, WeightTrack};

    /// Two triangles, each an object; the first has a slider that a clip moves.
    fn two_objects() -> Asset {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let lift = Target::from_dense("lift", [Vec3::ZERO, Vec3::ZERO, Vec3::Z]);
        let mut asset = Asset::from_rig(Rig::new(mesh.clone(), vec![lift]).unwrap());

        asset.objects.push(Object::new(Rig::without_targets(mesh)));
        asset.objects[0].rest_weights = vec![0.25];
        let track = WeightTrack::new(
            vec![0.0, 1.0],
            vec![vec![0.0], vec![1.0]],
            Interpolation::Linear,
        )
        .unwrap();

        let mut clip = Animation::new("hop", 2);
        clip.motions = vec![Motion::new(0, Shape::Weights(track))];
        asset.clips.push(clip);

        asset
    }

    #[test]
    fn targets_over_the_whole_file_are_split_into_the_objects_they_move() {
        let asset = two_objects();
        let mut whole = asset.rig().unwrap().targets().to_vec();
        assert_eq!(
            asset.with_targets(&whole).unwrap().rig().unwrap().targets(),
            whole
        );

        whole.push(Target::from_dense(
            "slide",
            [0, 0, 0, 0, 1, 0].map(|x| Vec3::X * x as f32),
        ));

        let wider = asset.with_targets(&whole).unwrap();
        assert_eq!(wider.rig().unwrap().targets(), whole);

        let counts: Vec<usize> = wider
            .objects
            .iter()
            .map(|o| o.rig.targets().len())
            .collect();

        assert_eq!(counts, [1, 1]);
    }

    #[test]
    fn clips_and_rest_weights_follow_their_targets() {
        let asset = two_objects();
        let doubled = asset.map_rigs(|object| {
            let twice = |t: &Target| {
                ["A", "B"].map(|end| Target {
                    name: format!("{}{end}", t.name),
                    ..t.clone()
                })
            };

            let targets: Vec<Target> = object.rig.targets().iter().flat_map(twice).collect();
            let sources = (0..targets.len()).map(|k| Some(k / 2)).collect();
            Ok((object.rig.with_targets(targets)?, sources))
        });

        let doubled = doubled.unwrap();
        doubled.check().unwrap();
        assert_eq!(doubled.objects[0].rest_weights, [0.25, 0.25]);

        let before = asset.frame_positions(1).unwrap();
        let after = doubled.frame_positions(1).unwrap();

        assert_eq!(after[2] - DVec3::Y, (before[2] - DVec3::Y) * 2.0);
    }

    #[test]
    fn a_rig_over_all_objects_is_split_and_keeps_its_settings() {
        let asset = two_objects();
        let moved = |name: &str, vertices: Vec<u32>| {
            let deltas = vec![Vec3::X; vertices.len()];
            Target {
                name: name.into(),
                vertices,
                deltas,
                in_betweens: Vec::new(),
            }
        };

        let targets = vec![
            moved("first", vec![1]),
            moved("second", vec![4]),
            moved("none", vec![]),
        ];

        let both = Combination {
            name: "both".into(),
            drivers: vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
            rule: Rule::Product,
            vertices: vec![3],
            deltas: vec![Vec3::Y],
        };

        let locked = Slider {
            locked: true,
            ..Slider::default()
        };
        let sliders = vec![Slider::default(), locked.clone(), Slider::default()];
        let rig = Rig::new(asset.mesh().unwrap(), targets)
            .unwrap()
            .with_sliders(sliders)
            .unwrap();

        let made = asset
            .with_rig(&rig.with_combinations(vec![both]).unwrap())
            .unwrap();
        let names = |k: usize| {
            made.objects[k]
                .rig
                .targets()
                .iter()
                .map(|t| t.name.as_str())
                .collect::<Vec<_>>()
        };

        assert_eq!(
            (names(0), names(1)),
            (vec!["first", "none"], vec!["first", "second"])
        );

        let second = &made.objects[1].rig;
        assert_eq!(
            (&second.combinations()[0].vertices, &second.sliders()[1]),
            (&vec![0], &locked)
        );
        assert!(made.objects[0].rig.combinations().is_empty());
        assert_eq!(second.evaluate(&[1.0, 1.0])[1], DVec3::X * 2.0);
    }
}
