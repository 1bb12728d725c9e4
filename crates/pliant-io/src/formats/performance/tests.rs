//! Round trips of the readers and writers, and hostile input.

use super::*;

fn take() -> Performance {
    let channels = vec![
        Channel::new(
            "EyeBlinkLeft",
            vec![0.1236470118, f64::NAN, 1.0 / 3.0, 1e-9],
        ),
        Channel::new("HeadYaw", vec![-0.25, 0.0, 0.125, 0.5]),
        Channel::new("odd, name", vec![0.0; 4]),
    ];
    let times = [0.0, 1.0, 2.0, 5.0].map(|k| k * 1001.0 / 60000.0);
    Performance::new("take", times.to_vec(), 60000.0 / 1001.0, channels).unwrap()
}

fn same_values(a: &Performance, b: &Performance) {
    assert_eq!(a.channels().len(), b.channels().len());
    for (a, b) in a.channels().iter().zip(b.channels()) {
        assert_eq!((&a.name, a.kind), (&b.name, b.kind));
        let bits = |c: &Channel| c.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(a), bits(b), "{}", a.name);
    }
    assert!((a.frames_per_second() - b.frames_per_second()).abs() < 1e-9);
    for (a, b) in a.times_secs().iter().zip(b.times_secs()) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn tables_and_json_give_back_every_bit_of_the_values() {
    let options = PerformanceOptions::default();
    let mut take = take();
    same_values(&read_csv(&write_csv(&take), &options).unwrap(), &take);
    let mut sorted = take.channels().to_vec();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let json = read_json(&write_json(&take), &options).unwrap();
    let by_name = Performance::new(
        "take",
        take.times_secs().to_vec(),
        take.frames_per_second(),
        sorted,
    )
    .unwrap();
    same_values(&json, &by_name);

    // With timecode, dropped frames keep their labels.
    take.timecode = start_of("00:00:59;58", None, 59.94);
    let rate = FrameRate::of(59.94).unwrap();
    let csv = write_csv(&take);
    let text = String::from_utf8(csv.clone()).unwrap();
    let labels: Vec<&str> = text
        .lines()
        .skip(1)
        .map(|l| l.split(',').next().unwrap())
        .collect();
    assert_eq!(
        labels,
        ["00:00:59;58", "00:00:59;59", "00:01:00;04", "00:01:00;07"]
    );
    let again = read_csv(&csv, &options.with_timecode_rate(rate)).unwrap();
    same_values(&again, &take);
    assert_eq!(again.timecode, take.timecode);
    assert_eq!(again.dropped_frames(), [(2, 2)]);
}

#[test]
fn percentages_and_degrees_are_recognised_and_reported() {
    let table = b"frame,eyeBlinkLeft,jawOpen,HeadYaw\n1,55,0,10\n2,100,12,-45\n";
    let take = read_csv(table, &PerformanceOptions::default()).unwrap();
    assert_eq!(take.channels()[0].values, [0.55, 1.0]);
    assert!((take.channels()[2].values[1] + std::f64::consts::FRAC_PI_4).abs() < 1e-12);
    assert_eq!(take.notes.len(), 3, "{:?}", take.notes);

    // One weight above 1 is no percentage.
    let table = b"frame,eyeBlinkLeft,jawOpen,smile\n1,0.5,0.2,2.5\n";
    let take = read_csv(table, &PerformanceOptions::default()).unwrap();
    assert_eq!(take.channels()[2].values, [2.5]);
}

#[test]
fn a_table_of_positions_is_a_take_of_markers() {
    let table = b"Frame;A_x;A_y;A_z;B_x;B_y;B_z;note\n1;0;1;2;NA;NA;NA;\n2;0,5;1;2;3;4;5;x\n";
    let take = read_csv(table, &PerformanceOptions::default()).unwrap();
    let track = take.markers.unwrap();
    assert_eq!(track.names(), ["A", "B"]);
    assert!(track.frames()[0][1].is_none());
}

#[test]
fn damaged_files_never_panic() {
    let options = PerformanceOptions::default();
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize
    };
    let mut with_timecode = take();
    with_timecode.timecode = start_of("10:20:30:04", Some(60.0), 60.0);
    for bytes in [
        write_csv(&with_timecode),
        write_csv(&take()),
        write_json(&take()),
    ] {
        for _ in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % damaged.len();
                match random() % 3 {
                    0 => damaged[at] = random() as u8,
                    1 => damaged.truncate(at.max(1)),
                    _ => damaged.insert(at, b",;:\n\"-e9{["[random() % 10]),
                }
            }
            // Both readers take any bytes.
            let _ = read_csv(&damaged, &options);
            let _ = read_json(&damaged, &options);
        }
    }
}
