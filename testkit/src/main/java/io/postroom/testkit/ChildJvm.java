package io.postroom.testkit;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A second JVM with the classpath of this one, to be killed, frozen and thawed by a test.
 *
 * <p>Keeps every line that the process prints, on standard output and standard error alike. A main that should not outlive its
 * test ends itself when its standard input ends. Closing kills the process. Safe for use by many threads.
 */
public final class ChildJvm implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int TAIL_LINES = 40;
    private static final List<String> SMALL =
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8");

    private final Process process;
    private final String title;
    private final List<String> lines = new ArrayList<>();
    private boolean finished;

    private ChildJvm(Process process, String title) {
        this.process = process;
        this.title = title;
        Thread reader = new Thread(this::read, "child-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a main class; {@code flags} are for the JVM, for example {@code -Xmx96m}. */
    public static ChildJvm start(Class<?> main, List<String> flags, String... arguments) {
        return start(main, flags, Map.of(), arguments);
    }

    /** The same with more environment variables than this process has. */
    public static ChildJvm start(
            Class<?> main, List<String> flags, Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(SMALL);
        command.addAll(flags);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(environment);
            Process process = builder.start();
            return new ChildJvm(process, main.getSimpleName() + " " + process.pid());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Everything printed so far. */
    public List<String> lines() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    /** Waits for a line that has the given text in it, now or earlier. */
    public String awaitLine(String text, Duration timeout) throws InterruptedException {
        return awaitLine(line -> line.contains(text), "'" + text + "'", timeout);
    }

    /** Waits for a line that fits, now or earlier; fails with the end of the output if there is none in time. */
    public String awaitLine(Predicate<String> fits, String what, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        int next = 0;
        synchronized (lines) {
            while (true) {
                for (; next < lines.size(); next++) {
                    if (fits.test(lines.get(next))) {
                        return lines.get(next);
                    }
                }
                long left = deadline - System.nanoTime();
                if (left <= 0 || finished) {
                    throw new AssertionError("no line with " + what
                            + (finished ? ", and the process ended" : " within " + timeout) + ": " + this);
                }
                TimeUnit.NANOSECONDS.timedWait(lines, left);
            }
        }
    }

    /** Writes a line to its standard input. */
    public void say(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL: it has no chance to finish anything. Returns when it is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        awaitExit(PATIENCE);
    }

    /** SIGSTOP: it stands still, with its connections open and its clock running, until {@link #thaw}. */
    public void freeze() throws InterruptedException {
        signal("STOP");
    }

    /** SIGCONT: it goes on as if nothing had happened. */
    public void thaw() throws InterruptedException {
        signal("CONT");
    }

    /** Waits for its end and returns its exit code. */
    public int awaitExit(Duration timeout) throws InterruptedException {
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("still running after " + timeout + ": " + this);
        }
        return process.exitValue();
    }

    private void signal(String name) throws InterruptedException {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .inheritIO()
                    .start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("could not send " + name + " to " + title);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends with the process's output. */
    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (IOException e) {
            // The stream of a killed process may end in any way; it is over in any case.
        } finally {
            synchronized (lines) {
                finished = true;
                lines.notifyAll();
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** The end of what it printed. */
    @Override
    public String toString() {
        List<String> all = lines();
        return title + ", last lines:\n"
                + String.join("\n", all.subList(Math.max(0, all.size() - TAIL_LINES), all.size()));
    }
}
