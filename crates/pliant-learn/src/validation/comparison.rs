//! Comparison of methods on the same left-out poses.

use pliant_mesh::{Progress, ProgressPart};

use crate::{
    ControlPoints, Examples, LearnError, LearnOptions, LeaveOneOut, Method, PairedTest, TrainingLog,
};

/// A method that is compared with the first one on the same poses.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedMethod {
    /// The method.
    pub method: Method,
    /// Its errors.
    pub errors: LeaveOneOut,
    /// Paired test of the first method against this one; a negative difference favours the first.
    pub test: PairedTest,
}

/// The errors of a method and of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The errors of the method in the options.
    pub errors: LeaveOneOut,
    /// The other methods, in the order of the request.
    pub others: Vec<ComparedMethod>,
}

impl Comparison {
    /// Leave-one-out validation of the method of `options`, then of each method in `against`, with
    /// the same control points and options. `log` belongs to the first method.
    ///
    /// # Errors
    /// As [`LeaveOneOut::of`].
    pub fn of(
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
        against: &[Method],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let all: Vec<usize> = (0..examples.count() - 1).collect();
        Self::of_frames(examples, control, options, against, &all, log, progress)
    }

    /// As [`of`](Self::of), for some frames only, see [`LeaveOneOut::of_frames`].
    ///
    /// # Errors
    /// As [`LeaveOneOut::of`].
    pub fn of_frames(
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
        against: &[Method],
        frames: &[usize],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let share = 1.0 / (against.len() + 1) as f64;
        // All methods take about the same time.
        let own = ProgressPart {
            whole: progress,
            begin: 0.0,
            size: share,
        };

        let errors = LeaveOneOut::of_frames(
            examples.clone(),
            control.clone(),
            options,
            frames,
            log,
            &own,
        )?;
        let others = ProgressPart {
            whole: progress,
            begin: share,
            size: 1.0 - share,
        };

        Self::with(errors, examples, control, options, against, frames, &others)
    }

    /// As [`of_frames`](Self::of_frames), with given errors of the first method.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn with(
        errors: LeaveOneOut,
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
        against: &[Method],
        frames: &[usize],
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let share = 1.0 / against.len().max(1) as f64;
        let mut others = Vec::with_capacity(against.len());
        for (k, &method) in against.iter().enumerate() {
            // Every method gets an equal part of the progress.
            let part = ProgressPart {
                whole: progress,
                begin: k as f64 * share,
                size: share,
            };

            let options = options.with_method(method);
            let mut log = TrainingLog::new(examples, control, &options);
            let other = LeaveOneOut::of_frames(
                examples.clone(),
                control.clone(),
                &options,
                frames,
                &mut log,
                &part,
            )?;

            let test = PairedTest::of(&errors.rms(), &other.rms());
            others.push(ComparedMethod {
                method,
                errors: other,
                test,
            });
        }

        Ok(Self { errors, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar_control, bar_examples};

    #[test]
    fn others_have_the_errors_of_their_own_validation_and_are_tested_against_the_first() {
        let examples = bar_examples();
        let control = bar_control();
        let options = LearnOptions::default().with_bones(30);
        let mut log = TrainingLog::new(&examples, &control, &options);

        let comparison = Comparison::of(
            &examples,
            &control,
            &options,
            &[Method::Sorkine2007],
            &mut log,
            &(),
        )
        .unwrap();

        let alone = LeaveOneOut::of(
            examples,
            control,
            &options.with_method(Method::Sorkine2007),
            &(),
        )
        .unwrap();
        assert_eq!(comparison.others[0].errors, alone);
        assert_eq!(
            comparison.others[0].test,
            PairedTest::of(&comparison.errors.rms(), &alone.rms())
        );

        assert!(comparison.others[0].test.mean_difference < 0.0);
    }
}
