use pliant_mesh::glam::{DVec2, DVec3, DVec4};

use super::*;
use crate::{Asset, FilePosition};

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

fn asset(text: &str) -> Asset {
    read(text.as_bytes()).unwrap()
}

fn text(asset: &Asset) -> String {
    String::from_utf8(write(asset).bytes).unwrap()
}

#[test]
fn all_dialects_give_the_same_square() {
    let dialects = [
        format!("{SQUARE}f -4 -3 -2 -1\n"),
        format!("{SQUARE}f 1 2 3 4"),
        format!("{SQUARE}f 1 2 3 4\n").replace('\n', "\r\n"),
        format!("{SQUARE}f 1 2 3 4\n").replace('\n', "\r"),
        format!("\u{feff}# hello\n\n{SQUARE}f 1 2 \\\n 3 \\\n4 # square\n"),
        format!("{SQUARE}vn 0 0 1\nf 1//1 2//1 3//1 4//1\n"),
        format!("{SQUARE}vt 0 0\nf 1/1 2/1 3/1 4/1\n"),
        format!("f 1 2 3 4\n{SQUARE}"),
        "v 0 0 0 1\nv 1.0 0e0 -0 1.0\n\tv  +1 1. .0\nv 0 1 0\nf 1 2 3 4\n".into(),
        "v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 1 1 0 1 0 0\nv 0 1 0 1 0 0\nf 1 2 3 4\n".into(),
    ];

    let expected = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
    for dialect in dialects {
        let read = asset(&dialect);
        let mesh = read.mesh().unwrap();
        assert_eq!(mesh.positions(), expected, "{dialect}");
        assert_eq!(
            mesh.faces().collect::<Vec<_>>(),
            [[0, 1, 2, 3]],
            "{dialect}"
        );

        assert!(read.warnings.is_empty(), "{dialect}: {:?}", read.warnings);
    }
}

#[test]
fn seams_normals_groups_materials_and_colours_survive_a_round_trip() {
    let whole = "mtllib head.mtl\no face\nv 0 0 0 1 0.5 0\nv 1 0 0 1 1 1\nv 1 1 0 0 0 0 0.5\nv 0 1 0.1 0.25 0 1\n\
        vt 0 0\nvt 0.1 1e-7\nvt 9 9\nvn 0 0 1\n\
        f 1/1/1 2/2/1 3//1\ng lid left\nusemtl skin #2\ns 1\nf 1/3 3/1 4\ng\nusemtl\ns off\nf 1 2 4\n";

    assert_eq!(text(&asset(whole)), whole);
    let mesh = asset(whole).mesh().unwrap();
    assert_eq!(mesh.uv_layers()[0].values[1], DVec2::new(0.1, 1e-7));
    assert_eq!(
        mesh.uv_layers()[0].corners,
        [
            Some(0),
            Some(1),
            None,
            Some(2),
            Some(0),
            None,
            None,
            None,
            None
        ]
    );

    assert_eq!(mesh.colors()[0].values[2], DVec4::new(0.0, 0.0, 0.0, 0.5));
    assert_eq!(
        [0, 1, 2].map(|f| mesh.groups().of(f).unwrap()),
        ["", "lid left", ""]
    );
    assert_eq!(mesh.materials().of(1), Some("skin #2"));
    assert_eq!(mesh.name(), "face");
}

#[test]
fn objects_are_separate_and_merge_in_file_order() {
    let whole = format!(
        "o a\n{SQUARE}v 9 9 9\nvt 0 0\nf 1/1 2/1 3/1\no b\nv 5 5 5\nv 6 5 5\nv 5 6 5\nvt 1 1\nf 6/2 7/2 8/2\n"
    );
    let read = asset(&whole);

    assert_eq!(
        read.objects
            .iter()
            .map(|o| (o.name(), o.vertex_count()))
            .collect::<Vec<_>>(),
        [("a", 5), ("b", 3)]
    );

    let mesh = read.mesh().unwrap();
    assert_eq!(mesh.vertex_count(), 8);
    assert_eq!(mesh.face(1), [5, 6, 7]);
    assert_eq!(text(&read), whole);
    assert_eq!(read.part("b").unwrap().mesh().unwrap().face(0), [0, 1, 2]);
}

