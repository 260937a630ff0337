import * as api from "./api.js";
import { $, h, icon, onceAFrame, setText } from "./dom.js";
import { Sale, showCode, showEvents, showKeys, showMoment, showVerdict, showWhy } from "./details.js";
import { Matrix } from "./matrix.js";
import { read } from "./model.js";
import { seconds, t, translatePage } from "./strings.js";
import { Timeline } from "./timeline.js";

const state = { catalogue: null, run: null, events: new Map(), model: null, now: null, selected: null, matrix: {}, following: false, requested: null };
const sale = new Sale();
const timeline = new Timeline($("timeline"), select);
let matrix;
let runStream;
let matrixStream;
let keysTimer;
let playing;

const recipeOf = (id) => state.catalogue?.recipes.find((one) => one.id === id);
const faultOf = (id) => state.catalogue?.faults.find((one) => one.id === id);
const cellOf = (recipe, fault) => state.catalogue?.cells.find((cell) => cell.recipe === recipe && cell.fault === fault);
const pair = (run) => t("state.title", { recipe: recipeOf(run.recipe)?.title ?? run.recipe, fault: faultOf(run.fault)?.title ?? run.fault });
const going = () => state.run && state.run.state !== "finished";

// what goes wrong

/** One message at a time, with what can be done about it. */
function trouble(text, ...actions) {
	$("trouble").hidden = !text;
	$("trouble").replaceChildren(...(text ? [icon("bang"), h("p", {}, text), h("div", { class: "actions" }, actions.map(([label, work]) =>
		h("button", { type: "button", class: "quiet", onclick: work }, label)),
	h("button", { type: "button", class: "quiet", onclick: () => trouble("") }, t("trouble.dismiss")))] : []));
}

const failed = (problem) => trouble(problem.status === 0 ? t("trouble.none") : problem.message ?? String(problem));

function showLive(name) {
	$("live").className = "live " + name;
	setText($("live-text"), t("live." + name));
}

// choosing

function choose(recipe, fault) {
	if (recipeOf(recipe)) $("recipe").value = recipe;
	showFaults(fault ?? $("fault").value);
	const cell = cellOf($("recipe").value, $("fault").value);
	$("run").disabled = !cell;
	setText($("theory"), cell ? cell.theory : t("pair.none", { reason: faultOf($("fault").value)?.notApplicable ?? "" }));
	setText($("theory-expects"), cell ? t("expects", { expected: t("verdict." + cell.expected) }) : "");
	$("theory-expects").className = "tag v " + (cell?.expected ?? "");
	setText($("recipe-summary"), recipeOf($("recipe").value)?.summary ?? "");
	setText($("fault-summary"), faultOf($("fault").value)?.summary ?? "");
	showCode(recipeOf($("recipe").value));
	matrix?.mark($("recipe").value + " " + $("fault").value);
}

/** A fault that cannot happen to the recipe is in the list, but cannot be chosen. */
function showFaults(chosen) {
	const recipe = $("recipe").value;
	$("fault").replaceChildren(...state.catalogue.faults.map((fault) =>
		h("option", { value: fault.id, disabled: !cellOf(recipe, fault.id) }, fault.title)));
	const possible = cellOf(recipe, chosen) ? chosen : state.catalogue.faults.find((fault) => cellOf(recipe, fault.id))?.id;
	$("fault").value = possible ?? chosen;
}

function fillLists() {
	const options = (ours) => state.catalogue.recipes.filter((recipe) => Boolean(recipe.ours) === ours).map((recipe) =>
		h("option", { value: recipe.id }, recipe.title));
	$("recipe").replaceChildren(h("optgroup", { label: $("label-published").textContent }, options(false)),
		h("optgroup", { label: "Lockspring" }, options(true)));
	const most = state.catalogue.limits?.shops ?? 4;
	$("shops").replaceChildren(...Array.from({ length: most }, (none, k) => h("option", { value: k + 1, selected: k === 1 }, String(k + 1))));
}

// running

