import { $, h, icon, setText } from "./dom.js";
import { saleAt } from "./model.js";
import { seconds, t } from "./strings.js";
import { markIcon, sentence } from "./timeline.js";
import { VERDICTS, verdictText } from "./matrix.js";

/** The verdict, in one banner that is read aloud when it changes. */
export function showVerdict(run, elapsed) {
	const banner = $("verdict");
	const verdict = run?.verdict;
	const code = verdict?.code;
	banner.className = "verdict v " + (code ?? (run && run.state !== "finished" ? "going" : "idle"));
	banner.querySelector(".sign").replaceChildren(icon(code ? VERDICTS[code] : run ? "hourglass" : "play"));
	setText($("verdict-text"), code ? verdictText(code, verdict.stuckSeconds) : t("state." + (run?.state === "running" ? "running" : run ? "starting" : "idle"),
		{ seconds: Math.floor(elapsed / 1000) }));
	const most = code === "safe" ? "" : verdict?.why?.[0] ?? "";
	setText($("verdict-tell"), code ? `${t("tell." + code)} ${most}`.trim() : run ? "" : t("state.hint"));
	setText($("verdict-expected"), verdict?.expected ? t(verdict.asExpected ? "expected.same" : "expected.other",
		{ expected: t("verdict." + verdict.expected) }) : "");
	$("verdict-expected").className = "expected" + (verdict && verdict.asExpected === false ? " otherwise" : "");
}

/** The counters and seats of the sale as they were at a moment; null for the end, as the server counts it. */
export class Sale {

	constructor() {
		this.seats = [];
	}

	show(run, model, now) {
		const seats = run?.sale?.seats ?? 100;
		this.build(seats);
		const then = model ? saleAt(model, seats, now ?? Infinity) : { sold: 0, soldTwice: 0, refused: 0, bySeat: new Map() };
		const told = now === null && run?.state === "finished" ? { ...then, ...run.sale } : then;
		for (const name of ["sold", "soldTwice", "refused"]) setText($("sale-" + name), String(told[name] ?? 0));
		setText($("sale-waiting"), now === null && run?.sale ? String(run.sale.waiting ?? 0) : "–");
		$("sale-twice-box").classList.toggle("bad", told.soldTwice > 0);
		this.seats.forEach((seat, k) => {
			const times = then.bySeat.get(k + 1) ?? 0;
			const kind = times > 1 ? "twice" : times ? "sold" : "";
			if (seat.className !== kind) {
				seat.className = kind;
				seat.textContent = times > 1 ? String(times) : "";
			}
		});
		$("seats").setAttribute("aria-label", t("sale.seats", { sold: told.sold ?? 0, seats, twice: told.soldTwice ?? 0 }));
	}

	build(count) {
		if (this.seats.length !== count) {
			this.seats = Array.from({ length: count }, (none, k) => h("i", { title: t("sale.seat", { seat: k + 1 }) }));
			$("seats").replaceChildren(...this.seats);
		}
	}

}

/** One event with all that is known of it. */
export function showMoment(run, model, event) {
	const box = $("moment");
	if (!event) {
		box.replaceChildren(h("p", { class: "hint" }, t("moment.none")));
		return;
	}
	const lane = model.lanes.find((one) => one.id === event.lane);
	const to = model.lanes.find((one) => one.id === event.to);
	const facts = [
		event.tookMillis !== undefined ? t("event.took", { millis: event.tookMillis }) : null,
		event.token !== undefined ? t("event.token", { token: event.token }) : null,
		event.leaseEnd !== undefined ? t("event.lease", { at: seconds(event.leaseEnd) }) : null,
		event.order ? t("event.order", { order: event.order }) : null,
		to ? "→ " + to.title : null
	].filter(Boolean);
	box.replaceChildren(
		h("p", { class: "what" }, markIcon(event.type), h("strong", {}, seconds(event.at)), ` ${lane?.title ?? event.lane} ${sentence(event)}`),
		...commandOf(event),
		event.text ? h("p", {}, event.text) : "",
		facts.length ? h("p", { class: "hint" }, facts.join(" · ")) : "",
		h("p", {}, h("a", { href: `#run=${encodeURIComponent(run.id)}&i=${event.i}` }, t("moment.link"))));
}

function commandOf(event) {
	return event.command ? [h("p", {}, h("code", {}, event.command), hasAnswer(event) ? h("code", { class: "answer" }, " → " + event.answer) : null)] : [];
}

const hasAnswer = (event) => event.answer !== undefined && event.answer !== null;

