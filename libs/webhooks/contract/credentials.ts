/**
 * Credentials of an endpoint made at run time, beside its signing secrets: by what it knows its receiver, and its
 * receiver knows us. They come with a request, are sealed on the bus, and are never shown.
 */
import { Schema } from "effect"
import { describe, text } from "#base"

const credential = (charactersMax: number, about: string) =>
  Schema.optionalKey(Schema.NullOr(text(charactersMax))).pipe(describe(about))

export const Credentials = Schema.Struct({
  tlsCa: credential(
    32_768,
    "The authorities that sign the receiver's certificate, as PEM, in place of the usual ones."
  ),
  tlsCertificate: credential(16_384, "The certificate by which the receiver knows us, as PEM with its chain."),
  tlsKey: credential(8_192, "The key of `tlsCertificate`, as PEM without a password."),
  oauthSecret: credential(1_024, "The client's secret at `OAuthTokenUrl`."),
  oauthKey: credential(8_192, "Its private key, as PEM without a password, for `private_key_jwt`."),
  proxyPassword: credential(256, "The password of `ProxyUsername`.")
}).annotate({ identifier: "EndpointCredentials" })
export interface Credentials extends Schema.Schema.Type<typeof Credentials> {}

/** A certificate among the credentials of an endpoint, as it is shown. */
export const CertificateFacts = Schema.Struct({
  credential: Schema.String.pipe(describe("`tlsCa` or `tlsCertificate`.")),
  subject: Schema.String,
  issuer: Schema.String,
  endsAt: Schema.String.pipe(describe("Until when it is valid."))
}).annotate({ identifier: "CertificateFacts" })
export interface CertificateFacts extends Schema.Schema.Type<typeof CertificateFacts> {}
