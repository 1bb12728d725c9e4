//! Single drags to reachable goals: the effect of each method on the pin, the sliders and the rest
//! of the face.

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
/// Drags for the curves over the settings of the solver.
const FEWER: usize = 50;
/// A vertex is movable if some target moves it by this part of the face's diagonal: about 0.4 cm on
/// a head.
const MOVABLE: f64 = 0.011;

/// A pin, its displacement, and the skin that should not follow.
#[derive(Debug)]
pub(super) struct Drag {
    pub(super) pin: u32,
    pub(super) displacement: DVec3,
    pub(super) far: Vec<u32>,
}

/// The result of a method on a drag. Lengths are relative to the drag.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) error: f64,
    pub(super) active: usize,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) far_most: f64,
    pub(super) far_rms: f64,
    /// The displacement that the pin reached.
    pub(super) displacement: DVec3,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Two hundred drags",
        format!(
            "Beyond the thesis: {DRAGS} single pins on every model. The goal of each is its \
             position with one to three of its sliders at 0.2 to 0.8, so that an exact solution \
             exists. Far is skin whose geodesic distance from the pin is more than an eighth of \
             the face."
        ),
    );

    for (k, subject) in subjects.iter().enumerate() {
        let drags = reachable(subject, DRAGS)?;
        let measured: Vec<Vec<Measure>> = all()
            .iter()
            .map(|method| measure_all(subject, &drags, method))
            .collect::<Result<_, _>>()?;

        // Each model has its own tables, since lengths are in its own unit.
        section.paragraph(format!("{}.", subject.name()));
        section.table(table(subject, &drags, &measured));
        equal_reach::add_table(subject, &drags, &measured, &mut section)?;

        // The plot takes long, so that only the first and the last model have one.
        let is_end = k == 0 || k + 1 == subjects.len();
        if is_end {
            section.plot(
                pareto(subject, &drags[..FEWER.min(drags.len())], &measured)?,
                "Lower left is better. Lines: our solver with other settings; the default is \
                 marked. Points: the methods of the thesis.",
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
        "Far motion alone favours methods that do not reach the goal; at equal reach it does not. \
         There our solver moves less of the far skin on most drags, in the root mean square. Its \
         largest far motion is not smaller than that of free weights, which can cancel one broad \
         slider by the negative weight of another; inside limits this is not possible.",
    );

    Ok(section)
}

/// Drags whose goals are reachable by weights inside their limits.
pub(super) fn reachable(subject: &Subject<'_>, count: usize) -> Result<Vec<Drag>, ReproduceError> {
    let mut lcg = Lcg::new(11);
    let movable = movable_vertices(subject);
    let mut drags = Vec::new();

    // A rig without movable vertices has no drags; with few sliders per vertex many are too short.
    for _ in 0..20 * count {
        if drags.len() == count || movable.is_empty() {
            break;
        }

        // A random movable vertex, and random sliders that move it.
        let pin = movable[lcg.below(movable.len())];
        let displacement = reachable_displacement(subject, pin, &mut lcg);
        // Very short drags are skipped, since results are relative to the drag.
        if displacement.length() > 0.5 * MOVABLE * subject.size {
            drags.push(Drag {
                pin,
                displacement,
                far: subject.far_from(&[pin])?,
            });
        }
    }

    Ok(drags)
}

/// The movable vertices of the skin.
pub(super) fn movable_vertices(subject: &Subject<'_>) -> Vec<u32> {
    subject
        .skin
        .iter()
        .copied()
        .filter(|&v| subject.reach[v as usize] > MOVABLE * subject.size)
        .collect()
}

/// The displacement of a pin by one to three of the sliders that move it.
pub(super) fn reachable_displacement(subject: &Subject<'_>, pin: u32, lcg: &mut Lcg) -> DVec3 {
    let all = 0..subject.model.rig.targets().len();
    let helpful: Vec<usize> = all
        .filter(|&k| subject.delta(k, pin).length() > 0.375 * MOVABLE * subject.size)
        .collect();
    // One to three sliders at 0.2 to 0.8: inside the limits, so that the goal is reachable.
    let count = 1 + lcg.below(3);
    let chosen = lcg.choose(&helpful, count);

    let some: Vec<(usize, f64)> = chosen
        .into_iter()
        .map(|slider| (slider, lcg.between(0.2, 0.8)))
        .collect();

    let rest = subject.model.rig.neutral().positions();
    let posed = subject.model.rig.evaluate(&subject.weights(&some));
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
            .drag(&[], &[drag.pin], &[drag.displacement], method)
            .map(|pose| measure(subject, drag, &pose))
    });
    measures.into_iter().collect()
}

