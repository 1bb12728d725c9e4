//! Captured markers as control points over time, and baking of driven motions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::jobs::DriveJob;
use pliant::learn::ControlTrack;
use pliant::learn::{DriveOptions, DrivenClip, shown_mesh};
use pliant::learn::{MarkerAlignment, MarkerPreparation, Model, Window};
use pliant::mesh::Progress;
use pliant::mesh::glam::DVec3;

use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::work::Task;
use crate::model::blob::Blob;
use crate::model::learn::{Capture, Details, Drive, DrivenBy, Setup};
use crate::model::names::{shown, to_message};
use crate::model::timeline::Take;

/// The frame rate of a capture without one.
pub(crate) const UNKNOWN_RATE: f64 = 24.0;

/// The captured motion of the document, and bakes in progress.
#[derive(Debug, Default)]
pub(crate) struct CaptureReader {
    /// What `control` was read from.
    of: Option<(Blob, Capture)>,
    reading: Option<Task<ControlTrack>>,
    control: Option<Arc<ControlTrack>>,
    error: Option<String>,
    /// A capture that the user chose: it enters the document once it was read.
    chosen: Option<(Capture, Task<ControlTrack>)>,
    baking: Option<Task<Take>>,
}

impl CaptureReader {
    /// Fetches results and reads what the document names.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        self.fetch_chosen(cx);
        self.follow_document(cx);
        match Task::finished(&mut self.baking) {
            None => {}
            Some(Err(message)) => cx.notify(Notice::error(format!("Bake: {message}"))),
            Some(Ok(take)) => {
                let frames = if take.frame_count == 1 {
                    "1 frame".to_owned()
                } else {
                    format!("{} frames", take.frame_count)
                };

                // The timeline plays takes of the character only.
                let place = if take.of == cx.document.character.asset {
                    "choose it on the timeline"
                } else {
                    "File › Export writes it, and the Pose room plays it when this mesh is the character"
                };

                cx.notify(Notice::done(format!(
                    "Baked {frames} as the take '{}'; {place}.",
                    take.name
                )));
                cx.edit("Bake take", move |document| {
                    document.timeline.add_take(take);
                });
            }
        }
    }

    /// Whether something is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.reading.is_some() || self.chosen.is_some() || self.baking.is_some()
    }

    /// Whether a take is being baked.
    #[must_use]
    pub(crate) fn is_baking(&self) -> bool {
        self.baking.is_some()
    }

    /// The motion, once it was read.
    #[must_use]
    pub(crate) fn control(&self) -> Option<&Arc<ControlTrack>> {
        self.control.as_ref()
    }

    /// The error, if there is none.
    #[must_use]
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Reads a capture that the user chose.
    pub(crate) fn choose(&mut self, capture: Capture, cx: &mut Cx<'_>) {
        let Some(trained) = &cx.document.learn.trained else {
            return;
        };

        let model = trained.model.clone();
        let folder = cx.library.folder().to_owned();
        let requested = capture.clone();

        // No progress bar, because the task cannot be cancelled.
        let task = Task::start("Reading capture", cx.wake.clone(), move |_| {
            read(&requested, &model, &folder)
        });

        self.chosen = Some((capture, task));
    }

    fn fetch_chosen(&mut self, cx: &mut Cx<'_>) {
        let Some((capture, task)) = self.chosen.take() else {
            return;
        };

        let mut slot = Some(task);
        let result = Task::finished(&mut slot);
        // The task still runs.
        if let Some(task) = slot {
            self.chosen = Some((capture, task));
            return;
        }

        match result {
            None => {}
            Some(Err(message)) => cx.notify(Notice::error(message)),
            Some(Ok(control)) => {
                let name = shown(Path::new(&capture.source));
                let frames = control.frames.len();
                cx.notify(match control.warnings.first() {
                    Some(problem) => Notice::hint(format!("{name}: {problem}")),
                    None => Notice::done(format!(
                        "{name} drives the control points for {frames} frames; press Play."
                    )),
                });

                let last = control.frames.len().saturating_sub(1) as u32;
                let rate = control.fps.unwrap_or(UNKNOWN_RATE);

                // The result is what the document will name, so it is not read twice.
                self.of = cx
                    .document
                    .learn
                    .trained
                    .as_ref()
                    .map(|trained| (trained.model.clone(), capture.clone()));

                (self.control, self.error) = (Some(Arc::new(control)), None);
                cx.edit("Load capture", move |document| {
                    document.learn.capture = Some(capture);
                    document.learn.drive.by = DrivenBy::Capture;
                    (
                        document.timeline.last_frame,
                        document.timeline.frames_per_second,
                    ) = (last.max(1), rate);
                });
            }
        }
    }

    /// Reads the capture of the document where that is another one than is here.
    fn follow_document(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.reading) {
            None => {}
            Some(Ok(control)) => self.control = Some(Arc::new(control)),
            Some(Err(message)) => self.error = Some(message),
        }

        let setup = &cx.document.learn;
        let needed = setup.drive.by == DrivenBy::Capture && self.chosen.is_none();
        let wanted = setup
            .trained
            .as_ref()
            .zip(setup.capture.clone())
            .filter(|(trained, _)| !trained.model.bytes().is_empty());

        let Some((trained, capture)) = wanted.filter(|_| needed) else {
            return;
        };

        let key = (trained.model.clone(), capture);
        // The document names another capture or another model, such as after undo.
        if self.of.as_ref() != Some(&key) {
            let folder = cx.library.folder().to_owned();
            let (model, capture) = key.clone();
            (self.of, self.control, self.error) = (Some(key), None, None);
            self.reading = Some(Task::start("Reading capture", cx.wake.clone(), move |_| {
                read(&capture, &model, &folder)
            }));
        }
    }

    /// The control points at a frame, between its frames straight.
    #[must_use]
    pub(crate) fn at(&self, frame: f64) -> Option<Vec<DVec3>> {
        let frames = &self.control.as_ref()?.frames;
        let last = frames.len().checked_sub(1)?;
        let frame = frame.clamp(0.0, last as f64);
        let before = frame.floor() as usize;
        let share = frame.fract();
        // The last frame is held.
        let after = (before + 1).min(last);

        Some(
            frames[before]
                .iter()
                .zip(&frames[after])
                .map(|(a, b)| a.lerp(*b, share))
                .collect(),
        )
    }

    /// Bakes the motion, or the pose in its current state, to a take.
    pub(crate) fn bake(&mut self, still: Option<Vec<DVec3>>, cx: &mut Cx<'_>) {
        let setup = &cx.document.learn;
        let (Some(trained), Some(of)) = (&setup.trained, take_of(setup)) else {
            return;
        };

        let control = match (still, &self.control) {
            (Some(goals), _) => ControlTrack {
                frames: vec![goals],
                fps: None,
                warnings: Vec::new(),
                effectors: None,
            },
            (None, Some(control)) => (**control).clone(),
            (None, None) => return,
        };

        let model = trained.model.clone();
        let drive = setup.drive.clone();
        self.baking = Some(cx.start("Baking", move |watch| {
            bake(&model, &control, &drive, of, watch)
        }));
    }
}

