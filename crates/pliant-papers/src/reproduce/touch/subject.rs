//! Skins of the sizes of the thesis' heads, in a similar length unit.
//!
//! The models of the thesis are not public, and their length unit is unknown. The cost of a step is
//! proportional to the number of soft vertices. Therefore the cost at range 12 relative to that on
//! the whole model gives the share of vertices within 12 units.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    DecimationBudget, DecimationOptions, ExactGeodesics, Mesh, MeshError, SurfacePoint, VertexId,
};
use pliant_rig::Rig;

use super::numerals::{grouped, mean};
use super::thesis::{PUBLISHED, Published, RANGES};
use super::{CHEEK, Data, ReproduceError};

pub(super) const ICT_FACEKIT: &str = "ict-facekit/generic_neutral_mesh.obj";
/// The vertex in the middle of its left cheek.
const ICT_CHEEK: usize = 2439;
/// Chosen: triangles of about equal size, as in a model that is meant to be deformed.
const EVENNESS: f64 = 1e-2;

/// The skin of a head without eyes and teeth, and the vertex where it is touched.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) skin: Mesh,
    pub(super) cheek: usize,
    /// The length unit of the thesis in units of the mesh.
    pub(super) unit: f64,
    /// The distance of the farthest vertex from the cheek.
    pub(super) reach: f64,
    /// The thesis' model with the same vertex count.
    pub(super) published: Option<&'static Published>,
}

/// The built-in head in the three sizes of the thesis, and the open head unchanged.
pub(super) fn all(head: &Rig, data: &Data) -> Result<Vec<Subject>, ReproduceError> {
    let skin = component_around(head.neutral(), CHEEK.center).map_err(failed("built-in head"))?;
    let cheek = head.neutral().positions()[CHEEK.center.index()];
    let mut subjects = Vec::with_capacity(PUBLISHED.len() + 1);
    for published in &PUBLISHED {
        let subject = Subject::reduced(&skin, cheek, published);
        subjects.push(subject.map_err(failed("built-in head"))?);
    }

    if let Some(asset) = data.asset(ICT_FACEKIT)? {
        let mesh = asset.mesh()?;
        let cheek = *mesh.positions().get(ICT_CHEEK).unwrap_or(&DVec3::ZERO);
        let subject = component_around(&mesh, ICT_CHEEK)
            .and_then(|skin| Subject::new("ICT FaceKit", skin, cheek, None));
        subjects.push(subject.map_err(failed("ICT FaceKit"))?);
    }

    Ok(subjects)
}

fn failed(model: &'static str) -> impl Fn(MeshError) -> ReproduceError {
    move |source| ReproduceError::Mesh {
        model: model.to_owned(),
        source,
    }
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

        // The distance that contains the wanted share of vertices is range 12.
        let source = [SurfacePoint::Vertex(cheek as u32)];
        let mut distances = ExactGeodesics::new(&skin)?.distances(&source)?;
        distances.sort_by(f64::total_cmp);
        let last = RANGES.len() - 1;
        // The mean over the three heads of the thesis.
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

    /// Whether plots and pictures show it: of the three sizes of one head, the largest.
    pub(super) fn is_shown(&self) -> bool {
        self.published
            .is_none_or(|row| row.vertices == PUBLISHED[0].vertices)
    }
}

/// The connected component of a vertex, with its vertices in order.
fn component_around(mesh: &Mesh, vertex: impl Into<VertexId>) -> Result<Mesh, MeshError> {
    let vertex = vertex.into();
    mesh.require_vertex(vertex)?;
    let component_of = mesh.topology().component_of_vertex();
    let belongs = |v: u32| component_of[v as usize] == component_of[vertex.index()];

    let mut number = vec![0_u32; mesh.vertex_count()];
    let mut positions = Vec::new();
    for v in 0..mesh.vertex_count() as u32 {
        if belongs(v) {
            number[v as usize] = positions.len() as u32;
            positions.push(mesh.positions()[v as usize]);
        }
    }

    let polygons: Vec<Vec<u32>> = mesh
        .faces()
        .filter(|face| face.iter().all(|&v| belongs(v)))
        .map(|face| face.iter().map(|&v| number[v as usize]).collect())
        .collect();
    Mesh::from_polygons(positions, &polygons)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skin_is_one_component_and_keeps_its_positions() {
        let head = pliant_specimens::load("specimen:head")
            .unwrap()
            .mesh()
            .unwrap();
        let skin = component_around(&head, CHEEK.center).unwrap();
        assert_eq!(skin.topology().component_count(), 1);
        assert!(
            skin.vertex_count() < head.vertex_count()
                && skin.vertex_count() > PUBLISHED[0].vertices
        );
        assert!(
            skin.positions()
                .contains(&head.positions()[CHEEK.center.index()])
        );
        assert!(component_around(&head, head.vertex_count()).is_err());
    }
}
