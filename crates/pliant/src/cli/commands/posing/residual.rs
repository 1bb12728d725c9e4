//! The residual layer: what the sliders do not reach, added on top of them or to the rig.

use std::path::PathBuf;

use pliant_io::{Format, npy};
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Combination, Driver, Residual, ResidualLayer, ResidualOptions, ResidualReport, Rig, RigError,
    Rule, Target, unreachable_map,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::pose_output::SolvedPose;
use crate::cli::args::number::positive;
use crate::cli::args::slider_weights::WeightsByName;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, OutputFiles};

const HEADING: &str = "Residual layer";

/// How to treat goals that the sliders do not reach.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("promotion").args(["promote", "promote_in_between", "promote_combination"]).requires("rig_out")))]
pub(crate) struct ResidualArgs {
    /// Reach the pins exactly: add a smooth displacement within R of the pins, in asset units
    /// [default for R: chosen from the mesh].
    #[arg(long, value_name = "R", num_args = 0..=1, allow_negative_numbers = true, value_parser = positive, help_heading = HEADING)]
    residual: Option<Option<f64>>,

    /// Keep the layer as a new target of this name (implies --residual).
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    promote: Option<String>,

    /// Keep the layer as an in-between of a slider, at its present weight (implies --residual).
    #[arg(long, value_name = "SLIDER", help_heading = HEADING)]
    promote_in_between: Option<String>,

    /// Keep the layer as a combination of sliders, named A_B (implies --residual).
    #[arg(long, value_name = "A+B", value_parser = parse_drivers, help_heading = HEADING)]
    promote_combination: Option<Drivers>,

    /// File for the rig with the layer in it.
    #[arg(long, value_name = "FILE", requires = "promotion", help_heading = HEADING)]
    rig_out: Option<PathBuf>,

    /// File for a map of how much of the goals no slider can reach: a number for each vertex, for
    /// `render --scalar`.
    #[arg(long, value_name = "FILE.npy", help_heading = HEADING)]
    heatmap: Option<PathBuf>,
}

/// Sliders that drive a combination.
#[derive(Debug, Clone)]
struct Drivers(Vec<String>);

fn parse_drivers(text: &str) -> Result<Drivers, String> {
    let names: Vec<String> = text.split('+').map(|name| name.trim().to_owned()).collect();
    if names.len() < 2 || names.iter().any(String::is_empty) {
        return Err(format!(
            "'{text}' is not A+B, two sliders or more, as in jawOpen+mouthPucker"
        ));
    }
    Ok(Drivers(names))
}

/// A residual layer on top of a pose.
pub(crate) struct Layer {
    residual: Residual,
    solve: ResidualReport,
    radius: f64,
}

/// The residual layer in a report.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LayerReport {
    /// Radius around the pins, in asset units.
    radius: f64,
    /// Vertices that the layer moves.
    vertices: usize,
    /// Largest displacement, in asset units.
    largest: f64,
    /// Iterations of the solve.
    iterations: usize,
    /// Whether the solve converged.
    converged: bool,
}

impl ResidualArgs {
    fn radius(&self, solved: &SolvedPose<'_>, positions: &[DVec3], misses: &[DVec3]) -> f64 {
        match self.residual.flatten() {
            Some(radius) => radius,
            None => ResidualLayer::suggested_radius(solved.rig.neutral(), positions, misses),
        }
    }

    /// The name under which the layer is kept in the rig, if it is a target of its own.
    pub(crate) fn promoted_name(&self) -> Option<&str> {
        self.promote.as_deref()
    }

    /// Adds the map of what no weights inside the limits reach to `files`.
    pub(crate) fn write_heatmap(
        &self,
        solved: &SolvedPose<'_>,
        positions: &[DVec3],
        files: &mut OutputFiles,
    ) -> Result<(), Failure> {
        let Some(path) = &self.heatmap else {
            return Ok(());
        };
        output::require_ending(path, &["npy"])?;
        let heat = self
            .heat(solved, positions)
            .map_err(|error| Failure::about(solved.locator, &error))?;
        files.add(path, npy::write_f64(&[heat.len()], heat.iter().copied()));
        Ok(())
    }

