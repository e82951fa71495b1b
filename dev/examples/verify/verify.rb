# Verifies a webhook by the headers of Standard Webhooks. Needs the standard library alone.
require "openssl"

module Webhook
  TOLERANCE_SECONDS = 300
  SIGNATURES_MAX = 8

  # The key; nil when the secret is none: whsec_ without 24 to 64 bytes in base64 after it, or fewer than 16 bytes.
  def self.key_of(secret)
    unless secret.start_with?("whsec_")
      return secret.bytesize >= 16 && !secret.start_with?("v1,") ? secret : nil
    end

    encoded = secret.delete_prefix("whsec_")
    key = encoded.unpack1("m")
    # The decoder skips what it cannot read.
    key.bytesize.between?(24, 64) && [key].pack("m0") == encoded ? key : nil
  end

  # True when the body is from who holds the secret and was sent within five minutes of now (epoch seconds).
  def self.verify(secret, headers, body, now = Time.now.to_i)
    id, timestamp = headers.fetch("webhook-id", ""), headers.fetch("webhook-timestamp", "")
    return false if id.empty? || !timestamp.match?(/\A\d{1,12}\z/)
    return false if (now - timestamp.to_i).abs > TOLERANCE_SECONDS

    key = key_of(secret)
    return false if key.nil?

    signed = "#{id}.#{timestamp}.".b + body.b
    expected = "v1,#{[OpenSSL::HMAC.digest("SHA256", key, signed)].pack("m0")}"
    # While a secret is rotated the header holds a signature by each, with a space between them.
    given = headers.fetch("webhook-signature", "").split(" ").first(SIGNATURES_MAX)
    given.any? { |one| OpenSSL.secure_compare(expected, one) }
  end
end
