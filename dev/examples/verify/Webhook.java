import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies a webhook by the headers of Standard Webhooks. Needs the standard library alone. */
public final class Webhook {
    private static final Duration TOLERANCE = Duration.ofMinutes(5);
    private static final int SIGNATURES_MAX = 8;

    private Webhook() {}

    /** The key; null when the secret is none: whsec_ without 24 to 64 bytes in base64, or fewer than 16 bytes. */
    private static byte[] keyOf(String secret) {
        byte[] text = secret.getBytes(StandardCharsets.UTF_8);
        if (!secret.startsWith("whsec_")) return text.length >= 16 && !secret.startsWith("v1,") ? text : null;
        String encoded = secret.substring("whsec_".length());
        try {
            byte[] key = Base64.getDecoder().decode(encoded);
            // The decoder takes it without its padding too.
            boolean isWhole = Base64.getEncoder().encodeToString(key).equals(encoded);
            return isWhole && key.length >= 24 && key.length <= 64 ? key : null;
        } catch (IllegalArgumentException error) {
            return null;
        }
    }

    /** True when the body is from who holds the secret and was sent within five minutes of now. */
    public static boolean verify(String secret, Map<String, String> headers, byte[] body, Instant now)
            throws GeneralSecurityException {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        if (id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) return false;
        Instant sentAt = Instant.ofEpochSecond(Long.parseLong(timestamp));
        if (Duration.between(sentAt, now).abs().compareTo(TOLERANCE) > 0) return false;
        byte[] key = keyOf(secret);
        if (key == null) return false;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        // While a secret is rotated the header holds a signature by each, with a space between them.
        String[] given = headers.getOrDefault("webhook-signature", "").split(" ", SIGNATURES_MAX + 1);
        boolean isValid = false;
        for (int index = 0; index < Math.min(given.length, SIGNATURES_MAX); index++) {
            isValid |= MessageDigest.isEqual(expected, given[index].getBytes(StandardCharsets.UTF_8));
        }
        return isValid;
    }
}
