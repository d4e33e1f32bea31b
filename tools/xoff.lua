-- Dissector for what Wireshark does not know in captures of Xoff (docs/captures.md):
--   * congestion notification messages of IEEE 802.1Qau (EtherType 0x22e7) and their tags (0x22e9),
--   * what schemes add behind the base transport header of RoCEv2 packets: HPCC's telemetry, time
--     stamps, MLCC's credits; in CNPs Mercury's window, PCN's rate, RoCC's rate, TCD's flag,
--   * messages between switches (RCM; EtherType 0x88b5).
--
--   wireshark -X lua_script:tools/xoff.lua capture.pcapng
--   tshark -X lua_script:tools/xoff.lua -r capture.pcapng -Y xoff.window
--
-- or copy it into the folder of personal Lua plugins (Help, About Wireshark, Folders).

local ethertypes = DissectorTable.get("ethertype")

-- Congestion notification tag: the number of a flow, then the EtherType of what follows.

local tag = Proto("cntag", "Congestion Notification Tag")
tag.fields.flow = ProtoField.uint16("cntag.flow", "Flow")
tag.fields.type = ProtoField.uint16("cntag.type", "Type", base.HEX)

function tag.dissector(buffer, packet, tree)
  if buffer:len() < 4 then return 0 end
  local branch = tree:add(tag, buffer(0, 4))
  branch:add(tag.fields.flow, buffer(0, 2))
  branch:add(tag.fields.type, buffer(2, 2))
  ethertypes:try(buffer(2, 2):uint(), buffer(4):tvb(), packet, tree)
  return buffer:len()
end

-- Congestion notification message (IEEE 802.1Q, clause 33.4).

local cnm = Proto("cnm", "Congestion Notification Message")
local c = cnm.fields
c.version = ProtoField.uint16("cnm.version", "Version", base.DEC, nil, 0xf000)
c.feedback = ProtoField.uint16("cnm.feedback", "Quantised feedback", base.DEC, nil, 0x003f)
c.cpid = ProtoField.bytes("cnm.cpid", "Congestion point")
c.offset = ProtoField.int16("cnm.qoffset", "Queue offset (64 B)")
c.delta = ProtoField.int16("cnm.qdelta", "Queue delta (64 B)")
c.priority = ProtoField.uint16("cnm.priority", "Encapsulated priority", base.DEC, nil, 0xe000)
c.destination = ProtoField.ether("cnm.dst", "Encapsulated destination")
c.length = ProtoField.uint16("cnm.length", "Encapsulated length")
c.msdu = ProtoField.bytes("cnm.msdu", "Encapsulated frame")

function cnm.dissector(buffer, packet, tree)
  if buffer:len() < 24 then return 0 end
  packet.cols.protocol = "CNM"
  local length = math.min(buffer(22, 2):uint(), buffer:len() - 24)
  local branch = tree:add(cnm, buffer(0, 24 + length))
  branch:add(c.version, buffer(0, 2))
  branch:add(c.feedback, buffer(0, 2))
  branch:add(c.cpid, buffer(2, 8))
  branch:add(c.offset, buffer(10, 2))
  branch:add(c.delta, buffer(12, 2))
  branch:add(c.priority, buffer(14, 2))
  branch:add(c.destination, buffer(16, 6))
  branch:add(c.length, buffer(22, 2))
  if length > 0 then branch:add(c.msdu, buffer(24, length)) end
  packet.cols.info = "Congestion notification, feedback " .. buffer(0, 2):bitfield(10, 6)
  return buffer:len()
end

ethertypes:add(0x22e7, cnm)
ethertypes:add(0x22e9, tag)

-- What schemes add: named by the seven reserved bits beside the BTH's request for an ACK.

