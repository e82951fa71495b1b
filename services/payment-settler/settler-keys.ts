/**
 * The settlers' keys of one network, from the environment. A fault is a network without a key, a variable that is not
 * set, a value that is no key, or a fee payer without its key. No part of a key is ever shown.
 */
import { Effect, Result } from "effect"
import { chainFamilyOf, hasFeePayer, type Json, type PaymentNetwork, unreadable } from "#contracts"
import { type ConfigurationFault, Environment, secretFromEnv, unsetSecret } from "#runtime"
import { readSettlerKey, type SettlerKey } from "#x402"

/** The keys of one configured network; every fault is reported at once. */
export const settlerKeysOf = Effect.fnUntraced(function* (
  entry: PaymentNetwork,
  index: number
): Effect.fn.Return<ReadonlyArray<SettlerKey>, ReadonlyArray<ConfigurationFault>> {
  const faults = keyFaultsOf({ ...entry }, index, yield* Environment)
  if (faults.length > 0) return yield* Effect.fail(faults)
  return yield* Effect.forEach(entry.SettlerKeyEnvVars, (variable, position) =>
    secretFromEnv(variable, pathOf(index, `SettlerKeyEnvVars[${position}]`)).pipe(
      Effect.map((secret) => Result.getOrThrow(readSettlerKey(entry.Network, secret))),
      Effect.mapError((fault): ReadonlyArray<ConfigurationFault> => [fault])
    )
  )
})

type Environment = Readonly<Record<string, string | undefined>>

/** The faults of one network as it is written, or as far as it can be read. A facilitator needs no key of ours. */
export const keyFaultsOf = (
  network: Json,
  index: number,
  environment: Environment
): ReadonlyArray<ConfigurationFault> => {
  const { Network: name, SettlerKeyEnvVars: variables = [], FacilitatorUrl: facilitator, FeePayer: feePayer } = network
  if (facilitator !== undefined || !Array.isArray(variables)) return []
  if (variables.length === 0) {
    return [{ path: pathOf(index, "SettlerKeyEnvVars"), message: "names no key to settle with" }]
  }
  if (typeof name !== "string" || chainFamilyOf(name) === undefined) return []
  const read = variables.map((variable: unknown, position) => {
    if (typeof variable !== "string") return undefined
    const path = pathOf(index, `SettlerKeyEnvVars[${position}]`)
    const unset = unsetSecret(environment, variable)
    if (unset !== undefined) return { path, message: unset }
    const key = readSettlerKey(name, environment[variable] ?? "")
    return Result.isFailure(key) ? { path, message: `${variable}: ${key.failure}` } : key.success.address
  })
  const faults = read.flatMap((one) => (typeof one === "object" ? [one] : []))
  const areKnown = read.every((one) => typeof one === "string")
  if (!hasFeePayer(name) || !areKnown || feePayer === unreadable || read.includes(String(feePayer))) return faults
  return [{ path: pathOf(index, "FeePayer"), message: `no key of SettlerKeyEnvVars is that of ${String(feePayer)}` }]
}

const pathOf = (index: number, key: string) => `Payments.Networks[${index}].${key}`
