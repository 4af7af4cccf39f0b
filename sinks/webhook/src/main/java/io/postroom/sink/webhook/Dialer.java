package io.postroom.sink.webhook;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Opens connections to one endpoint; the only place that opens sockets.
 *
 * <p>Each time it resolves the name, has every address checked, and connects to an address object that passed: a name server
 * that answers differently the next time changes nothing. Names lead to a TLS handshake with that name in SNI and in the
 * certificate. Safe for use by many threads.
 */
final class Dialer {
    private static final int ADDRESSES_TRIED_MAX = 3;
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

    private final Endpoint endpoint;
    private final AddressGuard guard;
    private final Resolver resolver;
    private final ExecutorService lookups;
    private final SSLSocketFactory tls;
    private final Duration connectTimeout;
    private final Watchdog watchdog;

    Dialer(
            Endpoint endpoint,
            AddressGuard guard,
            Resolver resolver,
            ExecutorService lookups,
            SSLSocketFactory tls,
            Duration connectTimeout,
            Watchdog watchdog) {
        this.endpoint = endpoint;
        this.guard = guard;
        this.resolver = resolver;
        this.lookups = lookups;
        this.tls = tls;
        this.connectTimeout = connectTimeout;
        this.watchdog = watchdog;
    }

    HttpConnection dial(Deadline deadline) throws UnreachableException, InterruptedException {
        List<InetAddress> addresses = checkedAddresses(deadline);
        UnreachableException last = new UnreachableException(ErrorClass.DNS, "its name has no address");
        for (InetAddress address : addresses.subList(0, Math.min(ADDRESSES_TRIED_MAX, addresses.size()))) {
            try {
                return connect(address, deadline);
            } catch (UnreachableException e) {
                last = e;
            }
        }
        throw last;
    }

    /** All addresses of the endpoint; one bad address spoils the name, since an attacker chooses the order of the answers. */
    private List<InetAddress> checkedAddresses(Deadline deadline) throws UnreachableException, InterruptedException {
        List<InetAddress> checked = new ArrayList<>();
        for (InetAddress given :
                endpoint.literal() == null ? lookUp(deadline) : new InetAddress[] {endpoint.literal()}) {
            InetAddress address = bare(given);
            String objection = guard.objection(address);
            if (objection != null) {
                throw new UnreachableException(ErrorClass.ADDRESS_REFUSED, "the address " + objection);
            }
            checked.add(address);
        }
        return checked;
    }

    /** The same address without a name, so that nothing can look the name up again. */
    private static InetAddress bare(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Asks on a thread of its own, because a lookup can be neither timed nor interrupted. */
    private InetAddress[] lookUp(Deadline deadline) throws UnreachableException, InterruptedException {
        Future<InetAddress[]> lookup;
        try {
            lookup = lookups.submit(() -> resolver.resolve(endpoint.host()));
        } catch (RejectedExecutionException e) {
            throw new UnreachableException(
                    ErrorClass.DNS, "earlier lookups of its name are still waiting for a name server");
        }
        try {
            return lookup.get(deadline.millisLeft(connectTimeout), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            lookup.cancel(true);
            throw new UnreachableException(
                    ErrorClass.DNS, "its name was not resolved within " + connectTimeout.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw new UnreachableException(ErrorClass.DNS, "its name does not resolve");
        }
    }

    private HttpConnection connect(InetAddress address, Deadline deadline) throws UnreachableException {
        // Explicitly without a proxy: otherwise a system property could send the connection anywhere.
        Socket raw = new Socket(Proxy.NO_PROXY);
        ScheduledFuture<?> watch = watchdog.watch(raw, deadline);
        try {
            raw.setTcpNoDelay(true);
            raw.connect(new InetSocketAddress(address, endpoint.port()), deadline.millisLeft(connectTimeout));
            return new HttpConnection(raw, endpoint.tls() ? handshake(raw) : raw);
        } catch (IOException e) {
            Watchdog.close(raw);
            throw deadline.passed()
                    ? new UnreachableException(ErrorClass.CONNECT, "no connection before the deadline of the attempt")
                    : unreachable(e);
        } finally {
            watch.cancel(false);
        }
    }

    private Socket handshake(Socket raw) throws IOException {
        SSLSocket socket = (SSLSocket) tls.createSocket(raw, bareHost(), endpoint.port(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setProtocols(PROTOCOLS);
        parameters.setApplicationProtocols(new String[] {"http/1.1"});
        parameters.setServerNames(endpoint.literal() == null ? List.of(new SNIHostName(endpoint.host())) : List.of());
        socket.setSSLParameters(parameters);
        try {
            socket.startHandshake();
        } catch (IOException e) {
            throw new UnreachableException(ErrorClass.TLS, "the TLS handshake failed, " + tlsFact(e));
        }
        return socket;
    }

    private String bareHost() {
        String host = endpoint.host();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private UnreachableException unreachable(IOException e) {
        return e instanceof UnreachableException known ? known : new UnreachableException(ErrorClass.CONNECT, fact(e));
    }

    /** By type alone: messages of exceptions may quote what the peer sent. */
    private String fact(IOException e) {
        if (e instanceof SocketTimeoutException) {
            return "no connection within " + connectTimeout.toMillis() + " ms";
        }
        if (e instanceof NoRouteToHostException) {
            return "there is no route to it";
        }
        return e instanceof ConnectException
                ? "the connection was refused"
                : "the connection failed (" + e.getClass().getSimpleName() + ")";
    }

    private static String tlsFact(IOException e) {
        Throwable root = e;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        if (root instanceof CertificateExpiredException) {
            return "the certificate has expired";
        }
        if (root instanceof CertificateNotYetValidException) {
            return "the certificate is not valid yet";
        }
        return switch (root.getClass().getSimpleName()) {
            case "SunCertPathBuilderException" -> "the certificate is not from a trusted authority";
            case "CertificateException" -> "the certificate is for another host";
            default -> root.getClass().getSimpleName();
        };
    }
}
