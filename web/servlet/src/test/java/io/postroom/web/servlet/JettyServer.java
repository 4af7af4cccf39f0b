package io.postroom.web.servlet;

import io.postroom.testkit.KeyedHttpContract;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.NetworkConnector;
import org.eclipse.jetty.server.Server;

/** A servlet for every path, on a real server. */
final class JettyServer implements KeyedHttpContract.Served {
    private final Server server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private final ServletContextHandler context = new ServletContextHandler();

    JettyServer(HttpServlet servlet) {
        ServletHolder holder = new ServletHolder(servlet);
        holder.setAsyncSupported(true);
        context.addServlet(holder, "/*");
        server.setHandler(context);
    }

    JettyServer filter(String path, Filter filter) {
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, path, EnumSet.allOf(DispatcherType.class));
        return this;
    }

    JettyServer start() {
        try {
            server.start();
            return this;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

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
}
