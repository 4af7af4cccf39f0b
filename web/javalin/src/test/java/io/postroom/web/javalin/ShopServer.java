package io.postroom.web.javalin;

import io.javalin.Javalin;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.postroom.testkit.KeyedHttpContract;
import io.postroom.testkit.KeyedRoutes;
import io.postroom.testkit.KeyedShop;

/** Lets the shop answer. */
final class ShopServer implements KeyedHttpContract.Served {
    private final Javalin server;

    private ShopServer(Javalin server) {
        this.server = server;
    }

    static ShopServer serve(KeyedShop shop, KeyedRoutes routes) {
        Handler orders = Idempotent.once(
                routes.orders(),
                ShopServer::tenant,
                (context, tx) -> write(context, shop.handle(tx, context.bodyAsBytes())));
        Handler steps = Idempotent.steps(
                routes.steps(),
                ShopServer::tenant,
                (context, taken) -> write(context, shop.handle(taken, context.bodyAsBytes())));
        Handler free = Idempotent.once(
                routes.free(),
                ShopServer::tenant,
                (context, tx) -> write(context, shop.handle(tx, context.bodyAsBytes())));
        return new ShopServer(Javalin.create(config -> {
                    config.routes.post("/free", free);
                    for (String path : new String[] {"/orders", "/steps"}) {
                        Handler keyed = path.equals("/steps") ? steps : orders;
                        config.routes.get(path, context -> shop.read());
                        config.routes.head(path, context -> shop.read());
                        config.routes.post(path, keyed);
                        config.routes.put(path, keyed);
                        config.routes.patch(path, keyed);
                        config.routes.delete(path, keyed);
                    }
                })
                .start("127.0.0.1", 0));
    }

    private static String tenant(Context context) {
        return context.header("X-Tenant");
    }

    private static void write(Context context, KeyedShop.Made made) {
        context.status(made.status());
        made.headers().forEach(context::header);
        context.result(made.body());
    }

    @Override
    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.stop();
    }
}
