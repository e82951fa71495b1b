/** What a form says of an endpoint, as the keys of the configuration file. Pure. */

type Settings = Readonly<Record<string, unknown>>

export interface SettingField {
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly kind: "text" | "number" | "list" | "optionalList" | "switch" | "choice" | "json"
  readonly choices?: ReadonlyArray<string>
}

/** In the order in which they are asked for. The first two are all that an endpoint needs. */
export const settingFields: ReadonlyArray<SettingField> = [
  { key: "Name", label: "Name", hint: "Its label in lists, logs and metrics.", kind: "text" },
  { key: "Url", label: "Address", hint: "Where events are posted: https://ci.example/hooks", kind: "text" },
  {
    key: "EventFilter",
    label: "Events",
    hint: "Names or patterns, with commas: work_item.*, queue.paused. Empty: all but progress.",
    kind: "list"
  },
  {
    key: "ContentFilter",
    label: "What they must hold",
    hint: 'An event pattern, as JSON: { "project": { "id": ["orchard"] } }. Empty: anything.',
    kind: "json"
  },
  { key: "Description", label: "Description", hint: "For who reads the list.", kind: "text" },
  {
    key: "Format",
    label: "Format",
    hint: "The envelope, or a CloudEvent as JSON or with its attributes in headers.",
    kind: "choice",
    choices: ["starling", "cloudevents-structured", "cloudevents-binary"]
  },
  { key: "MaxAttempts", label: "Attempts", hint: "1 to 20; 3 if empty.", kind: "number" },
  {
    key: "RetrySchedule",
    label: "Retries",
    hint: "Patient: nine attempts over two days.",
    kind: "choice",
    choices: ["exponential", "patient"]
  },
  {
    key: "InitialBackoffSeconds",
    label: "First retry after (s)",
    hint: "Doubles each time; 1 if empty.",
    kind: "number"
  },
  { key: "TimeoutSeconds", label: "Time for an attempt (s)", hint: "10 if empty.", kind: "number" },
  { key: "Concurrency", label: "At once", hint: "Deliveries on the way; 32 if empty.", kind: "number" },
  { key: "RatePerSecond", label: "A second", hint: "Requests at most; empty: any number.", kind: "number" },
  {
    key: "BacklogMax",
    label: "Backlog at most",
    hint: "Deliveries; beyond, it is parked. 100,000 if empty.",
    kind: "number"
  },
  {
    key: "OrderBy",
    label: "In order by",
    hint: "entity, or a pointer into the event: /details/orderId. Empty: no order.",
    kind: "text"
  },
  { key: "CircuitBreaker", label: "Breaker", hint: "Opens after 20 failures in a row.", kind: "switch" },
  {
    key: "OAuthTokenUrl",
    label: "Token server",
    hint: "For a receiver that asks for OAuth: where its tokens are got. Its secret is below.",
    kind: "text"
  },
  { key: "OAuthClientId", label: "OAuth client", hint: "Who we are at the token server.", kind: "text" },
  {
    key: "OAuthMethod",
    label: "OAuth method",
    hint: "How we prove it.",
    kind: "choice",
    choices: ["client_secret_basic", "client_secret_post", "private_key_jwt"]
  },
  {
    key: "OAuthKid",
    label: "OAuth key id",
    hint: "For private_key_jwt, where the token server wants one.",
    kind: "text"
  },
  { key: "OAuthScopes", label: "OAuth scopes", hint: "With commas.", kind: "optionalList" },
  { key: "OAuthAudience", label: "OAuth audience", hint: "Where the token server wants one.", kind: "text" },
  {
    key: "ProxyUrl",
    label: "Proxy",
    hint: "On the way to it: http://proxy.internal:3128. none: none. Empty: the usual one.",
    kind: "text"
  },
  { key: "ProxyUsername", label: "Proxy user", hint: "Its password is below.", kind: "text" }
]

/** A setting as text for its control; empty where it has none. */
export const typedOf = (settings: Settings, { key, kind }: SettingField): string => {
  const value = settings[key]
  if (value === undefined || value === null) return kind === "switch" ? "true" : ""
  if (kind === "json") return JSON.stringify(value)
  return Array.isArray(value) ? value.join(", ") : String(value)
}

/** What was typed, as a setting; undefined where nothing was. */
export const settingOf = (typed: string, { kind }: SettingField): unknown => {
  const text = typed.trim()
  const words = text.split(/[\s,]+/u).filter((name) => name !== "")
  if (kind === "list") return words
  if (text === "") return undefined
  if (kind === "optionalList") return words
  if (kind === "json") return parsed(text)
  if (kind === "number") return Number.isNaN(Number(text)) ? text : Number(text)
  return kind === "switch" ? text === "true" : text
}

/** What is no JSON stays text, and the API says so. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

type Typed = Readonly<Record<string, string>>

/** The settings of a new endpoint: what was typed, and nothing else. */
export const newSettings = (typed: Typed): Settings =>
  Object.fromEntries(
    settingFields.flatMap((field) => {
      const value = typed[field.key] === undefined ? undefined : settingOf(typed[field.key] ?? "", field)
      return value === undefined ? [] : [[field.key, value]]
    })
  )

/** The filters as they would be, for a trial. */
export const filtersIn = (before: Settings, typed: Typed): Settings =>
  Object.fromEntries(
    settingFields.flatMap((field) => {
      if (field.key !== "EventFilter" && field.key !== "ContentFilter") return []
      const value = settingOf(typed[field.key] ?? typedOf(before, field), field)
      return value === undefined ? [] : [[field.key, value]]
    })
  )

/** What differs from the settings there are; a setting that was emptied is null, which gives it its default again. */
export const changedSettings = (before: Settings, typed: Typed): Settings =>
  Object.fromEntries(
    settingFields.flatMap((field) => {
      const text = typed[field.key]
      if (text === undefined || text === typedOf(before, field)) return []
      return [[field.key, settingOf(text, field) ?? null]]
    })
  )

export const credentialFields = [
  {
    name: "tlsCa",
    label: "Authorities (PEM)",
    hint: "Those that sign the receiver's certificate; empty: the usual ones."
  },
  {
    name: "tlsCertificate",
    label: "Client certificate (PEM)",
    hint: "By which the receiver knows us, with its chain."
  },
  { name: "tlsKey", label: "Client key (PEM)", hint: "Of that certificate, without a password. Never shown again." },
  { name: "oauthSecret", label: "OAuth secret", hint: "Of the client, at the token server. Never shown again." },
  { name: "oauthKey", label: "OAuth key (PEM)", hint: "In its place, for private_key_jwt." },
  { name: "proxyPassword", label: "Proxy password", hint: "Of the proxy's user. Never shown again." }
] as const

export type CredentialName = (typeof credentialFields)[number]["name"]
export type Credentials = Readonly<Partial<Record<CredentialName, string>>>

/** As a request has them: only those that were typed. */
export const givenCredentials = (typed: Credentials) => {
  const given = Object.entries(typed).filter(([, text]) => text.trim() !== "")
  return given.length === 0 ? {} : { credentials: Object.fromEntries(given) }
}

/** A key that no one guesses: 32 bytes of chance. `bytes` gives them. */
export const newSecret = (bytes: Uint8Array): string => `whsec_${btoa(String.fromCodePoint(...bytes))}`
