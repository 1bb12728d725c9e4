//! Table 1: time of training and of one frame at the paper's sizes.

use pliant_learn::{
    ControlPoints, DetailHeights, DetailMode, DetailOptions, DetailedExamples, Examples,
    LearnOptions, Method, Model,
};
use pliant_mesh::LoopSubdivision;
use pliant_mesh::glam::DVec3;
use web_time::Instant;

use super::numerals::{gap, grouped, least, rounded};
use super::{Models, ReproduceError, Set, failed};
use crate::page::{Section, Table};
use crate::reproduce::milliseconds;
use crate::subjects::hand;

/// Runs of one frame; the fastest is reported, since other processes share the machine.
const RUNS: usize = 5;

/// A row of *Huang et al. 2012*, table 1, with the vertices of its table 2; Core 2 Quad at 2.83 GHz.
struct Published {
    model: &'static str,
    vertices: [usize; 2],
    points: usize,
    bones: usize,
    training_minutes: [f64; 2],
    frame_secs: [f64; 2],
}

const PUBLISHED: [Published; 3] = [
    Published {
        model: "Hand-I-K",
        vertices: [49_000, 195_000],
        points: 17,
        bones: 1355,
        training_minutes: [3.0, 19.0],
        frame_secs: [0.6, 3.4],
    },
    Published {
        model: "Face-I",
        vertices: [17_000, 70_000],
        points: 26,
        bones: 505,
        training_minutes: [1.0, 6.0],
        frame_secs: [0.2, 1.7],
    },
    Published {
        model: "Dinosaur",
        vertices: [34_000, 136_000],
        points: 24,
        bones: 463,
        training_minutes: [1.0, 11.0],
        frame_secs: [0.2, 2.5],
    },
];

/// Times in milliseconds.
struct HandTimings {
    vertices: [usize; 2],
    points: usize,
    bones: usize,
    find_bones: f64,
    train: [f64; 2],
    /// Regression, translations and skin; subdivision, normals and heights.
    frame: [f64; 2],
    /// The sum of heights alone.
    heights: f64,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times",
        "Table 1: the base is the hand without creases, subdivided to about the vertex counts of \
         the paper; the detail is its creases on one further level of subdivision. The method is \
         that of Huang et al. 2012. The paper does not give the time to find the bones.",
    );

    let goals = models
        .hand
        .control
        .at(models.hand.truth(models.hand.frame("grab")));

    let measured = [
        measure(&models.hand, 0, 505, &goals)?,
        measure(&models.hand, 1, 1355, &goals)?,
    ];

    for row in &measured {
        let whole = rounded(row.frame.iter().sum());
        section.figure(
            &format!("one frame, {} vertices", grouped(row.vertices[1])),
            format!("{whole} ms"),
        );
    }

    section.table(table(&measured));
    Ok(section)
}

/// The hand subdivided `levels` times with `bones` bones, and details one level above.
fn measure(
    set: &Set,
    levels: usize,
    bones: usize,
    goals: &[DVec3],
) -> Result<HandTimings, ReproduceError> {
    let smooth = pliant_specimens::load("specimen:hand:smooth")?.clip()?;
    let smooth = Examples::from_clip(&smooth).map_err(failed("hand"))?;
    let smooth = refined(&smooth, levels)?;
    let folded = refined(&set.examples, levels + 1)?;
    // Subdivision keeps the numbers of the vertices of the coarse mesh.
    let control = hand::control(smooth.reference()).map_err(failed("hand"))?;

    // Base and detail are trained and timed separately, as in the table.
    let base = train_base(&smooth, &control, bones)?;
    let poses = (0..folded.count()).map(|k| folded.pose(k));
    let detailed = DetailedExamples::from_poses(smooth, 1, poses).map_err(failed("hand"))?;
    let options = DetailOptions::default().with_mode(DetailMode::Direct);
    let began = Instant::now();
    let model = base
        .model
        .with_detail(detailed, &options)
        .map_err(failed("hand"))?;
    let train_detail_ms = milliseconds(began);

    let (frame, heights) = time_frame(&model, goals)?;
    let detail = model.detail().expect("the model has detail");
    Ok(HandTimings {
        vertices: [
            model.examples().reference().vertex_count(),
            detail.mesh().vertex_count(),
        ],
        points: control.count(),
        bones: model.bone_count(),
        find_bones: base.find_bones_ms,
        train: [base.train_ms, train_detail_ms],
        frame,
        heights,
    })
}

