import { assert, describe, it } from "@effect/vitest"
import { advisoryVerdict } from "../../dev/advisory-verdict.ts"

const report = (vulnerabilities: Record<string, unknown>) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { dependencies: { prod: 40, total: 45 } } })
const advisory = { title: "Reads too far", url: "https://advisories.example/1", severity: "high" }

describe("the verdict on advisories", () => {
  it("is a pass when the report names none", () => {
    assert.deepStrictEqual(advisoryVerdict(report({})), { _tag: "Clean", packages: 45 })
  })

  it.each(["low", "moderate"])("is a pass at %s severity", (severity) => {
    assert.strictEqual(advisoryVerdict(report({ one: { severity, via: [advisory] } }))._tag, "Clean")
  })

  it.each(["high", "critical"])("is a failure with its cause and its page at %s severity", (severity) => {
    const vulnerabilities = {
      below: { severity, via: [advisory] },
      above: { severity, via: ["below"] },
      harmless: { severity: "low", via: [advisory] }
    }

    assert.deepStrictEqual(advisoryVerdict(report(vulnerabilities)), {
      _tag: "Found",
      advisories: [`below (${severity}): Reads too far https://advisories.example/1`, `above (${severity}): by below`]
    })
  })

  it.each([
    ["", "npm gave no report"],
    ["npm ERR! no JSON", "npm gave no report"],
    ["{}", "npm gave no report"],
    [
      JSON.stringify({ message: "405 Method Not Allowed - POST https://registry.example/-/bulk", statusCode: 405 }),
      "405 Method Not Allowed - POST the registry"
    ],
    [JSON.stringify({ error: { code: "ENOTFOUND", summary: "not found\nmore" } }), "not found"]
  ])("is unknown, with the reason in one line, when npm says %j", (output, reason) => {
    assert.deepStrictEqual(advisoryVerdict(output), { _tag: "Unknown", reason })
  })
})
