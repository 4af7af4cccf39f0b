package io.postroom.web.servlet;

import io.postroom.testkit.KilledServerContract;

/** A server in a process of its own, until it is killed. */
final class ServerMain {
    private ServerMain() {}

    public static void main(String[] arguments) throws Exception {
        KilledServerContract.serveUntilKilled(arguments, ShopServlet::serve);
    }
}
