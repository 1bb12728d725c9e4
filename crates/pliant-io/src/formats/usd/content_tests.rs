//! Content of scenes of other programs: orientation, display colours, and what an asset does not hold.

use pliant_mesh::glam::DVec4;

use super::{read, write};

const QUAD: &str = "int[] faceVertexCounts = [4, 3]
    int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)]";

fn scene(content: &str) -> String {
    format!("#usda 1.0\n(metersPerUnit = 1)\ndef Mesh \"quad\" {{\n{QUAD}\n{content}\n}}\n")
}

#[test]
fn left_handed_faces_are_reversed_with_the_values_at_their_corners() {
    let uvs = "texCoord2f[] primvars:st = [(0, 0), (.1, 0), (.2, 0), (.3, 0), (.4, 0), (.5, 0), (.6, 0)] (
        interpolation = \"faceVarying\"
    )";
    let left = scene(&format!(
        "uniform token orientation = \"leftHanded\"\n{uvs}"
    ));
    let [right, left] = [scene(uvs), left].map(|text| read(text.as_bytes()).unwrap());
    let [right, left] = [&right, &left].map(|asset| asset.mesh().unwrap());
    assert!(left.faces().eq([&[0, 3, 2, 1][..], &[1, 2, 4]]));

    // Every vertex of a face keeps its UV.
    let uv = |mesh: &pliant_mesh::Mesh, corner: usize| {
        let layer = &mesh.uv_layers()[0];
        layer.values[layer.corners[corner].unwrap() as usize]
    };
    for (corner, other) in [(0, 0), (1, 3), (2, 2), (3, 1), (4, 4), (5, 6), (6, 5)] {
        assert_eq!(uv(&left, corner), uv(&right, other), "corner {corner}");
    }
}

#[test]
fn one_display_colour_is_that_of_all_vertices() {
    for interpolation in ["", "(interpolation = \"constant\")"] {
        let text = scene(&format!(
            "color3f[] primvars:displayColor = [(0.5, 0.25, 0)] {interpolation}"
        ));
        let mesh = read(text.as_bytes()).unwrap().mesh().unwrap();
        assert_eq!(
            mesh.colors()[0].values,
            [DVec4::new(0.5, 0.25, 0.0, 1.0); 5]
        );
    }

    let of_faces =
        "color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (interpolation = \"uniform\")";
    let asset = read(scene(of_faces).as_bytes()).unwrap();
    assert!(asset.mesh().unwrap().colors().is_empty());
    assert!(
        asset
            .warnings
            .iter()
            .any(|warning| warning.contains("colours of faces"))
    );
}

#[test]
fn what_an_asset_does_not_hold_is_listed_by_name() {
    let text = "#usda 1.0
(
    metersPerUnit = 1
    customLayerData = {string shot = \"a\"}
)
def Xform \"set\" (kind = \"component\")
{
    token visibility = \"invisible\"
    float[] primvars:wear = [0, 1]
    def Camera \"camera\" {}
    def Mesh \"quad\" (assetInfo = {string name = \"q\"})
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] cornerIndices = [0]
        float2[] primvars:map = [(0, 0), (1, 0), (0, 1)] (interpolation = \"vertex\")
        color3f[] primvars:displayColor = [(1, 1, 1)]
    }
}
";
    let left_out = write(&read(text.as_bytes()).unwrap()).unwrap().left_out;
    assert_eq!(
        left_out,
        [
            "1 prim(s) of the kind 'Camera'",
            "1 mesh(es) with subdivision (their cages are kept)",
            "the propert(ies) 'cornerIndices', 'primvars:wear', 'visibility' of 2 prim(s)",
            "the metadata 'assetInfo', 'customLayerData', 'kind'",
        ]
    );
}

#[test]
fn our_own_layers_hold_nothing_else() {
    let text = scene("uniform token subdivisionScheme = \"none\"");
    let once = write(&read(text.as_bytes()).unwrap()).unwrap();
    let again = write(&read(&once.bytes).unwrap()).unwrap();
    let asset = read(&again.bytes).unwrap();
    assert_eq!(asset.objects[0].path, "/quad", "no root is added again");
    assert!(
        once.left_out.is_empty() && again.left_out.is_empty(),
        "{:?}",
        again.left_out
    );
}
