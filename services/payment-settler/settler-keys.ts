/**
 * The settlers' keys: the only place that decides where a key is held: in the environment, in an encrypted file, or by
 * a signing program. A fault is a network without a key, a variable or file without one, a key of another address, or a
 * fee payer without its key. No part of a key or of a password is ever shown.
 */
import { Clock, Context, Effect, Layer, Result, type Scope } from "effect"
import {
  chainFamilyOf,
  hasFeePayer,
  isSameAddress,
  type PaymentChannels,
  type PaymentNetwork,
  type PaymentRefunds,
  type Payments,
  type PaymentSigner
} from "#payments/contract"
import { Configuration, type Json, unreadable } from "#configuration"
import type { ConfiguredHttp } from "#egress"
import {
  check,
  checkCertificate,
  type ConfigurationFault,
  Environment,
  type Health,
  InvalidConfiguration,
  Metrics,
  readTextFile,
  secretFromEnv,
  Secrets,
  variableFault
} from "#runtime"
import { localEvmKey, openKeystore, openRemoteSigner, readKeystore, readSettlerKey, type SettlerKey } from "#payments"
import { signatures, signatureSeconds } from "./metrics.ts"

/** Where a key is held, as reported in metrics. */
export type SignerKind = "environment" | "keystore" | "remote"

/** A signer not yet bound to a network: a key of one chain of a family works on all of them. */
interface OpenSigner {
  readonly kind: SignerKind
  readonly key: Omit<SettlerKey, "network">
}

type Faults = ReadonlyArray<ConfigurationFault>

/** Everything that signs for the settler comes from this service. */
export class SettlerKeys extends Context.Service<
  SettlerKeys,
  {
    /** The keys of one configured network; reports all faults at once. */
    readonly keysOf: (entry: PaymentNetwork, index: number) => Effect.Effect<ReadonlyArray<SettlerKey>, Faults>
    /** The keys that sign claims and refunds of one network's channels; first the key of the channels accepted now. */
    readonly authorizersOf: (terms: PaymentChannels, index: number) => Effect.Effect<ReadonlyArray<SettlerKey>, Faults>
    /** The key of the account that sends refunds. */
    readonly refunderOf: (terms: PaymentRefunds, index: number) => Effect.Effect<SettlerKey, Faults>
  }
>()("starling/payment-settler/SettlerKeys") {
  static readonly layer = Layer.effect(
    SettlerKeys,
    Effect.suspend(() => openSettlerKeys())
  )
}

