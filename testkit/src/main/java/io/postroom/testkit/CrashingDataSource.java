package io.postroom.testkit;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A DataSource that lets a {@link CrashPoint} be reached before a statement, after it but before its commit, or right after its commit.
 *
 * <p>Statements are told by the text that the driver gets. Everything else goes to the DataSource behind it, {@code unwrap} too: what
 * is done with an unwrapped connection is not seen here. A statement that is a transaction of its own is committed when it returns;
 * between the two there is no moment, so {@link #after} refuses it. Safe for use by many threads if the DataSource behind it is.
 */
public final class CrashingDataSource implements DataSource {
    private final DataSource behind;
    private final List<Rule> rules = new CopyOnWriteArrayList<>();

    public CrashingDataSource(DataSource behind) {
        this.behind = Objects.requireNonNull(behind, "behind");
    }

    private enum Moment {
        BEFORE,
        AFTER,
        COMMITTED
    }

    private record Rule(Moment moment, Predicate<String> which, CrashPoint point) {}

    /** Reaches the point before a statement that fits is sent. */
    public CrashingDataSource before(Predicate<String> which, CrashPoint point) {
        return add(Moment.BEFORE, which, point);
    }

    /** Reaches the point when a statement that fits has been run, and its transaction is still open. */
    public CrashingDataSource after(Predicate<String> which, CrashPoint point) {
        return add(Moment.AFTER, which, point);
    }

    /** Reaches the point when a transaction with a statement that fits has been committed, before its caller knows. */
    public CrashingDataSource committed(Predicate<String> which, CrashPoint point) {
        return add(Moment.COMMITTED, which, point);
    }

    private CrashingDataSource add(Moment moment, Predicate<String> which, CrashPoint point) {
        rules.add(new Rule(moment, which, point));
        return this;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return watched(behind.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return watched(behind.getConnection(user, password));
    }

    private Connection watched(Connection connection) {
        return proxy(Connection.class, new Watched(connection));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(CrashingDataSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** One connection: hands out watched statements, and knows what its transaction has run. For one thread, as connections are. */
    private final class Watched implements InvocationHandler {
        private final Connection connection;
        private final Set<Rule> uncommitted = new LinkedHashSet<>();

        private Watched(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            boolean ends = method.getName().equals("commit") || method.getName().equals("setAutoCommit");
            boolean wasOpen = ends && !connection.getAutoCommit();
            Object result = call(connection, method, arguments);
            if (result instanceof Statement statement) {
                Class<?> type = method.getReturnType();
                String text = arguments == null || !(arguments[0] instanceof String) ? null : (String) arguments[0];
                return proxy(type.asSubclass(Statement.class), new WatchedStatement(this, self, statement, text));
            }
            if (method.getName().equals("rollback") && arguments == null) {
                uncommitted.clear();
            } else if (wasOpen && (method.getName().equals("commit") || connection.getAutoCommit())) {
                committed();
            }
            return result;
        }

        private void committed() {
            List<Rule> reached = List.copyOf(uncommitted);
            uncommitted.clear();
            reached.forEach(rule -> rule.point().reach());
        }

        private void before(List<String> texts) throws SQLException {
            List<Rule> after = fitting(Moment.AFTER, texts);
            if (!after.isEmpty() && connection.getAutoCommit()) {
                throw new IllegalStateException(
                        "could not reach " + after.get(0).point()
                                + ": its statement is committed when it returns; choose before or committed");
            }
            fitting(Moment.BEFORE, texts).forEach(rule -> rule.point().reach());
        }

        private void after(List<String> texts) throws SQLException {
            fitting(Moment.AFTER, texts).forEach(rule -> rule.point().reach());
            uncommitted.addAll(fitting(Moment.COMMITTED, texts));
            if (connection.getAutoCommit()) {
                committed();
            }
        }

        private List<Rule> fitting(Moment moment, List<String> texts) {
            return rules.stream()
                    .filter(rule -> rule.moment() == moment && texts.stream().anyMatch(rule.which()))
                    .toList();
        }
    }

    /** One statement; {@code prepared} is its text if it has one from the beginning. */
    private static final class WatchedStatement implements InvocationHandler {
        private final Watched watched;
        private final Object connection;
        private final Statement statement;
        private final @Nullable String prepared;
        private final List<String> batch = new ArrayList<>();

        private WatchedStatement(Watched watched, Object connection, Statement statement, @Nullable String prepared) {
            this.watched = watched;
            this.connection = connection;
            this.statement = statement;
            this.prepared = prepared;
        }

        @Override
        public Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            String given = arguments != null && arguments[0] instanceof String text ? text : null;
            if (method.getName().equals("addBatch") && given != null) {
                batch.add(given);
            }
            if (method.getName().equals("getConnection")) {
                return connection;
            }
            if (!method.getName().startsWith("execute")) {
                return call(statement, method, arguments);
            }
            List<String> texts = texts(given);
            watched.before(texts);
            Object result = call(statement, method, arguments);
            watched.after(texts);
            return result;
        }

        private List<String> texts(@Nullable String given) {
            if (prepared != null) {
                return List.of(prepared);
            }
            if (given != null) {
                return List.of(given);
            }
            List<String> texts = List.copyOf(batch);
            batch.clear();
            return texts;
        }
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return behind.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        behind.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        behind.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return behind.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger(Logger.GLOBAL_LOGGER_NAME);
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(this) ? type.cast(this) : behind.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this) || behind.isWrapperFor(type);
    }
}
