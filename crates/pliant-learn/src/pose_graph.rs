//! The published regression: rotations of bones from control points, local in geometry and in the
//! space of poses.
//!
//! **Problem.** A regression over all poses and all control points couples what has nothing to do
//! with each other.
//!
//! **Equation.** Bone `j` listens to the `k_c` control points `c_j` nearest to its centre along the
//! surface. Each example `l` has a model `d_jˡ` trained on itself and its `k_p` nearest examples,
//! which predicts the rotation relative to that of example `l`; with the heat kernel `w = exp(−|c −
//! cˡ|²/2σ²)` (eq. 2)
//!
//! ```text
//! d_j(c_j) = Σ_l w(c_j, c_jˡ) d_jˡ(c_j) / Σ_l w(c_j, c_jˡ)        over the k_p nearest examples l (eq. 3)
//! ```
//!
//! each brought to the reference pose first. With all control points and one model of all poses
//! this is the global method.
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, sections 6.1.1 to 6.1.3 and 7; the global method: Feng, Kim, Yu, "Real-time data driven
//! deformation using kernel canonical correlation analysis", 2008.
//!
//! **Ours.** `σ`, which the paper leaves open, is the root of the mean squared distance between
//! neighbouring examples of the bone. Control points are seen from where all of them are as a
//! whole, so that a rigid motion of all changes nothing. Bones with the same `c_j` share nearest
//! examples and kernel values, and each model is folded to one column of four numbers per kernel
//! value.

use pliant_linalg::{Kernel, KernelCca, gaussian, median_distance, parallel};
use pliant_mesh::glam::{DQuat, DVec3, DVec4};

use crate::LearnError;
use crate::control_points::Alignment;
use crate::workbench::Workbench;

/// Width of the Gaussian kernel over the median distance of the examples. *Measured* with the ridge
/// below, leave-one-out on `horse-poses` and `face-poses`: widths of 1, 2, 4, 8 give the local
/// method .0223, .0196, .0187, .0186 and .0128, .0126, .0126, .0126, the global one .0264, .0260,
/// .0261, .0262 and .0130, .0129, .0129, .0129.
const KERNEL_WIDTH: f64 = 4.0;
/// Relative ridge of the regression. *Measured* likewise: 0.1, 0.01, 0.001 give the local method
/// .0187, .0189, .0193 and .0126, .0127, .0128; 1 gives .0219 and .0129.
const RIDGE: f64 = 0.1;
/// Directions that correlate less are noise.
const LEAST_CORRELATION: f64 = 1e-3;

/// Bones in one task.
const GRAIN: usize = 64;

/// The models of all bones.
#[derive(Debug)]
pub(crate) struct PoseGraph {
    groups: Vec<Group>,
    /// Bones in the order of their groups, each with its group.
    slots: Vec<(u32, u32)>,
    /// By slot and model the rotation that the model's is relative to.
    bases: Vec<DQuat>,
    /// By slot and model: a constant, then one column per example that the model was trained on.
    columns: Vec<DVec4>,
    shape: Shape,
}

/// How many of everything.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Models of a bone: one per example, or one of all.
    models: usize,
    /// Examples that a model is trained on.
    members: usize,
    /// Models that are blended.
    blended: usize,
}

impl Shape {
    fn of(examples: usize, pose_neighbors: usize) -> Self {
        if pose_neighbors == usize::MAX {
            return Self {
                models: 1,
                members: examples,
                blended: 1,
            };
        }
        // The example itself is its own nearest.
        Self {
            models: examples,
            members: examples.min(pose_neighbors + 1),
            blended: examples.min(pose_neighbors),
        }
    }

    fn columns(&self) -> usize {
        1 + self.members
    }
}

/// Bones that listen to the same control points.
#[derive(Debug)]
struct Group {
    points: Vec<u32>,
    rest: Vec<DVec3>,
    /// Of each example, one after the other.
    features: Vec<f64>,
    models: Vec<Members>,
    /// `2σ²`.
    heat: f64,
}

/// What a model is trained on.
#[derive(Debug)]
struct Members {
    examples: Vec<u32>,
    /// Of the kernel.
    width: f64,
}

/// What all bones of a group need to know of a pose.
struct Query {
    models: Vec<u32>,
    weights: Vec<f64>,
    /// Model by model.
    kernels: Vec<f64>,
}