const openSettlerKeys = Effect.fnUntraced(function* () {
  const { Payments } = yield* Configuration
  const environment = yield* Environment
  const bySigner = yield* openSigners(Payments)
  const byVariable = yield* variableReader

  const keysOf = Effect.fnUntraced(function* (
    entry: PaymentNetwork,
    index: number
  ): Effect.fn.Return<ReadonlyArray<SettlerKey>, Faults> {
    const found = keyFaultsOf({ ...entry }, index, environment)
    if (found.length > 0) return yield* Effect.fail(found)
    const keys = yield* Effect.forEach(entry.SettlerKeyEnvVars, (variable, position) =>
      byVariable(entry.Network, variable, pathOf(index, `SettlerKeyEnvVars[${position}]`))
    )
    const all = [...keys, ...entry.Signers.flatMap((name) => bySigner(entry.Network, name) ?? [])]
    // A key that is named twice counts once: two accounts would hand out the same nonces.
    return all.filter(({ address }, place) => all.findIndex((key) => key.address === address) === place)
  })

  /** The single key that must belong to an address. */
  const keyOf = Effect.fnUntraced(function* ({
    network,
    address,
    variable,
    signer
  }: AddressedKey): Effect.fn.Return<SettlerKey, Faults> {
    if (variable.name === undefined) {
      const fault = { path: signer.path, message: `there is no signer ${signer.name}` }
      return bySigner(network, signer.name ?? "") ?? (yield* Effect.fail([fault]))
    }
    const key = yield* byVariable(network, variable.name, variable.path)
    if (isSameAddress(network, key.address, address)) return key
    const message = `${variable.name} is the key of ${key.address}, not of ${address}`
    return yield* Effect.fail([{ path: variable.path, message }])
  })

  const authorizerOf = (
    { Network, ReceiverAuthorizer, AuthorizerKeyEnvVar, AuthorizerSigner }: PaymentChannels,
    index: number
  ) => {
    const at = `Payments.Channels[${index}]`
    return keyOf({
      network: Network,
      address: ReceiverAuthorizer,
      variable: { name: AuthorizerKeyEnvVar, path: `${at}.AuthorizerKeyEnvVar` },
      signer: { name: AuthorizerSigner, path: `${at}.AuthorizerSigner` }
    })
  }
  const refunderOf = ({ Network, Account, KeyEnvVar, Signer }: PaymentRefunds, index: number) => {
    const at = `Payments.Refunds[${index}]`
    return keyOf({
      network: Network,
      address: Account,
      variable: { name: KeyEnvVar, path: `${at}.KeyEnvVar` },
      signer: { name: Signer, path: `${at}.Signer` }
    })
  }
  const authorizersOf = Effect.fnUntraced(function* (terms: PaymentChannels, index: number) {
    const { Network, RetiringAuthorizerKeyEnvVars, RetiringAuthorizerSigners } = terms
    const current = yield* authorizerOf(terms, index)
    const retiring = yield* Effect.forEach(RetiringAuthorizerKeyEnvVars, (variable, position) =>
      byVariable(Network, variable, `Payments.Channels[${index}].RetiringAuthorizerKeyEnvVars[${position}]`)
    )
    return [current, ...retiring, ...RetiringAuthorizerSigners.flatMap((name) => bySigner(Network, name) ?? [])]
  })
  return SettlerKeys.of({ keysOf, authorizersOf, refunderOf })
})

interface NamedKey {
  readonly name: string | undefined
  readonly path: string
}
interface AddressedKey {
  readonly network: string
  readonly address: string
  readonly variable: NamedKey
  readonly signer: NamedKey
}

/** Opens the signers that networks and channels name; reports all faults at once. */
const openSigners = Effect.fnUntraced(function* ({ Networks, Channels, Refunds, Signers }: Payments) {
  const counted = yield* countedSigning
  const named = new Set([
    ...Networks.flatMap(({ Signers: names, FacilitatorUrl }) => (FacilitatorUrl === undefined ? names : [])),
    ...Channels.flatMap(({ AuthorizerSigner, RetiringAuthorizerSigners }) => [
      AuthorizerSigner,
      ...RetiringAuthorizerSigners
    ]),
    ...Refunds.map(({ Signer }) => Signer)
  ])
  const opened = new Map<string, OpenSigner>()
  const faults: Array<ConfigurationFault> = []
  // One after another: each file can take 256 MiB while it is opened.
  for (const [index, entry] of Signers.entries()) {
    if (!named.has(entry.Name)) continue
    const signer = yield* Effect.result(openSigner(entry, `Payments.Signers[${index}]`))
    if (Result.isSuccess(signer)) opened.set(entry.Name, signer.success)
    else faults.push(signer.failure)
  }
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
  return (network: string, name: string): SettlerKey | undefined => {
    const found = opened.get(name)
    return found && counted({ network, ...found.key }, found.kind)
  }
})

/** Reads keys from the environment. */
const variableReader = Effect.gen(function* () {
  const counted = yield* countedSigning
  const context = yield* Effect.context<never>()
  return Effect.fnUntraced(function* (
    network: string,
    variable: string,
    path: string
  ): Effect.fn.Return<SettlerKey, Faults> {
    const read = Effect.provideContext(secretFromEnv({ variable, path, kind: "checked" }), context)
    const secret = yield* Effect.mapError(read, (fault) => [fault])
    const key = readSettlerKey(network, secret)
    if (Result.isSuccess(key)) return counted(key.success, "environment")
    return yield* Effect.fail([{ path, message: `${variable}: ${key.failure}` }])
  })
})

