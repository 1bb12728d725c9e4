//! Conversion of a recipe of the command line to a setup.

use std::path::Path;
use std::sync::Arc;

use pliant::jobs::TransferJob;
use pliant::mesh::glam::{DQuat, DVec3, EulerRot};
use pliant::recipes::{
    BorderBand, RecipeModification, ReconstructionWeighting, StiffnessThreshold, TransferRecipe,
};

use super::setup::{LayerSetup, Setup, SourceSetup};
use crate::model::project::resolved;

impl Setup {
    /// What a recipe in `folder` says, given its files opened as a job; and what the studio has no
    /// place for, a message each.
    #[must_use]
    pub(crate) fn of_recipe(
        recipe: &TransferRecipe,
        job: &TransferJob,
        folder: &Path,
    ) -> (Self, Vec<String>) {
        let mut setup = Self {
            target: resolved(&recipe.target, folder),
            root: recipe.root,
            feet: recipe.feet,
            up: recipe.up,
            check: recipe.check,
            untangle: recipe.untangle,
            ..Self::default()
        };

        for (entry, source) in recipe.sources.iter().zip(job.sources()) {
            let pairs = source
                .markers
                .iter()
                .flat_map(|markers| markers.pairs())
                .map(|&(a, b)| [a, b]);
            setup.sources.push(SourceSetup {
                name: entry.name.clone(),
                clip: resolved(&entry.clip, folder),
                pairs: Arc::new(pairs.collect()),
                // The file has the pairs of both sides.
                mirrored: false,
                method: entry.method,
                turn: entry.turn,
                align_poses: entry.align_poses,
            });
        }

        for (entry, faces) in recipe.layers.iter().zip(job.layer_faces()) {
            let region = faces.map(|faces| setup.region_of(faces, &entry.source, entry.refine));
            let source = entry.source.clone();
            let mode = entry.mode;
            let frames = entry.frames;
            setup.layers.push(LayerSetup {
                source,
                region,
                mode,
                frames,
                at: entry.at,
                speed: entry.speed,
                ease: entry.ease,
            });
        }

        setup.add_rotations(recipe, job);
        let problems = unsupported(recipe);
        (setup, problems)
    }

    fn add_rotations(&mut self, recipe: &TransferRecipe, job: &TransferJob) {
        let lowest = recipe.layers.first().map_or("", |layer| &layer.source);
        for (entry, faces) in recipe.modifications.iter().zip(job.modification_faces()) {
            let faces = faces.unwrap_or_else(|| (0..job.target().face_count() as u32).collect());
            let region = self.region_of(faces, lowest, entry.refine);
            let degrees = turned(self.rotation_of(&region), entry);
            self.set_rotation(&region, degrees);
        }
    }
}

/// Angles about x, y and z, one after another, and then the rotation that a recipe requests, as
/// such angles.
fn turned(degrees: [f64; 3], entry: &RecipeModification) -> [f64; 3] {
    let axis = DVec3::from_array(entry.axis);
    // A rotation about one axis that comes last stays exact, without a detour over a quaternion.
    let first_alone = DVec3::AXES
        .iter()
        .position(|unit| axis == *unit)
        .filter(|&k| degrees[k..].iter().all(|&angle| angle == 0.0));

    if let Some(k) = first_alone {
        let mut degrees = degrees;
        degrees[k] = entry.degrees;
        return degrees;
    }

    let [x, y, z] = degrees.map(f64::to_radians);
    let before = DQuat::from_euler(EulerRot::ZYX, z, y, x);
    let (z, y, x) =
        (DQuat::from_scaled_axis(axis.normalize_or_zero() * entry.degrees.to_radians()) * before)
            .to_euler(EulerRot::ZYX);

    [x, y, z].map(f64::to_degrees)
}

/// Parts of a recipe that a setup cannot express.
fn unsupported(recipe: &TransferRecipe) -> Vec<String> {
    let layers = recipe
        .layers
        .iter()
        .map(|layer| (layer.band, layer.threshold));

    let turns = recipe
        .modifications
        .iter()
        .map(|turn| (turn.band, turn.threshold));
    // The studio has no field for explicit bands and thresholds.
    let borders = layers
        .chain(turns)
        .any(|border| border != (BorderBand::Auto, StiffnessThreshold::Auto));

    let messages = [
        (
            borders,
            "The bands and thresholds of the recipe were ignored; the studio softens borders by flexibility.",
        ),
        (
            recipe.form == ReconstructionWeighting::Sumner2004,
            "The form 'classic' of the recipe was ignored; the studio weights triangles by area.",
        ),
    ];

    messages
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, message)| message.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_is_restored_from_its_recipe() {
        let mut setup = crate::model::transfer::walking_tapir().transfer;
        setup.add_region("hound walk");
        setup.regions[0].faces = Arc::new(vec![3, 5, 8]);
        setup.set_rotation("Region", [10.0, 0.0, -170.0]);
        setup.layers[1].at = 4;

        let mut recipe = setup.recipe();
        recipe.layers[1].refine = setup.regions[0].refine;
        let job = TransferJob::load(&recipe, None).unwrap();
        let (back, problems) = Setup::of_recipe(&recipe, &job, Path::new("."));

        assert_eq!(
            (&back.regions[0].faces, back.regions.len()),
            (&setup.regions[0].faces, 1),
            "the turn and the layer are of one region"
        );

        assert_eq!(
            (&back.layers, &back.turns, &back.target),
            (&setup.layers, &setup.turns, &setup.target)
        );
        assert!(problems.is_empty());
        assert_eq!(back.recipe(), recipe);
    }

    #[test]
    fn a_rotation_about_any_axis_becomes_equivalent_angles() {
        let entry = |axis: [f64; 3], degrees: f64| {
            let text = format!(
                "target='t'\nsource=[]\nlayer=[]\n[[modify]]\naxis = {axis:?}\ndegrees = {degrees:?}\n"
            );
            TransferRecipe::parse(&text)
                .unwrap()
                .modifications
                .remove(0)
        };

        // About a coordinate axis the angle is added as it is.
        let about_y = turned([20.0, 0.0, 0.0], &entry([0.0, 1.0, 0.0], 100.0));
        assert_eq!(about_y, [20.0, 100.0, 0.0]);

        let [x, y, z] = turned(about_y, &entry([1.0, 2.0, 0.5], 40.0)).map(f64::to_radians);
        let axis = DVec3::new(1.0, 2.0, 0.5).normalize();
        // Euler angles are not unique, so the rotations themselves are compared.
        let turn = DQuat::from_axis_angle(axis, 40_f64.to_radians())
            * DQuat::from_rotation_y(100_f64.to_radians())
            * DQuat::from_rotation_x(20_f64.to_radians());
        let found =
            DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);

        assert!(found.angle_between(turn) < 1e-7);
    }
}