local xoff = Proto("xoff", "Xoff")
local f = xoff.fields
local codes = {
  [1] = "telemetry", [2] = "telemetry and credit", [3] = "time stamp", [4] = "window", [5] = "receiving rate",
  [6] = "fair rate", [7] = "kind of congestion", [8] = "telemetry of a gateway", [9] = "credit and rates",
  [10] = "congestion region", [11] = "digest",
}
f.selective = ProtoField.uint32("xoff.selective.psn", "Packet of a selective acknowledgement", base.DEC, nil, 0x00ffffff)
f.received = ProtoField.uint64("xoff.selective.received", "Packets received", base.HEX)
f.cut = ProtoField.uint32("xoff.trimmed.bytes", "Bytes that a switch cut off")
f.cut_psn = ProtoField.uint32("xoff.trimmed.psn", "Packet whose payload is gone", base.DEC, nil, 0x00ffffff)
f.code = ProtoField.uint8("xoff.code", "Content", base.DEC, codes)
f.hops = ProtoField.uint16("xoff.int.hops", "Records", base.DEC, nil, 0xf000)
f.path = ProtoField.uint16("xoff.int.path", "Path", base.HEX, nil, 0x0fff)
f.hop = ProtoField.bytes("xoff.int.hop", "Record")
f.rate = ProtoField.uint32("xoff.int.rate_gbps", "Line rate (Gb/s)")
f.time = ProtoField.uint32("xoff.int.time_ns", "Time (ns, 24 bits)")
f.sent = ProtoField.uint64("xoff.int.sent_bytes", "Bytes sent (wraps)")
f.queue = ProtoField.uint64("xoff.int.queue_bytes", "Bytes queued")
f.flow_queue = ProtoField.uint64("xoff.flow_queue_bytes", "Bytes in the flow's own queue")
f.credit = ProtoField.uint16("xoff.credit", "Credit")
f.credit_rate = ProtoField.uint32("xoff.credit_rate_mbps", "Rate of the credit loop (Mb/s)")
f.advertised = ProtoField.uint32("xoff.advertised_mbps", "Advertised rate (Mb/s)")
f.stamp = ProtoField.uint64("xoff.stamp_ns", "Sent at (ns)")
f.window = ProtoField.uint32("xoff.window", "Window (B)")
f.receiving = ProtoField.uint32("xoff.receiving_rate_mbps", "Receiving rate (Mb/s)")
f.fair = ProtoField.uint32("xoff.fair_rate_mbps", "Fair rate (Mb/s)")
f.point = ProtoField.uint32("xoff.congestion_point", "Congestion point", base.HEX)
f.kind = ProtoField.uint8("xoff.kind", "Congestion", base.DEC, { [0] = "undetermined", [1] = "encountered" })
f.digest = ProtoField.uint16("xoff.digest", "Digest (power of the base)")
f.degree = ProtoField.uint8("xoff.region.degree", "Degree")
f.class = ProtoField.uint8("xoff.region.class", "Class")
f.count = ProtoField.uint16("xoff.region.flows", "Harmful flows")
f.from = ProtoField.ipv4("xoff.region.src", "Source")
f.to = ProtoField.ipv4("xoff.region.dst", "Destination")

-- 0: units follow the port's speed. A run with `int_multiplier` has its own for all ports, and says so in the
-- comment of the capture: tshark -o xoff.int_multiplier:4.
xoff.prefs.int_multiplier = Pref.uint("Telemetry's multiplier m", 0, "int_multiplier of the scenario; 0: by port speed")

-- Line rates of the telemetry's three bits; any other is 7, and its units are then not known.
local rates = { [0] = 25, 50, 100, 200, 400, 10, 40 }

local function telemetry(buffer, tree, most)
  tree:add(f.hops, buffer(0, 2))
  tree:add(f.path, buffer(0, 2))
  for hop = 0, math.min(buffer(0, 2):bitfield(0, 4), most or 5) - 1 do
    local range = buffer(2 + hop * 8, 8)
    local branch = tree:add(f.hop, range)
    local gbps = rates[range:bitfield(0, 3)]
    local unit = gbps and math.max(1, math.floor(gbps / 25)) or 1
    if xoff.prefs.int_multiplier > 0 then unit = xoff.prefs.int_multiplier end
    if gbps then branch:add(f.rate, range, gbps) end
    branch:add(f.time, range, range:bitfield(3, 24))
    branch:add(f.sent, range, UInt64(range:bitfield(27, 20) * 128 * unit))
    branch:add(f.queue, range, UInt64(range:bitfield(47, 17) * 80 * unit))
  end
end

-- By code: how many bytes it needs, and what they are.
local contents = {
  [1] = { 42, telemetry },
  [2] = { 44, function(buffer, tree)
    telemetry(buffer, tree, 4)
    -- In the place of the fifth record.
    if buffer(34, 1):bitfield(0, 1) == 1 then
      tree:add(f.flow_queue, buffer(34, 8), UInt64(buffer(38, 4):uint()))
    else
      tree:add(f.stamp, buffer(34, 8))
    end
    tree:add(f.credit, buffer(42, 2))
  end },
  [3] = { 8, function(buffer, tree) tree:add(f.stamp, buffer(0, 8)) end },
  [4] = { 4, function(buffer, tree) tree:add(f.window, buffer(0, 4)) end },
  [5] = { 4, function(buffer, tree) tree:add(f.receiving, buffer(0, 4)) end },
  [6] = { 8, function(buffer, tree)
    tree:add(f.fair, buffer(0, 4))
    tree:add(f.point, buffer(4, 4))
  end },
  [7] = { 1, function(buffer, tree) tree:add(f.kind, buffer(0, 1)) end },
  -- In and behind the sixteen reserved bytes of its CNP.
  [8] = { 58, function(buffer, tree)
    tree:add(f.stamp, buffer(0, 8))
    telemetry(buffer(16), tree)
  end },
  [9] = { 10, function(buffer, tree)
    tree:add(f.credit, buffer(0, 2))
    tree:add(f.credit_rate, buffer(2, 4))
    tree:add(f.advertised, buffer(6, 4))
  end },
  [11] = { 2, function(buffer, tree) tree:add(f.digest, buffer(0, 2)) end },
}

