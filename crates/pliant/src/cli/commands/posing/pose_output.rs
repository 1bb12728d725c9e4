//! Files and report of a solved pose, for `pose` and `sketch`.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use pliant_io::{Asset, CharacterPose, Format};
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Aim, Explanation, Pin, PinResult, Pose, Rig, SliderId, SliderMove};
use schemars::JsonSchema;
use serde::Serialize;

use super::residual::{Layer, LayerReport, ResidualArgs};
use crate::cli::args::prior::PriorReport;
use crate::cli::args::slider_weights::{self, WeightsByName};
use crate::cli::report::failure::Failure;
use crate::cli::report::microseconds_since;
use crate::cli::report::output::{OutputFiles, path_text};

/// The output files of a pose.
#[derive(Debug, clap::Args)]
pub(crate) struct PoseOutputArgs {
    /// File for the computed weights.
    #[arg(long, value_name = "FILE.json")]
    pub(super) weights_out: Option<PathBuf>,

    /// File for the rig at the computed weights; for the posed mesh if the format stores no targets.
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,

    /// Write the posed mesh alone, without targets, whatever the format.
    #[arg(long)]
    flat: bool,

    #[command(flatten)]
    residual: ResidualArgs,
}

/// Pins and the weights that were solved for them.
pub(crate) struct SolvedPose<'a> {
    pub(crate) locator: &'a str,
    pub(crate) asset: &'a Asset,
    /// The rig before joints move it, as files store it.
    pub(crate) bind: &'a Rig,
    /// The pose of the joints, in which the pins are.
    pub(crate) character: &'a CharacterPose,
    /// The rig in that pose.
    pub(crate) rig: &'a Rig,
    pub(crate) pins: Vec<Pin>,
    pub(crate) pose: Pose,
    /// Time of the solve, in microseconds.
    pub(crate) solve_us: f64,
    pub(crate) explanation: Explanation,
    /// Where the prior comes from, if there is one.
    pub(crate) prior: Option<PriorReport>,
}

/// A pose whose files are written.
pub(crate) struct WrittenPose {
    pub(crate) report: PoseReport,
    pub(crate) summary: String,
    pub(crate) warnings: Vec<String>,
}

/// The report of `pliant pose`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PoseReport {
    /// Solver.
    method: &'static str,
    /// Weights that are not zero, by slider.
    weights: WeightsByName,
    /// The pins in their order.
    pins: Vec<PinReport>,
    /// Sliders with a weight above 0.02 in absolute value.
    active_sliders: usize,
    /// Sliders that a limit holds back.
    at_limit: Vec<String>,
    /// Sliders that moved, the most important first.
    moved: Vec<SliderReport>,
    /// KKT residual of the bounded solver; null for other methods.
    kkt: Option<f64>,
    /// Iterations of the solver.
    iterations: usize,
    /// Time of the solve, in microseconds.
    solve_us: f64,
    /// Time to evaluate the rig, in microseconds.
    evaluate_us: f64,
    /// The clip of `--prior`; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<PriorReport>,
    /// The residual layer; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    residual: Option<LayerReport>,
    /// File of the rig at the computed weights, or of the posed mesh.
    out: String,
}

/// One pin.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PinReport {
    /// Vertex of the pin; null for a pin inside a triangle.
    vertex: Option<u32>,
    /// The coordinates that the pin constrains.
    binds: Binds,
    /// Position that the pin should reach; where a coordinate is free, the nearest such position.
    goal: [f64; 3],
    /// Position that the pin reached.
    reached: [f64; 3],
    /// Distance of both positions in the constrained coordinates, in asset units.
    error: f64,
    /// Length of the part of the displacement that no weights inside the limits reach.
    unreachable: f64,
}

/// The coordinates that a pin constrains.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Binds {
    /// All three coordinates.
    Space,
    /// A plane; the direction orthogonal to it is free.
    Plane,
    /// One direction; the plane orthogonal to it is free.
    Direction,
    /// The distance from a curve.
    Curve,
}

/// One slider that moved.
#[derive(Debug, Serialize, JsonSchema)]
struct SliderReport {
    slider: String,
    /// Weight before.
    from: f64,
    /// Weight after.
    to: f64,
    /// Effect at each pin.
    pins: Vec<PinEffect>,
}

