use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, Mesh, MeshBuilder, VertexLayer};

use super::{read, write};
use crate::{Asset, FilePosition};

const HEAD: &str = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";

/// A quad and a triangle with a seam, colours and normals; every number has a short binary form.
fn sheet(scale: f64) -> Mesh {
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.25) * scale;
    let builder = MeshBuilder {
        positions: vec![
            at(0.0, 0.0),
            at(1.0, 0.0),
            at(1.0, 1.0),
            at(0.0, 1.0),
            at(2.0, 0.5),
            at(9.0, 9.0),
        ],
        face_sizes: vec![4, 3],
        corners: vec![0, 1, 2, 3, 1, 4, 2],
        uv_layers: vec![CornerLayer {
            name: String::new(),
            values: [
                (0.0, 0.0),
                (0.5, 0.0),
                (0.5, 1.0),
                (0.0, 1.0),
                (0.75, 0.125),
                (1.0, 0.5),
            ]
            .map(|(u, v)| DVec2::new(u, v) * scale)
            .to_vec(),
            corners: [0, 1, 2, 3, 4, 5, 2].map(Some).to_vec(),
        }],
        normals: Some(CornerLayer {
            name: String::new(),
            values: vec![DVec3::Z; 6],
            corners: [0, 1, 2, 3, 1, 4, 2].map(Some).to_vec(),
        }),
        colors: vec![VertexLayer {
            name: String::new(),
            values: (0..6)
                .map(|k| DVec4::new(1.0, f64::from(k) / 255.0, 0.0, 1.0))
                .collect(),
        }],
        ..MeshBuilder::default()
    };

    builder.build().unwrap()
}

#[test]
fn a_mesh_survives_a_round_trip_exactly_in_either_precision() {
    for scale in [1.0, 0.1] {
        let mesh = sheet(scale);
        let written = write(&Asset::from_mesh(mesh.clone())).unwrap();
        assert!(written.left_out.is_empty(), "{:?}", written.left_out);

        let kind = if scale == 1.0 { "float" } else { "double" };
        let text = String::from_utf8_lossy(&written.bytes);
        assert!(
            text.contains(&format!("property {kind} x\n"))
                && text.contains(&format!("list uchar {kind} texcoord"))
        );

        let copy = read(&written.bytes).unwrap().mesh().unwrap();
        assert_eq!(mesh.positions(), copy.positions());
        assert!(mesh.faces().eq(copy.faces()));
        assert_eq!(mesh.uv_layers(), copy.uv_layers());
        assert_eq!(mesh.colors(), copy.colors());

        let per_corner = |m: &Mesh| {
            m.normals()
                .unwrap()
                .corners
                .iter()
                .map(|k| m.normals().unwrap().values[k.unwrap() as usize])
                .collect::<Vec<_>>()
        };

        assert_eq!(per_corner(&mesh), per_corner(&copy));
    }
}

#[test]
fn a_polygon_of_more_than_255_corners_survives_a_round_trip() {
    let points: Vec<_> = (0..300)
        .map(|k| DVec3::new(f64::from(k), 0.0, 1.0))
        .collect();
    let mesh = Mesh::from_polygons(points, &[(0..300).collect()]).unwrap();
    let copy = read(&write(&Asset::from_mesh(mesh.clone())).unwrap().bytes)
        .unwrap()
        .mesh()
        .unwrap();
    assert!(mesh.faces().eq(copy.faces()));
}

#[test]
fn attributes_that_ply_cannot_store_are_reported() {
    let mut builder = sheet(1.0).to_builder();
    builder.uv_layers[0].corners[0] = None;
    builder.normals.as_mut().unwrap().values[1] = DVec3::X;
    builder.normals.as_mut().unwrap().corners[4] = Some(0);

    let written = write(&Asset::from_mesh(builder.build().unwrap())).unwrap();
    assert_eq!(written.left_out.len(), 2, "{:?}", written.left_out);
    assert!(
        written.left_out[0].contains("normal(s)")
            && written.left_out[1].contains("1 face(s) that lack one")
    );

    let copy = read(&written.bytes).unwrap().mesh().unwrap();
    assert_eq!(copy.uv_layers()[0].corners[..4], [None; 4]);
    assert!(copy.uv_layers()[0].corners[4..].iter().all(Option::is_some));
}