-- Bytes between BTH and content: RETH where a WRITE begins, AETH in an ACK.
local before = { [0x06] = 16, [0x0a] = 16, [0x11] = 4 }

-- Where the BTH begins, if the frame has one.
local function find_bth(buffer)
  local at = 12
  if buffer:len() < at + 4 + 2 then return nil end
  if buffer(at, 2):uint() == 0x22e9 then at = at + 4 end
  if buffer:len() < at + 42 or buffer(at, 2):uint() ~= 0x0800 then return nil end
  local ip = at + 2
  local udp = ip + buffer(ip, 1):bitfield(4, 4) * 4
  if buffer(ip + 9, 1):uint() ~= 17 or buffer:len() < udp + 20 then return nil end
  return buffer(udp + 2, 2):uint() == 4791 and udp + 8 or nil
end

-- Selective acknowledgement behind an AETH, at `at`; returns where it ends.
local function selective(buffer, at, tree)
  local bitmap = buffer:len() >= at + 12 and buffer(at, 1):bitfield(0, 1) == 1
  local branch = tree:add(xoff, buffer(at, bitmap and 12 or 4))
  branch:add(f.selective, buffer(at, 4))
  if bitmap then branch:add(f.received, buffer(at + 4, 8)) end
  return at + (bitmap and 12 or 4)
end

-- A trimmed packet: UDP says how long it was, IP how long it is.
local function trimmed(buffer, bth, tree)
  local udp = bth - 8
  local ip = udp - 20
  local left = buffer(ip + 2, 2):uint() - 20
  local whole = buffer(udp + 4, 2):uint()
  if whole <= left then return false end
  local branch = tree:add(xoff, buffer(udp, 20))
  branch:add(f.cut, buffer(udp + 4, 2), whole - left)
  branch:add(f.cut_psn, buffer(bth + 8, 4))
  return true
end

function xoff.dissector(buffer, packet, tree)
  local bth = find_bth(buffer)
  if not bth or trimmed(buffer, bth, tree) then return end
  local at = bth + 12 + (before[buffer(bth, 1):uint()] or 0)
  if buffer(bth, 1):uint() == 0x11 and buffer(bth + 4, 1):bitfield(2, 1) == 1 and buffer:len() >= at + 4 then
    at = selective(buffer, at, tree)
  end
  local code = buffer(bth + 8, 1):bitfield(1, 7)
  local content = contents[code]
  if not content then return end
  if buffer:len() < at + content[1] then return end
  local range = buffer(at, content[1])
  local branch = tree:add(xoff, range)
  branch:add(f.code, buffer(bth + 8, 1), code)
  content[2](range, branch)
end

register_postdissector(xoff)

-- Messages between neighbouring switches.

local neighbour = Proto("xoff_neighbour", "Xoff message between switches")

function neighbour.dissector(buffer, packet, tree)
  if buffer:len() < 6 or buffer(4, 2):uint() ~= 10 then return 0 end
  packet.cols.protocol = "RCM"
  local count = math.min(buffer(2, 2):uint(), math.floor((buffer:len() - 6) / 13))
  local branch = tree:add(neighbour, buffer(0, 6 + 13 * count))
  branch:add(f.code, buffer(5, 1))
  branch:add(f.degree, buffer(0, 1))
  branch:add(f.class, buffer(1, 1))
  branch:add(f.count, buffer(2, 2))
  for flow = 0, count - 1 do
    branch:add(f.from, buffer(6 + 13 * flow, 4))
    branch:add(f.to, buffer(10 + 13 * flow, 4))
  end
  packet.cols.info = "Congestion of degree " .. buffer(0, 1):uint() .. ", " .. count .. " harmful flows"
  return buffer:len()
end

ethertypes:add(0x88b5, neighbour)
