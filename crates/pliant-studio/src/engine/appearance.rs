//! The materials of a surface as the graphics card draws them.
//!
//! **Problem.** A mesh has one position per vertex, one UV per corner and one material per face; a
//! graphics card draws triangles of one material whose corners have one UV each.
//!
//! **Implementation.** Vertices are split along UV seams, and triangles are sorted by material into
//! parts. Poses remain arrays of the mesh's own vertices: each drawn vertex knows the one that it is
//! a copy of.
//!
//! **Departures.** All textures of a material use the UV set and the transformation of the first one
//! that it has.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use pliant::io::Asset;
use pliant::mesh::Mesh;
use pliant::mesh::glam::{Vec2, Vec4};
use pliant::view::{
    Color, Material, Paint, PbrMaterial, PbrPaint, TextureMap, Transparency, own_paint,
};

/// Materials on a surface.
#[derive(Debug, Clone)]
pub struct Appearance {
    /// For each drawn vertex, the vertex of the mesh.
    pub sources: Vec<u32>,
    /// Its place on the textures, from their upper left.
    pub uvs: Vec<[f32; 2]>,
    /// The colour, in linear light, by which the material's is multiplied there.
    pub tones: Vec<[f32; 4]>,
    /// The corners of the triangles among the drawn vertices.
    pub triangles: Vec<[u32; 3]>,
    /// The triangles of each material; opaque ones first.
    pub parts: Vec<Part>,
    /// The triangles that hide light, among the vertices of the mesh; `None` if that is all of them.
    pub casting: Option<Vec<[u32; 3]>>,
}

/// The triangles of one material.
#[derive(Debug, Clone)]
pub struct Part {
    /// The material.
    pub material: PbrMaterial,
    /// How it reflects light.
    pub reflection: Reflection,
    /// Its triangles in [`Appearance::triangles`].
    pub triangles: Range<u32>,
}

/// How a surface reflects light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflection {
    /// As clay: matte with a broad highlight, as colours of names and vertices are shown.
    Clay,
    /// By metalness and roughness.
    Physical,
}

impl Part {
    /// Whether what is behind it shows through.
    #[must_use]
    pub fn blended(&self) -> bool {
        self.material.transparency == Transparency::Blend
    }
}

impl Appearance {
    /// The materials of an asset on its merged mesh, as `pliant render` shows them, with warnings
    /// about images that cannot be shown; `None` for a surface of plain clay.
    #[must_use]
    pub fn of_asset(asset: &Asset, mesh: &Mesh) -> (Option<Arc<Self>>, Vec<String>) {
        let (materials, warnings) = pliant::pictures::materials(asset, mesh);
        let found = match materials {
            Some(paint) => Self::of_paint(mesh, &Paint::Pbr(paint)),
            None => Self::of_mesh(mesh),
        };
        (found, warnings)
    }

    /// The colours that a mesh has by itself: of vertices, or by the names of its materials.
    #[must_use]
    pub fn of_mesh(mesh: &Mesh) -> Option<Arc<Self>> {
        Self::of_paint(mesh, &own_paint(mesh))
    }

