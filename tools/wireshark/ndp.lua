-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark's view of NDP: Documentation/wire-format.md, version 2.
--
-- It decodes all types and flags, numbers connections by their id (af_ndp.stream), and marks
-- packets that were trimmed on the way or that a switch returned to their sender.  Expert items
-- report errors: header checksum, CRC, version, type.  Streams are not reassembled.
--
-- Filters are af_ndp.psn and so on: Wireshark's own ndp is Nortel's protocol.  Wireshark and
-- tshark load this file from their directory of plugins; from elsewhere it is loaded by
-- tshark -X lua_script:ndp.lua.

local PORT = 13141
local VERSION = 2
local HEADER, CRC, ACKS = 32, 4, 16

-- Bit operations: Lua 5.2 has a library and no operators, Lua 5.4 operators and no library.
local band, bxor, rshift
if bit32 then
	band, bxor, rshift = bit32.band, bit32.bxor, bit32.rshift
else
	band = load("return function(a, b) return a & b end")()
	bxor = load("return function(a, b) return a ~ b end")()
	rshift = load("return function(a, n) return a >> n end")()
end

local DATA, ACK, NACK, PULL, PROBE, FIN, RST, COOKIE, SIGNAL = 1, 2, 3, 4, 5, 6, 7, 8, 9
local TYPES = {
	[DATA] = "DATA", [ACK] = "ACK", [NACK] = "NACK", [PULL] = "PULL", [PROBE] = "PROBE",
	[FIN] = "FIN", [RST] = "RST", [COOKIE] = "COOKIE", [SIGNAL] = "SIGNAL",
}
local TRANSPORTS = {
	[0] = "NDP", [1] = "MP-RDMA", [2] = "DCQCN", [3] = "TCPlight", [4] = "Dart", [5] = "PCN",
}
local REASONS = {
	[0] = "nobody listens, or the connection is gone",
	[1] = "the listener does not take this transport",
}

-- The name of a flag depends on the packet's type: bit, types (all if nil), name, meaning.
local function of(...)
	local set = {}
	for _, t in ipairs({ ... }) do
		set[t] = true
	end
	return set
end
local FLAGS = {
	{ 0x01, nil, "SYN", "of an initiator: may open the connection; of either: pushed" },
	{ 0x02, of(DATA, ACK, PULL), "LAST", "nothing is queued behind it, or owed" },
	{ 0x04, of(DATA), "EOM", "a message ends" },
	{ 0x04, of(FIN), "GONE", "its sender has closed, and needs no FIN" },
	{ 0x04, of(ACK), "ACKS", "names more packets" },
	{ 0x04, of(COOKIE), "TOKEN", "for later connections, or of an earlier one" },
	{ 0x08, of(ACK, NACK), "PULL", "counter and window count" },
	{ 0x08, of(DATA, FIN, COOKIE), "MSG", "of a socket of messages" },
	{ 0x10, nil, "RTX", "a retransmission, or the answer to one" },
	{ 0x20, nil, "BOUNCED", "returned to its sender" },
	{ 0x40, of(ACK, NACK), "AGAIN", "answered before" },
	{ 0x80, of(ACK, NACK), "ECE", "the packet answered had Congestion Experienced" },
}
local FLAGS_NDP = {
	{ 0x40, of(DATA, FIN), "CUM", "carries an ACK" },
	{ 0x80, of(DATA, FIN), "LATER", "its ACK may be carried" },
}
local FLAGS_OTHERS = {
	{ 0x40, of(DATA), "SYNC", "read behind all messages before it" },
	{ 0x80, of(DATA), "BOM", "a message begins" },
}

