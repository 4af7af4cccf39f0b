package io.postroom.server.tail;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import io.postroom.retry.Fault;
import io.postroom.server.message.LineOutput;
import io.postroom.server.message.MessageLine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Writes messages as lines and accepts each once its line is written.
 *
 * <p>{@link #send} and {@link #flush} are called by the one lane's thread; everything else by any. What comes after the limit is
 * kept unanswered until {@link #giveBack}, so that the lane does not ask again. What could not be written is unavailable for
 * longer than a tail needs to end: nothing may come between it and what was written before.
 */
final class LineSink implements Sink {
    /** A pipe takes so many bytes whole or not at all, everywhere. */
    private static final int PIECE_BYTES_MAX = 4_096;

    private static final Duration REST = Duration.ofHours(1);

    private final LineOutput out;
    private final MessageLine format;
    private final long limit;
    private final Runnable ended;

    /** Of the lane's thread alone, so that nobody waits for a reader that is slow. */
    private final Deque<Line> lines = new ArrayDeque<>();

    private long taken;

    private final List<CompletableFuture<Outcome>> surplus = new ArrayList<>();
    private final NavigableSet<Long> unsettled = new TreeSet<>();
    private long printed;
    private long quietSinceNanos = System.nanoTime();
    private @Nullable IOException failure;
    private boolean givenBack;

    /** {@code ended} runs when no more will be printed. */
    LineSink(OutputStream out, MessageLine format, long limit, Runnable ended) {
        this.out = new LineOutput(out);
        this.format = format;
        this.limit = limit;
        this.ended = ended;
    }

    private record Line(long position, byte[] text, CompletableFuture<Outcome> answer) {}

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        CompletableFuture<Outcome> answer = new CompletableFuture<>();
        if (taken == limit || isGivenBack()) {
            refuse(answer);
        } else {
            taken++;
            lines.add(new Line(envelope.position(), format.encode(envelope), answer));
        }
        return answer;
    }

    @Override
    public void flush() {
        while (!lines.isEmpty()) {
            List<Line> piece = nextPiece();
            try {
                write(piece);
            } catch (IOException e) {
                failed(piece, e);
                return;
            }
            wrote(piece);
            piece.forEach(line -> line.answer.complete(Outcome.accepted()));
        }
        if (printed() == limit) {
            ended.run();
        }
    }

    private synchronized boolean isGivenBack() {
        return givenBack;
    }

    private synchronized void refuse(CompletableFuture<Outcome> answer) {
        if (givenBack) {
            answer.complete(unwanted());
        } else {
            surplus.add(answer);
        }
    }

    private synchronized void wrote(List<Line> piece) {
        printed += piece.size();
        piece.forEach(line -> unsettled.add(line.position));
        quietSinceNanos = System.nanoTime();
    }

    private void failed(List<Line> piece, IOException cause) {
        synchronized (this) {
            if (failure == null) {
                failure = cause;
            }
        }
        List<Line> unwritten = new ArrayList<>(piece);
        unwritten.addAll(lines);
        lines.clear();
        taken -= unwritten.size();
        Outcome unavailable = new Outcome.Unavailable(
                Fault.of("output", "could not write standard output: " + cause.getMessage()), REST);
        unwritten.forEach(line -> line.answer.complete(unavailable));
        ended.run();
    }

    private List<Line> nextPiece() {
        List<Line> piece = new ArrayList<>();
        int bytes = 0;
        while (!lines.isEmpty() && (piece.isEmpty() || bytes + lines.getFirst().text.length <= PIECE_BYTES_MAX)) {
            bytes += lines.getFirst().text.length;
            piece.add(lines.removeFirst());
        }
        return piece;
    }

    private void write(List<Line> piece) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(PIECE_BYTES_MAX);
        for (Line line : piece) {
            bytes.write(line.text);
        }
        out.write(bytes.toByteArray());
    }

    /** Everything up to this position is remembered by the lane. */
    synchronized void settled(long position) {
        unsettled.headSet(position, true).clear();
    }

    /** Nothing more is wanted: whatever has no answer yet goes back to the lane, which leaves it to the next run. */
    synchronized void giveBack() {
        givenBack = true;
        surplus.forEach(answer -> answer.complete(unwanted()));
        surplus.clear();
    }

    /** The same, for an owner that knows no more of it than that it is a sink. */
    @Override
    public void close() {
        giveBack();
    }

    /** How many lines were printed and are not yet remembered by the lane. */
    synchronized int unsettled() {
        return unsettled.size();
    }

    /** Why nothing more could be written, if that is so. */
    synchronized @Nullable IOException failure() {
        return failure;
    }

    synchronized long printed() {
        return printed;
    }

    /** How long nothing was printed. */
    synchronized Duration quiet() {
        return Duration.ofNanos(System.nanoTime() - quietSinceNanos);
    }

    private static Outcome unwanted() {
        return new Outcome.Unavailable(Fault.of("closed", "the tail has ended"), REST);
    }
}
