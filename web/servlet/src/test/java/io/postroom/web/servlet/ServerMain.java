package io.postroom.web.servlet;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.KeyedShop;
import io.postroom.testkit.TestDatabase;
import java.util.concurrent.CountDownLatch;

/** Serves a shop in a process of its own, until it is killed. Arguments: URL of the database, and the point at which it dies, or none. */
final class ServerMain {
    private ServerMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        CrashPoint point = CrashPoint.kill(arguments[1]);
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 4)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            switch (arguments[1]) {
                case "claimed" -> database.after(text -> text.contains("claim_key"), point);
                case "ordered" -> database.after(text -> text.contains("insert into orders"), point);
                case "before the answer is stored" -> database.before(ServerMain::stores, point);
                // The commit goes with the statement.
                case "stored" -> database.after(ServerMain::stores, point);
                default -> {}
            }
            Postroom postroom = Postroom.on(database);
            KeyedRoute route = KeyedRoute.builder(postroom.database(), postroom.idempotency(), "order.create")
                    .build();
            try (JettyServer server = new JettyServer(new ShopServlet(new KeyedShop()))
                    .filter("/orders", IdempotencyFilter.once(route, request -> request.getHeader("X-Tenant")))
                    .start()) {
                System.out.println("port " + server.port());
                new CountDownLatch(1).await();
            }
        }
    }

    private static boolean stores(String text) {
        return text.contains("idempotency_key") && text.contains("insert into");
    }
}
