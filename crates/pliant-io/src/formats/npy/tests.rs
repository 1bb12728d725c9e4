use super::read::half;
use super::*;

fn file(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = [MAGIC, &[version, 0]].concat();
    match version {
        1 => bytes.extend_from_slice(&(header.len() as u16).to_le_bytes()),
        _ => bytes.extend_from_slice(&(header.len() as u32).to_le_bytes()),
    }
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(body);
    bytes
}

fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

#[test]
fn a_written_array_reads_back() {
    let values = [1.5, -0.0, 1e300, f64::MIN_POSITIVE, 3.0, 4.0];
    let bytes = write_f64(&[2, 3], values);
    assert_eq!(
        bytes.len() % 64,
        48,
        "128 bytes of header and 48 of numbers"
    );

    assert_eq!(
        read(&bytes).unwrap(),
        Array {
            shape: vec![2, 3],
            kind: Kind::Float,
            values: values.to_vec()
        }
    );

    assert_eq!(
        read(&write_i64(&[1], [-7])).unwrap(),
        Array {
            shape: vec![1],
            kind: Kind::Integer,
            values: vec![-7.0]
        }
    );

    assert_eq!(read(&write_f32(&[0, 3], [])).unwrap().shape, [0, 3]);
}

#[test]
fn every_type_in_either_byte_order_and_version_is_read() {
    let cases: [(&str, &[u8], f64); 10] = [
        ("|b1", &[1], 1.0),
        ("|i1", &[0xff], -1.0),
        ("|u1", &[0xff], 255.0),
        ("<i2", &[0xfe, 0xff], -2.0),
        (">u2", &[1, 0], 256.0),
        (">i4", &[0, 0, 1, 0], 256.0),
        ("<u8", &[5, 0, 0, 0, 0, 0, 0, 0], 5.0),
        ("<f2", &[0x00, 0xc0], -2.0),
        (">f4", &[0x3f, 0x80, 0, 0], 1.0),
        (">f8", &[0x40, 0, 0, 0, 0, 0, 0, 0], 2.0),
    ];
    for version in 1..=3 {
        for (descr, body, value) in cases {
            let array = read(&file(version, &header(descr, "False", "(1,)"), body)).unwrap();
            assert_eq!(array.values, [value], "{descr}");
        }
    }
}

#[test]
fn half_precision_has_its_special_values() {
    assert_eq!(
        [half(0x3555), half(0x7bff), half(0x0001)],
        [0.333_251_953_125, 65504.0, 2f64.powi(-24)]
    );
    assert_eq!(
        [half(0x7c00), half(0xfc00)],
        [f64::INFINITY, f64::NEG_INFINITY]
    );
    assert!(half(0x7e00).is_nan());
}

#[test]
fn fortran_order_is_transposed() {
    let body: Vec<u8> = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
        .into_iter()
        .flat_map(f64::to_le_bytes)
        .collect();
    let array = read(&file(1, &header("<f8", "True", "(2, 3)"), &body)).unwrap();
    assert_eq!(array.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn a_shape_that_does_not_fit_the_file_is_rejected_before_allocating() {
    for shape in [
        "(1000, 333333333, 3)",
        "(18446744073709551615, 2)",
        "(2, 3, 3)",
    ] {
        let message = read(&file(1, &header("<f4", "False", shape), &[0; 64]))
            .unwrap_err()
            .message;
        assert!(message.contains("64 bytes follow"), "{message}");
    }

    let none: &[u8] = b"0 0 0\n";
    assert!(read(none).unwrap_err().message.contains("not a .npy array"));
    assert!(
        read(&file(1, "", &[]))
            .unwrap_err()
            .message
            .contains("no type")
    );

    assert!(
        read(&file(1, &header("<c16", "False", "(1,)"), &[0; 16]))
            .unwrap_err()
            .message
            .contains("c16")
    );
}

#[test]
fn an_array_of_points_needs_three_dimensions() {
    let flat = Array {
        shape: vec![10, 3],
        kind: Kind::Float,
        values: vec![0.0; 30],
    };
    let message = flat.into_point_rows("deltas").unwrap_err().message;

    assert!(
        message.contains("10 × 3") && message.contains("deltas"),
        "{message}"
    );
}
