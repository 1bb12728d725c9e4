//! Options about a performance: its clock, its cleaning and its routes to sliders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pliant_io::{Asset, PerformanceOptions, json_problem};
use pliant_mesh::VertexId;
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Calibration, ChannelMap, CleanOptions, CleanReport, FrameRate, InvertOptions, Inverter,
    MarkerAttachment, Performance, RigError, Smoothing, clean,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::{frame_rate, non_negative, positive};
use super::slider_weights::parse_weight;
use crate::cli::args::source;
use crate::cli::report::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Time")]
pub(crate) struct ClockArgs {
    /// Frames per second of a file that gives no times [default: 30].
    #[arg(long, value_name = "RATE", value_parser = frame_rate)]
    take_fps: Option<f64>,

    /// Labels per second of its timecode, as 59.94 [default: the least standard rate that has all
    /// labels].
    #[arg(long, value_name = "RATE", value_parser = label_rate)]
    timecode_rate: Option<FrameRate>,

    /// Resample to this number of frames per second, which also fills dropped frames.
    #[arg(long, value_name = "RATE", value_parser = frame_rate)]
    fps: Option<f64>,
}

fn label_rate(text: &str) -> Result<FrameRate, String> {
    frame_rate(text).and_then(|rate| {
        FrameRate::of(rate).ok_or_else(|| format!("'{text}' is not from 1 to 1000"))
    })
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cleaning")]
pub(crate) struct CleanArgs {
    /// Clean everything: spikes, noise and jitter of holds; blinks and closed lips are kept.
    #[arg(long)]
    clean: bool,

    /// Remove spikes of one or two frames.
    #[arg(long)]
    despike: bool,

    /// Smooth without lag: `auto` by the noise of each channel, or for noise of this deviation.
    #[arg(long, value_name = "auto|SIGMA", value_parser = parse_smoothing)]
    smooth: Option<Smoothing>,

    /// Make holds constant.
    #[arg(long)]
    hold: bool,

    /// Longest gap, in seconds, that is filled by a curve; longer ones ease from end to end.
    #[arg(long, value_name = "SECS", default_value_t = CleanOptions::DEFAULT_LONGEST_GAP_SECS, value_parser = non_negative)]
    max_gap: f64,
}

fn parse_smoothing(text: &str) -> Result<Smoothing, String> {
    if text == "auto" {
        return Ok(Smoothing::Measured(1.0));
    }
    let sigma = non_negative(text)
        .map_err(|_| format!("'{text}' is neither `auto` nor a number from zero up, as 0.01"))?;
    Ok(Smoothing::Given(sigma))
}

impl ClockArgs {
    /// Reads a performance, at the rate of `--fps`.
    pub(crate) fn read(&self, locator: &str) -> Result<Performance, Failure> {
        let mut options = PerformanceOptions::default();
        if let Some(rate) = self.take_fps {
            options = options.with_frames_per_second(rate);
        }
        if let Some(rate) = self.timecode_rate {
            options = options.with_timecode_rate(rate);
        }
        Ok(pliant_io::read_performance(
            locator,
            &options,
            &source::options(None),
        )?)
    }

    /// The performance at the rate of `--fps`.
    pub(crate) fn resample(&self, performance: Performance) -> Result<Performance, Failure> {
        match self.fps {
            Some(rate) => {
                let resampled = performance.resampled(rate);
                resampled.map_err(|error| Failure::about("--fps", &error))
            }
            None => Ok(performance),
        }
    }
}

impl CleanArgs {
    /// The performance without gaps, cleaned as asked.
    pub(crate) fn apply(&self, performance: &Performance) -> (Performance, CleanReport) {
        let mut options = if self.clean {
            CleanOptions::all()
        } else {
            CleanOptions::fill_only()
        };
        options.spikes |= self.despike;
        options.holds |= self.hold;
        options.smoothing = self.smooth.unwrap_or(options.smoothing);
        options.longest_gap_secs = self.max_gap;
        clean(performance, &options)
    }
}

/// A calibration file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CalibrationFile {
    /// The take, beside this file.
    take: PathBuf,
    /// The frames at rest, first and last.
    rest: [usize; 2],
    /// The frame that shows the extreme of each channel.
    #[serde(default)]
    extremes: BTreeMap<String, usize>,
}

/// Removes the rest, the range and the cross-talk that a calibration file describes, or the rest and
/// the range of a calibration take.
pub(crate) fn calibrated(performance: &Performance, path: &Path) -> Result<Performance, Failure> {
    let is_json = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !is_json {
        let options = PerformanceOptions::default();
        let locator = path.to_string_lossy();
        let take = pliant_io::read_performance(&locator, &options, &source::options(None))?;
        let calibration =
            Calibration::of_range(&take).map_err(|error| Failure::about(path.display(), &error))?;
        return Ok(calibration.apply(performance));
    }

    let bytes = pliant_io::read_file(path)?;
    let file: CalibrationFile = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(format!(
            "{}: {}; write it as {{\"take\": \"rom.csv\", \"rest\": [0, 30], \"extremes\": {{\"jawOpen\": 210}}}}",
            path.display(),
            json_problem(&error)
        ))
    })?;

    let beside = path.with_file_name(&file.take);
    let options = PerformanceOptions::default();
    let locator = beside.to_string_lossy();
    let take = pliant_io::read_performance(&locator, &options, &source::options(None))?;
    let rest: Vec<usize> = (file.rest[0]..=file.rest[1].min(take.frame_count())).collect();
    let extremes: Vec<(String, usize)> = file.extremes.into_iter().collect();
    let calibration = Calibration::of(&take, &rest, &extremes)
        .map_err(|error| Failure::about(path.display(), &error))?;
    Ok(calibration.apply(performance))
}

