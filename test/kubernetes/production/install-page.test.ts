import { assert, describe, it } from "@effect/vitest"
import { charts, chartsIn, commandsIn, commandsOf } from "./install-page.ts"

const page = `# Install

## Production

### 1. Brokers

Run it:

    cat >values <<END
    a: 1   # not a heading

    END
    helm install here stable/broker --version 1.2.3

- A remark
  that goes on.

    helm install there stable/broker --version 1.2.3

### 2. Nothing

Only words.
`

describe("the commands of an installation page", () => {
  it("are the indented lines below a heading, up to the next one", () => {
    assert.strictEqual(
      commandsIn(page, "Brokers").replaceAll(/\n+/gu, "\n"),
      "cat >values <<END\na: 1   # not a heading\nEND\nhelm install here stable/broker --version 1.2.3\nhelm install there stable/broker --version 1.2.3\n"
    )
  })

  it.each(["Nothing", "Elsewhere"])("fail under the heading %s, which has none or is not there", (heading) => {
    assert.throws(() => commandsIn(page, heading), heading)
  })

  it("name each chart once, in the file that `helm pull` makes", () => {
    assert.deepStrictEqual(chartsIn(page), [{ name: "stable/broker", file: "broker-1.2.3.tgz" }])
  })

  it("of docs/install-kubernetes.md name brokers, NACK and KEDA, and have every step that the cluster tests run", () => {
    assert.sameMembers(
      charts().map(({ name }) => name),
      ["kedacore/keda", "nats/nats", "nats/nack"]
    )
    const steps = ["Namespace", "Controllers", "Passwords", "Certificates", "Brokers", "NACK", "An overlay of your own"]
    for (const step of [...steps, "Apply", "The first token", "The console"]) assert.isNotEmpty(commandsOf(step), step)
  })
})
