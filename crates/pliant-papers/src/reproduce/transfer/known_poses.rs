//! Error of transferred poses against known ones.

use std::borrow::Cow;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, Layer, Markers, Source, Synthesis,
    SynthesisOptions, TransferError,
};

/// Poses of a source, and the same poses of a target.
pub(super) struct KnownPoses<'a> {
    pub(super) source: &'a Clip,
    pub(super) target: &'a Clip,
}

/// Transferred poses and their error.
pub(super) struct TransferredPoses {
    pub(super) poses: Clip,
    /// Root mean square distance over the target's diagonal, mean of the poses.
    pub(super) error: f64,
}

impl KnownPoses<'_> {
    /// The poses by a method, with markers or by shape alone.
    pub(super) fn transferred(
        &self,
        markers: Option<&Markers>,
        method: CorrespondenceMethod,
    ) -> Result<TransferredPoses, TransferError> {
        let (source, target) = (self.source.reference(), self.target.reference());
        let options = CorrespondenceOptions::default().with_method(method);
        let correspondence = Correspondence::find(source, target, markers, &options)?;
        let sources = vec![Source {
            clip: self.source,
            map: Cow::Borrowed(&correspondence.map),
        }];

        // One layer with the whole clip on the whole target.
        let layers = vec![Layer::whole(
            0,
            vec![1.0; target.triangles().len()],
            self.source.frames().len(),
        )];
        let poses =
            Synthesis::new(target, sources, layers, SynthesisOptions::default())?.clip("poses")?;
        let error = self.error(poses.frames())?;

        Ok(TransferredPoses { poses, error })
    }

    /// The error after the best rigid motion of each pose, since the position of a pose is arbitrary.
    pub(super) fn error(&self, poses: &[Vec<DVec3>]) -> Result<f64, TransferError> {
        let mut sum = 0.0;
        for (found, known) in poses.iter().zip(self.target.frames()) {
            let motion = RigidMotion::fit(found, known, None)?;
            let squared: f64 = found
                .iter()
                .zip(known)
                .map(|(&p, q)| motion.apply(p).distance_squared(*q))
                .sum();
            sum += (squared / found.len().max(1) as f64).sqrt();
        }

        let diagonal = self
            .target
            .reference()
            .bounds()
            .map_or(1.0, |bounds| bounds.diagonal());

        Ok(sum / poses.len().max(1) as f64 / diagonal)
    }
}
