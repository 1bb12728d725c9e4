//! Takes written by these tests are read back.

use pliant_mesh::glam::{DMat3, DVec3};

use super::c3d_parameters::Processor;
use super::{bvh, c3d, csv, read_array};
use crate::npy;

/// A small writer of captures, in the three ways that processors write numbers.
struct Encoder {
    processor: Processor,
    floats: bool,
    bytes: Vec<u8>,
}

impl Encoder {
    fn word(&mut self, value: i16) {
        let bytes = if self.processor == Processor::Mips {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.bytes.extend_from_slice(&bytes);
    }

    fn float(&mut self, value: f32) {
        let [a, b, c, d] = (value
            * if self.processor == Processor::Dec {
                4.0
            } else {
                1.0
            })
        .to_le_bytes();
        self.bytes.extend_from_slice(&match self.processor {
            Processor::Intel => [a, b, c, d],
            Processor::Dec => [c, d, a, b],
            Processor::Mips => [d, c, b, a],
        });
    }

    fn record(&mut self, id: i8, name: &str, body: impl FnOnce(&mut Self)) {
        self.bytes.extend_from_slice(&[name.len() as u8, id as u8]);
        self.bytes.extend_from_slice(name.as_bytes());
        let at = self.bytes.len();
        self.word(0);
        body(self);

        let length = (self.bytes.len() - at) as i16;
        let patch = if self.processor == Processor::Mips {
            length.to_be_bytes()
        } else {
            length.to_le_bytes()
        };

        self.bytes[at..at + 2].copy_from_slice(&patch);
    }

    fn value(&mut self, value: f32) {
        if self.floats {
            self.float(value)
        } else {
            self.word(value as i16)
        }
    }

    /// Points of which some are not seen, with one analog sample per frame.
    fn capture(
        processor: Processor,
        floats: bool,
        scale: f32,
        frames: &[Vec<Option<DVec3>>],
    ) -> Vec<u8> {
        let mut e = Self {
            processor,
            floats,
            bytes: Vec::new(),
        };
        let signed_scale = if floats { -scale } else { scale };

        e.bytes.extend_from_slice(&[2, KEY]);
        for word in [frames[0].len() as i16, 1, 5, 4 + frames.len() as i16, 0].into_iter() {
            e.word(word);
        }
        e.float(signed_scale);
        e.word(3);
        e.word(1);
        e.float(120.0);
        e.bytes.resize(512, 0);

        let code = [
            (Processor::Intel, 84),
            (Processor::Dec, 85),
            (Processor::Mips, 86),
        ]
        .into_iter()
        .find(|(p, _)| *p == processor)
        .unwrap()
        .1;

        e.bytes.extend_from_slice(&[1, KEY, 1, code]);
        e.record(-3, "POINT", |e| e.bytes.push(0));
        e.record(3, "LABELS", |e| {
            e.bytes.extend_from_slice(b"\xff\x02\x06\x02wrist elbow \0")
        });
        e.record(3, "UNITS", |e| {
            e.bytes.extend_from_slice(b"\xff\x01\x04mm  \0")
        });

        e.record(3, "SCALE", |e| {
            e.bytes.extend_from_slice(&[4, 0]);
            e.float(signed_scale);
            e.bytes.push(0);
        });
        e.bytes.resize(1024, 0);

        for places in frames {
            for place in places {
                let shown = place.unwrap_or_default() / if floats { 1.0 } else { f64::from(scale) };
                for x in shown.to_array().into_iter() {
                    e.value(x as f32);
                }
                e.value(if place.is_some() { 3.0 } else { -1.0 });
            }
            e.value(77.0);
        }

        e.bytes
    }
}

const KEY: u8 = 0x50;

fn frames() -> Vec<Vec<Option<DVec3>>> {
    vec![
        vec![Some(DVec3::new(1.0, -2.5, 300.0)), None],
        vec![
            Some(DVec3::new(0.5, 0.0, -1.0)),
            Some(DVec3::new(-8.0, 4.0, 2.0)),
        ],
    ]
}

#[test]
fn captures_of_every_processor_and_number_type_are_read_with_their_gaps() {
    for processor in [Processor::Intel, Processor::Dec, Processor::Mips] {
        for floats in [true, false] {
            let file = c3d::read(&Encoder::capture(processor, floats, 0.5, &frames())).unwrap();
            assert_eq!(
                file.track.frames(),
                frames(),
                "{processor:?}, floats {floats}"
            );

            assert_eq!(file.track.names(), ["wrist", "elbow"]);
            assert_eq!(
                (file.track.fps(), file.units.as_deref()),
                (Some(120.0), Some("mm"))
            );
            assert!(file.ignored[0].contains("analog"));
        }
    }
}

#[test]
fn truncated_captures_are_rejected_with_their_position() {
    let bytes = Encoder::capture(Processor::Intel, true, 1.0, &frames());
    for length in 0..bytes.len() {
        assert!(c3d::read(&bytes[..length]).is_err(), "{length} bytes");
    }
    let mut greedy = bytes;
    greedy[2..4].copy_from_slice(&[255, 255]);
    assert!(
        c3d::read(&greedy)
            .unwrap_err()
            .message
            .contains("announced")
    );
}

#[test]
fn tables_are_read_with_any_separator_and_spelling_of_names() {
    for (separator, names) in [
        (';', ["M1_x", "M1_y", "M1_z"]),
        (',', ["M1.X", "M1.Y", "M1.Z"]),
        ('\t', ["M1 X", "M1 Y", "M1 Z"]),
    ] {
        let row = |cells: &[&str]| cells.join(&separator.to_string());
        let head = row(&[
            "Frame", names[0], names[1], names[2], "x2", "z2", "y2", "mood",
        ]);
        let text = format!(
            "{head}\n{}\n\n{}\n",
            row(&["1", "1", "2", "3", "4", "6", "5", "glad"]),
            row(&["2", "NA", "", "NaN", "1", "2", "3", ""])
        );

        let file = csv::read(text.as_bytes()).unwrap();
        assert_eq!(file.track.names(), ["M1", "2"]);
        assert_eq!(file.ignored, ["Frame", "mood"]);
        assert_eq!(
            file.track.frames()[0],
            [
                Some(DVec3::new(1.0, 2.0, 3.0)),
                Some(DVec3::new(4.0, 5.0, 6.0))
            ]
        );

        assert_eq!(
            file.track.frames()[1],
            [None, Some(DVec3::new(1.0, 3.0, 2.0))]
        );
    }
}

#[test]
fn a_table_without_header_has_three_numbers_for_each_point() {
    let file = csv::read(b"0.1, 2,3,1e-3,5 ,6\n").unwrap();
    assert!(!file.named && file.track.names() == ["0", "1"]);
    assert_eq!(
        file.track.frames()[0],
        [
            Some(DVec3::new(0.1, 2.0, 3.0)),
            Some(DVec3::new(1e-3, 5.0, 6.0))
        ]
    );

    assert_eq!(
        csv::read(b"0,5;1;2,25\n").unwrap().track.frames()[0],
        [Some(DVec3::new(0.5, 1.0, 2.25))]
    );
}

#[test]
fn invalid_tables_are_rejected_with_the_line() {
    for (text, line, word) in [
        ("1,2,3\n1,2\n", 2, "2 cells"),
        ("1,2,3\n\n1,2,inf\n", 3, "'inf'"),
        ("1,2,x\n", 1, "'x'"),
        ("1,2,3,4\n", 1, "multiple of three"),
        ("time,JawOpen\n1,2\n", 1, "M1_x"),
        ("a_x,a_y,a_z,a_x\n", 1, "twice"),
    ] {
        let error = csv::read(text.as_bytes()).unwrap_err();
        assert!(
            error.position == crate::FilePosition::Line(line) && error.message.contains(word),
            "{text}: {error:?}"
        );
    }
    assert!(csv::read(b"\n \n").is_err() && csv::read(&[0xff, 0xfe]).is_err());
}

#[test]
fn nan_in_an_array_is_a_missing_marker() {
    let file = read_array(&npy::write_f64(
        &[1, 2, 3],
        [1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0],
    ))
    .unwrap();

    assert_eq!(
        file.track.frames()[0],
        [Some(DVec3::new(1.0, 2.0, 3.0)), None]
    );
    assert!(read_array(&npy::write_f64(&[2, 3], [0.0; 6])).is_err());
    assert!(read_array(&npy::write_f64(&[1, 1, 3], [0.0, f64::INFINITY, 0.0])).is_err());
}

#[test]
fn joints_agree_with_the_closed_form_of_two_rotations() {
    let text = "HIERARCHY\nROOT hip\n{\nOFFSET 0 0 1\nCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\nJOINT left knee\n{\nOFFSET 0 -2 0\n\
        CHANNELS 3 Yrotation Xrotation Zrotation\nEnd Site\n{\nOFFSET 1 -1 .5\n}\n}\n}\nMOTION\nFrames: 1\nFrame Time: .0083333333\n1 2 3 10 20 30 40 50 60\n";
    let file = bvh::read(text.as_bytes()).unwrap();

    assert_eq!(file.track.names(), ["hip", "left knee", "left knee_end"]);
    assert!((file.track.fps().unwrap() - 120.0).abs() < 1e-4);

    let [x, y, z] = [
        DMat3::from_rotation_x,
        DMat3::from_rotation_y,
        DMat3::from_rotation_z,
    ]
    .map(|turn| move |degrees: f64| turn(degrees.to_radians()));

    let hip = DVec3::new(1.0, 2.0, 4.0);
    let hip_turn = z(10.0) * y(20.0) * x(30.0);
    let knee = hip + hip_turn * DVec3::new(0.0, -2.0, 0.0);
    let end = knee + hip_turn * y(40.0) * x(50.0) * z(60.0) * DVec3::new(1.0, -1.0, 0.5);

    for (place, expected) in file.track.frames()[0].iter().zip([hip, knee, end]) {
        assert!(place.unwrap().distance(expected) < 1e-14);
    }
}

#[test]
fn invalid_skeletons_are_rejected_with_the_line() {
    let start = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION\n";
    for (text, word) in [
        ("solid\n".to_owned(), "HIERARCHY"),
        (
            start.replace("CHANNELS 0", "CHANNELS 1 Wrotation"),
            "Wrotation",
        ),
        (
            format!("{start}Frames: 999999999999\nFrame Time: .1\n"),
            "more than a file of this size",
        ),
        (
            format!("{start}Frames: 1\nFrame Time: 0\n"),
            "not a valid motion",
        ),
        (
            format!(
                "{}Frames: 1\nFrame Time: 1\n",
                start.replace("CHANNELS 0", "CHANNELS 1 Xrotation")
            ),
            "cut off",
        ),
    ] {
        let message = bvh::read(text.as_bytes()).unwrap_err().message;
        assert!(message.contains(word), "{text}: {message}");
    }
}

#[test]
fn real_takes_are_read_completely() {
    let Ok(data) = std::env::var("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so no take is read");
        }
        return;
    };

    let folder = std::path::Path::new(&data).join("mocap");
    let face = super::read_markers(&folder.join("face-markers-subject01.csv")).unwrap();
    assert_eq!(
        (
            face.track.marker_count(),
            face.track.frames().len(),
            face.track.frames_without_markers()
        ),
        (16, 1714, 863)
    );

    assert_eq!(face.ignored, ["Frame", "Stimulustype"]);
    let dancer = super::read_markers(&folder.join("pirouette.bvh")).unwrap();
    assert_eq!(dancer.track.frames().len(), 592);

    let joint = |name: &str, frame: usize| {
        dancer.track.frames()[frame][dancer.track.marker(name).unwrap()].unwrap()
    };
    let shin = |frame: usize| joint("rShin", frame).distance(joint("rFoot", frame));

    assert!(
        (0..592).all(|frame| (shin(frame) - shin(0)).abs() < 1e-9 * shin(0)),
        "bones keep their lengths"
    );

    assert!(
        super::read_markers(&folder.join("livelinkface-alex_rom_3.csv"))
            .unwrap_err()
            .to_string()
            .contains("line 1")
    );
}
