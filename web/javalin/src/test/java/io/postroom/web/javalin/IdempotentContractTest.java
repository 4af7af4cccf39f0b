package io.postroom.web.javalin;

import io.javalin.Javalin;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.testkit.KeyedHttpContract;
import io.postroom.testkit.KeyedShop;
import java.sql.Connection;

class IdempotentContractTest extends KeyedHttpContract {
    @Override
    protected Served serve(KeyedShop shop, KeyedRoute orders, KeyedRoute free) {
        Handler keyed =
                Idempotent.once(orders, IdempotentContractTest::tenant, (context, tx) -> order(shop, context, tx));
        Javalin server = Javalin.create(config -> {
                    config.routes.get("/orders", context -> shop.read());
                    config.routes.head("/orders", context -> shop.read());
                    config.routes.post("/orders", keyed);
                    config.routes.put("/orders", keyed);
                    config.routes.patch("/orders", keyed);
                    config.routes.delete("/orders", keyed);
                    config.routes.post(
                            "/free",
                            Idempotent.once(
                                    free, IdempotentContractTest::tenant, (context, tx) -> order(shop, context, tx)));
                })
                .start("127.0.0.1", 0);
        return new Served() {
            @Override
            public int port() {
                return server.port();
            }

            @Override
            public void close() {
                server.stop();
            }
        };
    }

    private static String tenant(Context context) {
        return context.header("X-Tenant");
    }

    private static void order(KeyedShop shop, Context context, Connection tx) throws Exception {
        KeyedShop.Made made = shop.handle(tx, context.bodyAsBytes());
        context.status(made.status());
        made.headers().forEach(context::header);
        context.result(made.body());
    }
}
