package io.postroom.web.servlet;

import io.postroom.testkit.KeyedHttpContract;
import io.postroom.testkit.KeyedRoutes;
import io.postroom.testkit.KeyedShop;

class IdempotencyFilterContractTest extends KeyedHttpContract {
    @Override
    protected Served serve(KeyedShop shop, KeyedRoutes routes) {
        return ShopServlet.serve(shop, routes);
    }
}
