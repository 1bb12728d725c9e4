//! `--residual`: what the sliders do not reach, sculpted on top of them and promoted into the rig.

use std::path::PathBuf;

use pliant_io::npy;
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Residual, ResidualLayer, ResidualOptions, ResidualReport, RigError, Rule, Target,
    unreachable_map,
};
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::output::{self, Outputs};
use super::posed::Posed;

const HEADING: &str = "Residual";

/// What becomes of goals that sliders miss.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("promotion").args(["promote", "promote_in_between", "promote_combination"]).requires("rig_out")))]
pub(crate) struct ResidualArgs {
    /// Reach the pins exactly: a smooth layer takes up what the sliders miss, within R of the
    /// pins, in the asset's units [default for R: what suits the mesh].
    #[arg(long, value_name = "R", num_args = 0..=1, allow_negative_numbers = true, value_parser = above_zero, help_heading = HEADING)]
    residual: Option<Option<f64>>,

    /// Keep the layer as a new target of this name (implies --residual).
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    promote: Option<String>,

    /// Keep the layer as an in-between of a slider, at the weight it has now (implies --residual).
    #[arg(long, value_name = "SLIDER", help_heading = HEADING)]
    promote_in_between: Option<String>,

    /// Keep the layer as a corrective for sliders that meet, named A_B (implies --residual).
    #[arg(long, value_name = "A+B", value_parser = parse_drivers, help_heading = HEADING)]
    promote_combination: Option<Drivers>,

    /// Where to write the rig with the layer in it.
    #[arg(long, value_name = "FILE", requires = "promotion", help_heading = HEADING)]
    rig_out: Option<PathBuf>,

    /// Where to write, per vertex, how much of the goals no slider can reach; for `render
    /// --scalar`.
    #[arg(long, value_name = "FILE.npy", help_heading = HEADING)]
    heatmap: Option<PathBuf>,
}

#[derive(Debug, Clone)]
struct Drivers(Vec<String>);

/// A layer on top of a pose.
pub(crate) struct Layer {
    residual: Residual,
    report: ResidualReport,
    radius: f64,
}

impl ResidualArgs {
    fn radius(&self, posed: &Posed<'_>, positions: &[DVec3], misses: &[DVec3]) -> f64 {
        let suggested = || ResidualLayer::suggested_radius(posed.rig.neutral(), positions, misses);
        self.residual.flatten().unwrap_or_else(suggested)
    }

    /// Maps what no weights inside their limits reach.
    pub(crate) fn map_unreachable(
        &self,
        posed: &Posed<'_>,
        positions: &[DVec3],
        files: &mut Outputs,
    ) -> Result<(), Failure> {
        let Some(path) = &self.heatmap else {
            return Ok(());
        };
        output::require_ending(path, &["npy"])?;
        let missing = &posed.explanation.unreachable;
        let lengths: Vec<f64> = missing.iter().map(|miss| miss.length()).collect();
        let heat = posed
            .rig
            .neutral()
            .posed(positions.to_vec())
            .map_err(RigError::from);
        let heat = heat.and_then(|mesh| {
            unreachable_map(
                &mesh,
                &places(posed),
                &lengths,
                self.radius(posed, positions, missing),
            )
        });
        let heat = heat.map_err(|error| Failure::about(posed.name, &error))?;
        files.add(path, npy::write_f64(&[heat.len()], heat.iter().copied()));
        Ok(())
    }

    /// The layer that takes up what the pins miss, where one is wanted.
    pub(crate) fn layer(
        &self,
        posed: &Posed<'_>,
        positions: &[DVec3],
    ) -> Result<Option<Layer>, Failure> {
        if self.residual.is_none() && self.rig_out.is_none() {
            return Ok(None);
        }
        let misses = posed.misses();
        let radius = self.radius(posed, positions, &misses);
        let factored = ResidualLayer::factor(
            posed.rig.neutral(),
            positions,
            &places(posed),
            radius,
            &ResidualOptions::default(),
        );
        let solved = factored.and_then(|layer| layer.residual(&misses));
        let (residual, report) = solved.map_err(|error| Failure::about(posed.name, &error))?;
        Ok(Some(Layer {
            residual,
            report,
            radius,
        }))
    }

