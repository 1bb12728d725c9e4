//! `--no-target-normals`: smaller glTF files.

use pliant_io::Asset;

/// Whether targets and frames in glTF carry normals.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetNormalsArgs {
    /// glTF: write targets and frames without normals. Files take about half the space; viewers then
    /// shade a moved surface as if it had not moved, unless they compute normals.
    #[arg(long)]
    no_target_normals: bool,
}

impl TargetNormalsArgs {
    pub(crate) fn apply(&self, asset: Asset) -> Asset {
        if self.no_target_normals {
            asset.without_target_normals()
        } else {
            asset
        }
    }
}
