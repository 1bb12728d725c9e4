//! A file takes memory and time in proportion to its size, whatever it says.
//!
//! Each file here asks for far more than it holds. It is read in a process of its own, whose peak of
//! resident memory and processor time the system counts.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use pliant_io::{LoadOptions, PerformanceOptions, is_performance_file, load, read_performance};
use tempfile::TempDir;

/// The memory that any file may take, and that for each of its bytes.
const FREE_MIB: u64 = 300;
const BYTES_PER_BYTE: u64 = 64;

/// The processor time that any file may take, and that for each MB.
const FREE_SECS: f64 = 3.0;
const SECS_PER_MB: f64 = 2.0;

/// Names the file to read in a process of its own.
const CHILD: &str = "PLIANT_AMPLIFIER";

/// Peak memory in KiB and processor time in seconds of this process.
fn spent() -> (u64, f64) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks: f64 = [11, 12]
        .iter()
        .map(|&k| fields[k].parse::<f64>().unwrap())
        .sum();
    (peak, ticks / 100.0)
}

/// The other half of the test below: reads one file if it is told to.
#[test]
fn one_file_is_read_in_a_process_of_its_own() {
    let Ok(locator) = std::env::var(CHILD) else {
        return;
    };
    let result = if is_performance_file(Path::new(&locator)) {
        read_performance(
            &locator,
            &PerformanceOptions::default(),
            &LoadOptions::default(),
        )
        .map(|_| ())
    } else {
        load(&locator, &LoadOptions::default()).map(|_| ())
    };
    let (peak, secs) = spent();
    let result = result.map_or_else(|error| error.to_string(), |()| "read".into());
    println!("\nSPENT {peak} {secs} {}", result.replace('\n', " "));
}

/// Peak memory in KiB, seconds, and what became of it.
fn read_alone(locator: &str) -> Option<(u64, f64, String)> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "one_file_is_read_in_a_process_of_its_own",
            "--nocapture",
        ])
        .env(CHILD, locator)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("SPENT "))?;
    let mut words = line.splitn(3, ' ');
    let peak = words.next()?.parse().ok()?;
    let secs = words.next()?.parse().ok()?;
    Some((peak, secs, words.next()?.to_owned()))
}

/// A file that asks for more than it holds; the first of the files is read.
struct Amplifier {
    name: &'static str,
    files: Vec<(String, Vec<u8>)>,
    /// What follows the name of the first file in the locator.
    rest: String,
}

fn one(name: &'static str, file: &str, bytes: impl Into<Vec<u8>>) -> Amplifier {
    Amplifier {
        name,
        files: vec![(file.into(), bytes.into())],
        rest: String::new(),
    }
}

