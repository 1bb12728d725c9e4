//! `pliant reproduce`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a temporary path in UTF-8")
}

/// The files that a page shows or links to.
fn named_files(html: &str) -> Vec<String> {
    let after = |start: &str| {
        html.split(start)
            .skip(1)
            .filter_map(|rest| rest.split('"').next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    after("src=\"")
        .into_iter()
        .chain(after("href=\""))
        .filter(|file| !file.starts_with('#'))
        .collect()
}

/// The page on the built-in models, made once with a data folder that holds no set, and the folder
/// it is in.
fn made() -> &'static (PathBuf, Value) {
    static MADE: OnceLock<(PathBuf, Value)> = OnceLock::new();
    MADE.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce");
        let data = place.join("sets");
        let out = place.join("deep").join("papers");
        drop(std::fs::remove_dir_all(&place)); // Of an earlier run, if there was one.
        std::fs::create_dir_all(&data).expect("a folder among the build's");

        let output = pliant(&[
            "reproduce",
            "pose",
            "blend",
            "transfer",
            "--data",
            shown(&data),
            "--out",
            shown(&out),
            "--json",
            "--quiet",
        ]);

        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );

        let object = serde_json::from_slice(&output.stdout).expect("one JSON object on stdout");
        (out, object)
    })
}

/// The first table whose caption holds `words`.
fn table(words: &str) -> &'static Value {
    let tables = made().1["tables"].as_array().expect("tables");
    let found = tables.iter().find(|table| {
        table["caption"]
            .as_str()
            .is_some_and(|caption| caption.contains(words))
    });
    found.unwrap_or_else(|| panic!("a table about '{words}'"))
}

/// The number in the column `column` of the row that begins with `row`.
fn number(table: &Value, row: &str, column: usize) -> f64 {
    let rows = table["rows"].as_array().into_iter().flatten();
    let cells = rows
        .filter_map(|cells| cells.as_array())
        .find(|cells| cells[0] == row)
        .unwrap_or_else(|| panic!("a row of {row}"));
    let cell = cells[column].as_str().expect("cells are text");
    cell.replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("a number, not '{cell}'"))
}

