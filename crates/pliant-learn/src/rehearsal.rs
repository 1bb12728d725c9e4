//! A small copy of the examples, on which settings are tried.
//!
//! **Problem.** Which settings predict best is a question about tens of regions and poses, not
//! about a million vertices.
//!
//! **Method.** The reference is decimated to original vertices, the control points among them; the
//! other poses follow. Errors of poses left out are found there with the shares that leave-one-out
//! gives in closed form, one decomposition for every ridge.
//!
//! **Ours.** Only the reference decides which vertices stay, so that a pose left out cannot speak
//! through the choice of the copy. The closed form keeps the kernel's width and the ridge of all
//! training poses, which refitting would move a little.

use std::sync::Arc;

use pliant_linalg::{KernelRidge, parallel};
use pliant_mesh::{DecimationBudget, DecimationOptions, VertexPlacement};

use crate::local_blend::{LocalPoses, LocalSettings, REGIONS_PER_TASK};
use crate::poisson::Poisson;
use crate::workbench::Workbench;
use crate::{ControlPoints, Examples, Hold, LearnError, LearnOptions};

/// Vertices of the copy, besides the control points. *Measured*: with 800 and with 1500 the chosen
/// settings predict alike.
const VERTICES: usize = 800;
/// Poses left out at most; of more, evenly spread ones are taken.
const MOST_FOLDS: usize = 12;

/// The copy, taken apart.
#[derive(Debug)]
pub(crate) struct Rehearsal {
    bench: Workbench,
    poisson: Poisson,
    /// `k_c`.
    neighbors: usize,
}

/// The copy seen with one sharpness, prepared for every ridge.
#[derive(Debug)]
pub(crate) struct Rehearsed<'a> {
    stage: &'a Rehearsal,
    trained_on: &'a [usize],
    poses: Arc<LocalPoses>,
    /// One per region, with a ridge of one mean eigenvalue.
    regressions: Vec<KernelRidge>,
}

impl Rehearsal {
    pub(crate) fn new(
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
    ) -> Result<Self, LearnError> {
        let (examples, control) = small_copy(examples, control)?;
        let poisson = Poisson::factor(examples.reference(), &control, Hold::Soft(options.beta()))?;
        Ok(Self {
            bench: Workbench::new(examples, control, options.bones())?,
            poisson,
            neighbors: options.neighbors(),
        })
    }

    pub(crate) fn example_count(&self) -> usize {
        self.bench.examples.count()
    }

    /// The examples as seen with a sharpness.
    pub(crate) fn poses(&self, sharpness: f64) -> Arc<LocalPoses> {
        Arc::new(LocalPoses::new(&self.bench, self.neighbors, sharpness))
    }

    pub(crate) fn prepare<'a>(
        &'a self,
        poses: Arc<LocalPoses>,
        trained_on: &'a [usize],
    ) -> Result<Rehearsed<'a>, LearnError> {
        let regressions = parallel::map(poses.region_count(), REGIONS_PER_TASK, |region| {
            poses.regression(region, trained_on, 1.0)
        });
        Ok(Rehearsed {
            stage: self,
            trained_on,
            poses,
            regressions: regressions.into_iter().collect::<Result<_, _>>()?,
        })
    }
}

impl Rehearsed<'_> {
    /// The mean error, RMS / longest side, of training poses predicted from the other ones.
    pub(crate) fn error(&self, settings: &LocalSettings) -> f64 {
        let bench = &self.stage.bench;
        let left_out = folds(self.trained_on);
        let shares = self.shares(settings.ridge);
        let errors = parallel::map(left_out.len(), 1, |k| {
            let fold = left_out[k];
            let example = self.trained_on[fold];
            let query = self.poses.query(bench, &bench.points[example]);
            let of_fold: Vec<Vec<f64>> = shares
                .iter()
                .map(|of_region| of_region[fold].clone())
                .collect();
            let found = self.poses.surface(
                bench,
                &self.stage.poisson,
                &query,
                (self.trained_on, &of_fold),
                settings.refits,
            );
            bench.examples.error(&found, example)
        });
        errors.iter().sum::<f64>() / errors.len() as f64
    }

    /// By region and left-out example: what each of the training examples counts.
    fn shares(&self, ridge: f64) -> Vec<Vec<Vec<f64>>> {
        parallel::map(self.regressions.len(), REGIONS_PER_TASK, |region| {
            let regression = self.regressions[region].clone();
            let absolute = ridge * regression.ridge();
            regression
                .with_absolute_ridge(absolute)
                .leave_one_out_shares()
        })
    }
}

