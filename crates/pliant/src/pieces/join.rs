//! Pieces in the order of the whole.

use std::path::{Path, PathBuf};

use pliant_io::{npy, read_file};
use pliant_mesh::glam::DVec3;
use pliant_rig::FrameSelection;
use serde::de::DeserializeOwned;

use super::{Manifest, PieceError};

/// A piece with its manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The file of the manifest.
    pub manifest_path: PathBuf,
    /// The piece for messages.
    pub name: String,
    /// What it is a piece of.
    pub manifest: Manifest,
}

/// All pieces of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedPieces {
    pieces: Vec<Piece>,
    /// The frames of each piece.
    frames: Vec<Vec<usize>>,
    whole: usize,
}

impl Piece {
    /// The piece in the file at `path`, or the pieces in a folder; the manifest itself names a piece,
    /// too.
    ///
    /// # Errors
    /// Files without a manifest, manifests that cannot be read, files that changed.
    pub fn read(path: &Path) -> Result<Vec<Self>, PieceError> {
        let text = path.to_string_lossy();
        if pliant_io::is_folder(path) {
            let manifests = manifests_in(path)?;
            if manifests.is_empty() {
                return Err(PieceError::NotAPiece {
                    piece: text.into_owned(),
                    manifest: path
                        .join(format!("*{}", Manifest::ENDING))
                        .display()
                        .to_string(),
                });
            }
            return manifests
                .iter()
                .map(|file| Self::of_manifest(file))
                .collect();
        }
        if text.ends_with(Manifest::ENDING) {
            return Ok(vec![Self::of_manifest(path)?]);
        }

        let manifest = Manifest::path_of(path);
        if !pliant_io::is_file(&manifest) {
            return Err(PieceError::NotAPiece {
                piece: text.into_owned(),
                manifest: manifest.display().to_string(),
            });
        }
        Ok(vec![Self::of_manifest(&manifest)?])
    }

    fn of_manifest(path: &Path) -> Result<Self, PieceError> {
        let manifest = Manifest::read(path)?;
        manifest.check_files(path)?;
        let text = path.display().to_string();
        Ok(Self {
            name: text
                .strip_suffix(Manifest::ENDING)
                .unwrap_or(&text)
                .to_owned(),
            manifest_path: path.to_owned(),
            manifest,
        })
    }
}

/// The manifests in a folder, sorted by name.
fn manifests_in(folder: &Path) -> Result<Vec<PathBuf>, PieceError> {
    let mut files = pliant_io::list_folder(folder, "json")?;
    files.retain(|file| file.to_string_lossy().ends_with(Manifest::ENDING));
    Ok(files)
}

impl JoinedPieces {
    /// Checks that `pieces` are all pieces of one job, each once.
    ///
    /// # Errors
    /// Pieces of another job, frames in two pieces, frames in none.
    ///
    /// # Panics
    /// Never: manifests that were read have frames.
    pub fn new(mut pieces: Vec<Piece>) -> Result<Self, PieceError> {
        let numbers = |piece: &Piece| piece.manifest.frame_numbers().unwrap_or_default();
        pieces.sort_by_cached_key(|piece| (numbers(piece), piece.name.clone()));
        let first = pieces.first().ok_or(PieceError::None)?;
        for piece in &pieces[1..] {
            if let Some(difference) = first.manifest.difference(&piece.manifest) {
                return Err(PieceError::Foreign {
                    piece: piece.name.clone(),
                    first: first.name.clone(),
                    difference,
                });
            }
        }

        let whole = first.manifest.whole;
        let frames: Vec<Vec<usize>> = pieces.iter().map(numbers).collect();
        let mut holder: Vec<Option<usize>> = vec![None; whole];
        for (k, frames) in frames.iter().enumerate() {
            for &frame in frames {
                if let Some(other) = holder[frame].replace(k) {
                    return Err(PieceError::Overlap {
                        first: pieces[other].name.clone(),
                        second: pieces[k].name.clone(),
                        frame,
                    });
                }
            }
        }

        let missing: Vec<usize> = (0..whole).filter(|&k| holder[k].is_none()).collect();
        if !missing.is_empty() {
            return Err(PieceError::Missing {
                frames: FrameSelection::of_frames(&missing).to_string(),
                whole,
            });
        }
        Ok(Self {
            pieces,
            frames,
            whole,
        })
    }

