package io.postroom.job;

import io.postroom.message.Codec;
import io.postroom.message.HeaderText;
import io.postroom.message.JacksonCodec;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job as its handler sees it, for one attempt. Safe for use by many threads. */
public final class JobContext {
    private static final Codec TEXT = new JacksonCodec();

    private final ClaimedJob job;
    private final Codec codec;
    private volatile boolean cancelled;
    private volatile boolean lost;
    private volatile @Nullable String progress;
    private volatile @Nullable String written;

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

    /**
     * Says how far the job is, for whoever looks: a share from 0 to 1 and a few words. Costs nothing here; it is written about once a
     * second while it changes, and forgotten when the job ends.
     */
    public void progress(double share, String note) {
        if (!(share >= 0 && share <= 1) || note.length() > JobRules.PROGRESS_NOTE_LENGTH_MAX) {
            throw new InvalidJobException(
                    "job.progress-invalid",
                    "could not note the progress of " + job + ": the share is " + share
                            + ", the range is 0 to 1; the note has " + note.length() + " characters, the limit is "
                            + JobRules.PROGRESS_NOTE_LENGTH_MAX);
        }
        progress = "{\"share\":" + share + ",\"note\":" + TEXT.encode(note) + "}";
    }

    /** What was said and not written yet; null: nothing. */
    @Nullable
    String unwrittenProgress() {
        String said = progress;
        return said == null || said.equals(written) ? null : said;
    }

    void progressWritten(String said) {
        written = said;
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