/// One vertex table and one face with every kind of number, in all three encodings.
fn every_type(encoding: &str) -> Vec<u8> {
    let header = format!(
        "ply\r\nformat {encoding} 1.0\r\ncomment every kind\r\nobj_info made by hand\r\nelement odd 1\r\nproperty list short double numbers\r\nproperty char c\r\n\
         element face 2\r\nproperty uchar flags\r\nproperty list ushort uint8 vertex_index\r\nelement vertex 3\r\nproperty double x\r\nproperty int16 junk\r\nproperty int y\r\n\
         property list uint8 uint16 more\r\nproperty float32 z\r\nproperty ushort red\r\nproperty ushort green\r\nproperty ushort blue\r\nproperty float s\r\nproperty float t\r\nend_header\r\n"
    );

    let mut out = header.into_bytes();
    if encoding == "ascii" {
        out.extend_from_slice(b"2 0.5 -1e3 -7\r\n\r\n1 3 0 1 2\n1 2 0 1\n");
        for k in 0..3 {
            out.extend_from_slice(format!("{k}.5 -3 {k} 2 8 9 0.25 65535 0 0 {k} 1\n").as_bytes());
        }
        return out;
    }

    let big = encoding == "binary_big_endian";
    macro_rules! put {
        ($($value:expr),*) => {{ $( out.extend_from_slice(&if big { $value.to_be_bytes() } else { $value.to_le_bytes() }); )* }};
    }
    put!(2_i16, 0.5_f64, -1e3_f64, -7_i8);
    put!(1_u8, 3_u16, 0_u8, 1_u8, 2_u8, 1_u8, 2_u16, 0_u8, 1_u8);

    for k in 0..3_u8 {
        put!(
            (f64::from(k) + 0.5),
            -3_i16,
            i32::from(k),
            2_u8,
            8_u16,
            9_u16,
            0.25_f32,
            65535_u16,
            0_u16,
            0_u16,
            f32::from(k),
            1_f32
        );
    }

    out
}

#[test]
fn every_number_type_is_read_in_every_encoding() {
    for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
        let asset = read(&every_type(encoding))
            .unwrap_or_else(|e| panic!("{encoding}: {e} {:?}", e.position));
        let mesh = asset.mesh().unwrap();

        assert_eq!(
            mesh.positions(),
            [0.0, 1.0, 2.0].map(|k| DVec3::new(k + 0.5, k, 0.25)),
            "{encoding}"
        );
        assert_eq!(mesh.face(0), [0, 1, 2]);
        assert_eq!(mesh.colors()[0].values[2], DVec4::new(1.0, 0.0, 0.0, 1.0));
        assert_eq!(mesh.uv_layers()[0].values[2], DVec2::new(2.0, 1.0));

        assert_eq!(
            asset.warnings,
            [
                "1 row(s) of element 'odd' were skipped",
                "of element 'face', these properties are not kept: 'flags'",
                "of element 'vertex', these properties are not kept: 'junk', 'more'",
                "1 face(s) with fewer than 3 corners were skipped"
            ]
        );
    }
}

#[test]
fn contradicting_byte_orders_are_reported() {
    let both =
        format!("ply\nformat binary_little_endian 1.0\nformat binary_big_endian 1.0\n{HEAD}");
    let error = read(both.as_bytes()).unwrap_err();

    assert_eq!(error.position, FilePosition::Line(3));
    assert!(
        error
            .message
            .contains("both binary_little_endian and binary_big_endian"),
        "{error}"
    );

    let mixed =
        read(format!("ply\nformat binary_mixed_endian 1.0\n{HEAD}").as_bytes()).unwrap_err();
    assert!(
        mixed.message.contains("'binary_mixed_endian' is unknown")
            && mixed.message.contains("binary_big_endian"),
        "{mixed}"
    );

    let mut swapped = every_type("binary_big_endian");
    let at = swapped
        .windows(17)
        .position(|w| w == b"binary_big_endian")
        .unwrap();

    swapped.splice(at..at + 17, *b"binary_little_endian");
    let error = read(&swapped).unwrap_err();
    assert!(
        matches!(error.position, FilePosition::Byte(_))
            && error
                .message
                .contains("read as binary_big_endian it would fit"),
        "{error}"
    );
}

