//! Table 2 and figures 9 and 10: leave-one-out validation of all methods.

use pliant_learn::{LearnOptions, LeaveOneOut, Method};
use pliant_view::{ContactSheet, Image};

use super::numerals::{gap, grouped, row};
use super::{Models, ReproduceError, Set, failed};
use crate::page::{Axis, Plot, Section, Series, Table};

const SIZE: [usize; 2] = [214, 250];
/// The error at the end of the colour map, relative to the longest side.
const MOST_SHOWN: f64 = 0.05;
/// The shown gestures.
const SHOWN: [&str; 2] = ["pinch", "grab"];

/// *Huang et al. 2012*, table 2: examples, vertices of the smooth mesh, and the errors of Feng et al.
/// 2008 and of Huang et al. 2012.
const PUBLISHED: [(&str, usize, usize, f64, f64); 5] = [
    ("Hand-I", 14, 49_000, 0.0435, 0.0315),
    ("Hand-II", 14, 49_000, 0.0332, 0.0240),
    ("Face-I", 21, 17_000, 0.0294, 0.0281),
    ("Face-II", 6, 24_000, 0.0291, 0.0279),
    ("Dinosaur", 13, 34_000, 0.0338, 0.0270),
];

/// The errors of one set by all methods, in the order of [`Method::ALL`].
struct SetErrors<'a> {
    set: &'a Set,
    by_method: Vec<LeaveOneOut>,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Poses left out",
        "Table 2: each pose in turn is removed from the examples and predicted from its control \
         points by a model of the others. The error is the root mean square distance over the \
         longest side of the reference pose. `paper` is local kernel CCA on abstract bones (Huang \
         et al. 2012), `feng` the global one (Feng et al. 2008), `meshik` blends the deformations \
         of the examples globally, `arap` uses the reference alone. `auto` is ours and chooses \
         its settings by validation on the remaining poses.",
    );

    let mut sets = Vec::new();
    for set in std::iter::once(&models.hand).chain(&models.shared) {
        sets.push(SetErrors::new(set)?);
    }

    for row in &sets {
        section.figure(
            &format!("left out, {}", row.set.name),
            format!("{:.4} of the longest side", row.by_method[0].mean_rms()),
        );
    }

    section.table(table(&sets));
    for row in &sets {
        section.plot(
            row.plot(),
            format!("The poses of the {}, each left out.", row.set.name),
        );
    }

    section.wide(
        "left-out.png",
        "Figures 9 and 10: two gestures that no method has seen, and below each its error: dark \
         is zero, yellow is 5 % of the longest side.",
        &gestures(&models.hand)?,
    )?;

    Ok(section)
}

impl<'a> SetErrors<'a> {
    fn new(set: &'a Set) -> Result<Self, ReproduceError> {
        let of = |method: Method| {
            let options = LearnOptions::default().with_method(method);
            LeaveOneOut::of(set.examples.clone(), set.control.clone(), &options, &())
                .map_err(failed(&set.name))
        };
        Ok(Self {
            set,
            by_method: Method::ALL.into_iter().map(of).collect::<Result<_, _>>()?,
        })
    }

    fn plot(&self) -> Plot {
        let names = self.set.examples.names().iter().map(String::as_str);
        let mut plot = Plot::new(
            format!("{}, each pose left out", self.set.name),
            Axis::categories("pose", names),
            Axis::linear("RMS / longest side").covering([0.0]),
        )
        .with_size([1120, 360]);

        for (method, errors) in Method::ALL.iter().zip(&self.by_method) {
            let heights = errors.poses.iter().map(|pose| pose.rms);
            plot = plot.with_series(Series::bars(method.name(), heights));
        }
        plot
    }
}

fn table(sets: &[SetErrors<'_>]) -> Table {
    let header = ["set", "examples", "vertices", "points"]
        .into_iter()
        .chain(Method::ALL.map(Method::name));
    let mut table = Table::new(
        "Table 2: mean leave-one-out error. The sets of the paper are not public, so its rows are \
         of other meshes; its method is the column `paper`.",
        header,
    );

    // The paper has no values for our method, MeshIK and ARAP.
    for (name, examples, vertices, feng, paper) in PUBLISHED {
        let cells = [
            examples.to_string(),
            grouped(vertices),
            gap(),
            gap(),
            format!("{paper:.4}"),
            format!("{feng:.4}"),
            gap(),
            gap(),
        ];
        table.push_quoted(row(format!("{name}, 2012"), cells));
    }

    for errors in sets {
        let examples = &errors.set.examples;
        let counts = [
            examples.count().to_string(),
            grouped(examples.reference().vertex_count()),
            errors.set.control.count().to_string(),
        ];
        let means = errors
            .by_method
            .iter()
            .map(|errors| format!("{:.4}", errors.mean_rms()));
        table.push(row(&errors.set.name, counts.into_iter().chain(means)));
    }

    table
}

fn gestures(hand: &Set) -> Result<Image, ReproduceError> {
    let methods = Method::ALL;
    let mut sheet = ContactSheet::new("", methods.len() + 1);
    for name in SHOWN {
        let frame = hand.frame(name);
        let truth = hand.truth(frame);
        let mut found = vec![("the true pose", truth.to_vec())];

        for method in methods {
            found.push((method.name(), hand.left_out(frame, method)?));
        }

        for (method, positions) in &found {
            sheet.push(
                hand.picture(positions, truth, SIZE)?,
                format!("{name}: {method}"),
            );
        }

        // Below each pose its error as a heat map.
        for (_, positions) in &found {
            let error = format!("{:.1} thousandths", hand.thousandths(positions, frame));
            sheet.push(
                hand.error_picture(positions, frame, MOST_SHOWN, SIZE)?,
                error,
            );
        }
    }

    Ok(sheet.compose()?)
}