impl PoseGraph {
    /// Models of bones that listen to the control points `listens` each, ascending, and turn by
    /// `rotations` (by example trained on and bone, seen from where the points are as a whole).
    pub(crate) fn train(
        bench: &Workbench,
        trained_on: &[usize],
        listens: &[Vec<u32>],
        rotations: &[Vec<DQuat>],
        pose_neighbors: usize,
    ) -> Result<Self, LearnError> {
        let shape = Shape::of(trained_on.len(), pose_neighbors);
        let mut order: Vec<u32> = (0..listens.len() as u32).collect();
        order.sort_by(|&a, &b| {
            listens[a as usize]
                .cmp(&listens[b as usize])
                .then(a.cmp(&b))
        });
        let (mut groups, mut slots) = (Vec::new(), Vec::with_capacity(order.len()));
        for same in order.chunk_by(|&a, &b| listens[a as usize] == listens[b as usize]) {
            slots.extend(same.iter().map(|&bone| (bone, groups.len() as u32)));
            groups.push(Group::of(
                bench,
                trained_on,
                &listens[same[0] as usize],
                shape,
            ));
        }
        let of_bone = |bone: u32| {
            rotations
                .iter()
                .map(|of_example| of_example[bone as usize])
                .collect::<Vec<_>>()
        };
        let trained = parallel::map(slots.len(), 4, |slot| {
            let (bone, group) = slots[slot];
            groups[group as usize].train(&of_bone(bone))
        });
        let (mut bases, mut columns) = (Vec::new(), Vec::new());
        for slot in trained {
            let (of_models, of_columns) = slot?;
            bases.extend(of_models);
            columns.extend(of_columns);
        }
        Ok(Self {
            groups,
            slots,
            bases,
            columns,
            shape,
        })
    }

    /// The rotation of every bone for places of the control points, seen from where they are as a
    /// whole.
    pub(crate) fn rotations(&self, control: &[DVec3], alignment: &Alignment) -> Vec<DQuat> {
        let queries = parallel::map(self.groups.len(), 8, |group| {
            self.groups[group].query(control, alignment, self.shape)
        });
        let mut turned = vec![DQuat::IDENTITY; self.slots.len()];
        parallel::for_each_chunk_mut(&mut turned, GRAIN, |first, chunk| {
            for (k, turn) in chunk.iter_mut().enumerate() {
                *turn = self.rotation(first + k, &queries[self.slots[first + k].1 as usize]);
            }
        });
        let mut of_bones = vec![DQuat::IDENTITY; self.slots.len()];
        self.slots
            .iter()
            .zip(turned)
            .for_each(|(&(bone, _), turn)| of_bones[bone as usize] = turn);
        of_bones
    }

    /// Eq. 3 for one bone.
    fn rotation(&self, slot: usize, query: &Query) -> DQuat {
        let (members, columns) = (self.shape.members, self.shape.columns());
        let mut sum: Option<DQuat> = None;
        for ((&model, &weight), kernels) in query
            .models
            .iter()
            .zip(&query.weights)
            .zip(query.kernels.chunks_exact(members))
        {
            let place = slot * self.shape.models + model as usize;
            let own = &self.columns[place * columns..][..columns];
            let values = own[1..]
                .iter()
                .zip(kernels)
                .fold(own[0], |sum, (column, kernel)| sum + *column * *kernel);
            let predicted = self.bases[place] * rotation_of(values);
            sum = Some(match sum {
                None => predicted * weight,
                Some(sum) => {
                    sum + if sum.dot(predicted) < 0.0 {
                        -predicted
                    } else {
                        predicted
                    } * weight
                }
            });
        }
        sum.map_or(DQuat::IDENTITY, |sum| {
            rotation_of(DVec4::from_array(sum.to_array()))
        })
    }
}

