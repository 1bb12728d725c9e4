//! A picture of the window as a PNG file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use eframe::egui;

use crate::engine::storage::files::Files;
use crate::engine::work::{Task, Wake};
use crate::model::names::{io_reason, shown};

/// A picture of the window, and where it should go.
type Taken = (PathBuf, Arc<egui::ColorImage>);

/// A picture that is requested, taken, or written.
#[derive(Default)]
pub(crate) struct Picture {
    /// Where to, and how many frames to wait for: the dialog that requested it is still on the
    /// screen.
    wanted: Option<(PathBuf, u32)>,
    taken: Arc<Mutex<Option<Taken>>>,
    waiting: bool,
    writing: Option<Task<String>>,
}

impl Picture {
    pub(crate) fn request(&mut self, path: PathBuf) {
        self.wanted = Some((path, 2));
    }

    pub(crate) fn busy(&self) -> bool {
        self.wanted.is_some() || self.waiting || self.writing.is_some()
    }

    /// Goes on with it; a message at its end.
    pub(crate) fn update(
        &mut self,
        ctx: &egui::Context,
        files: &Arc<dyn Files>,
        wake: &Wake,
    ) -> Option<Result<String, String>> {
        if let Some((path, frames)) = self.wanted.take() {
            ctx.request_repaint();
            // The dialog must disappear from the screen first.
            if frames > 0 {
                self.wanted = Some((path, frames - 1));
            } else {
                self.take(path, ctx, wake);
            }
        }

        let taken = self
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();

        if let Some((path, image)) = taken {
            self.waiting = false;
            let files = files.clone();
            self.writing = Some(Task::start(
                "Writing the picture",
                wake.clone(),
                move |_| write(&*files, &path, &image),
            ));
        }

        Task::finished(&mut self.writing)
    }

    fn take(&mut self, path: PathBuf, ctx: &egui::Context, wake: &Wake) {
        self.waiting = true;
        let taken = self.taken.clone();
        let wake = wake.clone();
        ctx.request_screenshot(move |image| {
            *taken.lock().unwrap_or_else(PoisonError::into_inner) = Some((path, image));
            wake();
        });
    }
}

fn write(files: &dyn Files, path: &Path, image: &egui::ColorImage) -> Result<String, String> {
    let failed = |why: String| format!("The picture was not saved because {why}.");
    let bytes = png_bytes(image).map_err(|error| failed(error.to_string()))?;
    files
        .write(path, &bytes)
        .map_err(|error| failed(io_reason(&error)))?;
    Ok(format!("Saved the picture {}.", shown(path)))
}

fn png_bytes(image: &egui::ColorImage) -> Result<Vec<u8>, png::EncodingError> {
    let [width, height] = image.size.map(|side| side as u32);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);

    let pixels: Vec<u8> = image
        .pixels
        .iter()
        .flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()])
        .collect();

    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(bytes)
}
