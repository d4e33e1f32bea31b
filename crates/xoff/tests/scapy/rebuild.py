"""Builds frames of a capture anew with scapy, from what tshark would show of them, and compares bytes.

Usage: rebuild.py CAPTURE; prints how many frames of each kind were equal, and fails at the first that is not.
"""

import sys
from collections import Counter

from scapy.contrib.mac_control import MACControlClassBasedFlowControl
from scapy.contrib.roce import AETH, BTH, CNPPadding
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import RawPcapNgReader

PER_KIND = 60


def roce(data):
    """Headers from the parsed fields, check sums and lengths from scapy."""
    old = Ether(data)
    ip, udp, bth = old[IP], old[UDP], old[BTH]
    end = 14 + ip.len
    inner = data[14 + 20 + 8 + 12 : end - 4]
    new_bth = BTH(opcode=bth.opcode, migreq=1, padcount=bth.padcount, fecn=bth.fecn, becn=bth.becn,
                  dqpn=bth.dqpn, ackreq=bth.ackreq, resv7=bth.resv7, psn=bth.psn)
    if bth.opcode == 0x11 and len(inner) == 4:
        content = AETH(syndrome=inner[0], msn=int.from_bytes(inner[1:4], "big"))
    elif bth.opcode == 0x81 and not any(inner):
        content = CNPPadding()
    else:
        content = Raw(inner)
    new = (Ether(dst=old.dst, src=old.src)
           / IP(src=ip.src, dst=ip.dst, tos=ip.tos, ttl=64, id=0, flags="DF")
           / UDP(sport=udp.sport, dport=4791, chksum=0) / new_bth / content)
    return bytes(new), end


def tcp(data):
    old = Ether(data)
    ip, segment = old[IP], old[TCP]
    end = 14 + ip.len
    new = (Ether(dst=old.dst, src=old.src)
           / IP(src=ip.src, dst=ip.dst, tos=ip.tos, ttl=64, id=0, flags="DF")
           / TCP(sport=segment.sport, dport=segment.dport, seq=segment.seq, ack=segment.ack,
                 flags=segment.flags, window=65535) / Raw(data[54:end]))
    return bytes(new), end


def pfc(data):
    enabled = data[17]
    fields = {f"c{n}_enabled": enabled >> n & 1 for n in range(8)}
    fields.update({f"c{n}_pause_time": int.from_bytes(data[18 + 2 * n : 20 + 2 * n], "big") for n in range(8)})
    new = Ether(dst="01:80:c2:00:00:01", src=data[6:12], type=0x8808) / MACControlClassBasedFlowControl(**fields)
    return bytes(new), 34


def main():
    equal = Counter()
    for data, _ in RawPcapNgReader(sys.argv[1]):
        if data[12:14] == b"\x88\x08":
            kind, build = "pfc", pfc
        elif data[12:14] == b"\x08\x00" and data[23] == 6:
            kind, build = "tcp", tcp
        elif data[12:14] == b"\x08\x00":
            kind, build = {0x11: "ack", 0x81: "cnp"}.get(data[42], "data"), roce
        else:
            continue
        if equal[kind] >= PER_KIND:
            continue
        rebuilt, end = build(data)
        if rebuilt[:end] != data[:end] or any(data[end:]):
            sys.exit(f"{kind}\nours   {data.hex()}\nscapy  {rebuilt.hex()}")
        equal[kind] += 1
    print(" ".join(f"{kind}={equal[kind]}" for kind in sorted(equal)))


main()
