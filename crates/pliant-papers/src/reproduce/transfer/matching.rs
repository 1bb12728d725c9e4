//! Figures 2 and 4: correspondence of two meshes, and its error with few markers.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh, VertexPlacement};
use pliant_rig::Clip;
use pliant_transfer::{
    CorrespondenceMethod, Markers, Similarity, TransferError, least_squares_mesh,
};
use pliant_view::{Color, ContactSheet, Image, Look, Marker, Shot};

use super::known_poses::{KnownPoses, TransferredPoses};
use super::{HorseAndCamel, Models, ReproduceError, SIDE, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

const SIZE: [usize; 2] = [270, 250];

/// *Measured* by `benches/peers/transfer_peers.py`, on the same poses by the same measure:
/// `trimesh` 5.2, `nricp_amberg`.
const NRICP: [(usize, f64); 3] = [(107, 0.0159), (40, 0.0177), (17, 0.0164)];

/// A comparison: known poses, and numbers of markers.
struct Trial<'a> {
    known: KnownPoses<'a>,
    markers: &'a Markers,
    counts: &'a [usize],
}

/// The error of each method with some number of markers; 0 markers is by shape alone, which the
/// warp cannot do.
struct Errors {
    count: usize,
    ours: TransferredPoses,
    warp: Option<TransferredPoses>,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Correspondence of two meshes",
        "Figures 2 and 4: the paper warps both meshes to least-squares meshes of the same markers \
         and pairs the triangles that are closest after the warp. Our default deforms the source \
         onto the target (registration) and uses the warp where that fails.",
    );

    let tapir = (
        models.pair.walk.reference(),
        models.pair.tapir(),
        &models.pair.markers,
    );

    // The published pair if the data folder has it, else the built-in animals.
    let (source, target, markers) = models
        .horse_and_camel
        .as_ref()
        .map_or(tapir, HorseAndCamel::at_rest);
    let sheet = warped(source, target, markers).map_err(failed("warp"))?;

    section.wide(
        "warp.png",
        "Source and target with their markers, and the least-squares mesh of each.",
        &sheet?,
    )?;

    match &models.horse_and_camel {
        Some(pair) => horse_and_camel(pair, &mut section)?,
        None => tapir_on_itself(&models.pair.swing, &mut section)?,
    }

    Ok(section)
}

impl HorseAndCamel {
    fn at_rest(&self) -> (&Mesh, &Mesh, &Markers) {
        (
            self.horse.reference(),
            self.camel.reference(),
            &self.markers,
        )
    }
}

/// Figure 2.
fn warped(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<Result<Image, ReproduceError>, TransferError> {
    let from = marker_positions(source, markers, |pair| pair.0);
    let to = marker_positions(target, markers, |pair| pair.1);
    let aligned = Similarity::fit(&from, &to)?.apply_all(source.positions());

    // Both meshes are warped to the positions of the markers on the target.
    let source_goals: Vec<(u32, DVec3)> = markers
        .pairs()
        .iter()
        .zip(&to)
        .map(|(pair, &goal)| (pair.0, goal))
        .collect();
    let target_goals: Vec<(u32, DVec3)> = markers
        .pairs()
        .iter()
        .zip(&to)
        .map(|(pair, &goal)| (pair.1, goal))
        .collect();
    let warped_source = source.posed(least_squares_mesh(source, &source_goals, &aligned)?)?;
    let warped_target = target.posed(least_squares_mesh(
        target,
        &target_goals,
        target.positions(),
    )?)?;

    let rows = [
        ("source", source, from),
        ("target", target, to.clone()),
        ("source, warped", &warped_source, to.clone()),
        ("target, warped", &warped_target, to),
    ];
    Ok(draw_warped(&rows))
}

/// The positions of one end of the markers.
fn marker_positions(mesh: &Mesh, markers: &Markers, end: fn(&(u32, u32)) -> u32) -> Vec<DVec3> {
    markers
        .pairs()
        .iter()
        .map(|pair| mesh.positions()[end(pair) as usize])
        .collect()
}

fn draw_warped(rows: &[(&str, &Mesh, Vec<DVec3>)]) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", rows.len());
    for (name, mesh, positions) in rows {
        let mut scene = Look::default().scene(mesh);
        scene.markers = positions
            .iter()
            .map(|&position| Marker {
                position,
                color: Color::srgb8(206, 62, 48),
                radius_px: 2.2,
            })
            .collect();

        sheet.push(
            Shot::new(SIDE, SIZE).framed_by(mesh.positions(), &scene)?,
            *name,
        );
    }

    Ok(sheet.compose()?)
}

