//! The list of file formats: endings, readers and writers.
//!
//! To add a format, write a module with `read(bytes) -> Result<Asset, ReadError>` and
//! `write(&Asset) -> EncodedAsset`, and register it in [`Format::reader`] and [`Format::writer`].
//! A format that refers to other files takes a [`FileProvider`].

use std::path::Path;

use crate::{
    Asset, EncodedAsset, FileProvider, IoError, ReadError, alembic, fbx, gltf, maya_cache, npy,
    obj, off, ply, point_cache, stl, usda,
};

/// A file format, recognised by the ending of the file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// Geomview OFF.
    Off,
    /// glTF in one binary file.
    Glb,
    /// glTF as JSON with buffers in other files or inside.
    Gltf,
    /// Autodesk FBX.
    Fbx,
    /// Universal Scene Description as text.
    Usda,
    /// Alembic in an Ogawa container.
    Alembic,
    /// Universal Scene Description, binary.
    Usdc,
    /// Universal Scene Description, as text or binary.
    Usd,
    /// An archive of Universal Scene Description.
    Usdz,
    /// The Stanford polygon format.
    Ply,
    /// Stereolithography triangles.
    Stl,
    /// LightWave's point cache.
    Mdd,
    /// The point cache of 3ds Max and Blender.
    Pc2,
    /// Maya's geometry cache, `.mcx` and `.mc`.
    MayaCache,
    /// A NumPy array; read only as the second file of a pair.
    Npy,
    /// A MakeHuman target; read only as the second file of a pair.
    Target,
}

/// Why a reader failed.
pub(crate) enum ReadFailure {
    /// The bytes themselves are wrong.
    Content(ReadError),
    /// Another file, to which the bytes refer, cannot be read.
    File(IoError),
}

impl From<ReadError> for ReadFailure {
    fn from(error: ReadError) -> Self {
        Self::Content(error)
    }
}

/// Bytes to an asset; the second argument opens files to which the bytes refer.
pub(crate) type Reader = fn(&[u8], &dyn FileProvider) -> Result<Asset, ReadFailure>;

/// An asset to bytes; an error says what the format cannot express at all.
pub(crate) type Writer = fn(&Asset) -> Result<EncodedAsset, IoError>;

impl Format {
    /// Every format, in the order in which messages list them.
    pub const ALL: [Self; 17] = [
        Self::Obj,
        Self::Glb,
        Self::Gltf,
        Self::Usda,
        Self::Usd,
        Self::Usdc,
        Self::Usdz,
        Self::Fbx,
        Self::Alembic,
        Self::Ply,
        Self::Stl,
        Self::Off,
        Self::Mdd,
        Self::Pc2,
        Self::MayaCache,
        Self::Npy,
        Self::Target,
    ];

