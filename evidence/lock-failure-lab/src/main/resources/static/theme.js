/* Light, dark, or as the system says. In the head, so that the page is never painted in the wrong one. */
"use strict";
(() => {
	const root = document.documentElement;
	const modes = ["auto", "light", "dark"];
	let mode = "auto";
	try {
		mode = localStorage.getItem("theme") ?? mode;
	}
	catch (e) {
		// a browser that keeps nothing: the choice lasts as long as the page
	}
	const apply = () => root.dataset.theme = modes.includes(mode) ? mode : "auto";
	apply();
	addEventListener("DOMContentLoaded", () => {
		const button = document.getElementById("theme");
		const show = () => {
			button.querySelectorAll("[data-mode]").forEach((part) => part.hidden = part.dataset.mode !== root.dataset.theme);
		};
		button.addEventListener("click", () => {
			mode = modes[(modes.indexOf(root.dataset.theme) + 1) % modes.length];
			apply();
			show();
			try {
				localStorage.setItem("theme", mode);
			}
			catch (e) {
				// see above
			}
		});
		show();
	});
})();
