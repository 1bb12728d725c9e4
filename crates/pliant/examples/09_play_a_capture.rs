//! A recording of a phone on a head: names, cleaning, few keys, and a file that plays.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::io::performance::{PerformanceOptions, read_csv};
use pliant::io::{PlayOptions, save};
use pliant::rig::{ChannelMap, CleanOptions, clean};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let head = pliant::load("specimen:head")?;
    let take = read_csv(recording().as_bytes(), &PerformanceOptions::default())?; // or read_performance("take.csv", …)
    for note in &take.notes {
        println!("note: {note}");
    }

    let (cleaned, report) = clean(&take, &CleanOptions::all());
    println!(
        "{} missing values filled, {} spikes removed",
        report.filled, report.spikes
    );

    let map = ChannelMap::guess(cleaned.channels(), &head.target_names());
    for route in &map.channels {
        println!("{} moves {}", route.from, route.to);
    }

    let few_keys = PlayOptions {
        tolerance: 0.002, // no weight is farther than this from its curve
        ..PlayOptions::default()
    };
    let played = head.with_performance(&cleaned, &map, &few_keys)?;
    save(&played.asset, "09_played.glb")?;
    println!(
        "{} frames as {} keys, written to 09_played.glb",
        played.frames, played.keys
    );

    Ok(())
}

/// Four seconds as Live Link Face writes them, with a dropout and a spike.
fn recording() -> String {
    let mut table =
        String::from("Timecode,BlendShapeCount,EyeBlinkLeft,EyeBlinkRight,JawOpen,HeadYaw\n");
    for k in 0..240 {
        let t = f64::from(k) / 60.0;
        let blink = (1.0 - (t % 1.6 - 0.3).abs() / 0.1).max(0.0);
        let jaw = match k {
            100..104 => String::new(),
            150 => "0.95".to_owned(),
            _ => format!(
                "{:.4}",
                0.2 - 0.2 * (6.0 * t).cos() + 0.004 * f64::from(k * 31 % 7 - 3)
            ),
        };
        let yaw = 0.2 * (1.5 * t).sin();
        let label = format!("10:00:{:02}:{:02}", k / 60, k % 60);
        table += &format!("{label},4,{blink:.4},{blink:.4},{jaw},{yaw:.4}\n");
    }
    table
}
