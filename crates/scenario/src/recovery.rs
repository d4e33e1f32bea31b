//! `recovery` of `[host]`: how RoCE flows recover from losses, and what it cannot be combined with.

use super::dictionary::words;
use super::reader::{Result, Table};
use super::schemes::NamedScheme;
use xoff_fabric::plan::{Classes, HostSettings, Irn, Plan, Recovery, Sack};
use xoff_fabric::scheme::{Format, Transport};

/// Both ends of a flow have to agree, so that all hosts have the same.
pub fn read(table: &mut Table) -> Result<Recovery> {
    match table.choice("recovery", words::RECOVERY)? {
        Recovery::GoBackN => Ok(Recovery::GoBackN),
        Recovery::Irn(_) => Ok(Recovery::Irn(read_irn(table)?)),
        Recovery::Sack(_) => {
            let ack_bytes = table.bytes("ack_bytes", 1..=1 << 24)? as u32;
            Ok(Recovery::Sack(Sack { ack_bytes, sleek: table.flag("sleek")? }))
        }
        Recovery::IrnRewind(_) => Ok(Recovery::IrnRewind(read_irn(table)?)),
    }
}

fn read_irn(table: &mut Table) -> Result<Irn> {
    let window_bytes = match table.text_is("recovery_window", "auto") && table.is("recovery_window", "auto")? {
        true => None,
        false => Some(table.bytes("recovery_window", 1..=1 << 40)?),
    };
    let (rto_low, rto_high) = (table.interval("rto_low")?, table.interval("rto_high")?);
    table.not_below("rto_high", rto_high, rto_low)?;
    Ok(Irn { window_bytes, rto_low, rto_high })
}

/// Whether switches may trim: NACKs are of selective acknowledgements alone, and PFC prevents what they report.
pub fn may_trim(classes: &Classes, host: &HostSettings) -> bool {
    let mut data = (0..).zip(&classes.list).filter(|(number, _)| *number != classes.control);
    matches!(host.recovery, Recovery::Sack(_)) && data.any(|(_, class)| !class.lossless)
}

/// Refuses a recovery that no flow would have, and schemes whose receivers have rules of their own.
pub fn check(root: &Table, plan: &Plan, formats: &[[Format; 2]], schemes: &[NamedScheme]) -> Result<()> {
    if plan.hosts.iter().all(|host| host.recovery == Recovery::GoBackN) {
        return Ok(());
    }
    let refuse = |what: String, why: &str| Err(root.place_within("host", "recovery").error(what).label(why));
    if formats.iter().flatten().all(|format| format.transport == Transport::Tcp) {
        return refuse("`recovery` has no effect here".to_owned(), "it is of RoCE flows, and TCP finds losses itself");
    }
    let reorders = |formats: &[Format; 2]| formats.iter().any(|format| format.reorder);
    match schemes.iter().zip(formats).find(|(_, formats)| reorders(formats)) {
        Some((scheme, _)) => refuse(
            format!("`{}` needs recovery = \"go-back-n\"", scheme.label),
            "it sends packets of a flow by several paths, and its receivers wait for those that are late",
        ),
        None => Ok(()),
    }
}
