//! Table 2 and figures 9 and 10: poses that a method has not seen.

use pliant_learn::{LearnOptions, LeaveOneOut, Method};
use pliant_view::{ContactSheet, Image};

use super::numerals::grouped;
use super::{Cast, ReproduceError, Set, failed};
use crate::page::{Axis, Plot, Section, Series, Table};

const SIZE: [usize; 2] = [214, 250];
/// The colours of errors end here, in parts of the longest side.
const MOST_SHOWN: f64 = 0.05;
/// Gestures shown.
const SHOWN: [&str; 2] = ["pinch", "grab"];

/// *Paper*, table 2: examples, vertices of the smooth mesh, Feng and others, and theirs.
const PUBLISHED: [(&str, usize, usize, f64, f64); 5] = [
    ("Hand-I", 14, 49_000, 0.0435, 0.0315),
    ("Hand-II", 14, 49_000, 0.0332, 0.0240),
    ("Face-I", 21, 17_000, 0.0294, 0.0281),
    ("Face-II", 6, 24_000, 0.0291, 0.0279),
    ("Dinosaur", 13, 34_000, 0.0338, 0.0270),
];

/// The errors of one set by all methods, in the order of [`Method::ALL`].
struct Judged<'a> {
    set: &'a Set,
    by_method: Vec<LeaveOneOut>,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Poses left out",
        "Table 2: every pose is taken out of the examples in turn, and predicted by its control points from the others. The error is the \
         root mean square distance over the longest side of the reference pose. `paper` is local kernel CCA on abstract bones, `feng` the \
         global one, `meshik` blends the examples' deformations as one, `arap` knows the reference alone; `auto` is ours, and chooses its \
         settings from the poses it may see.",
    );
    let mut judged = Vec::new();
    for set in std::iter::once(&cast.hand).chain(&cast.shared) {
        judged.push(Judged::new(set)?);
    }
    for row in &judged {
        section.figure(
            &format!("left out, {}", row.set.name),
            format!("{:.4} of the longest side", row.by_method[0].mean_rms()),
        );
    }
    section.table(table(&judged));
    for row in &judged {
        section.plot(
            row.plot(),
            format!("The poses of the {}, each left out.", row.set.name),
        );
    }
    section.wide(
        "left-out.png",
        "Figures 9 and 10: two gestures that no method has seen, and below each how far off it is: dark is nothing, yellow 5 % of the longest side.",
        &gestures(&cast.hand)?,
    )?;
    Ok(section)
}

impl<'a> Judged<'a> {
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
        let plot = Plot::new(
            format!("{}, each pose left out", self.set.name),
            Axis::categories("pose", names),
            Axis::linear("RMS / longest side").covering([0.0]),
        );
        let series = Method::ALL.iter().zip(&self.by_method);
        series
            .fold(plot, |plot, (method, errors)| {
                plot.with_series(Series::bars(
                    method.name(),
                    errors.poses.iter().map(|pose| pose.rms),
                ))
            })
            .with_size([1120, 360])
    }
}

fn table(judged: &[Judged<'_>]) -> Table {
    let header = ["set", "examples", "vertices", "points"]
        .into_iter()
        .chain(Method::ALL.map(Method::name));
    let mut table = Table::new(
        "Table 2: mean error of the poses left out. The paper's sets are not open, so its rows are of other meshes; its method is the column \
         `paper`.",
        header,
    );
    let gap = || "–".to_owned();
    for (name, examples, vertices, feng, paper) in PUBLISHED {
        let counts = [examples.to_string(), grouped(vertices), gap(), gap()];
        let errors = [format!("{paper:.4}"), format!("{feng:.4}"), gap(), gap()];
        table.push_quoted(
            [format!("{name}, 2012")]
                .into_iter()
                .chain(counts)
                .chain(errors),
        );
    }
    for row in judged {
        let examples = &row.set.examples;
        let counts = [
            examples.count().to_string(),
            grouped(examples.reference().vertex_count()),
            row.set.control.count().to_string(),
        ];
        let errors = row
            .by_method
            .iter()
            .map(|errors| format!("{:.4}", errors.mean_rms()));
        table.push(
            [row.set.name.clone()]
                .into_iter()
                .chain(counts)
                .chain(errors),
        );
    }
    table
}

fn gestures(hand: &Set) -> Result<Image, ReproduceError> {
    let methods = [
        Method::Auto,
        Method::Paper,
        Method::Feng,
        Method::MeshIk,
        Method::Arap,
    ];
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
