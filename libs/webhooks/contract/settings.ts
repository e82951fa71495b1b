/** `Webhooks`, the endpoints, and `WebhookDelivery`, the settings that all of them share. */
import { Schema } from "effect"
import {
  Cidr,
  deliveryLanesMax,
  EnvironmentName,
  FilePath,
  isName,
  optional,
  required,
  section,
  shownAs,
  span,
  WebUrl,
  whole,
  withDefault
} from "#base"
import { ContentFilter } from "./content-filter.ts"
import { deliveryFormats, endpointIdOf } from "./deliveries.ts"

// Room for two keys and a few labels; a receiver's own limit is rarely below 8 KiB for all headers.
const ownHeadersMax = 16
const ownHeaderCharactersMax = 1_024

/** Headers that the dispatcher or the connection sets. */
const fixedHeaders = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "traceparent",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent"
])
const fixedPrefixes = ["x-service-", "webhook-"]

/** Why each header is not allowed to be sent to a receiver; empty for an allowed one. */
const headerIssues = (headers: Readonly<Record<string, string>>) => {
  const names = Object.keys(headers)
  const lower = names.map((name) => name.toLowerCase())
  const issues = names.flatMap((name, index) => {
    const issue = headerIssue(lower[index] ?? "", headers[name] ?? "", lower.indexOf(lower[index] ?? "") < index)
    return issue === undefined ? [] : [{ path: [name], issue }]
  })
  const tooMany = names.length > ownHeadersMax ? [`at most ${ownHeadersMax} headers`] : []
  return [...tooMany, ...issues]
}

const headerIssue = (name: string, value: string, isRepeated: boolean) => {
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/u.test(name)) return "not the name of a header of at most 64 characters"
  if (fixedHeaders.has(name) || fixedPrefixes.some((prefix) => name.startsWith(prefix))) return "set by the dispatcher"
  if (isRepeated) return "named twice"
  return /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/u.test(value) && value.length <= ownHeaderCharactersMax
    ? undefined
    : `not 1 to ${ownHeaderCharactersMax} visible characters`
}

const OwnHeaders = Schema.Record(Schema.String, Schema.String).check(Schema.makeFilter(headerIssues))

/** `entity`, or a JSON pointer that names at least one member. */
const OrderBy = Schema.String.check(Schema.isMaxLength(200), Schema.isPattern(/^(?:entity|(?:\/(?:[^~/]|~[01])+)+)$/u))

const OAuthText = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,512}$/u))

const isOrigin = (text: string) => {
  const { pathname, search } = new URL(text)
  return (pathname === "/" && search === "") || "a proxy is named by scheme, host and port alone"
}
const ProxyOrigin = WebUrl.check(Schema.makeFilter((text) => !URL.canParse(text) || isOrigin(text)))
const ProxyUser = Schema.String.check(Schema.isPattern(/^[\x21-\x39\x3b-\x7e]{1,256}$/u))

