/** The lab's HTTP interface. Each call gives its body, or throws a Problem with a sentence that can be shown. */
const base = "lab/api";
let token = "";

export class Problem extends Error {
	constructor(status, detail) {
		super(detail);
		this.status = status;
	}
}

async function call(method, path, body) {
	let response;
	try {
		response = await fetch(base + path, {
			method,
			cache: "no-store",
			headers: { "X-Page-Token": token, ...(body ? { "Content-Type": "application/json" } : {}) },
			body: body ? JSON.stringify(body) : undefined
		});
	}
	catch (e) {
		throw new Problem(0, "");
	}
	const answer = await response.json().catch(() => ({}));
	if (!response.ok) {
		throw new Problem(response.status, answer.detail ?? answer.error ?? `HTTP ${response.status}`);
	}
	return answer;
}

/** A sample that was restarted has another token: fetches it, and tries once more. */
async function write(method, path, body) {
	try {
		return await call(method, path, body);
	}
	catch (problem) {
		if (problem.status !== 401 && problem.status !== 403) {
			throw problem;
		}
		const before = token;
		await catalogue();
		if (token === before) {
			throw problem;
		}
		return await call(method, path, body);
	}
}

export async function catalogue() {
	const answer = await call("GET", "/catalogue");
	token = answer.token;
	return answer;
}

const id = (run) => "/runs/" + encodeURIComponent(run);

export const latestRuns = (limit) => call("GET", "/runs?limit=" + limit);
export const getRun = (run) => call("GET", id(run));
export const getKeys = (run) => call("GET", id(run) + "/keys");
export const startRun = (recipe, fault, shops) => write("POST", "/runs", { recipe, fault, shops });
export const cancelRun = (run) => write("DELETE", id(run));
export const getMatrix = () => call("GET", "/matrix");
export const startMatrix = (choice) => write("POST", "/matrix", choice);
export const cancelMatrix = () => write("DELETE", "/matrix");

export const runStream = (run, handlers) => stream(id(run) + "/events", handlers);
export const matrixStream = (handlers) => stream("/matrix/events", handlers);

/**
 * Server-sent events that are asked for again until close() is called, whatever the server or the network does.
 * opened() comes with every connection, so that what was missed can be fetched; connection() with live or reconnecting.
 */
function stream(path, { opened = () => {}, connection = () => {}, ...events }) {
	let source;
	let timer;
	let wait = 500;
	function open() {
		source = new EventSource(base + path);
		source.addEventListener("open", () => {
			wait = 500;
			connection("live");
			opened();
		});
		source.addEventListener("error", () => {
			source.close();
			connection("reconnecting");
			timer = setTimeout(open, wait);
			wait = Math.min(wait * 2, 4000);
		});
		for (const [name, handler] of Object.entries(events)) {
			source.addEventListener(name, (message) => handler(JSON.parse(message.data)));
		}
	}
	open();
	return {
		close() {
			clearTimeout(timer);
			source.close();
		}
	};
}
