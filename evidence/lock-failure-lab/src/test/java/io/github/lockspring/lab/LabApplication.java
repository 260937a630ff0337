package io.github.lockspring.lab;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/**
 * An application around the lab.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(FailureLab.class)
class LabApplication {

}