/// What a slider did at a pin.
#[derive(Debug, Serialize, JsonSchema)]
struct PinEffect {
    /// Displacement of the pin by the slider.
    displacement: [f64; 3],
    /// Part of the displacement to the goal: 1 is all of it, below 0 is away from it.
    of_goal: f64,
}

impl PoseOutputArgs {
    /// Whether the output is the rig at its weights; otherwise it is a posed mesh.
    fn keeps_rig(&self) -> bool {
        !self.flat && Format::of(&self.out).is_some_and(Format::stores_targets)
    }
}

impl SolvedPose<'_> {
    /// Evaluates the rig, adds the residual layer if one is wanted, and writes all files.
    pub(crate) fn write(
        mut self,
        args: &PoseOutputArgs,
        mut files: OutputFiles,
    ) -> Result<WrittenPose, Failure> {
        let keeps_rig = args.keeps_rig();

        let start = Instant::now();
        let mut positions = self.rig.evaluate(&self.pose.weights);
        let evaluate_us = microseconds_since(start);
        let mut weights = slider_weights::by_name(self.rig, &self.pose.weights);

        // The map shows what the sliders miss, so it precedes the layer that hides it.
        args.residual.write_heatmap(&self, &positions, &mut files)?;
        let layer = args.residual.layer(&self, &positions)?;
        if let Some(layer) = &layer {
            layer.add_to(&mut positions, &mut self)?;
            args.residual
                .promote(&self, layer, &mut weights, &mut files)?;
        }

        // A promoted layer has a weight of its own, so the weights are written after it.
        if let Some(path) = &args.weights_out {
            files.add(path, slider_weights::to_bytes(&weights));
        }
        let result = if keeps_rig {
            self.posed_rig(args, layer.as_ref())?
        } else {
            self.asset.posed(&positions)?
        };
        files.add_asset(&args.out, &result)?;
        files.write()?;

        let warnings = [
            &self.asset.warnings[..],
            &self.pose.warnings,
            &files.warnings,
        ]
        .concat();
        Ok(WrittenPose {
            summary: self.summary(args, layer.as_ref()),
            report: self.report(args, weights, evaluate_us, layer.as_ref()),
            warnings,
        })
    }

    /// The rig at the solved weights. A residual layer becomes one more target at weight 1.
    fn posed_rig(&self, args: &PoseOutputArgs, layer: Option<&Layer>) -> Result<Asset, Failure> {
        let mut weights = slider_weights::by_name(self.rig, &self.pose.weights);
        let mut rig = self.asset.clone();
        if let Some(layer) = layer {
            let mut targets = rig.rig()?.targets().to_vec();
            let target = layer.target(args.residual.promoted_name(), &targets, self)?;
            weights.insert(target.name.clone(), 1.0);
            targets.push(target);
            rig = rig.with_targets(&targets)?;
        }

        Ok(rig.with_rest_weights(|name| weights.get(name).copied().unwrap_or(0.0)))
    }

    fn report(
        &self,
        args: &PoseOutputArgs,
        weights: WeightsByName,
        evaluate_us: f64,
        layer: Option<&Layer>,
    ) -> PoseReport {
        let pose = &self.pose;

        PoseReport {
            method: pose.method,
            weights,
            pins: pin_reports(&self.pins, pose, &self.explanation.unreachable),
            active_sliders: pose.active_sliders(),
            at_limit: pose
                .at_limit
                .iter()
                .map(|&slider| self.slider_name(slider))
                .collect(),
            moved: self
                .explanation
                .moves
                .iter()
                .map(|moved| self.slider_report(moved))
                .collect(),
            kkt: pose.kkt,
            iterations: pose.iterations,
            solve_us: self.solve_us,
            evaluate_us,
            prior: self.prior.clone(),
            residual: layer.map(Layer::report),
            out: path_text(&args.out),
        }
    }

    fn slider_report(&self, moved: &SliderMove) -> SliderReport {
        let effects = moved.shares.iter().map(|share| PinEffect {
            displacement: share.displacement.to_array(),
            of_goal: share.of_goal,
        });
        SliderReport {
            slider: self.slider_name(moved.slider),
            from: moved.from,
            to: moved.to,
            pins: effects.collect(),
        }
    }

    fn slider_name(&self, slider: SliderId) -> String {
        self.rig.targets()[slider.index()].name.clone()
    }

    /// The sliders that moved, the pins, and the quality of the solve.
    fn summary(&self, args: &PoseOutputArgs, layer: Option<&Layer>) -> String {
        // Weights that hardly changed would only lengthen the list.
        let mut text = String::new();
        for moved in &self.explanation.moves {
            if (moved.to - moved.from).abs() > Pose::ACTIVE / 10.0 {
                text += &self.slider_text(moved);
            }
        }

        // An unreachable part matters where it is visible beside the longest drag.
        let displacements = self.pins.iter().map(|pin| pin.displacement.length());
        let longest = displacements.fold(0.0, f64::max);
        for (k, pin) in self.pins.iter().enumerate() {
            let error = self.pose.pins[k].error;
            let unreachable = self.explanation.unreachable[k].length();
            let _ = write!(text, "  {}: {error:.4} from its goal", pin.place());
            if unreachable > 0.01 * longest {
                let _ = write!(
                    text,
                    " (no weights inside the limits bring all pins nearer: {unreachable:.4} remains)"
                );
            }
            text.push('\n');
        }

        if let Some(layer) = layer {
            let _ = writeln!(text, "  {}", layer.summary());
        }

        // Only some solvers have optimality conditions.
        let kkt = match self.pose.kkt {
            Some(kkt) => format!(", KKT residual {kkt:.0e}"),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "{} in {:.0} µs{kkt}: {} active slider(s)\nwritten to {}",
            self.pose.method,
            self.solve_us,
            self.pose.active_sliders(),
            args.out.display()
        );

        text
    }

    /// One slider with its effect at every dragged pin.
    fn slider_text(&self, moved: &SliderMove) -> String {
        // Held pins have no goal to come closer to.
        let mut effects = Vec::new();
        for (k, pin) in self.pins.iter().enumerate() {
            if pin.displacement != DVec3::ZERO {
                let percent = 100.0 * moved.shares[k].of_goal;
                effects.push(format!("{percent:+.0} % of the goal at {}", pin.place()));
            }
        }

        let limit = if self.pose.at_limit.contains(&moved.slider) {
            ", at its limit"
        } else {
            ""
        };

        format!(
            "  {:24} {:6.3} → {:6.3}   {}{limit}\n",
            self.slider_name(moved.slider),
            moved.from,
            moved.to,
            effects.join(", ")
        )
    }

    /// What each pin misses, in the coordinates that it constrains.
    pub(crate) fn misses(&self) -> Vec<DVec3> {
        self.pins
            .iter()
            .zip(&self.pose.pins)
            .map(|(pin, result)| miss(pin, result))
            .collect()
    }
}

