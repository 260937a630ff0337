/** What a run's events mean: holds, bands and sales. Nothing here knows the page. */

export const FAULTS = new Set(["killed", "stopped", "continued", "started", "cut", "healed", "delayed", "promoted", "clock"]);
const HOLD_ENDS = new Set(["released", "lost", "believes"]);
const BANDS = { stopped: ["continued", "killed"], killed: ["started"], cut: ["healed"], delayed: ["healed"] };

/** The group of a type, by which marks are drawn and chosen. */
export function group(type) {
	if (FAULTS.has(type)) return "fault";
	if (type === "sold" || type === "refused") return "sale";
	if (type === "command") return "command";
	if (type === "message" || type === "note") return "message";
	return "lock";
}

/** Reads a run anew from all its events. Those of several processes need not come in the order of their times. */
export function read(run, byNumber) {
	const events = [...byNumber.values()].sort((a, b) => a.at - b.at || a.i - b.i);
	const end = Math.max(run.durationMillis ?? 0, events.at(-1)?.at ?? 0, 1);
	const model = { events, byNumber, lanes: [], end, holds: [], bands: [], sales: [], overlaps: run.verdict?.overlaps ?? [] };
	const lanes = new Map();
	const laneOf = (id) => {
		if (!lanes.has(id)) {
			const lane = { id, kind: "shop", title: id, faults: 0, holds: 0 };
			lanes.set(id, lane);
		}
		return lanes.get(id);
	};
	for (const lane of run.lanes ?? []) {
		lanes.set(lane.id, { ...lane, faults: 0, holds: 0 });
	}
	const holds = new Map();
	const openBands = new Map();
	for (const event of events) {
		const lane = laneOf(event.lane);
		takeHold(model, holds, lane, event);
		takeBand(model, openBands, event);
		if (FAULTS.has(event.type)) lane.faults++;
		if (event.type === "sold" || event.type === "refused") model.sales.push(event);
	}
	for (const hold of model.holds) finish(hold, end);
	for (const band of openBands.values()) band.to = end;
	const used = new Set(events.map((event) => event.lane));
	model.lanes = [...lanes.values()].filter((lane) => lane.kind !== "network" || used.has(lane.id));
	return model;
}

function takeHold(model, holds, lane, event) {
	if (event.type === "acquired") {
		const hold = { id: event.hold ?? "i" + event.i, lane: event.lane, token: event.token, from: event.at, to: null, dead: null,
			i: event.i, leases: [[event.at, leaseEnd(event)]] };
		lane.holds++;
		holds.set(hold.id, hold);
		model.holds.push(hold);
	}
	else if (event.type === "renewed") {
		holds.get(event.hold)?.leases.push([event.at, leaseEnd(event)]);
	}
	else if (HOLD_ENDS.has(event.type)) {
		const hold = holds.get(event.hold);
		if (hold && hold.to === null) {
			hold.to = event.at;
			hold.endType = event.type;
		}
	}
	else if (event.type === "killed") {
		for (const hold of model.holds) {
			if (hold.lane === event.lane && hold.to === null && hold.dead === null) hold.dead = event.at;
		}
	}
}

/** Absolute; a lease counts from the moment at which its request was sent. Infinity where there is none. */
function leaseEnd(event) {
	if (typeof event.leaseEnd === "number") return event.leaseEnd;
	return typeof event.leaseMillis === "number" ? event.at - (event.tookMillis ?? 0) + event.leaseMillis : Infinity;
}

/** Cuts a hold into pieces: held, over (its lease has ended), dead (its process has). */
function finish(hold, end) {
	hold.open = hold.to === null;
	const last = hold.open ? end : hold.to;
	const alive = Math.min(hold.dead ?? last, last);
	hold.end = last;
	hold.pieces = [];
	const piece = (kind, from, to) => {
		if (to > from) hold.pieces.push({ kind, from, to });
	};
	hold.leases.forEach(([from, until], k) => {
		const next = Math.min(hold.leases[k + 1]?.[0] ?? alive, alive);
		piece("held", from, Math.min(until, next));
		piece("over", Math.max(from, until), next);
	});
	piece("dead", alive, last);
	if (!hold.pieces.length) hold.pieces.push({ kind: "held", from: hold.from, to: last });
}

function takeBand(model, open, event) {
	for (const [key, band] of open) {
		if (band.lane === event.lane && BANDS[band.type].includes(event.type)) {
			band.to = event.at;
			open.delete(key);
		}
	}
	if (BANDS[event.type]) {
		const band = { type: event.type, lane: event.lane, from: event.at, to: event.at, i: event.i };
		open.set(event.lane + event.type, band);
		model.bands.push(band);
	}
}

/** The counters and the seats as they were at a moment. */
export function saleAt(model, seats, at) {
	const bySeat = new Map();
	let [sold, refused] = [0, 0];
	for (const event of model.sales) {
		if (event.at > at) break;
		if (event.type === "refused") {
			refused++;
			continue;
		}
		sold++;
		bySeat.set(Number(event.seat), (bySeat.get(Number(event.seat)) ?? 0) + 1);
	}
	const soldTwice = [...bySeat.values()].filter((times) => times > 1).length;
	return { seats, sold, soldTwice, refused, bySeat };
}
