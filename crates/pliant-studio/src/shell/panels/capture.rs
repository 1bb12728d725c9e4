//! The Capture panel: a live performance with meters, calibration and recording, and the cleaning of
//! takes of weights.

use eframe::egui::{
    self, Align2, Button, Color32, DragValue, Grid, Rect, RichText, ScrollArea, Sense, Ui, pos2,
    vec2,
};

use crate::engine::capture::{
    CalibrationStep, CleanStep, Meter, Receiver, ReceiverState, TakeAndLoss, clean_take,
    recorded_take,
};
use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::engine::import::Import;
use crate::engine::playback::take_keys;
use crate::engine::work::Task;
use crate::model::document::{Locator, Weights};
use crate::model::timeline::{Keys, Take, TakeFrames};
use crate::widgets::field::named;
use crate::widgets::theme::ThemeColors;

/// The port of Live Link Face.
const DEFAULT_PORT: u16 = 11111;
/// The width of the panel.
const WIDTH: f32 = 300.0;
/// The height of the list of meters.
const METERS: f32 = 220.0;

/// The panel and what it receives.
#[derive(Default)]
pub(crate) struct CapturePanel {
    /// Whether it is shown.
    pub(crate) open: bool,
    port: Option<u16>,
    from_anywhere: bool,
    receiver: Option<Receiver>,
    /// The character that packets move.
    of: Locator,
    /// Whether the character shows the live performance instead of the timeline.
    live: bool,
    task: Option<Task<Finished>>,
}

/// The result of long work.
enum Finished {
    /// A recording, and what it does not keep.
    Recorded(TakeAndLoss),
    /// A take that was cleaned by a step.
    Cleaned(CleanStep, Take),
    /// A take of this name as keys, and the last of them.
    Keys(String, Keys, u32),
}

impl CleanStep {
    fn label(self) -> &'static str {
        match self {
            Self::Spikes => "Spikes",
            Self::Noise => "Noise",
            Self::Holds => "Holds",
            Self::All => "All",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Spikes => "Remove spikes of one or two frames",
            Self::Noise => {
                "Smooth each slider as strongly as its noise asks for, without lag; closed lids and lips stay closed"
            }
            Self::Holds => "Make sliders constant while they rest",
            Self::All => "Spikes, noise and holds",
        }
    }
}

impl CapturePanel {
    /// The weights of the live performance, while the character shows it.
    pub(crate) fn live_weights(&self, asset: &str) -> Option<Weights> {
        let receiver = self.receiver.as_ref()?;
        let shown = self.live && self.of == asset;
        shown.then(|| receiver.weights()).flatten()
    }

    /// Whether work is in progress.
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Another project replaces this one: the port is closed.
    pub(crate) fn leave_project(&mut self) {
        *self = Self {
            open: self.open,
            port: self.port,
            from_anywhere: self.from_anywhere,
            ..Self::default()
        };
    }

    /// The panel as a window over the others.
    pub(crate) fn window_ui(&mut self, ctx: &egui::Context, cx: &mut Cx<'_>) {
        self.fetch(cx);
        if self.receiver.is_some() && self.of != cx.document.character.asset {
            self.receiver = None;
            cx.notify(Notice::hint(
                "The character changed; listen again to move the new one.",
            ));
        }

        let mut open = self.open;
        egui::Window::new("Capture")
            .open(&mut open)
            .default_width(WIDTH)
            .resizable(true)
            .pivot(Align2::RIGHT_TOP)
            .default_pos(ctx.content_rect().right_top() + vec2(-320.0, 60.0))
            .show(ctx, |ui| {
                self.device_ui(ui, cx);
                ui.separator();
                self.take_ui(ui, cx);
            });
        self.open = open;
    }

    fn device_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Device");
        let Some(receiver) = &self.receiver else {
            self.closed_port_ui(ui, cx);
            return;
        };

        let state = receiver.state();
        let address = receiver.address();
        ui.horizontal(|ui| {
            if ui.button("Stop listening").clicked() {
                self.receiver = None;
                self.live = false;
            }
            ui.weak(format!("at {address}"));
        });
        status_ui(ui, &state);
        if self.receiver.is_none() || state.frames == 0 {
            return;
        }

