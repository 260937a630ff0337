package io.github.lockspring.lab;

import java.util.List;
import java.util.Optional;

/**
 * Finds recipes, faults and their cells.
 */
final class Catalogue {

	private Catalogue() {
	}

	static List<Cell> cells() {
		return Cells.ALL;
	}

	static Optional<RecipeInfo> recipe(String id) {
		return Recipes.ALL.stream().filter((recipe) -> recipe.id().equals(id)).findFirst();
	}

	static Optional<Fault> fault(String id) {
		return Faults.ALL.stream().filter((fault) -> fault.id().equals(id)).findFirst();
	}

	static Optional<Cell> cell(String recipe, String fault) {
		return Cells.ALL.stream()
			.filter((cell) -> cell.recipe().equals(recipe) && cell.fault().equals(fault))
			.findFirst();
	}

}
