/**
 * Removes secrets from a text: known values, then configured shapes, then well-known shapes. A redacted text passes
 * unchanged when it is redacted again, as far as the shapes allow.
 */
import { Context, Effect, Layer } from "effect"
import type { RedactionPattern } from "#contracts"
import { Configuration } from "../Configuration.ts"
import { Environment } from "../process.ts"

export type Redact = (text: string) => string

/** The process' redaction; without a configuration it still removes well-known shapes. */
export const Redactor = Context.Reference<{ readonly redact: Redact }>("starling/runtime/Redactor", {
  defaultValue: () => ({ redact: makeRedact() })
})

export const redactorLayer = Layer.effect(
  Redactor,
  Effect.gen(function* () {
    const { Redaction } = yield* Configuration
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
    for (const known of wellKnownSecrets) clean = withoutShape(clean, known)
    return clean
  }
}

const withoutShape = (text: string, { name, pattern }: SecretShape) =>
  text.replace(pattern, (_secret: string, kept: string) => `${kept}[${name}]`)

/** A well-known shape of secrets. */
interface SecretShape {
  /** The name that replaces the secret, as `[name]`. */
  readonly name: string
  /** Has the flag `g`. A first group is kept: it tells the purpose of the secret. */
  readonly pattern: RegExp
}

// Each pattern is linear: it begins at a literal or at the edge of a token, and its repetition cannot begin it anew
// without having matched.
const edge = String.raw`(?<![A-Za-z0-9_-])`
const shape = (name: string, source: string, flags = "gu"): SecretShape => ({
  name,
  pattern: new RegExp(source, flags)
})
/** A token of these characters that begins with a prefix of its own. */
const prefixed = (name: string, source: string) => shape(name, `${edge}()${source}`)

/** The order matters: a shape that contains others goes before them. */
const wellKnownSecrets: ReadonlyArray<SecretShape> = [
  // A block that is not closed is removed to the end, because all of the rest may belong to it.
  shape(
    "private-key",
    String.raw`()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)`
  ),
  shape("url-password", String.raw`(:\/\/[^\s:@/]{0,256}:)[^\s@/]{1,256}(?=@)`),
  prefixed("aws-key", String.raw`(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}`),
  prefixed("github-token", String.raw`(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`),
  prefixed("gitlab-token", String.raw`gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,}`),
  prefixed("slack-token", String.raw`(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}`),
  shape("slack-webhook", String.raw`(hooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9/]{10,}`),
  prefixed("stripe-key", String.raw`(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}`),
  prefixed("api-key", String.raw`sk-[A-Za-z0-9_-]{20,}`),
  prefixed("google-key", String.raw`AIza[A-Za-z0-9_-]{35}`),
  prefixed("google-token", String.raw`ya29\.[A-Za-z0-9_-]{20,}`),
  prefixed("npm-token", String.raw`npm_[A-Za-z0-9]{36}`),
  prefixed("pypi-token", String.raw`pypi-[A-Za-z0-9_-]{50,}`),
  prefixed("starling-token", String.raw`stl_[A-Za-z0-9_-]{43}`),
  prefixed("jwt", String.raw`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
  shape("authorization", String.raw`\b((?:bearer|basic)[ \t]{1,4})[A-Za-z0-9._~+/-]{16,}={0,2}`, "giu"),
  shape(
    "secret",
    String.raw`((?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?!\[)[^\s"',;]{8,}`,
    "giu"
  )
]