    /// A paint of the renderer; `None` if it is plain.
    #[must_use]
    pub fn of_paint(mesh: &Mesh, paint: &Paint) -> Option<Arc<Self>> {
        let clay = || colored(Material::clay().color);
        match paint {
            Paint::Pbr(paint) => {
                let mut materials: Vec<_> = paint
                    .materials
                    .iter()
                    .map(|material| (material.clone(), Reflection::Physical))
                    .collect();
                materials.push((clay(), Reflection::Clay));

                let plain = paint.materials.len();
                let of_face = |face: usize| match paint.of_face.get(face) {
                    Some(Some(k)) if (*k as usize) < plain => *k as usize,
                    _ => plain,
                };
                let tone = |vertex: u32, part: usize| tone_of(paint, vertex, part);
                Some(Self::assemble(mesh, materials, of_face, tone))
            }
            Paint::FaceColors(colors) => {
                let mut index_of = BTreeMap::new();
                let mut materials = Vec::new();
                for color in colors {
                    index_of
                        .entry(color.0.to_array().map(f32::to_bits))
                        .or_insert_with(|| {
                            materials.push((colored(*color), Reflection::Clay));
                            materials.len() - 1
                        });
                }
                let of_face = |face: usize| index_of[&colors[face].0.to_array().map(f32::to_bits)];
                Some(Self::assemble(mesh, materials, of_face, |_, _| Vec4::ONE))
            }
            Paint::VertexColors(colors) => {
                let white = colored(Color::srgb([1.0; 3]));
                let tone = |vertex: u32, _| colors[vertex as usize].0.extend(1.0);
                let materials = vec![(white, Reflection::Clay)];
                Some(Self::assemble(mesh, materials, |_| 0, tone))
            }
            _ => None,
        }
    }

    fn assemble(
        mesh: &Mesh,
        materials: Vec<(PbrMaterial, Reflection)>,
        of_face: impl Fn(usize) -> usize,
        tone: impl Fn(u32, usize) -> Vec4,
    ) -> Arc<Self> {
        let mut builder = Splitter::default();
        let mut members = vec![Vec::new(); materials.len()];
        for face in 0..mesh.face_count() {
            let part = of_face(face);
            let map = first_map(&materials[part].0);

            let corners = mesh.face_corners(face);
            let drawn: Vec<u32> = corners
                .clone()
                .zip(mesh.face(face))
                .map(|(corner, &vertex)| {
                    let uv = map.and_then(|map| corner_uv(mesh, map, corner));
                    builder.drawn(vertex, uv.unwrap_or(Vec2::ZERO), tone(vertex, part))
                })
                .collect();
            // Faces are triangulated as fans from their first corner.
            for k in 1..drawn.len().saturating_sub(1) {
                members[part].push([drawn[0], drawn[k], drawn[k + 1]]);
            }
        }

        let mut order: Vec<usize> = (0..materials.len()).collect();
        order.sort_by_key(|&k| materials[k].0.transparency == Transparency::Blend);
        let mut triangles = Vec::with_capacity(mesh.triangles().len());
        let mut parts = Vec::new();
        for k in order {
            if members[k].is_empty() {
                continue;
            }
            let first = triangles.len() as u32;
            triangles.append(&mut members[k]);
            let (material, reflection) = materials[k].clone();
            parts.push(Part {
                material,
                reflection,
                triangles: first..triangles.len() as u32,
            });
        }

        let casting = casting_triangles(&builder.sources, &triangles, &parts);
        Arc::new(Self {
            sources: builder.sources,
            uvs: builder.uvs,
            tones: builder.tones,
            triangles,
            parts,
            casting,
        })
    }
}

/// Gives each different corner of a vertex a drawn vertex.
#[derive(Default)]
struct Splitter {
    sources: Vec<u32>,
    uvs: Vec<[f32; 2]>,
    tones: Vec<[f32; 4]>,
    /// The drawn vertices by mesh vertex, UV and tone.
    known: BTreeMap<(u32, [u32; 2], [u32; 4]), u32>,
}

impl Splitter {
    fn drawn(&mut self, vertex: u32, uv: Vec2, tone: Vec4) -> u32 {
        let key = (
            vertex,
            uv.to_array().map(f32::to_bits),
            tone.to_array().map(f32::to_bits),
        );
        *self.known.entry(key).or_insert_with(|| {
            self.sources.push(vertex);
            self.uvs.push(uv.to_array());
            self.tones.push(tone.to_array());
            self.sources.len() as u32 - 1
        })
    }
}

/// A matte material of one colour.
fn colored(color: Color) -> PbrMaterial {
    let mut material = PbrMaterial::default();
    material.base_color = color.0.extend(1.0);
    material
}

