//! `pliant listen`: a live performance on a rig, recorded.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pliant::jobs::{LivePort, LiveRecorder, LiveSession};
use pliant_io::json_problem;
use pliant_mesh::Progress;
use pliant_rig::{ChannelMap, SideUse};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::number::positive;
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::interrupt::Interruptible;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # Record a phone (Live Link Face, port 11111) until Ctrl-C; --open accepts
  # packets of other computers
  pliant listen --rig head.glb --record take.csv --open

  # Ten seconds of VMC (39539) or iFacialMocap (49983) on this computer
  pliant listen --rig head.glb --record take.csv --port 39539 --secs 10

  # Then play what was recorded
  pliant play head.glb take.csv --clean --out talking.glb

Packets:
  Live Link Face, VMC over OSC, iFacialMocap, and JSON such as
  {\"time\": 0.5, \"jawOpen\": 0.2}, each in one UDP packet; or lines of JSON
  over a TCP connection to the same port. Late and double packets are left
  out; the first sender holds the session until it is silent for 2 s.

Network:
  The port is bound to 127.0.0.1, so that only this computer can send. --open
  binds it to all networks of this computer.";

/// Listens to a device that sends a live performance, and records it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig that the performance moves.
    #[arg(long, value_name = "RIG")]
    rig: String,

    /// Table for the recorded channels.
    #[arg(long, value_name = "CSV")]
    record: PathBuf,

    /// Routes from channels to sliders, as `pliant play --init` writes them.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Port. 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 11111)]
    port: u16,

    /// Accept packets from other computers.
    #[arg(long)]
    open: bool,

    /// Stop after this time.
    #[arg(long, value_name = "SECS", value_parser = positive)]
    secs: Option<f64>,

    /// Stop after this number of frames.
    #[arg(long, value_name = "N")]
    frames: Option<u64>,

    #[command(flatten)]
    settings: SettingsArgs,
}

/// The report of `pliant listen`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListenReport {
    /// Frames that were received and recorded.
    frames: u64,
    /// Duration of the recording by the clock of the sender, in seconds.
    secs: f64,
    /// Channels that move sliders.
    mapped: usize,
    /// Channels without a slider.
    unmapped: Vec<String>,
    /// Packets that came late or twice.
    late: u64,
    /// Frames that the clock of the sender shows to be lost.
    lost: u64,
    /// Packets of no known kind.
    unreadable: u64,
    /// Packets of further senders.
    other_senders: u64,
    /// Packets that came faster than they could be used.
    dropped: u64,
    /// Mean time from a packet to the weights of the sliders, in milliseconds.
    latency_ms: f64,
    /// Longest such time.
    longest_latency_ms: f64,
    /// The recorded table.
    record: String,
}

/// Times from packet to weights.
#[derive(Debug, Default)]
struct Latency {
    sum_ms: f64,
    longest_ms: f64,
    count: u64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.record, &["csv"])?;
    let asset = source::load_with_targets(&args.rig, None)?;
    let asset = args.settings.apply(asset)?;
    let mut session = LiveSession::new(asset.rig()?, args.map()?, SideUse::Own)
        .with_presets(asset.presets.clone());
    let port = args.bind()?;
    let address = port.address();
    let _spinner = console.spinner(&format!(
        "listening at {address}; Ctrl-C ends the recording"
    ));

    let part = part_path(&args.record);
    let file = File::create(&part)
        .map_err(|error| Failure::new(format!("cannot write '{}': {error}", part.display())))?;
    let mut recorder = LiveRecorder::new(BufWriter::new(file));
    let (secs, latency) = args.listen(&port, &mut session, &mut recorder)?;

    let written = |error: std::io::Error| Failure::about(args.record.display(), &error);
    let frames = recorder.frames;
    recorder.finish().map_err(written)?;
    if frames == 0 {
        std::fs::remove_file(&part).map_err(written)?;
        return Err(Failure::new(format!(
            "no frame came to {address} ({} unreadable packets); send to this address, and use --open for another computer",
            session.counts().unreadable
        )));
    }
    std::fs::rename(&part, &args.record).map_err(written)?;

    let mut report = ListenReport::new(args, &session, frames, secs, &latency);
    report.dropped = port.dropped();
    let mut warnings = asset.warnings.clone();
    if !port.accepts_lines() {
        warnings.push(format!(
            "another program uses {address} for connections; only UDP packets were received"
        ));
    }
    console.print_summary(&report, &report.summary(), &warnings)
}