    /// The pieces in the order of their first frames.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The manifest of the first piece, which holds for all except for its frames and content.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.pieces[0].manifest
    }

    /// Number of frames of the whole.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.whole
    }

    /// The frames of each piece, ascending.
    #[must_use]
    pub fn frames(&self) -> &[Vec<usize>] {
        &self.frames
    }

    /// The content of every piece.
    ///
    /// # Errors
    /// Content of another form.
    pub fn contents<T: DeserializeOwned>(&self) -> Result<Vec<T>, PieceError> {
        let mut contents = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let content = serde_json::from_value(piece.manifest.content.clone());
            contents.push(content.map_err(|error| piece.wrong(&error.to_string()))?);
        }
        Ok(contents)
    }

    /// Rows of all pieces in the order of the whole. Each piece has one row for each of its frames.
    ///
    /// # Errors
    /// Another number of rows.
    ///
    /// # Panics
    /// Never: every frame is in one piece.
    pub fn in_order<T>(&self, rows: Vec<Vec<T>>) -> Result<Vec<T>, PieceError> {
        let mut whole: Vec<Option<T>> = (0..self.whole).map(|_| None).collect();
        for ((piece, frames), rows) in self.pieces.iter().zip(&self.frames).zip(rows) {
            if rows.len() != frames.len() {
                let message = format!("it holds {} rows for {} frames", rows.len(), frames.len());
                return Err(piece.wrong(&message));
            }
            for (&frame, row) in frames.iter().zip(rows) {
                whole[frame] = Some(row);
            }
        }
        Ok(whole
            .into_iter()
            .map(|row| row.expect("every frame is in one piece"))
            .collect())
    }

    /// The positions of all frames.
    ///
    /// # Errors
    /// Files that cannot be read or hold something else.
    pub fn positions(&self) -> Result<Vec<Vec<DVec3>>, PieceError> {
        let mut rows = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let (path, array) = piece.exact()?;
            let points = array.into_point_rows("frames");
            rows.push(points.map_err(|error| error.in_file(path.display().to_string()))?);
        }
        self.in_order(rows)
    }

    /// The numbers of all frames, one row each.
    ///
    /// # Errors
    /// As [`positions`](Self::positions).
    pub fn rows(&self) -> Result<Vec<Vec<f64>>, PieceError> {
        let mut rows = Vec::with_capacity(self.pieces.len());
        for (piece, frames) in self.pieces.iter().zip(&self.frames) {
            let (_, array) = piece.exact()?;
            let width = array.values.len() / frames.len().max(1);
            if array.shape.first() != Some(&frames.len()) {
                return Err(piece.wrong("its array has another number of frames"));
            }
            let own = array.values.chunks(width.max(1)).map(<[f64]>::to_vec);
            let mut own: Vec<Vec<f64>> = own.collect();
            own.resize(frames.len(), Vec::new());
            rows.push(own);
        }
        self.in_order(rows)
    }
}

impl Piece {
    /// The exact numbers of the piece, and where they lie.
    fn exact(&self) -> Result<(PathBuf, npy::Array), PieceError> {
        let Some(name) = &self.manifest.exact else {
            return Err(self.wrong("it names no file with exact numbers"));
        };
        let path = self.manifest_path.with_file_name(name);
        let array = npy::read(&read_file(&path)?)
            .map_err(|error| error.in_file(path.display().to_string()))?;
        Ok((path, array))
    }

    fn wrong(&self, message: &str) -> PieceError {
        PieceError::Manifest {
            manifest: self.manifest_path.display().to_string(),
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::tests::manifest;
    use super::*;

    fn piece(name: &str, frames: &str) -> Piece {
        Piece {
            manifest_path: format!("{name}.piece.json").into(),
            name: name.into(),
            manifest: manifest(frames),
        }
    }

    #[test]
    fn pieces_in_any_order_give_rows_in_the_order_of_the_whole() {
        let pieces = [piece("c", "7-9"), piece("b", "1-5:2"), piece("a", "0-6:2")];
        for k in 0..3 {
            let mut turned = pieces.to_vec();
            turned.rotate_left(k);
            let joined = JoinedPieces::new(turned).unwrap();
            let rows = joined.frames().to_vec();
            assert_eq!(joined.in_order(rows).unwrap(), (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn missing_overlapping_and_foreign_pieces_are_named() {
        let error = |pieces: &[Piece]| JoinedPieces::new(pieces.to_vec()).unwrap_err().to_string();
        let (a, b) = (piece("a.glb", "0-4"), piece("b.glb", "5-9"));
        assert!(error(std::slice::from_ref(&b)).contains("--frames 0-4"));
        let both = error(&[a.clone(), b.clone(), piece("c.glb", "4,8")]);
        assert!(
            both.contains("'a.glb' and 'c.glb' both hold frame 4"),
            "{both}"
        );
        let twice = error(&[a.clone(), a.clone(), b.clone()]);
        assert!(twice.contains("frame 0"), "{twice}");

        let mut foreign = b;
        foreign.manifest.arguments.push("--feet".into());
        let foreign = error(&[a, foreign]);
        assert!(
            foreign.contains("'b.glb'") && foreign.contains("--feet"),
            "{foreign}"
        );
        assert!(error(&[]).contains("no pieces"));
    }
}
