//! Measures of what ports report at the end of a run.

use super::recording::Recording;
use super::scope::Scope;
use super::stat::{COMBINES, Combine};
use super::unit::{self, Dimension, Unit};
use super::words::{PORT_TOTALS, PortTotal as Of};
use crate::Table;
use crate::reader::Result;
use xoff_engine::Time;
use xoff_fabric::plan::Plan;
use xoff_fabric::record::{ClassReport, PortReport};

#[derive(Clone, Debug)]
pub(crate) struct PortMeasure {
    ports: Vec<u32>,
    class: Option<u8>,
    what: Of,
    combine: Combine,
    /// `None`: a share of the run in place of a time.
    unit: Option<Unit>,
}

pub(crate) fn read(row: &mut Table, scope: &Scope<'_>) -> Result<(PortMeasure, &'static str)> {
    let what = row.choice("what", PORT_TOTALS)?;
    let ports = scope.names.all_ports(&row.texts("of")?)?;
    let class = match what {
        Of::QueuePeak | Of::QueueMean | Of::IngressPeak | Of::HeadroomPeak | Of::Paused | Of::Marks | Of::Drops => {
            scope.class(row)?
        }
        _ => None,
    };
    let combine = match row.take_choice("combine", COMBINES)? {
        Some(combine) => combine,
        None if ports.len() == 1 => Combine::Sum,
        None => {
            let error = row.error("of", format!("`of` selects {} ports", ports.len()));
            return Err(
                error.label("say in `combine` how they become one number: \"sum\", \"mean\", \"max\" or \"min\"")
            );
        }
    };
    let unit = match what {
        Of::QueuePeak | Of::QueueMean | Of::IngressPeak | Of::HeadroomPeak | Of::SentBytes => {
            Some(unit::read_unless(combine.is_plain(), row, "unit", Dimension::Bytes)?)
        }
        Of::Paused if row.has("unit") => Some(unit::read(row, "unit", Dimension::Time)?),
        Of::Paused => None,
        _ => Some(unit::read(row, "unit", Dimension::Plain)?),
    };
    let shown = unit.filter(|_| !combine.is_plain()).map_or("", |unit| unit.0);
    Ok((PortMeasure { ports, class, what, combine, unit }, shown))
}

impl PortMeasure {
    /// Whether only packets tell it.
    pub(super) fn is_of_packets(&self) -> bool {
        !matches!(self.what, Of::Utilisation | Of::SentBytes)
    }

    pub(super) fn take(&self, plan: &Plan, recording: &Recording) -> f64 {
        let wanted = recording.ports.iter().filter(|report| self.ports.binary_search(&report.port).is_ok());
        self.combine.of(wanted.map(|report| self.of(plan, report, recording.sim_end)))
    }

    fn of(&self, plan: &Plan, report: &PortReport, sim_end: Time) -> f64 {
        let classes = || {
            let each = (0u8..).zip(&report.classes);
            each.filter(|(class, _)| self.class.is_none_or(|own| own == *class)).map(|(_, report)| report)
        };
        let sum = |of: &dyn Fn(&ClassReport) -> f64| classes().map(of).sum::<f64>();
        let most = |of: &dyn Fn(&ClassReport) -> f64| classes().map(of).fold(0.0, f64::max);
        let seconds = (sim_end - Time::ZERO).as_s();
        let scale = self.unit.map_or(1.0, |unit| unit.1);
        match self.what {
            Of::QueuePeak => most(&|class| class.queue_bytes_peak as f64) * scale,
            Of::QueueMean => sum(&|class| class.queue_bytes_mean) * scale,
            Of::IngressPeak => most(&|class| class.ingress_bytes_peak as f64) * scale,
            Of::HeadroomPeak => most(&|class| class.headroom_used_peak_bytes as f64) * scale,
            Of::Utilisation => {
                report.tx_wire_bytes as f64 * 8.0 / (plan.direction(report.port).rate.bps() as f64 * seconds)
            }
            Of::Paused => match self.unit {
                Some(unit) => most(&|class| unit::time(class.paused, unit)),
                None => most(&|class| class.paused.as_s()) / seconds,
            },
            Of::Marks => sum(&|class| class.marks as f64),
            Of::Drops => sum(&|class| class.drops as f64),
            Of::SentBytes => report.tx_wire_bytes as f64 * scale,
            Of::SentPackets => report.tx_packets as f64,
            Of::PauseFrames => report.pause_frames as f64,
            Of::ResumeFrames => report.resume_frames as f64,
            Of::RefreshFrames => report.refresh_frames as f64,
        }
    }
}
