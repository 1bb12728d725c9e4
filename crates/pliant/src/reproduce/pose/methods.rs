//! The ways from pins to weights that are compared.

use pliant_rig::{
    Bounded, Hybrid, Localized, PoseSolver, PseudoInverse, Range, Tikhonov, Transpose,
};

/// A solver under the name it has in tables.
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

/// The thesis' five, with their weights as they come or cut to their limits.
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

/// Ours, inside limits.
pub(super) fn bounded() -> Method {
    Method::new(Bounded::default(), Range::Clip)
}

/// The thesis' five free, the same clipped, and ours last.
pub(super) fn all() -> Vec<Method> {
    thesis(Range::Free)
        .into_iter()
        .chain(thesis(Range::Clip))
        .chain([bounded()])
        .collect()
}