/// Places in `trained_on` that are left out in turn; the reference never is.
pub(crate) fn folds(trained_on: &[usize]) -> Vec<usize> {
    let poses: Vec<usize> = (0..trained_on.len())
        .filter(|&k| trained_on[k] != 0)
        .collect();
    let count = poses.len().min(MOST_FOLDS);
    (0..count).map(|k| poses[k * poses.len() / count]).collect()
}

/// A copy with few vertices; of a mesh that is small already, or that cannot be made so, the
/// examples themselves.
fn small_copy(
    examples: &Examples,
    control: &ControlPoints,
) -> Result<(Examples, ControlPoints), LearnError> {
    let mesh = examples.reference();
    let as_it_is = || Ok((examples.clone(), control.clone()));
    let budget = VERTICES + control.count();
    if mesh.vertex_count() <= budget {
        return as_it_is();
    }
    let options = DecimationOptions::default()
        .with_placement(VertexPlacement::Subset)
        .with_kept(control.vertices().to_vec());
    let Ok(coarse) = mesh.decimated(DecimationBudget::Vertices(budget), &options) else {
        return as_it_is();
    };
    let places: Option<Vec<usize>> = control
        .vertices()
        .iter()
        .map(|v| coarse.sources().binary_search(v).ok())
        .collect();
    // A control point that no triangle uses is not in the coarse mesh.
    let Some(places) = places else {
        return as_it_is();
    };
    let thinned = |pose: usize| {
        coarse
            .sources()
            .iter()
            .map(|&v| examples.pose(pose)[v as usize])
            .collect()
    };
    let frames = (1..examples.count()).map(thinned).collect();
    let small = Examples::new(coarse.mesh().clone(), frames, examples.names().to_vec())?;
    let control = ControlPoints::new(small.reference(), &places)?;
    Ok((small, control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_blend::LocalBlend;
    use crate::test_bar::{bar_control, bar_examples};
    use crate::workbench::Predictor;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes;

    #[test]
    fn the_copy_is_small_and_its_control_points_are_where_they_were() {
        let mesh = shapes::flat_sheet(80, 0.0);
        let bent = |amount: f64| {
            mesh.positions()
                .iter()
                .map(|p| *p + DVec3::Z * amount * p.x * p.x)
                .collect::<Vec<_>>()
        };
        let examples = Examples::new(
            mesh.clone(),
            vec![bent(0.2), bent(0.5)],
            vec!["a".into(), "b".into()],
        )
        .unwrap();
        let control = ControlPoints::new(&mesh, &[0, 3000, 80, 6560, 17]).unwrap();
        let (small, few) = small_copy(&examples, &control).unwrap();
        assert!(small.reference().vertex_count() <= VERTICES + 5);
        assert!((0..3).all(|pose| few.at(small.pose(pose)) == control.at(examples.pose(pose))));
    }

    #[test]
    fn errors_in_closed_form_are_those_of_refitting_but_for_the_width() {
        let rehearsal = Rehearsal::new(
            &bar_examples(),
            &bar_control(),
            &LearnOptions::default().with_bones(30),
        )
        .unwrap();
        let settings = LocalSettings {
            sharpness: 2.0,
            ridge: 0.1,
            refits: 0,
        };
        let everything = rehearsal.bench.everything();
        let poses = rehearsal.poses(2.0);
        let closed = rehearsal
            .prepare(poses.clone(), &everything)
            .unwrap()
            .error(&settings);
        let mut sum = 0.0;
        for left_out in 1..everything.len() {
            let rest: Vec<usize> = everything
                .iter()
                .copied()
                .filter(|&i| i != left_out)
                .collect();
            let blend = LocalBlend::train(poses.clone(), &rest, &settings).unwrap();
            let found = blend.pose(
                &rehearsal.bench,
                &rehearsal.poisson,
                &rehearsal.bench.points[left_out],
            );
            sum += rehearsal.bench.examples.error(&found, left_out);
        }
        let refitted = sum / (everything.len() - 1) as f64;
        assert!(
            (closed - refitted).abs() < 0.2 * refitted,
            "{closed} {refitted}"
        );
    }

    #[test]
    fn the_reference_is_never_left_out_and_of_many_poses_few_are() {
        assert_eq!(folds(&[0, 2, 5]), vec![1, 2]);
        let many: Vec<usize> = (0..100).collect();
        let few = folds(&many);
        assert!(
            few.len() == MOST_FOLDS
                && !few.contains(&0)
                && few.windows(2).all(|pair| pair[0] < pair[1])
        );
    }
}
