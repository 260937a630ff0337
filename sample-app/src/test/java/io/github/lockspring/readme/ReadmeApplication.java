package io.github.lockspring.readme;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * The application that the README's examples belong to.
 */
@SpringBootApplication
public class ReadmeApplication {

}
