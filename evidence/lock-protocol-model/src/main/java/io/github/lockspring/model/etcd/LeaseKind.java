package io.github.lockspring.model.etcd;

/**
 * Which of its leases an instance means.
 */
enum LeaseKind {

	/** The one on which entries are added. */
	FIRST,
	/** Another one on which entries are added: attempts of a token may differ. */
	OTHER,
	/** The longer one to which holds are raised. */
	RAISED;

	static final LeaseKind[] ALL = values();

}
