//! A tapir that walks like a hound: match once, factor once, then frame by frame.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use std::borrow::Cow;

use pliant::io::{Animation, save};
use pliant::specimens;
use pliant::transfer::{
    Correspondence, CorrespondenceOptions, Layer, Markers, Source, Synthesis, SynthesisOptions,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let walk = pliant::load("specimen:hound#walk")?.clip()?;
    let tapir = pliant::load("specimen:tapir")?;
    let target = tapir.mesh()?;

    // Vertices that are the same spot on both; any [[source, target], …] from Markers::parse will
    // do.
    let markers = Markers::new(
        specimens::markers()
            .into_iter()
            .map(|[hound, tapir]| (hound, tapir))
            .collect(),
    );

    let found = Correspondence::find(
        walk.reference(),
        &target,
        &markers,
        &CorrespondenceOptions::default(),
    )?; // once per pair

    for problem in found.warnings.iter() {
        println!("{problem}");
    }

    let source = Source {
        clip: &walk,
        map: Cow::Borrowed(&found.map),
    };
    let all_of_it = Layer::whole(0, vec![1.0; target.triangles().len()], walk.frames().len());
    let mut synthesis = Synthesis::new(
        &target,
        vec![source],
        vec![all_of_it],
        SynthesisOptions::default(),
    )?; // once per target

    let frames: Vec<_> = (0..synthesis.frame_count())
        .map(|k| synthesis.frame(k).to_vec())
        .collect(); // as often as you like

    let mut animation = Animation::new("walk", frames.len());
    animation.frames_per_second = walk.frames_per_second();
    save(
        &tapir.with_point_clip(animation, &frames)?,
        "05_tapir_walk.glb",
    )?;

    println!(
        "{} frames on {} triangles, written to 05_tapir_walk.glb",
        frames.len(),
        target.triangles().len()
    );

    Ok(())
}
