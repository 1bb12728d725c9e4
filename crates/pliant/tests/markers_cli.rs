//! `pliant markers` on the built-in animals.

mod command;

use std::fs;

use command::{folder, inside, json, pliant, refuses};
use pliant::mesh::Mesh;
use serde_json::{Value, json};
use tempfile::TempDir;

const MESHES: [&str; 4] = [
    "--source",
    "specimen:hound#walk",
    "--target",
    "specimen:tapir",
];
/// The specimens' markers: so many on the middle line, then those of one side, then those of the
/// other.
const MIDDLE: usize = 13;
const SIDE: usize = 14;

fn with<'a>(verb: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["markers", verb], &MESHES[..], more].concat()
}

fn written(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let file = inside(folder, name);
    fs::write(&file, content).expect("a file in a temporary folder");
    file
}

fn pair_file(folder: &TempDir, pairs: &[[u32; 2]]) -> String {
    written(folder, "pairs.json", serde_json::to_string(pairs).unwrap())
}

fn mesh(name: &str) -> Mesh {
    pliant::specimens::specimen(name)
        .expect("a specimen")
        .rig
        .neutral()
        .clone()
}

fn read(file: &str) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).expect("JSON")
}

/// The markers with flaws, each with the first one's code.
fn flawed(report: &Value) -> Vec<(usize, String)> {
    let markers = report["markers"].as_array().unwrap().iter().enumerate();
    markers
        .filter_map(|(k, marker)| Some((k, marker["flaws"][0].as_str()?.to_owned())))
        .collect()
}

fn has_warning(report: &Value, word: &str) -> bool {
    report["problems"]
        .as_array()
        .unwrap()
        .iter()
        .any(|problem| problem.as_str().unwrap().contains(word))
}

#[test]
fn correct_pairs_have_no_flaws() {
    let folder = folder();
    let file = pair_file(&folder, &pliant::specimens::markers());
    let report = json(&with("check", &["--markers", &file]));

    assert_eq!(report["wrong"], 0, "{:?}", flawed(&report));
    assert_eq!(
        report["markers"].as_array().unwrap().len(),
        MIDDLE + 2 * SIDE
    );
    assert!(
        report["coverage"]["source"]["farthest"].as_f64().unwrap() < 0.3,
        "{}",
        report["coverage"]
    );
}

#[test]
fn exchanged_sides_are_found_in_one_pair_or_two() {
    let folder = folder();
    let right = pliant::specimens::markers();

    // The toes of the fore legs.
    let (a, b) = (MIDDLE + 8, MIDDLE + SIDE + 8);
    let mut exchanged = right.clone();
    (exchanged[a][1], exchanged[b][1]) = (right[b][1], right[a][1]);

    let report = json(&with(
        "check",
        &["--markers", &pair_file(&folder, &exchanged)],
    ));

    assert_eq!(
        flawed(&report),
        [(a, "exchanged".to_owned()), (b, "exchanged".to_owned())]
    );

    assert!(
        has_warning(&report, &format!("marker {a} "))
            && report["markers"][a]["off"].as_f64().unwrap() > 0.02
    );

    let mut one = right.clone();
    one[a][1] = right[b][1];
    one.remove(b);

    let report = json(&with("check", &["--markers", &pair_file(&folder, &one)]));
    assert_eq!(flawed(&report), [(a, "other_side".to_owned())]);

    let out = inside(&folder, "warned.npy");
    let moved = json(
        &[
            &["transfer"],
            &MESHES[..],
            &["--markers", &inside(&folder, "pairs.json"), "--out", &out],
        ]
        .concat(),
    );

    assert!(
        has_warning(&moved, "left for right"),
        "a transfer says so, too: {}",
        moved["problems"]
    );
}