impl Group {
    fn of(bench: &Workbench, trained_on: &[usize], points: &[u32], shape: Shape) -> Self {
        let rest: Vec<DVec3> = points
            .iter()
            .map(|&k| bench.points[0][k as usize])
            .collect();
        let mut group = Self {
            points: points.to_vec(),
            rest,
            features: Vec::new(),
            models: Vec::new(),
            heat: 0.0,
        };
        for &example in trained_on {
            let seen = group.seen(&bench.points[example], &bench.alignments[example]);
            group.features.extend(seen);
        }
        let (mut sum, mut pairs) = (0.0, 0);
        for model in 0..shape.models {
            let squares = group.squares(group.example(model));
            let examples = nearest(&squares, shape.members);
            let others = examples.iter().filter(|&&i| i as usize != model);
            sum += others.clone().map(|&i| squares[i as usize]).sum::<f64>();
            pairs += others.count();
            let own: Vec<Vec<f64>> = examples
                .iter()
                .map(|&i| group.example(i as usize).to_vec())
                .collect();
            group.models.push(Members {
                examples,
                width: KERNEL_WIDTH * median_distance(&own),
            });
        }
        group.heat = 2.0 * sum / pairs.max(1) as f64;
        group
    }

    /// The models of one bone with its `rotations` in the examples: what each is relative to, and
    /// its columns.
    fn train(&self, rotations: &[DQuat]) -> Result<(Vec<DQuat>, Vec<DVec4>), LearnError> {
        let mut columns = Vec::new();
        for (base, model) in rotations.iter().zip(&self.models) {
            let inputs: Vec<Vec<f64>> = model
                .examples
                .iter()
                .map(|&i| self.example(i as usize).to_vec())
                .collect();
            let relative = |&i: &u32| {
                upper(base.conjugate() * rotations[i as usize])
                    .to_array()
                    .to_vec()
            };
            let outputs: Vec<Vec<f64>> = model.examples.iter().map(relative).collect();
            let (constant, slopes) = KernelCca::fit(
                inputs,
                &outputs,
                Kernel::Gaussian { width: model.width },
                RIDGE,
                LEAST_CORRELATION,
            )?
            .folded();
            columns.push(DVec4::from_slice(&constant));
            columns.extend(slopes.chunks_exact(4).map(DVec4::from_slice));
        }
        Ok((rotations[..self.models.len()].to_vec(), columns))
    }

    /// Places of the group's points less those at rest, seen from where all control points are as a
    /// whole.
    fn seen(&self, control: &[DVec3], alignment: &Alignment) -> Vec<f64> {
        self.points
            .iter()
            .zip(&self.rest)
            .flat_map(|(&k, rest)| (alignment.to_rest(control[k as usize]) - *rest).to_array())
            .collect()
    }

    fn example(&self, example: usize) -> &[f64] {
        let size = 3 * self.points.len();
        &self.features[example * size..][..size]
    }

    /// The squared distances of all examples from a pose.
    fn squares(&self, query: &[f64]) -> Vec<f64> {
        let square = |own: &[f64]| own.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum();
        self.features
            .chunks_exact(query.len())
            .map(square)
            .collect()
    }

    fn query(&self, control: &[DVec3], alignment: &Alignment, shape: Shape) -> Query {
        let squares = self.squares(&self.seen(control, alignment));
        let models = if shape.models == 1 {
            vec![0]
        } else {
            nearest(&squares, shape.blended)
        };
        // The nearest example's weight is taken as one, so that far from all of them the weights do
        // not vanish.
        let least = squares[models[0] as usize];
        let weight = |&l: &u32| {
            let beyond = squares[l as usize] - least;
            if beyond > 0.0 {
                (-beyond / self.heat).exp()
            } else {
                1.0
            }
        };
        let members = models.iter().flat_map(|&l| {
            let Members { examples, width } = &self.models[l as usize];
            examples
                .iter()
                .map(|&i| gaussian(squares[i as usize], *width))
        });
        Query {
            weights: models.iter().map(weight).collect(),
            kernels: members.collect(),
            models,
        }
    }
}

/// The one of `q` and `−q`, which are the same rotation, with `w ≥ 0`.
pub(crate) fn upper(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}

/// The rotation nearest to a predicted quaternion; none at all is no turn.
fn rotation_of(values: DVec4) -> DQuat {
    let length = values.length();
    if length > 1e-6 {
        upper(DQuat::from_array((values / length).to_array()))
    } else {
        DQuat::IDENTITY
    }
}

