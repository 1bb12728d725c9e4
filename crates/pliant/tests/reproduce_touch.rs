//! `pliant reproduce touch`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// The page on the built-in head, made once with a data folder that holds no set, and the folder it
/// is in.
fn made() -> &'static (PathBuf, Value) {
    static MADE: OnceLock<(PathBuf, Value)> = OnceLock::new();
    MADE.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce-touch");
        let data = place.join("sets");
        let out = place.join("papers");
        drop(std::fs::remove_dir_all(&place)); // Of an earlier run, if there was one.
        std::fs::create_dir_all(&data).expect("a folder among the build's");

        let command = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .args(["reproduce", "touch", "--json", "--quiet", "--data"])
            .arg(&data)
            .arg("--out")
            .arg(&out)
            .output();

        let output = command.expect("the command starts");
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );

        (
            out,
            serde_json::from_slice(&output.stdout).expect("one JSON object on stdout"),
        )
    })
}

/// The rows of the first table whose caption holds `words`.
fn rows(words: &str) -> Vec<Vec<String>> {
    let tables = made().1["tables"].as_array().expect("tables");
    let found = tables.iter().find(|table| {
        table["caption"]
            .as_str()
            .is_some_and(|caption| caption.contains(words))
    });
    let rows = found.unwrap_or_else(|| panic!("a table about '{words}'"))["rows"].clone();
    serde_json::from_value(rows).expect("rows of text")
}

fn number(cell: &str) -> f64 {
    cell.replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("a number, not '{cell}'"))
}

/// The row whose first cells are `named`, as numbers.
fn numbers(rows: &[Vec<String>], named: &[&str]) -> Vec<f64> {
    let row = rows
        .iter()
        .find(|row| row.iter().zip(named).all(|(cell, name)| cell == name))
        .unwrap_or_else(|| panic!("a row of {named:?}"));
    row[named.len()..].iter().map(|cell| number(cell)).collect()
}

fn figure(name: &str) -> String {
    let figures = made().1["figures"].as_array().into_iter().flatten();
    let found = figures
        .filter(|figure| figure["name"] == name)
        .find_map(|figure| figure["value"].as_str());
    found
        .unwrap_or_else(|| panic!("a figure '{name}'"))
        .to_owned()
}

#[test]
fn every_section_has_a_figure_and_every_picture_is_there() {
    let (out, object) = made();
    assert_eq!(object["pages"][0]["name"], json!("touch"));

    let mut sections: Vec<&str> = object["figures"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|figure| figure["section"].as_str())
        .collect();

    sections.dedup();
    assert_eq!(sections.len(), 6, "{sections:?}");

    let html = std::fs::read_to_string(out.join("touch").join("index.html")).expect("a page");
    let pictures: Vec<&str> = html
        .split("src=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();

    assert!(
        pictures.len() >= 4
            && pictures
                .iter()
                .all(|file| out.join("touch").join(file).is_file()),
        "{pictures:?}"
    );

    assert!(
        object["problems"].to_string().contains("ict-facekit"),
        "a set that is not there is named"
    );
}

#[test]
fn patches_have_about_the_sizes_of_cetinaslan2016() {
    let held = rows("Vertices that become soft");
    assert_eq!(held.len(), 6, "three heads of the thesis, and ours");
    for (ours, published) in held[..3].iter().zip(&held[3..]) {
        assert_eq!(ours[1], published[1]);
        for column in [6, 7, 8] {
            // In percent of all vertices; those of the thesis differ among each other by as much.
            assert!(
                (number(&ours[column]) - number(&published[column])).abs() < 20.0,
                "{ours:?} {published:?}"
            );
        }
    }
}

#[test]
fn published_times_are_beside_ours_and_one_patch_is_the_whole_model() {
    let areas = rows("Table 5.1 in milliseconds");
    assert_eq!(
        numbers(&areas, &["Bald Boy, 2016", "heat", "–"]),
        [23.9, 29.9, 79.9, 159.0, 241.0]
    );

    let steps = rows("Table 5.2 in milliseconds");
    assert_eq!(
        numbers(&steps, &["Grey Model, 2016", "verlet, 2 iterations"]),
        [250.0, 1150.0, 6410.0, 12_440.0, 16_080.0, 19_940.0]
    );

    let soft = numbers(&steps, &["built-in head, 9,562", "soft vertices"]);
    assert!(
        soft.windows(2).all(|pair| pair[0] < pair[1]) && soft[5] == 9562.0,
        "{soft:?}"
    );
}

#[test]
fn xpbd_returns_and_stays_outside_the_ball_and_undamped_verlet_does_not() {
    let held = rows("At the turn and a second after");
    let [way_after, deepest] = [3, 6];
    let ours = numbers(&held, &["ours"]);

    assert!(ours[way_after] < 0.01 && ours[deepest] == 0.0, "{ours:?}");
    let stretched = numbers(&held, &["stretch"]);
    let bent = numbers(&held, &["stretch, shear, bend"]);

    assert!(
        bent[way_after] > 1.0 && stretched[way_after] > bent[way_after],
        "bending makes it smoother, but not still"
    );
    assert!(bent[deepest] > 0.0);
}

#[test]
fn more_damping_makes_verlet_return_more_slowly() {
    let damping = rows("The middle of the patch");
    let later = |name: &str| {
        damping
            .iter()
            .find(|row| row[0] == name)
            .map(|row| number(&row[3]))
            .expect("a row of that name")
    };

    assert!(
        later("verlet, damping 0.3") < later("verlet, damping 0.6")
            && later("verlet, damping 0.6") < later("verlet, damping 0.9")
    );
    assert!(later("ours") < later("verlet, damping 0.3"));
}

#[test]
fn nothing_moves_outside_the_soft_area_of_a_posed_face() {
    assert_eq!(figure("moved outside the area, in any frame"), "0");
    assert_eq!(figure("moved by a ball on the chin"), "0");
}

#[test]
fn verlet_stiffness_depends_on_steps_and_xpbd_stiffness_does_not() {
    let sags: Vec<Vec<f64>> = rows("The largest sag")
        .iter()
        .map(|row| row[1..].iter().map(|cell| number(cell)).collect())
        .collect();

    for row in &sags {
        assert!(row[0] > 1.3 * row[1] && row[1] > 1.3 * row[2], "{row:?}");
        assert!(
            row[3..6]
                .iter()
                .all(|sag| (sag / sags[0][3] - 1.0).abs() < 0.02),
            "{row:?}"
        );
    }

    assert!(
        sags.windows(2)
            .all(|pair| (0..3).all(|k| pair[0][k] > 1.3 * pair[1][k]))
    );

    // Flesh converges as both grow: on the sheet, and more slowly on the larger cheek.
    for (last, bound) in [(8, 0.01), (11, 0.12)] {
        let off = |row: usize, column: usize| (sags[row][column] / sags[2][last] - 1.0).abs();
        assert!(
            off(0, last - 2) >= off(1, last - 2) && off(1, last - 2) >= off(2, last - 2),
            "more steps"
        );

        assert!(
            off(2, last - 1) < bound && off(1, last) < bound,
            "the last two agree"
        );
    }
}
