//! Figure 3: flexibility of a clip, and where markers matter.

use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_transfer::{Flexibility, Markers, Partitions, TransferError, suggest_markers};
use pliant_view::{Color, Image, Look, Marker, Shot};

use super::numerals::{file_stem, grouped, percent};
use super::{FINE_THRESHOLD, Models, ReproduceError, SIDE, failed};
use crate::page::{Section, Table};

const SIZE: [usize; 2] = [560, 430];
/// The number of suggested markers in the picture.
const SUGGESTED: usize = 12;

/// The flexibility of a clip and its stiff parts.
struct ClipFlexibility {
    flexibility: Vec<f64>,
    /// With the γ of Wang, Lee 2008, and with a finer one.
    stiff_parts: [usize; 2],
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Where markers matter",
        "Figure 3: the flexibility of a triangle is the largest difference between its \
         deformation and those of its neighbours over all frames (eq. 1). Dark parts move rigidly \
         and need no marker; bright parts bend. Adjacent triangles below a threshold γ form one \
         stiff part.",
    );

    // The gallop is part of the open data.
    let mut clips: Vec<(&'static str, &Clip)> = vec![
        ("hound, walk", &models.pair.walk),
        ("tapir, trunk", &models.pair.swing),
    ];

    clips.extend(models.gallop.iter().map(|gallop| ("horse, gallop", gallop)));
    let mut table = Table::new(
        "Flexibility of each clip, and its stiff parts of more than one triangle for two values \
         of γ. Eq. 1 compares neighbours: on a finer mesh each pair bends less, so the limbs need \
         a smaller γ.",
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
        let measured = measure(clip).map_err(failed(name))?;
        let share = percent(measured.flexible_share());
        section.figure(
            &format!("{name}: bends"),
            format!("{share} % of all triangles"),
        );

        let [coarse, fine] = measured.stiff_parts.map(grouped);
        table.push([
            name.to_owned(),
            grouped(measured.flexibility.len()),
            clip.frames().len().to_string(),
            share,
            coarse,
            fine,
        ]);
        section.small(
            &format!("flexibility-{}.png", file_stem(name)),
            &format!("{name}."),
            &picture(clip.reference(), &measured, &[])?,
        )?;
        if name.starts_with("hound") {
            let markers = suggested_markers(models, &measured.flexibility).map_err(failed(name))?;
            section.small(
                "suggested-markers.png",
                &format!(
                    "The first {SUGGESTED} suggested markers. Each is placed where most of the \
                     flexible surface is far from the others."
                ),
                &picture(clip.reference(), &measured, &markers)?,
            )?;
        }
    }

    section.table(table);
    Ok(section)
}

impl ClipFlexibility {
    /// The share of triangles that are not stiff.
    fn flexible_share(&self) -> f64 {
        let flexible = self
            .flexibility
            .iter()
            .filter(|&&value| value >= Partitions::DEFAULT_THRESHOLD)
            .count();
        flexible as f64 / self.flexibility.len().max(1) as f64
    }
}

fn measure(clip: &Clip) -> Result<ClipFlexibility, TransferError> {
    let flexibility = Flexibility::of(clip)?.of_triangles().to_vec();
    let mut stiff_parts = [0; 2];
    for (count, threshold) in stiff_parts
        .iter_mut()
        .zip([Partitions::DEFAULT_THRESHOLD, FINE_THRESHOLD])
    {
        // Single triangles are not counted as stiff parts.
        let partitions = Partitions::new(clip.reference(), &flexibility, threshold)?;
        *count = (0..partitions.len() as u32)
            .filter(|&partition| partitions.is_stiff(partition))
            .count();
    }

    Ok(ClipFlexibility {
        flexibility,
        stiff_parts,
    })
}

/// The first markers to set on the hound.
fn suggested_markers(models: &Models, flexibility: &[f64]) -> Result<Vec<u32>, TransferError> {
    let source = models.pair.walk.reference();
    let target = models.pair.tapir();
    let suggestions = suggest_markers(
        source,
        target,
        &Markers::default(),
        &models.correspondence,
        Some(flexibility),
        SUGGESTED,
    )?;

    Ok(suggestions
        .iter()
        .map(|suggestion| suggestion.source)
        .collect())
}

fn picture(
    mesh: &Mesh,
    measured: &ClipFlexibility,
    markers: &[u32],
) -> Result<Image, ReproduceError> {
    let look = Look::default()
        .with_scalar(measured.flexibility.clone(), "flexibility")
        .with_range(0.0, Partitions::DEFAULT_THRESHOLD);

    let mut scene = look.scene(mesh);
    for &vertex in markers {
        let position = mesh.positions()[vertex as usize];
        scene = scene.with_marker(Marker {
            position,
            color: Color::srgb8(206, 62, 48),
            radius_px: 5.0,
        });
    }

    Ok(Shot::new(SIDE, SIZE).framed_by(mesh.positions(), &scene)?)
}
