package io.github.lockspring.lab;

import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;

/**
 * The failure lab as a part of a web application, which imports this class: its page, its
 * HTTP interface below {@code /lab/api}, and experiments with the application's own
 * processes below {@code /api/experiments}. Protects all below {@code /api} too. The
 * reason of a refusal is seen where {@code spring.mvc.problemdetails.enabled} is set.
 */
@Configuration(proxyBeanMethods = false)
@ComponentScan(excludeFilters = @Filter(type = FilterType.CUSTOM, classes = TypeExcludeFilter.class))
public class FailureLab {

}
