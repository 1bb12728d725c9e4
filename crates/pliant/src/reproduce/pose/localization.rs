//! A mouth, then a brow: figures 3.10 to 3.14.

use pliant_mesh::glam::DVec3;
use pliant_rig::{Localized, Pose, Range, Tikhonov};
use pliant_view::{ContactSheet, Image};

use super::ReproduceError;
use super::methods::{Method, bounded};
use super::numerals::{file_stem, greatest, least, percent, rounded, shortened};
use super::portrait::{Held, Portraits};
use super::subject::Subject;
use crate::page::{Axis, Best, Plot, Section, Series, Table};

/// The drags go beyond what a full slider reaches, as the figures' do.
const EXTREMITY: f64 = 1.3;

/// Two edits, one after the other.
struct Edits {
    pins: [u32; 2],
    /// From where the pins are when they are taken.
    ways: [DVec3; 2],
}

/// What one method made of them.
struct Outcome {
    label: String,
    poses: [Pose; 2],
    /// How far the skin beyond the pins' surroundings moved with each edit, at most.
    far: [f64; 2],
    starts: [DVec3; 2],
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Localization",
        "The thesis drags a mouth, then a brow. Without localization almost every slider gets a weight and the second edit moves the mouth \
         and the other brow (figure 3.10); with it most weights stay at zero and the rest of the face still (figure 3.11). Both leave the \
         range from 0 to 1, and are then clipped (figures 3.12 to 3.14). Here a corner of the mouth is pulled up and out, then the outer \
         brow up, each a third beyond what its own slider reaches.",
    );
    let mut wins = Vec::new();
    for subject in subjects {
        let edits = edits(subject);
        let outcomes: Vec<Outcome> = methods()
            .iter()
            .map(|method| edit(subject, &edits, method))
            .collect::<Result<_, _>>()?;
        section.paragraph(format!("{}.", subject.name()));
        section.table(table(subject, &outcomes));
        let name = file_stem(subject.name());
        let caption = format!(
            "{}: after both edits. White: where a pin was taken, blue: its goal, red: where it went.",
            subject.name()
        );
        section.wide(
            &format!("localization-{name}.png"),
            &caption,
            &faces(subject, &edits, &outcomes)?,
        )?;
        section.plot(bars(subject, &outcomes), "Sliders above 0.02 for any method, weights as they come (figure 3.12) and inside limits.");
        let ours = outcomes.last().expect("box is last");
        section.figure(
            &format!("{}, sliders of box", subject.name()),
            ours.poses[1].active_sliders().to_string(),
        );
        wins.push((subject.name(), outcomes));
    }
    section.paragraph(verdict(&wins));
    Ok(section)
}

fn verdict(all: &[(&str, Vec<Outcome>)]) -> String {
    let says = all.iter().map(|(name, outcomes)| {
        let [free, .., ours] = outcomes.as_slice() else { return String::new() };
        let (a, b) = (free.poses[1].active_sliders(), ours.poses[1].active_sliders());
        let clipped = outcomes.iter().filter(|outcome| outcome.label == "localized, clipped");
        let clipped = clipped.map(|outcome| rounded(100.0 * second_error(outcome))).next().unwrap_or_default();
        format!(
            "{name}: {a} sliders without localization, {b} with box; the brow misses its goal by {clipped} % of its way with localization \
             clipped, by {} % with box.",
            rounded(100.0 * second_error(ours))
        )
    });
    format!(
        "Localization is as good as its radius. At 0.5 % of the rig's size it drops few targets of a head, whose targets are local already, \
         and the edits hardly differ; sliders that would move the pin the wrong way still get negative weights. Clipping those loses the goal. {}",
        says.collect::<Vec<String>>().join(" ")
    )
}

fn methods() -> Vec<Method> {
    let thesis = [Range::Free, Range::Clip].into_iter().flat_map(|range| {
        [
            Method::new(Tikhonov::default(), range),
            Method::new(Localized::default(), range),
        ]
    });
    thesis.chain([bounded()]).collect()
}

fn edits(subject: &Subject<'_>) -> Edits {
    let smile = subject
        .slider_like(&["mouthsmilel", "mouthcornerpuller", "smile"])
        .unwrap_or(0);
    let brow = subject
        .slider_like(&["browouterupl", "eyebrowsleftexternup", "brow"])
        .unwrap_or(smile);
    let sliders = [smile, brow];
    let pins = sliders.map(|slider| subject.best_pin(|v| subject.delta(slider, v).length()));
    Edits {
        pins,
        ways: [0, 1].map(|k| EXTREMITY * subject.delta(sliders[k], pins[k])),
    }
}

