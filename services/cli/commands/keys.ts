/** `keys`: files with settlers' keys. */
import { Command, Flag } from "effect/cli"
import { file, running, word } from "../flags.ts"

const keystore = word("file", "the keystore")
const passwordFile = file(
  "password-file",
  "the password; - for standard input. Else by the variable STARLING_KEYSTORE_PASSWORD"
)

const loadKeys = () => import("../keys.ts")

const keysNew = Command.make("new", { file: keystore, passwordFile }, (given) =>
  running(loadKeys, ({ newKeystore }) => newKeystore(given))
).pipe(
  Command.withDescription("Makes a new key, and a new file with it, encrypted by the password. Prints its address."),
  Command.withExamples([{ command: "starling keys new settler.json --password-file settler.password" }])
)

const keysImport = Command.make(
  "import",
  {
    file: keystore,
    keyFile: Flag.File("key-file").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("the key, 32 bytes in hex; - for standard input (-)"),
      Flag.withDefault("-")
    ),
    passwordFile
  },
  (given) => running(loadKeys, ({ importKey }) => importKey(given))
).pipe(
  Command.withDescription("Puts a key that exists into a new file, encrypted by the password. Prints its address."),
  Command.withExamples([
    { command: "printenv SETTLER_KEY | starling keys import settler.json --password-file settler.password" }
  ])
)

const keysAddress = Command.make("address", { file: keystore, passwordFile }, (given) =>
  running(loadKeys, ({ keystoreAddress }) => keystoreAddress(given))
).pipe(
  Command.withDescription("Prints the address in a key file: as the file says or, with the password, as its key says."),
  Command.withExamples([{ command: "starling keys address settler.json --password-file settler.password" }])
)

export const keys = Command.make("keys").pipe(
  Command.withShortDescription("make, import and inspect files with settlers' keys"),
  Command.withDescription(
    "Keystores: files with a settler's key of EVM chains, encrypted by a password (Web3 Secret Storage, version 3)."
  ),
  Command.withExamples([{ command: "starling keys new settler.json --password-file settler.password" }]),
  Command.withSubcommands([keysNew, keysImport, keysAddress])
)
