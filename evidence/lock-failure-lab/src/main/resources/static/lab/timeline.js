import { h, icon, onceAFrame } from "./dom.js";
import { FAULTS, group } from "./model.js";
import { seconds, t } from "./strings.js";

const BUCKET = 12;
const BESIDE = [[0, -5], [0, 5], [-2, 0], [2, 0], [-2, -5], [2, 5], [-2, 5], [2, -5]];
const PILL = 84;
const SMALL = 4;
const LABEL = 76;
const SHORTEST_VIEW = 2;
const ICONS = { killed: "kill", stopped: "pause", continued: "play", started: "power", cut: "cut", healed: "link", delayed: "clock",
	promoted: "up", clock: "clock" };
// what a mark shows where several events share its place: the one that matters most
const RANK = ["killed", "stopped", "cut", "promoted", "clock", "delayed", "continued", "started", "healed", "lost", "refused", "sold",
	"failed", "acquired", "released", "believes", "renewed", "busy", "asked", "message", "note", "command"];

/**
 * Lanes, bars and marks of a run, drawn for the part of time in view: no more marks than there is room for, so that a
 * frame costs the same with twenty events as with twenty thousand.
 */
export class Timeline {

	/** select(i) is called with the number of an event, or null. */
	constructor(root, select) {
		this.root = root;
		this.select = select;
		this.hidden = new Set();
		this.now = null;
		this.selected = null;
		this.draw = onceAFrame(() => this.render());
		this.tip = h("div", { class: "tl-tip", role: "tooltip", hidden: true });
		this.body = h("div", { class: "tl-body" });
		root.append(this.body, this.tip);
		this.listen();
		new ResizeObserver(() => this.draw()).observe(root);
	}

	/** Shows a run from its beginning to its end, or goes on showing it with more events. */
	show(model, fresh) {
		const follows = !this.view || fresh || (this.view[0] === 0 && this.view[1] >= this.end);
		this.model = model;
		this.events = model.events;
		this.end = model.end;
		if (follows) this.view = [0, model.end];
		this.lanes = this.buildLanes();
		this.draw();
	}

	clear() {
		this.model = this.view = null;
		this.body.replaceChildren();
		this.tip.hidden = true;
	}

	/** The moment up to which the run is shown; null for all of it. */
	setNow(now) {
		this.now = now;
		this.place();
	}

	setSelected(i) {
		this.selected = i;
		const event = this.eventOf(i);
		if (event && (event.at < this.view[0] || event.at > this.view[1])) {
			const half = (this.view[1] - this.view[0]) / 2;
			this.setView(event.at - half, event.at + half);
		}
		this.draw();
	}

	eventOf(i) {
		return this.model?.byNumber.get(i) ?? null;
	}

	toggle(name, shown) {
		this.hidden[shown ? "delete" : "add"](name);
		this.draw();
	}

	zoom(factor, center = this.eventOf(this.selected)?.at ?? (this.view[0] + this.view[1]) / 2) {
		const [from, to] = this.view;
		this.setView(center - (center - from) / factor, center + (to - center) / factor);
	}

	fit() {
		this.setView(0, this.end);
	}

	setView(from, to) {
		if (!this.model) return;
		const span = Math.min(Math.max(to - from, SHORTEST_VIEW), this.end);
		const start = Math.min(Math.max((from + to - span) / 2, 0), this.end - span);
		this.view = [start, start + span];
		this.tip.hidden = true;
		this.draw();
	}

	// drawing

	/** The lanes stay while a run goes on; only what is inside of them is drawn again. */
	buildLanes() {
		const key = this.model.lanes.map((lane) => lane.id + lane.title + (lane.pid ?? "")).join();
		if (this.laneKey === key && this.body.firstChild) return this.lanes;
		this.laneKey = key;
		this.axis = h("div", { class: "tl-axis", "aria-hidden": "true" });
		this.overlay = h("div", { class: "tl-overlay", "aria-hidden": "true" });
		const lanes = new Map();
		const rows = this.model.lanes.map((lane) => {
			const track = h("div", { class: "tl-track" });
			lanes.set(lane.id, track);
			return h("div", { class: "tl-lane " + lane.kind, "data-lane": lane.id },
				h("div", { class: "tl-name" }, h("strong", {}, lane.title), lane.pid ? h("span", {}, t("lane.pid", { pid: lane.pid })) : null),
				track);
		});
		this.body.replaceChildren(h("div", { class: "tl-lane tl-head" }, h("div", { class: "tl-name" }), this.axis), ...rows, this.overlay);
		return lanes;
	}

	x(at) {
		return (at - this.view[0]) * this.scale;
	}

