/** The keys of a test's settlers, put where an operator may keep them: the environment, encrypted files, a signer. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { sealKeystore } from "#payments"
import { startTestSigner, type TestSigner } from "../../dev/fixtures/evm/remote-signer.ts"
import { temporaryFolder } from "./temporary-folder.ts"

export const signerKinds = ["environment", "keystore", "remote"] as const
export type SignerKind = (typeof signerKinds)[number]

type Json = Readonly<Record<string, unknown>>

interface Keyed {
  readonly configuration: Json
  readonly environment: Readonly<Record<string, string>>
}

interface WrittenPayments {
  readonly Networks: ReadonlyArray<Json & { readonly SettlerKeyEnvVars: ReadonlyArray<string> }>
  readonly Channels?: ReadonlyArray<Json & { readonly AuthorizerKeyEnvVar: string }>
}

export const keystorePassword = "the password of a test's keystores"
const passwordVariable = "TEST_KEYSTORE_PASSWORD"

/** The same settlers with the same keys, none of which is in the environment any more. */
export const keptBy = Effect.fnUntraced(function* (
  kind: SignerKind,
  { configuration, environment }: Keyed
): Effect.fn.Return<Keyed & { readonly signer?: TestSigner }, never, Scope.Scope> {
  if (kind === "environment") return { configuration, environment }
  const payments = configuration["Payments"] as unknown as WrittenPayments
  const variables = [
    ...payments.Networks.flatMap(({ SettlerKeyEnvVars }) => SettlerKeyEnvVars),
    ...(payments.Channels ?? []).map(({ AuthorizerKeyEnvVar }) => AuthorizerKeyEnvVar)
  ]
  const keys = variables.map((variable) => [variable, environment[variable] as `0x${string}`] as const)
  const { signers, signer } =
    kind === "keystore" ? { signers: yield* signersInFiles(keys), signer: undefined } : yield* away(keys)
  const Networks = payments.Networks.map(({ SettlerKeyEnvVars, ...entry }) => ({
    ...entry,
    Signers: SettlerKeyEnvVars
  }))
  const Channels = (payments.Channels ?? []).map(({ AuthorizerKeyEnvVar, ...entry }) => ({
    ...entry,
    AuthorizerSigner: AuthorizerKeyEnvVar
  }))
  const left = Object.entries(environment).filter(([name]) => !variables.includes(name))
  return {
    configuration: { ...configuration, Payments: { ...payments, Networks, Channels, Signers: signers } },
    environment: { ...Object.fromEntries(left), [passwordVariable]: keystorePassword },
    ...(signer === undefined ? {} : { signer })
  }
})

type Named = ReadonlyArray<readonly [string, `0x${string}`]>

// A password of a test is worth no second of scrypt.
const cheap = { n: 2, r: 8, p: 1 }

export const signersInFiles = Effect.fnUntraced(function* (keys: Named) {
  const folder = yield* temporaryFolder
  const PasswordFile = join(folder, "password")
  writeFileSync(PasswordFile, `${keystorePassword}\n`)
  return yield* Effect.forEach(keys, ([Name, key], index) =>
    Effect.map(Effect.orDie(sealKeystore(Buffer.from(key.slice(2), "hex"), keystorePassword, cheap)), (text) => {
      const KeystoreFile = join(folder, `${Name}.json`)
      writeFileSync(KeystoreFile, text)
      // Both ways to give a password.
      const password = index % 2 === 0 ? { PasswordFile } : { PasswordEnvVar: passwordVariable }
      return { Name, Address: privateKeyToAccount(key).address, KeystoreFile, ...password }
    })
  )
})

const away = Effect.fnUntraced(function* (keys: Named) {
  const signer = yield* testSigner(keys.map(([, key]) => key))
  const signers = keys.map(([Name, key]) => ({ Name, Address: privateKeyToAccount(key).address, Url: signer.url }))
  return { signers, signer }
})

export const testSigner = (...parameters: Parameters<typeof startTestSigner>) =>
  Effect.acquireRelease(
    Effect.promise(() => startTestSigner(...parameters)),
    ({ end }) => Effect.promise(end)
  )
