/**
 * {@code postroom job}: work for later, what became of it, and the queues it waits in; and what workers of the server do with jobs, which is
 * to send them as webhooks or to publish them as messages.
 *
 * <p>What a crash of such a worker leaves behind: before the endpoint has answered, or after that and before the job's end is written, a
 * running job that another worker takes over and sends again, under the same {@code webhook-id}; before the commit of a publication
 * nothing of it, and after it a message and a job that has ended.
 */
@NullMarked
package io.postroom.server.job;

import org.jspecify.annotations.NullMarked;