/** Counts a key's signing requests, and how long they take. */
const countedSigning = Effect.map(Metrics, (metrics) => {
  const count = metrics.counter(signatures)
  const seconds = metrics.histogram(signatureSeconds)
  return (key: SettlerKey, signer: SignerKind): SettlerKey => {
    const { network } = key
    count.begin({ network })
    const { address, isUnavailable } = key
    return {
      network,
      address,
      // The secret of an in-process key stays with it.
      ...(isUnavailable === undefined ? {} : { isUnavailable }),
      sign: Effect.fnUntraced(function* (message: Uint8Array) {
        const startedAt = yield* Clock.currentTimeNanos
        const result = yield* Effect.result(key.sign(message))
        seconds.observe({ signer }, Number((yield* Clock.currentTimeNanos) - startedAt) / 1e9)
        count.inc({ network, signer, outcome: Result.isSuccess(result) ? "signed" : "failed" })
        return yield* Effect.fromResult(result)
      })
    }
  }
})

type Needs = ConfiguredHttp | Health | Metrics | Scope.Scope

const openSigner = (entry: PaymentSigner, path: string) =>
  entry.KeystoreFile === undefined ? remoteSigner(entry, path) : keystoreSigner(entry, entry.KeystoreFile, path)

const keystoreSigner = Effect.fnUntraced(function* (
  { Address, PasswordFile, PasswordEnvVar }: PaymentSigner,
  file: string,
  path: string
): Effect.fn.Return<OpenSigner, ConfigurationFault> {
  const at = (key: string) => `${path}.${key}`
  const fault = (message: string): ConfigurationFault => ({ path: at("KeystoreFile"), message: `${file}: ${message}` })
  const keystore = yield* Effect.mapError(
    Effect.fromResult(readKeystore(yield* textOf(file, at("KeystoreFile")))),
    ({ detail }) => fault(detail)
  )
  const secrets = yield* Secrets
  const password =
    PasswordEnvVar === undefined
      ? (yield* textOf(PasswordFile ?? "", at("PasswordFile"))).replace(/\r?\n$/u, "")
      : yield* secretFromEnv({ variable: PasswordEnvVar, path: at("PasswordEnvVar"), kind: "checked" })
  if (password === "") return yield* Effect.fail({ path: at("PasswordFile"), message: `${PasswordFile} is empty` })
  secrets.add(password)
  const bytes = yield* Effect.mapError(openKeystore(keystore, password), ({ detail }) => fault(detail))
  const hex = Buffer.from(bytes).toString("hex")
  secrets.add(hex)
  const key = yield* Effect.mapError(Effect.fromResult(localEvmKey("", bytes)), fault)
  if (!isSameAddress("eip155:1", key.address, Address)) {
    return yield* Effect.fail(fault(`its key is of ${key.address}, not of ${Address}`))
  }
  return { kind: "keystore", key: { address: key.address, sign: key.sign } }
})

const textOf = (file: string, path: string): Effect.Effect<string, ConfigurationFault> =>
  Effect.mapError(readTextFile(file), ({ message }) => ({ path, message }))

// The interval between checks of a remote signer: each is two short questions, and a signer that is back is used again
// soon.
const lookEveryMs = 5_000

const remoteSigner = Effect.fnUntraced(function* (
  { Name, Address, Url, TimeoutSeconds, TlsCaFile, TlsCertificateFile, TlsKeyFile }: PaymentSigner,
  path: string
): Effect.fn.Return<OpenSigner, ConfigurationFault, Needs> {
  const address = Address.toLowerCase()
  const trusted = TlsCaFile === undefined ? undefined : yield* textOf(TlsCaFile, `${path}.TlsCaFile`)
  const identity =
    TlsCertificateFile === undefined || TlsKeyFile === undefined
      ? undefined
      : {
          cert: yield* textOf(TlsCertificateFile, `${path}.TlsCertificateFile`),
          key: yield* textOf(TlsKeyFile, `${path}.TlsKeyFile`)
        }
  if (TlsCaFile !== undefined) yield* checkCertificate(TlsCaFile, "authorities")
  if (TlsCertificateFile !== undefined) yield* checkCertificate(TlsCertificateFile, "chain")
  const timeoutMs = TimeoutSeconds * 1_000
  const signer = yield* openRemoteSigner({ url: Url ?? "", address, timeoutMs, trusted, identity })
  const run = Effect.mapError(signer.check, ({ detail }) => detail)
  yield* check({ name: "signer", subject: Name, isNeeded: true, run, pauseMs: () => lookEveryMs })
  return { kind: "remote", key: { address, sign: signer.sign, isUnavailable: signer.isUnavailable } }
})

