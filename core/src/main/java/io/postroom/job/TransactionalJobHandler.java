package io.postroom.job;

import java.sql.Connection;

/**
 * Code of the application whose effect is in this database only: it gets the transaction that also ends the job, so that it takes
 * effect exactly once, whatever dies.
 *
 * <p>The transaction is the worker's and is committed when the handler returns {@link JobOutcome#done}, together with the end of the
 * job. Any other outcome, and whatever it throws, rolls it back. If the job was taken away meanwhile, nothing of it stays. It must not
 * end the transaction itself. Used by many threads at once.
 */
@FunctionalInterface
public interface TransactionalJobHandler {

    JobOutcome handle(Connection tx, JobContext job) throws Exception;
}
