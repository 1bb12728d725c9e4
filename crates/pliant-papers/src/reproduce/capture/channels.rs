//! Damaged channels: cleaning and names, against a plain copy.

use pliant_rig::{ChannelMap, CleanOptions, SideUse, clean};

use super::planted::{Errors, NOISE, Planted, errors, held, planted};
use super::{Model, ReproduceError, failed};
use crate::page::{Best, Section, Table};

/// 20 s at 60 Hz.
const FRAMES: usize = 1200;
/// Settings were chosen on other seeds.
const SEEDS: [u64; 3] = [101, 102, 103];

pub(super) fn section(heads: &[Model]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Damaged channels",
        format!(
            "Gestures, speech and blinks of 20 s are planted on the sliders of a rig. A device records \
             them under other names, with noise of {NOISE}, dropouts of up to eight frames in every \
             channel, and spikes. A plain copy is given the right names and holds the last value; \
             `play --clean` finds the names itself. Mean of {} takes.",
            SEEDS.len()
        ),
    );
    let mut table = Table::new(
        "Root mean square error of the weights, root mean square second difference relative to that \
         of the planted curves, and mean opening of lids that should be closed.",
        [
            "rig",
            "sliders found",
            "method",
            "RMS",
            "roughness",
            "open lids",
        ],
    );
    for column in [3, 5] {
        table = table.with_best(column, Best::Least);
    }

    for head in heads {
        let measured = measure(head)?;
        for (method, errors) in [
            ("plain copy", measured.copy),
            ("play --clean", measured.clean),
        ] {
            table.push([
                head.name.clone(),
                format!("{} of {}", measured.found, head.rig.targets().len()),
                method.to_owned(),
                format!("{:.4}", errors.rms),
                format!("{:.2}", errors.roughness),
                format!("{:.3}", errors.open_lids),
            ]);
        }
        let ratio = measured.clean.rms / measured.copy.rms;
        section.figure(
            &format!("{}, RMS cleaned / copied", head.name),
            format!("{ratio:.2}"),
        );
    }
    section.table(table);
    Ok(section)
}

#[derive(Default)]
struct Measured {
    /// Sliders that their renamed channel found.
    found: usize,
    copy: Errors,
    clean: Errors,
}

fn measure(head: &Model) -> Result<Measured, ReproduceError> {
    let names: Vec<String> = head.rig.targets().iter().map(|t| t.name.clone()).collect();
    let mut measured = Measured::default();
    for seed in SEEDS {
        let planted = planted(&names, FRAMES, seed);
        let record = planted.recorded(&names, seed + 1000);
        let copied: Vec<Vec<f64>> = record.channels().iter().map(|c| held(&c.values)).collect();
        add(&mut measured.copy, errors(&planted, &transposed(&copied)));

        let (cleaned, _) = clean(&record, &CleanOptions::all());
        let map = ChannelMap::guess(cleaned.channels(), &names);
        measured.found = found(&map, &record, &names);
        let track = map
            .track(&cleaned, &head.rig, SideUse::Own)
            .map_err(failed(head))?;
        add(
            &mut measured.clean,
            errors(&planted, &only(track.keys(), &map, &planted, &names)),
        );
    }
    Ok(measured)
}

/// How many channels lead to the slider that they were, and to no other.
fn found(map: &ChannelMap, record: &pliant_rig::Performance, names: &[String]) -> usize {
    let leads = |(channel, name): &(&pliant_rig::Channel, &String)| {
        let mut routes = map
            .channels
            .iter()
            .filter(|route| route.from == channel.name);
        let first = routes.next();
        first.is_some_and(|route| route.to == **name && route.gain == 1.0)
            && routes.next().is_none()
    };
    record.channels().iter().zip(names).filter(leads).count()
}

/// Sliders that no channel found count as planted: their error is one of names, not of cleaning.
fn only(rows: &[Vec<f64>], map: &ChannelMap, planted: &Planted, names: &[String]) -> Vec<Vec<f64>> {
    let routed: Vec<bool> = names
        .iter()
        .map(|name| map.channels.iter().any(|route| route.to == *name))
        .collect();
    let mut own = rows.to_vec();
    for (row, known) in own.iter_mut().zip(&planted.rows) {
        for (k, weight) in row.iter_mut().enumerate().filter(|(k, _)| !routed[*k]) {
            *weight = known[k];
        }
    }
    own
}

fn add(sum: &mut Errors, errors: Errors) {
    let share = 1.0 / SEEDS.len() as f64;
    sum.rms += share * errors.rms;
    sum.roughness += share * errors.roughness;
    sum.open_lids += share * errors.open_lids;
}

fn transposed(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |frame: usize| columns.iter().map(|column| column[frame]).collect();
    (0..columns[0].len()).map(row).collect()
}
