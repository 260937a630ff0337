package io.github.lockspring.autoconfigure;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
public class LockedConfiguration {

	@Bean
	LockedService lockedService() {
		return new LockedService();
	}

}
