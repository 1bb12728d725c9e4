//! Captured markers as control points over time, and motions baked to takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::drive_job::{Control, DriveJob};
use pliant::driven_clip::{DriveOptions, DrivenClip, shown_mesh};
use pliant::learn::{Align, Model, Preparation, Window};
use pliant::mesh::Progress;
use pliant::mesh::glam::DVec3;

use super::setup::{Capture, Details, Drive, DrivenBy, Setup};
use crate::blob::Blob;
use crate::command::Notice;
use crate::names::shown;
use crate::rooms::Cx;
use crate::timeline::Take;
use crate::work::Task;

/// Frames a second of a capture that does not say.
pub(super) const UNKNOWN_RATE: f64 = 24.0;

/// The captured motion of the document, and bakes under way.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// What `control` was read from.
    of: Option<(Blob, Capture)>,
    reading: Option<Task<Control>>,
    control: Option<Arc<Control>>,
    trouble: Option<String>,
    /// A capture that a person chose: it enters the document once it was read.
    chosen: Option<(Capture, Task<Control>)>,
    baking: Option<Task<Take>>,
}

impl Stage {
    /// Fetches results and reads what the document names.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        self.fetch_chosen(cx);
        self.follow_document(cx);
        match Task::finished(&mut self.baking) {
            None => {}
            Some(Err(sentence)) => cx.tell(Notice::trouble(format!("Bake: {sentence}"))),
            Some(Ok(take)) => {
                let frames = if take.frame_count == 1 {
                    "1 frame".to_owned()
                } else {
                    format!("{} frames", take.frame_count)
                };
                let place = if take.of == cx.document.character.asset {
                    "choose it on the timeline"
                } else {
                    "File › Export writes it, and the Pose room plays it once this mesh is the character"
                };
                cx.tell(Notice::done(format!(
                    "Baked {frames} as the take '{}'; {place}.",
                    take.name
                )));
                cx.edit("Bake take", move |document| {
                    document.timeline.add_take(take);
                });
            }
        }
    }

    /// Whether something is on its way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.reading.is_some() || self.chosen.is_some() || self.baking.is_some()
    }

    /// Whether a take is being baked.
    #[must_use]
    pub(super) fn is_baking(&self) -> bool {
        self.baking.is_some()
    }

    /// The motion, once it was read.
    #[must_use]
    pub(super) fn control(&self) -> Option<&Arc<Control>> {
        self.control.as_ref()
    }

    /// Why there is none.
    #[must_use]
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Reads a capture that a person chose.
    pub(super) fn choose(&mut self, capture: Capture, cx: &mut Cx<'_>) {
        let Some(trained) = &cx.document.learn.trained else {
            return;
        };
        let (model, folder, asked) = (
            trained.model.clone(),
            cx.library.folder().to_owned(),
            capture.clone(),
        );
        // No bar: nothing of it could be stopped.
        let task = Task::start("Reading capture", cx.wake.clone(), move |_| {
            read(&asked, &model, &folder)
        });
        self.chosen = Some((capture, task));
    }

    fn fetch_chosen(&mut self, cx: &mut Cx<'_>) {
        let Some((capture, task)) = self.chosen.take() else {
            return;
        };
        let mut slot = Some(task);
        let result = Task::finished(&mut slot);
        if let Some(task) = slot {
            self.chosen = Some((capture, task));
            return;
        }
        match result {
            None => {}
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
            Some(Ok(control)) => {
                let name = shown(Path::new(&capture.source));
                let frames = control.frames.len();
                cx.tell(match control.problems.first() {
                    Some(problem) => Notice::hint(format!("{name}: {problem}")),
                    None => Notice::done(format!(
                        "{name} drives the points for {frames} frames; Play shows them."
                    )),
                });
                let (last, rate) = (
                    control.frames.len().saturating_sub(1) as u32,
                    control.fps.unwrap_or(UNKNOWN_RATE),
                );
                self.of = cx
                    .document
                    .learn
                    .trained
                    .as_ref()
                    .map(|trained| (trained.model.clone(), capture.clone()));
                (self.control, self.trouble) = (Some(Arc::new(control)), None);
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
            Some(Err(sentence)) => self.trouble = Some(sentence),
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
        if self.of.as_ref() != Some(&key) {
            let (folder, (model, capture)) = (cx.library.folder().to_owned(), key.clone());
            (self.of, self.control, self.trouble) = (Some(key), None, None);
            self.reading = Some(Task::start("Reading capture", cx.wake.clone(), move |_| {
                read(&capture, &model, &folder)
            }));
        }
    }

    /// The control points at a frame, between its frames straight.
    #[must_use]
    pub(super) fn at(&self, frame: f64) -> Option<Vec<DVec3>> {
        let frames = &self.control.as_ref()?.frames;
        let last = frames.len().checked_sub(1)?;
        let frame = frame.clamp(0.0, last as f64);
        let (before, share) = (frame.floor() as usize, frame.fract());
        let after = (before + 1).min(last);
        Some(
            frames[before]
                .iter()
                .zip(&frames[after])
                .map(|(a, b)| a.lerp(*b, share))
                .collect(),
        )
    }

    /// Bakes the motion, or the pose as it stands, to a take.
    pub(super) fn bake(&mut self, still: Option<Vec<DVec3>>, cx: &mut Cx<'_>) {
        let setup = &cx.document.learn;
        let (Some(trained), Some(of)) = (&setup.trained, take_of(setup)) else {
            return;
        };
        let control = match (still, &self.control) {
            (Some(goals), _) => Control {
                frames: vec![goals],
                fps: None,
                problems: Vec::new(),
                effectors: None,
            },
            (None, Some(control)) => (**control).clone(),
            (None, None) => return,
        };
        let (model, drive) = (trained.model.clone(), setup.drive.clone());
        self.baking = Some(cx.start("Baking", move |watch| {
            bake(&model, &control, &drive, of, watch)
        }));
    }
}

/// The asset whose vertices a baked take moves: the detailed poses where details are shown.
pub(super) fn take_of(setup: &Setup) -> Option<String> {
    let recipe = &setup.trained.as_ref()?.of;
    match &recipe.details {
        Details::Asset(locator) if setup.drive.details => Some(locator.clone()),
        Details::Asset(_) | Details::None | Details::Smoothing => recipe.sources.first().cloned(),
    }
}

fn read(capture: &Capture, model: &Blob, folder: &Path) -> Result<Control, String> {
    let model = Model::from_bytes(model.bytes()).map_err(|error| error.to_string())?;
    let axes = if capture.axes.is_empty() {
        Ok(Default::default())
    } else {
        capture.axes.parse()
    };
    let preparation = Preparation {
        scale: capture.scale,
        axes: axes.map_err(|error: pliant::learn::LearnError| error.to_string())?,
        align: if capture.aligned {
            Align::By {
                anchors: Vec::new(),
                frame: None,
                scaled: false,
            }
        } else {
            Align::None
        },
        smooth: (capture.smooth_frames > 0.0).then_some(Window::Frames(capture.smooth_frames)),
        ..Preparation::default()
    };
    let source = &capture.source;
    // Only files lie in a folder; built-in motions do not.
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
    .map_err(|error| error.to_string())
}

fn bake(
    model: &Blob,
    control: &Control,
    drive: &Drive,
    of: String,
    progress: &dyn Progress,
) -> Result<Take, String> {
    let model = Model::from_bytes(model.bytes()).map_err(|error| error.to_string())?;
    let base = model.examples().reference().vertex_count();
    let details = drive.details && model.detail().is_some();
    if details && shown_mesh(&model, true).vertex_count() != base {
        return Err(
            "the details have more vertices than the examples' mesh; switch details off to bake"
                .into(),
        );
    }
    let options = drive_options(drive, &model, false);
    let driven = DrivenClip::watched(&model, control, &options, progress)
        .map_err(|error| error.to_string())?;
    Ok(Take::made(
        "Driven",
        of,
        &driven.frames,
        control.fps.unwrap_or(UNKNOWN_RATE),
    ))
}

/// How a model follows captured points.
pub(super) fn drive_options(drive: &Drive, model: &Model, with_confidence: bool) -> DriveOptions {
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
