/**
 * Secrets that this process holds, so that no log line can show one: the logger replaces each by
 * `<redacted>`. Texts shorter than six characters are not registered; replacing them would garble everything.
 */
import { Context } from "effect"

const charactersMin = 6

export interface KnownSecrets {
  readonly add: (secret: string) => void
  readonly redact: (text: string) => string
}

export const makeSecrets = (): KnownSecrets => {
  const known = new Set<string>()
  return {
    add: (secret) => {
      if (secret.length < charactersMin) return
      known.add(secret)
      // As it stands in a line of JSON, when a quote or a backslash is in it.
      known.add(JSON.stringify(secret).slice(1, -1))
    },
    redact: (text) => {
      let clean = text
      for (const secret of known) clean = clean.replaceAll(secret, "<redacted>")
      return clean
    }
  }
}

const processSecrets = makeSecrets()

export const Secrets = Context.Reference<KnownSecrets>("starling/runtime/Secrets", {
  defaultValue: () => processSecrets
})
