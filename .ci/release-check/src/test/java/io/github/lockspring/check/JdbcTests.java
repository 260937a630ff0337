package io.github.lockspring.check;

import org.springframework.boot.test.context.SpringBootTest;

/**
 * With locks in an embedded database.
 */
@SpringBootTest(properties = "distributed-lock.store=jdbc")
class JdbcTests extends AbstractStoreTests {

}