#[test]
fn objects_that_share_vertices_keep_the_order_and_the_count_of_the_file() {
    let whole = format!("{SQUARE}o a\nf 1 2 3\no b\nf 1 3 4\n");
    let read = asset(&whole);
    assert_eq!(
        read.objects
            .iter()
            .map(|o| (o.name(), o.vertex_count()))
            .collect::<Vec<_>>(),
        [("a", 3), ("b", 3)]
    );

    let mesh = read.mesh().unwrap();
    assert_eq!(mesh.positions().len(), 4);
    assert_eq!(mesh.faces().collect::<Vec<_>>(), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(text(&read), whole);

    let lifted = read
        .posed(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z])
        .unwrap();

    assert_eq!(
        lifted.objects[1].rig.neutral().positions(),
        [DVec3::ZERO, DVec3::Y, DVec3::Z]
    );
}

#[test]
fn objects_with_equal_empty_or_slashed_names_stay_separate() {
    let one = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let whole =
        format!("{one}f 1 2 3\no a/b\n{one}f 4 5 6\no a/b\n{one}f 7 8 9\no\n{one}f 10 11 12\n");
    let read = asset(&whole);
    assert_eq!(
        read.objects.iter().map(|o| &*o.path).collect::<Vec<_>>(),
        ["", "a/b", "a/b", ""]
    );
    assert_eq!(text(&read), whole);
}

#[test]
fn groups_are_labels_and_not_objects() {
    let read = asset(&format!("{SQUARE}g one\nf 1 2 3\ng two\nf 1 3 4\n"));
    assert_eq!(read.objects.len(), 1);
    assert_eq!(read.mesh().unwrap().groups().names, ["one", "two"]);
}

#[test]
fn lines_and_points_are_skipped_and_counted() {
    let read = asset(&format!("{SQUARE}f 1 2\nl 1 2\nl 2 3\np 1\nf 1 2 3\nf 1\n"));
    assert_eq!(read.mesh().unwrap().face_count(), 1);
    assert_eq!(
        read.warnings,
        [
            "2 face(s) with fewer than 3 corners were skipped, the first in line 5",
            "lines that are no part of a polygon mesh were skipped: 2 × 'l', 1 × 'p'"
        ]
    );
}

#[test]
fn invalid_indices_and_numbers_are_reported_with_their_line() {
    let cases = [
        ("f 0 1 2", "vertex 0"),
        ("f -9 1 2", "vertex -9"),
        ("f 1 2 5", "vertex 5"),
        ("f 1 2 99999999999999999999", "vertex 9999"),
        ("f 1 2 4294967296", "vertex 4294967296"),
        ("f 1/1 2/1 3/1", "texture coordinate 1"),
        ("f 1//1 2//1 3//1", "normal 1"),
        ("f /1 2 3", "names no vertex"),
        ("f 1 x 3", "vertex x"),
        ("v one 0 0", "'one' is not a number"),
        ("v 0 0", "3 coordinates, not 2"),
        ("vt", "at least 1"),
        ("vn 0 1", "3 numbers, not 2"),
    ];

    for (line, words) in cases {
        let error = read(format!("{SQUARE}{line}\n").as_bytes()).unwrap_err();
        assert_eq!(error.position, FilePosition::Line(5), "{line}");
        assert!(error.message.contains(words), "{line}: {error}");
    }

    assert!(read(b"hello\n").unwrap_err().message.contains("no vertex"));
}

#[test]
fn nan_positions_are_kept_and_names_need_not_be_utf8() {
    let mut text = b"o \xff\xfe\nv nan 0 inf\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec();
    let read_back = read(&text).unwrap();
    assert!(
        read_back
            .require_finite()
            .unwrap_err()
            .to_string()
            .contains("vertex 0")
    );

    assert!(read_back.objects[0].name().contains('\u{fffd}'));
    text.truncate(4);
    assert!(read(&text).is_err());
}

#[test]
fn a_file_without_faces_is_a_point_cloud() {
    let mesh = asset(SQUARE).mesh().unwrap();
    assert_eq!((mesh.vertex_count(), mesh.face_count()), (4, 0));
}

#[test]
fn an_object_is_written_with_the_last_part_of_its_path() {
    let mut read = asset(&format!("o Cube\n{SQUARE}f 1 2 3\n"));
    read.objects[0].path = "/scene/AnimatedCube".into();
    assert!(text(&read).starts_with("o AnimatedCube\n"));
    read.objects[0].path = "/scene/Cube".into();
    assert!(text(&read).starts_with("o Cube\n"));
}