        ui.checkbox(&mut self.live, "Live on the character")
            .on_hover_text("Show the performance as it comes, instead of the timeline");
        self.calibration_ui(ui, &state, cx);
        self.record_ui(ui, &state, cx);
        meters_ui(ui, &state.meters);
    }

    fn closed_port_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.horizontal(|ui| {
            let mut port = self.port.unwrap_or(DEFAULT_PORT);
            ui.label("Port");
            let field = ui.add(DragValue::new(&mut port).range(0..=u16::MAX).speed(1.0));
            named(field, "Port").on_hover_text(
                "Live Link Face sends to 11111, VMC to 39539, iFacialMocap to 49983; 0 takes a free port",
            );
            self.port = Some(port);
            ui.checkbox(&mut self.from_anywhere, "From other computers")
                .on_hover_text("Otherwise only this computer can send; a phone is another computer");
        });

        let ready = cx.posed.filter(|posed| !posed.rig.targets().is_empty());
        let listen = ui.add_enabled(ready.is_some(), Button::new("Listen"));
        let listen = listen
            .on_hover_text("Receive Live Link Face, VMC, iFacialMocap or lines of JSON")
            .on_disabled_hover_text("Open a rig with sliders first");
        if let (true, Some(posed)) = (listen.clicked(), ready) {
            let rig = (*posed.rig).clone();
            let port = self.port.unwrap_or(DEFAULT_PORT);
            match Receiver::start(port, self.from_anywhere, rig, cx.wake.clone()) {
                Ok(receiver) => {
                    self.receiver = Some(receiver);
                    self.of.clone_from(&cx.document.character.asset);
                    self.live = true;
                }
                Err(message) => cx.notify(Notice::error(message)),
            }
        }
    }

    fn calibration_ui(&mut self, ui: &mut Ui, state: &ReceiverState, cx: &mut Cx<'_>) {
        let Some(receiver) = &self.receiver else {
            return;
        };
        let mut step = None;
        ui.horizontal(|ui| {
            if receiver.is_calibrating() {
                let hint = "Use the rest and the range that the face has shown";
                if ui.button("Range complete").on_hover_text(hint).clicked() {
                    step = Some(CalibrationStep::End);
                }
                ui.weak("Rest, then go to every extreme.");
            } else {
                let hint =
                    "Show the face at rest and at its extremes; its rest becomes 0 and its range 1";
                if ui.button("Calibrate").on_hover_text(hint).clicked() {
                    step = Some(CalibrationStep::Begin);
                }
                if state.calibrated && ui.button("Clear calibration").clicked() {
                    step = Some(CalibrationStep::Clear);
                }
            }
        });
        if let Some(Err(message)) = step.map(|step| receiver.calibrate(step)) {
            cx.notify(Notice::error(message));
        }
    }

    fn record_ui(&mut self, ui: &mut Ui, state: &ReceiverState, cx: &mut Cx<'_>) {
        let Some(receiver) = &self.receiver else {
            return;
        };
        let Some(secs) = state.recorded_secs else {
            let red = ThemeColors::of(ui.visuals()).error;
            let record = ui.button(RichText::new("Record").color(red));
            if named(record, "Record").clicked() {
                receiver.record();
            }
            return;
        };

        let stop = ui.button(format!("Stop recording  {secs:.1} s"));
        if named(stop, "Stop recording").clicked() {
            match (receiver.take_recording(), cx.posed) {
                (Some(performance), Some(posed)) => {
                    let rig = posed.rig.clone();
                    let of = self.of.clone();
                    // The take plays in place of the live performance.
                    self.live = false;
                    self.task = Some(cx.start("Keeping the recording", move |_| {
                        recorded_take(&performance, &of, &rig).map(Finished::Recorded)
                    }));
                }
                _ => cx.notify(Notice::hint("No frame came while recording.")),
            }
        }
    }

    /// Cleaning of the take that plays.
    fn take_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let timeline = &cx.document.timeline;
        let playing = timeline.playing_take.as_deref();
        let take = playing.and_then(|name| timeline.take(name));
        let take = take.filter(|take| matches!(take.frames, TakeFrames::Weights(_)));
        ui.strong("Take");
        let Some(take) = take else {
            ui.weak("Record a performance, or import a file of one (CSV, JSON, WAV). Takes of weights are cleaned here.");
            if ui.button("Import…").clicked() {
                cx.command(Command::AskImport);
            }
            return;
        };

        ui.label(format!(
            "{}: {} frames at {:.2} frames per second",
            take.name, take.frame_count, take.frames_per_second
        ));
        let take = take.clone();
        let idle = self.task.is_none();
        ui.horizontal(|ui| {
            ui.label("Clean");
            for step in CleanStep::ALL {
                let button = ui.add_enabled(idle, Button::new(step.label()));
                let name = format!("Clean {}", step.label().to_lowercase());
                if named(button, &name).on_hover_text(step.hint()).clicked() {
                    let take = take.clone();
                    self.task = Some(cx.start("Cleaning the take", move |_| {
                        let cleaned = clean_take(&take, step).ok_or("The take is damaged.")?;
                        Ok(Finished::Cleaned(step, cleaned))
                    }));
                }
            }
        });
        let keys = ui.add_enabled(idle, Button::new("Few keys"));
        let hint =
            "Convert the take to keys that are at most 0.001 off; they replace the present keys";
        if keys.on_hover_text(hint).clicked() {
            let rate = timeline.frames_per_second;
            let secs = f64::from(take.frame_count.saturating_sub(1)) / take.frames_per_second;
            self.task = Some(cx.start("Converting the take to keys", move |_| {
                let keys = take_keys(&take, rate).ok_or("The take is damaged.")?;
                Ok(Finished::Keys(
                    take.name,
                    keys,
                    ((secs * rate).round() as u32).max(1),
                ))
            }));
        }
    }

    /// Puts the result of work into the document.
    fn fetch(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Err(message)) => cx.notify(Notice::error(message)),
            Some(Ok(Finished::Recorded((take, loss)))) => {
                cx.clock.frame = 0.0;
                let import = Import {
                    takes: vec![take],
                    ..Import::default()
                };
                cx.edit("Record performance", |document| import.apply(document));
                if let Some(loss) = loss {
                    cx.notify(Notice::hint(loss));
                }
            }
            Some(Ok(Finished::Cleaned(step, cleaned))) => {
                let label = match step {
                    CleanStep::Spikes => "Remove spikes",
                    CleanStep::Noise => "Smooth take",
                    CleanStep::Holds => "Calm holds",
                    CleanStep::All => "Clean take",
                };
                cx.edit(label, move |document| {
                    let takes = &mut document.timeline.takes;
                    if let Some(take) = takes.iter_mut().find(|take| take.name == cleaned.name) {
                        *take = cleaned;
                    }
                });
            }
            Some(Ok(Finished::Keys(name, keys, last))) => {
                cx.edit("Edit take as keys", move |document| {
                    if document.timeline.playing_take.as_ref() == Some(&name) {
                        document.timeline.playing_take = None;
                        document.timeline.last_frame = last;
                        document.edit_keys(|present| *present = keys);
                    }
                });
            }
        }
    }
}

