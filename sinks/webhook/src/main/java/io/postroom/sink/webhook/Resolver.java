package io.postroom.sink.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Turns a host name into its addresses. The system's resolver in production; tests answer as an attacker's name server. */
@FunctionalInterface
interface Resolver {

    InetAddress[] resolve(String host) throws UnknownHostException;
}
