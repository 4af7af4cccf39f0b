package io.postroom.sink.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A server's key with a certificate that it signed itself, made by the JDK's keytool when a test first asks for it. */
final class Certificate {
    private static final String PASSWORD = "changeit";
    private static final Map<String, Certificate> MADE = new ConcurrentHashMap<>();

    private final KeyStore keys;

    private Certificate(KeyStore keys) {
        this.keys = keys;
    }

    /** Good for hooks.example.com and 127.0.0.1. */
    static Certificate trusted() {
        return made("-ext", "san=dns:hooks.example.com,ip:127.0.0.1", "-validity", "30");
    }

    static Certificate expired() {
        return made("-ext", "san=dns:hooks.example.com", "-startdate", "-10d", "-validity", "5");
    }

    static Certificate notYetValid() {
        return made("-ext", "san=dns:hooks.example.com", "-startdate", "+10d", "-validity", "5");
    }

    static Certificate forAnotherHost() {
        return made("-ext", "san=dns:other.example.com,ip:127.0.0.1", "-validity", "30");
    }

    private static Certificate made(String... options) {
        return MADE.computeIfAbsent(String.join(" ", options), key -> {
            try {
                return make(options);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static Certificate make(String... options)
            throws IOException, InterruptedException, GeneralSecurityException {
        Path folder = Files.createTempDirectory("certificate");
        Path file = folder.resolve("keys.p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server"));
        command.addAll(
                List.of("-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=test", "-storetype", "PKCS12"));
        command.addAll(List.of("-keystore", file.toString(), "-storepass", PASSWORD));
        command.addAll(List.of(options));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(keytool.getInputStream().readAllBytes());
        if (keytool.waitFor() != 0) {
            throw new IOException(output);
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Files.delete(file);
        Files.delete(folder);
        return new Certificate(keys);
    }

    /** For a server that shows this certificate. */
    SSLContext context() throws GeneralSecurityException {
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        return context;
    }

    /** For a client that trusts this certificate. */
    KeyStore authority() throws GeneralSecurityException, IOException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("server", keys.getCertificate("server"));
        return trust;
    }
}