/** One endpoint. Seconds may be fractions. */
export const EndpointEntry = Schema.Struct({
  Name: required(
    Schema.String.check(Schema.isBetweenLength(1, 100), isName),
    "Its label in logs and metrics; unique, and its id is made of it."
  ),
  Url: required(WebUrl, "Where events are posted, by https or http."),
  SecretEnvVar: optional(
    EnvironmentName,
    "The variable that holds the key of `X-Service-Signature`; without it bodies are not signed."
  ),
  Description: optional(Schema.String.check(Schema.isMaxLength(500)), "For who reads the list of endpoints."),
  EventFilter: withDefault(
    Schema.Array(Schema.String.check(Schema.isBetweenLength(1, 100))),
    [],
    "Events to deliver, by name or pattern (`iteration.*`). Empty: all but the eight progress events."
  ),
  ContentFilter: optional(
    ContentFilter,
    'Of these, those whose envelope fits, as an event pattern of EventBridge: `{ "project": { "id": ["p_1"] } }`.'
  ),
  Format: withDefault(
    Schema.Literals(deliveryFormats),
    "starling",
    "`starling` sends the envelope; the others a CloudEvent 1.0, as JSON or with its attributes in `ce-` headers."
  ),
  MaxAttempts: withDefault(whole(1, 20), 3, "Attempts before a delivery is given up."),
  InitialBackoffSeconds: withDefault(span(0.01, 3_600), 1, "Before the first retry; doubles with every attempt."),
  RetrySchedule: withDefault(
    Schema.Literals(["exponential", "patient"]),
    "exponential",
    "`exponential` retries as the two keys above say; `patient` makes nine attempts over two days and reads neither."
  ),
  TimeoutSeconds: withDefault(
    span(0.05, 300),
    10,
    "For a whole attempt, from the connection to the end of the answer."
  ),
  Concurrency: withDefault(whole(1, 1_024), 32, "Deliveries on the way to it at once, over all processes."),
  RatePerSecond: optional(span(0.01, 10_000), "Requests to it in a second at most, over all processes, evenly spaced."),
  BacklogMax: withDefault(
    whole(1, 10_000_000),
    100_000,
    "Deliveries that may wait for it; beyond, it is parked and caught up later from EVENTS."
  ),
  Jitter: withDefault(span(0, 1), 0, "Share of a wait that chance adds at most. 0: waits are exact."),
  CircuitBreaker: withDefault(
    Schema.Boolean,
    true,
    "Whether it is left in peace for a while after 20 failures in a row over 30 s; that costs no attempt."
  ),
  OrderBy: optional(
    OrderBy,
    "Delivers events with one key in their order, each after the one before has ended. `entity`, or a JSON pointer into the envelope: `/details/orderId`."
  ),
  Headers: shownAs("nothing")(
    withDefault(
      OwnHeaders,
      {},
      "Headers that the receiver wants beside ours, such as `Authorization`: at most 16, none that we or the connection set."
    )
  ),
  StandardWebhooksSecretEnvVar: optional(
    EnvironmentName,
    "The variable that holds the key of Standard Webhooks, whose headers are sent beside ours then."
  ),
  TlsCaFile: optional(
    FilePath,
    "The authorities that sign the receiver's certificate, as PEM; without it, those that Node believes. This and the two below are followed while the process runs."
  ),
  TlsCertificateFile: optional(
    FilePath,
    "The certificate by which the receiver knows us, as PEM with its chain, with `TlsKeyFile`."
  ),
  TlsKeyFile: optional(FilePath, "The key of `TlsCertificateFile`, as PEM without a password."),
  OAuthTokenUrl: optional(
    WebUrl,
    "Where a token is got by client credentials (OAuth 2.0), which the receiver then gets as `Authorization: Bearer`."
  ),
  OAuthClientId: optional(OAuthText, "Who we are at `OAuthTokenUrl`."),
  OAuthMethod: optional(
    Schema.Literals(["client_secret_basic", "client_secret_post", "private_key_jwt"]),
    "How we prove it: with a secret, by `client_secret_basic` unless this says otherwise, or with a key."
  ),
  OAuthSecretEnvVar: optional(EnvironmentName, "The variable that holds the client's secret."),
  OAuthKeyFile: optional(
    FilePath,
    "The client's private key, as PEM (RSA, P-256, P-384, P-521 or Ed25519), for `private_key_jwt`; followed as the files above."
  ),
  OAuthKid: optional(OAuthText, "By which the token server finds the public key: `kid`."),
  OAuthScopes: optional(
    Schema.Array(Schema.String.check(Schema.isPattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/u))).check(
      Schema.isMaxLength(32)
    ),
    "The scopes to ask for."
  ),
  OAuthAudience: optional(OAuthText, "The audience to ask for, where the token server wants one."),
  ProxyUrl: optional(
    Schema.Union([ProxyOrigin, Schema.Literal("none")]),
    "The forward proxy on the way to it, in place of that of `WebhookDelivery`; `none`: none."
  ),
  ProxyUsername: optional(ProxyUser, "Who we are at the endpoint's own proxy."),
  ProxyPasswordEnvVar: optional(EnvironmentName, "The variable that holds the password at that proxy.")
})
export interface EndpointEntry extends Schema.Schema.Type<typeof EndpointEntry> {}

/** Keys that name variables and files: an endpoint made at run time gets what they hold with a request. */
export const secretKeys = [
  "SecretEnvVar",
  "StandardWebhooksSecretEnvVar",
  "TlsCaFile",
  "TlsCertificateFile",
  "TlsKeyFile",
  "OAuthSecretEnvVar",
  "OAuthKeyFile",
  "ProxyPasswordEnvVar"
] as const

/** The contradictions within one endpoint of the file or made at run time. */
export const endpointRule = (entry: Omit<EndpointEntry, (typeof secretKeys)[number]>): true | string => {
  if (entry.ProxyUsername !== undefined && (entry.ProxyUrl === undefined || entry.ProxyUrl === "none")) {
    return "ProxyUsername needs ProxyUrl"
  }
  if ((entry.OAuthTokenUrl === undefined) !== (entry.OAuthClientId === undefined)) {
    return "OAuthTokenUrl and OAuthClientId come together"
  }
  if (entry.OAuthTokenUrl !== undefined) {
    const own = Object.keys(entry.Headers).some((name) => name.toLowerCase() === "authorization")
    return !own || "with OAuthTokenUrl, Authorization is not among Headers"
  }
  const isLone = [entry.OAuthMethod, entry.OAuthKid, entry.OAuthScopes, entry.OAuthAudience].some(
    (key) => key !== undefined
  )
  return !isLone || "keys of OAuth need OAuthTokenUrl"
}