#[test]
fn sizes_beyond_the_file_are_rejected_with_their_position() {
    let huge = HEAD.replace("vertex 4", "vertex 4000000000");
    for format in ["ascii", "binary_little_endian"] {
        let error = read(format!("ply\nformat {format} 1.0\n{huge}0 0 0 1 0 0 1 1 0").as_bytes())
            .unwrap_err();
        assert!(
            error
                .message
                .contains("4000000000 rows of element 'vertex' are announced"),
            "{error}"
        );

        assert_ne!(error.position, FilePosition::Whole);
    }

    let mut cut = format!("ply\nformat binary_little_endian 1.0\n{HEAD}").into_bytes();
    cut.extend_from_slice(&[0; 48]);
    cut.push(255);

    let error = read(&cut).unwrap_err();
    assert_eq!(error.position, FilePosition::Byte(cut.len()));
    assert!(
        error
            .message
            .contains("'vertex_indices' of face 0 of 1 needs 4 bytes, but 0 are left"),
        "{error}"
    );
}

#[test]
fn errors_are_reported_with_their_line() {
    let message = |text: &str| {
        let error = read(text.as_bytes()).unwrap_err();
        format!("{}{}", error.message, error.position)
    };
    let ascii = |body: &str| message(&format!("ply\nformat ascii 1.0\n{HEAD}{body}"));

    assert!(message("plyx\n").contains("'ply'"));
    assert!(message("solid x\n").contains("'solid x"));
    assert!(message("ply\nformat ascii 1.0\nelement vertex 3\n").contains("before 'end_header'"));
    assert!(message("ply\nformat ascii 1.0\nelement vertex many\nend_header\n").contains("'many'"));
    assert!(
        message("ply\nformat ascii 1.0\nproperty float x\nend_header\n")
            .contains("before any element")
    );

    assert!(
        message("ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\nend_header\n")
            .contains("known type, line 4")
    );
    assert!(message("ply\nend_header\n").contains("'format'"));
    assert!(
        message("ply\nformat ascii 1.0\nelement vertex 1\nproperty int y\nend_header\n1\n")
            .contains("x, y and z")
    );

    assert!(
        ascii("0 0 0\n1 0 0\n1 1 0\n0 one 0\n4 0 1 2 3\n")
            .contains("expected 'y' of vertex 3 of 4, found 'one', line 13")
    );
    assert!(ascii("0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 9\n").contains("vertex 9, but there are 4"));
    assert!(ascii("0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 -1\n").contains("vertex -1"));

    assert!(
        ascii("0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1\n")
            .contains("ends before 'vertex_indices' of face 0")
    );
    assert!(ascii("0 0 0\n1 0 0\n1 1 0\n0 1 0\n-4 0 1 2 3\n").contains("not a count"));
}

#[test]
fn text_after_the_last_row_is_reported() {
    let head = |encoding: &str| {
        format!(
            "ply\nformat {encoding} 1.0\nelement vertex 1\nproperty char x\nproperty char y\nproperty char z\nend_header\n"
        )
    };
    let warnings = |bytes: &[u8]| read(bytes).unwrap().warnings;

    assert_eq!(
        warnings(format!("{}1 2 3\n\n", head("ascii")).as_bytes()),
        [""; 0]
    );

    let more = warnings(format!("{}1 2 3\n4 5 6\n", head("ascii")).as_bytes());
    assert_eq!(
        more,
        ["the text from line 9 on, after the last row, was not read"]
    );

    let packed = head("binary_little_endian") + "abc";
    assert_eq!(warnings(packed.as_bytes()), [""; 0]);
    assert_eq!(
        warnings((packed + "d").as_bytes()),
        ["1 byte(s) after the last row were not read"]
    );
}
