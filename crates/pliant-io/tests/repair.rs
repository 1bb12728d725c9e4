//! Vertex orders of real data: sound rigs stay, and misordered expressions are put back.

use std::path::Path;

use pliant_io::{Asset, LoadOptions, RepairKind, load};
use pliant_rig::VertexOrder;

/// A file or pair of the shared data.
fn data(name: &str) -> Option<String> {
    let Ok(root) = std::env::var("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };
    // The bare name of a second file is that of one beside the first.
    let first = name.split('+').next().unwrap_or_default();
    let folder = first.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = |(k, file): (usize, &str)| match k {
        1 if !file.contains('/') => format!("{root}/{folder}/{file}"),
        _ => format!("{root}/{file}"),
    };
    let files: Vec<String> = name.split('+').enumerate().map(path).collect();
    for file in &files {
        assert!(
            Path::new(file).exists(),
            "PLIANT_DATA is set, but {file} is missing"
        );
    }
    Some(files.join("+"))
}

fn read(locator: &str) -> Asset {
    load(locator, &LoadOptions::default()).unwrap()
}

#[test]
fn real_expressions_are_in_order_and_nearly_all_is_put_back_when_they_are_not() {
    let Some(locator) = data("face-poses/face-poses.reference.obj+face-poses.frames.npy") else {
        return;
    };
    let clip = read(&locator).clip().unwrap();
    let run = 22_941..23_514;
    let mut right_of_all = 0;
    for (k, frame) in clip.frames().iter().enumerate() {
        let own = VertexOrder::of(clip.reference(), frame);
        assert_eq!(own, VertexOrder::Equal, "frame {k}");

        // Another order of the run that came in another order in the published files.
        let mut stored = frame.clone();
        let length = run.len();
        for place in 0..length {
            stored[run.start + place] = frame[run.start + (place * 229 + 17) % length];
        }
        let order = VertexOrder::of(clip.reference(), &stored);
        let VertexOrder::Known { vertices, .. } = &order else {
            panic!("frame {k}: {order:?}")
        };
        let truth = run.clone().filter(|&v| stored[v] != frame[v]).count();
        let named = vertices
            .iter()
            .filter(|v| run.contains(&(**v as usize)))
            .count();
        let again = order.apply(&stored);
        let right = run.clone().filter(|&v| again[v] == frame[v]).count();
        assert!(
            named as f64 >= 0.99 * truth as f64,
            "frame {k}: {named} of {truth}"
        );
        // Lips that open far tear the short edges along which the order is followed.
        assert!(
            right as f64 >= 0.8 * length as f64,
            "frame {k}: {right} of {length}"
        );
        right_of_all += right;
    }
    let all = clip.frames().len() * run.len();
    assert!(
        right_of_all as f64 >= 0.94 * all as f64,
        "{right_of_all} of {all}"
    );
}

#[test]
fn sound_rigs_need_no_other_order() {
    for name in [
        "facecap-head/facecap-plain.glb",
        "morph-glb/Horse.glb",
        "makehuman-face/base.obj+makehuman-face/expression-units-caucasian",
        "ict-facekit/generic_neutral_mesh.obj+ict-facekit/expressions.delta.npy",
    ] {
        let Some(locator) = data(name) else { return };
        let repaired = read(&locator).repaired(&[RepairKind::Order]).unwrap();
        assert_eq!(repaired.repairs, [], "{name}");
        assert_eq!(repaired.warnings, [""; 0], "{name}");
    }
}
