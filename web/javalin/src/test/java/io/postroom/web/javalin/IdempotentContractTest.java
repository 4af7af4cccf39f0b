package io.postroom.web.javalin;

import io.postroom.testkit.KeyedHttpContract;
import io.postroom.testkit.KeyedRoutes;
import io.postroom.testkit.KeyedShop;

class IdempotentContractTest extends KeyedHttpContract {
    @Override
    protected Served serve(KeyedShop shop, KeyedRoutes routes) {
        return ShopServer.serve(shop, routes);
    }
}
