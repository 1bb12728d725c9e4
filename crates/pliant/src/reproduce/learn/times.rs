//! Table 1: what training and one frame cost at the paper's sizes.

use pliant_learn::{
    ControlPoints, DetailHeights, DetailMode, DetailOptions, DetailedExamples, Examples,
    LearnOptions, Method, Model,
};
use pliant_mesh::LoopSubdivision;
use pliant_mesh::glam::DVec3;
use web_time::Instant;

use super::numerals::{grouped, least, rounded};
use super::{Cast, ReproduceError, Set, failed};
use crate::hand_skeleton;
use crate::page::{Section, Table};
use crate::transfer_job::milliseconds;

/// Runs of one frame, of which the fastest counts: others share the machine.
const RUNS: usize = 5;

/// A row of *paper*, table 1, with the vertices of its table 2; on a Core 2 Quad of 2.83 GHz.
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

/// What was measured, in milliseconds.
struct Measured {
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

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times",
        "Table 1 of the paper: the hand without creases is the base, subdivided until it has about as many vertices as the paper's, and its \
         creases, once more subdivided, are the details. The method is the paper's. The paper does not say what finding the bones took.",
    );
    let goals = cast
        .hand
        .control
        .at(cast.hand.truth(cast.hand.frame("grab")));
    let measured = [
        measure(&cast.hand, 0, 505, &goals)?,
        measure(&cast.hand, 1, 1355, &goals)?,
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
) -> Result<Measured, ReproduceError> {
    let hand = failed("hand");
    let smooth = refined(
        &Examples::from_clip(&crate::load("specimen:hand:smooth")?.clip()?).map_err(&hand)?,
        levels,
    )?;
    let folded = refined(&set.examples, levels + 1)?;
    // Vertices of a coarser mesh keep their numbers.
    let control: ControlPoints = hand_skeleton::control(smooth.reference()).map_err(&hand)?;
    let options = LearnOptions::default()
        .with_method(Method::Paper)
        .with_bones(bones);
    let began = Instant::now();
    let model = Model::train(smooth.clone(), control.clone(), &options, &()).map_err(&hand)?;
    let both = milliseconds(began);
    let bytes = model.to_bytes();
    let began = Instant::now();
    let model = Model::from_bytes(&bytes).map_err(&hand)?;
    let train_bones = milliseconds(began);
    let poses = (0..folded.count()).map(|k| folded.pose(k));
    let detailed = DetailedExamples::from_poses(smooth, 1, poses).map_err(&hand)?;
    let began = Instant::now();
    let model = model
        .with_detail(
            detailed,
            &DetailOptions::default().with_mode(DetailMode::Direct),
        )
        .map_err(&hand)?;
    let train_details = milliseconds(began);
    let (driver, layer) = (
        model.driver(),
        model.detail().expect("it was given details"),
    );
    let (mut frame, mut heights) = ([f64::INFINITY; 2], DetailHeights::default());
    let mut sums = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        let (shares, base) = driver.detail_shares(goals).map_err(&hand)?;
        frame[0] = frame[0].min(milliseconds(began));
        let began = Instant::now();
        layer.sum_heights(&shares, &mut heights);
        sums.push(milliseconds(began));
        std::hint::black_box(layer.raise(&base, &heights));
        frame[1] = frame[1].min(milliseconds(began));
    }
    Ok(Measured {
        vertices: [
            model.examples().reference().vertex_count(),
            layer.mesh().vertex_count(),
        ],
        points: control.count(),
        bones: model.bone_count(),
        find_bones: (both - train_bones).max(0.0),
        train: [train_bones, train_details],
        frame,
        heights: least(sums),
    })
}

/// The examples, subdivided some times.
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

fn table(measured: &[Measured]) -> Table {
    let caption = "Table 1: the paper's in minutes and seconds, ours on this machine in seconds and milliseconds. Details of a frame are \
                   subdivision, normals and heights; heights alone are the last column.";
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
    let gap = || "–".to_owned();
    let sizes = |[low, high]: [usize; 2]| format!("{} → {}", grouped(low), grouped(high));
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