async function run() {
	if (state.requested) return;
	const requested = state.requested = { cancelled: false };
	trouble("");
	showControls();
	try {
		const started = await api.startRun($("recipe").value, $("fault").value, Number($("shops").value));
		state.following = false;
		if (requested.cancelled) await api.cancelRun(started.id);
		watch(started);
	}
	catch (problem) {
		if (problem.status === 429) {
			trouble(problem.message, [t("trouble.watch"), watchLatest], [t("trouble.replace"), replaceRun]);
		}
		else {
			failed(problem);
		}
	}
	state.requested = null;
	showControls();
}

async function watchLatest() {
	trouble("");
	const latest = await latestRun();
	if (latest) open(latest.id);
}

async function latestRun() {
	const answer = await api.latestRuns(1).catch(() => []);
	return (Array.isArray(answer) ? answer : answer.runs ?? [])[0];
}

/** Cancels what is going on, and asks again until the sample is free; a worker may need a moment to end. */
async function replaceRun() {
	await cancel();
	for (let k = 0; k < 20; k++) {
		await run();
		if ($("trouble").hidden) return;
		await new Promise((done) => setTimeout(done, 500));
	}
}

/** Cancels what is going on, of whatever page; a run that is still being requested when its number is known. */
async function cancel() {
	if (state.requested) {
		state.requested.cancelled = true;
		showControls();
		return;
	}
	try {
		if (state.matrix.running) await api.cancelMatrix();
		const latest = await latestRun();
		if (latest && latest.state !== "finished") await api.cancelRun(latest.id);
	}
	catch (problem) {
		failed(problem);
	}
}

/** Opens a run by its number, at one of its moments if that is given. */
async function open(id, i = null) {
	try {
		watch(await api.getRun(id), i);
	}
	catch (problem) {
		if (problem.status === 404) trouble(t("trouble.gone", { run: id }));
		else failed(problem);
	}
}

function watch(run, i = null) {
	runStream?.close();
	stopReplay();
	setNow(null);
	state.run = run;
	state.selected = null;
	state.events = new Map((run.events ?? []).map((event) => [event.i, event]));
	if (recipeOf(run.recipe)) choose(run.recipe, run.fault);
	$("shops").value = String(run.shops);
	drawRun(true);
	if (i !== null && !state.events.has(i) && !going()) trouble(t("trouble.moment", { run: run.id, i }));
	select(state.events.has(i) ? i : null);
	followKeys();
	if (going()) follow(run.id);
}

/** What has come already comes again after a new connection, and is known by its number. */
function follow(id) {
	runStream = api.runStream(id, {
		connection: (name) => name === "live" || refresh(id),
		event: (event) => {
			state.events.set(event.i, event);
			drawSoon();
		},
		sale: (counters) => {
			state.run = { ...state.run, sale: counters };
			drawSoon();
		},
		state: (run) => takeState(run)
	});
}

function takeState(run) {
	if (run.id !== state.run?.id) return;
	const { events, ...rest } = run;
	(events ?? []).forEach((event) => state.events.set(event.i, event));
	state.run = { ...state.run, ...rest };
	if (!going()) {
		runStream?.close();
		followKeys();
	}
	drawSoon();
}

/** The stream has ended: with the run, or because the sample has gone and has perhaps forgotten it. */
async function refresh(id) {
	if (state.run?.id !== id || !going()) return;
	try {
		takeState(await api.getRun(id));
	}
	catch (problem) {
		if (problem.status === 404) {
			runStream?.close();
			forget();
			trouble(t("trouble.gone", { run: id }));
		}
	}
}

function forget() {
	state.run = state.model = null;
	state.events = new Map();
	timeline.clear();
	drawRun(true);
	history.replaceState(null, "", location.pathname);
}

// drawing

const drawSoon = onceAFrame(() => drawRun(false));

