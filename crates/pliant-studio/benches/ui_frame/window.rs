//! A window without a screen: frames of the whole studio, timed on the thread that paints.

use std::time::{Duration, Instant};

use eframe::egui::accesskit::{Node, Role};
use eframe::egui::{self, Event, Modifiers, PointerButton, Pos2, RawInput, Rect, pos2};
use eframe::egui_wgpu::{RenderState, RendererOptions, ScreenDescriptor};
use eframe::wgpu;
use egui_kittest::wgpu::{create_render_state, default_wgpu_setup};
use pliant_studio::Studio;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;

/// The size of the window in points; a point is a pixel.
const SIZE: [u32; 2] = [1440, 900];
/// How long a worker may take until a frame is painted without its answer.
const PATIENCE: Duration = Duration::from_millis(60);
/// How long everything may take until the window is at rest.
const LONGEST_REST: Duration = Duration::from_secs(300);

/// A studio that is looked at.
pub(crate) struct Window {
    ctx: egui::Context,
    studio: Studio,
    card: Option<RenderState>,
    frames: u32,
}

/// What a frame took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    /// Processor time of the window's thread, where the system tells; else all that passed.
    pub(crate) work: Duration,
    /// All that passed, other programs' turns included.
    pub(crate) passed: Duration,
}

/// Processor time of this thread so far. The system adds it up when threads take turns, so this one
/// offers its turn first.
fn worked() -> Option<Duration> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

/// A graphics card or its stand-in, if there is one: then uploads are part of a frame.
pub(crate) fn card() -> Option<RenderState> {
    std::panic::catch_unwind(|| {
        create_render_state(default_wgpu_setup(), RendererOptions::PREDICTABLE)
    })
    .ok()
}

impl Window {
    /// Opens a document and waits until all of it is shown.
    pub(crate) fn open(document: Document, room: RoomName, card: Option<RenderState>) -> Self {
        let ctx = egui::Context::default();
        pliant_studio::view::install(&ctx, card.as_ref());
        let mut studio = Studio::new(&ctx, document);
        studio.open_room(room);
        studio.dismiss_hint();

        let mut window = Self {
            ctx,
            studio,
            card,
            frames: 0,
        };

        window.rest();
        window
    }

    /// One frame: input, all panels, triangles of the interface, uploads. Not what the graphics
    /// card does with them.
    pub(crate) fn frame(&mut self, events: Vec<Event>) -> Taken {
        let input = self.input(events);
        let worked = worked();
        let begun = Instant::now();
        let output = self.ctx.run_ui(input, |ui| self.studio.window_ui(ui));
        let pieces = self
            .ctx
            .tessellate(output.shapes.clone(), output.pixels_per_point);

        if let Some(card) = &self.card {
            upload(card, &output, &pieces);
        }

        let passed = begun.elapsed();
        let taken = Taken {
            work: self::worked()
                .zip(worked)
                .map_or(passed, |(after, before)| after - before),
            passed,
        };

        output.drop_without_applying_deltas();
        taken
    }

    /// What happened since the last frame, a sixtieth of a second ago.
    fn input(&mut self, events: Vec<Event>) -> RawInput {
        self.frames += 1;
        let screen_rect = Some(Rect::from_min_size(
            Pos2::ZERO,
            egui::vec2(SIZE[0] as f32, SIZE[1] as f32),
        ));

        RawInput {
            screen_rect,
            events,
            time: Some(f64::from(self.frames) / 60.0),
            ..RawInput::default()
        }
    }

