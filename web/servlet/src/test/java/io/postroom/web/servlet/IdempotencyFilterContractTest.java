package io.postroom.web.servlet;

import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.testkit.KeyedHttpContract;
import io.postroom.testkit.KeyedShop;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.SQLException;
import java.util.EnumSet;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.NetworkConnector;
import org.eclipse.jetty.server.Server;

class IdempotencyFilterContractTest extends KeyedHttpContract {
    @Override
    protected Served serve(KeyedShop shop, KeyedRoute orders, KeyedRoute free) throws Exception {
        Server server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(new ServletHolder(new ShopServlet(shop)), "/*");
        context.addFilter(filter(orders), "/orders", EnumSet.of(DispatcherType.REQUEST));
        context.addFilter(filter(free), "/free", EnumSet.of(DispatcherType.REQUEST));
        server.setHandler(context);
        server.start();
        return new Served() {
            @Override
            public int port() {
                return ((NetworkConnector) server.getConnectors()[0]).getLocalPort();
            }

            @Override
            public void close() {
                try {
                    server.stop();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }

    private static FilterHolder filter(KeyedRoute route) {
        return new FilterHolder(IdempotencyFilter.once(route, request -> request.getHeader("X-Tenant")));
    }

    private static final class ShopServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;

        private final transient KeyedShop shop;

        private ShopServlet(KeyedShop shop) {
            this.shop = shop;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            if (request.getMethod().equals("GET") || request.getMethod().equals("HEAD")) {
                shop.read();
                return;
            }
            try {
                KeyedShop.Made made = shop.handle(
                        IdempotentRequest.tx(request), request.getInputStream().readAllBytes());
                response.setStatus(made.status());
                made.headers().forEach(response::setHeader);
                response.getOutputStream().write(made.body());
                response.flushBuffer();
            } catch (SQLException | InterruptedException e) {
                throw new ServletException(e);
            }
        }
    }
}