impl Args {
    fn map(&self) -> Result<Option<ChannelMap>, Failure> {
        let Some(path) = &self.map else {
            return Ok(None);
        };
        let bytes = pliant_io::read_file(path)?;
        let map = serde_json::from_slice(&bytes);
        map.map(Some).map_err(|error| {
            Failure::new(format!(
                "{}: {}; `pliant play --init` writes a file to start from",
                path.display(),
                json_problem(&error)
            ))
        })
    }

    fn bind(&self) -> Result<LivePort, Failure> {
        LivePort::bind(self.port, self.open).map_err(|error| {
            Failure::new(format!(
                "cannot listen at port {}: {error}; another program may use it, give another --port",
                self.port
            ))
        })
    }

    /// Receives until Ctrl-C, the time or the number of frames. Returns the time of the last frame.
    fn listen(
        &self,
        port: &LivePort,
        session: &mut LiveSession,
        recorder: &mut LiveRecorder<BufWriter<File>>,
    ) -> Result<(f64, Latency), Failure> {
        let stop = Interruptible::new(&());
        let start = Instant::now();
        let mut latency = Latency::default();
        let mut last_secs = 0.0;
        // A pause must not keep Ctrl-C and --secs waiting.
        let pause = Duration::from_millis(50);

        while stop.report("listening", 0.0).is_continue() {
            let elapsed = start.elapsed().as_secs_f64();
            let is_full = self.frames.is_some_and(|most| recorder.frames >= most);
            if is_full || self.secs.is_some_and(|secs| elapsed >= secs) {
                break;
            }
            let Some(packet) = port.receive(pause) else {
                continue;
            };

            let arrived_secs = packet.at.duration_since(start).as_secs_f64();
            let frame = session
                .receive(&packet.bytes, arrived_secs)
                .map_err(|error| Failure::about("the routes", &error))?;
            if let Some(frame) = frame {
                latency.push(packet.at.elapsed());
                last_secs = frame.time_secs;
                let (names, values) = session.channels();
                recorder
                    .push(frame.time_secs, names, values)
                    .map_err(|error| Failure::about(self.record.display(), &error))?;
            }
        }
        Ok((last_secs, latency))
    }
}

impl Latency {
    fn push(&mut self, time: Duration) {
        let ms = 1000.0 * time.as_secs_f64();
        self.sum_ms += ms;
        self.longest_ms = self.longest_ms.max(ms);
        self.count += 1;
    }
}

/// The file that grows while recording.
fn part_path(record: &Path) -> PathBuf {
    let mut name = record.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    record.with_file_name(name)
}

impl ListenReport {
    fn new(args: &Args, session: &LiveSession, frames: u64, secs: f64, latency: &Latency) -> Self {
        let counts = session.counts();
        Self {
            frames,
            secs,
            mapped: session.map().channels.len(),
            unmapped: session.unmapped(),
            late: counts.late,
            lost: counts.lost,
            unreadable: counts.unreadable,
            other_senders: counts.other_subjects,
            dropped: 0,
            latency_ms: latency.sum_ms / latency.count.max(1) as f64,
            longest_latency_ms: latency.longest_ms,
            record: path_text(&args.record),
        }
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{} frames in {:.1} s; {} lost, {} late, {} unreadable packets\n  {:.3} ms from a packet to the weights, at most {:.3}\n",
            self.frames,
            self.secs,
            self.lost,
            self.late,
            self.unreadable,
            self.latency_ms,
            self.longest_latency_ms
        );
        if !self.unmapped.is_empty() {
            let _ = writeln!(
                text,
                "  channels without a slider: {}",
                self.unmapped.join(", ")
            );
        }
        let _ = writeln!(text, "written to {}", self.record);
        text
    }
}
