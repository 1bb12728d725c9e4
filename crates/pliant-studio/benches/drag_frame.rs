//! Benchmark of one frame while a pin is dragged, without a window.
//!
//! `frame` is the whole frame: the ray and the plane of the drag, the step of the history, the
//! worker's answer (solve, explanation, evaluation, normals, single precision), the weights back in
//! the document, a ray for the visibility of the pin, and the bytes for the graphics card. The goal
//! on the scanned head (26,719 vertices, 57 sliders) is 8 ms on two cores. The other benchmarks are
//! its parts.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use criterion::{Criterion, criterion_group, criterion_main};
use eframe::egui::{Pos2, Rect, pos2};
use pliant::mesh::VertexId;
use pliant::mesh::glam::DVec3;
use pliant::rig::{Aim, Evaluator, Grab, Pin, Poser, Range};
use pliant_studio::engine::character::{
    self, CharacterRequest, Drag, DragInput, PoseRequest, PosedCharacter, RigSpec,
};
use pliant_studio::engine::library::{self, LoadedAsset};
use pliant_studio::engine::surface::Vertices;
use pliant_studio::engine::work::{Latest, Wake};
use pliant_studio::model::camera::Camera;
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::history::{Edit, History};
use pliant_studio::model::pose::{DraggedPin, Method};
use pliant_studio::view::{Model, Scene, View};

/// A face, and a vertex at the corner of its mouth with the slider that moves it.
struct Face {
    name: &'static str,
    loaded: Arc<LoadedAsset>,
    vertex: VertexId,
    view: View,
}

impl Face {
    fn new(name: &'static str, locator: &str, slider: &str) -> Self {
        let loaded = Arc::new(library::load(locator, Path::new(".")).expect("the asset is sound"));
        let rig = &loaded.rig;
        let target = rig
            .targets()
            .iter()
            .find(|target| target.name == slider)
            .expect("the slider is there");

        let longest = (0..target.deltas.len()).max_by(|&a, &b| {
            target.deltas[a]
                .length()
                .total_cmp(&target.deltas[b].length())
        });
        let vertex = target.vertices[longest.expect("it moves something")];
        let mut camera = Camera::default();

        camera.frame_in(rig.neutral().bounds().expect("it has vertices"), 1.2);
        Self {
            name,
            loaded,
            vertex: VertexId::new(vertex),
            view: View {
                camera,
                rect: Rect::from_min_max(Pos2::ZERO, pos2(1200.0, 1000.0)),
            },
        }
    }

    fn all() -> Vec<Self> {
        let mut faces = vec![Self::new("head", "specimen:head", "mouthSmileLeft")];
        if let Some(folder) = std::env::var_os("PLIANT_DATA") {
            let pair = PathBuf::from(folder)
                .join("ict-facekit/generic_neutral_mesh.obj+expressions.delta.npy");
            faces.push(Self::new("ict", &pair.to_string_lossy(), "mouthSmile_L"));
        }
        faces
    }

    fn place(&self) -> DVec3 {
        self.loaded.rig.neutral().positions()[self.vertex.index()]
    }

    /// Where the pin goes in the `k`-th frame of a small circle of the user.
    fn goal(&self, k: u64) -> DVec3 {
        let from = self.view.project(self.place()).expect("it is seen");
        let angle = k as f32 * 0.1;
        self.view.drag_in_view_plane(
            self.place(),
            from,
            from + 12.0 * eframe::egui::Vec2::angled(angle) - eframe::egui::vec2(0.0, 12.0),
        )
    }

    fn aim(&self) -> Aim {
        Aim::Across(-self.view.camera.axes().back)
    }
}

/// A worker with someone who waits for it.
struct FrameState {
    worker: Latest<CharacterRequest, PosedCharacter>,
    wake_channel: mpsc::Receiver<()>,
}

impl FrameState {
    fn new() -> Self {
        let (ring, wake_channel) = mpsc::channel();
        let wake: Wake = Arc::new(move || ring.send(()).unwrap_or(()));
        Self {
            worker: character::start(wake),
            wake_channel,
        }
    }

    fn answer(&self, question: CharacterRequest) -> PosedCharacter {
        self.worker.send(question);
        loop {
            self.wake_channel.recv().expect("the worker lives");
            if let Some(answer) = self.worker.result() {
                return answer.expect("the solve is sound");
            }
        }
    }
}