	render() {
		if (!this.model) return;
		this.width = this.axis.clientWidth;
		if (!this.width) return;
		this.scale = this.width / (this.view[1] - this.view[0]);
		const content = new Map([...this.lanes.keys()].map((id) => [id, []]));
		this.renderBands(content);
		if (!this.hidden.has("lock")) this.renderBars(content);
		this.renderMarks(content);
		for (const [id, parts] of content) {
			this.lanes.get(id).innerHTML = parts.join("");
		}
		this.renderAxis();
		this.renderOverlay();
		this.place();
	}

	renderAxis() {
		const step = niceStep((this.view[1] - this.view[0]) / Math.max(this.width / 90, 2));
		const digits = Math.max(0, Math.ceil(-Math.log10(step / 1000) - 1e-9));
		let out = "";
		for (let at = Math.ceil(this.view[0] / step) * step; at <= this.view[1]; at += step) {
			out += `<i style="left:${px(this.x(at))}">${esc(seconds(at, digits))}</i>`;
		}
		this.axis.innerHTML = out;
	}

	renderBands(content) {
		for (const band of this.model.bands) {
			const [left, width] = this.span(band.from, band.to);
			if (width > 0) {
				// where the mark of its beginning is out of view
				const label = band.from < this.view[0] && width > 70 ? esc(t("band." + band.type)) : "";
				content.get(band.lane).push(`<span class="tl-band ${band.type}" style="left:${px(left)};width:${px(width)}">${label}</span>`);
			}
		}
	}

	renderBars(content) {
		const small = new Map();
		for (const hold of this.model.holds) {
			const [left, width] = this.span(hold.from, hold.end);
			if (width <= 0) continue;
			const before = small.get(hold.lane);
			if (width < SMALL && before && left - before.right < SMALL && hold.pieces.length === 1) {
				before.right = left + width;
				before.count++;
				continue;
			}
			if (before) content.get(hold.lane).push(this.bar(before));
			small.set(hold.lane, { hold, left, right: left + width, count: 1 });
		}
		for (const [lane, bar] of small) content.get(lane).push(this.bar(bar));
		this.renderBoth(content);
	}

	/** A bar, or several that are too short to be told apart. */
	bar({ hold, left, right, count }) {
		const width = right - left;
		const one = hold.pieces.length === 1 && hold.pieces[0].kind === "held";
		const pieces = one ? "" : hold.pieces.map((piece) => this.piece(piece, left)).join("");
		const token = count > 1 ? "" : String(hold.token ?? "");
		const label = token && width > 46 + 8 * token.length ? t("bar.token", { token }) : width > 12 + 8 * token.length ? token : "";
		return `<span class="tl-bar${one ? " held" : ""}${hold.open ? " open" : ""}${count > 1 ? " many" : ""}" data-hold="${esc(hold.id)}" data-i="${hold.i}" `
			+ `style="left:${px(left)};width:${px(Math.max(width, 3))}">${pieces}${label && `<b>${esc(label)}</b>`}</span>`;
	}

	piece({ kind, from, to }, start) {
		const [left, width] = this.span(from, to);
		const label = kind === "dead" && width > 120 ? esc(t("bar.stillSet")) : "";
		return width > 0 ? `<i class="${kind}" style="left:${px(left - start)};width:${px(width)}">${label}</i>` : "";
	}

	renderBoth(content) {
		for (const overlap of this.model.overlaps) {
			const [left, width] = this.span(overlap.from, overlap.to);
			for (const lane of overlap.holders) {
				if (width > 0) content.get(lane)?.push(`<span class="tl-both" style="left:${px(left)};width:${px(Math.max(width, 4))}"></span>`);
			}
		}
	}

	/** Marks that would lie on each other become one, with the number of events that it stands for. */
	renderMarks(content) {
		const last = new Map();
		const marks = [];
		const database = this.model.lanes.find((lane) => lane.kind === "database")?.id;
		for (const event of this.events) {
			if (event.at < this.view[0] || event.at > this.view[1]) continue;
			const kind = group(event.type);
			if (this.hidden.has(kind)) continue;
			this.mark(marks, last, event, event.lane, kind);
			const other = event.to ?? (kind === "sale" ? database : null);
			if (other && other !== event.lane && this.lanes.has(other)) this.mark(marks, last, event, other, kind);
		}
		for (const mark of marks) {
			content.get(mark.lane).push(mark.kind === "fault" ? this.faultMark(mark) : this.plainMark(mark));
		}
	}

