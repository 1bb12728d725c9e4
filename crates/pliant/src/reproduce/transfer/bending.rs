//! Figure 3: where a clip bends its mesh, which is where markers matter.

use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_transfer::{Flexibility, Markers, Partitions, TransferError, suggest_markers};
use pliant_view::{Color, Image, Marker};

use super::numerals::{file_stem, grouped, percent};
use super::{Cast, FINE_THRESHOLD, ReproduceError, SIDE, failed};
use crate::page::{Section, Table};
use crate::picture::{Look, Shot};

const SIZE: [usize; 2] = [560, 430];
/// Markers that are suggested in the picture.
const SUGGESTED: usize = 12;

/// What a clip does to its mesh.
struct Bent {
    flexibility: Vec<f64>,
    /// With the paper's γ, and with a finer one.
    stiff_parts: [usize; 2],
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Where markers matter",
        "Figure 3: the largest difference between the deformations of neighbours over all frames (eq. 1). Dark parts move as one and \
         need no marker; bright ones bend. Triangles below a threshold γ that touch make one stiff part.",
    );
    let mut clips: Vec<(&'static str, &Clip)> = vec![
        ("hound, walk", &cast.pair.walk),
        ("tapir, trunk", &cast.pair.swing),
    ];
    clips.extend(cast.gallop.iter().map(|gallop| ("horse, gallop", gallop)));
    let mut table = Table::new(
        "Flexibility of each clip, and its stiff parts of more than one triangle by two γ. Eq. 1 compares neighbours: the finer the mesh, \
         the less each pair bends, and the smaller a γ finds the limbs.",
        [
            "clip",
            "triangles",
            "frames",
            "above 0.1, % of triangles",
            "stiff parts, γ = 0.1",
            "stiff parts, γ = 0.01",
        ],
    );
    for (name, clip) in clips {
        let bent = measure(clip).map_err(failed(name))?;
        let above = bent
            .flexibility
            .iter()
            .filter(|&&value| value >= Partitions::DEFAULT_THRESHOLD)
            .count();
        let share = percent(above as f64 / bent.flexibility.len().max(1) as f64);
        section.figure(
            &format!("{name}: bends"),
            format!("{share} % of all triangles"),
        );
        let [coarse, fine] = bent.stiff_parts.map(grouped);
        let counts = [
            grouped(bent.flexibility.len()),
            clip.frames().len().to_string(),
            share,
            coarse,
            fine,
        ];
        table.push([name.to_owned()].into_iter().chain(counts));
        section.small(
            &format!("flexibility-{}.png", file_stem(name)),
            &format!("{name}."),
            &picture(clip.reference(), &bent, &[])?,
        )?;
        if name.starts_with("hound") {
            let spots = suggested(cast, &bent.flexibility).map_err(failed(name))?;
            let caption = format!(
                "The {SUGGESTED} markers that our suggestion would set first, each where most flexible surface is far from the others."
            );
            section.small(
                "suggested-markers.png",
                &caption,
                &picture(clip.reference(), &bent, &spots)?,
            )?;
        }
    }
    section.table(table);
    Ok(section)
}

fn measure(clip: &Clip) -> Result<Bent, TransferError> {
    let flexibility = Flexibility::of(clip)?.of_triangles().to_vec();
    let mut stiff_parts = [0; 2];
    for (count, threshold) in stiff_parts
        .iter_mut()
        .zip([Partitions::DEFAULT_THRESHOLD, FINE_THRESHOLD])
    {
        let partitions = Partitions::new(clip.reference(), &flexibility, threshold)?;
        *count = (0..partitions.len() as u32)
            .filter(|&partition| partitions.is_stiff(partition))
            .count();
    }
    Ok(Bent {
        flexibility,
        stiff_parts,
    })
}

/// The first markers to set on the hound.
fn suggested(cast: &Cast, flexibility: &[f64]) -> Result<Vec<u32>, TransferError> {
    let (source, target) = (cast.pair.walk.reference(), cast.pair.tapir());
    let suggestions = suggest_markers(
        source,
        target,
        &Markers::default(),
        &cast.found,
        Some(flexibility),
        SUGGESTED,
    )?;
    Ok(suggestions
        .iter()
        .map(|suggestion| suggestion.source)
        .collect())
}

fn picture(mesh: &Mesh, bent: &Bent, spots: &[u32]) -> Result<Image, ReproduceError> {
    let look = Look::default()
        .with_scalar(bent.flexibility.clone(), "flexibility")
        .with_range(0.0, Partitions::DEFAULT_THRESHOLD);
    let mut scene = look.scene(mesh);
    for &vertex in spots {
        let position = mesh.positions()[vertex as usize];
        scene = scene.with_marker(Marker {
            position,
            color: Color::srgb8(206, 62, 48),
            radius_px: 5.0,
        });
    }
    Ok(Shot::new(SIDE, SIZE).framed_by(mesh.positions(), &scene)?)
}