fn question(face: &Face, goal: DVec3, k: u64) -> CharacterRequest {
    let pins = vec![DraggedPin::new(face.vertex, goal, face.aim())];
    let drag = Drag {
        gesture: 1,
        serial: k,
        base: Default::default(),
        method: Method::default(),
        input: DragInput::Pull(pins),
    };

    let rig = RigSpec {
        loaded: face.loaded.clone(),
        character: Character::default(),
    };

    CharacterRequest {
        rig,
        pose: PoseRequest::Drag(drag),
    }
}

/// The bytes that go to the graphics card.
fn staged(vertices: &Vertices) -> Vec<u8> {
    let numbers = vertices
        .positions
        .iter()
        .zip(&vertices.normals)
        .map(|(p, n)| [p.to_array(), n.to_array()]);
    let rows: Vec<[[f32; 3]; 2]> = numbers.collect();
    bytemuck::cast_slice(&rows).to_vec()
}

fn frame(face: &Face, state: &FrameState, history: &mut History, k: u64) -> Vec<u8> {
    let goal = face.goal(k);
    let change = move |document: &mut Document| document.pose.pins[0].goal = Some(goal.to_array());
    history.apply(Edit {
        label: "Drag pin".into(),
        gesture: Some(1),
        change: Box::new(change),
    });

    let posed = state.answer(question(face, goal, k));
    let weights: Vec<(String, f64)> = posed
        .rig
        .targets()
        .iter()
        .map(|t| t.name.clone())
        .zip(posed.weights.iter().copied())
        .collect();

    history.apply_to_open(1, |document| {
        for (name, weight) in weights.iter() {
            document.character.set_weight(name, *weight);
        }
    });

    let scene = Scene::of(Model::new(posed.surface.clone(), posed.vertices.clone()));
    black_box(scene.pick(&face.view.ray(face.view.project(goal).expect("it is seen"))));
    staged(&posed.vertices)
}

fn grab(poser: &Poser, face: &Face) -> Grab {
    let pin = Pin::hold(face.vertex).with_aim(face.aim());
    poser
        .grab(
            &[],
            &[pin],
            &*Method::default().solver(&face.loaded.rig, &[]),
            Range::Clip,
        )
        .expect("the pin is on the face")
}

fn drag_frame(criterion: &mut Criterion) {
    for face in Face::all() {
        let state = FrameState::new();
        let rig = &face.loaded.rig;
        let mut history = History::new(Document::default());
        let pin = pliant_studio::model::pose::PinMark::new(face.vertex);
        history.apply(Edit {
            label: "Add pin".into(),
            gesture: None,
            change: Box::new(move |document| document.pose.pins.push(pin)),
        });

        frame(&face, &state, &mut history, 0);
        report_memory(&face);
        let mut group = criterion.benchmark_group(format!("drag/{}", face.name));
        let mut k = 0;
        let mut next = || {
            k += 1;
            k
        };

        group.bench_function("frame", |bencher| {
            bencher.iter(|| frame(&face, &state, &mut history, next()))
        });

        let poser = Poser::new(rig).expect("a sound rig");
        let mut held = grab(&poser, &face);
        group.bench_function("grab", |bencher| bencher.iter(|| grab(&poser, &face)));
        group.bench_function("solve", |bencher| {
            bencher.iter(|| held.solve(&[face.goal(next()) - face.place()]))
        });

        let pose = held.solve(&[face.goal(1) - face.place()]);
        group.bench_function("explain", |bencher| bencher.iter(|| held.explain(&pose)));
        let evaluator = Evaluator::new(rig.neutral(), rig.shapes());
        let mut shown = evaluator.start();

        group.bench_function("evaluate_and_normals", |bencher| {
            bencher.iter(|| {
                let pose = held.solve(&[face.goal(next()) - face.place()]);
                evaluator.update(&mut shown, &rig.activation().coefficients(&pose.weights));
            });
        });

        group.bench_function("single_precision", |bencher| {
            bencher.iter(|| Vertices::from((shown.positions(), shown.normals())))
        });
        group.bench_function("bytes", |bencher| {
            bencher.iter(|| staged(&face.loaded.neutral))
        });

        group.finish();
    }
}

/// What the process holds with the face posed, where the system tells.
#[expect(clippy::print_stderr, reason = "a bench reports")]
fn report_memory(face: &Face) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
    {
        eprintln!("{}: {line}", face.name);
    }
}

criterion_group!(benches, drag_frame);
criterion_main!(benches);
