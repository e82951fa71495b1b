/**
 * Makes, imports and inspects keystores: files with a settler's key, encrypted by a password. Neither the password nor
 * the key is ever an argument, because other users of a machine see those of its programs. The address is alone on
 * standard output; the rest goes to standard error.
 */
import { randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { Effect, Redacted, Result } from "effect"
import { Environment } from "#runtime"
import {
  checksummedEvmAddress,
  evmAddressOfKey,
  type KeystoreFault,
  openKeystore,
  readEvmKey,
  readKeystore,
  sealKeystore
} from "#payments"
import { CommandRefused, faultOfFile, fileOf, misused, note, print, textIn } from "./console.ts"

const passwordVariable = "STARLING_KEYSTORE_PASSWORD"

interface Order {
  readonly file: string
  readonly passwordFile: string | undefined
}

/** A new random key in a new file. */
export const newKeystore = Effect.fnUntraced(function* ({ file, passwordFile }: Order) {
  const password = yield* neededPassword(passwordFile)
  yield* keep(file, newKey(), password)
})

/** An existing key, in a new file. */
export const importKey = Effect.fnUntraced(function* ({
  file,
  passwordFile,
  keyFile
}: Order & { readonly keyFile: string }) {
  if (keyFile === "-" && passwordFile === "-") {
    return yield* misused("the key and the password cannot both come from standard input")
  }
  const key = readEvmKey("", yield* textIn(keyFile))
  if (Result.isFailure(key)) return yield* new CommandRefused({ reason: `${keyFile} holds no key: ${key.failure}` })
  yield* keep(file, Redacted.value(key.success.secret), yield* neededPassword(passwordFile))
})

/** The address of a file; verified with its password, otherwise only as the file claims. */
export const keystoreAddress = Effect.fnUntraced(function* ({ file, passwordFile }: Order) {
  const refused = (fault: KeystoreFault) => new CommandRefused({ reason: `${file}: ${fault.message}` })
  const keystore = yield* Effect.mapError(Effect.fromResult(readKeystore(yield* textIn(file))), refused)
  const { kdf } = keystore.crypto
  const password = yield* passwordOf(passwordFile)
  if (password !== undefined) {
    const key = yield* Effect.mapError(openKeystore(keystore, password), refused)
    yield* print(checksummedEvmAddress(evmAddressOfKey(key) ?? ""))
    return yield* note(`${file}: its password opens it, by ${kdf}`)
  }
  if (keystore.address === undefined) {
    return yield* new CommandRefused({ reason: `${file} does not say its address: give its password, by ${howGiven}` })
  }
  yield* print(checksummedEvmAddress(keystore.address))
  yield* note(`${file}: encrypted by ${kdf}; its address is what the file says, as no password was given`)
})

const keep = Effect.fnUntraced(function* (file: string, key: Uint8Array, password: string) {
  const path = yield* fileOf(file)
  const text = yield* Effect.mapError(
    sealKeystore(key, password),
    ({ message }) => new CommandRefused({ reason: message })
  )
  yield* Effect.tryPromise({
    // An existing file can hold the only copy of a key.
    try: () => writeFile(path, text, { mode: 0o600, flag: "wx" }),
    catch: (cause) => new CommandRefused({ reason: `${file} cannot be written: ${faultOfFile(cause)}` })
  })
  yield* print(checksummedEvmAddress(evmAddressOfKey(key) ?? ""))
  yield* note(
    `${file}: the key, encrypted by the password. Keep a copy of both in separate places: they cannot be recovered.`
  )
})

/** Nearly all 32-byte values are keys. */
const newKey = (): Uint8Array => {
  const key = randomBytes(32)
  return evmAddressOfKey(key) === undefined ? newKey() : key
}

const howGiven = `--password-file, or the variable ${passwordVariable}`

const passwordOf = Effect.fnUntraced(function* (passwordFile: string | undefined) {
  const given =
    passwordFile === undefined
      ? (yield* Environment)[passwordVariable]
      : (yield* textIn(passwordFile)).replace(/\r?\n$/u, "")
  if (given === "") return yield* new CommandRefused({ reason: "the password is empty" })
  return given
})

const neededPassword = Effect.fnUntraced(function* (passwordFile: string | undefined) {
  const password = yield* passwordOf(passwordFile)
  return password ?? (yield* misused(`the password is needed, by ${howGiven}`))
})
