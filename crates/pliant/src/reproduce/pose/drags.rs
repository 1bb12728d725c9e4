//! Many single drags to places that can be reached: what each method does to the pin, to the
//! sliders and to the rest of the face.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Bounded, Pose, Range};

use super::ReproduceError;
use super::equal_reach;
use super::lcg::Lcg;
use super::methods::{Method, all};
use super::numerals::{greatest, least, mean, median, percent, rounded};
use super::subject::{FAR, Subject};
use crate::page::{Axis, Best, Marks, Plot, Section, Series, Table};

/// Drags on each model.
const DRAGS: usize = 200;
/// Drags for the curves of the solver's settings.
const FEWER: usize = 50;
/// Pins are where some target moves the skin by this part of the face's diagonal: some 0.4 cm on a
/// head.
const LIVELY: f64 = 0.011;

/// A pin, where it is to go, and the skin that should not follow.
#[derive(Debug)]
pub(super) struct Drag {
    pub(super) pin: u32,
    pub(super) way: DVec3,
    pub(super) far: Vec<u32>,
}

/// What a method made of a drag. Lengths are relative to the drag's.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) error: f64,
    pub(super) active: usize,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) far_most: f64,
    pub(super) far_rms: f64,
    /// The way that the pin went.
    pub(super) way: DVec3,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Two hundred drags",
        format!(
            "Beyond the thesis' examples: {DRAGS} single pins on every model, each dragged to where one to three of its sliders at 0.2 to \
             0.8 take it, so that a perfect answer exists. Far is skin farther from the pin than an eighth of the face, along the surface."
        ),
    );
    for subject in subjects {
        let drags = reachable(subject, DRAGS)?;
        let measured: Vec<Vec<Measure>> = all()
            .iter()
            .map(|method| measure_all(subject, &drags, method))
            .collect::<Result<_, _>>()?;
        section.paragraph(format!("{}.", subject.name()));
        section.table(table(subject, &drags, &measured));
        equal_reach::add_table(subject, &drags, &measured, &mut section)?;
        if [subjects.first(), subjects.last()]
            .into_iter()
            .flatten()
            .any(|end| end.name() == subject.name())
        {
            let caption = "Lower left is better. Lines: our solver with other prices; its default is marked. Points: the thesis' methods.";
            section.plot(
                pareto(subject, &drags[..FEWER.min(drags.len())], &measured)?,
                caption,
            );
        }
        let ours = measured.last().expect("box is last");
        section.figure(
            &format!("{}, pin error of box", subject.name()),
            format!("{} %", percent(median(ours.iter().map(|m| m.error)))),
        );
        section.figure(
            &format!("{}, sliders of box", subject.name()),
            rounded(mean(ours.iter().map(|m| m.active as f64))),
        );
    }
    section.paragraph(
        "Alone, far motion favours methods that leave the pin behind; at equal reach it does not. There our solver moves less of the far \
         skin on most drags, in the mean of squares. Its largest far motion is no smaller than that of free weights, which may cancel one \
         broad slider by the negative of another; inside limits nothing can.",
    );
    Ok(section)
}

/// Drags whose goals weights within their limits reach.
pub(super) fn reachable(subject: &Subject<'_>, count: usize) -> Result<Vec<Drag>, ReproduceError> {
    let mut lcg = Lcg::new(11);
    let lively = lively(subject);
    let mut drags = Vec::new();
    // A rig without lively vertices has no drags; one with few sliders at each may decline many.
    for _ in 0..20 * count {
        if drags.len() == count || lively.is_empty() {
            break;
        }
        let pin = lively[lcg.below(lively.len())];
        let way = reachable_way(subject, pin, &mut lcg);
        if way.length() > 0.5 * LIVELY * subject.size {
            drags.push(Drag {
                pin,
                way,
                far: subject.far_from(&[pin])?,
            });
        }
    }
    Ok(drags)
}

/// The vertices of the skin that some target moves well.
pub(super) fn lively(subject: &Subject<'_>) -> Vec<u32> {
    subject
        .skin
        .iter()
        .copied()
        .filter(|&v| subject.reach[v as usize] > LIVELY * subject.size)
        .collect()
}

/// Where one to three of the sliders that move a pin take it.
pub(super) fn reachable_way(subject: &Subject<'_>, pin: u32, lcg: &mut Lcg) -> DVec3 {
    let all = 0..subject.model.rig.targets().len();
    let helpful: Vec<usize> = all
        .filter(|&k| subject.delta(k, pin).length() > 0.375 * LIVELY * subject.size)
        .collect();
    let count = 1 + lcg.below(3);
    let chosen = lcg.choose(&helpful, count);
    let some: Vec<(usize, f64)> = chosen
        .into_iter()
        .map(|slider| (slider, lcg.between(0.2, 0.8)))
        .collect();
    let (rest, posed) = (
        subject.model.rig.neutral().positions(),
        subject.model.rig.evaluate(&subject.weights(&some)),
    );
    posed[pin as usize] - rest[pin as usize]
}

fn measure_all(
    subject: &Subject<'_>,
    drags: &[Drag],
    method: &Method,
) -> Result<Vec<Measure>, ReproduceError> {
    let measures = parallel::map(drags.len(), 1, |k| {
        let drag = &drags[k];
        subject
            .drag(&[], &[drag.pin], &[drag.way], method)
            .map(|pose| measure(subject, drag, &pose))
    });
    measures.into_iter().collect()
}

