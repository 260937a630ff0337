package io.github.lockspring.testsupport.browser;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.lockspring.testsupport.Requires;

/**
 * Marks tests that need Chromium.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Requires(name = "browser", commands = { Browser.BROWSER, Browser.DRIVER })
public @interface RequiresBrowser {

}
