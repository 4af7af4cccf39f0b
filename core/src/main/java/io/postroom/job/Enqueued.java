package io.postroom.job;

/**
 * What became of a job that was to be enqueued.
 *
 * @param id that of the job; if it was skipped, that of the job that has its unique key
 * @param skipped whether nothing was enqueued, because there is such a job
 */
public record Enqueued(long id, boolean skipped) {}
