package io.github.lockspring.autoconfigure;

import java.net.URI;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Checks the URLs of etcd. The client takes any text, and ignores the scheme.
 */
final class EtcdEndpointsValidator {

	private static final String REMEDY = "Write URLs such as http://host:2379 or, with TLS, https://host:2379.";

	private EtcdEndpointsValidator() {
	}

	static void validate(List<String> endpoints, @Nullable String bundle) {
		if (endpoints.isEmpty()) {
			throw new LockPropertyException("etcd.endpoints", "", "there is no server", REMEDY);
		}
		for (String endpoint : endpoints) {
			validate(endpoint);
		}
		long encrypted = endpoints.stream().filter((endpoint) -> endpoint.startsWith("https:")).count();
		if (encrypted > 0 && encrypted < endpoints.size()) {
			throw new LockPropertyException("etcd.endpoints", String.join(",", endpoints),
					"some of them are without TLS", "Begin all of them with https, or all of them with http.");
		}
		if (bundle != null && encrypted == 0) {
			throw new LockPropertyException("etcd.ssl.bundle", bundle,
					"the endpoints begin with http, so nothing would be encrypted",
					"Begin them with https, or leave the property out.");
		}
	}

	private static void validate(String endpoint) {
		if (endpoint.indexOf('@') >= 0) {
			throw new LockPropertyException("etcd.endpoints", LockPropertyException.SECRET,
					"a user in a URL is not used", "Set distributed-lock.etcd.username and password.");
		}
		try {
			URI uri = URI.create(endpoint);
			if (Set.of("http", "https").contains(String.valueOf(uri.getScheme())) && uri.getHost() != null
					&& Set.of("", "/").contains(uri.getPath())) {
				return;
			}
		}
		catch (IllegalArgumentException ex) {
			// reported below
		}
		throw new LockPropertyException("etcd.endpoints", endpoint, "it is not a URL of a server", REMEDY);
	}

}