    /// The ending of its files, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Off => "off",
            Self::Glb => "glb",
            Self::Gltf => "gltf",
            Self::Fbx => "fbx",
            Self::Usda => "usda",
            Self::Alembic => "abc",
            Self::Usdc => "usdc",
            Self::Usd => "usd",
            Self::Usdz => "usdz",
            Self::Ply => "ply",
            Self::Stl => "stl",
            Self::Mdd => "mdd",
            Self::Pc2 => "pc2",
            Self::MayaCache => "mcx",
            Self::Npy => "npy",
            Self::Target => "target",
        }
    }

    /// The format of a file by its ending, in upper or lower case.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        if ending.eq_ignore_ascii_case("vrm") {
            return Some(Self::Glb); // A VRM avatar is a GLB with extensions.
        }
        if ending.eq_ignore_ascii_case("mc") {
            return Some(Self::MayaCache); // The form with 32-bit sizes.
        }
        Self::ALL
            .into_iter()
            .find(|format| ending.eq_ignore_ascii_case(format.ending()))
    }

    /// Whether it can store a clip.
    #[must_use]
    pub fn stores_clips(self) -> bool {
        matches!(
            self,
            Self::Glb | Self::Gltf | Self::Fbx | Self::Alembic | Self::Mdd | Self::Pc2 | Self::Npy
        ) || self.is_usd()
    }

    /// Whether it can store targets. An array stores them only as the second file of a pair,
    /// `MESH+ARRAY.npy`.
    #[must_use]
    pub fn stores_targets(self) -> bool {
        matches!(self, Self::Glb | Self::Gltf | Self::Fbx) || self.is_usd()
    }

    /// Whether it is a form of USD, all of which one reader takes.
    pub(crate) fn is_usd(self) -> bool {
        matches!(self, Self::Usda | Self::Usdc | Self::Usd | Self::Usdz)
    }

    /// Whether it is glTF, in either container.
    #[must_use]
    pub fn is_gltf(self) -> bool {
        matches!(self, Self::Glb | Self::Gltf)
    }

    /// Whether it can store combinations of sliders.
    #[must_use]
    pub fn stores_combinations(self) -> bool {
        self.is_gltf()
    }

    /// Whether a file of this format alone is an asset that can be read.
    #[must_use]
    pub fn can_read(self) -> bool {
        self.reader().is_some()
    }

    /// Whether an asset can be written to it.
    #[must_use]
    pub fn can_write(self) -> bool {
        self.writer().is_some()
    }

    /// Reads `bytes` in this format; `files` opens the files to which they refer.
    pub fn read(self, bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, IoError> {
        let ending = self.ending();
        let name = || format!("the .{ending} bytes");
        let reader = Self::reader_for(Path::new(&format!("bytes.{ending}")))?;
        let asset = reader(bytes, files).map_err(|failure| match failure {
            ReadFailure::Content(error) => error.in_file(name()),
            ReadFailure::File(error) => error,
        })?;
        asset.check().map_err(|error| error.in_file(name()))?;
        Ok(asset)
    }

    pub(crate) fn reader(self) -> Option<Reader> {
        match self {
            Self::Obj => Some(|bytes, files| Ok(obj::read_with_files(bytes, files)?)),
            Self::Off => Some(|bytes, _| Ok(off::read(bytes)?)),
            Self::Glb | Self::Gltf => Some(gltf::read_document),
            Self::Ply => Some(|bytes, _| Ok(ply::read(bytes)?)),
            Self::Stl => Some(|bytes, _| Ok(stl::read(bytes)?)),
            Self::Usda | Self::Usdc | Self::Usd | Self::Usdz => {
                Some(|bytes, files| Ok(usda::read_document(bytes, files)?))
            }
            #[cfg(feature = "fbx")]
            Self::Fbx => Some(|bytes, files| Ok(fbx::read(bytes, files)?)),
            Self::Alembic => Some(|bytes, _| Ok(alembic::read(bytes)?)),
            Self::Mdd => Some(|bytes, _| Ok(point_cache::read_mdd(bytes)?)),
            Self::Pc2 => Some(|bytes, _| Ok(point_cache::read_pc2(bytes)?)),
            Self::MayaCache => Some(|bytes, _| Ok(maya_cache::read(bytes)?)),
            _ => None,
        }
    }

    pub(crate) fn writer(self) -> Option<Writer> {
        match self {
            Self::Obj => Some(|asset| Ok(obj::write(asset))),
            Self::Glb => Some(|asset| {
                asset.require_single_range("glTF", asset.meters_per_unit.unwrap_or(1.0))?;
                Ok(gltf::write(asset))
            }),
            Self::Gltf => Some(|asset| {
                asset.require_single_range("glTF", asset.meters_per_unit.unwrap_or(1.0))?;
                Ok(gltf::write_json(asset))
            }),
            Self::Ply => Some(ply::write),
            Self::Usda | Self::Usd => Some(usda::write),
            Self::Fbx => Some(fbx::write),
            Self::Alembic => Some(alembic::write),
            Self::Mdd => Some(point_cache::write_mdd),
            Self::Pc2 => Some(point_cache::write_pc2),
            Self::Npy => Some(npy::encode_positions),
            _ => None,
        }
    }

    /// The reader for `path`, or why there is none.
    pub(crate) fn reader_for(path: &Path) -> Result<Reader, IoError> {
        let format = Self::of(path);
        if let Some(reader) = format.and_then(Self::reader) {
            return Ok(reader);
        }

        let why = match format {
            Some(Self::Npy) => {
                "an array alone has no faces; name it after its mesh as MESH+ARRAY".into()
            }
            Some(Self::Target) => {
                "a target alone has no mesh; name it after its mesh as MESH+TARGET".into()
            }
            Some(Self::Fbx) => "this build cannot read FBX (feature `fbx`)".into(),
            other => unsupported(path, other),
        };
        Err(IoError::Format {
            path: path.into(),
            verb: "read",
            why,
            known: endings(Self::can_read),
        })
    }

    /// The writer for `path`, or why there is none.
    pub(crate) fn writer_for(path: &Path) -> Result<Writer, IoError> {
        let format = Self::of(path);
        if let Some(writer) = format.and_then(Self::writer) {
            return Ok(writer);
        }

        Err(IoError::Format {
            path: path.into(),
            verb: "written",
            why: unsupported(path, format),
            known: endings(Self::can_write),
        })
    }
}

/// Why a file can be read only, or neither read nor written.
fn unsupported(path: &Path, format: Option<Format>) -> String {
    match (format, path.extension()) {
        (Some(format), _) if format.can_read() => {
            format!("'.{}' files are only read", format.ending())
        }
        (Some(format), _) => format!("this build does not support '.{}'", format.ending()),
        (None, Some(ending)) => format!("the ending '.{}' is unknown", ending.to_string_lossy()),
        (None, None) => "its name has no ending".into(),
    }
}

/// The endings of some formats, for a message.
fn endings(which: fn(Format) -> bool) -> String {
    let known: Vec<_> = Format::ALL
        .into_iter()
        .filter(|format| which(*format))
        .map(Format::ending)
        .collect();
    known.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_ignore_case_and_messages_list_the_supported_formats() {
        assert_eq!(Format::of(Path::new("a/B.OBJ")), Some(Format::Obj));
        assert_eq!(Format::of(Path::new("a.obj/B")), None);

        let error = Format::reader_for(Path::new("what.xyzzy"))
            .err()
            .unwrap()
            .to_string();

        assert!(
            error.contains("what.xyzzy")
                && error.contains("'.xyzzy' is unknown")
                && error.contains("obj, "),
            "{error}"
        );

        let error = Format::writer_for(Path::new("a.off"))
            .err()
            .unwrap()
            .to_string();

        assert!(error.contains("'.off' files are only read"), "{error}");
    }
}