local ndp = Proto("af_ndp", "NDP data center transport")
local f = {
	version = ProtoField.uint8("af_ndp.version", "Version", base.DEC, nil, 0xe0),
	acceptor = ProtoField.bool("af_ndp.from_acceptor", "Sent by the acceptor", 8, nil, 0x10),
	type = ProtoField.uint8("af_ndp.type", "Type", base.DEC, TYPES, 0x0f),
	flags = ProtoField.uint8("af_ndp.flags", "Flags", base.HEX),
	check = ProtoField.uint16("af_ndp.checksum", "Header checksum", base.HEX),
	good = ProtoField.bool("af_ndp.checksum.good", "Header checksum is right"),
	sport = ProtoField.uint16("af_ndp.srcport", "Source port"),
	dport = ProtoField.uint16("af_ndp.dstport", "Destination port"),
	id = ProtoField.uint64("af_ndp.conn_id", "Connection id", base.HEX),
	stream = ProtoField.uint32("af_ndp.stream", "Stream index"),
	psn = ProtoField.uint32("af_ndp.psn", "PSN"),
	path = ProtoField.uint16("af_ndp.path", "Path"),
	len = ProtoField.uint16("af_ndp.len", "Payload length"),
	echo = ProtoField.uint16("af_ndp.echo_path", "Path of the packet answered"),
	kind = ProtoField.uint16("af_ndp.kind", "Kind of signal"),
	transport = ProtoField.uint16("af_ndp.transport", "Transport", base.DEC, TRANSPORTS),
	answered = ProtoField.bool("af_ndp.answered", "The acceptor has answered before"),
	offset = ProtoField.uint32("af_ndp.offset", "Offset from the connection's first PSN"),
	counter = ProtoField.uint32("af_ndp.counter", "Pull counter, or PSN below which all arrived"),
	reason = ProtoField.uint32("af_ndp.reason", "Reason", base.DEC, REASONS),
	value = ProtoField.uint32("af_ndp.value", "Value"),
	cookie = ProtoField.bytes("af_ndp.cookie", "Cookie"),
	window = ProtoField.uint32("af_ndp.window", "Receive window"),
	behind = ProtoField.uint32("af_ndp.behind", "Bytes queued behind"),
	cum = ProtoField.uint32("af_ndp.cum", "PSN below which all arrived"),
	crc = ProtoField.uint32("af_ndp.crc", "CRC-32C of the payload", base.HEX),
	crc_good = ProtoField.bool("af_ndp.crc.good", "CRC is right"),
	trimmed = ProtoField.bool("af_ndp.trimmed", "Trimmed on the way"),
	bounced = ProtoField.bool("af_ndp.bounced", "Returned to its sender"),
	map = ProtoField.uint64("af_ndp.acks.map", "Map of packets that arrived", base.HEX),
	first = ProtoField.uint32("af_ndp.acks.first", "PSN of bit 0"),
	acks_crc = ProtoField.uint32("af_ndp.acks.crc", "CRC-32C of map and first", base.HEX),
	payload = ProtoField.bytes("af_ndp.payload", "Payload"),
}
for _, list in ipairs({ FLAGS, FLAGS_NDP, FLAGS_OTHERS }) do
	for _, flag in ipairs(list) do
		local name = flag[3]:lower()
		f["flag_" .. name] = f["flag_" .. name] or ProtoField.bool("af_ndp.flags." .. name, flag[3])
	end
end
ndp.fields = f

local e = {
	version = ProtoExpert.new("af_ndp.bad_version", "Another version of NDP",
		expert.group.UNDECODED, expert.severity.WARN),
	type = ProtoExpert.new("af_ndp.bad_type", "Unknown type", expert.group.UNDECODED,
		expert.severity.WARN),
	short = ProtoExpert.new("af_ndp.short", "Cut within the header: no receiver takes it",
		expert.group.MALFORMED, expert.severity.ERROR),
	check = ProtoExpert.new("af_ndp.bad_checksum", "The header checksum is wrong",
		expert.group.CHECKSUM, expert.severity.ERROR),
	crc = ProtoExpert.new("af_ndp.bad_crc", "The CRC is wrong", expert.group.CHECKSUM,
		expert.severity.ERROR),
	trimmed = ProtoExpert.new("af_ndp.is_trimmed", "A switch has trimmed it: congestion",
		expert.group.SEQUENCE, expert.severity.NOTE),
	bounced = ProtoExpert.new("af_ndp.is_bounced", "A switch has returned it: header queue full",
		expert.group.SEQUENCE, expert.severity.WARN),
	rtx = ProtoExpert.new("af_ndp.is_rtx", "A retransmission, or the answer to one",
		expert.group.SEQUENCE, expert.severity.NOTE),
	refused = ProtoExpert.new("af_ndp.refused", "The connection is refused, or gone",
		expert.group.SEQUENCE, expert.severity.WARN),
}
ndp.experts = e

ndp.prefs.port = Pref.uint("UDP port", PORT, "net.ndp.udp_port of the hosts")

local source = { Field.new("ip.src"), Field.new("ipv6.src") }
local destination = { Field.new("ip.dst"), Field.new("ipv6.dst") }
local udp_checksum = Field.new("udp.checksum")

-- Numbers of connections, in the order of their first packets, and how many there are
local streams, count