/// The asset whose vertices a baked take moves: the detailed poses where details are shown.
pub(crate) fn take_of(setup: &Setup) -> Option<String> {
    let recipe = &setup.trained.as_ref()?.of;
    match &recipe.details {
        Details::Asset(locator) if setup.drive.details => Some(locator.clone()),
        Details::Asset(_) | Details::None | Details::Smoothing => recipe.sources.first().cloned(),
    }
}

fn read(capture: &Capture, model: &Blob, folder: &Path) -> Result<ControlTrack, String> {
    let model = Model::from_bytes(model.bytes()).map_err(to_message)?;
    let axes = if capture.axes.is_empty() {
        Ok(Default::default())
    } else {
        capture.axes.parse()
    };

    let preparation = MarkerPreparation {
        scale: capture.scale,
        axes: axes.map_err(to_message)?,
        align: if capture.aligned {
            MarkerAlignment::Rigid {
                anchors: Vec::new(),
                frame: None,
                scaled: false,
            }
        } else {
            MarkerAlignment::None
        },
        smooth: (capture.smooth_frames > 0.0).then_some(Window::Frames(capture.smooth_frames)),
        ..MarkerPreparation::default()
    };

    let source = &capture.source;
    // Built-in motions are not in a folder.
    let path = if source.starts_with("specimen:") {
        PathBuf::from(source)
    } else {
        folder.join(source)
    };

    DriveJob {
        preparation,
        skeleton: None,
    }
    .read(&path, &model)
    .map_err(to_message)
}

fn bake(
    model: &Blob,
    control: &ControlTrack,
    drive: &Drive,
    of: String,
    progress: &dyn Progress,
) -> Result<Take, String> {
    let model = Model::from_bytes(model.bytes()).map_err(to_message)?;
    let base = model.examples().reference().vertex_count();
    let details = drive.details && model.detail().is_some();
    if details && shown_mesh(&model, true).vertex_count() != base {
        return Err(
            "the detailed mesh has more vertices than the examples; switch Show details off to bake"
                .into(),
        );
    }

    let options = drive_options(drive, &model, false);
    let driven =
        DrivenClip::of_with_progress(&model, control, &options, progress).map_err(to_message)?;

    Ok(Take::made(
        "Driven",
        of,
        &driven.frames,
        control.fps.unwrap_or(UNKNOWN_RATE),
    ))
}

/// How a model follows captured points.
pub(crate) fn drive_options(drive: &Drive, model: &Model, with_confidence: bool) -> DriveOptions {
    let jiggle = (drive.swing_hertz > 0.0).then_some((drive.swing_hertz, drive.swing_damping));
    let with_detail = drive.details && model.detail().is_some();
    DriveOptions {
        hold: drive.hold.hold(),
        exact: false,
        with_detail,
        with_confidence,
        jiggle,
    }
}