#[test]
fn markers_that_transfer_refuses_are_listed_and_give_exit_code_1() {
    let folder = folder();
    let mut pairs = pliant::specimens::markers();
    pairs[2][1] = 9_999_999;

    let file = pair_file(&folder, &pairs);
    let output = pliant(&[&with("check", &["--markers", &file])[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();

    assert_eq!(
        (output.status.code(), message.lines().count()),
        (Some(1), 1),
        "{message}"
    );

    assert!(
        message.contains("marker 2")
            && message.contains("9999999")
            && flawed(&report).contains(&(2, "out_of_range".into()))
    );

    let few = pair_file(&folder, &pairs[5..8]);
    let output = pliant(&with("check", &["--markers", &few]));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("at least 4"));
}

#[test]
fn suggested_pairs_follow_existing_ones_and_are_usable() {
    let folder = folder();
    let out = inside(&folder, "more.csv");
    let picture = inside(&folder, "more.png");
    let named =
        json!({"nose": pliant::specimens::markers()[0], "tail": pliant::specimens::markers()[12]});
    let file = written(&folder, "named.json", named.to_string());
    let report = json(&with(
        "suggest",
        &[
            "--markers",
            &file,
            "--count",
            "3",
            "--out",
            &out,
            "--picture",
            &picture,
        ],
    ));

    assert_eq!(report["by_flexibility"], true);
    assert!(has_warning(&report, "shapes alone"));

    let removes: Vec<f64> = report["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["removes"].as_f64().unwrap())
        .collect();

    assert!(
        removes.len() == 3 && removes.iter().all(|part| *part > 0.0 && *part < 1.0),
        "{removes:?}"
    );

    let lines: Vec<String> = fs::read_to_string(&out)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();

    assert_eq!(lines.len(), 6, "a header, two pairs and three suggestions");
    assert!(
        lines[1].starts_with("nose,")
            && lines[2].starts_with("tail,")
            && lines[3].starts_with("suggestion0,"),
        "{lines:?}"
    );

    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    json(&with("check", &["--markers", &out]));
    let again = inside(&folder, "again.csv");
    json(&with(
        "suggest",
        &[
            "--markers",
            &file,
            "--count",
            "3",
            "--out",
            &again,
            "--threads",
            "1",
        ],
    ));

    assert_eq!(
        fs::read(&out).unwrap(),
        fs::read(&again).unwrap(),
        "the number of threads changes nothing"
    );
}

#[test]
fn mirrored_pairs_and_names_belong_to_the_other_side() {
    let folder = folder();
    let right = pliant::specimens::markers();
    let mut named = serde_json::Map::new();

    for (k, pair) in right[..MIDDLE + SIDE].iter().enumerate() {
        named.insert(
            if k < MIDDLE {
                format!("middle{k:02}")
            } else {
                format!("side{k}_L")
            },
            json!(pair),
        );
    }

    let file = written(&folder, "left.json", json!(named).to_string());
    let out = inside(&folder, "both.json");
    let report = json(&with("mirror", &["--markers", &file, "--out", &out]));

    assert_eq!(
        (report["added"].as_u64(), report["middle"].as_u64()),
        (Some(SIDE as u64), Some(MIDDLE as u64)),
        "{report}"
    );

    let (both, hound, tapir) = (read(&out), mesh("hound"), mesh("tapir"));
    for k in 0..SIDE {
        let image = &both[format!("side{}_R", MIDDLE + k)];
        for (end, mesh) in [&hound, &tapir].into_iter().enumerate() {
            let place = |vertex: u64| mesh.positions()[vertex as usize];
            let expected = place(right[MIDDLE + SIDE + k][end].into());
            let off = place(image[end].as_u64().unwrap()).distance(expected);
            assert!(off < 2.0 * mesh.mean_edge_length(), "{k}: {off}");
        }
    }
}

#[test]
fn landmarks_of_two_meshes_are_joined_by_name_everywhere() {
    let folder = folder();
    let pairs = pliant::specimens::markers();
    let landmarks = |end: usize, own: &str| {
        let mut places: serde_json::Map<String, Value> = pairs
            .iter()
            .enumerate()
            .map(|(k, pair)| (format!("place{k:02}"), json!(pair[end])))
            .collect();
        places.insert(own.into(), json!(0));
        json!(places).to_string()
    };

    written(&folder, "hound.json", landmarks(0, "collar"));
    written(&folder, "tapir.json", landmarks(1, "trunk"));
    let joined = inside(&folder, "hound.json+tapir.json");
    let report = json(&with("check", &["--markers", &joined]));

    assert_eq!(
        (
            report["wrong"].as_u64(),
            report["markers"][3]["name"].as_str()
        ),
        (Some(0), Some("place03"))
    );

    assert!(
        has_warning(&report, "'collar'") && has_warning(&report, "'trunk'"),
        "{}",
        report["problems"]
    );

    let [by_pairs, by_name, by_recipe] =
        ["a.npy", "b.npy", "c.npy"].map(|name| inside(&folder, name));
    let transfer = |markers: &str, out: &str| {
        json(
            &[
                &["transfer"],
                &MESHES[..],
                &["--markers", markers, "--out", out],
            ]
            .concat(),
        )
    };

    transfer(&pair_file(&folder, &pairs), &by_pairs);
    assert!(has_warning(&transfer(&joined, &by_name), "'collar'"));

    let recipe = "target = \"specimen:tapir\"\n[[source]]\nname = \"walk\"\nclip = \"specimen:hound#walk\"\n\
                  markers = \"hound.json+tapir.json\"\n[[layer]]\nsource = \"walk\"\n";
    json(&[
        "transfer",
        &written(&folder, "r.toml", recipe),
        "--out",
        &by_recipe,
    ]);

    let frames = fs::read(&by_pairs).unwrap();
    assert!(frames == fs::read(&by_name).unwrap() && frames == fs::read(&by_recipe).unwrap());
}

#[test]
fn without_markers_the_orientations_are_reported() {
    let folder = folder();
    let report = json(
        &[
            &["transfer"],
            &MESHES[..],
            &["--out", &inside(&folder, "free.npy")],
        ]
        .concat(),
    );

    let candidates = report["sources"][0]["candidates"].as_array().unwrap();
    assert!(
        candidates.len() > 1 && !candidates[0]["map"].is_null(),
        "{candidates:?}"
    );

    let tried = candidates
        .iter()
        .filter(|candidate| !candidate["map"].is_null())
        .count();

    assert_eq!(
        tried > 1,
        has_warning(&report, "unsure:"),
        "only where it is unsure is more than one fitted: {}",
        report["problems"]
    );
}

#[test]
fn a_refusal_names_the_file_and_leaves_no_output() {
    let folder = folder();
    let out = inside(&folder, "no.json");
    let mirror = |markers: &str, words: &[&str]| {
        refuses(&with("mirror", &["--markers", markers]), &out, words)
    };

    mirror("nowhere.json", &["nowhere.json"]);
    mirror(
        &written(&folder, "one.json", "{\"nose\": 3}"),
        &["one.json", "'nose'", "SOURCE.json+TARGET.json"],
    );

    mirror(
        &written(&folder, "twice.csv", "name,source,target\na,1,2\na,3,4\n"),
        &["twice.csv", "line 3", "an earlier pair"],
    );

    mirror(
        &written(&folder, "far.json", "[[9999999, 0]]"),
        &["far.json", "marker 0", "9999999"],
    );

    let pairs = pair_file(&folder, &pliant::specimens::markers());
    refuses(
        &with("mirror", &["--markers", &pairs]),
        &inside(&folder, "no.txt"),
        &["no.txt", ".json"],
    );

    let odd = written(&folder, "odd.json", "{\"a, b\": [0, 0]}");
    refuses(
        &with("suggest", &["--markers", &odd]),
        &inside(&folder, "no.csv"),
        &["a, b", "JSON"],
    );

    for wrong in [
        &["markers"][..],
        &["markers", "check", "--source", "x.obj"],
        &["markers", "suggest", "--count", "0"],
    ] {
        assert_eq!(pliant(wrong).status.code(), Some(2), "{wrong:?}");
    }
}