const entryRule = (entry: EndpointEntry): true | string => {
  if ((entry.TlsCertificateFile === undefined) !== (entry.TlsKeyFile === undefined)) {
    return "TlsCertificateFile and TlsKeyFile come together"
  }
  if ((entry.ProxyUsername === undefined) !== (entry.ProxyPasswordEnvVar === undefined)) {
    return "ProxyUsername and ProxyPasswordEnvVar come together"
  }
  const needsKey = entry.OAuthTokenUrl !== undefined && entry.OAuthMethod === "private_key_jwt"
  if (needsKey !== (entry.OAuthKeyFile !== undefined))
    return "OAuthMethod private_key_jwt and OAuthKeyFile come together"
  const needsSecret = entry.OAuthTokenUrl !== undefined && !needsKey
  if (needsSecret !== (entry.OAuthSecretEnvVar !== undefined)) {
    return "OAuthSecretEnvVar is needed with OAuthTokenUrl, unless by private_key_jwt"
  }
  return endpointRule(entry)
}

/** More endpoints than this need a second deployment. */
const endpointsMax = 10_000

/** The names and ids shared by more than one endpoint. */
export const repeatedEndpoints = (entries: ReadonlyArray<Pick<EndpointEntry, "Name">>): ReadonlyArray<string> => {
  const seen = new Map<string, string>()
  return entries.flatMap(({ Name }) => {
    const id = endpointIdOf(Name)
    const other = seen.get(id)
    if (other === Name) return [`the Name ${JSON.stringify(Name)} is used twice`]
    if (other !== undefined) return [`the Names ${JSON.stringify(other)} and ${JSON.stringify(Name)} have the same id`]
    seen.set(id, Name)
    return []
  })
}

export const Webhooks = withDefault(
  Schema.Array(EndpointEntry.check(Schema.makeFilter(entryRule))).check(
    Schema.isMaxLength(endpointsMax),
    Schema.makeFilter(repeatedEndpoints)
  ),
  [],
  "The endpoints. None: events are only kept."
)

export const WebhookDelivery = section(
  {
    AllowCidrs: withDefault(
      Schema.Array(Cidr),
      [],
      "Networks that webhooks may be sent to although they are not public."
    ),
    Lanes: withDefault(
      whole(1, deliveryLanesMax),
      1,
      "Streams that deliveries are spread over by endpoint, each with a fan-out of its own. A change takes effect when every dispatcher has the new number."
    ),
    PartitionsAbove: withDefault(
      whole(0, 1_000),
      200,
      "Above so many endpoints they share consumers by partition, for each consumer costs the broker."
    ),
    ParkedMaxDays: withDefault(
      whole(1, 34),
      30,
      "How long a parked endpoint can be given all it missed; EVENTS keeps longer than the largest value."
    ),
    ArchiveAfterHours: withDefault(
      span(0.001, 8_760),
      24,
      "An endpoint absent from the configuration for so long is given up."
    ),
    RetryAfterMaxSeconds: withDefault(span(0, 86_400), 60, "The longest wait a receiver may ask for."),
    ProxyUrl: optional(
      ProxyOrigin,
      "A forward proxy on the way to all receivers and token servers, by CONNECT: `http://proxy.internal:3128`."
    ),
    ProxyUsername: optional(ProxyUser, "Who we are at `ProxyUrl`."),
    ProxyPasswordEnvVar: optional(EnvironmentName, "The variable that holds the password of `ProxyUsername`."),
    ProxyAllowCidrs: withDefault(
      Schema.Array(Cidr),
      [],
      "Networks in which proxies may be although they are not public, those of endpoints too."
    ),
    SecretsKeyEnvVar: optional(
      EnvironmentName,
      "The variable that holds a key: secrets of endpoints made at run time are then encrypted on the bus. The next release wants one where `Bus.Topology` is `verify`."
    ),
    PreviousSecretsKeyEnvVar: optional(
      EnvironmentName,
      "The variable that holds the key before that one, until `./starling endpoints reseal` has sealed all anew."
    )
  },
  ({ ProxyUrl, ProxyUsername, ProxyPasswordEnvVar }) => {
    if (ProxyUsername !== undefined && ProxyUrl === undefined) return "ProxyUsername needs ProxyUrl"
    const areTogether = (ProxyUsername === undefined) === (ProxyPasswordEnvVar === undefined)
    return areTogether || "ProxyUsername and ProxyPasswordEnvVar come together"
  }
)
export interface WebhookDelivery extends Schema.Schema.Type<typeof WebhookDelivery> {}
