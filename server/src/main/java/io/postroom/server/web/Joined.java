package io.postroom.server.web;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Savepoint;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A DataSource inside a transaction: its connections are that one, and what they commit is committed with it, or never. What they roll
 * back is rolled back at once. For one thread, while the transaction lasts.
 */
final class Joined implements DataSource {
    private final Connection outer;

    Joined(Connection outer) {
        this.outer = outer;
    }

    @Override
    public Connection getConnection() {
        Inner inner = new Inner();
        return (Connection)
                Proxy.newProxyInstance(Joined.class.getClassLoader(), new Class<?>[] {Connection.class}, inner::invoke);
    }

    @Override
    public Connection getConnection(String user, String password) {
        return getConnection();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("not a " + type.getName());
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }

    /** What one of them has begun: a savepoint of the transaction; null while each statement is for itself. */
    private final class Inner {
        private @Nullable Savepoint begun;

        @Nullable
        Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
            boolean isPlain = arguments == null || arguments.length == 0;
            if (method.getName().equals("setAutoCommit")) {
                end();
                begun = Boolean.FALSE.equals(arguments == null ? null : arguments[0]) ? outer.setSavepoint() : null;
                return null;
            }
            if (isPlain) {
                switch (method.getName()) {
                    case "getAutoCommit":
                        return begun == null;
                    case "close":
                        end();
                        return null;
                    case "commit":
                        end();
                        begun = outer.setSavepoint();
                        return null;
                    case "rollback":
                        if (begun != null) {
                            outer.rollback(begun);
                        }
                        return null;
                    default:
                        break;
                }
            }
            try {
                return method.invoke(outer, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private void end() throws SQLException {
            if (begun != null) {
                outer.releaseSavepoint(begun);
                begun = null;
            }
        }
    }
}
