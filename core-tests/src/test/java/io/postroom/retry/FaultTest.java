package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.net.ConnectException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class FaultTest {

    static final class OrderException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        OrderException(String message, Throwable cause) {
            super(message, cause);
        }

        OrderException(Throwable cause) {
            super(cause);
        }
    }

    private static final String ORDER = OrderException.class.getName();

    static Stream<Arguments> thrown() {
        ConnectException refused = new ConnectException("refused");
        return Stream.of(
                Arguments.of(refused, "java.net.ConnectException: refused"),
                Arguments.of(new ConnectException(), "java.net.ConnectException"),
                // Wrappers.
                Arguments.of(new CompletionException(refused), "java.net.ConnectException: refused"),
                Arguments.of(new ExecutionException("late", refused), "java.net.ConnectException: refused"),
                Arguments.of(new UndeclaredThrowableException(refused), "java.net.ConnectException: refused"),
                Arguments.of(new InvocationTargetException(refused), "java.net.ConnectException: refused"),
                Arguments.of(new UncheckedIOException(refused), "java.net.ConnectException: refused"),
                Arguments.of(new RuntimeException(refused), "java.net.ConnectException: refused"),
                Arguments.of(new Exception(null, refused), "java.net.ConnectException: refused"),
                Arguments.of(
                        new CompletionException(new ExecutionException(new RuntimeException(refused))),
                        "java.net.ConnectException: refused"),
                Arguments.of(new CompletionException("alone", null), "java.util.concurrent.CompletionException: alone"),
                // What says something of its own is kept, with the root of its causes.
                Arguments.of(
                        new RuntimeException("could not pay", refused),
                        "java.lang.RuntimeException: could not pay; caused by java.net.ConnectException: refused"),
                Arguments.of(
                        new OrderException("could not pay", new IOException("send", refused)),
                        ORDER + ": could not pay; caused by java.net.ConnectException: refused"),
                Arguments.of(
                        new OrderException("could not pay: refused", refused),
                        ORDER + ": could not pay: refused; caused by java.net.ConnectException"),
                Arguments.of(new OrderException(refused), ORDER + ": java.net.ConnectException: refused"),
                Arguments.of(
                        new OrderException(null, new ArithmeticException()),
                        ORDER + ": caused by java.lang.ArithmeticException"),
                Arguments.of(
                        new OrderException("two\nlines", new ArithmeticException("password=x\ny")),
                        ORDER + ": two lines; caused by java.lang.ArithmeticException: password=*** y"));
    }

    @ParameterizedTest
    @MethodSource("thrown")
    void tellsTheExceptionAndItsRoot(Throwable thrown, String expected) {
        assertThat(Fault.of(thrown)).hasToString(expected);
    }

    @Test
    void aSinksWordIsItsClass() {
        Fault fault = Fault.of("http.503", "try\r\nlater, token=abc");
        assertThat(fault.errorClass()).isEqualTo("http.503");
        assertThat(fault.message()).isEqualTo("try later, token=***");
        assertThat(fault.kinds()).containsExactly("http.503");
        assertThat(Fault.of("http.503", "")).hasToString("http.503");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "two words", "a\n", "a\u0000b", "a\u202eb", "a\u00a0b"})
    void refusesAWordThatIsNone(String word) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Fault.of(word, "message"))
                .withMessageEndingWith("it must be 1 to 200 characters without spaces and control characters");
    }

    @Test
    void aWordHasAnEnd() {
        assertThat(Fault.of("x".repeat(200), "").errorClass()).hasSize(200);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Fault.of("x".repeat(1_000_000), "message"))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(250));
    }

    @Test
    void kindsGoFromTheNearestToTheMostGeneral() {
        assertThat(Fault.of(new OrderException("x", new SQLException("broken", "08006")))
                        .kinds())
                .containsExactly(
                        ORDER,
                        "java.lang.IllegalStateException",
                        "sqlstate.08006",
                        "sqlstate.08",
                        "java.sql.SQLException",
                        "java.lang.RuntimeException",
                        "java.lang.Exception",
                        "java.lang.Throwable");
        assertThat(Fault.of(new StackOverflowError()).kinds())
                .containsExactly(
                        "java.lang.StackOverflowError",
                        "java.lang.VirtualMachineError",
                        "java.lang.Error",
                        "java.lang.Throwable");
    }

    @Test
    void aMessageHasAnEndAndLeavesRoomForTheCause() {
        Fault alone = Fault.of(new IllegalStateException("🚀".repeat(1_000_000)));
        assertThat(alone.message()).hasSizeBetween(1_990, 2_000).endsWith("🚀…");
        Fault both = Fault.of(new IllegalStateException("a ".repeat(5_000), new IOException("b ".repeat(5_000))));
        assertThat(both.message())
                .hasSize(2_000)
                .startsWith("a a a")
                .contains("a…; caused by java.io.IOException: b b b")
                .endsWith("…");
    }

    @Test
    void noExceptionCanSpoilItsOwnReport() {
        @SuppressWarnings("serial")
        class Hostile extends RuntimeException {
            @Override
            public String getMessage() {
                throw new IllegalStateException("no message");
            }

            @Override
            public synchronized Throwable getCause() {
                throw new IllegalStateException("no cause");
            }

            @Override
            public String toString() {
                throw new IllegalStateException("no text");
            }

            @Override
            public boolean equals(Object other) {
                throw new IllegalStateException("no equality");
            }

            @Override
            public int hashCode() {
                throw new IllegalStateException("no hash");
            }
        }
        assertThat(Fault.of(new Hostile()).toString()).isEqualTo(Hostile.class.getName());
        assertThat(Fault.of(new RuntimeException("outside", new Hostile())).message())
                .isEqualTo("outside; caused by " + Hostile.class.getName());
        assertThat(Fault.of(new RuntimeException(null, new Hostile())).errorClass())
                .isEqualTo(Hostile.class.getName());

        @SuppressWarnings("serial")
        class Endless extends RuntimeException {
            @Override
            public String getMessage() {
                return getMessage() + "!";
            }

            @Override
            public synchronized Throwable getCause() {
                return new Endless();
            }
        }
        assertThat(Fault.of(new Endless()).message()).isEmpty();
    }

    @Test
    void aChainThatBitesItsTailHasAnEnd() {
        IllegalStateException one = new IllegalStateException("one");
        IllegalStateException two = new IllegalStateException("two", one);
        one.initCause(two);
        assertThat(Fault.of(one).message()).isEqualTo("one; caused by java.lang.IllegalStateException: two");
        Throwable deep = new IOException("root");
        for (int i = 0; i < 1_000; i++) {
            deep = new IllegalStateException("level", deep);
        }
        assertThat(Fault.of(deep).message()).isEqualTo("level");
        Throwable wrapped = new IOException("root");
        for (int i = 0; i < 1_000; i++) {
            wrapped = new CompletionException(null, wrapped);
        }
        assertThat(Fault.of(wrapped).errorClass()).isEqualTo("java.util.concurrent.CompletionException");
    }

    @Test
    void tellsNothingOfTheRowsThatPostgresRefused() throws SQLException {
        try (TestDatabase database = TestDatabase.empty(TestPostgres.shared());
                Connection connection = DriverManager.getConnection(database.url())) {
            connection
                    .createStatement()
                    .execute("create table person (name text primary key, age int check (age > 0))");
            connection.createStatement().execute("insert into person values ('hunter2', 1)");

            Fault duplicate = Fault.of(catchThrowable(
                    () -> connection.createStatement().execute("insert into person values ('hunter2', 2)")));
            assertThat(duplicate.errorClass()).isEqualTo("org.postgresql.util.PSQLException");
            assertThat(duplicate.message())
                    .isEqualTo("ERROR: duplicate key value violates unique constraint \"person_pkey\"");
            assertThat(duplicate.kinds()).startsWith("sqlstate.23505", "sqlstate.23", duplicate.errorClass());

            Fault check = Fault.of(new OrderException(catchThrowable(
                    () -> connection.createStatement().execute("insert into person values ('hunter2', -1)"))));
            assertThat(check.message())
                    .contains("person_age_check", "Failing row contains (***)")
                    .doesNotContain("hunter2");

            try (PreparedStatement insert = connection.prepareStatement("insert into person values (?, 1)")) {
                for (String name : new String[] {"hunter3", "hunter2"}) {
                    insert.setString(1, name);
                    insert.addBatch();
                }
                Throwable thrown = catchThrowable(insert::executeBatch);
                assertThat(thrown).hasMessageContaining("hunter2");
                assertThat(Fault.of(thrown)).hasToString(duplicate.toString());
                assertThat(Fault.of(thrown).fingerprint()).isEqualTo(duplicate.fingerprint());
            }
        }
    }

    @Test
    void aDatabaseThatEndsAConnectionOrHasNoneLeftIsUnavailable() throws SQLException {
        try (TestDatabase database = TestDatabase.empty(TestPostgres.shared());
                Connection connection = DriverManager.getConnection(database.url())) {
            Throwable ended = catchThrowable(
                    () -> connection.createStatement().execute("select pg_terminate_backend(pg_backend_pid())"));
            assertThat(Fault.of(ended).kinds()).contains("sqlstate.57P01");
            Throwable closed = catchThrowable(() -> connection.createStatement().execute("select 1"));
            Throwable nowhere = catchThrowable(() -> DriverManager.getConnection("jdbc:postgresql://127.0.0.1:1/x"));
            for (Throwable thrown : new Throwable[] {ended, closed, nowhere, new IllegalStateException("x", nowhere)}) {
                assertThat(RetryPolicy.STANDARD.decide(Fault.of(thrown), 1, null))
                        .as(String.valueOf(thrown))
                        .isEqualTo(new Decision.Unavailable());
            }
        }
    }
}
