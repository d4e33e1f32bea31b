//! What partners tell each other, as frames: Ethernet of a type of its own, so that no node of a run takes one for a
//! packet.

use xoff_engine::rng::{mix, stream};
use xoff_scenario::Loaded;

/// The second of IEEE's types for local experiments; the first is that of messages between switches.
const ETHERTYPE: [u8; 2] = [0x88, 0xb6];
/// So that experiments of others are not taken for this one; the last byte is the form of what follows.
const MAGIC: [u8; 8] = *b"xofflv\0\x01";
const HEADER_BYTES: usize = 14;
/// Entries of one frame: it fits every link.
const ENTRIES: usize = 40;

/// What all partners must have in common.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub version: u64,
    pub seed: u64,
    /// Times are multiplied by it.
    pub k: f64,
    /// Fingerprint of the scenario with all that was set, and of files it names.
    pub scenario: u64,
}

impl Terms {
    pub fn of(loaded: &Loaded, k: f64) -> Terms {
        // Not against malice, only to tell texts apart.
        let print = |text: &str| stream(0, text, 0).next_u64();
        let files = loaded.attachments.iter().map(|file| print(&file.source.text));
        let scenario = files.fold(print(&loaded.resolved), |all, file| mix(all ^ file));
        Terms { version: print(env!("CARGO_PKG_VERSION")), seed: loaded.plan.seed, k, scenario }
    }

    /// What another has that is not as here, the plainest first: of another seed the scenario differs, too.
    pub fn difference(&self, other: &Terms) -> Option<String> {
        if other.version != self.version {
            Some("runs another version of Xoff".to_owned())
        } else if other.seed != self.seed {
            Some(format!("has seed {}, here it is {}", other.seed, self.seed))
        } else if other.k.to_bits() != self.k.to_bits() {
            Some(format!("has k = {}, here it is {}", other.k, self.k))
        } else if other.scenario != self.scenario {
            Some("runs another scenario, or the same with other settings".to_owned())
        } else {
            None
        }
    }
}

/// What a process counted in a run.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ByteCounts {
    /// Payload of its flows that receivers acknowledged.
    pub acknowledged_bytes: u64,
    /// Payload that it sent and that nobody has acknowledged: it may have arrived or not.
    pub open_bytes: u64,
    /// Payload that its receivers took in.
    pub delivered_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It was heard.
    There,
    Other,
    /// Its run is over.
    Over(ByteCounts),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub node: u32,
    /// As far as the speaker knows.
    pub standing: Standing,
}

/// All that a process says.
#[derive(Clone, Debug)]
pub struct Word {
    /// The node that speaks.
    pub from: u32,
    pub terms: Terms,
    /// When the run begins, in milliseconds since the beginning of 1970.
    pub begin_ms: Option<u64>,
    /// When this was said, in microseconds since then, by the speaker's clock.
    pub said_us: u64,
    /// Frames that it sent by this link in a run that is over.
    pub sent_frames: Option<u64>,
    /// It has the counts of all.
    pub informed: bool,
    pub entries: Vec<Entry>,
}

/// Whether a frame is a word of a partner: these are not of the network that is run.
pub fn is_word(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ETHERTYPE)
}

impl Word {
    /// As frames that leave by a port; several, if there is more to say than one holds.
    pub fn frames(&self, port: u32) -> Vec<Vec<u8>> {
        let frame = |entries: &[Entry]| {
            let mut bytes = vec![0xff; 6];
            bytes.extend([0x06, 0x01]);
            bytes.extend(port.to_be_bytes());
            bytes.extend(ETHERTYPE);
            bytes.extend(MAGIC);
            let Terms { version, seed, k, scenario } = self.terms;
            let sent = self.sent_frames.map_or(u64::MAX, |sent| sent.min(u64::MAX - 1));
            let numbers = [version, seed, k.to_bits(), scenario, self.begin_ms.unwrap_or(0), self.said_us, sent];
            bytes.extend(numbers.into_iter().flat_map(u64::to_be_bytes));
            bytes.extend(self.from.to_be_bytes());
            bytes.extend([u8::from(self.informed), entries.len() as u8]);
            for Entry { node, standing } in entries {
                bytes.extend(node.to_be_bytes());
                match standing {
                    Standing::There => bytes.push(0),
                    Standing::Other => bytes.push(1),
                    Standing::Over(counts) => {
                        bytes.push(2);
                        let ByteCounts { acknowledged_bytes, open_bytes, delivered_bytes } = *counts;
                        bytes.extend(
                            [acknowledged_bytes, open_bytes, delivered_bytes].into_iter().flat_map(u64::to_be_bytes),
                        );
                    }
                }
            }
            bytes.resize(bytes.len().max(60), 0);
            bytes
        };
        if self.entries.is_empty() {
            return vec![frame(&[])];
        }
        self.entries.chunks(ENTRIES).map(frame).collect()
    }

