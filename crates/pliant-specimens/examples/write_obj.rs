//! Writes a specimen and every frame of its clips as OBJ files: `write_obj NAME FOLDER`.

use std::fmt::Write as _;
use std::path::Path;

use pliant_mesh::Mesh;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "hound".into());
    let folder = arguments.next().unwrap_or_else(|| "specimens".into());
    std::fs::create_dir_all(&folder)?;
    let specimen = pliant_specimens::specimen(&name).ok_or_else(|| format!("no specimen is named {name}"))?;
    let stem = Path::new(&folder).join(name.replace(':', "-"));
    write(specimen.rig.neutral(), &stem.with_extension("obj"))?;
    for clip in &specimen.clips {
        for frame in 0..clip.frames().len() {
            write(&clip.mesh_at(frame)?, &stem.with_extension(format!("{}.{frame:02}.obj", clip.name())))?;
        }
    }
    Ok(())
}

fn write(mesh: &Mesh, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    for (v, p) in mesh.positions().iter().enumerate() {
        write!(text, "v {} {} {}", p.x, p.y, p.z)?;
        match mesh.colors().first().map(|layer| layer.values[v]) {
            Some(c) => writeln!(text, " {} {} {}", c.x, c.y, c.z)?,
            None => writeln!(text)?,
        }
    }
    for face in mesh.faces() {
        let corners: Vec<String> = face.iter().map(|v| (v + 1).to_string()).collect();
        writeln!(text, "f {}", corners.join(" "))?;
    }
    Ok(std::fs::write(path, text)?)
}