pub(super) fn measure(subject: &Subject<'_>, drag: &Drag, pose: &Pose) -> Measure {
    let rest = subject.model.rig.neutral().positions();
    let moved = subject.motion(rest, &pose.weights);
    let length = drag.displacement.length();
    let far = drag.far.iter().map(|&v| moved[v as usize] / length);

    Measure {
        error: pose.pins[0].error / length,
        active: pose.active_sliders(),
        least: least(pose.weights.iter().copied()),
        greatest: greatest(pose.weights.iter().copied()),
        far_most: far.clone().fold(0.0, f64::max),
        far_rms: mean(far.map(|d| d * d)).sqrt(),
        displacement: pose.pins[0].reached - rest[drag.pin as usize],
    }
}

fn table(subject: &Subject<'_>, drags: &[Drag], measured: &[Vec<Measure>]) -> Table {
    // The mean drag, to compare lengths between models.
    let length = mean(drags.iter().map(|drag| drag.displacement.length()));
    let caption = format!(
        "{}: {} drags of {} on average in the unit of the model; far is beyond {} in that unit. \
         Pin errors and far motion in % of the drag; sliders with a weight beyond 0.02; the least \
         and greatest weight of any drag.",
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
        let active = || all.iter().map(|m| m.active as f64);
        let own_unit = mean(
            all.iter()
                .zip(drags)
                .map(|(m, drag)| m.far_most * drag.displacement.length()),
        );
        table.push([
            method.label.clone(),
            percent(median(all.iter().map(|m| m.error))),
            format!("{:.1}", mean(active())),
            format!("{:.0}", greatest(active())),
            format!("{:.2}", least(all.iter().map(|m| m.least))),
            format!("{:.2}", greatest(all.iter().map(|m| m.greatest))),
            percent(mean(all.iter().map(|m| m.far_most))),
            rounded(own_unit),
            percent(mean(all.iter().map(|m| m.far_rms))),
        ]);
    }

    table
}

/// Settings of our solver along which one penalty changes.
fn families(subject: &Subject<'_>) -> [(&'static str, Vec<Bounded>); 3] {
    let box_with = Bounded::default;
    // Each family changes one setting and keeps the defaults of the others.
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
    let mut plot = Plot::new(
        format!("Reach against far motion, {}", subject.name()),
        Axis::logarithmic("mean pin error, % of the drag"),
        Axis::linear("mean far motion, % of the drag").covering([0.0]),
    )
    .with_size([1130, 460]);

    for (name, settings) in families(subject) {
        let mut points = Vec::with_capacity(settings.len());
        for solver in settings {
            let method = Method::new(solver, Range::Clip);
            points.push(pareto_point(&measure_all(subject, drags, &method)?));
        }
        plot = plot.with_series(Series::new(name, Marks::LineAndPoints, points));
    }

    // The methods are the free ones of the thesis, the clipped ones, and ours last.
    let methods = all();
    let last = methods.len() - 1;
    let half = methods.len() / 2;
    for (name, range) in [
        ("thesis, free", 0..half),
        ("thesis, clipped", half..last),
        ("box, default", last..last + 1),
    ] {
        let points = measured[range.clone()]
            .iter()
            .map(|measures| pareto_point(&measures[..drags.len()]));
        let labels = methods[range]
            .iter()
            .map(|method| method.label.replace(", clipped", ""));
        plot = plot.with_series(Series::new(name, Marks::Points, points).with_labels(labels));
    }

    Ok(plot)
}

/// Mean pin error and mean far motion, in %.
fn pareto_point(measures: &[Measure]) -> [f64; 2] {
    [
        // The axis is logarithmic, so that zero needs a place.
        100.0 * mean(measures.iter().map(|m| m.error)).max(1e-4),
        100.0 * mean(measures.iter().map(|m| m.far_most)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Data;

    #[test]
    fn weights_inside_their_limits_reach_the_goals_of_all_drags() {
        let model = Data::built_in()
            .model("head", "specimen:head")
            .unwrap()
            .expect("a built-in head");
        let subject = Subject::new(&model).unwrap();
        let drags = reachable(&subject, 12).unwrap();

        assert_eq!(drags.len(), 12);
        let plain = Method::new(
            Bounded::default()
                .with_goal_limit(None)
                .with_sparsity(0.0)
                .with_damping(0.0),
            Range::Clip,
        );

        for (drag, measured) in drags
            .iter()
            .zip(measure_all(&subject, &drags, &plain).unwrap())
        {
            assert!(
                drag.displacement.length() > 0.5 * MOVABLE * subject.size
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
