//! The formats by the endings of their files.
//!
//! A format is a module with `read(bytes) -> Result<Asset, ReadError>` and `write(&Asset) ->
//! Written`; it is registered in [`Format::reader`] and [`Format::writer`]. One that names other
//! files takes a [`Beside`].

use std::path::Path;

use crate::{
    Asset, Beside, IoError, ReadError, Written, gltf, obj, off, ply, point_cache, stl, usda,
};

/// A kind of file, known by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// Geomview OFF.
    Off,
    /// glTF in one binary file.
    Glb,
    /// glTF as JSON with buffers beside it.
    Gltf,
    /// Autodesk FBX.
    Fbx,
    /// Universal Scene Description as text.
    Usda,
    /// The Stanford polygon format.
    Ply,
    /// Stereolithography triangles.
    Stl,
    /// LightWave's point cache.
    Mdd,
    /// The point cache of 3ds Max and Blender.
    Pc2,
    /// A NumPy array of the plain result; read only as a part of a pair.
    Npy,
    /// A MakeHuman target; read only as a part of a pair.
    Target,
}

/// Why a reader declined: its own bytes, or another file that they name.
pub(crate) enum Declined {
    Bytes(ReadError),
    Other(IoError),
}

impl From<ReadError> for Declined {
    fn from(error: ReadError) -> Self {
        Self::Bytes(error)
    }
}

/// Bytes to an asset; the second argument opens files that the first names.
pub(crate) type Reader = fn(&[u8], &dyn Beside) -> Result<Asset, Declined>;

/// An asset to bytes; an error is a sentence about what the format cannot express at all.
pub(crate) type Writer = fn(&Asset) -> Result<Written, IoError>;

impl Format {
    /// Every format, in the order in which messages list them.
    pub const ALL: [Self; 12] = [
        Self::Obj,
        Self::Glb,
        Self::Gltf,
        Self::Usda,
        Self::Fbx,
        Self::Ply,
        Self::Stl,
        Self::Off,
        Self::Mdd,
        Self::Pc2,
        Self::Npy,
        Self::Target,
    ];

    /// The ending of its files, without dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Off => "off",
            Self::Glb => "glb",
            Self::Gltf => "gltf",
            Self::Fbx => "fbx",
            Self::Usda => "usda",
            Self::Ply => "ply",
            Self::Stl => "stl",
            Self::Mdd => "mdd",
            Self::Pc2 => "pc2",
            Self::Npy => "npy",
            Self::Target => "target",
        }
    }

    /// The format of a file by its ending, in either case.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::ALL
            .into_iter()
            .find(|format| ending.eq_ignore_ascii_case(format.ending()))
    }

    /// Whether it has a place for a clip.
    #[must_use]
    pub fn holds_clips(self) -> bool {
        matches!(
            self,
            Self::Glb | Self::Gltf | Self::Usda | Self::Fbx | Self::Mdd | Self::Pc2 | Self::Npy
        )
    }

    /// Whether it has a place for targets; an array has where a mesh stands before it, as
    /// `MESH+ARRAY.npy`.
    #[must_use]
    pub fn holds_targets(self) -> bool {
        matches!(self, Self::Glb | Self::Gltf | Self::Usda | Self::Fbx)
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

    /// The asset that `bytes` hold in this format; files that they name are opened through
    /// `beside`.
    pub fn read(self, bytes: &[u8], beside: &dyn Beside) -> Result<Asset, IoError> {
        let name = || format!("the .{} bytes", self.ending());
        let reader = Self::reader_for(Path::new(&format!("bytes.{}", self.ending())))?;
        let asset = reader(bytes, beside).map_err(|declined| match declined {
            Declined::Bytes(error) => error.in_file(name()),
            Declined::Other(error) => error,
        })?;
        asset.check().map_err(|error| error.in_file(name()))?;
        Ok(asset)
    }

    pub(crate) fn reader(self) -> Option<Reader> {
        match self {
            Self::Obj => Some(|bytes, _| Ok(obj::read(bytes)?)),
            Self::Off => Some(|bytes, _| Ok(off::read(bytes)?)),
            Self::Glb | Self::Gltf => Some(gltf::read_document),
            Self::Ply => Some(|bytes, _| Ok(ply::read(bytes)?)),
            Self::Stl => Some(|bytes, _| Ok(stl::read(bytes)?)),
            Self::Usda => Some(|bytes, _| Ok(usda::read(bytes)?)),
            #[cfg(feature = "fbx")]
            Self::Fbx => Some(|bytes, beside| Ok(crate::fbx::read(bytes, beside)?)),
            Self::Mdd => Some(|bytes, _| Ok(point_cache::read_mdd(bytes)?)),
            Self::Pc2 => Some(|bytes, _| Ok(point_cache::read_pc2(bytes)?)),
            _ => None,
        }
    }

    pub(crate) fn writer(self) -> Option<Writer> {
        match self {
            Self::Obj => Some(|asset| Ok(obj::write(asset))),
            Self::Glb => Some(|asset| Ok(gltf::write(asset))),
            Self::Gltf => Some(|asset| Ok(gltf::write_text(asset))),
            Self::Ply => Some(ply::write),
            Self::Usda => Some(usda::write),
            Self::Mdd => Some(point_cache::write_mdd),
            Self::Pc2 => Some(point_cache::write_pc2),
            Self::Npy => Some(crate::save::plain_array),
            _ => None,
        }
    }

    /// The reader for `path`, or why there is none.
    pub(crate) fn reader_for(path: &Path) -> Result<Reader, IoError> {
        let format = Self::of(path);
        format.and_then(Self::reader).ok_or_else(|| {
            let why = match format {
                Some(Self::Npy) => {
                    "an array alone has no faces; name it after its mesh as MESH+ARRAY".into()
                }
                Some(Self::Target) => {
                    "a target alone has no mesh; name it after its mesh as MESH+TARGET".into()
                }
                Some(Self::Fbx) => "this build leaves FBX out (feature `fbx`)".into(),
                other => unknown(path, other),
            };
            IoError::Format {
                path: path.into(),
                verb: "read",
                why,
                known: endings(Self::can_read),
            }
        })
    }

    /// The writer for `path`, or why there is none.
    pub(crate) fn writer_for(path: &Path) -> Result<Writer, IoError> {
        let format = Self::of(path);
        format.and_then(Self::writer).ok_or_else(|| {
            let why = unknown(path, format);
            IoError::Format {
                path: path.into(),
                verb: "written",
                why,
                known: endings(Self::can_write),
            }
        })
    }
}

fn unknown(path: &Path, format: Option<Format>) -> String {
    match (format, path.extension()) {
        (Some(format), _) if format.can_read() => {
            format!("'.{}' files are only read", format.ending())
        }
        (Some(format), _) => format!("this build has no '.{}'", format.ending()),
        (None, Some(ending)) => format!("the ending '.{}' is unknown", ending.to_string_lossy()),
        (None, None) => "its name has no ending".into(),
    }
}

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
    fn endings_count_in_either_case_and_messages_list_what_works() {
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