type Environment = Readonly<Record<string, string | undefined>>

/** The faults of one network as written, or of as much of it as can be read. A facilitator needs no key of ours. */
export const keyFaultsOf = (
  network: Json,
  index: number,
  environment: Environment
): ReadonlyArray<ConfigurationFault> => {
  const { Network: name, SettlerKeyEnvVars: variables = [], FacilitatorUrl: facilitator, FeePayer: feePayer } = network
  const { Signers: signers = [] } = network
  if (facilitator !== undefined || !Array.isArray(variables)) return []
  if (variables.length === 0) {
    if (!Array.isArray(signers) || signers.length > 0) return []
    return [{ path: pathOf(index, "SettlerKeyEnvVars"), message: "names no key to settle with, and Signers neither" }]
  }
  if (typeof name !== "string" || chainFamilyOf(name) === undefined) return []
  const read = variables.map((variable: unknown, position) => {
    if (typeof variable !== "string") return undefined
    const path = pathOf(index, `SettlerKeyEnvVars[${position}]`)
    const key = variableKey({ network: name, variable, path }, environment)
    return Result.isFailure(key) ? key.failure : key.success.address
  })
  const faults = read.flatMap((one) => (typeof one === "object" ? [one] : []))
  const areKnown = read.every((one) => typeof one === "string")
  if (!hasFeePayer(name) || !areKnown || feePayer === unreadable || read.includes(String(feePayer))) return faults
  return [{ path: pathOf(index, "FeePayer"), message: `no key of SettlerKeyEnvVars is that of ${String(feePayer)}` }]
}

const variableKey = (
  { network, variable, path }: { readonly network: string; readonly variable: string; readonly path: string },
  environment: Environment
) => {
  const unset = variableFault(environment, variable, "checked")
  if (unset !== undefined) return Result.fail<ConfigurationFault>({ path, message: unset.message })
  const key = readSettlerKey(network, environment[variable] ?? "")
  return Result.mapError(key, (message) => ({ path, message: `${variable}: ${message}` }))
}

/** The faults of variables that one entry of `Payments.Channels` or `Payments.Refunds` names. */
export const entryKeyFaultsOf = (
  entry: Json,
  at: string,
  environment: Environment
): ReadonlyArray<ConfigurationFault> => {
  const { Network: network, RetiringAuthorizerKeyEnvVars: retiring = [] } = entry
  if (typeof network !== "string" || chainFamilyOf(network) === undefined) return []
  const named: ReadonlyArray<readonly [key: string, variable: unknown]> = [
    ...["AuthorizerKeyEnvVar", "KeyEnvVar"].map((key) => [key, entry[key]] as const),
    ...(Array.isArray(retiring) ? retiring : []).map(
      (variable: unknown, position) => [`RetiringAuthorizerKeyEnvVars[${position}]`, variable] as const
    )
  ]
  return named.flatMap(([key, variable]) => {
    if (typeof variable !== "string") return []
    const read = variableKey({ network, variable, path: `${at}.${key}` }, environment)
    return Result.isFailure(read) ? [read.failure] : []
  })
}

/** Faults of a keystore's password that is a variable: files are read when they are opened. */
export const passwordFaultsOf = (
  signer: Json,
  index: number,
  environment: Environment
): ReadonlyArray<ConfigurationFault> => {
  const variable = signer["PasswordEnvVar"]
  const fault = typeof variable === "string" ? variableFault(environment, variable, "checked") : undefined
  return fault === undefined ? [] : [{ path: `Payments.Signers[${index}].PasswordEnvVar`, message: fault.message }]
}

const pathOf = (index: number, key: string) => `Payments.Networks[${index}].${key}`
