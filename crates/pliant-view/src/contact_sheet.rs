//! Contact sheets (several pictures on one page) and turntables.

use crate::text::{Anchor, TextStyle, draw_text, text_width};
use crate::{Camera, Color, Image, PreparedScene, ViewError};

/// A grid of pictures with captions and a title.
#[derive(Debug, Clone, Default)]
pub struct ContactSheet {
    title: String,
    columns: usize,
    cells: Vec<(Image, String)>,
}

/// Height of the capitals of captions and of the title.
const CAPTION_PX: f64 = 11.0;
const TITLE_PX: f64 = 17.0;
/// Free space around and between pictures.
const GAP_PX: usize = 14;

impl ContactSheet {
    /// An empty sheet; zero `columns` mean a nearly square grid.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self {
            title: title.into(),
            columns,
            cells: Vec::new(),
        }
    }

    /// Adds a picture with its caption, to the right of the last or in a new row.
    pub fn push(&mut self, picture: Image, caption: impl Into<String>) {
        self.cells.push((picture, caption.into()));
    }

    /// Number of pictures.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no pictures.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Draws the sheet. Cells are as large as the largest picture.
    pub fn compose(&self) -> Result<Image, ViewError> {
        if self.cells.is_empty() {
            return Err(ViewError::EmptySheet);
        }

        let grid = self.grid();
        let mut sheet = Image::filled(grid.sheet_size(), Color::WHITE)?;
        draw_text(
            &mut sheet,
            &self.title,
            [GAP_PX as f64, GAP_PX as f64 + 1.3 * TITLE_PX],
            Anchor::Left,
            &TextStyle::sized(TITLE_PX).bold(),
        );

        let [width, height] = grid.cell;
        for (k, (picture, caption)) in self.cells.iter().enumerate() {
            let [x, y] = grid.origin(k);
            let [own_width, own_height] = picture.size();
            sheet.paste(
                picture,
                x + (width - own_width) / 2,
                y + (height - own_height) / 2,
            );

            // Captions are centred under their pictures.
            let middle = x as f64 + 0.5 * width as f64;
            let baseline = (y + height) as f64 + 1.6 * CAPTION_PX;
            draw_text(
                &mut sheet,
                &fitted(caption, width as f64),
                [middle, baseline],
                Anchor::Middle,
                &TextStyle::sized(CAPTION_PX),
            );
        }

        Ok(sheet)
    }

    /// The layout of the cells, each as large as the largest picture.
    fn grid(&self) -> Grid {
        let columns = self.column_count();
        let mut cell = [0, 0];
        for (picture, _) in &self.cells {
            let [width, height] = picture.size();
            cell = [cell[0].max(width), cell[1].max(height)];
        }

        // Without captions or title, their space is not reserved.
        let has_captions = self.cells.iter().any(|(_, caption)| !caption.is_empty());
        let caption_height = if has_captions {
            (2.2 * CAPTION_PX) as usize
        } else {
            0
        };
        let title_height = if self.title.is_empty() {
            0
        } else {
            (2.4 * TITLE_PX) as usize
        };

        Grid {
            columns,
            rows: self.cells.len().div_ceil(columns),
            cell,
            step: [cell[0] + GAP_PX, cell[1] + caption_height + GAP_PX],
            title_height,
        }
    }

    fn column_count(&self) -> usize {
        let square = (1..).find(|n| n * n >= self.cells.len()).unwrap_or(1);
        if self.columns == 0 {
            square
        } else {
            self.columns.min(self.cells.len())
        }
    }
}

/// Where the cells of a sheet are, in pixels.
struct Grid {
    columns: usize,
    rows: usize,
    /// Width and height of a cell without its caption.
    cell: [usize; 2],
    /// From one cell to the next, right and down.
    step: [usize; 2],
    title_height: usize,
}

impl Grid {
    fn sheet_size(&self) -> [usize; 2] {
        [
            GAP_PX + self.columns * self.step[0],
            GAP_PX + self.title_height + self.rows * self.step[1],
        ]
    }

    /// The top left corner of a cell.
    fn origin(&self, cell: usize) -> [usize; 2] {
        [
            GAP_PX + cell % self.columns * self.step[0],
            GAP_PX + self.title_height + cell / self.columns * self.step[1],
        ]
    }
}

/// The caption, shortened with dots if it is wider than its picture.
fn fitted(caption: &str, width: f64) -> String {
    let style = TextStyle::sized(CAPTION_PX);
    if text_width(caption, &style) <= width {
        return caption.to_owned();
    }
    let mut kept = caption.to_owned();
    while kept.pop().is_some() && text_width(&kept, &style) + text_width("...", &style) > width {}
    kept + "..."
}

/// Pictures from `frames` evenly spaced directions, once around the vertical line through
/// `camera`'s target.
pub fn turntable(
    scene: &PreparedScene<'_>,
    camera: &Camera,
    size: [usize; 2],
    frames: usize,
) -> Result<Vec<Image>, ViewError> {
    let mut pictures = Vec::with_capacity(frames);
    for k in 0..frames {
        let angle_rad = std::f64::consts::TAU * k as f64 / frames as f64;
        let camera = camera.orbited(camera.target, angle_rad);
        pictures.push(scene.render(&camera, size)?);
    }

    Ok(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_shows_every_picture_in_reading_order() {
        let shades = [10, 60, 110, 160, 210];
        let mut sheet = ContactSheet::new("Five", 3);
        for shade in shades {
            sheet.push(
                Image::filled([40, 30], Color::srgb8(shade, 0, 0)).unwrap(),
                format!("{shade}"),
            );
        }

        let page = sheet.compose().unwrap();
        let mut order: Vec<u8> = Vec::new();
        for pixel in page
            .pixels()
            .iter()
            .filter(|p| p[1] == 0 && shades.contains(&p[0]))
        {
            if !order.contains(&pixel[0]) {
                order.push(pixel[0]);
            }
        }

        assert_eq!(order, shades);
        for shade in shades {
            assert_eq!(
                page.pixels()
                    .iter()
                    .filter(|&&p| p == [shade, 0, 0])
                    .count(),
                40 * 30
            );
        }
    }

    #[test]
    fn a_caption_wider_than_its_picture_is_shortened() {
        let cut = fitted("a caption that goes on and on and on", 80.0);
        assert!(cut.ends_with("...") && text_width(&cut, &TextStyle::sized(CAPTION_PX)) <= 80.0);
    }

    #[test]
    fn an_empty_sheet_is_rejected() {
        assert!(matches!(
            ContactSheet::new("None", 2).compose(),
            Err(ViewError::EmptySheet)
        ));
    }
}
