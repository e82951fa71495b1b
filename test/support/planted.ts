/** Secrets that a test plants, and where they come to light: as they are, and in each form that a text may hide them in. */

import { randomBytes } from "node:crypto"

export type Secrets = Readonly<Record<string, string>>

export const planted = (prefix = "planted-") => `${prefix}${randomBytes(18).toString("hex")}`

/** One for each place where a fleet holds or meets one; those with a fixed format are recognised by it. */
export const plantedSecrets = () => ({
  webhook: planted(),
  standardWebhook: `whsec_${randomBytes(24).toString("base64")}`,
  address: planted(),
  provider: planted("sk-"),
  otherProvider: planted("sk-ant-"),
  brokerPassword: planted(),
  node: planted(),
  deadNode: planted(),
  wrongToken: `stl_${randomBytes(32).toString("base64url")}`,
  noPayment: planted(),
  prompt: planted(),
  failingPrompt: planted(),
  speech: planted("word"),
  refusedSpeech: planted("word"),
  question: `ghp_${randomBytes(18).toString("hex")}`,
  answer: planted("sk-"),
  /** Known by its value alone. */
  unreadable: planted(),
  unreadableToken: `glpat-${randomBytes(18).toString("hex")}`
})
export type PlantedSecrets = ReturnType<typeof plantedSecrets>

/** Its base64 within a longer text, for each of the three possible alignments. */
const base64Forms = (bytes: Buffer) =>
  [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
    // Characters that also hold bits of the neighbours are left out.
    const whole = text.slice([0, 2, 3][before], Math.floor(((before + bytes.length) * 8) / 6))
    return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")]
  })

const percentEncoded = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

export const formsOf = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString("hex")
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  const encoded = [...base64Forms(bytes), hex, hex.toUpperCase(), percentEncoded(bytes)]
  // A key in hex is often written without its prefix.
  const bare = secret.startsWith("0x") ? [secret.slice(2), ...base64Forms(Buffer.from(secret.slice(2), "hex"))] : []
  return [...new Set([...plain, ...encoded, ...bare])]
}

/** By place and secret; empty when none came to light. */
export const broughtToLight = (secrets: Secrets, places: ReadonlyArray<readonly [place: string, text: string]>) => {
  const forms = Object.entries(secrets).map(([name, secret]) => [name, formsOf(secret)] as const)
  return places.flatMap(([place, text]) =>
    forms.flatMap(([name, all]) => {
      const form = all.find((one) => text.includes(one))
      if (form === undefined) return []
      const at = text.indexOf(form)
      return [`${name} in ${place}: ${text.slice(Math.max(0, at - 120), at + form.length + 20)}`]
    })
  )
}
