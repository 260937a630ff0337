package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * Finds the SSL bundle of a store.
 */
final class LockSslBundles {

	private LockSslBundles() {
	}

	/**
	 * Finds a bundle.
	 * @param store the group of the property that names it
	 * @param ssl the properties
	 * @return null if the property is not set: the trust store of the JVM applies
	 */
	static @Nullable SslBundle find(BeanFactory beanFactory, String store, DistributedLockProperties.Ssl ssl) {
		String name = ssl.bundle();
		try {
			return (name != null) ? beanFactory.getBean(SslBundles.class).getBundle(name) : null;
		}
		catch (NoSuchBeanDefinitionException | NoSuchSslBundleException ex) {
			throw PropertyChecks.invalid(store + ".ssl.bundle", String.valueOf(name),
					"There is no SSL bundle of this name",
					"Define it with spring.ssl.bundle.*, or leave the property out to use the certificates that the JVM"
							+ " trusts");
		}
	}

}
