/**
 * Takes secrets out of a text: values that are known, then shapes that are configured, then shapes that are known by
 * sight. Pure; what it makes of a text it leaves as it is when it sees it again, as far as the shapes allow.
 */
import type { RedactionPattern } from "#contracts"
import { type SecretShape, wellKnownSecrets } from "./well-known.ts"

export type Redact = (text: string) => string

// Replacing a shorter text everywhere would garble everything.
const secretCharactersMin = 6

export const makeRedact = (
  patterns: ReadonlyArray<RedactionPattern> = [],
  secrets: ReadonlyArray<string> = []
): Redact => {
  // The longer one first: it may hold the shorter.
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