    fn heat(&self, solved: &SolvedPose<'_>, positions: &[DVec3]) -> Result<Vec<f64>, RigError> {
        let unreachable = &solved.explanation.unreachable;
        let lengths: Vec<f64> = unreachable.iter().map(|miss| miss.length()).collect();
        let mesh = solved.rig.neutral().posed(positions.to_vec())?;
        let radius = self.radius(solved, positions, unreachable);
        unreachable_map(&mesh, &pin_points(solved), &lengths, radius)
    }

    /// The layer that moves the pins to their goals, if one is wanted.
    pub(crate) fn layer(
        &self,
        solved: &SolvedPose<'_>,
        positions: &[DVec3],
    ) -> Result<Option<Layer>, Failure> {
        if self.residual.is_none() && self.rig_out.is_none() {
            return Ok(None);
        }

        let misses = solved.misses();
        let radius = self.radius(solved, positions, &misses);

        let factored = ResidualLayer::factor(
            solved.rig.neutral(),
            positions,
            &pin_points(solved),
            radius,
            &ResidualOptions::default(),
        );
        let (residual, solve) = factored
            .and_then(|layer| layer.residual(&misses))
            .map_err(|error| Failure::about(solved.locator, &error))?;
        Ok(Some(Layer {
            residual,
            solve,
            radius,
        }))
    }

    /// Adds the rig with the layer to `files`, and the weight of a new target to `weights`.
    pub(crate) fn promote(
        &self,
        solved: &SolvedPose<'_>,
        layer: &Layer,
        weights: &mut WeightsByName,
        files: &mut OutputFiles,
    ) -> Result<(), Failure> {
        let Some(path) = &self.rig_out else {
            return Ok(());
        };
        let about = |error: RigError| Failure::about(solved.locator, &error);
        if let Some(name) = &self.promote
            && solved.rig.slider_named(name).is_ok()
        {
            return Err(Failure::new(format!(
                "--promote {name}: {} already has a target of this name; give another name",
                solved.locator
            )));
        }

        let stores_combinations = Format::of(path).is_some_and(Format::stores_combinations);
        let before = files.left_out.len();
        if let Some(Drivers(names)) = &self.promote_combination
            && stores_combinations
        {
            let rig = layer.with_combination(solved, names).map_err(about)?;
            return files.add_asset(path, &solved.asset.with_rig(&rig)?);
        }

        // A rig of its own reports names that exist already.
        let targets = self
            .promoted_targets(solved, layer, weights, files)
            .map_err(about)?;
        let promoted = solved.bind.with_targets(targets).map_err(about)?;
        let asset = solved.asset.with_targets(promoted.targets())?;
        files.add_asset(path, &asset)?;

        // Other lost content gives a warning; losing the promoted layer itself is a failure.
        let loses_in_betweens = files.left_out[before..]
            .iter()
            .any(|content| content.contains("in-between"));
        if self.promote_in_between.is_some() && loses_in_betweens {
            return Err(Failure::new(format!(
                "'{}' cannot store in-betweens, so the new one would be lost; write a .usda file",
                path.display()
            )));
        }
        Ok(())
    }

    fn promoted_targets(
        &self,
        solved: &SolvedPose<'_>,
        layer: &Layer,
        weights: &mut WeightsByName,
        files: &mut OutputFiles,
    ) -> Result<Vec<Target>, RigError> {
        // An in-between belongs to its target; all else becomes a target of its own.
        let mut targets = solved.bind.targets().to_vec();
        if let Some(slider) = &self.promote_in_between {
            let k = solved.rig.slider_named(slider)?.index();
            let weight = solved.pose.weights[k];
            // An in-between is a whole displacement, so the layer is added to the posed target.
            let posed = &solved.rig.targets()[k];
            let posed = layer.residual.to_in_between(posed, "", weight)?;
            targets[k].in_betweens = solved.character.unposed(&posed).in_betweens;
        } else {
            let (target, weight) = self.new_target(solved, layer, files)?;
            weights.insert(target.name.clone(), weight);
            targets.push(target);
        }
        Ok(targets)
    }