    /// Frames until nothing is in progress.
    pub(crate) fn rest(&mut self) {
        let begun = Instant::now();
        let mut quiet = 0;
        while quiet < 4 && begun.elapsed() < LONGEST_REST {
            self.frame(Vec::new());
            quiet = if self.studio.busy() { 0 } else { quiet + 1 };
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Drags along a way and lets go; each frame waits for the answer to the last, so that a worker
    /// does not take turns with it.
    pub(crate) fn drag(&mut self, way: &[Pos2]) -> Vec<Taken> {
        let button = |pos, pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };

        let first = way[0];
        let last = way[way.len() - 1];
        let mut taken = vec![
            self.patient_frame(vec![Event::PointerMoved(first)]),
            self.patient_frame(vec![button(first, true)]),
        ];

        taken.extend(
            way[1..]
                .iter()
                .map(|&place| self.patient_frame(vec![Event::PointerMoved(place)])),
        );
        taken.push(self.patient_frame(vec![button(last, false)]));
        taken.extend((0..2).map(|_| self.patient_frame(Vec::new())));

        taken
    }

    /// Moves the pointer without a button.
    pub(crate) fn hover(&mut self, way: &[Pos2]) -> Vec<Taken> {
        way.iter()
            .map(|&place| self.patient_frame(vec![Event::PointerMoved(place)]))
            .collect()
    }

    /// Clicks what is labelled so and waits for what follows.
    pub(crate) fn click(&mut self, label: &str) {
        let place = self.place(label).center();
        self.drag(&[place]);
        self.rest();
    }

    /// Presses a key and waits for what follows.
    pub(crate) fn press(&mut self, key: egui::Key, modifiers: Modifiers) {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers,
        };

        self.frame(vec![event(true)]);
        self.frame(vec![event(false)]);
        self.rest();
    }

    /// Where the thing labelled so is.
    pub(crate) fn place(&mut self, label: &str) -> Rect {
        self.find(&format!("'{label}'"), |node| node.label() == Some(label))
    }

    /// Where the first slider of the panels is.
    pub(crate) fn slider(&mut self) -> Rect {
        self.find("a slider", |node| {
            node.role() == Role::Slider && node.label() != Some("Ruler")
        })
    }

    /// Where a viewport is.
    pub(crate) fn viewport(&mut self, pane: usize) -> Rect {
        let mut seen = 0;
        self.find("a viewport", |node| {
            seen += usize::from(node.role() == Role::Canvas);
            seen == pane + 1
        })
    }

    fn find(&mut self, what: &str, mut wanted: impl FnMut(&Node) -> bool) -> Rect {
        self.ctx.enable_accesskit();
        let input = self.input(Vec::new());
        let output = self.ctx.run_ui(input, |ui| self.studio.window_ui(ui));
        self.ctx.disable_accesskit();

        if let Some(card) = &self.card {
            upload(card, &output, &[]);
        }

        let nodes = output
            .platform_output
            .accesskit_update
            .as_ref()
            .map_or(&[][..], |update| &update.nodes);

        let bounds = nodes
            .iter()
            .find(|(_, node)| wanted(node))
            .and_then(|(_, node)| node.bounds());

        output.drop_without_applying_deltas();
        let found = bounds.unwrap_or_else(|| panic!("{what} is not in the window"));
        Rect::from_min_max(
            pos2(found.x0 as f32, found.y0 as f32),
            pos2(found.x1 as f32, found.y1 as f32),
        )
    }

    fn patient_frame(&mut self, events: Vec<Event>) -> Taken {
        let begun = Instant::now();
        while self.studio.busy() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.frame(events)
    }
}

/// What goes to the graphics card in a frame.
fn upload(card: &RenderState, output: &egui::FullOutput, pieces: &[egui::ClippedPrimitive]) {
    let mut renderer = card.renderer.write();
    for (id, deltas) in &output.textures_delta.set {
        for delta in deltas.iter() {
            renderer.update_texture(&card.device, &card.queue, *id, delta);
        }
    }

    let mut encoder = card
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let screen = ScreenDescriptor {
        size_in_pixels: SIZE,
        pixels_per_point: output.pixels_per_point,
    };

    renderer.update_buffers(&card.device, &card.queue, &mut encoder, pieces, &screen);
    card.queue.submit([]);
}
