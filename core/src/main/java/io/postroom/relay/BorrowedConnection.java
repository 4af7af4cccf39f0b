package io.postroom.relay;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The relay's connection as a projection sees it: it can do everything but end the transaction, change the session through JDBC or keep
 * the connection for later. A transaction that is ended around this (SQL that says commit, the driver's own connection) is found out
 * before the lane moves. What SQL does to the session (set without local, temporary tables, session locks) reaches whoever gets the
 * connection next: a projection must not do it.
 */
public final class BorrowedConnection implements InvocationHandler {
    private static final Set<String> REFUSED = Set.of(
            "commit",
            "close",
            "abort",
            "setAutoCommit",
            "setTransactionIsolation",
            "setReadOnly",
            "setHoldability",
            "setCatalog",
            "setSchema",
            "setClientInfo",
            "setNetworkTimeout");

    private final Connection connection;
    private final String subscription;
    private volatile boolean over;

    private BorrowedConnection(Connection connection, String subscription) {
        this.connection = connection;
        this.subscription = subscription;
    }

    /** Something to do with a connection that is lent for so long. */
    @FunctionalInterface
    public interface Work {
        void run(Connection tx) throws Exception;
    }

    /** Lends a connection for as long as the work takes; {@code subscription} is whose work it is, for errors. */
    public static void lend(Connection connection, String subscription, Work work) throws Exception {
        BorrowedConnection borrowed = new BorrowedConnection(connection, subscription);
        try {
            work.run((Connection) Proxy.newProxyInstance(
                    BorrowedConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, borrowed));
        } finally {
            borrowed.over = true;
        }
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        String name = method.getName();
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(proxy, name, arguments);
        }
        if (over && !name.equals("isClosed")) {
            throw new SQLException("could not " + name + ": this transaction of subscription " + subscription
                    + " is over; a projection must not keep its connection");
        }
        boolean endsAll = name.equals("rollback") && arguments == null;
        if (REFUSED.contains(name) || endsAll) {
            throw new SQLException(
                    "could not " + name + ": the transaction belongs to the relay, which commits what a projection"
                            + " wrote together with its position; return to commit, throw to roll back, set local for settings");
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Object ofObject(Object proxy, String name, Object @Nullable [] arguments) {
        return switch (name) {
            case "equals" -> arguments != null && proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "a connection lent to subscription " + subscription;
        };
    }
}
