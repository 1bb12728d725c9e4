//! Pose graph: rotations of bones by kernel CCA, local in geometry and in pose space.
//!
//! **Problem.** A regression over all poses and all control points couples unrelated parts of the
//! body.
//!
//! **Equation.** Bone `j` depends on the `k_c` control points `c_j` nearest to its centre along the
//! surface. Each example `l` has a model `d_jˡ` trained on itself and its `k_p` nearest examples,
//! which predicts the rotation relative to that of example `l`; with the heat kernel `w = exp(−|c −
//! cˡ|²/2σ²)` (eq. 2)
//!
//! ```text
//! d_j(c_j) = Σ_l w(c_j, c_jˡ) d_jˡ(c_j) / Σ_l w(c_j, c_jˡ)        over the k_p nearest examples l (eq. 3)
//! ```
//!
//! each relative to the reference pose. With all control points and one model of all poses this is
//! the global method.
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, sections 6.1.1 to 6.1.3 and 7; the global method: Feng, Kim, Yu, "Real-time data driven
//! deformation using kernel canonical correlation analysis", 2008.
//!
//! **Departures.** The publication does not give `σ`; here it is the root of the mean squared
//! distance between neighbouring examples of the bone. Control points are aligned with their rest
//! positions first, so that a rigid motion of all changes nothing. Bones with the same `c_j` share
//! nearest examples and kernel values, and each model is folded to one column of four numbers per
//! kernel value.

use pliant_linalg::{Kernel, KernelCca, gaussian, median_distance, parallel};
use pliant_mesh::glam::{DQuat, DVec3, DVec4};

use crate::LearnError;
use crate::control::Alignment;
use crate::methods::rotations::with_positive_w;
use crate::training::TrainingData;

/// Width of the Gaussian kernel over the median distance of the examples. *Measured* with the ridge
/// below, leave-one-out on `horse-poses` and `face-poses`: widths of 1, 2, 4, 8 give the local
/// method .0223, .0196, .0187, .0186 and .0128, .0126, .0126, .0126, the global one .0264, .0260,
/// .0261, .0262 and .0130, .0129, .0129, .0129.
const KERNEL_WIDTH: f64 = 4.0;
/// Relative ridge of the regression. *Measured* likewise: 0.1, 0.01, 0.001 give the local method
/// .0187, .0189, .0193 and .0126, .0127, .0128; 1 gives .0219 and .0129.
const RIDGE: f64 = 0.1;
/// Directions with a smaller correlation are noise.
const LEAST_CORRELATION: f64 = 1e-3;

/// Bones in one parallel task.
const BONES_PER_TASK: usize = 64;

/// The models of all bones.
#[derive(Debug)]
pub(crate) struct PoseGraph {
    groups: Vec<Group>,
    /// The bones in the order of their groups.
    slots: Vec<Slot>,
    /// By slot and model: the rotation to which the prediction is relative.
    bases: Vec<DQuat>,
    /// By slot and model: a constant, then one column per training example of the model.
    columns: Vec<DVec4>,
    shape: Shape,
}

/// A bone and its group.
#[derive(Debug, Clone, Copy)]
struct Slot {
    bone: u32,
    group: u32,
}

/// The numbers of models and examples.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Models of a bone: one per example, or one for all.
    models: usize,
    /// Training examples of a model.
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
        // The nearest example of an example is itself.
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

/// Bones that depend on the same control points.
#[derive(Debug)]
struct Group {
    points: Vec<u32>,
    rest: Vec<DVec3>,
    /// The features of all examples, one after the other.
    features: Vec<f64>,
    models: Vec<Members>,
    /// `2σ²`.
    heat: f64,
}

/// The training set of a model.
#[derive(Debug)]
struct Members {
    examples: Vec<u32>,
    /// Width of the kernel.
    width: f64,
}

/// Models, weights and kernel values of a pose, for all bones of a group.
struct Query {
    models: Vec<u32>,
    weights: Vec<f64>,
    /// Model by model.
    kernels: Vec<f64>,
}

