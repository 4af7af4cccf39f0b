package io.postroom.projection;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A DataSource that notes which threads asked for a connection while they had one. */
final class GreedyThreads implements DataSource {
    private final DataSource behind;
    private final ThreadLocal<Integer> held = ThreadLocal.withInitial(() -> 0);
    private final Set<String> found = new ConcurrentSkipListSet<>();

    GreedyThreads(DataSource behind) {
        this.behind = behind;
    }

    /** Their names. */
    Set<String> found() {
        return found;
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (held.get() > 0) {
            found.add(Thread.currentThread().getName());
        }
        Connection connection = behind.getConnection();
        held.set(held.get() + 1);
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        held.set(held.get() - 1);
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new UnsupportedOperationException();
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
        return behind.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return behind.isWrapperFor(type);
    }
}
