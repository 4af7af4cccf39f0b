package io.postroom.lock;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process with a lease. Arguments: URL, name, milliseconds of the lease, and what it does. {@code run}: leaves a trace under the lease
 * again and again, as one of many nodes. {@code once}: takes the lease, and leaves one trace for each line it is told. {@code freeze}: as
 * {@code once}, but stands still when it has made sure of its lease and before it commits.
 */
final class HolderMain {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private HolderMain() {}

    public static void main(String[] arguments) throws Exception {
        Duration lease = Duration.ofMillis(Long.parseLong(arguments[2]));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 4)) {
            CrashingDataSource crashing = new CrashingDataSource(pool);
            if (arguments[3].equals("freeze")) {
                String require =
                        Schema.POSTROOM.sql(LeaseTable.class, "require.sql").text();
                crashing.after(require::equals, CrashPoint.freeze("sure", 1));
            }
            Postroom postroom = Postroom.on(crashing);
            if (arguments[3].equals("run")) {
                try (OneNode node = postroom.locks().oneNode(arguments[1], lease, own -> run(postroom, own))) {
                    System.out.println("waits");
                    while (input.readLine() != null) {
                        System.out.println("running " + node.isRunning());
                    }
                }
                return;
            }
            Lease own = postroom.locks().tryLease(arguments[1], lease).orElseThrow();
            System.out.println("fence " + own.fence());
            while (input.readLine() != null) {
                try {
                    leaveTrace(postroom, own);
                    System.out.println("committed");
                } catch (PostroomException e) {
                    System.out.println("refused " + e.code());
                }
            }
        }
    }

    /** Until it is interrupted, or finds out that it is a zombie. */
    private static void run(Postroom postroom, Lease lease) throws InterruptedException {
        System.out.println("runs " + lease.fence());
        while (!Thread.interrupted()) {
            leaveTrace(postroom, lease);
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        throw new InterruptedException();
    }

    private static void leaveTrace(Postroom postroom, Lease lease) {
        postroom.database().transact(tx -> {
            insert(tx, lease.fence());
            lease.requireHeld(tx);
            return true;
        });
    }

    /** The pid tells the nodes apart. */
    private static void insert(Connection tx, long fence) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("insert into trace (node, fence) values (?, ?)")) {
            insert.setLong(1, ProcessHandle.current().pid());
            insert.setLong(2, fence);
            insert.executeUpdate();
        }
    }
}
