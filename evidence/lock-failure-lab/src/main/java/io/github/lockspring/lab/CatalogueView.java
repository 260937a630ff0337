package io.github.lockspring.lab;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.github.lockspring.lab.RecipeInfo.Source;

/**
 * The catalogue as the page sees it.
 *
 * @param token the token for requests that change something
 * @param limits the bounds of a run
 * @param recipes the recipes
 * @param faults the faults
 * @param cells what theory expects of each pair
 */
public record CatalogueView(String token, Map<String, Integer> limits, List<Recipe> recipes, List<FaultView> faults,
		List<Cell> cells) {

	private static final int MAX_SECONDS = 15;

	/**
	 * A recipe.
	 *
	 * @param id its name in URLs
	 * @param title its title
	 * @param summary a sentence on it
	 * @param source where it comes from
	 * @param code its Java source
	 * @param ours whether it is Lockspring
	 */
	record Recipe(String id, String title, String summary, Source source, String code, boolean ours) {
	}

	/**
	 * A fault.
	 *
	 * @param id its name in URLs
	 * @param title its title
	 * @param summary a sentence on it
	 * @param notApplicable why it has no cell with some recipes
	 */
	record FaultView(String id, String title, String summary, String notApplicable) {
	}

	/**
	 * Returns the catalogue.
	 * @param token the token for requests that change something
	 * @return the catalogue
	 */
	public static CatalogueView of(String token) {
		return new CatalogueView(token, Map.of("shops", Lab.MAX_SHOPS, "seconds", MAX_SECONDS),
				Recipes.ALL.stream()
					.map((recipe) -> new Recipe(recipe.id(), recipe.title(), recipe.summary(), recipe.source(),
							code(recipe.type()), recipe.ours()))
					.toList(),
				Faults.ALL.stream()
					.map((fault) -> new FaultView(fault.id(), fault.title(), fault.summary(), fault.notApplicable()))
					.toList(),
				Catalogue.cells());
	}

	/** The sources of the recipes are resources, see the module's pom. */
	private static String code(String type) {
		try (InputStream in = CatalogueView.class.getResourceAsStream("/lab-recipes/" + type + ".java")) {
			return (in != null) ? new String(in.readAllBytes(), StandardCharsets.UTF_8) : "";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