/// Multiplies the routes to sliders by `NAME=FACTOR`; `all` means every slider.
pub(crate) fn with_gains(
    mut map: ChannelMap,
    gains: &[(String, f64)],
) -> Result<ChannelMap, Failure> {
    for (name, gain) in gains {
        let mut found = false;
        for route in &mut map.channels {
            if name == "all" || route.to == *name {
                route.gain *= gain;
                route.offset *= gain;
                found = true;
            }
        }
        if !found {
            return Err(Failure::new(format!(
                "--gain: no channel moves a slider '{name}'; `pliant play --init` lists the sliders that move"
            )));
        }
    }
    Ok(map)
}

/// Parses `NAME=FACTOR`.
pub(crate) fn parse_gain(text: &str) -> Result<(String, f64), String> {
    parse_weight(text).map_err(|_| format!("'{text}' is not NAME=FACTOR, as in jawOpen=1.2"))
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Markers")]
pub(crate) struct MarkerArgs {
    /// Where markers belong on the rig: NAME=VERTEX, or a JSON file {name: vertex}. At least three;
    /// the others are attached to the surface below them.
    #[arg(long, value_name = "NAME=V,…|FILE")]
    markers: Option<String>,

    /// Frame in which the face is at rest [default: the first with all given markers].
    #[arg(long, value_name = "N", requires = "markers")]
    rest_frame: Option<usize>,

    /// Add what the sliders do not reach as further targets, so that no marker is off by more than
    /// this, in asset units [default: a thousandth of the diagonal].
    #[arg(long, value_name = "D", num_args = 0..=1, value_parser = positive, requires = "markers")]
    residual: Option<Option<f64>>,

    /// Penalty on the curvature of the curves of markers [default: from the noise of the markers].
    #[arg(long, value_name = "M", value_parser = non_negative, requires = "markers")]
    roughness: Option<f64>,
}

/// How markers were attached and reached.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MarkerReport {
    /// Attached markers, with their root mean square residuals in asset units.
    markers: Vec<MarkerResidual>,
    /// Frame at rest.
    rest_frame: usize,
    /// Scale from the capture to the rig.
    scale: f64,
    /// Root mean square distance of the given markers from their vertices, at rest.
    alignment_rms: f64,
    /// Root mean square residual over all frames and markers.
    rms: f64,
    /// Root mean square residual of each frame.
    frame_rms: Vec<f64>,
    /// Targets of `--residual`; null without it.
    residual: Option<MarkerResidualReport>,
}

/// The residual layer of markers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MarkerResidualReport {
    /// The targets that were added to the rig.
    targets: Vec<String>,
    /// Root mean square residual with them.
    rms: f64,
    /// Radius around the markers in which the surface moves, in asset units.
    radius: f64,
}

/// A marker and its residual.
#[derive(Debug, Serialize, JsonSchema)]
struct MarkerResidual {
    name: String,
    rms: f64,
}

impl MarkerArgs {
    /// A performance of markers as one of weights and head rotation, with the rig that it moves; any
    /// other as it is.
    pub(crate) fn solve(
        &self,
        asset: Asset,
        performance: Performance,
    ) -> Result<(Asset, Performance, Option<MarkerReport>), Failure> {
        let Some(track) = performance
            .markers
            .as_ref()
            .filter(|_| performance.channels().is_empty())
        else {
            return Ok((asset, performance, None));
        };
        let Some(text) = &self.markers else {
            return Err(Failure::new(format!(
                "{}: the performance holds {} markers ({}); say where at least three of them belong by --markers NAME=VERTEX,…",
                performance.name(),
                track.marker_count(),
                track
                    .names()
                    .iter()
                    .take(6)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", ")
            )));
        };

        let about = |error: RigError| Failure::about("--markers", &error);
        let rig = asset.rig()?;
        let mut pairs = Vec::new();
        for (name, vertex) in marker_vertices(text)? {
            pairs.push((track.marker(&name).map_err(about)?, VertexId::from(vertex)));
        }
        let rest_frame = match self.rest_frame {
            Some(frame) => frame,
            None => {
                let complete =
                    |frame: &Vec<Option<DVec3>>| pairs.iter().all(|(m, _)| frame[*m].is_some());
                track.frames().iter().position(complete).ok_or_else(|| {
                    Failure::new(
                        "--markers: no frame shows all of them; give fewer, or --rest-frame",
                    )
                })?
            }
        };