fn status_ui(ui: &mut Ui, state: &ReceiverState) {
    if state.frames == 0 {
        let declined = if state.declined > 0 {
            format!(" {} packets could not be read.", state.declined)
        } else {
            String::new()
        };
        ui.weak(format!(
            "No frame yet: set this address and port in the app.{declined}"
        ));
    } else {
        ui.weak(format!(
            "{:.0} frames/s, {} lost, {} declined; {:.2} ms to the weights (at most {:.2})",
            state.rate, state.lost, state.declined, state.latency_ms, state.longest_latency_ms
        ));
    }
    if let Some(problem) = &state.problem {
        ui.colored_label(ui.visuals().error_fg_color, problem);
    }
}

/// A bar for each channel; those that move no slider are grey.
fn meters_ui(ui: &mut Ui, meters: &[Meter]) {
    let colors = ThemeColors::of(ui.visuals());
    let (accent, field, grey) = (colors.accent, colors.field, colors.weak);
    ScrollArea::vertical().max_height(METERS).show(ui, |ui| {
        Grid::new("meters")
            .num_columns(3)
            .spacing([8.0, 2.0])
            .show(ui, |ui| {
                for meter in meters {
                    let color = if meter.mapped { accent } else { grey };
                    let name = RichText::new(&meter.name).small();
                    let label = ui.label(if meter.mapped { name } else { name.weak() });
                    if !meter.mapped {
                        label.on_hover_text("No slider of the character has this meaning");
                    }
                    bar_ui(ui, meter.value, color, field);
                    ui.label(RichText::new(format!("{:.2}", meter.value)).small());
                    ui.end_row();
                }
            });
    });
}

/// A bar from 0 to 1; a negative value goes the other way from its end.
fn bar_ui(ui: &mut Ui, value: f64, color: Color32, back: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(90.0, 8.0), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, back);
    let length = rect.width() * value.abs().min(1.0) as f32;
    let filled = if value >= 0.0 {
        Rect::from_min_max(rect.min, pos2(rect.left() + length, rect.bottom()))
    } else {
        Rect::from_min_max(pos2(rect.right() - length, rect.top()), rect.max)
    };
    ui.painter().rect_filled(filled, 2.0, color);
}