function drawRun(fresh) {
	const { run } = state;
	document.body.classList.toggle("empty", !run);
	document.body.classList.toggle("going", Boolean(going()));
	showControls();
	setText($("run-title"), run ? pair(run) : "");
	setText($("run-number"), run ? run.id : "");
	matrix?.mark(undefined, going() ? run.recipe + " " + run.fault : null);
	if (run) {
		state.model = read(run, state.events);
		timeline.show(state.model, fresh);
		$("replay").max = String(state.model.end);
		setText($("timeline-summary"), state.model.lanes.map((lane) => t("lane.summary", lane)).join(". "));
		if ($("events-box").open) showEvents(state.model, select);
	}
	showVerdict(run, state.model?.end ?? 0);
	sale.show(run, state.model, state.now);
	showReplay();
	drawWhy();
}

/** Run, or Cancel from the moment at which a run is requested. */
function showControls() {
	const busy = Boolean(state.requested || going());
	$("cancel").hidden = !busy;
	$("cancel").disabled = Boolean(state.requested?.cancelled);
	$("run").hidden = busy;
}

let whyShown;

function drawWhy() {
	const { run } = state;
	const key = JSON.stringify([run?.id, run?.verdict, $("recipe").value, $("fault").value]);
	if (whyShown !== key) {
		whyShown = key;
		showWhy(run, run ? recipeOf(run.recipe) : null, cellOf($("recipe").value, $("fault").value), (overlap) => {
			const margin = Math.max((overlap.to - overlap.from) * .6, 20);
			timeline.setView(overlap.from - margin, overlap.to + margin);
			if (overlap.events?.length) select(overlap.events.at(-1));
			$("timeline").focus();
		});
	}
}

function select(i) {
	state.selected = i;
	timeline.setSelected(i);
	showMoment(state.run, state.model, i === null ? null : state.events.get(i));
	if (state.run) history.replaceState(null, "", `#run=${encodeURIComponent(state.run.id)}` + (i === null ? "" : `&i=${i}`));
}

async function showRunKeys() {
	const { run } = state;
	try {
		const keys = run ? await api.getKeys(run.id) : null;
		if (run?.id === state.run?.id) showKeys(keys);
	}
	catch (problem) {
		if (problem.status !== 0) showKeys(null);
	}
}

/** Once a second while the run goes on, and once when it is over. */
function followKeys() {
	clearInterval(keysTimer);
	showRunKeys();
	if (going()) keysTimer = setInterval(showRunKeys, 1000);
}

// replay

function setNow(now) {
	state.now = now;
	timeline.setNow(now);
	sale.show(state.run, state.model, now);
	showReplay();
}

function showReplay() {
	const end = state.model?.end ?? 0;
	const at = state.now ?? end;
	$("replay").value = String(at);
	const text = t("replay.value", { at: seconds(at, 2), end: seconds(end, 2) });
	$("replay").setAttribute("aria-valuetext", text);
	setText($("replay-at"), text);
	for (const id of ["replay", "play", "zoom-in", "zoom-out", "zoom-fit"]) $(id).disabled = !state.model || Boolean(going() && id !== "zoom-fit" && !id.startsWith("zoom"));
}

function play() {
	if (playing) {
		stopReplay();
		return;
	}
	let last = performance.now();
	if (state.now === null) setNow(0);
	showPlaying(true);
	const frame = (time) => {
		const now = state.now + (time - last) * Number($("speed").value);
		last = time;
		if (now >= state.model.end) {
			stopReplay();
			setNow(null);
			return;
		}
		const [from, to] = timeline.view;
		if (now > to || now < from) timeline.setView(now, now + to - from);
		setNow(now);
		playing = requestAnimationFrame(frame);
	};
	playing = requestAnimationFrame(frame);
}

function stopReplay() {
	cancelAnimationFrame(playing);
	playing = null;
	showPlaying(false);
}

function showPlaying(on) {
	$("play").replaceChildren(icon(on ? "pause" : "play"), h("span", { class: "sr" }, t(on ? "replay.pause" : "replay.play")));
}

// the matrix