    /// Reads a frame; `None` if it is none of these.
    pub fn read(frame: &[u8]) -> Option<Word> {
        let mut rest = is_word(frame).then(|| &frame[HEADER_BYTES..])?.strip_prefix(&MAGIC)?;
        let mut numbers = [0; 7];
        for number in &mut numbers {
            *number = u64::from_be_bytes(take(&mut rest)?);
        }
        let [version, seed, k, scenario, begin_ms, said_us, sent_frames] = numbers;
        let from = u32::from_be_bytes(take(&mut rest)?);
        let [informed, count] = take(&mut rest)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let node = u32::from_be_bytes(take(&mut rest)?);
            let standing = match take::<1>(&mut rest)? {
                [0] => Standing::There,
                [1] => Standing::Other,
                [2] => {
                    let mut next = || take(&mut rest).map(u64::from_be_bytes);
                    let (acknowledged_bytes, open_bytes) = (next()?, next()?);
                    Standing::Over(ByteCounts { acknowledged_bytes, open_bytes, delivered_bytes: next()? })
                }
                _ => return None,
            };
            entries.push(Entry { node, standing });
        }
        Some(Word {
            from,
            terms: Terms { version, seed, k: f64::from_bits(k), scenario },
            begin_ms: (begin_ms != 0).then_some(begin_ms),
            said_us,
            sent_frames: (sent_frames != u64::MAX).then_some(sent_frames),
            informed: informed == 1,
            entries,
        })
    }
}

fn take<const BYTES: usize>(rest: &mut &[u8]) -> Option<[u8; BYTES]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word() -> Word {
        let counts = ByteCounts { acknowledged_bytes: 1, open_bytes: 2, delivered_bytes: 3 };
        let standings = [Standing::There, Standing::Other, Standing::Over(counts)];
        Word {
            from: 3,
            terms: Terms { version: 1, seed: 2, k: 1000.5, scenario: 4 },
            begin_ms: Some(5),
            said_us: 6,
            sent_frames: Some(7),
            informed: true,
            entries: (0..100).map(|node| Entry { node, standing: standings[node as usize % 3] }).collect(),
        }
    }

    #[test]
    fn a_word_survives_its_way_in_frames_that_fit_every_link() {
        let (frames, said) = (word().frames(9), word());
        assert!(frames.len() == 3 && frames.iter().all(|frame| frame.len() <= 1500), "{}", frames[0].len());
        let heard: Vec<Word> = frames.iter().map(|frame| Word::read(frame).unwrap()).collect();
        let entries: Vec<Entry> = heard.iter().flat_map(|word| word.entries.clone()).collect();
        assert_eq!(entries, said.entries);
        let head = |word: &Word| (word.from, word.begin_ms, word.said_us, word.sent_frames, word.informed);
        assert!(heard.iter().all(|word| head(word) == head(&said) && word.terms.k == 1000.5));
        let silent = Word { entries: Vec::new(), begin_ms: None, sent_frames: None, ..said };
        let [frame] = &silent.frames(0)[..] else { panic!("one frame") };
        let heard = Word::read(frame).unwrap();
        assert!(heard.begin_ms.is_none() && heard.sent_frames.is_none() && heard.entries.is_empty());
    }

    #[test]
    fn what_is_cut_off_or_changed_is_no_word_or_another_and_never_a_panic() {
        let frame = word().frames(0).remove(0);
        for length in 0..frame.len() {
            assert!(Word::read(&frame[..length]).is_none(), "{length}");
        }
        for at in 0..frame.len() {
            let mut changed = frame.clone();
            changed[at] ^= 0xff;
            let _ = Word::read(&changed);
        }
    }
}