impl PoseGraph {
    /// Trains the models of all bones. `neighbor_points` are the control points of each bone,
    /// ascending; `rotations` are by training example and bone, relative to the alignment of the
    /// control points.
    pub(crate) fn train(
        data: &TrainingData,
        trained_on: &[usize],
        neighbor_points: &[Vec<u32>],
        rotations: &[Vec<DQuat>],
        pose_neighbors: usize,
    ) -> Result<Self, LearnError> {
        let shape = Shape::of(trained_on.len(), pose_neighbors);
        let (groups, slots) = grouped(data, trained_on, neighbor_points, shape);
        let trained = parallel::map(slots.len(), 4, |slot| {
            let Slot { bone, group } = slots[slot];
            let of_bone: Vec<DQuat> = rotations
                .iter()
                .map(|of_example| of_example[bone as usize])
                .collect();
            groups[group as usize].train(&of_bone)
        });

        // One block per slot, in the order of the slots.
        let mut bases = Vec::new();
        let mut columns = Vec::new();
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

    /// The rotation of every bone for positions of the control points, relative to their alignment.
    pub(crate) fn rotations(&self, control: &[DVec3], alignment: &Alignment) -> Vec<DQuat> {
        let queries = parallel::map(self.groups.len(), 8, |group| {
            self.groups[group].query(control, alignment, self.shape)
        });
        let by_slot = parallel::map(self.slots.len(), BONES_PER_TASK, |slot| {
            self.rotation(slot, &queries[self.slots[slot].group as usize])
        });

        let mut rotations = vec![DQuat::IDENTITY; self.slots.len()];
        for (slot, rotation) in self.slots.iter().zip(by_slot) {
            rotations[slot.bone as usize] = rotation;
        }
        rotations
    }

    /// Eq. 3 for one bone.
    fn rotation(&self, slot: usize, query: &Query) -> DQuat {
        let columns = self.shape.columns();
        let mut sum: Option<DQuat> = None;
        for (k, kernels) in query.kernels.chunks_exact(self.shape.members).enumerate() {
            // The model of the neighbour, evaluated at the query.
            let index = slot * self.shape.models + query.models[k] as usize;
            let own = &self.columns[index * columns..][..columns];
            let mut values = own[0];
            for (column, kernel) in own[1..].iter().zip(kernels) {
                values += *column * *kernel;
            }

            // Of q and −q, which are the same rotation, the one nearer to the sum is added.
            let predicted = self.bases[index] * rotation_of(values);
            let weight = query.weights[k];
            sum = Some(match sum {
                None => predicted * weight,
                Some(sum) if sum.dot(predicted) < 0.0 => sum + -predicted * weight,
                Some(sum) => sum + predicted * weight,
            });
        }

        match sum {
            Some(sum) => rotation_of(DVec4::from_array(sum.to_array())),
            None => DQuat::IDENTITY,
        }
    }
}

/// Groups of bones with equal control points, and the bones in their order.
fn grouped(
    data: &TrainingData,
    trained_on: &[usize],
    neighbor_points: &[Vec<u32>],
    shape: Shape,
) -> (Vec<Group>, Vec<Slot>) {
    let points_of = |bone: u32| &neighbor_points[bone as usize];
    let mut order: Vec<u32> = (0..neighbor_points.len() as u32).collect();
    order.sort_by(|&a, &b| points_of(a).cmp(points_of(b)).then(a.cmp(&b)));

    let mut groups = Vec::new();
    let mut slots = Vec::with_capacity(order.len());
    for same in order.chunk_by(|&a, &b| points_of(a) == points_of(b)) {
        let group = groups.len() as u32;
        slots.extend(same.iter().map(|&bone| Slot { bone, group }));
        groups.push(Group::of(data, trained_on, points_of(same[0]), shape));
    }
    (groups, slots)
}

impl Group {
    fn of(data: &TrainingData, trained_on: &[usize], points: &[u32], shape: Shape) -> Self {
        let rest = points.iter().map(|&k| data.points[0][k as usize]);
        let mut group = Self {
            points: points.to_vec(),
            rest: rest.collect(),
            features: Vec::new(),
            models: Vec::new(),
            heat: 0.0,
        };
        for &example in trained_on {
            let features = group.features_at(&data.points[example], &data.alignments[example]);
            group.features.extend(features);
        }

        // σ² is the mean over all pairs of an example and one of its neighbours.
        let mut sum = 0.0;
        let mut pairs = 0;
        for model in 0..shape.models {
            let squares = group.squared_distances(group.example(model));
            let examples = nearest(&squares, shape.members);
            let others = examples.iter().filter(|&&i| i as usize != model);
            sum += others.clone().map(|&i| squares[i as usize]).sum::<f64>();
            pairs += others.count();

            let width = KERNEL_WIDTH * median_distance(&group.inputs(&examples));
            group.models.push(Members { examples, width });
        }
        group.heat = 2.0 * sum / pairs.max(1) as f64;
        group
    }