async function takeMatrix(body) {
	const { current, running } = state.matrix;
	state.matrix = body;
	matrix.update(body);
	if (body.running && state.following && body.current && body.current !== state.run?.id) await open(body.current);
	else if (!state.run && !running && body.current && body.current !== current) await open(body.current);
}

async function runMatrix(choice) {
	trouble("");
	try {
		state.following = true;
		await api.startMatrix({ runs: 1, ...choice });
	}
	catch (problem) {
		state.following = false;
		failed(problem);
	}
}

async function chooseCell(recipe, fault, outcome) {
	state.following = false;
	choose(recipe, fault);
	if (outcome?.run) await open(outcome.run);
	else await run();
	$("h-run").scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

/** Open while the page can be seen: a browser has few connections for all its pages of one server. */
function followMatrix() {
	matrixStream?.close();
	matrixStream = null;
	if (document.hidden) return;
	matrixStream = api.matrixStream({
		connection: showLive,
		opened: () => api.getMatrix().then(takeMatrix, () => {}),
		matrix: takeMatrix
	});
}

// the beginning

function place() {
	const values = new URLSearchParams(location.hash.slice(1));
	return { run: values.get("run"), i: values.has("i") ? Number(values.get("i")) : null };
}

function listen() {
	$("controls").addEventListener("submit", (e) => {
		e.preventDefault();
		run();
	});
	$("recipe").addEventListener("change", () => choose($("recipe").value));
	$("fault").addEventListener("change", () => choose($("recipe").value, $("fault").value));
	$("cancel").addEventListener("click", cancel);
	$("matrix-run").addEventListener("click", () => runMatrix({}));
	$("matrix-row").addEventListener("click", () => runMatrix({ recipes: [$("recipe").value] }));
	$("matrix-cancel").addEventListener("click", () => api.cancelMatrix().catch(failed));
	$("play").addEventListener("click", play);
	$("replay").addEventListener("input", () => {
		stopReplay();
		setNow(Number($("replay").value));
	});
	$("zoom-in").addEventListener("click", () => timeline.zoom(1.6));
	$("zoom-out").addEventListener("click", () => timeline.zoom(1 / 1.6));
	$("zoom-fit").addEventListener("click", () => timeline.fit());
	$("legend").addEventListener("change", (e) => timeline.toggle(e.target.name, e.target.checked));
	$("events-box").addEventListener("toggle", () => $("events-box").open && state.model && showEvents(state.model, select));
	$("moment").addEventListener("click", (e) => {
		if (e.target.tagName === "A") {
			e.preventDefault();
			navigator.clipboard?.writeText(e.target.href).then(() => setText(e.target, t("moment.copied")), () => {});
		}
	});
	addEventListener("hashchange", () => {
		const { run, i } = place();
		if (run && run !== state.run?.id) open(run, i);
		else if (run) select(state.events.has(i) ? i : null);
	});
	document.addEventListener("visibilitychange", followMatrix);
}

async function begin() {
	translatePage();
	showPlaying(false);
	sale.show(null, null, null);
	showLive("connecting");
	for (;;) {
		try {
			state.catalogue = await api.catalogue();
			break;
		}
		catch (problem) {
			trouble(problem.status === 0 ? t("trouble.none") : t("trouble.off", { detail: problem.message }));
			showLive("reconnecting");
			await new Promise((done) => setTimeout(done, 1500));
		}
	}
	trouble("");
	document.body.classList.remove("loading");
	fillLists();
	matrix = new Matrix(state.catalogue, chooseCell);
	// the lock of most blog posts, and the fault that no lease survives, if they are there
	const { cells } = state.catalogue;
	const first = cells.find((cell) => cell.recipe === "set-nx-del" && cell.fault === "stopped") ?? cells.find((cell) => cell.expected === "sold-twice") ?? cells[0];
	choose(first?.recipe, first?.fault);
	drawRun(true);
	listen();
	const { run, i } = place();
	if (run) await open(run, i);
	else await watchLatest();
	followMatrix();
}

begin();
