//! A pose that was solved for, on its way to files and words: what `pose` and `sketch` share.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use pliant_io::Asset;
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Aim, Explanation, Pin, Pose, Rig};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::output::Outputs;
use super::residual::{Layer, ResidualArgs};
use super::{output, slider_weights};

/// Where a pose goes.
#[derive(Debug, clap::Args)]
pub(crate) struct PosedOutputs {
    /// Where to write the weights that were found.
    #[arg(long, value_name = "FILE.json")]
    weights_out: Option<PathBuf>,

    /// Where to write the posed mesh.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    residual: ResidualArgs,
}

/// Pins, the weights that were found for them, and why those.
pub(crate) struct Posed<'a> {
    pub(crate) name: &'a str,
    pub(crate) asset: &'a Asset,
    pub(crate) rig: &'a Rig,
    pub(crate) pins: Vec<Pin>,
    pub(crate) pose: Pose,
    /// How long the solve took.
    pub(crate) solve_us: f64,
    pub(crate) explanation: Explanation,
}

impl Posed<'_> {
    /// Evaluates, adds the residual layer where one is wanted, writes everything and reports it.
    pub(crate) fn write(
        mut self,
        to: &PosedOutputs,
        mut object: Map<String, Value>,
        mut files: Outputs,
        console: &Console,
    ) -> Result<(), Failure> {
        output::require_other_than(&to.out, self.name)?;
        let began = Instant::now();
        let mut positions = self.rig.evaluate(&self.pose.weights);
        let evaluate_us = began.elapsed().as_secs_f64() * 1e6;
        to.residual.map_unreachable(&self, &positions, &mut files)?;
        let layer = to.residual.layer(&self, &positions)?;
        let mut weights = slider_weights::by_name(self.rig, &self.pose.weights);
        if let Some(layer) = &layer {
            layer.add_to(&mut positions, &mut self)?;
            to.residual
                .promote(&self, layer, &mut weights, &mut files)?;
            object.insert("residual".into(), layer.describe());
        }
        if let Some(path) = &to.weights_out {
            files.add(path, slider_weights::to_bytes(&weights));
        }
        files.add_asset(&to.out, &self.asset.posed(&positions)?)?;
        files.write()?;
        let problems = [
            &self.asset.problems[..],
            &self.pose.problems,
            &files.problems,
        ]
        .concat();
        self.describe(&mut object);
        object.insert("weights".into(), Value::Object(weights));
        object.insert("out".into(), json!(to.out.display().to_string()));
        object.insert("evaluate_us".into(), json!(evaluate_us));
        console.done(object, &self.told(to, layer.as_ref()), &problems)
    }

    fn describe(&self, object: &mut Map<String, Value>) {
        let (pose, why) = (&self.pose, &self.explanation);
        let name = |slider: &usize| self.rig.targets()[*slider].name.clone();
        let misses = self.misses();
        let pins = self
            .pins
            .iter()
            .zip(&pose.pins)
            .zip(&why.unreachable)
            .zip(&misses)
            .map(|(((pin, result), unreachable), miss)| {
                // Where a coordinate is free, the goal is the nearest place that will do.
                let goal = if pin.aim == Aim::Point {
                    result.goal
                } else {
                    result.reached + *miss
                };
                json!({
                    "vertex": vertex_of(pin),
                    "goal": goal.to_array(),
                    "reached": result.reached.to_array(),
                    "error": result.error,
                    "unreachable": unreachable.length(),
                })
            });
        let moved = why.moves.iter().map(|m| {
            let shares: Vec<Value> = m
                .shares
                .iter()
                .map(|s| json!({"displacement": s.displacement.to_array(), "of_goal": s.of_goal}))
                .collect();
            json!({"slider": name(&m.slider), "from": m.from, "to": m.to, "pins": shares})
        });
        object.insert("method".into(), json!(pose.method));
        object.insert("pins".into(), pins.collect());
        object.insert("active_sliders".into(), json!(pose.active_sliders()));
        object.insert(
            "at_limit".into(),
            json!(pose.at_limit.iter().map(name).collect::<Vec<_>>()),
        );
        object.insert("moved".into(), moved.collect());
        object.insert("kkt".into(), json!(pose.kkt));
        object.insert("iterations".into(), json!(pose.iterations));
        object.insert("solve_us".into(), json!(self.solve_us));
    }

    /// For a person: the sliders, the pins, and what stands in the way.
    fn told(&self, to: &PosedOutputs, layer: Option<&Layer>) -> String {
        let (pose, why) = (&self.pose, &self.explanation);
        let mut text = String::new();
        let dragged: Vec<usize> = (0..self.pins.len())
            .filter(|&k| self.pins[k].displacement != DVec3::ZERO)
            .collect();
        for m in why
            .moves
            .iter()
            .filter(|m| (m.to - m.from).abs() > Pose::ACTIVE / 10.0)
        {
            let held = if pose.at_limit.contains(&m.slider) {
                ", at its limit"
            } else {
                ""
            };
            let share = |k: &usize| {
                format!(
                    "{:+.0} % of the way at {}",
                    100.0 * m.shares[*k].of_goal,
                    self.pins[*k].place()
                )
            };
            let shares: Vec<String> = dragged.iter().map(share).collect();
            let name = &self.rig.targets()[m.slider].name;
            let _ = writeln!(
                text,
                "  {name:24} {:6.3} → {:6.3}   {}{held}",
                m.from,
                m.to,
                shares.join(", ")
            );
        }
        let longest = self
            .pins
            .iter()
            .map(|pin| pin.displacement.length())
            .fold(0.0, f64::max);
        for ((pin, result), unreachable) in self.pins.iter().zip(&pose.pins).zip(&why.unreachable) {
            let _ = write!(text, "  {}: {:.4} from its goal", pin.place(), result.error);
            if unreachable.length() > 0.01 * longest {
                let _ = write!(
                    text,
                    "; the sliders' best for all pins together leaves {:.4}",
                    unreachable.length()
                );
            }
            text.push('\n');
        }
        text.extend(layer.map(|layer| format!("  {}\n", layer.told())));
        let certificate = pose
            .kkt
            .map_or_else(String::new, |kkt| format!(", KKT {kkt:.0e}"));
        let _ = writeln!(
            text,
            "{} in {:.0} µs{certificate}: {} active slider(s); written to {}",
            pose.method,
            self.solve_us,
            pose.active_sliders(),
            to.out.display()
        );
        text
    }

    /// What each pin still misses, in the coordinates that matter to it.
    pub(crate) fn misses(&self) -> Vec<DVec3> {
        let miss = |(pin, result): (&Pin, &pliant_rig::PinResult)| {
            let (across, goal) = pin.aim.measure(result.reached, result.goal);
            across * (goal - result.reached)
        };
        self.pins.iter().zip(&self.pose.pins).map(miss).collect()
    }
}

fn vertex_of(pin: &Pin) -> Option<u32> {
    match pin.at {
        SurfacePoint::Vertex(v) => Some(v),
        SurfacePoint::InTriangle(_) => None,
    }
}
