"""Loads a trace into Perfetto's trace processor and compares it with the tables of its run.

usage: check.py RUN_DIRECTORY ENGINE_FOLDER      (the run must have written CSV twins)

Ends with an AssertionError where they differ; prints what it has compared.
"""

import csv
import json
import math
import pathlib
import sys
from collections import Counter, defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from processor import Processor

MEANS = {"port_throughput", "paused", "pause_rate", "send_rate", "throughput"}


def table(run, name):
    with open(run / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def ps(us):
    return round(float(us) * 1e6)


def ns(us):
    """Whole nanoseconds, as the trace counts them."""
    return ps(us) // 1000


def same(a, b, what):
    assert a == b, f"{what}: {a} in the trace, {b} in the tables"


def near(a_ns, b_us, what):
    """Both ends of a slice are cut to nanoseconds."""
    assert abs(a_ns * 1000 - ps(b_us)) <= 1000, f"{what}: {a_ns} ns in the trace, {b_us} us in the tables"


def check_file(trace):
    """With the official decoder: order of time, no field that the format does not have."""
    decoded = perfetto_trace_pb2.Trace()
    decoded.ParseFromString(trace.read_bytes())
    last = 0
    declared = set()
    for packet in decoded.packet:
        parts = [packet, packet.track_event, packet.track_descriptor, *packet.track_event.debug_annotations]
        assert all(len(UnknownFieldSet(part)) == 0 for part in parts), f"unknown fields in {packet}"
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in declared, "a track is described twice"
            declared.add(packet.track_descriptor.uuid)
        else:
            assert packet.timestamp >= last, "events are not in order of time"
            assert packet.track_event.track_uuid in declared, "an event before its track"
            last = packet.timestamp
    return len(decoded.packet)


def check_import(tp):
    bad = tp.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0")
    assert not bad, f"import errors: {bad}"


def check_processes(tp, run):
    ports = table(run, "ports")
    layers = {row["node"]: row["layer"] for row in ports}
    rows = tp.query("select pid, name from process where name is not null order by pid")
    assert rows[0]["name"].startswith("run "), rows[0]
    names = [row["name"] for row in rows[1:]]
    same(sorted(names), sorted(layers), "processes")
    hosts = [layers[name] == "host" for name in names]
    assert hosts == sorted(hosts), "switches come before hosts"
    return len(names)


def other_end(port):
    ends, _, twin = port.partition("#")
    near_end, far_end = ends.split("->")
    return f"{far_end}->{near_end}" + (f"#{twin}" if twin else "")


def stops_in_tables(run):
    """(egress, priority) -> [(from, until, ingress bytes)], by the frames that arrived if known."""
    end = run_end(run)
    arrived = (run / "pfc.csv").exists()
    stops = defaultdict(list)
    for row in table(run, "pfc" if arrived else "pauses"):
        port = row["port"] if arrived else other_end(row["port"])
        list_of = stops[port, int(row["priority"])]
        open_now = list_of and list_of[-1][1] is None
        if row["event"] == "pause" and not open_now:
            list_of.append([row["time_us"], None, row.get("ingress_bytes")])
        elif row["event"] == "resume" and open_now:
            list_of[-1][1] = row["time_us"]
    for list_of in stops.values():
        for stop in list_of:
            stop[1] = stop[1] if stop[1] is not None else end
    return stops, arrived


def summary(run):
    return json.loads((run / "run.json").read_text())


def run_end(run):
    return summary(run)["sim_time_us"]


PAUSES = """
    select s.id, s.ts, s.dur, s.name, port.name as port, extract_arg(s.arg_set_id, 'debug.priority') as priority,
      extract_arg(s.arg_set_id, 'debug.paused_by') as paused_by, extract_arg(s.arg_set_id, 'debug.role') as role,
      extract_arg(s.arg_set_id, 'debug.ingress_bytes') as ingress_bytes,
      extract_arg(s.arg_set_id, 'debug.paused_us') as paused_us, process.name as node
    from slice s join process_track t on s.track_id = t.id join process using (upid)
      join track port on port.id = t.parent_id
    where s.name like 'paused by %' order by s.ts, s.id
"""


def check_pauses(tp, run, timed):
    slices = tp.query(PAUSES)
    decided = [row for row in table(run, "pauses") if row["event"] == "pause"]
    found = defaultdict(list)
    for row in slices:
        assert row["port"].startswith(row["node"] + "->"), f"{row['port']} at {row['node']}"
        assert row["port"].split("->")[1].split("#")[0] == row["paused_by"], row
        found[row["port"], row["priority"]].append(row)
    stops, arrived = stops_in_tables(run)
    if not timed:
        # A decision may be taken back before its frame leaves, and frames be on their way at the end.
        late = sum(float(row["time_us"]) > run_end(run) - 20 for row in decided)
        frames = summary(run)["pause_frames"]
        assert (frames - late <= len(slices) <= frames) if arrived else len(slices) == len(decided), (
            f"{len(slices)} pauses, {len(decided)} decisions, {frames} frames"
        )
        same(set(found), {key for key, of in stops.items() if of}, "paused queues")
        for key, of in found.items():
            same(len(of), len(stops[key]), f"pauses of {key}")
            for row, (begin, until, ingress) in zip(of, stops[key]):
                same(row["ts"], ns(begin), f"begin of a pause of {key}")
                near(row["dur"], float(until) - float(begin), f"length of a pause of {key}")
                if ingress is not None:
                    same(row["ingress_bytes"], int(ingress), f"occupancy behind a pause of {key}")
    # The simulator's own account of the time in which each egress stood still.
    if arrived:
        for row in table(run, "ports"):
            of = found.get((row["port"], int(row["priority"])), [])
            near(sum(stop["paused_us"] for stop in of) * 1000, row["paused_us"], f"pauses of {row['port']}")
            assert abs(sum(stop["dur"] for stop in of) - float(row["paused_us"]) * 1000) <= len(of) + 1, row
        occupancies = Counter(row["ingress_bytes"] for row in slices if row["ingress_bytes"] is not None)
        assert occupancies <= Counter(int(row["ingress_bytes"]) for row in decided), "occupancies are not those decided on"
        assert timed or occupancies.total() == len(slices), "a pause without its decision"
    return slices


FLOWS = """
    select s.ts, s.dur, s.name, t.name as track, process.name as node, s.depth,
      extract_arg(s.arg_set_id, 'debug.flow_id') as flow_id, extract_arg(s.arg_set_id, 'debug.to') as dst,
      extract_arg(s.arg_set_id, 'debug.size_bytes') as size_bytes, extract_arg(s.arg_set_id, 'debug.fct_us') as fct_us,
      extract_arg(s.arg_set_id, 'debug.slowdown') as slowdown, extract_arg(s.arg_set_id, 'debug.path') as path,
      extract_arg(s.arg_set_id, 'debug.packets_sent') as packets_sent
    from slice s join process_track t on s.track_id = t.id join process using (upid)
      join track side on side.id = t.parent_id
    where side.name = 'flows sent' and s.depth = 0 order by flow_id
"""


def check_flows(tp, run):
    rows = sorted(table(run, "flows"), key=lambda row: int(row["flow_id"]))
    slices = tp.query(FLOWS)
    same([row["flow_id"] for row in slices], [int(row["flow_id"]) for row in rows], "flows")
    end = run_end(run)

    def number(text):
        return float(text) if text != "" else None

    for found, row in zip(slices, rows):
        what = f"flow {row['flow_id']}"
        lasts = number(row["fct_acked_us"])
        same(found["ts"], ns(row["start_us"]), f"start of {what}")
        near(found["dur"], lasts if lasts is not None else end - float(row["start_us"]), f"life of {what}")
        same((found["name"], found["node"], found["dst"], found["path"]),
             (row["label"], row["src_name"], row["dst_name"], row["path"]), what)
        same(found["size_bytes"], number(row["size_bytes"]), f"size of {what}")
        same(found["packets_sent"], int(row["packets_sent"]), f"packets of {what}")
        for name in ("fct_us", "slowdown"):
            wanted = number(row[name])
            assert (wanted is None and found[name] is None) or math.isclose(found[name], wanted, rel_tol=1e-9), what
    last = tp.query("select count(*) as n from slice where name = 'last byte in' and dur = 0")[0]["n"]
    same(last, sum(row["finish_us"] != "" for row in rows), "flows delivered")
    return len(slices)


def check_counters(tp, run):
    rows = tp.query("""
        select c.ts, c.value, t.name, t.unit, parent.name as parent from counter c
        join counter_track t on c.track_id = t.id join track own on own.id = t.id
        join track parent on parent.id = own.parent_id order by c.ts, c.id
    """)
    found = defaultdict(list)
    for row in rows:
        found[row["parent"], row["name"]].append((row["ts"], row["value"]))
    starts = {row["flow_id"]: row for row in table(run, "flows")}
    wanted = defaultdict(list)
    previous = {}
    for row in table(run, "series"):
        if row["flow_id"]:
            flow = starts[row["flow_id"]]
            key = (f"{flow['label']} #{row['flow_id']} to {flow['dst_name']}", row["metric"])
            start = flow["start_us"]
        else:
            priority = f", priority {row['priority']}" if row["priority"] else ""
            key, start = (row["entity"], row["metric"] + priority), "0"
        at = row["time_us"]
        if row["metric"] in MEANS:
            previous[key], at = at, previous.get(key, start)
        wanted[key].append((ns(at), float(row["value"])))
    same(set(found), set(wanted), "counters")
    for key, values in wanted.items():
        same(found[key], values, f"samples of {key}")
    units = {(row["name"].split(",")[0], row["unit"]) for row in rows}
    known = {(row["metric"], row["unit"]) for row in table(run, "series")}
    same(units, known, "units")
    return len(rows)


ARROWS = """
    select f.slice_out, f.slice_in, a.ts as out_ts, a.dur as out_dur, b.ts as in_ts, b.name as in_name,
      out_port.name as out_port, in_parent.name as in_parent,
      extract_arg(b.arg_set_id, 'debug.paused_by') as in_by, in_process.name as in_node
    from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
      join track ta on ta.id = a.track_id join track out_port on out_port.id = ta.parent_id
      join process_track tb on tb.id = b.track_id join process in_process on in_process.upid = tb.upid
      join track in_parent on in_parent.id = tb.parent_id
"""


def check_arrows(tp, slices):
    arrows = tp.query(ARROWS)
    roles = {row["id"]: row["role"] for row in slices}
    ends = defaultdict(int)
    for row in arrows:
        ends[row["slice_in"]] += 1
        node = row["out_port"].split("->")[0]
        assert row["slice_out"] in roles, "an arrow begins at something else than a pause"
        assert row["out_ts"] <= row["in_ts"], "an arrow back in time"
        if row["in_name"] == "held by PFC":
            assert row["in_node"] == node and row["in_parent"] == "flows sent", row
        else:
            # The switch whose egress stood still is the one that paused its upstream.
            assert row["in_by"] == node, row
            assert roles[row["slice_in"]] == "propagated", row
    for slice_id, role in roles.items():
        assert (role == "propagated") == (ends[slice_id] > 0), f"pause {slice_id} is {role}, {ends[slice_id]} arrows end there"
    holds = tp.query("select count(*) as n from slice where name = 'held by PFC'")[0]["n"]
    same(sum(row["in_name"] == "held by PFC" for row in arrows), holds, "arrows to flows")
    return len(arrows)


def chain_of(tp, label):
    """Where the arrows to the holds of a flow come from: sequences of paused egresses, root first."""
    rows = tp.query(f"""
        with recursive chain(slice, path, role) as (
          select s.id, '', '' from slice s join slice life on s.parent_id = life.id
            where s.name = 'held by PFC' and life.name = '{label}'
          union all
          select f.slice_out, port.name || ' ' || c.path, extract_arg(s.arg_set_id, 'debug.role')
            from chain c join flow f on f.slice_in = c.slice join slice s on s.id = f.slice_out
              join track t on t.id = s.track_id join track port on port.id = t.parent_id
        )
        select path, role, count(*) as n from chain where role = 'root' group by path, role
    """)
    return Counter({row["path"].strip(): row["n"] for row in rows})


def main():
    run, engine = pathlib.Path(sys.argv[1]), sys.argv[2]
    timed = "--timed" in sys.argv
    trace = run / "trace.pftrace"
    packets = check_file(trace)
    with Processor(trace, engine) as tp:
        check_import(tp)
        nodes = check_processes(tp, run)
        slices = check_pauses(tp, run, timed)
        flows = check_flows(tp, run)
        samples = check_counters(tp, run)
        arrows = check_arrows(tp, slices)
        print(f"packets {packets} nodes {nodes} pauses {len(slices)} flows {flows} samples {samples} arrows {arrows}")
        for label in [name for name in sys.argv[3:] if not name.startswith("--")]:
            for path, count in sorted(chain_of(tp, label).items()):
                print(f"chain of {label}: {path} ({count})")
        about = tp.query("""select extract_arg(arg_set_id, 'debug.pause_times') as times, ts, trace_start() as start
                            from slice where name = 'about this trace'""")
        starts = [float(row["start_us"]) for row in table(run, "flows")] + [float(row["time_us"]) for row in table(run, "series")]
        same((about[0]["ts"], about[0]["start"]), (ns(min(starts)),) * 2, "first instant")
        print(f"times: {about[0]['times']}")


main()