    /// Writes the layer into the rig, and the weight of its new target into `weights`.
    pub(crate) fn promote(
        &self,
        posed: &Posed<'_>,
        layer: &Layer,
        weights: &mut Map<String, Value>,
        files: &mut Outputs,
    ) -> Result<(), Failure> {
        let Some(path) = &self.rig_out else {
            return Ok(());
        };
        let failed = |error: RigError| Failure::about(posed.name, &error);
        let mut targets = posed.rig.targets().to_vec();
        if let Some(slider) = &self.promote_in_between {
            let k = posed.rig.slider_named(slider).map_err(failed)?;
            targets[k] = layer
                .residual
                .to_in_between(&targets[k], "", posed.pose.weights[k])
                .map_err(failed)?;
        } else {
            let (target, weight) = self.new_target(posed, layer, files).map_err(failed)?;
            weights.insert(target.name.clone(), json!(weight));
            targets.push(target);
        }
        // A rig of its own tells names that are there already.
        let promoted = posed.rig.with_targets(targets).map_err(failed)?;
        let before = files.problems.len();
        files.add_asset(path, &posed.asset.with_targets(promoted.targets())?)?;
        let lost = files.problems[before..]
            .iter()
            .any(|problem| problem.contains("in-between"));
        if self.promote_in_between.is_some() && lost {
            let message = format!(
                "'{}' cannot hold in-betweens, so the new one would be lost; write a .usda",
                path.display()
            );
            return Err(Failure::could_not(message));
        }
        Ok(())
    }

    /// A target with the weight at which it adds the layer.
    fn new_target(
        &self,
        posed: &Posed<'_>,
        layer: &Layer,
        files: &mut Outputs,
    ) -> Result<(Target, f64), RigError> {
        let Some(Drivers(names)) = &self.promote_combination else {
            let name = self.promote.as_deref().unwrap_or_default();
            return Ok((layer.residual.to_target(name, 1.0)?, 1.0));
        };
        let drivers = names
            .iter()
            .map(|name| posed.rig.slider_named(name))
            .collect::<Result<Vec<_>, _>>()?;
        let values: Vec<f64> = drivers.iter().map(|&k| posed.pose.weights[k]).collect();
        let (name, coefficient) = (names.join("_"), Rule::Product.coefficient(&values));
        files.problems.push(format!(
            "no format that can be written holds combinations; '{name}' is written as a target, to be driven by {}",
            names.join(" × ")
        ));
        Ok((layer.residual.to_target(name, coefficient)?, coefficient))
    }
}

impl Layer {
    /// Adds the layer to the pose, and lets its pins report where they are now.
    pub(crate) fn add_to(
        &self,
        positions: &mut [DVec3],
        posed: &mut Posed<'_>,
    ) -> Result<(), Failure> {
        self.residual
            .apply_to(positions, 1.0)
            .map_err(|error| Failure::about(posed.name, &error))?;
        for (pin, result) in posed.pins.iter().zip(&mut posed.pose.pins) {
            result.reached = pin.support(posed.rig.neutral()).of(positions);
            let (across, goal) = pin.aim.measure(result.reached, result.goal);
            (result.goal, result.error) = (goal, (across * (goal - result.reached)).length());
        }
        Ok(())
    }

    fn largest(&self) -> f64 {
        self.residual
            .displacements()
            .iter()
            .map(|d| d.length())
            .fold(0.0, f64::max)
    }

    pub(crate) fn describe(&self) -> Value {
        json!({
            "radius": self.radius,
            "vertices": self.residual.vertices().len(),
            "largest": self.largest(),
            "iterations": self.report.iterations,
            "converged": self.report.converged,
        })
    }

    pub(crate) fn told(&self) -> String {
        let (vertices, largest, radius) =
            (self.residual.vertices().len(), self.largest(), self.radius);
        format!(
            "a layer moves {vertices} vertices within {radius:.4} of the pins by up to {largest:.4}"
        )
    }
}

fn places(posed: &Posed<'_>) -> Vec<SurfacePoint> {
    posed.pins.iter().map(|pin| pin.at).collect()
}

fn above_zero(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(radius) if radius > 0.0 && f64::is_finite(radius) => Ok(radius),
        _ => Err(format!("'{text}' is not a radius above zero")),
    }
}

fn parse_drivers(text: &str) -> Result<Drivers, String> {
    let names: Vec<String> = text.split('+').map(|name| name.trim().to_owned()).collect();
    if names.len() < 2 || names.iter().any(String::is_empty) {
        return Err(format!(
            "'{text}' is not A+B, two sliders or more, as in jawOpen+mouthPucker"
        ));
    }
    Ok(Drivers(names))
}
