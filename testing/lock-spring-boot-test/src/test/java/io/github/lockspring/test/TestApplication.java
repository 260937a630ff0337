package io.github.lockspring.test;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
class TestApplication {

	@Service
	static class Orders {

		private Runnable work = () -> {
		};

		public void work(Runnable work) {
			this.work = work;
		}

		@DistributedLock(name = "order", key = "#id")
		public void ship(String id) {
			this.work.run();
		}

	}

	@Service
	static class Jobs {

		private final LockTemplate locks;

		Jobs(LockTemplate locks) {
			this.locks = locks;
		}

		boolean run(String job) {
			try (HeldLock lock = this.locks.tryAcquire(LockRequest.of(job)).orElse(null)) {
				return lock != null;
			}
		}

	}

	@RestController
	static class Pages {

		@PostMapping("/pages/{id}")
		@DistributedLock(name = "page", key = "#id")
		public String write(@PathVariable("id") String id) {
			return "written " + id;
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.CONFLICT)
		String busy(LockNotAcquiredException ex) {
			return "busy";
		}

	}

}