    /// The features of some examples.
    fn inputs(&self, examples: &[u32]) -> Vec<Vec<f64>> {
        let rows = examples.iter().map(|&i| self.example(i as usize));
        rows.map(<[f64]>::to_vec).collect()
    }

    /// The models of one bone with `rotations` in the examples: the base of each model, and its
    /// columns.
    fn train(&self, rotations: &[DQuat]) -> Result<(Vec<DQuat>, Vec<DVec4>), LearnError> {
        let mut columns = Vec::new();
        for (base, model) in rotations.iter().zip(&self.models) {
            let mut outputs: Vec<Vec<f64>> = Vec::with_capacity(model.examples.len());
            for &i in &model.examples {
                let relative = with_positive_w(base.conjugate() * rotations[i as usize]);
                outputs.push(relative.to_array().to_vec());
            }

            let kernel = Kernel::Gaussian { width: model.width };
            let inputs = self.inputs(&model.examples);
            let regression = KernelCca::fit(inputs, &outputs, kernel, RIDGE, LEAST_CORRELATION)?;
            let (constant, slopes) = regression.folded();
            columns.push(DVec4::from_slice(&constant));
            columns.extend(slopes.chunks_exact(4).map(DVec4::from_slice));
        }
        Ok((rotations[..self.models.len()].to_vec(), columns))
    }

    /// Aligned positions of the group's points minus their rest positions.
    fn features_at(&self, control: &[DVec3], alignment: &Alignment) -> Vec<f64> {
        let mut features = Vec::with_capacity(3 * self.points.len());
        for (&k, rest) in self.points.iter().zip(&self.rest) {
            features.extend((alignment.to_rest(control[k as usize]) - *rest).to_array());
        }
        features
    }

    fn example(&self, example: usize) -> &[f64] {
        let size = 3 * self.points.len();
        &self.features[example * size..][..size]
    }

    /// The squared distances of all examples from a pose.
    fn squared_distances(&self, query: &[f64]) -> Vec<f64> {
        let rows = self.features.chunks_exact(query.len());
        rows.map(|own| own.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum())
            .collect()
    }

