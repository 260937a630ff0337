package io.github.lockspring.check;

import org.springframework.boot.test.context.SpringBootTest;

/**
 * With locks in memory.
 */
@SpringBootTest(properties = "distributed-lock.store=memory")
class MemoryTests extends AbstractStoreTests {

}
