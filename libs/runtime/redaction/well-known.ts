/**
 * The shapes of secrets that are known by sight: keys of the usual providers, bearer tokens, private keys, passwords
 * in URLs and in assignments. Each pattern is linear: it begins at a literal or at the edge of a token, and what it
 * repeats cannot begin it anew without having matched.
 */

export interface SecretShape {
  /** Stands in the secret's place, as `[name]`. */
  readonly name: string
  /** With the flag `g`. A first group is kept: it says what the secret was for. */
  readonly pattern: RegExp
}

const edge = String.raw`(?<![A-Za-z0-9_-])`
const shape = (name: string, source: string, flags = "gu"): SecretShape => ({
  name,
  pattern: new RegExp(source, flags)
})
/** A token of these characters that begins with a prefix of its own. */
const prefixed = (name: string, source: string) => shape(name, `${edge}()${source}`)

/** In this order: what holds other secrets goes before them. */
export const wellKnownSecrets: ReadonlyArray<SecretShape> = [
  // One that is not closed is cut off; all of the rest may be of it.
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
