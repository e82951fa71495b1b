import { describe, expect, it } from "vitest"
import { Refused } from "../../page/api/client.ts"
import { isCode, wordsOfRefusal } from "../../page/arriving.ts"

const refused = (status: number, message = "no") => new Refused({ status, code: "x", message, faults: {} })

describe("why nobody is signed in", () => {
  it.each([
    ["code", 401, "This sign-in link has expired"],
    ["code", 400, "This link is incomplete"],
    ["token", 401, "This token cannot sign in"],
    ["code", 403, "The console rejected this page"],
    ["token", 421, "The console rejected this page"],
    ["token", 429, "Too many failed attempts"],
    ["code", 429, "Too many failed attempts"],
    ["token", 503, "no"],
    ["token", 0, "no"]
  ] as const)("with a %s and %i says: %s", (proof, status, title) => {
    expect(wordsOfRefusal(refused(status), proof)).toMatchObject({ title, advice: expect.stringMatching(/\.$|\?$/u) })
  })
})

describe("the code of a link", () => {
  it.each([
    ["4dA0Wc9iS1uB3mXq7ZkTfw", true],
    ["4dA0Wc9iS1uB3mXq7ZkTf", false],
    ["4dA0Wc9iS1uB3mXq7ZkTfw%20", false],
    ["", false]
  ])("%s is complete: %s", (text, isComplete) => {
    expect(isCode(text)).toBe(isComplete)
  })
})
