package io.postroom.testkit;

import java.io.IOException;

/** Makes and drops a database in the server of the test run, and ends when it is told to. */
final class TestDatabaseMain {
    private TestDatabaseMain() {}

    public static void main(String[] arguments) throws IOException {
        TestDatabase.create().close();
        System.out.println("made");
        System.in.read();
    }
}
