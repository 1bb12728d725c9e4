//! Detail between two surfaces as displacement and normal maps.

use numpy::{IntoPyArray, PyArray2, PyArray3, PyArrayMethods};
use pliant::mesh::glam::DVec3;
use pliant::view::{BakeOptions, HeightRange};
use pyo3::prelude::*;

use crate::arrays;
use crate::asset::Asset;
use crate::failure::Failure;
use crate::work::{run, run_unwatched};

/// Displacement and normal maps of the detail between two poses of an asset with UV coordinates.
///
/// >>> head = pliant.load("specimen:head")
/// >>> baker = pliant.Baker(head, size=64, padding=2)
/// >>> rest = head.mesh().positions
/// >>> heights, normals = baker.bake(rest, rest)
/// >>> heights.shape, float(abs(heights).max()), normals.shape
/// ((64, 64), 0.0, (64, 64, 3))
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Baker {
    baker: pliant::view::Baker,
}

#[pymethods]
impl Baker {
    #[new]
    #[pyo3(signature = (asset, *, size=BakeOptions::DEFAULT_SIZE, padding=BakeOptions::DEFAULT_PADDING))]
    fn new(py: Python<'_>, asset: &Asset, size: usize, padding: usize) -> Result<Self, Failure> {
        let asset = std::sync::Arc::clone(&asset.asset);
        let options = BakeOptions::default().with_size(size).with_padding(padding);
        let baker = run_unwatched(py, move || {
            Ok(pliant::view::Baker::new(&asset.mesh()?, &options)?)
        })?;
        Ok(Self { baker })
    }

    /// The part of the texels that the UV layout covers.
    #[getter]
    fn coverage(&self) -> f64 {
        self.baker.coverage()
    }

    /// Warnings about the UV layout, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.baker.warnings().to_vec()
    }

    /// The heights (size, size) of `detailed` above `base` along its normals, in units of the asset, and the normals
    /// (size, size, 3) as uint8: (128, 128, 255) is the normal of the base. The first row is the top, where v is 1.
    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    fn bake<'py>(
        &self,
        py: Python<'py>,
        base: &Bound<'py, PyAny>,
        detailed: &Bound<'py, PyAny>,
    ) -> Result<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<u8>>), Failure> {
        let base = arrays::points("base", base)?;
        let detailed = arrays::points("detailed", detailed)?;
        let [base, detailed]: [&[DVec3]; 2] = [base.as_slice(), detailed.as_slice()];
        let (maps, range) = run(py, || {
            let (heights, _) = self.baker.heights(base, detailed)?;
            let range = HeightRange::default().with(&heights);
            Ok((self.baker.bake(base, detailed, &range)?, range))
        })?;
        let heights: Vec<f64> = maps.displacement.iter().map(|&v| range.decode(v)).collect();
        let normals: Vec<u8> = maps.normals.iter().flatten().copied().collect();
        Ok((
            heights.into_pyarray(py).reshape([maps.size, maps.size])?,
            normals
                .into_pyarray(py)
                .reshape([maps.size, maps.size, 3])?,
        ))
    }
}
