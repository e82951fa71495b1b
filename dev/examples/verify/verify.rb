# Verifies a webhook by the headers of Standard Webhooks. Needs the standard library alone.
require "openssl"

module Webhook
  TOLERANCE_SECONDS = 300
  SIGNATURES_MAX = 8

  # True when the body is from who holds the secret and was sent within five minutes of now (epoch seconds).
  def self.verify(secret, headers, body, now = Time.now.to_i)
    id, timestamp = headers.fetch("webhook-id", ""), headers.fetch("webhook-timestamp", "")
    return false if id.empty? || !timestamp.match?(/\A\d{1,12}\z/)
    return false if (now - timestamp.to_i).abs > TOLERANCE_SECONDS

    key = secret.start_with?("whsec_") ? secret.delete_prefix("whsec_").unpack1("m") : secret
    signed = "#{id}.#{timestamp}.".b + body.b
    expected = "v1,#{[OpenSSL::HMAC.digest("SHA256", key, signed)].pack("m0")}"
    # While a secret is rotated the header holds a signature by each, with a space between them.
    given = headers.fetch("webhook-signature", "").split(" ").first(SIGNATURES_MAX)
    given.any? { |one| OpenSSL.secure_compare(expected, one) }
  end
end