fn horse_and_camel(pair: &HorseAndCamel, section: &mut Section) -> Result<(), ReproduceError> {
    section.paragraph(
        "The authors of deformation transfer (Sumner, Popović 2004) transferred the horse's poses \
         to the camel with their 107 markers. The error is the root mean square distance from \
         those poses, after the best rigid motion of each pose, in percent of the camel's \
         diagonal.",
    );

    let known = KnownPoses {
        source: &pair.horse,
        target: &pair.camel,
    };

    let trial = Trial {
        known,
        markers: &pair.markers,
        counts: &[107, 40, 17, 8, 0],
    };
    let errors = trial.errors().map_err(failed("camel"))?;

    let peer = |count: usize| {
        NRICP
            .iter()
            .find(|(markers, _)| *markers == count)
            .map(|&(_, error)| error)
    };

    section.table(table(
        "Error by number of markers. NRICP: non-rigid registration of Amberg et al. 2007, in \
         trimesh 5.2.",
        &errors,
        peer,
    ));

    section.plot(
        plot(&errors),
        "The fewer the markers, the more the surfaces themselves have to say.",
    );
    add_figures(section, &errors);
    section.wide(
        "camels.png",
        "Two poses with 17 markers.",
        &poses(&trial.known, &errors, 17, [2, 6], "published")?,
    )?;

    Ok(())
}

fn tapir_on_itself(swing: &Clip, section: &mut Section) -> Result<(), ReproduceError> {
    section.paragraph(
        "With the open data, this section shows the published poses of the horse and the camel. \
         Without them, the tapir is transferred to itself in half as many triangles, where every \
         pose is known. The error is the root mean square distance in percent of the diagonal.",
    );

    // Every fourth frame: the poses between them add little.
    let few = Clip::new(
        "swing",
        swing.reference().clone(),
        swing.frames().iter().step_by(4).cloned().collect(),
    )
    .map_err(failed("tapir"))?;

    let (half, markers) = halved(&few).map_err(failed("tapir"))?;
    let trial = Trial {
        known: KnownPoses {
            source: &few,
            target: &half,
        },
        markers: &markers,
        counts: &[40, 17, 8, 0],
    };

    let errors = trial.errors().map_err(failed("tapir"))?;
    section.table(table("Error by number of markers.", &errors, |_| None));
    section.plot(
        plot(&errors),
        "The fewer the markers, the more the surfaces themselves have to say.",
    );

    add_figures(section, &errors);
    section.wide(
        "tapirs.png",
        "Two frames with 8 markers.",
        &poses(&trial.known, &errors, 8, [3, 6], "known")?,
    )?;

    Ok(())
}

/// The clip on half of the triangles, with a marker at every vertex that is left.
fn halved(clip: &Clip) -> Result<(Clip, Markers), TransferError> {
    let mesh = clip.reference();
    let options = DecimationOptions::default().with_placement(VertexPlacement::Subset);
    // Subset placement keeps vertices in place, so every pose is known exactly.
    let half = mesh.decimated(
        DecimationBudget::Triangles(mesh.triangles().len() / 2),
        &options,
    )?;

    let on_half = |frame: &Vec<DVec3>| half.sources().iter().map(|&v| frame[v as usize]).collect();
    let markers = Markers::new(half.sources().iter().copied().zip(0..).collect());
    Ok((
        Clip::new(
            "known",
            half.mesh().clone(),
            clip.frames().iter().map(on_half).collect(),
        )?,
        markers,
    ))
}

