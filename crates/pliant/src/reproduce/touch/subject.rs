//! Skins of the sizes of the thesis' heads, in units like its own.
//!
//! Its models are not public, and its unit of length is unknown. Its steps cost as much as there is
//! to move, so that the cost at range 12, in parts of the whole model's, tells which part of the
//! vertices lies within 12 units.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    DecimationBudget, DecimationOptions, ExactGeodesics, Mesh, MeshError, SurfacePoint,
};
use pliant_rig::Rig;

use super::numerals::{grouped, mean};
use super::thesis::{PUBLISHED, Published, RANGES};
use super::{CHEEK, Data, ReproduceError};

pub(super) const ICT_FACEKIT: &str = "ict-facekit/generic_neutral_mesh.obj";
/// The middle of its left cheek.
const ICT_CHEEK: usize = 2439;
/// Ours: triangles of about one size, as those of a model that was made to be deformed.
const EVENNESS: f64 = 1e-2;

/// The skin of a head without eyes and teeth, and where it is touched.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) skin: Mesh,
    pub(super) cheek: usize,
    /// A unit of the thesis in units of the mesh.
    pub(super) unit: f64,
    /// The distance of the farthest vertex from the cheek.
    pub(super) reach: f64,
    /// The thesis' model of as many vertices.
    pub(super) published: Option<&'static Published>,
}

/// The built-in head in the sizes of the thesis' three, and the open one as it is.
pub(super) fn all(head: &Rig, data: &Data) -> Result<Vec<Subject>, ReproduceError> {
    let failed = |model: &'static str| {
        move |source| ReproduceError::Mesh {
            model: model.to_owned(),
            source,
        }
    };
    let of_head = || {
        let skin = part_around(head.neutral(), CHEEK.center)?;
        let place = head.neutral().positions()[CHEEK.center];
        PUBLISHED
            .iter()
            .map(|row| Subject::reduced(&skin, place, row))
            .collect::<Result<Vec<Subject>, MeshError>>()
    };
    let mut subjects = of_head().map_err(failed("built-in head"))?;
    if let Some(asset) = data.asset(ICT_FACEKIT)? {
        let mesh = asset.mesh()?;
        let place = *mesh.positions().get(ICT_CHEEK).unwrap_or(&DVec3::ZERO);
        let skin = part_around(&mesh, ICT_CHEEK).map_err(failed("ICT FaceKit"))?;
        subjects
            .push(Subject::new("ICT FaceKit", skin, place, None).map_err(failed("ICT FaceKit"))?);
    }
    Ok(subjects)
}

impl Subject {
    fn reduced(skin: &Mesh, cheek: DVec3, row: &'static Published) -> Result<Self, MeshError> {
        let options = DecimationOptions::default().with_evenness(EVENNESS);
        let reduced = skin
            .decimated(DecimationBudget::Vertices(row.vertices), &options)?
            .mesh()
            .clone();
        Self::new("built-in head", reduced, cheek, Some(row))
    }

    fn new(
        name: &str,
        skin: Mesh,
        cheek: DVec3,
        published: Option<&'static Published>,
    ) -> Result<Self, MeshError> {
        let away = |v: &usize| skin.positions()[*v].distance(cheek);
        let cheek = (0..skin.vertex_count())
            .min_by(|a, b| away(a).total_cmp(&away(b)))
            .unwrap_or(0);
        let mut distances =
            ExactGeodesics::new(&skin)?.distances(&[SurfacePoint::Vertex(cheek as u32)])?;
        distances.sort_by(f64::total_cmp);
        let last = RANGES.len() - 1;
        let share = mean(PUBLISHED.iter().map(|row| row.cost_shares()[last]));
        let unit = distances[(share * distances.len() as f64) as usize] / RANGES[last];
        Ok(Self {
            name: name.to_owned(),
            unit,
            reach: distances[distances.len() - 1],
            skin,
            cheek,
            published,
        })
    }

    /// The name with the size.
    pub(super) fn title(&self) -> String {
        format!("{}, {}", self.name, grouped(self.skin.vertex_count()))
    }

    /// Whether it is in plots and pictures: of the three sizes of one head, the largest.
    pub(super) fn is_shown(&self) -> bool {
        self.published
            .is_none_or(|row| row.vertices == PUBLISHED[0].vertices)
    }
}

/// The connected part of `mesh` that a vertex belongs to, with its vertices in their order.
fn part_around(mesh: &Mesh, vertex: usize) -> Result<Mesh, MeshError> {
    mesh.require_vertex(vertex)?;
    let part_of = mesh.topology().component_of_vertex();
    let belongs = |v: u32| part_of[v as usize] == part_of[vertex];
    let mut number = vec![0_u32; mesh.vertex_count()];
    let kept: Vec<u32> = (0..mesh.vertex_count() as u32)
        .filter(|&v| belongs(v))
        .collect();
    kept.iter()
        .zip(0..)
        .for_each(|(&v, k)| number[v as usize] = k);
    let positions = kept.iter().map(|&v| mesh.positions()[v as usize]).collect();
    let faces = mesh.faces().filter(|face| face.iter().all(|&v| belongs(v)));
    let polygons: Vec<Vec<u32>> = faces
        .map(|face| face.iter().map(|&v| number[v as usize]).collect())
        .collect();
    Mesh::from_polygons(positions, &polygons)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skin_alone_is_one_part_and_keeps_its_places() {
        let head = crate::load("specimen:head").unwrap().mesh().unwrap();
        let skin = part_around(&head, CHEEK.center).unwrap();
        assert_eq!(skin.topology().component_count(), 1);
        assert!(
            skin.vertex_count() < head.vertex_count()
                && skin.vertex_count() > PUBLISHED[0].vertices
        );
        assert!(skin.positions().contains(&head.positions()[CHEEK.center]));
        assert!(part_around(&head, head.vertex_count()).is_err());
    }
}
