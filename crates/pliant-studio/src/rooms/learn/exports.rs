//! Exports of the Learn room: the model, the driven clip, the confidence.

use pliant::io::{Animation, Asset, npy};
use pliant::learn::ControlTrack;
use pliant::learn::{Confidence, Method, Model};
use pliant::learn::{DrivenClip, shown_mesh};
use pliant::mesh::glam::DVec3;

use super::drive::DriveTool;
use crate::engine::context::Cx;
use crate::engine::export::Exportable;
use crate::engine::file_request::FileKind;
use crate::engine::learn::capture::{CaptureReader, UNKNOWN_RATE, drive_options};
use crate::model::blob::Blob;
use crate::model::learn::{Drive, DrivenBy};
use crate::model::names::to_message;

/// A motion of control points, and the model that follows them.
#[derive(Clone)]
struct DrivenExport {
    model: Blob,
    drive: Drive,
    control: ControlTrack,
}

/// The model, and what is driven now: the captured motion, or the pose in its current state.
pub(super) fn exports(driving: &DriveTool, stage: &CaptureReader, cx: &Cx<'_>) -> Vec<Exportable> {
    let setup = &cx.document.learn;
    let Some(trained) = setup
        .trained
        .as_ref()
        .filter(|trained| !trained.model.bytes().is_empty())
    else {
        return Vec::new();
    };

    let mut all = vec![model_export(&trained.model)];
    let moving = setup.drive.by == DrivenBy::Capture;
    let control = if moving {
        stage.control().map(|control| (**control).clone())
    } else {
        driving
            .driven()
            .map(|driven| single_frame(driven.goals.clone()))
    };
    let Some(control) = control else { return all };

    let shown = DrivenExport {
        model: trained.model.clone(),
        drive: setup.drive.clone(),
        control,
    };

    let sure = shown.clone();
    all.push(Exportable::new(
        if moving { "Driven take" } else { "Driven pose" },
        move || shown.asset(),
    ));

    // Only this method computes a confidence.
    if trained.of.method == Method::Auto {
        let kind = FileKind::new("Array of frames × vertices", vec!["npy".into()]);
        all.push(Exportable::files("Confidence", kind, move |path| {
            Ok(vec![(path.to_owned(), sure.confidence()?)])
        }));
    }
    all
}

fn model_export(model: &Blob) -> Exportable {
    let model = model.clone();
    let kind = FileKind::new("Model", vec!["safetensors".into()]);
    Exportable::files("Trained model", kind, move |path| {
        Ok(vec![(path.to_owned(), model.bytes().to_vec())])
    })
}

/// Control points of one frame.
fn single_frame(goals: Vec<DVec3>) -> ControlTrack {
    ControlTrack {
        frames: vec![goals],
        fps: None,
        warnings: Vec::new(),
        effectors: None,
    }
}

impl DrivenExport {
    fn driven(&self, with_confidence: bool) -> Result<(Model, DrivenClip), String> {
        let model = Model::from_bytes(self.model.bytes()).map_err(to_message)?;
        let options = drive_options(&self.drive, &model, with_confidence);
        let driven = DrivenClip::of(&model, &self.control, &options).map_err(to_message)?;
        Ok((model, driven))
    }

    fn asset(&self) -> Result<Asset, String> {
        let (model, driven) = self.driven(false)?;
        let mesh = shown_mesh(&model, self.drive.details);
        // One frame is exported as a mesh without a clip.
        let unit = model.examples().meters_per_unit();
        if let [pose] = &driven.frames[..] {
            let mut posed = Asset::from_mesh(mesh.posed(pose.clone()).map_err(to_message)?);
            posed.meters_per_unit = unit;
            return Ok(posed);
        }

        let mut clip = Animation::new("Driven", driven.frames.len());
        clip.frames_per_second = self.control.fps.unwrap_or(UNKNOWN_RATE);
        let mut asset = Asset::from_mesh(mesh.clone());
        asset.meters_per_unit = unit;
        asset
            .with_point_clip(clip, &driven.frames)
            .map_err(to_message)
    }

    /// From 0 to 1, frame by frame and vertex by vertex, as `pliant drive --confidence` writes it.
    fn confidence(&self) -> Result<Vec<u8>, String> {
        let (_, driven) = self.driven(true)?;
        let values: Vec<f64> = driven
            .confidence
            .iter()
            .flat_map(Confidence::of_vertices)
            .collect();

        let frames = driven.confidence.len();
        Ok(npy::write_f64(
            &[frames, values.len() / frames.max(1)],
            values,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::learn::{ControlPoints, Examples, LearnOptions};
    use pliant::mesh::shapes::flat_sheet;

    fn performance(frames: usize) -> (Model, DrivenExport) {
        let sheet = flat_sheet(8, 0.0);
        // Sheets bent along x, so that two examples span a one-parameter motion.
        let bent = |amount: f64| {
            sheet
                .positions()
                .iter()
                .map(|p| *p + DVec3::Z * amount * p.x * p.x)
                .collect::<Vec<_>>()
        };

        let examples = Examples::new(
            sheet.clone(),
            vec![bent(0.2), bent(0.4)],
            vec!["half".into(), "full".into()],
        )
        .unwrap();

        let control = ControlPoints::new(&sheet, &[0, 8, 40, 72, 80]).unwrap();
        let model = Model::train(examples, control, &LearnOptions::default(), &()).unwrap();
        let goals = (0..frames)
            .map(|k| model.control().at(&bent(0.1 * k as f64)))
            .collect();
        let control = ControlTrack {
            frames: goals,
            fps: Some(30.0),
            warnings: Vec::new(),
            effectors: None,
        };

        let blob = Blob::new(model.to_bytes(), "safetensors");
        (
            model,
            DrivenExport {
                model: blob,
                drive: Drive::default(),
                control,
            },
        )
    }

    #[test]
    fn an_exported_driven_take_equals_the_model_in_every_frame() {
        let (model, performance) = performance(3);
        let asset = performance.asset().unwrap();
        assert_eq!(
            (asset.clips[0].frame_count, asset.clips[0].frames_per_second),
            (3, 30.0)
        );

        for (k, goals) in performance.control.frames.iter().enumerate() {
            let wanted = model.drive(goals).unwrap();
            let apart = asset
                .frame_positions(k)
                .unwrap()
                .iter()
                .zip(&wanted)
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f64::max);

            assert!(apart < 1e-6, "frame {k}: {apart}");
        }

        // A single frame is exported as a mesh instead of a clip.
        let (model, pose) = self::performance(1);
        let mesh = pose.asset().unwrap().mesh().unwrap();
        let wanted = model.drive(&pose.control.frames[0]).unwrap();

        assert!(
            mesh.positions()
                .iter()
                .zip(&wanted)
                .all(|(a, b)| a.distance(*b) < 1e-6),
            "one frame is a mesh"
        );
    }

    #[test]
    fn confidence_is_an_array_of_frames_and_vertices() {
        let (model, performance) = performance(3);
        let array = npy::read(&performance.confidence().unwrap()).unwrap();
        assert_eq!(
            array.shape,
            [3, model.examples().reference().vertex_count()]
        );
        assert!(array.values.iter().all(|value| (0.0..=1.0).contains(value)));
    }
}
