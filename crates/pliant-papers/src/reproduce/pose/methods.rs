//! The compared solvers from pins to weights.

use pliant_rig::{
    Bounded, Hybrid, Localized, PoseSolver, PseudoInverse, Range, Tikhonov, Transpose,
};

/// A solver with its name in tables.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) label: String,
    pub(super) solver: Box<dyn PoseSolver>,
    pub(super) range: Range,
}

impl Method {
    pub(super) fn new(solver: impl PoseSolver + 'static, range: Range) -> Self {
        Self::boxed(Box::new(solver), range)
    }

    fn boxed(solver: Box<dyn PoseSolver>, range: Range) -> Self {
        let label = match range {
            Range::Clip if solver.name() != "box" => format!("{}, clipped", solver.name()),
            _ => solver.name().to_owned(),
        };
        Self {
            label,
            solver,
            range,
        }
    }
}

/// The five solvers of the thesis, with free or clipped weights.
pub(super) fn thesis(range: Range) -> Vec<Method> {
    let solvers: [Box<dyn PoseSolver>; 5] = [
        Box::new(PseudoInverse),
        Box::new(Tikhonov::default()),
        Box::new(Localized::default()),
        Box::new(Transpose::default()),
        Box::new(Hybrid::default()),
    ];
    solvers
        .into_iter()
        .map(|solver| Method::boxed(solver, range))
        .collect()
}

/// Our solver, inside limits.
pub(super) fn bounded() -> Method {
    Method::new(Bounded::default(), Range::Clip)
}

/// The five of the thesis with free weights, the same clipped, and ours last.
pub(super) fn all() -> Vec<Method> {
    thesis(Range::Free)
        .into_iter()
        .chain(thesis(Range::Clip))
        .chain([bounded()])
        .collect()
}
