package io.github.lockspring.sample.lab.web;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "shop.report.cron=-", "distributed-lock.store=memory", "lab.enabled=false" })
@AutoConfigureMockMvc
class LabSwitchedOffTests {

	@Autowired
	private MockMvcTester mvc;

	@Test
	void labThatIsSwitchedOffIsNotThere() {
		assertThat(this.mvc.get().uri("/lab/api/catalogue")).hasStatus(404);
		assertThat(this.mvc.get().uri("/lab/api/matrix")).hasStatus(404);
	}

}
