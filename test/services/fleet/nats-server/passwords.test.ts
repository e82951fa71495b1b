import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeSecrets, Secrets } from "#runtime"
import { accounts, machineUsers } from "../../../../services/fleet/nats-server/configuration.ts"
import { keepPasswords, readPassword } from "../../../../services/fleet/passwords.ts"

const root = mkdtempSync(join(tmpdir(), "starling-passwords-"))
afterAll(() => rmSync(root, { recursive: true }))
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe("the passwords of the broker's users", () => {
  it.effect("are kept, created when missing or empty, and their files closed to others", () =>
    Effect.gen(function* () {
      const folder = join(root, "kept")
      mkdirSync(folder, { mode: 0o755 })
      writeFileSync(join(folder, "sweeper"), "by-hand-and-long-enough\n", { mode: 0o644 })
      writeFileSync(join(folder, "operator"), "\n")

      const first = yield* keepPasswords(folder, ["sweeper", "operator", "speech-api"])
      const second = yield* keepPasswords(folder, ["sweeper", "operator", "speech-api", "one-more"])

      assert.strictEqual(first.get("sweeper"), "by-hand-and-long-enough")
      assert.match(first.get("operator") ?? "", /^[0-9a-f]{64}$/u)
      assert.notStrictEqual(first.get("operator"), first.get("speech-api"))
      for (const [user, password] of first) assert.strictEqual(second.get(user), password)
      assert.strictEqual(yield* readPassword(folder, "one-more"), second.get("one-more"))
      assert.isUndefined(yield* readPassword(folder, "nobody"))
      assert.strictEqual(modeOf(folder), "700")
      for (const user of second.keys()) assert.strictEqual(modeOf(join(folder, user)), "600", user)
    })
  )

  it.effect("are hidden in every log of their process", () =>
    Effect.gen(function* () {
      const secrets = makeSecrets()
      const kept = yield* keepPasswords(join(root, "shown"), ["operator"]).pipe(Effect.provideService(Secrets, secrets))

      assert.strictEqual(secrets.redact(`it is ${kept.get("operator")}`), "it is <redacted>")
    })
  )
})

describe("the users in a nats-server's configuration", () => {
  it("are those with a password, and no others", () => {
    const passwords = new Map([
      ["sweeper", 'a "quoted" one'],
      ["operator", ""]
    ])

    const text = accounts(machineUsers, passwords)

    assert.deepStrictEqual(
      [...text.matchAll(/^ +user: (.*)$/gmu)].map(([, user]) => user),
      ['"sweeper"']
    )
    assert.include(text, String.raw`password: "a \"quoted\" one"`)
  })
})
