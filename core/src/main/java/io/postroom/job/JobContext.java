package io.postroom.job;

import io.postroom.message.Codec;
import io.postroom.message.HeaderText;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job as its handler sees it, for one attempt. Safe for use by many threads. */
public final class JobContext {
    private final ClaimedJob job;
    private final Codec codec;
    private volatile boolean cancelled;
    private volatile boolean lost;

    JobContext(ClaimedJob job, Codec codec) {
        this.job = job;
        this.codec = codec;
    }

    /** The same at every attempt: the key by which an effect can be made once. */
    public long id() {
        return job.id();
    }

    public String queue() {
        return job.queue();
    }

    public String kind() {
        return job.kind();
    }

    /** The number of this attempt, from one. */
    public int attempt() {
        return job.attempt();
    }

    /** Grows with every claim of this job: a resource that knows the greatest one can refuse whoever was taken over. */
    public long fence() {
        return job.fence();
    }

    public @Nullable String tenantId() {
        return job.tenantId();
    }

    /** The payload as JSON text, as it was enqueued. */
    public String payload() {
        return job.payload();
    }

    /** The payload as an object, read by the codec of the workers. */
    public <T> T payload(Class<T> type) {
        return codec.decode(job.payload(), type);
    }

    public Map<String, String> headers() {
        return HeaderText.read(job.headers());
    }

    /** Whether somebody wants this job cancelled: a handler that stops early, by throwing, lets it end as cancelled. */
    public boolean isCancelled() {
        return cancelled;
    }

    /** Whether the job was taken away from this worker: whatever the handler says now changes nothing. */
    public boolean isLost() {
        return lost;
    }

    void cancel() {
        cancelled = true;
    }

    void lose() {
        lost = true;
    }

    @Override
    public String toString() {
        return job.toString();
    }
}
