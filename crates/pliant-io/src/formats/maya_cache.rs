//! Reader of Maya's geometry caches: `.mc`, `.mcx`, and the `.xml` that describes them.
//!
//! **Format.** Blocks of a tag and a size, big-endian, in containers: `FOR4` with sizes of 32 bits
//! and data padded to 4 bytes, `FOR8` with 4 bytes after each tag, sizes of 64 bits and data padded
//! to 8 bytes. `CACH` has the times at which it begins and ends (`STIM`, `ETIM`), each `MYCH` a
//! time (`TIME`) and for each channel its name (`CHNM`), the number of its values (`SIZE`) and the
//! values: 3-vectors of single (`FVCA`) or double precision (`DVCA`), or numbers. Times are in 1/6000
//! of a second. A cache of one file per frame names its files `NAMEFrame3.mcx` and
//! `NAMEFrame3Tick75.mcx`; the `.xml` has the ticks of a frame and the sampling of each channel.
//!
//! **Source.** Autodesk Maya devkit, "Maya cache file format".
//!
//! **Departures.** A cache alone is one mesh without faces for each channel of vectors that holds
//! positions. Channels of numbers and of normals, velocities and others are not read. A file that
//! holds one frame of several is a clip of that frame.

use std::collections::BTreeMap;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;

use crate::parse::binary::Cursor;
use crate::{Animation, Asset, FileProvider, Motion, ReadError, Shape};

/// Ticks of a second.
const TICKS_PER_SEC: f64 = 6000.0;
/// *Chosen*: more files than any shot has frames and samples between them.
const MOST_FILES: i64 = 200_000;

/// The positions of one channel over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Channel {
    /// Ascending, in ticks.
    pub(crate) times: Vec<i64>,
    /// One list for each time, all of one length.
    pub(crate) samples: Vec<Vec<DVec3>>,
}

/// The channels of a cache by name.
type Channels = BTreeMap<String, Channel>;

/// Reads a cache of one file, `.mc` or `.mcx`.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let mut channels = Channels::new();
    read_file(bytes, &mut channels)?;

    retain_positions(&mut channels);
    as_asset(channels)
}

/// Removes normals and other vectors of a channel, whose names begin with its name.
fn retain_positions(channels: &mut Channels) {
    let names: Vec<String> = channels.keys().cloned().collect();
    let of_another = |name: &String| {
        let mut rests = names.iter().map(|base| name.strip_prefix(base.as_str()));
        rests.any(|rest| rest.is_some_and(|rest| rest.starts_with('_')))
    };
    channels.retain(|name, _| !of_another(name));
}

/// The positions of `channel` in the cache that the text at `name` describes, or in a file `name` of
/// blocks.
pub(crate) fn read_channel(
    name: &str,
    channel: &str,
    files: &dyn FileProvider,
) -> Result<Channel, String> {
    let bytes = files.read(name).map_err(|error| error.to_string())?;
    let mut channels = Channels::new();
    if bytes.trim_ascii_start().starts_with(b"<") {
        let text = String::from_utf8_lossy(&bytes);
        let description = Description::parse(&text)?;
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        for file in description.files(stem, channel)? {
            let bytes = files.read(&file).map_err(|error| error.to_string())?;
            read_file(&bytes, &mut channels).map_err(|error| format!("'{file}': {error}"))?;
        }
    } else {
        read_file(&bytes, &mut channels).map_err(|error| error.to_string())?;
    }

    // Some programs name the channel after another node.
    retain_positions(&mut channels);
    if channels.len() == 1
        && let Some((_, only)) = channels.pop_first()
    {
        return Ok(only);
    }
    let names: Vec<String> = channels.keys().cloned().collect();
    channels
        .remove(channel)
        .ok_or_else(|| format!("it has no channel '{channel}' ({})", names.join(", ")))
}

/// What the `.xml` beside a cache says.
#[derive(Debug, Default, PartialEq)]
struct Description {
    one_file: bool,
    ending: String,
    ticks_per_frame: i64,
    /// Names, with the sampling rate, the first and the last tick.
    channels: Vec<(String, [i64; 3])>,
}