/// A glTF text with these top-level entries.
fn gltf(entries: &str) -> String {
    format!(r#"{{"asset":{{"version":"2.0"}},{entries}}}"#)
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

const TRIANGLE: &str = r#""buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],"bufferViews":[{"buffer":0,"byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}]"#;

fn gltf_amplifiers() -> Vec<Amplifier> {
    let long = "x".repeat(100_000);
    let mut found = vec![
        one(
            "accessors without bytes",
            "a.gltf",
            gltf(&format!(
                r#""accessors":[{{"componentType":5126,"count":2000000,"type":"VEC3"}},{{"componentType":5126,"count":2000000,"type":"VEC2"}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,{}}}}}]}}],"nodes":[{{"mesh":0}}]"#,
                list(300, |k| format!("\"TEXCOORD_{k}\":1"))
            )),
        ),
        one(
            "sets of another primitive",
            "b.gltf",
            gltf(&format!(
                r#""accessors":[{{"componentType":5126,"count":3,"type":"VEC3"}},{{"componentType":5126,"count":3,"type":"VEC2"}},{{"componentType":5126,"count":2000000,"type":"VEC3"}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,{}}}}},{{"attributes":{{"POSITION":2}}}}]}}],"nodes":[{{"mesh":0}}]"#,
                list(300, |k| format!("\"TEXCOORD_{k}\":1"))
            )),
        ),
        one(
            "one array in a thousand meshes",
            "c.gltf",
            gltf(&format!(
                r#""accessors":[{{"componentType":5126,"count":100000,"type":"VEC3"}}],"meshes":[{}],"nodes":[{}]"#,
                list(1000, |_| {
                    r#"{"primitives":[{"attributes":{"POSITION":0}}]}"#.into()
                }),
                list(1000, |k| format!(r#"{{"mesh":{k}}}"#)),
            )),
        ),
        one(
            "one long material of many meshes",
            "d.gltf",
            gltf(&format!(
                r#"{TRIANGLE},"materials":[{{"name":"{long}","extras":"{long}","pbrMetallicRoughness":{{"metallicFactor":0}}}}],"meshes":[{}],"nodes":[{}]"#,
                list(8000, |_| {
                    r#"{"primitives":[{"attributes":{"POSITION":0},"material":0}]}"#.into()
                }),
                list(8000, |k| format!(r#"{{"mesh":{k}}}"#)),
            )),
        ),
        one(
            "one long joint of many skins",
            "e.gltf",
            gltf(&format!(
                r#"{TRIANGLE},"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"skins":[{}],"nodes":[{{"name":"{long}"}},{}]"#,
                list(5000, |_| r#"{"joints":[0]}"#.into()),
                list(5000, |k| format!(r#"{{"mesh":0,"skin":{k}}}"#)),
            )),
        ),
        one(
            "many animations over many nodes",
            "f.gltf",
            gltf(&format!(
                r#"{TRIANGLE},"meshes":[{}],"nodes":[{}],"animations":[{}]"#,
                list(8000, |_| {
                    r#"{"primitives":[{"attributes":{"POSITION":0}}]}"#.into()
                }),
                list(8000, |k| format!(r#"{{"mesh":{k}}}"#)),
                list(8000, |k| format!(
                    r#"{{"samplers":[],"channels":[],"name":"{k}"}}"#
                )),
            )),
        ),
        one(
            "expressions that repeat a long name",
            "g.gltf",
            gltf(&format!(
                r#"{TRIANGLE},"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"targets":[{{"POSITION":0}}]}}],"extras":{{"targetNames":["{long}"]}}}}],"nodes":[{{"mesh":0}}],"extensions":{{"VRMC_vrm":{{"expressions":{{"custom":{{{}}}}}}}}}"#,
                list(10_000, |k| format!(
                    r#""e{k}":{{"morphTargetBinds":[{{"node":0,"index":0,"weight":1}}]}}"#
                )),
            )),
        ),
        one(
            "a long chain of nodes above many meshes",
            "h.gltf",
            gltf(&format!(
                r#"{TRIANGLE},"meshes":[{}],"nodes":[{}]"#,
                list(5000, |_| {
                    r#"{"primitives":[{"attributes":{"POSITION":0}}]}"#.into()
                }),
                list(5000, |k| match k {
                    4999 => format!(r#"{{"mesh":{k},"name":"node number {k}"}}"#),
                    _ => format!(
                        r#"{{"mesh":{k},"name":"node number {k}","children":[{}]}}"#,
                        k + 1
                    ),
                }),
            )),
        ),
    ];

    // The same bytes under one name, and under many.
    for (name, spelled) in [
        ("one buffer many times", false),
        ("one buffer under many names", true),
    ] {
        let buffers = list(400, |k| {
            let prefix = if spelled {
                "./".repeat(k)
            } else {
                String::new()
            };
            format!(r#"{{"byteLength":36,"uri":"{prefix}a.bin"}}"#)
        });
        let text = gltf(&format!(
            r#""buffers":[{buffers}],"bufferViews":[{{"buffer":0,"byteLength":36}}],"accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{{"mesh":0}}]"#
        ));
        found.push(Amplifier {
            name,
            files: vec![
                ("i.gltf".into(), text.into_bytes()),
                ("a.bin".into(), vec![0; 4 << 20]),
            ],
            rest: String::new(),
        });
    }

    // Rows that never change take two bits for 16 bytes; the views overlap.
    for (name, shift) in [
        ("one packed view many times", 0),
        ("packed views that overlap", 1),
    ] {
        let base64 = format!("oAAA{}", "AAAA".repeat(999));
        let views = list(1000, |k| {
            format!(
                r#"{{"buffer":1,"byteLength":122880,"byteStride":12,"extensions":{{"EXT_meshopt_compression":{{"buffer":0,"byteLength":{},"byteStride":12,"mode":"ATTRIBUTES","count":10240}}}}}}"#,
                2000 + k * shift
            )
        });
        let accessors = list(1000, |k| {
            format!(r#"{{"bufferView":{k},"componentType":5126,"count":10240,"type":"VEC3"}}"#)
        });
        let meshes = list(1000, |k| {
            format!(r#"{{"primitives":[{{"attributes":{{"POSITION":{k}}}}}]}}"#)
        });
        let text = gltf(&format!(
            r#""buffers":[{{"byteLength":3000,"uri":"data:application/octet-stream;base64,{base64}"}},{{"byteLength":122880}}],"bufferViews":[{views}],"accessors":[{accessors}],"meshes":[{meshes}],"nodes":[{}]"#,
            list(1000, |k| format!(r#"{{"mesh":{k}}}"#)),
        ));
        found.push(one(name, "j.gltf", text));
    }
    found
}

fn text_amplifiers() -> Vec<Amplifier> {
    let long = "x".repeat(200_000);
    let mut objects =
        format!("mtllib {long}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl {long}\ng {long}\n");
    let mut faces = objects.clone();
    for k in 0..20_000 {
        let _ = writeln!(objects, "o {k}\nf 1 2 3");
        faces.push_str("f 1 2 3\nf 1 2 3\n");
    }

    let mut ends = String::from("HIERARCHY\nROOT r\n{\n");
    ends.push_str(&"End Site\n{\n".repeat(70_000));
    ends.push_str(&"}\n".repeat(70_001));
    ends.push_str("MOTION\nFrames: 1\nFrame Time: 1\n");

    let channels = list(20_000, |k| format!("{{\"time\":{k},\"w\":{{\"c{k}\":1}}}}"));
    let keys = list(5000, |k| format!("\"c{k}\":[[0,0],[9000,1]]"));
    let markers: String = (0..100_000).map(|k| format!("m{k}\t\t\t")).collect();
    let rows: String = (0..100_000).map(|k| format!("{k}\t0\n")).collect();
    let trc = format!(
        "PathFileType\t4\nDataRate\tNumFrames\n60\t1\nFrame#\tTime\t{markers}\n\tx\n{rows}"
    );

    let counts = "3,".repeat(100_000);
    let corners = "0,1,2,".repeat(100_000);
    let usd = format!(
        "#usda 1.0\ndef Xform \"r\"\n{{\n  def Mesh \"m\" (prepend apiSchemas = [\"MaterialBindingAPI\"])\n  {{\n    int[] faceVertexCounts = [{}]\n    int[] faceVertexIndices = [{}]\n    point3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\n    rel material:binding = </r/s>\n  }}\n  def Material \"s\" (displayName = \"{long}\")\n  {{\n  }}\n}}\n",
        counts.trim_end_matches(','),
        corners.trim_end_matches(','),
    );
    vec![
        one("long labels of many objects", "a.obj", objects),
        one("one long label of many faces", "b.obj", faces),
        one("ends within ends", "c.bvh", ends),
        one(
            "a channel for each frame",
            "d.json",
            format!("[{channels}]"),
        ),
        one(
            "few keys of many sliders",
            "e.json",
            format!("{{\"fps\":100,\"sliders\":{{{keys}}}}}"),
        ),
        one("rows without cells", "f.trc", trc),
        one("one long material of many faces", "g.usda", usd),
    ]
}

fn binary_amplifiers() -> Vec<Amplifier> {
    let mut shape = "1,".repeat(500_000);
    shape.push_str("20000");
    let header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({shape})}}");
    let mut npy = b"\x93NUMPY\x02\x00".to_vec();
    npy.extend((header.len() as u32).to_le_bytes());
    npy.extend(header.into_bytes());
    npy.resize(npy.len() + 160_000, 0);
    let axes = Amplifier {
        name: "a million axes",
        files: vec![
            (
                "t.obj".into(),
                b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec(),
            ),
            ("t.npy".into(), npy),
        ],
        rest: "+t.npy".into(),
    };

    let mut stl = vec![0; 80];
    stl.extend(u32::MAX.to_le_bytes());
    let mut pc2 = b"POINTCACHE2\0".to_vec();
    for number in [1_i32, i32::MAX, 0, 0, i32::MAX] {
        pc2.extend(number.to_le_bytes());
    }
    let mut mdd = Vec::new();
    for number in [i32::MAX, i32::MAX] {
        mdd.extend(number.to_be_bytes());
    }
    let ply = "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    let nothing = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement nothing 4000000000\nend_header\n0 0 0\n";
    vec![
        axes,
        one("triangles of no bytes", "a.stl", stl),
        one("samples of no bytes", "a.pc2", pc2),
        one("frames of no bytes", "a.mdd", mdd),
        one("vertices of no bytes", "a.ply", ply),
        one("elements of no properties", "b.ply", nothing),
        one(
            "faces of no bytes",
            "a.off",
            "OFF\n4000000000 4000000000 0\n",
        ),
    ]
}

#[test]
fn memory_and_time_are_in_proportion_to_the_size_of_a_file() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.obj");
    fs::write(&small, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let (base, _, _) = read_alone(&small.display().to_string()).unwrap();

    let mut failures = Vec::new();
    let all = [gltf_amplifiers(), text_amplifiers(), binary_amplifiers()];
    for amplifier in all.into_iter().flatten() {
        let own = folder.path().join(amplifier.name.replace(' ', "_"));
        fs::create_dir(&own).unwrap();
        let mut size = 0;
        for (name, bytes) in &amplifier.files {
            size += bytes.len() as u64;
            fs::write(own.join(name), bytes).unwrap();
        }

        let mut locator = own.join(&amplifier.files[0].0).display().to_string();
        locator.push_str(&amplifier.rest);
        let Some((peak, secs, result)) = read_alone(&locator) else {
            failures.push(format!("{}: ended without an answer", amplifier.name));
            continue;
        };
        let memory = peak.saturating_sub(base) / 1024;
        let most = FREE_MIB + BYTES_PER_BYTE * size / (1 << 20);
        let longest = FREE_SECS + SECS_PER_MB * size as f64 / 1e6;
        let result: String = result.chars().take(100).collect();
        let line = format!(
            "{}: {} kB take {memory} MiB of {most} and {secs:.2} s of {longest:.1}: {result}",
            amplifier.name,
            size / 1000
        );
        println!("{line}");
        if memory > most || secs > longest {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn memory_that_cannot_be_had_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("t.obj");
    fs::write(&small, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6000000, 3, 3)}\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.bytes());
    let frames = folder.path().join("t.frames.npy");
    fs::write(&frames, &npy).unwrap();
    // The file system stores no zeros.
    let file = fs::File::options().write(true).open(&frames).unwrap();
    file.set_len(npy.len() as u64 + 6_000_000 * 36).unwrap();

    let text = gltf(
        r#""accessors":[{"componentType":5126,"count":2000000,"type":"VEC3"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}]"#,
    );
    fs::write(folder.path().join("a.gltf"), text).unwrap();

    for (locator, limit_mib) in [("t.obj+t.frames.npy", 700), ("a.gltf", 90)] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v $0 && exec \"$@\""])
            .arg((limit_mib * 1024).to_string())
            .arg(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "one_file_is_read_in_a_process_of_its_own",
                "--nocapture",
            ])
            .env("RUST_TEST_THREADS", "1")
            .env(CHILD, folder.path().join(locator))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("cannot be had"), "{locator}: {text}{errors}");
    }
}
