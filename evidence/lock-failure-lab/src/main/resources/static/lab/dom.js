/** Makes an element. Properties that begin with "on" are listeners, all others attributes; null and false leave one out. */
export function h(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false) {
			continue;
		}
		if (name.startsWith("on")) {
			element.addEventListener(name.slice(2), value);
		}
		else {
			element.setAttribute(name, value === true ? "" : value);
		}
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}

export const $ = (id) => document.getElementById(id);

/** One of the symbols at the end of index.html. */
export function icon(name) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	svg.setAttribute("class", "icon");
	svg.setAttribute("aria-hidden", "true");
	const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
	use.setAttribute("href", "#i-" + name);
	svg.append(use);
	return svg;
}

/** Changes a text only where it is another one, so that a screen reader does not repeat it. */
export function setText(element, text) {
	if (element.textContent !== text) {
		element.textContent = text;
	}
}

/** Calls at most once a frame. */
export function onceAFrame(work) {
	let asked = false;
	return () => {
		if (!asked) {
			asked = true;
			requestAnimationFrame(() => {
				asked = false;
				work();
			});
		}
	};
}