/** Why it went so: sentences, where holders overlap, the row of failures.md, the source, the rule. */
export async function showWhy(run, recipe, cell, jump) {
	const box = $("why");
	const verdict = run?.verdict;
	if (!verdict) {
		box.replaceChildren(cell ? h("p", {}, cell.theory) : "", h("p", { class: "hint" }, t("why.none")));
		return;
	}
	const names = new Map((run.lanes ?? []).map((lane) => [lane.id, lane.title]));
	const overlaps = (verdict.overlaps ?? []).map((overlap) => h("li", {}, h("button", { type: "button", class: "quiet clash", onclick: () => jump(overlap) }, icon("two"),
		t("overlap.show", { holders: [...new Set(overlap.holders)].map((id) => names.get(id) ?? id).join(" + "),
			millis: Math.round(overlap.to - overlap.from), from: seconds(overlap.from) }))));
	const row = verdict.failure ? await failureRow(verdict.failure) : null;
	box.replaceChildren(
		h("div", { class: "sentences" }, (verdict.why ?? []).map((sentence) => h("p", {}, sentence))),
		overlaps.length ? h("ul", { class: "clashes" }, overlaps) : "",
		h("dl", {},
			row ? [h("dt", {}, t("why.failure", { failure: verdict.failure })), h("dd", {}, row.what), h("dt", {}, t("why.remedy")), h("dd", {}, row.remedy, " ", h("a", { href: "docs/understand/failures.md" }, t("why.read")))]
				: verdict.failure ? [h("dt", {}, t("why.failure", { failure: verdict.failure })), h("dd", {}, h("a", { href: "docs/understand/failures.md" }, "docs/understand/failures.md"))] : [],
			verdict.rule ? [h("dt", {}, t("why.rule")), h("dd", {}, verdict.rule.url ? h("a", { href: verdict.rule.url }, verdict.rule.text) : verdict.rule.text)] : [],
			recipe?.source ? [h("dt", {}, t("why.source")), h("dd", {}, h("a", { href: recipe.source.url, rel: "noreferrer" }, recipe.source.title))] : []));
}

let failures;

/** What docs/understand/failures.md says in the row of a failure; the build puts that file beside the page. */
async function failureRow(id) {
	failures ??= fetch("docs/understand/failures.md").then((response) => response.ok ? response.text() : "").catch(() => "");
	const line = (await failures).split("\n").find((one) => one.startsWith("| <a id=\"" + id.toLowerCase() + "\">"));
	if (!line) return null;
	const cells = line.replace(/ \|$/, "").split(" | ").map((cell) => cell.replace(/`|\[([^\]]*)\]\([^)]*\)/g, "$1"));
	return { what: cells[1] + ".", remedy: cells[3] + "." };
}

/** What the lock has on the servers, with a sentence on each key. */
export function showKeys(keys) {
	const box = $("keys");
	if (!keys) {
		box.replaceChildren(h("p", { class: "hint" }, t("keys.none")));
		return;
	}
	box.replaceChildren(...(keys.servers ?? []).map(showServer),
		keys.script ? h("div", {}, h("h3", {}, t("keys.script")), h("pre", { tabindex: "0" }, h("code", {}, keys.script))) : "");
}

function showServer(server) {
	const head = h("h3", {}, server.title ?? server.id, " ", h("span", { class: "tag " + (server.up ? "up" : "down") }, t(server.up ? "keys.up" : "keys.down")));
	const keys = server.keys ?? [];
	if (!keys.length) {
		return h("div", {}, head, server.up ? h("p", { class: "hint" }, t("keys.empty")) : null);
	}
	const ttl = (key) => key.ttlMillis === null || key.ttlMillis === undefined || key.ttlMillis < 0 ? t("keys.forever") : `${Math.round(key.ttlMillis)} ms`;
	return h("div", {}, head, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("keys.caption", { server: server.id }) },
		h("table", { class: "keys" }, h("caption", { class: "sr" }, t("keys.caption", { server: server.id })),
			h("thead", {}, h("tr", {}, ["key", "value", "ttl", "meaning"].map((name) => h("th", { scope: "col" }, t("keys." + name))))),
			h("tbody", {}, keys.map((key) => h("tr", {}, h("td", {}, h("code", {}, key.key), " ", h("span", { class: "tag" }, key.type)),
				h("td", {}, h("code", {}, key.value)), h("td", {}, ttl(key)), h("td", {}, key.meaning)))))));
}

/** The recipe's class, with the colours that make Java readable. */
export function showCode(recipe) {
	const code = $("code");
	setText($("code-title"), recipe?.title ?? "");
	const text = recipe?.code ?? "";
	const parts = [];
	const pattern = /(\/\*[\s\S]*?\*\/|\/\/[^\n]*)|("(?:[^"\\]|\\.)*")|\b(package|import|public|private|protected|static|final|class|record|enum|interface|implements|extends|new|return|if|else|for|while|do|try|catch|finally|throw|throws|void|boolean|int|long|String|this|null|true|false|switch|case|default|var|synchronized|volatile|instanceof)\b|(@\w+)/g;
	let last = 0;
	for (const match of text.matchAll(pattern)) {
		parts.push(text.slice(last, match.index), h("span", { class: match[1] ? "c" : match[2] ? "s" : match[3] ? "k" : "a" }, match[0]));
		last = match.index + match[0].length;
	}
	code.replaceChildren(...parts, text.slice(last));
}

/** All events as a table, drawn when it is opened: what the timeline shows to the eye. */
export function showEvents(model, select) {
	const rows = model.events.map((event) => h("tr", { "data-row": event.i },
		h("td", {}, h("button", { type: "button", class: "plain", title: t("event.row"), onclick: () => select(event.i) }, seconds(event.at))),
		h("td", {}, model.lanes.find((lane) => lane.id === event.lane)?.title ?? event.lane),
		h("td", {}, sentence(event), event.text ? ": " + event.text : ""),
		h("td", {}, commandOf(event))));
	$("events").tBodies[0].replaceChildren(...rows);
}