local TABLE = {}
for i = 0, 255 do
	local v = i
	for _ = 1, 8 do
		v = band(v, 1) == 1 and bxor(rshift(v, 1), 0x82f63b78) or rshift(v, 1)
	end
	TABLE[i] = v
end

local function crc32c(range)
	local bytes = range:bytes()
	local v = 0xffffffff
	for i = 0, bytes:len() - 1 do
		v = bxor(TABLE[band(bxor(v, bytes:get_index(i)), 0xff)], rshift(v, 8))
	end
	return bxor(v, 0xffffffff)
end

local function sum16(range, v)
	local bytes = range:bytes()
	for i = 0, bytes:len() - 2, 2 do
		v = v + bytes:get_index(i) * 256 + bytes:get_index(i + 1)
	end
	return v
end

-- The packet's address, the innermost one if it is in a tunnel
local function address(extractors)
	for _, extractor in ipairs(extractors) do
		local all = { extractor() }
		if #all > 0 then
			return all[#all].range
		end
	end
end

-- Is the checksum of addresses and header right?  nil if there are no addresses
local function checksum_is_right(tvb)
	local src, dst = address(source), address(destination)
	if not src or not dst then
		return nil
	end
	local v = sum16(tvb(0, HEADER), sum16(dst, sum16(src, 0)))
	while v > 0xffff do
		v = band(v, 0xffff) + rshift(v, 16)
	end
	return v == 0xffff
end

-- Transport of DATA, FIN and PROBE: the byte without the bit that tells that the acceptor has
-- answered.
local function transport_of(tvb)
	return band(tvb(24, 1):uint(), 0x7f)
end

local function show_flags(tree, range, kind, transport)
	local v, names = range:uint(), {}
	local lists = { FLAGS, transport == 0 and FLAGS_NDP or transport and FLAGS_OTHERS or {} }
	local item = tree:add(f.flags, range)
	for _, list in ipairs(lists) do
		for _, flag in ipairs(list) do
			if not flag[2] or flag[2][kind] then
				local set = band(v, flag[1]) ~= 0
				item:add(f["flag_" .. flag[3]:lower()], range, set)
					:append_text(" (" .. flag[4] .. ")")
				if set then
					names[#names + 1] = flag[3]
				end
			end
		end
	end
	item:append_text(" " .. table.concat(names, ", "))
	return names
end

local function show_crc(tree, field, range, covered)
	local item = tree:add(field, range)
	local right = crc32c(covered) == range:uint()
	item:append_text(right and " [right]" or " [wrong]")
	if not right then
		item:add_proto_expert_info(e.crc)
	end
	return right
end

-- Payload of DATA.  A packet with less payload than its length field tells was trimmed.
local function show_payload(tvb, tree, len)
	local there = math.max(tvb:reported_length_remaining() - HEADER - CRC, 0)
	local trimmed = there < len
	tree:add(f.trimmed, trimmed):set_generated()
	if trimmed then
		tree:add_proto_expert_info(e.trimmed)
	elseif len > 0 and tvb:len() >= HEADER + CRC + len then
		local payload = tvb(HEADER + CRC, len)
		local made = udp_checksum()
		if tvb(HEADER, CRC):uint() == 0 and made and made.value ~= 0 then
			tree:add(f.crc, tvb(HEADER, CRC)):append_text(" [none: UDP's checksum]")
		else
			local right = show_crc(tree, f.crc, tvb(HEADER, CRC), payload)
			tree:add(f.crc_good, right):set_generated()
		end
		tree:add(f.payload, payload)
	end
	return trimmed
end

local function show_acks(tvb, tree)
	if tvb:len() < HEADER + ACKS then
		return
	end
	tree:add(f.map, tvb(HEADER, 8))
	tree:add(f.first, tvb(HEADER + 8, 4))
	show_crc(tree, f.acks_crc, tvb(HEADER + 12, 4), tvb(HEADER, 12))
end

-- The fields at offsets 22, 24 and 28, which depend on the type
local function show_rest(tvb, tree, kind, flags, acceptor)
	local at22, at24, at28 = tvb(22, 2), tvb(24, 4), tvb(28, 4)
	local text = ""

	if kind == DATA then
		tree:add(f.len, at22)
		text = " Len=" .. at22:uint()
	elseif kind == ACK or kind == NACK or kind == RST then
		tree:add(f.echo, at22)
	elseif kind == SIGNAL then
		tree:add(f.kind, at22)
	elseif kind == COOKIE and not acceptor then
		tree:add(f.transport, at22)
	end
	if kind == DATA or kind == FIN or kind == PROBE then
		tree:add(f.transport, tvb(24, 1), transport_of(tvb))
		if kind ~= PROBE then
			tree:add(f.answered, tvb(24, 1), band(tvb(24, 1):uint(), 0x80) ~= 0)
		end
		tree:add(f.offset, tvb(25, 3))
	elseif kind == ACK or kind == NACK or kind == PULL then
		tree:add(f.counter, at24)
		text = " Counter=" .. at24:uint()
	elseif kind == RST then
		tree:add(f.reason, at24)
		tree:add_proto_expert_info(e.refused)
	elseif kind == SIGNAL then
		tree:add(f.value, at24)
	elseif kind == COOKIE then
		tree:add(f.cookie, tvb(24, 8))
		return text
	end
	if (kind == DATA or kind == FIN) and transport_of(tvb) == 0 and band(flags, 0x40) ~= 0 then
		tree:add(f.cum, at28)
	elseif kind == DATA or kind == FIN then
		tree:add(f.behind, at28)
	else
		tree:add(f.window, at28)
		text = text .. " Win=" .. at28:uint()
	end
	return text
end

local function stream_of(id)
	if not streams[id] then
		streams[id] = count
		count = count + 1
	end
	return streams[id]
end

function ndp.init()
	streams, count = {}, 0
end

function ndp.dissector(tvb, pinfo, root)
	pinfo.cols.protocol = "NDP"
	local tree = root:add(ndp, tvb(0, math.min(tvb:len(), HEADER)))
	if tvb:len() < HEADER then
		tree:add_proto_expert_info(e.short)
		pinfo.cols.info = "[cut within the header]"
		return tvb:len()
	end

	local first, flags = tvb(0, 1), tvb(1, 1)
	local version, kind = rshift(first:uint(), 5), band(first:uint(), 0x0f)
	local acceptor = band(first:uint(), 0x10) ~= 0
	local item = tree:add(f.version, first)
	if version ~= VERSION then
		item:add_proto_expert_info(e.version)
		pinfo.cols.info = "[version " .. version .. "]"
		return tvb:len()
	end
	tree:add(f.acceptor, first)
	item = tree:add(f.type, first)
	if not TYPES[kind] then
		item:add_proto_expert_info(e.type)
	end

	local transport = (kind == DATA or kind == FIN) and transport_of(tvb) or nil
	local names = show_flags(tree, flags, kind, transport)
	item = tree:add(f.check, tvb(2, 2))
	local right = checksum_is_right(tvb)
	if right ~= nil then
		tree:add(f.good, right):set_generated()
	end
	if right == false then
		item:add_proto_expert_info(e.check)
	end
	tree:add(f.sport, tvb(4, 2))
	tree:add(f.dport, tvb(6, 2))
	tree:add(f.id, tvb(8, 8))
	tree:add(f.stream, stream_of(tvb(8, 8):bytes():tohex())):set_generated()
	tree:add(f.psn, tvb(16, 4))
	tree:add(f.path, tvb(20, 2))
	local text = show_rest(tvb, tree, kind, flags:uint(), acceptor)

	local marks = ""
	if kind == DATA and show_payload(tvb, tree, tvb(22, 2):uint()) then
		marks = marks .. " [trimmed]"
	end
	local bounced = band(flags:uint(), 0x20) ~= 0
	tree:add(f.bounced, bounced):set_generated()
	if bounced then
		marks = marks .. " [returned]"
		tree:add_proto_expert_info(e.bounced)
	end
	if band(flags:uint(), 0x10) ~= 0 then
		tree:add_proto_expert_info(e.rtx)
	end
	if kind == ACK and band(flags:uint(), 0x04) ~= 0 then
		show_acks(tvb, tree)
	end

	local said = #names > 0 and " [" .. table.concat(names, ", ") .. "]" or ""
	pinfo.cols.info = string.format("%d → %d %s%s PSN=%d%s Path=%d%s", tvb(4, 2):uint(),
		tvb(6, 2):uint(), TYPES[kind] or "type " .. kind, said, tvb(16, 4):uint(), text,
		tvb(20, 2):uint(), marks)
	tree:append_text(", " .. (TYPES[kind] or "unknown") .. ", PSN " .. tvb(16, 4):uint() .. marks)
	return tvb:len()
end

local ports = DissectorTable.get("udp.port")
local registered = PORT
ports:add(registered, ndp)
function ndp.prefs_changed()
	if ndp.prefs.port ~= registered then
		ports:remove(registered, ndp)
		registered = ndp.prefs.port
		ports:add(registered, ndp)
	end
end
