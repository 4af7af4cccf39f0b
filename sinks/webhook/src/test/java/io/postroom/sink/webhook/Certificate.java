package io.postroom.sink.webhook;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A server's certificate from an authority of the tests' own, made by the JDK's keytool when first asked for. */
final class Certificate {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final KeyStore keys;

    private Certificate(KeyStore keys) {
        this.keys = keys;
    }

    /** Good for hooks.example.com and 127.0.0.1. */
    static Certificate trusted() {
        return Good.CERTIFICATE;
    }

    static Certificate expired() {
        return issue("san=dns:hooks.example.com", "-10d");
    }

    static Certificate notYetValid() {
        return issue("san=dns:hooks.example.com", "+10d");
    }

    static Certificate forAnotherHost() {
        return issue("san=dns:other.example.com,ip:127.0.0.1", "-1d");
    }

    /** What a client has to trust to trust these certificates. */
    static KeyStore authority() throws GeneralSecurityException, IOException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("authority", Authority.get().getCertificate("authority"));
        return trust;
    }

    /** For a server that shows this certificate. */
    SSLContext context() throws GeneralSecurityException {
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        return context;
    }

    /** Issues a certificate for five days from the given one on. */
    private static Certificate issue(String names, String start) {
        try {
            KeyStore made = Authority.get();
            String pem = Authority.keytool(
                    "-gencert",
                    "-alias",
                    "authority",
                    "-infile",
                    Authority.REQUEST.toString(),
                    "-rfc",
                    "-ext",
                    names,
                    "-startdate",
                    start,
                    "-validity",
                    "5");
            java.security.cert.Certificate certificate = CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
            Key key = made.getKey("server", PASSWORD);
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, null);
            keys.setKeyEntry("server", key, PASSWORD, new java.security.cert.Certificate[] {
                certificate, made.getCertificate("authority")
            });
            return new Certificate(keys);
        } catch (IOException | InterruptedException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Made once, when first needed. */
    private static final class Good {
        private static final Certificate CERTIFICATE = issue("san=dns:hooks.example.com,ip:127.0.0.1", "-1d");
    }

    /** The authority's and the server's keys, and the server's request, in files that go away with the process. */
    private static final class Authority {
        private static final Path FOLDER;
        private static final Path KEYS;
        private static final Path REQUEST;

        static {
            try {
                FOLDER = Files.createTempDirectory("certificate");
                KEYS = FOLDER.resolve("keys.p12");
                REQUEST = FOLDER.resolve("server.csr");
                FOLDER.toFile().deleteOnExit();
                KEYS.toFile().deleteOnExit();
                REQUEST.toFile().deleteOnExit();
                keytool(
                        "-genkeypair",
                        "-alias",
                        "authority",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=authority",
                        "-ext",
                        "bc:c");
                keytool("-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=server");
                keytool("-certreq", "-alias", "server", "-file", REQUEST.toString());
            } catch (IOException | InterruptedException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private static KeyStore get() throws GeneralSecurityException, IOException {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(KEYS)) {
                keys.load(in, PASSWORD);
            }
            return keys;
        }

        private static String keytool(String... options) throws IOException, InterruptedException {
            List<String> command = new ArrayList<>();
            command.add(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
            command.addAll(List.of(options));
            command.addAll(
                    List.of("-keystore", KEYS.toString(), "-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
            Process keytool = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (keytool.waitFor() != 0) {
                throw new IOException("keytool failed: " + output);
            }
            return output;
        }
    }
}