    /// A target with the weight at which it adds the layer.
    fn new_target(
        &self,
        solved: &SolvedPose<'_>,
        layer: &Layer,
        files: &mut OutputFiles,
    ) -> Result<(Target, f64), RigError> {
        let Some(Drivers(names)) = &self.promote_combination else {
            let name = self.promote.as_deref().unwrap_or_default();
            let target = layer.residual.to_target(name, 1.0)?;
            return Ok((solved.character.unposed(&target), 1.0));
        };

        let mut driver_weights = Vec::with_capacity(names.len());
        for name in names {
            let slider = solved.rig.slider_named(name)?;
            driver_weights.push(solved.pose.weights[slider.index()]);
        }

        // The layer is divided by the product of the drivers, which multiplies it again in use.
        let name = names.join("_");
        let coefficient = Rule::Product.coefficient(&driver_weights);
        files.warnings.push(format!(
            "this format cannot store combinations; '{name}' is written as a target, to be driven by {}",
            names.join(" × ")
        ));
        let target = layer.residual.to_target(name, coefficient)?;
        Ok((solved.character.unposed(&target), coefficient))
    }
}

impl Layer {
    /// Adds the layer to the positions, and updates the results of the pins.
    pub(crate) fn add_to(
        &self,
        positions: &mut [DVec3],
        solved: &mut SolvedPose<'_>,
    ) -> Result<(), Failure> {
        self.residual
            .apply_to(positions, 1.0)
            .map_err(|error| Failure::about(solved.locator, &error))?;

        // A pin with a free coordinate takes the nearest position that satisfies it as its goal.
        for (pin, result) in solved.pins.iter().zip(&mut solved.pose.pins) {
            result.reached = pin.support(solved.rig.neutral()).of(positions);
            let (across, goal) = pin.aim.projection_and_goal(result.reached, result.goal);
            result.goal = goal;
            result.error = (across * (goal - result.reached)).length();
        }
        Ok(())
    }

    /// The rig of the asset with the layer as a combination of the sliders `names`.
    fn with_combination(&self, solved: &SolvedPose<'_>, names: &[String]) -> Result<Rig, RigError> {
        let mut drivers = Vec::with_capacity(names.len());
        let mut driver_weights = Vec::with_capacity(names.len());
        for name in names {
            let slider = solved.rig.slider_named(name)?;
            drivers.push(Driver::Slider(slider));
            driver_weights.push(solved.pose.weights[slider.index()]);
        }

        // The layer is divided by the product of the drivers, which multiplies it again in use.
        let name = names.join("_");
        let coefficient = Rule::Product.coefficient(&driver_weights);
        let shape = self.residual.to_target(&name, coefficient)?;
        let shape = solved.character.unposed(&shape);
        let mut combinations = solved.bind.combinations().to_vec();
        combinations.push(Combination {
            name,
            drivers,
            rule: Rule::Product,
            vertices: shape.vertices,
            deltas: shape.deltas,
        });
        solved.bind.clone().with_combinations(combinations)
    }

    /// The layer as a target called `name`, or with a name that none of `targets` has, before joints
    /// move it.
    pub(crate) fn target(
        &self,
        name: Option<&str>,
        targets: &[Target],
        solved: &SolvedPose<'_>,
    ) -> Result<Target, Failure> {
        let taken = |name: &str| targets.iter().any(|target| target.name == name);
        let mut name = name.unwrap_or("residual").to_owned();
        let mut number = 2;
        while taken(&name) {
            name = format!("residual{number}");
            number += 1;
        }

        let target = self.residual.to_target(&name, 1.0);
        let target = target.map_err(|error| Failure::about(solved.locator, &error))?;
        Ok(solved.character.unposed(&target))
    }

    pub(crate) fn report(&self) -> LayerReport {
        let displacements = self.residual.displacements();
        LayerReport {
            radius: self.radius,
            vertices: self.residual.vertices().len(),
            largest: displacements
                .iter()
                .map(|displacement| displacement.length())
                .fold(0.0, f64::max),
            iterations: self.solve.iterations,
            converged: self.solve.converged,
        }
    }

    pub(crate) fn summary(&self) -> String {
        let LayerReport {
            radius,
            vertices,
            largest,
            ..
        } = self.report();
        format!(
            "the residual layer moves {vertices} vertices within {radius:.4} of the pins by up to {largest:.4}"
        )
    }
}

fn pin_points(solved: &SolvedPose<'_>) -> Vec<SurfacePoint> {
    solved.pins.iter().map(|pin| pin.at).collect()
}
