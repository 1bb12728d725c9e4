//! Methods compared pose by pose.

use pliant_mesh::{Progress, ProgressPart};

use crate::{
    ControlPoints, Examples, LearnError, LearnOptions, LeaveOneOut, Method, PairedTest, TrainingLog,
};

/// One method judged on the same poses as the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Rival {
    /// Which.
    pub method: Method,
    /// Its errors.
    pub errors: LeaveOneOut,
    /// The first method against it: lower is better for the first.
    pub test: PairedTest,
}

/// A method and its rivals.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The errors of the method that the options name.
    pub errors: LeaveOneOut,
    /// The others, as asked.
    pub rivals: Vec<Rival>,
}

impl Comparison {
    /// Leaves out each pose for the method of `options`, then for each of `against`, all with the
    /// same control points and options. `log` is that of the first method.
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
        let share = 1.0 / (against.len() + 1) as f64;
        let own = ProgressPart {
            whole: progress,
            begin: 0.0,
            size: share,
        };
        let errors = LeaveOneOut::logged(examples.clone(), control.clone(), options, log, &own)?;
        let others = ProgressPart {
            whole: progress,
            begin: share,
            size: 1.0 - share,
        };
        Self::with(errors, examples, control, options, against, &others)
    }

    /// As [`of`](Self::of), with the errors of the first method at hand.
    ///
    /// # Errors
    /// As there.
    pub fn with(
        errors: LeaveOneOut,
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
        against: &[Method],
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let share = 1.0 / against.len().max(1) as f64;
        let mut rivals = Vec::with_capacity(against.len());
        for (k, &method) in against.iter().enumerate() {
            let part = ProgressPart {
                whole: progress,
                begin: k as f64 * share,
                size: share,
            };
            let theirs = LeaveOneOut::of(
                examples.clone(),
                control.clone(),
                &options.with_method(method),
                &part,
            )?;
            let test = PairedTest::of(&errors.rms(), &theirs.rms());
            rivals.push(Rival {
                method,
                errors: theirs,
                test,
            });
        }
        Ok(Self { errors, rivals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar_control, bar_examples};

    #[test]
    fn rivals_are_judged_as_by_themselves_and_tested_against_the_first() {
        let (examples, control, options) = (
            bar_examples(),
            bar_control(),
            LearnOptions::default().with_bones(30),
        );
        let mut log = TrainingLog::new(&examples, &control, &options);
        let told = Comparison::of(
            &examples,
            &control,
            &options,
            &[Method::Arap],
            &mut log,
            &(),
        )
        .unwrap();
        let alone =
            LeaveOneOut::of(examples, control, &options.with_method(Method::Arap), &()).unwrap();
        assert_eq!(told.rivals[0].errors, alone);
        assert_eq!(
            told.rivals[0].test,
            PairedTest::of(&told.errors.rms(), &alone.rms())
        );
        assert!(told.rivals[0].test.mean_difference < 0.0);
    }
}
