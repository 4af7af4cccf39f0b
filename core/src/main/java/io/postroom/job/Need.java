package io.postroom.job;

/**
 * What must have ended before a job may run.
 *
 * @param ofBatch whether {@code id} is that of a batch, all jobs of which are meant
 * @param anyEnd whether a bad end will do too
 */
public record Need(boolean ofBatch, long id, boolean anyEnd) {}