impl Description {
    fn parse(text: &str) -> Result<Self, String> {
        let mut description = Self {
            one_file: true,
            ..Self::default()
        };
        for tag in tags(text) {
            let number = |name: &str| tag.get(name).and_then(|value| value.parse().ok());
            match tag.name {
                "cacheType" => {
                    description.one_file = tag.get("Type") != Some("OneFilePerFrame");
                    description.ending = tag.get("Format").unwrap_or("mc").to_owned();
                }
                "cacheTimePerFrame" => {
                    description.ticks_per_frame = number("TimePerFrame").unwrap_or(0);
                }
                name if name.starts_with("channel") => {
                    let sampling = ["SamplingRate", "StartTime", "EndTime"];
                    let sampling = sampling.map(|name| number(name).unwrap_or(0));
                    let name = tag.get("ChannelName").unwrap_or_default().to_owned();
                    description.channels.push((name, sampling));
                }
                _ => {}
            }
        }

        if !["mc", "mcx"].contains(&description.ending.as_str()) {
            return Err(format!(
                "its format is '{}', but only mc and mcx are known",
                description.ending
            ));
        }
        Ok(description)
    }

    /// The files of a channel.
    fn files(&self, stem: &str, channel: &str) -> Result<Vec<String>, String> {
        let ending = &self.ending;
        if self.one_file {
            return Ok(vec![format!("{stem}.{ending}")]);
        }

        let mut all = self.channels.iter();
        let only = self.channels.len() == 1;
        let found = all.find(|(name, _)| name == channel || only);
        let Some(&(_, [rate, start, end])) = found else {
            return Err(format!("it has no channel '{channel}'"));
        };
        let span = end.checked_sub(start).filter(|span| *span >= 0);
        let steps = span.and_then(|span| span.checked_div(rate).filter(|_| rate > 0));
        let Some(steps) = steps.filter(|steps| *steps < MOST_FILES && self.ticks_per_frame > 0)
        else {
            return Err(format!(
                "channel '{channel}' has a sample each {rate} ticks from {start} to {end}"
            ));
        };

        let mut files = Vec::with_capacity(steps as usize + 1);
        for step in 0..=steps {
            let ticks = start + step * rate;
            let frame = ticks.div_euclid(self.ticks_per_frame);
            files.push(match ticks.rem_euclid(self.ticks_per_frame) {
                0 => format!("{stem}Frame{frame}.{ending}"),
                tick => format!("{stem}Frame{frame}Tick{tick}.{ending}"),
            });
        }
        Ok(files)
    }
}

/// A tag of an XML text with its attributes.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.attributes.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }
}

/// The opening tags of a text, whatever their depth. Entities stay as they are.
fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    text.split('<').skip(1).filter_map(|rest| {
        let name_end = rest.find(|c: char| c.is_whitespace() || c == '/' || c == '>')?;
        let (name, mut rest) = rest.split_at(name_end);
        let mut attributes = Vec::new();
        while let Some((key, after)) = rest.split_once("=\"") {
            let (value, left) = after.split_once('"')?;
            attributes.push((key.trim_matches(|c: char| c.is_whitespace()), value));
            rest = left;
        }
        (!name.is_empty()).then_some(Tag { name, attributes })
    })
}

