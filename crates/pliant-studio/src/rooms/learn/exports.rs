//! What goes out of the room: the model, what it makes of its points, and how sure it is.

use std::path::Path;

use pliant::drive_job::Control;
use pliant::driven_clip::{DrivenClip, shown_mesh};
use pliant::io::{Animation, Asset, npy};
use pliant::learn::{Confidence, Method, Model};
use pliant::mesh::glam::DVec3;

use super::capture::{Stage, UNKNOWN_RATE, drive_options};
use super::drive::Driving;
use super::setup::{Drive, DrivenBy};
use crate::blob::Blob;
use crate::dialog::Kind;
use crate::export::Exportable;
use crate::rooms::Cx;

/// A motion of control points, and the model that follows them.
#[derive(Clone)]
struct Performance {
    model: Blob,
    drive: Drive,
    control: Control,
}

/// The model, and what is driven now: the captured motion, or the pose as it stands.
pub(super) fn exports(driving: &Driving, stage: &Stage, cx: &Cx<'_>) -> Vec<Exportable> {
    let setup = &cx.document.learn;
    let Some(trained) = setup
        .trained
        .as_ref()
        .filter(|trained| !trained.model.bytes().is_empty())
    else {
        return Vec::new();
    };
    let model = trained.model.clone();
    let write = move |path: &Path| Ok(vec![(path.to_owned(), model.bytes().to_vec())]);
    let mut all = vec![Exportable::files(
        "Trained model",
        Kind::new("Model", vec!["safetensors".into()]),
        write,
    )];
    let moving = setup.drive.by == DrivenBy::Capture;
    let still = |goals: Vec<DVec3>| Control {
        frames: vec![goals],
        fps: None,
        problems: Vec::new(),
        effectors: None,
    };
    let control = match stage.control().filter(|_| moving) {
        Some(control) => Some((**control).clone()),
        None => driving
            .driven()
            .filter(|_| !moving)
            .map(|driven| still(driven.goals.clone())),
    };
    let Some(control) = control else { return all };
    let shown = Performance {
        model: trained.model.clone(),
        drive: setup.drive.clone(),
        control,
    };
    let sure = shown.clone();
    all.push(Exportable::new(
        if moving { "Driven take" } else { "Driven pose" },
        move || shown.asset(),
    ));
    if trained.of.method == Method::Auto {
        let kind = Kind::new("Array of frames × vertices", vec!["npy".into()]);
        all.push(Exportable::files("Confidence", kind, move |path| {
            Ok(vec![(path.to_owned(), sure.confidence()?)])
        }));
    }
    all
}

impl Performance {
    fn driven(&self, with_confidence: bool) -> Result<(Model, DrivenClip), String> {
        let model = Model::from_bytes(self.model.bytes()).map_err(|error| error.to_string())?;
        let options = drive_options(&self.drive, &model, with_confidence);
        let driven =
            DrivenClip::of(&model, &self.control, &options).map_err(|error| error.to_string())?;
        Ok((model, driven))
    }

    fn asset(&self) -> Result<Asset, String> {
        let (model, driven) = self.driven(false)?;
        let mesh = shown_mesh(&model, self.drive.details);
        if let [pose] = &driven.frames[..] {
            return Ok(Asset::from_mesh(
                mesh.posed(pose.clone())
                    .map_err(|error| error.to_string())?,
            ));
        }
        let mut clip = Animation::new("Driven", driven.frames.len());
        clip.frames_per_second = self.control.fps.unwrap_or(UNKNOWN_RATE);
        Asset::from_mesh(mesh.clone())
            .with_point_clip(clip, &driven.frames)
            .map_err(|error| error.to_string())
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

    fn performance(frames: usize) -> (Model, Performance) {
        let sheet = flat_sheet(8, 0.0);
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
        let control = Control {
            frames: goals,
            fps: Some(30.0),
            problems: Vec::new(),
            effectors: None,
        };
        let blob = Blob::new(model.to_bytes(), "safetensors");
        (
            model,
            Performance {
                model: blob,
                drive: Drive::default(),
                control,
            },
        )
    }

    #[test]
    fn a_driven_take_has_the_poses_of_the_model_frame_by_frame() {
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
        let (model, pose) = self::performance(1);
        let (mesh, wanted) = (
            pose.asset().unwrap().mesh().unwrap(),
            model.drive(&pose.control.frames[0]).unwrap(),
        );
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
