package io.github.lockspring.autoconfigure;

import java.net.URI;
import java.util.List;
import java.util.Set;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Etcd;

/**
 * Checks the URLs of etcd, since its client takes any text and ignores the scheme, and
 * what belongs to them.
 */
final class EtcdPropertiesValidator {

	private static final String REMEDY = "Write URLs such as http://host:2379 or, with TLS, https://host:2379";

	private EtcdPropertiesValidator() {
	}

	static void validate(Etcd etcd) {
		List<String> endpoints = etcd.endpoints();
		if (endpoints.isEmpty()) {
			throw PropertyChecks.invalid("etcd.endpoints", "", "There is no server", REMEDY);
		}
		endpoints.forEach(EtcdPropertiesValidator::validate);
		long encrypted = endpoints.stream().filter((endpoint) -> endpoint.startsWith("https:")).count();
		if (encrypted > 0 && encrypted < endpoints.size()) {
			throw PropertyChecks.invalid("etcd.endpoints", String.join(",", endpoints), "Some of them are without TLS",
					"Begin all of them with https, or all of them with http");
		}
		if (etcd.ssl().bundle() != null && encrypted == 0) {
			throw PropertyChecks.invalid("etcd.ssl.bundle", etcd.ssl().bundle(),
					"The endpoints begin with http, so nothing would be encrypted",
					"Begin them with https, or leave the property out");
		}
		if ((etcd.username() == null) != (etcd.password() == null)) {
			throw PropertyChecks.secret((etcd.username() != null) ? "etcd.username" : "etcd.password",
					"user and password need each other", "Set both of them, or none.");
		}
	}

	private static void validate(String endpoint) {
		if (endpoint.indexOf('@') >= 0) {
			throw PropertyChecks.secret("etcd.endpoints", "a user in a URL is not used",
					"Set distributed-lock.etcd.username and password.");
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
		throw PropertyChecks.invalid("etcd.endpoints", endpoint, "It is not a URL of a server", REMEDY);
	}

}
