package io.github.lockspring.readme;

import java.math.BigDecimal;

import io.github.lockspring.DistributedLock;

import org.springframework.stereotype.Service;

/**
 * Locks two keys of one kind.
 */
@Service
public class AccountService {

	@DistributedLock(name = "account", key = "{#from, #to}")
	public void transfer(long from, long to, BigDecimal amount) {
		// transfer(1, 2, amount) holds account:1 and account:2
	}

}
