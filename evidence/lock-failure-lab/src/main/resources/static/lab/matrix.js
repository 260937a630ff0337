import { $, h, icon, setText } from "./dom.js";
import { t } from "./strings.js";

export const VERDICTS = { safe: "check", "two-holders": "two", "sold-twice": "double", stuck: "hourglass", refused: "shield", unavailable: "off",
	failed: "bang", cancelled: "minus" };

/** A verdict in words; a duration where it is stuck. */
export function verdictText(code, stuckSeconds) {
	return code === "stuck" && stuckSeconds ? t("verdict.stuckFor", { seconds: Number(stuckSeconds).toFixed(1) }) : t("verdict." + (code ?? "none"));
}

/** Recipes by faults: a table whose cells are buttons, one of which can be reached with Tab, and the others with the arrow keys. */
export class Matrix {

	constructor(catalogue, choose) {
		this.catalogue = catalogue;
		this.choose = choose;
		this.buttons = new Map();
		this.outcomes = new Map();
		this.build();
	}

	key(recipe, fault) {
		return recipe + " " + fault;
	}

	cell(recipe, fault) {
		return this.catalogue.cells.find((cell) => cell.recipe === recipe && cell.fault === fault);
	}

	build() {
		const { recipes, faults } = this.catalogue;
		const head = h("tr", {}, h("th", { scope: "col" }, t("matrix.corner")),
			faults.map((fault) => h("th", { scope: "col", title: fault.summary }, h("span", {}, fault.title))));
		const rows = recipes.map((recipe) => h("tr", { class: recipe.ours ? "ours" : null },
			h("th", { scope: "row", title: recipe.summary }, recipe.title, recipe.ours ? h("span", { class: "tag" }, t("matrix.ours")) : null),
			faults.map((fault) => this.buildCell(recipe, fault))));
		const table = $("matrix");
		table.replaceChildren(h("caption", { class: "sr" }, $("h-matrix").textContent), h("thead", {}, head), h("tbody", {}, rows));
		table.addEventListener("keydown", (e) => this.move(e));
		table.addEventListener("focusin", (e) => this.rove(e.target));
		this.rove([...this.buttons.values()][0]);
	}

	buildCell(recipe, fault) {
		const cell = this.cell(recipe.id, fault.id);
		if (!cell) {
			return h("td", { class: "none", title: fault.notApplicable ?? t("matrix.dash") }, h("span", { "aria-hidden": "true" }, "–"),
				h("span", { class: "sr" }, t("matrix.dash")));
		}
		const button = h("button", { type: "button", tabindex: "-1", onclick: () => this.choose(recipe.id, fault.id, this.outcomes.get(this.key(recipe.id, fault.id))) });
		this.buttons.set(this.key(recipe.id, fault.id), button);
		this.fill(button, recipe, fault, cell);
		return h("td", {}, button);
	}

	fill(button, recipe, fault, cell, outcome) {
		const code = outcome?.code;
		const expected = t("verdict." + cell.expected);
		const words = [code ? verdictText(code, outcome.stuckSeconds) : t("matrix.notRun", { expected })];
		if (outcome && outcome.asExpected === false) words.push(t("matrix.otherwise", { expected }));
		if (outcome && outcome.runs > 1) words.push(t("matrix.of", { same: outcome.asExpectedRuns, runs: outcome.runs }));
		button.className = "v " + (code ?? "unknown " + cell.expected) + (outcome && outcome.asExpected === false ? " otherwise" : "");
		button.setAttribute("aria-label", t("matrix.cell", { recipe: recipe.title, fault: fault.title, verdict: words.join("; ") }));
		button.title = words.join("; ");
		button.replaceChildren(icon(VERDICTS[code ?? cell.expected]), h("span", {}, code === "stuck" && outcome.stuckSeconds
			? `${t("verdict.stuck")} ${t("unit.s", { seconds: Number(outcome.stuckSeconds).toFixed(1) })}` : t("verdict." + (code ?? cell.expected))));
		if (outcome && outcome.runs > 1) button.append(h("small", {}, `${outcome.asExpectedRuns}/${outcome.runs}`));
	}

	/** Takes the state of the matrix as the server tells it. */
	update(state) {
		const { recipes, faults } = this.catalogue;
		const told = new Set((state.cells ?? []).map((outcome) => this.key(outcome.recipe, outcome.fault)));
		if ([...this.outcomes.keys()].some((key) => !told.has(key))) this.reset();
		for (const outcome of state.cells ?? []) {
			const key = this.key(outcome.recipe, outcome.fault);
			const button = this.buttons.get(key);
			if (button && JSON.stringify(this.outcomes.get(key)) !== JSON.stringify(outcome)) {
				this.outcomes.set(key, outcome);
				this.fill(button, recipes.find((one) => one.id === outcome.recipe), faults.find((one) => one.id === outcome.fault),
					this.cell(outcome.recipe, outcome.fault), outcome);
				this.mark();
			}
		}
		this.progress(state);
	}

	/** A sample that was restarted knows nothing of the runs before. */
	reset() {
		this.outcomes.clear();
		for (const { id } of this.catalogue.recipes) {
			for (const fault of this.catalogue.faults) {
				const button = this.buttons.get(this.key(id, fault.id));
				if (button) this.fill(button, this.catalogue.recipes.find((one) => one.id === id), fault, this.cell(id, fault.id));
			}
		}
		this.mark();
	}

	progress(state) {
		const bar = $("matrix-bar");
		$("matrix-progress").hidden = $("matrix-cancel").hidden = !state.running;
		$("matrix-run").hidden = $("matrix-row").hidden = state.running;
		bar.max = state.total || 1;
		bar.value = state.done ?? 0;
		if (state.running) {
			setText($("matrix-state"), t("matrix.progressPlain", { done: state.done, total: state.total }));
		}
		else {
			const outcomes = [...this.outcomes.values()].filter((outcome) => outcome.code !== "cancelled");
			setText($("matrix-state"), t("matrix.ran", { run: outcomes.length, cells: this.buttons.size,
				same: outcomes.filter((outcome) => outcome.asExpected).length }));
		}
	}

	/** Marks the cell that is chosen, and the one that is running. */
	mark(chosen = this.chosen, running = this.running) {
		this.chosen = chosen;
		this.running = running;
		for (const [key, button] of this.buttons) {
			button.classList.toggle("chosen", key === chosen);
			button.classList.toggle("running", key === running);
			button.toggleAttribute("aria-current", key === chosen);
		}
	}

	rove(button) {
		if (this.roving) this.roving.tabIndex = -1;
		this.roving = button;
		if (button) button.tabIndex = 0;
	}

	move(e) {
		const td = e.target.closest("td");
		const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
		if (!td || !steps[e.key]) return;
		e.preventDefault();
		const rows = [...$("matrix").tBodies[0].rows];
		let [row, column] = [rows.indexOf(td.parentElement), td.cellIndex];
		do {
			row += steps[e.key][0];
			column += steps[e.key][1];
		} while (rows[row]?.cells[column] && !rows[row].cells[column].querySelector("button"));
		rows[row]?.cells[column]?.querySelector("button")?.focus();
	}

}