	mark(marks, last, event, lane, kind) {
		const x = this.x(event.at);
		const before = last.get(lane + kind);
		if (before && x - before.x < (kind === "fault" ? PILL : BUCKET)) {
			before.events.push(event);
			if (event.i === this.selected || (before.best.i !== this.selected && RANK.indexOf(event.type) < RANK.indexOf(before.best.type))) {
				before.best = event;
			}
			return;
		}
		const mark = { lane, kind, x, best: event, events: [event] };
		marks.push(mark);
		last.set(lane + kind, mark);
	}

	plainMark(mark) {
		return `<span class="tl-mark ${mark.kind} ${mark.best.type}${mark.events.length > 1 ? " many" : ""}${this.attributes(mark)}</span>`;
	}

	faultMark(mark) {
		const { type } = mark.best;
		const more = mark.events.length > 1 ? " +" + (mark.events.length - 1) : "";
		return `<span class="tl-fault ${type}${mark.x > this.width - LABEL ? " edge" : ""}${this.attributes(mark)}`
			+ `<svg class="icon"><use href="#i-${ICONS[type]}"/></svg><b>${esc(t("short." + type) + more)}</b></span>`;
	}

	/** The end of a mark's classes, and its other attributes. */
	attributes({ best, events, x }) {
		const selected = events.some((event) => event.i === this.selected) ? " selected" : "";
		const all = events.length > 1 ? ` data-all="${events.slice(0, 40).map((event) => event.i).join()}"` : "";
		return `${selected}" data-i="${best.i}"${all} style="left:${px(x)}">`;
	}

	renderOverlay() {
		let free = 0;
		const parts = this.clashes().map(({ left, right, count }) => {
			const middle = (left + right) / 2;
			const label = middle - LABEL / 2 >= free ? `<b>${esc(t("overlap.label", { count }))}</b>` : "";
			if (label) free = middle + LABEL / 2;
			return `<span class="tl-clash" style="left:${px(left)};width:${px(Math.max(right - left, 4))}">${label}</span>`;
		});
		const event = this.eventOf(this.selected);
		if (event && event.at >= this.view[0] && event.at <= this.view[1]) {
			parts.push(`<span class="tl-moment" style="left:${px(this.x(event.at))}"></span>`);
		}
		this.overlay.innerHTML = parts.join("") + `<span class="tl-cover" hidden></span><span class="tl-now" hidden></span>`;
		[this.cover, this.line] = [this.overlay.querySelector(".tl-cover"), this.overlay.querySelector(".tl-now")];
	}

	/** Overlaps in pixels; those that almost touch are one. */
	clashes() {
		const clashes = [];
		for (const overlap of this.model.overlaps) {
			const [left, width] = this.span(overlap.from, overlap.to);
			const last = clashes.at(-1);
			const count = new Set(overlap.holders).size;
			if (width > 0 && last && left - last.right < BUCKET) {
				last.right = Math.max(last.right, left + width);
				last.count = Math.max(last.count, count);
			}
			else if (width > 0) {
				clashes.push({ left, right: left + width, count });
			}
		}
		return clashes;
	}

	/** Replay moves this alone. */
	place() {
		if (!this.cover) return;
		const shown = this.now !== null && this.now < this.end;
		this.cover.hidden = this.line.hidden = !shown;
		if (shown) {
			const x = Math.min(Math.max(this.x(this.now), 0), this.width);
			this.cover.style.transform = this.line.style.transform = `translateX(${px(x)})`;
		}
	}

	/** Left and width of a stretch of time in pixels, cut at the borders of the view. */
	span(from, to) {
		const left = Math.max(this.x(from), -4);
		return [left, Math.min(this.x(to), this.width + 4) - left];
	}

	// pointing