/// The colour of a vertex, if the material of the part uses it.
fn tone_of(paint: &PbrPaint, vertex: u32, part: usize) -> Vec4 {
    let uses = paint
        .materials
        .get(part)
        .is_some_and(|material| material.vertex_colors);
    match paint.vertex_colors.get(vertex as usize) {
        Some(color) if uses => *color,
        _ => Vec4::ONE,
    }
}

/// The texture whose UVs all textures of a material use.
fn first_map(material: &PbrMaterial) -> Option<&TextureMap> {
    [
        &material.base_color_map,
        &material.normal_map,
        &material.metallic_roughness_map,
        &material.occlusion_map,
        &material.emissive_map,
        &material.opacity_map,
    ]
    .into_iter()
    .find_map(Option::as_ref)
}

/// The place of a corner on a texture, from its upper left.
fn corner_uv(mesh: &Mesh, map: &TextureMap, corner: usize) -> Option<Vec2> {
    let layer = mesh.uv_layers().get(map.uv_set)?;
    let uv = layer.values[(*layer.corners.get(corner)?)? as usize].as_vec2();
    let placed = map.linear * Vec2::new(uv.x, 1.0 - uv.y) + map.offset;
    placed.is_finite().then_some(placed)
}

fn casting_triangles(
    sources: &[u32],
    triangles: &[[u32; 3]],
    parts: &[Part],
) -> Option<Vec<[u32; 3]>> {
    if !parts.iter().any(Part::blended) {
        return None;
    }
    let casting = parts.iter().filter(|part| !part.blended());
    let drawn = casting
        .flat_map(|part| &triangles[part.triangles.start as usize..part.triangles.end as usize]);
    Some(
        drawn
            .map(|triangle| triangle.map(|v| sources[v as usize]))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn the_triangles_of_all_parts_are_those_of_the_mesh() {
        let mesh = pliant::load("specimen:head")
            .expect("the head is built in")
            .mesh()
            .expect("the head has a mesh");
        let found = Appearance::of_mesh(&mesh).expect("its materials have known names");
        let parts = &found.parts;
        assert!(parts.len() > 3, "skin, lips, eyes, hair");

        let mut drawn: Vec<[u32; 3]> = found
            .triangles
            .iter()
            .map(|corners| corners.map(|v| found.sources[v as usize]))
            .collect();
        let mut expected = mesh.triangles().to_vec();
        drawn.sort_unstable();
        expected.sort_unstable();
        assert_eq!(drawn, expected);

        // Parts follow each other without gaps.
        let ends: Vec<u32> = parts.iter().map(|part| part.triangles.end).collect();
        let starts: Vec<u32> = parts.iter().map(|part| part.triangles.start).collect();
        assert_eq!(starts[1..], ends[..ends.len() - 1]);
        assert_eq!(ends[ends.len() - 1] as usize, mesh.triangles().len());
    }

    #[test]
    fn a_plain_mesh_is_clay() {
        assert!(Appearance::of_mesh(&icosphere(1)).is_none());
    }

    #[test]
    fn translucent_parts_come_last_and_cast_nothing() {
        let mesh = icosphere(1);
        let material = |transparency| {
            let mut material = PbrMaterial::default();
            material.transparency = transparency;
            material
        };
        let paint = PbrPaint {
            materials: vec![
                material(Transparency::Blend),
                material(Transparency::Opaque),
            ],
            of_face: (0..mesh.face_count() as u32).map(|k| Some(k % 2)).collect(),
            vertex_colors: Vec::new(),
        };
        let found = Appearance::of_paint(&mesh, &Paint::Pbr(Arc::new(paint))).unwrap();

        let blended: Vec<bool> = found.parts.iter().map(Part::blended).collect();
        assert_eq!(blended, [false, true]);
        let casting = found.casting.as_ref().unwrap();
        assert_eq!(casting.len(), mesh.face_count() / 2);
        assert_eq!(casting[0], mesh.triangles()[1]);
    }
}