/// The indices of the `count` least `distances`, least first.
pub(crate) fn nearest(distances: &[f64], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..distances.len() as u32).collect();
    order.sort_by(|a, b| {
        distances[*a as usize]
            .total_cmp(&distances[*b as usize])
            .then(a.cmp(b))
    });
    order.truncate(count.max(1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar_control, bar_examples, bent};

    fn bench() -> Workbench {
        Workbench::new(bar_examples(), bar_control(), 8).unwrap()
    }

    /// Rotations about z by the bend of each pose of the bar, for two bones.
    fn rotations() -> Vec<Vec<DQuat>> {
        let bends = [0.0, 0.5, 1.0, 0.0, 0.6, -0.6, -0.3];
        bends
            .iter()
            .map(|bend| {
                vec![
                    upper(DQuat::from_rotation_z(*bend)),
                    upper(DQuat::from_rotation_z(0.5 * bend)),
                ]
            })
            .collect()
    }

    fn graph(bench: &Workbench, pose_neighbors: usize) -> PoseGraph {
        let everything = bench.everything();
        PoseGraph::train(
            bench,
            &everything,
            &[vec![9, 10, 11, 12, 13, 14], vec![0, 1, 2]],
            &rotations(),
            pose_neighbors,
        )
        .unwrap()
    }

    fn seen(bench: &Workbench, control: &[DVec3]) -> Alignment {
        Alignment::of(&bench.points[0], control)
    }

    #[test]
    fn between_two_examples_a_bone_turns_between_their_turns() {
        let bench = bench();
        for pose_neighbors in [3, usize::MAX] {
            let graph = graph(&bench, pose_neighbors);
            let angle = |bend: f64| {
                let control = bench.control.at(&bent(bend, 0.0));
                graph.rotations(&control, &seen(&bench, &control))[0]
                    .to_scaled_axis()
                    .z
            };
            assert!(
                angle(0.75) > angle(0.5) && angle(0.75) < angle(1.0),
                "{} {} {}",
                angle(0.5),
                angle(0.75),
                angle(1.0)
            );
            assert!((angle(0.75) - 0.75).abs() < 0.15, "{}", angle(0.75));
        }
    }

    #[test]
    fn a_point_that_a_bone_does_not_listen_to_does_not_turn_it() {
        let bench = bench();
        let graph = graph(&bench, 3);
        let control = bench.control.at(&bent(0.7, 0.1));
        let alignment = seen(&bench, &control);
        let mut pulled = control.clone();
        pulled[0] += DVec3::new(0.3, -0.4, 0.5);
        let (before, after) = (
            graph.rotations(&control, &alignment),
            graph.rotations(&pulled, &alignment),
        );
        assert_eq!(before[0], after[0]);
        assert_ne!(before[1], after[1]);
    }

    #[test]
    fn examples_that_are_all_the_same_turn_alike() {
        let bench = bench();
        let turn = DQuat::from_rotation_x(0.4);
        let graph = PoseGraph::train(
            &bench,
            &[0, 0, 0],
            &[vec![0, 1, 2]],
            &vec![vec![turn]; 3],
            7,
        )
        .unwrap();
        let control = bench.control.at(&bent(0.9, 0.4));
        assert!(graph.rotations(&control, &seen(&bench, &control))[0].angle_between(turn) < 1e-6);
    }

    #[test]
    fn a_folded_model_predicts_what_the_regression_itself_predicts() {
        let bench = bench();
        let everything = bench.everything();
        let graph = graph(&bench, usize::MAX);
        let group = &graph.groups[graph.slots.iter().find(|slot| slot.0 == 0).unwrap().1 as usize];
        let inputs: Vec<Vec<f64>> = everything
            .iter()
            .map(|&i| group.example(i).to_vec())
            .collect();
        let outputs: Vec<Vec<f64>> = rotations()
            .iter()
            .map(|of_example| of_example[0].to_array().to_vec())
            .collect();
        let kernel = Kernel::Gaussian {
            width: KERNEL_WIDTH * median_distance(&inputs),
        };
        let direct = KernelCca::fit(inputs, &outputs, kernel, RIDGE, LEAST_CORRELATION).unwrap();
        let control = bench.control.at(&bent(0.2, -0.3));
        let alignment = seen(&bench, &control);
        let expected = rotation_of(DVec4::from_slice(
            &direct.predict(&group.seen(&control, &alignment)),
        ));
        assert!(graph.rotations(&control, &alignment)[0].angle_between(expected) < 1e-7);
    }
}