/// A model without detail, and the time it took.
struct TimedModel {
    model: Model,
    find_bones_ms: f64,
    train_ms: f64,
}

/// Trains the base. Loading a stored model repeats all work but finding the bones, so the
/// difference of both times is that of finding them.
fn train_base(
    smooth: &Examples,
    control: &ControlPoints,
    bones: usize,
) -> Result<TimedModel, ReproduceError> {
    let options = LearnOptions::default()
        .with_method(Method::Huang2012)
        .with_bones(bones);
    let began = Instant::now();
    let model = Model::train(smooth.clone(), control.clone(), &options, &());
    let model = model.map_err(failed("hand"))?;
    let both_ms = milliseconds(began);

    let bytes = model.to_bytes();
    let began = Instant::now();
    let model = Model::from_bytes(&bytes).map_err(failed("hand"))?;
    let train_ms = milliseconds(began);
    Ok(TimedModel {
        model,
        find_bones_ms: (both_ms - train_ms).max(0.0),
        train_ms,
    })
}

/// The fastest times of base and detail of a frame, and of the sum of heights alone.
fn time_frame(model: &Model, goals: &[DVec3]) -> Result<([f64; 2], f64), ReproduceError> {
    let driver = model.driver();
    let layer = model.detail().expect("the model has detail");
    let mut heights = DetailHeights::default();

    let mut frame = [f64::INFINITY; 2];
    let mut sums = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        let (shares, base) = driver.detail_weights(goals).map_err(failed("hand"))?;
        frame[0] = frame[0].min(milliseconds(began));

        let began = Instant::now();
        layer.sum_heights(&shares, &mut heights);
        sums.push(milliseconds(began));
        std::hint::black_box(layer.displace(&base, &heights));
        frame[1] = frame[1].min(milliseconds(began));
    }

    Ok((frame, least(sums)))
}

/// The examples after `levels` subdivisions.
fn refined(examples: &Examples, levels: usize) -> Result<Examples, ReproduceError> {
    let finer = LoopSubdivision::levels(examples.reference(), levels);
    let finer = finer.map_err(|source| ReproduceError::Mesh {
        model: "hand".to_owned(),
        source,
    })?;
    let frames = (1..examples.count())
        .map(|k| finer.apply(examples.pose(k)))
        .collect();
    Examples::new(finer.mesh().clone(), frames, examples.names().to_vec()).map_err(failed("hand"))
}

fn table(measured: &[HandTimings]) -> Table {
    let caption = "Table 1: the paper's times in minutes and seconds, ours on this machine in \
        seconds and milliseconds. The detail of a frame consists of subdivision, normals and \
        heights; the last column is the heights alone.";
    let header = [
        "model",
        "vertices",
        "points",
        "bones",
        "find bones",
        "train bones",
        "train details",
        "frame: base",
        "frame: details",
        "heights",
    ];

    let mut table = Table::new(caption, header);
    let sizes = |[low, high]: [usize; 2]| format!("{} → {}", grouped(low), grouped(high));

    // The paper gives minutes and seconds; ours are seconds and milliseconds.
    for row in &PUBLISHED {
        let [train_bones, train_details] = row
            .training_minutes
            .map(|minutes| format!("{} min", rounded(minutes)));
        let [base, details] = row.frame_secs.map(|secs| format!("{} s", rounded(secs)));

        table.push_quoted([
            format!("{}, 2012", row.model),
            sizes(row.vertices),
            row.points.to_string(),
            grouped(row.bones),
            gap(),
            train_bones,
            train_details,
            base,
            details,
            gap(),
        ]);
    }

    for row in measured {
        let [find, train_bones, train_details] = [row.find_bones, row.train[0], row.train[1]]
            .map(|ms| format!("{} s", rounded(1e-3 * ms)));
        let [base, details, heights] =
            [row.frame[0], row.frame[1], row.heights].map(|ms| format!("{} ms", rounded(ms)));

        table.push([
            "hand".to_owned(),
            sizes(row.vertices),
            row.points.to_string(),
            grouped(row.bones),
            find,
            train_bones,
            train_details,
            base,
            details,
            heights,
        ]);
    }

    table
}
