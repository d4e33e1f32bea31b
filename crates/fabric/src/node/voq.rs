//! VOQ switches: their virtual output queues, their controls, and the messages between these.

use crate::buffer::Buffer;
use crate::contract::control::{Lane, Lanes, Occupancy, SwitchControl};
use crate::id::SwitchId;
use xoff_engine::{Fifo, Slab, Table, Time};

/// All VOQ switches, and the messages between them.
pub(crate) struct VoqSwitches<C: SwitchControl> {
    pub(crate) list: Table<SwitchId, Option<Box<VoqSwitch<C>>>>,
    pub(crate) messages: Slab<u32, C::Message>,
    /// Messages asked for by the hook at hand.
    pub(crate) outbox: Vec<(u16, C::Message)>,
    /// Equal-cost outputs of the packet at hand.
    pub(crate) choices: Vec<u16>,
}

pub(crate) struct VoqSwitch<C> {
    pub(crate) control: C,
    pub(crate) voqs: Voqs,
    /// Size of a FIFO.
    pub(crate) output_bytes: u64,
    /// The timer event that counts.
    pub(crate) due: Time,
    /// Per port: messages that wait for the link.
    pub(crate) unsent: Vec<Fifo>,
}

impl<C> VoqSwitch<C> {
    /// Whether nothing of its lane is ahead of a packet at an input, and its output queue has room.
    #[inline(always)]
    pub(crate) fn has_room(&self, buffer: &Buffer, ingress: u16, egress: u16, class: u8, lane: Lane) -> bool {
        let output = &self.voqs.outputs[self.voqs.output(egress, class)];
        if output.waiting[lane as usize] > 0 {
            return false;
        }
        // A lossy queue may be limited to less than the FIFO: that is for the buffer to say.
        let lossless = buffer.ingress(usize::from(ingress), class).lossless;
        output.queued_bytes == 0 || (output.queued_bytes < self.output_bytes && lossless)
    }
}

impl<C: SwitchControl> Default for VoqSwitches<C> {
    fn default() -> Self {
        VoqSwitches { list: Table::default(), messages: Slab::default(), outbox: Vec::new(), choices: Vec::new() }
    }
}

impl<C: SwitchControl> VoqSwitches<C> {
    /// A message leaves for another part, or has come from one.
    pub(crate) fn take_message(&mut self, message: u32) -> C::Message {
        self.messages.remove(message)
    }
    pub(crate) fn put_message(&mut self, message: C::Message) -> u32 {
        self.messages.insert(message)
    }
    /// What belongs to a switch whose ports are [`HAS_VOQS`].
    #[inline]
    pub(crate) fn at(&self, switch: SwitchId) -> &VoqSwitch<C> {
        self.list[switch].as_ref().expect("a VOQ switch has a control")
    }
    #[inline]
    pub(crate) fn at_mut(&mut self, switch: SwitchId) -> &mut VoqSwitch<C> {
        self.list[switch].as_mut().expect("a VOQ switch has a control")
    }
}

/// The virtual output queues of one switch.
#[derive(Debug)]
pub(crate) struct Voqs {
    pub(crate) ports: usize,
    pub(crate) classes: usize,
    /// `[egress][class][ingress][lane]`
    pub(crate) subs: Vec<Sub>,
    /// `[egress][class]`
    pub(crate) outputs: Vec<Output>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sub {
    pub(crate) packets: Fifo,
    pub(crate) bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Output {
    /// Packets waiting at inputs, by lane.
    pub(crate) waiting: [u32; 2],
    /// The input that is served next.
    pub(crate) next_input: u16,
    /// Bytes in the FIFO.
    pub(crate) queued_bytes: u64,
}

impl Voqs {
    pub(crate) fn new(ports: usize, classes: usize) -> Voqs {
        Voqs {
            ports,
            classes,
            subs: vec![Sub::default(); ports * classes * ports * 2],
            outputs: vec![Output::default(); ports * classes],
        }
    }
    #[inline]
    pub(crate) fn output(&self, egress: u16, class: u8) -> usize {
        usize::from(egress) * self.classes + usize::from(class)
    }
    #[inline]
    pub(crate) fn sub(&self, ingress: u16, egress: u16, class: u8, lane: Lane) -> usize {
        (self.output(egress, class) * self.ports + usize::from(ingress)) * 2 + lane as usize
    }
    pub(crate) fn bytes(&self, ingress: u16, egress: u16, class: u8) -> u64 {
        let first = self.sub(ingress, egress, class, Lane::Free);
        self.subs[first].bytes + self.subs[first + 1].bytes
    }
}

impl Output {
    /// Lanes with packets.
    #[inline]
    pub(crate) fn lanes(&self) -> Lanes {
        let lane = |lane: Lane| if self.waiting[lane as usize] > 0 { Lanes::of(lane) } else { Lanes::NONE };
        lane(Lane::Free).with(lane(Lane::Held))
    }
}

/// What a control may see of its switch's queues.
pub(crate) struct View<'a> {
    pub(crate) voqs: &'a Voqs,
    pub(crate) buffer: &'a Buffer,
}

impl Occupancy for View<'_> {
    #[inline]
    fn input_bytes(&self, ingress: u16, class: u8) -> u64 {
        self.buffer.ingress(usize::from(ingress), class).bytes
    }
    #[inline]
    fn output_bytes(&self, egress: u16, class: u8) -> u64 {
        self.voqs.outputs[self.voqs.output(egress, class)].queued_bytes
    }
    fn voq_bytes(&self, ingress: u16, egress: u16, class: u8) -> u64 {
        self.voqs.bytes(ingress, egress, class)
    }
}