        let attachment = MarkerAttachment::new(&rig, track, rest_frame, &pairs).map_err(about)?;
        let mut options = InvertOptions::default();
        if let Some(roughness) = self.roughness {
            options = options.with_roughness(roughness);
        }
        let inverter = Inverter::factor(&rig, &options).map_err(about)?;
        let rate = performance.frames_per_second();
        let solved = attachment
            .solve(&inverter, &rig, track, rate)
            .map_err(about)?;

        let axes = asset.character_axes(&rig);
        let mut weights = solved
            .performance(performance.name(), &rig, &axes, rate)
            .map_err(about)?;
        weights.notes.clone_from(&performance.notes);
        let (asset, residual) = match self.residual {
            None => (asset, None),
            Some(tolerance) => {
                let diagonal = rig.neutral().bounds().map_or(1.0, |b| b.diagonal());
                let tolerance = tolerance.unwrap_or(RESIDUAL_TOLERANCE * diagonal);
                let layer = solved
                    .residual_layer(&rig, &attachment, tolerance, rate)
                    .map_err(about)?;
                weights = with_channels(weights, layer.channels()).map_err(about)?;
                let grown = asset.with_rig(&layer.with_targets(&rig).map_err(about)?)?;
                let report = MarkerResidualReport {
                    targets: layer.targets.iter().map(|t| t.name.clone()).collect(),
                    rms: layer.rms_after,
                    radius: layer.radius,
                };
                (grown, Some(report))
            }
        };
        let markers = attachment
            .markers
            .iter()
            .zip(&solved.marker_rms)
            .map(|(&m, &rms)| MarkerResidual {
                name: track.names()[m].clone(),
                rms,
            });
        let squares: f64 = solved.frame_rms.iter().map(|rms| rms * rms).sum();
        let report = MarkerReport {
            markers: markers.collect(),
            rest_frame,
            scale: attachment.scale,
            alignment_rms: attachment.pair_rms,
            rms: (squares / solved.frame_rms.len().max(1) as f64).sqrt(),
            frame_rms: solved.frame_rms,
            residual,
        };
        Ok((asset, weights, Some(report)))
    }
}

/// *Chosen*: a quarter of a millimetre on a head.
const RESIDUAL_TOLERANCE: f64 = 1e-3;

/// The performance with further channels.
fn with_channels(
    performance: Performance,
    channels: Vec<pliant_rig::Channel>,
) -> Result<Performance, RigError> {
    let all = [performance.channels(), &channels].concat();
    let times = performance.times_secs().to_vec();
    let rate = performance.frames_per_second();
    let mut grown = Performance::new(performance.name(), times, rate, all)?;
    grown.timecode = performance.timecode;
    grown.notes.clone_from(&performance.notes);
    Ok(grown)
}

impl MarkerReport {
    pub(crate) fn summary(&self) -> String {
        let residual = self.residual.as_ref().map(|residual| {
            format!(
                "  {} further targets leave a residual of {:.4}\n",
                residual.targets.len(),
                residual.rms
            )
        });
        let own = format!(
            "  {} markers, attached in frame {} at {:.4} of the scale of the rig's; RMS residual {:.4}\n",
            self.markers.len(),
            self.rest_frame,
            self.scale,
            self.rms
        );
        own + &residual.unwrap_or_default()
    }
}

/// Names and vertices of `A=1,B=2` or of a JSON file.
fn marker_vertices(text: &str) -> Result<Vec<(String, usize)>, Failure> {
    let wrong = |reason: &str| {
        Failure::new(format!(
            "--markers {text}: {reason}; write NAME=VERTEX,… or a JSON file {{\"brow\": 120}}"
        ))
    };
    if !text.contains('=') {
        let bytes = pliant_io::read_file(Path::new(text))?;
        let map: BTreeMap<String, usize> =
            serde_json::from_slice(&bytes).map_err(|error| wrong(&json_problem(&error)))?;
        return Ok(map.into_iter().collect());
    }

    let mut pairs = Vec::new();
    for pair in text.split(',') {
        let parsed = pair
            .rsplit_once('=')
            .and_then(|(name, vertex)| Some((name.trim().to_owned(), vertex.trim().parse().ok()?)));
        pairs.push(parsed.ok_or_else(|| wrong(&format!("'{pair}' is no pair")))?);
    }
    Ok(pairs)
}

/// What cleaning did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CleaningReport {
    /// Missing values that were filled.
    pub(crate) filled: usize,
    /// Spikes that were removed.
    pub(crate) spikes: usize,
    /// Holds that became constant.
    pub(crate) holds: usize,
    /// Median deviation of the noise of the channels.
    pub(crate) noise: f64,
    /// Greatest change of a recorded value.
    pub(crate) largest_change: f64,
}

impl From<&CleanReport> for CleaningReport {
    fn from(report: &CleanReport) -> Self {
        let mut noise: Vec<f64> = report.noise.iter().copied().filter(|n| *n > 0.0).collect();
        noise.sort_by(f64::total_cmp);
        Self {
            filled: report.filled,
            spikes: report.spikes,
            holds: report.holds,
            noise: noise.get(noise.len() / 2).copied().unwrap_or(0.0),
            largest_change: report.largest_change,
        }
    }
}
