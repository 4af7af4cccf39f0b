package io.postroom.sink.webhook;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret that signs webhooks: {@code whsec_} for HMAC-SHA256, {@code whsk_} for ed25519. Immutable, safe for use by many
 * threads; {@code toString} shows the kind alone.
 */
abstract sealed class SigningKey {
    static final String HMAC_PREFIX = "whsec_";
    static final String ED25519_PREFIX = "whsk_";
    static final int HMAC_BYTES_MIN = 24;
    static final int HMAC_BYTES_MAX = 64;

    private static final int ED25519_SEED_BYTES = 32;
    /** An ed25519 public key in X.509 is these bytes and the key. */
    private static final byte[] ED25519_X509 = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

    private final byte[] encoded;

    private SigningKey(byte[] encoded) {
        this.encoded = encoded;
    }

    /** Reads a secret in its text form; the exception says what is wrong without repeating it. */
    static SigningKey parse(String text) {
        if (text.startsWith(HMAC_PREFIX)) {
            byte[] secret = base64(text, HMAC_PREFIX);
            if (secret.length < HMAC_BYTES_MIN || secret.length > HMAC_BYTES_MAX) {
                throw new IllegalArgumentException("secret has " + secret.length + " bytes after " + HMAC_PREFIX
                        + ", it takes " + HMAC_BYTES_MIN + " to " + HMAC_BYTES_MAX);
            }
            return new Hmac(secret);
        }
        if (text.startsWith(ED25519_PREFIX)) {
            byte[] key = base64(text, ED25519_PREFIX);
            if (key.length != ED25519_SEED_BYTES && key.length != 2 * ED25519_SEED_BYTES) {
                throw new IllegalArgumentException("secret has " + key.length + " bytes after " + ED25519_PREFIX
                        + ", it takes 32, or 64 with the public key");
            }
            return new Ed25519(key);
        }
        throw new IllegalArgumentException("secret begins with neither " + HMAC_PREFIX + " nor " + ED25519_PREFIX);
    }

    private static byte[] base64(String text, String prefix) {
        try {
            return Base64.getDecoder().decode(text.substring(prefix.length()));
        } catch (IllegalArgumentException e) {
            // Not as a cause: its message quotes characters of the secret.
            throw new IllegalArgumentException("secret is not base64 after " + prefix);
        }
    }

    /** One element of the webhook-signature header, for the bytes of both parts one after the other. */
    abstract String sign(byte[] prefix, byte[] body);

    final boolean sameAs(SigningKey other) {
        return getClass() == other.getClass() && MessageDigest.isEqual(encoded, other.encoded);
    }

    private static final class Hmac extends SigningKey {
        private static final String ALGORITHM = "HmacSHA256";

        private final SecretKeySpec key;

        private Hmac(byte[] secret) {
            super(secret);
            key = new SecretKeySpec(secret, ALGORITHM);
        }

        @Override
        String sign(byte[] prefix, byte[] body) {
            try {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(key);
                mac.update(prefix);
                return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public String toString() {
            return HMAC_PREFIX + "***";
        }
    }

    private static final class Ed25519 extends SigningKey {
        private static final String ALGORITHM = "Ed25519";

        private final PrivateKey key;

        private Ed25519(byte[] encoded) {
            super(encoded);
            byte[] seed = Arrays.copyOf(encoded, ED25519_SEED_BYTES);
            try {
                key = KeyFactory.getInstance(ALGORITHM)
                        .generatePrivate(new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed));
                if (encoded.length > ED25519_SEED_BYTES) {
                    requireOwn(Arrays.copyOfRange(encoded, ED25519_SEED_BYTES, encoded.length));
                }
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Refuses halves of two key pairs, which would sign what nobody can verify. */
        private void requireOwn(byte[] publicKey) throws GeneralSecurityException {
            byte[] x509 = Arrays.copyOf(ED25519_X509, ED25519_X509.length + publicKey.length);
            System.arraycopy(publicKey, 0, x509, ED25519_X509.length, publicKey.length);
            Signature verifier = Signature.getInstance(ALGORITHM);
            boolean own;
            try {
                verifier.initVerify(KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(x509)));
                byte[] probe = {1};
                verifier.update(probe);
                own = verifier.verify(signature(probe, new byte[0]));
            } catch (GeneralSecurityException e) {
                own = false;
            }
            if (!own) {
                throw new IllegalArgumentException("secret's public half does not belong to its private half");
            }
        }

        private byte[] signature(byte[] prefix, byte[] body) throws GeneralSecurityException {
            Signature signer = Signature.getInstance(ALGORITHM);
            signer.initSign(key);
            signer.update(prefix);
            signer.update(body);
            return signer.sign();
        }

        @Override
        String sign(byte[] prefix, byte[] body) {
            try {
                return "v1a," + Base64.getEncoder().encodeToString(signature(prefix, body));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public String toString() {
            return ED25519_PREFIX + "***";
        }
    }
}