	listen() {
		this.root.addEventListener("pointermove", (e) => this.point(e));
		this.root.addEventListener("pointerleave", () => this.tip.hidden = true);
		this.root.addEventListener("click", (e) => {
			const mark = this.markAt(e);
			if (mark && !this.dragged) this.select(Number(mark.dataset.i));
		});
		this.root.addEventListener("wheel", (e) => {
			if (!this.model) return;
			if (e.ctrlKey || e.metaKey) {
				e.preventDefault();
				this.zoom(Math.exp(-e.deltaY / 300), this.timeAt(e.clientX));
			}
			else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
				e.preventDefault();
				this.pan((e.deltaX || e.deltaY) / this.scale);
			}
		}, { passive: false });
		this.root.addEventListener("keydown", (e) => this.key(e));
		this.root.addEventListener("pointerdown", (e) => this.drag(e));
	}

	key(e) {
		if (!this.model || e.ctrlKey || e.metaKey || e.altKey) return;
		const keys = { ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowDown: () => this.step(1, true), ArrowUp: () => this.step(-1, true),
			Home: () => this.select(this.events[0]?.i ?? null), End: () => this.select(this.events.at(-1)?.i ?? null),
			"+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.fit(), Escape: () => this.select(null) };
		if (keys[e.key]) {
			e.preventDefault();
			keys[e.key]();
		}
	}

	/** The next event of any lane, or the next one of this lane. */
	step(direction, sameLane) {
		const shown = (event) => event && !this.hidden.has(group(event.type));
		const from = this.eventOf(this.selected);
		let k = from ? this.events.indexOf(from) : direction > 0 ? -1 : this.events.length;
		do {
			k += direction;
		} while (this.events[k] && (!shown(this.events[k]) || (sameLane && from && this.events[k].lane !== from.lane)));
		if (this.events[k]) this.select(this.events[k].i);
	}

	timeAt(clientX) {
		return this.view[0] + (clientX - this.axis.getBoundingClientRect().left) / this.scale;
	}

	pan(millis) {
		const span = this.view[1] - this.view[0];
		const start = Math.min(Math.max(this.view[0] + millis, 0), this.end - span);
		this.setView(start, start + span);
	}

	drag(e) {
		if (!this.model || e.button !== 0 || !e.target.closest(".tl-track, .tl-axis")) return;
		let last = e.clientX;
		this.dragged = false;
		const move = (m) => {
			if (Math.abs(m.clientX - e.clientX) > 4) this.dragged = true;
			if (this.dragged) this.pan((last - m.clientX) / this.scale);
			last = m.clientX;
		};
		addEventListener("pointermove", move);
		addEventListener("pointerup", () => removeEventListener("pointermove", move), { once: true });
		addEventListener("pointercancel", () => removeEventListener("pointermove", move), { once: true });
	}

	/** A mark is small, so it counts from a few pixels beside it. Boxes for that would double what each frame draws. */
	markAt(e) {
		const under = e.target.closest("[data-i]");
		if (under || !e.target.closest(".tl-track")) return under;
		return BESIDE.map(([x, y]) => document.elementFromPoint(e.clientX + x, e.clientY + y)?.closest(".tl-mark[data-i]")).find(Boolean);
	}

	point(e) {
		const mark = this.model && this.markAt(e);
		if (!mark) {
			this.tip.hidden = true;
			return;
		}
		if (this.tip.hidden || this.tipFor !== mark) {
			this.tipFor = mark;
			const numbers = mark.dataset.all ? mark.dataset.all.split(",").map(Number) : [Number(mark.dataset.i)];
			this.tip.replaceChildren(...(mark.dataset.hold ? this.tellHold(mark.dataset.hold) : numbers.slice(0, 6).map((i) => this.tell(this.eventOf(i)))),
				numbers.length > 6 ? h("p", { class: "more" }, "+ " + (numbers.length - 6)) : "");
			this.tip.hidden = false;
		}
		const box = this.root.getBoundingClientRect();
		const x = Math.min(Math.max(e.clientX - box.left + 14, 0), box.width - this.tip.offsetWidth - 4);
		this.tip.style.transform = `translate(${px(Math.max(x, 0))},${px(e.clientY - box.top + 18)})`;
	}

	tell(event) {
		return h("div", {}, h("p", {}, h("strong", {}, seconds(event.at)), ` ${this.title(event.lane)} ${sentence(event)}`),
			event.command ? h("code", {}, event.command) : null,
			event.answer !== undefined && event.answer !== null ? h("code", { class: "answer" }, "→ " + event.answer) : null,
			event.text ? h("p", {}, event.text) : null);
	}

	tellHold(id) {
		const hold = this.model.holds.find((one) => one.id === id);
		const lane = this.title(hold.lane);
		const over = hold.pieces.find((piece) => piece.kind === "over");
		return [h("div", {}, h("p", {}, hold.open ? t("bar.open", { lane, from: seconds(hold.from) })
			: t("bar.hold", { lane, from: seconds(hold.from), to: seconds(hold.to) })),
		over ? h("p", {}, t("bar.over", { from: seconds(over.from) })) : null,
		hold.dead !== null ? h("p", {}, t("bar.dead")) : null)];
	}

	title(lane) {
		return this.model.lanes.find((one) => one.id === lane)?.title ?? lane;
	}

}

/** "acquires the lock", "sells seat 12". */
export function sentence(event) {
	return t("event." + event.type, { seat: event.seat ?? "" });
}

export function markIcon(type) {
	return FAULTS.has(type) ? icon(ICONS[type]) : h("span", { class: `tl-mark ${group(type)} ${type}`, "aria-hidden": "true" });
}

const px = (value) => value.toFixed(1) + "px";

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const esc = (text) => String(text).replace(/[&<>"]/g, (character) => ESCAPES[character]);

function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least);
}
