package io.postroom.job;

/**
 * Code of the application that does one kind of job.
 *
 * <p>Returning says what became of the attempt; throwing means that it failed and is made again as the retry policy says. The same job
 * may be given to it again after a crash, also while another process that was thought dead still works on it: what it does must be
 * idempotent by {@link JobContext#id}, or guarded by {@link JobContext#fence}. It is interrupted when its deadline is over, when the
 * job is cancelled or taken away, and when the process stops. Used by many threads at once.
 */
@FunctionalInterface
public interface JobHandler {

    JobOutcome handle(JobContext job) throws Exception;
}
