//! Figures 3.10 to 3.14: localization, with an edit of the mouth and one of the brow.

use pliant_mesh::glam::DVec3;
use pliant_rig::{Localized, Pose, Range, Tikhonov};
use pliant_view::{ContactSheet, Image};

use super::ReproduceError;
use super::methods::{Method, bounded};
use super::numerals::{file_stem, greatest, least, percent, rounded, row, shortened};
use super::pictures::{PinMarks, Portraits};
use super::subject::Subject;
use crate::page::{Axis, Best, Plot, Section, Series, Table};

/// The drags go beyond the reach of a full slider, as in the figures.
const EXTREMITY: f64 = 1.3;

/// Two edits, one after the other.
struct Edits {
    pins: [u32; 2],
    /// Relative to the positions of the pins when they are pressed.
    displacements: [DVec3; 2],
}

/// The result of one method.
struct Outcome {
    label: String,
    poses: [Pose; 2],
    /// The largest motion of far skin with each edit.
    far: [f64; 2],
    starts: [DVec3; 2],
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Localization",
        "The thesis drags a mouth, then a brow. Without localization almost every slider gets a \
         weight, and the second edit moves the mouth and the other brow (figure 3.10). With it \
         most weights stay at zero, and the rest of the face does not move (figure 3.11). Both \
         leave the range from 0 to 1 and are then clipped (figures 3.12 to 3.14). Here a corner \
         of the mouth is pulled up and out, then the outer brow up, each a third beyond the reach \
         of its own slider.",
    );

    let mut all_outcomes = Vec::new();
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
            "{}: after both edits. White: the start of a pin, blue: its goal, red: where it is.",
            subject.name()
        );

        section.wide(
            &format!("localization-{name}.png"),
            &caption,
            &faces(subject, &edits, &outcomes)?,
        )?;
        section.plot(
            bars(subject, &outcomes),
            "Sliders above 0.02 for any method, with free \
            weights (figure 3.12) and inside limits.",
        );

        let ours = outcomes.last().expect("box is last");
        section.figure(
            &format!("{}, sliders of box", subject.name()),
            ours.poses[1].active_sliders().to_string(),
        );
        all_outcomes.push((subject.name(), outcomes));
    }

    section.paragraph(verdict(&all_outcomes));
    Ok(section)
}

fn verdict(all: &[(&str, Vec<Outcome>)]) -> String {
    let sentences: Vec<String> = all
        .iter()
        .map(|(name, outcomes)| verdict_on_model(name, outcomes))
        .collect();
    format!(
        "Localization depends on its radius. At 0.5 % of the size of the rig it removes few \
         targets of a head, whose targets are local already, and the edits hardly differ. Sliders \
         that would move the pin in the opposite direction still get negative weights, and \
         clipping those misses the goal. {}",
        sentences.join(" ")
    )
}

fn verdict_on_model(name: &str, outcomes: &[Outcome]) -> String {
    let [free, .., ours] = outcomes else {
        return String::new();
    };
    let clipped = outcomes
        .iter()
        .find(|outcome| outcome.label == "localized, clipped")
        .map(|outcome| rounded(100.0 * second_error(outcome)))
        .unwrap_or_default();
    format!(
        "{name}: {} sliders without localization, {} with box; the brow misses its goal by \
         {clipped} % of its drag with localization clipped, by {} % with box.",
        free.poses[1].active_sliders(),
        ours.poses[1].active_sliders(),
        rounded(100.0 * second_error(ours))
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
    // Models name their targets differently; the first matching word decides.
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
        displacements: [0, 1].map(|k| EXTREMITY * subject.delta(sliders[k], pins[k])),
    }
}

fn edit(subject: &Subject<'_>, edits: &Edits, method: &Method) -> Result<Outcome, ReproduceError> {
    let rest = subject.model.rig.neutral().positions();
    let [mouth, brow] = edits.pins;
    // The second edit starts from the weights of the first, as in the thesis.
    let first = subject.drag(&[], &[mouth], &edits.displacements[..1], method)?;
    let between = subject.model.rig.evaluate(&first.weights);
    let second = subject.drag(&first.weights, &[brow], &edits.displacements[1..], method)?;
    let far = [
        far_motion(subject, rest, &first, mouth)?,
        far_motion(subject, &between, &second, brow)?,
    ];
    let starts = [rest[mouth as usize], between[brow as usize]];
    Ok(Outcome {
        label: method.label.clone(),
        poses: [first, second],
        far,
        starts,
    })
}

/// The largest motion of skin that is far from a pin.
fn far_motion(
    subject: &Subject<'_>,
    from: &[DVec3],
    pose: &Pose,
    pin: u32,
) -> Result<f64, ReproduceError> {
    let moved = subject.motion(from, &pose.weights);
    let far = subject.far_from(&[pin])?;
    Ok(far.iter().map(|&v| moved[v as usize]).fold(0.0, f64::max))
}

fn second_error(outcome: &Outcome) -> f64 {
    relative_error(outcome, 1)
}

/// The pin error of an edit relative to its drag.
fn relative_error(outcome: &Outcome, edit: usize) -> f64 {
    let pin = &outcome.poses[edit].pins[0];
    let drag = pin.goal.distance(outcome.starts[edit]);
    pin.error / drag.max(f64::MIN_POSITIVE)
}

fn table(subject: &Subject<'_>, outcomes: &[Outcome]) -> Table {
    let caption = format!(
        "{}: pin errors in % of the drag; sliders with a weight beyond 0.02; the range of weights \
         after both edits; and the largest motion of skin farther from the pin than an eighth of \
         the face, in % of the face's diagonal.",
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
        let errors = [0, 1].map(|edit| percent(relative_error(outcome, edit)));
        let counts = [0, 1].map(|edit| outcome.poses[edit].active_sliders().to_string());
        let range = [
            least(weights.iter().copied()),
            greatest(weights.iter().copied()),
        ]
        .map(|weight| format!("{weight:.2}"));
        let far = outcome.far.map(|moved| percent(moved / subject.size));

        let cells = errors.into_iter().chain(counts).chain(range).chain(far);
        table.push(row(&outcome.label, cells));
    }

    table
}

fn faces(
    subject: &Subject<'_>,
    edits: &Edits,
    outcomes: &[Outcome],
) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", outcomes.len());
    let portraits = Portraits::new(subject, outcomes.len());

    for outcome in outcomes {
        // The pin of the mouth has been released; the mark shows its position after both edits.
        let placed = subject.model.rig.evaluate(&outcome.poses[1].weights)[edits.pins[0] as usize];
        let mouth = PinMarks {
            from: outcome.starts[0],
            goal: outcome.poses[0].pins[0].goal,
            reached: placed,
        };

        let brow = PinMarks::new(outcome.starts[1], &outcome.poses[1].pins[0]);
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
    // Sliders that no compared method uses would only widen the plot.
    let active = |k: usize| {
        compared
            .iter()
            .any(|outcome| outcome.poses[1].weights[k].abs() > Pose::ACTIVE)
    };

    let shown: Vec<usize> = (0..names.len()).filter(|&k| active(k)).collect();
    let axis = Axis::categories("", shown.iter().map(|&k| shortened(names[k])));
    let mut plot = Plot::new(
        format!("Weights after both edits, {}", subject.name()),
        axis,
        Axis::linear("weight"),
    )
    .with_size([1130, 340])
    .with_rule(1.0, "limit");

    for outcome in compared {
        let heights = shown.iter().map(|&k| outcome.poses[1].weights[k]);
        plot = plot.with_series(Series::bars(outcome.label.as_str(), heights));
    }
    plot
}