impl Trial<'_> {
    fn errors(&self) -> Result<Vec<Errors>, TransferError> {
        let each = |&count: &usize| {
            // Zero markers means that the correspondence follows from the shapes.
            let some = (count > 0).then(|| {
                self.markers
                    .spread_over(self.known.source.reference(), count)
            });
            let ours = self
                .known
                .transferred(some.as_ref(), CorrespondenceMethod::Auto)?;

            let warp = some
                .map(|some| {
                    self.known
                        .transferred(Some(&some), CorrespondenceMethod::Wang2008)
                })
                .transpose()?;

            Ok(Errors { count, ours, warp })
        };
        self.counts.iter().map(each).collect()
    }
}

fn table(caption: &str, errors: &[Errors], peer: impl Fn(usize) -> Option<f64>) -> Table {
    // The column of the peer only where it was measured.
    let has_peer = errors.iter().any(|row| peer(row.count).is_some());
    let header = ["markers", "ours, %", "the paper's warp, %"]
        .into_iter()
        .chain(has_peer.then_some("NRICP, %"));

    let mut table = Table::new(caption, header);
    for row in errors {
        let error = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), hundredths);
        let markers = if row.count == 0 {
            "none".to_owned()
        } else {
            row.count.to_string()
        };

        let cells = [
            markers,
            error(Some(row.ours.error)),
            error(row.warp.as_ref().map(|warp| warp.error)),
        ];

        table.push(
            cells
                .into_iter()
                .chain(has_peer.then(|| error(peer(row.count)))),
        );
    }

    table
}

fn plot(errors: &[Errors]) -> Plot {
    let with_markers = || errors.iter().filter(|row| row.count > 0);
    let ours = with_markers().map(|row| [row.count as f64, 100.0 * row.ours.error]);
    let warp =
        with_markers().filter_map(|row| Some([row.count as f64, 100.0 * row.warp.as_ref()?.error]));

    Plot::new(
        "Error over markers",
        Axis::logarithmic("markers"),
        Axis::linear("error, % of the diagonal").covering([0.0]),
    )
    .with_series(Series::new("ours", Marks::LineAndPoints, ours))
    .with_series(Series::new("the paper's warp", Marks::LineAndPoints, warp))
    .with_size([760, 360])
}

fn add_figures(section: &mut Section, errors: &[Errors]) {
    for row in errors {
        let name = if row.count == 0 {
            "error without markers".to_owned()
        } else {
            format!("error, {} markers", row.count)
        };
        section.figure(&name, format!("{} %", hundredths(row.ours.error)));
    }
}

/// A share in percent with two decimals, in which the methods differ.
fn hundredths(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// Two known poses beside ours and those of the warp.
fn poses(
    known: &KnownPoses<'_>,
    errors: &[Errors],
    count: usize,
    frames: [usize; 2],
    truth: &str,
) -> Result<Image, ReproduceError> {
    let row = errors.iter().find(|row| row.count == count);
    let found = row.map(|row| {
        [
            Some(("ours", &row.ours.poses)),
            row.warp
                .as_ref()
                .map(|warp| ("the paper's warp", &warp.poses)),
        ]
    });

    let mut sheet = ContactSheet::new("", 3);
    for frame in frames.map(|frame| frame.min(known.target.frames().len().saturating_sub(1))) {
        let shown = [Some((truth, known.target))]
            .into_iter()
            .chain(found.into_iter().flatten())
            .flatten();
        for (name, clip) in shown {
            let pose = clip.mesh_at(frame).map_err(failed(name))?;
            sheet.push(
                Shot::new(SIDE, [360, 330]).of(&pose, &Look::default())?,
                name,
            );
        }
    }

    Ok(sheet.compose()?)
}
