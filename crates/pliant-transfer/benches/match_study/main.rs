//! Errors of correspondences against known answers, on tuning pairs and on test pairs.
//!
//! `cargo test -p pliant-transfer --bench match_study -- tuning|test|all` prints a table for each half;
//! `--markers 20,0` and `--only NAME` select, `--export FOLDER` writes pairs for
//! `benches/peers/nricp_peers.py`, `--set NAME=VALUE,…` changes settings of the registration,
//! `--shapes FROM,TO,MARKERS` compares shapes between two identities of the ICT face kit,
//! `--mask FROM,TO,MARKERS` puts a face mask on a whole head. With
//! PLIANT_DATA set, the shared meshes join the built-in animals.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod measures;
mod pairs;
mod shapes;

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::npy;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, Markers, RegistrationOptions,
};

use measures::{log_correlation, map_error, registered_error};
use pairs::{Half, Pair};

/// Numbers of markers; the last is by shape alone.
const COUNTS: [usize; 5] = [55, 20, 8, 5, 0];

/// What the command line asks for.
struct Arguments {
    halves: Vec<Half>,
    counts: Vec<usize>,
    only: Option<String>,
    export: Option<PathBuf>,
    shapes: Vec<usize>,
    mask: Vec<usize>,
    options: CorrespondenceOptions,
}

impl Arguments {
    /// `None` if no half is named: cargo runs every bench in its tests.
    fn parse() -> Option<Self> {
        let mut arguments = Self {
            halves: Vec::new(),
            counts: COUNTS.to_vec(),
            only: None,
            export: None,
            shapes: Vec::new(),
            mask: Vec::new(),
            options: CorrespondenceOptions::default(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value after the option");
            match word.as_str() {
                "tuning" => arguments.halves.push(Half::Tuning),
                "test" => arguments.halves.push(Half::Test),
                "all" => arguments.halves.extend([Half::Tuning, Half::Test]),
                "--markers" => arguments.counts = numbers(&value()),
                "--only" => arguments.only = Some(value()),
                "--shapes" => arguments.shapes = numbers(&value()),
                "--mask" => arguments.mask = numbers(&value()),
                "--export" => arguments.export = Some(value().into()),
                "--set" => arguments.options = with_settings(arguments.options, &value()),
                _ => {}
            }
        }
        let is_asked = !arguments.halves.is_empty()
            || !arguments.shapes.is_empty()
            || !arguments.mask.is_empty();
        is_asked.then_some(arguments)
    }

    fn wants(&self, pair: &Pair) -> bool {
        self.halves.contains(&pair.half)
            && self
                .only
                .as_ref()
                .is_none_or(|names| names.split(',').any(|name| name == pair.name))
    }
}

/// Numbers between commas.
fn numbers(text: &str) -> Vec<usize> {
    text.split(',')
        .map(|n| n.parse().expect("a number"))
        .collect()
}

/// Settings such as `steps=15,pull=0.5`.
fn with_settings(options: CorrespondenceOptions, text: &str) -> CorrespondenceOptions {
    let mut registration = RegistrationOptions::for_markers(20);
    let mut options = options;
    for setting in text.split(',') {
        let (name, value) = setting.split_once('=').expect("NAME=VALUE");
        let numbers: Vec<f64> = value.split(':').filter_map(|n| n.parse().ok()).collect();
        registration = match name {
            "steps" => registration.with_steps(numbers[0] as usize),
            "lengths" => registration.with_lengths(numbers[0], numbers[1]),
            "facing" => registration.with_facing(numbers[0]),
            "pull" => registration.with_pull_from_target(numbers[0]),
            "sliding" => registration.with_sliding(numbers[0]),
            "shares" => registration.with_marker_shares(numbers[0], numbers[1]),
            "gaps" => registration.with_gaps(numbers[0] > 0.0),
            "start" => registration.with_marker_start(numbers[0] > 0.0),
            "method" => {
                options = options.with_method(match value {
                    "warp" => CorrespondenceMethod::Wang2008,
                    "registration" => CorrespondenceMethod::Registration,
                    _ => CorrespondenceMethod::Auto,
                });
                registration
            }
            _ => panic!("no setting '{name}'"),
        };
    }
    options.with_registration(registration)
}

fn main() {
    let Some(arguments) = Arguments::parse() else {
        println!("name a half: tuning, test or all");
        return;
    };
    let data = std::env::var_os("PLIANT_DATA").map(PathBuf::from);
    if let (Some(data), [from, to, markers]) = (&data, arguments.shapes.as_slice()) {
        shapes::study(data, [*from, *to], *markers, &arguments.options);
        return;
    }
    if let (Some(data), [from, to, markers]) = (&data, arguments.mask.as_slice()) {
        shapes::mask_study(data, [*from, *to], *markers);
        return;
    }
    let pairs = pairs::pairs(data.as_deref());

    for &half in &arguments.halves {
        println!(
            "{half:?}: error of the registered source | of the map | seconds, by markers {:?}",
            arguments.counts
        );
        let mut rows = Vec::new();
        for pair in pairs
            .iter()
            .filter(|pair| pair.half == half && arguments.wants(pair))
        {
            rows.push(study(pair, &arguments));
        }
        summarize(&rows, &arguments.counts);
    }
}

/// The errors of one pair with one number of markers.
#[derive(Clone, Copy)]
struct Trial {
    registered: f64,
    map: f64,
    seconds: f64,
    predicted: f64,
}

fn study(pair: &Pair, arguments: &Arguments) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &count in &arguments.counts {
        let markers = (count > 0).then(|| pair.markers.spread_over(&pair.source, count));
        if let Some(folder) = &arguments.export {
            export(folder, pair, markers.as_ref());
        }

        let start = Instant::now();
        let found = Correspondence::find(
            &pair.source,
            &pair.target,
            markers.as_ref(),
            &arguments.options,
        )
        .unwrap_or_else(|error| panic!("{}: {error}", pair.name));
        let seconds = start.elapsed().as_secs_f64();
        let registered = registered_error(pair, markers.as_ref(), &found.source_on_target);
        println!(
            "row {} {count} {registered:.5} {:.5} {:.6} {:.4} {:.4} {:.4} {}",
            pair.name.replace(' ', "-"),
            map_error(pair, &found.map),
            found.report.residual,
            found.report.distortion,
            found.report.lost_share(),
            measures::stretch(&pair.source, &found.source_on_target),
            found.method.name(),
        );
        trials.push(Trial {
            registered,
            map: map_error(pair, &found.map),
            seconds,
            predicted: found.report.residual,
        });
    }

