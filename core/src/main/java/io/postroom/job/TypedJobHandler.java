package io.postroom.job;

/** A {@link JobHandler} that gets the payload as an object. */
@FunctionalInterface
public interface TypedJobHandler<T> {

    JobOutcome handle(T payload, JobContext job) throws Exception;
}