pub(super) fn measure(subject: &Subject<'_>, drag: &Drag, pose: &Pose) -> Measure {
    let rest = subject.model.rig.neutral().positions();
    let moved = subject.motion(rest, &pose.weights);
    let length = drag.way.length();
    let far = drag.far.iter().map(|&v| moved[v as usize] / length);
    Measure {
        error: pose.pins[0].error / length,
        active: pose.active_sliders(),
        least: least(pose.weights.iter().copied()),
        greatest: greatest(pose.weights.iter().copied()),
        far_most: far.clone().fold(0.0, f64::max),
        far_rms: mean(far.map(|d| d * d)).sqrt(),
        way: pose.pins[0].reached - rest[drag.pin as usize],
    }
}

fn table(subject: &Subject<'_>, drags: &[Drag], measured: &[Vec<Measure>]) -> Table {
    let length = mean(drags.iter().map(|drag| drag.way.length()));
    let caption = format!(
        "{}: {} drags of {} on average in its own unit, in which far is beyond {}. Pin errors and far motion in % of the drag; sliders away from zero by more than \
         0.02; the least and greatest weight of any drag.",
        subject.name(),
        drags.len(),
        rounded(length),
        rounded(FAR * subject.size)
    );
    let header = [
        "method",
        "median pin error, %",
        "mean sliders",
        "most",
        "least weight",
        "greatest",
        "far motion, %",
        "own unit",
        "far rms, %",
    ];
    let mut table = Table::new(caption, header);
    for column in [1, 2, 3, 6, 7, 8] {
        table = table.with_best(column, Best::Least);
    }
    for (method, all) in super::methods::all().iter().zip(measured) {
        let counts = [
            mean(all.iter().map(|m| m.active as f64)),
            greatest(all.iter().map(|m| m.active as f64)),
        ];
        let range = [
            least(all.iter().map(|m| m.least)),
            greatest(all.iter().map(|m| m.greatest)),
        ];
        let own = mean(
            all.iter()
                .zip(drags)
                .map(|(m, drag)| m.far_most * drag.way.length()),
        );
        table.push([
            method.label.clone(),
            percent(median(all.iter().map(|m| m.error))),
            format!("{:.1}", counts[0]),
            format!("{:.0}", counts[1]),
            format!("{:.2}", range[0]),
            format!("{:.2}", range[1]),
            percent(mean(all.iter().map(|m| m.far_most))),
            rounded(own),
            percent(mean(all.iter().map(|m| m.far_rms))),
        ]);
    }
    table
}

/// Settings of our solver along which one price changes.
fn families(subject: &Subject<'_>) -> [(&'static str, Vec<Bounded>); 3] {
    let box_with = Bounded::default;
    let sparsities =
        [0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2].map(|sparsity| box_with().with_sparsity(sparsity));
    let dampings = [5e-6, 5e-5, 5e-4, 5e-3, 5e-2].map(|damping| box_with().with_damping(damping));
    let size = subject.poser.size();
    let reaches = [0.025, 0.05, 0.1, 0.2].map(|reach| box_with().with_reach(Some(reach * size)));
    [
        ("box, sparsity 0 to 0.01", sparsities.into()),
        ("box, damping 5e-6 to 0.05", dampings.into()),
        ("box, reach 0.025 to 0.2", reaches.into()),
    ]
}

fn pareto(
    subject: &Subject<'_>,
    drags: &[Drag],
    measured: &[Vec<Measure>],
) -> Result<Plot, ReproduceError> {
    let point = |measures: &[Measure]| {
        [
            100.0 * mean(measures.iter().map(|m| m.error)).max(1e-4),
            100.0 * mean(measures.iter().map(|m| m.far_most)),
        ]
    };
    let axes = [
        Axis::logarithmic("mean pin error, % of the drag"),
        Axis::linear("mean far motion, % of the drag").covering([0.0]),
    ];
    let [x, y] = axes;
    let mut plot = Plot::new(
        format!("Reach against far motion, {}", subject.name()),
        x,
        y,
    )
    .with_size([1130, 460]);
    for (name, settings) in families(subject) {
        let along = settings.into_iter().map(|solver| {
            let measures = measure_all(subject, drags, &Method::new(solver, Range::Clip))?;
            Ok(point(&measures))
        });
        plot = plot.with_series(Series::new(
            name,
            Marks::LineAndPoints,
            along.collect::<Result<Vec<_>, ReproduceError>>()?,
        ));
    }
    let methods = all();
    let (last, half) = (methods.len() - 1, methods.len() / 2);
    for (name, places) in [
        ("thesis, free", 0..half),
        ("thesis, clipped", half..last),
        ("box, default", last..last + 1),
    ] {
        let points = measured[places.clone()]
            .iter()
            .map(|measures| point(&measures[..drags.len()]));
        let labels = methods[places]
            .iter()
            .map(|method| method.label.replace(", clipped", ""));
        plot = plot.with_series(Series::new(name, Marks::Points, points).with_labels(labels));
    }
    Ok(plot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Data;

    #[test]
    fn drags_are_as_many_as_asked_and_weights_inside_their_limits_reach_their_goals() {
        let model = Data::built_in()
            .model("head", "specimen:head")
            .unwrap()
            .expect("a built-in head");
        let subject = Subject::new(&model).unwrap();
        let drags = reachable(&subject, 12).unwrap();
        assert_eq!(drags.len(), 12);
        let plain = Method::new(
            Bounded::default().with_sparsity(0.0).with_damping(0.0),
            Range::Clip,
        );
        for (drag, measured) in drags
            .iter()
            .zip(measure_all(&subject, &drags, &plain).unwrap())
        {
            assert!(
                drag.way.length() > 0.5 * LIVELY * subject.size
                    && drag.far.binary_search(&drag.pin).is_err()
            );
            // Damping of zero is not quite nothing in the solver.
            assert!(
                measured.error < 1e-3 && measured.least >= 0.0 && measured.greatest <= 1.0,
                "{measured:?}"
            );
            assert!(measured.far_rms <= measured.far_most);
        }
    }
}