/// Adds the samples of one file to `channels`.
fn read_file(bytes: &[u8], channels: &mut Channels) -> Result<(), ReadError> {
    let mut blocks = Blocks {
        cursor: Cursor::of(bytes),
        wide: false,
    };
    if !bytes.starts_with(b"FOR4") && !bytes.starts_with(b"FOR8") {
        return Err(ReadError::byte(
            0,
            "the file does not begin with FOR4 or FOR8; it is no Maya cache",
        ));
    }

    let mut time = 0;
    let mut name = String::new();
    let mut count = 0;
    while let Some((tag, data)) = blocks.next()? {
        let whole = || {
            i32::from_be_bytes(
                data.get(..4)
                    .unwrap_or(&[0; 4])
                    .try_into()
                    .unwrap_or_default(),
            )
        };
        match &tag {
            b"STIM" | b"TIME" => time = i64::from(whole()),
            b"CHNM" => {
                let text = data.split(|&byte| byte == 0).next().unwrap_or_default();
                name = String::from_utf8_lossy(text).into_owned();
            }
            b"SIZE" => count = usize::try_from(whole()).unwrap_or(0),
            b"FVCA" | b"DVCA" => {
                let points = points(&tag, data, count, blocks.cursor.at())?;
                add_sample(channels, &name, time, points, blocks.cursor.at())?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The vectors of a block.
fn points(tag: &[u8; 4], data: &[u8], count: usize, at: usize) -> Result<Vec<DVec3>, ReadError> {
    let size = if tag == b"FVCA" { 4 } else { 8 };
    let Some(data) = count
        .checked_mul(3 * size)
        .and_then(|bytes| data.get(..bytes))
    else {
        return Err(ReadError::byte(
            at,
            format!(
                "a channel has {count} vectors in {} bytes; export the cache again",
                data.len()
            ),
        ));
    };

    let number = |bytes: &[u8]| match bytes.try_into() {
        Ok(four) if size == 4 => f64::from(f32::from_be_bytes(four)),
        _ => f64::from_be_bytes(bytes.try_into().unwrap_or_default()),
    };
    let numbers: Vec<f64> = data.chunks_exact(size).map(number).collect();
    Ok(numbers.chunks_exact(3).map(DVec3::from_slice).collect())
}

/// Adds a sample; later samples of a time replace earlier ones.
fn add_sample(
    channels: &mut Channels,
    name: &str,
    time: i64,
    points: Vec<DVec3>,
    at: usize,
) -> Result<(), ReadError> {
    let channel = channels.entry(name.to_owned()).or_default();
    if let Some(first) = channel.samples.first()
        && first.len() != points.len()
    {
        return Err(ReadError::byte(
            at,
            format!(
                "channel '{name}' has {} points and then {}; a cache of one mesh is needed",
                first.len(),
                points.len()
            ),
        ));
    }

    let place = channel.times.partition_point(|&known| known < time);
    if channel.times.get(place) == Some(&time) {
        channel.samples[place] = points;
    } else {
        channel.times.insert(place, time);
        channel.samples.insert(place, points);
    }
    Ok(())
}

/// A block: its tag and its content.
type Block<'a> = ([u8; 4], &'a [u8]);

/// The blocks of a file, one after another; containers are entered.
struct Blocks<'a> {
    cursor: Cursor<'a>,
    /// Whether the blocks are those of a `FOR8`.
    wide: bool,
}

impl<'a> Blocks<'a> {
    fn next(&mut self) -> Result<Option<Block<'a>>, ReadError> {
        while self.cursor.left() >= 4 {
            let tag: [u8; 4] = self.cursor.array("a tag")?;
            match &tag {
                // Padding may follow the last block of a container.
                b"CACH" | b"MYCH" | [0, 0, 0, 0] => continue,
                b"FOR4" => self.wide = false,
                b"FOR8" => self.wide = true,
                _ => {}
            }

            let size = self.size()?;
            if matches!(&tag, b"FOR4" | b"FOR8") {
                continue;
            }
            let data = self
                .cursor
                .take(size, format_args!("block '{}'", tag.escape_ascii()))?;
            let unit = if self.wide { 8 } else { 4 };
            let padding = size.next_multiple_of(unit) - size;
            self.cursor
                .take(padding.min(self.cursor.left()), "the padding")?;
            return Ok(Some((tag, data)));
        }
        Ok(None)
    }

    fn size(&mut self) -> Result<usize, ReadError> {
        let at = self.cursor.at();
        let size = if self.wide {
            self.cursor.take(4, "the padding of a tag")?;
            u64::from_be_bytes(self.cursor.array("the size of a block")?)
        } else {
            u64::from(u32::from_be_bytes(
                self.cursor.array("the size of a block")?,
            ))
        };
        // A size near the greatest number would overflow with its padding.
        usize::try_from(size)
            .ok()
            .filter(|size| *size <= usize::MAX / 2)
            .ok_or_else(|| ReadError::byte(at, format!("a block of {size} bytes; export it again")))
    }
}

/// A mesh without faces for each channel, with the times of the first one.
fn as_asset(channels: Channels) -> Result<Asset, ReadError> {
    let Some(first) = channels.values().next() else {
        return Err(ReadError::whole(
            "the cache holds no channel of positions; export it again with positions",
        ));
    };

    let times = first.times.clone();
    let mut clip = Animation::new("", times.len());
    clip.frames_per_second = rate(&times);
    clip.start_secs = times[0] as f64 / TICKS_PER_SEC;
    let mut asset = Asset::default();
    for (name, channel) in channels {
        if channel.times != times {
            asset.warnings.push(format!(
                "channel '{name}' has samples at other times than the first channel; it is interpolated"
            ));
        }
        let mesh = Mesh::from_polygons(channel.samples[0].clone(), &[])?.named(name);
        let frames = times.iter().map(|&time| channel.at(time as f64)).collect();
        let motion = Motion::new(asset.objects.len(), Shape::Points(frames));
        asset.objects.extend(Asset::from_mesh(mesh).objects);
        clip.motions.push(motion);
    }
    asset.clips.push(clip);
    Ok(asset)
}

/// Samples per second, if they are evenly spaced.
fn rate(times: &[i64]) -> f64 {
    let step = match times {
        [first, second, ..] => second - first,
        _ => 0,
    };
    if step > 0 {
        TICKS_PER_SEC / step as f64
    } else {
        Clip::DEFAULT_FRAMES_PER_SECOND
    }
}

impl Channel {
    /// The positions at a time in ticks: linear between samples, constant beyond their ends.
    fn at(&self, ticks: f64) -> Vec<DVec3> {
        let next = self.times.partition_point(|&time| (time as f64) <= ticks);
        let Some(before) = next.checked_sub(1) else {
            return self.samples[0].clone();
        };
        let Some(&end) = self.times.get(next) else {
            return self.samples[before].clone();
        };
        let along = (ticks - self.times[before] as f64) / (end - self.times[before]) as f64;
        let pairs = self.samples[before].iter().zip(&self.samples[next]);
        // Without interpolation, a sample keeps its bits.
        if along == 0.0 {
            return self.samples[before].clone();
        }
        pairs.map(|(a, b)| a.lerp(*b, along)).collect()
    }

    /// The positions at a time in seconds.
    pub(crate) fn at_secs(&self, secs: f64) -> Vec<DVec3> {
        // Times of frames are rounded, ticks are not.
        let ticks = secs * TICKS_PER_SEC;
        let near = (ticks - ticks.round()).abs() < 1e-6 * ticks.abs().max(1.0);
        self.at(if near { ticks.round() } else { ticks })
    }

    /// How many points a sample has.
    pub(crate) fn points(&self) -> usize {
        self.samples.first().map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IoError, NoFiles};

    /// A block of a `FOR4` or `FOR8`.
    fn block(wide: bool, tag: &[u8], data: &[u8]) -> Vec<u8> {
        let mut bytes = tag.to_vec();
        if wide {
            bytes.extend([0; 4]);
            bytes.extend((data.len() as u64).to_be_bytes());
        } else {
            bytes.extend((data.len() as u32).to_be_bytes());
        }
        bytes.extend(data);
        let unit = if wide { 8 } else { 4 };
        bytes.resize(bytes.len().next_multiple_of(unit), 0);
        bytes
    }

    fn container(wide: bool, content: &[u8]) -> Vec<u8> {
        block(wide, if wide { b"FOR8" } else { b"FOR4" }, content)
    }

    fn head(wide: bool, start: i32) -> Vec<u8> {
        let mut content = b"CACH".to_vec();
        content.extend(block(wide, b"VRSN", b"0.1\0"));
        content.extend(block(wide, b"STIM", &start.to_be_bytes()));
        content.extend(block(wide, b"ETIM", &(start + 1).to_be_bytes()));
        container(wide, &content)
    }

    fn sample(wide: bool, time: Option<i32>, name: &str, points: &[[f32; 3]]) -> Vec<u8> {
        let mut content = b"MYCH".to_vec();
        if let Some(time) = time {
            content.extend(block(wide, b"TIME", &time.to_be_bytes()));
        }
        let floats = points.as_flattened().iter();
        let floats: Vec<u8> = floats.flat_map(|x| x.to_be_bytes()).collect();
        content.extend(block(wide, b"CHNM", &[name.as_bytes(), b"\0"].concat()));
        content.extend(block(wide, b"SIZE", &(points.len() as i32).to_be_bytes()));
        content.extend(block(wide, b"FVCA", &floats));
        content.extend(block(
            wide,
            b"CHNM",
            &[name.as_bytes(), b"_normals\0"].concat(),
        ));
        content.extend(block(wide, b"SIZE", &(points.len() as i32).to_be_bytes()));
        content.extend(block(wide, b"FVCA", &floats));
        container(wide, &content)
    }

    const POINTS: [[[f32; 3]; 2]; 2] = [
        [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
        [[2.0, 1.0, 2.0], [3.0, 8.0, 5.0]],
    ];

    fn one_file(wide: bool) -> Vec<u8> {
        let samples = [250, 500].into_iter().zip(&POINTS);
        let samples = samples.map(|(time, points)| sample(wide, Some(time), "shape", points));
        [vec![head(wide, 250)], samples.collect()].concat().concat()
    }

    #[test]
    fn both_forms_hold_the_same_frames() {
        for wide in [false, true] {
            let asset = read(&one_file(wide)).unwrap();
            asset.check().unwrap();
            assert_eq!((asset.objects.len(), asset.objects[0].name()), (1, "shape"));
            let clip = &asset.clips[0];
            assert_eq!((clip.frame_count, clip.frames_per_second), (2, 24.0));
            assert_eq!(
                asset.frame_positions(1).unwrap()[1],
                DVec3::new(3.0, 8.0, 5.0)
            );
        }
    }

    /// Files of a cache with one file for each frame.
    struct Frames;

    impl FileProvider for Frames {
        fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
            let of = |start: i32, k: usize| {
                [head(true, start), sample(true, None, "shape", &POINTS[k])].concat()
            };
            match uri {
                "a/cache.xml" => Ok(br#"<?xml version="1.0"?>
                    <Autodesk_Cache_File>
                      <cacheType Type="OneFilePerFrame" Format="mcx"/>
                      <cacheTimePerFrame TimePerFrame="250"/>
                      <extra>a &gt; b</extra>
                      <Channels><channel0 ChannelName="shape" ChannelInterpretation="positions"
                        SamplingRate="100" StartTime="250" EndTime="350"/></Channels>
                    </Autodesk_Cache_File>"#
                    .to_vec()),
                "a/cacheFrame1.mcx" => Ok(of(250, 0)),
                "a/cacheFrame1Tick100.mcx" => Ok(of(350, 1)),
                _ => NoFiles.read(uri),
            }
        }
    }

    #[test]
    fn files_of_frames_and_of_ticks_between_them_form_one_channel() {
        let channel = read_channel("a/cache.xml", "shape", &Frames).unwrap();
        assert_eq!(channel.times, [250, 350]);
        assert_eq!(
            channel.at_secs(300.0 / 6000.0)[0],
            DVec3::new(1.0, 1.0, 2.0)
        );
        assert_eq!(channel.at_secs(0.0), channel.samples[0]);
        assert_eq!(channel.at_secs(9.0), channel.samples[1]);
        let other = read_channel("a/cache.xml", "other", &Frames).unwrap();
        assert_eq!(other, channel, "the only channel counts whatever its name");
        assert!(read_channel("a/none.xml", "shape", &Frames).is_err());
    }

    #[test]
    fn damaged_caches_are_refused_with_one_message() {
        let whole = one_file(true);
        for length in 0..whole.len() {
            // A file may end after a block; then it holds fewer frames.
            let _ = read(&whole[..length]);
        }
        let lying = [head(true, 0), block(true, b"SIZE", &9_i32.to_be_bytes())].concat();
        let lying = [lying, block(true, b"FVCA", &[0; 12])].concat();
        let error = read(&lying).unwrap_err();
        assert!(
            error.message.contains("9 vectors in 12 bytes"),
            "{}",
            error.message
        );

        let mut endless = b"FOR8\0\0\0\0\0\0\0\0\0\0\0\0CACHVRSN\0\0\0\0".to_vec();
        endless.extend(u64::MAX.to_be_bytes());
        assert!(read(&endless).is_err());
        assert!(read(b"RIFF").unwrap_err().message.contains("no Maya cache"));
    }

    #[test]
    fn a_description_that_asks_for_endless_files_is_refused() {
        let text = r#"<cacheType Type="OneFilePerFrame" Format="mcx"/><cacheTimePerFrame TimePerFrame="1"/>
            <channel0 ChannelName="a" SamplingRate="1" StartTime="0" EndTime="9000000000000"/>"#;
        let description = Description::parse(text).unwrap();
        assert!(description.files("x", "a").is_err());
        assert!(Description::parse(r#"<cacheType Format="exe"/>"#).is_err());
    }
}
