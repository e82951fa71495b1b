/** `console`: the address of the console's page, with a code that signs one browser in; and the browser opened at it. */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { note, print } from "../console.ts"
import { onConsole, type OnConsole, placeOf } from "./client.ts"

interface OpenPage extends OnConsole {
  readonly open: boolean
}

export const openPage = Effect.fnUntraced(function* ({ url, open }: OpenPage) {
  const place = yield* placeOf({ url })
  const { code, expiresAt } = yield* onConsole({ url }, (client) =>
    client.makeSignInCode({ payload: { reason: "to look at the page" } })
  )
  const address = `${place.url}/#code=${code}`
  yield* print(address)
  yield* note(`It signs one browser in, until ${expiresAt}.`)
  if (open) yield* opened(address)
})

const openers = { darwin: "open", win32: "explorer" } as const

/** Nobody waits for the browser; without one the address is there to be copied. */
const opened = (address: string) =>
  Effect.callback<void>((resume) => {
    const opener = openers[process.platform as keyof typeof openers] ?? "xdg-open"
    const child = spawn(opener, [address], { stdio: "ignore", detached: true })
    child.once("error", () => resume(note(`${opener} is not there: open the address yourself`)))
    child.once("spawn", () => {
      child.unref()
      resume(Effect.void)
    })
  })