fn edit(subject: &Subject<'_>, edits: &Edits, method: &Method) -> Result<Outcome, ReproduceError> {
    let rest = subject.model.rig.neutral().positions();
    let [mouth, brow] = edits.pins;
    let first = subject.drag(&[], &[mouth], &edits.ways[..1], method)?;
    let between = subject.model.rig.evaluate(&first.weights);
    let second = subject.drag(&first.weights, &[brow], &edits.ways[1..], method)?;
    let far = |from: &[DVec3], pose: &Pose, pin: u32| -> Result<f64, ReproduceError> {
        let moved = subject.motion(from, &pose.weights);
        Ok(subject
            .far_from(&[pin])?
            .iter()
            .map(|&v| moved[v as usize])
            .fold(0.0, f64::max))
    };
    let far = [far(rest, &first, mouth)?, far(&between, &second, brow)?];
    let starts = [rest[mouth as usize], between[brow as usize]];
    Ok(Outcome {
        label: method.label.clone(),
        poses: [first, second],
        far,
        starts,
    })
}

fn second_error(outcome: &Outcome) -> f64 {
    let way = outcome.poses[1].pins[0].goal.distance(outcome.starts[1]);
    outcome.poses[1].pins[0].error / way.max(f64::MIN_POSITIVE)
}

fn first_error(outcome: &Outcome) -> f64 {
    let way = outcome.poses[0].pins[0].goal.distance(outcome.starts[0]);
    outcome.poses[0].pins[0].error / way.max(f64::MIN_POSITIVE)
}

fn table(subject: &Subject<'_>, outcomes: &[Outcome]) -> Table {
    let caption = format!(
        "{}: pin errors in % of the way; sliders away from zero by more than 0.02; the range of weights after both; and the largest motion \
         of skin farther from the pin than an eighth of the face, in % of the face's diagonal.",
        subject.name()
    );
    let header = [
        "method",
        "mouth error, %",
        "brow error, %",
        "sliders, mouth",
        "sliders, both",
        "least",
        "greatest",
        "far, mouth edit",
        "far, brow edit",
    ];
    let mut table = Table::new(caption, header);
    for column in [3, 4, 7, 8] {
        table = table.with_best(column, Best::Least);
    }
    for outcome in outcomes {
        let weights = &outcome.poses[1].weights;
        let errors = [first_error(outcome), second_error(outcome)].map(percent);
        let counts = [0, 1].map(|k| outcome.poses[k].active_sliders().to_string());
        let range = [
            least(weights.iter().copied()),
            greatest(weights.iter().copied()),
        ]
        .map(|w| format!("{w:.2}"));
        let far = outcome.far.map(|moved| percent(moved / subject.size));
        table.push(
            [outcome.label.clone()]
                .into_iter()
                .chain(errors)
                .chain(counts)
                .chain(range)
                .chain(far),
        );
    }
    table
}

fn faces(
    subject: &Subject<'_>,
    edits: &Edits,
    outcomes: &[Outcome],
) -> Result<Image, ReproduceError> {
    let (mut sheet, portraits) = (
        ContactSheet::new("", outcomes.len()),
        Portraits::new(subject, outcomes.len()),
    );
    for outcome in outcomes {
        // The mouth's pin has been let go; it shows where the second edit left it.
        let placed = subject.model.rig.evaluate(&outcome.poses[1].weights)[edits.pins[0] as usize];
        let mouth = Held {
            from: outcome.starts[0],
            goal: outcome.poses[0].pins[0].goal,
            reached: placed,
        };
        let brow = Held::new(outcome.starts[1], &outcome.poses[1].pins[0]);
        sheet.push(
            portraits.pose(&outcome.poses[1].weights, &[mouth, brow])?,
            outcome.label.as_str(),
        );
    }
    Ok(sheet.compose()?)
}

fn bars(subject: &Subject<'_>, outcomes: &[Outcome]) -> Plot {
    let compared: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| !outcome.label.contains("clipped"))
        .collect();
    let names = subject.slider_names();
    let active = |k: usize| {
        compared
            .iter()
            .any(|outcome| outcome.poses[1].weights[k].abs() > Pose::ACTIVE)
    };
    let shown: Vec<usize> = (0..names.len()).filter(|&k| active(k)).collect();
    let axis = Axis::categories("", shown.iter().map(|&k| shortened(names[k])));
    let plot = Plot::new(
        format!("Weights after both edits, {}", subject.name()),
        axis,
        Axis::linear("weight"),
    )
    .with_size([1130, 340]);
    compared
        .iter()
        .fold(plot.with_rule(1.0, "limit"), |plot, outcome| {
            plot.with_series(Series::bars(
                outcome.label.as_str(),
                shown.iter().map(|&k| outcome.poses[1].weights[k]),
            ))
        })
}
