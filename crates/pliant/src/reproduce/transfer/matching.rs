//! Figures 2 and 4: meshes brought together, and how well with few markers.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh, VertexPlacement};
use pliant_rig::Clip;
use pliant_transfer::{
    CorrespondenceMethod, Markers, Similarity, TransferError, least_squares_mesh,
};
use pliant_view::{Color, ContactSheet, Image, Marker};

use super::published_poses::{Found, Known};
use super::{Cast, HorseAndCamel, ReproduceError, SIDE, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::picture::{Look, Shot};

const SIZE: [usize; 2] = [270, 250];

/// *Measured* by `benches/peers/transfer_peers.py`, on the same poses by the same measure:
/// `trimesh` 5.2, `nricp_amberg`.
const NRICP: [(usize, f64); 3] = [(107, 0.0159), (40, 0.0177), (17, 0.0164)];

/// What is compared: known poses, and counts of markers.
struct Trial<'a> {
    known: Known<'a>,
    markers: &'a Markers,
    counts: &'a [usize],
}

/// The error of each method with some number of markers; 0 markers is by shape alone, which the
/// warp cannot do.
struct Errors {
    count: usize,
    ours: Found,
    warp: Option<Found>,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Bringing two meshes together",
        "Figures 2 and 4: the paper warps both meshes to least-squares meshes of the same markers and pairs the triangles that come to lie \
         together. Ours lays the source onto the target instead, and keeps the warp for when that fails.",
    );
    let tapir = (
        cast.pair.walk.reference(),
        cast.pair.tapir(),
        &cast.pair.markers,
    );
    let (source, target, markers) = cast
        .horse_and_camel
        .as_ref()
        .map_or(tapir, HorseAndCamel::at_rest);
    let sheet = warped(source, target, markers).map_err(failed("warp"))?;
    section.wide(
        "warp.png",
        "Source and target with their markers, and the least-squares mesh of each.",
        &sheet?,
    )?;
    match &cast.horse_and_camel {
        Some(pair) => horse_and_camel(pair, &mut section)?,
        None => tapir_on_itself(&cast.pair.swing, &mut section)?,
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
    let spots = |mesh: &Mesh, end: &dyn Fn(&(u32, u32)) -> u32| -> Vec<DVec3> {
        markers
            .pairs()
            .iter()
            .map(|pair| mesh.positions()[end(pair) as usize])
            .collect()
    };
    let (from, to) = (spots(source, &|pair| pair.0), spots(target, &|pair| pair.1));
    let laid = Similarity::fit(&from, &to)?.apply_all(source.positions());
    let goals = |end: &dyn Fn(&(u32, u32)) -> u32| {
        markers
            .pairs()
            .iter()
            .map(end)
            .zip(to.iter().copied())
            .collect::<Vec<_>>()
    };
    let warped_source = source.posed(least_squares_mesh(source, &goals(&|pair| pair.0), &laid)?)?;
    let warped_target = target.posed(least_squares_mesh(
        target,
        &goals(&|pair| pair.1),
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

fn draw_warped(rows: &[(&str, &Mesh, Vec<DVec3>)]) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", rows.len());
    for (name, mesh, spots) in rows {
        let mut scene = Look::default().scene(mesh);
        scene.markers = spots
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
        "The horse's poses were brought to the camel by the authors of deformation transfer, with their 107 markers. Against those poses, \
         each after its best rigid motion, the root mean square distance in percent of the camel's diagonal.",
    );
    let known = Known {
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
        "Error by markers. NRICP: non-rigid registration after Amberg and others, 2007, as trimesh 5.2 does it.",
        &errors,
        peer,
    ));
    section.plot(
        plot(&errors),
        "The fewer the markers, the more the surfaces themselves have to say.",
    );
    tell(section, &errors);
    section.wide(
        "camels.png",
        "Two poses with 17 markers.",
        &poses(&trial.known, &errors, 17, [2, 6], "published")?,
    )?;
    Ok(())
}

fn tapir_on_itself(swing: &Clip, section: &mut Section) -> Result<(), ReproduceError> {
    section.paragraph(
        "With open data there stand the published poses of the horse and the camel here. Without them, the tapir is brought to itself in \
         half as many triangles, where every pose is known: the root mean square distance in percent of the diagonal.",
    );
    let few = Clip::new(
        "swing",
        swing.reference().clone(),
        swing.frames().iter().step_by(4).cloned().collect(),
    )
    .map_err(failed("tapir"))?;
    let (half, markers) = halved(&few).map_err(failed("tapir"))?;
    let trial = Trial {
        known: Known {
            source: &few,
            target: &half,
        },
        markers: &markers,
        counts: &[40, 17, 8, 0],
    };
    let errors = trial.errors().map_err(failed("tapir"))?;
    section.table(table("Error by markers.", &errors, |_| None));
    section.plot(
        plot(&errors),
        "The fewer the markers, the more the surfaces themselves have to say.",
    );
    tell(section, &errors);
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
            let some = (count > 0).then(|| {
                self.markers
                    .spread_over(self.known.source.reference(), count)
            });
            let ours = self
                .known
                .found(some.as_ref(), CorrespondenceMethod::Auto)?;
            let warp = some
                .map(|some| self.known.found(Some(&some), CorrespondenceMethod::Warp))
                .transpose()?;
            Ok(Errors { count, ours, warp })
        };
        self.counts.iter().map(each).collect()
    }
}

fn table(caption: &str, errors: &[Errors], peer: impl Fn(usize) -> Option<f64>) -> Table {
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

fn tell(section: &mut Section, errors: &[Errors]) {
    for row in errors {
        let name = if row.count == 0 {
            "error without markers".to_owned()
        } else {
            format!("error, {} markers", row.count)
        };
        section.figure(&name, format!("{} %", hundredths(row.ours.error)));
    }
}

/// A share in percent, to two places: methods differ in the second.
fn hundredths(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// Two known poses beside ours and the warp's.
fn poses(
    known: &Known<'_>,
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
