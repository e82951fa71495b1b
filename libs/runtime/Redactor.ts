/**
 * Removes secrets from a text: known values, then configured shapes, then well-known shapes. Redacting a redacted text
 * again leaves it unchanged, as far as the shapes allow.
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import type { RedactionPattern } from "#base"
import { Environment } from "./host.ts"
import { Platform } from "./Platform.ts"

export type Redact = (text: string) => string

/** The process' redaction; without a configuration it still removes well-known shapes. */
export const Redactor = Context.Reference<{ readonly redact: Redact }>("starling/runtime/Redactor", {
  defaultValue: () => ({ redact: makeRedact() })
})

export const redactorLayer = Layer.effect(
  Redactor,
  Effect.gen(function* () {
    const { Redaction } = yield* Platform
    const environment = yield* Environment
    const secrets = Redaction.SecretEnvVars.flatMap((name) => environment[name] ?? [])
    return { redact: makeRedact(Redaction.Patterns, secrets) }
  })
)

// Replacing a shorter text everywhere would garble everything.
const secretCharactersMin = 6

export const makeRedact = (
  patterns: ReadonlyArray<RedactionPattern> = [],
  secrets: ReadonlyArray<string> = []
): Redact => {
  // The longer value first: it may contain the shorter.
  const values = secrets
    .filter((secret) => secret.length >= secretCharactersMin)
    .toSorted((left, right) => right.length - left.length)
  const configured = patterns.map(({ Name, Pattern, Flags }) => ({
    name: Name,
    pattern: new RegExp(Pattern, `gu${Flags ?? ""}`)
  }))
  return (text) => {
    let clean = text
    for (const value of values) clean = clean.replaceAll(value, "[secret]")
    for (const { name, pattern } of configured) clean = clean.replace(pattern, () => `[${name}]`)
    if (anySecret.test(clean)) for (const known of wellKnownSecrets) clean = withoutShape(clean, known)
    return clean
  }
}

const withoutShape = (text: string, [name, pattern]: SecretShape) =>
  text.replace(pattern, (_secret: string, kept: string) => `${kept}[${name}]`)

/**
 * The name that replaces the secret, as `[name]`, and its shape. The shape's first group is kept, because it shows the
 * purpose.
 */
type SecretShape = readonly [name: string, pattern: RegExp]

/** The order matters: a shape that contains others comes before them. */
const wellKnownSecrets: ReadonlyArray<SecretShape> = [
  // An unclosed block is removed to the end of the text, because all of the rest may belong to it.
  [
    "private-key",
    /()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/gu
  ],
  ["url-password", /(:\/\/[^\s:@/]{0,256}:)[^\s@/]{1,256}(?=@)/gu],
  ["aws-key", /(?<![A-Za-z0-9_-])()(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}/gu],
  ["github-token", /(?<![A-Za-z0-9_-])()(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}/gu],
  ["gitlab-token", /(?<![A-Za-z0-9_-])()gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,}/gu],
  ["slack-token", /(?<![A-Za-z0-9_-])()(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}/gu],
  ["slack-webhook", /(hooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9/]{10,}/gu],
  ["stripe-key", /(?<![A-Za-z0-9_-])()(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}/gu],
  ["api-key", /(?<![A-Za-z0-9_-])()sk-[A-Za-z0-9_-]{20,}/gu],
  ["google-key", /(?<![A-Za-z0-9_-])()AIza[A-Za-z0-9_-]{35}/gu],
  ["google-token", /(?<![A-Za-z0-9_-])()ya29\.[A-Za-z0-9_-]{20,}/gu],
  ["npm-token", /(?<![A-Za-z0-9_-])()npm_[A-Za-z0-9]{36}/gu],
  ["pypi-token", /(?<![A-Za-z0-9_-])()pypi-[A-Za-z0-9_-]{50,}/gu],
  ["starling-token", /(?<![A-Za-z0-9_-])()stl_[A-Za-z0-9_-]{43}/gu],
  ["jwt", /(?<![A-Za-z0-9_-])()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/gu],
  ["authorization", /\b((?:bearer|basic)[ \t]{1,4})[A-Za-z0-9._~+/-]{16,}={0,2}/giu],
  [
    "secret",
    /((?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?!\[)[^\s"',;]{8,}/giu
  ]
]

/**
 * Matches whatever any of the shapes matches. A body can have thousands of short literals, and trying each shape in
 * turn on each of them takes ten times as long.
 */
const anySecret = new RegExp(wellKnownSecrets.map(([, pattern]) => pattern.source).join("|"), "iu")

// The end of a long body can cut a secret in two, and no shape recognizes a part. No well-known secret is longer than
// this.
const secretBytesMax = 4 * 1_024

/** The value of such a key is a secret, whatever it looks like. */
const secretKey = /(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)$/iu

/** An unclosed literal extends to the end, so that no text is searched twice. */
const literal = String.raw`"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)`
/** A literal, with the colon after it if it is a key, and with its value if that is a literal or a number. */
const literals = new RegExp(String.raw`(${literal})(?:(\s*:\s*)(${literal}|-?\d[\d.eE+-]*)?)?`, "gsu")

const utf8 = new TextDecoder("utf-8", { fatal: false })
const utf8Encoder = new TextEncoder()

interface RedactedBody {
  /** The original bytes, if they held no secret. */
  readonly bytes: Uint8Array
  readonly isCut: boolean
}

/**
 * Removes secrets from the bytes of a message that failed to decode, so that an operator can still read its content.
 * JSON stays JSON of the same structure, numbers and blanks included; anything else is treated as text. Pure. Keeps at
 * most this many bytes, and redacts only these plus as many as a secret at the cut may need.
 */
export const redactBody = (body: Uint8Array, redact: Redact, bytesMax: number): RedactedBody => {
  const window = body.subarray(0, bytesMax + secretBytesMax)
  const text = utf8.decode(window)
  const clean = redactText(text, redact)
  const bytes = clean === text ? window : utf8Encoder.encode(clean)
  const known = window.length < body.length ? Math.max(0, bytes.length - secretBytesMax) : bytes.length
  const kept = bytes.subarray(0, Math.min(known, bytesMax))
  return { bytes: kept, isCut: window.length < body.length || kept.length < bytes.length }
}

const redactText = (text: string, redact: Redact): string => {
  const clean = text.replaceAll(literals, (_whole, first: string, colon?: string, value?: string) => {
    const key = redactedLiteral(first, redact)
    if (colon === undefined) return key
    return `${key}${colon}${value === undefined ? "" : redactedValue(value, first, redact)}`
  })
  // In JSON, a pattern that spans several literals would break the structure.
  return isJson(text) ? clean : redact(clean)
}

const redactedValue = (value: string, key: string, redact: Redact) => {
  const isSecret = value !== '""' && Option.exists(textOf(key), (name) => secretKey.test(name))
  if (isSecret) return '"[secret]"'
  return value.startsWith('"') ? redactedLiteral(value, redact) : value
}

const redactedLiteral = (written: string, redact: Redact) =>
  Option.match(textOf(written), {
    onNone: () => written,
    onSome: (text) => {
      const clean = text === "" ? text : redact(text)
      return clean === text ? written : JSON.stringify(clean)
    }
  })

/** None for a text that is not a literal. */
const textOf = (written: string): Option.Option<string> => Option.map(parsed(written), String)

const parsed = (text: string): Option.Option<unknown> =>
  Result.getSuccess(Result.try(() => JSON.parse(text) as unknown))

const isJson = (text: string) => Option.isSome(parsed(text))