/// Goal, position and error of each pin, with the part of its goal that is out of reach.
pub(super) fn pin_reports(pins: &[Pin], pose: &Pose, unreachable: &[DVec3]) -> Vec<PinReport> {
    let mut reports = Vec::with_capacity(pins.len());
    for (k, pin) in pins.iter().enumerate() {
        let result = &pose.pins[k];
        // Where a coordinate is free, the goal is the nearest position that satisfies the pin.
        let goal = if pin.aim == Aim::Point {
            result.goal
        } else {
            result.reached + miss(pin, result)
        };

        reports.push(PinReport {
            vertex: vertex_of(pin),
            binds: Binds::of(&pin.aim),
            goal: goal.to_array(),
            reached: result.reached.to_array(),
            error: result.error,
            unreachable: unreachable[k].length(),
        });
    }
    reports
}

impl Binds {
    fn of(aim: &Aim) -> Self {
        match aim {
            Aim::Point => Self::Space,
            Aim::Across(_) => Self::Plane,
            Aim::Along(_) => Self::Direction,
            Aim::Curve(_) => Self::Curve,
        }
    }
}

fn miss(pin: &Pin, result: &PinResult) -> DVec3 {
    let (across, goal) = pin.aim.projection_and_goal(result.reached, result.goal);
    across * (goal - result.reached)
}

fn vertex_of(pin: &Pin) -> Option<u32> {
    match pin.at {
        SurfacePoint::Vertex(v) => Some(v),
        SurfacePoint::InTriangle(_) => None,
    }
}