    let column = |value: fn(&Trial) -> f64, digits: usize| {
        trials
            .iter()
            .map(|t| format!("{:.*}", digits, value(t)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    println!(
        "{:14} {:6} {:6} | {} | {} | {}",
        pair.name,
        pair.source.triangles().len(),
        pair.target.triangles().len(),
        column(|t| t.registered, 4),
        column(|t| t.map, 4),
        column(|t| t.seconds, 2),
    );
    trials
}

/// Geometric means over the pairs, and how well the report predicts the error.
fn summarize(rows: &[Vec<Trial>], counts: &[usize]) {
    let mean = |k: usize, value: fn(&Trial) -> f64| {
        let logs: Vec<f64> = rows
            .iter()
            .map(|row| value(&row[k]))
            .filter(|v| v.is_finite())
            .map(f64::ln)
            .collect();
        (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
    };
    let line = |value: fn(&Trial) -> f64| {
        (0..counts.len())
            .map(|k| format!("{:.4}", mean(k, value)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    println!(
        "{:28} | {} | {} | {}",
        "geometric mean",
        line(|t| t.registered),
        line(|t| t.map),
        line(|t| t.seconds)
    );

    let pairs: Vec<(f64, f64)> = rows
        .iter()
        .flatten()
        .map(|t| (t.predicted, t.registered))
        .collect();
    println!(
        "correlation of the report with the error: {:.2}",
        log_correlation(&pairs)
    );
}

/// Meshes, known places and markers for another program.
fn export(folder: &Path, pair: &Pair, markers: Option<&Markers>) {
    let folder = folder.join(pair.name.replace(' ', "-"));
    std::fs::create_dir_all(&folder).expect("a folder that can be written to");
    let write = |name: &str, bytes: Vec<u8>| {
        std::fs::write(folder.join(format!("{name}.npy")), bytes).expect("a file");
    };
    let points = |points: &[DVec3]| npy::write_points(&[points.len()], points);
    let mesh = |name: &str, mesh: &Mesh| {
        write(name, points(mesh.positions()));
        let corners = mesh.triangles().iter().flatten().map(|&v| i64::from(v));
        write(
            &format!("{name}-triangles"),
            npy::write_i64(&[mesh.triangles().len(), 3], corners.collect::<Vec<_>>()),
        );
    };
    mesh("source", &pair.source);
    mesh("target", &pair.target);

    let (vertices, goals): (Vec<u32>, Vec<DVec3>) = pair.goals.iter().copied().unzip();
    let count = vertices.len();
    write(
        "known",
        npy::write_i64(&[count], vertices.into_iter().map(i64::from)),
    );
    write("goals", points(&goals));
    if let Some(markers) = markers {
        let count = markers.pairs().len();
        let ends = markers
            .pairs()
            .iter()
            .flat_map(|&(a, b)| [i64::from(a), i64::from(b)]);
        write(
            &format!("markers-{count}"),
            npy::write_i64(&[count, 2], ends.collect::<Vec<_>>()),
        );
    }
}