    fn query(&self, control: &[DVec3], alignment: &Alignment, shape: Shape) -> Query {
        let squares = self.squared_distances(&self.features_at(control, alignment));
        let models = if shape.models == 1 {
            vec![0]
        } else {
            nearest(&squares, shape.blended)
        };

        // The weight of the nearest example is set to one, so that the weights do not vanish far
        // from all examples.
        let least = squares[models[0] as usize];
        let mut weights = Vec::with_capacity(models.len());
        let mut kernels = Vec::with_capacity(models.len() * shape.members);
        for &model in &models {
            let beyond = squares[model as usize] - least;
            weights.push(if beyond > 0.0 {
                (-beyond / self.heat).exp()
            } else {
                1.0
            });

            let Members { examples, width } = &self.models[model as usize];
            for &i in examples {
                kernels.push(gaussian(squares[i as usize], *width));
            }
        }
        Query {
            models,
            weights,
            kernels,
        }
    }
}

/// The rotation nearest to a predicted quaternion; the identity for a vanishing one.
fn rotation_of(values: DVec4) -> DQuat {
    let length = values.length();
    if length > 1e-6 {
        with_positive_w(DQuat::from_array((values / length).to_array()))
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

    fn data() -> TrainingData {
        TrainingData::new(bar_examples(), bar_control(), 8, &()).unwrap()
    }

    /// Rotations about z by the bend of each pose of the bar, for two bones.
    fn rotations() -> Vec<Vec<DQuat>> {
        let bends = [0.0, 0.5, 1.0, 0.0, 0.6, -0.6, -0.3];
        bends
            .iter()
            .map(|bend| {
                vec![
                    with_positive_w(DQuat::from_rotation_z(*bend)),
                    with_positive_w(DQuat::from_rotation_z(0.5 * bend)),
                ]
            })
            .collect()
    }

    fn graph(data: &TrainingData, pose_neighbors: usize) -> PoseGraph {
        let all_examples = data.all_examples();
        PoseGraph::train(
            data,
            &all_examples,
            &[vec![9, 10, 11, 12, 13, 14], vec![0, 1, 2]],
            &rotations(),
            pose_neighbors,
        )
        .unwrap()
    }

    fn seen(data: &TrainingData, control: &[DVec3]) -> Alignment {
        Alignment::of(&data.points[0], control)
    }

    #[test]
    fn between_two_examples_the_rotation_of_a_bone_is_between_theirs() {
        let data = data();
        for pose_neighbors in [3, usize::MAX] {
            let graph = graph(&data, pose_neighbors);
            let angle = |bend: f64| {
                let control = data.control.at(&bent(bend, 0.0));
                graph.rotations(&control, &seen(&data, &control))[0]
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
    fn a_point_outside_the_neighbourhood_of_a_bone_does_not_rotate_it() {
        let data = data();
        let graph = graph(&data, 3);
        let control = data.control.at(&bent(0.7, 0.1));
        let alignment = seen(&data, &control);
        let mut pulled = control.clone();

        pulled[0] += DVec3::new(0.3, -0.4, 0.5);
        let before = graph.rotations(&control, &alignment);
        let after = graph.rotations(&pulled, &alignment);

        assert_eq!(before[0], after[0]);
        assert_ne!(before[1], after[1]);
    }

    #[test]
    fn identical_examples_predict_their_common_rotation() {
        let data = data();
        let rotation = DQuat::from_rotation_x(0.4);
        let graph = PoseGraph::train(
            &data,
            &[0, 0, 0],
            &[vec![0, 1, 2]],
            &vec![vec![rotation]; 3],
            7,
        )
        .unwrap();

        let control = data.control.at(&bent(0.9, 0.4));
        assert!(
            graph.rotations(&control, &seen(&data, &control))[0].angle_between(rotation) < 1e-6
        );
    }

    #[test]
    fn a_folded_model_predicts_what_the_regression_itself_predicts() {
        let data = data();
        let all_examples = data.all_examples();
        let graph = graph(&data, usize::MAX);
        let group = &graph.groups[graph
            .slots
            .iter()
            .find(|slot| slot.bone == 0)
            .unwrap()
            .group as usize];
        let inputs: Vec<Vec<f64>> = all_examples
            .iter()
            .map(|&i| group.example(i).to_vec())
            .collect();

        // The base of the only model is the reference, with the identity.
        let outputs: Vec<Vec<f64>> = rotations()
            .iter()
            .map(|of_example| of_example[0].to_array().to_vec())
            .collect();
        let kernel = Kernel::Gaussian {
            width: KERNEL_WIDTH * median_distance(&inputs),
        };

        let direct = KernelCca::fit(inputs, &outputs, kernel, RIDGE, LEAST_CORRELATION).unwrap();
        let control = data.control.at(&bent(0.2, -0.3));
        let alignment = seen(&data, &control);
        let expected = rotation_of(DVec4::from_slice(
            &direct.predict(&group.features_at(&control, &alignment)),
        ));

        assert!(graph.rotations(&control, &alignment)[0].angle_between(expected) < 1e-7);
    }
}
