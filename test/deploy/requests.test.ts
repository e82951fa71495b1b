import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { requestsTable } from "../../deploy/generate/requests.ts"
import { repository } from "./tools.ts"

const page = readFileSync(join(repository, "docs/install-kubernetes.md"), "utf8")

describe("the install guide", () => {
  it("states the same resource requests as the manifests and the brokers' values", () => {
    const [, told = ""] = /<!-- requests:[^\n]*-->\n\n([\s\S]*?)\n\n<!-- \/requests -->/u.exec(page) ?? []

    assert.deepStrictEqual(told.split("\n"), [...requestsTable()])
  })

  it("names only existing files and folders", () => {
    const named = [...page.matchAll(/(?:^|[\s(`])((?:deploy|docs)\/[\w./-]+\w)/gmu)].map(([, path = ""]) => path)
    const made = /overlays\/ours/u

    assert.isAbove(named.length, 5)
    for (const path of named.filter((each) => !made.test(each))) {
      assert.doesNotThrow(() => statSync(join(repository, path)), path)
    }
  })
})