#[test]
fn every_page_and_its_files_are_written() {
    let (out, object) = made();
    let names: Vec<&Value> = object["pages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|page| &page["name"])
        .collect();

    assert_eq!(names, [&json!("pose"), &json!("blend"), &json!("transfer")]);
    assert!(
        object["figures"]
            .as_array()
            .is_some_and(|figures| !figures.is_empty()),
        "{object}"
    );

    for page in [
        out.clone(),
        out.join("pose"),
        out.join("blend"),
        out.join("transfer"),
    ]
    .map(|folder| folder.join("index.html"))
    {
        let html = std::fs::read_to_string(&page).expect("a page");
        let files = named_files(&html);
        assert!(!files.is_empty() && html.trim_end().ends_with("</html>"));

        for file in files {
            assert!(
                page.with_file_name(&file).is_file(),
                "{file}, named by {}",
                page.display()
            );
        }
    }
}

#[test]
fn the_values_of_cetinaslan2016_are_beside_ours() {
    let tables = made().1["tables"].as_array().expect("tables");
    for value in ["6,720", "9,562", "11,926", "19,000", "built-in head"] {
        let has = |table: &Value| {
            table["rows"]
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(|row| row.as_array())
                .flatten()
                .any(|cell| cell == value)
        };
        assert!(tables.iter().any(has), "{value}");
    }
}

#[test]
fn every_section_of_a_page_has_a_figure() {
    for (page, count) in [("pose", 10), ("blend", 7), ("transfer", 6)] {
        let figures = made().1["figures"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|figure| figure["page"] == page);
        let mut sections: Vec<&str> = figures
            .filter_map(|figure| figure["section"].as_str())
            .collect();

        sections.dedup();
        assert_eq!(sections.len(), count, "{page}: {sections:?}");
    }
}

#[test]
fn transfer_times_are_beside_those_of_wang2008() {
    let times = table("Table 1 in milliseconds");
    let rows: Vec<&Vec<Value>> = times["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .collect();

    let size = |row: &[Value]| {
        row[1]
            .as_str()
            .map(|cell| cell.replace(',', ""))
            .and_then(|cell| cell.parse::<usize>().ok())
            .expect("a count")
    };

    assert_eq!(
        rows.len(),
        8,
        "four models of the paper, and ours beside each"
    );

    for pair in rows.chunks(2) {
        let (published, ours) = (size(pair[0]), size(pair[1]));
        assert!(
            pair[0][0]
                .as_str()
                .is_some_and(|name| name.ends_with("2008"))
                && ours <= published
                && ours + 2 > published
        );
    }
}

#[test]
fn blend_steps_are_beside_those_of_ma2012_and_converge() {
    let times = table("Table I, mean of one step");
    let rows: Vec<&Vec<Value>> = times["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .collect();

    let size = |row: &[Value]| {
        row[1]
            .as_str()
            .and_then(|cell| cell.replace(',', "").parse::<f64>().ok())
            .expect("a count")
    };

    assert_eq!(
        rows.len(),
        10,
        "five shapes of the paper, and ours beside each"
    );

    for pair in rows.chunks(2) {
        assert!(
            (size(pair[1]) / size(pair[0]) - 1.0).abs() < 0.1,
            "{pair:?}"
        );
    }

    let figures = made().1["figures"].as_array().into_iter().flatten();
    let found = figures
        .filter(|figure| figure["name"] == "steps that did not converge")
        .map(|figure| &figure["value"]);

    assert_eq!(found.collect::<Vec<_>>(), [&json!("0")]);
}

#[test]
fn springs_keep_the_volume_that_a_linear_blend_loses() {
    let changes = table("The largest change on the way");
    for column in [1, 3] {
        assert!(number(changes, "lines", column) > 10.0);
        assert!(
            number(changes, "springs", column) < 2.0 && number(changes, "ARAP", column) < 2.0,
            "column {column}"
        );
    }
}

#[test]
fn no_vertex_is_inside_a_cylinder_that_a_free_bar_would_enter() {
    let inside = table("At the end of the way: vertices inside the cylinder");
    assert!(number(inside, "free", 1) > 0.0);
    assert_eq!(
        (
            number(inside, "ours", 1),
            number(inside, "published contact", 1)
        ),
        (0.0, 0.0)
    );
}

#[test]
fn an_anchored_blend_does_not_depend_on_the_position_of_its_target() {
    let held = table("Half way: the volume");
    assert!(number(held, "middle", 2) < 0.2 && number(held, "left end", 2) < 0.2);
    assert!(
        number(held, "marked", 2) > 1.0,
        "marked vertices move in straight lines"
    );
}

#[test]
fn a_region_is_refined_and_a_remeshed_tapir_moves_like_the_original() {
    let figure = |name: &str| {
        let figures = made().1["figures"].as_array().into_iter().flatten();
        let found = figures
            .filter(|figure| figure["page"] == "transfer")
            .find(|figure| figure["name"] == name);
        let value = found
            .and_then(|figure| figure["value"].as_str())
            .unwrap_or_else(|| panic!("a figure '{name}'"));

        value
            .split(' ')
            .next()
            .and_then(|number| number.parse::<f64>().ok())
            .expect("a number first")
    };

    assert!(
        figure("taken") > 0.0 && figure("taken") != figure("drawn on") && figure("blending") > 0.0
    );

    // In percent of the diagonal; half of the triangles of a smooth animal lose less than a
    // twentieth of a percent.
    for name in [
        "error, 40 markers",
        "error, 17 markers",
        "error, 8 markers",
        "error without markers",
    ] {
        assert!(figure(name) < 0.05, "{name}");
    }
}

#[test]
fn the_bounded_solver_recovers_poses_better_than_cetinaslan2016() {
    let errors = table("root mean square error of the weights");
    for pins in 1..=3 {
        let ours = number(errors, "box", pins);
        for method in ["pinv", "tikhonov", "localized", "transpose", "hybrid"] {
            let clipped = number(errors, &format!("{method}, clipped"), pins);
            assert!(
                ours < number(errors, method, pins) && ours < clipped,
                "{method}, {pins} pins: {ours} and {clipped}"
            );
        }
    }
}

#[test]
fn the_pseudo_inverse_reaches_pins_outside_the_limits_and_ours_almost_inside() {
    let drags = table("200 drags");
    let [error, least, greatest] = [1, 4, 5];
    assert_eq!(number(drags, "pinv", error), 0.0);
    assert!(number(drags, "pinv", least) < 0.0 || number(drags, "pinv", greatest) > 1.0);
    assert!(
        number(drags, "box", error) < 3.0
            && number(drags, "box", least) >= 0.0
            && number(drags, "box", greatest) <= 1.0
    );

    assert!(number(drags, "pinv, clipped", error) > number(drags, "box", error));
}

#[test]
fn a_limit_per_step_is_kept_and_relative_formulas_do_not_depend_on_units() {
    let jumps = table("largest change of a slider");
    assert!(number(jumps, "box in steps", 2) <= 0.05 && number(jumps, "box in steps", 4) <= 0.05);

    let units = table("formulas as published and relative ones");
    for method in ["tikhonov", "localized", "transpose", "hybrid", "box"] {
        assert_eq!(
            number(units, method, 4),
            number(units, method, 6),
            "{method}"
        );
    }

    assert!(
        number(units, "transpose", 3) > 1e6 && number(units, "localized", 1) == 0.0,
        "as published they do"
    );
}

#[test]
fn missing_data_sets_are_named() {
    let problems = made().1["problems"].to_string();
    assert!(
        [
            "ict-facekit",
            "makehuman-face",
            "facecap-head",
            "horse-camel",
            "horse-sequences",
            "elastic-cow",
            "samba"
        ]
        .iter()
        .all(|set| problems.contains(set)),
        "{problems}"
    );
}

#[test]
fn an_unknown_name_is_wrong_usage_and_the_names_are_listed() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let out = place.path().join("papers");
    let output = pliant(&["reproduce", "prose", "--out", shown(&out)]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();

    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("'prose'") && message.contains("pose") && !out.exists(),
        "{message}"
    );

    assert_eq!(
        pliant(&["reproduce", "pose"]).status.code(),
        Some(2),
        "--out is needed"
    );
}

#[test]
fn unreadable_data_and_unwritable_folders_are_named() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let file = place.path().join("file");
    std::fs::write(&file, "words").expect("a file in a temporary folder");

    let nowhere = place.path().join("nowhere");
    let out = place.path().join("papers");
    let under_a_file = file.join("papers");

    for (args, word) in [
        (
            ["reproduce", "--out", shown(&out), "--data", shown(&nowhere)].as_slice(),
            "nowhere",
        ),
        (
            ["reproduce", "--out", shown(&out), "--data", shown(&file)].as_slice(),
            "not a folder",
        ),
        (
            ["reproduce", "--out", shown(&under_a_file)].as_slice(),
            "file",
        ),
    ] {
        let output = pliant(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
        assert!(
            message.contains(word) && message.trim_end().lines().count() == 1,
            "{message}"
        );
        assert!(!out.exists(), "nothing is left behind");
    }
}
