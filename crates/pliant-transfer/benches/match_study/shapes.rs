//! Cosines of transferred shapes with known ones, between two heads that share their shapes.
//!
//! The source is one identity of the ICT face kit with its expressions. The target is another one in
//! half as many triangles. Expressions are added to any identity, so those of the target are known.

use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

use pliant_io::{LoadOptions, load};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh, VertexPlacement};
use pliant_rig::{Clip, Rig, Target};
use pliant_transfer::{
    Correspondence, CorrespondenceOptions, Layer, Markers, RigTransfer, RigTransferOptions, Source,
    Synthesis, SynthesisOptions,
};

use crate::measures::diagonal;

/// The skin of face and head comes first.
const SKIN: u32 = 11_248;

/// The identities and the expressions of the kit, as targets of the same neutral.
fn kit(data: &Path) -> (Rig, Rig) {
    let path = |name: &str| data.join("ict-facekit").join(name).display().to_string();
    let neutral = path("generic_neutral_mesh.obj");
    let rig = |deltas: &str| {
        let locator = format!("{neutral}+{}", path(deltas));
        load(&locator, &LoadOptions::default())
            .and_then(|asset| asset.rig())
            .expect("a rig")
    };
    (
        rig("identity000-009.delta.npy"),
        rig("expressions.delta.npy"),
    )
}

/// The head of one identity.
fn identity(identities: &Rig, k: usize) -> Mesh {
    let mut positions = identities.neutral().positions().to_vec();
    identities.targets()[k].add_to(1.0, &mut positions);
    identities
        .neutral()
        .posed(positions)
        .expect("the same vertices")
}

/// Prints the cosines from identity `from` to identity `to`, with and without closing.
pub(crate) fn study(
    data: &Path,
    [from, to]: [usize; 2],
    markers: usize,
    options: &CorrespondenceOptions,
) {
    let (identities, expressions) = kit(data);
    let source =
        Rig::new(identity(&identities, from), expressions.targets().to_vec()).expect("a rig");
    let whole = identity(&identities, to);
    let budget = DecimationBudget::Triangles(whole.triangles().len() / 2);
    let placement = DecimationOptions::default().with_placement(VertexPlacement::Subset);
    let half = whole.decimated(budget, &placement).expect("half a head");
    let skin = half
        .sources()
        .iter()
        .copied()
        .zip(0..)
        .filter(|&(v, _)| v < SKIN);
    let markers = Markers::new(skin.collect()).spread_over(source.neutral(), markers);

    let found =
        Correspondence::find(source.neutral(), half.mesh(), &markers, options).expect("a map");
    println!(
        "ICT {from} to {to}, {} markers: {:?}",
        markers.pairs().len(),
        found.report
    );
    for closures in [false, true] {
        let options = RigTransferOptions::default().with_closures(closures);
        let transfer = RigTransfer::new(&source, half.mesh(), &found, options).expect("a transfer");
        let transferred = transfer.rig(&()).expect("shapes");
        compare(
            &transferred.rig,
            &expressions,
            half.mesh(),
            half.sources(),
            closures,
        );
    }
}

/// Prints the error of expressions of a face mask of identity `from` on the whole head of identity
/// `to`, beside that of the head at rest: root mean square distance from the known expressions over
/// the diagonal, mean of every third one.
pub(crate) fn mask_study(data: &Path, [from, to]: [usize; 2], markers: usize) {
    let (identities, expressions) = kit(data);
    let mask = crate::pairs::ict_faces(data);
    let mask = mask.mesh_at(from).expect("an identity");
    let head = identity(&identities, to);
    let known: Vec<Vec<DVec3>> = expressions
        .targets()
        .iter()
        .step_by(3)
        .map(|target| {
            let mut positions = head.positions().to_vec();
            target.add_to(1.0, &mut positions);
            positions
        })
        .collect();
    let frames = expressions.targets().iter().step_by(3).map(|target| {
        let mut positions = mask.positions().to_vec();
        positions.resize(head.vertex_count(), DVec3::ZERO);
        target.add_to(1.0, &mut positions);
        positions.truncate(mask.vertex_count());
        positions
    });
    let clip = Clip::new("expressions", mask.clone(), frames.collect()).expect("a clip");

    let same = (0..mask.vertex_count() as u32).map(|v| (v, v)).collect();
    let markers = Markers::new(same).spread_over(&mask, markers);
    let start = Instant::now();
    let found = Correspondence::find(&mask, &head, &markers, &CorrespondenceOptions::default())
        .expect("a map");
    let seconds = start.elapsed().as_secs_f64();
    let source = Source {
        clip: &clip,
        map: Cow::Borrowed(&found.map),
    };
    let layer = Layer::whole(0, vec![1.0; head.triangles().len()], clip.frames().len());
    let frames = Synthesis::new(
        &head,
        vec![source],
        vec![layer],
        SynthesisOptions::default(),
    )
    .and_then(|mut synthesis| synthesis.motion(&()))
    .expect("frames")
    .frames;

    let error = |found: &[DVec3], known: &[DVec3]| {
        let squared: f64 = found
            .iter()
            .zip(known)
            .map(|(a, b)| a.distance_squared(*b))
            .sum();
        (squared / known.len() as f64).sqrt() / diagonal(&head) / clip.frames().len() as f64
    };
    let moved: f64 = frames.iter().zip(&known).map(|(a, b)| error(a, b)).sum();
    let still: f64 = known.iter().map(|b| error(head.positions(), b)).sum();
    println!(
        "mask {from} on head {to}, {} markers: error {moved:.5}, at rest {still:.5}, {seconds:.2} s, {} {:?}",
        markers.pairs().len(),
        found.method.name(),
        found.report
    );
}

/// Cosines and lengths of all shapes against the known ones.
fn compare(found: &Rig, known: &Rig, mesh: &Mesh, sources: &[u32], closures: bool) {
    let mut rows = Vec::new();
    for (target, truth) in found.targets().iter().zip(known.targets()) {
        let moved = dense(target, mesh.vertex_count());
        let all = dense(truth, known.neutral().vertex_count());
        let truth: Vec<DVec3> = sources.iter().map(|&v| all[v as usize]).collect();
        let dot: f64 = moved.iter().zip(&truth).map(|(a, b)| a.dot(*b)).sum();
        let norm = |values: &[DVec3]| {
            values
                .iter()
                .map(|d| d.length_squared())
                .sum::<f64>()
                .sqrt()
        };
        let worst = moved
            .iter()
            .zip(&truth)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        let (a, b) = (norm(&moved), norm(&truth));
        rows.push((
            dot / (a * b).max(1e-300),
            a / b.max(1e-300),
            worst / diagonal(mesh),
            &target.name,
        ));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = rows.iter().map(|row| row.0).sum::<f64>() / rows.len() as f64;
    println!("closing {closures}: mean cosine {mean:.3}");
    for (cosine, length, worst, name) in rows
        .iter()
        .enumerate()
        .filter(|(k, row)| *k < 8 || row.3.contains("link"))
        .map(|(_, row)| row)
    {
        println!("    {name:24} cosine {cosine:.3} length {length:.2} largest error {worst:.4}");
    }
}

fn dense(target: &Target, count: usize) -> Vec<DVec3> {
    let mut displacements = vec![DVec3::ZERO; count];
    target.add_to(1.0, &mut displacements);
    displacements
}
